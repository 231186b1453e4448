"""The exact likelihood ratio of a mean of Gaussian records: a tilted law is a Gaussian between the two worlds."""

from __future__ import annotations

import numpy as np
from jaxtyping import Array, Float

from mipsim.attacks.base import AbstractAdditiveAttack, AbstractAttack
from mipsim.attacks.likelihood_ratio import GaussianLikelihoodRatio, LikelihoodRatio
from mipsim.distributions.gaussian import Gaussian
from mipsim.engine.samplers.base import AbstractSampler
from mipsim.forms.score import link_at
from mipsim.games.fixed_target import FixedTarget
from mipsim.mechanisms.mean import EmpiricalMean
from mipsim.mechanisms.release import Release
from mipsim.rare.thinning import untilted
from mipsim.rare.tilted_score import IN, OUT, AbstractTiltedScore, Cumulant, ratio_matches


class _Total(AbstractAdditiveAttack):
    """The sum of another attack's terms, without its link."""

    base: LikelihoodRatio

    def contributions(self, target: Float[Array, " d"], output: Float[Array, " d"]) -> Float[Array, " d"]:
        return self.base.contributions(target, output)

    def link(self, target: Float[Array, " d"], total: Float[Array, ""]) -> Float[Array, ""]:
        return total


class GaussianRatio(AbstractTiltedScore):
    """S = log p_in / p_out with p_out = N(mu, V_out) and p_in = N(mu + shift, V_in), coordinate by coordinate.

    dP_theta is proportional to p_out^(1 - theta) p_in^theta: Gaussian with precision (1 - theta) / v_out + theta / v_in.
    K_in(theta) = K_out(1 + theta), and the "in" world tilted by theta is the "out" world tilted by 1 + theta.
    A full covariance is brought to the identity first.

    `game`: a fixed-target game of a mean of Gaussian records, with or without Gaussian noise; `mean`: what the
    mechanism's `plain_mean` returns; `attack`: the likelihood ratio of this game. Raises ValueError if the attack is the
    likelihood ratio of another game.
    """

    name = "Gaussian likelihood ratio, tilted between the worlds"

    def __init__(
        self, game: FixedTarget, mean: Release, attack: LikelihoodRatio | GaussianLikelihoodRatio
    ) -> None:
        data = game.data
        if not (isinstance(data, Gaussian) and _is_its_ratio(attack, game, mean)):
            raise ValueError(
                f"attack {type(attack).__name__} is the likelihood ratio of another game; the tilted law is known only "
                "for that of the game's own data, target, rows and noise"
            )
        self._game, self.mean, self._attack = game, mean, attack
        difference = game.target - data.location
        self._root = data.factor if not data.is_product else None
        if self._root is None:
            own, noise = data.cov, np.broadcast_to(mean.variance, data.cov.shape)
        else:
            difference = np.linalg.solve(self._root, difference)
            own, noise = np.ones(difference.size), np.zeros(difference.size)
        self._shift = difference / mean.rows
        self._out = own / mean.rows + noise
        self._in = self._out - own / mean.rows**2

    def _law(self, power: float) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of each coordinate under p_out^(1 - power) p_in^power."""
        variance = 1.0 / ((1.0 - power) / self._out + power / self._in)
        return variance * power * self._shift / self._in, variance

    def cumulant(self, theta: float, world: int) -> Cumulant:
        power = theta + (world == IN)
        m, v = self._law(power)
        logs = (1 - power) * np.log(self._out) + power * np.log(self._in) - np.log(v)
        squares = power * self._shift**2 / self._in - m**2 / v
        bend, slope = 0.5 * (1 / self._out - 1 / self._in), self._shift / self._in
        constant = 0.5 * np.log(self._out / self._in) - 0.5 * self._shift**2 / self._in
        mean = constant + bend * (v + m**2) + slope * m
        variance = 2.0 * bend**2 * v**2 + (2.0 * bend * m + slope) ** 2 * v
        return Cumulant(-0.5 * float((logs + squares).sum()), float(mean.sum()), float(variance.sum()))

    def reach(self, world: int) -> tuple[float, float]:
        least = float((-(1 / self._out) / (1 / self._in - 1 / self._out)).max())
        return least - (world == IN), np.inf

    def sampler(self, theta: float, world: int) -> tuple[AbstractSampler, int]:
        """A mean of as many Gaussian records as there are rows, always as the "out" world of another game."""
        data, rows = self._game.data, self.mean.rows
        assert isinstance(data, Gaussian)
        m, v = self._law(theta + (world == IN))
        if self._root is None:
            law = Gaussian(data.location + m, v * rows)
        else:  # all coordinates have a common variance: the covariance keeps its shape
            law = Gaussian(data.location + self._root @ m, data.cov * v[0] * rows)
        attack = _Total(self._attack) if isinstance(self._attack, LikelihoodRatio) else self._attack
        game = FixedTarget(EmpiricalMean(), law, rows, self._game.target)
        return untilted(game, attack), OUT

    def link(self, score: np.ndarray) -> np.ndarray:
        """The mixture with the release without the target, for a sub-sample."""
        if isinstance(self._attack, GaussianLikelihoodRatio):
            return np.asarray(score, dtype=np.float64)
        return link_at(self._attack, self._game.target, score)

    @property
    def is_log_ratio(self) -> bool:
        """True, but for a sub-sample, whose ratio is the link of S."""
        return not self.plain_inside


def _is_its_ratio(attack: AbstractAttack, game: FixedTarget, mean: Release) -> bool:
    if isinstance(attack, LikelihoodRatio):
        return ratio_matches(attack, game, mean)
    assert isinstance(attack, GaussianLikelihoodRatio)
    assert isinstance(game.data, Gaussian)
    full = game.data.cov if game.data.cov.ndim == 2 else np.diag(game.data.cov)
    return bool(
        (attack.aim is None or np.array_equal(attack.aim, game.target))
        and attack.n == mean.rows
        and mean.inclusion == 1.0
        and not np.any(mean.variance)
        and np.array_equal(attack.mean, game.data.location)
        and np.allclose(attack.precision @ full, np.eye(attack.mean.size), atol=1e-8)
    )
