"""Points of a domain: spread evenly, at the ends, at the corners."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from mipsim.referee.domain import AbstractParameter, Choice, Real, Whole
from mipsim.referee.statement import Statement

END_SHARE = 0.4
"""Probability that a numeric parameter is put at an end of its range, or next to it: planted defects were best detected so."""
EVEN = 4
"""Every so manieth point is spread evenly and left alone: only these say at what share of the domain a statement stands."""
BLOCK = 64
"""Points that are sampled at once: a power of 2, which Sobol's points need to be balanced."""
HOPELESS = 20_000
"""Points in a row that `where` excludes, or that were seen before, after which no more are tried."""
MOST_CORNERS = 128
"""Corners that are listed; of more, so many are sampled."""
MOST_LISTED = 4096
"""Points of a finite domain that are listed to see whether each was looked at."""
INSIDE = 1e-3
"""Share of a range by which a corner that an assumption excludes is moved inside."""


@dataclass(frozen=True)
class SampledPoint:
    """A sampled point: its values, whether it is an evenly spread point, and why it cannot be judged."""

    at: dict[str, Any]
    even: bool
    error: str = ""


def draws(statement: Statement, seed: int) -> Iterator[SampledPoint]:
    """Yield distinct points of the domain without end; a finite domain ends when all were met.

    They are scrambled Sobol points; three of four have each numeric parameter at an end, or next to it, with probability 0.4.

    `statement`: gives the domain and the assumptions; `seed`: a whole number >= 0. Raises ValueError if no point
    satisfies the assumptions.

    Source: Owen (1998), "Scrambling Sobol' and Niederreiter-Xing points".

    >>> from mipsim import referee as rf
    >>> coin = rf.Statement(
    ...     name="coin", says="1 <= 2", source="school", kind=rf.Bound(), domain={"side": rf.Choice("heads", "tails")},
    ...     claimed=lambda: 2.0, truth=lambda: 1.0,
    ... )
    >>> sorted(point.at["side"] for point in draws(coin, 0))
    ['heads', 'tails']
    """
    free = {name: statement.domain[name] for name in statement.free}
    # Two sequences: every fourth point of a single sequence would all lie in a corner of the cube.
    spread, mixed = (_places(len(free), [seed, stream]) for stream in (0, 3))
    generator = np.random.default_rng([seed, 1])
    seen: set[tuple[Any, ...]] = set()
    missed, result = 0, False
    for number in itertools.count():
        even = number % EVEN == 0
        at = _point(free, next(spread), None) if even else _point(free, next(mixed), generator)
        key = tuple(at.values())
        error, allowed = "", key not in seen
        if allowed:
            seen.add(key)
            try:
                allowed = statement.stands(at)
            except Exception as raised:
                error = f"where: {type(raised).__name__}: {raised}"
        if allowed:
            missed, result = 0, True
            yield SampledPoint(at, even, error)
            continue
        missed += 1
        if missed >= HOPELESS:
            break
    if not result:
        raise ValueError(
            f"where of {statement.name} excludes all of {HOPELESS:,} points of its domain; it must allow some"
        )


def _places(dimension: int, seed: list[int]) -> Iterator[np.ndarray]:
    # SciPy 1.14 has no rng.
    generator = np.random.default_rng(seed)
    sobol = scipy.stats.qmc.Sobol(dimension, seed=generator) if dimension else None  # pyright: ignore[reportCallIssue]
    while True:
        yield from np.zeros((BLOCK, 0)) if sobol is None else sobol.random(BLOCK)


def _point(
    free: dict[str, AbstractParameter], places: np.ndarray, ends: np.random.Generator | None
) -> dict[str, Any]:
    at = {name: parameter.value(float(u)) for (name, parameter), u in zip(free.items(), places, strict=True)}
    if ends is None:
        return at
    for name, parameter in free.items():
        if not isinstance(parameter, Choice) and ends.random() < END_SHARE:
            at[name] = parameter.next_to_end(ends)
    return at


def corners(statement: Statement, seed: int) -> list[dict[str, Any]]:
    """Return all corners of the domain, or `MOST_CORNERS` of them; a corner that `where` excludes is moved a little inside.
    >>> from mipsim import referee as rf
    >>> square = rf.Statement(
    ...     name="square", says="x <= 1", source="school", kind=rf.Bound(), domain={"x": rf.Real(0.0, 1.0)},
    ...     where=lambda x: x > 0, claimed=lambda: 1.0, truth=lambda x: x,
    ... )
    >>> [corner["x"] for corner in corners(square, 0)]
    [0.001, 1.0]
    """
    free = {name: statement.domain[name] for name in statement.free}
    counts = [len(parameter.ends) for parameter in free.values()]
    total = int(np.prod(counts, dtype=float))
    if total <= MOST_CORNERS:
        chosen = list(itertools.product(*(range(count) for count in counts)))
    else:
        generator = np.random.default_rng([seed, 2])
        sample = [tuple(int(generator.integers(count)) for count in counts) for _ in range(MOST_CORNERS)]
        chosen = list(dict.fromkeys(sample))
    result = []
    for places in chosen:
        at = {name: parameter.ends[k] for (name, parameter), k in zip(free.items(), places, strict=True)}
        inside = {
            name: parameter.value(abs(parameter.place(at[name]) - INSIDE)) for name, parameter in free.items()
        }
        result += next(([item] for item in (at, inside) if _stands(statement, item)), [])
    return result


def every_point(statement: Statement, most: int) -> list[dict[str, Any]] | None:
    """Return all points of a finite domain that satisfy the assumptions; None if it is infinite or has more than `most` before these.

    An open end makes a domain infinite, however far it is searched.

    >>> from mipsim import referee as rf
    >>> coin = rf.Statement(
    ...     name="coin", says="1 <= 2", source="school", kind=rf.Bound(), domain={"side": rf.Choice("heads", "tails")},
    ...     claimed=lambda: 2.0, truth=lambda: 1.0,
    ... )
    >>> every_point(coin, 2), every_point(coin, 1)
    ([{'side': 'heads'}, {'side': 'tails'}], None)
    """
    free = {name: statement.domain[name] for name in statement.free}
    values = [_values(parameter) for parameter in free.values()]
    if not all(values) or math.prod(map(len, values)) > most:
        return None
    points = (dict(zip(free, item, strict=True)) for item in itertools.product(*values))
    return [at for at in points if _stands(statement, at)]


def covered(statement: Statement, seen: Iterable[Mapping[str, Any]]) -> bool:
    """Whether the domain is finite, and each point that satisfies the assumptions was seen."""
    names = statement.free
    known = {tuple(at[name] for name in names) for at in seen if all(name in at for name in names)}
    points = every_point(statement, MOST_LISTED)
    return points is not None and all(tuple(at.values()) in known for at in points)


def _values(parameter: AbstractParameter) -> Sequence[Any]:
    """All values of a parameter; none where there are infinitely many."""
    if isinstance(parameter, Whole):
        bounded = math.isfinite(parameter.low) and math.isfinite(parameter.high)
        return range(int(parameter.low), int(parameter.high) + 1) if bounded else ()
    return () if isinstance(parameter, Real) else parameter.ends


def _stands(statement: Statement, at: dict[str, Any]) -> bool:
    try:
        return statement.stands(at)
    except Exception:
        return True  # it is recorded where it is judged
