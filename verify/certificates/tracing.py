"""While `tracing` lasts, the functions of the register take numbers that keep their formula.

Elementary functions, distribution functions and curves have stand-ins. What is computed by other means (a search, a quadrature, a linear
program) has no formula: it may decide between two cases of a formula, and nothing that depends on it otherwise has a certificate.
"""

from __future__ import annotations

import builtins
import contextlib
import math
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from types import ModuleType
from typing import Any

import mpmath
import numpy as np
import scipy
from scipy import special

import mipsim as mi
from mipsim import referee as rf
from mipsim import tradeoff
from mipsim.special import noncentral_chi_square
from verify.certificates.curves import CURVES, Rates
from verify.certificates.numbers import (
    CONSTANTS,
    DONE,
    ELEMENTARY,
    Count,
    NoFormula,
    Traced,
    add,
    chi_cdf,
    chi_ppf,
    choose,
    div,
    exp,
    expm1,
    hull,
    known,
    largest,
    least,
    lifted,
    log,
    log1p,
    mul,
    neg,
    phi,
    power,
    probit,
    shell,
    sub,
    tanh,
    traces,
    tree_of,
    value_of,
)
from verify.izzo.laws import finite_divergences, subset_enumeration

# Finite laws.


def best(p: Any, q: Any, quantity: str, at: Any = 0) -> Any:
    """A number of the best test of two finite laws, as fractions that sum to 1."""
    sides = []
    for law in (p, q):
        known = [
            Fraction(float(value_of(x))).limit_denominator(10**15) if abs(value_of(x)) < 1 else Fraction(1)
            for x in law
        ]
        total = sum(known)
        sides.append([[[str(x / total) for x in known], 1]])
    part = {"in": sides[0], "out": sides[1], "copies": 1}
    return {
        "question": {"kind": "composition", "parts": [part], "neighbours": "remove"},
        "quantity": quantity,
        "at": tree_of(at),
    }


_WORLDS, _LEAST = (
    subset_enumeration.worlds,
    finite_divergences.least_delta,
)


class _Each(list[Any]):
    """Numbers, of which the largest is a formula too."""

    def max(self) -> Any:
        return largest(*self)


ROUNDED = Fraction(1, 10**12)
"""More than the rounding of a finite law whose probabilities are computed."""


def _two_worlds(law: Any, n: Any, target: int) -> Any:
    """The advantage of the best test of whether a record is in."""
    plain = np.array([[float(value_of(x)) for x in row] for row in law])
    out, inside = _WORLDS(plain, int(n), target)
    result = Traced(float(np.maximum(inside - out, 0.0).sum()), best(inside, out, "advantage"))
    return hull(sub(result, ROUNDED), add(result, ROUNDED)) if traces(law) else result


def _eta(law: Any, n: Any) -> Any:
    """Of each target, half the advantage of the best test of its two worlds."""
    return _Each(mul(Fraction(1, 2), _two_worlds(law, n, target)) for target in range(int(n)))


def _best_of_all(law: Any, n: Any, target: Any) -> Any:
    gap = _two_worlds(law, n, int(target))
    return add(Fraction(1, 2), mul(Fraction(1, 2), gap)), gap


def _least_delta(first: Any, second: Any, epsilon: Any) -> Any:
    if not math.isfinite(value_of(epsilon)):
        raise NoFormula("epsilon is infinite")
    value = [_LEAST(a, b, value_of(epsilon)) for a, b in ((first, second), (second, first))]
    trees = [best(a, b, "delta", epsilon) for a, b in ((first, second), (second, first))]
    return largest(*(Traced(v, tree) for v, tree in zip(value, trees, strict=True)))


# What stands in for functions while it lasts.


class _Kind(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, builtins.float)


class _Float(builtins.float, metaclass=_Kind):
    dtype = np.dtype(builtins.float)

    def __new__(cls, x: Any = 0.0) -> Any:
        if isinstance(x, np.ndarray) and x.dtype == object and x.size == 1:
            return x.ravel()[0]
        return x if isinstance(x, (Traced, Count)) else builtins.float(x)


def _extreme(name: str) -> Callable[..., Any]:
    plain, traced = getattr(builtins, name), {"max": largest, "min": least}[name]

    def apply(*x: Any, **named: Any) -> Any:
        values = list(x[0]) if len(x) == 1 else list(x)
        if named or not any(map(traces, values)):
            return plain(values, **named)
        result = values[0]
        for each in values[1:]:
            result = traced(result, each)
        return result

    return apply


def _number(value: Any, error: Any = 0.0, *_: Any, unknown: str = "", **__: Any) -> Any:
    if unknown:
        raise NoFormula("a number is known from a single side")
    if isinstance(error, Traced) or value_of(error) <= 1e-7 * abs(value_of(value)) or not traces(value):
        return value
    return hull(sub(value, error), add(value, error))


def _between(low: Any, high: Any, **_: Any) -> Any:
    return low if tree_of(low) == tree_of(high) else hull(known(low), known(high))


_number.between = _between  # pyright: ignore[reportFunctionMemberAccess]


def _fraction(x: Any = 0, y: Any = 1) -> Any:
    """A fraction, traced: comparisons of it are exact."""
    top, bottom = (Traced(Fraction(value_of(each)), tree_of(each)) for each in (x, y))
    if not any(map(traces, (x, y))):
        return Fraction(x) if y == 1 else Fraction(x, y)
    return top if y == 1 else div(top, bottom)


class _Proxy:
    """A module with functions of its own beside."""

    def __init__(self, module: Any, own: dict[str, Any]) -> None:
        self._module, self._own = module, own

    def __getattr__(self, name: str) -> Any:
        return self._own[name] if name in self._own else getattr(self._module, name)


def _guarded(plain: Callable[..., Any], traced: Callable[..., Any]) -> Callable[..., Any]:
    """The plain function where nothing is traced."""
    return _Guarded(plain, traced)


ALWAYS = ("sqrt", "exp", "log", "expm1", "log1p", "log2", "tanh", "ndtri", "ndtr")
"""Functions whose value at a number of the text, such as log(1.25), is a formula too."""


class _Guarded:
    def __init__(self, plain: Callable[..., Any], traced: Callable[..., Any]) -> None:
        self.plain, self.traced = plain, traced

    def __call__(self, *x: Any, **named: Any) -> Any:
        scalar = (
            len(x) == 1 and isinstance(x[0], (int, float)) and getattr(self.plain, "__name__", "") in ALWAYS
        )
        return (
            lifted(self.traced)(*map(known, x) if scalar else x)
            if scalar or any(map(traces, x))
            else self.plain(*x, **named)
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plain, name)


def _array(x: Any, dtype: Any = None, **named: Any) -> Any:
    return np.array(x, object) if traces(x) else np.array(x, dtype, **named)


def _where(holds: Any, x: Any = None, y: Any = None) -> Any:
    if x is None:
        return np.where(holds)
    holds, x, y = np.broadcast_arrays(np.asarray(holds, bool), *(shell(each) for each in (x, y)))
    return np.where(holds, x, y) if holds.ndim or not _traces_any(x, y) else (x if holds else y)[()]


def _traces_any(*x: Any) -> bool:
    return any(each.dtype == object for each in x)


def _untraced(plain: Callable[..., Any]) -> Callable[..., Any]:
    """A function by the values alone: what comes of it has no tree."""

    def strip(x: Any) -> Any:
        if isinstance(x, np.ndarray) and x.dtype == object:
            return np.array([value_of(each) for each in x.ravel()], float).reshape(x.shape)
        return value_of(x)

    def apply(*x: Any, **named: Any) -> Any:
        with np.errstate(all="ignore"):
            result = plain(*map(strip, x), **{key: strip(value) for key, value in named.items()})
        if np.asarray(result).dtype.kind in "iub":
            return result  # a choice
        if not any(map(traces, x)):
            return result
        return lifted(lambda value: Traced(float(value), None))(np.asarray(result, object)[()])

    return apply


class _Law:
    """A symmetric law of noise."""

    def __init__(self, name: str) -> None:
        if name not in ("Gaussian", "Laplace", "logistic"):
            raise NoFormula(name)
        self.name = name

    def cdf(self, x: Any) -> Any:
        return lifted(self._cdf)(x)

    def sf(self, x: Any) -> Any:
        return lifted(lambda each: self._cdf(neg(known(each))))(x)

    def ppf(self, p: Any) -> Any:
        return lifted(self._ppf)(p)

    def isf(self, p: Any) -> Any:
        return lifted(lambda each: neg(self._ppf(each)))(p)

    def _cdf(self, x: Any) -> Any:
        x = known(x)
        if self.name == "Laplace":
            return div(exp(x), 2) if value_of(x) < 0 else sub(1, div(exp(neg(x)), 2))
        return phi(x) if self.name == "Gaussian" else ELEMENTARY["expit"](x)

    def _ppf(self, p: Any) -> Any:
        p = known(p)
        if self.name == "Laplace":
            return log(mul(2, p)) if value_of(p) < 0.5 else neg(log(mul(2, sub(1, p))))
        return probit(p) if self.name == "Gaussian" else ELEMENTARY["logit"](p)


def _functions() -> dict[int, Any]:
    """Id of a function or module -> what stands in for it."""
    own: dict[str, Any] = {
        name: _guarded(getattr(np, name), f) for name, f in ELEMENTARY.items() if hasattr(np, name)
    }
    special_own = {
        name: _guarded(getattr(special, name), f) for name, f in ELEMENTARY.items() if hasattr(special, name)
    }
    searches = ("linspace", "geomspace", "arange", "interp", "argmax", "argmin", "argsort", "searchsorted")
    numpy_own = own | {
        "array": _array,
        "asarray": _array,
        "where": _where,
        "clip": _guarded(
            np.clip,
            lambda x, low, high: x if low <= value_of(x) <= high else (low if value_of(x) < low else high),
        ),
        **{name: _untraced(getattr(np, name)) for name in searches},
    }
    arithmetic = {
        "sqrt": ELEMENTARY["sqrt"], "exp": exp, "log": lambda x, *base: div(log(x), log(known(base[0]))) if base else log(x),
        "expm1": expm1, "log1p": log1p, "tanh": tanh, "log2": ELEMENTARY["log2"], "atanh": ELEMENTARY["arctanh"],
        "lgamma": ELEMENTARY["gammaln"], "comb": choose,
        "pow": power, "fabs": ELEMENTARY["absolute"], "hypot": ELEMENTARY["hypot"],
        "isfinite": ELEMENTARY["isfinite"], "isinf": ELEMENTARY["isinf"], "isnan": ELEMENTARY["isnan"], "ceil": lambda x: math.ceil(value_of(x)),
        "floor": ELEMENTARY["floor"],
    }  # fmt: skip
    # numbers of the text, such as log(1.25), are formulas too
    math_own = {
        name: _guarded(lambda *x, f=f: f(known(x[0]), *x[1:]), f)
        if name in ALWAYS
        else _guarded(getattr(math, name), f)
        for name, f in arithmetic.items()
    }
    math_own["fsum"] = math_own["sum"] = lambda x: builtins.sum(x)
    many = {
        "mpf": lambda x: known(x), "log": lambda x: log(known(x)), "exp": lambda x: exp(known(x)), "sqrt": lambda x: ELEMENTARY["sqrt"](known(x)),
        "fsum": lambda x: builtins.sum(x), "workdps": lambda _: contextlib.nullcontext(), "e": exp(Traced(1, 1)), "ncdf": lambda x: phi(known(x)),
        "expm1": lambda x: expm1(known(x)), "log1p": lambda x: log1p(known(x)), "binomial": choose, "tanh": lambda x: tanh(known(x)),
    }  # fmt: skip
    chi = {
        "cdf": lifted(chi_cdf), "ppf": lifted(chi_ppf),
        "sf": lifted(lambda x, d, off=0: sub(1, chi_cdf(known(x), d, off))), "isf": lifted(lambda p, d, off=0: chi_ppf(sub(1, known(p)), d, off)),
        "logpdf": _untraced(noncentral_chi_square.logpdf),
    }  # fmt: skip
    from verify.kaissis.laws import relaxed_laws

    result: dict[int, Any] = {
        id(np): _Proxy(np, numpy_own),
        id(math): _Proxy(math, math_own),
        id(scipy): _Proxy(scipy, {"special": _Proxy(special, special_own)}),
        id(special): _Proxy(special, special_own),
        id(mpmath): _Proxy(mpmath, many),
        id(noncentral_chi_square): _Proxy(noncentral_chi_square, chi),
        id(rf): _Proxy(rf, {"Number": _number}),
        id(rf.Number): _number,
        id(Fraction): _fraction,
        id(mi): _Proxy(mi, CURVES),
        id(subset_enumeration.finite_eta): _eta,
        id(subset_enumeration.best_of_all_attacks): _best_of_all,
        id(finite_divergences.least_delta): _least_delta,
        id(relaxed_laws.noise_named): _Law,
        id(relaxed_laws.RatesTradeOff): Rates,
        id(math.comb): math_own["comb"],
    }
    for module, replaced in ((math, math_own), (special, special_own), (np, own)):
        result |= {id(getattr(module, name)): f for name, f in replaced.items() if hasattr(module, name)}
    result |= {id(getattr(tradeoff, name)): f for name, f in CURVES.items() if hasattr(tradeoff, name)}
    from mipsim import _validation
    from mipsim.theory import kaissis
    from mipsim.tradeoff.base import rates

    result[id(kaissis.FoldedGaussianTradeOff)] = CURVES["FoldedGaussianTradeOff"]
    result[id(_validation.number)] = lambda name, value, *_, **__: value
    result[id(_validation.whole)] = lambda name, value, *_, **__: value
    result[id(rates)] = lambda name, value: value
    return result


_BUILTINS = {
    "float": _Float,
    "max": _extreme("max"),
    "min": _extreme("min"),
}


_MISSING = object()


@lru_cache(maxsize=1)
def _places(_modules: int) -> list[tuple[dict[str, Any], str, Any, Any]]:
    """(namespace, name, what stands there, what stands in for it), in all modules of the register; again after an import."""
    known, places = _functions(), list[tuple[dict[str, Any], str, Any, Any]]()
    for name, module in list(sys.modules.items()):
        if name.startswith("verify.certificates") or not isinstance(module, ModuleType):
            continue
        if name.startswith(("verify.", "mipsim.theory")):
            space = vars(module)
            CONSTANTS.update(abs(item) for item in space.values() if type(item) is float)
            for key, item in space.items():
                plain = item.__wrapped__ if hasattr(item, "cache_info") else _MISSING
                places.append((space, key, item, known.get(id(item), plain)))
            places += [(space, key, _MISSING, item) for key, item in _BUILTINS.items() if key not in space]
    return [place for place in places if place[3] is not _MISSING]


@contextlib.contextmanager
def tracing() -> Iterator[None]:
    """While it lasts the modules of the register take traced numbers."""
    DONE[0] = 0
    places = [place for place in _places(len(sys.modules)) if place[0].get(place[1], _MISSING) is place[2]]
    for space, key, _, other in places:
        space[key] = other
    try:
        yield
    finally:
        for space, key, item, _ in reversed(places):
            if item is _MISSING:
                del space[key]
            else:
                space[key] = item
