"""The exact distribution of a linear score of records that are known by their distribution function alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mipsim._budget import check_budget
from mipsim.attacks.base import AbstractLinearAttack
from mipsim.distributions.base import AbstractWithCDF
from mipsim.distributions.by_cdf import CDF_ERROR, cells_of, coordinates_by_law, reach_of
from mipsim.exact.bracketed import BracketLaw, between_bounds
from mipsim.exact.derived_laws import mixed_with_out
from mipsim.exact.independent import absolute, by_waves, chernoff_reach
from mipsim.exact.noise_transform import ScoreNoise, score_noise
from mipsim.exact.rounding import UNIT, Bounded, ComplexArray
from mipsim.forms.problem import FixedProblem
from mipsim.forms.score import line_at
from mipsim.tradeoff.score_law import AbstractScoreLaw

_CELLS = 2**14
"""Of a term; as many times more as a sum has fewer than `_FEW` terms, since its transform then falls slowly."""
_FEW, _MOST_CELLS = 256, 2**16
_NODES = (2**14 - 1, 2**16 - 1)
"""Frequencies: with the first the bracket of a light-tailed sum is some 6e-4 wide."""
_ENOUGH = 8e-4  # an error so small needs no more of them
_MOST_TERMS = 256  # different terms of a row, each of which takes some tenths of a second


@dataclass(frozen=True)
class Term:
    """weight x (X - E X) for a coordinate X of a record, between cells.

    X is the middle of its cell, plus what the cell hides, which is at most half a cell. The mean of what is hidden is known,
    since E X is; what varies of it changes the transform in second order of the frequency.
    """

    values: np.ndarray  # weight x (middle of the cell - mean of the middles), shape (K,)
    masses: np.ndarray  # probabilities of the cells, which sum to 1, shape (K,)
    hidden: float  # a bound on weight x (what the cell hides - its mean)
    moved: float  # a bound on the error of weight x E X
    missed: float  # a bound on the probability that X is in no cell, and on the error of its distribution function
    copies: int  # coordinates with this term

    def transform(self, spacing: float, nodes: np.ndarray) -> Bounded:
        """E exp(i t term) at t = nodes x spacing, and a bound on the error."""
        value, flaw = np.zeros(nodes.shape, complex), np.zeros(nodes.shape)
        for start in range(0, self.values.size, _CELLS):  # the waves of so many cells fit into memory
            part = slice(start, start + _CELLS)
            result = by_waves(self.values[None, part], self.masses[None, None, part], spacing, nodes)
            value, flaw = value + result[0][0][0], flaw + result[0][1][0]
        t = spacing * nodes
        # |E e^(itM) (e^(itH) - 1 - itH)| <= t^2 H^2 / 2, and E H = 0 leaves |E (e^(itM) - 1) itH| <= t H E min(t |M|, 2).
        first = np.minimum(t * float(self.masses @ np.abs(self.values)), 2.0) * t * self.hidden
        return value, flaw + first + 0.5 * np.square(t * self.hidden)

    def log_mgf(self, s: float) -> float:
        """A bound on log E exp(s term)."""
        exponent = s * self.values
        top = float(exponent.max())
        return top + math.log(float(self.masses @ np.exp(exponent - top))) + abs(s) * self.hidden


@dataclass(frozen=True)
class IncludedRows:
    """Offset + independent rows, each included by its own coin, + noise, in the worlds out and in."""

    terms: tuple[Term, ...]  # of a single row, centred
    rows: int  # rows in the world out, of which the target replaces a row in the world in
    rate: float  # the probability that a row is included
    mean: float  # of a row's score
    own: float  # the target's score
    offset: float  # of the score
    size: float  # of all that is added to give the means, before anything cancels
    noise: ScoreNoise  # with a density, and centred

    @property
    def missed(self) -> float:
        """A bound on the error of every probability of the score."""
        return self.rows * math.fsum(term.copies * term.missed for term in self.terms) + self.noise.error

    @property
    def rounding(self) -> float:
        """A bound on the error of the score's values."""
        moved = math.fsum(term.copies * term.moved for term in self.terms)
        return self.rows * moved + 16.0 * UNIT * self.size

    @property
    def _centres(self) -> tuple[float, float]:
        """What is added in each world beside the rows' varying parts."""
        if self.rate < 1.0:
            return self.offset, self.offset
        return self.offset + self.rows * self.mean, self.offset + (self.rows - 1) * self.mean + self.own

    def _log_mgf(self, s: float, world: int) -> float:
        row = math.fsum(term.copies * term.log_mgf(s) for term in self.terms)
        own = 0.0
        if self.rate < 1.0:
            row, own = (_coin_mgf(self.rate, x) for x in (row + s * self.mean, s * self.own))
        return (self.rows - world) * row + world * own + self.noise.log_mgf(s) + s * self._centres[world]

    @property
    def reach(self) -> tuple[float, float]:
        """An interval that each world leaves at either end with probability 1e-13 at most."""
        variance = math.fsum(t.copies * float(t.masses @ np.square(t.values)) for t in self.terms)
        spread = math.sqrt(self.rows * (variance + (1.0 - self.rate) * self.mean**2) + self.noise.variance)
        return chernoff_reach(self._log_mgf, (spread, spread), self.noise)

    def characteristic(self, spacing: float, nodes: int, centre: float) -> Bounded:
        """E exp(i k h (S - centre)) for k = 0 ... nodes and bounds on the errors, both of shape (2, nodes + 1)."""
        k = np.arange(nodes + 1)
        t = spacing * k
        row, doubt = self._row(spacing, k)
        log_noise, unsure = self.noise.on_axis(t)
        size = np.minimum(np.abs(row) + doubt, 1.0)
        logs = np.log(np.maximum(np.abs(row), 1e-300)) + 1j * np.angle(row)
        values, errors = [], []
        for world, (rows, middle) in enumerate(zip((self.rows, self.rows - 1), self._centres, strict=True)):
            away = middle - centre
            value = np.exp(rows * logs + log_noise + 1j * t * away)
            if world and self.rate < 1.0:
                value = value * (1.0 - self.rate + self.rate * np.exp(1j * t * self.own))
            with np.errstate(under="ignore"):
                bound = np.power(size, rows) * np.exp(log_noise.real)
            relative = rows * doubt / np.maximum(size, 1e-300) + unsure
            size_of_logs = 8.0 + rows * (np.abs(logs) + 4.0) + np.abs(log_noise)
            relative += 8.0 * UNIT * (size_of_logs + t * (abs(away) + abs(self.own)))
            values.append(value)
            errors.append((bound, relative))
        bound, relative = (np.stack(part) for part in zip(*errors, strict=True))
        return absolute(np.stack(values), bound, relative)

    def _row(self, spacing: float, nodes: np.ndarray) -> Bounded:
        """The transform of a single row, centred where it is always included, and a bound on the error."""
        t = spacing * nodes
        value: ComplexArray = np.ones(t.shape, complex)
        size, relative = np.ones(t.shape), np.zeros(t.shape)
        for term in self.terms:
            check_budget()
            result, flaw = term.transform(spacing, nodes)
            modulus = np.minimum(np.abs(result) + flaw, 1.0)
            value = value * result**term.copies
            size = size * modulus**term.copies
            relative += term.copies * (flaw / np.maximum(modulus, 1e-300) + 16.0 * UNIT)
        value, doubt = absolute(value, size, relative)
        if self.rate < 1.0:
            value = 1.0 - self.rate + self.rate * value * np.exp(1j * t * self.mean)
            doubt = self.rate * doubt + 8.0 * UNIT * (2.0 + t * abs(self.mean))
        return value, doubt + 8.0 * UNIT


def _coin_mgf(rate: float, log_value: float) -> float:
    """Log(1 - rate + rate e^x)."""
    return float(np.logaddexp(math.log1p(-rate), math.log(rate) + log_value))


def cdf_law(problem: FixedProblem) -> AbstractScoreLaw | None:
    """Weights . output + offset of a noisy mean of records with a `cdf`; None for other scores and data.

    Both bounds hold for every distribution with these values of the distribution function and this mean; they are some
    4e-4 apart, whatever the number of records.

    Source: Vaaler (1985), theorem 18, for the bounds from a transform; the transform is bounded in `Term`.
    """
    attack, mean, data = problem.attack, problem.mean, problem.data
    if not isinstance(attack, AbstractLinearAttack) or not isinstance(data, AbstractWithCDF):
        return None
    laws = coordinates_by_law(data)
    weights, offset = line_at(attack, problem.target)
    noise = score_noise(mean, weights)
    if laws is None or noise is None or any(part.atoms is not None for part in noise.parts):
        return None
    row_weights = weights / (mean.rows * mean.rate)
    cells = min(_MOST_CELLS, _CELLS * max(1, _FEW // (mean.rows * int(np.count_nonzero(weights)))))
    terms = _terms(*laws, row_weights, cells)
    if terms is None:
        return None
    total = IncludedRows(
        terms,
        mean.rows,
        mean.rate,
        math.fsum(row_weights * data.mean),
        math.fsum(row_weights * problem.row),
        offset + noise.mean,
        abs(offset)
        + math.fsum(map(abs, noise.means))
        + math.fsum(np.abs(row_weights) * (mean.rows * np.abs(data.mean) + np.abs(problem.row))),
        noise.smooth,
    )
    result = between_bounds(total, _NODES[0], error=total.missed)
    if result.error_bound > _ENOUGH:
        more = between_bounds(total, _NODES[1], error=total.missed)
        result = min(result, more, key=lambda item: item.error_bound)
    return mixed_with_out(BracketLaw(result), mean.inclusion)


def _terms(
    laws: list[AbstractWithCDF], which: np.ndarray, weights: np.ndarray, cells: int
) -> tuple[Term, ...] | None:
    pairs, copies = np.unique(np.stack([which, weights], axis=1)[weights != 0.0], axis=0, return_counts=True)
    if len(pairs) > _MOST_TERMS or not len(pairs):
        return None
    known, terms = {}, []
    for (law, weight), count in zip(pairs.tolist(), copies.tolist(), strict=True):
        if law not in known:
            known[law] = _centred(laws[int(law)], cells)
        if known[law] is None:
            return None
        values, masses, hidden, moved, missed = known[law]
        size = abs(weight)
        terms.append(Term(weight * values, masses, size * hidden, size * moved, missed, count))
    return tuple(terms)


def _centred(law: AbstractWithCDF, count: int) -> tuple[np.ndarray, np.ndarray, float, float, float] | None:
    """(values, masses, hidden, moved, missed) of a `Term` of weight 1."""
    reach = reach_of(law)
    if reach is None:
        return None
    cells = cells_of(law, reach[0], (reach[1] - reach[0]) / count, count)
    masses = cells.masses / float(cells.masses.sum())
    middle = float(masses @ cells.middles)
    # What lies in no cell moves the mean by sd sqrt(probability) at most (Cauchy-Schwarz), errors of the cdf by their size
    # times the length, and sums of K products by K units of rounding.
    sd, length = math.sqrt(float(law.variance[0])), reach[1] - reach[0]
    largest = max(abs(reach[0]), abs(reach[1]))
    moved = 1.01 * sd * math.sqrt(cells.outside) + 4.0 * CDF_ERROR * length + count * UNIT * largest
    hidden = 0.5 * cells.width + abs(float(law.mean[0]) - middle) + moved + 4.0 * UNIT * largest
    return cells.middles - middle, masses, hidden, moved, cells.outside + CDF_ERROR
