"""Error rates that are a known multiple of a binomial probability: their exact tests and their limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, betaincc, ndtr, ndtri

from mipsim._roots import outer_root
from mipsim._validation import number, real_array
from mipsim.bands.clopper_pearson import one_sided_limits


@dataclass(frozen=True, eq=False)
class ScaledRates:
    """K rates r_k with r_k = B_k q_k, or 1 - r_k = B_k q_k, where q_k is the probability of a binomial count.

    Plain games are the case B = 1. A thinned, exponentially tilted game accepts with probability q_k = tail / B_k.

    Attributes:
        count: accepted games, whole, shape (K,).
        games: games played for each, >= 1, shape (K,).
        scale: B_k > 0, known exactly, shape (K,).
        complement: whether it is 1 - r_k that is B_k q_k, shape (K,).

    Examples:
        >>> rates = ScaledRates([50, 50], [1000, 1000], [1e-4, 1.0], [False, True])
        >>> rates.rate.tolist(), rates.probit.round(3).tolist()
        ([5e-06, 0.95], [-4.417, 1.645])
    """

    count: np.ndarray
    games: np.ndarray
    scale: np.ndarray
    complement: np.ndarray

    def __post_init__(self) -> None:
        count, games, scale = (real_array(name, getattr(self, name)) for name in ("count", "games", "scale"))
        complement = np.asarray(self.complement, dtype=bool)
        if count.ndim != 1 or not count.shape == games.shape == scale.shape == complement.shape:
            raise ValueError(
                f"count has shape {count.shape}, games {games.shape}, scale {scale.shape} and complement "
                f"{complement.shape}; they must be vectors of the same length"
            )
        bad = (count < 0) | (count > games) | (count != np.floor(count))
        if bad.any():
            k = int(np.argmax(bad))
            raise ValueError(
                f"count is {count[k]:g} of {games[k]:g} games; it must be whole and at most as many"
            )
        if not (scale > 0).all():
            raise ValueError(f"scale holds {scale.min():g}; every scale must be > 0")
        for name, value in (("count", count), ("games", games), ("scale", scale), ("complement", complement)):
            object.__setattr__(self, name, value)

    @property
    def rate(self) -> np.ndarray:
        """The estimated rates, shape (K,)."""
        tail = self.scale * self.count / self.games
        return np.where(self.complement, 1.0 - tail, tail)

    @property
    def probit(self) -> np.ndarray:
        """Phi^-1 of the estimated rates, from the tail that was counted; infinite where it is 0, shape (K,)."""
        return self._probit(self.count / self.games)

    @property
    def rarest_cell(self) -> np.ndarray:
        """The smaller of the accepted and the other games, shape (K,)."""
        return np.minimum(self.count, self.games - self.count)

    def bounds(self, failure_probability: float) -> tuple[np.ndarray, np.ndarray]:
        """Simultaneous Clopper-Pearson bounds of the rates, (low, high), each of shape (K,).

        Examples:
            >>> low, high = ScaledRates([50], [1000], [1e-4], [False]).bounds(0.05)
            >>> low.round(8).tolist(), high.round(8).tolist()
            ([3.73e-06], [6.54e-06])
        """
        risk = number("failure_probability", failure_probability, 0.0, 1.0, low_open=True, high_open=True)
        return self.limits(0.5 * risk / self.count.size)

    def limits(self, failure_probability: float) -> tuple[np.ndarray, np.ndarray]:
        """(low, high), each of shape (K,): the limits of which each fails with this probability at most."""
        ends = one_sided_limits(self.count, self.games, failure_probability)
        low, high = np.minimum(self.scale * np.array(ends), 1.0)
        return np.where(self.complement, 1.0 - high, low), np.where(self.complement, 1.0 - low, high)

    @classmethod
    def plain(cls, count: np.ndarray, games: int) -> ScaledRates:
        """The rates of plain games, scale 1."""
        item = np.ones(count.size)
        return cls(count, games * item, item, item == 0)

    def __getitem__(self, chosen: np.ndarray | slice) -> ScaledRates:
        """The rates at some of the thresholds."""
        return ScaledRates(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))

    def tail_probit(self, z: np.ndarray, small: bool) -> np.ndarray:
        """Phi^-1 of the exact binomial p-value of the hypothesis "the rate is Phi(z)", shape (K, m).

        The p-value is the chance of an estimate at most as large as the observed estimate if `small` (at least as large
        otherwise): it is stochastically at least uniform under the hypothesis, for every number of games, and falls
        (rises) with z.

        Examples:
            >>> rates = ScaledRates.plain(np.array([0]), 10)  # P(no count) = (1/2)^10
            >>> float(ndtr(rates.tail_probit(np.array([[0.0]]), small=True))[0, 0] * 2**10)
            1.0
        """
        first, second, certain = self._beta(small)
        q, rest = self._accepted(z)
        falls = np.not_equal(small, self.complement)[:, None]
        at, other = np.where(falls, rest, q), np.where(falls, q, rest)
        swap = at > 0.5
        pair = np.where(swap, second, first), np.where(swap, first, second), np.where(swap, other, at)
        p = np.empty(swap.shape)
        betainc(*pair, out=p, where=~swap)
        betaincc(*pair, out=p, where=swap)
        likely = p > 0.5  # read from what is left to 1
        betaincc(*pair, out=p, where=likely & ~swap)
        betainc(*pair, out=p, where=likely & swap)
        z = ndtri(p)
        return np.where(certain, np.inf, np.where(likely, -z, z))

    def limit(self, probit: float | np.ndarray, small: bool) -> np.ndarray:
        """The z at which `tail_probit` is `probit`, rounded outwards: a one-sided limit of the rate, shape (K,).

        Infinite where every rate is possible. Of several probits, shape (m,), the limits have shape (m, K).

        Examples:
            >>> rates = ScaledRates([50], [1000], [1e-4], [False])
            >>> ndtr(rates.limit(-1.959964, small=True)).round(8).tolist()  # Clopper and Pearson's
            [6.54e-06]
        """
        shape, wanted = (*np.shape(probit), self.count.size), np.repeat(probit, self.count.size)

        def excess(z: np.ndarray, index: np.ndarray) -> np.ndarray:
            rates = self[index % self.count.size]
            return wanted[index] - np.clip(rates.tail_probit(z[:, None], small)[:, 0], -1e3, 1e3)

        ends = np.full(shape, -40.0), np.full(shape, 9.0)  # Phi is 0 and 1 there
        result = outer_root(excess, *(ends if small else ends[::-1]))
        certain = self._beta(small)[2][:, 0]
        return np.where(certain, np.inf if small else -np.inf, result)

    def planned_variance(self, z: np.ndarray) -> np.ndarray:
        """Variance of the estimated probit if the rate is Phi(z), B^2 q (1 - q) / (n phi(z)^2), shape (K, m)."""
        q, rest = self._accepted(z)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return self.scale[:, None] ** 2 * q * rest * 2.0 * np.pi * np.exp(z**2) / self.games[:, None]

    def _accepted(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q_k and 1 - q_k if the rate is Phi(z), shape (K, m)."""
        scale, tail = self.scale[:, None], np.where(self.complement[:, None], -z, z)
        q = np.minimum(ndtr(tail) / scale, 1.0)
        return q, np.where(scale == 1.0, ndtr(-tail), 1.0 - q)

    def _beta(self, small: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The tail as a beta integral: P(X <= x) = I_{1-q}(n - x, x + 1), P(X >= x) = I_q(x, n - x + 1); where it is 1."""
        x, n = self.count[:, None], self.games[:, None]
        falls = np.not_equal(small, self.complement)[:, None]
        first, second = np.where(falls, n - x, x), np.where(falls, x, n - x) + 1.0
        return np.maximum(first, 1.0), second, first == 0

    def probit_variance(self) -> np.ndarray:
        """Variance of the estimated probit, B^2 q (1 - q) / (n phi(z)^2), planned where the count is 0 or n."""
        z = self._probit((self.count + 0.5) / (self.games + 1.0))
        return self.planned_variance(z[:, None])[:, 0]

    def _probit(self, q: np.ndarray) -> np.ndarray:
        z = ndtri(np.minimum(self.scale * q, 1.0))
        return np.where(self.complement, -z, z)
