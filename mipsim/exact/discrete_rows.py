"""Rows of independent coordinates with few values each: Bernoulli, discrete, and the user's own records."""

from dataclasses import dataclass
from functools import cached_property
from math import lgamma

import numpy as np

from mipsim.distributions.bernoulli import Bernoulli
from mipsim.distributions.discrete import Discrete
from mipsim.distributions.empirical import Empirical
from mipsim.exact.atoms import MOST_ATOMS, Table, merged, power
from mipsim.exact.complex_arrays import ComplexArray
from mipsim.exact.lattice import common_step
from mipsim.exact.phases import Phases
from mipsim.exact.rows import AbstractRow, row_of

_BLOCK = 2**16
_PAIRS = 2**18
_TERMS = 24
_WORK = 2**23
_SERIES = 0.1


@dataclass(frozen=True)
class BernoulliRow(AbstractRow):
    """Independent Bernoulli(p_j) coordinates with weights a_j, shapes (d,)."""

    weights: np.ndarray
    p: np.ndarray

    def cumulant(self, s: ComplexArray) -> ComplexArray:
        """Sum_j log(1 + p_j (exp(a_j s) - 1)) - p_j a_j s: by its Taylor series where |a_j s| is small for every j."""
        # Singularities lie at |a s| >= pi, so the terms left out are below (|a s| / pi)^_TERMS < 1e-24 each.
        if np.abs(self.weights).max() * np.abs(s).max() < _SERIES * np.pi:
            return np.square(s) * np.polynomial.polynomial.polyval(s, self._series)
        return self._directly(s)

    @cached_property
    def _series(self) -> np.ndarray:
        """Sum_j a_j^r kappa_r(p_j) / r! for r = 2, 3, ...: g = (log(q + p e^u))' has g' = g (1 - g)."""
        g = [self.p]
        for m in range(_TERMS):
            square = sum((g[i] * g[m - i] for i in range(m + 1)), np.zeros_like(self.p))
            g.append((g[m] - square) / (m + 1))
        power, found = self.weights, []
        for m in range(1, _TERMS):
            power = power * self.weights
            found.append(np.sum(g[m] * power) / (m + 1))
        return np.array(found)

    def _directly(self, s: ComplexArray) -> ComplexArray:
        """Real arithmetic that loses no digit near s = 0."""
        out = np.zeros(s.shape, complex)
        real, column = np.unique(s.real, return_inverse=True)
        frequency = s.imag
        size = max(1, _BLOCK // max(1, s.size))
        for start in range(0, self.p.size, size):
            a, p = self.weights[start : start + size, None], self.p[start : start + size, None]
            grown = np.expm1(a * real)[:, column]
            half = 0.5 * a * frequency
            sine, cosine = np.sin(half), np.cos(half)
            # exp(a s) - 1 = grown cos - 2 sin^2(half) + i (1 + grown) sin, without cancellation.
            square = sine * sine
            x = p * (grown - 2.0 * (1.0 + grown) * square)
            y = (2.0 * p) * (1.0 + grown) * sine * cosine
            modulus = 0.5 * np.log1p(x * (2.0 + x) + y * y)
            angle = np.arctan2(y, 1.0 + x)
            out += (modulus - (p * a) * s.real).sum(axis=0) + 1j * (angle - (p * a) * frequency).sum(axis=0)
        return out

    def envelope(self, c: float, t: float) -> float:
        """Sum_j log(1 - 4 pq sin^2(a_j t / 2)) / 2 of the tilted p, which falls until the first sine turns."""
        q = self._tilted(c)
        t = min(t, self.reach)
        return 0.5 * float(np.log1p(-4.0 * q * (1.0 - q) * np.sin(0.5 * self.weights * t) ** 2).sum())

    @property
    def reach(self) -> float:
        """Pi / max |a|."""
        return float(np.pi / np.abs(self.weights).max())

    @property
    def step(self) -> float | None:
        """The common divisor of the weights, where there is one."""
        return common_step(self.weights)

    def phases(self, low: float, high: float) -> Phases:
        """-log |phi_j| >= 2 pq dist(a_j t)^2 / pi^2, with the least tilted pq of the interval."""
        variance = np.minimum(*(q * (1.0 - q) for q in (self._tilted(low), self._tilted(high))))
        return Phases(np.abs(self.weights), (2.0 / np.pi**2) * variance)

    def tables(self, rows: int, shares: np.ndarray) -> list[Table] | None:
        """Binomial counts times weights."""
        step, d = self.step, self.p.size
        log_span = np.inf if step is None else np.log(rows * np.abs(self.weights).sum() / step + 1)
        log_atoms = min(log_span, d * np.log(rows + 1.0))
        if log_atoms + (0.0 if d == 1 else np.log((rows + 1.0) * d)) > np.log(_WORK):
            return None
        from scipy.stats import binom  # a second to import: not when the library is

        count = np.arange(rows + 1.0)
        return [
            merged(
                np.concatenate([a * count, a * count[:-1] + share]),
                np.concatenate([binom.pmf(count, rows, p), np.zeros(rows)]),
                np.concatenate([np.zeros(rows + 1), binom.pmf(count[:-1], rows - 1, p)]),
            )
            for a, p, share in zip(self.weights, self.p, shares, strict=True)
        ]

    def _tilted(self, c: float) -> np.ndarray:
        odds = np.log(self.p) - np.log1p(-self.p) + self.weights * c
        return 1.0 / (1.0 + np.exp(-np.clip(odds, -700.0, 700.0)))


@row_of.register
def _(data: Bernoulli, weights: np.ndarray) -> AbstractRow:
    used = weights != 0.0
    return BernoulliRow(weights[used], np.asarray(data.p)[used])


@dataclass(frozen=True)
class AtomsRow(AbstractRow):
    """Independent coordinates with the values values[j, k] (weight included) of probability probabilities[j, k]."""

    values: np.ndarray
    probabilities: np.ndarray

    def cumulant(self, s: ComplexArray) -> ComplexArray:
        """Sum_j log sum_k p_jk exp(s (v_jk - mean_j))."""
        out = np.zeros(s.shape, complex)
        centred = self.values - np.sum(self.probabilities * self.values, axis=1)[:, None]
        size = max(1, _BLOCK // centred.shape[1])
        for i in range(s.size):
            for start in range(0, centred.shape[0], size):
                v, p = centred[start : start + size], self.probabilities[start : start + size]
                top = np.where(p > 0, v * s[i].real, -np.inf).max(axis=1)
                angle = v * s[i].imag
                size_of = p * np.exp(v * s[i].real - top[:, None])
                total = (size_of * np.cos(angle)).sum(axis=1) + 1j * (size_of * np.sin(angle)).sum(axis=1)
                # Near zero the sum is 1 + small: its modulus comes from the variance of the phases.
                out[i] += np.sum(np.log(total) + top)
        return out

    def envelope(self, c: float, t: float) -> float:
        """Of the widest pair of atoms, |phi|^2 <= 1 - 4 sum_{k<l} p_k p_l sin^2; until the first sine turns."""
        t = min(t, self.reach)
        q = self._tilted(c)
        angle = self.values * t
        square = (np.sum(q * np.cos(angle), axis=1)) ** 2 + (np.sum(q * np.sin(angle), axis=1)) ** 2
        return 0.5 * float(np.log(np.clip(square, 1e-300, 1.0)).sum())

    @property
    def reach(self) -> float:
        """Pi / the widest range of a coordinate: until then every |phi_j| falls."""
        possible = np.where(self.probabilities > 0, self.values, np.nan)
        return float(np.pi / (np.nanmax(possible, axis=1) - np.nanmin(possible, axis=1)).max())

    @property
    def step(self) -> float | None:
        """The common divisor of all differences of values, where there is one."""
        if self.values.size > _BLOCK:
            return None
        anchored = self.values - self.values[:, :1]
        return common_step(anchored[self.probabilities > 0])

    @property
    def base(self) -> float:
        """The sum of the first values."""
        return float(self.values[:, 0].sum())

    def phases(self, low: float, high: float) -> Phases | None:
        """-log |phi_j| >= sum_{k<l} 2 p_k p_l dist((v_k - v_l) t)^2 / pi^2."""
        d, m = self.values.shape
        if d * m * (m - 1) // 2 > _PAIRS:
            return None
        k, other = np.triu_indices(m, 1)
        kept = [q[:, k] * q[:, other] for q in (self._tilted(low), self._tilted(high))]
        # Between the ends each log p_k is concave in the tilt, so the product is least at an end.
        return Phases(
            np.abs(self.values[:, k] - self.values[:, other]).ravel(),
            (2.0 / np.pi**2) * np.minimum(*kept).ravel(),
        )

    def tables(self, rows: int, shares: np.ndarray) -> list[Table] | None:
        """Convolutions of a coordinate's atoms; those of equal coordinates together, which have fewer atoms."""
        shares = shares if shares.size == self.values.shape[0] else np.array([shares.sum()])
        kinds, group, copies = np.unique(
            np.hstack([self.values, self.probabilities]), axis=0, return_inverse=True, return_counts=True
        )
        targets = np.bincount(group.ravel(), shares, copies.size)
        found, log_atoms, m = [], 0.0, self.values.shape[1]
        for kind, count, target in zip(kinds, copies.tolist(), targets, strict=True):
            log_atoms += _log_compositions(rows * count, m)
            if log_atoms > np.log(MOST_ATOMS) - 2.0:
                return None
            out, rest = (power(kind[:m], kind[m:], k * count) for k in (rows, rows - 1))
            if out is None or rest is None:
                return None
            found.append(
                merged(
                    np.concatenate([out.values, rest.values + target]),
                    np.concatenate([out.out, np.zeros(rest.values.size)]),
                    np.concatenate([np.zeros(out.values.size), rest.out]),
                )
            )
        return found

    def _tilted(self, c: float) -> np.ndarray:
        with np.errstate(divide="ignore"):
            log_q = np.log(self.probabilities) + c * self.values
        q = np.exp(log_q - log_q.max(axis=1, keepdims=True))
        return q / q.sum(axis=1, keepdims=True)


@row_of.register
def _(data: Discrete, weights: np.ndarray) -> AbstractRow:
    used = weights != 0.0
    return AtomsRow(weights[used, None] * data.values, data.probabilities[used])


@row_of.register
def _(data: Empirical, weights: np.ndarray) -> AbstractRow:
    # Coordinates of a record are dependent, but weights . record is one number: N equally likely atoms.
    projected, counts = np.unique(data.records @ weights, return_counts=True)
    return AtomsRow(projected[None, :], counts[None, :] / counts.sum())


def _log_compositions(total: int, parts: int) -> float:
    """Log of the number of ways to write a total as an ordered sum of `parts` counts: the most atoms of a sum."""
    return lgamma(total + parts) - lgamma(parts) - lgamma(total + 1)
