"""Gaps between the certified law of the mean's ratio at one size and what theorem 3.1 and lemma C.6 say of its limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import ndtri

from mipsim.exact import Terms
from mipsim.special import noncentral_chi_square
from mipsim.theory import azize
from verify.azize.mean_cases import MeanCase, brackets, leakage, mean_law
from verify.limits import GRID, Size, curve_gap

FAR = 9.9e7
"""The noncentrality up to which the chi-square law is at hand."""

ALPHA = 0.05
"""The FPR at which the irregular cases are judged; there a proven lower bound of the attacker's excess is reported."""


@cache
def curve_size(case: MeanCase, stretch: float, n: int) -> Size:
    """The optimal curve against g_mu, mu = stretch sqrt(m), in probits: all of it, or at one FPR where the conditions fail."""
    law = mean_law(case, n, n)
    told(case, n)  # kept for the statements that ask for it, while the law is at hand
    claimed = azize.mean_tradeoff(law.leakage * stretch**2)
    if case.regular:
        return curve_gap(law, claimed, case.name)
    ends = [float(ndtri(claimed.beta(ALPHA)) - ndtri(end)[0]) for end in law.beta_bracket(np.array([ALPHA]))]
    # Of the two bounds of the gap the one nearer to zero, or zero between them.
    gap = max(min(ends), 0.0) + min(max(ends), 0.0)
    return Size(gap, gap)


EPSILONS = (0.0, 0.1, 0.5, 1.0, 2.0, 4.0)
"""Where the divergences of the two worlds are judged."""


@dataclass(frozen=True)
class Told:
    """What is kept of a certified law: m, and proven (low, high) of the advantage and of both divergences at each epsilon."""

    leakage: float
    advantage: tuple[float, float]
    divergences: tuple[list[tuple[float, float]], ...]


@cache
def told(case: MeanCase, n: int) -> Told:
    """The numbers that several statements ask of one law, taken while it is at hand."""
    law = mean_law(case, n, n)
    return Told(law.leakage, law.advantage_bracket(), tuple(law.delta_brackets(e) for e in EPSILONS))


@cache
def advantage_size(case: MeanCase, stretch: float, n: int) -> Size:
    """The optimal advantage less that of equation 3 with mu = stretch sqrt(m)."""
    m, (low, high) = told(case, n).leakage, told(case, n).advantage
    middle, error = ((low + high) / 2, (high - low) / 2) if case.regular else (low, 0.0)
    gap = middle - azize.advantage(m * stretch**2)
    return Size(gap, gap, error=error)


@cache
def law_size(case: MeanCase, stretch: float, n: int) -> Size:
    """The law of the ratio against N(-+m/2, m), in probits.

    For Gaussian data that is the level and the power at every threshold tau_alpha, in closed form. Else it is the gap of the
    optimal curve: the curve and the ratio's two laws determine each other, and the laws tend to N(-+m/2, m) if and only if
    the curve tends to g_sqrt(m) (Le Cam 1986, ch. 3; Torgersen 1991, ch. 7).
    """
    m = leakage(brackets(case, n, n)) * stretch**2
    if case.law != "gaussian" or case.sizes[-1] ** 2 * m > FAR:
        return curve_size(case, stretch, n)
    x = ndtri(GRID)
    gaps = []
    for inside in (False, True):
        below = gaussian_below(case, n, (m / 2 if inside else -m / 2) + np.sqrt(m) * x, inside)
        gaps.append(x - ndtri(below))
    return Size(float(np.min(gaps)), float(np.max(gaps)))


@cache
def difference_size(case: MeanCase, epsilon: float, scale: float, n: int) -> Size:
    """How far ratio and scale x covariance score are apart, in the world where that is more.

    Where the conditions hold: the mean square of the difference where the ratio is finite, plus the probability that it is
    not; if that vanishes, so does the difference in probability (Chebyshev). Where they fail: a lower bound of
    P(|difference| > epsilon).
    """
    groups = [g.weaker for g in brackets(case, n, n)]
    if case.law == "gaussian" and scale == 1.0:
        gap = max(_gaussian_difference(case, n, inside) for inside in (False, True))
        return Size(gap, gap)
    if case.regular:
        gap = max(_mean_square(groups, scale, inside) + _infinite(groups, inside) for inside in (False, True))
        return Size(gap, gap, error=1e-9)
    # Where the conditions fail, the outputs that one world alone has, or the one coordinate that is judged.
    alone = groups[0] if len(groups) == 1 and groups[0].count == 1 else None
    gaps = [1.0 - np.exp(-_infinite(groups, inside)) for inside in (False, True)]
    if alone is not None:
        far = np.abs(alone.ratio - scale * alone.covariance_score) > epsilon
        gaps += [float(alone.out[far].sum()), float(alone.inside[far].sum())]
    return Size(max(gaps), max(gaps))


def _mean_square(groups: Sequence[Terms], scale: float, inside: bool) -> float:
    """E D^2 of the sum D of the differences, each taken as 0 where the ratio is infinite: an upper bound of its spread."""
    mean = variance = 0.0
    for g in groups:
        mass = g.inside if inside else g.out
        difference = np.where(np.isfinite(g.ratio), g.ratio - scale * g.covariance_score, 0.0)
        one = float(mass @ difference)
        mean += g.count * one
        variance += g.count * (float(mass @ difference**2) - one**2)
    return mean**2 + variance


def _infinite(groups: Sequence[Terms], inside: bool) -> float:
    return min(
        1.0, sum(g.count * float((g.inside if inside else g.out)[np.isinf(g.ratio)].sum()) for g in groups)
    )


def gaussian_below(case: MeanCase, n: int, threshold: np.ndarray, inside: bool) -> np.ndarray:
    """In closed form, to about 1e-11: the ratio is -(d/2) log(1 - 1/n) + n m/2 - V/(2n(n - 1)).

    V = sum (s_j - n t_j)^2 is n chi2_d(n^2 m) out and (n - 1) chi2_d(n (n - 1) m) in, where s_j are the column sums.
    """
    groups = brackets(case, n, n)
    d, m = sum(g.count for g in groups), leakage(groups)
    rest = 2.0 * n * (n - 1) * (-0.5 * d * np.log1p(-1.0 / n) + 0.5 * n * m - threshold)
    rows = n - 1 if inside else n
    return noncentral_chi_square.sf(np.maximum(rest / rows, 0.0), d, n * rows * m)


def _gaussian_difference(case: MeanCase, n: int, inside: bool) -> float:
    """E D^2, D = -(d/2) log(1 - 1/n) - V/(2n(n - 1)), V = sum (s_j - t_j)^2: n chi2_d(m), or (n - 1) chi2_d."""
    groups = brackets(case, n, n)
    d, m = sum(g.count for g in groups), leakage(groups)
    rows, away = (n - 1, 0.0) if inside else (n, m)
    share = rows / (2.0 * n * (n - 1))
    mean = -0.5 * d * np.log1p(-1.0 / n) - share * (d + away)
    return float(mean**2 + share**2 * (2 * d + 4 * away))
