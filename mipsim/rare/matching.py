"""Whether a likelihood-ratio attack is the likelihood ratio of the very game that is played."""

import equinox as eqx
import numpy as np

from mipsim.attacks.likelihood_ratio import LikelihoodRatio
from mipsim.forms.release import Release
from mipsim.games.fixed_target import FixedTarget


def ratio_matches(attack: LikelihoodRatio, game: FixedTarget, mean: Release) -> bool:
    """The same data, target, rows, noise and sub-sampling.

    Examples:
        >>> import mipsim as mi
        >>> from mipsim.forms.release import mean_of
        >>> game = mi.FixedTarget(mi.EmpiricalMean(), mi.Bernoulli([0.3]), n=10, target=[1.0])
        >>> mean = mean_of(game.mechanism, 10)
        >>> [ratio_matches(mi.LikelihoodRatio(game.mechanism, mi.Bernoulli([p]), 10), game, mean) for p in (0.3, 0.4)]
        [True, False]
    """
    aimed = attack.aim is None or np.array_equal(attack.aim, game.target)
    noise = np.broadcast_to(mean.variance * mean.rows, attack.noise_variance.shape)
    return bool(
        aimed
        and attack.rows == mean.rows
        and abs(attack.rho - mean.drawn) < 1e-12
        and eqx.tree_equal(attack.data, game.data)
        and np.allclose(attack.noise_variance, noise, rtol=1e-12, atol=0.0)
    )
