"""Epochs in which each record takes part in random steps, by its own choice or in batches that are shuffled."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr

from mipsim._validation import number, whole
from mipsim.tradeoff.additive_test import additive_test
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounded import BoundedTradeOff
from mipsim.tradeoff.compose import compose
from mipsim.tradeoff.convex_hull import convex_hull
from mipsim.tradeoff.epochs import SQUARABLE, single_epoch
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.sampled import SampledTradeOff, with_trivial_tests

_NOISES, _MOST_STEPS = (1.0 / 30.0, 1e4), 1_000_000
_ODDS = 1.0, 1.0 / 4.0, 1.0 / 16.0  # times those of q: tests of rarer rates
_THRESHOLDS = 4096  # of the largest release of shuffled batches
_SLACK = 1e-11  # of their rates: logarithms down to e^-700 are right to 2e-13 of a rate, and log Phi to some units of itself
_FARTHEST = 37.0  # standard deviations of the largest release, where rates are float64's least
_LEAST = 1e-290  # a rate below it would be taken for a certain test


def random_allocation(
    noise_multiplier: float, steps: int, selected: int = 1, epochs: int = 1
) -> AbstractTradeOff:
    """The curve of epochs of `steps` Gaussian releases; the target takes part in a single release of each, sampled uniformly, or in several.

    The world "out", the null, is without the target. What is assumed: the step is sampled before the epoch, independently of all else;
    a release is a *sum* of clipped contributions and N(0, s^2) noise (s in units of the clipping norm), or a function of it; a sum
    divided by the number of records that happen to be in it is not. Steps may depend on all releases before, and every release is seen.

    *It is dominated by, and may be, P = (1/t) sum_i N(e_i / s, I) against Q = N(0, I) in t dimensions.* Fix what the other records
    do and the randomness that is shared. Given the releases before step i, the sum without the target is some a, and the target would
    add some v of norm c <= 1. From the coordinate z_i make the release a + s (u (c z_i + (1 - c^2)^(1/2) g) + the part of a fresh
    normal vector across u), with u = v / c and g a fresh normal number: it is N(a, s^2 I) where z_i is N(0, 1), and N(a + v, s^2 I) where
    it is N(1/s, 1). So a single randomised function, whose steps use the releases before, makes the whole epoch from z, in both worlds. No
    function makes worlds easier to tell apart. A mixture over what was fixed, known to the attacker or not, keeps the bound. It is
    reached where all contributions but the target's are 0 and its own is a constant of norm 1.

    The density ratio of P to Q at z is S = (Y_1 + ... + Y_t) / t, Y_i = e^(z_i / s - 1 / (2 s^2)): independent and of mean 1 under Q. The
    deltas of the two directions are E_Q (S - e^epsilon)_+ and E_Q (1 - e^epsilon S)_+, convex functions of S. Hence a law that is larger
    in the convex order reveals more. Sums of independent variables keep that order.

    - *More*: each value is split between the two nodes of a grid around it, which keeps its mean.
    - *Less*: all values in a cell of the grid become their mean.

    Sums are made of two halves again and again; after each the values are rounded to new nodes, dense where either world has its mass.
    All sums are of positive numbers, so that masses keep their relative accuracy far out. The mean of a cell is known to some
    units in its last place only, which shifts the values in it by as much, some of them across its border; a small share of each cell
    is therefore split between the *next* nodes, which outweighs it. See `mipsim.tradeoff.epochs` for these bounds.

    Of several steps, a uniform set, no closed form is known: the curve lies between ends that are further apart, see `_several`. Of an epsilon at delta 1e-5
    they differ by up to 14% at noise 0.5, 8% at noise 1, 3% at noise 2 and 1% at noise 4. Simulated curves lie near the lower end. Of all steps it is a
    Gaussian shift.

    Args:
        noise_multiplier: s, in [1/30, 1e4]; in [1e-100, 1e100] where the target takes part in all steps.
        steps: t, of an epoch, in [1, 1e6].
        selected: in how many of them the target takes part, from 1 to t.
        epochs: each with a fresh sample, >= 1.

    Returns:
        The curve between those of two finite laws. Its inverse has "in" as null.

    Raises:
        ValueError: if an argument is outside its range.

    Source: Feldman and Shenfeld (2025), "Privacy amplification by random allocation", and (2026), "Efficient privacy loss accounting
    for subsampling and random allocation"; Chua et al. (2025), "Balls-and-bins sampling for DP-SGD".

    Examples:
        >>> [round(bound, 3) for bound in random_allocation(1.0, 10).epsilon_bounds(1e-5)]
        [2.189, 2.189]
        >>> [round(bound, 2) for bound in random_allocation(1.0, 100, selected=10).epsilon_bounds(1e-5)]
        [5.78, 6.12]
    """
    count, times = whole("steps", steps, 1, _MOST_STEPS), whole("epochs", epochs, 1)
    chosen = whole("selected", selected, 1, count)
    sigma = number("noise_multiplier", noise_multiplier, *(SQUARABLE if count == chosen else _NOISES))
    if count == chosen:  # it is in every step
        return GaussianTradeOff.of_squares([(GaussianTradeOff.of_noise(1.0, sigma), count * times)])
    if chosen > 1:
        return _several(sigma, count, chosen, times)
    # A single epoch is hardly known better.
    return compose(single_epoch(sigma, count), copies=times, accuracy=5e-4, epsilon_accuracy=2e-3)


def _several(sigma: float, steps: int, selected: int, epochs: int = 1) -> AbstractTradeOff:
    """The curve of epochs in each of which the target takes part in `selected` of `steps` Gaussian releases, a uniform set; see `random_allocation`.

    By its argument the pair is N(0, I) against the mean over all sets S of N(e_S / s, I), e_S with a 1 for each step of S.

    *More.* Part the steps at random into `selected` blocks of equal sizes, or sizes that differ by 1, and choose a step in each: all sets are equally
    likely. If the attacker knows the parts, he sees a random step in each of independent blocks, and no less than without (convexity).

    *Less.* Given S the scores log(1 - q + q y) of the steps, y their density ratios, are independent, and the law of their sum is the same for all S. So FPR
    and TPR of a test by the sum are tails of powers of two laws of a step. Of several q, which need not be the rate, the hull is taken.

    Source: Feldman and Shenfeld (2025), "Privacy amplification by random allocation", for the blocks; the test is ours.
    """
    size, larger = divmod(steps, selected)
    blocks = {size: epochs * (selected - larger)} | ({size + 1: epochs * larger} if larger else {})
    more = compose(
        *(single_epoch(sigma, terms) for terms in blocks),
        copies=list(blocks.values()),
        accuracy=5e-4,
        epsilon_accuracy=2e-3,
    )
    odds, mu = selected / (steps - selected), 1.0 / sigma
    shares = [odds * factor for factor in (math.exp(min(0.5 * mu * mu, 27.0)), *_ODDS)]
    tests = [additive_test(mu, steps, selected, share / (1.0 + share)) for share in shares]
    return BoundedTradeOff(
        more, compose(convex_hull(*tests), copies=epochs, accuracy=1e-3, epsilon_accuracy=1e-2)
    )


def shuffled(
    noise_multiplier: float, steps: int, epochs: int = 1, *, replace: bool = False
) -> BoundedTradeOff:
    """Bounds of the curve of epochs of `steps` Gaussian releases, each of a batch of records that are shuffled before each epoch.

    The world "out", the null, has a record of zeros in the target's place, or with `replace` another record. Batches are of equal size,
    and a release is a sum, as in `random_allocation`. Steps may depend on all releases before.

    *It leaks at most* what is leaked where the batches are known: then the target is in a single release an epoch, a Gaussian mechanism with
    a shift by 1 / s (2 / s for `replace`), and the others depend on it through the releases before only.

    *It leaks at least* what these records show by the largest release of an epoch, M: all but the target are -1, the target is 1, and
    the releases before are not used. In units of s, less what is the same in both worlds, a single release of each epoch is N(2 / s, 1) for
    "in" and N(1 / s, 1) for "out" (N(0, 1) for `replace`), the others N(0, 1), and P(M <= c) is a product of distribution
    functions. The tests "M > c", mixed, are the curve of an epoch; epochs are independent. So it is a bound of the worst case over
    records and gradients, and no bound for all of them.

    Both ends may be far apart: no closer pair is proven.

    `noise_multiplier`: s, in [1e-100, 1e100]; `steps`: of an epoch, >= 1; `epochs`: >= 1; `replace`: whether another
    record takes the target's place.

    Source: Chua et al. (2024), "How private are DP-SGD implementations?", for both ends of a single epoch, and (2024), "Scalable
    DP-SGD: shuffling vs. Poisson subsampling", for the lower end of several.
    """
    sigma = number("noise_multiplier", noise_multiplier, *SQUARABLE)
    count, times = whole("steps", steps, 1), whole("epochs", epochs, 1)
    shift, other = 2.0 / sigma, (0.0 if replace else 1.0 / sigma)
    most = compose(GaussianTradeOff(shift - other), copies=times)
    if count == 1:
        return BoundedTradeOff(most, most)
    c = np.linspace(-_FARTHEST, shift + _FARTHEST, _THRESHOLDS)
    rest = (count - 1) * log_ndtr(c)
    below = [log_ndtr(c - mean) + rest for mean in (other, shift)]
    with np.errstate(under="ignore"):
        (tnr, fpr), (fnr, tpr) = ((np.exp(logs), -np.expm1(logs)) for logs in below)
    # A rate that underflows would be taken for a certain test.
    fpr, tnr, fnr, tpr = (rate[(fpr > _LEAST) & (fnr > _LEAST)] for rate in (fpr, tnr, fnr, tpr))
    least = SampledTradeOff.from_points(*with_trivial_tests((fpr, tnr, fnr, tpr)), slack=_SLACK)
    return BoundedTradeOff(most, compose(least, copies=times, accuracy=1e-3, epsilon_accuracy=1e-3))
