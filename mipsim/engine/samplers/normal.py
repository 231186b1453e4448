"""Linear and quadratic scores of Gaussian data by their own laws: a draw or two a game, whatever n and d are."""

from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mipsim.attacks.base import AbstractAttack, AbstractLinearAttack
from mipsim.attacks.covariance import CovarianceScore
from mipsim.attacks.quadratic import AbstractQuadraticAttack
from mipsim.attacks.shrunk import LowRankInverse
from mipsim.distributions.gaussian import Gaussian
from mipsim.engine.random.counter import GameDraws, chi_square, normals, words_of
from mipsim.engine.samplers.base import BLOCK, AbstractSampler, Coin, RowCount, row_count
from mipsim.forms.problem import FixedProblem, Problem
from mipsim.forms.score import line_at, quadratic_form_of

_SAME = 1e-10  # how far two matrices may be from proportional, relatively: rounding, not modelling


class NormalSampler(AbstractSampler):
    """A linear score of Gaussian data: a float64 normal a game.

    Side 0 is the law of the score without the target among the rows, side 1 with it.
    """

    fidelity: ClassVar[str] = "projected"
    name: ClassVar[str] = "projected"
    # mean, sd: of the score on either side, shape (2,)
    mean: Float[Array, "2"]
    sd: Float[Array, "2"]
    coin: Coin  # whether the target, if a member, is among the rows of the release

    def scores(self, draws: GameDraws) -> Float[Array, " G"]:
        side = self.coin.side(draws)
        return self.mean[side] + self.sd[side] * normals(draws)


class _Line(NamedTuple):
    """What a linear score sees of the game: a row's mean and variance in it, the target's share, the noise's variance."""

    offset: float | Array
    row_mean: float | Array
    row_variance: float | Array
    target: float | Array
    noise: float | Array


class PoissonNormalSampler(AbstractSampler):
    """A linear score of Gaussian data whose rows are included by coins: a binomial count and a normal a game."""

    fidelity: ClassVar[str] = "projected"
    name: ClassVar[str] = "projected"
    count: RowCount  # how many rows are included besides the target
    line: _Line  # what the score sees of a row, of the target and of the noise
    coin: Coin  # whether the target is included

    def scores(self, draws: GameDraws) -> Float[Array, " G"]:
        side = self.coin.side(draws)
        rows = self.count.of_games(draws).astype(jnp.float64)
        mean = self.line.offset + rows * self.line.row_mean + side * self.line.target
        sd = jnp.sqrt(rows * self.line.row_variance + self.line.noise)
        return mean + sd * normals(draws)


class RandomNormalSampler(AbstractSampler):
    """The covariance score of Gaussian data for a random target: |t|^2 of the target and a normal a game.

    In coordinates where a record is N(0, I) the target is t ~ N(0, I_d), and given it the score is
    scale (|t| s Z + share |t|^2) + slope |t|^2: only |t|^2 ~ chi2_d matters.
    """

    fidelity: ClassVar[str] = "projected"
    name: ClassVar[str] = "projected"
    scale: Float[Array, ""]
    sd: Float[Array, "2"]  # s on either side, shape (2,)
    share: Float[Array, "2"]  # what the target adds to the mean, 0 or 1/rows, shape (2,)
    slope: Float[Array, ""]  # of the constant term
    coin: Coin  # as in `NormalSampler`
    degrees: int = eqx.field(static=True)  # d

    def scores(self, draws: GameDraws) -> Float[Array, " G"]:
        side = self.coin.side(draws)
        square = chi_square(words_of(draws), self.degrees, draws.games.shape[0])
        normal = normals(draws)
        along = jnp.sqrt(square) * self.sd[side] * normal + self.share[side] * square
        return self.scale * along + self.slope * square


def normal_sampler(problem: FixedProblem[Gaussian, AbstractLinearAttack]) -> AbstractSampler | None:
    """The sampler of a linear score of Gaussian data by its own distribution. Must be called inside `exact_scope`."""
    data, release, attack = problem.data, problem.mean, problem.attack
    weights, offset = line_at(attack, problem.target)
    pulled = weights * data.factor if data.is_product else weights @ data.factor
    rows, noise = (float(weights @ data.mean), float(pulled @ pulled)), np.sum(weights**2 * release.variance)
    line = _Line(offset, *rows, float(weights @ problem.row), float(noise))
    k, expected = release.rows, release.rows * release.rate
    if release.rate == 1.0:
        means = line.offset + np.array([line.row_mean, ((k - 1) * line.row_mean + line.target) / k])
        return NormalSampler(
            mean=jnp.asarray(means),
            sd=jnp.sqrt(jnp.array([k, k - 1.0]) * line.row_variance / float(k) ** 2 + line.noise),
            coin=Coin(release.inclusion),
            block=BLOCK,
        )
    of_row = line.row_mean / expected, line.row_variance / expected**2
    scaled = _Line(*map(jnp.asarray, (line.offset, *of_row, line.target / expected, line.noise)))
    count = row_count(k, release.rate)
    return count and PoissonNormalSampler(count=count, line=scaled, coin=Coin(release.rate), block=BLOCK)


def random_normal_sampler(problem: Problem[Gaussian, CovarianceScore]) -> RandomNormalSampler | None:
    """The sampler of the covariance score of a random target, or None where that is of another covariance. Inside `exact_scope`."""
    data, release, attack = problem.data, problem.mean, problem.attack
    if isinstance(attack.precision, LowRankInverse):
        return None
    scale, k = multiple(attack.precision, data.cov, 1.0, np.zeros(())), release.rows
    # Noise must have the shape of the data: its variance per unit of theirs is the same in every direction.
    noisy = release.has_gaussian_noise
    both = multiple(attack.precision, data.cov, 1.0, release.variance) if noisy else scale
    if scale is None or both is None:
        return None
    return RandomNormalSampler(
        scale=jnp.asarray(scale),
        sd=jnp.sqrt(jnp.array([k, k - 1.0]) / float(k) ** 2 + (both / scale - 1.0)),
        share=jnp.asarray(np.array([0.0, 1.0 / k])),
        slope=jnp.asarray(-scale / (2.0 * attack.n)),
        coin=Coin(release.inclusion),
        degrees=data.dimension,
        block=BLOCK,
    )


def multiple(metric: np.ndarray, cov: np.ndarray, share: float, noise: np.ndarray) -> float | None:
    """S > 0 if metric (share cov + diag(noise)) = s I, to rounding; else None."""
    if metric.ndim == 1 and cov.ndim == 1:
        products = metric * (share * cov + noise)
        scale = float(products.mean())
        return scale if scale > 0 and np.ptp(products) <= _SAME * scale else None
    full = [np.diag(x) if x.ndim == 1 else x for x in (metric, cov)]
    d = cov.shape[0]
    product = full[0] @ (share * full[1] + np.diag(np.broadcast_to(noise, (d,))))
    scale = float(np.trace(product)) / d
    return scale if scale > 0 and np.abs(product - scale * np.eye(d)).max() <= _SAME * scale else None


class QuadraticSampler(AbstractSampler):
    """A score that is a function of a quadratic form, scale ((Z + shift)^2 + chi2_{d-1}): two draws a game."""

    fidelity: ClassVar[str] = "projected"
    name: ClassVar[str] = "projected"
    attack: AbstractQuadraticAttack  # whose `value` makes the score of the form
    target: Float[Array, " d"]  # z*, shape (d,)
    # scale, shift: of the form on either side, shape (2,)
    scale: Float[Array, "2"]
    shift: Float[Array, "2"]
    coin: Coin  # as in `NormalSampler`
    degrees: int = eqx.field(static=True)  # d - 1

    def scores(self, draws: GameDraws) -> Float[Array, " G"]:
        side = self.coin.side(draws)
        rest = chi_square(words_of(draws), self.degrees, draws.games.shape[0])
        along = normals(draws) + self.shift[side]
        square = self.scale[side] * (along**2 + rest)
        return jax.vmap(lambda s: self.attack.value(self.target, s))(square).astype(jnp.float64)


def quadratic_sampler(problem: FixedProblem[Gaussian, AbstractAttack]) -> QuadraticSampler | None:
    """The sampler of a quadratic score by its own distribution, or None where its metric is of another shape. Inside `exact_scope`."""
    data, release, form = problem.data, problem.mean, quadratic_form_of(problem.attack)
    assert form is not None
    target = jnp.asarray(problem.target)
    centre = np.asarray(form.centre(target), dtype=np.float64)
    metric = np.asarray(form.metric(target), dtype=np.float64)
    k = release.rows
    # Metric x covariance of the output must be a multiple of the identity, on either side.
    scales = [multiple(metric, data.cov, share, release.variance) for share in (1.0 / k, (k - 1.0) / k**2)]
    known = [scale for scale in scales if scale is not None]
    if len(known) < 2:
        return None
    means = [data.mean, data.mean + (problem.row - data.mean) / k]
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
