"""Many steps: lemma 5.1, appendix D.3, and the noise of GMIP against that of GDP."""

from __future__ import annotations

import dataclasses
from functools import partial

import numpy as np
from scipy.special import ndtri
from scipy.stats import binom

from mipsim.theory import leemann
from mipsim.tradeoff import (
    AbstractTradeOff,
    ApproxDPTradeOff,
    GaussianTradeOff,
    LaplaceTradeOff,
    MixtureTradeOff,
    SampledTradeOff,
    compose,
    stochastic_composition,
)
from verify.claim import Between, Budget, Claim, Kind, OneOf, Regime, RegimeResult
from verify.leemann.long_run import long_run_curve
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


EPSILON = 2.0
SHARE = 0.5
"""Half of the records are released through a coin of e^epsilon : 1, the others not at all."""


def _half_exposed(steps: int) -> AbstractTradeOff:
    exposed = compose(ApproxDPTradeOff(EPSILON, 0.0), copies=steps)
    return stochastic_composition([exposed, GaussianTradeOff(0.0)], [SHARE, 1 - SHARE])


def shared_target_regime(steps: int) -> Regime:
    """The same target in all k steps: one step is mu_step-GMIP on average over targets; are k sqrt(k) mu_step-GMIP?"""
    parameters = {
        "k": steps,
        "targets": "half of the records exposed by randomised response (epsilon = 2) in every step, half not at all",
    }

    def judge(_: Budget) -> RegimeResult:
        single = _half_exposed(1).least_mu()
        claimed = GaussianTradeOff(leemann.composed_mu(single, steps))
        found = curve_gap(_half_exposed(steps).beta, claimed.beta, f"k = {steps}")
        result = judge_identity(
            found.high,
            TOLERANCE,
            parameters | {"mu_step": round(single, 4)},
            unit="probit",
            route="exact composition",
            reading="the same target takes part in all steps, whose randomness is independent",
            second_route=partial(_enumerated, steps, single),
            one_sided=True,
        )
        return dataclasses.replace(result, evidence=stronger(found).evidence)

    return Regime(f"shared target, k = {steps}", parameters, judge, random=False)


def _enumerated(steps: int, single: float) -> str:
    """All 2^k outputs by their number of ones, the rarest first, for the exposed half of the targets."""
    p = 1 / (1 + np.exp(-EPSILON))
    ones = np.arange(steps, -1, -1)
    out, inside = np.cumsum(binom.pmf(ones, steps, 1 - p)), np.cumsum(binom.pmf(ones, steps, p))
    rates, powers = SHARE * out, SHARE * inside
    gains = ndtri(powers[:-1]) - ndtri(rates[:-1]) - np.sqrt(steps) * single
    best = int(np.argmax(gains))
    return (
        f"enumeration of the {steps} coins: at FPR {rates[best]:.3g} the power is {powers[best]:.4f}, which is "
        f"{gains[best]:+.3f} probits beyond sqrt(k) mu_step"
    )


SUBSAMPLED = (0.2, 0.1, 30.0)
"""(share of the records that are exposed, their epsilon in a batch, c) of the shared targets of lemma 5.1."""

_LONG = (16_384, 65_536, 262_144)


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
    single = stochastic_composition([ApproxDPTradeOff(epsilon, 0.0), GaussianTradeOff(0.0)], [share, 1 - share])
    step = single.least_mu()
    claimed = GaussianTradeOff(leemann.long_run_mu(step, c))

    def at(steps: int) -> Size:
        out, inside = (binom(steps, chance) for chance in _coins(epsilon, c / steps**0.5))
        ones = np.arange(*(int(out.isf(p)) for p in (1e-12, 1 - 1e-9)), -1)
        exposed = SampledTradeOff(out.sf(ones - 1), inside.cdf(ones - 1), inside.sf(ones - 1))
        composed = stochastic_composition([exposed, GaussianTradeOff(0.0)], [share, 1 - share])
        return stronger(curve_gap(composed.beta, claimed.beta, f"t = {steps}"))

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(
            at,
            TOLERANCE,
            parameters | {"mu_step": round(step, 5)},
            sizes=_LONG,
            reading="mu_step-GMIP of a step is an average over targets, and the target is the same in all steps",
            second_route=partial(_counted, share, claimed),
        )

    return Regime(f"steps private on average, share {share:g}", parameters, judge, random=False)


def _coins(epsilon: float, rate: float) -> tuple[float, float]:
    q = 1 / (1 + np.exp(epsilon))
    return q, q + rate * (1 - 2 * q)


def _counted(share: float, claimed: GaussianTradeOff) -> str:
    """Draw who is exposed, in which batches the target is, and every coin: an attack on the exposed alone."""
    rng, games, steps, batches = np.random.default_rng(0), 200_000, 16_384, 0
    _, epsilon, c = SUBSAMPLED
    q, _ = _coins(epsilon, 0.0)
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


_SOON, _LATE = (1024, 4096, 16_384, 65_536), (2**12, 2**16, 2**20, 2**24, 2**28)
_PAIRS = ((0.3, 0.2, _SOON), (0.5, 2.0, _SOON), (1.0, 0.5, _SOON), (1.5, 0.2, _LATE), (2.0, 0.3, _LATE))
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
            "k": Between(1, UNBOUNDED, "judged at 2, 4, 16"),
            "mu_step": _STEP,
            "targets": OneOf(("every target's own curve is above g_mu",), ""),
        },
        (
            *(identity_regime(step, k) for step, k in ((0.3, 4), (1.0, 2), (0.5, 16))),
            *(shape_regime(shape, k) for shape in SHAPES for k in (2, 16)),
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
