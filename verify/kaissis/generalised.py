"""The generalised likelihood ratio test: lemma 5."""

from __future__ import annotations

import numpy as np

from mipsim import referee as rf
from mipsim.referee.curve_gap import GRID
from sims.relaxed_laws import LAWS, cell_edges, cell_law, log_ratio
from verify.kaissis.lemmas import DELTA, GUMBEL, NOISES, RATE, ROUNDING, SETTINGS, SYMMETRIC

COIN = "ties are split by a coin, and r and r' have one critical value of their likelihood ratios"
NO_COIN = (
    "no coin: a tie is rejected whole or accepted whole, as definition 2 builds a curve from a statistic"
)
HALVES = "r and r' have the level alpha/2 each, as in the magnitude test of lemma 4"
SAME = 1e-12
"""Scores nearer than this are one: those of z and -z differ by rounding."""


def ratio_score(noise: str, z: np.ndarray, rate: float, low: float, high: float) -> np.ndarray:
    """The largest log ratio of a shift in [low, high]: on a grid, and at z itself, where the density is highest."""
    grid = log_ratio(noise, z[:, None], np.linspace(low, high, 101), rate).max(axis=1)
    return np.maximum(grid, log_ratio(noise, z, np.clip(z, low, high), rate))


def power(score: np.ndarray, out: np.ndarray, inside: np.ndarray, coin: bool) -> np.ndarray:
    """Power at GRID of rejecting the largest scores; ties are split by a coin, or not split."""
    order = np.argsort(-score, kind="stable")
    starts = np.flatnonzero(np.concatenate([[True], -np.diff(score[order]) > SAME]))
    alpha = np.concatenate([[0.0], np.cumsum(np.add.reduceat(out[order], starts))])
    power = np.concatenate([[0.0], np.cumsum(np.add.reduceat(inside[order], starts))])
    size = np.diff(np.concatenate([starts, [score.size]]))
    split = np.interp(GRID, alpha, power)
    if coin:
        return split
    group = np.clip(np.searchsorted(alpha, GRID, side="right") - 1, 0, starts.size - 1)
    return np.where(size[group] > 2, power[group], split)  # two cells: z and -z


def power_gap(
    noise: str,
    delta: float,
    rate: float,
    nu: float,
    reading: str,
    against: str = "r and r'",
    bend: float = 1.0,
) -> rf.Number:
    """How far the generalised ratio's power is from that of another test at a shift nu * delta, or above that at +-delta.

    The other test is one score: the larger of the two one-sided ratios, the smaller of the two tail probabilities
    (`HALVES`), or |z|. `bend` < 1 takes the smallest shifts from the estimate.
    """
    edges = cell_edges(delta)
    z = 0.5 * (edges[1:] + edges[:-1])
    score, law = ratio_score(noise, z, rate, -bend * delta, delta), LAWS[noise]
    if against == "|z|":
        other = np.abs(z)
    elif reading == HALVES:
        other = -np.minimum(law.logcdf(z), law.logsf(z))
    else:
        other = np.maximum(ratio_score(noise, z, rate, -delta, 0.0), ratio_score(noise, z, rate, 0.0, delta))
    out, *shifted = (cell_law(noise, edges, s * delta, rate) for s in (0.0, nu, 1.0, -1.0))
    mine, *most = (power(score, out, law, reading != NO_COIN) for law in shifted)
    gap = np.abs(mine - power(other, out, shifted[0], True))
    if against == "|z|" and reading == NO_COIN and noise == "Laplace":
        gap = np.where(np.exp(-delta) <= GRID, gap, 0.0)
    at = int(gap.argmax())
    above = float((mine - np.maximum(*most)).max()) if reading == COIN else 0.0
    return rf.Number(
        max(float(gap[at]), above),
        route="exact laws on some 4000 cells",
        detail=f"largest at FPR {GRID[at]:.3g}",
    )


def drawn(noise: str, delta: float, nu: float, reading: str) -> str:
    """The statistics drawn, the record taking part for sure: their powers at FPR 0.1, or how often the ratio takes its largest value."""
    rng, games, law = np.random.default_rng(0), 1_000_000, LAWS[noise]
    out, inside = (law.rvs(size=games, random_state=rng) + s for s in (0.0, nu * delta))
    if reading == NO_COIN:
        top = np.array([np.mean(np.abs(x) >= delta) for x in (out, inside)])
        alpha = 0.5 * top[0]
        cut = np.quantile(np.abs(out), 1 - alpha)
        return (
            f"NumPy, {games:,} draws a world (seed 0): the generalised ratio takes its largest value in a share {top[0]:.4f} of the "
            f"outputs without the record (e^-mu = {np.exp(-delta):.4f}) and has no test of a smaller FPR but the empty one, of power 0; "
            f"at FPR {alpha:.4g} the magnitude has power {np.mean(np.abs(inside) > cut):.4g}"
        )
    scores = (
        lambda z: law.logpdf(z - np.clip(z, -delta, delta)) - law.logpdf(z),
        lambda z: -np.minimum(law.cdf(z), law.sf(z)),
    )
    powers = [np.mean(score(inside) > np.quantile(score(out), 0.9)) for score in scores]
    return (
        f"NumPy, {games:,} draws a world (seed 0), FPR 0.1, shift {nu:g} Delta: power {powers[0]:.4f} of the generalised ratio, {powers[1]:.4f} of "
        "two tests of level 0.05"
    )


_GLR = "The generalised LR test, with the maximum likelihood estimate of the shift in [-Delta, Delta], has the power of "
_POINTS = [
    one | {"nu": nu, "reading": reading}
    for reading, settings, shifts in (
        (COIN, [*SETTINGS, *GUMBEL], (1.0, 0.5, -0.25, -1.0)),
        (NO_COIN, SETTINGS, (1.0, 0.5)),
        (HALVES, [*SETTINGS[-2:], *GUMBEL], (1.0, -0.25)),
    )
    for one in settings
    for nu in shifts
]
LEMMA_5 = rf.Statement(
    name="kaissis-lemma-5",
    says=_GLR
    + "the two one-sided tests at every FPR and shift (`nu` times Delta), for noise that need not be symmetric; it is largest at |shift| = Delta.",
    source="Kaissis et al., lemma 5",
    kind=rf.Equality(ROUNDING, unit="power"),
    domain={
        "noise": NOISES,
        "delta": DELTA,
        "rate": RATE,
        "nu": rf.Real(-1.0, 1.0),
        "reading": rf.Choice(COIN, NO_COIN, HALVES),
    },
    claimed=lambda: 0.0,
    truth=lambda noise, delta, rate, nu, reading: power_gap(noise, delta, rate, nu, reading),
    points=_POINTS,
    control=rf.Control(
        SETTINGS[1] | {"nu": 1.0, "reading": COIN},
        -0.05,
        truth=lambda factor, **at: power_gap(bend=factor, **at),
    ),
    quote=rf.Quote(
        "For a (not necessarily symmetric) xi the Generalised Likelihood Ratio Test (GLRT) using the test statistic "
        "log(L(M | nu-hat)/L(M | 0)), where nu-hat is the maximum likelihood estimate of nu, is equivalent to simultaneously conducting r "
        "and r'. The GLRT's power is maximised at |nu| = Delta.",
        "lemma 5",
    ),
    restricted_by=(
        rf.Quote(
            "we will call two tests equivalent if they have the same power at a level alpha for all values of the tested parameter",
            "section 3, before lemma 2",
        ),
        rf.Quote(
            "In general, one takes the symmetrisation/convexification of T and T^-1, denoted Symm(T, T^-1), which creates a single, "
            "symmetric trade-off function.",
            "section 2",
        ),
    ),
    second_route=drawn,
)
LEMMA_5_CORRECTED = LEMMA_5.corrected(
    says=_GLR
    + "the magnitude test at every FPR and shift in [-Delta, Delta] where the noise has the density e^-h, h even and strictly convex "
    "(Gaussian, logistic), and for Laplace noise if ties are split by a coin; without one, for Laplace noise at FPRs from e^-mu1 only. "
    "Each may be sub-sampled. For noise with h convex but not even, the two tails have one critical value of the ratio, not one level.",
    domain={"noise": SYMMETRIC, "reading": rf.Choice(COIN, NO_COIN)},
    truth=lambda noise, delta, rate, nu, reading: power_gap(noise, delta, rate, nu, reading, "|z|"),
    control=rf.Control(
        SETTINGS[1] | {"nu": 1.0, "reading": COIN},
        -0.05,
        truth=lambda factor, **at: power_gap(against="|z|", bend=factor, **at),
    ),
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
    restricted_by=(
        rf.Quote("If the density of xi is additionally symmetric about the location parameter", "lemma 4"),
    ),
)

STATEMENTS = (LEMMA_5, LEMMA_5_CORRECTED)
"""As printed, and with the conditions."""
SAMPLES = dict.fromkeys(("kaissis-lemma-5", "kaissis-lemma-5-corrected"), (8, 24, 100))
