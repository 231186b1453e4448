"""What an attack computes at a target: the only reading of its score as linear, additive, quadratic or opaque.

What a family computes no member can override (`mipsim._family`), so that the family alone tells the form:
`AbstractLinearAttack`, `AbstractAdditiveAttack`, `AbstractQuadraticAttack`; any other score is opaque.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from mipsim._family import with_traced_sizes
from mipsim._precision import exact_scope
from mipsim._pure import name_of_function
from mipsim.attacks.base import AbstractAdditiveAttack, AbstractAttack, AbstractLinearAttack
from mipsim.attacks.likelihood_ratio import LikelihoodRatio
from mipsim.attacks.quadratic import AbstractQuadraticAttack
from mipsim.mechanisms.base import AbstractMechanism


def line_at(attack: AbstractLinearAttack, target: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights, shape (d,), and offset of a linear score at a target, float64. Must be called inside `exact_scope`.
    >>> import mipsim as mi
    >>> print(line_at(mi.ScalarProduct([0.0, 1.0]), np.ones(2)))
    (array([1., 0.]), 0.0)
    """
    return weights_at(attack, target), float(attack.offset(jnp.asarray(target)))


def weights_at(attack: AbstractLinearAttack, target: np.ndarray) -> np.ndarray:
    """The weights alone: an offset that nobody needs takes as long to compile."""
    return np.asarray(attack.weights(jnp.asarray(target)), dtype=np.float64)


def quadratic_form_of(attack: AbstractAttack) -> AbstractQuadraticAttack | None:
    """The attack as a function of a quadratic form in the output, where it is such a function; else None.
    >>> import mipsim as mi
    >>> data = mi.Gaussian([0.0], [1.0])
    >>> type(quadratic_form_of(mi.LikelihoodRatio(mi.EmpiricalMean(), data, 10))).__name__
    'QuadraticRatio'
    """
    if isinstance(attack, LikelihoodRatio):
        return attack.as_quadratic()
    return attack if isinstance(attack, AbstractQuadraticAttack) else None


@eqx.filter_jit
def _columnwise(attack: AbstractAdditiveAttack, target: jax.Array, outputs: jax.Array) -> jax.Array:
    return jax.vmap(lambda output: attack.contributions(target, output), 1, 1)(outputs)


def terms_at(attack: AbstractAdditiveAttack, target: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """The terms of an additive score for many values of every coordinate, float64, the shape of outputs. Must be called inside `exact_scope`.
    `target`: z*, shape (d,); `outputs`: values of the output coordinates, shape (d, ...); a call takes a value of every
    coordinate.
    """
    flat, traced = jnp.asarray(outputs.reshape(target.size, -1)), with_traced_sizes(attack)
    return np.asarray(_columnwise(traced, jnp.asarray(target), flat), np.float64).reshape(outputs.shape)


def on_arrays(function: Callable[[jax.Array], jax.Array]) -> Callable[[np.ndarray], np.ndarray]:
    """A JAX function of a number as a NumPy function of arrays, in float64.
    >>> on_arrays(jnp.exp)(np.zeros(2))
    array([1., 1.])
    """
    each = eqx.filter_jit(jax.vmap(function))

    def evaluate(values: np.ndarray) -> np.ndarray:
        x = np.asarray(values, np.float64)
        with exact_scope():
            return np.asarray(each(jnp.asarray(x.ravel())), np.float64).reshape(x.shape)

    return evaluate


def name_of(member: AbstractAttack | AbstractMechanism) -> str:
    """The name of an attack or a mechanism in messages: its class, or the user's function."""
    function = getattr(member, "function", None)
    return type(member).__name__ if function is None else name_of_function(function)
