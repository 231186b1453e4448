"""The probes of a hunt: what is stored of them, and when they end."""

from __future__ import annotations

import ast
import errno
import functools
import hashlib
import inspect
import json
import linecache
import math
import os
import re
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import CellType, CodeType, FunctionType
from typing import Any, TextIO

from mipsim._archives import LIMIT, most_bytes
from mipsim._files import locked, replace_file
from mipsim._progress import ProgressLine
from mipsim._words import plural, printable
from mipsim.referee.judging.point import FIRST_GAMES, PROBE_GAMES, look, point_seed
from mipsim.referee.kinds import Exists
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
        seed = point_seed(self.seed, self.statement.name, self.statement.mattering(at), "probe")
        try:
            result = look(self.statement, at, seed, PROBE_GAMES if self.known else FIRST_GAMES)
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
        if probe is None or not probe.definite:
            return False
        return probe.strain >= 0.0 if isinstance(self.statement.kind, Exists) else probe.strain > 0.0

    @property
    def fails_alike(self) -> bool:
        """Whether all failures have the same error."""
        return len({failure.error for failure in self.failures}) == 1

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
        Raises ValueError if the file belongs to another statement, domain or seed, if the statement was changed since, or
        if it is no such file; OSError if it cannot be written.
        """
        header = {
            "statement": self.statement.name,
            "seed": self.seed,
            "domain": self.statement.record()["domain"],
        }
        own = json.loads(json.dumps(header))
        header = own | {"definition": definition(self.statement)}
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
            result = records[0]
            if {name: result.get(name) for name in own} != own:
                raise ValueError(
                    f"checkpoint {printable(file)} belongs to another statement, domain or seed; name another file"
                )
            if result != header:
                raise ValueError(
                    f"checkpoint {printable(file)} keeps probes of {self.statement.name} as it was defined before: its kind or its functions "
                    "changed since; delete it, or name another file"
                )
            for record in records[1:]:
                if not self._is_probe(record):
                    raise ValueError(
                        f"checkpoint {printable(file)} is damaged; delete it, or name another file"
                    )
                if not record.get("error"):  # what failed may have been mended since
                    self.known[json.dumps(record.pop("at"))] = record
        retained = [header, *({"at": json.loads(at)} | record for at, record in self.known.items())]
        replace_file(file, "".join(json.dumps(line) + "\n" for line in retained))
        self.file = self.held.enter_context(file.open("a", encoding="utf-8"))

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
        f"budget is {value!r}; it must be seconds > 0, or text such as '45s', '2m' or '500 probes'"
    )
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
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


def definition(statement: Statement) -> str:
    """Sixteen hexadecimal digits that change with a statement's kind, its domain or its functions.

    Functions are compared as Python reads them, without comments, docstrings and line breaks. The functions and plain
    constants of the same file that they name are part of them; what other files hold, and what may change while a program
    runs (lists, mappings, arrays), is not looked at.
    """
    functions = [statement.where, statement.claimed, statement.truth, getattr(statement.kind, "sizes", None)]
    if callable(rate := getattr(statement.kind, "rate", None)):
        functions.append(rate)
    domain = {name: parameter.record() for name, parameter in statement.domain.items()}
    report = [statement.kind.record(), domain, [_described(item, set()) for item in functions]]
    return hashlib.sha256(json.dumps(report, default=str).encode()).hexdigest()[:16]


def _described(thing: Any, met: set[int]) -> Any:
    """What an object is made of, as far as it cannot change while the program runs; `met` are functions that were described."""
    if isinstance(thing, functools.partial):
        return [_described(part, met) for part in (thing.func, thing.args, *sorted(thing.keywords.items()))]
    if isinstance(thing, (tuple, frozenset)):
        parts = [_described(part, met) for part in thing]
        return parts if isinstance(thing, tuple) else sorted(map(str, parts))
    if isinstance(thing, CodeType):
        return _text(thing) or [
            thing.co_code.hex(),
            thing.co_names,
            thing.co_varnames,
            _described(thing.co_consts, met),
        ]
    function = inspect.unwrap(getattr(thing, "__func__", thing)) if callable(thing) else thing
    if not isinstance(function, FunctionType):
        plain = thing is None or isinstance(thing, (bool, int, float, complex, str, bytes))
        return repr(thing) if plain else getattr(thing, "__qualname__", type(thing).__qualname__)
    if id(function) in met:
        return function.__qualname__
    met.add(id(function))
    cells = [cell.cell_contents for cell in function.__closure__ or () if cell != CellType()]
    keywords = sorted((function.__kwdefaults__ or {}).items())
    named = {name: function.__globals__.get(name) for name in sorted(_names(function.__code__))}
    return [
        _described((function.__code__, function.__defaults__, *keywords, *cells), met),
        {name: _named(value, function, met) for name, value in named.items()},
    ]


def _text(code: CodeType) -> list[str]:
    """The text of a function in its file as it is now; of all that begin in its line, if it is not known which; none without a file."""
    linecache.checkcache(code.co_filename)
    lines = "".join(linecache.getlines(code.co_filename))
    begun = _parsed(lines).get(code.co_firstlineno, [])
    if len(begun) > 1:
        # Where its instructions stand (columns may be missing, and the first instruction has none of its own).
        spans = [span for span in code.co_positions() if None not in span and span[0::2] != span[1::2]]
        starts, ends = ([span[i::2] for span in spans] for i in (0, 1))
        inside = [item for item in begun if spans and item[1] <= min(starts) and max(ends) <= item[2]]
        begun = inside[-1:] or begun
    return [text for text, *_ in begun]


LineColumn = tuple[int, int]
"""Line and column, in bytes."""


@functools.lru_cache(maxsize=64)
def _parsed(text: str) -> dict[int, list[tuple[str, LineColumn, LineColumn]]]:
    """First line -> text and ends of the body of the functions that begin there, each before those inside it."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return {}
    result: dict[int, list[tuple[str, LineColumn, LineColumn]]] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            first = node.lineno
            if isinstance(node, ast.FunctionDef):
                first = min([first, *(item.lineno for item in node.decorator_list)])
                node.body = node.body[ast.get_docstring(node) is not None :]
            body: Any = node.body if isinstance(node, ast.Lambda) else node
            start, end = (body.lineno, body.col_offset), (body.end_lineno or 0, body.end_col_offset or 0)
            result.setdefault(first, []).append((ast.unparse(node), start, end))
    return result


def _names(code: CodeType) -> set[str]:
    inner = [_names(item) for item in code.co_consts if isinstance(item, CodeType)]
    return set(code.co_names).union(*inner)


def _named(value: Any, by: FunctionType, met: set[int]) -> Any:
    """What a name stands for: a function of another file is only named."""
    function = inspect.unwrap(value) if callable(value) else value
    if not isinstance(function, FunctionType):
        return _described(value, met)
    if function.__module__ != by.__module__:
        return f"{function.__module__}.{function.__qualname__}"
    return _described(function, met)
