"""Targets that are the same in all steps, when a step is mu_step-GMIP on average over targets only."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.special import ndtri
from scipy.stats import binom

from mipsim.referee.exact_judges import MOST_TOLERANCE
from mipsim.theory import leemann
from mipsim.tradeoff import (
    AbstractTradeOff,
    ApproxDPTradeOff,
    GaussianTradeOff,
    SampledTradeOff,
    compose,
    stochastic_composition,
)
from verify.claim import Budget, Regime, RegimeResult
from verify.limits import Size, curve_gap, judge_bound, judge_limit

EPSILON = 2.0
SHARE = 0.5
"""Half of the records are released through a coin of e^epsilon : 1, the others not at all."""

PREMISE = "a step is mu_step-GMIP by definition 4.3, an average over targets, and the target is the same in all steps"


def _half_exposed(steps: int) -> AbstractTradeOff:
    exposed = compose(ApproxDPTradeOff(EPSILON, 0.0), copies=steps)
    return stochastic_composition([exposed, GaussianTradeOff(0.0)], [SHARE, 1 - SHARE])


def _coin_rates(steps: int) -> tuple[np.ndarray, np.ndarray]:
    """(FPR, power) at the corners: all 2^k outputs by their number of ones, the rarest first, for the exposed half."""
    p = 1 / (1 + np.exp(-EPSILON))
    ones = np.arange(steps, -1, -1)
    return SHARE * np.cumsum(binom.pmf(ones, steps, 1 - p)), SHARE * np.cumsum(binom.pmf(ones, steps, p))


def shared_target_regime(steps: int) -> Regime:
    """The same target in all k steps: one step is mu_step-GMIP on average over targets; are k sqrt(k) mu_step-GMIP?"""
    parameters = {
        "k": steps,
        "targets": "half of the records exposed by randomised response (epsilon = 2) in every step, half not at all",
    }

    def judge(_: Budget) -> RegimeResult:
        single = _half_exposed(1).least_mu()
        claimed = GaussianTradeOff(leemann.composed_mu(single, steps))
        corners = _coin_rates(steps)[0]
        exact = _half_exposed(steps)
        found = curve_gap(exact.beta, claimed, f"k = {steps}", vertices=corners, resolution=1e-3)
        return judge_bound(
            found,
            parameters | {"mu_step": round(single, 4)},
            error=1e-9,  # the composition is of polygons: exact but for rounding
            route="exact composition",
            second_route=partial(_enumerated, steps, single),
        )

    return Regime(f"shared target, k = {steps}", parameters, judge, random=False)


def _enumerated(steps: int, single: float) -> str:
    rates, powers = _coin_rates(steps)
    gains = ndtri(powers[:-1]) - ndtri(rates[:-1]) - np.sqrt(steps) * single
    best = int(np.argmax(gains))
    return (
        f"enumeration of the {steps} coins: at FPR {rates[best]:.3g} the power is {powers[best]:.4f}, which is "
        f"{gains[best]:+.3f} probits beyond sqrt(k) mu_step"
    )


SUBSAMPLED = (0.2, 0.1, 30.0)
"""(share of the records that are exposed, their epsilon in a batch, c) of the shared targets of lemma 5.1."""

_LONG = tuple(4**k for k in range(7, 17))


def averaged_steps_regime(share: float = SUBSAMPLED[0]) -> Regime:
    """Steps that are mu_step-GMIP on average over targets: the same target, in or out, for all t steps.

    An exposed record is told by a coin, 1 with probability q out and 1 - q in the batch; at rate c/sqrt(t) it is a coin
    of q + (1 - 2q) c/sqrt(t), so that the number of ones is Binomial in both worlds and its curve exact.
    """
    _, epsilon, c = SUBSAMPLED
    parameters = {
        "c": c,
        "targets": f"{share:g} of the records exposed by randomised response (epsilon = {epsilon:g}) in every batch, the others not",
    }
    single = stochastic_composition(
        [ApproxDPTradeOff(epsilon, 0.0), GaussianTradeOff(0.0)], [share, 1 - share]
    )
    step = single.least_mu()
    claimed = GaussianTradeOff(leemann.long_run_mu(step, c))

    def at(steps: int) -> Size:
        out, inside = (binom(steps, chance) for chance in coins(epsilon, c / steps**0.5))
        # Thresholds 1/200 of a standard deviation apart: the gain at these tests is one that the attacker has.
        ones = np.unique(
            np.round(np.linspace(out.mean() - 6 * out.std(), out.mean() + 12 * out.std(), 3601))
        )[::-1]
        exposed = SampledTradeOff(out.sf(ones - 1), inside.cdf(ones - 1), inside.sf(ones - 1))
        composed = stochastic_composition([exposed, GaussianTradeOff(0.0)], [share, 1 - share])
        return kept_bound(curve_gap(composed.beta, claimed, f"t = {steps}", resolution=1e-3))

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(
            at,
            MOST_TOLERANCE,
            parameters | {"mu_step": round(step, 5)},
            sizes=_LONG,
            size_name="t",
            bound=True,
            second_route=partial(_counted, share, claimed),
        )

    return Regime(f"steps private on average, share {share:g}", parameters, judge, random=False)


def kept_bound(found: Size) -> Size:
    """Where a bound holds for certain, all errors included, its slack less these errors is the gap, which needs none."""
    most = found.high + found.error + found.above
    return Size(most, most) if most <= 0.0 else found


def coins(epsilon: float, rate: float) -> tuple[float, float]:
    """The chances of a 1, out and in, when a coin of e^epsilon : 1 is told of the target at this rate."""
    q = 1 / (1 + np.exp(epsilon))
    return q, q + rate * (1 - 2 * q)


def _counted(share: float, claimed: GaussianTradeOff) -> str:
    """Draw who is exposed, in which batches the target is, and every coin: an attack on the exposed alone."""
    rng, games, steps = np.random.default_rng(0), 200_000, 16_384
    _, epsilon, c = SUBSAMPLED
    q, _ = coins(epsilon, 0.0)
    exposed = rng.random(games) < share
    batches = rng.binomial(steps, c / steps**0.5, games)
    ones = rng.binomial(steps - batches, q) + rng.binomial(batches, 1 - q)
    least = int(binom(steps, q).isf(1e-3 / share)) + 1
    rate = share * float(binom(steps, q).sf(least - 1))
    power = float((exposed & (ones >= least)).mean())
    return (
        f"NumPy, {games:,} games of {steps:,} steps with the target in (seed 0): power {power:.4f} at FPR {rate:.3g} (exact); "
        f"the statement allows {float(claimed.tpr_at(rate)):.4f}"
    )
