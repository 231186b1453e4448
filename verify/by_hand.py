"""What second routes return, with NumPy and SciPy alone: the programs of reports have it in the place of what `mipsim.referee.replication` calls so."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri
from scipy.stats import beta

RISK = 1e-6
"""How likely an interval of draws is wrong, at most."""


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
