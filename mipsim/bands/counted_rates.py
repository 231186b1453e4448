"""Error rates that are counted in games: their exact binomial tests and their limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, betaincc, ndtr, ndtri

from mipsim._roots import outer_root
from mipsim._validation import class_counts, held, number, whole
from mipsim.bands.clopper_pearson import one_sided_limits


@dataclass(frozen=True, eq=False)
class CountedRates:
    """K rates, each the probability of a binomial count of the same games.

    Attributes:
        count: games that count towards each rate, whole, shape (K,).
        games: games played, >= 1.

    Examples:
        >>> rates = CountedRates([50, 950], 1000)
        >>> rates.rate.tolist(), rates.probit.round(3).tolist()
        ([0.05, 0.95], [-1.645, 1.645])
    """

    count: np.ndarray
    games: int

    def __post_init__(self) -> None:
        games = whole("games", self.games, 1)
        none = held("count", self.count).size == 0  # a choice of thresholds may be empty
        count = np.zeros(0, np.int64) if none else class_counts("count", self.count, "games", games)[0]
        object.__setattr__(self, "count", count)
        object.__setattr__(self, "games", games)

    @property
    def rate(self) -> np.ndarray:
        """The estimated rates, shape (K,)."""
        return self.count / self.games

    @property
    def probit(self) -> np.ndarray:
        """Phi^-1 of the estimated rates, infinite at 0 and 1, shape (K,)."""
        return ndtri(self.rate)

    @property
    def rarest_cell(self) -> np.ndarray:
        """The smaller of the counted and the other games, shape (K,)."""
        return np.minimum(self.count, self.games - self.count)

    def bounds(self, failure_probability: float) -> tuple[np.ndarray, np.ndarray]:
        """Simultaneous Clopper-Pearson bounds of the rates, (low, high), each of shape (K,).

        Examples:
            >>> low, high = CountedRates([50], 1000).bounds(0.05)
            >>> low.round(4).tolist(), high.round(4).tolist()
            ([0.0373], [0.0654])
        """
        risk = number("failure_probability", failure_probability, 0.0, 1.0, low_open=True, high_open=True)
        return self.limits(0.5 * risk / self.count.size)

    def limits(self, failure_probability: float) -> tuple[np.ndarray, np.ndarray]:
        """(low, high), each of shape (K,): the limits of which each fails with this probability at most."""
        return one_sided_limits(self.count, self.games, failure_probability)

    def __getitem__(self, chosen: np.ndarray | slice) -> CountedRates:
        """The rates at some of the thresholds."""
        return CountedRates(self.count[chosen], self.games)

    def tail_probit(self, z: np.ndarray, small: bool) -> np.ndarray:
        """Phi^-1 of the exact binomial p-value of the hypothesis "the rate is Phi(z)", shape (K, m).

        The p-value is the chance of a count at most as large as the observed count if `small` (at least as large
        otherwise): it is stochastically at least uniform under the hypothesis, for every number of games, and falls
        (rises) with z.

        Examples:
            >>> rates = CountedRates([0], 10)  # P(no count) = (1/2)^10
            >>> float(ndtr(rates.tail_probit(np.array([[0.0]]), small=True))[0, 0] * 2**10)
            1.0
        """
        # P(X <= x) = I_{1-q}(n - x, x + 1), P(X >= x) = I_q(x, n - x + 1)
        first, second, certain = self._beta(small)
        at, other = (ndtr(-z), ndtr(z)) if small else (ndtr(z), ndtr(-z))
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
            >>> rates = CountedRates([50], 1000)
            >>> ndtr(rates.limit(-1.959964, small=True)).round(4).tolist()  # Clopper and Pearson's
            [0.0654]
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
        """Variance of the estimated probit if the rate q is Phi(z), q (1 - q) / (n phi(z)^2), in the shape of z."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return ndtr(z) * ndtr(-z) * 2.0 * np.pi * np.exp(z**2) / self.games

    def _beta(self, small: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The two parameters of the tail as a beta integral, and where the tail is 1; shape (K, 1) each."""
        x, n = self.count[:, None], float(self.games)
        first, second = (n - x, x + 1.0) if small else (x, n - x + 1.0)
        return np.maximum(first, 1.0), second, first == 0

    def probit_variance(self) -> np.ndarray:
        """Variance of the estimated probit, with half a count at an end, shape (K,)."""
        return self.planned_variance(ndtri((self.count + 0.5) / (self.games + 1.0)))
