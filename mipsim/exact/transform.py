"""The cumulant generating functions of a score in the two worlds, which is all that inversion needs."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np

from mipsim.exact.complex_arrays import ComplexArray
from mipsim.exact.rows import AbstractRow

_LEVELS = (36.0, 32.0, 28.0, 24.0, 20.0, 16.0, 12.0, 8.0)
_SMALL = 1e-18
_SCAN = 64.0
_WHOLE = 2.0**52
_FAR = 1e11
_QUIET = -38.5


@dataclass(frozen=True)
class Tail:
    """What is proven of |phi(k h)| beyond k = first: a bound on sum_k |phi(k h)| / k up to k = last."""

    total: float
    last: float

    def distance(self, lipschitz: float) -> float:
        """How far the law on a circle can be from one with density <= `lipschitz` that shares the first terms.

        Source: Niederreiter and Philipp (1973), theorem 1': 4 L / (m + 1) + (4 / pi) sum_{k <= m} |difference| / k.
        """
        return 4.0 * lipschitz / (self.last + 1.0) + 4.0 / np.pi * self.total


class AbstractTransform(ABC):
    """The centred cumulants K_w(s) = log E_w[exp(s (S - mean_w)); S finite] of a score S, for w = out (0) and in (1)."""

    @property
    @abstractmethod
    def mean(self) -> np.ndarray:
        """What the score is centred with in each world, shape (2,)."""

    @property
    @abstractmethod
    def log_mass(self) -> np.ndarray:
        """Log P_w(S > -inf), shape (2,)."""

    @property
    @abstractmethod
    def step(self) -> float | None:
        """The spacing of the lattice that holds the score, or None."""

    @property
    @abstractmethod
    def anchor(self) -> np.ndarray:
        """One point of that lattice in each world, shape (2,)."""

    @property
    @abstractmethod
    def strip(self) -> tuple[float, float]:
        """The open interval of real s with finite cumulants."""

    @abstractmethod
    def cumulant(self, s: ComplexArray) -> ComplexArray:
        """K_w(s), shape (2, T), for complex s of shape (T,) inside the strip; any branch of the logarithm."""

    @abstractmethod
    def quiet_from(self, c: float, start: float) -> float:
        """A frequency >= start beyond which the law tilted by c has a negligible modulus, as far as is easily seen."""

    @abstractmethod
    def tail(self, c: float, spacing: float, first: int, span: tuple[float, float]) -> Tail:
        """The `Tail` of the law tilted by c at the frequencies k `spacing`, k > first, in the worse of the worlds.

        span: an interval that holds every real part that will be asked about.
        """

    def scan(self, c: float, spacing: float, first: int) -> Tail:
        """A `Tail` without proof: the largest modulus at 32 frequencies beyond, up to 64 times, taken to hold for all."""
        last = np.inf if self.step is None else np.pi / self.step
        t = np.minimum(np.geomspace(1.0, _SCAN, 32) * (first + 1) * spacing, last)
        height = float(np.exp(self.log_modulus(c, t).max()))
        return Tail(height * log(_WHOLE), _WHOLE)

    @abstractmethod
    def log_modulus(self, c: float, t: np.ndarray) -> np.ndarray:
        """A bound on the log modulus of the law tilted by c at frequencies t, in the worse of the worlds; shape of t."""


@dataclass(frozen=True)
class RowsTransform(AbstractTransform):
    """A score offset + sum of independent rows + noise; in the "in" world one row is the constant `target`.

    Attributes:
        row: the law of one row's share, centred.
        rows: how many rows are summed.
        row_mean: mean of one row's share.
        target: the target's share.
        offset: the constant of the score.
        noise: further independent centred terms, the same in both worlds.
    """

    row: AbstractRow
    rows: int
    row_mean: float
    target: float
    offset: float
    noise: tuple[AbstractRow, ...] = ()

    @property
    def mean(self) -> np.ndarray:
        """Offset + rows row_mean, and the target in place of one of them."""
        out = self.offset + self.rows * self.row_mean
        return np.array([out, out + (self.target - self.row_mean)])

    @property
    def log_mass(self) -> np.ndarray:
        """Zero: the score is finite."""
        return np.zeros(2)

    @property
    def step(self) -> float | None:
        """The rows' own, without noise."""
        return self._step

    @cached_property
    def _step(self) -> float | None:
        return None if self.noise else self.row.step

    @property
    def anchor(self) -> np.ndarray:
        """The score when every row has its base value."""
        base = self.row.base
        return np.array([self.offset + self.rows * base, self.offset + (self.rows - 1) * base + self.target])

    @property
    def strip(self) -> tuple[float, float]:
        """Where all parts have one."""
        parts = [part.strip for part in (self.row, *self.noise)]
        return max(low for low, _ in parts), min(high for _, high in parts)

    def cumulant(self, s: ComplexArray) -> ComplexArray:
        """N times that of a row, or n - 1 times, plus the noise's."""
        one = self.row.cumulant(s)
        noise = sum((part.cumulant(s) for part in self.noise), np.zeros(s.shape, complex))
        return np.stack([self.rows * one + noise, (self.rows - 1) * one + noise])

    def log_modulus(self, c: float, t: np.ndarray) -> np.ndarray:
        """The real part of the cumulants, less that at c."""
        return largest_log_modulus(self, c, t)

    def quiet_from(self, c: float, start: float) -> float:
        """Where the envelope is below 1e-17; it may not be inside its reach."""
        t = start
        while t < self._reach and self._envelope(c, t) > _QUIET:
            t *= 1.08
        return min(t, self._reach)

    @property
    def _reach(self) -> float:
        return np.inf if self.noise else self.row.reach

    def _envelope(self, c: float, t: float) -> float:
        row = (self.rows - 1) * self.row.envelope(c, t) if t <= self.row.reach else 0.0
        return row + sum(part.envelope(c, t) for part in self.noise)

    def tail(self, c: float, spacing: float, first: int, span: tuple[float, float]) -> Tail:
        """From the monotone envelopes as far as they reach or fall to nothing, then from the phases."""
        reach = self._reach
        total, k = 0.0, first + 1
        while k * spacing <= reach:
            height = np.exp(self._envelope(c, k * spacing))
            total += height * min(1.0 / k + log(2.0), 1.0 / k + log(max(1.0, reach / (k * spacing))))
            if height < _SMALL**2 or (not np.isfinite(reach) and height * 50 < _SMALL):
                break
            k *= 2
        if np.isinf(reach):
            return Tail(total, np.inf)
        most = 2.0**52 if self.step is None else np.pi / (self.step * spacing)
        if reach >= most * spacing * (1 - 1e-12):
            return Tail(total, most)
        return self._by_phases(total, reach, spacing, first, span, most)

    def _by_phases(
        self, total: float, reach: float, spacing: float, first: int, span: tuple[float, float], most: float
    ) -> Tail:
        best = Tail(total, max(reach / spacing, first))
        for level, until in self._quiet(span):
            last = min(until / spacing, most)
            found = Tail(total + np.exp(-level) * log(max(1.0, last * spacing / reach)), last)
            best = min(best, found, key=lambda tail: tail.distance(1.0))
        return best

    def _quiet(self, span: tuple[float, float]) -> list[tuple[float, float]]:
        """(level, frequency up to which |phi| <= exp(-level) is proven), once for all lines."""
        if span not in self._known:
            phases, reach, rows = self.row.phases(*span), self.row.reach, self.rows - 1
            found: list[tuple[float, float]] = []
            for level in _LEVELS:
                if phases is None or (found and found[-1][1] > _FAR * reach):
                    break  # lower levels reach farther, at a price in height
                found.append((level, phases.quiet_until(reach, rows, level)))
            self._known[span] = found
        return self._known[span]

    @cached_property
    def _known(self) -> dict[tuple[float, float], list[tuple[float, float]]]:
        return {}


def largest_log_modulus(transform: AbstractTransform, c: float, t: np.ndarray) -> np.ndarray:
    """Log |E exp((c + i t) S)| - log E exp(c S), the larger of both worlds, from the cumulants."""
    real = np.real(transform.cumulant(np.concatenate([[complex(c)], c + 1j * t])))
    return (real[:, 1:] - real[:, :1]).max(axis=0)
