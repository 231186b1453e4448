"""The increasing function that turns an attack's total into its score."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from mipsim._precision import exact_scope
from mipsim.exact.changed import LinkedLaw, by_bisection
from mipsim.exact.law import AbstractScoreLaw

Scalar = Callable[[jax.Array], jax.Array]
_FAR = 1e300
_ROUNDING = 2.0**-49
_CHECKED = np.concatenate([-np.geomspace(1e6, 1e-6, 60), [0.0], np.geomspace(1e-6, 1e6, 60)])


def linked(law: AbstractScoreLaw, link: Scalar) -> AbstractScoreLaw:
    """The law of link(T) for T of a given law; `link` is a strictly increasing JAX function of a number.

    That it increases is a premise: it is checked at 121 points from -1e6 to 1e6, and the bound of the law stands and falls with it
    elsewhere. Where float64 makes the link constant over an interval, the law is that of the score as computed.

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

    at = on_arrays(_CHECKED)
    known = np.isfinite(at)
    falls = np.flatnonzero(np.diff(at[known]) < -_ROUNDING * np.abs(at[known][1:]))
    if falls.size or known.sum() < 2:
        k = int(falls[0]) if falls.size else 0
        x = np.append(_CHECKED[known], [np.nan, np.nan])
        raise ValueError(f"the link falls between {x[k]:g} and {x[k + 1]:g}; it must increase")
    origin = float(at[_CHECKED == 0.0][0])
    if (
        known.all()
        and (np.abs(at - (origin + _CHECKED)) <= 1e-12 * np.maximum(np.abs(_CHECKED), abs(origin))).all()
    ):
        shift = origin  # T + shift needs no search
        return law if shift == 0.0 else LinkedLaw(law, lambda t: t + shift, lambda x: x - shift)
    lowest = float(on_arrays(np.array([-np.inf]))[0])
    search = by_bisection(on_arrays, -_FAR, _FAR)
    if not np.isfinite(lowest):
        return LinkedLaw(law, on_arrays, search)
    return LinkedLaw(law, on_arrays, lambda x: np.where(x <= lowest, -np.inf, search(x)), lowest)
