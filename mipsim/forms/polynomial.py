"""The degree of a score in the output, read from its operations; no value of it is looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal
from jaxtyping import Array, Float

from mipsim._family import runs_users_code
from mipsim._precision import exact_scope, users_precision
from mipsim.attacks.base import AbstractAdditiveAttack, AbstractAttack, AbstractLinearAttack
from mipsim.attacks.function import FunctionAttack
from mipsim.attacks.likelihood_ratio import LikelihoodRatio
from mipsim.attacks.quadratic import AbstractQuadraticAttack

_UNKNOWN = 99  # the degree of what is not known to be a polynomial of degree 2 or less
_MOST_DIMENSIONS = 4096  # a Hessian of more is above 128 MiB
_CLOSE = 1e-8  # of the range of the scores: what a polynomial may miss by rounding

_LINEAR = frozenset(
    {
        "neg", "add", "sub", "add_any", "reduce_sum", "cumsum", "reduce_window_sum", "broadcast_in_dim", "reshape", "squeeze",
        "expand_dims", "transpose", "slice", "rev", "concatenate", "pad", "copy", "copy_p", "optimization_barrier", "split",
    }
)  # fmt: skip
"""Linear in all their arguments together."""
_LINEAR_IN_FIRST = frozenset({"div", "dynamic_slice", "gather"})
"""Linear in the first argument, where the others do not depend on the output."""
_BILINEAR = frozenset({"mul", "dot_general", "conv_general_dilated"})
_CALLS = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "checkpoint": "jaxpr",
}
"""Primitives that call other operations, and the parameter that holds these."""


def degree_of(function: Callable[[Array], Array], output: Array) -> int | None:
    """The degree, at most 2, of a polynomial that a function of an array is by its operations; None if it is not known to be a
    polynomial.

    It is an upper bound: what cancels is not seen. Must be called inside `exact_scope`.

    `function`: takes an array like `output` and returns a number; JAX must be able to trace it; `output`: of which shape
    and dtype are used.
    """
    closed = jax.make_jaxpr(function)(output)
    if len(closed.out_avals) != 1:
        return None
    result = closed.out_avals[0]
    if result.shape != () or not jnp.issubdtype(result.dtype, jnp.floating):
        return None
    value = _walk(closed, [1])[0]
    return value if value <= 2 else None


def _walk(closed: Any, degrees: list[int]) -> list[int]:
    """The degrees of what operations return, from those of their arguments."""
    jaxpr = closed.jaxpr if isinstance(closed, ClosedJaxpr) else closed
    known: dict[Any, int] = dict.fromkeys(jaxpr.constvars, 0)
    known |= dict(zip(jaxpr.invars, degrees, strict=True))

    def degree(x: Any) -> int:
        return 0 if isinstance(x, Literal) else known[x]

    for equation in jaxpr.eqns:
        given = [degree(x) for x in equation.invars]
        result = [0] * len(equation.outvars) if not any(given) else _degrees(equation, given)
        known |= dict(zip(equation.outvars, result, strict=True))
    return [degree(x) for x in jaxpr.outvars]


def _degrees(equation: Any, given: list[int]) -> list[int]:
    """Of an operation, of which some argument depends on the output."""
    name, params, outs = equation.primitive.name, equation.params, len(equation.outvars)
    if name in _CALLS:
        return _walk(params[_CALLS[name]], given)
    if name in _LINEAR:
        return given if outs == len(given) else [max(given)] * outs
    if name in _LINEAR_IN_FIRST and not any(given[1:]):
        return [given[0]] * outs
    if name == "select_n" and given[0] == 0:
        return [max(given[1:])]
    if name in _BILINEAR:
        return [min(sum(given), _UNKNOWN)]
    if name == "square" or (name == "integer_pow" and params["y"] in (1, 2)):
        return [min(given[0] * params.get("y", 2), _UNKNOWN)]
    if name == "convert_element_type" and _keeps_digits(equation.invars[0].aval.dtype, params["new_dtype"]):
        return given
    if name == "triangular_solve" and given[0] == 0:
        return [given[1]]
    if name == "custom_linear_solve":
        fixed = sum(params["const_lengths"])
        if not any(given[:fixed]):
            return _walk(params["jaxprs"].solve, [0] * params["const_lengths"].solve + given[fixed:])
    return [_UNKNOWN] * outs


def _keeps_digits(old: Any, new: Any) -> bool:
    floats = jnp.issubdtype(old, jnp.floating) and jnp.issubdtype(new, jnp.floating)
    return bool(floats and jnp.finfo(new).nmant >= jnp.finfo(old).nmant)


@dataclass(frozen=True)
class Polynomial:
    """constant + gradient . (output - at) + (output - at)' hessian (output - at) / 2."""

    at: np.ndarray  # shape (d,)
    constant: float  # the value there
    gradient: np.ndarray  # shape (d,)
    hessian: np.ndarray | None  # shape (d, d); None where the degree is 1
    assumed: str = ""  # what is taken from the user and not proven; empty if the operations show it


def polynomial_of(attack: AbstractAttack, target: np.ndarray, points: np.ndarray) -> Polynomial | None:
    """Read a score as a polynomial of degree at most 2 in the output; None if neither its operations nor its user declare that it is.

    It is read in real arithmetic, of which float64 is close enough for its coefficients, whatever the precision in which games compute
    it. The coefficients are derivatives, which are exact for a polynomial. Values at `points` are compared with them, which proves
    nothing and refutes a wrong declaration. Must be called inside `exact_scope`.

    `target`: of the game, shape (d,); `points`: outputs, shape (m, d); their mean is where the derivatives are taken.
    Raises ValueError if the values contradict what the user declared.
    """
    assumed = [] if users_precision() == "float64" or not runs_users_code(attack) else ["in real arithmetic"]
    with exact_scope("float64"):
        return _read(attack, target, points, assumed)


def _read(
    attack: AbstractAttack, target: np.ndarray, points: np.ndarray, assumed: list[str]
) -> Polynomial | None:
    z = jnp.asarray(target)

    def score(output: jax.Array) -> jax.Array:
        return attack.score(z, output)

    origin = jnp.asarray(points.mean(axis=0))
    declared = attack.declared if isinstance(attack, FunctionAttack) else None
    try:
        degree = degree_of(score, origin)
        known = degree is not None
        if declared is not None and not known:
            degree = {"linear": 1, "quadratic": 2}[declared]
        if degree is None or (degree == 2 and target.size > _MOST_DIMENSIONS):
            return None
        value, gradient = jax.value_and_grad(score)(origin)
        hessian = np.asarray(jax.hessian(score)(origin), np.float64) if degree == 2 else None
        actual = np.array([float(score(jnp.asarray(point))) for point in points])
    except (TypeError, ValueError):  # not differentiable, or not a function of such an output
        return None
    step = points - np.asarray(origin)
    expected = float(value) + step @ np.asarray(gradient, np.float64)
    if hessian is not None:
        expected = expected + 0.5 * np.einsum("ij,jk,ik->i", step, hessian, step)
    if not (np.abs(actual - expected) <= _CLOSE * (np.ptp(actual) + 1e-12)).all():
        if known:  # its rounding is too large
            return None
        at = int(np.nanargmax(np.abs(actual - expected))) if np.isfinite(actual - expected).any() else 0
        raise ValueError(
            f"attack is declared {declared}, but its score is {actual[at]:.6g} where the {declared} function with its derivatives "
            f"is {expected[at]:.6g}"
        )
    if not known:
        assumed = [f"{declared}, as declared", *assumed]
    text = f"the score is {', and '.join(assumed)}" if assumed else ""
    return Polynomial(np.asarray(origin), float(value), np.asarray(gradient, np.float64), hessian, text)


class ReadLine(AbstractLinearAttack):
    """slope . output + constant: a score that was read as linear."""

    slope: np.ndarray
    constant: float

    def weights(self, target: Float[Array, " d"]) -> Float[Array, " d"]:
        return jnp.asarray(self.slope)

    def offset(self, target: Float[Array, " d"]) -> Float[Array, ""]:
        return jnp.asarray(self.constant)


class ReadParabolas(AbstractAdditiveAttack):
    """constant + a sum of a parabola for each coordinate: a score that was read as such."""

    at: np.ndarray
    slope: np.ndarray
    curve: np.ndarray
    constant: float

    def contributions(self, target: Float[Array, " d"], output: Float[Array, " d"]) -> Float[Array, " d"]:
        step = output - self.at
        return step * (self.slope + 0.5 * self.curve * step)

    def link(self, target: Float[Array, " d"], total: Float[Array, ""]) -> Float[Array, ""]:
        return total + self.constant

    def rounding(self, outputs: np.ndarray) -> np.ndarray:
        """A bound on the error of the terms at rounded outputs, shape (d, ...) as they have.

        A step and a coefficient are right to a few units of their sizes, which a term may be far below: where a parabola
        has the value that it has at `at` again. That derivatives of the score are right to a few units is assumed.
        """
        at, slope, curve = (
            np.abs(x).reshape(-1, *[1] * (outputs.ndim - 1)) for x in (self.at, self.slope, self.curve)
        )
        far = np.abs(outputs) + at
        return 16.0 * float(np.finfo(np.float64).eps) * far * (slope + curve * far)


def as_read(
    attack: AbstractAttack, target: np.ndarray, points: Callable[[], np.ndarray]
) -> tuple[AbstractAttack, str]:
    """The attack as a linear or an additive attack where its score is a polynomial of that form, and what is assumed for it.

    An attack of a class that says its form, and an attack whose form is not known, come back as they are.

    `target`: of the game, shape (d,); `points`: draws typical outputs, shape (m, d), if they are needed.

    >>> import mipsim as mi
    >>> from mipsim._precision import exact_scope
    >>> own = mi.FunctionAttack(lambda t, o: jnp.sum((o - t) ** 2))
    >>> with exact_scope():
    ...     print(type(as_read(own, np.zeros(2), lambda: np.eye(2))[0]).__name__)
    ReadParabolas
    """
    if isinstance(attack, (AbstractAdditiveAttack, AbstractQuadraticAttack, LikelihoodRatio)):
        return attack, premise_of(attack, target)
    result = polynomial_of(attack, target, points())
    if result is None:
        return attack, ""
    if result.hessian is None:
        return ReadLine(result.gradient, result.constant - float(result.gradient @ result.at)), result.assumed
    curve = np.diagonal(result.hessian)
    if np.array_equal(result.hessian, np.diag(curve)):
        return ReadParabolas(result.at, result.gradient, curve, result.constant), result.assumed
    return attack, result.assumed


def how_to_declare(attack: AbstractAttack) -> str:
    """What to write where the operations of a user's score do not show its form; empty for other attacks.
    >>> import mipsim as mi
    >>> how_to_declare(mi.Magnitude())
    ''
    """
    foreign = isinstance(attack, FunctionAttack) or type(attack).__module__.partition(".")[0] != "mipsim"
    if not foreign or getattr(attack, "declared", None):
        return ""
    if isinstance(attack, (AbstractAdditiveAttack, AbstractQuadraticAttack)):
        return ""
    return (
        "; if the score is linear or quadratic in the output and its operations do not show it, write "
        'FunctionAttack(score, declared="quadratic") or declared="linear"'
    )


def premise_of(attack: AbstractAttack, target: np.ndarray) -> str:
    """What the class of a user's attack says of its score and its operations do not show; empty if nothing."""
    if type(attack).__module__.partition(".")[0] == "mipsim" or isinstance(attack, AbstractLinearAttack):
        return ""
    z, number = jnp.asarray(target), jnp.zeros(())
    if isinstance(attack, AbstractQuadraticAttack):
        rises = _is_affine(lambda square: attack.value(z, square), number)
        return "" if rises else "the score is monotone in the quadratic form, as its class says"
    if not isinstance(attack, AbstractAdditiveAttack):
        return ""
    rises = _is_affine(lambda total: attack.link(z, total), number)
    terms = jax.make_jaxpr(lambda output: attack.contributions(z, output))(z)
    apart = _is_elementwise(terms, [True], z.shape)
    text = [] if apart else ["each term depends on its own coordinate only"]
    text += [] if rises else ["the link increases"]
    return " and ".join(text) + ", as its class says" if text else ""


def _is_affine(function: Callable[[Array], Array], at: Array) -> bool:
    """Whether a function of a number is by its operations a straight line that is not flat."""
    return degree_of(function, at) == 1 and float(function(at + 1.0)) != float(function(at))


_ELEMENTWISE = frozenset(
    {
        "neg", "add", "sub", "mul", "div", "max", "min", "abs", "sign", "exp", "exp2", "expm1", "log", "log1p", "sqrt", "rsqrt",
        "cbrt", "square", "integer_pow", "pow", "tanh", "logistic", "sin", "cos", "tan", "erf", "erfc", "lgamma", "digamma",
        "floor", "ceil", "round", "clamp", "select_n", "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "xor", "not",
        "is_finite", "convert_element_type", "copy", "stop_gradient", "add_any",
    }
)  # fmt: skip


def _is_elementwise(closed: Any, given: list[bool], shape: tuple[int, ...]) -> bool:
    """Whether entry j of the result follows from entry j of arguments of the same shape, by operations that act on each entry alone."""
    jaxpr = closed.jaxpr if isinstance(closed, ClosedJaxpr) else closed
    depends = {x for x, does in zip(jaxpr.invars, given, strict=True) if does}
    for equation in jaxpr.eqns:
        which = [not isinstance(x, Literal) and x in depends for x in equation.invars]
        if not any(which):
            continue
        inner = equation.params.get(_CALLS.get(equation.primitive.name, ""))
        alone = _is_elementwise(inner, which, shape) if inner else equation.primitive.name in _ELEMENTWISE
        if not alone or any(x.aval.shape != shape for x in equation.outvars):
            return False
        depends |= set(equation.outvars)
    return all(not isinstance(x, Literal) and x.aval.shape == shape for x in jaxpr.outvars)
