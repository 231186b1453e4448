"""Epochs in which each record takes part in random steps: in one by laws of sums, in several between blocks and a test by a sum of scores."""

from __future__ import annotations

import math

import numpy as np

from mipsim._validation import number, whole
from mipsim.sums.lattice import Circle, Measure, Power
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounded import BoundedTradeOff
from mipsim.tradeoff.bounds import EPS
from mipsim.tradeoff.compose import compose
from mipsim.tradeoff.convex_hull import convex_hull
from mipsim.tradeoff.epochs import SQUARABLE, single_epoch
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.sampled import SampledTradeOff, with_trivial_tests
from mipsim.tradeoff.step_laws import MixedGaussian

_NOISES, _MOST_STEPS = (1.0 / 30.0, 1e4), 1_000_000
_FAR = 38.0  # standard deviations of a step: what lies beyond has a mass below 1e-300
_TAIL = 45.0  # what lies beyond a circle has at most e^-45
_PLACES, _BLOCKS = 1 << 15, 1 << 12
_MOST_PLACES, _FINE = (
    1 << 18,
    0.25,
)  # of a lattice, and the share of a score's deviation below which its step stays if it can
_COARSEST = 300.0  # e-folds of a step of a lattice, which then shows nothing
_SLOPES = 2.0 ** np.arange(-10.0, 14.0)
_ODDS = 1.0, 1.0 / 4.0, 1.0 / 16.0  # times those of q: tests of rarer rates
Masses = list[tuple[np.ndarray, int]]


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

    Of several steps, a uniform set, no closed form is known: the curve lies between ends that are further apart, see `_several`. Simulated curves lie near the
    lower end. Of all steps it is a Gaussian shift.

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

    >>> [round(end, 2) for end in _several(1.0, 3, 2).epsilon_bounds(0.01)]  # 2.9976 by quadrature
    [2.98, 3.23]
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


class _Scores(MixedGaussian):
    """A shift by mu, in cells of the score log(1 - q + q y), y the density ratio of the shift."""

    def __init__(self, mu: float, q: float) -> None:
        super().__init__(mu, 1.0, _FAR)
        self.score = MixedGaussian(mu, q)

    def outcome(self, loss: np.ndarray) -> np.ndarray:
        return self.score.outcome(loss)


def additive_test(mu: float, steps: int, selected: int, q: float) -> SampledTradeOff:
    """A curve nowhere below that of the test by the sum of scores, FPR and FNR rounded up by all that the computation may have changed.

    Scores are rounded to a lattice by their very definition: the laws of the sum have no other error than that of transforms.

    >>> additive_test(1.0, 2, 1, 0.5).advantage() < random_allocation(1.0, 2).advantage()
    True
    """
    law = _Scores(mu, q)
    least, most = float(law.score.ends[0]), float(law.score.loss(np.array([mu + _FAR]))[0])
    line = law.outline
    scores = law.score.loss(line.losses / mu + 0.5 * mu)
    coarse: list[Masses] = [
        [(line.log_out, steps)],
        [(line.log_out, steps - selected), (line.log_in, selected)],
    ]
    tilts = [(0, 0.0), (0, 1.0), (1, 0.0), (1, -1.0)]
    windows = [_window(scores, coarse[side], tilt) for side, tilt in tilts]
    low, high = min(ends[0] for ends in windows), max(ends[1] for ends in windows)
    middle = np.average(scores, weights=np.exp(line.log_out))
    fine = _FINE * math.sqrt(np.average((scores - middle) ** 2, weights=np.exp(line.log_out)))
    places = _PLACES if high - low < fine * _PLACES else _MOST_PLACES
    step = (high - low) / (places - 64)
    if step > _COARSEST:
        return SampledTradeOff.from_points(*np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    # A score beyond the window is rounded to its end.
    last = math.ceil((most - least) / step) + 1
    nodes = np.append(np.arange(min(last, places)), last)
    cells = law.cells(nodes, least, step)[0]
    laws: list[Masses] = [
        [(cells.log_out, steps)],
        [(cells.log_out, steps - selected), (cells.log_in, selected)],
    ]
    offset = least + 0.5 * step
    circle = Circle(math.floor((low - steps * offset) / step) - 32, places, _BLOCKS)
    # Lower and upper bounds of P(sum >= threshold) and of P(sum < threshold), the better of both tilts.
    off = 1.01 * steps * (cells.rounding + 8.0 * EPS)
    known = [
        _tails(laws[side], tilt, offset, step, circle, ends[2], off)
        for (side, tilt), ends in zip(tilts, windows, strict=True)
    ]
    (fpr, tnr), (tpr, fnr) = (
        (
            np.fmin(*(k[0][1] for k in pair)) if side == 0 else np.fmax(*(k[0][0] for k in pair)),
            np.fmax(*(k[1][0] for k in pair)) if side == 0 else np.fmin(*(k[1][1] for k in pair)),
        )
        for side, pair in enumerate((known[:2], known[2:]))
    )
    fpr, tnr = np.clip(np.minimum(fpr, 1.0 - tnr), 0.0, 1.0), np.clip(np.maximum(tnr, 1.0 - fpr), 0.0, 1.0)
    fnr, tpr = np.clip(np.minimum(fnr, 1.0 - tpr), 0.0, 1.0), np.clip(np.maximum(tpr, 1.0 - fnr), 0.0, 1.0)
    return SampledTradeOff.from_points(*with_trivial_tests((fpr, tnr, fnr, tpr)), slack=1e-13)


def _window(scores: np.ndarray, masses: Masses, tilt: float) -> tuple[float, float, tuple[float, float]]:
    """Where the tilted sum lies, about, and the shifts of tilt that show it."""

    def log_moment(at: float) -> float:
        return sum(count * float(np.logaddexp.reduce(logs + at * scores)) for logs, count in masses)

    base, ends = log_moment(tilt), []
    for sign in (-1.0, 1.0):
        reach = [(log_moment(tilt + sign * s) - base + _TAIL) / s for s in _SLOPES.tolist()]
        best = int(np.argmin(reach))
        ends.append((sign * reach[best], float(_SLOPES[best])))
    return ends[0][0], ends[1][0], (ends[0][1], ends[1][1])


def _tails(
    masses: Masses,
    tilt: float,
    offset: float,
    step: float,
    circle: Circle,
    shifts: tuple[float, float],
    off: float,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """(Lower, upper) bounds of P(sum >= loss) and of P(sum < loss) at the blocks of a circle."""
    terms = []
    for logs, count in masses:
        index = np.arange(logs.size)
        logs = logs + tilt * (offset + step * index)
        top = float(logs.max())
        weights = np.exp(np.maximum(logs - top, -700.0))
        total = float(weights.sum())
        terms.append((Measure(index, weights / total, offset, step, tilt, top + math.log(total)), count))
    power = Power(terms, circle, shifts)
    scale = power.log_scale - tilt * power.centre
    result = []
    for value, error in power.tails(-tilt):
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            low = np.exp(np.log(np.maximum(value - error, 0.0)) + scale) * (1.0 - off)
            high = np.exp(np.log(value + error) + scale) * (1.0 + off) + 1e-290
        result.append((np.nan_to_num(low, nan=0.0), np.nan_to_num(high, nan=1.0, posinf=1.0)))
    return result
