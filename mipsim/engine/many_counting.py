"""The jitted kernel that counts several scores of each game, on edges of their own."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt32

from mipsim.engine.counting import GAMES
from mipsim.engine.many_sampler import AbstractManySampler
from mipsim.engine.precision import exact_scope


@eqx.filter_jit
def _count(
    sampler: AbstractManySampler,
    edges: Float[Array, "columns P"],
    seed: UInt32[Array, "2"],
    stream: Int[Array, ""],
    start: Int[Array, ""],
    stop: Int[Array, ""],
) -> tuple[Int[Array, "2 columns cells"], Float[Array, "2 columns G"]]:
    size, nan_cell = sampler.block, edges.shape[1] + 1
    first = start // size
    column = jnp.arange(sampler.columns)[:, None]

    def play_block(i: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        counts, scores = state
        world = i % 2
        index = (first + i // 2) * size + jnp.arange(size, dtype=jnp.int64)
        drawn = sampler.scores(seed, stream, world, index.astype(jnp.uint64))
        bins = jax.vmap(lambda own, s: jnp.searchsorted(own, s, side="left"))(edges, drawn)
        cell = jnp.where(jnp.isnan(drawn), nan_cell, bins)
        played = jnp.broadcast_to((index >= start) & (index < stop), cell.shape)
        return counts.at[world, column, cell].add(played.astype(jnp.int64)), scores.at[world].set(drawn)

    trips = jnp.where(stop > start, 2 * (-(-stop // size) - first), 0)
    counts = jnp.zeros((2, sampler.columns, nan_cell + 1), jnp.int64)
    return jax.lax.fori_loop(0, trips, play_block, (counts, jnp.zeros((2, sampler.columns, size))))


class ManyCounter:
    """A sampler with the edges of its columns, ready to count any range of games.

    Args:
        sampler: how scores are drawn; its leaves must be JAX arrays (`on_device`).
        edges: increasing thresholds for each column.
        seed: a whole number in [0, 2^64).
        stream: GAMES or PILOT.
    """

    def __init__(
        self, sampler: AbstractManySampler, edges: list[np.ndarray], seed: int, stream: int = GAMES
    ) -> None:
        self.block = sampler.block
        self._sampler = sampler
        padded = np.full((len(edges), max(map(len, edges)) + 1), np.inf)
        for row, own in zip(padded, edges, strict=True):
            row[: own.size] = own
        with exact_scope():
            self._edges = jnp.asarray(padded)
            self._seed = jnp.asarray(np.array([seed >> 32, seed & 0xFFFFFFFF], dtype=np.uint32))
            self._stream = jnp.asarray(stream, dtype=jnp.int64)

    def __call__(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """Counts (2, columns, P + 2), the last of NaN, and the scores of the last block, (2, columns, G)."""
        with exact_scope():
            bounds = [jnp.asarray(x, dtype=jnp.int64) for x in (start, stop)]
            return jax.device_get(_count(self._sampler, self._edges, self._seed, self._stream, *bounds))
