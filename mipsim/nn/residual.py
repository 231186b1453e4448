"""The layers of ResNet-9, with group normalisation: statistics of a batch would make the gradient of an example depend on the others."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import jax
from jaxtyping import Array, Float

from mipsim._extras import optional
from mipsim.nn.convolution import convolution, halved

GROUP = 16
"""Channels that are normalised together at most: what was best in Wu & He (2018)."""


def residual_layers(widths: tuple[int, ...]) -> list[Any]:
    """All but the linear layer, for four widths: convolution, halving with a residual block, halving, halving with a residual
    block, maximum.

    >>> len(residual_layers((8, 8, 8, 8)))  # four times a convolution with its norm and ReLU; three halvings, two blocks, the maximum
    18
    """
    first, second, third, fourth = widths
    return [
        *_normalised(first),
        *(*_normalised(second), halved, _block()(second)),
        *(*_normalised(third), halved),
        *(*_normalised(fourth), halved, _block()(fourth)),
        largest,
    ]


def largest(x: Float[Array, "n height width c"]) -> Float[Array, "n c"]:
    """The maximum over the image.
    >>> import numpy as np
    >>> print(largest(np.arange(8.0).reshape(1, 2, 2, 2)))
    [[6. 7.]]
    """
    return jax.numpy.max(x, axis=(1, 2))


def _normalised(channels: int) -> list[Any]:
    """Convolution, group norm, ReLU."""
    linen = optional("flax.linen", "networks")
    norm = linen.GroupNorm(num_groups=None, group_size=math.gcd(channels, GROUP), use_fast_variance=False)
    return [convolution(channels), norm, linen.relu]


@cache
def _block() -> Any:
    linen = optional("flax.linen", "networks")

    class Residual(linen.Module):
        channels: int

        @linen.compact
        def __call__(self, x: Array) -> Array:
            return x + linen.Sequential([*_normalised(self.channels), *_normalised(self.channels)])(x)

    return Residual
