"""A round read operation by operation: which of its values have a row for each record, and what it takes from these.

JAX traces a round to a program of primitives. Of those that work on every row by itself a block of rows can be made from blocks; those that
add rows up can do so block by block. A round that does anything else with its rows is called inseparable.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Jaxpr, Literal
from jaxtyping import Array

from mipsim.engine.random.fusion import FUSION_BARRIER
from mipsim.engine.random.keys import KEYS, later_bits

NUMBERS = 2**12
"""Of the records of a block: they, and what they are added to, stay in the first cache."""

_NAMES = """
    abs acos acosh add and asin asinh atan atan2 atanh bitcast_convert_type cbrt ceil clamp clz convert_element_type copy copy_p cos cosh
    digamma div eq erf erf_inv erfc exp exp2 expm1 floor ge gt integer_pow is_finite le lgamma log log1p logistic lt max min mul ne neg
    nextafter not or population_count pow reduce_precision rem round rsqrt select_n shift_left shift_right_arithmetic shift_right_logical
    sign sin sinh sqrt square stop_gradient sub tan tanh xor
"""
_SINGLY = frozenset(_NAMES.split())
"""Primitives that take every element by itself."""

_ALONG = {
    **dict.fromkeys(("argmax", "argmin"), "axes"),
    **dict.fromkeys(("cumlogsumexp", "cummax", "cummin", "cumprod", "cumsum"), "axis"),
    **dict.fromkeys(("concatenate", "sort"), "dimension"),
    **dict.fromkeys(("rev", "squeeze"), "dimensions"),
}
"""Those that work along some axes, and the parameter that names these: rows are left apart where it does not name the first."""

_PROGRAMS = {
    **dict.fromkeys(("jit", "pjit"), "jaxpr"),
    **dict.fromkeys(("closed_call", "custom_jvp_call", "custom_vjp_call"), "call_jaxpr"),
}
"""Those that stand for a program of their own, and the parameter that holds it."""

_ADDED_UP: dict[str, tuple[Callable[..., Array], Callable[[Any], Any]]] = {
    "reduce_sum": (jnp.add, lambda dtype: 0),
    "reduce_prod": (jnp.multiply, lambda dtype: 1),
    "reduce_max": (jnp.maximum, lambda dtype: _bounds(dtype)[0]),
    "reduce_min": (jnp.minimum, lambda dtype: _bounds(dtype)[1]),
    "reduce_and": (jnp.bitwise_and, lambda dtype: True if jnp.issubdtype(dtype, bool) else -1),
    "reduce_or": (jnp.bitwise_or, lambda dtype: 0),
}
"""Reductions that may take their numbers in any order: of two of them, and the number that changes nothing."""


class InseparableError(Exception):
    """The round does more with its records than to add them up, or it is not known whether it does."""


@dataclass(frozen=True)
class Rows:
    """A value with a row for each record, known block by block; `whole` is all of it, unless it was made of sampled rows."""

    slot: int
    shape: tuple[int, ...]
    whole: Array | None = None


@dataclass(frozen=True)
class TransposedRows:
    """The transpose of a matrix of rows."""

    rows: Rows


@dataclass(frozen=True)
class Deferred:
    """A value that is known when all blocks have been added up."""

    slot: int


Value: TypeAlias = Any  # an array that is known at once, Rows, TransposedRows or Deferred


@dataclass(frozen=True)
class Step:
    """A single operation. On a block, it takes the number of the block's first row before its operands."""

    work: Callable[..., Sequence[Array]]
    operands: Sequence[Value]
    slots: Sequence[int]
    is_reduction: bool = False


@dataclass(frozen=True)
class Total:
    """What is added up over blocks: a value of theirs, how two are merged, the number that changes nothing, what is done at the end."""

    value: int
    of_two: Callable[..., Array]
    neutral: Callable[[Any], Any]
    finish: Callable[[Array], Array]
    slot: int


@dataclass
class Reading:
    """What is done with each block, what is added up, which rows are picked (rows, place, slot), what is made of all that.

    Beside it, the slots of values that a loop of their own makes.
    """

    rows: int
    of_block: int
    on_block: list[Step] = field(default_factory=list)
    totals: list[Total] = field(default_factory=list)
    picked: list[tuple[Rows, Array, int]] = field(default_factory=list)
    after: list[Step] = field(default_factory=list)
    materialised: set[int] = field(default_factory=set)
    slots: int = 0

    @property
    def blocks(self) -> int:
        """How many blocks there are, the last of which may have rows that are no records."""
        return -(-self.rows // self.of_block)

    def read(self, program: Jaxpr, consts: Sequence[Any], arguments: Sequence[Value]) -> list[Value]:
        """Go through a program whose arguments are known; returns its results.
        Raises InseparableError if it cannot be played by blocks.
        """
        if program.effects:
            raise InseparableError
        names = (*program.constvars, *program.invars)
        known: dict[Any, Value] = dict(zip(names, (*consts, *arguments), strict=True))

        def value_of(name: Any) -> Value:
            if not isinstance(name, Literal):
                return known[name]
            return np.asarray(name.val, name.aval.dtype)  # pyright: ignore[reportAttributeAccessIssue]

        for equation in program.eqns:
            operands = [value_of(name) for name in equation.invars]
            known.update(zip(equation.outvars, self._results(equation, operands), strict=True))
        return [value_of(name) for name in program.outvars]

    def _results(self, equation: Any, operands: list[Value]) -> Sequence[Value]:
        name, params = equation.primitive.name, equation.params
        if name in _PROGRAMS and hasattr(inner := params.get(_PROGRAMS[name]), "jaxpr"):
            return self.read(inner.jaxpr, inner.consts, operands)
        wholes = [
            x.whole if isinstance(x, Rows) else None if isinstance(x, TransposedRows) else x for x in operands
        ]
        sample = any(x is None for x in wholes)
        if any(isinstance(x, Deferred) for x in operands):
            if sample:
                raise InseparableError
            return self._after(equation, wholes)
        if sample or self._draws_rows(equation, operands):
            return self._on_rows(equation, operands)
        result = _bound(equation)(*wholes)
        # Values without sampled rows are known block by block too where that can be: all of them could be as large as the records.
        by_rows = any(isinstance(x, Rows) for x in operands) and name in _SINGLY | {"reshape", "squeeze"}
        if not (by_rows or name in ("iota", "broadcast_in_dim")) or result[0].shape[:1] != (self.rows,):
            return result
        try:
            (rows,) = self._on_rows(equation, operands)
        except InseparableError:
            return result
        return [Rows(rows.slot, rows.shape, result[0])]

    def _draws_rows(self, equation: Any, operands: list[Value]) -> bool:
        """Whether the result is sampled rows, of several numbers each: single numbers are sampled at once."""
        shape = equation.outvars[0].aval.shape if equation.outvars else ()
        if len(shape) < 2 or shape[0] != self.rows:
            return False
        if equation.primitive.name == "random_bits":
            return operands[0].dtype == KEYS and operands[0].shape == ()
        return equation.primitive.name == "gather" and operands[1].shape[0] == self.rows

    def _slot(self) -> int:
        self.slots += 1
        return self.slots

    def _after(self, equation: Any, operands: list[Value]) -> list[Deferred]:
        result = [Deferred(self._slot()) for _ in equation.outvars]
        self.after.append(Step(_bound(equation), operands, [x.slot for x in result]))
        return result

    def _on_rows(self, equation: Any, operands: list[Value]) -> Sequence[Value]:
        """Read an operation on rows, which leaves them rows or adds them up."""
        name, params = equation.primitive.name, equation.params
        if name in _ADDED_UP and 0 in params["axes"]:
            return [self._added_up(equation, operands[0])]
        if name == "dot_general" and (result := self._product_over_rows(equation, operands)) is not None:
            return [result]
        if any(isinstance(x, TransposedRows) for x in operands):
            raise InseparableError
        if name == "transpose" and params["permutation"] == (1, 0):
            return [TransposedRows(operands[0])]
        if name == FUSION_BARRIER.name:
            self.materialised.update(x.slot for x in operands)
            return operands
        if name == "dynamic_slice":
            return [self._picked(equation, operands)]
        work = self._work(equation, operands)
        shapes = [x.aval.shape for x in equation.outvars]
        if any(shape[:1] != (self.rows,) for shape in shapes):
            raise InseparableError
        result = [Rows(self._slot(), shape) for shape in shapes]
        reduces = name in _ALONG or name in _ADDED_UP or name == "dot_general"
        self.on_block.append(Step(work, operands, [x.slot for x in result], reduces))
        return result

    def _work(self, equation: Any, operands: list[Value]) -> Callable[..., Sequence[Array]]:
        """What makes a block of the result, given the number of its first row and the blocks of the operands."""
        name, params, bound = equation.primitive.name, equation.params, _bound(equation)
        some, height = self._some_of, self.of_block

        def of_blocks(takers: Sequence[Callable[[Array, Array], Array]]) -> Callable[..., Sequence[Array]]:
            return lambda first, *blocks: bound(
                *(take(first, x) for take, x in zip(takers, blocks, strict=True))
            )

        if name in _SINGLY:
            shape = equation.outvars[0].aval.shape
            if name == "bitcast_convert_type" and shape != _shape(operands[0]):
                raise InseparableError
            return of_blocks([some(x) if len(_shape(x)) == len(shape) else _all_of for x in operands])
        if name in _ALONG or name in _ADDED_UP:
            along = params[_ALONG.get(name, "axes")]
            if 0 not in (along if isinstance(along, tuple) else (along,)):
                return of_blocks([some(x) for x in operands])
        elif name == "random_bits":
            rest, width = params["shape"][1:], params["bit_width"]
            size = jnp.uint64(math.prod(rest))
            return lambda first, key: [
                later_bits(key, first.astype(jnp.uint64) * size, width, (height, *rest))
            ]
        elif name == "iota":
            shape, along, dtype = (height, *params["shape"][1:]), params["dimension"], params["dtype"]
            return lambda first: [
                jax.lax.broadcasted_iota(dtype, shape, along) + (first.astype(dtype) if along == 0 else 0)
            ]
        elif name == "broadcast_in_dim":
            return self._broadcast(operands[0], params["shape"], params["broadcast_dimensions"])
        elif name == "reshape" and params["new_sizes"][:1] == (self.rows,) and params["dimensions"] is None:
            take, rest = some(operands[0]), params["new_sizes"][1:]
            return lambda first, x: [take(first, x).reshape(height, *rest)]
        elif name == "transpose" and params["permutation"][0] == 0:
            return of_blocks([some(operands[0])])
        elif name == "slice" and (params["strides"] or (1,))[0] == 1:
            begin, end, take = params["start_indices"], params["limit_indices"], some(operands[0])
            if (begin[0], end[0]) == (0, self.rows):
                return lambda first, x: [
                    jax.lax.slice(take(first, x), begin, (height, *end[1:]), params["strides"])
                ]
        elif name == "gather" and not isinstance(operands[0], Rows):
            numbers = params["dimension_numbers"]
            if 0 not in numbers.offset_dims and not numbers.operand_batching_dims:
                return of_blocks([_all_of, some(operands[1])])
        elif name == "dot_general":
            return self._product_of_rows(equation, operands)
        raise InseparableError

    def _some_of(self, operand: Value) -> Callable[[Array, Array], Array]:
        """What takes a block of an operand, given the first row and the operand, which may be a block already."""
        if isinstance(operand, Rows) or _shape(operand)[:1] == (1,):
            return _all_of
        if _shape(operand)[:1] != (self.rows,):
            raise InseparableError
        more = self.blocks * self.of_block - self.rows
        # Of an array that is too short a slice would begin earlier, to fit.
        padded = jnp.pad(operand, [(0, more), *[(0, 0)] * (operand.ndim - 1)]) if more else operand
        return lambda first, _: jax.lax.dynamic_slice_in_dim(padded, first, self.of_block)

    def _broadcast(
        self, operand: Value, shape: tuple[int, ...], dimensions: tuple[int, ...]
    ) -> Callable[..., Sequence[Array]]:
        to = (self.of_block, *shape[1:])
        if dimensions[:1] == (0,) and _shape(operand)[0] == self.rows:
            take = self._some_of(operand)
            return lambda first, x: [jax.lax.broadcast_in_dim(take(first, x), to, dimensions)]
        whole = operand.whole if isinstance(operand, Rows) else operand
        if whole is None:
            raise InseparableError
        return lambda first, x: [jax.lax.broadcast_in_dim(whole, to, dimensions)]

    def _product_of_rows(self, equation: Any, operands: list[Value]) -> Callable[..., Sequence[Array]]:
        """Products of every row with the same matrix, or with a row of the other operand."""
        ((over, _), (batch, other)), bound = equation.params["dimension_numbers"], _bound(equation)
        left, right = operands
        if batch[:1] == (0,) and other[:1] == (0,):
            some, same = self._some_of(left), self._some_of(right)
            return lambda first, a, b: bound(some(first, a), same(first, b))
        whole = right.whole if isinstance(right, Rows) else right
        if isinstance(left, Rows) and whole is not None and not batch and 0 not in over:
            return lambda first, a, b: bound(a, whole)
        raise InseparableError

    def _product_over_rows(self, equation: Any, operands: list[Value]) -> Deferred | None:
        """A product that adds up over rows; None if it does not."""
        over, (batch, _) = equation.params["dimension_numbers"]
        over = [
            tuple(1 - axis for axis in axes) if isinstance(x, TransposedRows) else axes
            for x, axes in zip(operands, over, strict=True)
        ]
        if batch or (0, 0) not in zip(*over, strict=True):
            return None
        if math.prod(equation.outvars[0].aval.shape) > NUMBERS:
            raise InseparableError  # to add it up for every block would take longer than to keep the records
        params = {**equation.params, "dimension_numbers": (tuple(over), ((), ()))}
        operands = [x.rows if isinstance(x, TransposedRows) else x for x in operands]
        takers = [self._some_of(x) for x in operands]

        def product(first: Array, *blocks: Array) -> Sequence[Array]:
            own = [self._own(take(first, x), first, 0) for take, x in zip(takers, blocks, strict=True)]
            return [equation.primitive.bind(*own, **params)[None]]

        return self._total(product, operands, jnp.add, lambda dtype: 0, lambda x: x.sum(axis=0), True)

    def _added_up(self, equation: Any, rows: Value) -> Deferred:
        of_two, neutral = _ADDED_UP[equation.primitive.name]
        params, take = equation.params, self._some_of(rows)
        inner = tuple(axis for axis in params["axes"] if axis)

        def reduced(first: Array, block: Array) -> Sequence[Array]:
            block = take(first, block)
            block = equation.primitive.bind(block, **{**params, "axes": inner}) if inner else block
            return [self._own(block, first, neutral(block.dtype))]

        def finish(sums: Array) -> Array:
            return equation.primitive.bind(sums, **{**params, "axes": (0,)})

        return self._total(reduced, [rows], of_two, neutral, finish, bool(inner))

    def _total(
        self,
        work: Callable[..., Sequence[Array]],
        operands: Sequence[Value],
        of_two: Callable[..., Array],
        neutral: Callable[[Any], Any],
        finish: Callable[[Array], Array],
        is_reduction: bool,
    ) -> Deferred:
        value, slot = self._slot(), self._slot()
        self.on_block.append(Step(work, operands, [value], is_reduction))
        self.totals.append(Total(value, of_two, neutral, finish, slot))
        return Deferred(slot)

    def _own(self, block: Array, first: Array, neutral: Any) -> Array:
        """The block, with the number that changes nothing in rows that are no records."""
        if self.blocks * self.of_block == self.rows:
            return block
        own = first + jnp.arange(self.of_block) < self.rows
        return jnp.where(own.reshape(-1, *[1] * (block.ndim - 1)), block, jnp.asarray(neutral, block.dtype))

    def _picked(self, equation: Any, operands: list[Value]) -> Deferred:
        """A single row, at a place that is known before."""
        rows, place, *_ = operands
        if (
            not isinstance(rows, Rows)
            or isinstance(place, Rows)
            or equation.params["slice_sizes"] != (1, *rows.shape[1:])
        ):
            raise InseparableError
        slot = self._slot()
        self.picked.append((rows, jnp.clip(place, 0, self.rows - 1).astype(jnp.int64), slot))
        return Deferred(slot)


def _bound(equation: Any) -> Callable[..., Sequence[Array]]:
    def work(*operands: Array) -> Sequence[Array]:
        result = equation.primitive.bind(*operands, **equation.params)
        return result if equation.primitive.multiple_results else [result]

    return work


def _all_of(first: Array, operand: Array) -> Array:
    return operand


def _shape(value: Value) -> tuple[int, ...]:
    return tuple(getattr(value, "shape", ()))


def _bounds(dtype: Any) -> tuple[Any, Any]:
    """The least and the greatest number of a type."""
    if jnp.issubdtype(dtype, jnp.floating):
        return -jnp.inf, jnp.inf
    return (False, True) if jnp.issubdtype(dtype, bool) else (jnp.iinfo(dtype).min, jnp.iinfo(dtype).max)
