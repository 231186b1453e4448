"""Rows of independent coordinates with few values each: Bernoulli, discrete, and the user's own records."""

from dataclasses import dataclass
from functools import cached_property
from math import lgamma

import numpy as np

from mipsim.distributions.bernoulli import Bernoulli
from mipsim.distributions.discrete import Discrete
from mipsim.distributions.empirical import Empirical
from mipsim.exact.atoms import MOST_ATOMS, TermTable, beside, power_of, rounding
from mipsim.exact.binomial import (
    binomial_error,
    binomial_probabilities,
    binomial_relative_error,
    outside,
    window,
)
from mipsim.exact.phases import Phases
from mipsim.exact.rounding import (
    EPS,
    Bounded,
    ComplexArray,
    exact_dot,
    in_blocks,
    log_1_plus,
    product_parts,
    summed,
)
from mipsim.exact.rows import AbstractRow, Multiples, row_of, short

_MOST_STEPS = 2**20  # of a lattice that all values lie on
_BLOCK = 2**16  # values: above, no lattice is looked for among them
_PAIRS = 2**18  # pairs of values: above, their phases cost more than they prove
_TERMS = 24  # of the Taylor series: (0.1 pi / 3)^25 < 1e-24 is left
_WORK = 2**23  # atoms times the values that are added to each: a second
_SERIES = 0.1  # in units of pi: how near 0 the Taylor series serves


@dataclass(frozen=True)
class BernoulliRow(AbstractRow):
    """Independent Bernoulli(p_j) coordinates with weights a_j, shapes (d,)."""

    weights: np.ndarray
    p: np.ndarray

    def cumulant(self, s: ComplexArray) -> ComplexArray:
        """Sum_j log(1 + p_j (exp(a_j s) - 1)) - p_j a_j s: by its Taylor series where |a_j s| is small for every j."""
        if self._near(s):
            return np.square(s) * np.polynomial.polynomial.polyval(s, self._series[0])
        return self._directly(s)[0]

    def rounding(self, s: ComplexArray) -> np.ndarray:
        """Of the series, from the sizes of its terms; or of the logarithms.

        Beyond the series, Cauchy's bound on |a s| = 3, where the logarithm is below 16, leaves 16 (0.1 pi / 3)^25 < 1e-22 a term.
        """
        if self._near(s):
            size = np.square(np.abs(s)) * np.polynomial.polynomial.polyval(np.abs(s), self._series[1])
            return EPS * size + 1e-22 * self.p.size * np.minimum(np.abs(s) * np.abs(self.weights).max(), 1.0)
        return self._directly(s)[1]

    def _near(self, s: ComplexArray) -> bool:
        return bool(self._largest * np.abs(s).max(initial=0.0) < _SERIES * np.pi)

    @cached_property
    def _series(self) -> tuple[np.ndarray, np.ndarray]:
        """Sum_j a_j^r kappa_r(p_j) / r! for r = 2, 3, ...: g = (log(q + p e^u))' has g' = g (1 - g); and their rounding.

        The sizes of the terms obey G' = G (1 + G). The first error is that of p - p^2, of three products and of a sum by pairs
        of blocks of 16; later ones grow by a few EPS of the size with each term of the recursion, r^2 of them at most.
        """
        g, size = [self.p], [self.p]
        for m in range(_TERMS):
            square = sum((g[i] * g[m - i] for i in range(m + 1)), np.zeros_like(self.p))
            g.append((g[m] - square) / (m + 1))
            square = sum((size[i] * size[m - i] for i in range(m + 1)), np.zeros_like(self.p))
            size.append((size[m] + square) / (m + 1))
        power, result, errors = self.weights, [], []
        for m in range(1, _TERMS):
            power = power * self.weights
            result.append(np.sum(g[m] * power) / (m + 1))
            each = 20.0 * g[1] + np.square(self.p) if m == 1 else (64.0 + 8.0 * m**2) * size[m]
            errors.append(np.sum(each * np.abs(power)) / (m + 1))
        return np.array(result), np.array(errors)

    @cached_property
    def _kinds(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Different pairs (weight, p), and how many coordinates have each."""
        pairs, copies = np.unique(np.stack([self.weights, self.p], axis=1), axis=0, return_counts=True)
        return pairs[:, 0], pairs[:, 1], copies.astype(float)

    def _directly(self, s: ComplexArray) -> Bounded:
        return in_blocks(self._logs, s, self._kinds[0].size)

    def _logs(self, s: ComplexArray) -> Bounded:
        """Real arithmetic that loses no digit near s = 0."""
        a, p, copies = self._kinds
        real, row = np.unique(s.real, return_inverse=True)
        grown = np.expm1(a * real[:, None])[row]
        angle = a * s.imag[:, None]
        sine, cosine = np.sin(0.5 * angle), np.cos(0.5 * angle)
        # exp(a s) - 1 = grown cos - 2 sin^2(half) + i (1 + grown) sin, without cancellation.
        full = 1.0 + grown
        square = sine * sine
        z = p * (grown - 2.0 * full * square) + 1j * ((2.0 * p) * full * sine * cosine)
        size = np.abs(grown) * (1.0 + np.abs(a * s.real[:, None])) + full * (np.abs(sine) + np.abs(angle))
        value, error = log_1_plus(z, 8.0 * EPS * p * size)
        centre = (p * a) * s[:, None]
        return summed(copies * (value - centre), copies * (error + 4.0 * EPS * np.abs(centre)))

    def envelope(self, c: float, t: float) -> float:
        """Sum_j log(1 - 4 pq sin^2(a_j t / 2)) / 2 of the tilted p, which falls until the first sine turns."""
        q = self._tilted(c)
        t = min(t, self.reach)
        return 0.5 * float(np.log1p(-4.0 * q * (1.0 - q) * np.sin(0.5 * self.weights * t) ** 2).sum())

    @property
    def reach(self) -> float:
        """The frequency pi / max |a|."""
        return np.pi / self._largest

    @cached_property
    def _largest(self) -> float:
        return float(np.abs(self.weights).max())

    @cached_property
    def step(self) -> float | None:
        return common_step(self.weights)

    @property
    def atoms(self) -> tuple[np.ndarray, np.ndarray]:
        return np.stack([np.zeros_like(self.weights), self.weights], 1), np.stack([1.0 - self.p, self.p], 1)

    def on_lattice(self) -> Multiples | None:
        if self.step is None:
            return None
        multiple, off = _multiples(self.weights, self.step)
        unit = short(self.step)
        row, misfit, most = (
            BernoulliRow(multiple * unit, self.p),
            float(off.sum()),
            float(np.abs(multiple).sum()),
        )
        return Multiples(row, unit, exact_dot(self.p, multiple), misfit, most)

    def phases(self, low: float, high: float) -> Phases:
        """-log |phi_j| >= 2 pq dist(a_j t)^2 / pi^2, with the least tilted pq of the interval."""
        variance = np.minimum(*(q * (1.0 - q) for q in (self._tilted(low), self._tilted(high))))
        return Phases(np.abs(self.weights), (2.0 / np.pi**2) * variance)

    def tables(self, rows: int, target_terms: np.ndarray) -> list[TermTable] | None:
        step, d = self.step, self.p.size
        low, high = window(rows, self.p)
        size = int((high - low).max()) + 1
        log_span = np.inf if step is None else np.log(size * np.abs(self.weights).sum() / step + 1)
        log_atoms = min(log_span, d * np.log(size))
        if log_atoms + (0.0 if d == 1 else np.log(size * d)) > np.log(_WORK):
            return None
        out, inside = (binomial_probabilities(n, self.p, low, size) for n in (rows, rows - 1))
        lost = binomial_error(rows, self.p) + outside(rows, self.p)
        known = binomial_relative_error(rows, self.p)
        result = []
        for j, (a, own) in enumerate(zip(self.weights, target_terms, strict=True)):
            ones = a * (low[j] + np.arange(size))
            worlds = (
                (ones, out[j], rounding(ones)),
                (ones + own, inside[j], rounding(np.abs(ones) + abs(own))),
            )
            result.append(beside(*worlds, float(lost[j]), *known[j]))
        return result

    def _tilted(self, c: float) -> np.ndarray:
        odds = np.log(self.p) - np.log1p(-self.p) + self.weights * c
        return 1.0 / (1.0 + np.exp(-np.clip(odds, -700.0, 700.0)))


@row_of.register
def _row_of_bernoulli(data: Bernoulli, weights: np.ndarray) -> AbstractRow:
    used = weights != 0.0
    return BernoulliRow(weights[used], np.broadcast_to(data.p, weights.shape)[used])


@dataclass(frozen=True)
class AtomsRow(AbstractRow):
    """Independent coordinates with the values values[j, k] (weight included) of probability probabilities[j, k]."""

    values: np.ndarray
    probabilities: np.ndarray

    def cumulant(self, s: ComplexArray) -> ComplexArray:
        """Sum_j log sum_k p_jk exp(s (v_jk - mean_j))."""
        return in_blocks(self._logs, s, self._kinds[0].size)[0]

    def rounding(self, s: ComplexArray) -> np.ndarray:
        """Of the sums over atoms and of their logarithms."""
        return in_blocks(self._logs, s, self._kinds[0].size)[1]

    @cached_property
    def _kinds(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Different rows of centred values and their probabilities, and how many coordinates have each."""
        centre = np.sum(self.probabilities * self.values, axis=1)[:, None]
        m = self.values.shape[1]
        tables = np.hstack([self.values - centre, self.probabilities])
        rows, copies = np.unique(tables, axis=0, return_counts=True)
        return rows[:, :m], rows[:, m:], copies.astype(float)

    def _logs(self, s: ComplexArray) -> Bounded:
        """Where every |exp(s v)| is at most e, 1 + sum p (exp(s v) - 1), of which p v cancels; else the largest p exp(s v) is taken out."""
        v, p, copies = self._kinds
        possible = np.where(p > 0, v, 0.0)
        ends = np.stack([possible.min(axis=1), possible.max(axis=1)])
        far = (s.real[:, None, None] * ends).max(axis=1) > 1.0
        z, error, top = np.zeros(far.shape, complex), np.zeros(far.shape), np.zeros(far.shape)
        near = np.nonzero(~far)
        u, q = s[near[0], None] * possible[near[1]], p[near[1]]
        grown = np.expm1(u)
        z[near] = np.sum(q * grown, axis=1)
        size = np.abs(grown) + np.abs(u) * np.exp(np.minimum(u.real, 0.0) + 1.0)
        error[near] = 40.0 * EPS * np.sum(q * size, axis=1)
        if far.any():
            with np.errstate(divide="ignore"):
                u, log_p = s[far.nonzero()[0], None] * v[far.nonzero()[1]], np.log(p[far.nonzero()[1]])
            tilt = u.real + log_p
            top[far] = tilt.max(axis=1)
            q = np.exp(tilt - top[far][:, None])
            z[far] = np.sum(q * np.exp(1j * u.imag), axis=1) - 1.0
            size = np.sum(q * (np.abs(u) + np.abs(np.where(q > 0.0, log_p, 0.0)) + 8.0), axis=1)
            error[far] = 8.0 * EPS * (size + np.abs(top[far]) * q.sum(axis=1))
        value, error = log_1_plus(z, error)
        return summed(copies * (value + top), copies * (error + 4.0 * EPS * (np.abs(value) + np.abs(top))))

    def envelope(self, c: float, t: float) -> float:
        """Of the widest pair of atoms, |phi|^2 <= 1 - 4 sum_{k<l} p_k p_l sin^2; until the first sine turns."""
        t = min(t, self.reach)
        q = self._tilted(c)
        angle = self.values * t
        square = (np.sum(q * np.cos(angle), axis=1)) ** 2 + (np.sum(q * np.sin(angle), axis=1)) ** 2
        return 0.5 * float(np.log(np.clip(square, 1e-300, 1.0)).sum())

    @property
    def reach(self) -> float:
        """The frequency pi / the widest range of a coordinate: until then every |phi_j| falls."""
        possible = np.where(self.probabilities > 0, self.values, np.nan)
        return float(np.pi / (np.nanmax(possible, axis=1) - np.nanmin(possible, axis=1)).max())

    @cached_property
    def step(self) -> float | None:
        return None if self.values.size > _BLOCK else common_step(self._anchored[self.probabilities > 0])

    @property
    def _anchored(self) -> np.ndarray:
        # An impossible value may stand on any lattice: it is put on the first value.
        return np.where(self.probabilities > 0, self.values - self.values[:, :1], 0.0)

    @property
    def atoms(self) -> tuple[np.ndarray, np.ndarray]:
        return self.values, self.probabilities

    def on_lattice(self) -> Multiples | None:
        if self.step is None:
            return None
        multiple, off = _multiples(self._anchored, self.step)
        unit = short(self.step)
        row = AtomsRow(multiple * unit, self.probabilities)
        off += 2.0**-52 * np.abs(self.values[:, :1]) / self.step  # the rounding of the differences
        mean = exact_dot(self.probabilities.ravel(), multiple.ravel())
        misfit, most = (float(size.max(axis=1).sum()) for size in (off, np.abs(multiple)))
        return Multiples(row, unit, mean, misfit, most)

    @property
    def size(self) -> float:
        return float(self.values.shape[1] * np.abs(self.probabilities * self.values).sum())

    @property
    def base(self) -> float:
        return float(self.values[:, 0].sum())

    def phases(self, low: float, high: float) -> Phases | None:
        """-log |phi_j| >= sum_{k<l} 2 p_k p_l dist((v_k - v_l) t)^2 / pi^2."""
        d, m = self.values.shape
        if d * m * (m - 1) // 2 > _PAIRS:
            return None
        k, other = np.triu_indices(m, 1)
        retained = [q[:, k] * q[:, other] for q in (self._tilted(low), self._tilted(high))]
        # Between the ends each log p_k is concave in the tilt, so the product is least at an end.
        return Phases(
            np.abs(self.values[:, k] - self.values[:, other]).ravel(),
            (2.0 / np.pi**2) * np.minimum(*retained).ravel(),
        )

    def tables(self, rows: int, target_terms: np.ndarray) -> list[TermTable] | None:
        """Convolutions of a coordinate's atoms; those of equal coordinates together, which have fewer atoms."""
        if target_terms.size != self.values.shape[0]:  # the records' dependent coordinates make a single term
            target_terms = np.array([target_terms.sum()])
        both = np.hstack([self.values, self.probabilities])
        kinds, group, copies = np.unique(both, axis=0, return_inverse=True, return_counts=True)
        targets = np.bincount(group.ravel(), target_terms, copies.size)
        result, log_atoms, m = [], 0.0, self.values.shape[1]
        for kind, count, target in zip(kinds, copies.tolist(), targets, strict=True):
            log_atoms += _log_compositions(rows * count, m)
            if log_atoms > np.log(MOST_ATOMS) - 2.0:
                return None
            out, rest = (power_of(kind[:m], kind[m:], k * count) for k in (rows, rows - 1))
            if out is None or rest is None:
                return None
            own = rest.near + float(rounding(target))
            worlds = (out.values, out.out, out.near), (rest.values + target, rest.out, own)
            result.append(
                beside(
                    *worlds,
                    max(out.lost, rest.lost),
                    max(out.relative, rest.relative),
                    max(out.floor, rest.floor),
                )
            )
        return result

    def _tilted(self, c: float) -> np.ndarray:
        with np.errstate(divide="ignore"):
            log_q = np.log(self.probabilities) + c * self.values
        q = np.exp(log_q - log_q.max(axis=1, keepdims=True))
        return q / q.sum(axis=1, keepdims=True)


@row_of.register
def _row_of_discrete(data: Discrete, weights: np.ndarray) -> AbstractRow:
    used = weights != 0.0
    law = np.broadcast_to(data.probabilities, (weights.size, data.values.size))
    return AtomsRow(weights[used, None] * data.values, law[used])


@row_of.register
def _row_of_empirical(data: Empirical, weights: np.ndarray) -> AbstractRow:
    # Coordinates of a record are dependent, but weights . record is a single number: N equally likely atoms.
    projected, counts = np.unique(data.records @ weights, return_counts=True)
    return AtomsRow(projected[None, :], counts[None, :] / counts.sum())


def _log_compositions(total: int, parts: int) -> float:
    """Log of the number of ways to write a total as an ordered sum of `parts` counts: the most atoms of a sum."""
    return lgamma(total + parts) - lgamma(parts) - lgamma(total + 1)


def _multiples(values: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """The nearest whole multiples of the step, and how far off they are, in steps."""
    multiple = np.rint(values / step)
    high, low = product_parts(multiple, step)
    return multiple, np.abs((values - high) - low) / step


def common_step(values: np.ndarray) -> float | None:
    """The largest u of which every value is a whole multiple (to 1e-12 relative), with multiples up to 2^20; or None."""
    sizes = np.unique(np.abs(values[values != 0.0]))
    if sizes.size == 0:
        return None
    step = float(sizes[0])
    smallest = float(sizes[-1]) / _MOST_STEPS
    tolerance = 4e-13 * float(sizes[-1])
    for value in sizes[1:]:
        if abs(value / step - np.rint(value / step)) * step <= tolerance:
            continue
        a, b = float(value), step  # Euclid's algorithm on real numbers
        while b > tolerance:
            a, b = b, abs(a - b * np.rint(a / b))
            if a < smallest:
                return None
        step = a
    multiples = np.rint(sizes / step)
    # The least-squares step; Euclid's remainders lose digits.
    step = float(np.sum(sizes * multiples) / np.sum(multiples**2))
    exact = np.abs(sizes - multiples * step).max() <= tolerance and multiples[-1] <= _MOST_STEPS
    return step if exact else None
