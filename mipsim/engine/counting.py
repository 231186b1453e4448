"""The one jitted kernel: plays a range of games block by block and counts their scores on fixed edges."""

import threading
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt32

from mipsim.engine.devices import local_devices
from mipsim.engine.precision import exact_scope
from mipsim.engine.sampler import AbstractSampler

GAMES, PILOT = 0, 1
"""Streams of random numbers: the games of a run, and the pilot that fixes its edges."""

_EDGE_QUANTUM = 2048


@eqx.filter_jit
def _count(
    sampler: AbstractSampler,
    edges: Float[Array, " P"],
    seed: UInt32[Array, "2"],
    stream: Int[Array, ""],
    start: Int[Array, ""],
    stop: Int[Array, ""],
) -> tuple[Int[Array, "2 P+2"], Float[Array, "2 G"]]:
    size, nan_cell = sampler.block, edges.shape[0] + 1
    first = start // size

    def play_block(i: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        counts, scores = state
        world = i % 2
        index = (first + i // 2) * size + jnp.arange(size, dtype=jnp.int64)
        drawn = sampler.scores(seed, stream, world, index.astype(jnp.uint64))
        # side="left" puts a score equal to an edge into the bin that ends there: (edges[i-1], edges[i]].
        cell = jnp.where(jnp.isnan(drawn), nan_cell, jnp.searchsorted(edges, drawn, side="left"))
        inside = ((index >= start) & (index < stop)).astype(jnp.int64)
        return counts.at[world, cell].add(inside), scores.at[world].set(drawn)

    # The trip count is traced: a bound known to XLA would give every chunk its own executable.
    trips = jnp.where(stop > start, 2 * (-(-stop // size) - first), 0)
    empty = jnp.zeros((2, nan_cell + 1), jnp.int64), jnp.zeros((2, size), jnp.float64)
    return jax.lax.fori_loop(0, trips, play_block, empty)


def on_device(tree: Any) -> Any:
    """Turn the NumPy leaves of a pytree into float64 JAX arrays, so that they are arguments and not constants.

    Must be called inside `exact_scope`.
    """
    return jax.tree.map(lambda leaf: jnp.asarray(leaf) if isinstance(leaf, np.ndarray) else leaf, tree)


class Counter:
    """A sampler with its edges and seed, ready to count any range of games, on any of several devices.

    Args:
        sampler: how scores are drawn; its leaves must be JAX arrays (`on_device`).
        edges: K increasing thresholds.
        seed: a whole number in [0, 2^64).
        stream: GAMES or PILOT.
        devices: where to play; each gets a copy of the arrays. None = the first of `local_devices`.
    """

    def __init__(
        self,
        sampler: AbstractSampler,
        edges: np.ndarray,
        seed: int,
        stream: int = GAMES,
        devices: Sequence[jax.Device] | None = None,
    ) -> None:
        self.block = sampler.block
        self._kept = len(edges)
        # Padding with +inf keeps the array's shape, hence the executable, the same for most numbers of edges;
        # no score falls beyond the first pad, so that the padded cells stay empty.
        padded = np.full(_EDGE_QUANTUM * -(-(self._kept + 1) // _EDGE_QUANTUM), np.inf)
        padded[: self._kept] = edges
        words = np.array([seed >> 32, seed & 0xFFFFFFFF], dtype=np.uint32)
        arrays, rest = eqx.partition(sampler, eqx.is_array)
        devices = local_devices()[:1] if devices is None else devices
        with exact_scope():
            inputs = arrays, padded, words, np.int64(stream)
            self._places = [
                (eqx.combine(a, rest), *b) for a, *b in (jax.device_put(inputs, d) for d in devices)
            ]
        self._busy = [0] * len(devices)
        self._lock = threading.Lock()

    def __call__(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """Count games start, ..., stop - 1 of both worlds, on the device that has least to do.

        Returns:
            (counts, scores): counts int64 (2, K + 2), whose last column counts NaN; and the scores of the last
            block, float64 (2, G).
        """
        with self._lock:
            place = self._busy.index(min(self._busy))
            self._busy[place] += 1
        try:
            with exact_scope():  # entered here because the scope is per thread
                bounds = [jnp.asarray(x, dtype=jnp.int64) for x in (start, stop)]
                counts, scores = jax.device_get(_count(*self._places[place], *bounds))
        finally:
            with self._lock:
                self._busy[place] -= 1
        kept = np.concatenate([counts[:, : self._kept + 1], counts[:, -1:]], axis=1)
        return kept, scores
