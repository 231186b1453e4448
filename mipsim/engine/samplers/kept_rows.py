"""How many rows the coins of a Poisson sample keep."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, UInt32

from mipsim.distributions.binomial_table import MOST_BITS, BinomialTable, binomial_table, draw, table_bits
from mipsim.engine.random.counter import Draws, words_of

_KEPT = 0xFFFFFFFE  # the Philox words of a game that say how many rows besides the target its coins keep


class KeptRows(eqx.Module):
    """The number of kept rows besides the target: of n rows in the "out" world, of n - 1 in the other.

    Attributes:
        entries: of an alias table for each world, shape (2, C).
        low: the number of column 0, shape (2,).
        bits: log2 C.
    """

    entries: UInt32[Array, "2 C"]
    low: Int[Array, "2"]
    bits: int = eqx.field(static=True)

    def of_games(self, draws: Draws) -> Int[Array, " G"]:
        """The number of every game."""
        return self.draw(words_of(draws)(_KEPT)[0], draws.world)

    def draw(self, word: UInt32[Array, " G"], world: Int[Array, ""]) -> Int[Array, " G"]:
        """One number for each word."""
        return self.low[world] + draw(self.entries[world], word, self.bits, jnp.uint32(0)).astype(jnp.int64)

    @property
    def range(self) -> tuple[int, int]:
        """The least and the greatest number that can be drawn."""
        low = np.asarray(self.low)
        table = BinomialTable(np.asarray(self.entries), low, self.bits)
        last = self.entries.shape[1] - 1 - np.argmax(table.probabilities()[:, ::-1] > 0, axis=1)
        return int(low.min()), int((low + last).max())


def kept_rows(n: int, rate: float) -> KeptRows | None:
    """The number of rows of which each is kept with probability `rate`, to 2e-10; None where a table of it would be too wide.

    Must be called inside `exact_scope`.

    Examples:
        >>> from mipsim._precision import exact_scope
        >>> with exact_scope():
        ...     print(kept_rows(1000, 0.1).range)
        (45, 165)
    """
    p = np.array([rate])
    bits = table_bits(n, p)
    if bits > MOST_BITS:
        return None
    tables = [binomial_table(n - member, p, bits) for member in (0, 1)]
    return KeptRows(
        entries=jnp.asarray(np.concatenate([t.entries for t in tables])),
        low=jnp.asarray(np.concatenate([t.low for t in tables])),
        bits=bits,
    )
