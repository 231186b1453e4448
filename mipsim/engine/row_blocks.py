"""Rounds that only add up over their records, played a block of records at a time: the cache never holds more than a block.

If all that a round takes from its records is sums, products, extremes or a single row, then it is the same to draw a block of
records, add it up, and forget it. The records are those that are sampled all at once, bit for bit; only the order differs in
which their numbers are added up.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun
from jaxtyping import Array

from mipsim.engine.random.fusion import store_block, update_alternating
from mipsim.engine.row_reading import NUMBERS, Deferred, InseparableError, Reading, Rows, Value


def rows_of_block(rows: int, width: int) -> int:
    """How many rows of so many numbers a block has: all of them in a small game, else a divisor of their number where a good
    divisor exists.
    """
    most = max(1, NUMBERS // width)
    if most >= rows:
        return rows
    return max((k for k in range(most // 2 + 1, most + 1) if rows % k == 0), default=most)


def by_blocks(play: Callable[[Array], Array], rows: int, of_block: int) -> Callable[[Array], Array]:
    """The same round, its rows sampled and added up `of_block` at a time. Must be traced inside `exact_scope`.
    `play`: a round, a function of a key of the counter generator (`mipsim.engine.random.keys`) to an array; `rows`: how
    many records it draws. Returns the function; when it is traced it raises `InseparableError` if the round cannot be
    played so.
    """

    def play_blocks(key: Array) -> Array:
        program = jax.make_jaxpr(play)(key)
        reading = Reading(rows, of_block)
        (result,) = reading.read(program.jaxpr, program.consts, [key])
        return _played(reading, result)

    return play_blocks


def _played(reading: Reading, result: Value) -> Array:
    if not isinstance(result, Deferred):
        raise InseparableError  # no record enters it, or it has a row for each
    # The games of a batch share what comes before their blocks and after them, and take turns with these.
    blocks = jax.make_jaxpr(partial(_sums, reading))()
    sums = jax.custom_batching.sequential_vmap(
        lambda *values: jaxpr_as_fun(ClosedJaxpr(blocks.jaxpr, values))()
    )
    value = dict(zip([total.slot for total in reading.totals], sums(*blocks.consts), strict=True))
    for rows, place, slot in reading.picked:
        first = place - place % reading.of_block
        block = _block(reading, first)[rows.slot]
        value[slot] = jax.lax.dynamic_slice_in_dim(block, place - first, 1)
    for step in reading.after:
        operands = [value[x.slot] if isinstance(x, Deferred) else x for x in step.operands]
        value.update(zip(step.slots, step.work(*operands), strict=True))
    return value[result.slot]


def _block(
    reading: Reading, first: Array, keep: Callable[[int, Array], Array] = lambda slot, x: x
) -> dict[int, Array]:
    """All values of the block that begins with this row; `keep` may store a value, and returns it."""
    result: dict[int, Array] = {}
    for step in reading.on_block:
        operands = [result[x.slot] if isinstance(x, Rows) else x for x in step.operands]
        built = zip(step.slots, step.work(first, *operands), strict=True)
        result.update((slot, keep(slot, x)) for slot, x in built)
    return result


def _sums(reading: Reading) -> list[Array]:
    item = jax.eval_shape(partial(_block, reading), jnp.zeros((), jnp.int64))

    def add(i: Array, state: tuple[list[Array], dict[int, Array]]) -> tuple[list[Array], dict[int, Array]]:
        sums, places = state[0], dict(state[1])

        def keep(slot: int, x: Array) -> Array:
            if slot not in places:
                return x
            places[slot], x = store_block(places[slot], i, x)
            return x

        block = _block(reading, i * reading.of_block, keep)
        sums = [
            update_alternating(x, i, partial(t.of_two, block[t.value]))
            for t, x in zip(reading.totals, sums, strict=True)
        ]
        return sums, places

    none = [_longer(item[t.value], t.neutral(item[t.value].dtype)) for t in reading.totals]
    room = {slot: _longer(item[slot], 0) for slot in _stored(reading) if item[slot].ndim > 1}
    sums, _ = jax.lax.fori_loop(0, reading.blocks, add, (none, room))
    return [total.finish(x) for total, x in zip(reading.totals, sums, strict=True)]


def _stored(reading: Reading) -> list[int]:
    """The values of a block that are stored: what several reductions need, which XLA would draw again for each of these, and
    what is materialised.
    """
    # slot -> the reductions that need it next
    needed_by = {total.value: {total.value} for total in reading.totals}
    uses: dict[int, set[frozenset[int]]] = {}
    for step in reversed(reading.on_block):
        needed = frozenset().union(*(needed_by.get(slot, ()) for slot in step.slots))
        if not needed:
            continue
        needed = frozenset(step.slots) if step.is_reduction else needed
        for x in step.operands:
            if isinstance(x, Rows):
                needed_by.setdefault(x.slot, set()).update(needed)
                uses.setdefault(x.slot, set()).add(needed)
    return [slot for slot, of in uses.items() if len(of) > 1 or slot in reading.materialised]


def _longer(block: Any, fill: Any) -> Array:
    """Room for a row more than a block has: see `update_alternating`."""
    return jnp.full((block.shape[0] + 1, *block.shape[1:]), fill, block.dtype)
