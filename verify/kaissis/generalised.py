"""The generalised likelihood ratio test: lemma 5."""

from __future__ import annotations

from functools import partial

import numpy as np

from mipsim.referee.exact_judges import ROUNDING
from verify.claim import Budget, Claim, Kind, OneOf, Quote, Regime, RegimeResult
from verify.control import Control
from verify.kaissis.lemmas import DOMAIN
from verify.kaissis.outputs import LAWS
from verify.kaissis.sides import (
    GUMBEL,
    LOGISTIC,
    SETTINGS,
    cell_law,
    log_ratio,
    setting_name,
    setting_parameters,
    some_setting,
)
from verify.limits import GRID, judge_identity

COIN = "ties are split by a coin, and r and r' have one critical value of their likelihood ratios"
NO_COIN = (
    "no coin: a tie is rejected whole or accepted whole, as definition 2 builds a curve from a statistic"
)
SAME = 1e-12
"""Scores nearer than this are one: those of z and -z differ by rounding."""
HALVES = "r and r' have the level alpha/2 each, as in the magnitude test of lemma 4"


def generalised_regime(
    noise: str, mu: float, rate: float, reading: str = COIN, *, magnitude: bool = False, shrink: float = 1.0
) -> Regime:
    """Lemma 5: the power of the generalised ratio against that of the two one-sided tests, at several shifts and every FPR.

    The two tests are one score: the larger of the two one-sided ratios (`COIN`), or the smaller of the two tail
    probabilities (`HALVES`; for symmetric noise this is |z|, which `magnitude` asks for). `shrink` < 1 bends the maximum likelihood
    estimate of negative shifts (the control). That the power is largest at a shift of +-Delta is judged too.
    """
    parameters = setting_parameters(noise, mu, rate) | {"against": "|z|" if magnitude else "r and r'"}

    def judge(_: Budget) -> RegimeResult:
        z, out = cell_law(noise, mu, rate, 0.0)
        score = _generalised(noise, z, mu, rate, -shrink, 1.0)
        if magnitude:
            pair = np.abs(z)
        elif reading == HALVES:
            law = LAWS[noise]
            pair = -np.minimum(law.logcdf(z), law.logsf(z))
        else:
            left, right = (_generalised(noise, z, mu, rate, *ends) for ends in ((-1.0, 0.0), (0.0, 1.0)))
            pair = np.maximum(left, right)
        shifts = mu * np.array([1.0, 0.5, -0.25, -1.0])
        laws = [cell_law(noise, mu, rate, shift)[1] for shift in shifts]
        mine = np.stack([_power(score, out, law, reading != NO_COIN) for law in laws])
        theirs = np.stack([_power(pair, out, law, True) for law in laws])
        # Inside [-Delta, Delta] no shift is easier to see than at one of the ends.
        inner = np.max(mine[1:3] - np.maximum(mine[0], mine[3]))
        gaps = np.abs(mine - theirs).max(axis=0)
        at = int(np.argmax(gaps))
        return judge_identity(
            max(float(gaps[at]), float(inner) if reading == COIN else 0.0),
            ROUNDING,
            parameters,
            unit="power",
            route="exact laws on some 4000 cells",
            detail=f"largest at FPR {GRID[at]:.3g}",
            reading=reading,
            second_route=partial(_halves_by_drawing if reading == HALVES else _ties_by_drawing, mu),
        )

    words = {COIN: "", NO_COIN: ", no coin", HALVES: ", alpha/2 each"}[reading]
    name = setting_name(noise, mu, rate) + words + (", |z|" if magnitude else "")
    return Regime(name, parameters, judge, reading, random=False)


def _generalised(noise: str, z: np.ndarray, mu: float, rate: float, low: float, high: float) -> np.ndarray:
    """Max over shifts in mu * [low, high] of the log ratio: a grid, and z itself, where the density is highest."""
    nearest = np.clip(z, low * mu, high * mu)
    grid = mu * np.linspace(low, high, 101)
    return np.maximum(
        log_ratio(noise, z[:, None], grid, rate).max(axis=1), log_ratio(noise, z, nearest, rate)
    )


def _power(score: np.ndarray, out: np.ndarray, inside: np.ndarray, coin: bool) -> np.ndarray:
    """Power at GRID of rejecting the largest scores; ties are split by a coin, or not split."""
    order = np.argsort(-score, kind="stable")
    fresh = np.concatenate([[True], -np.diff(score[order]) > SAME])
    starts = np.flatnonzero(fresh)
    alpha = np.concatenate([[0.0], np.cumsum(np.add.reduceat(out[order], starts))])
    power = np.concatenate([[0.0], np.cumsum(np.add.reduceat(inside[order], starts))])
    size = np.diff(np.concatenate([starts, [score.size]]))
    split = np.interp(GRID, alpha, power)
    if coin:
        return split
    group = np.clip(np.searchsorted(alpha, GRID, side="right") - 1, 0, starts.size - 1)
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


def _halves_by_drawing(mu: float) -> str:
    """Gumbel noise: both statistics drawn, and their powers at FPR 0.1 for the shift Delta."""
    rng, games = np.random.default_rng(0), 1_000_000
    out, inside = rng.gumbel(size=games), mu + rng.gumbel(size=games)

    def ratio(z: np.ndarray) -> np.ndarray:
        moved = z - np.clip(z, -mu, mu)
        return (z + np.exp(-z)) - (moved + np.exp(-moved))

    def halves(z: np.ndarray) -> np.ndarray:
        return -np.minimum(np.exp(-np.exp(-z)), -np.expm1(-np.exp(-z)))

    powers = [np.mean(s(inside) > np.quantile(s(out), 0.9)) for s in (ratio, halves)]
    return (
        f"NumPy, {games:,} draws a world (seed 0), FPR 0.1, shift Delta: power {powers[0]:.4f} of the generalised ratio, {powers[1]:.4f} of "
        "two tests of level 0.05"
    )


_GLR = "The generalised LR test, with the maximum likelihood estimate of the shift in [-Delta, Delta], has the power of "
_READINGS = {"reading": OneOf((COIN, NO_COIN, HALVES))}
_COIN = {"ties": OneOf(("split by a coin",))}
_QUOTE = Quote(
    "For a (not necessarily symmetric) xi the Generalised Likelihood Ratio Test (GLRT) using the test statistic "
    "log(L(M | nu-hat)/L(M | 0)), where nu-hat is the maximum likelihood estimate of nu, is equivalent to simultaneously conducting r "
    "and r'. The GLRT's power is maximised at |nu| = Delta.",
    "lemma 5",
)
CLAIMS = (
    Claim(
        "kaissis-lemma-5",
        "kaissis",
        _GLR
        + "the two one-sided tests at every FPR and shift, for noise that need not be symmetric; it is largest at |shift| = Delta.",
        Kind.EXACT,
        ROUNDING,
        "power",
        DOMAIN | _READINGS,
        (
            *(generalised_regime(*setting) for setting in (*SETTINGS, *LOGISTIC, *GUMBEL)),
            *(generalised_regime(*setting, NO_COIN) for setting in (*SETTINGS, *LOGISTIC)),
            *(generalised_regime(*setting, HALVES) for setting in (*LOGISTIC, *GUMBEL)),
        ),
        Control(lambda f: generalised_regime("Gaussian", 1.0, 1.0, shrink=f), -0.05),
        corrected_by="kaissis-lemma-5-corrected",
        quote=_QUOTE,
        restricted_by=(
            Quote(
                "we will call two tests equivalent if they have the same power at a level alpha for all values of the tested parameter",
                "section 3, before lemma 2",
            ),
            Quote(
                "In general, one takes the symmetrisation/convexification of T and T^-1, denoted Symm(T, T^-1), which creates a single, "
                "symmetric trade-off function.",
                "section 2",
            ),
        ),
        sampled=lambda rng, count: [
            generalised_regime(*some_setting(rng, tuple(LAWS), True), reading=COIN) for _ in range(count)
        ],
    ),
    Claim(
        "kaissis-lemma-5-corrected",
        "kaissis",
        _GLR
        + "the magnitude test at every FPR and shift in [-Delta, Delta] where the noise has the density e^-h, h even and strictly convex "
        "(Gaussian, logistic), and for Laplace noise if ties are split by a coin; without one, for Laplace noise at FPRs from e^-mu1 only. "
        "Each may be sub-sampled. For noise with h convex but not even, the two tails have one critical value of the ratio, not one level.",
        Kind.EXACT,
        ROUNDING,
        "power",
        DOMAIN
        | _COIN
        | {
            "noise": OneOf(
                ("Gaussian", "logistic", "Laplace"), "each also sub-sampled; h even and strictly convex"
            )
        },
        tuple(generalised_regime(*setting, magnitude=True) for setting in (*SETTINGS, *LOGISTIC)),
        Control(lambda f: generalised_regime("Gaussian", 1.0, 1.0, magnitude=True, shrink=f), -0.05),
        corrects="kaissis-lemma-5",
        derivation=(
            "h is even and convex, so that the density is highest at 0 and the estimate is z clipped to [-Delta, Delta]: the log ratio is "
            "G(z) = h(|z|) - h(max(|z| - Delta, 0)), which rises with |z|, as h does and as its increments over the length Delta do. If h is "
            "strictly convex G rises strictly: the same rejection regions, the same test. Laplace: G = min(|z|, Delta)/b, and all outputs "
            "beyond Delta tie, which under H0 has probability e^-mu1. Rejecting a share phi of them by a coin has, for a shift s in "
            "[-Delta, Delta], the power phi e^-mu1 cosh(s/b) = alpha cosh(s/b), since there p(z - s)/p(z) = e^(+-s/b); |z| > c has at its level "
            "alpha = e^(-c/b), c >= Delta, the power e^(-c/b) cosh(s/b), the same. Below Delta, G and |z| have the same order. A sampling rate "
            "p replaces G by log(1 - p + p e^G), which keeps the order and the ties. In between nothing is said, for a reason: with h(z) = |z| + "
            "max(|z| - T, 0)^2, Delta < T, outputs from Delta to T tie, but p(z + s)/p(z) is not constant near T, and a coin has another power "
            "than the magnitude; with a density that is flat about 0 the small outputs tie, with the same effect. The power of an interval's "
            "complement is least inside [-Delta, Delta] and largest at an end: the integral of a log-concave density over a moving interval is "
            "log-concave in its place (Prekopa 1973: marginals of log-concave functions are log-concave)."
        ),
        quote=_QUOTE,
        restricted_by=(
            Quote("If the density of xi is additionally symmetric about the location parameter", "lemma 4"),
        ),
        sampled=lambda rng, count: [
            generalised_regime(*some_setting(rng, ("Gaussian", "Laplace", "logistic"), True), magnitude=True)
            for _ in range(count)
        ],
    ),
)
"""As printed, and with the conditions."""
