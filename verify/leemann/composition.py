"""Many steps: lemma 5.1, appendix D.3, and the noise of GMIP against that of GDP."""

from __future__ import annotations

import dataclasses
from functools import partial

import numpy as np
from scipy.special import ndtri

from mipsim.theory import leemann
from mipsim.tradeoff import (
    AbstractTradeOff,
    ApproxDPTradeOff,
    GaussianTradeOff,
    LaplaceTradeOff,
    MixtureTradeOff,
    compose,
)
from verify.claim import Between, Budget, Claim, Kind, OneOf, Regime, RegimeResult
from verify.leemann.long_run import long_run_curve
from verify.leemann.shared_targets import averaged_steps_regime, shared_target_regime
from verify.leemann.step import stronger
from verify.limits import Size, curve_gap, judge_identity, judge_limit

TOLERANCE = 0.1
EXACT = 1e-6
UNBOUNDED = float("inf")


def limit_regime(
    step: float, c: float, sizes: tuple[int, ...], stretch: float = 1.0, *, equal: bool = False
) -> Regime:
    """Rate c / sqrt(t) for t steps as t grows: equation 10 as a bound, or the game's own limit as an equality."""
    parameters = {"mu_step": step, "c": c}
    limit = leemann.game_limit_mu(step, c) if equal else leemann.long_run_mu(step, c)
    claimed = GaussianTradeOff(stretch * limit)

    def at(steps: int) -> Size:
        found = curve_gap(long_run_curve(step, c / steps**0.5, steps), claimed.beta, f"t = {steps}")
        return found if equal else stronger(found)

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(at, TOLERANCE, parameters, sizes=sizes)

    words = "limit" if equal else "bound"
    return Regime(f"{words}, mu_step = {step:g}, c = {c:g}", parameters, judge, random=False)


def finite_regime(step: float, rate: float, steps: int) -> Regime:
    """Exactly T steps with c = rate sqrt(T): is equation 10 a bound?"""
    parameters = {"mu_step": step, "n/N": rate, "T": steps}

    def judge(_: Budget) -> RegimeResult:
        claimed = GaussianTradeOff(leemann.long_run_mu(step, rate * np.sqrt(steps)))
        found = curve_gap(
            compose(MixtureTradeOff(GaussianTradeOff(step), rate), copies=steps).beta,
            claimed.beta,
            f"T = {steps}",
        )
        result = judge_identity(
            found.high,
            TOLERANCE,
            parameters,
            unit="probit",
            route="exact composition",
            detail="the attacker's gain over the bound at its largest, at error rates from 1e-4",
            second_route=partial(_one_step_by_hand, step, rate) if steps == 1 else None,
            one_sided=True,
        )
        return dataclasses.replace(result, evidence=stronger(found).evidence)

    return Regime(f"T = {steps}, n/N = {rate:g}, mu_step = {step:g}", parameters, judge, random=False)


def _one_step_by_hand(step: float, rate: float) -> str:
    """One step by drawing: a coin decides whether the target is in the batch."""
    rng = np.random.default_rng(0)
    games, alpha = 2_000_000, 1e-3
    caught = int(((rng.random(games) < rate) * step + rng.standard_normal(games) > -ndtri(alpha)).sum())
    claimed = float(GaussianTradeOff(leemann.long_run_mu(step, rate)).tpr_at(alpha))
    return (
        f"NumPy, {games:,} games with the target in (seed 0): power {caught / games:.5f} at FPR {alpha:g} by thresholding the "
        f"output alone; the bound allows {claimed:.5f}"
    )


def identity_regime(step: float, steps: int, factor: float = 1.0) -> Regime:
    """K Gaussian steps with per-target mu_step, numerically composed from samples of the curve."""
    parameters = {"mu_step": step, "k": steps, "targets": "each target's own curve is g_mu"}

    def judge(_: Budget) -> RegimeResult:
        # Sampled chords, so that the closed form is not asked to confirm itself.
        exact = compose(MixtureTradeOff(GaussianTradeOff(step), 1.0 - 1e-12), copies=steps)
        claimed = GaussianTradeOff(factor * leemann.composed_mu(step, steps))
        found = curve_gap(exact.beta, claimed.beta, f"k = {steps}")
        return judge_identity(
            found.worst,
            0.01,
            parameters,
            unit="probit",
            route="numerical composition",
            detail="within the grid's error",
        )

    return Regime(f"own curves, mu_step = {step:g}, k = {steps}", parameters, judge, random=False)


SHAPES: dict[str, AbstractTradeOff] = {
    "randomised response, epsilon = 2": ApproxDPTradeOff(2.0, 0.0),
    "randomised response, epsilon = 0.2": ApproxDPTradeOff(0.2, 0.0),
    "Laplace, mu = 1": LaplaceTradeOff(1.0),
}


def shape_regime(shape: str, steps: int, factor: float = 1.0) -> Regime:
    """K steps of a curve that is not Gaussian, with mu_step the least mu whose g_mu lies below it."""
    parameters = {"k": steps, "targets": f"every target's own curve is that of {shape}"}

    def judge(_: Budget) -> RegimeResult:
        single = SHAPES[shape].least_mu()
        claimed = GaussianTradeOff(factor * leemann.composed_mu(single, steps))
        found = curve_gap(compose(SHAPES[shape], copies=steps).beta, claimed.beta, f"k = {steps}")
        return judge_identity(
            found.high,
            0.01,
            parameters | {"mu_step": round(single, 4)},
            unit="probit",
            route="exact composition",
            one_sided=True,
        )

    return Regime(f"{shape}, k = {steps}", parameters, judge, random=False)


_SOON, _LATE = (1024, 4096, 16_384, 65_536), (2**12, 2**16, 2**20, 2**24, 2**28)
_PAIRS = ((0.3, 0.2, _SOON), (0.5, 2.0, _SOON), (1.0, 0.5, _SOON), (1.5, 0.2, _LATE), (2.0, 0.3, _LATE))
_SHAPED = tuple((shape, k) for shape, least in zip(SHAPES, (3, 16, 8), strict=True) for k in (2, least))
_STEP = Between(0, UNBOUNDED, "judged from 0.06 to 3")
CLAIMS = (
    Claim(
        "leemann-lemma-5.1",
        "leemann",
        "If (n/N) sqrt(t) -> c, noisy SGD is mu-GMIP with mu = sqrt(2) c sqrt(exp(s^2) Phi(1.5 s) + 3 Phi(-0.5 s) - 2), s = "
        "mu_step; also a (loose) bound at exactly T steps with c = n sqrt(T)/N.",
        Kind.LIMIT,
        TOLERANCE,
        "probit",
        {
            "mu_step": _STEP,
            "c": Between(0, UNBOUNDED, "judged from 0.2 to 30"),
            "targets": OneOf(
                ("one curve for all", "curves that differ by target"),
                "the target is the same in all steps; a step is mu_step-GMIP on average over targets",
            ),
            "T": Between(1, UNBOUNDED, "1 to 4096 steps"),
        },
        (
            *(limit_regime(*pair) for pair in _PAIRS),
            finite_regime(2.5, 0.005, 1),
            finite_regime(2.0, 0.01, 1),
            finite_regime(3.0, 0.01, 1),
            finite_regime(2.0, 0.1, 10),
            finite_regime(1.0, 0.01, 100),
            finite_regime(0.5, 0.5, 10),
            averaged_steps_regime(),
        ),
        partial(limit_regime, 1.0, 0.5, _SOON, 0.6),
        corrected_by="leemann-lemma-5.1-corrected",
    ),
    Claim(
        "leemann-lemma-5.1-corrected",
        "leemann",
        "If (n/N) sqrt(t) -> c and every step's curve lies above g_{mu_step} for every target of the batch, noisy SGD is in the "
        "limit mu-GMIP with mu of equation 10; where the curves are g_{mu_step}, the exact limit of the game, out "
        "against in, is the smaller mu = c sqrt(exp(s^2) - 1). At a finite T the guarantee is the T-fold composition, which "
        "may lie below g_mu.",
        Kind.LIMIT,
        TOLERANCE,
        "probit",
        {
            "mu_step": _STEP,
            "c": Between(0, UNBOUNDED, "judged from 0.2 to 30"),
            "targets": OneOf(("every target's own curve is above g_mu",), "Gaussian and randomised response"),
        },
        (
            *(limit_regime(*pair) for pair in _PAIRS),
            *(limit_regime(*pair, equal=True) for pair in _PAIRS),
            averaged_steps_regime(1.0),
        ),
        partial(limit_regime, 0.5, 2.0, _SOON, 1.12, equal=True),
        corrects="leemann-lemma-5.1",
        derivation=(
            "In the game one step shows (1-p)N(0,1) + pN(s,1) with the target in and N(0,1) with it out. With p = c/sqrt(t) the "
            "ratio of t steps has variance t p^2 (exp(s^2) - 1) to leading order, so that it tends to a Gaussian shift of mu = c "
            "sqrt(exp(s^2) - 1). Equation 10 is the limit of the symmetrised curve C_p(g_s), which also guards against tests of "
            "in against out; it is larger, hence a bound. Neither says anything of a finite T: one step of rate p has power of "
            "at least p Phi(s - z_alpha), which at low FPR exceeds that of g_mu with mu of order p. And a step that is mu_step-GMIP on average over targets "
            "does not do: records that are told apart in every step lose sqrt(t) of their own mu, not of the average."
        ),
    ),
    Claim(
        "leemann-D.3",
        "leemann",
        "k independent steps of mu_step-GMIP compose to sqrt(k) mu_step-GMIP.",
        Kind.BOUND,
        TOLERANCE,
        "probit",
        {
            "k": Between(1, UNBOUNDED, "judged at 2, 4, 16"),
            "mu_step": _STEP,
            "targets": OneOf(
                ("one curve for all", "curves that differ by target"),
                "the target may be the same in all steps",
            ),
        },
        (
            *(identity_regime(step, k) for step, k in ((0.3, 4), (1.0, 2), (0.5, 16))),
            *(shared_target_regime(k) for k in (2, 4, 16)),
        ),
        partial(identity_regime, 1.0, 2, 0.9),
        corrected_by="leemann-D.3-corrected",
    ),
    Claim(
        "leemann-D.3-corrected",
        "leemann",
        "k independent steps, each with a curve above g_{mu_step} for every target, compose to sqrt(k) mu_step-GMIP.",
        Kind.BOUND,
        TOLERANCE,
        "probit",
        {
            "k": Between(1, UNBOUNDED, "judged from 2 to 16"),
            "mu_step": _STEP,
            "targets": OneOf(
                ("every target's own curve is above g_mu",), "Gaussian, Laplace and randomised response"
            ),
        },
        (
            *(identity_regime(step, k) for step, k in ((0.3, 4), (1.0, 2), (0.5, 16))),
            *(shape_regime(shape, k) for shape, k in _SHAPED),
        ),
        partial(identity_regime, 1.0, 2, 0.9),
        corrects="leemann-D.3",
        derivation=(
            "Composition is about one pair of laws: for each target the k outputs are independent, and curves above g_mu "
            "compose to curves above g_{sqrt(k) mu}. f-MIP is a statement about the average over targets, though, and composing "
            "the average assumes that the steps meet fresh targets. With the same target in all steps the well hidden targets stay "
            "hidden while the exposed ones are found out; at low FPR the attacker spends the whole FPR on them."
        ),
    ),
)
