"""Quantiles of the non-central chi-square law: the saddle-point root, then safeguarded Newton in log space."""

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from mipsim.special.contour import LEAST, MOST, log_tail_and_density

Vector = Float[Array, " size"]
State = tuple[Array, Vector, Vector, Vector, Array]

_HALVINGS = 40  # of a bracket of log w0; what is left is far below the error of the saddle-point root
_STEPS = 60  # a bracket halves at least every other step; Newton alone has needed at most 5
_SETTLED = 1e-8  # gap in T after which a further Newton step, whose error is the square of it, is the last


@jax.jit
def saddle_root(z: Vector, d: Vector, noncentrality: Vector) -> Vector:
    """Nearly the x with P(X <= x) = Phi(z): a start for `newton`, in [1e-290, 1e150].

    The exponent at the saddle point is r^2/2 for a signed root r, and z is nearly r + log(u/r)/r with
    u = -y (d/2 + lambda/w0)^(1/2). Two rounds solve that for r, and r for x.

    `z`: normal quantiles of the levels; `d`: degrees of freedom; `noncentrality`: of the law.

    Source: Barndorff-Nielsen (1986), "Inference on full or partial parameters", the r* formula.

    >>> from mipsim._precision import exact_scope
    >>> with exact_scope():  # the law exp(-x/2), at 1 - exp(-x/2) = Phi(0)
    ...     x = saddle_root(*(jnp.array([v]) for v in (0.0, 2.0, 0.0)))
    >>> round(float(x[0]), 1)
    1.4
    """
    z = jnp.where(jnp.abs(z) > 1e-3, z, 1e-3)  # nearer to 0 the quotients lose their digits
    inverse = _root(z, d, noncentrality)
    u = (inverse - 1.0) * jnp.sqrt(d / 2.0 + noncentrality * inverse)
    inverse = _root(z - jnp.log(u / z) / z, d, noncentrality)
    return jnp.clip((d + noncentrality * inverse) * inverse, LEAST, MOST)


def _root(r: Vector, d: Vector, noncentrality: Vector) -> Vector:
    """1/w0 at which the exponent at the saddle point is r^2 / 2, below 1 (the lower tail) where r < 0."""
    half, depth = d / 2.0, r * r / 2.0
    # (d/2)(log w - 1 + 1/w) + (lambda/2)(1 - 1/w)^2 = depth, by halving in |log w|
    side = jnp.where(r > 0.0, -1.0, 1.0)
    high = jnp.where(r > 0.0, jnp.log1p(depth / half) + 2.0, jnp.minimum(depth / half + 1.0, 700.0))
    high = jnp.minimum(high, 2.0 * jnp.sqrt(depth / half) + depth / half)  # narrow where depth is small

    def halve(_: Array, bounds: tuple[Vector, Vector]) -> tuple[Vector, Vector]:
        low, high = bounds
        middle = (low + high) / 2.0
        y = -jnp.expm1(-side * middle)
        over = half * (side * middle - y) + (jnp.sqrt(noncentrality) * y) ** 2 / 2.0 > depth
        return jnp.where(over, low, middle), jnp.where(over, middle, high)

    low, high = lax.fori_loop(0, _HALVINGS, halve, (jnp.zeros_like(high), high))
    return jnp.exp(-side * (low + high) / 2.0)


@partial(jax.jit, static_argnums=5)
def newton(
    start: Vector, log_lower: Vector, log_upper: Vector, d: Vector, noncentrality: Vector, nodes: int
) -> Vector:
    """The x in [1e-290, 1e150] whose log tails are the given ones; any x there for a root that lies outside.

    Newton runs on T = sqrt(-2 log tail), of the tail that is the smaller at the root, against log x: T is
    close to a normal quantile, hence close to linear in the root of the exponent, at every distance.

    `start`: from `saddle_root`; an end of the range is left as it is; `log_lower`: log P(X <= x) < 0; `log_upper`: log
    P(X > x) < 0; the smaller of the two is used; `d`: degrees of freedom; `noncentrality`: of the law; `nodes`: as for
    `log_tail_and_density`; static.
    """
    use_lower = log_lower < log_upper
    target = jnp.sqrt(-2.0 * jnp.where(use_lower, log_lower, log_upper))
    rise = jnp.where(use_lower, -1.0, 1.0)  # sign of dT / dx
    ones = jnp.ones_like(d)
    done = (start <= LEAST) | (start >= MOST)

    def gap_and_move(x: Vector) -> tuple[Vector, Vector]:
        own, log_density, lower = log_tail_and_density(x, d, noncentrality, nodes)
        # About log(1/2): on either side of it either form cancels.
        other = jnp.where(own > -0.693, jnp.log(-jnp.expm1(own)), jnp.log1p(-jnp.exp(own)))
        log_tail = jnp.where(lower == use_lower, own, other)
        t = jnp.sqrt(-2.0 * jnp.minimum(log_tail, -1e-300))
        # dT / d log x = -+ x f / (tail T)
        return target - t, (target - t) * t * rise / jnp.exp(jnp.log(x) + log_density - log_tail)

    def step(state: State) -> State:
        count, x, low, high, _ = state
        gap, move = gap_and_move(x)
        right_of_root = gap * rise < 0.0
        high, low = jnp.where(right_of_root, x, high), jnp.where(right_of_root, low, x)
        proposal = x * jnp.exp(jnp.clip(move, -700.0, 700.0))
        # At the last digits a bracket that ends at x itself is no obstacle.
        settled = (jnp.abs(gap) < _SETTLED) & (jnp.abs(move) < 1e-3)
        trusted = settled | ((proposal > low) & (proposal < high))  # false for nan
        new = jnp.where(trusted, proposal, jnp.sqrt(low) * jnp.sqrt(high))
        going = ~(settled | done | (high <= low * (1.0 + 4e-16)))
        return count + 1, jnp.clip(new, LEAST, MOST), low, high, going

    def unsettled(state: State) -> Array:
        return (state[0] < _STEPS) & state[4].any()

    bounds = LEAST * ones, MOST * ones
    return lax.while_loop(unsettled, step, (jnp.asarray(0), start, *bounds, ~done))[1]
