"""Objects as plain JSON: what a manifest says of games, attacks, functions and arrays."""

import hashlib
import types
from dataclasses import fields, is_dataclass
from functools import partial
from importlib import metadata
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mipsim._version import __version__


def _name(kind: Any) -> str:
    """The full name of a class or function."""
    return f"{getattr(kind, '__module__', '')}.{getattr(kind, '__qualname__', repr(type(kind)))}"


def describe(thing: object) -> Any:
    """Describe an object as plain JSON: class names, static fields, and digests of its arrays and functions.

    Args:
        thing: a mechanism, law, game, attack, array, number, string, function, or a container of these.

    Returns:
        Dicts, lists, strings, numbers, booleans or None. Arrays become {"shape", "dtype", "sha256"}; a function
        becomes {"function", "code"}: its qualified name and a digest of its code, defaults, closure and the plain
        globals that it names.

    Examples:
        >>> import mipsim as mi
        >>> describe(mi.Subsampled(mi.EmpiricalMean(), 0.5))
        {'class': 'mipsim.mechanisms.subsample.Subsampled', 'base': {'class': 'mipsim.mechanisms.mean.EmpiricalMean'}, 'sampling_rate': 0.5}
    """
    return _describe(thing, ())


def versions() -> dict[str, str]:
    """Versions of mipsim, jax and numpy.
    >>> sorted(versions())
    ['jax', 'mipsim', 'numpy']
    """
    return {"mipsim": __version__, "jax": metadata.version("jax"), "numpy": metadata.version("numpy")}


def array_digest(array: object) -> dict[str, Any]:
    """Shape, dtype and SHA-256 of an array's bytes."""
    plain = np.asarray(array)
    if plain.dtype.hasobject:
        return {
            "shape": list(plain.shape),
            "dtype": "object",
            "sha256": _digest(repr(plain.tolist()).encode()),
        }
    plain = np.ascontiguousarray(plain.astype(plain.dtype.newbyteorder("<"), copy=False)).reshape(plain.shape)
    return {"shape": list(plain.shape), "dtype": plain.dtype.name, "sha256": _digest(plain.tobytes())}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _describe(thing: Any, seen: tuple[int, ...]) -> Any:
    if thing is None or isinstance(thing, (bool, int, str)):
        return thing
    if isinstance(thing, float):
        return thing if np.isfinite(thing) else repr(thing)
    if id(thing) in seen:
        return "(itself)"
    seen = (*seen, id(thing))
    if isinstance(
        thing, (types.FunctionType, types.MethodType, types.BuiltinFunctionType, partial, type)
    ) or (hasattr(thing, "__wrapped__") and callable(thing)):
        return _describe_callable(thing, seen)
    if isinstance(thing, types.ModuleType):
        return {"module": thing.__name__}
    if isinstance(thing, dict):
        return {str(k): _describe(v, seen) for k, v in thing.items()}
    if isinstance(thing, (tuple, list)):
        return [_describe(v, seen) for v in thing]
    if isinstance(thing, (set, frozenset)):
        return sorted((_describe(v, seen) for v in thing), key=repr)
    if isinstance(thing, bytes):
        return {"bytes": _digest(thing)}
    if hasattr(thing, "dtype") and hasattr(thing, "shape"):
        if jnp.issubdtype(thing.dtype, jax.dtypes.prng_key):
            return {
                "key": array_digest(jax.random.key_data(thing)),
                "generator": str(jax.random.key_impl(thing)),
            }
        return array_digest(thing)
    kind = type(thing)
    if is_dataclass(thing):
        members = {f.name: getattr(thing, f.name) for f in fields(thing) if hasattr(thing, f.name)}
    else:
        members = getattr(thing, "__dict__", {})
    return {"class": _name(kind), **{k: _describe(v, seen) for k, v in members.items()}}


def _describe_callable(function: Any, seen: tuple[int, ...]) -> dict[str, Any]:
    if isinstance(function, partial):
        parts = _describe([function.args, function.keywords], seen)
        return {"partial": _describe(function.func, seen), "with": parts}
    if isinstance(function, types.MethodType):
        return {"method": _describe(function.__func__, seen), "of": _describe(function.__self__, seen)}
    if hasattr(function, "__wrapped__"):
        return _describe(function.__wrapped__, seen)
    name = _name(function)
    if not isinstance(function, types.FunctionType):
        return {"function": name}
    closed = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    used = {
        k: function.__globals__[k] for k in sorted(_names(function.__code__)) if k in function.__globals__
    }
    context = [_describe(x, seen) for x in (closed, function.__defaults__, function.__kwdefaults__, used)]
    return {"function": name, "code": _digest(repr([_code(function.__code__), context]).encode())}


def _is_filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - an empty cell raises
    except ValueError:
        return False
    return True


def _names(code: types.CodeType) -> set[str]:
    inner = (c for c in code.co_consts if isinstance(c, types.CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _code(code: types.CodeType) -> list[Any]:
    """What the code does, without where it stands in its file."""
    constants = [_code(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts]
    return [code.co_code.hex(), constants, code.co_names, code.co_varnames]
