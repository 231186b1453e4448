"""Tests of an attacker who does not know to which side the output is shifted, by exact laws: Kaissis et al. (2023), lemmas 1 to 5."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import scipy
from scipy.special import expit, logit, ndtr, ndtri, xlogy

from mipsim.referee import Draws, Number, Replication
from mipsim.referee.judging.gap import FLOOR
from verify.by_hand import difference, near
from verify.kaissis.laws.relaxed_laws import (
    best_test,
    cell_edges,
    cell_law,
    log_density,
    log_ratio,
    noise_named,
)

EPS = float(np.finfo(np.float64).eps)
ROUNDED, ROUNDED_FNR = 32.0 * EPS, 4096.0 * EPS
"""What a power from a distribution function may be off, and, relative, an FNR: a cut z is right to 4 eps z, which moves a power by
less than 1.6 eps z, z < 14, and an FNR e^-y, y < 576, by less than 4 eps y of itself, about as much as `tail_error` allows it."""
FINER, ROUNDS, ENOUGH = 64, 3, 1000
"""A cell in which a test may end is divided into so many, so often, unless there are so many such cells."""


def two_shifts(noise: str, delta: float, second: float, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The laws of cells of the whole line: without a shift, and with the shifts delta and second * delta, shape (2, cells)."""
    inside = np.stack([cell_law(noise, edges, s * delta) for s in (1.0, second)])
    return cell_law(noise, edges, 0.0), inside


def line(delta: float) -> np.ndarray:
    """Edges of cells of the whole line; a ratio changes by a few per cent from an edge to the next."""
    return np.concatenate([[-np.inf], cell_edges(delta, 0.016 / max(1.0, delta)), [np.inf]])


def ratios(
    noise: str, delta: float, second: float, edges: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of the ratio of a mixture of the two shifts in each cell: the ratios of both shifts are monotone."""
    with np.errstate(over="ignore"):
        ends = [np.exp(log_ratio(noise, edges[1:-1], s * delta, 1.0)) for s in (1.0, second)]
    # Beyond the last edges a ratio is anything on the side of its value there: that of a shift to the right rises.
    low, high = np.zeros(edges.size - 1), np.full(edges.size - 1, np.inf)
    low[1:-1], high[1:-1] = (
        weights @ np.stack([side(item[:-1], item[1:]) for item in ends]) for side in (np.minimum, np.maximum)
    )
    low[0] = weights @ [single[0] * (s < 0.0) for single, s in zip(ends, (1.0, second), strict=True)]
    low[-1] = weights @ [one[-1] * (s > 0.0) for one, s in zip(ends, (1.0, second), strict=True)]
    return low, high


def near_the_end(noise: str, delta: float, second: float, alpha: float, weights: np.ndarray) -> np.ndarray:
    """Edges that are finer where the best test at this FPR may end: it may be the few numbers next to a corner of the ratio."""
    edges = line(delta)
    for _ in range(ROUNDS):
        low, high = ratios(noise, delta, second, edges, weights)
        out = cell_law(noise, edges, 0.0)
        least, most = (_level(bound, out, alpha) for bound in (low, high))
        inner = np.isfinite(edges[:-1]) & np.isfinite(edges[1:])
        ends = inner & (high > low) & (low <= most) & (high >= least)
        if not ends.any() or ends.sum() > ENOUGH:
            break
        parts = np.arange(1, FINER) / FINER
        finer = edges[:-1][ends, None] + np.diff(edges)[ends, None] * parts
        edges = np.unique(np.concatenate([edges, finer.ravel()]))
    return edges


def _level(ratio: np.ndarray, out: np.ndarray, alpha: float) -> float:
    """The ratio at which a test that rejects the largest ones has this FPR."""
    order = np.argsort(ratio)
    # The share that is not rejected, whose digits matter where nearly all is.
    retained = np.cumsum(out[order])
    return float(ratio[order][min(int(np.searchsorted(retained, 1.0 - alpha)), ratio.size - 1)])


def tail_error(tail: np.ndarray) -> np.ndarray:
    """What float64 may be off in a tail probability e^-y: a few eps of it, and 4 eps y, as its exponent is rounded."""
    return EPS * (8.0 * tail - 4.0 * xlogy(tail, tail))


def mixed_powers(
    noise: str, delta: float, second: float, alpha: float, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of (TPR, FNR) of the best test at a single FPR between noise and a mixture of the two shifts, and what rounding may add.

    Cells hide something, so that their best test is weaker. It is stronger where each cell is split into the least and the
    largest ratio that it may hold, with its two probabilities retained.

    Returns the bounds, shape (2, 2), and the rounding of TPR and of FNR, shape (2,); see `_tails_off`.
    """
    edges = near_the_end(noise, delta, second, alpha, weights)
    out, inside = two_shifts(noise, delta, second, edges)
    mixed = weights @ inside
    low, high = ratios(noise, delta, second, edges, weights)
    most = _level(high, out, alpha)
    retained, ends = low <= most, (low <= most) & (high >= _level(low, out, alpha))
    low = np.where((out > 0.0) & np.isfinite(low), low, 0.0)
    upper, report = np.zeros(out.size), (out > 0.0) & np.isfinite(high) & (high > low)
    upper[report] = np.clip((mixed - low * out)[report] / (high[report] - low[report]), 0.0, out[report])
    rest = np.minimum(low * (out - upper), mixed)
    apart = best_test(np.concatenate([upper, out - upper]), np.concatenate([mixed - rest, rest]))
    result = np.array(
        [[float(c.tpr_at(alpha)), float(c.beta(alpha))] for c in (best_test(out, mixed), apart)]
    )
    tails = [_tails_off(noise, edges - shift, ends, retained) for shift in (0.0, delta, second * delta)]
    sums = (2 * out.size + 64) * EPS  # the pieces of a sum, and the total by which it is divided
    by_fpr = most * (sums * alpha + tails[0][0])  # the FPR at which a test ends: the power rises by its ratio
    powers = sums * np.array([1.0, result[:, 1].max()]) + weights @ np.array(tails[1:]) + by_fpr
    return result, powers


def _tails_off(noise: str, at: np.ndarray, ends: np.ndarray, kept: np.ndarray) -> tuple[float, float]:
    """What the tails at the edges of cells may add to the rounding of a probability, and to that of a probability over the retained cells.

    A cell's probability is the difference of two tails. Those of neighbours add up to the difference of the tails at their ends, with
    whatever error they have: only cells in which a test may end count, and where the left tail hands over to the right tail.
    """
    small = np.where(at >= 0.0, noise_named(noise).sf(at), noise_named(noise).cdf(at))
    both = np.zeros(at.size)
    both[:-1] += ends
    both[1:] += ends
    turn = int(np.searchsorted(at, 0.0))
    added = 2.0 * float(tail_error(small[turn]))
    counted = float(both @ tail_error(small))
    return counted + added, counted + added * bool(kept[turn - 1 : turn + 1].any())


def share_kept(noise: str, delta: float, second: float, alpha: float) -> Number:
    """Minus the share that a single test must lose of the advantages of the best tests against two shifts, on average, at a single FPR.

    Or of their FNRs, where that is more: either says little where a test sees nearly all, or nothing. A test that is the
    best against both shifts would lose nothing, however the two are weighed: of shifts of the same sign the one-sided test is (Karlin and
    Rubin). The record takes part for sure: a coin adds the same to both powers and changes no test.
    """
    if second > 0.0:
        return Number(0.0, route="one test is the best against both")
    law, far = noise_named(noise), -second * delta
    powers = law.sf(law.isf(alpha) - delta), law.cdf(law.ppf(alpha) + far)
    missed = law.cdf(law.isf(alpha) - delta), law.sf(law.ppf(alpha) + far)
    lost = []
    for best, which in ((np.array(powers) - alpha, 0), (np.array(missed), 1)):
        weights = 0.5 / best
        result, rounding = mixed_powers(noise, delta, second, alpha, weights / weights.sum())
        mixed, off = result[:, which], rounding[which] * weights.sum()
        share = (mixed - (alpha if which == 0 else 0.0)) * weights.sum()
        result = 1.0 - (share if which == 0 else 1.0 / share)
        off = off + ROUNDED / best.min() if which == 0 else off / share.min() ** 2 + ROUNDED_FNR
        # Where rounding has exchanged the bounds it is as large as they are apart.
        rounded = off + max(0.0, result[1] - result[0])
        lost.append((min(result) - rounded, max(result) + rounded))
    least, most = (max(0.0, max(item[k] for item in lost)) for k in (0, 1))
    return Number.between(-most, -least, route="likelihood ratios of cells, between two bounds")


def can_be_seen(noise: str, delta: float, second: float, alpha: float) -> bool:
    """Whether float64 holds the FNRs of both best tests, and the gain of the second is more than rounding."""
    far = abs(second) * delta
    if noise == "Gumbel":
        first = np.exp(np.log1p(-alpha) * np.exp(delta))
        other = (
            -np.expm1(np.log(alpha) * np.exp(-far)) if second < 0 else np.exp(np.log1p(-alpha) * np.exp(far))
        )
    else:
        cdf, quantile = {
            "Gaussian": (ndtr, ndtri),
            "logistic": (expit, logit),
            "Laplace": (_laplace_cdf, _laplace_quantile),
        }[noise]
        first, other = (cdf(-quantile(alpha) - shift) for shift in (delta, far))
    return abs(second) >= 0.01 and bool(min(first, other) > 1e-250)


def _laplace_cdf(x: float) -> float:
    return 0.5 * np.exp(-abs(x)) if x < 0.0 else 1.0 - 0.5 * np.exp(-x)


def _laplace_quantile(q: float) -> float:
    return np.log(2.0 * q) if q < 0.5 else -np.log(2.0 - 2.0 * q)


def single_test_for_both(noise: str, delta: float, second: float, alpha: float) -> Replication:
    """The one-sided test z > c beside the best test of each shift, whose power is k alpha + the integral of (f1 - k f0)+, k the ratio at c."""
    law = noise_named(noise)
    cut, lost = law.isf(alpha), []
    for shift in (delta, second * delta):
        k = float(np.exp(law.logpdf(cut - shift) - law.logpdf(cut)))
        pieces = [-60.0, *sorted((cut, 0.0, shift)), 60.0]
        above = sum(
            scipy.integrate.quad(
                lambda z, s=shift, k=k: max(law.pdf(z - s) - k * law.pdf(z), 0.0), a, b, epsabs=1e-13
            )[0]
            for a, b in itertools.pairwise(pieces)
        )
        best = k * alpha + above
        lost.append((best - float(law.sf(cut - shift))) / (best - alpha))
    worst = max(lost)
    return Replication(
        -worst,
        -worst - 1e-8,
        -worst + 1e-8,
        "minus the loss of the test z > c, as a share of the best test's advantage",
        "SciPy, quadrature of the densities",
    )


def composite_failure(noise: str, delta: float, rate: float, reach: float = 1.0) -> Number:
    """How far the composite ratio is from the larger one-sided ratio, from falling and then rising, from being the largest of all.

    So its rejection regions are two tails; where it is flat every single ratio is, so that a coin at a tie cannot
    matter. The negative shifts of the one-sided test r end at -reach * delta.

    Noise e^-h, h convex and least at 0, fails nowhere at reach 1: of the shifts between two numbers the shift nearest to z is the most
    likely, and the nearest among all is the nearest on a single side; h(z) - h(z - shift) rises from 0 on for shifts up to z and does so
    beyond, mirrored below; and it is flat only where h is linear, where all ratios are flat. What is seen otherwise is a lower bound.
    """
    z = np.linspace(-delta - 8.0, delta + 8.0, 1601)
    if noise == "Gumbel":
        z = z[z > -4.0]  # left of it the density is below 1e-20

    def largest(low: float, high: float) -> np.ndarray:
        # The density is highest at 0: the most likely shift is the shift nearest to z.
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
        route="convex h, and likelihood ratios at 1601 outputs and 401 shifts",
        detail="the composite ratio is the larger of the two one-sided ones, both monotone",
        unknown="" if reach == 1.0 else "above",
    )


SUBSAMPLED = "sub-sampled "
SAME = 1e-12
"""What rounding makes of a ratio that does not fall."""


def falls(mechanism: str, delta: float, rate: float, s: float, t: float, width: float = 1.0) -> Number:
    """How far the log ratio of the densities of two shifts, s < t, times delta, falls at most as z rises.

    Noise e^-h, h convex: the ratio of t to s rises; with a coin that of t >= 0 to no shift rises and that of s <= 0 falls, so that
    the ratio of such t to such s rises. Other falls are at least what is seen. The power of z > c rises with the shift in any case.
    The noise of the larger shift is `width` times as wide as the other's.
    """
    noise, rate = mechanism.removeprefix(SUBSAMPLED), rate if mechanism.startswith(SUBSAMPLED) else 1.0
    # Far out too, where the smallest shifts begin to fail.
    reach = delta + 40.0 / max(1e-5, min([1.0, *(abs(item) * delta for item in (s, t) if item != 0.0)]))
    z = reach * np.sinh(np.linspace(-9.0, 9.0, 4001)) / np.sinh(9.0)
    if rate == 1.0:
        ratio = log_ratio(noise, z - s * delta, (t - s) * delta, 1.0)
    else:
        ratio = log_ratio(noise, z, t * delta, rate) - log_ratio(noise, z, s * delta, rate)
    ratio += log_density(noise, (z - t * delta) / width) - log_density(noise, z - t * delta)
    fall = float((np.maximum.accumulate(ratio) - ratio).max())
    rises = width == 1.0 and (rate == 1.0 or s <= 0.0 <= t)
    return Number(
        fall,
        route="convex h, and densities at 4001 outputs" if rises else "densities at 4001 outputs",
        detail=f"the ratio falls by {fall:.3g} at least as z rises" if fall > SAME else "",
        unknown="" if rises else "above",
    )


def counted(mechanism: str, delta: float, rate: float, s: float, t: float) -> Replication:
    """A cell in which the ratio of two shifts has left 1, its limit on the side of the null, in the direction in which it must not."""
    noise, small, large, way = (
        mechanism.removeprefix(SUBSAMPLED),
        s * delta,
        t * delta,
        1.0 if s > 0.0 else -1.0,
    )
    grids = [np.linspace(-reach, reach, 4001) for reach in (4.0, 35.0)]
    seen = [-way * (log_ratio(noise, z, large, rate) - log_ratio(noise, z, small, rate)) for z in grids]
    z, fall = max(zip(grids, seen, strict=True), key=lambda single: single[1].max())
    if fall.max() < SAME:
        raise ValueError(
            "the ratio falls farther out only, where no cell has a probability that float64 holds"
        )
    edges = z[np.clip(fall.argmax() + np.array([-1, 1]), 0, z.size - 1)]
    first, other = (float(cell_law(noise, edges, shift, rate)[0]) for shift in (small, large))
    name, cell = (
        f"fall of log P(shift {large:.4g})/P(shift {small:.4g})",
        f"{edges[0]:.5g} < z < {edges[1]:.5g}",
    )
    what = f"{name} from 0, far left, to {cell}" if way > 0.0 else f"{name} from {cell} to 0, far right"
    return Replication(*near(way * float(np.log(first / other)), 1e-6), what, "SciPy, distribution functions")


def two_sided_power(noise: str, shift: float, alpha: np.ndarray | float) -> np.ndarray:
    """The power of the two one-sided tests of level alpha/2 each, from the distribution function."""
    law = noise_named(noise)
    return law.sf(law.isf(0.5 * alpha) - shift) + law.cdf(law.ppf(0.5 * alpha) - shift)


COIN = "ties are split by a coin, and r and r' have the same critical value of their likelihood ratios"
NO_COIN = (
    "no coin: a tie is rejected whole or accepted whole, as definition 2 builds a curve from a statistic"
)
HALVES = "r and r' have equal levels, alpha/2 each, as lemma 3 names a single alpha for both"
FREE = f"the estimate is any number, not only one in [-Delta, Delta]; {HALVES}"


def generalised_power(
    noise: str, delta: float, shift: float, alpha: np.ndarray, bend: float = 1.0, one_sided: bool = False
) -> np.ndarray:
    """The power of the generalised ratio at FPRs alpha from 1e-4, shape (m,): it rejects z < a and z > b of equal ratio.

    The estimate is z clipped to [-bend delta, delta], z itself where delta is infinite. Outputs of Laplace noise beyond delta tie and are split by a coin.
    With `one_sided` the ratio is the larger of r, whose shift is not below 0, and r', whose shift is not above.
    """
    law = noise_named(noise)

    def score(z: np.ndarray) -> np.ndarray:
        if one_sided:
            return np.maximum(
                *(log_ratio(noise, z, np.clip(z, *ends), 1.0) for ends in ((0.0, delta), (-delta, 0.0)))
            )
        return log_ratio(noise, z, np.clip(z, -bend * delta, delta), 1.0)

    def least(holds: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> np.ndarray:
        """By halving, where a condition begins to hold; `high` where it never does."""
        ends = [np.full(alpha.shape, low), np.full(alpha.shape, high)]
        for _ in range(46):  # to 1e-12
            middle = 0.5 * (ends[0] + ends[1])
            met = holds(middle)
            ends = [np.where(met, ends[0], middle), np.where(met, middle, ends[1])]
        return ends[1]

    def right_end(a: np.ndarray) -> np.ndarray:
        level = score(a)
        return least(lambda b: score(b) >= level, 0.0, 100.0)

    a = least(lambda a: law.cdf(a) + law.sf(right_end(a)) >= alpha, -30.0, 0.0)
    result = law.cdf(a - shift) + law.sf(right_end(a) - shift)
    tied = (alpha < np.exp(-delta)) & (noise == "Laplace")
    return np.where(tied, alpha * np.cosh(shift), result)


def power_gap(
    noise: str,
    delta: float,
    rate: float,
    nu: float,
    reading: str,
    against: str = "r and r'",
    bend: float = 1.0,
) -> Number:
    """How far the generalised ratio's power is from that of another test at a shift nu * delta, |nu| <= 1.

    The other test is the larger of the two one-sided ratios, the two one-sided tests of level alpha/2 each (`HALVES`, `FREE`), or |z|. `bend` < 1
    takes the smallest shifts from the estimate. Noise e^-h with h convex and least at 0: the generalised ratio is the larger one-sided
    ratio (see `composite_failure`); with h even it rises with |z|, strictly but for Laplace noise beyond delta, where a coin has the
    power of |z|; with any estimate (`FREE`) it is h(z) - h(0), which rises strictly with |z|. Then there is no gap at any FPR; other gaps are at least those at the FPRs that are looked at. The power is largest at
    |nu| = 1, as the integral of a log-concave density over a moving interval is log-concave in its place (Prekopa).
    """
    shift, tie = nu * delta, float(np.exp(-delta)) if noise == "Laplace" else 0.0
    # An FPR just below the probability of a tie, up to which a test without a coin rejects nothing.
    grid = ndtr(np.linspace(ndtri(FLOOR), -ndtri(FLOOR), 11))
    alpha = np.append(grid, (1.0 - 1e-9) * tie) if tie else grid
    reach = np.inf if reading == FREE else delta
    mine, size = generalised_power(noise, reach, shift, alpha, bend), alpha
    if reading == NO_COIN:
        mine, size = (np.where(alpha < tie, 0.0, item) for item in (mine, size))
    if against == "|z|" or reading in (HALVES, FREE):
        other = two_sided_power(noise, shift, alpha)
    else:
        other = generalised_power(noise, delta, shift, alpha, one_sided=True)
    gap = np.abs(rate * (mine - other) + (1 - rate) * (size - alpha))
    at = int(gap.argmax())
    same = (
        against == "|z|"
        or reading == COIN
        or (reading == NO_COIN and not tie)
        or (reading in (HALVES, FREE) and noise != "Gumbel")
    )
    return Number(
        float(gap[at]),
        route="the two ends of both tests, by distribution functions",
        detail=f"Of the FPRs that were looked at, the gap is largest at {alpha[at]:.3g}.",
        unknown="" if same and bend == 1.0 else "above",
    )


def scores_sampled(noise: str, delta: float, rate: float, nu: float, reading: str) -> Replication:
    """The statistics sampled: how far their powers differ at a single FPR."""
    rng, games, law = np.random.default_rng(0), 1_000_000, noise_named(noise)
    out, inside = (law.rvs(size=games, random_state=rng) + s for s in (0.0, nu * delta))
    how = f"NumPy, {games:,} draws a world, seed 0"
    if reading == NO_COIN:
        # The ratio takes its largest value with probability e^-delta, and has no test of a smaller FPR but the empty test.
        alpha = 0.999 * float(np.exp(-delta))
        cut, shift = law.isf(0.5 * alpha), nu * delta
        power = rate * float(law.sf(cut - shift) + law.cdf(-cut - shift)) + (1.0 - rate) * alpha
        tied = float((np.abs(out) >= delta).mean())
        return Replication(
            *(0.0, 0.0, 0.0), what=f"power of the generalised ratio at FPR {alpha:.3g}",
            how=f"{how}: its largest value has a share of {tied:.3g} of H0, and cannot be split", claim=power,
        )  # fmt: skip
    reach = np.inf if reading == FREE else delta
    scores = (
        lambda z: law.logpdf(z - np.clip(z, -reach, reach)) - law.logpdf(z),
        lambda z: -np.minimum(law.cdf(z), law.sf(z)),
    )
    first, other = (Draws(score(out), score(inside), how).power(0.1) for score in scores)
    seen = difference(
        *((p.value, p.low, p.high) for p in ((first, other) if first.value > other.value else (other, first)))
    )
    return Replication(*(rate * x for x in seen), what="difference of the powers at FPR 0.1", how=how)
