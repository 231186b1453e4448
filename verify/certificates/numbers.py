"""Numbers that remember the formula they came from, as `mipsim.check` reads it."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import special

Tree = Any
"""As `mipsim.check` has it: a number, a name, an operation with its arguments, or a number of another question."""


class NoFormula(TypeError):
    """A number that has no formula is needed where a certificate would rest on it."""


class Traced:
    """A number and its tree; None where it has none."""

    __slots__ = ("tree", "x")
    __array_priority__ = 1000.0

    def __init__(self, value: Any, tree: Tree) -> None:
        self.x, self.tree = value, tree

    def __float__(self) -> float:
        raise NoFormula("a number was computed by code that keeps no formula")

    def __index__(self) -> int:
        if isinstance(self.x, int):
            return self.x
        raise NoFormula("a number is no count")

    __int__ = __index__

    def __round__(self, *digits: int) -> Any:
        return round(self.x, *digits)

    def __bool__(self) -> bool:
        return bool(self.x)

    def __repr__(self) -> str:
        return repr(self.x)

    __str__ = __repr__

    def __format__(self, how: str) -> str:
        return format(self.x, how)

    __hash__ = object.__hash__  # so that no cache takes it for a float

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        name = ufunc.__name__
        if method == "__call__" and name in ELEMENTARY and not named.get("out"):
            return lifted(ELEMENTARY[name])(*inputs)
        if method == "__call__" and name in COMPARED:
            return lifted(COMPARED[name], bool)(*inputs)
        return NotImplemented

    # what NumPy calls of the entries of an array of objects
    def conjugate(self) -> Traced:
        return self

    # what statements read of a `Number`, which has become the number itself
    value = low = high = property(lambda self: self)
    error = 0.0
    route = detail = unit = ""


class Count(int):
    """A whole number: with whole numbers it stays exact, and with others it makes a traced number."""

    tree: Tree = None

    @classmethod
    def named(cls, value: int, name: Tree) -> Count:
        """A parameter."""
        result = cls(value)
        result.tree = name
        return result

    def __truediv__(self, other: Any) -> Any:
        return lifted(div)(Traced(int(self), self.tree), other)

    def __rtruediv__(self, other: Any) -> Any:
        return lifted(div)(other, Traced(int(self), self.tree))

    def __neg__(self) -> Count:
        return Count.named(-int(self), -int(self))

    def __floordiv__(self, other: Any) -> Any:
        result = int(self) // other
        return Count.named(result, result) if isinstance(result, int) else result

    def __hash__(self) -> int:
        return int.__hash__(self)


def _mixed(name: str, function: str) -> Callable[..., Any]:
    plain = getattr(int, f"__{name}__")

    def apply(self: Count, other: Any, *rest: Any) -> Any:
        exact = isinstance(other, int) and not (
            name in ("pow", "rpow") and (other if name == "pow" else self) < 0
        )
        if exact:
            result = plain(self, other, *rest)
            return result if rest or result is NotImplemented else Count.named(result, result)
        pair = (Traced(int(self), self.tree), other)
        return lifted(ELEMENTARY[function])(*(pair[::-1] if name[0] == "r" else pair))

    return apply


for _name, _function in (("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("pow", "power")):
    for _side in ("", "r"):
        setattr(Count, f"__{_side}{_name}__", _mixed(_side + _name, _function))


def tree_of(x: Any) -> Tree:
    """The tree of a number."""
    x = x.item() if isinstance(x, np.ndarray) and x.ndim == 0 else x
    if isinstance(x, (Traced, Count)):
        return x.tree
    if isinstance(x, (bool, np.bool_)):
        return int(x)
    if isinstance(x, (int, np.integer)):
        return int(x)
    if isinstance(x, Fraction):
        return f"{x.numerator}/{x.denominator}"
    if not math.isfinite(x):
        return None
    top, bottom = float(x).as_integer_ratio()
    if max(abs(top), bottom) < 10**7:
        return f"{top}/{bottom}" if bottom > 1 else top
    # a number of many digits was computed by code that keeps no formula
    if bottom == 1 and abs(top) < 2**53:
        return top
    quotient = float(Fraction(x).limit_denominator(1000)) == x  # such as 1/6
    written = len(repr(float(x)).strip("-")) <= WRITTEN or abs(float(x)) in CONSTANTS or quotient
    return float(x).hex() if written else None


CONSTANTS = {math.pi, math.e}
"""Numbers that the modules of the register name."""

WRITTEN = 10
"""Letters of a number that the text of a function may have, at most."""


def binary(x: float) -> Traced:
    """A number that the certificate chooses, such as a threshold or an FPR, in full."""
    return Traced(float(x), float(x).hex())


def value_of(x: Any) -> Any:
    """The number itself."""
    x = x.item() if isinstance(x, np.ndarray) and x.ndim == 0 else x
    return x.x if isinstance(x, Traced) else int(x) if isinstance(x, Count) else x


def traces(x: Any) -> bool:
    """Whether any number in it is traced."""
    if isinstance(x, np.ndarray):
        return x.dtype == object
    if isinstance(x, (list, tuple)):
        return any(map(traces, x))
    return isinstance(x, (Traced, Count))


MOST = 6000
"""Operations of a formula, at most."""
DONE = [0]
"""Operations since the tracing began."""


def operation(name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    """An operation of the checker's language, of numbers."""

    def apply(*x: Any) -> Any:
        if not any(isinstance(each, (Traced, Count)) for each in x):
            return compute(*x)
        DONE[0] += 1
        if DONE[0] > MOST:
            raise NoFormula("the formula is too long")
        trees = [tree_of(each) for each in x]
        with np.errstate(all="ignore"):
            value = compute(*map(value_of, x))
        value = value if isinstance(value, (int, Fraction)) else float(value)
        return Traced(value, None if any(tree is None for tree in trees) else [name, *trees])

    return apply


def lifted(function: Callable[..., Any], kind: type = object) -> Callable[..., Any]:
    """A function of numbers, of arrays of them."""

    def apply(*x: Any) -> Any:
        x = tuple(np.array(each, object) if isinstance(each, (list, tuple)) else each for each in x)
        if not any(isinstance(each, np.ndarray) for each in x):
            return function(*x)
        if any(each.size > MOST for each in x if isinstance(each, np.ndarray) and each.dtype == object):
            raise NoFormula("the formula is too long")
        result = np.frompyfunc(function, len(x), 1)(*(shell(each) for each in x))
        return result.astype(kind) if isinstance(result, np.ndarray) else result

    return apply


def shell(x: Any) -> Any:
    """A number that NumPy looks into no further."""
    if isinstance(x, Traced):
        shell = np.empty((), object)
        shell[()] = x
        return shell
    return x


add, sub, mul, div = (
    operation(name, compute)
    for name, compute in (
        ("+", lambda x, y: x + y),
        ("-", lambda x, y: x - y),
        ("*", lambda x, y: x * y),
        ("/", lambda x, y: x / y),
    )
)
power = operation("^", lambda x, y: x**y)
neg = operation("-", lambda x: -x)
exp, log = operation("exp", np.exp), operation("log", np.log)
phi, probit = operation("Phi", special.ndtr), operation("Phi^-1", special.ndtri)
hull = operation("hull", lambda x, y: 0.5 * (x + y))
largest, least = operation("max", max), operation("min", min)
chi_cdf = operation(
    "chi-square",
    lambda x, d, off=0.0: float(special.chndtr(x, d, off) if off else special.gammainc(d / 2, x / 2)),
)
chi_ppf = operation(
    "chi-square^-1",
    lambda p, d, off=0.0: float(special.chndtrix(p, d, off) if off else 2 * special.gammaincinv(d / 2, p)),
)
choose = operation("choose", math.comb)
tanh = operation("tanh", np.tanh)
log1p, expm1 = operation("log1p", np.log1p), operation("expm1", np.expm1)

ELEMENTARY: dict[str, Callable[..., Any]] = {
    "add": add,
    "subtract": sub,
    "multiply": mul,
    "divide": div,
    "true_divide": div,
    "power": power,
    "negative": neg,
    "sqrt": operation("sqrt", np.sqrt),
    "exp": exp,
    "expm1": expm1,
    "log": log,
    "log1p": log1p,
    "log2": lambda x: div(log(x), log(Traced(2, 2))),
    "square": lambda x: mul(x, x),
    "expit": lambda x: div(1, add(1, exp(neg(x)))),
    "logit": lambda x: sub(log(x), log1p(neg(x))),
    "tanh": tanh,
    "arctanh": lambda x: mul(0.5, sub(log1p(x), log1p(neg(x)))),
    "absolute": lambda x: x if value_of(x) >= 0 else neg(x),
    "maximum": largest,
    "minimum": least,
    "hypot": lambda x, y: ELEMENTARY["sqrt"](add(mul(x, x), mul(y, y))),
    "ndtr": phi,
    "ndtri": probit,
    "log_ndtr": lambda x: log(phi(x)),
    "gammaln": lambda x: Traced(float(special.gammaln(value_of(x))), None),
    "gammainccinv": lambda a, p: div(chi_ppf(sub(1, p), mul(2, a)), 2),
    "sign": lambda x: int(np.sign(value_of(x))),
    "floor": lambda x: math.floor(value_of(x)),
    "isfinite": lambda x: bool(np.isfinite(value_of(x))),
    "isnan": lambda x: bool(np.isnan(value_of(x))),
    "isinf": lambda x: bool(np.isinf(value_of(x))),
}
"""Name of a ufunc -> the same of traced numbers."""
COMPARED: dict[str, Callable[..., bool]] = {
    name: (lambda compute: lambda x, y: bool(compute(value_of(x), value_of(y))))(getattr(np, name))
    for name in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
}


def _dunder(function: Callable[..., Any], swapped: bool = False) -> Callable[..., Any]:
    def apply(self: Traced, *other: Any) -> Any:
        return lifted(function)(*((*other, self) if swapped else (self, *other)))

    return apply


for _name, _function in {"add": add, "sub": sub, "mul": mul, "truediv": div, "pow": power}.items():
    setattr(Traced, f"__{_name}__", _dunder(_function))
    setattr(Traced, f"__r{_name}__", _dunder(_function, swapped=True))
for _name, _other in (
    ("lt", "less"),
    ("le", "less_equal"),
    ("gt", "greater"),
    ("ge", "greater_equal"),
    ("eq", "equal"),
    ("ne", "not_equal"),
):
    setattr(Traced, f"__{_name}__", _dunder(COMPARED[_other]))
for _name, _other in (("neg", "negative"), ("abs", "absolute")):
    setattr(Traced, f"__{_name}__", _dunder(ELEMENTARY[_other]))
for _name in ("sqrt", "exp", "log", "expm1", "log1p", "tanh", "log2", "arctanh", "square"):
    setattr(Traced, _name, _dunder(ELEMENTARY[_name]))


def known(x: Any) -> Any:
    """A number with a tree."""
    x = x.item() if isinstance(x, np.ndarray) and x.ndim == 0 else x
    return x if isinstance(x, Traced) else Traced(value_of(x), tree_of(x))
