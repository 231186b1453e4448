"""The bin of a score: equal buckets over the range of the thresholds, then the few thresholds of a bucket."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

AnyArray = np.ndarray | Array

_QUANTUM = 2048
"""Thresholds are padded to multiples of this: few shapes, hence few executables."""

_BUCKETS = 8192
"""Buckets of equal width: with 1,024 thresholds most hold none or 1."""


class EdgeGrid(eqx.Module):
    """Increasing thresholds of each column of scores, laid out so that a bin takes a single look-up and a step or two.

    A bucket is a monotone function of the score, computed alike for thresholds and scores: thresholds of lower buckets lie
    below the score, those of higher ones above, and only those of its own bucket are searched. The result is exact.

    `columns`: the thresholds of each column, increasing.
    """

    # the thresholds, each column padded with +inf to a length P among few, shape (columns P,). Padding keeps the shapes,
    # hence the executable, the same for most numbers of thresholds; no score falls beyond the first pad
    edges: Float[AnyArray, " thresholds"]
    first: Int[AnyArray, " buckets"]  # how many thresholds lie in lower buckets, shape (columns 8192,)
    # start, scale: bucket = floor((score - start) scale), clipped; shape (columns, 1)
    start: Float[AnyArray, "columns 1"]
    scale: Float[AnyArray, "columns 1"]
    # of the search within a bucket, so many that 2^steps exceeds the thresholds of any bucket
    steps: Int[AnyArray, ""] | np.int32

    def __init__(self, columns: Sequence[np.ndarray]) -> None:
        placed = [_placed(edges) for edges in columns]
        # Bounded by the fullest bucket of any column, so that a single loop serves them all.
        steps = max(int(held.max()).bit_length() for *_, held in placed)
        most = max(edges.size for edges in columns)
        padded = np.full((len(columns), _QUANTUM * -(-(most + (1 << steps)) // _QUANTUM)), np.inf)
        for row, edges in zip(padded, columns, strict=True):
            row[: edges.size] = edges
        self.edges = padded.reshape(-1)
        self.first = np.concatenate([np.cumsum(held) - held for *_, held in placed]).astype(np.int32)
        self.start = np.array([[start] for start, *_ in placed])
        self.scale = np.array([[scale] for _, scale, _ in placed])
        self.steps = np.int32(steps)

    @property
    def columns(self) -> int:
        """How many columns of scores."""
        return self.start.shape[0]

    @property
    def cells(self) -> int:
        """The number of padded thresholds of a column, plus 1."""
        return self.edges.shape[0] // self.columns + 1

    def bins(self, scores: Float[Array, "columns G"]) -> Int[Array, "columns G"]:
        """How many thresholds of its column lie below each score: bin i is (edges[i-1], edges[i]]; NaN gives any bin."""
        edges, first = jnp.asarray(self.edges), jnp.asarray(self.first)
        column = jnp.arange(self.columns, dtype=jnp.int32)[:, None]
        known = jnp.where(jnp.isnan(scores), self.start, scores)
        place = jnp.clip((known - self.start) * self.scale, 0.0, _BUCKETS - 1.0)
        # Infinity times a scale of zero is NaN; any bucket then searches all thresholds.
        place = jnp.where(jnp.isnan(place), 0.0, place).astype(jnp.int32)
        begin = column * jnp.int32(self.cells - 1)
        low = begin + first.at[column * jnp.int32(_BUCKETS) + place].get(mode="promise_in_bounds")

        def halve(i: Array, low: Array) -> Array:
            half = jnp.left_shift(jnp.int32(1), self.steps - 1 - i)
            below = edges.at[low + (half - 1)].get(mode="promise_in_bounds") < known
            return low + jnp.where(below, half, 0)

        # The number of steps is traced, so that thresholds of any spacing share an executable.
        low = jax.lax.fori_loop(0, self.steps, lambda i, low: halve(i.astype(jnp.int32), low), low)
        return low - begin


def _placed(edges: np.ndarray) -> tuple[float, float, np.ndarray]:
    """The start and the scale of the buckets, and how many thresholds each holds."""
    # Thresholds that set infinite scores apart lie in the first or the last bucket.
    finite = edges[np.abs(edges) < np.finfo(np.float64).max]
    start, end = (float(finite[0]), float(finite[-1])) if finite.size else (0.0, 0.0)
    scale = _BUCKETS / (end - start) if 0 < end - start < np.inf else 0.0
    scale = scale if np.isfinite(scale) else 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        place = np.nan_to_num(np.clip((edges - start) * scale, 0, _BUCKETS - 1)).astype(np.int64)
    return start, scale, np.bincount(place, minlength=_BUCKETS)
