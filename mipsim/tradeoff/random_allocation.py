"""Epochs in which each record takes part in random steps, by its own choice."""

from __future__ import annotations

import math

from mipsim._validation import number, whole
from mipsim.tradeoff.additive_test import additive_test
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounded import BoundedTradeOff
from mipsim.tradeoff.compose import compose
from mipsim.tradeoff.convex_hull import convex_hull
from mipsim.tradeoff.epochs import SQUARABLE, single_epoch
from mipsim.tradeoff.gaussian import GaussianTradeOff

_NOISES, _MOST_STEPS = (1.0 / 30.0, 1e4), 1_000_000
_ODDS = 1.0, 1.0 / 4.0, 1.0 / 16.0  # times those of q: tests of rarer rates


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
    deltas of the two directions are E_Q (S - e^epsilon)_+ and E_Q (1 - e^epsilon S)_+, convex functions of S. Hence a distribution that is larger
    in the convex order reveals more. Sums of independent variables keep that order.

    - *More*: each value is split between the two nodes of a grid around it, which keeps its mean.
    - *Less*: all values in a cell of the grid become their mean.

    Sums are made of two halves again and again; after each the values are rounded to new nodes, dense where either world has its mass.
    All sums are of positive numbers, so that masses keep their relative accuracy far out. The mean of a cell is known to some
    units in its last place only, which shifts the values in it by as much, some of them across its border; a small share of each cell
    is therefore split between the *next* nodes, which outweighs it. See `mipsim.tradeoff.epochs` for these bounds.

    *Several steps, a uniform set S.* By the same argument the pair is N(0, I) against the mean over all S of N(e_S / s, I), e_S with a 1 for each step of S. No closed
    form is known. It is dominated as follows: part the steps at random into blocks of equal sizes, or sizes that differ by 1, and choose a step in each. All sets
    are equally likely. If the attacker knows the parts, he sees a random step in each of independent blocks, and no less than without (convexity). The other end is
    that of tests by a sum of scores. Of an epsilon at delta 1e-5 both ends differ by up to 14% at noise 0.5, 8% at noise 1, 3% at noise 2 and 1% at noise 4.
    Simulated curves lie near the lower end. Of all steps it is a Gaussian shift.

    Args:
        noise_multiplier: s, in [1/30, 1e4]; in [1e-100, 1e100] where the target takes part in all steps.
        steps: t, of an epoch, in [1, 1e6].
        selected: in how many of them the target takes part, from 1 to t.
        epochs: each with a fresh sample, >= 1.

    Returns:
        The curve between those of two finite distributions. Its inverse has "in" as null.

    Raises:
        ValueError: if an argument is outside its range.

    Source: Feldman and Shenfeld (2025), "Privacy amplification by random allocation", and (2026), "Efficient privacy loss accounting
    for subsampling and random allocation"; Chua et al. (2025), "Balls-and-bins sampling for DP-SGD"; the test by sums is ours.

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
    size, larger = divmod(count, chosen)
    blocks = {size: times * (chosen - larger)} | ({size + 1: times * larger} if larger else {})
    parts = [single_epoch(sigma, terms) for terms in blocks]
    # A single epoch is hardly known better.
    more = compose(*parts, copies=list(blocks.values()), accuracy=5e-4, epsilon_accuracy=2e-3)
    return more if chosen == 1 else BoundedTradeOff(more, _by_sums(1.0 / sigma, count, chosen, times))


def _by_sums(mu: float, steps: int, selected: int, epochs: int) -> AbstractTradeOff:
    """What tests by sums of scores reveal of a uniform set of `selected` steps.

    Given the set, the scores log(1 - q + q y) of the steps, y their density ratios, are independent, and the distribution of their sum is the same for all sets. So
    FPR and TPR of a test by the sum are tails of powers of two distributions of a step. Of several q, which need not be the rate, the hull is taken.
    """
    odds = selected / (steps - selected)
    shares = [odds * factor for factor in (math.exp(min(0.5 * mu * mu, 27.0)), *_ODDS)]
    tests = [additive_test(mu, steps, selected, share / (1.0 + share)) for share in shares]
    return compose(convex_hull(*tests), copies=epochs, accuracy=1e-3, epsilon_accuracy=1e-2)
