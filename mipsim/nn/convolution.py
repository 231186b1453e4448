"""Convolutions of 3 x 3 as matrix products, and the maximum over 2 x 2 as a maximum over an axis: what is fast within a loop on a CPU.

XLA calls its fast convolution from the top of a program only: within a loop, where every game and every step of a training runs, a step of
the network of `convolutional` took 16 times as long (0.70 s against 0.044 s for 64 images of 32 x 32). Under `vmap` with filters that differ,
as single examples' gradients have them, it became slower still.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
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
    return _neighbourhoods(x) @ kernel.reshape(-1, kernel.shape[-1])


def _neighbourhoods(x: Array) -> Array:
    height, width = x.shape[1:3]
    padded = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    shifted = [padded[:, i : i + height, j : j + width] for i in range(3) for j in range(3)]
    return jnp.concatenate(shifted, axis=-1)


def halved(x: Float[Array, "n height width c"]) -> Float[Array, "n height/2 width/2 c"]:
    """The maximum over blocks of 2 x 2; both sizes are even.
    >>> import numpy as np
    >>> print(halved(np.arange(8.0).reshape(1, 2, 4, 1))[0, :, :, 0])
    [[5. 7.]]
    """
    return jnp.max(_in_blocks(x), axis=(2, 4))


def _in_blocks(x: Array) -> Array:
    n, height, width, channels = x.shape
    return jnp.reshape(x, (n, height // 2, 2, width // 2, 2, channels))


# The same two with gradients written out: the bits of automatic differentiation in three quarters of the time. `residual` does
# without them, since how many examples its clipped trainings take at once, and so their bits, depends on what a gradient writes.
quick_convolved, quick_halved = jax.custom_vjp(convolved), jax.custom_vjp(halved)


def _convolved_forward(x: Array, kernel: Array) -> tuple[Array, tuple[Array, Array]]:
    seen = _neighbourhoods(x)
    return seen @ kernel.reshape(-1, kernel.shape[-1]), (seen, kernel)


def _convolved_backward(held: tuple[Array, Array], gradient: Array) -> tuple[Array, Array]:
    seen, kernel = held
    (height, width), (c, k) = gradient.shape[1:3], kernel.shape[2:]
    of_kernel = (gradient.reshape(-1, k).T @ seen.reshape(-1, 9 * c)).T.reshape(kernel.shape)
    spread = jnp.pad(gradient @ kernel.reshape(-1, k).T, ((0, 0), (1, 1), (1, 1), (0, 0)))
    # of each pixel in its nine neighbourhoods
    parts = [
        spread[:, i : i + height, j : j + width, (8 - 3 * i - j) * c : (9 - 3 * i - j) * c]
        for i in range(3)
        for j in range(3)
    ]
    return sum(parts[1:], parts[0]), of_kernel


def _halved_forward(x: Array) -> tuple[Array, tuple[Array, Array]]:
    result = halved(x)
    return result, (x, result)


def _halved_backward(held: tuple[Array, Array], gradient: Array) -> tuple[Array]:
    """Equal maxima share the gradient. They are counted corner by corner: XLA adds up inner axes slowly."""
    x, result = held
    blocks = _in_blocks(x)
    ties = sum((blocks[:, :, i, :, j] == result).astype(x.dtype) for i in (0, 1) for j in (0, 1))
    others = jnp.where(jnp.isnan(result), result, 0)  # a NaN stays visible
    largest, share, rest = (jnp.expand_dims(item, (2, 4)) for item in (result, gradient / ties, others))
    return (jnp.where(blocks == largest, share, rest).reshape(x.shape),)


quick_convolved.defvjp(_convolved_forward, _convolved_backward)
quick_halved.defvjp(_halved_forward, _halved_backward)


def convolution(channels: int, product: Callable[..., Any] = convolved) -> Any:
    """A Flax layer: `product` with a bias; its parameters have the names, shapes and start of `linen.Conv(channels, (3, 3))`."""
    return _layer()(channels, product)


@cache
def _layer() -> Any:
    linen = optional("flax.linen", "networks")

    class Convolution(linen.Module):
        channels: int
        product: Callable[..., Any]

        @linen.compact
        def __call__(self, x: Array) -> Array:
            shape = (3, 3, x.shape[-1], self.channels)
            kernel = self.param("kernel", linen.initializers.lecun_normal(), shape, jnp.float32)
            bias = self.param("bias", linen.initializers.zeros_init(), (self.channels,), jnp.float32)
            return self.product(x, kernel) + bias

    return Convolution
