"""The probes of a hunt: what is stored of them, and when they end."""

from __future__ import annotations

import errno
import json
import math
import os
import re
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from mipsim._archives import LIMIT, most_bytes
from mipsim._files import locked, replace_file
from mipsim._progress import ProgressLine
from mipsim._words import plural, printable, quoted
from mipsim.referee.judging.point import FIRST_GAMES, PROBE_GAMES, look
from mipsim.referee.judging.prepared import Share
from mipsim.referee.outcome import Failure, Finding, Probe
from mipsim.referee.statement import Statement


@dataclass
class Search:
    """The probes of a single hunt."""

    # statement, seed, budget: what was requested
    statement: Statement
    seed: int
    budget: Budget
    line: ProgressLine  # says how far it is
    # probes, failures, findings: what was seen
    probes: list[Probe] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    # probes that were made, by point: they are not made again
    known: dict[str, dict[str, Any]] = field(default_factory=dict)
    file: TextIO | None = None
    held: ExitStack = field(default_factory=ExitStack)  # the file and its lock, until the hunt ends
    slowest: float = 0.0  # seconds of the slowest probe
    judging: str = ""  # what of the finalists is judged, for the progress line
    last_probe: float = field(default_factory=time.perf_counter)

    def probe(self, at: Mapping[str, Any], phase: str) -> Probe | None:
        """Look at a point, record it, and return what was seen; None where its functions failed."""
        key = json.dumps(dict(at))
        seen = self.known.get(key)
        if seen is None:
            began, seen = time.perf_counter(), self._looked(at)
            self.known[key] = seen
            now = time.perf_counter()
            self.slowest, spent, self.last_probe = max(self.slowest, now - began), now - self.last_probe, now
            self._write({"at": dict(at)} | seen | {"seconds": round(spent, 6)})
        # A probe of an earlier run costs now what it cost then: the hunt as a whole has its budget once.
        self.budget.earlier += seen.pop("seconds", 0.0)
        self.budget.used += 1
        return self.record(at, phase, seen)

    def rest(self) -> None:
        """Record what an earlier run had seen and this run has not met: on the clock no two runs are the same."""
        if math.isfinite(self.budget.seconds):
            for at in [at for at, seen in self.known.items() if "seconds" in seen]:
                self.probe(json.loads(at), "climb")

    def record(self, at: Mapping[str, Any], phase: str, seen: Mapping[str, Any]) -> Probe | None:
        """Keep what was seen at a point."""
        result = None
        if seen.get("error"):
            self.failures.append(Failure(dict(at), seen["error"]))
        else:
            if seen["finding"]:
                self.findings.append(Finding(dict(at), seen["finding"]))
            result = Probe(dict(at), float(seen["strain"]), float(seen["gap"]), seen["definite"], phase)
            self.probes.append(result)
        self.say()
        return result

    def fail(self, at: Mapping[str, Any], error: str) -> None:
        """Record a point whose membership in the domain could not even be evaluated."""
        self.budget.used += 1
        self.failures.append(Failure(dict(at), error))

    def _looked(self, at: Mapping[str, Any]) -> dict[str, Any]:
        games = PROBE_GAMES if self.known else FIRST_GAMES
        seed = Share(0.5, games, self.seed, "probe").seed(self.statement, at)
        try:
            result = look(self.statement, at, seed, games)
        except Exception as error:  # recorded with its point; the hunt goes on
            return {"error": f"{type(error).__name__}: {error}"}
        return {
            "strain": repr(result.strain),
            "gap": repr(result.gap),
            "definite": result.definite,
            "finding": result.finding,
        }

    def breaks(self, probe: Probe | None) -> bool:
        """Whether a probe shows, chance and limits apart, what the hunt looks for."""
        return probe is not None and probe.definite and probe.strain > 0.0

    @property
    def worst(self) -> Probe | None:
        """The probe with the largest strain."""
        return max(self.probes, key=lambda probe: probe.strain, default=None)

    def say(self, last: bool = False) -> None:
        """Say on stderr how far the hunt is; the first probe at once."""
        if not self.line.due(last):
            return
        worst = self.worst
        gap = "none yet" if worst is None else f"about {worst.gap:+.3g} at {_short(worst.at)}"
        failed = f", {len(self.failures)} failed" if self.failures else ""
        made = plural(self.budget.used, "probe")
        self.line.say(f"{self.statement.name}: {made}{failed}, worst gap {gap}{self.judging}", last)

    def _write(self, line: Mapping[str, Any]) -> None:
        if self.file is not None:
            self.file.write(json.dumps(line) + "\n")
            self.file.flush()

    def resume(self, path: str | os.PathLike[str]) -> None:
        """Read the probes of an earlier run, and write those of this run after them.
        Raises ValueError if the file belongs to another statement, kind, domain or seed, if probes that are made again come out
        otherwise, or if it is no such file; OSError if it cannot be written.
        """
        header = {
            "statement": self.statement.name,
            "seed": self.seed,
            "kind": self.statement.kind.record(),
            "domain": self.statement.record()["domain"],
        }
        header = json.loads(json.dumps(header, default=str))
        file = Path(path)
        try:
            self.held.enter_context(locked(file.with_name(f".{file.name}.hunt"), patience=0.0))
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            raise ValueError(
                f"checkpoint {printable(file)} is written by another hunt; wait for it, or name another file"
            ) from None
        if records := _records(file):
            if records[0] != header:
                raise ValueError(
                    f"checkpoint {printable(file)} belongs to another statement, kind, domain or seed; name another file"
                )
            for record in records[1:]:
                if not self._is_probe(record):
                    raise ValueError(
                        f"checkpoint {printable(file)} is damaged; delete it, or name another file"
                    )
                if not record.get("error"):  # what failed may have been mended since
                    self.known[json.dumps(record.pop("at"))] = record
            if self._changed():
                raise ValueError(
                    f"checkpoint {printable(file)} keeps probes of {self.statement.name} as it was defined before: its functions changed "
                    "since; delete it, or name another file"
                )
        retained = [header, *({"at": json.loads(at)} | record for at, record in self.known.items())]
        replace_file(file, "".join(json.dumps(line) + "\n" for line in retained))
        self.file = self.held.enter_context(file.open("a", encoding="utf-8"))

    def _changed(self) -> bool:
        """Whether a stored point is outside the domain now, or the worst probe or any of a few others comes out otherwise."""
        kept = [(json.loads(at), seen) for at, seen in self.known.items()]
        if not all(self.statement.stands(at) for at, _ in kept):
            return True
        rest = kept[1:]  # the first may have had other games
        worst = sorted(rest, key=lambda item: -float(item[1]["strain"]))[:1]
        again = [*worst, *rest[:: max(1, len(rest) // AGAIN)]]
        return any({**seen, **self._looked(at)} != seen for at, seen in again)

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
            f"checkpoint {printable(file)} has {size:,} bytes; at most {most_bytes():,} are read, and {LIMIT} raises the limit"
        )
    if not file.is_file():  # a pipe would be waited for
        raise ValueError(f"checkpoint {printable(file)} is no regular file; name another")
    result: list[Any] = [None]
    try:
        text = file.read_text("utf-8")
        result = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
    except (ValueError, RecursionError):
        pass  # a line that is no record
    if not all(isinstance(item, dict) for item in result) or not all(
        isinstance(single.get("at"), dict) for single in result[1:]
    ):
        raise ValueError(f"checkpoint {printable(file)} is damaged; delete it, or name another file")
    return result


def _short(at: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} = {value:.3g}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in at.items()
    )


AGAIN = 4
"""Stored probes, about, that are made again, with the worst, before a hunt resumes from them."""
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


@dataclass
class Budget:
    """A clock, or a counter."""

    text: str  # as it was requested
    seconds: float  # on the clock; inf where probes are counted
    probes: float  # how many; inf where the clock counts
    used: int = 0  # probes that were made
    began: float = field(default_factory=time.perf_counter)
    earlier: float = 0.0  # seconds that an earlier run spent on the probes which this run need not make again

    @property
    def spent(self) -> float:
        """Seconds, those of the run that this run resumes included."""
        return time.perf_counter() - self.began + self.earlier

    @property
    def used_up(self) -> float:
        """What was used of it, 1 and more when it is gone."""
        return max(self.used / self.probes, self.spent / self.seconds)


def budget_of(value: object) -> Budget:
    """Read a budget.
    `value`: seconds, or text such as "45s", "2m", "1.5h" or "500 probes". Raises ValueError if it is 0, negative, or no
    budget.
    """
    wrong = ValueError(
        f"budget is {quoted(value)}; it must be seconds > 0, or text such as '45s', '2m' or '500 probes'"
    )
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float, str))
        or (value != value and not isinstance(value, str))
        or (isinstance(value, int) and value > 10**9)
    ):
        raise wrong
    text = value if isinstance(value, str) else f"{value:g}s"
    result = re.fullmatch(r"\s*([0-9.]+(?:e[0-9]+)?)\s*(s|m|min|h|probes?|)\s*", text)
    try:
        amount = float(result[1]) if result else 0.0
    except ValueError:
        raise wrong from None
    if result is None or not 0.0 < amount < math.inf:
        raise wrong
    if result[2].startswith("probe"):
        return Budget(text.strip(), math.inf, max(1.0, float(int(amount))))
    return Budget(text.strip(), amount * _UNITS[result[2]], math.inf)
