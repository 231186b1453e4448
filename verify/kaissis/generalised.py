"""The generalised likelihood ratio test: lemma 5."""

from __future__ import annotations

from functools import partial

import numpy as np

from verify.claim import Budget, Claim, Kind, OneOf, Regime, RegimeResult
from verify.kaissis.sides import (
    DOMAIN,
    EXACT,
    LOGISTIC,
    SETTINGS,
    cell_law,
    log_ratio,
    setting_name,
    setting_parameters,
)
from verify.limits import GRID, judge_identity


def generalised_regime(noise: str, mu: float, rate: float, *, coin: bool, shrink: float = 1.0) -> Regime:
    """Lemma 5: power of the generalised ratio against that of |z|, at several shifts and every FPR.

    Without a `coin` a tie is accepted whole or rejected whole. `shrink` < 1 bends the maximum likelihood estimate of
    negative shifts (the control).
    """
    parameters = setting_parameters(noise, mu, rate) | {"ties": "coin" if coin else "none"}

    def judge(_: Budget) -> RegimeResult:
        z, out = cell_law(noise, mu, rate, 0.0)
        score = np.round(_generalised(noise, z, mu, rate, shrink), 11)
        gaps = []
        for shift in (mu, 0.5 * mu, -mu):
            inside = cell_law(noise, mu, rate, shift)[1]
            gaps.append(_power(np.round(np.abs(z), 9), out, inside, True) - _power(score, out, inside, coin))
        worst = np.abs(gaps).max(axis=0)
        at = int(np.argmax(worst))
        return judge_identity(
            float(worst[at]),
            EXACT,
            parameters,
            unit="power",
            route="exact laws on 4000 cells",
            detail=f"largest at FPR {GRID[at]:.3g}",
            second_route=partial(_ties_by_drawing, mu),
        )

    return Regime(setting_name(noise, mu, rate), parameters, judge, random=False)


def _generalised(noise: str, z: np.ndarray, mu: float, rate: float, shrink: float = 1.0) -> np.ndarray:
    """Max over shifts in [-Delta, Delta] of the log ratio: a grid, and z itself, where the density is highest."""
    nearest = np.where(z < 0, shrink, 1.0) * np.clip(z, -mu, mu)
    grid = mu * np.linspace(-shrink, 1.0, 101)
    return np.maximum(
        log_ratio(noise, z[:, None], grid, rate).max(axis=1), log_ratio(noise, z, nearest, rate)
    )


def _power(score: np.ndarray, out: np.ndarray, inside: np.ndarray, coin: bool) -> np.ndarray:
    """Power at GRID of rejecting the largest scores; ties are split by a coin, or not split."""
    values, place, size = np.unique(-score, return_inverse=True, return_counts=True)
    alpha = np.concatenate([[0.0], np.cumsum(np.bincount(place, out, values.size))])
    power = np.concatenate([[0.0], np.cumsum(np.bincount(place, inside, values.size))])
    split = np.interp(GRID, alpha, power)
    if coin:
        return split
    group = np.clip(np.searchsorted(alpha, GRID, side="right") - 1, 0, values.size - 1)
    return np.where(size[group] > 2, power[group], split)  # two cells: z and -z


def _ties_by_drawing(mu: float) -> str:
    """Laplace noise: the statistic drawn, and how often it takes its largest value."""
    rng, games = np.random.default_rng(0), 1_000_000
    out, inside = rng.laplace(size=games), mu + rng.laplace(size=games)
    top = np.array([np.mean(np.abs(x) >= mu) for x in (out, inside)])
    alpha = 0.5 * top[0]
    cut = np.quantile(np.abs(out), 1 - alpha)
    return (
        f"NumPy, {games:,} draws a world (seed 0): the generalised ratio takes its largest value in a share {top[0]:.4f} of the "
        f"outputs without the record (e^-mu = {np.exp(-mu):.4f}) and has no test of a smaller FPR but the empty one, of power 0; "
        f"at FPR {alpha:.4g} the magnitude has power {np.mean(np.abs(inside) > cut):.4g}"
    )


_GLR = "The generalised LR test, with the maximum likelihood estimate of the shift in [-Delta, Delta], has the power of the magnitude test at every FPR and shift"
CLAIMS = (
    Claim(
        "kaissis-lemma-5",
        "kaissis",
        _GLR + " (tests without randomisation, as the paper's definition 2 builds a curve from a statistic).",
        Kind.EXACT,
        EXACT,
        "power",
        DOMAIN | {"ties": OneOf(("accepted or rejected whole",))},
        tuple(generalised_regime(*setting, coin=False) for setting in (*SETTINGS, *LOGISTIC)),
        partial(generalised_regime, "Gaussian", 1.0, 1.0, coin=False, shrink=0.9),
        corrected_by="kaissis-lemma-5-corrected",
    ),
    Claim(
        "kaissis-lemma-5-corrected",
        "kaissis",
        _GLR
        + ", ties being split by a coin; without one this holds for Laplace noise at FPRs from e^-mu1 only.",
        Kind.EXACT,
        EXACT,
        "power",
        DOMAIN | {"ties": OneOf(("split by a coin",))},
        tuple(generalised_regime(*setting, coin=True) for setting in (*SETTINGS, *LOGISTIC)),
        partial(generalised_regime, "Gaussian", 1.0, 1.0, coin=True, shrink=0.9),
        corrects="kaissis-lemma-5",
        derivation=(
            "For unimodal symmetric noise the estimate is z clipped to [-Delta, Delta]. For Laplace noise the log ratio is then "
            "min(|z|, Delta)/b: all outputs beyond Delta tie, which under H0 has probability e^-mu1, and no test without a coin "
            "has a smaller FPR but the empty one. Every single ratio p(z - s)/p(z), |s| <= Delta, is constant on either side "
            "there, so that a coin gives each shift the power that any other split of the tie gives, that of |z| too."
        ),
    ),
)
"""As printed, and with a coin."""
