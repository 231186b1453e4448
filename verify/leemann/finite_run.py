"""Lemma 5.1 at a finite number of steps: equation 10 as a "(loose) bound", and the composition that is one."""

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
    BoundedTradeOff,
    GaussianTradeOff,
    MixtureTradeOff,
    compose,
)
from verify.claim import Between, Budget, Claim, Kind, OneOf, Regime, RegimeResult
from verify.control import Control
from verify.leemann import quotes
from verify.leemann.laws import polygon_of
from verify.leemann.long_run import long_run_curve
from verify.leemann.shared_targets import coins
from verify.limits import Size, curve_gap, judge_bound, judge_equality

UNBOUNDED = float("inf")


def certified_gap(
    curve: AbstractTradeOff, claimed: AbstractTradeOff, floor: float, resolution: float
) -> Size:
    """The attacker's largest gain over a claimed curve, between what both certified bounds of a composition give.

    Only the gain counts here: the bounds are wider where the FNR is small, and there the attacker gains nothing.
    """
    if not isinstance(curve, BoundedTradeOff):
        return curve_gap(curve, claimed, "exact", floor=floor, resolution=resolution)

    def shifted(bound: AbstractTradeOff, by: float) -> Size:
        return curve_gap(lambda a: bound.beta(a) + by, claimed, "bound", floor=floor, resolution=resolution)

    least = shifted(curve.upper, curve.rounding).high
    most = shifted(curve.lower, -curve.rounding)
    top = most.high + most.above
    return Size(0.5 * (least + top), 0.5 * (least + top), most.evidence, 0.5 * (top - least))


def finite_regime(
    step: float,
    rate: float,
    steps: int,
    *,
    floor: float = 1e-7,
    setting: str = "",
    name: str = "",
    factor: float = 1.0,
) -> Regime:
    """Exactly T steps with c = rate sqrt(T): is equation 10 a bound? `factor` times its mu is claimed."""
    parameters = {"mu_step": step, "n/N": rate, "T": steps, "error rates from": floor}

    def judge(_: Budget) -> RegimeResult:
        claimed = GaussianTradeOff(factor * leemann.long_run_mu(step, rate * np.sqrt(steps)))
        exact = compose(MixtureTradeOff(GaussianTradeOff(step), rate), copies=steps)
        found = certified_gap(exact, claimed, floor, 1e-3)
        return judge_bound(
            found,
            parameters,
            route="exact composition, certified bounds",
            detail=f"the attacker's largest gain over g_mu, mu = {claimed.mu:.3g}",
            second_route=partial(_second_route, step, rate, steps),
        )

    words = name or f"T = {steps}, n/N = {rate:.3g}, mu_step = {step:.3g}"
    return Regime(f"{words}, rates from {floor:g}", parameters, judge, random=False, setting=setting)


def _drawn_steps(step: float, rate: float, steps: int) -> str:
    """A few steps by drawing: a coin decides in each whether the target is in the batch; the outputs are added."""
    rng = np.random.default_rng(0)
    games, alpha = 2_000_000, 1e-3
    total = rng.binomial(steps, rate, games) * step + rng.standard_normal(games) * steps**0.5
    caught = float((total > -ndtri(alpha) * steps**0.5).mean())
    claimed = float(GaussianTradeOff(leemann.long_run_mu(step, rate * np.sqrt(steps))).tpr_at(alpha))
    return (
        f"NumPy, {games:,} games with the target in (seed 0): power {caught:.5f} at FPR {alpha:g} by thresholding the sum of the "
        f"outputs alone; the bound allows {claimed:.5f}"
    )


def _second_route(step: float, rate: float, steps: int) -> str:
    """The same steps by the characteristic function of the log ratio: no composition of curves, no grid of losses."""
    try:
        curve = long_run_curve(step, rate, steps)
    except ValueError:  # too few steps for it to have died out
        return _drawn_steps(step, rate, steps)
    claimed = GaussianTradeOff(leemann.long_run_mu(step, rate * np.sqrt(steps)))
    alpha = np.geomspace(1e-7, 0.1, 50)
    gains = ndtri(claimed.beta(alpha)) - ndtri(curve(alpha))
    best = int(np.argmax(gains))
    return (
        f"inversion of the characteristic function: the attacker gains {gains[best]:+.3g} probits over the bound at FPR "
        f"{alpha[best]:.2g}"
    )


RUNS = {
    "CIFAR-10": (400 / 48_000, 1200),
    "Purchase": (795 / 54_855, 207),
    "Adult": (1000 / 43_000, 860),
}
"""Data set -> (n/N, T) of section 6.2."""


def run_regime(data: str, mu: float, floor: float) -> Regime:
    """A training run of section 6.2: mu_step is what equation 10 asks for to promise mu."""
    rate, steps = RUNS[data]
    step = leemann.step_for_long_run_mu(mu, rate * steps**0.5)
    return finite_regime(step, rate, steps, floor=floor, setting="paper", name=f"{data}, mu = {mu:g}")


def random_runs(rng: np.random.Generator, count: int) -> list[Regime]:
    """Mu_step of 0.2 to 3, rates of 0.1% to 50% and 1 to 3,000 steps, of a promise of at most 6."""
    found: list[Regime] = []
    while len(found) < count:
        step, rate = (
            np.exp(rng.uniform(np.log(0.2), np.log(3.0))),
            np.exp(rng.uniform(np.log(1e-3), np.log(0.5))),
        )
        steps = int(np.exp(rng.uniform(0.0, np.log(3000.0))))
        if 0.02 <= leemann.long_run_mu(step, rate * steps**0.5) <= 6.0:
            found.append(finite_regime(float(step), float(rate), steps))
    return found


def product_regime(step: float, rate: float, steps: int, factor: float = 1.0) -> Regime:
    """T Gaussian steps by the characteristic function of the log ratio, against the T-fold composition of their mixture.

    `factor` times mu_step is claimed (negative control).
    """
    parameters = {"mu_step": step, "n/N": rate, "T": steps}

    def judge(_: Budget) -> RegimeResult:
        # So many cells that the certified bounds are .001 probits apart down to error rates of 1e-4, and not .02.
        claimed = compose(MixtureTradeOff(GaussianTradeOff(factor * step), rate), copies=steps, cells=1 << 20)
        found = curve_gap(long_run_curve(step, rate, steps), claimed, f"T = {steps}", resolution=1e-3)
        return judge_equality(found, parameters, mu=leemann.game_limit_mu(step, rate * steps**0.5))

    return Regime(f"T = {steps}, n/N = {rate:g}, mu_step = {step:g}", parameters, judge, random=False)


def coin_product_regime(epsilon: float, rate: float, steps: int) -> Regime:
    """T steps of sub-sampled randomised response: a Binomial count, against the composition."""
    parameters = {"epsilon": epsilon, "n/N": rate, "T": steps}

    def judge(_: Budget) -> RegimeResult:
        ones = np.arange(steps + 1)
        exact = polygon_of(*(binom.pmf(ones, steps, chance) for chance in coins(epsilon, rate)))
        claimed = compose(MixtureTradeOff(ApproxDPTradeOff(epsilon, 0.0), rate), copies=steps)
        alpha = np.unique(exact.alpha)
        gap = claimed.beta(alpha) - exact.beta(alpha)
        return judge_equality(
            float(gap[np.argmax(np.abs(gap))]), parameters, tolerance=1e-6, unit="FNR", route="enumeration"
        )

    return Regime(
        f"coins, epsilon = {epsilon:g}, n/N = {rate:g}, T = {steps}", parameters, judge, random=False
    )


def random_coins(rng: np.random.Generator, count: int) -> list[Regime]:
    """Sub-sampled randomised response."""
    return [
        coin_product_regime(
            float(rng.uniform(0.1, 4.0)),
            float(rng.uniform(0.01, 0.9)),
            int(np.exp(rng.uniform(0, np.log(300)))),
        )
        for _ in range(count)
    ]


STEP = Between(0, UNBOUNDED, "judged from 0.06 to 3")
OWN = OneOf(
    ("every target's own curve is above g_mu",),
    "in every step, given the outputs of the steps before; Gaussian, Laplace and randomised response",
)
CLAIMS = (
    Claim(
        "leemann-lemma-5.1-finite",
        "leemann",
        "Exactly T steps at rate n/N are mu-GMIP with mu of equation 10 at c = (n/N) sqrt(T), a (loose) bound.",
        Kind.BOUND,
        MOST_TOLERANCE,
        "probit",
        {
            "mu_step": STEP,
            "n/N": Between(0, 1, "0.1% to 50%"),
            "T": Between(1, UNBOUNDED, "1 to 3,000 steps"),
            "alpha": Between(
                0,
                1,
                "error rates from 1e-7, where the composition is certified; for the paper's runs from 1e-4 too",
            ),
        },
        (
            *(run_regime(data, mu, floor) for data in RUNS for mu in (0.4, 1.0) for floor in (1e-4, 1e-7)),
            *(
                finite_regime(*setting, floor=1e-4)
                for setting in (
                    (2.5, 0.005, 1),
                    (2.0, 0.01, 1),
                    (2.0, 0.1, 10),
                    (1.0, 0.01, 100),
                    (0.5, 0.5, 10),
                )
            ),
        ),
        Control(lambda factor: finite_regime(2.0, 0.01, 1, floor=1e-4, factor=factor), shift=-0.03),
        corrected_by="leemann-lemma-5.1-finite-corrected",
        quote=quotes.FINITE_RUN,
        restricted_by=(quotes.INDEPENDENT_STEPS,),
        sampled=random_runs,
        samples=(6, 16, 100),
    ),
    Claim(
        "leemann-lemma-5.1-finite-corrected",
        "leemann",
        "T steps that are independent given the target, in each of which it takes part independently with probability p, with a curve above f for "
        "every target, have at least the T-fold composition of p f + (1 - p) Id, and exactly that where the curves are f.",
        Kind.CURVE,
        MOST_TOLERANCE,
        "probit",
        {
            "mu_step": STEP,
            "n/N": Between(0, 1, "1% to 90%"),
            "T": Between(1, UNBOUNDED, "1 to 4,096 steps"),
            "targets": OWN,
        },
        (
            *(
                product_regime(*setting)
                for setting in ((0.5, 0.05, 1024), (1.0, 0.02, 2048), (0.3, 0.1, 4096))
            ),
            *(coin_product_regime(*setting) for setting in ((2.0, 0.01, 1), (2.0, 0.1, 10), (1.0, 0.5, 100))),
        ),
        Control(partial(product_regime, 0.5, 0.05, 1024)),
        corrects="leemann-lemma-5.1-finite",
        derivation=(
            "In a step the target is in the batch with probability p: its law in the world in is the mixture, whose curve is p f + (1 - p) Id "
            "(Dong, Roth and Su 2022, section 4), and steps that are independent given the target compose (their theorem 4), for each "
            "target; the composition is convex, so that it bounds the draw of targets too (Jensen). Equation 10 is the limit of "
            "this for t to infinity and is no bound at a finite T: with all T batches holding the target, of probability p^T, the power at FPR a is "
            "at least p^T Phi(s sqrt(T) - z_a), which exceeds Phi(mu - z_a) at small a wherever s sqrt(T) > mu. That is so for p "
            "below s / (sqrt(2) h(s)), h(s)^2 = exp(s^2) Phi(1.5 s) + 3 Phi(-0.5 s) - 2."
        ),
        quote=quotes.FINITE_RUN,
        sampled=random_coins,
    ),
)
