"""DP-SGD of a last layer on fixed features, of many noises at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mipsim._precision import exact_scope, fixed_key


@dataclass(frozen=True, eq=False)
class LastLayer:
    """A linear layer to be trained by cross-entropy on features that stay."""

    title: str  # the data set, for readers
    x: np.ndarray  # features of the training records, float32 (N, p)
    y: np.ndarray  # their labels, from 0
    # test_x, test_y: of the records that accuracy is measured on
    test_x: np.ndarray
    test_y: np.ndarray
    classes: int  # how many there are

    @property
    def dimension(self) -> int:
        """Parameters of the layer, offsets included: d of its gradients."""
        return (self.x.shape[1] + 1) * self.classes


def accuracies(
    layer: LastLayer,
    # standard deviation of the noise on each coordinate of the mean clipped gradient, shape (m,), >= 0
    deviations: np.ndarray,
    clips: np.ndarray,  # the largest norm of a gradient for each, shape (m,), > 0
    *,
    batch: int,  # examples of a step, in shuffled passes
    steps: int,  # how many
    rate: float,  # the step size
    seed: int,  # of the order, which all noises have in common, and of the noise
) -> np.ndarray:
    """Test accuracy after training by noisy SGD from zero, for each noise; float64 (m,).

    The gradient of an example is the product of what its output lacks and its features, (p + 1) x classes numbers of which only the norm is
    needed to clip it: no example's own gradient is ever made, and the models of all noises are a single matrix.
    """
    each = len(layer.y) // batch
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(len(layer.y))[: each * batch] for _ in range(-(-steps // each))]
    rows = np.concatenate(orders).reshape(-1, batch)[:steps]
    with exact_scope():
        settings = (jnp.asarray(np.asarray(a, np.float32)) for a in (deviations, clips))
        layers = _trained(
            jnp.asarray(with_ones(layer.x)),
            jnp.asarray(layer.y),
            jnp.asarray(rows),
            *settings,
            np.float32(rate),
            fixed_key(seed),
            layer.classes,
        )
        return np.asarray(
            _accuracies(layers, jnp.asarray(with_ones(layer.test_x)), jnp.asarray(layer.test_y))
        )


def with_ones(x: np.ndarray) -> np.ndarray:
    """The features with a column of ones, whose weights are the offsets."""
    return np.concatenate([x, np.ones((len(x), 1))], axis=1).astype(np.float32)


def clipped_means(weights: Any, x: Any, y: Any, clips: Any) -> jax.Array:
    """The mean clipped gradients of a batch, float32 of shape (p + 1, m, classes), at weights of that shape; x has its column of ones."""
    lacks = (
        jax.nn.softmax(jnp.tensordot(x, weights, 1))
        - jax.nn.one_hot(y, weights.shape[2], dtype=x.dtype)[:, None]
    )
    norms = jnp.linalg.norm(lacks, axis=2) * jnp.linalg.norm(x, axis=1)[:, None]
    shorter = jnp.where(norms > clips, clips / norms, jnp.ones((), x.dtype))
    return jnp.tensordot(x.T, shorter[..., None] * lacks, 1) / np.float32(len(y))


@partial(jax.jit, static_argnums=7)
def _trained(
    x: Any, y: Any, rows: Any, deviations: Any, clips: Any, rate: Any, key: Any, classes: int
) -> jax.Array:
    def step(weights: jax.Array, now: Any) -> tuple[jax.Array, None]:
        at, chosen = now
        noise = jax.random.normal(jax.random.fold_in(key, at), weights.shape, jnp.float32)
        mean = clipped_means(weights, x[chosen], y[chosen], clips)
        return weights - rate * (mean + deviations[:, None] * noise), None

    start = jnp.zeros((x.shape[1], len(deviations), classes), jnp.float32)
    return jax.lax.scan(step, start, (jnp.arange(len(rows)), rows))[0]


@jax.jit
def _accuracies(weights: jax.Array, x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.mean(jnp.tensordot(x, weights, 1).argmax(axis=2) == y[:, None], axis=0)
