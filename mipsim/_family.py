"""Families of classes whose members are abstract or final: what a base computes, no subclass recomputes."""

from typing import Any, ClassVar, TypeVar

import equinox as eqx
import jax
import numpy as np

from mipsim._precision import in_float64, of_float64
from mipsim._pure import users_method

_USERS = ("release", "score", "sample", "play")
"""What a user's own class computes as its own process would, as a user's function does. What a class states of its form, such as the
weights of a linear score, is of real numbers, and computed in float64.
"""


Tree = TypeVar("Tree")


class AbstractMember(eqx.Module):
    """The root of every family (mechanisms, laws, attacks, games).

    A class of a family is either abstract, or final. What an abstract base computes from its members' own parts holds for
    every member, so that an engine may use the parts alone: a linear attack is its weights and its offset. A subclass
    that says otherwise would be misread in silence; it is refused when it is defined.
    """

    FLOAT64: ClassVar[tuple[str, ...]] = ()
    """Methods that compute in float64 whoever calls them; a family's root names them."""

    FLOAT64_FUNCTIONS: ClassVar[tuple[str, ...]] = ()
    """Methods that return a function, or None, which then computes in float64 whoever calls it."""

    OPTIONAL: ClassVar[tuple[str, ...]] = ()
    """Methods that a base answers for members that have no answer of their own; a member may define them."""

    SIZES: ClassVar[tuple[str, ...]] = ()
    """Fields that are numbers of records and enter arithmetic only: see `with_traced_sizes`."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in cls.FLOAT64:
            method = vars(cls).get(name)
            if callable(method) and not getattr(method, "__isabstractmethod__", False):
                own = name in _USERS and is_users(cls)
                setattr(cls, name, in_float64(users_method(method) if own else method))
        for name in cls.FLOAT64_FUNCTIONS:
            if name in vars(cls):
                setattr(cls, name, of_float64(vars(cls)[name]))
        # Equinox makes a second class of the same name and bases for its own use while it initialises.
        family = [base for base in cls.__mro__[1:] if issubclass(base, AbstractMember)][:-1]
        if not family:
            return
        root = family[-1].__name__
        for base in family:
            if not getattr(base, "__abstractmethods__", None) and not getattr(base, "__abstractvars__", None):
                noun = root.removeprefix("Abstract").lower()
                raise TypeError(
                    f"{cls.__name__} subclasses {base.__name__}, which is final; subclass {root}, or wrap "
                    f"{base.__name__}() in a {noun} of your own"
                )
            computed = {
                name for name, value in vars(base).items() if callable(value) or isinstance(value, property)
            }
            computed -= {*base.__abstractmethods__, *cls.OPTIONAL}
            bent = sorted(name for name in vars(cls) if name in computed and not name.startswith("__"))
            if bent:
                raise TypeError(
                    f"{cls.__name__} overrides {bent[0]} of {base.__name__}, which follows from the abstract methods there; "
                    f"subclass {root} to say it freely"
                )


def is_users(kind: type) -> bool:
    """Whether a class is a user's own."""
    return kind.__module__.partition(".")[0] != "mipsim"


def runs_users_code(thing: Any) -> bool:
    """Whether a member is of a user's own class, or holds a user's function, or another member that does.
    >>> import mipsim as mi
    >>> runs_users_code(mi.Subsampled(mi.EmpiricalMean(), 0.5)), runs_users_code(mi.FunctionMechanism(lambda key, rows: rows))
    (False, True)
    """
    if isinstance(thing, tuple):
        return any(map(runs_users_code, thing))
    if not isinstance(thing, AbstractMember):
        return False
    own = is_users(type(thing)) or callable(thing) or callable(getattr(thing, "function", None))
    return own or runs_users_code(tuple(vars(thing).values()))


def with_traced_sizes(tree: Tree, dtype: type[np.generic] = np.float64) -> Tree:
    """A pytree whose members have arrays in the place of their `SIZES`, so that compiled code serves every number of records.
    >>> import mipsim as mi
    >>> attack = mi.CovarianceScore(mi.Gaussian(0.0, 1.0), n=10)
    >>> attack.n, with_traced_sizes(attack).n, with_traced_sizes([attack])[0].n.dtype
    (10, array(10.), dtype('float64'))
    """

    def traced(member: Any) -> Any:
        if not is_sized(member):
            return member
        numbers = [np.asarray(getattr(member, name), dtype) for name in member.SIZES]
        return eqx.tree_at(lambda node: [getattr(node, name) for name in member.SIZES], member, numbers)

    def is_sized(member: Any) -> bool:
        return isinstance(member, AbstractMember) and bool(member.SIZES)

    return jax.tree.map(traced, tree, is_leaf=is_sized)
