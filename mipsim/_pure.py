"""A user's function is traced once and that trace plays every game: here it is seen whether that is what was meant."""

from __future__ import annotations

import functools
import inspect
import random
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from types import CodeType
from typing import Any
from weakref import WeakKeyDictionary

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from mipsim._precision import WIDER, arrays_as_given, in_users_precision

_CHECKED: WeakKeyDictionary[Any, set[Any]] = WeakKeyDictionary()
"""Function -> the shapes for which it proved pure: its trace is not compared again."""

_REMEDIES: tuple[tuple[type[Exception], str], ...] = (
    (
        jax.errors.TracerBoolConversionError,
        "decides by `if`, `while`, `and`, `or` or `not` on a value that differs from game to game; use jax.numpy.where or jax.lax.cond",
    ),
    (
        jax.errors.TracerArrayConversionError,
        "hands a value that differs from game to game to NumPy or SciPy; use jax.numpy or jax.scipy",
    ),
    (
        jax.errors.TracerIntegerConversionError,
        "takes a value that differs from game to game for a length, an index of a list or the end of a range; use jax.numpy or jax.lax.fori_loop",
    ),
    (
        jax.errors.NonConcreteBooleanIndexError,
        "keeps the entries that a mask picks, whose number differs from game to game; use jax.numpy.where(mask, x, 0)",
    ),
    (
        jax.errors.ConcretizationTypeError,
        "makes a Python number of a value that differs from game to game by float(), int() or .item(); keep it a JAX array",
    ),
    (
        jax.errors.UnexpectedTracerError,
        "uses a value that it stored in an earlier call; take everything from the arguments and return what is wanted",
    ),
)
"""What JAX objects to, as a sentence on the function, and what to write in its place; subclasses before their bases."""


class ImpureFunctionError(ValueError):
    """A user's function that no trace can stand for; the message names it, and what to write in its place."""


def name_of_function(function: object) -> str:
    """How messages call a function."""
    return str(getattr(function, "__qualname__", type(function).__name__)).replace("<locals>.", "")


def takes(role: str, function: Callable[..., Any], names: tuple[str, str]) -> None:
    """Refuse a user's function that cannot be called with two arguments, or that names them the other way round.
    Raises ValueError with the call that it must take.

    >>> takes("mechanism", lambda records, key: records, ("key", "records"))
    Traceback (most recent call last):
        ...
    ValueError: mechanism <lambda> takes (records, key); it is called as mechanism(key, records)
    """
    try:
        own = inspect.signature(function)
    except (TypeError, ValueError):  # a built-in function does not say
        return
    try:
        swapped = list(own.bind(*names).arguments) == [*reversed(names)]
    except TypeError:
        swapped = True
    if swapped:
        who = f"{role} {name_of_function(function)}"
        raise ValueError(f"{who} takes {own}; it is called as {role}({', '.join(names)})")


def call_pure(role: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a user's function in the user's precision, and see on the way that what JAX traces is what the function says.

    Under a trace it is traced by itself, twice in each precision, the first time for these shapes: a function of its arguments alone gives the
    same operations and constants each time, and lets no traced value out. A deterministic function does so.
    """
    function = arrays_as_given(function)

    def watched(*given: Any) -> Any:
        if any(isinstance(x, Tracer) for x in jax.tree.leaves(given)):
            _check(f"{role} {name_of_function(function)}", function, given, takes_key=role == "mechanism")
        return function(*given)

    return in_users_precision(watched, *arguments)


_ROLES = {"release": "mechanism", "score": "attack"}


def users_method(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a user's own class, in the user's precision; a release or a score is watched as `call_pure` watches functions, but
    at every trace.
    """
    role = _ROLES.get(method.__name__)

    @functools.wraps(method)
    def called(self: Any, *arguments: Any, **named: Any) -> Any:
        own = arrays_as_given(self)

        @functools.wraps(method)
        def bound(*given: Any) -> Any:
            return method(own, *given, **named)

        return in_users_precision(bound, *arguments) if role is None else call_pure(role, bound, *arguments)

    return called


def _check(who: str, function: Callable[..., Any], arguments: tuple[Any, ...], takes_key: bool) -> None:
    shapes = jax.tree.map(lambda x: jax.ShapeDtypeStruct(np.shape(x), x.dtype), arguments)
    requested = str(shapes)
    try:
        known = _CHECKED.setdefault(function, set())
    except TypeError:  # it cannot be hashed, or referred to weakly
        known = set()
    if requested in known:
        return
    before = _states(function)
    first, second = _traced(who, function, shapes), _traced(who, function, shapes, guarded=True)
    remedy = _KEYED if takes_key else _KEYLESS
    if (sample := _differing(before, _states(function))) is not None:
        raise ImpureFunctionError(
            f"{who} draws from {sample} while it is traced, once for all games; {remedy}"
        )
    if list(_facts(first)) != list(_facts(second)) or _differ_in_float64(function, arguments):
        raise ImpureFunctionError(
            f"{who} gives other constants each time it is traced, such as a clock's; {remedy}"
        )
    if takes_key and _leaves_its_key(first) and (source := _own_source(function, first)) is not None:
        warnings.warn(
            f"{who} draws {source} of its own and leaves the key that it is given alone: its draws are the same in every game",
            stacklevel=2,
        )
    known.add(requested)


_KEYED = "draw from its key, as jax.random.normal(key, shape) does, and split the key for several draws"
_KEYLESS = (
    "a score follows from target and output alone; randomness belongs into the mechanism, which has a key"
)
_GENERATORS = frozenset({"default_rng", "RandomState", "Random"})
"""What makes a generator of NumPy's or Python's; from a fixed seed it gives the same numbers at each trace, so that no two differ."""


def _traced(
    who: str, function: Callable[..., Any], shapes: tuple[Any, ...], guarded: bool = False
) -> ClosedJaxpr:
    """A trace; guarded, it also fails where a traced value is stored.

    Inner functions that are jitted are traced again for the second: JAX keeps their traces by this setting, too.
    """
    try:
        with ExitStack() as scope:
            if guarded:
                scope.enter_context(jax.checking_leaks())
                scope.enter_context(jax.default_matmul_precision("highest"))
            return jax.make_jaxpr(lambda *arguments: function(*arguments))(*shapes)
    except Exception as error:
        if guarded and "Leaked" in str(error):
            raise ImpureFunctionError(
                f"{who} keeps a value of the trace, in a list, an attribute or a global, where it stands for no game; return what is "
                "wanted, or keep shapes and numbers only"
            ) from error
        remedy = next((text for kind, text in _REMEDIES if isinstance(error, kind)), None)
        if remedy is None:
            raise
        raise ImpureFunctionError(f"{who}{_line(function, error)} {remedy}") from error


def _differ_in_float64(function: Callable[..., Any], arguments: tuple[Any, ...]) -> bool:
    """Whether two traces differ by less than float32 tells apart, as a clock's seconds do."""
    if jax.config.jax_enable_x64:  # pyright: ignore[reportAttributeAccessIssue]
        return False
    with jax.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shapes = jax.tree.map(
            lambda x: jax.ShapeDtypeStruct(np.shape(x), WIDER.get(str(x.dtype), x.dtype)), arguments
        )
        try:
            first, second = (
                list(_facts(_traced("", function, shapes, guarded))) for guarded in (False, True)
            )
        except Exception:  # what is written for float32 alone
            return False
    return first != second


def _line(function: Callable[..., Any], error: Exception) -> str:
    """The line of the function's own file where it went wrong."""
    own = getattr(getattr(function, "__wrapped__", function), "__code__", None)
    file = getattr(own, "co_filename", None)
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f", line {lines[-1]}," if lines else ""


def _states(function: Callable[..., Any]) -> dict[str, Any]:
    """Where the random numbers stand that a function could draw from, those of its closure and globals among them."""
    shared: Any = np.random.get_state()  # noqa: NPY002 - it is the global state that is watched
    states: dict[str, Any] = {
        "np.random": (shared[1].tobytes(), *shared[2:]),
        "random": random.getstate(),
    }
    function = getattr(function, "__wrapped__", function)
    code = getattr(function, "__code__", None)
    cells = getattr(function, "__closure__", None) or ()
    names = () if code is None else code.co_names
    held = [getattr(function, "__globals__", {}).get(name) for name in names]
    for cell in cells:
        try:
            held.append(cell.cell_contents)
        except ValueError:  # not filled yet
            continue
    for item in held:
        if isinstance(item, np.random.Generator):
            states[f"a NumPy generator ({id(item):x})"] = str(item.bit_generator.state)
    return states


def _differing(before: dict[str, Any], after: dict[str, Any]) -> str | None:
    changed = (name for name in before if before[name] != after[name])
    return next((name.split(" (")[0] for name in changed), None)


def operations(program: Any) -> list[str]:
    """The primitives of a trace in their order, but for those that only change a type or a shape.
    >>> operations(jax.make_jaxpr(lambda x: jax.jit(jnp.sin)(2.0 * x))(1.0))
    ['mul', 'sin']
    """
    result: list[str] = []
    for equation in getattr(program, "jaxpr", program).eqns:
        parts = jax.tree.leaves(list(equation.params.values()))
        inner = [part for part in parts if isinstance(part, (ClosedJaxpr, Jaxpr))]
        if inner:
            result += [name for part in inner for name in operations(part)]
        elif equation.primitive.name not in ("convert_element_type", "broadcast_in_dim"):
            result.append(equation.primitive.name)
    return result


def _facts(closed: ClosedJaxpr) -> Iterator[Any]:
    """What a trace computes, without names: constants, operations, and the numbers in them."""
    for constant in closed.consts:
        yield _value(constant)
    yield from _operations(closed.jaxpr)


def _operations(jaxpr: Any) -> Iterator[Any]:
    for equation in jaxpr.eqns:
        yield equation.primitive.name
        yield from (_value(x.val) for x in equation.invars if isinstance(x, Literal))
        yield from (str(x.aval) for x in equation.outvars)
        for name in sorted(equation.params):
            yield from _parameter(equation.params[name])


def _parameter(value: Any) -> Iterator[Any]:
    if isinstance(value, ClosedJaxpr):
        yield from _facts(value)
    elif isinstance(value, Jaxpr):
        yield from _operations(value)
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _parameter(item)
    elif isinstance(value, (bool, int, float, np.number)):
        yield repr(value)


def _value(value: Any) -> Any:
    if isinstance(value, Tracer):
        return id(value)
    if isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        with jax.ensure_compile_time_eval():  # a key that the function holds is a constant, under a trace too
            value = jax.random.key_data(value)
    array = np.asarray(value)
    return array.dtype.str, array.shape, array.tobytes()


def _leaves_its_key(closed: ClosedJaxpr) -> bool:
    """Whether the first argument is used nowhere."""
    used = {id(x) for equation in closed.jaxpr.eqns for x in equation.invars}
    used |= {id(x) for x in closed.jaxpr.outvars}
    return id(closed.jaxpr.invars[0]) not in used


def _own_source(function: Callable[..., Any], closed: ClosedJaxpr) -> str | None:
    """Where random numbers come from that are not those of the key; None where there seem to be none."""
    if any(isinstance(x, str) and x in ("random_bits", "threefry2x32") for x in _facts(closed)):
        return "jax.random numbers from a key"
    built = _GENERATORS & _names(getattr(getattr(function, "__wrapped__", function), "__code__", None))
    return f"random numbers from a generator ({min(built)})" if built and _adds_a_constant(closed) else None


def _adds_a_constant(closed: ClosedJaxpr) -> bool:
    """Whether a constant is added to what the arguments give, as noise is; a fixed projection is multiplied."""
    fixed = {id(x) for x in closed.jaxpr.constvars}
    for equation in closed.jaxpr.eqns:
        constant = [isinstance(x, Literal) or id(x) in fixed for x in equation.invars]
        if all(constant):
            fixed |= {id(x) for x in equation.outvars}
        elif equation.primitive.name in ("add", "sub") and any(constant):
            return True
    return False


def _names(code: CodeType | None) -> set[str]:
    """The names that a function and those inside it use."""
    if code is None:
        return set()
    inner = (item for item in code.co_consts if isinstance(item, CodeType))
    return set(code.co_names).union(*map(_names, inner))
