"""The covariance score, with known or estimated moments, aimed at the game's target or at another."""

from typing import ClassVar, Protocol

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mipsim._validation import (
    finite_vector,
    noise_scale,
    positive_definite_factor,
    sample_size,
)
from mipsim._validation import moments as read_moments
from mipsim.attacks.base import AbstractLinearAttack, aimed_at
from mipsim.attacks.shrunk import LowRankInverse, ShrunkMoments


class Moments(Protocol):
    """Anything with a mean, shape (d,), and a covariance, shape (d,) (diagonal) or (d, d)."""

    @property
    def mean(self) -> np.ndarray:
        """Mean, shape (d,)."""
        ...

    @property
    def covariance(self) -> np.ndarray:
        """Variances, shape (d,), or the matrix, shape (d, d)."""
        ...


class CovarianceScore(AbstractLinearAttack):
    """(z - mu)' Sigma^-1 (output - mu) - ||z - mu||^2_{Sigma^-1} / (2 n).

    Args:
        moments: a distribution (known moments), `EstimatedMoments` or `ShrunkMoments` (reference points), or anything with
            `mean` (d,) and a positive definite `covariance` (d,) or (d, d).
        n: the number of records behind the output (for a sub-sample, the k = sampling_rate n rows sampled).
        target: the point the attack is aimed at, shape (d,); None = the target of each game. Giving a point
            that is not the game's target is the misspecified attack.
        record_deviation: standard deviation, per record, of Gaussian noise that the mechanism adds (see
            `GaussianNoise`), >= 0, a number or shape (d,); the attack then uses C + diag(record_deviation^2).

    Source: Azize & Basu (2025), equation 5; section 3 for estimated moments; theorem 4.3 for another target.

    Examples:
        >>> import mipsim as mi, numpy as np
        >>> attack = CovarianceScore(mi.Bernoulli([0.5, 0.5]), n=10, target=[1.0, 1.0])
        >>> print(attack.score(np.ones(2), np.array([0.6, 0.5])).round(4))
        0.1
    """

    SIZES: ClassVar[tuple[str, ...]] = ("n",)

    mean: np.ndarray
    precision: np.ndarray | LowRankInverse
    aim: np.ndarray | None
    n: int

    def __init__(
        self, moments: Moments, n: int, target: object = None, record_deviation: object = 0.0
    ) -> None:
        self.n = sample_size(n)
        self.mean = finite_vector("moments.mean", read_moments("moments", moments).mean)
        dimension = self.mean.shape[0]
        noise = noise_scale("record_deviation", record_deviation, dimension)
        if isinstance(moments, ShrunkMoments) and not noise.any():
            self.precision = moments.inverse
        else:
            self.precision = _inverse(np.asarray(moments.covariance, dtype=np.float64), noise**2, dimension)
        self.aim = None if target is None else finite_vector("target", target, dimension)

    def weights(self, target: Float[Array, " d"]) -> Float[Array, " d"]:
        """Sigma^-1 (z - mu), shape (d,)."""
        difference = aimed_at(self.aim, target, self.mean.shape[0]) - self.mean
        if isinstance(self.precision, LowRankInverse):
            return self.precision.apply(difference)
        return difference * self.precision if self.precision.ndim == 1 else difference @ self.precision

    def offset(self, target: Float[Array, " d"]) -> Float[Array, ""]:
        """-weights . mu - ||z - mu||^2_{Sigma^-1} / (2 n)."""
        aim = aimed_at(self.aim, target, self.mean.shape[0])
        w = self.weights(target)
        return -jnp.sum(w * self.mean) - jnp.sum(w * (aim - self.mean)) / (2 * self.n)

    def offsets(self, target: np.ndarray) -> np.ndarray | None:
        if self.aim is not None or isinstance(self.precision, LowRankInverse) or self.precision.ndim > 1:
            return None
        away = target - self.mean
        return -away * self.precision * (self.mean + away / (2 * self.n))


def _inverse(covariance: np.ndarray, noise_variance: np.ndarray, dimension: int) -> np.ndarray:
    if covariance.shape == (dimension,):
        total = covariance + noise_variance
        if not (np.isfinite(total).all() and (total > 0).all()):
            worst = int(np.argmin(np.where(np.isfinite(total), total, -np.inf)))
            raise ValueError(
                f"covariance is {total[worst]} at coordinate {worst}; every variance must be > 0"
            )
        return 1.0 / total
    if covariance.shape != (dimension, dimension):
        allowed = f"({dimension},) or ({dimension}, {dimension})"
        raise ValueError(f"covariance has shape {covariance.shape}; it must have shape {allowed}")
    total = covariance + np.diag(np.broadcast_to(noise_variance, (dimension,)))
    positive_definite_factor("covariance", total)
    return np.linalg.inv(total)
