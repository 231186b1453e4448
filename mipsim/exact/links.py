"""The increasing function that turns an attack's total into its score."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from mipsim.engine.precision import exact_scope
from mipsim.exact.changed import LinkedLaw, by_bisection
from mipsim.exact.law import AbstractScoreLaw

Scalar = Callable[[jax.Array], jax.Array]
_FAR = 1e6


def linked(law: AbstractScoreLaw, link: Scalar) -> AbstractScoreLaw:
    """The law of link(T) for T of a given law; `link` is a strictly increasing JAX function of a number.

    Examples:
        >>> from mipsim.exact.gaussian import NormalLaw
        >>> law = linked(NormalLaw(np.array([0.0, 1.0]), np.ones(2)), lambda t: jnp.logaddexp(jnp.log(0.5), t))
        >>> print(law.cdf(np.log(1.5), inside=False).round(9), law.cdf(-1.0, inside=False))
        0.5 0.0
    """
    each = eqx.filter_jit(jax.vmap(link))

    def on_arrays(total: np.ndarray) -> np.ndarray:
        x = np.asarray(total, np.float64)
        with exact_scope():
            return np.asarray(each(jnp.asarray(x.ravel())), np.float64).reshape(x.shape)

    at = on_arrays(np.array([-1.0, 0.0, 1.0, 1000.0]))
    if not (np.diff(at) >= 0).all():
        raise ValueError(f"the link runs from {at[0]:g} at -1 to {at[-1]:g} at 1000; it must increase")
    if np.abs(at - (at[1] + np.array([-1.0, 0.0, 1.0, 1000.0]))).max() <= 1e-12 * max(1000.0, abs(at[1])):
        shift = float(at[1])  # T + shift needs no search
        return law if shift == 0.0 else LinkedLaw(law, lambda t: t + shift, lambda x: x - shift)
    lowest = float(on_arrays(np.array([-np.inf]))[0])
    search = by_bisection(on_arrays, -_FAR, _FAR)
    if not np.isfinite(lowest):
        return LinkedLaw(law, on_arrays, search)
    return LinkedLaw(law, on_arrays, lambda x: np.where(x <= lowest, -np.inf, search(x)), lowest)
