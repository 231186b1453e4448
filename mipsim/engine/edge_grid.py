"""The bin of a score: equal buckets over the range of the thresholds, then the few thresholds of one bucket."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

AnyArray = np.ndarray | Array

_QUANTUM = 2048
_BUCKETS = 8192


class EdgeGrid(eqx.Module):
    """Increasing thresholds, laid out so that the bin of a score takes one look-up and a step or two.

    A bucket is a monotone function of the score, computed alike for thresholds and scores: thresholds of lower buckets lie
    below the score, those of higher ones above, and only those of its own bucket are searched. The result is exact.

    Attributes:
        edges: the thresholds, padded with +inf to one of few lengths, shape (P,). Padding keeps the shapes, hence the
            executable, the same for most numbers of thresholds; no score falls beyond the first pad.
        first: how many thresholds lie in lower buckets, shape (8192,).
        start, scale: bucket = floor((score - start) scale), clipped.
        steps: of the search within a bucket, so many that 2^steps exceeds the thresholds of any one.
    """

    edges: Float[AnyArray, " P"]
    first: Int[AnyArray, " buckets"]
    start: Float[AnyArray, ""] | np.float64
    scale: Float[AnyArray, ""] | np.float64
    steps: Int[AnyArray, ""] | np.int32

    def __init__(self, edges: np.ndarray) -> None:
        kept = edges.size
        width = float(edges[-1]) - float(edges[0])
        scale = _BUCKETS / width if 0 < width < np.inf else 0.0
        scale = scale if np.isfinite(scale) else 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            place = np.nan_to_num(np.clip((edges - edges[0]) * scale, 0, _BUCKETS - 1)).astype(np.int64)
        held = np.bincount(place, minlength=_BUCKETS)
        steps = int(held.max()).bit_length()
        padded = np.full(_QUANTUM * -(-(kept + (1 << steps)) // _QUANTUM), np.inf)
        padded[:kept] = edges
        self.edges, self.first = padded, (np.cumsum(held) - held).astype(np.int32)
        self.start, self.scale = np.float64(edges[0]), np.float64(scale)
        self.steps = np.int32(steps)

    @property
    def cells(self) -> int:
        """One more than the padded thresholds."""
        return self.edges.shape[0] + 1

    def bins(self, scores: Float[Array, " G"]) -> Int[Array, " G"]:
        """How many thresholds lie below each score: bin i is (edges[i-1], edges[i]]; NaN gives any bin.

        Examples:
            >>> from mipsim.engine.precision import exact_scope
            >>> with exact_scope():
            ...     print(EdgeGrid(np.array([0.0, 0.5, 4.0])).bins(jnp.array([-jnp.inf, 0.0, 0.1, 5.0])))
            [0 0 1 3]
        """
        edges, first = jnp.asarray(self.edges), jnp.asarray(self.first)
        known = jnp.where(jnp.isnan(scores), self.start, scores)
        place = jnp.clip((known - self.start) * self.scale, 0.0, _BUCKETS - 1.0)
        # Infinity times a scale of zero is NaN; any bucket then searches all thresholds.
        place = jnp.where(jnp.isnan(place), 0.0, place).astype(jnp.int32)
        low = first.at[place].get(mode="promise_in_bounds")

        def halve(i: Array, low: Array) -> Array:
            half = jnp.left_shift(jnp.int32(1), self.steps - 1 - i)
            below = edges.at[low + (half - 1)].get(mode="promise_in_bounds") < known
            return low + jnp.where(below, half, 0)

        # The number of steps is traced, so that thresholds of any spacing share one executable.
        return jax.lax.fori_loop(0, self.steps, lambda i, low: halve(i.astype(jnp.int32), low), low)
