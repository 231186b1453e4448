"""Selection of a candidate by noisy scores: the exponential mechanism and permute-and-flip."""

from __future__ import annotations

import math

import numpy as np

from mipsim._validation import number, whole
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounded import BoundedTradeOff
from mipsim.tradeoff.bounded_range import adaptive_runs
from mipsim.tradeoff.bounds import log_complement
from mipsim.tradeoff.compose import MOST_STEPS, compose
from mipsim.tradeoff.convex_hull import convex_hull
from mipsim.tradeoff.laplace import AbstractNoiseShift, LaplaceTradeOff
from mipsim.tradeoff.loss_lattice import places
from mipsim.tradeoff.piecewise_linear import PiecewiseLinearTradeOff


class LogisticTradeOff(AbstractNoiseShift):
    """Telling logistic noise from its shift by mu scales: the odds of the TPR are e^mu times those of the FPR. Symmetric.

    Args:
        mu: the shift in scales of the noise, finite and >= 0.

    Source: Neyman and Pearson (1933), for a density ratio that rises.

    Examples:
        >>> LogisticTradeOff(1.0).beta([0.1, 0.5]).round(6).tolist()
        [0.768031, 0.268941]
    """

    def _logs(self, log_fpr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        odds = np.where(np.isneginf(log_fpr), -np.inf, self.mu + log_fpr - log_complement(log_fpr))
        return -np.logaddexp(0.0, odds), -np.logaddexp(0.0, -odds)


def exponential_mechanism(epsilon: float, runs: int = 1) -> AbstractTradeOff:
    """The curve of a candidate chosen with a probability in proportion to e^(epsilon x score / 2), any number of candidates, scores that move by <= 1.

    It is the largest of score + Gumbel noise of scale 2 / epsilon (Gumbel). Let A be the largest of a set of candidates, B that of all others: shifted Gumbel
    variables, A - B is logistic. Neighbours move each of A, B by at most 1. So the probability of the set is that of a logistic variable above a threshold that
    moves by at most 2, epsilon scales. Each point is reached, by two candidates with some gap whose scores move against each other.
    Several runs, which may depend on releases: see `mipsim.tradeoff.bounded_range.adaptive_runs`, whose ends are 0.1 to 1% apart. Beyond 4,000 runs or
    where runs x epsilon^2 is above 100, they are dominated by the composition, and the other end is that of two candidates, 15 to 25% below. Composed with other
    curves the upper end holds; the lower is of no single mechanism, since each point has its own gaps.

    Args:
        epsilon: in [0, 1e3]; the mechanism is epsilon-DP. Where all scores can only move the same way, half of it counts.
        runs: with fresh noise, >= 1.

    Raises:
        ValueError: if an argument is outside its range.

    Source: McSherry and Talwar (2007), "Mechanism design via differential privacy"; Dong, Durfee and Rogers (2020), "Optimal differential
    privacy composition for exponential mechanisms", for the largest delta of a run.

    Examples:
        >>> exponential_mechanism(1.0)
        LogisticTradeOff(mu=1.0)
        >>> [round(bound, 3) for bound in exponential_mechanism(0.1, runs=100).epsilon_bounds(1e-6)]
        [2.25, 2.252]
    """
    size, count = number("epsilon", epsilon, 0.0, 1e3), whole("runs", runs, 1, MOST_STEPS)
    if count > 1 and places(size, count):
        return adaptive_runs(size, count)
    return _runs(LogisticTradeOff(size), 1.0 / (1.0 + math.exp(0.5 * size)), runs)


def permute_and_flip(epsilon: float, runs: int = 1) -> AbstractTradeOff:
    """The curve of permute-and-flip with coins of probability e^(epsilon (score - largest) / 2), any number of candidates, scores that move by <= 1.

    It is the largest of score + exponential noise of rate r = epsilon / 2. Let A be the largest of a set of candidates, B that of all others. Of all noises in the
    set that end near x, exactly one passes x where the density of A counts, and at least one where its tail does: f_A(x) <= r P(A > x), likewise B.
    So D = A - B has f_D(t) = E f_A(t + B) <= r P(D > t), and <= r P(D < t). A Laplace variable of scale 1 / r has the smaller of both for its density, so that
    D = psi(Laplace) with a psi that rises at least as fast as its argument. Neighbours move D by at most 2: no more than the Laplace variable by 2 r = epsilon
    scales. Each point is reached by two candidates with some gap. Several runs are bounded as those of `exponential_mechanism`.

    Args:
        epsilon: in [0, 1e3]; the mechanism is epsilon-DP. Where all scores can only move the same way, half of it counts.
        runs: with fresh noise, >= 1.

    Raises:
        ValueError: if an argument is outside its range.

    Source: McKenna and Sheldon (2020), "Permute-and-flip"; Ding et al. (2021), "The permute-and-flip mechanism is identical to report-noisy-max with
    exponential noise".

    Examples:
        >>> permute_and_flip(1.0)
        LaplaceTradeOff(mu=1.0)
    """
    size = number("epsilon", epsilon, 0.0, 1e3)
    return _runs(LaplaceTradeOff(size), 0.5 * math.exp(-0.5 * size), runs)


def _runs(most: AbstractTradeOff, fpr: float, runs: int) -> AbstractTradeOff:
    """Of a run its curve; of several between that of composed curves and those of two candidates, with gaps for the points at this FPR and below."""
    count = whole("runs", runs, 1, MOST_STEPS)
    if count == 1:
        return most
    points = [(a, float(most.beta_bounds(a)[1])) for a in (fpr, fpr / 8.0, fpr / 64.0)]
    pairs = [PiecewiseLinearTradeOff([0.0, a, 1.0], [1.0, b, 0.0]) for a, b in points]
    less = convex_hull(*(compose(pair, copies=count) for pair in pairs))
    # Both ends are further apart than that.
    return BoundedTradeOff(compose(most, copies=count, accuracy=1e-3, epsilon_accuracy=1e-2), less)
