"""The exact law of a score of the relaxed threat model, where the noise is Gaussian."""

import numpy as np

from mipsim.attacks.base import AbstractAttack
from mipsim.distributions.gaussian import Gaussian
from mipsim.exact.law import AbstractScoreLaw
from mipsim.exact.quadratic import gaussian_output_law
from mipsim.games.relaxed_threat import RelaxedThreat


def relaxed_law(game: RelaxedThreat, attack: AbstractAttack) -> AbstractScoreLaw | None:
    """A linear or quadratic score of query(D) + Gaussian noise, which the record shifts; None for others.

    The magnitude test in white noise is a chi-square, non-central "in"; with a rate below 1, a mixture with the central one.

    Source: Kaissis et al. (2023), lemma 4 and theorem 2.

    Examples:
        >>> import mipsim as mi
        >>> game = mi.RelaxedThreat(lambda rows: rows.sum(axis=0), [[0.0], [1.0]], [2.0], mi.Gaussian(0.0, 1.0, d=1))
        >>> curve = game.exact(mi.Magnitude())
        >>> print(curve.beta(0.05).round(6))  # Phi(1.96 - 2) - Phi(-1.96 - 2)
        0.483995
    """
    if not isinstance(game.noise, Gaussian) or game.shadows:
        return None
    centre = game.known + game.noise.mean
    centres, covariance = np.stack([centre, centre + game.shift]), np.asarray(game.noise.cov)
    return gaussian_output_law(attack, game.known, centres, [covariance, covariance], game.rate)
