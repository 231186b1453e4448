"""Convolutions of 3 x 3 as matrix products, and the maximum over 2 x 2 as a maximum over an axis: what is fast within a loop on a CPU.

XLA calls its fast convolution from the top of a program only: within a loop, where every game and every step of a training runs, a step of
the network of `convolutional` took 16 times as long (0.70 s against 0.044 s for 64 images of 32 x 32). Under `vmap` with filters that differ,
as single examples' gradients have them, it became slower still.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from mipsim._extras import optional


def convolved(
    x: Float[Array, "n height width c"], kernel: Float[Array, "3 3 c k"]
) -> Float[Array, "n height width k"]:
    """Each 3 x 3 neighbourhood, zeros beyond the border, times the kernel.
    >>> import numpy as np
    >>> image, kernel = np.arange(4.0).reshape(1, 2, 2, 1), np.ones((3, 3, 1, 1))
    >>> print(convolved(image, kernel)[0, :, :, 0])  # every pixel has all four for neighbours
    [[6. 6.]
     [6. 6.]]
    """
    height, width = x.shape[1:3]
    padded = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    shifted = [padded[:, i : i + height, j : j + width] for i in range(3) for j in range(3)]
    return jnp.concatenate(shifted, axis=-1) @ kernel.reshape(-1, kernel.shape[-1])


def halved(x: Float[Array, "n height width c"]) -> Float[Array, "n height/2 width/2 c"]:
    """The maximum over blocks of 2 x 2; both sizes are even.
    >>> import numpy as np
    >>> print(halved(np.arange(8.0).reshape(1, 2, 4, 1))[0, :, :, 0])
    [[5. 7.]]
    """
    n, height, width, channels = x.shape
    return jnp.max(jnp.reshape(x, (n, height // 2, 2, width // 2, 2, channels)), axis=(2, 4))


def convolution(channels: int) -> Any:
    """A Flax layer: `convolved` with a bias; its parameters have the names, shapes and start of `linen.Conv(channels, (3, 3))`."""
    return _layer()(channels)


@cache
def _layer() -> Any:
    linen = optional("flax.linen", "networks")

    class Convolution(linen.Module):
        channels: int

        @linen.compact
        def __call__(self, x: Array) -> Array:
            shape = (3, 3, x.shape[-1], self.channels)
            kernel = self.param("kernel", linen.initializers.lecun_normal(), shape, jnp.float32)
            bias = self.param("bias", linen.initializers.zeros_init(), (self.channels,), jnp.float32)
            return convolved(x, kernel) + bias

    return Convolution
