"""A noisy step of gradient descent with clipped gradients."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim._validation import number, sample_size
from mipsim.distributions.transforms import NormClip
from mipsim.mechanisms.base import AbstractMechanism
from mipsim.mechanisms.release import Release


class SGDStep(AbstractMechanism):
    """(1/n) sum_i g_i min(1, clip / ||g_i||) + N(0, (noise_multiplier clip / n)^2 I): a step of DP-SGD.

    The records are the gradients of the n examples of the batch, a gradient per row; a game's target is the gradient of the
    target example. The noise has the convention of DP-SGD: its standard deviation is noise_multiplier x clip on the
    SUM of the clipped gradients, hence noise_multiplier x clip / n on the mean that is released. Leemann's tau is that
    of the mean: `noise_std(n)` gives it.

    A batch sampled from a larger data set is `Subsampled(SGDStep(...), sampling_rate)`.

    Args:
        clip: the largest Euclidean norm C of a gradient, > 0, in its units; `inf` does not clip.
        noise_multiplier: the standard deviation of the noise over clip / n, >= 0, without unit. It must be 0 where clip is `inf`, since the noise is stated in
            units of the clip; noise without clipping is `GaussianNoise(SGDStep(inf, 0), record_deviation)`.

    Source: Abadi et al. (2016), algorithm 1; Leemann, Pawelczyk & Kasneci (2023), section 5.

    Examples:
        >>> import numpy as np
        >>> step = SGDStep(clip=1.0, noise_multiplier=0.0)
        >>> print(step.release(jax.random.key(0), np.array([[3.0, 4.0], [0.0, 0.5]])))
        [0.3  0.65]
        >>> SGDStep(clip=2.0, noise_multiplier=5.0).noise_std(100)
        0.1
    """

    clip: float = eqx.field(static=True)
    noise_multiplier: float = eqx.field(static=True)

    def __init__(self, clip: float, noise_multiplier: float) -> None:
        unclipped = isinstance(clip, float) and clip == math.inf
        self.clip = math.inf if unclipped else number("clip", clip, 0.0, low_open=True)
        self.noise_multiplier = number("noise_multiplier", noise_multiplier, 0.0)
        if unclipped and self.noise_multiplier > 0.0:
            raise ValueError(
                f"noise_multiplier is {noise_multiplier:g} with clip = inf; it counts the noise in clips and must be "
                "0 there: use GaussianNoise(SGDStep(inf, 0), record_deviation)"
            )

    def noise_std(self, n: int) -> float:
        """Standard deviation tau of the noise in every coordinate of the released mean of n gradients."""
        return self.noise_multiplier * self.clip / sample_size(n) if self.noise_multiplier else 0.0

    def release(self, key: PRNGKeyArray, records: Float[Array, "n d"]) -> Float[Array, " d"]:
        norm = jnp.linalg.norm(records, axis=1)
        n = records.shape[0]
        mean = jnp.where(norm > self.clip, self.clip / norm, 1.0) @ records / n
        if self.noise_multiplier == 0.0:
            return mean
        noise = self.noise_multiplier * self.clip / n
        return mean + noise * jax.random.normal(key, mean.shape, mean.dtype)

    def rows(self, n: int) -> int:
        return sample_size(n)

    def output_shape(self, dimension: int) -> tuple[int, ...] | None:
        return (dimension,)

    def mean_of_rows(self, n: int) -> Release | None:
        return Release(n, variance=np.asarray(self.noise_std(n) ** 2), transform=NormClip(self.clip))
