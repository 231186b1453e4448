"""A proven bracket of the law of a sum of independent terms, in both worlds, at every threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mipsim.exact.heavy import Heavy, heavy_atoms, lattice_powers
from mipsim.exact.independent import Independent, without_faint
from mipsim.exact.rounding import UNIT
from mipsim.exact.selberg import Circle, tail_bounds

NODES = 2**14 - 1  # frequencies: the bracket of a density is then some 3e-4 wide, in tens of milliseconds
_ENUMERATED = 2.0**20  # outcomes: so many are multiplied out in a second
_KEPT = 2**17  # atoms
_HEAVY = 2.0**-17  # the bracket of 2^14 nodes blurs what is lighter
_LIGHTEST = 1e-11  # a rest so light is counted as an error
_WIDE = 5e-4  # a bracket wider than twice its usual width has ties in it
_TIES = 1e-13  # outcomes lighter than this are left to the bracket
_WORK = 2.0**23  # additions of one step of the search for ties


@dataclass(frozen=True)
class LawBracket:
    """Bounds on P(score > x) in both worlds, at every x.

    The law is a list of atoms, known one by one, plus a rest of which bounds are known on a grid. Between two grid points
    the bounds hold by monotonicity.

    Attributes:
        grid: thresholds, increasing, shape (M + 1,).
        low, high: bounds on P(rest > grid point), non-increasing, shape (2, M + 1).
        atoms: values of the atoms, increasing, shape (A,); a threshold within `slack` of an atom is on it.
        masses: their probabilities, shape (2, A).
        below: probability of -inf, shape (2,).
        error: to be added at either side of every bound, shape (2,).
        slack: of the atoms' values, in score units.
    """

    grid: np.ndarray
    low: np.ndarray
    high: np.ndarray
    atoms: np.ndarray
    masses: np.ndarray
    below: np.ndarray
    error: np.ndarray
    slack: float

    @cached_property
    def _heavier(self) -> np.ndarray:
        """P(heavy > atom k) for k = -1 ... A - 1, shape (2, A + 1)."""
        ends = np.cumsum(self.masses[:, ::-1], axis=1)[:, ::-1]
        return np.concatenate([ends, np.zeros((2, 1))], axis=1)

    def heavy_above(self, x: np.ndarray, world: int) -> np.ndarray:
        """P(an atom > x)."""
        return self._heavier[world, np.searchsorted(self.atoms, x + self.slack, side="right")]

    def above_bounds(self, x: np.ndarray, world: int) -> tuple[np.ndarray, np.ndarray]:
        """Bounds on P(score > x); shape of x."""
        x = np.asarray(x, float)
        low = high = self.heavy_above(x, world)
        if self.grid.size:
            i = np.searchsorted(self.grid, x, side="right") - 1  # the last point <= x
            j = np.searchsorted(self.grid, x, side="left")  # the first point >= x
            last = self.grid.size - 1
            low = low + np.where(j > last, 0.0, self.low[world, np.minimum(j, last)])
            high = high + self.high[world, np.maximum(i, 0)]
        most = min(1.0, 1.0 - self.below[world] + self.error[world] + 4.0 * UNIT)
        high = np.where(x == np.inf, 0.0, np.clip(high + self.error[world], 0.0, most))
        return np.minimum(np.clip(low - self.error[world], 0.0, most), high), high

    @cached_property
    def middle(self) -> np.ndarray:
        """The middle of the bounds of the rest, shape (2, M + 1)."""
        return 0.5 * (self.low + self.high)

    def estimate(self, x: np.ndarray, world: int) -> np.ndarray:
        """P(score > x) in the middle of the bracket, interpolated; shape of x."""
        x = np.asarray(x, float)
        known = self.heavy_above(x, world)
        if self.grid.size:
            known = known + np.interp(x, self.grid, self.middle[world])
        finite = 1.0 - self.below[world]
        known = np.clip(known, 0.0, finite)
        return np.where(np.isinf(x), np.where(x > 0.0, 0.0, finite), known)

    @cached_property
    def error_bound(self) -> float:
        """How far `estimate` can be from the truth, at any threshold and in either world."""
        error = self.error + 8.0 * UNIT
        if self.grid.size:
            high, low, middle = self.high, self.low, self.middle
            inner = np.maximum(high[:, :-1] - middle[:, 1:], middle[:, :-1] - low[:, 1:]).max(axis=1)
            error = np.maximum(error + inner, high[:, -1] + self.error)
        return min(float(error.max()), 1.0)

    @cached_property
    def width(self) -> float:
        """How far two numbers inside the bounds can be apart, at any threshold and in either world."""
        wide = 2.0 * self.error + 8.0 * UNIT
        if self.grid.size:
            wide = wide + np.maximum((self.high[:, :-1] - self.low[:, 1:]).max(axis=1), self.high[:, -1])
        return min(float(wide.max()), 1.0)


def bracket(
    total: Independent, nodes: int = NODES, *, below: np.ndarray | None = None, error: float = 0.0
) -> LawBracket:
    """Bounds on the law of a sum of independent terms, at every threshold.

    Few outcomes are multiplied out. Otherwise the likeliest are, where there are likely ones, and the rest is bracketed
    from its characteristic function at `nodes` frequencies by Selberg's polynomials (`tail_bounds`); the width is then
    about (length of the circle) x (density of the rest) / nodes, whatever the number of terms.

    Args:
        total: the terms; their probabilities sum to less than 1 where infinite values are possible.
        nodes: frequencies.
        below: probability of a score of -inf, shape (2,); zero if not given.
        error: a bound on the distance in total variation of the tables from the truth, in either world.

    Examples:
        >>> from mipsim.exact.independent import Stack
        >>> dice = Stack(np.arange(1.0, 7.0)[None, :], np.full((2, 1, 6), 1 / 6), np.array([[3], [3]]))
        >>> found = bracket(Independent((dice,), np.zeros(2)))
        >>> low, high = found.above_bounds(np.array([16.0]), 0)
        >>> print((216 * low).round(9), found.error_bound < 1e-12)  # 17 or 18 pips: 4 of 216
        [4.] True
    """
    none = np.zeros(2)
    below = none if below is None else below
    stacks, lost = without_faint(total.stacks)
    powers, moved = (stacks, none) if total.noise.parts else lattice_powers(stacks)
    total = replace(total, stacks=powers)
    errors = lost + moved + error
    heavy = _heavy(total)
    errors = errors + heavy.error
    found = _whole(total, heavy, nodes, below, errors)
    if found.error_bound > _WIDE and not total.noise.parts and heavy.values.size == 0:
        # Ties of many outcomes make atoms that no single outcome shows: logarithms of products of small numbers, say.
        steps = [np.ceil(np.log2(s.copies.max() + 1.0)) for s in powers]
        sizes = sum((s.probability > 0.0).any(axis=0).sum() * k for s, k in zip(powers, steps, strict=True))
        heavy = heavy_atoms(total, _TIES, int(np.clip(_WORK / sizes, 2**6, 2**15)))
        retried = _whole(total, heavy, nodes, below, errors + heavy.error)
        found = min(found, retried, key=lambda b: b.error_bound)
    return found


def _whole(total: Independent, heavy: Heavy, nodes: int, below: np.ndarray, errors: np.ndarray) -> LawBracket:
    masses = np.stack([heavy.out, heavy.inside])
    light = np.maximum(total.finite - masses.sum(axis=1), 0.0)
    if light.max() <= _LIGHTEST:
        grid, (low, high), errors, off = np.zeros(0), np.zeros((2, 2, 0)), errors + light, 1e-15
    else:
        grid, low, high, off = _rest(total, heavy, nodes)
    return LawBracket(grid, low, high, heavy.values, masses, below, errors + off, heavy.slack)


def _heavy(total: Independent) -> Heavy:
    none = Heavy(np.zeros(0), np.zeros(0), np.zeros(0), total.rounding, 0.0)
    if total.noise.parts:
        return none
    outcomes, likeliest = 0.0, np.zeros(2)
    for s in total.stacks:
        possible = (s.probability > 0.0).any(axis=0).sum(axis=1)
        outcomes += float(s.copies.max(axis=0) @ np.log(np.maximum(possible, 1)))
        with np.errstate(divide="ignore"):
            likeliest += (np.log(s.probability.max(axis=2)) * s.copies).sum(axis=1)
    if outcomes <= np.log(_ENUMERATED):
        return heavy_atoms(total, 0.0, _KEPT * 8)
    if likeliest.max() < np.log(_HEAVY):
        return none
    return heavy_atoms(total, _HEAVY, 2**13)


def _rest(total: Independent, heavy: Heavy, nodes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    low, high = total.reach
    # Room for rounding; a twentieth makes the bracket so much wider only.
    margin = 0.05 * (high - low) + 64.0 * total.rounding + 1e-100 + 1e-9 * (abs(low) + abs(high))
    circle = Circle(low - margin, (high - low) + 2.0 * margin)
    spacing = 2.0 * np.pi / circle.length
    value, error = total.characteristic(spacing, nodes, circle.start)
    if heavy.values.size:
        t = spacing * np.arange(nodes + 1)
        mass = np.stack([heavy.out, heavy.inside])
        part, wrong = _waves(heavy.values - circle.start, mass, spacing, nodes)
        value = value - part
        error = error + wrong + (t * heavy.slack + 2.0**-50) * mass.sum(axis=1)[:, None] + heavy.error
    slack = (total.rounding + 4.0 * UNIT * (abs(circle.start) + circle.length)) / circle.length
    # More frequencies make the bracket narrower, and add their errors: about the best number of them.
    k = np.arange(1, nodes + 1)
    cost = np.cumsum(error[:, 1:].max(axis=0) / k) + 6.0 / (k + 1.0)
    best = int(np.argmin(cost)) + 1
    sides = [tail_bounds(value[w, : best + 1], error[w, : best + 1], slack) for w in (0, 1)]
    grid = circle.thresholds(sides[0][0].size - 1)
    # Off the circle lies 1e-13 at most at either end (`Independent.reach`), and a tenth of that to spare.
    return grid, np.stack([s[0] for s in sides]), np.stack([s[1] for s in sides]), 2.2e-13


def _waves(values: np.ndarray, mass: np.ndarray, spacing: float, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """sum_a m_a exp(i k h v_a) for k = 0 ... nodes and a bound on its error, both of shape (2, nodes + 1)."""
    fine = 2 ** int(np.ceil(np.log2(nodes + 1.0) / 2))
    coarse = -(-(nodes + 1) // fine)
    rough = np.exp(1j * (spacing * fine) * np.outer(np.arange(coarse), values))
    smooth = np.exp(1j * spacing * np.outer(values, np.arange(fine)))
    found = np.stack([((m * rough) @ smooth).ravel() for m in mass])[:, : nodes + 1]
    t = spacing * np.arange(nodes + 1)
    first = (mass * np.abs(values)).sum(axis=1)
    error = UNIT * ((3.0 * values.size + 24.0) * mass.sum(axis=1)[:, None] + 4.0 * first[:, None] * t)
    return found, error
