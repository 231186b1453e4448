"""What rare events need to know of a score: its cumulants in both worlds, and how to draw its tilted laws."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import equinox as eqx
import numpy as np

from mipsim.attacks.likelihood_ratio import LikelihoodRatio
from mipsim.engine.samplers.base import AbstractSampler
from mipsim.games.fixed_target import FixedTarget
from mipsim.mechanisms.release import Release

OUT, IN = 0, 1


class Cumulant(NamedTuple):
    """K(theta) = log E exp(theta S), and the mean K'(theta) and variance K''(theta) of S under the tilted law."""

    value: float
    mean: float
    variance: float


class AbstractTiltedScore(ABC):
    """A score S whose tilted laws dP_theta = exp(theta S - K(theta)) dP are known exactly and can be sampled.

    The likelihood ratio dP / dP_theta = exp(K(theta) - theta S) depends on the score alone, so it is at most
    exp(K(theta) - theta t) on {S > t} for theta >= 0, and on {S <= t} for theta <= 0.

    Source: Asmussen & Glynn (2007), chapter VI.2.
    """

    name: str
    mean: Release
    """What the mechanism's `plain_mean` returns."""

    @abstractmethod
    def cumulant(self, theta: float, world: int) -> Cumulant:
        """K, K' and K'' at theta in the world OUT or IN; theta inside `reach(world)`."""

    @abstractmethod
    def reach(self, world: int) -> tuple[float, float]:
        """The open interval of theta in which K is finite; it holds 0, or begins there."""

    @abstractmethod
    def sampler(self, theta: float, world: int) -> tuple[AbstractSampler, int]:
        """What draws S under P_theta, and the world it must be called for. Called inside `exact_scope`."""

    def link(self, score: np.ndarray) -> np.ndarray:
        """The attack's own score at the values `score` of S, increasing; same shape. S itself if a member does not say more."""
        return np.asarray(score, dtype=np.float64)

    @property
    def plain_inside(self) -> bool:
        """Whether the "in" world is a mixture (of a release with and without the target), which is played untilted."""
        return self.mean.inclusion < 1.0

    @property
    def lattice(self) -> tuple[float, float] | None:
        """(a, h) if S takes the values a + h k only, k whole; None if it is not known to."""
        return None

    @property
    def is_log_ratio(self) -> bool:
        """Whether S is the exact log-likelihood ratio of the two worlds of this game."""
        return False


def ratio_matches(attack: LikelihoodRatio, game: FixedTarget, mean: Release) -> bool:
    """The same data, target, rows, noise and sub-sampling.
    >>> import mipsim as mi
    >>> game = mi.FixedTarget(mi.EmpiricalMean(), mi.Bernoulli([0.3]), n=10, target=[1.0])
    >>> mean = game.mechanism.plain_mean(10)
    >>> [ratio_matches(mi.LikelihoodRatio(game.mechanism, mi.Bernoulli([p]), 10), game, mean) for p in (0.3, 0.4)]
    [True, False]
    """
    aimed = attack.aim is None or np.array_equal(attack.aim, game.target)
    noise = np.broadcast_to(mean.variance * mean.rows, attack.noise_variance.shape)
    return bool(
        aimed
        and attack.rows == mean.rows
        and abs(attack.inclusion - mean.inclusion) < 1e-12
        and eqx.tree_equal(attack.data, game.data)
        and np.allclose(attack.noise_variance, noise, rtol=1e-12, atol=0.0)
    )
