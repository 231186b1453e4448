"""A single compilation for all points of a shape: numbers that a user's function closes over become arguments of the compiled game.

A statement builds its game anew at each point, `lambda key, x: x + scale * noise(key)` with another `scale`. To JAX each is another
function, and compiling takes a hundred times as long as a quick look's games.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim._precision import exact_scope, in_users_precision, users_precision
from mipsim._pure import call_pure, operations
from mipsim._validation import sample_size
from mipsim.attacks.base import AbstractAttack
from mipsim.attacks.function import FunctionAttack
from mipsim.games.base import AbstractMembershipGame
from mipsim.games.two_inputs import TwoInputs
from mipsim.mechanisms.base import AbstractMechanism
from mipsim.mechanisms.function import FunctionMechanism
from mipsim.referee.values import Played


class _Unshared(Exception):
    """A function that holds what may change unseen, or what cannot be compared."""


_NUMBER = object()
"""Stands in a template for a number that is an argument."""
_TRIED: dict[Any, bool] = {}
"""Template and shapes -> whether its numbers can be arguments: not where a number decides a shape or a branch."""


def with_shared_functions(value: Played) -> Played:
    """The same game and attack, in which functions that differ in numbers only are equal to JAX; what cannot be shared stays as it is."""
    game, attack = value.game, value.attack
    mechanism: Any = getattr(game, "mechanism", None)
    literal = isinstance(mechanism, FunctionMechanism)
    if not literal and not isinstance(game, TwoInputs):
        return value
    entered = _entered(game)
    if entered is None:
        return value
    key = jax.random.key(0)
    released = mechanism
    if literal:
        released = _shared(mechanism, "mechanism", _SharedMechanism, (key, entered))
        if released is not mechanism:
            game = eqx.tree_at(
                lambda tree: tree.mechanism, game, released, is_leaf=lambda node: node is mechanism
            )
    if isinstance(attack, FunctionAttack):
        target = game.b if isinstance(game, TwoInputs) else getattr(game, "target", None)
        if target is not None:
            with exact_scope():
                output = jax.eval_shape(released.release, key, entered)
            attack = _shared(attack, "attack", _SharedAttack, (jnp.asarray(target), output))
    return Played(game, attack)


def _entered(game: Any) -> Any:
    """The shape of what the mechanism is given."""
    with exact_scope():
        if isinstance(game, TwoInputs):
            return jax.ShapeDtypeStruct(game.b.shape, jnp.asarray(game.b).dtype)
        if isinstance(game, AbstractMembershipGame):
            return jax.eval_shape(lambda key: game.data.sample(key, game.n), jax.random.key(0))
    return None


def _shared(member: Any, role: str, kind: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """The member with its numbers as leaves, if that can be traced; else the member."""
    try:
        numbers: list[Any] = []
        template = _template(member.function, numbers)
    except _Unshared:
        return member
    with exact_scope():
        leaves = tuple(jnp.asarray(number) for number in numbers)
        key = (
            users_precision(),
            template,
            str(jax.tree.map(jnp.shape, arguments)),
            str([leaf.aval for leaf in leaves]),
        )
        result = kind(template, leaves)
        if key not in _TRIED:
            _TRIED[key] = _can_be_traced(member.function, result, role, arguments)
    return result if _TRIED[key] else member


def _can_be_traced(function: Any, shared: Any, role: str, arguments: tuple[Any, ...]) -> bool:
    try:
        own = jax.make_jaxpr(lambda *given: call_pure(role, function, *given))(*arguments)
        other = jax.make_jaxpr(lambda function, *given: function(*given))(shared, *arguments)
    except Exception:  # the engine says what is wrong with the function itself
        return False
    # What Python computes of its numbers, in float64, JAX would compute in float32.
    same = users_precision() == "float64" or operations(own) == operations(other)
    return same and str(own.out_avals) == str(other.out_avals)


class _SharedMechanism(AbstractMechanism):
    template: Any = eqx.field(static=True)
    numbers: tuple[Any, ...]

    def __call__(self, key: PRNGKeyArray, records: Array) -> Array:
        return _called(self, key, records)

    def release(self, key: PRNGKeyArray, records: Float[Array, "n d"]) -> Array:
        return self(key, records)

    def rows(self, n: int) -> int:
        return sample_size(n)

    def output_shape(self, dimension: int) -> tuple[int, ...] | None:
        return None


class _SharedAttack(AbstractAttack):
    template: Any = eqx.field(static=True)
    numbers: tuple[Any, ...]

    def __call__(self, target: Array, output: Array) -> Array:
        return _called(self, target, output)

    def score(self, target: Float[Array, " d"], output: Array) -> Float[Array, ""]:
        return self(target, output)


def _called(shared: Any, *arguments: Any) -> Any:
    return in_users_precision(
        lambda numbers, *given: _function(shared.template, iter(numbers))(*given), shared.numbers, *arguments
    )


def _template(value: Any, numbers: list[Any]) -> Any:
    """What a value is but for its numbers, which are added to a list; comparable."""
    if isinstance(value, (float, np.floating)) or (
        isinstance(value, (np.ndarray, jax.Array)) and value.dtype.kind == "f"
    ):
        numbers.append(value)
        return _NUMBER
    if value is None or isinstance(value, (bool, int, str, bytes, CodeType, ModuleType, type)):
        return value
    if isinstance(value, tuple):
        return ("tuple", *(_template(item, numbers) for item in value))
    if isinstance(value, functools.partial):
        parts = (value.func, value.args, *(part for pair in sorted(value.keywords.items()) for part in pair))
        return ("partial", *(_template(part, numbers) for part in parts))
    if not isinstance(value, FunctionType):
        raise _Unshared
    if hasattr(value, "__wrapped__"):
        raise _Unshared
    try:
        cells = tuple(cell.cell_contents for cell in value.__closure__ or ())
    except ValueError:
        raise _Unshared from None
    keywords = value.__kwdefaults__ or {}
    held = (value.__defaults__ or (), cells, tuple(part for pair in keywords.items() for part in pair))
    named = tuple(_global(value.__globals__.get(name)) for name in sorted(_names(value.__code__)))
    return (
        "function",
        value.__code__,
        _Globals(value.__globals__),
        named,
        *(_template(part, numbers) for part in held),
    )


def _global(value: Any) -> Any:
    """What tells a function's global from another: it may be bound anew between two points."""
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return value
    if callable(value) or isinstance(value, ModuleType):
        return id(value)
    raise _Unshared  # a list, a mapping or an array may change in its place


def _names(code: CodeType) -> set[str]:
    inner = [_names(item) for item in code.co_consts if isinstance(item, CodeType)]
    return set(code.co_names).union(*inner)


class _Globals:
    """The globals of a module, which are identified by where they are; a manifest does not look inside."""

    __slots__ = ("held",)

    def __init__(self, held: dict[str, Any]) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Globals) and self.held is other.held

    def __hash__(self) -> int:
        return id(self.held)


def _function(template: Any, numbers: Any) -> Any:
    """The value of a template, with other numbers."""
    if template is _NUMBER:
        return next(numbers)
    if not isinstance(template, tuple):
        return template
    kind, *parts = template
    if kind == "tuple":
        return tuple(_function(part, numbers) for part in parts)
    if kind == "partial":
        func, args, *pairs = (_function(part, numbers) for part in parts)
        return functools.partial(func, *args, **dict(zip(pairs[::2], pairs[1::2], strict=True)))
    code, held, _, *rest = parts
    defaults, cells, pairs = (_function(part, numbers) for part in rest)
    result = FunctionType(code, held.held, code.co_name, defaults, tuple(map(CellType, cells)))
    result.__kwdefaults__ = dict(zip(pairs[::2], pairs[1::2], strict=True)) or None
    return result
