"""Attackers of the relaxed threat model of Kaissis et al. (2023): what they may know, and their exact curves; sampled second routes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy
from scipy.special import ndtr

from mipsim.referee import Draws, Number, Replication
from mipsim.referee.replication import share
from mipsim.special import noncentral_chi_square as chi_square
from mipsim.tradeoff import (
    AbstractTradeOff,
    FoldedLaplaceTradeOff,
    GaussianTradeOff,
    LaplaceTradeOff,
    NoncentralChiSquareTradeOff,
)
from verify.kaissis.laws.relaxed_laws import (
    Pair,
    RatesTradeOff,
    known_resilience,
    magnitude,
    noise_named,
    norm_curves,
    resilience,
)

NOTHING = "the adversary knows nothing of the direction of the shift: each is as likely as every other"
SIGN = "the adversary chose q, and so knows the direction: a sum of numbers in [0, Delta], a gradient along a fixed line"


def known(noise: str, mu: float) -> AbstractTradeOff:
    """The tight f of the attacker who knows q(D')."""
    return LaplaceTradeOff(mu) if noise == "Laplace" else GaussianTradeOff(mu)


@lru_cache(maxsize=64)
def promised(noise: str, mu: float, d: int = 1) -> AbstractTradeOff:
    """J = Symm(j, jinv) of theorem 1 or 2."""
    return FoldedLaplaceTradeOff(mu).symmetrized() if noise == "Laplace" else resilience(mu, d)


def attacker(noise: str, mu: float, d: int, reading: str) -> AbstractTradeOff:
    """The curve of the attacker of a reading, for the shift of full length, from the laws of the noise.

    Of an attacker who knows nothing the magnitude is the best test: averaged over the directions the likelihood ratio rises with it.
    """
    if reading == SIGN:
        return known(noise, mu)
    return magnitude(noise, mu) if d == 1 else norm_curves(d, mu)[0]


def sampled(noise: str, mu: float, z: float) -> Replication:
    """The output sampled along a direction that the attacker knows; the coordinates across it tell nothing."""
    games, rng = 1_000_000, np.random.default_rng(0)
    out, inside = (noise_named(noise).rvs(size=games, random_state=rng) + shift for shift in (0.0, mu))
    return Draws(
        out, inside, f"NumPy, {games:,} games a world, seed 0, the output along the known direction"
    ).probit(float(ndtr(z)))


RECORD = "a coin for the record: it takes part in all coordinates or in none"
COORDINATES = "a coin for each of the d coordinates of the output, as a mask in {0,1}^d"


def masked(mu: float, d: int, rate: float, reading: str) -> RatesTradeOff:
    """The magnitude where the shift has equal entries: its exact law, averaged over the masks."""
    retained, weights = np.array([0, d]), np.array([1 - rate, rate])
    if reading == COORDINATES:
        retained, weights = np.arange(d + 1), scipy.stats.binom.pmf(np.arange(d + 1), d, rate)
    weights = np.where(weights > 1e-30, weights, 0.0)
    centres = mu**2 * retained[weights > 0.0] / d

    def both(alpha: np.ndarray) -> Pair:
        inner = np.clip(alpha, 1e-300, 1.0 - 1e-16)
        cut = np.expand_dims(chi_square.isf(inner, d, 0.0), -1)
        missed = chi_square.cdf(cut, d, centres) @ weights[weights > 0.0]
        caught = chi_square.sf(cut, d, centres) @ weights[weights > 0.0]
        return np.where(alpha == 0.0, 1.0, missed), np.where(alpha == 0.0, 0.0, caught)

    return RatesTradeOff(both)


def masks_sampled(mu: float, d: int, rate: float, z: float) -> Replication:
    """Outputs sampled with a mask each."""
    games, rng = 2_000_000 // d, np.random.default_rng(0)
    mask = rng.random((games, d)) < rate
    out = np.square(rng.standard_normal((games, d))).sum(axis=1)
    inside = np.square(rng.standard_normal((games, d)) + mask * mu / np.sqrt(d)).sum(axis=1)
    return Draws(
        out, inside, f"NumPy, {games:,} games a world, seed 0, a mask sampled for each output"
    ).probit(float(ndtr(z)))


FINITE = "on finitely many points, some of one law only"


def two_laws(laws: str, outcomes: int, mu: float, draw: int) -> tuple[np.ndarray, np.ndarray]:
    """A and B: sampled, or noise and its shift on the line, or their magnitudes, in cells of the output."""
    if laws == FINITE:
        a, b = np.random.default_rng(draw).dirichlet(np.full(outcomes, 0.5), 2)
        a[: outcomes // 4], b[-(outcomes // 4) :] = 0.0, 0.0
        return a / a.sum(), b / b.sum()
    edges = np.concatenate([[-np.inf], np.linspace(-mu - 12.0, mu + 12.0, 10 * outcomes + 1), [np.inf]])
    law = noise_named(laws.removeprefix("magnitude of "))
    a, b = (np.diff(law.cdf(edges - shift)) for shift in (0.0, mu))
    if laws.startswith("magnitude"):
        a, b = a + a[::-1], b + b[::-1]
        a, b = a[: a.size // 2], b[: b.size // 2]
    return a, b


def relaxed(noise: str, mu: float, rate: float) -> AbstractTradeOff:
    """J_p of the relaxed threat model on the line."""
    return resilience(mu, 1, rate) if noise == "Gaussian" else promised(noise, mu)


def in_dptm(noise: str, mu: float, rate: float) -> AbstractTradeOff:
    """The symmetric f_p of the attacker who knows the shift."""
    return known_resilience(mu, rate) if noise == "Gaussian" else known(noise, mu)


def lengths(records: int, nearest: float, bend: float, mu: float) -> np.ndarray:
    """Lengths of shifts from nearest * mu to mu: evenly spread, or bent to most of them near an end."""
    return mu * (nearest + (1.0 - nearest) * np.linspace(0.0, 1.0, records) ** bend)


LOGARITHM = 1e-9
"""By how much the logarithms of two densities may be off together: some thousand times what they are."""


def best_guess(records: int, nearest: float, bend: float, mu: float, d: int) -> Number:
    """The success of the best guess among equally likely records whose shifts are known in length only, who sees the radius.

    The likelihood of a longer shift over that of a shorter one rises with the radius. In a cell it is therefore largest at an end: the
    guess that is the best at an end succeeds there at least as often as its mass says, and the best guess at most so much more often as
    the largest ratio at the other end allows. Cells in which the best guess changes are cut finely.
    """
    centres = lengths(records, nearest, bend, mu)[:, None] ** 2

    def logarithms(radius: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return chi_square.logpdf(np.maximum(radius, 1e-9) ** 2, d, centres)

    far = mu + np.sqrt(d) + 10.0
    radius = np.linspace(0.0, far, 401)
    for _ in range(2):
        changes = np.flatnonzero(np.diff(logarithms(radius).argmax(axis=0)))
        finer = [np.linspace(radius[k], radius[k + 1], 65) for k in changes]
        radius = np.unique(np.concatenate([radius, *finer]))
    density, cells = logarithms(radius), np.arange(radius.size - 1)
    best = density.argmax(axis=0)[:-1]
    masses = np.diff(chi_square.cdf(radius**2, d, centres), axis=1)[best, cells]
    ratio = np.exp(np.maximum((density[:, 1:] - density[best, cells + 1]).max(axis=0), 0.0))
    beyond = float(chi_square.sf(far**2, d, centres).max())
    return Number.between(
        float(masses.sum()) / records,
        float((masses * ratio).sum()) / records * (1.0 + LOGARITHM) + beyond,
        route="the best guess in each cell of the radius, between two bounds",
    )


def guessed(mu: float) -> Replication:
    """Records sampled on either side, the side of the output named."""
    rng, games = np.random.default_rng(0), 1_000_000
    side = rng.choice([-1.0, 1.0], games)
    right = (np.sign(side * mu + rng.standard_normal(games)) == side).sum()
    return Replication(
        *share(right, games),
        what="probability of naming the record by the side of the output",
        how=f"NumPy, {games:,} games, seed 0",
    )


def averaged(
    delta_a: float, delta_b: float, sigma_a: float, sigma_b: float, d: int, **_: object
) -> AbstractTradeOff:
    """Lemma 8."""
    noncentrality = (delta_a + delta_b) ** 2 / (sigma_a**2 + sigma_b**2)
    return NoncentralChiSquareTradeOff(d, 0.0, noncentrality)


def weighted(
    delta_a: float, delta_b: float, sigma_a: float, sigma_b: float, d: int, **_: object
) -> AbstractTradeOff:
    """Its correction: the sum with weights Delta_i / sigma_i^2, whose noncentrality is the largest, by Cauchy and Schwarz."""
    noncentrality = (delta_a / sigma_a) ** 2 + (delta_b / sigma_b) ** 2
    return NoncentralChiSquareTradeOff(d, 0.0, noncentrality)


def best_weighting(
    delta_a: float, delta_b: float, sigma_a: float, sigma_b: float, d: int, **_: object
) -> AbstractTradeOff:
    """The norm of the weighted sum of the releases, both shifted the same unknown way, with the best weights.

    With the weights (cos / sigma_a, sin / sigma_b) of an angle its mean has the length cos Delta_a/sigma_a + sin Delta_b/sigma_b in units of its
    noise, which is at most the hypotenuse (Cauchy and Schwarz).
    """
    return NoncentralChiSquareTradeOff(d, 0.0, float(np.hypot(delta_a / sigma_a, delta_b / sigma_b)) ** 2)


def both_sampled(delta_a: float, delta_b: float, sigma_a: float, sigma_b: float, d: int) -> Draws:
    """Both releases sampled, and the norm of the log-likelihood-weighted sum."""
    rng, games = np.random.default_rng(0), max(2000, 400_000 // d)
    shift, sigma = np.array([delta_a, delta_b]), np.array([sigma_a, sigma_b])
    # Of the other coordinates only the sum of squares is seen.
    line = rng.standard_normal((2, games, 2)) * sigma
    line[1] += shift
    weights = shift / sigma**2
    rest = np.sum((weights * sigma) ** 2) * rng.chisquare(d - 1, (2, games)) if d > 1 else 0.0
    return Draws(
        *((line @ weights) ** 2 + rest),
        how=f"NumPy, {games:,} pairs of releases a world, seed 0, with the weights Delta/sigma^2",
    )
