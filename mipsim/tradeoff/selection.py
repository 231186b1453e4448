"""The best of a random number of runs, as of a search for hyperparameters of which only the best result is released."""

from __future__ import annotations

import math

import numpy as np

from mipsim._validation import member, number
from mipsim.tradeoff.base import KNOWN, AbstractTradeOff
from mipsim.tradeoff.bounded import BoundedTradeOff
from mipsim.tradeoff.mixture import MixtureTradeOff
from mipsim.tradeoff.renyi import curve_of_divergences

_ORDERS = 1.0 + np.geomspace(1e-2, 1e3, 100)


def best_of_runs(curve: AbstractTradeOff, *, runs: float, shape: float = 1.0) -> AbstractTradeOff:
    """Bounds of the curve of the best of K runs, K random and hidden; only the best is released, by any score of its output.

    A known number of runs is a composition, of which the best is a function: `mi.compose(curve, copies=K)`. That grows as the root of K; a
    random K costs a constant factor and a logarithm. The end that leaks more is the theorems', from Renyi divergences; no tight bound is known.
    The other end is that of a score which says nothing, for an attacker who takes no release for the world without the target.

    Args:
        curve: of a single run, whichever it is; of both directions the worse is taken.
        runs: the mean of K, above 1 (with an infinite shape above 0), up to 1e9.
        shape: of the truncated negative binomial distribution of K, above -1: 1 is geometric, 0 logarithmic; infinite is Poisson, where
            K may be 0 and nothing is released.

    Raises:
        ValueError: if an argument is outside its range.

    Source: Papernot and Steinke (2022), "Hyperparameter tuning with Renyi differential privacy", theorem 2 (truncated negative binomial),
    corollary 3 (a pure epsilon) and theorem 6 (Poisson); Canonne, Kamath and Steinke (2020), proposition 12 of version 4, for epsilon.

    Examples:
        >>> import mipsim as mi
        >>> best = best_of_runs(mi.GaussianTradeOff(0.5), runs=50)
        >>> [round(bound, 3) for bound in best.epsilon_bounds(1e-5)], [round(bound, 3) for bound in best.tpr_bounds(0.01)]
        ([1.993, 5.133], [0.034, 0.635])
        >>> round(best_of_runs(mi.ApproxDPTradeOff(0.1), runs=1e6).epsilon_bounds(1e-9)[1], 6)  # geometric: three times a pure epsilon
        0.3
    """
    given = member("curve", curve, AbstractTradeOff, KNOWN)
    ahead, base = given._one_way() or given, given.symmetrized()
    eta = (
        math.inf
        if isinstance(shape, float) and shape == math.inf
        else number("shape", shape, -1.0, 1e3, low_open=True)
    )
    mean = number("runs", runs, 0.0 if eta == math.inf else 1.0, 1e9, low_open=True)
    rdp, pure = base.to_rdp(_ORDERS)[1], math.inf
    if eta == math.inf:
        seen = -math.expm1(-mean) * (1.0 - 1e-15)  # nothing is released where K is 0
        least = MixtureTradeOff(ahead, seen)
        lost = base.delta(np.log1p(1.0 / (_ORDERS - 1.0)) * (1.0 - 1e-12))
        # Of the moment without the outcome "nothing", whose loss is 0: for epsilons >= 0 no more is needed.
        best = rdp + mean * lost + math.log(mean) / (_ORDERS - 1.0)
    else:
        least, log_gamma = ahead, _log_gamma(mean, eta)
        again = (1.0 + eta) * ((1.0 - 1.0 / _ORDERS) * rdp - log_gamma / _ORDERS)
        best = rdp + float(np.min(again)) + math.log(_mean(log_gamma, eta)) / (_ORDERS - 1.0)
        pure = (2.0 + eta) * base.largest_loss_bounds()[1] * (1.0 + 1e-12)
    # Of several selections the worse direction is that of all together.
    return BoundedTradeOff(curve_of_divergences(_ORDERS, best, pure), least).symmetrized()


def _mean(log_gamma: float, eta: float) -> float:
    """The mean of a truncated negative binomial number, which falls in gamma."""
    x = eta * log_gamma
    return math.expm1(-log_gamma) / (-log_gamma * (math.expm1(x) / x if x else 1.0))


def _log_gamma(mean: float, eta: float) -> float:
    """The logarithm of a gamma whose mean is this or, by rounding, a little more.
    >>> round(math.exp(_log_gamma(20.0, 1.0)), 9), _mean(_log_gamma(20.0, 0.0), 0.0) >= 20.0
    (0.05, True)
    """
    low, high = -700.0, -1e-12
    if _mean(low, eta) < mean:
        raise ValueError(f"shape is {eta:g} with runs {mean:g}; so many need a larger shape")
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _mean(middle, eta) >= mean else (low, middle)
    return low
