"""What the divisor of a noisy sum tells: how many records came, or how many there are.

Division by a number that is the same in both worlds tells nothing. Any other scales the noise: in d coordinates its squared norm has a
relative deviation of (2 / d)^(1/2), so that in large dimensions two divisors are always distinguished.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv, ndtr

from mipsim._validation import whole
from mipsim.tradeoff.approx_dp import ApproxDPTradeOff
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounded import BoundedTradeOff
from mipsim.tradeoff.bounds import EPS
from mipsim.tradeoff.compose import compose
from mipsim.tradeoff.privacy_loss import PrivacyLossDistribution
from mipsim.tradeoff.sampled import SampledTradeOff, with_trivial_tests
from mipsim.tradeoff.schemes import UNKNOWN

_POINTS, _SPREAD = 1 << 12, 14.0
"""Thresholds, and standard deviations of a batch's size beyond which less than e^-90 lies."""
_UNDERFLOW = 1e-300  # more than all sizes together lose of a rate
_SLACK = 1e-11  # relative: rounding of the rates of a threshold


def norm_test(dimension: int, more_noise: float, less_noise: float, fpr: float) -> float:
    """The TPR of the better test of the noise's norm at an FPR, in (0, 1), of N(0, I / c^2) in this dimension for two divisors c.

    >>> round(norm_test(1000, 9, 10, 1e-5), 3), round(norm_test(1000, 9, 10, 1e-5), 3) < norm_test(10_000, 99, 101, 1e-5)
    (0.717, False)
    """
    square = (less_noise / more_noise) ** 2
    half = 0.5 * dimension  # half of a chi-square is a gamma variable of this shape
    large, small = gammainccinv(half, fpr), gammaincinv(half, fpr)
    return float(max(gammaincc(half, large / square), gammainc(half, small * square)))


def divided(
    curves: list[AbstractTradeOff],
    phases: Sequence[tuple[float, float, int]],
    *,
    normalise: str,
    data_size: int | None,
    dimension: int | None,
    neighbours: str,
    sampling: str,
    group: int,
) -> tuple[list[AbstractTradeOff], str]:
    """The curve of each phase, (noise, rate, steps), with what its divisor tells, and this in words; the arguments are those of `mipsim.account`.

    Raises:
        ValueError: if no curve is proven.

    >>> from mipsim.tradeoff import GaussianTradeOff
    >>> how = {"data_size": 105, "dimension": None, "neighbours": "remove", "sampling": "poisson", "group": 1}
    >>> divided([GaussianTradeOff(0.5)], [(2.0, 0.1, 1)], normalise="floor", **how)[0]
    [GaussianTradeOff(mu=0.5)]
    """
    if normalise != "expected" and group != 1:
        raise ValueError(f"group is {group} with normalise {normalise!r}; proven is 1")
    if normalise == "realised" and sampling not in ("poisson", "fixed_size", "shuffled"):
        raise ValueError(
            f"normalise is 'realised' with sampling {sampling!r}; proven is 'poisson', and batches of equal size tell nothing"
        )
    sized = depends_on_size(normalise, sampling, neighbours)
    refused = sized and normalise == "floor"  # in a sentence with the dimension
    for name, value in (
        ("data_size", None if sized else data_size),
        ("dimension", None if refused else dimension),
    ):
        if value is not None:
            raise ValueError(
                f"{name} is {value}, which counts for nothing with normalise {normalise!r}, sampling {sampling!r} and neighbours {neighbours!r}; leave it out"
            )
    if normalise == "expected":
        return curves, ""
    if normalise == "floor":
        for _, rate, _ in phases if neighbours != "replace" else ():
            _refuse_other_floor(rate, data_size, dimension, grows=neighbours != "remove")
        return (
            curves,
            "sums are divided by the floor of the rate times the records, which is the same for these neighbours",
        )
    if sampling != "poisson":
        return curves, "sums are divided by the records that came, which are as many in each batch"
    if neighbours == "replace":
        raise ValueError(
            f"normalise is 'realised' with neighbours 'replace'; proven are remove, add, add_or_remove{UNKNOWN}"
        )
    if data_size is None:
        raise ValueError(
            "normalise is 'realised', and the size of the batch that came is hidden by no noise where the dimension is large; "
            "give data_size for a bound that holds in every dimension"
        )
    curve = of_batch(phases, data_size)
    return (
        [curve.inverse() if neighbours == "add" else curve],
        "sums are divided by the records that came; upper ends hold in any dimension, lower ends are of the worst case, which large ones approach",
    )


def depends_on_size(normalise: str, sampling: str, neighbours: str) -> bool:
    """Whether it matters how many records there are.
    >>> depends_on_size("realised", "fixed_size", "remove"), depends_on_size("floor", "fixed_size", "remove")
    (False, True)
    """
    return (normalise == "realised" and sampling == "poisson") or (
        normalise == "floor" and neighbours != "replace"
    )


def _refuse_other_floor(rate: float, n: int | None, dimension: int | None, *, grows: bool) -> None:
    """Raise ValueError unless floor(rate n) of n records is that of a record less, and of a record more where data that are at hand may grow."""
    if n is None:
        raise ValueError(
            "normalise is 'floor', and a record added or removed may change the divisor; give data_size"
        )
    # A product that misses a whole number by rounding, such as 49 x (1 / 49), is below it in code.
    floors = sorted(
        math.floor(rate * size * by) for size in (n - 1, n, n + grows) for by in (1.0, 1.0 + 1e-12)
    )
    if floors[0] == 0:
        raise ValueError(
            f"normalise is 'floor', but floor({rate:g} x {n}) or that of a record less is 0; no sum is divided by 0"
        )
    if floors[0] < floors[-1]:
        d = 1000 if dimension is None else dimension
        raise ValueError(
            f"normalise is 'floor', and neighbours divide by {floors[0]} or {floors[-1]}: no number holds in every dimension; in d = {d} "
            f"a test of the noise's norm has TPR {norm_test(d, floors[0], floors[-1], 1e-5):.3f} at FPR 1e-05 in a step"
        )


def of_batch(phases: Sequence[tuple[float, float, int]], data_size: int) -> AbstractTradeOff:
    """The curve of Poisson samples of `data_size` records or one less, whose noisy sums are divided by the records that came.

    Beside the noisy sum let the size b of the batch be seen; the quotient is a function of both. Of the other m records B come, a
    binomial number. Without the target b = B; with it, with probability q, b = B + 1. Given b, choose b - 1 of the others and another of
    them: the sum without the target has this other record, the sum with it the target, and they differ by v, of norm at most 2 clips.
    So a randomised function of (b, z) makes both worlds, where z is N(0, 1) in "out", and with probability q N(2 / s, 1) beside a binomial
    number moved by 1 in "in". More others add a binomial number to both. No function makes worlds easier to tell apart; steps may use
    all releases before, and compose: that is the lower curve, in any dimension.

    The upper curve is of a worst case: the target contributes v / 2, all others -v / 2, so that the sums differ by v given b, and further
    coordinates hold noise alone, whose norm shows b the better the more they are. But where nothing came, code may divide by 1: a test
    says "out" at sizes below 2. As a limit of such cases, no curve above it holds in every dimension.

    Source: Dong, Roth and Su (2022), "Gaussian differential privacy", on post-processing and composition.
    """
    others = whole("data_size", data_size, 2, 10**8) - 1
    ends = [
        _steps(2.0 / noise, rate, others)
        if 0.0 < rate < 1.0
        else (ApproxDPTradeOff(0.0, rate),) * 2  # all come: the sizes tell all
        for noise, rate, _ in phases
    ]
    copies = [steps for *_, steps in phases]
    return BoundedTradeOff(*(compose(*curves, copies=copies) for curves in zip(*ends, strict=True)))


def binomial_near(n: int, p: float, spread: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Numbers near n p, how likely each is, and a bound of the relative errors; what is farther off must have no weight.
    >>> numbers, masses, off = binomial_near(4, 0.5, 9.0)
    >>> numbers.tolist(), masses.tolist(), off < 1e-13
    ([0, 1, 2, 3, 4], [0.0625, 0.25, 0.375, 0.25, 0.0625], True)
    """
    m = np.arange(max(0, int(n * p - spread)), min(n, int(n * p + spread)) + 1)
    middle = min(int(np.searchsorted(m, n * p)), m.size - 1)
    rise = (n - m[:-1]) / m[1:] * (p / (1.0 - p))
    mass = np.concatenate([np.cumprod(1.0 / rise[:middle][::-1])[::-1], [1.0], np.cumprod(rise[middle:])])
    return m, mass / mass.sum(), 8.0 * EPS * m.size


def _steps(shift: float, q: float, others: int) -> tuple[SampledTradeOff, SampledTradeOff]:
    """Polygons that reveal more than a step, and less: through and between its own tests, each rate rounded to that side."""
    m, mass, off = binomial_near(others, q, _SPREAD * math.sqrt(q * (1.0 - q) * others) + _SPREAD**2)
    sizes = np.append(m, m[-1] + 1).astype(float)
    out, moved = np.append(mass, 0.0), np.append(0.0, mass)
    lost = 1e-38  # mass of the sizes that are left out
    with np.errstate(divide="ignore"):  # -inf where no target can be in the batch, inf where it must
        shown = np.log(sizes) - np.log(others + 1.0 - sizes) + math.log1p(-q) - math.log(q)
    slack = _SLACK + off
    finite = shown[np.isfinite(shown)]
    reach = 0.5 * shift**2 + 38.0 * shift + np.abs(finite).max()
    thresholds = np.unique(
        np.concatenate([np.linspace(-reach, reach, _POINTS), np.linspace(-6.0, 6.0, _POINTS)])
    )[::-1]
    rates, few = [], sizes < 2.0
    for part in np.array_split(thresholds, 64):
        # Where the loss of a target that is in the sample passes it.
        z = (part[:, None] - shown) / shift + 0.5 * shift
        fpr, tnr, caught, missed = (
            mass * ndtr(sign * (z - by))
            for mass, by, sign in (
                (out, 0.0, -1.0),
                (out, 0.0, 1.0),
                (moved, shift, -1.0),
                (moved, shift, 1.0),
            )
        )
        tpr, fnr = (1.0 - q) * fpr + q * caught, (1.0 - q) * tnr + q * missed
        rates.append(
            [np.sum(x, axis=1) for x in (fpr, tnr, fnr, tpr)]
            + [np.sum(x, axis=1, where=~few) for x in (fpr, tpr)]
            + [np.sum(x, axis=1, where=few) for x in (fpr, tpr)]
        )
    fpr, tnr, fnr, tpr, fpr_less, tpr_less, fpr_few, tpr_few = (
        np.concatenate(x) for x in zip(*rates, strict=True)
    )
    fewer, more = 1.0 - slack, 1.0 + slack
    ends = [
        (fpr * fewer, tnr * more + lost, fnr * fewer, tpr * more + lost),
        (
            fpr_less * more + _UNDERFLOW,
            (tnr + fpr_few) * fewer,
            (fnr + tpr_few) * more + lost,
            tpr_less * fewer,
        ),
    ]
    sure = q * float(moved[np.isposinf(shown) & ~few].sum()) * fewer
    polygons = [
        SampledTradeOff.from_points(*with_trivial_tests((np.minimum(x, 1.0) for x in rounded), mass))
        for rounded, mass in zip(ends, (0.0, sure), strict=True)
    ]
    return PrivacyLossDistribution.below_polygon(polygons[0]).tradeoff(), polygons[1]
