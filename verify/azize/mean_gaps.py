"""Gaps between the certified law of the mean's ratio at one size and what theorem 3.1 and lemma C.6 say of its limit."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.special import ndtri

from mipsim.exact import additive_law
from mipsim.special import noncentral_chi_square
from mipsim.theory import azize
from verify.azize.mean_cases import MeanCase, brackets, leakage, mean_law
from verify.limits import GRID, Size, curve_gap


@cache
def curve_size(case: MeanCase, stretch: float, n: int) -> Size:
    """The optimal curve against g_mu, mu = stretch sqrt(m), in probits."""
    law = mean_law(case, n, n)
    return curve_gap(law, azize.mean_tradeoff(law.leakage * stretch**2), case.name)


@cache
def advantage_size(case: MeanCase, stretch: float, n: int) -> Size:
    """The optimal advantage less that of equation 3 with mu = stretch sqrt(m)."""
    law = mean_law(case, n, n)
    low, high = law.advantage_bracket()
    gap = (low + high) / 2 - azize.advantage(law.leakage * stretch**2)
    return Size(gap, gap, error=(high - low) / 2)


@cache
def law_size(case: MeanCase, stretch: float, n: int) -> Size:
    """The law of the ratio against N(-+m/2, m), in probits: the level and the power at every threshold tau_alpha."""
    m = leakage(brackets(case, n, n)) * stretch**2
    x = ndtri(GRID)
    gaps, error = [], 0.0
    for inside in (False, True):
        bounds = ratio_below(case, n, (m / 2 if inside else -m / 2) + np.sqrt(m) * x, inside)
        most, least = (x - ndtri(np.clip(bound, 0.0, 1.0)) for bound in bounds)
        gaps.append((least + most) / 2)
        error = max(error, float((most - least).max()) / 2)
    return Size(float(np.min(gaps)), float(np.max(gaps)), error=error)


@cache
def difference_size(case: MeanCase, epsilon: float, scale: float, n: int) -> Size:
    """P(|ratio - scale x covariance score| > epsilon), in the world where it is larger."""
    groups = brackets(case, n, n)
    if case.law == "gaussian" and scale == 1.0:
        gap = max(_gaussian_difference(case, n, epsilon, inside) for inside in (False, True))
        return Size(gap, gap)
    law = additive_law([g.weaker for g in groups], lambda terms: terms.ratio - scale * terms.covariance_score)
    low, high = [], []
    for inside in (False, True):
        under, over = (law.below_bracket(sign * epsilon, inside=inside) for sign in (-1.0, 1.0))
        low.append(float(under[0] + 1 - over[1]))
        high.append(float(under[1] + 1 - over[0]))
    gap = (max(low) + max(high)) / 2
    return Size(gap, gap, error=(max(high) - max(low)) / 2)


def ratio_below(case: MeanCase, n: int, threshold: np.ndarray, inside: bool) -> tuple[np.ndarray, np.ndarray]:
    """Proven bounds of P(ratio <= threshold), each of shape of threshold.

    Raises:
        ValueError: for a density other than the Gaussian, whose cells bracket its curve but not the law of its ratio.
    """
    if case.law == "gaussian":
        found = _gaussian_below(case, n, threshold, inside)
        return found, found
    law = mean_law(case, n, n)
    if law.weaker is not law.stronger:
        raise ValueError(f"case is {case.name}; the law of its ratio is not at hand, only its curve is")
    return law.weaker.below_bracket(threshold, inside=inside)


def _gaussian_below(case: MeanCase, n: int, threshold: np.ndarray, inside: bool) -> np.ndarray:
    """In closed form, to about 1e-11: the ratio is -(d/2) log(1 - 1/n) + n m/2 - V/(2n(n - 1)).

    V = sum (s_j - n t_j)^2 is n chi2_d(n^2 m) out and (n - 1) chi2_d(n (n - 1) m) in, where s_j are the column sums.
    """
    groups = brackets(case, n, n)
    d, m = sum(g.count for g in groups), leakage(groups)
    rest = 2.0 * n * (n - 1) * (-0.5 * d * np.log1p(-1.0 / n) + 0.5 * n * m - threshold)
    rows = n - 1 if inside else n
    return noncentral_chi_square.sf(np.maximum(rest / rows, 0.0), d, n * rows * m)


def _gaussian_difference(case: MeanCase, n: int, epsilon: float, inside: bool) -> float:
    """P(|D| > epsilon), D = -(d/2) log(1 - 1/n) - V/(2n(n - 1)), V = sum (s_j - t_j)^2: n chi2_d(m), or (n - 1) chi2_d."""
    groups = brackets(case, n, n)
    d, m = sum(g.count for g in groups), leakage(groups)
    rows, away = (n - 1, 0.0) if inside else (n, m)
    middle = -0.5 * d * np.log1p(-1.0 / n)
    low, high = (np.maximum(2.0 * n * (n - 1) * (middle + sign * epsilon) / rows, 0.0) for sign in (-1.0, 1.0))
    return float(noncentral_chi_square.cdf(low, d, away) + noncentral_chi_square.sf(high, d, away))
