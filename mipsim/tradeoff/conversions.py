"""Numbers that a trade-off function is summarised by."""

from __future__ import annotations

import math
import warnings
from itertools import pairwise

import numpy as np
from scipy.special import ndtr, ndtri

from mipsim._roots import outer_root
from mipsim.tradeoff.base import LARGEST_EXPONENT, AbstractTradeOff, rates
from mipsim.tradeoff.gaussian import GaussianTradeOff

_Z_LEAST, _Z_MOST = -38.0, 8.25  # probits of the FPRs that float64 tells from 0 and from 1
_ROUNDS, _CELLS = 12, 64  # each round narrows the range 32 times: 12 reach 2^-60 of it
_FARTHEST_PROBIT = 37.0  # of a rate that float64 still tells from 0
AUC_ERROR = 1e-9
"""What `AbstractTradeOff.auc` promises; a larger error is warned of."""


def hockey_stick(curve: AbstractTradeOff, log_slope: object) -> np.ndarray:
    """The largest TPR(a) - e^s a over all FPRs a, for any real s = `log_slope`; float64 of its shape.

    For s >= 0 it is the delta at epsilon = s; for s < 0 it is 1 - e^s + e^s times the delta of the inverse curve at
    epsilon = -s. The height is concave in a, hence unimodal in z = Phi^-1(a), where tiny FPRs are told apart: the two
    cells around the best point of a grid are zoomed into until they are as narrow as rounding. The error is the
    curve's own rounding, some 1e-16 of the largest TPR that takes part.

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff
        >>> hockey_stick(GaussianTradeOff(1.0), [1.0, 0.0, -1.0]).round(6).tolist()
        [0.126937, 0.382925, 0.678818]
    """
    s = np.asarray(log_slope, dtype=np.float64)
    slope = np.exp(np.minimum(s.ravel(), LARGEST_EXPONENT))[:, None]
    low, high = np.full_like(slope, _Z_LEAST), np.full_like(slope, _Z_MOST)
    at_zero = curve.tpr_at(np.zeros_like(slope))
    best = np.maximum(np.maximum(0.0, 1.0 - slope), at_zero)  # the ends: alpha = 1 and alpha = 0
    steps = np.linspace(0.0, 1.0, _CELLS + 1)
    for _ in range(_ROUNDS):
        grid = low + (high - low) * steps
        alpha = ndtr(grid)
        heights = curve.tpr_at(alpha) - slope * alpha
        at = heights.argmax(axis=1)[:, None]
        best = np.maximum(best, np.take_along_axis(heights, at, axis=1))
        low = np.take_along_axis(grid, np.maximum(at - 1, 0), axis=1)
        high = np.take_along_axis(grid, np.minimum(at + 1, _CELLS), axis=1)
    return best.reshape(s.shape)


def epsilon(curve: AbstractTradeOff, delta: object) -> np.ndarray:
    """`AbstractTradeOff.epsilon`, to 1e-12; inf if there is none up to 700."""
    wanted = rates("delta", delta)
    found, positive = np.empty(wanted.shape), wanted > 0.0
    if not positive.all():
        found[~positive] = _largest_loss(curve)
    if positive.any():
        found[positive] = _where_met(curve, wanted[positive])
    return found


def _where_met(curve: AbstractTradeOff, delta: np.ndarray) -> np.ndarray:
    allowed = delta * (1.0 + 1e-13)  # a delta is met when it is exceeded by no more than rounding
    low, high = np.zeros(delta.shape), np.full(delta.shape, LARGEST_EXPONENT)
    root = outer_root(lambda e, index: allowed[index] - hockey_stick(curve, e), low, high)
    return np.where(hockey_stick(curve, LARGEST_EXPONENT) <= allowed, root, np.inf)


def _largest_loss(curve: AbstractTradeOff) -> float:
    """Logarithm of the slope of the ROC curve at FPR 0: inf if it still grows at the rarest rates."""
    if float(curve.tpr_at(0.0)) > 0.0:
        return math.inf
    rare, rarer = (
        math.log(float(curve.tpr_at(a)) / a) for a in (1e-150, 1e-300)
    )  # nearly as rare as float64 holds
    return math.inf if rarer - rare > 1e-9 * max(1.0, abs(rare)) else max(0.0, rarer)


def bayes_risk(curve: AbstractTradeOff, prior: object) -> np.ndarray:
    """`AbstractTradeOff.bayes_risk`, with prior = P(in).

    riskcal takes the prior of the other world: for a symmetric curve both are the same at 1 - prior.

    Source: Kulynych et al. (2025), proposition D.1.
    """
    p = rates("prior", prior)
    inner = (p > 0.0) & (p < 1.0)
    safe = np.where(inner, p, 0.5)
    height = hockey_stick(curve, np.log1p(-safe) - np.log(safe))
    return np.where(inner, np.minimum(safe * (1.0 - height), np.minimum(safe, 1.0 - safe)), 0.0)


def auc(curve: AbstractTradeOff) -> float:
    """`AbstractTradeOff.auc`, by adaptive quadrature in the probit of the FPR.

    A curve of many corners keeps the quadrature from its goal: what it then knows is said, not how it went.

    Examples:
        >>> from mipsim.tradeoff import ApproxDPTradeOff
        >>> round(auc(ApproxDPTradeOff(0.0, 0.1)), 6)  # f(a) = 0.9 - a, and 0 from 0.9 on: 1 - 0.9^2 / 2
        0.595
    """

    def density(z: float) -> float:
        return float(curve.beta(ndtr(z))) * math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)

    from scipy.integrate import quad  # a fourth of a second: not when the library is imported

    # Corners cost bisections; pieces keep each of them local.
    pieces = pairwise(np.linspace(-8.0, 8.0, 33))
    found = [
        quad(density, *ends, epsabs=1e-12, epsrel=1e-11, limit=200, full_output=1)[:2] for ends in pieces
    ]
    if (error := sum(float(one[1]) for one in found)) > AUC_ERROR:
        warnings.warn(f"the AUC of {curve!r} is known to {error:.1g} only", stacklevel=3)
    return 1.0 - sum(float(one[0]) for one in found)


def least_mu(curve: AbstractTradeOff) -> float:
    """`AbstractTradeOff.least_mu`, sup over a of Phi^-1(1 - a) - Phi^-1(f(a)).

    The supremum is taken over FPRs from 1e-300 to 1 - 1e-16, by a grid in probits that is then zoomed into.
    """
    if isinstance(curve, GaussianTradeOff):
        return curve.mu
    if float(curve.tpr_at(0.0)) > 0.0:
        return math.inf

    def reach(z: np.ndarray) -> np.ndarray:
        alpha = ndtr(z)
        exact_z = np.where(alpha <= 0.5, ndtri(alpha), -ndtri(1.0 - alpha))  # of the rounded FPR
        return -exact_z - curve.probit_beta(alpha)

    z = np.linspace(-_FARTHEST_PROBIT, 8.2, 1 << 14)
    reached = reach(z)
    finite = np.isfinite(reached)
    best = float(reached[finite].max(initial=0.0))
    # Where f is 0 although G_best would not round to 0, no Gaussian curve is below f.
    if (-z[reached == np.inf] - best > -_FARTHEST_PROBIT).any():
        return math.inf
    width = z[1] - z[0]
    centre = float(z[np.argmax(np.where(finite, reached, -np.inf))])
    for _ in range(10):
        grid = np.linspace(max(centre - width, z[0]), min(centre + width, z[-1]), 65)
        reached = reach(grid)
        at = int(np.argmax(np.where(np.isfinite(reached), reached, -np.inf)))
        centre, width = float(grid[at]), width / 16
        best = max(best, float(reached[at]))
    return max(0.0, best)


def mu_and_regret(curve: AbstractTradeOff) -> tuple[float, float]:
    """`AbstractTradeOff.mu_and_regret`: the largest difference of the Bayes risks of two curves over all priors.

    Source: Kaissis et al. (2024), "Beyond the calibration point", theorem 2, for the equality.
    """
    mu = least_mu(curve)

    def lost(log_odds: np.ndarray) -> np.ndarray:
        prior = 1.0 / (1.0 + np.exp(log_odds))
        claimed = bayes_risk(GaussianTradeOff(mu), prior) if math.isfinite(mu) else 0.0
        return bayes_risk(curve, prior) - claimed

    grid = np.linspace(-30.0, 30.0, 241)  # beyond odds of e^30 : 1 both risks are below 1e-13
    values = lost(grid)
    best, centre, width = float(values.max()), float(grid[values.argmax()]), grid[1] - grid[0]
    for _ in range(6):
        near = np.linspace(centre - width, centre + width, 33)
        values = lost(near)
        best, centre, width = max(best, float(values.max())), float(near[values.argmax()]), width / 8
    return mu, max(0.0, best)
