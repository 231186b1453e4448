"""When a score has a law of one or two dimensions, and its parameters, in NumPy, once per run."""

from dataclasses import dataclass
from typing import TypeGuard

import jax.numpy as jnp
import numpy as np

from mipsim.attacks.base import AbstractAdditiveAttack, AbstractAttack, AbstractLinearAttack
from mipsim.attacks.covariance import CovarianceScore
from mipsim.attacks.likelihood_ratio import LikelihoodRatio
from mipsim.attacks.quadratic import AbstractQuadraticAttack
from mipsim.distributions.binomial_table import MOST_BITS, binomial_table, table_bits
from mipsim.distributions.empirical import Empirical
from mipsim.distributions.gaussian import Gaussian
from mipsim.engine.projected import (
    NormalSampler,
    PoissonNormalSampler,
    QuadraticSampler,
    RandomNormalSampler,
    RecordSumSampler,
)
from mipsim.engine.sampler import AbstractSampler
from mipsim.engine.tabulate import NoisyMean, as_noisy_mean
from mipsim.games.base import AbstractGame
from mipsim.games.fixed_target import FixedTarget
from mipsim.games.random_target import RandomTarget
from mipsim.mechanisms.noise import GaussianNoise
from mipsim.mechanisms.subsample import PoissonSubsampled

_BLOCK = 16384
_SAME = 1e-10
"""How far two matrices may be from proportional, relatively: rounding, not modelling."""

_MOST_RECORDS = 2**20


@dataclass(frozen=True)
class _Poisson:
    """The sum of the rows kept with probability `rate`, over n rate; then noise of the given variance."""

    rate: float
    variance: np.ndarray


def projected_sampler(game: AbstractGame, attack: AbstractAttack) -> AbstractSampler | None:
    """The sampler of the score's own law, or None where that has more dimensions. Must be called inside `exact_scope`.

    Examples:
        >>> import mipsim as mi
        >>> from mipsim.engine.precision import exact_scope
        >>> data = mi.Gaussian([0.0, 1.0], 1.0)
        >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=10, target=[1.0, 1.0])
        >>> with exact_scope():
        ...     projected_sampler(game, mi.CovarianceScore(data, n=10)).name
        'normal'
    """
    mechanism = _read(game)
    if mechanism is None:
        return None
    if type(game) is FixedTarget:
        if _is_linear(attack):
            if type(game.data) is Gaussian:
                return _normal(game, game.data, mechanism, attack)
            if type(game.data) is Empirical and isinstance(mechanism, NoisyMean):
                return _records(game, game.data, mechanism, attack)
        quadratic = attack.as_quadratic() if type(attack) is LikelihoodRatio else attack
        if type(game.data) is Gaussian and _is_quadratic(quadratic) and isinstance(mechanism, NoisyMean):
            return _quadratic(game, game.data, mechanism, quadratic)
    if type(game) is RandomTarget and type(game.data) is Gaussian and isinstance(mechanism, NoisyMean):
        return _random_normal(game.data, mechanism, attack)
    return None


def _read(game: AbstractGame) -> NoisyMean | _Poisson | None:
    mean = as_noisy_mean(game.mechanism, game.n)
    if mean is not None:
        return mean
    mechanism, variance = game.mechanism, np.zeros(())
    while type(mechanism) is GaussianNoise:
        variance = variance + np.asarray(mechanism.gamma, dtype=np.float64) ** 2 / game.n
        mechanism = mechanism.base
    return _Poisson(mechanism.rate, variance) if type(mechanism) is PoissonSubsampled else None


def _is_linear(attack: object) -> TypeGuard[AbstractLinearAttack]:
    return (
        isinstance(attack, AbstractLinearAttack)
        and type(attack).score is AbstractAdditiveAttack.score
        and type(attack).contributions is AbstractLinearAttack.contributions
        and type(attack).link is AbstractLinearAttack.link
    )


def _is_quadratic(attack: object) -> TypeGuard[AbstractQuadraticAttack]:
    return isinstance(attack, AbstractQuadraticAttack) and type(attack).score is AbstractQuadraticAttack.score


def _line(game: FixedTarget, attack: AbstractLinearAttack) -> tuple[np.ndarray, float]:
    """Weights and offset of a linear score at the game's target."""
    target = jnp.asarray(game.target)
    return np.asarray(attack.weights(target), dtype=np.float64), float(attack.offset(target))


def _normal(
    game: FixedTarget, data: Gaussian, mechanism: NoisyMean | _Poisson, attack: AbstractLinearAttack
) -> AbstractSampler | None:
    weights, offset = _line(game, attack)
    row_mean = float(weights @ data.mean)
    pulled = weights * data.factor if data.is_product else weights @ data.factor
    row_variance = float(pulled @ pulled)
    noise = float(np.sum(weights**2 * mechanism.variance))
    shift = float(weights @ game.target)
    if isinstance(mechanism, NoisyMean):
        k = mechanism.rows
        means = offset + np.array([row_mean, ((k - 1) * row_mean + shift) / k])
        return NormalSampler(
            mean=jnp.asarray(means),
            sd=jnp.sqrt(jnp.array([k, k - 1.0]) * row_variance / k**2 + noise),
            drawn=jnp.asarray(mechanism.drawn),
            has_coin=mechanism.drawn < 1.0,
            block=_BLOCK,
        )
    rate, n = np.array([mechanism.rate]), game.n
    if mechanism.rate == 1.0 or table_bits(n, rate) > MOST_BITS:
        return None
    bits = table_bits(n, rate)
    tables = [binomial_table(n - member, rate, bits) for member in (0, 1)]
    expected = n * mechanism.rate
    return PoissonNormalSampler(
        counts=jnp.asarray(np.concatenate([t.entries for t in tables])),
        low=jnp.asarray(np.concatenate([t.low for t in tables])),
        offset=jnp.asarray(offset),
        target_mean=jnp.asarray(shift / expected),
        row_mean=jnp.asarray(row_mean / expected),
        row_variance=jnp.asarray(row_variance / expected**2),
        noise_variance=jnp.asarray(noise),
        drawn=jnp.asarray(mechanism.rate),
        bits=bits,
        block=_BLOCK,
    )


def _records(
    game: FixedTarget, data: Empirical, mean: NoisyMean, attack: AbstractLinearAttack
) -> RecordSumSampler | None:
    if data.records.shape[0] > _MOST_RECORDS:
        return None
    weights, offset = _line(game, attack)
    # Counted from the records' mean, so that no digit is lost to a constant.
    values = (data.records - data.mean) @ weights / mean.rows
    target = float((game.target - data.mean) @ weights) / mean.rows
    noise = float(np.sqrt(np.sum(weights**2 * mean.variance)))
    greatest = max(float(np.abs(values).max()), abs(target))
    unit = greatest * mean.rows / 2.0**52 if greatest > 0 else 1.0  # a sum stays exact as a float64
    return RecordSumSampler(
        values=jnp.asarray(np.rint(values / unit).astype(np.int64)),
        target_value=jnp.asarray(round(target / unit), jnp.int64),
        unit=jnp.asarray(unit),
        offset=jnp.asarray(offset + float(weights @ data.mean)),
        noise=jnp.asarray(noise),
        drawn=jnp.asarray(mean.drawn),
        rows=mean.rows,
        has_coin=mean.drawn < 1.0,
        has_noise=noise > 0,
        block=_BLOCK // 4,
    )


def _quadratic(
    game: FixedTarget, data: Gaussian, mean: NoisyMean, attack: AbstractQuadraticAttack
) -> QuadraticSampler | None:
    target = jnp.asarray(game.target)
    centre = np.asarray(attack.centre(target), dtype=np.float64)
    metric = np.asarray(attack.metric(target), dtype=np.float64)
    k = mean.rows
    # Metric x covariance of the output must be a multiple of the identity, on either side.
    scales = [_multiple(metric, data.cov, share, mean.variance) for share in (1.0 / k, (k - 1.0) / k**2)]
    if None in scales:
        return None
    means = [data.mean, data.mean + (game.target - data.mean) / k]
    shifts = []
    known = [scale for scale in scales if scale is not None]
    for centre_of, scale in zip(means, known, strict=True):
        away = centre_of - centre
        pulled = metric * away if metric.ndim == 1 else metric @ away
        shifts.append(np.sqrt(max(float(away @ pulled), 0.0) / scale))
    return QuadraticSampler(
        attack=attack,
        target=target,
        scale=jnp.asarray(np.array(known)),
        shift=jnp.asarray(np.array(shifts)),
        drawn=jnp.asarray(mean.drawn),
        degrees=data.dimension - 1,
        has_coin=mean.drawn < 1.0,
        block=_BLOCK,
    )


def _random_normal(data: Gaussian, mean: NoisyMean, attack: AbstractAttack) -> RandomNormalSampler | None:
    if type(attack) is not CovarianceScore or attack.aim is not None:
        return None
    if not np.array_equal(attack.mean, data.mean):
        return None
    scale = _multiple(attack.precision, data.cov, 1.0, np.zeros(()))
    k = mean.rows
    # Noise must have the shape of the data: its variance per unit of theirs is the same in every direction.
    noisy = bool((mean.variance > 0).any())
    both = _multiple(attack.precision, data.cov, 1.0, mean.variance) if noisy else scale
    if scale is None or both is None:
        return None
    noise = both / scale - 1.0
    return RandomNormalSampler(
        scale=jnp.asarray(scale),
        sd=jnp.sqrt(jnp.array([k, k - 1.0]) / k**2 + noise),
        share=jnp.asarray(np.array([0.0, 1.0 / k])),
        slope=jnp.asarray(-scale / (2.0 * attack.n)),
        drawn=jnp.asarray(mean.drawn),
        degrees=data.dimension,
        has_coin=mean.drawn < 1.0,
        block=_BLOCK,
    )


def _multiple(metric: np.ndarray, cov: np.ndarray, share: float, noise: np.ndarray) -> float | None:
    """S > 0 if metric (share cov + diag(noise)) = s I, to rounding; else None."""
    if metric.ndim == 1 and cov.ndim == 1:
        products = metric * (share * cov + noise)
        scale = float(products.mean())
        return scale if scale > 0 and np.ptp(products) <= _SAME * scale else None
    full = [np.diag(x) if x.ndim == 1 else x for x in (metric, cov)]
    d = cov.shape[0]
    product = full[0] @ (share * full[1] + np.diag(np.broadcast_to(noise, (d,))))
    scale = float(np.trace(product)) / d
    if not scale > 0 or np.abs(product - scale * np.eye(d)).max() > _SAME * scale:
        return None
    return scale
