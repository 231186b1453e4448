"""Linear scores of a mean: tilting the score tilts the law of every record."""

from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mipsim._precision import exact_scope
from mipsim.attacks.base import AbstractLinearAttack
from mipsim.distributions.base import AbstractDistribution
from mipsim.distributions.bernoulli import Bernoulli
from mipsim.distributions.discrete import Discrete
from mipsim.distributions.empirical import Empirical
from mipsim.engine.random.counter import Draws
from mipsim.engine.samplers.base import AbstractSampler
from mipsim.forms.score import line_at
from mipsim.games.fixed_target import FixedTarget
from mipsim.mechanisms.mean import EmpiricalMean
from mipsim.mechanisms.noise import GaussianNoise
from mipsim.mechanisms.release import Release
from mipsim.rare.thinning import untilted
from mipsim.rare.tilted_score import IN, AbstractTiltedScore, Cumulant

_COARSE = 1e-4  # of the score's standard deviation: a finer lattice is as good as none


class _FixedWeights(AbstractLinearAttack):
    """weights . output + constant."""

    slope: np.ndarray
    constant: np.ndarray

    def weights(self, target: Float[Array, " d"]) -> Float[Array, " d"]:
        return jnp.asarray(self.slope)

    def offset(self, target: Float[Array, " d"]) -> Float[Array, ""]:
        return jnp.asarray(self.constant)


class _Shifted(AbstractSampler):
    """Another sampler's scores plus a constant: a Gaussian term of the score, tilted."""

    fidelity: ClassVar[str] = "sufficient"
    name: ClassVar[str] = "shifted"
    base: AbstractSampler
    shift: Float[Array, ""]

    def scores(self, draws: Draws) -> Float[Array, " G"]:
        return self.base.scores(draws) + self.shift


class LinearScore(AbstractTiltedScore):
    """S = offset + weights . (mean of the rows + Gaussian noise).

    K_out(theta) = theta offset + k L(theta w / k) + theta^2 s^2 / 2 with k rows, L the log moment-generating function
    of a record and s^2 the variance of the noise in S; in the "in" world k - 1 rows and the target's w . z / k.
    The tilted law is the same game with tilted records, its noise shifted by theta s^2.

    `game`: a fixed-target game of a mean; `mean`: what the mechanism's `plain_mean` returns.
    """

    name = "linear score, tilted records"

    def __init__(self, game: FixedTarget, mean: Release, attack: AbstractLinearAttack) -> None:
        with exact_scope():
            self._w, self._offset = line_at(attack, game.target)
        if not np.any(self._w):
            raise ValueError("attack has the weight 0 at every coordinate, so that its score is constant")
        self.mean = mean
        self._noise = float(np.sum(self._w**2 * mean.variance))
        self._data: AbstractDistribution = game.data
        self._game = game
        if isinstance(game.data, Empirical):
            self._project(game)
        self._data.tilted(np.zeros(self._w.size))  # raises where the law has no tilted law

    def _project(self, game: FixedTarget) -> None:
        """A row enters the score through w . row alone: a single coordinate with as many values as there are rows."""
        values, counts = np.unique(game.data.records @ self._w, return_counts=True)  # pyright: ignore[reportAttributeAccessIssue]
        if values.size < 2:
            raise ValueError("attack gives every record the same score, so that nothing is rare")
        rows = self.mean.rows
        self._data = Discrete(values, counts / counts.sum())
        noise = GaussianNoise(EmpiricalMean(), np.sqrt(self._noise * rows))
        self._game = FixedTarget(noise, self._data, rows, [float(game.target @ self._w)])
        self._w = np.ones(1)

    def cumulant(self, theta: float, world: int) -> Cumulant:
        k, w = self.mean.rows, self._w
        law, item = self._data.tilted(theta * w / k)
        rows = k - (world == IN)
        fixed = self._offset + (float(w @ self._game.target) / k if world == IN else 0.0)
        covariance = law.covariance
        spread = w**2 @ covariance if covariance.ndim == 1 else w @ covariance @ w
        return Cumulant(
            theta * fixed + rows * item + 0.5 * theta**2 * self._noise,
            fixed + rows / k * float(w @ law.mean) + theta * self._noise,
            rows / k**2 * float(spread) + self._noise,
        )

    def reach(self, world: int) -> tuple[float, float]:
        direction = self._w / self.mean.rows
        return -self._data.greatest_slope(-direction), self._data.greatest_slope(direction)

    def sampler(self, theta: float, world: int) -> tuple[AbstractSampler, int]:
        law, _ = self._data.tilted(theta * self._w / self.mean.rows)
        game = FixedTarget(self._game.mechanism, law, self._game.n, self._game.target)
        base = untilted(game, _FixedWeights(self._w, np.asarray(self._offset)))
        if self._noise == 0.0 or theta == 0.0:
            return base, world
        shift = jnp.asarray(theta * self._noise)
        return _Shifted(base=base, shift=shift, block=base.block), world

    @property
    def lattice(self) -> tuple[float, float] | None:
        """Bernoulli counts with weights that are whole multiples of a number."""
        if type(self._data) is not Bernoulli or self._noise > 0.0:
            return None
        sizes = np.abs(self._w[self._w != 0])
        share = sizes / sizes.min()
        if (np.abs(share - np.rint(share)) > 1e-9 * share).any():
            return None
        step = float(sizes.min()) / self.mean.rows
        return (self._offset, step) if step > _COARSE * np.sqrt(self.cumulant(0.0, 0).variance) else None
