"""Tests of an attacker who does not know to which side the output is shifted, by exact laws: Kaissis et al. (2023), lemmas 1 to 5."""

from __future__ import annotations

import numpy as np

from mipsim.referee import Number
from mipsim.referee.curve_gap import GRID
from sims.relaxed_laws import LAWS, best_test, cell_edges, cell_law, log_ratio


def two_shifts(noise: str, delta: float, second: float) -> tuple[np.ndarray, np.ndarray]:
    """Laws of cells of the output: without a shift, and with the shifts delta and second * delta, shape (2, cells)."""
    edges = cell_edges(delta)
    return cell_law(noise, edges, 0.0), np.stack([cell_law(noise, edges, s * delta) for s in (1.0, second)])


def share_kept(noise: str, delta: float, second: float, alpha: float) -> Number:
    """Minus the share that one test must lose of the advantages of the best tests against two shifts, on average, at one FPR.

    Or of their FNRs, where that is more: one of the two says little where a test sees nearly all, or nothing. A test that is the
    best against both shifts would lose nothing, however the two are weighed. The record takes part for sure: a
    coin adds the same to both powers and changes no test.
    """
    out, inside = two_shifts(noise, delta, second)
    lost = []
    for rate in (lambda test: float(test.tpr_at(alpha)) - alpha, lambda test: float(test.beta(alpha))):
        weights = 0.5 / np.array([rate(best_test(out, law)) for law in inside])
        share = rate(best_test(out, weights / weights.sum() @ inside)) * weights.sum()
        lost.append(1.0 - min(share, 1.0 / share))
    return Number(-max(lost), route="likelihood ratios of cells, sorted")


def can_be_seen(noise: str, delta: float, second: float, alpha: float) -> bool:
    """Whether float64 holds the FNRs of both best tests, and the gain of the second is more than rounding."""
    law, far = LAWS[noise], abs(second) * delta
    other = law.sf(law.ppf(alpha) + far) if second < 0 else law.cdf(law.isf(alpha) - far)
    return abs(second) >= 0.01 and min(law.cdf(law.isf(alpha) - delta), other) > 1e-250


def one_test_for_both(noise: str, delta: float, second: float, alpha: float) -> str:
    """The one-sided test z > c beside the best test of each shift, by the distribution function."""
    cut, (out, inside) = LAWS[noise].isf(alpha), two_shifts(noise, delta, second)
    one = [float(LAWS[noise].sf(cut - s * delta)) for s in (1.0, second)]
    best = [float(best_test(out, law).tpr_at(alpha)) for law in inside]
    return (
        f"at FPR {alpha:g} the one test z > {cut:.4f} has the powers {one[0]:.4f} and {one[1]:.4f} by the distribution function; the best "
        f"tests of the two shifts have {best[0]:.4f} and {best[1]:.4f} (likelihood ratios of cells, sorted)"
    )


def composite_failure(noise: str, delta: float, rate: float, reach: float = 1.0) -> Number:
    """How far the composite ratio is from the larger one-sided ratio, from falling and then rising, from being the largest of all.

    So its rejection regions are two tails; where it is flat every single ratio is, so that a coin at a tie cannot
    matter. The negative shifts of the one-sided test r end at -reach * delta.
    """
    z = np.linspace(-delta - 8.0, delta + 8.0, 1601)
    if noise == "Gumbel":
        z = z[z > -4.0]  # left of it the density is below 1e-20

    def largest(low: float, high: float) -> np.ndarray:
        # The density is highest at 0: the most likely shift is the one nearest to z.
        return log_ratio(noise, z, np.clip(z, low, high), rate)

    both, left, right = largest(-delta, delta), largest(-reach * delta, 0.0), largest(0.0, delta)
    single = log_ratio(noise, z[:, None], delta * np.linspace(-1.0, 1.0, 401), rate)
    low = int(np.argmin(both))
    wrong = max(np.diff(both[: low + 1]).max(initial=0.0), -np.diff(both[low:]).min(initial=0.0))
    tied = (np.abs(np.diff(both)) < 1e-13) & (np.abs(z[1:]) >= delta)
    hidden = np.abs(np.diff(single[:, [0, -1]], axis=0)).max(axis=1)[tied].max(initial=0.0)
    uneven, passed = np.abs(both - np.maximum(left, right)).max(), (single.max(axis=1) - both).max()
    return Number(
        float(max(wrong, hidden, uneven, passed)),
        route="likelihood ratios at 1601 outputs and 401 shifts",
        detail="the composite ratio is the larger of the two one-sided ones, both monotone",
    )


SUBSAMPLED = "sub-sampled "


def falls(mechanism: str, delta: float, rate: float, s: float, t: float, width: float = 1.0) -> Number:
    """How far the log ratio of the densities of two shifts, s and t times delta, falls at most as z rises, or the power of z > c from s to t.

    The noise of the larger shift is `width` times as wide as the other's.
    """
    noise, rate = mechanism.removeprefix(SUBSAMPLED), rate if mechanism.startswith(SUBSAMPLED) else 1.0
    # Far out, where the smallest shifts begin to fail.
    z = np.linspace(-delta - 40.0, delta + 40.0, 4001)
    ratio = log_ratio(noise, z, t * delta, rate) - log_ratio(noise, z, s * delta, rate)
    ratio += LAWS[noise].logpdf((z - t * delta) / width) - LAWS[noise].logpdf(z - t * delta)
    fall = float((np.maximum.accumulate(ratio) - ratio).max())
    cut = LAWS[noise].isf(GRID)
    lost = float((LAWS[noise].sf(cut - s * delta) - LAWS[noise].sf(cut - t * delta)).max())
    return Number(
        max(fall, lost),
        route="densities at 4001 outputs",
        detail=f"the ratio falls by {fall:.3g} at most as z rises; the power falls by {max(lost, 0.0):.3g} as the shift grows",
    )


def counted(mechanism: str, delta: float, rate: float, s: float, t: float) -> str:
    """Two cells left and right of where the ratio of two shifts falls most: it must rise from one to the other."""
    noise, small, large = mechanism.removeprefix(SUBSAMPLED), s * delta, t * delta
    z = np.linspace(-35.0, 35.0, 4001)
    ratio = log_ratio(noise, z, large, rate) - log_ratio(noise, z, small, rate)
    low = int((np.maximum.accumulate(ratio) - ratio).argmax())
    high = int(ratio[: low + 1].argmax())
    edges = z[[max(high - 1, 0), high + 1, max(low - 1, high + 2), max(low, high + 3)]]
    masses = [cell_law(noise, edges, shift, rate) for shift in (small, large)]
    left, right = (masses[1] / masses[0])[[0, 2]]
    return (
        f"by the distribution function P(shift {large:.4g})/P(shift {small:.4g}) is {left:.6g} on {edges[0]:.4g} < z < {edges[1]:.4g} and "
        f"{right:.6g} on {edges[2]:.4g} < z < {edges[3]:.4g}, lower where it should be higher"
    )


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(200)


def integrated_power(noise: str, delta: float, rate: float, nu: float, alpha: float) -> Number:
    """The power of |z| > c at FPR alpha by integrating the density over (-c, c)."""
    law, shift = LAWS[noise], nu * delta
    cut = float(law.isf(0.5 * alpha))
    # The density of Laplace noise has a kink at the shift; far from it there is next to nothing.
    ends = np.clip([-cut, shift - 12.0, shift, shift + 12.0, cut], -cut, cut)
    middle, half = 0.5 * (ends[1:] + ends[:-1]), 0.5 * np.diff(ends)
    within = float(
        np.sum(half[:, None] * _WEIGHTS * law.pdf(middle[:, None] + half[:, None] * _NODES - shift))
    )
    return Number(1.0 - rate * within - (1 - rate) * (1.0 - alpha), route="quadrature of the density")


SAME = 1e-12
"""Scores nearer than this are one: those of z and -z differ by rounding."""


def ratio_score(noise: str, z: np.ndarray, rate: float, low: float, high: float) -> np.ndarray:
    """The largest log ratio of a shift in [low, high]: on a grid, and at z itself, where the density is highest."""
    grid = log_ratio(noise, z[:, None], np.linspace(low, high, 101), rate).max(axis=1)
    return np.maximum(grid, log_ratio(noise, z, np.clip(z, low, high), rate))


def power(score: np.ndarray, out: np.ndarray, inside: np.ndarray, coin: bool) -> np.ndarray:
    """Power at GRID of rejecting the largest scores; ties are split by a coin, or not split."""
    order = np.argsort(-score, kind="stable")
    starts = np.flatnonzero(np.concatenate([[True], -np.diff(score[order]) > SAME]))
    alpha = np.concatenate([[0.0], np.cumsum(np.add.reduceat(out[order], starts))])
    power = np.concatenate([[0.0], np.cumsum(np.add.reduceat(inside[order], starts))])
    size = np.diff(np.concatenate([starts, [score.size]]))
    split = np.interp(GRID, alpha, power)
    if coin:
        return split
    group = np.clip(np.searchsorted(alpha, GRID, side="right") - 1, 0, starts.size - 1)
    return np.where(size[group] > 2, power[group], split)  # two cells: z and -z


COIN = "ties are split by a coin, and r and r' have one critical value of their likelihood ratios"
NO_COIN = (
    "no coin: a tie is rejected whole or accepted whole, as definition 2 builds a curve from a statistic"
)
HALVES = "r and r' have the level alpha/2 each, as in the magnitude test of lemma 4"


def power_gap(
    noise: str,
    delta: float,
    rate: float,
    nu: float,
    reading: str,
    against: str = "r and r'",
    bend: float = 1.0,
) -> Number:
    """How far the generalised ratio's power is from that of another test at a shift nu * delta, or above that at +-delta.

    The other test is one score: the larger of the two one-sided ratios, the smaller of the two tail probabilities
    (`HALVES`), or |z|. `bend` < 1 takes the smallest shifts from the estimate.
    """
    edges = cell_edges(delta)
    z = 0.5 * (edges[1:] + edges[:-1])
    score, law = ratio_score(noise, z, rate, -bend * delta, delta), LAWS[noise]
    if against == "|z|":
        other = np.abs(z)
    elif reading == HALVES:
        other = -np.minimum(law.logcdf(z), law.logsf(z))
    else:
        other = np.maximum(ratio_score(noise, z, rate, -delta, 0.0), ratio_score(noise, z, rate, 0.0, delta))
    out, *shifted = (cell_law(noise, edges, s * delta, rate) for s in (0.0, nu, 1.0, -1.0))
    mine, *most = (power(score, out, law, reading != NO_COIN) for law in shifted)
    gap = np.abs(mine - power(other, out, shifted[0], True))
    if against == "|z|" and reading == NO_COIN and noise == "Laplace":
        gap = np.where(np.exp(-delta) <= GRID, gap, 0.0)
    at = int(gap.argmax())
    above = float((mine - np.maximum(*most)).max()) if reading == COIN else 0.0
    return Number(
        max(float(gap[at]), above),
        route="exact laws on some 4000 cells",
        detail=f"largest at FPR {GRID[at]:.3g}",
    )


def scores_drawn(noise: str, delta: float, nu: float, reading: str) -> str:
    """The statistics drawn, the record taking part for sure: their powers at FPR 0.1, or how often the ratio takes its largest value."""
    rng, games, law = np.random.default_rng(0), 1_000_000, LAWS[noise]
    out, inside = (law.rvs(size=games, random_state=rng) + s for s in (0.0, nu * delta))
    if reading == NO_COIN:
        top = np.array([np.mean(np.abs(x) >= delta) for x in (out, inside)])
        alpha = 0.5 * top[0]
        cut = np.quantile(np.abs(out), 1 - alpha)
        return (
            f"NumPy, {games:,} draws a world (seed 0): the generalised ratio takes its largest value in a share {top[0]:.4f} of the "
            f"outputs without the record (e^-mu = {np.exp(-delta):.4f}) and has no test of a smaller FPR but the empty one, of power 0; "
            f"at FPR {alpha:.4g} the magnitude has power {np.mean(np.abs(inside) > cut):.4g}"
        )
    scores = (
        lambda z: law.logpdf(z - np.clip(z, -delta, delta)) - law.logpdf(z),
        lambda z: -np.minimum(law.cdf(z), law.sf(z)),
    )
    powers = [np.mean(score(inside) > np.quantile(score(out), 0.9)) for score in scores]
    return (
        f"NumPy, {games:,} draws a world (seed 0), FPR 0.1, shift {nu:g} Delta: power {powers[0]:.4f} of the generalised ratio, {powers[1]:.4f} of "
        "two tests of level 0.05"
    )
