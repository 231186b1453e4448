"""Tails and density of a non-central chi-square variable by a contour integral, in log space.

The characteristic function inverts to a contour integral in w = 1 - 2t,

    P(X <= x) = 1/(2 pi i) int exp( -(d/2) log w + (lambda/2)(1/w - 1) - (x/2)(1 - w) ) dw / (w - 1),

whose saddle point is the positive root w0 of x w^2 - d w - lambda = 0, and whose only pole is w = 1.
With w0 > 1, that is x below the mean d + lambda, it is the lower tail; with w0 < 1, minus the upper tail.
On w = w0 (1 + i tau)^3 the exponent falls like a Gaussian in tau for every d > 0, its cubic term vanishes
for lambda = 0, and the pole is at tau = i (1 - w0^(-1/3)). The midpoint rule in tau converges faster than
any power of the step; what the pole adds to it is known in closed form, P = sum + 1 / (1 + exp(2 pi a / h))
at distance a, so that nothing cancels when x passes through the mean.

The exponent at the saddle point is (d/2) (log w0 - y) + (lambda/2) y^2 with y = 1 - 1/w0: two terms of the same
sign. Hence a tail of 1e-300 is as accurate as a tail of 0.1.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

Vector = Float[Array, " size"]

LEAST, MOST = 1e-290, 1e150  # beyond these x the law is a power of x, or exp(-x/2), to all digits
NARROW = 32.0  # d/2 + lambda/w0 from which the few nodes are enough
FEW, MANY = 16, 40  # nodes: both leave the rule's error below 1e-12 where each is used
_SERIES = 12  # terms of log w0 - y for |y| < 0.3: the first term left out is below 1e-18 of the sum


def width(x: np.ndarray, d: np.ndarray, noncentrality: np.ndarray) -> np.ndarray:
    """Second derivative of the exponent at the saddle point, sqrt(d^2/4 + lambda x): it decides the nodes.
    >>> float(width(np.float64(3.0), np.float64(2.0), np.float64(1.0)))
    2.0
    """
    return np.sqrt(d * d / 4.0 + x * noncentrality)


def log_tail_and_density(
    x: Vector, d: Vector, noncentrality: Vector, nodes: int
) -> tuple[Vector, Vector, Vector]:
    """Log of the tail on x's own side of the mean, log of the density, and where that tail is the lower.

    Traceable; to be called with float64 on. `nodes` is static.

    `x`: points in [LEAST, MOST]; `d`: degrees of freedom, >= 1; `noncentrality`: in [0, 1e8]; `nodes`: FEW if `width` is
    at least NARROW everywhere, else MANY.
    """
    below, y, inverse = _saddle(x, d, noncentrality)
    half = d / 2.0
    b = noncentrality * inverse / 2.0
    spread = half + 2.0 * b
    # The nodes reach 8.2 standard deviations of a Gaussian integrand, exp(-8.2^2 / 2) < 3e-15; flatter ones need more.
    step = jnp.minimum(8.2 + 40.0 / spread, 12.0) / (3.0 * jnp.sqrt(spread)) / nodes

    def add(k: Array, sums: tuple[Vector, Vector]) -> tuple[Vector, Vector]:
        tail, density = _node((k + 0.5) * step, half, b, y)
        return sums[0] + tail, sums[1] + density

    tail, density = lax.fori_loop(0, nodes, add, (jnp.zeros_like(x),) * 2)
    small = jnp.abs(y) < 0.3
    log_w = jnp.where(small, -jnp.log1p(-jnp.where(small, y, 0.0)), -jnp.log(inverse))
    fall = half * _log_w_less_y(y, log_w, small) + (jnp.sqrt(noncentrality) * y) ** 2 / 2.0
    log_density = log_w - fall + jnp.log(1.5 / np.pi * step * density)

    # The pole counts only where it is nearer than the line on which the rule's own error is least.
    third = jnp.exp(-log_w / 3.0)
    steep = 3.0 * half * (1.0 / third - third**2)
    slope = jnp.abs(steep + 3.0 * (noncentrality / 2.0 / third - b * third**2))
    near = slope * step < 2.0 * np.pi
    away = 2.0 * np.pi * jnp.abs(jnp.expm1(-log_w / 3.0)) / step
    pole = jnp.where(near, jnp.exp(jnp.where(near, fall, 0.0) - jnp.logaddexp(0.0, away)), 0.0)
    rule = jnp.where(below, 1.0, -1.0) * (3.0 / np.pi) * step * tail
    return jnp.log(rule + pole) - fall, log_density, below


def _saddle(x: Vector, d: Vector, noncentrality: Vector) -> tuple[Vector, Vector, Vector]:
    """Whether x <= d + lambda, y = 1 - 1/w0 without cancellation, and 1/w0."""
    # x - lambda - d with the rounding of its first difference added back: near the mean all else rests on it.
    first = x - noncentrality
    back = first - x
    excess = (first - d) + ((x - (first - back)) + (-noncentrality - back))
    root = jnp.hypot(d, 2.0 * jnp.sqrt(x) * jnp.sqrt(noncentrality))
    linear = 2.0 * x - d
    inverse = 2.0 * x / (d + root)
    right = linear > 0.0
    y = jnp.where(right, -2.0 * excess / (jnp.where(right, linear, 1.0) + root) * inverse, 1.0 - inverse)
    return excess <= 0.0, y, inverse


def _node(t: Vector, half: Vector, b: Vector, y: Vector) -> tuple[Vector, Vector]:
    """The real parts of the integrands of the tail and of the density at tau = t, relative to the saddle."""
    q = t * t
    inverse_cube = 1.0 / (1.0 + q) ** 3
    imaginary = 3.0 * t - t * q
    fall = half * (3.0 * q + 1.5 * jnp.log1p(q)) + b * q * (3.0 + (6.0 + 3.0 * q + q * q) * inverse_cube)
    phase = half * (imaginary - 3.0 * jnp.arctan(t))
    phase += b * imaginary * q * (3.0 + 3.0 * q + q * q) * inverse_cube
    size = jnp.exp(-fall)
    cos, sin = size * jnp.cos(phase), size * jnp.sin(phase)
    real, imag = cos * (1.0 - q) - sin * 2.0 * t, sin * (1.0 - q) + cos * 2.0 * t
    gap = y - 3.0 * q
    return (real * gap + imag * imaginary) / (gap * gap + imaginary * imaginary), real


def _log_w_less_y(y: Vector, log_w: Vector, small: Vector) -> Vector:
    """Log w0 - (1 - 1/w0) >= 0, by the series of the inverse hyperbolic tangent where the two nearly agree."""
    s = jnp.where(small, y / (2.0 - y), 0.0)
    square = s * s
    series = jnp.zeros_like(y)
    for k in reversed(range(_SERIES)):
        series = series * square + 1.0 / (2 * k + 3)
    return jnp.where(small, 2.0 * square / (1.0 + s) + 2.0 * s * square * series, log_w - y)


def few_or_many(x: np.ndarray, d: np.ndarray, noncentrality: np.ndarray) -> int:
    """How many nodes these points need.
    >>> few_or_many(np.array([100.0]), np.array([3.0]), np.array([100.0])), FEW
    (16, 16)
    """
    return FEW if float(width(x, d, noncentrality).min(initial=np.inf)) >= NARROW else MANY


log_tail_and_density_jit = jax.jit(log_tail_and_density, static_argnums=3)
