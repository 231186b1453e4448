"""The law of an additive score of independent coordinates between proven bounds, at every threshold and in both worlds.

The bounds are Selberg's, from the characteristic function: some 3e-4 wide for any number of terms. Rounding each of d terms to a
lattice of step h costs d h of the score instead: 2e-2 for 1,000 terms and 2^18 points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import jax.numpy as jnp
import numpy as np

from mipsim._powers import convolution_error, repeated
from mipsim._roots import least_float, least_whole
from mipsim.attacks.base import AbstractAdditiveAttack, AbstractLinearAttack
from mipsim.distributions.bernoulli import Bernoulli
from mipsim.distributions.discrete import Discrete
from mipsim.exact.atoms import AtomsLaw, alike
from mipsim.exact.binomial import binomial_relative_error
from mipsim.exact.derived_laws import linked, mixed_with_out
from mipsim.exact.independent import (
    Heavy,
    Independent,
    Stack,
    all_atoms,
    by_waves,
    heavy_atoms,
    lattice_powers,
    without_faint,
)
from mipsim.exact.listed import listed_law
from mipsim.exact.noise_transform import score_noise
from mipsim.exact.rounding import UNIT
from mipsim.exact.rows import row_of
from mipsim.exact.selberg import tail_bounds
from mipsim.exact.term_tables import count_tables
from mipsim.exact.tilted import TiltedBrackets
from mipsim.forms.polynomial import ReadParabolas
from mipsim.forms.problem import FixedProblem
from mipsim.forms.score import line_at, terms_at
from mipsim.tradeoff.score_law import AbstractScoreLaw, Thresholds

# Frequencies: with the first the bracket of a density is some 3e-4 wide, in tens of milliseconds. More only where it is too wide:
# noise much finer than the atoms it smooths.
_NODES = (2**14 - 1, 2**16 - 1, 2**18 - 1)
_ENOUGH = 4e-4  # a little above the width that 2^14 nodes give a density
_OUTCOMES = 2**14  # of a single row; each is an atom of every further batch
_MOST_TILTED = 2**14  # different coordinates of which small tails are looked at: a minute of a core
_QUICK = 2.0**26  # products of numbers: a tenth of a second
_CONVOLVED = 2.0**33  # the same: ten seconds
_HEAVY = 2.0**-3  # over the nodes: their bracket blurs what is lighter
_LIGHTEST = 1e-11  # a rest so light is counted as an error
_WIDE = 5e-4  # a bracket wider than twice its usual width has ties in it
_TIES = 1e-13  # outcomes lighter than this are left to the bracket
_WORK = 2.0**23  # additions of a single step of the search for ties
_UNDERFLOW = 1e-290  # probability that powers of a table may lose


@dataclass(frozen=True)
class Read:
    """A score as a sum of independent terms, and how well its tables are known."""

    total: Independent
    error: float  # a bound on the distance of the tables from the truth in total variation, in either world
    relative: float  # a bound on the |log| of what the probability of any outcome of the tables is off by
    lost: float  # a bound on the probability of outcomes that are in no table
    below: np.ndarray  # the probability of a score of -inf, shape (2,)


@dataclass(frozen=True)
class LawBracket:
    """Bounds on P(score > x) in both worlds, at every x.

    The law is a list of atoms, known individually, plus a rest of which bounds are known on a grid. Between two grid points
    the bounds hold by monotonicity.
    """

    grid: np.ndarray  # thresholds, increasing, shape (M + 1,)
    # low, high: bounds on P(rest > grid point), non-increasing, shape (2, M + 1)
    low: np.ndarray
    high: np.ndarray
    # values of the atoms, increasing, shape (A,); a threshold within `slack` of an atom is on it
    atoms: np.ndarray
    masses: np.ndarray  # their probabilities, shape (2, A)
    below: np.ndarray  # probability of -inf, shape (2,)
    error: np.ndarray  # to be added at either side of every bound, shape (2,)
    slack: float  # of the atoms' values, in score units

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


def bracket(
    total: Independent, nodes: int = _NODES[0], *, below: np.ndarray | None = None, error: float = 0.0
) -> LawBracket:
    """Bounds on the law of a sum of independent terms, at every threshold.

    Few outcomes are multiplied out. Otherwise the likeliest are, where there are likely ones, and the rest is bracketed
    from its characteristic function at `nodes` frequencies by Selberg's polynomials (`tail_bounds`); the width is then
    about (length of the circle) x (density of the rest) / nodes, whatever the number of terms.

    `total`: the terms; their probabilities sum to less than 1 where infinite values are possible; `nodes`: frequencies;
    `below`: probability of a score of -inf, shape (2,); zero if not given; `error`: a bound on the distance in total
    variation of the tables from the truth, in either world.
    """
    none = np.zeros(2)
    below = none if below is None else below
    stacks, lost = without_faint(total.stacks)
    powers, moved = (stacks, none) if total.noise.parts else lattice_powers(stacks)
    total = replace(total, stacks=powers)
    errors = lost + moved + error
    heavy = _heavy(total, nodes)
    errors = errors + heavy.error
    result = _whole(total, heavy, nodes, below, errors)
    wide = result.error_bound > _WIDE or nodes > _NODES[0]
    if wide and not total.noise.parts and heavy.values.size == 0:
        # Ties of many outcomes make atoms that no single outcome shows: logarithms of products of small numbers, say.
        steps = [np.ceil(np.log2(s.copies.max() + 1.0)) for s in powers]
        sizes = sum((s.probability > 0.0).any(axis=0).sum() * k for s, k in zip(powers, steps, strict=True))
        heavy = heavy_atoms(total, _TIES, int(np.clip(_WORK / sizes, 2**6, 2**15)))
        retried = _whole(total, heavy, nodes, below, errors + heavy.error)
        result = min(result, retried, key=lambda b: b.error_bound)
    return result


def _whole(total: Independent, heavy: Heavy, nodes: int, below: np.ndarray, errors: np.ndarray) -> LawBracket:
    masses = np.stack([heavy.out, heavy.inside])
    light = np.maximum(total.finite - masses.sum(axis=1), 0.0)
    if light.max() <= _LIGHTEST:
        grid, (low, high), errors, off = np.zeros(0), np.zeros((2, 2, 0)), errors + light, 1e-15
    else:
        grid, low, high, off = _rest(total, heavy, nodes)
    return LawBracket(grid, low, high, heavy.values, masses, below, errors + off, heavy.slack)


def _heavy(total: Independent, nodes: int) -> Heavy:
    none = Heavy(np.zeros(0), np.zeros(0), np.zeros(0), total.rounding, 0.0)
    if total.noise.parts:
        return none
    if (every := all_atoms(total)) is not None:
        return every
    likeliest = np.zeros(2)
    for s in total.stacks:
        with np.errstate(divide="ignore"):
            likeliest += (np.log(s.probability.max(axis=2)) * s.copies).sum(axis=1)
    least = _HEAVY / (nodes + 1.0)
    if likeliest.max() < np.log(least):
        return none
    return heavy_atoms(total, least, min((nodes + 1) // 2, 2**15))


def between_bounds(total: Any, nodes: int, *, error: float) -> LawBracket:
    """Bounds on the distribution of a sum without likely values, from its characteristic function alone.
    `total`: has `reach`, `rounding` and `characteristic` as `Independent` has; `nodes`: frequencies; `error`: a bound on
    the error of every probability, to be added.
    """
    none = np.zeros(0)
    grid, low, high, off = _rest(total, Heavy(none, none, none, total.rounding, 0.0), nodes)
    return LawBracket(
        grid, low, high, none, np.zeros((2, 0)), np.zeros(2), np.full(2, error + off), total.rounding
    )


def _rest(total: Any, heavy: Heavy, nodes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    low, high = total.reach
    # Room for rounding; a twentieth makes the bracket so much wider only.
    margin = 0.05 * (high - low) + 64.0 * total.rounding + 1e-100 + 1e-9 * (abs(low) + abs(high))
    start, length = low - margin, (high - low) + 2.0 * margin
    spacing = 2.0 * np.pi / length
    value, error = total.characteristic(spacing, nodes, start)
    if heavy.values.size:
        t = spacing * np.arange(nodes + 1)
        mass = np.stack([heavy.out, heavy.inside])
        waves = by_waves((heavy.values - start)[None, :], mass[:, None, :], spacing, np.arange(nodes + 1))
        value = value - np.concatenate([part for part, _ in waves])
        error = error + np.concatenate([wrong for _, wrong in waves])
        error += (t * heavy.slack + 2.0**-50) * mass.sum(axis=1)[:, None] + heavy.error
    slack = (total.rounding + 4.0 * UNIT * (abs(start) + length)) / length
    # More frequencies make the bracket narrower, and add their errors: about the best number of them.
    k = np.arange(1, nodes + 1)
    cost = np.cumsum(error[:, 1:].max(axis=0) / k) + 6.0 / (k + 1.0)
    best = int(np.argmin(cost)) + 1
    sides = [tail_bounds(value[w, : best + 1], error[w, : best + 1], slack) for w in (0, 1)]
    points = sides[0][0].size - 1
    grid = start + length * (np.arange(points + 1) / points)
    # Off the circle lies 1e-13 at most at either end (`Independent.reach`), and a tenth of that to spare.
    return grid, np.stack([s[0] for s in sides]), np.stack([s[1] for s in sides]), 2.2e-13


@dataclass(frozen=True)
class BracketLaw(AbstractScoreLaw):
    """A law between proven bounds: its values are the middle of the bracket. The bounds are absolute, and say nothing of a far smaller tail."""

    bounds: LawBracket  # of P(score > x) in both worlds

    def log_tail(self, threshold: Thresholds, *, inside: bool, upper: bool) -> np.ndarray:
        x = np.asarray(threshold, float)
        with np.errstate(all="ignore"):
            above = self.bounds.estimate(x, int(inside))
            return np.log(above if upper else np.maximum(1.0 - above, 0.0))

    def threshold_at(self, alpha: object) -> np.ndarray:
        """The grid point or atom, then the float64 before it, from which on at most alpha lies above."""
        given = np.asarray(alpha, float)
        alpha = given.ravel()

        def enough(x: np.ndarray) -> np.ndarray:
            return self.sf(x, inside=False) <= alpha * (1.0 + 4e-16)

        x = np.unique(np.concatenate([self.bounds.grid, self.bounds.atoms]))
        ends = np.full(alpha.shape, -1), np.full(alpha.shape, x.size)
        k = least_whole(lambda place: enough(x[np.maximum(place, 0)]), *ends)
        high = x[np.minimum(k, x.size - 1)]
        low = np.where(k == 0, high - 1.0, x[np.clip(k - 1, 0, x.size - 1)])
        high = least_float(enough, low, high)
        # Half way into the rounding of an atom is on it.
        atoms = self.bounds.atoms if self.bounds.atoms.size else np.full(1, np.inf)
        near = atoms[np.minimum(np.searchsorted(atoms, high), atoms.size - 1)]
        high = np.where(np.abs(near - high) <= 2.0 * self.bounds.slack, near, high)
        result = np.where(alpha >= 1.0 - self.bounds.below[0], -np.inf, np.where(k >= x.size, np.inf, high))
        return np.where(alpha <= 0.0, np.inf, result).reshape(given.shape)

    def log_tail_with_ties(self, threshold: Thresholds, *, inside: bool, upper: bool) -> np.ndarray:
        """The tail just below the threshold.

        An atom may be as light as 1e-12 "out" and weigh 1/2 "in". Where there is none, what the law has in so short a step
        is rounding, and a test that is randomised over it is as good as a deterministic test.
        """
        x = np.asarray(threshold, float)
        step = 4.0 * self.bounds.slack + 4.0 * np.spacing(np.where(np.isfinite(x), np.abs(x), 0.0))
        return self.log_tail(np.where(np.isfinite(x), x - step, x), inside=inside, upper=upper)

    @property
    def error_bound(self) -> float:
        """Half the width of the bracket, about."""
        return self.bounds.error_bound


def bracketed_law(problem: FixedProblem) -> AbstractScoreLaw | None:
    """The law of an additive score between proven bounds; None where no bracket is known.

    Known are: linear scores of Bernoulli, Discrete and Empirical data, with any independent noises; and every sum of a single term
    per coordinate, without noise, of Bernoulli data and of Discrete data on a lattice.
    """
    read = _read(problem)
    if read is None:
        return None
    total = read.total
    if (listed := _listed(read, _QUICK)) is not None:
        return _scored(problem, listed)
    result: LawBracket | None = None
    for nodes in _NODES:
        tried = bracket(total, nodes, below=read.below, error=read.error)
        result = tried if result is None or tried.error_bound < result.error_bound else result
        if result.error_bound <= _ENOUGH or nodes * sum(s.values.size for s in total.stacks) > 2**26:
            break
    assert result is not None  # there is at least 1 number of nodes
    if not result.grid.size:  # every atom is known
        return _scored(problem, _as_atoms(result))
    return _scored(problem, BracketLaw(result))


def law_of_tails(problem: FixedProblem) -> AbstractScoreLaw | None:
    """The law of an additive score without noise between bounds of both tails that are relative, which take longer; None for others."""
    read = _read(problem)
    if read is None or read.total.noise.parts:
        return None
    if (listed := _listed(read, _CONVOLVED)) is not None:
        return _scored(problem, listed)
    few = sum(len(stack.values) for stack in read.total.stacks) <= _MOST_TILTED
    if not few or read.total.variance.min() <= 0.0:
        return None
    return _scored(problem, TiltedBrackets(read.total, bracket, read.relative, read.lost, read.below))


def _read(problem: FixedProblem) -> Read | None:
    attack = problem.attack
    if isinstance(attack, AbstractLinearAttack):
        return _linear(problem, attack)
    return _table(problem) if isinstance(attack, AbstractAdditiveAttack) else None


def _listed(read: Read, work: float) -> AtomsLaw | None:
    return listed_law(read.total, read.relative, read.lost, read.below, work)


def _scored(problem: FixedProblem, law: AbstractScoreLaw) -> AbstractScoreLaw:
    attack, law = problem.attack, mixed_with_out(law, problem.mean.inclusion)
    if isinstance(attack, AbstractLinearAttack):  # its offset is in the terms
        return law
    assert isinstance(attack, AbstractAdditiveAttack)
    target = jnp.asarray(problem.target)
    return linked(law, lambda score: attack.link(target, score))


def _as_atoms(law: LawBracket) -> AtomsLaw:
    """The same law as a list of atoms, of which the first is at -inf where that is possible."""
    impossible = bool((law.below > law.error).any())  # less is rounding
    score = np.concatenate([np.full(int(impossible), -np.inf), law.atoms])
    out, inside = np.concatenate([law.below[:, None], law.masses], axis=1)[:, int(not impossible) :]
    return AtomsLaw(score, out, inside, law.slack, float(law.error.max()))


def _linear(problem: FixedProblem, attack: AbstractLinearAttack) -> Read | None:
    """Weights . output: a table for each coordinate of a row, as often as there are rows; noise of atoms beside them."""
    mean = problem.mean
    weights, offset = line_at(attack, problem.target)
    row_weights = weights / (mean.rows * mean.rate)
    row, noise = row_of(problem.data, row_weights), score_noise(mean, weights)
    atoms = None if row is None else row.atoms
    if atoms is None or noise is None:
        return None
    tables = [result for part in noise.parts if (result := part.atoms) is not None]
    stacks = tuple(_stack(*value, 1, 1) for value in tables)
    # Each probability is rounded once or twice: 1 - p, or a share of the records.
    relative = 2.0**-51 * sum(values.shape[0] for values, _ in tables)
    offset += noise.smooth.mean
    own = float(row_weights @ problem.row)
    if mean.rate < 1.0:
        result = _by_coins(*atoms, mean.rows, mean.rate, own)
        ends = np.full(2, offset)
    else:
        result = (_stack(*atoms, mean.rows, mean.rows - 1),), 2.0**-51 * mean.rows * atoms[0].shape[0]
        ends = offset + np.array([0.0, own])
    if result is None:
        return None
    relative += result[1]
    total = Independent((*result[0], *stacks), ends, noise.smooth)
    return Read(total, noise.error + relative, relative, noise.error, np.zeros(2))


def _stack(values: np.ndarray, p: np.ndarray, out: int, inside: int) -> Stack:
    """Tables that occur `out` times in the "out" world and `inside` times in the "in" world."""
    copies = np.repeat([[out], [inside]], values.shape[0], axis=1)
    return _grouped(Stack(values, np.stack([p, p]), copies))


def _by_coins(
    values: np.ndarray, p: np.ndarray, rows: int, rate: float, target: float
) -> tuple[tuple[Stack, ...], float] | None:
    """Rows that their own coins keep: a row's coordinates come or go together, so that its outcomes are multiplied out."""
    if p.shape[0] * np.log(p.shape[1]) > np.log(_OUTCOMES):
        return None
    row, mass = np.zeros(1), np.array([rate])
    for v, q in zip(values, p, strict=True):
        row, mass = np.add.outer(row, v).ravel(), np.multiply.outer(mass, q).ravel()
    row, mass = np.append(row, 0.0)[None, :], np.append(mass, 1.0 - rate)[None, :]
    others = Stack(row, np.stack([mass, mass]), np.array([[rows], [rows - 1]]))
    coin = np.array([[rate, 1.0 - rate]])
    own = Stack(np.array([[target, 0.0]]), np.stack([coin, coin]), np.array([[0], [1]]))
    return (others, own), 2.0**-51 * rows * (values.shape[0] + 2.0)


def _table(problem: FixedProblem) -> Read | None:
    """A table of terms for each coordinate, over the values that its sum can take."""
    result = count_tables(problem)
    if result is None:
        return _lattice_table(problem)
    terms, p, each = result
    item = problem.row[:, None] == 1.0
    if (item | (problem.row[:, None] == 0.0)).all():
        # The sums of both worlds lie on the same whole numbers, and share a table.
        values = np.concatenate([terms[0], np.where(item, terms[1], terms[0])[:, -1:]], axis=1)
        low, high = (np.pad(p, ((0, 0), (0, 0), side)) for side in ((0, 1), (1, 0)))
        probability = np.stack([low[0], np.where(item, high[1], low[1])])
    else:
        values, probability = _side_by_side(terms, p)
    assert isinstance(problem.data, Bernoulli)
    relative, lost = np.sum(binomial_relative_error(problem.mean.rows, problem.data.p), axis=0).tolist()
    return _once_each(values, probability, float(each.sum()), relative, lost)


def _lattice_table(problem: FixedProblem) -> Read | None:
    """The same for `Discrete` data whose values are multiples of a common step, over all sums of the rows.

    Each probability of a sum is off by `convolution_error`, relative, and by what the normalisation of a row's probabilities
    loses in as many rows.
    """
    attack, mean, data = problem.attack, problem.mean, problem.data
    if not isinstance(attack, AbstractAdditiveAttack) or not isinstance(data, Discrete):
        return None
    result = None if mean.is_noisy or mean.rate < 1.0 else data.lattice()
    if result is None:
        return None
    step, least, law = result
    places = np.rint((data.values - data.values[0]) / step)
    size = mean.rows * (law.shape[1] - 1) + 1
    distinct, row = np.unique(law, axis=0, return_inverse=True)
    away = np.abs(data.values - data.values[0] - step * places).max()
    if away > 2.0**-49 * np.abs(data.values).max() or distinct.shape[0] * float(size) ** 2 > _CONVOLVED:
        return None
    sums = np.zeros((2, distinct.shape[0], size))
    for k, item in enumerate(distinct):
        for world, rows in enumerate((mean.rows, mean.rows - 1)):
            pmf = repeated(item, rows, np.convolve)
            sums[world, k, : pmf.size] = pmf
    p = sums[:, row.ravel()]
    place = step * np.arange(size)
    own = np.stack([mean.rows * least, (mean.rows - 1) * least + problem.row])
    outputs = (own.T[:, :, None] + place) / mean.rows
    terms = terms_at(attack, problem.target, outputs).swapaxes(0, 1)
    if ((p > 0.0) & (np.isnan(terms) | (terms == np.inf))).any():
        raise ValueError(
            f"attack {type(attack).__name__} contributes NaN or inf at a sum that can occur; contributions must be numbers or -inf"
        )
    each = convolution_error(mean.rows, law.shape[1]) + mean.rows * 2.0**-51
    near = 0.0
    if isinstance(attack, ReadParabolas):
        # What is all but impossible has no say in which scores count as equal.
        likely = p.swapaxes(0, 1) >= UNIT
        near = float(np.where(likely, attack.rounding(outputs), 0.0).max(axis=(1, 2)).sum())
    error = each * p.shape[1]
    read = _once_each(*_side_by_side(terms, p), error, error, _UNDERFLOW * p.shape[1])
    return replace(read, total=replace(read.total, near=near))


def _side_by_side(terms: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Terms of the two worlds, shape (2, d, K), as values of both, shape (d, 2 K), with their probabilities."""
    none = np.zeros_like(p[0])
    probability = np.stack([np.concatenate([p[0], none], axis=1), np.concatenate([none, p[1]], axis=1)])
    return np.concatenate(list(terms), axis=1), probability


def _once_each(
    values: np.ndarray, probability: np.ndarray, error: float, relative: float, lost: float
) -> Read:
    """A single term of each table; the probability of infinite values is left out."""
    finite = np.isfinite(values)
    copies = np.ones((2, values.shape[0]), int)
    missed = np.where(finite, 0.0, probability).sum(axis=2)
    if not finite.all():
        values, probability = np.where(finite, values, 0.0), np.where(finite, probability, 0.0)
    values, probability, ties = _untied(values, probability)
    error, relative = error + UNIT * ties * values.shape[0], relative + UNIT * ties * values.shape[0]
    total = Independent((_grouped(Stack(values, probability, copies)),), np.zeros(2))
    with np.errstate(divide="ignore"):
        below = -np.expm1(np.log1p(-np.minimum(missed, 1.0)).sum(axis=1))
    return Read(total, error, relative, lost, below)


def _untied(values: np.ndarray, probability: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """The tables without values that are equal or impossible, and how many at most became a single value: both worlds share most of theirs."""
    values = np.where((probability > 0.0).any(axis=0), values, np.inf)
    order = np.argsort(values, axis=1, kind="stable")
    values = np.take_along_axis(values, order, 1)
    place = np.cumsum(values > np.roll(values, 1, axis=1), axis=1)  # the first is above no other
    row, at = np.nonzero(np.isfinite(values))
    shape = len(values), int(place[row, at].max(initial=0)) + 1
    # An empty place has a value that widens nothing.
    result = np.where(np.isfinite(values[:, :1]), values[:, :1], 0.0).repeat(shape[1], axis=1)
    result[row, place[row, at]] = values[row, at]
    cell = row * shape[1] + place[row, at]
    built = [np.bincount(cell, p[row, order[row, at]], result.size).reshape(shape) for p in probability]
    return result, np.stack(built), int(np.bincount(cell).max(initial=1))


def _grouped(stack: Stack) -> Stack:
    """Equal coordinates as copies of a single coordinate."""
    first, group = alike(stack.values, *stack.probability)
    if first.size == group.size:
        return stack
    copies = np.stack([np.bincount(group, c, first.size) for c in stack.copies]).astype(np.int64)
    return Stack(stack.values[first], stack.probability[:, first], copies)
