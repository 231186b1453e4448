"""What a step of SGD or DP-SGD releases: the mean gradient of a batch, clipped and noisy where that is requested."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, PRNGKeyArray
from scipy import stats

from mipsim._validation import number
from mipsim.nn.gradients import MEMORY, example_bytes
from mipsim.nn.network import Network, Parameters

SAMPLING = ("shuffled", "fixed", "poisson")
_OVERFLOW = 2.0**-60
"""Probability of a Poisson batch that is longer than the room made for it, whose last records are then left out."""


def checked_clipping(clip: object, noise_multiplier: object) -> tuple[float, float]:
    """Both as floats, or say what is wrong: noise counts in clips, and has none to count in where nothing is clipped.
    >>> checked_clipping(1, 2), checked_clipping(math.inf, 0)
    ((1.0, 2.0), (inf, 0.0))
    """
    unclipped = isinstance(clip, float) and clip == math.inf
    bound = math.inf if unclipped else number("clip", clip, 0.0, low_open=True)
    noise = number("noise_multiplier", noise_multiplier, 0.0)
    if unclipped and noise > 0.0:
        raise ValueError(
            f"noise_multiplier is {noise:g} with clip = inf; it counts the noise in clips and must be 0 there"
        )
    return bound, noise


def longest_batch(n: int, batch: int) -> int:
    """The room for a Poisson batch of so many expected records among n: a longer batch has probability below 2^-60."""
    lengths = np.arange(batch, n + 1)
    return int(lengths[np.argmax(stats.binom.sf(lengths, n, min(1.0, batch / n)) < _OVERFLOW)])


def mean_gradient(
    network: Network,
    parameters: Parameters,  # all of its parameters; those of `part` are replaced by `vector`
    vector: Float[Array, " D"],  # the parameters of the part, float32
    x: Float[Array, "b ..."],  # inputs of the batch
    y: Array,  # their labels
    *,
    # which examples count; None = all. A batch of random size is a longer batch of which some are included
    included: Bool[Array, " b"] | None = None,
    size: float | Array | None = None,  # what the sum is divided by; None = b
    clip: float = math.inf,  # the largest Euclidean norm of a gradient, > 0; `inf` does not clip
    part: str = "trained",  # as in `per_example_gradients`
    # bytes that the gradients of single examples, with the passes that make them, may take at once where they are clipped
    memory: int = MEMORY,
    # examples that pass through the network at once where nothing is clipped; None = all
    together: int | None = None,
    # where it is positive, x has shape (b, views, ...), and the loss of an example is the mean over its views
    views: int = 0,
) -> Float[Array, " D"]:
    """(1 / size) sum over the included examples of g_i min(1, clip / ||g_i||), g_i the gradient of the loss of example i. Traceable.

    Source: Abadi et al. (2016), algorithm 1.
    """
    count = x.shape[0]
    weights = jnp.ones(count, vector.dtype) if included is None else included.astype(vector.dtype)
    scale = jnp.asarray(1.0 / (count if size is None else size), vector.dtype)

    each, restore = max(1, views), network.unflatten(parameters, part)

    def losses(now: Parameters, inputs: Array, labels: Array) -> Array:
        flat = inputs.reshape(-1, *network.inputs)
        by_view = network.losses({**parameters, **now}, flat, jnp.repeat(labels, each))
        return by_view.reshape(-1, each).mean(axis=1)

    # In small parts array by array: a vector of all parameters for each part would have to be written and read once more.
    by_array = together is not None and clip == math.inf
    start: Any = restore(vector) if by_array else vector

    def plain_sum(inputs: Array, labels: Array, own: Array) -> Any:
        return jax.grad(lambda now: own @ losses(now if by_array else restore(now), inputs, labels))(start)

    def loss(now: Parameters, inputs: Array, label: Array) -> Array:
        return losses(now, inputs[None], label[None])[0]

    def clipped_sum(inputs: Array, labels: Array, own: Array) -> Array:
        # Array by array: a row of all parameters for each example would have to be written and read once more.
        leaves, tree = jax.tree.flatten(
            jax.vmap(jax.grad(loss), (None, 0, 0))(restore(vector), inputs, labels)
        )
        squares = [jnp.sum(leaf.reshape(len(leaf), -1) ** 2, axis=1) for leaf in leaves]
        norms = jnp.sqrt(jnp.sum(jnp.stack(squares), axis=0))
        shares = own * jnp.where(norms > clip, clip / norms, 1.0).astype(vector.dtype)
        return ravel_pytree(
            tree.unflatten([jnp.tensordot(shares, leaf, 1, precision="highest") for leaf in leaves])
        )[0]

    if clip == math.inf:
        sum_of, most = plain_sum, together or count
    else:
        sum_of, most = clipped_sum, max(1, memory // (each * example_bytes(network, part)))
    # In parts of equal size, the last filled up with examples of weight 0.
    parts = -(-count // most)
    if parts == 1:
        return ravel_pytree(sum_of(x, y, weights))[0] * scale
    size_of_part = -(-count // parts)

    def in_parts(rows: Array) -> Array:
        filled = jnp.pad(rows, ((0, parts * size_of_part - count), *((0, 0),) * (rows.ndim - 1)))
        return filled.reshape(parts, size_of_part, *rows.shape[1:])

    def add(total: Any, rows: tuple[Array, Array, Array]) -> tuple[Any, None]:
        # What only fills up a Poisson batch is not computed.
        some = jnp.any(rows[2] > 0)
        return jax.lax.cond(some, lambda: jax.tree.map(jnp.add, total, sum_of(*rows)), lambda: total), None

    rows = in_parts(jnp.asarray(x)), in_parts(jnp.asarray(y)), in_parts(weights)
    added, _ = jax.lax.scan(add, jax.tree.map(jnp.zeros_like, start), rows)
    return ravel_pytree(added)[0] * scale


def noisy(key: PRNGKeyArray, mean: Float[Array, " D"], deviation: float | Array) -> Float[Array, " D"]:
    """The mean with Gaussian noise of that standard deviation in every coordinate; noise_multiplier x clip / size is that of DP-SGD.
    >>> print(noisy(jax.random.key(0), jnp.ones(2), 0.0))
    [1. 1.]
    """
    if isinstance(deviation, float) and deviation == 0.0:
        return mean
    return mean + jnp.asarray(deviation, mean.dtype) * jax.random.normal(key, mean.shape, mean.dtype)


def augmented(
    key: PRNGKeyArray, x: Float[Array, "b height width c"], views: int
) -> Float[Array, "b views height width c"]:
    """Random views of each image: mirrored with probability 1/2, and shifted by up to an eighth of its sides, with zeros where nothing was.
    >>> augmented(jax.random.key(0), jnp.ones((2, 8, 8, 3)), 4).shape
    (2, 4, 8, 8, 3)
    """
    count, height, width, channels = x.shape
    down, right = height // 8, width // 8
    padded = jnp.pad(x, ((0, 0), (down, down), (right, right), (0, 0)))
    mirror, rows, columns = (
        jax.random.randint(part, (count, views), 0, most)
        for part, most in zip(jax.random.split(key, 3), (2, 2 * down + 1, 2 * right + 1), strict=True)
    )

    def view(image: Array, mirrored: Array, row: Array, column: Array) -> Array:
        moved = jax.lax.dynamic_slice(image, (row, column, 0), (height, width, channels))
        return jnp.where(mirrored == 1, moved[:, ::-1], moved)

    return jax.vmap(jax.vmap(view, (None, 0, 0, 0)))(padded, mirror, rows, columns)
