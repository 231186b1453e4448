"""Quantiles of the non-central chi-square law: the saddle-point root, then safeguarded Newton in log space."""

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from mipsim.special.contour import MANY, log_tail_and_density

Vector = Float[Array, " size"]

_LEAST, _MOST = 1e-290, 1e300
_HALVINGS = 40  # of a bracket of log w0; what is left is far below the error of the saddle-point root
_STEPS = 60  # a bracket halves at least every other step; Newton alone has needed at most 8


def solve(log_lower: Vector, log_upper: Vector, d: Vector, noncentrality: Vector) -> tuple[Vector, Vector]:
    """The x in [1e-290, 1e300] whose log tails are the given ones, and what log P lacks if the root is below.

    Newton runs on T = sqrt(-2 log tail), of the tail that is the smaller at the root, against log x: T is
    close to a normal quantile, hence close to linear in the root of the exponent, at every distance.

    Args:
        log_lower: log P(X <= x) < 0.
        log_upper: log P(X > x) < 0; the smaller of the two is the one that is used.
        d: degrees of freedom.
        noncentrality: of the law.

    Examples:
        >>> import numpy as np
        >>> from mipsim.engine.precision import exact_scope
        >>> with exact_scope():
        ...     x, left = solve(*(np.array([v]) for v in (np.log1p(-np.exp(-1.0)), -1.0, 2.0, 0.0)))
        >>> round(float(x[0]), 14), float(left[0])
        (2.0, 0.0)
    """
    return _solve(log_lower, log_upper, d, noncentrality)


@jax.jit
def _solve(log_lower: Vector, log_upper: Vector, d: Vector, noncentrality: Vector) -> tuple[Vector, Vector]:
    use_lower = log_lower < log_upper
    target = jnp.sqrt(-2.0 * jnp.where(use_lower, log_lower, log_upper))
    rise = jnp.where(use_lower, -1.0, 1.0)  # sign of dT / dx

    def residual(x: Vector) -> tuple[Vector, Vector, Vector]:
        own, log_density, lower = log_tail_and_density(x, d, noncentrality, MANY)
        other = jnp.where(own > -0.693, jnp.log(-jnp.expm1(own)), jnp.log1p(-jnp.exp(own)))
        log_tail = jnp.where(lower == use_lower, own, other)
        t = jnp.sqrt(-2.0 * jnp.minimum(log_tail, -1e-300))
        # d T / d log x = -+ x f / (tail T)
        slope = rise * jnp.exp(jnp.log(x) + log_density - log_tail) / t
        return target - t, slope, log_tail

    def step(
        state: tuple[Array, Vector, Vector, Vector, Vector],
    ) -> tuple[Array, Vector, Vector, Vector, Vector]:
        count, x, low, high, _ = state
        gap, slope, _ = residual(x)
        right_of_root = gap * rise < 0.0
        high, low = jnp.where(right_of_root, x, high), jnp.where(right_of_root, low, x)
        move = gap / slope
        proposal = x * jnp.exp(jnp.clip(move, -700.0, 700.0))
        fine = (proposal > low) & (proposal < high) & jnp.isfinite(move)
        middle = jnp.sqrt(low) * jnp.sqrt(high)
        settled = jnp.abs(move) < 1e-9  # at the last digits a bracket that ends at x itself is no obstacle
        new = jnp.where(settled, x * (1.0 + jnp.where(settled, move, 0.0)), jnp.where(fine, proposal, middle))
        new = jnp.clip(new, _LEAST, _MOST)
        return count + 1, new, low, high, jnp.where(settled | done | (high <= low * (1.0 + 4e-16)), 0.0, 1.0)

    def going(state: tuple[Array, Vector, Vector, Vector, Vector]) -> Array:
        return (state[0] < _STEPS) & (state[4].max() > 0.0)

    ones = jnp.ones_like(d)
    # A root below the range: the lower tail at its left end is still above the wanted one.
    at_end = log_tail_and_density(_LEAST * ones, d, noncentrality, MANY)[0]
    left = jnp.minimum(log_lower - at_end, 0.0)
    done = left < 0.0
    x = _saddle_root(rise * target, d, noncentrality)
    x = lax.while_loop(going, step, (jnp.asarray(0), x, _LEAST * ones, _MOST * ones, ones))[1]
    return jnp.where(done, _LEAST, x), left


def _saddle_root(z: Vector, d: Vector, noncentrality: Vector) -> Vector:
    """The x at which the exponent at the saddle point is z^2 / 2, on the side that the sign of z says."""
    half, depth = d / 2.0, z * z / 2.0
    # (d/2)(log w - 1 + 1/w) + (lambda/2)(1 - 1/w)^2 = depth, by halving in log w, of the sign of -z
    side = jnp.where(z > 0.0, -1.0, 1.0)
    most = jnp.where(z > 0.0, jnp.log1p(depth / half) + 2.0, jnp.minimum(depth / half + 1.0, 700.0))

    def halve(_: Array, bounds: tuple[Vector, Vector]) -> tuple[Vector, Vector]:
        low, high = bounds
        middle = (low + high) / 2.0
        y = -jnp.expm1(-side * middle)
        over = half * (side * middle - y) + noncentrality / 2.0 * y * y > depth
        return jnp.where(over, low, middle), jnp.where(over, middle, high)

    low, high = lax.fori_loop(0, _HALVINGS, halve, (jnp.zeros_like(most), most))
    inverse = jnp.exp(-side * (low + high) / 2.0)
    return jnp.clip((d + noncentrality * inverse) * inverse, _LEAST, _MOST)
