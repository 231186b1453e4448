"""Every value of a sum of independent tables, each with a probability that is right relative to itself.

Tables on a common lattice are convolved, tables of few outcomes multiplied out. Only positive numbers are added and multiplied, so that
a tail of 1e-100 is known to as many digits as one of 1/2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, log2

import numpy as np

from mipsim._budget import check_budget
from mipsim._powers import repeated
from mipsim.exact.atoms import AtomsLaw
from mipsim.exact.independent import Independent, all_atoms
from mipsim.exact.rounding import UNIT

_MOST_VALUES = 2**20  # places on a lattice
_LEAST_STEP = 2.0**-21  # of the range of all sums: a finer lattice has too many places
_ON_IT = 64.0 * UNIT  # of the largest value of a table: by which rounding moves a value off the lattice
_APART = 1.0 / 16.0  # of a step: the most that values may be off it
_CUT = 1e-130  # probability of a place at either end that is left out, and counted
_FLOOR = 1e-290  # what underflow may take


def listed_law(
    total: Independent, relative: float, lost: float, below: np.ndarray, work: float
) -> AtomsLaw | None:
    """The distribution of a sum of tables by all of its values; None where they are too many or would take too long.

    `total`: the tables, without noise; `relative`: a bound on the |log| of what the probability of any outcome of the tables is off by;
    `lost`: a bound on the probability of outcomes in no table; `below`: the probability of -inf in each world, shape (2,); `work`: products
    at most.
    """
    if total.noise.parts:
        return None
    result = _by_outcomes(total) or _on_lattice(total, work)
    if result is None:
        return None
    values, masses, near, off, cut = result
    impossible = bool((below > 0.0).any())
    values = np.concatenate([np.full(int(impossible), -np.inf), values])
    out, inside = np.concatenate([below[:, None], masses], axis=1)[:, int(not impossible) :]
    relative = float(np.expm1(relative)) + off
    missing = lost + cut
    return AtomsLaw(values, out, inside, near, relative + missing, relative, missing + _FLOOR)


Listed = tuple[np.ndarray, np.ndarray, float, float, float]
"""Values, rising; probabilities in both worlds, shape (2, A); a bound on the error of a value; one on the relative error of a
probability; and what is left out."""


def _by_outcomes(total: Independent) -> Listed | None:
    if (heavy := all_atoms(total)) is None or not heavy.is_ordered(total):
        return None
    masses = np.stack([heavy.out, heavy.inside])
    # The error of all together is as large a share of them as that of each is of it.
    off = heavy.error / max(float(masses.sum(axis=1).max()), 1e-300)
    return heavy.values, masses, heavy.slack, off, 0.0


@dataclass(frozen=True)
class _Row:
    """A table whose values are `first` and whole multiples of a step above it."""

    first: float
    p: np.ndarray  # probability of each multiple
    copies: int


def _on_lattice(total: Independent, work: float) -> Listed | None:
    step = _common_step(total)
    if step is None:
        return None
    worlds = [_rows(total, world, step) for world in (0, 1)]
    near = total.rounding + max(away for _, away in worlds)
    if near > _APART * step or max(_work(rows) for rows, _ in worlds) > work:
        return None
    starts, sums, off = [], [], 0.0
    for world, (rows, _) in enumerate(worlds):
        first = fsum([float(total.offset[world]), *(row.copies * row.first for row in rows)])
        place, p, own = _convolved(rows)
        starts.append(first + step * place)
        sums.append(p)
        off = max(off, own)
    apart = (starts[1] - starts[0]) / step
    steps = round(apart)
    if abs(apart - steps) * step <= 2.0 * near:  # the worlds share their places
        low = min(0, steps)
        places = max(sums[0].size, steps + sums[1].size) - low
        masses = np.zeros((2, places))
        for mass, at, p in zip(masses, (-low, steps - low), sums, strict=True):
            mass[at : at + p.size] = p
        values = starts[0] + step * (low + np.arange(places))
    elif abs(apart - steps) > 4.0 * _APART:
        each = [start + step * np.arange(p.size) for start, p in zip(starts, sums, strict=True)]
        values = np.concatenate(each)
        order = np.argsort(values)
        masses = np.zeros((2, values.size))
        masses[0, : sums[0].size], masses[1, sums[0].size :] = sums
        values, masses = values[order], masses[:, order]
    else:
        return None  # their places are near each other, and not the same
    possible = masses.any(axis=0)
    terms = sum(row.copies for rows, _ in worlds for row in rows)
    return (
        values[possible],
        masses[:, possible],
        near + 8.0 * UNIT * float(np.abs(values).max()),
        off,
        2.0 * _CUT * terms * _MOST_VALUES,
    )


def _common_step(total: Independent) -> float | None:
    """The largest number of which all gaps of all tables are about multiples, by Euclid's algorithm; None if it would be too small."""
    gaps, size, spread = [], [], 0.0
    for s in total.stacks:
        for world in (0, 1):
            possible = (s.probability[world] > 0.0) & (s.copies[world] > 0)[:, None]
            first = np.where(possible, s.values, np.inf).min(axis=1, initial=np.inf)
            first = np.where(np.isfinite(first), first, 0.0)
            gap = np.where(possible, s.values - first[:, None], 0.0)
            spread = max(spread, float(s.copies[world] @ gap.max(axis=1)))
            gaps.append(gap.ravel())
            size.append(np.broadcast_to(np.abs(s.values).max(axis=1)[:, None], gap.shape).ravel())
    gap, most = np.concatenate(gaps), _ON_IT * np.concatenate(size)
    gap, most = gap[gap > most], most[gap > most]
    if not gap.size:
        return None
    least = _LEAST_STEP * spread
    step, rest = float(gap.min()), gap
    while step > least:
        rest = np.abs(gap - step * np.rint(gap / step))
        if not (rest > 0.01 * least).any():
            whole = np.rint(gap / step)
            step *= float(whole @ gap / (step * (whole @ whole)))  # of all of them, by least squares
            fits = np.abs(gap - step * whole) <= most
            return step if fits.all() else None
        step = float(rest[rest > 0.01 * least].min())
    return None


def _rows(total: Independent, world: int, step: float) -> tuple[list[_Row], float]:
    """The tables of a world, and how far all values together may be off the lattice."""
    rows, away = [], 0.0
    for s in total.stacks:
        for value, p, copies in zip(s.values, s.probability[world], s.copies[world].tolist(), strict=True):
            possible = p > 0.0
            if not copies or not possible.any():
                continue
            value = value[possible]
            first = float(value.min())
            whole = np.rint((value - first) / step)
            away += copies * float(np.abs(value - first - step * whole).max())
            rows.append(_Row(first, np.bincount(whole.astype(int), p[possible]), copies))
    return sorted(rows, key=lambda row: row.copies * row.p.size), away


def _work(rows: list[_Row]) -> float:
    """About the products of numbers; infinite where the result is too long."""
    size, result = 1.0, 0.0
    for row in rows:
        more = float(row.copies * (row.p.size - 1))
        result += size * more + (more * more if row.copies > 1 else 0.0)
        size += more
    return result if size <= _MOST_VALUES else np.inf


def _convolved(rows: list[_Row]) -> tuple[int, np.ndarray, float]:
    """(The first place, probabilities of it and those after it, a bound on their relative error).

    A number of a convolution of a and b numbers is a sum of min(a, b) products at most; see `convolution_error` for powers.
    """
    place, p, off = 0, np.ones(1), 0.0
    for row in rows:
        check_budget()
        at, power = repeated((0, row.p), row.copies, _times)
        off += 2.0 * UNIT * row.copies * row.p.size * (1.0 + log2(row.copies)) + 2.0 * UNIT * power.size
        place, p = _times((place, p), (at, power))
    return place, p, 2.0 * off


def _times(first: tuple[int, np.ndarray], second: tuple[int, np.ndarray]) -> tuple[int, np.ndarray]:
    mass = np.convolve(first[1], second[1])
    retained = np.flatnonzero(mass > _CUT)
    if not retained.size:
        return first[0] + second[0], mass
    return first[0] + second[0] + int(retained[0]), mass[retained[0] : retained[-1] + 1]
