"""The law of one record's share of a linear score, weights . record: its cumulant generating function."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, singledispatch
from math import fsum

import numpy as np

from mipsim.distributions.base import AbstractDistribution
from mipsim.distributions.bernoulli import Bernoulli
from mipsim.distributions.discrete import Discrete
from mipsim.distributions.empirical import Empirical
from mipsim.distributions.exponential import Exponential
from mipsim.distributions.gaussian import Gaussian
from mipsim.distributions.laplace import Laplace
from mipsim.distributions.uniform import Uniform
from mipsim.exact.atoms import MOST_ATOMS, Table, merged, power
from mipsim.exact.phases import Phases

_BLOCK = 2**16
_PAIRS = 2**18
_TERMS = 24
_WORK = 2**23
_SERIES = 0.1


class AbstractRow(ABC):
    """Y = weights . record - its mean, for one record of the data."""

    @abstractmethod
    def cumulant(self, s: np.ndarray) -> np.ndarray:
        """Log E exp(s Y) at complex s with real part inside `strip`, shape (T,); continuous branches are not kept."""

    @abstractmethod
    def envelope(self, c: float, t: float) -> float:
        """A bound on log |E exp((c + i u) Y) / E exp(c Y)| for every real u with |u| >= t >= 0; 0 says nothing."""

    @property
    def strip(self) -> tuple[float, float]:
        """The open interval of real s where E exp(s Y) is finite."""
        return -np.inf, np.inf

    @property
    def step(self) -> float | None:
        """The spacing of the lattice on which weights . record lies, if it lies on one; else None."""
        return None

    @property
    def base(self) -> float:
        """One point of that lattice."""
        return 0.0

    def phases(self, low: float, high: float) -> Phases | None:
        """What is known of the modulus at large frequencies for all real parts in [low, high]; see `Phases`."""
        return None

    def tables(self, rows: int, shares: np.ndarray) -> list[Table] | None:
        """The law of a sum of rows, coordinate by coordinate, where it has few atoms; shares: the target's terms."""
        return None

    @property
    def reach(self) -> float:
        """The frequency up to which `envelope` holds; beyond it `phases` must help."""
        return np.inf


@singledispatch
def row_of(data: AbstractDistribution, weights: np.ndarray) -> AbstractRow | None:
    """The law of weights . record, or None where none is known. New data laws register here, one function each.

    Examples:
        >>> import mipsim as mi, numpy as np
        >>> row = row_of(mi.Bernoulli([0.5]), np.ones(1))
        >>> print(row.cumulant(np.array([2.0 + 0j])).real, np.log(np.cosh(1.0)))
        [0.43378083] 0.4337808304830271
    """
    return None


@dataclass(frozen=True)
class BernoulliRow(AbstractRow):
    """Independent Bernoulli(p_j) coordinates with weights a_j, shapes (d,)."""

    weights: np.ndarray
    p: np.ndarray

    def cumulant(self, s: np.ndarray) -> np.ndarray:
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

    def _directly(self, s: np.ndarray) -> np.ndarray:
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
            out.real += (modulus - (p * a) * s.real).sum(axis=0)
            out.imag += (np.arctan2(y, 1.0 + x) - (p * a) * frequency).sum(axis=0)
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

    def cumulant(self, s: np.ndarray) -> np.ndarray:
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
        """Convolutions of a coordinate's atoms."""
        if self.values.size * rows > MOST_ATOMS:
            return None
        shares = shares if shares.size == self.values.shape[0] else np.array([shares.sum()])
        found, atoms = [], 1.0
        for v, p, share in zip(self.values, self.probabilities, shares, strict=True):
            out, rest = power(v, p, rows), power(v, p, rows - 1)
            if out is None or rest is None or (atoms := atoms * out.values.size) > _WORK:
                return None
            none_out, none_in = np.zeros(rest.values.size), np.zeros(out.values.size)
            found.append(
                merged(
                    np.concatenate([out.values, rest.values + share]),
                    np.concatenate([out.out, none_out]),
                    np.concatenate([none_in, rest.out]),
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


@dataclass(frozen=True)
class NormalRow(AbstractRow):
    """N(0, variance)."""

    variance: float

    def cumulant(self, s: np.ndarray) -> np.ndarray:
        """Variance s^2 / 2."""
        return 0.5 * self.variance * s**2

    def envelope(self, c: float, t: float) -> float:
        """-variance t^2 / 2."""
        return -0.5 * self.variance * t**2


@row_of.register
def _(data: Gaussian, weights: np.ndarray) -> AbstractRow:
    step = weights * data.factor if data.is_product else weights @ data.factor
    return NormalRow(fsum(np.square(step)))


@dataclass(frozen=True)
class LaplaceRow(AbstractRow):
    """A sum of independent Laplace(b_j): the same law as a random sign times b_j times an exponential."""

    scales: np.ndarray

    def cumulant(self, s: np.ndarray) -> np.ndarray:
        """-sum_j log(1 - b_j^2 s^2)."""
        return -np.log1p(-np.square(self.scales[:, None] * s)).sum(axis=0)

    def envelope(self, c: float, t: float) -> float:
        """|1 - b^2 (c + i t)^2| = |1 - b (c + i t)| |1 + b (c + i t)|, and both grow with t."""
        b = self.scales
        both = np.log1p(np.square(b * t / (1 - b * c))) + np.log1p(np.square(b * t / (1 + b * c)))
        return -0.5 * float(both.sum())

    @property
    def strip(self) -> tuple[float, float]:
        """|s| < 1 / max b."""
        edge = float(1.0 / self.scales.max())
        return -edge, edge


@row_of.register
def _(data: Laplace, weights: np.ndarray) -> AbstractRow:
    return LaplaceRow(np.abs(weights * data.scale)[weights != 0.0])


@dataclass(frozen=True)
class ExponentialRow(AbstractRow):
    """A sum of a_j (E_j - 1), E_j standard exponential; a_j may be negative."""

    scales: np.ndarray

    def cumulant(self, s: np.ndarray) -> np.ndarray:
        """-sum_j log(1 - a_j s) + a_j s."""
        u = self.scales[:, None] * s
        return -(np.log1p(-u) + u).sum(axis=0)

    def envelope(self, c: float, t: float) -> float:
        """-sum_j log(1 + (a_j t / (1 - a_j c))^2) / 2."""
        return -0.5 * float(np.log1p(np.square(self.scales * t / (1.0 - self.scales * c))).sum())

    @property
    def strip(self) -> tuple[float, float]:
        """A_j s < 1 for every j."""
        low, high = self.scales.min(), self.scales.max()
        return (1.0 / low if low < 0 else -np.inf), (1.0 / high if high > 0 else np.inf)


@row_of.register
def _(data: Exponential, weights: np.ndarray) -> AbstractRow:
    return ExponentialRow((weights * data.scale)[weights != 0.0])


@dataclass(frozen=True)
class UniformRow(AbstractRow):
    """A sum of uniforms on [-h_j, h_j]."""

    halves: np.ndarray

    def cumulant(self, s: np.ndarray) -> np.ndarray:
        """Sum_j log(sinh(h_j s) / (h_j s)), with its series near 0."""
        u = self.halves[:, None] * s
        square = u * u
        series = square / 6 * (1 - square / 30 * (1 - square * (4 / 63) * (1 - square / 20)))
        near = np.abs(u) < 1e-2
        safe = np.where(near, 1.0, np.where(u.real < 0, -u, u))  # even; the right half-plane cannot overflow
        far = safe + np.log1p(-np.exp(-2 * safe)) - np.log(2 * safe)
        return np.where(near, series, far).sum(axis=0)

    def envelope(self, c: float, t: float) -> float:
        """|sinh(h s)| <= cosh(h c) and |s| >= t: sum_j min(0, log(c / (tanh(h c) |c + i t|)))."""
        h = self.halves
        growth = np.where(np.abs(h * c) < 1e-6, 1.0 / h, c / np.tanh(np.where(c == 0, 1.0, h * c)))
        return float(np.minimum(0.0, np.log(growth) - 0.5 * np.log(c * c + t * t)).sum()) if t > 0 else 0.0


@row_of.register
def _(data: Uniform, weights: np.ndarray) -> AbstractRow:
    return UniformRow(np.abs(weights * (data.high - data.low) / 2)[weights != 0.0])


def common_step(values: np.ndarray, most: int = 2**20) -> float | None:
    """The largest u of which every value is a whole multiple (to 1e-12 relative), with multiples up to `most`; or None.

    Examples:
        >>> common_step(np.array([0.7, -0.3, 0.0])).__round__(12), common_step(np.array([1.0, np.sqrt(2)]))
        (0.1, None)
    """
    sizes = np.unique(np.abs(values[values != 0.0]))
    if sizes.size == 0:
        return None
    step = float(sizes[0])
    smallest = float(sizes[-1]) / most
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
    exact = np.abs(sizes - multiples * step).max() <= tolerance and multiples[-1] <= most
    return step if exact else None
