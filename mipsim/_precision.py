"""The scope in which every game is played: float64, and a fixed meaning for random keys; and the user's own precision inside it.

Floating point is part of a mechanism: its rounding, its overflow and the low bits of its noise reveal what no real number does. So the
functions that a user hands in run as they do in the user's own process, and only there is it known whether JAX has float64. What the
library computes around them is in float64. A value crosses from one to the other without loss, but where float64 is cut to what the
user's function would have been given.
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array

from mipsim._samplers import is_own
from mipsim._validation import choice

PRECISIONS = ("float32", "float64")
_USERS: Any = jax.make_user_context(None)
"""The precision of the user's functions, inside `exact_scope`; JAX keeps traces by it."""
_CUT = {"float64": "float32", "int64": "int32", "uint64": "uint32", "complex128": "complex64"}
"""What JAX makes of numbers where it has no float64."""
WIDER = {short: long for long, short in _CUT.items()}


def users_precision(precision: object = None) -> str:
    """The precision in which the user's functions run: what is given; else what their process has, or had when the scope was entered.
    >>> users_precision(), users_precision("float64")
    ('float32', 'float64')
    """
    if precision is not None:
        return choice("precision", precision, PRECISIONS)
    return _USERS.value or PRECISIONS[_has_float64()]


def _has_float64() -> bool:
    return jax.config.jax_enable_x64  # pyright: ignore[reportAttributeAccessIssue]


def run_in(precision: str) -> Any:
    """Where the user's functions run in this precision: a context for the thread, outside of `exact_scope`."""
    return _USERS(precision)


@contextmanager
def exact_scope(precision: str | None = None) -> Iterator[None]:
    """Float64, and every other setting of JAX's that could change a result or stop a game at what it was before anybody set it.

    The offset of seeds cannot be set for a while: `fixed_key` makes keys that it does not move.

    `precision`: of the user's functions; None for that of `users_precision`. It is a setting of a thread.
    """
    with (
        _USERS(users_precision(precision)),
        jax.enable_x64(True),
        jax.threefry_partitionable(True),
        jax.default_prng_impl("threefry2x32"),
        jax.numpy_dtype_promotion("standard"),
        jax.numpy_rank_promotion("allow"),
        jax.default_matmul_precision(None),
        jax.transfer_guard("allow"),
        jax.debug_nans(False),  # a score may be infinite, and arithmetic on the way there NaN
        jax.debug_infs(False),
        jax.disable_jit(False),
    ):
        yield


def fixed_key(seed: int) -> Array:
    """The key of a seed, whatever JAX's flags add to seeds. Must be called inside `exact_scope`."""
    words = np.array([seed >> 32 & 0xFFFFFFFF, seed & 0xFFFFFFFF], np.uint32)
    return jax.random.wrap_key_data(jax.device_put(words), impl="threefry2x32")


def in_users_precision(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a user's function as its own process would: with float32 arrays and a key of JAX's own where that has no float64.

    What it returns is widened again, which loses nothing. Barriers keep XLA from compiling it together with what is around it, which would
    add up its sums in another order. Outside of `exact_scope` it is the call alone.

    >>> with exact_scope("float32"):
    ...     result = in_users_precision(lambda x: (x.dtype.name, x / 3), np.ones(1))
    >>> result[0], result[1].dtype.name, float(np.asarray(result[1])[0]) == float(np.float32(1) / np.float32(3))
    ('float32', 'float64', True)
    """
    if not _has_float64() or users_precision() == "float64":
        return function(*arguments)
    function, given = arrays_as_given(function), jax.tree.map(as_given, arguments)
    with jax.enable_x64(False):
        result = _apart(function(*_apart(given)))
    return jax.tree.map(partial(_as, WIDER), result)


def _apart(values: Any) -> Any:
    arrays, others = eqx.partition(values, eqx.is_array)
    return eqx.combine(jax.lax.optimization_barrier(arrays), others)


def as_given(value: Any) -> Any:
    """A value as a user's function is given it. Must be called inside `exact_scope`."""
    if users_precision() == "float64":
        return value
    if isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        if not is_own(value):
            return value
        return jax.random.wrap_key_data(jax.random.bits(value, (2,), jnp.uint32), impl="threefry2x32")
    return _as(_CUT, value)


def arrays_as_given(thing: Any) -> Any:
    """A user's object with JAX's arrays in it as its own process would have them; NumPy's are left to the user's code."""
    if not _has_float64():
        return thing
    return jax.tree.map(lambda x: as_given(x) if isinstance(x, jax.Array) else x, thing)


def _as(types: dict[str, str], value: Any) -> Any:
    wanted = types.get(str(getattr(value, "dtype", None)))
    return value if wanted is None else jnp.asarray(value).astype(wanted)


def in_float64(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that computes in float64 whoever calls it.

    Called where JAX has no float64, it returns NumPy arrays: JAX would cut its own to float32 at their next use. Under a user's
    `jax.jit` without float64 the arguments are float32 already, and so is the result: its dtype says so. In a game it computes in
    float64 there too.

    >>> import jax.numpy as jnp
    >>> result = in_float64(lambda x: jnp.sum(x) / 3)(np.ones(1))
    >>> type(result).__name__, result.dtype.name
    ('ndarray', 'float64')
    """

    @functools.wraps(method)
    def computed(*args: Any, **kwargs: Any) -> Any:
        if _has_float64():
            return method(*args, **kwargs)
        if any(isinstance(x, Tracer) for x in jax.tree.leaves((args, kwargs))):
            if _USERS.value is None:
                return method(*args, **kwargs)
            with jax.enable_x64(True):  # a user's function of a game asks
                own_args, own_kwargs = jax.tree.map(partial(_as, WIDER), (args, kwargs))
                return jax.tree.map(partial(_as, _CUT), method(*own_args, **own_kwargs))
        with exact_scope():
            return jax.tree.map(
                lambda x: np.asarray(x) if isinstance(x, jax.Array) else x, method(*args, **kwargs)
            )

    return computed


def of_float64(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that returns a function or None; the function then computes in float64 whoever calls it.
    >>> import jax.numpy as jnp
    >>> third = of_float64(lambda thing: lambda x: jnp.sum(x) / 3)
    >>> third(None)(np.ones(1)).dtype.name
    'float64'
    """

    @functools.wraps(method)
    def find(*args: Any) -> Any:
        result = method(*args)
        return None if result is None else in_float64(result)

    return find
