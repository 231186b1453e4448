"""What was played, as plain JSON: the identity of a run, and which games are its."""

import hashlib
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from importlib import metadata
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mipsim._validation import whole
from mipsim._version import __version__

IDENTITY = ("game", "attack", "seed", "fidelity", "sampler", "edges", "draws", "versions", "shard")
"""The parts of a manifest that decide what a run is; the others say how far it has come, and where."""

FORMAT = 2
"""Of a manifest; files of another format are refused, since they say less of what was played."""

DRAWS = 3
"""Raised whenever the meaning of a random stream changes, so that no run is resumed across such a change."""


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

    Examples:
        >>> sorted(versions())
        ['jax', 'mipsim', 'numpy']
    """
    return {"mipsim": __version__, "jax": metadata.version("jax"), "numpy": metadata.version("numpy")}


def difference(
    mine: Mapping[str, Any], theirs: Mapping[str, Any], parts: Sequence[str] = IDENTITY
) -> str | None:
    """The first of the parts in which two manifests differ, or None.

    Versions are those of mipsim and jax, to which random streams belong.

    Examples:
        >>> difference({"seed": 1, "games": 5}, {"seed": 1, "games": 7}), difference({"seed": 1}, {"seed": 2})
        (None, 'seed')
    """
    for part in parts:
        pair = [manifest.get(part) for manifest in (mine, theirs)]
        if part == "versions":
            pair = [{k: (v or {}).get(k) for k in ("mipsim", "jax")} for v in pair]
        if pair[0] != pair[1]:
            return part
    return None


def array_digest(array: object) -> dict[str, Any]:
    """Shape, dtype and SHA-256 of an array's bytes.

    Examples:
        >>> array_digest(np.zeros(2))["shape"]
        [2]
    """
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


def odd_field(manifest: Mapping[str, Any]) -> str | None:
    """The first field of a manifest that is there and is not of the kind that `play` writes, or None.

    Examples:
        >>> odd_field({"games": 3, "runs": [[0, 0, 3]]}), odd_field({"games": "3"})
        (None, 'games')
    """
    return next(
        (name for name, is_one in _FIELDS.items() if name in manifest and not is_one(manifest[name])), None
    )


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_range(value: Any, length: int) -> bool:
    """Whether it is a list of whole numbers whose last two begin and end a range."""
    return (
        isinstance(value, list)
        and len(value) == length
        and all(map(_is_count, value))
        and value[-2] <= value[-1]
    )


def _are_runs(value: Any) -> bool:
    """Whether it is a list of seeds with ranges of games, none of which is counted twice."""
    if not isinstance(value, list) or not all(_is_range(run, 3) and run[0] < 2**64 for run in value):
        return False
    runs = sorted(run for run in value if run[1] < run[2])
    return all(a[0] < b[0] or a[2] <= b[1] for a, b in pairwise(runs))


def _is_shard(value: Any) -> bool:
    if not isinstance(value, dict) or not _is_range(value.get("games"), 2):
        return False
    index, count = value.get("index", 0), value.get("count", 0)
    return _is_count(index) and _is_count(count) and index < count


_FIELDS: dict[str, Callable[[Any], bool]] = {
    "format": _is_count,
    "games": _is_count,
    "runs": _are_runs,
    "seed": lambda value: value is None or (_is_count(value) and value < 2**64),
    "edges": lambda value: isinstance(value, dict) and isinstance(value.get("sha256"), str),
    "versions": lambda value: isinstance(value, dict) and all(isinstance(v, str) for v in value.values()),
    "shard": _is_shard,
    **dict.fromkeys(("fidelity", "sampler", "device"), lambda value: isinstance(value, str)),
}


MOST_NUMBERS = 2**62
"""Of games: an int64 holds the end of their last block."""


def game_range(games: object) -> range:
    """The numbers of the games to play: 0, ..., games - 1, or a given `range` of numbers >= 0 with step 1.

    Examples:
        >>> game_range(1e3), game_range(range(500, 1000))
        (range(0, 1000), range(500, 1000))
    """
    asked = games if isinstance(games, range) else range(whole("games", games, 1))
    if asked.step != 1 or asked.start < 0 or asked.stop < asked.start:
        raise ValueError(f"games is {games}; a range of games must have step 1 and begin at 0 or later")
    if asked.stop > MOST_NUMBERS:
        raise ValueError(f"games is {games}; their numbers must be below 2^62")
    return asked


def shard_of(games: range, index: int, count: int) -> range:
    """Shard `index` of the `count` contiguous ones of a range of games; their sizes differ by one game at most.

    Examples:
        >>> [shard_of(range(10), i, 3) for i in range(3)]
        [range(0, 3), range(3, 6), range(6, 10)]
    """
    cuts = [games.start + len(games) * i // count for i in (index, index + 1)]
    return range(*cuts)


def check_shard(shard: object) -> tuple[int, int]:
    """Return (index, count) if 0 <= index < count.

    Examples:
        >>> check_shard((3, 4))
        (3, 4)
    """
    if not isinstance(shard, (tuple, list)) or len(shard) != 2:
        raise ValueError(f"shard is {shard!r}; it must be a pair (i, k) with 0 <= i < k")
    index, count = whole("i of shard", shard[0], 0), whole("k of shard", shard[1], 1)
    if index >= count:
        raise ValueError(f"shard is {index}/{count}; i must be below k: shards are numbered from 0")
    return index, count
