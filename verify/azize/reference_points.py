"""Moments estimated from reference points."""

from __future__ import annotations

from functools import partial

import numpy as np

from mipsim.theory import azize
from sims.studies import STUDIES
from verify.azize.mean import PAPER_POINT
from verify.azize.second import compare_by_small_games
from verify.by_games import GAMES, judge_curve
from verify.claim import Between, Budget, Claim, Kind, OneOf, Regime, RegimeResult

NEGLIGIBLE = 0.1
"""Probit units: the loss that counts as negligible, declared before any game."""

READINGS = {
    "fixed": "one reference set for all games, centred C0 with the stated regularisation",
    "ridge": "one reference set for all games, centred C0 with a strong regularisation, 1/4",
    "uncentred": "one reference set for all games, C0 uncentred as printed, with the stated regularisation",
    "redrawn": "a new reference set in every game",
}


def loss_regime(study_name: str, reading: str, size: str, stretch: float = 1.0) -> Regime:
    """The curve with estimated moments against the optimal curve of known ones: the power that is lost."""
    parameters = (PAPER_POINT if reading != "redrawn" else {"n": 50, "d": 100}) | {
        "n0": size,
        "target": "easiest",
    }

    def judge(budget: Budget) -> RegimeResult:
        study = STUDIES[study_name]
        game, _ = study.build()
        m = azize.leakage_score(game.data, game.target, 50 if reading == "redrawn" else game.n)  # pyright: ignore
        claimed = azize.mean_tradeoff(stretch * m)
        games = (10_000, 40_000, 1_000_000) if reading == "redrawn" else GAMES

        def second() -> str:
            if reading == "redrawn":
                return "a bound by linear theory: the estimated mean adds variance m* n/n0 to the score, so mu <= sqrt(m*/(1 + n/n0))"
            _, attack = study.build()
            mu = azize.effective_mu(attack.weights(game.target), game.data, game.target, game.n)  # pyright: ignore
            return f"exact first two moments of the score: mu = {mu:.4f} against sqrt(m*) = {m**0.5:.4f}"

        return judge_curve(
            study,
            claimed,
            NEGLIGIBLE,
            budget,
            parameters,
            games=games,
            reading=READINGS[reading],
            refutes=True,
            second_route=second,
        )

    return Regime(f"{reading}, n0 = {size}", parameters, judge, READINGS[reading])


def effective_regime(study_name: str, name: str, factor: float = 1.0) -> Regime:
    """The curve with one fixed reference set against g of the effective mu of its weights."""
    parameters = PAPER_POINT | {"study": study_name, "target": "easiest"}

    def judge(budget: Budget) -> RegimeResult:
        study = STUDIES[study_name]
        game, attack = study.build()
        weights = np.asarray(attack.weights(game.target))  # pyright: ignore[reportAttributeAccessIssue]
        mu = azize.effective_mu(weights, game.data, game.target, game.n)  # pyright: ignore[reportAttributeAccessIssue]
        claimed = azize.mean_tradeoff((factor * mu) ** 2)
        return judge_curve(
            study,
            claimed,
            NEGLIGIBLE,
            budget,
            parameters | {"mu": round(mu, 4)},
            refutes=True,
            second_route=lambda: compare_by_small_games(study, claimed),
        )

    return Regime(name, parameters, judge)


SIZES = ("1", "2", "5", "10", "100", "1000")
DOMAIN = {
    "n0": Between(1, float("inf"), "judged at 1 to 1000"),
    "reference set": OneOf(("fixed over games", "redrawn in every game"), "not said"),
    "C0": OneOf(("centred", "uncentred"), "printed uncentred"),
    "target": OneOf(("easiest",), "Figure 6"),
}
_PAPER = {
    "n and d": OneOf(
        ("1000 and 5000",), "the setting of Figure 6; the normal limit of a linear score is used"
    ),
    "data": OneOf(("Bernoulli(p), p ~ U[.25, .75]^d",)),
}
CLAIMS = (
    Claim(
        "azize-reference-points",
        "azize",
        "With mu0 and C0 = (1/n0) sum Z Z' estimated from n0 reference points the covariance attack loses power, negligibly even "
        "for small n0.",
        Kind.CURVE,
        NEGLIGIBLE,
        "probit",
        DOMAIN,
        (
            *(loss_regime(f"azize_fig6_n0_{k}", "fixed", k) for k in SIZES),
            *(loss_regime(f"azize_fig6_uncentred_{k}", "uncentred", k) for k in ("10", "1000")),
            *(loss_regime(f"azize_fig6_ridge_{k}", "ridge", k) for k in ("5", "10")),
            *(loss_regime(f"azize_redrawn_{k}", "redrawn", k) for k in ("5", "50")),
        ),
        partial(loss_regime, "azize_fig6_n0_1000", "fixed", "1000", 1.2),
        corrected_by="azize-reference-points-corrected",
    ),
    Claim(
        "azize-reference-points-corrected",
        "azize",
        "With one fixed reference set (mu0, C0), at n = 1000 and d = 5000, the covariance attack has the curve g_mu with "
        "mu = |w'(z* - mu)|/sqrt(n w'Cw), w = C0^-1 (z* - mu0), rejecting on the side of its sign; this is below sqrt(m*) unless w is proportional to C^-1 (z* - mu).",
        Kind.CURVE,
        NEGLIGIBLE,
        "probit",
        DOMAIN | {"reference set": OneOf(("fixed over games",)), **_PAPER},
        (
            *(effective_regime(f"azize_fig6_n0_{k}", f"centred, n0 = {k}") for k in SIZES),
            *(effective_regime(f"azize_fig6_ridge_{k}", f"regularised, n0 = {k}") for k in ("5", "10")),
            *(effective_regime(f"azize_fig6_uncentred_{k}", f"uncentred, n0 = {k}") for k in ("10", "1000")),
        ),
        partial(effective_regime, "azize_fig6_n0_100", "control", 1.1),
        corrects="azize-reference-points",
        derivation=(azize.effective_mu.__doc__ or "").partition("Args:")[0],
    ),
)
"""Negligible or not, and what the loss is."""
