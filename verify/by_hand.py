"""What second routes call and return, with NumPy and SciPy alone: the programs of reports have it in the place of what `mipsim.referee` calls so."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri
from scipy.stats import beta

RISK = 1e-6
"""How likely an interval of draws is wrong, at most."""
RATES = (1e-4, 1e-3, 3e-3, 0.01, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.99)
"""FPRs at which powers are compared."""


@dataclass
class Replication:
    """A quantity, an interval that holds it, what it is, how it was computed, and what the statement says of it."""

    value: float
    low: float
    high: float
    what: str
    how: str
    claim: float = float("nan")
    size: int | None = None
    one_sided: bool = False


def share(hits: float, games: int, risk: float = RISK / 2) -> tuple[float, float, float]:
    """(share, low, high) by Clopper and Pearson, each end wrong with at most this probability."""
    low = beta.ppf(risk, hits, games - hits + 1) if hits > 0 else 0.0
    return hits / games, float(low), float(beta.isf(risk, hits + 1, games - hits) if hits < games else 1.0)


@dataclass
class Draws:
    """Scores of an attack out and in, of as many games each."""

    out: np.ndarray
    inside: np.ndarray
    how: str
    size: int | None = None
    epsilon: float = 0.0

    def power(self, alpha: float) -> Replication:
        """The power of the test at the score that a share alpha of the games out reaches; a coin decides at the score itself."""
        level = np.sort(self.out)[-max(1, round(alpha * self.out.size))]
        coin = (alpha - (self.out > level).mean()) / (self.out == level).mean()
        hits = (self.inside > level).sum() + coin * (self.inside == level).sum()
        ends = share(hits, self.inside.size)
        return Replication(*ends, f"power at FPR {alpha:g}", self.how, size=self.size)

    def probit(self, alpha: float, unit: float = 1.0, missed: bool = False) -> Replication:
        """Phi^-1 of the power, or of the FNR, over a unit."""
        seen = self.power(alpha)
        ends = sorted(ndtri(x) / unit * (-1 if missed else 1) for x in (seen.value, seen.low, seen.high))
        what = f"Phi^-1 of the {'FNR' if missed else 'power'} at FPR {alpha:.4g}"
        return Replication(ends[1], ends[0], ends[2], what, self.how, size=self.size)

    def event(self) -> Replication:
        """P(in) - e^epsilon P(out) of the best threshold of half of the games, in the other half."""
        factor, half = np.exp(self.epsilon), slice(None, None, 2)
        levels = np.unique(np.quantile(self.out[half], np.linspace(0.0, 1.0, 400)))
        gains = [(self.inside[half] > x).mean() - factor * (self.out[half] > x).mean() for x in levels]
        level = levels[int(np.argmax(gains))]
        caught, wrong = (share((x[1::2] > level).sum(), x[1::2].size) for x in (self.inside, self.out))
        value, low, high = (x - factor * wrong[(0, 2, 1)[k]] for k, x in enumerate(caught))
        return Replication(value, low, high, "P(in) - e^epsilon P(out) of an event", self.how, size=self.size)


def ahead(first: Any, second: Any, names: str, rates: Sequence[float] = RATES) -> Any:
    """How far the power of the first attack is above that of the second, at the FPR where it is so most surely; the statement names no FPR.
    `first`: the attack that should not be stronger; `names`: what is subtracted, in words; `rates`: FPRs that are looked
    at, at most as many as in `RATES`.
    """
    gains = {
        rate: difference(*((p.value, p.low, p.high) for p in (first.power(rate), second.power(rate))))
        for rate in rates
    }
    rate = max(gains, key=lambda rate: gains[rate][1])
    value, low, high = gains[rate]
    more = {"value": value, "low": low, "high": high, "claim": 0.0, "one_sided": True}
    return replace(first.power(rate), **more, what=f"power at FPR {rate:g}, {names}")


def difference(first: Sequence[float], second: Sequence[float]) -> tuple[float, float, float]:
    """(value, low, high) of a difference of two numbers with intervals.
    >>> difference((0.5, 0.25, 0.75), (0.25, 0.0, 0.5))
    (0.25, -0.25, 0.75)
    """
    return first[0] - second[0], first[1] - second[2], first[2] - second[1]


def mean(sample: np.ndarray, low: float, high: float, risk: float = RISK) -> tuple[float, float, float]:
    """(mean, low, high): the interval of the mean of numbers in [low, high].

    Source: Hoeffding (1963).

    >>> [round(x, 2) for x in mean(np.full(1000, 0.5), 0.0, 1.0)]
    [0.5, 0.41, 0.59]
    """
    value, off = float(sample.mean()), (high - low) * math.sqrt(math.log(2.0 / risk) / (2 * sample.size))
    return value, max(low, value - off), min(high, value + off)


def near(value: float, error: float = 1e-9) -> tuple[float, float, float]:
    """(value, low, high) of what a method without chance computes to a relative error.
    >>> near(2.0, 0.5)
    (2.0, 1.0, 3.0)
    """
    return value, value - error * abs(value), value + error * abs(value)
