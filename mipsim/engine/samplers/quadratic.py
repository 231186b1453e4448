"""A score that is a function of a quadratic form in a Gaussian output: two draws a game."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mipsim.attacks.base import AbstractAttack
from mipsim.attacks.quadratic import AbstractQuadraticAttack
from mipsim.distributions.gaussian import Gaussian
from mipsim.engine.random.counter import Draws, chi_square, normals, words_of
from mipsim.engine.samplers.base import AbstractSampler
from mipsim.engine.samplers.coin import BLOCK, Coin
from mipsim.engine.samplers.normal import multiple
from mipsim.forms.release import mean_of
from mipsim.forms.score import quadratic_form_of
from mipsim.games.base import AbstractMembershipGame
from mipsim.games.fixed_target import FixedTarget


class QuadraticSampler(AbstractSampler):
    """A score that is a function of a quadratic form, scale ((Z + shift)^2 + chi2_{d-1}): two draws a game.

    Attributes:
        attack: whose `value` makes the score of the form.
        target: z*, shape (d,).
        scale, shift: of the form on either side, shape (2,).
        degrees: d - 1.
        coin: as in `NormalSampler`.
    """

    fidelity: ClassVar[str] = "projected"
    name: ClassVar[str] = "quadratic"
    attack: AbstractQuadraticAttack
    target: Float[Array, " d"]
    scale: Float[Array, "2"]
    shift: Float[Array, "2"]
    coin: Coin
    degrees: int = eqx.field(static=True)
    block: int = eqx.field(static=True)

    def scores(self, draws: Draws) -> Float[Array, " G"]:
        side = self.coin.side(draws)
        rest = chi_square(words_of(draws), self.degrees, draws.games.shape[0])
        along = normals(draws) + self.shift[side]
        square = self.scale[side] * (along**2 + rest)
        return jax.vmap(lambda s: self.attack.value(self.target, s))(square).astype(jnp.float64)


def quadratic_sampler(game: AbstractMembershipGame, attack: AbstractAttack) -> QuadraticSampler | None:
    """The sampler of a quadratic score of Gaussian data by its own law, or None. Must be called inside `exact_scope`."""
    release, form = mean_of(game.mechanism, game.n), quadratic_form_of(attack)
    if not isinstance(game, FixedTarget) or not isinstance(game.data, Gaussian):
        return None
    if release is None or form is None:
        return None
    data, target = game.data, jnp.asarray(game.target)
    centre = np.asarray(form.centre(target), dtype=np.float64)
    metric = np.asarray(form.metric(target), dtype=np.float64)
    k = release.rows
    # Metric x covariance of the output must be a multiple of the identity, on either side.
    scales = [multiple(metric, data.cov, share, release.variance) for share in (1.0 / k, (k - 1.0) / k**2)]
    known = [scale for scale in scales if scale is not None]
    if len(known) < 2:
        return None
    means = [data.mean, data.mean + (game.target - data.mean) / k]
    shifts = []
    for mean, scale in zip(means, known, strict=True):
        away = mean - centre
        pulled = metric * away if metric.ndim == 1 else metric @ away
        shifts.append(np.sqrt(max(float(away @ pulled), 0.0) / scale))
    return QuadraticSampler(
        attack=form,
        target=target,
        scale=jnp.asarray(np.array(known)),
        shift=jnp.asarray(np.array(shifts)),
        coin=Coin(release.inclusion),
        degrees=data.dimension - 1,
        block=BLOCK,
    )
