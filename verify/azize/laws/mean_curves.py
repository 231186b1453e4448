"""Curves and numbers of the released mean at a single size: what theorems about it are judged by."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import ndtri

from mipsim.special import noncentral_chi_square
from mipsim.tradeoff import AbstractTradeOff, CurveBounds
from mipsim.tradeoff.bounds import log_complement
from verify.azize.laws.coordinate_tables import BracketedTerms
from verify.azize.laws.mean_families import MeanProblem, coordinates, leakage
from verify.azize.laws.products import product_tradeoff
from verify.azize.laws.terms import Terms, binomial_terms


class InSight(AbstractTradeOff):
    """A curve of which no more is used, where its FNR may be below 1e-5 (1 - alpha), than that it is at most that.

    Judged are claimed FNRs from 1e-4 on. There, such a rate is a gap of at least half a probit; its size need not be known.
    """

    curve: AbstractTradeOff

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        """Proven bounds at logarithms of FPRs."""
        least = np.log(1e-5) + log_complement(log_fpr)
        bounds = self.curve.enclosure(log_fpr)
        low = np.where(bounds.log_fnr_low < least, -np.inf, bounds.log_fnr_low)
        return CurveBounds.of_log_fnr(low, np.maximum(bounds.log_fnr_high, least))


def probit_at_threshold(n: int, t: float, u: float, tau: float, alpha: float, world: str) -> float:
    """Phi^-1 of the level (out) or the power (in) of {l_n > tau_alpha} for Gaussian data, in closed form, to about 1e-11."""
    m = leakage(MeanProblem("Gaussian", t=t, u=u, tau=tau), n, n)
    return -float(ndtri(rejected(-m / 2 - np.sqrt(m) * ndtri(alpha), n, n, t, u, tau, world)[1]))


def rejected(
    threshold: float, rows: int, n: int, t: float, u: float, tau: float, world: str
) -> tuple[float, float]:
    """(P(l > threshold), its complement) in a world of `rows` released Gaussian rows, d = tau n, in closed form.

    The ratio is -(d/2) log(1 - 1/k) + k m/2 - V/(2k(k - 1)) of k rows, V = sum (s_j - k t_j)^2 of the column sums s_j, which is
    k chi2_d(k^2 m) out and (k - 1) chi2_d(k (k - 1) m) in.
    """
    groups = coordinates(MeanProblem("Gaussian", t=t, u=u, tau=tau), rows, n)
    d, m = sum(g.count for g in groups), sum(g.count * g.leakage for g in groups) / rows
    left = rows - (world == "power")
    rest = 2.0 * rows * (rows - 1) * (-0.5 * d * np.log1p(-1.0 / rows) + 0.5 * rows * m - threshold)
    law, at = (d, rows * left * m), np.array([max(rest / left, 0.0)])
    return float(noncentral_chi_square.cdf(at, *law)[0]), float(noncentral_chi_square.sf(at, *law)[0])


def difference(n: int, **at: Any) -> float:
    """The mean square of ratio less covariance score where the ratio is finite, plus the probability that it is not; the worse world.

    If it vanishes, so does the difference in probability (Chebyshev). If it does not: an infinite ratio is a difference. Of a single
    coordinate it is the mean of min(1, difference^2); the other coordinates cannot cancel that where it is near no constant.
    """
    return scaled_difference(1.0, n, **at)


def scaled_difference(scale: float, n: int, **at: Any) -> float:
    """The same with `scale` times the score."""
    groups = [g.weaker for g in coordinates(MeanProblem.of(at), n, n)]
    result = []
    for world, rows in (("out", n), ("inside", n - 1)):
        mean = variance = single = 0.0
        finite = 1.0
        for g in groups:
            if at["data"] == "Gaussian" and g.count > 1 and scale == 1.0:
                # D = -(d/2) log(1 - 1/n) - V/(2n(n - 1)), V = sum (s_j - t_j)^2: n chi2_d(m) out, (n - 1) chi2_d in.
                away, share = (g.count * g.t**2 / n if rows == n else 0.0), rows / (2.0 * n * (n - 1))
                mean += -0.5 * g.count * np.log1p(-1.0 / n) - share * (g.count + away)
                variance += share**2 * (2 * g.count + 4 * away)
                continue
            mass: np.ndarray = getattr(g, world)
            gap = np.where(np.isfinite(g.ratio), g.ratio - scale * g.covariance_score, 0.0)
            finite *= (1.0 - float(mass[np.isinf(g.ratio)].sum())) ** g.count
            if g.count == 1:
                single += float(mass @ np.minimum(gap**2, 1.0))
                continue
            item = float(mass @ gap)
            mean += g.count * item
            variance += g.count * (float(mass @ gap**2) - item**2)
        result.append(mean**2 + variance + single + 1.0 - finite)
    return max(result)


def _random_terms(n: int, p: float, count: int) -> BracketedTerms:
    item, zero = binomial_terms(n, p, 1, count), binomial_terms(n, p, 0, count)
    both = [np.concatenate([getattr(item, name), getattr(zero, name)]) for name in ("ratio", "deviation")]
    out, inside = (
        np.concatenate([p * getattr(item, name), (1 - p) * getattr(zero, name)]) for name in ("out", "inside")
    )
    worse = (max(getattr(item, name), getattr(zero, name)) for name in ("error", "relative"))
    return BracketedTerms.exactly(Terms(out, inside, both[0], count, 0.0, both[1], n, *worse))


def counts(n: int, p: float, q: float, tau: float) -> list[tuple[float, int]]:
    """(mean, how many coordinates) of the kinds."""
    kinds = (p,) if p == q else (p, q)
    return [(item, max(1, round(tau * n / len(kinds)))) for item in kinds]


@lru_cache(maxsize=128)
def random_target_law(n: int, p: float, q: float, tau: float) -> AbstractTradeOff:
    """The optimal curve under random targets; p and q are the means of half the coordinates each."""
    return product_tradeoff([_random_terms(n, item, count) for item, count in counts(n, p, q, tau)])
