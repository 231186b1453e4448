"""Many steps: lemma 5.1 as a limit, and appendix D.3."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from mipsim.referee.exact_judges import MOST_TOLERANCE
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
from verify.control import Control
from verify.leemann import quotes
from verify.leemann.finite_run import OWN, STEP, certified_gap
from verify.leemann.long_run import long_run_curve
from verify.leemann.shared_targets import averaged_steps_regime, kept_bound, shared_target_regime
from verify.limits import FLOOR, Size, curve_gap, curve_tolerance, judge_bound, judge_limit

UNBOUNDED = float("inf")


def limit_regime(
    step: float,
    c: float,
    sizes: tuple[int, ...],
    stretch: float = 1.0,
    *,
    equal: bool = False,
    attained: bool = False,
) -> Regime:
    """Rate c / sqrt(t) for t steps as t grows: equation 10 as a bound, or the game's own limit as an equality.

    `attained`: the game's own limit as a bound, for the negative control of a bound that is loose.
    """
    parameters = {"mu_step": step, "c": c}
    limit = leemann.game_limit_mu(step, c) if equal or attained else leemann.long_run_mu(step, c)
    claimed = GaussianTradeOff(stretch * limit)

    def at(steps: int) -> Size:
        # The curve is interpolated between 800 points, so that it need not be convex to the last digit.
        exact = long_run_curve(step, c / steps**0.5, steps)
        found = curve_gap(exact, claimed, f"t = {steps}", resolution=1e-3 * curve_tolerance(limit))
        return found if equal or attained else kept_bound(found)

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(
            at, curve_tolerance(limit), parameters, sizes=sizes, size_name="t", bound=not equal
        )

    words = "limit" if equal else "bound"
    return Regime(
        f"{words}, mu_step = {step:g}, c = {c:g}", parameters, judge, "" if equal else EACH, random=False
    )


EACH = "a run of its own for each t, all of whose steps have one rate"
ENDLESS = (
    "one endless run, whose i-th batch has the rate min(1, c/sqrt(i)), so that (n/N) sqrt(t) -> c within it"
)
_FIRST = 1024
_ENDLESS_SIZES = tuple(4**k for k in range(6, 15))


def endless_regime(step: float, c: float) -> Regime:
    """The first t steps of a run with falling rates: the advantage that any attacker has at least, over that of equation 10.

    The Hellinger affinity of the two worlds after t steps is the product of those of the steps, and the total variation is at least
    1 less the affinity.
    """
    parameters = {"mu_step": step, "c": c, "rate of the i-th step": "min(1, c/sqrt(i))"}
    claimed = GaussianTradeOff(leemann.long_run_mu(step, c)).advantage()
    x, weight = np.polynomial.hermite_e.hermegauss(160)
    weight = weight / weight.sum()

    def rate(step_number: np.ndarray) -> np.ndarray:
        return np.minimum(1.0, c / np.sqrt(step_number))

    def loss(step_number: np.ndarray) -> np.ndarray:
        """-log of a step's affinity E sqrt(1 + z), z of mean 0, without cancellation; it falls with the rate."""
        z = np.outer(rate(step_number), np.expm1(step * x - 0.5 * step**2))
        return -np.log1p(-0.5 * (z / (1.0 + np.sqrt(1.0 + z))) ** 2 @ weight)

    def at(steps: int) -> Size:
        # Each of the first steps, then blocks of them at the least loss in the block, that of its last step.
        ends = np.unique(np.geomspace(_FIRST, steps, 4000).astype(np.int64))
        whole = float(loss(np.arange(1.0, _FIRST + 1)).sum()) + float(np.diff(ends) @ loss(ends[1:] * 1.0))
        gap = 1.0 - np.exp(-whole) - claimed
        return Size(gap, gap, error=1e-9)

    def second() -> str:
        rng, games, steps = np.random.default_rng(0), 2_000, 4096
        ratio = np.zeros((2, games))
        for p in rate(np.arange(1.0, steps + 1)):
            shown = rng.standard_normal((2, games))
            shown[1] += step * (rng.random(games) < p)
            ratio += np.log1p(p * np.expm1(step * shown - 0.5 * step**2))
        found = float((ratio[1] > 0).mean() - (ratio[0] > 0).mean())
        return (
            f"NumPy, {games:,} runs of {steps:,} steps a world (seed 0): the likelihood-ratio test at 0 has advantage {found:.3f} "
            f"(standard error below {0.71 / games**0.5:.3f}); mu-GMIP with mu of equation 10 allows {claimed:.3f}"
        )

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(
            at, 0.02 * claimed, parameters, sizes=_ENDLESS_SIZES, unit="advantage", size_name="t", bound=True,
            second_route=second, route="exact affinities of the steps",
        )  # fmt: skip

    return Regime(f"endless run, mu_step = {step:g}, c = {c:g}", parameters, judge, ENDLESS, random=False)


def _attained_limit(step: float, c: float, factor: float) -> Regime:
    """The control of the bound in the limit: a run that tends to equation 10 itself, `factor` times which is claimed.

    The game's own limit at c' = c mu / sqrt(exp(s^2) - 1), which is where it equals equation 10 at c.
    """
    planted = c * leemann.long_run_mu(step, 1.0) / leemann.game_limit_mu(step, 1.0)
    return limit_regime(step, planted, _LATE, factor, attained=True)


def identity_regime(step: float, steps: int, factor: float = 1.0) -> Regime:
    """K Gaussian steps of one target, numerically composed from samples of the curve; `factor` times mu is claimed."""
    parameters = {"mu_step": step, "k": steps, "targets": "each target's own curve is g_mu"}

    def judge(_: Budget) -> RegimeResult:
        # Sampled chords, so that the closed form is not asked to confirm itself.
        exact = compose(MixtureTradeOff(GaussianTradeOff(step), 1.0 - 1e-12), copies=steps)
        claimed = GaussianTradeOff(factor * leemann.composed_mu(step, steps))
        found = certified_gap(exact, claimed, FLOOR, 1e-4)
        return judge_bound(found, parameters, route="numerical composition, certified bounds")

    return Regime(f"own curves, mu_step = {step:g}, k = {steps}", parameters, judge, random=False)


SHAPES: dict[str, AbstractTradeOff] = {
    "randomised response, epsilon = 2": ApproxDPTradeOff(2.0, 0.0),
    "randomised response, epsilon = 0.2": ApproxDPTradeOff(0.2, 0.0),
    "Laplace, mu = 1": LaplaceTradeOff(1.0),
}


def shape_regime(shape: str, steps: int) -> Regime:
    """K steps of a curve that is not Gaussian."""
    return _steps_regime(SHAPES[shape], steps, shape)


def _steps_regime(curve: AbstractTradeOff, steps: int, words: str) -> Regime:
    """K steps of one curve, with mu_step the least mu whose g_mu lies below it."""
    parameters = {"k": steps, "targets": f"every target's own curve is that of {words}"}

    def judge(_: Budget) -> RegimeResult:
        single = curve.least_mu()
        claimed = GaussianTradeOff(leemann.composed_mu(single, steps))
        found = certified_gap(compose(curve, copies=steps), claimed, FLOOR, 1e-4)
        return judge_bound(found, parameters | {"mu_step": round(single, 4)}, route="exact composition")

    return Regime(f"{words}, k = {steps}", parameters, judge, random=False)


def random_shapes(rng: np.random.Generator, count: int) -> list[Regime]:
    """(epsilon, delta) with delta = 0, and Laplace, in 1 to 60 steps."""
    found = []
    for _ in range(count):
        steps = int(rng.integers(1, 61))
        size = float(rng.uniform(0.05, 3.5) / steps**0.5)
        curve = ApproxDPTradeOff(size, 0.0) if rng.random() < 0.7 else LaplaceTradeOff(size)
        found.append(_steps_regime(curve, steps, f"{type(curve).__name__}({size:.3g})"))
    return found


_SOON, _LATE = tuple(4**k for k in range(5, 14)), tuple(4**k for k in range(7, 18))
_PAIRS = ((0.3, 0.2, _SOON), (0.5, 2.0, _SOON), (1.0, 0.5, _SOON), (1.5, 0.2, _LATE), (2.0, 0.3, _LATE))
_EQUAL = ((0.3, 0.2, _SOON), (0.5, 2.0, _SOON), (1.0, 0.5, _LATE), (1.5, 0.2, _LATE))
_SHAPED = tuple((shape, k) for shape, least in zip(SHAPES, (3, 16, 8), strict=True) for k in (2, least))
CLAIMS = (
    Claim(
        "leemann-lemma-5.1",
        "leemann",
        "If (n/N) sqrt(t) -> c and a step is mu_step-GMIP, noisy SGD is in the limit mu-GMIP with mu = sqrt(2) c sqrt(exp(s^2) Phi(1.5 s) "
        "+ 3 Phi(-0.5 s) - 2), s = mu_step.",
        Kind.LIMIT,
        MOST_TOLERANCE,
        "probit",
        {
            "mu_step": STEP,
            "c": Between(0, UNBOUNDED, "judged from 0.2 to 30"),
            "targets": OneOf(
                ("one curve for all", "curves that differ by target"),
                "the target is the same in all steps; a step is mu_step-GMIP on average over targets",
            ),
            "batch sizes": OneOf(
                (EACH, ENDLESS), "the lemma speaks of a limit in t and does not say what runs it compares"
            ),
        },
        (
            *(limit_regime(*pair) for pair in _PAIRS),
            replace(averaged_steps_regime(), reading=EACH),
            *(endless_regime(step, c) for step, c in ((0.3, 8.0), (0.5, 4.0))),
        ),
        Control(
            lambda factor: _attained_limit(1.0, 0.5, factor),
            shift=-0.03,
            plants="a run at the larger rate at which the game's own limit is equation 10",
        ),
        corrected_by="leemann-lemma-5.1-corrected",
        quote=quotes.LEMMA_5_1,
        restricted_by=(quotes.LEMMA_5_1_TITLE, quotes.INDEPENDENT_STEPS),
    ),
    Claim(
        "leemann-lemma-5.1-corrected",
        "leemann",
        "For one fixed s = mu_step, if all t steps have one rate p with p sqrt(t) -> c, the target joins each batch independently, and every "
        "target's own curve in a batch is above g_s, the outputs of t steps, independent given the target, are in the limit "
        "mu-GMIP with mu of equation 10. Where the curves are g_s the limit is G_mu with the smaller mu = c sqrt(exp(s^2) - 1).",
        Kind.LIMIT,
        MOST_TOLERANCE,
        "probit",
        {"mu_step": STEP, "c": Between(0, UNBOUNDED, "judged from 0.2 to 30"), "targets": OWN},
        tuple(
            replace(regime, reading="")
            for regime in (
                *(limit_regime(*pair) for pair in _PAIRS),
                *(limit_regime(*pair, equal=True) for pair in _EQUAL),
                averaged_steps_regime(1.0),
            )
        ),
        Control(lambda factor: limit_regime(0.5, 2.0, _SOON, factor, equal=True)),
        corrects="leemann-lemma-5.1",
        derivation=(
            "One step of a target with curve h >= g_s is p h + (1 - p) Id >= C_p(g_s), the symmetrised mixture; the composition of "
            "independent steps keeps the order (Dong, Roth and Su 2022, proposition D.1 and theorem 4), for each target, and over the targets by "
            "Jensen. C_p(g_s) composed t times tends to G_mu with mu of equation 10 by their central limit theorem for sub-sampling (theorem "
            "11: f symmetric, f(0) = 1, the integral of (f' + 1)^4 finite, p sqrt(t) -> c; g_s satisfies all three for fixed s). The game's own "
            "limit: the ratio of a step is 1 + pY, Y = exp(sx - s^2/2) - 1 of mean 0 and variance v = exp(s^2) - 1 under N(0, 1). t p^2 v tends to c^2 v, "
            "and t E[(pY)^2; |pY| > e] <= c^2 E[Y^2; |Y| > e sqrt(t) / c] + o(1) tends to 0 (Lindeberg), so that the log ratio tends to N(-c^2 v/2, c^2 v) out "
            "and, by Le Cam's third lemma, to N(c^2 v/2, c^2 v) in: the curve to G_{c sqrt(v)}. Within one endless run whose i-th rate is c/sqrt(i) the "
            "squares of the rates sum to c^2 log t without bound, the Hellinger affinities of the steps, 1 - v c^2 (1 + o(1))/(8i), multiply to 0 (Kakutani), and no "
            "finite mu does: each t asks for a run of its own, at one rate. A step that is mu_step-GMIP only on average over "
            "targets does not do: records that are told apart in every step lose sqrt(t) of their own mu, not of the average."
        ),
        quote=quotes.LEMMA_5_1,
        same_formula=True,
    ),
    Claim(
        "leemann-D.3",
        "leemann",
        "k independent steps of mu_step-GMIP compose to sqrt(k) mu_step-GMIP.",
        Kind.BOUND,
        MOST_TOLERANCE,
        "probit",
        {
            "k": Between(1, UNBOUNDED, "judged at 2, 4, 5, 16"),
            "mu_step": STEP,
            "targets": OneOf(
                ("one curve for all", "curves that differ by target"),
                "the target may be the same in all steps",
            ),
        },
        (
            *(identity_regime(step, k) for step, k in ((0.3, 4), (1.0, 2), (0.5, 16))),
            *(shared_target_regime(k) for k in (2, 4, 5, 16)),
        ),
        Control(partial(identity_regime, 1.0, 2), shift=-0.03),
        corrected_by="leemann-D.3-corrected",
        quote=quotes.COMPOSITION,
        restricted_by=(quotes.INDEPENDENT_STEPS,),
    ),
    Claim(
        "leemann-D.3-corrected",
        "leemann",
        "k steps, independent given the target, each with a curve above g_{mu_step} for every target, compose to sqrt(k) "
        "mu_step-GMIP.",
        Kind.BOUND,
        MOST_TOLERANCE,
        "probit",
        {"k": Between(1, UNBOUNDED, "judged from 1 to 60"), "mu_step": STEP, "targets": OWN},
        (
            *(identity_regime(step, k) for step, k in ((0.3, 4), (1.0, 2), (0.5, 16))),
            *(shape_regime(shape, k) for shape, k in _SHAPED),
        ),
        Control(partial(identity_regime, 1.0, 2), shift=-0.03),
        corrects="leemann-D.3",
        derivation=(
            "For each target the k outputs are independent in both worlds, and curves above g_mu compose to a curve above that of k "
            "Gaussian shifts, g_{sqrt(k) mu} (Dong, Roth and Su 2022, theorem 4 and corollary 3.3); steps that depend on the outputs before "
            "them may be taken given these. Over the targets: E g(abar(x)) >= g(alpha), as g is convex. f-MIP of a step is a statement about the "
            "average over targets, though: with the same target in all steps the well hidden ones stay hidden while the exposed "
            "ones are found out, and at low FPR the attacker spends the whole FPR on them."
        ),
        quote=quotes.COMPOSITION,
        same_formula=True,
        sampled=random_shapes,
    ),
)
