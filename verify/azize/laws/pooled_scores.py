"""The covariance score aimed at a single value in all coordinates: a function of the sum of all entries, whose law is closed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import scipy
from scipy.special import ndtr

from mipsim.referee import Number
from mipsim.theory import azize
from mipsim.tradeoff import AbstractTradeOff, CurveBounds, GaussianTradeOff, bounds_from_rates

OFF = "Bernoulli, aimed at 1/2"
"""With this target no output of either world can be that of a data set: l_n = -inf always, and no threshold tells anything."""


@dataclass(frozen=True)
class Aim:
    """An attack aimed at a single standardised value in every coordinate, with the true target at another."""

    law: str  # "bernoulli", "gaussian" or "exponential"
    aimed: float  # z_targ, standardised, the same in all coordinates
    truth: float  # the mean over the coordinates of z*, standardised; only that matters to the score
    tau: float  # d / n
    p: float = 0.5  # of Bernoulli data


def aim(data: str, p: float, share: float, aimed: float, truth: float, tau: float, **_: Any) -> Aim:
    """The attack at a point of a statement: for Bernoulli data aimed at all ones, or at (1/2, ...), with a share of ones in the true target."""
    item = ((1 - p) / p) ** 0.5
    if data in ("Bernoulli", OFF):
        mean = share * item - (1 - share) / item
        return Aim(
            "bernoulli", item if data == "Bernoulli" else (0.5 - p) / (p * (1 - p)) ** 0.5, mean, tau, p
        )
    return Aim(data.lower(), aimed, truth, tau)


@dataclass(frozen=True)
class Pooled:
    """The score's distribution functions at thresholds that hold all its values (discrete), or are dense (continuous)."""

    # m_star, m_targ, m_scal: the leakages
    m_star: float
    m_targ: float
    m_scal: float
    score: np.ndarray  # thresholds, increasing, shape (N,)
    # out, inside: P(score <= threshold), shape (N,)
    out: np.ndarray
    inside: np.ndarray
    discrete: bool  # whether the score takes no other values

    @cached_property
    def difference(self) -> np.ndarray:
        """TPR - FPR of the tests score > threshold."""
        return self.out - self.inside

    def advantage_at(self, threshold: float) -> float:
        """TPR - FPR of the test score > threshold; between two thresholds of a density on their chord."""
        if not self.discrete:
            return float(np.interp(threshold, self.score, self.difference))
        index = int(np.searchsorted(self.score, threshold, side="right")) - 1
        return float(self.difference[index]) if index >= 0 else 0.0

    def rates(self) -> tuple[np.ndarray, np.ndarray]:
        """FPR, rising, and FNR of the better side's tests at the thresholds, (0, 1) and (1, 0) added."""
        if self.m_scal >= 0:
            fpr, fnr = 1 - self.out[::-1], self.inside[::-1]
        else:
            fpr, fnr = self.out, 1 - self.inside
        return np.concatenate([[0.0], fpr, [1.0]]), np.concatenate([[1.0], fnr, [0.0]])


class BetterSide(AbstractTradeOff):
    """The whole curve of the aimed attack, on its better side."""

    law: Pooled

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        """Of a law with a density, between the FNRs of the tests next to it; of atoms, on the chord."""
        fpr, fnr = self.law.rates()
        if self.law.discrete:
            return bounds_from_rates(
                lambda a: (np.interp(a, fpr, fnr), 1.0 - np.interp(a, fpr, fnr)), log_fpr, error=1e-15
            )
        place = np.clip(np.searchsorted(fpr, np.exp(log_fpr)), 1, fpr.size - 1)
        low, high = (CurveBounds.of_rates(v, 1.0 - v, 1e-14) for v in (fnr[place], fnr[place - 1]))
        return CurveBounds(low.log_fnr_low, high.log_fnr_high, high.log_tpr_low, low.log_tpr_high)


@lru_cache(maxsize=160)
def pooled(aim: Aim, n: int) -> Pooled:
    """The law of the score of an aim at n rows and d = tau n coordinates.

    The sum of all entries is Binomial(n d, p), N(0, n d) or Gamma(n d) out; in, a single row of d entries is the target's. The score
    is u (sum - n d mean) / (n sd) - d u^2 / (2 n), u the aimed value.
    """
    d = max(1, round(aim.tau * n))
    mean, sd = {
        "bernoulli": (aim.p, np.sqrt(aim.p * (1 - aim.p))),
        "gaussian": (0.0, 1.0),
        "exponential": (1.0, 1.0),
    }[aim.law]
    entry = d * (mean + sd * aim.truth)  # the target's own contribution to the sum
    spread = sd * np.sqrt(n * d)
    low, high = (
        n * d * mean - 9 * spread + min(entry - d * mean, 0),
        n * d * mean + 9 * spread + max(entry - d * mean, 0),
    )
    if aim.law == "bernoulli":
        entry = round(entry)
        total = np.arange(max(0, int(low)), min(n * d, int(high)) + 1, dtype=float)
        out, inside = (
            scipy.stats.binom(n * d, aim.p).cdf(total),
            scipy.stats.binom((n - 1) * d, aim.p).cdf(total - entry),
        )
    else:
        total = np.linspace(low, high, 100_001)
        if aim.law == "gaussian":
            out, inside = ndtr(total / np.sqrt(n * d)), ndtr((total - entry) / np.sqrt((n - 1) * d))
        else:
            out, inside = (
                scipy.stats.gamma(n * d).cdf(total),
                scipy.stats.gamma((n - 1) * d).cdf(total - entry),
            )
    truth = (entry / d - mean) / sd
    score = aim.aimed * (total - n * d * mean) / (n * sd) - d * aim.aimed**2 / (2 * n)
    if aim.aimed < 0:
        # The score falls in the sum: P(score <= x) is P(sum >= total), which for whole numbers starts 1 lower.
        step = 1 if aim.law == "bernoulli" else 0
        before = lambda cdf: np.concatenate([[0.0], cdf[:-1]]) if step else cdf  # noqa: E731
        score, out, inside = score[::-1], 1 - before(out)[::-1], 1 - before(inside)[::-1]
    return Pooled(
        d * truth**2 / n,
        d * aim.aimed**2 / n,
        d * aim.aimed * truth / n,
        score,
        out,
        inside,
        aim.law == "bernoulli",
    )


DENSE = 1e-6
"""What the advantage may be off between two thresholds of a density, and by rounding: they are at most 3e-4 standard deviations apart,
and its second derivative is at most 0.6 by theirs."""


BEST = "best threshold, on the better side"


ZERO = "the test {l_n > 0} that theorem 2.1 calls optimal"


ONE_SIDED = "best threshold of {score > threshold}"


MIDPOINT = "the threshold (m_scal - m_targ)/2, on the side of the sign of m_scal"


def by_rule(found: Pooled, reading: str) -> float:
    """The advantage at a threshold rule."""
    if reading == MIDPOINT:
        return float(np.sign(found.m_scal)) * found.advantage_at((found.m_scal - found.m_targ) / 2)
    if reading == ZERO:
        return found.advantage_at(0.0)
    return float(np.abs(found.difference).max() if reading == BEST else max(found.difference.max(), 0.0))


def advantage(n: int, reading: str, data: str, **at: Any) -> Number:
    """Of the ratio for z_targ, which is the covariance score in the limit (equation 5) where it is finite."""
    return Number(0.0) if data == OFF else score_advantage(n, reading, data, **at)


def score_advantage(n: int, reading: str, data: str, **at: Any) -> Number:
    """Of the covariance score."""
    return Number(by_rule(pooled(aim(data, **at), n), reading), DENSE, route="exact law")


def misspecified_advantage(scalar: float, under_the_root: float) -> float:
    """Phi(|m_scal| / (2 sqrt(m))) - Phi(-...), with m = m_targ (body) or m* (appendix), > 0, under the root: theorem 4.3."""
    half = abs(scalar) / (2.0 * np.sqrt(under_the_root))
    return float(ndtr(half) - ndtr(-half))


def formula(n: int, **at: Any) -> float:
    """The printed advantage, m_targ under the root."""
    result = pooled(aim(**at), n)
    return misspecified_advantage(result.m_scal, result.m_targ)


def formula_of_the_appendix(n: int, **at: Any) -> float:
    """The advantage with m* under the root."""
    result = pooled(aim(**at), n)
    return misspecified_advantage(result.m_scal, result.m_star)


def aimed_gaussian(n: int, **at: Any) -> GaussianTradeOff:
    """The curve with mu = |m_scal| / sqrt(m_targ)."""
    result = pooled(aim(**at), n)
    return azize.mean_tradeoff(result.m_scal**2 / result.m_targ)


def is_visible(data: str, p: float, share: float, aimed: float, truth: float, tau: float) -> bool:
    """A claimed advantage near 0 has no scale; of a large advantage nothing is left to see."""
    if not 0.02 <= p <= 0.98:
        return False
    item = aim(data, p, share, aimed, truth, tau)
    return (
        abs(item.aimed) >= 0.1
        and 0.05 <= item.tau * item.truth**2 <= 30.0
        and 0.05 <= item.tau * item.aimed**2 <= 30.0
    )
