"""What a hunt keeps: every probe, the worst so far, and a file to go on from."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from mipsim._archives import LIMIT, most_bytes
from mipsim._files import lock
from mipsim._notebook import Place, in_notebook
from mipsim._words import shown, visible
from mipsim.referee.budget import Budget
from mipsim.referee.definition import definition
from mipsim.referee.kinds import Exists
from mipsim.referee.outcome import Failure, Finding, Probe
from mipsim.referee.point import FIRST_GAMES, PROBE_GAMES, look, point_seed
from mipsim.referee.reporting.files import write_atomically
from mipsim.referee.reporting.wording import plural
from mipsim.referee.statement import Statement

SAYS_EVERY = 0.5
"""Seconds between two progress lines on a terminal."""


@dataclass
class Search:
    """The probes of one hunt.

    Attributes:
        statement, seed, budget: what was asked.
        progress: whether to say on stderr how far it is; or what is called with the line instead.
        probes, failures, findings: what was seen.
        known: probes that were made, by point: they are not made again.
        slowest: seconds of the slowest probe.
        judging: what of the finalists is judged, for the progress line.
        place: the output of a notebook's cell that holds the progress line.
    """

    statement: Statement
    seed: int
    budget: Budget
    progress: bool | Callable[[str], object]
    probes: list[Probe] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    known: dict[str, dict[str, Any]] = field(default_factory=dict)
    file: TextIO | None = None
    said: float = -math.inf
    slowest: float = 0.0
    judging: str = ""
    told: float = field(default_factory=time.perf_counter)
    place: Place = field(default_factory=Place)

    def probe(self, at: Mapping[str, Any], phase: str) -> Probe | None:
        """Look at a point, record it, and return what was seen; None where its functions failed."""
        key = json.dumps(dict(at))
        seen = self.known.get(key)
        if seen is None:
            began, seen = time.perf_counter(), self._looked(at)
            self.known[key] = seen
            now = time.perf_counter()
            self.slowest, spent, self.told = max(self.slowest, now - began), now - self.told, now
            self._write({"at": dict(at)} | seen | {"seconds": round(spent, 6)})
        # One of an earlier run costs now what it cost then: the hunt as a whole has its budget once.
        self.budget.earlier += seen.pop("seconds", 0.0)
        self.budget.used += 1
        return self.record(at, phase, seen)

    def rest(self) -> None:
        """Record what an earlier run had found and this one has not come by: on the clock no two runs are the same."""
        if math.isfinite(self.budget.seconds):
            for at in [at for at, seen in self.known.items() if "seconds" in seen]:
                self.probe(json.loads(at), "climb")

    def record(self, at: Mapping[str, Any], phase: str, seen: Mapping[str, Any]) -> Probe | None:
        """Keep what was seen at a point."""
        found = None
        if seen.get("error"):
            self.failures.append(Failure(dict(at), seen["error"]))
        else:
            if seen["finding"]:
                self.findings.append(Finding(dict(at), seen["finding"]))
            found = Probe(dict(at), float(seen["strain"]), float(seen["gap"]), seen["definite"], phase)
            self.probes.append(found)
        self.say()
        return found

    def fail(self, at: Mapping[str, Any], error: str) -> None:
        """Record a point that could not even be asked whether it belongs to the domain."""
        self.budget.used += 1
        self.failures.append(Failure(dict(at), error))

    def _looked(self, at: Mapping[str, Any]) -> dict[str, Any]:
        seed = point_seed(self.seed, self.statement.name, at, "probe")
        try:
            found = look(self.statement, at, seed, PROBE_GAMES if self.known else FIRST_GAMES)
        except Exception as error:  # recorded with its point; the hunt goes on
            return {"error": f"{type(error).__name__}: {error}"}
        return {
            "strain": repr(found.strain),
            "gap": repr(found.gap),
            "definite": found.definite,
            "finding": found.finding,
        }

    def breaks(self, probe: Probe | None) -> bool:
        """Whether a probe shows, chance and limits apart, what the hunt looks for."""
        if probe is None or not probe.definite:
            return False
        return probe.strain >= 0.0 if isinstance(self.statement.kind, Exists) else probe.strain > 0.0

    @property
    def worst(self) -> Probe | None:
        """The probe with the largest strain."""
        return max(self.probes, key=lambda probe: probe.strain, default=None)

    def say(self, last: bool = False) -> None:
        """Say on stderr how far the hunt is; the first probe at once."""
        now = time.perf_counter()
        if not self.progress or (now - self.said < SAYS_EVERY and not last):
            return
        self.said = now
        worst = self.worst
        gap = "none yet" if worst is None else f"{worst.gap:+.3g} at {_short(worst.at)}"
        failed = f", {len(self.failures)} failed" if self.failures else ""
        line = visible(
            f"{self.statement.name}: {plural(self.budget.used, 'probe')}{failed}, worst gap {gap}{self.judging}",
            True,
        )
        if callable(self.progress):
            self.progress(line)
            return
        if in_notebook():
            self.place.show(line)
            return
        with suppress(OSError, ValueError, AttributeError):  # stderr may be closed, or None
            terminal = sys.stderr.isatty()
            end, start = "\n" if last or not terminal else "", "\r\x1b[K" if terminal else ""
            self.said = now if terminal else now + 20 * SAYS_EVERY  # a log needs fewer lines
            print(f"{start}{line}", end=end, file=sys.stderr, flush=True)

    def _write(self, line: Mapping[str, Any]) -> None:
        if self.file is not None:
            self.file.write(json.dumps(line) + "\n")
            self.file.flush()

    def resume(self, path: str | os.PathLike[str]) -> None:
        """Read the probes of an earlier run, and write those of this one after them.

        Raises:
            ValueError: if the file belongs to another statement, domain or seed, if the statement was changed since, or if
                it is no such file.
            OSError: if it cannot be written.
        """
        header = {
            "statement": self.statement.name,
            "seed": self.seed,
            "domain": self.statement.record()["domain"],
        }
        own = json.loads(json.dumps(header))
        header = own | {"definition": definition(self.statement)}
        file = Path(path)
        if records := _records(file):
            found = records[0]
            if {name: found.get(name) for name in own} != own:
                raise ValueError(
                    f"checkpoint {shown(file)} belongs to another statement, domain or seed; name another file"
                )
            if found != header:
                raise ValueError(
                    f"checkpoint {shown(file)} keeps probes of {self.statement.name} as it was defined before: its kind or its functions "
                    "changed since; delete it, or name another file"
                )
            for record in records[1:]:
                if not self._is_probe(record):
                    raise ValueError(f"checkpoint {shown(file)} is damaged; delete it, or name another file")
                if not record.get("error"):  # what failed may have been mended since
                    self.known[json.dumps(record.pop("at"))] = record
        kept = [header, *({"at": json.loads(at)} | record for at, record in self.known.items())]
        write_atomically(file, "".join(json.dumps(line) + "\n" for line in kept))
        self.file = file.open("a", encoding="utf-8")
        _locked(self.file, file)

    def _is_probe(self, record: dict[str, Any]) -> bool:
        """Whether a record holds what a probe of this statement writes."""
        try:
            self.statement.inside(record["at"])
            spent = record["seconds"]
            if isinstance(spent, bool) or not 0.0 <= spent < 1e9:
                return False
            if record.get("error"):
                return isinstance(record["error"], str)
            numbers = all(
                isinstance(record[name], str) and [float(record[name])] for name in ("strain", "gap")
            )
            return numbers and isinstance(record["definite"], bool) and isinstance(record["finding"], str)
        except (KeyError, TypeError, ValueError, OverflowError):
            return False


def _records(file: Path) -> list[dict[str, Any]]:
    """What a file of probes holds, nothing where there is none; half a line at its end is what a killed hunt has left."""
    if not file.exists():
        return []
    if file.is_file() and (size := file.stat().st_size) > most_bytes():
        raise ValueError(
            f"checkpoint {shown(file)} has {size:,} bytes; at most {most_bytes():,} are read, and {LIMIT} raises the limit"
        )
    if not file.is_file():  # a pipe would be waited for
        raise ValueError(f"checkpoint {shown(file)} is no regular file; name another")
    with file.open("a+", encoding="utf-8") as held:
        _locked(held, file)
        held.seek(0)
        found: list[Any] = [None]
        try:
            text = held.read()
            found = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
        except (ValueError, RecursionError):
            pass  # one record that is none
    if not all(isinstance(one, dict) for one in found) or not all(
        isinstance(one.get("at"), dict) for one in found[1:]
    ):
        raise ValueError(f"checkpoint {shown(file)} is damaged; delete it, or name another file")
    return found


def _locked(held: TextIO, file: Path) -> None:
    """Keep an open file for this hunt; one that begins at the same moment may have taken it."""
    if not lock(held.fileno()):
        held.close()
        raise ValueError(
            f"checkpoint {shown(file)} is written by another hunt; wait for it, or name another file"
        )


def _short(at: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} = {value:.3g}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in at.items()
    )
