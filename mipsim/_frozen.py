"""Immutable records whose fields are checked once, of NumPy and plain Python alone: a curve needs no JAX."""

from abc import ABCMeta
from dataclasses import dataclass, field, fields
from typing import Any, dataclass_transform

import numpy as np


class _FrozenMeta(ABCMeta):
    """Make every class of `Frozen` a dataclass; convert, check and freeze what its constructor has set."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> Any:
        cls: Any = super().__new__(mcs, name, bases, namespace, **options)
        own_init = "__init__" in namespace or not namespace.get("__annotations__")
        return dataclass(eq=False, repr=False, init=not own_init)(cls)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        built: Any = object.__new__(cls)
        vars(built)["_open"] = True
        built.__init__(*args, **kwargs)
        for entry in fields(built):
            if (convert := entry.metadata.get("converter")) is not None:
                setattr(built, entry.name, convert(getattr(built, entry.name)))
        for kind in reversed(cls.__mro__):
            if (check := vars(kind).get("__check_init__")) is not None:
                check(built)
        del vars(built)["_open"]
        return built


@dataclass_transform(eq_default=False, field_specifiers=(field,))
class Frozen(metaclass=_FrozenMeta):
    """A dataclass without a decorator, whose fields cannot be set after construction.

    A field's metadata may hold a `converter`, which checks and converts its value; a method `__check_init__` checks all of
    them, and that of each base class is called too. Two records are equal if they are of the same class and their fields are.

    Source: the rules of `equinox.Module`, for records that are no pytrees.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if "_open" not in vars(self):
            raise AttributeError(f"{type(self).__name__} is immutable; {name} cannot be set")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; {name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(map(_same, _values(self), _values(other)))

    def __hash__(self) -> int:
        return hash((type(self), *_values(self)))


def _values(record: Any) -> list[Any]:
    return [getattr(record, entry.name) for entry in fields(record)]


def _same(first: Any, other: Any) -> bool:
    if isinstance(first, np.ndarray) or isinstance(other, np.ndarray):
        return type(first) is type(other) and first.dtype == other.dtype and np.array_equal(first, other)
    return bool(first == other)
