"""The non-central chi-square law: cdf, sf, density and quantiles, right in both tails to 1e-300 and beyond.

X = |Z + m|^2 with Z ~ N(0, I_d) and noncentrality = |m|^2; d is any real number in [1, 1e6]. All functions
broadcast, take and return NumPy float64, and compute in JAX at float64. The relative error is below 1e-11
for tails down to 1e-300; the log forms keep 1e-13 of the logarithm below that.

SciPy 1.17, for comparison: `chndtr` has no upper tail, `ncx2.cdf` and `ncx2.sf` return 0 where the truth is some
1e-300 and take time that grows with the noncentrality, and `ncx2.isf(1e-300)` may be a fifth too small.
"""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float
from scipy.special import ndtri_exp

from mipsim._precision import exact_scope
from mipsim._validation import real_array
from mipsim.special.contour import LEAST, MOST, few_or_many, log_tail_and_density, log_tail_and_density_jit
from mipsim.special.ranges import MOST_FREEDOM, MOST_NONCENTRALITY

# A single point costs as much as 64, which is the overhead of XLA; a CPU gains nothing from vectors beyond 4096, an accelerator does.
BLOCKS, BLOCKS_ON_DEVICE = (64, 512, 4096), (64, 262144)
Vector = Float[Array, " size"]
State = tuple[Array, Vector, Vector, Vector, Array]
_HALVINGS = 40  # of a bracket of log w0; what is left is far below the error of the saddle-point root
_STEPS = 60  # a bracket halves at least every other step; Newton alone has needed at most 5
_SETTLED = 1e-8  # gap in T after which a further Newton step, whose error is the square of it, is the last


def logcdf(x: object, d: object, noncentrality: object) -> np.ndarray:
    """Log P(X <= x); -inf for x <= 0.

    Args:
        x: points, any shape, not NaN.
        d: degrees of freedom in [1, 1e6], broadcast with x.
        noncentrality: squared length of the mean in [0, 1e8], broadcast with x.

    Examples:
        >>> print(logcdf(1.0, 2, 1e4))  # P is about 1e-2132
        -4908.320564502862
    """
    return log_tails(x, d, noncentrality)[0]


def logsf(x: object, d: object, noncentrality: object) -> np.ndarray:
    """Log P(X > x); 0 for x <= 0. Arguments and errors as in `logcdf`.

    Examples:
        >>> print(logsf(2000.0, 2, 0.0))  # exp(-x/2)
        -1000.0
    """
    return log_tails(x, d, noncentrality)[1]


def cdf(x: object, d: object, noncentrality: object) -> np.ndarray:
    """P(X <= x); 0 for x <= 0. Arguments and errors as in `logcdf`.

    Examples:
        >>> cdf([-1.0, 5.0, np.inf], 3, 2.0).round(12).tolist()
        [0.0, 0.593405180083, 1.0]
    """
    return np.asarray(np.exp(logcdf(x, d, noncentrality)))


def sf(x: object, d: object, noncentrality: object) -> np.ndarray:
    """P(X > x); 1 for x <= 0. Arguments and errors as in `logcdf`.

    Examples:
        >>> print(f"{sf(10800.0, 1, 1e4):.10e}")  # Phi(-3.92...) + Phi(-203.9...)
        4.3717778976e-05
    """
    return np.asarray(np.exp(logsf(x, d, noncentrality)))


def logpdf(x: object, d: object, noncentrality: object) -> np.ndarray:
    """Log of the density at x; -inf for x < 0. Arguments and errors as in `logcdf`.

    Examples:
        >>> print(logpdf(3.0, 2, 0.0))  # -log 2 - x/2
        -2.193147180559945
    """
    at, freedom, centre = _arguments(x, d, noncentrality)
    _, log_density, _, drop = _core(at, freedom, centre)
    with np.errstate(invalid="ignore", divide="ignore"):
        power = np.where((freedom == 2.0) | (drop == 0.0), 0.0, (freedom / 2.0 - 1.0) * drop)
    return np.where(at < 0.0, -np.inf, np.where(at > MOST, -at / 2.0, log_density + power))


def ppf(q: object, d: object, noncentrality: object) -> np.ndarray:
    """The x with P(X <= x) = q.

    Args:
        q: levels, any shape, each in the open interval (0, 1).
        d: degrees of freedom in [1, 1e6], broadcast with q.
        noncentrality: in [0, 1e8], broadcast with q.

    Examples:
        >>> print(ppf(0.95, 1, 0.0))
        3.84145882069412
    """
    level = _levels("q", q, log=False)
    return _quantile(np.log(level), np.log1p(-level), d, noncentrality)


def isf(q: object, d: object, noncentrality: object) -> np.ndarray:
    """The x with P(X > x) = q. Arguments and errors as in `ppf`.

    Examples:
        >>> print(isf(1e-300, 2, 0.0))  # 600 log 10
        1381.55105579643
    """
    level = _levels("q", q, log=False)
    return _quantile(np.log1p(-level), np.log(level), d, noncentrality)


def logppf(log_q: object, d: object, noncentrality: object) -> np.ndarray:
    """The x with log P(X <= x) = log_q < 0: for levels below 1e-300, or so close to 1 that 1 - q is lost.

    Examples:
        >>> print(logppf(-5000.0, 2, 1e4))
        0.0082333879147
    """
    level = _levels("log_q", log_q, log=True)
    return _quantile(level, _log_rest(level), d, noncentrality)


def logisf(log_q: object, d: object, noncentrality: object) -> np.ndarray:
    """The x with log P(X > x) = log_q < 0. Arguments and errors as in `logppf`.

    Examples:
        >>> print(logisf(-1000.0, 2, 0.0))
        2000.0
    """
    level = _levels("log_q", log_q, log=True)
    return _quantile(_log_rest(level), level, d, noncentrality)


def _log_rest(log_q: np.ndarray) -> np.ndarray:
    """log(1 - exp(log_q)) for log_q <= 0, without cancellation at either end; -inf at 0."""
    near = log_q > -0.693  # about log(1/2): on either side of it either form cancels
    with np.errstate(divide="ignore"):
        small = np.log(-np.expm1(np.where(near, log_q, -1.0)))
    return np.where(near, small, np.log1p(-np.exp(np.minimum(log_q, -0.693))))


def _core(x: np.ndarray, d: np.ndarray, noncentrality: np.ndarray) -> tuple[np.ndarray, ...]:
    """Kernel at x moved into its range, and log of the factor by which x was moved up (<= 0)."""
    flat = (np.clip(x, LEAST, MOST).ravel(), d.ravel(), noncentrality.ravel())
    nodes = few_or_many(*flat)
    out = _in_padded_blocks(lambda *block: log_tail_and_density_jit(*block, nodes), *flat)
    tail, density, lower = (part.reshape(x.shape) for part in out)
    with np.errstate(divide="ignore"):
        drop = np.log(np.clip(x, 0.0, LEAST)) - np.log(LEAST)
    return tail, density, lower, drop


def log_tails(x: object, d: object, noncentrality: object) -> tuple[np.ndarray, np.ndarray]:
    """(`logcdf`, `logsf`) by a single evaluation; the tail on the far side of the mean is 1 minus the other.

    Examples:
        >>> print(*log_tails(2000.0, 2, 0.0))
        0.0 -1000.0
    """
    at, freedom, centre = _arguments(x, d, noncentrality)
    tail, _, lower, drop = _core(at, freedom, centre)
    own = np.where(at > MOST, -at / 2.0, tail + freedom / 2.0 * drop)
    rest = _log_rest(np.minimum(own, 0.0))
    return np.where(lower, own, rest), np.where(lower, rest, own)


def _quantile(log_lower: np.ndarray, log_upper: np.ndarray, d: object, noncentrality: object) -> np.ndarray:
    """Points where the two log tails are the given ones."""
    low, up, freedom, centre = _together(d, noncentrality, log_lower, log_upper)
    flat = (low.ravel(), up.ravel(), freedom.ravel(), centre.ravel())
    z = np.where(flat[0] < flat[1], 1.0, -1.0) * ndtri_exp(np.minimum(flat[0], flat[1]))
    start = _in_padded_blocks(lambda *block: (_saddle_root(*block),), z, *flat[2:])[0]
    # Below the kernel's range log P falls by d/2 for each unit of log x; `left` is what is still to fall there.
    below = start < 1e3 * LEAST
    at_end = _core(np.where(below, LEAST, 1.0), *flat[2:])[0] if below.any() else 0.0
    left = np.where(below, np.minimum(flat[0] - at_end, 0.0), 0.0)
    start = np.where(left < 0.0, LEAST, np.maximum(start, 2.0 * LEAST))
    nodes = few_or_many(0.8 * start, *flat[2:])  # with room for Newton's steps to smaller points
    x = _in_padded_blocks(lambda *block: (_newton(*block, nodes),), start, *flat)[0]
    x = np.where(start >= MOST, -2.0 * flat[1], x * np.exp(2.0 * left / flat[2]))
    return x.reshape(low.shape)


def _in_padded_blocks(
    function: Callable[..., tuple[object, ...]], *arrays: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Call `function` on equal one-dimensional arrays, cut into blocks of a few sizes that it is compiled for.

    The last block is filled up with copies of its last entry, which are dropped from the results.

    Args:
        function: from float64 vectors of the same size to a tuple of vectors of that size; called in the exact scope.
        *arrays: float64, each of shape (size,).

    Examples:
        >>> _in_padded_blocks(lambda v: (v + 1.0,), np.arange(5000.0))[0].shape
        (5000,)
    """
    size, start = arrays[0].size, 0
    if size == 0:
        return tuple(out[:0] for out in _in_padded_blocks(function, *(np.ones(1) for _ in arrays)))
    parts: list[tuple[np.ndarray, ...]] = []
    blocks = BLOCKS if jax.default_backend() == "cpu" else BLOCKS_ON_DEVICE
    with exact_scope():
        while start < size:
            left = size - start
            block = next((item for item in blocks if left <= 4 * item), blocks[-1])
            retained = min(block, left)
            cut = (_padded(a[start : start + retained], block) for a in arrays)
            parts.append(tuple(np.asarray(out)[:retained] for out in function(*cut)))
            start += retained
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def _padded(part: np.ndarray, size: int) -> np.ndarray:
    """The vector with its last entry repeated up to the size; NumPy's own `pad` takes as long as the function that reads it."""
    whole = np.full(size, part[-1])
    whole[: part.size] = part
    return whole


def _arguments(x: object, d: object, noncentrality: object) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Broadcast points, degrees of freedom and noncentralities, or say which of them is not allowed.

    Examples:
        >>> [a.shape for a in _arguments([1.0, 2.0], 3, [[0.0], [1.0]])]
        [(2, 2), (2, 2), (2, 2)]
    """
    at = real_array("x", x, finite=False)
    if np.isnan(at).any():
        raise ValueError("x holds nan; every entry must be a real number or an infinity")
    at, freedom, centre = _together(d, noncentrality, at)
    return at, freedom, centre


def _levels(name: str, value: object, *, log: bool) -> np.ndarray:
    """Return levels in (0, 1), or their logarithms if `log`, as a float64 array.

    Examples:
        >>> _levels("q", [0.5, 2.0], log=False)
        Traceback (most recent call last):
        ...
        ValueError: q is 2; a level must lie in (0, 1)
    """
    array = real_array(name, value)
    bad = array >= 0.0 if log else (array <= 0.0) | (array >= 1.0)
    if bad.any():
        allowed = "the log of a level must be negative" if log else "a level must lie in (0, 1)"
        raise ValueError(f"{name} is {array[bad].flat[0]:g}; {allowed}")
    return array


def _within(name: str, value: object, low: float, high: float) -> np.ndarray:
    array = real_array(name, value)
    bad = (array < low) | (array > high)
    if bad.any():
        raise ValueError(f"{name} is {array[bad].flat[0]:g}; it must lie in [{low:g}, {high:g}]")
    return array


def _together(d: object, noncentrality: object, *arrays: np.ndarray) -> list[np.ndarray]:
    """The arrays broadcast with the degrees of freedom and the noncentrality, which come last."""
    freedom = _within("d", d, 1.0, MOST_FREEDOM)
    arrays = *arrays, freedom, _within("noncentrality", noncentrality, 0.0, MOST_NONCENTRALITY)
    try:
        return [np.array(a) for a in np.broadcast_arrays(*arrays)]
    except ValueError:
        shapes = ", ".join(str(a.shape) for a in arrays)
        raise ValueError(
            f"the arguments, d and noncentrality have shapes {shapes}; they must broadcast together"
        ) from None


@jax.jit
def _saddle_root(z: Vector, d: Vector, noncentrality: Vector) -> Vector:
    """Nearly the x with P(X <= x) = Phi(z): a start for `_newton`, in [1e-290, 1e150].

    The exponent at the saddle point is r^2/2 for a signed root r, and z is nearly r + log(u/r)/r with
    u = -y (d/2 + lambda/w0)^(1/2). Two rounds solve that for r, and r for x.

    `z`: normal quantiles of the levels; `d`: degrees of freedom; `noncentrality`: of the law.

    Source: Barndorff-Nielsen (1986), "Inference on full or partial parameters", the r* formula.

    >>> from mipsim._precision import exact_scope
    >>> with exact_scope():  # the law exp(-x/2), at 1 - exp(-x/2) = Phi(0)
    ...     x = _saddle_root(*(jnp.array([v]) for v in (0.0, 2.0, 0.0)))
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
def _newton(
    start: Vector, log_lower: Vector, log_upper: Vector, d: Vector, noncentrality: Vector, nodes: int
) -> Vector:
    """The x in [1e-290, 1e150] whose log tails are the given ones; any x there for a root that lies outside.

    Newton runs on T = sqrt(-2 log tail), of the tail that is the smaller at the root, against log x: T is
    close to a normal quantile, hence close to linear in the root of the exponent, at every distance.

    `start`: from `_saddle_root`; an end of the range is left as it is; `log_lower`: log P(X <= x) < 0; `log_upper`: log
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
