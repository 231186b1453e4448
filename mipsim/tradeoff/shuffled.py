"""Epochs of batches of records that are shuffled."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr

from mipsim._validation import number, whole
from mipsim.tradeoff.bounded import BoundedTradeOff
from mipsim.tradeoff.compose import compose
from mipsim.tradeoff.epochs import SQUARABLE
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.sampled import SampledTradeOff, with_trivial_tests

_THRESHOLDS = 4096  # of the largest release
_SLACK = 1e-11  # of the rates: logarithms down to e^-700 are right to 2e-13 of a rate, and log Phi to some units of itself
_FARTHEST = 37.0  # standard deviations of the largest release, where rates are float64's least
_LEAST = 1e-290  # a rate below it would be taken for a certain test


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
    fpr, tnr, fnr, tpr = (rate[(fpr > _LEAST) & (fnr > _LEAST)] for rate in (fpr, tnr, fnr, tpr))
    least = SampledTradeOff.from_points(*with_trivial_tests((fpr, tnr, fnr, tpr)), slack=_SLACK)
    return BoundedTradeOff(most, compose(least, copies=times, accuracy=1e-3, epsilon_accuracy=1e-3))
