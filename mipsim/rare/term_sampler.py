"""Scores that are a sum of one term per coordinate, each drawn from a law of its own on few values."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt32

from mipsim.distributions.binomial_table import MOST_BITS, alias_entries, draw
from mipsim.engine.random.counter import Draws, words_of
from mipsim.engine.samplers.base import AbstractSampler

_WORDS = 4  # of one Philox call
_TAIL = 2.0**-34  # a quarter of the unit of the alias tables
_BLOCK = 1024  # games at once: their words stay in the cache


class TermSampler(AbstractSampler):
    """S = sum_j v_j(C_j), with C_j drawn from an alias table; the same for both worlds.

    Attributes:
        entries: alias entries, shape (rows, 2^bits), rows a multiple of 4.
        values: v_j, float64, shape (rows, 2^bits).
        bits: log2 of the columns.
    """

    fidelity: ClassVar[str] = "sufficient"
    name: ClassVar[str] = "terms"
    entries: UInt32[Array, "rows C"]
    values: Float[Array, "rows C"]
    bits: int = eqx.field(static=True)
    block: int = eqx.field(static=True)

    def scores(self, draws: Draws) -> Float[Array, " G"]:
        """Sums over the coordinates in their order, so that a score is the same in every block."""
        words = words_of(draws)

        def step(group: Array, total: Array) -> Array:
            for i, word in enumerate(words(group.astype(jnp.uint32))):
                row = jax.lax.dynamic_index_in_dim(self.entries, group * _WORDS + i, keepdims=False)
                value = jax.lax.dynamic_index_in_dim(self.values, group * _WORDS + i, keepdims=False)
                total = total + value.at[draw(row, word, self.bits)].get(mode="promise_in_bounds")
            return total

        groups = self.entries.shape[0] // _WORDS
        return jax.lax.fori_loop(0, groups, step, jnp.zeros(draws.games.shape, jnp.float64))


def term_sampler(law: np.ndarray, values: np.ndarray) -> TermSampler:
    """Tabulate independent terms. Must be called inside `exact_scope`.

    Cumulative probabilities are rounded to multiples of 2^-32 after tails beyond 2^-34 are left out.

    Args:
        law: probabilities, each row summing to 1, shape (d, m).
        values: the value of each, shape (d, m); anything where the probability is 0.

    Raises:
        ValueError: if a coordinate needs more than 2^16 values.
    """
    d = law.shape[0]
    below = np.cumsum(law, axis=1)
    first = (below <= _TAIL).sum(axis=1)
    last = law.shape[1] - 1 - (np.cumsum(law[:, ::-1], axis=1) <= _TAIL).sum(axis=1)
    bits = max(1, int((last - first).max()).bit_length())
    if bits > MOST_BITS:
        raise ValueError(f"a coordinate takes {(last - first).max()} values; the tables hold 2^{MOST_BITS}")
    columns = first[:, None] + np.arange(1 << bits)
    inside = columns <= last[:, None]
    columns = np.minimum(columns, law.shape[1] - 1)
    masses = np.where(inside, np.take_along_axis(law, columns, axis=1), 0.0)
    kept = np.where(masses > 0, np.take_along_axis(values, columns, axis=1), 0.0)
    cdf = np.cumsum(masses / masses.sum(axis=1, keepdims=True), axis=1)
    cdf[:, -1] = 1.0
    whole = np.diff(np.rint(np.minimum(cdf, 1.0) * 2.0**32).astype(np.int64), axis=1, prepend=0)
    missing = -d % _WORDS
    padded = (
        jnp.asarray(np.pad(table, ((0, missing), (0, 0)))) for table in (alias_entries(whole, bits), kept)
    )
    entries, numbers = padded
    return TermSampler(entries=entries, values=numbers, bits=bits, block=_BLOCK)
