"""What a coordinate's count adds to a score, in fixed point: a row of a table, a multiple of the count, or pieces of lines."""

from abc import abstractmethod
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, UInt32

IMPOSSIBLE = -(2**31)
"""The fixed-point term that stands for -inf."""


class Reach(NamedTuple):
    """The part of a coordinate's two rows (without the target, then with it) that a block of games can touch."""

    columns: int  # C, of a row
    skip: Int[Array, ""] | int  # where the part begins: 0, or C if every game has the target
    width: int  # 2 C if the games differ in that, else C
    offset: UInt32[Array, "..."]  # where each game's row begins within the part, shape (G,), or a scalar zero

    def look_up(self, table: Array, coordinate: Array, place: UInt32[Array, "... G"]) -> Array:
        """Entries of a flattened table (rows, 2, C).
        `table`: flattened; `coordinate`: a single row for all games, or a column of them, shape (rows, 1); `place`:
        within the row of each game.
        """
        begin, place = coordinate * (2 * self.columns) + self.skip, place + self.offset
        if coordinate.ndim == 0:  # slicing first keeps the gathers within the cache of a core
            table = jax.lax.dynamic_slice(table, (begin,), (self.width,))
        else:
            place = begin.astype(jnp.uint32) + place
        return table.at[place].get(mode="promise_in_bounds")


def at(table: Array, coordinate: Array) -> Array:
    """The entry of a coordinate, or of a column of coordinates.
    >>> print(at(jnp.arange(3), jnp.asarray(2)), at(jnp.arange(3), jnp.array([[0], [1]])).tolist())
    2 [[0], [1]]
    """
    if coordinate.ndim == 0:
        return jax.lax.dynamic_slice(table, (coordinate,), (1,))[0]
    return table.at[coordinate].get(mode="promise_in_bounds")


def scaled(unit: Float[Array, "..."], total: Int[Array, "..."]) -> Float[Array, "..."]:
    """The product unit x total, with the same bits on every device.

    A compiler may fuse a product with a sum into a single rounding, or not. Here both ways agree: every product of parts is exact.

    `unit`: >= 0; `total`: at most 2^63 - 1 in size.
    """
    bits = jax.lax.bitcast_convert_type(unit, jnp.uint64) & jnp.uint64(2**64 - 2**27)
    high = jax.lax.bitcast_convert_type(bits, jnp.float64)  # 26 of its bits
    low, size = unit - high, jnp.abs(total.astype(jnp.int64)).astype(jnp.uint64)
    value = jnp.zeros(jnp.broadcast_shapes(unit.shape, total.shape), jnp.float64)
    for place in (42, 21, 0):
        part = ((size >> jnp.uint64(place)) & jnp.uint64(2**21 - 1)).astype(jnp.float64)
        value = value * 2.0**21 + (high * part + low * part)
    return jnp.where(total < 0, -value, value)


class AbstractTerms(eqx.Module):
    """Terms of an additive score, a term for each coordinate. Their sum, modulo 2^32, does not depend on its order."""

    has_impossible: eqx.AbstractVar[bool]

    @abstractmethod
    def start(self, side: UInt32[Array, " G"]) -> Int[Array, " G"]:
        """Where the sum of each game begins, given its side (1 where the target is among the rows)."""

    @abstractmethod
    def of(self, coordinate: Int[Array, ""], column: UInt32[Array, " G"], reach: Reach) -> Int[Array, " G"]:
        """The terms of a coordinate, or of a column of them, whose count is the lowest of its row + column, int32."""


class TabledTerms(AbstractTerms):
    """Any term of any count."""

    values: Int[Array, " entries"]  # int32, shape (rows, 2, C) flattened; `IMPOSSIBLE` is -inf
    has_impossible: bool = eqx.field(static=True)  # whether that occurs

    def start(self, side: UInt32[Array, " G"]) -> Int[Array, " G"]:
        return jnp.zeros(side.shape, jnp.int32)

    def of(self, coordinate: Int[Array, ""], column: UInt32[Array, " G"], reach: Reach) -> Int[Array, " G"]:
        return reach.look_up(self.values, coordinate, column)


class LinearTerms(AbstractTerms):
    """Whole multiples of the count, which spares a look-up a coordinate."""

    steps: Int[Array, " rows"]  # the term of a further success at each coordinate, int32, shape (rows,)
    # the sum of the terms of the lowest counts, for either side, int32, shape (2,)
    starts: Int[Array, "2"]
    has_impossible: bool = eqx.field(static=True)  # False

    def start(self, side: UInt32[Array, " G"]) -> Int[Array, " G"]:
        return jnp.where(side == 1, self.starts[1], self.starts[0])

    def of(self, coordinate: Int[Array, ""], column: UInt32[Array, " G"], reach: Reach) -> Int[Array, " G"]:
        return at(self.steps, coordinate) * column.astype(jnp.int32)


class PairedTerms(AbstractTerms):
    """Whole multiples of the count, other multiples for either bit of a target that is sampled with it.

    A column is a pair (bit, count), the bit above the count's `bits` bits; its term is that of the bit, plus steps times count.
    """

    # of a further success at each coordinate, for either bit, int32, shape (rows, 2) flattened
    steps: Int[Array, " pairs"]
    jumps: Int[Array, " rows"]  # what bit 1 adds by itself, int32, shape (rows,)
    first: Int[Array, ""]  # the sum of the terms of bit 0 at the lowest counts, an int32 scalar
    bits: int = eqx.field(static=True)
    has_impossible: bool = eqx.field(static=True)  # False

    def start(self, side: UInt32[Array, " G"]) -> Int[Array, " G"]:
        return jnp.broadcast_to(self.first, side.shape)

    def of(self, coordinate: Int[Array, ""], column: UInt32[Array, " G"], reach: Reach) -> Int[Array, " G"]:
        zero, item = at(self.steps, 2 * coordinate), at(self.steps, 2 * coordinate + 1)
        jump = at(self.jumps, coordinate)
        bit = column >> jnp.uint32(self.bits) != 0
        count = column & jnp.uint32((1 << self.bits) - 1)
        term = jnp.where(bit, item, zero) * count.astype(jnp.int32)
        return term + jnp.where(bit, jump, jnp.zeros_like(jump))
