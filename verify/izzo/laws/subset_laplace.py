"""The subset game with Laplace noise on a number: exact advantages of the best attack, from closed forms."""

from collections.abc import Sequence

import numpy as np
import scipy

from mipsim._validation import finite_vector, number
from verify.izzo.laws.subset_enumeration import half_subsets


def laplace_eta(values: object, scale: float, n: int) -> np.ndarray:
    """The exact eta of A(D) + Laplace(scale) for each target, without quadrature.

    Both worlds are mixtures of Laplace densities of the same scale b, so that between neighbouring values of A their
    difference is u e^{x/b} + v e^{-x/b}, which changes sign at most once: its absolute integral is elementary.

    `values`: A(D) of a deterministic algorithm, shape (C(n, n/2),), in the order of `half_subsets`; `scale`: b > 0, in
    the unit of the values; `n`: records. Returns eta of each target, shape (n,). A finite sum in closed form; its
    rounding is some 1e-13, which is an estimate.

    >>> print(laplace_eta([1.0, -1.0], 2.0, 2).round(6))  # (1 - exp(-1/2)) / 2
    [0.196735 0.196735]
    """
    flags = half_subsets(n)
    at = finite_vector("values", values, len(flags))
    sign = np.where(flags.T, 1.0, -1.0) / len(flags)  # P(in, D) - P(out, D); sums to 0
    return 0.5 * laplace_difference(at, sign, scale)


def laplace_difference(at: np.ndarray, weights: np.ndarray, scale: float) -> np.ndarray:
    """Integral of |sum_i w_i exp(-|x - a_i| / b) / (2 b)| over the line, shape (...), in closed form between the points.
    `at`: a, shape (m,); `weights`: w of any sign, shape (..., m); `scale`: b > 0.

    >>> laplace_difference(np.array([0.0]), np.array([[1.0], [-3.0]]), 2.0).tolist()
    [1.0, 3.0]
    """
    b = number("scale", scale, 0.0, low_open=True)
    points, index = np.unique(np.asarray(at) / b, return_inverse=True)
    together = np.zeros((len(index), len(points)))
    together[np.arange(len(index)), index.ravel()] = 1.0
    fall = np.asarray(weights) @ together
    rise = fall.copy()
    # On [a_i, a_{i+1}] the sum is rise_{i+1} e^{x - a_{i+1}} + fall_i e^{-(x - a_i)}: points to the right and to the left.
    gap = np.diff(points)
    decay = np.exp(-gap)
    for i in range(1, len(points)):
        fall[..., i] += fall[..., i - 1] * decay[i - 1]
    for i in range(len(points) - 2, -1, -1):
        rise[..., i] += rise[..., i + 1] * decay[i]
    left, right = fall[..., :-1], rise[..., 1:]

    def integral(start: np.ndarray, stop: np.ndarray) -> np.ndarray:
        grown = right * (np.exp(stop - gap) - np.exp(start - gap))
        return np.abs(grown + left * (np.exp(-start) - np.exp(-stop)))

    # right e^{x - gap} + left e^{-x} = 0 at x = (gap + log(-left / right)) / 2.
    with np.errstate(divide="ignore", invalid="ignore"):
        root = 0.5 * (gap + np.log(-left / right))
    root = np.clip(np.where(np.isfinite(root), root, 0.0), 0.0, gap)
    inner = integral(np.zeros_like(root), root) + integral(root, np.broadcast_to(gap, root.shape))
    return 0.5 * (np.abs(rise[..., 0]) + np.abs(fall[..., -1]) + inner.sum(axis=-1))


def scaled_laplace_eta(values: object, scales: object, n: int) -> np.ndarray:
    """Return eta of A(D) + Laplace(b(D)) for each target, where the scale too depends on the training set.

    Between the points where the two densities cross, the integral of their difference is a difference of distribution
    functions, which is exact. Crossings are sought on a fine grid; a missed crossing would make the number smaller,
    so that it is never above the true eta. A scale of 0 is no noise: a point mass.

    `values`: A(D), shape (C(n, n/2),), in the order of `half_subsets`; `scales`: b(D) >= 0, the same shape; `n`: records.
    Returns eta of each target, shape (n,); a lower bound, equal to eta but for crossings that were missed (and rounding).

    >>> print(scaled_laplace_eta([1.0, -1.0], [2.0, 2.0], 2).round(6))  # as laplace_eta
    [0.196735 0.196735]
    >>> print(scaled_laplace_eta([0.0, 0.0], [0.0, 2.0], 2))  # no noise in a world: nothing is hidden
    [0.5 0.5]
    """
    flags = half_subsets(n)
    a, b = finite_vector("values", values, len(flags)), finite_vector("scales", scales, len(flags))
    number("scales", float(b.min()), 0.0)
    silent = b == 0.0
    weights = np.where(flags.T, 1.0, -1.0) / len(flags)
    result = [sum(abs(w[silent & (a == point)].sum()) for point in np.unique(a[silent])) for w in weights]
    if not silent.all():
        crossed = _crossed(a[~silent], b[~silent], [w[~silent] for w in weights])
        result = [whole + part for whole, part in zip(result, crossed, strict=True)]
    return 0.5 * np.array(result, float)


def _crossed(a: np.ndarray, b: np.ndarray, weights: Sequence[np.ndarray]) -> list[float]:
    """The integrals of the absolute weighted sums of densities, for each row of weights."""

    def falls(x: np.ndarray) -> np.ndarray:
        return np.exp(-np.abs(x[..., None] - a) / b)

    def cumulated(x: np.ndarray) -> np.ndarray:
        z = (x[..., None] - a) / b
        return np.where(z < 0, 0.5 * np.exp(np.minimum(z, 0)), 1 - 0.5 * np.exp(-np.maximum(z, 0)))

    steps = np.geomspace(1e-5, 60.0, 70)  # in scales from each point: beyond 60 of them nothing is left
    widths = np.unique(b)[:: max(1, len(np.unique(b)) // 4)]
    grid = np.unique(
        np.concatenate([a, *(x + s * u * steps for x in np.unique(a) for s in widths for u in (-1, 1))])
    )
    on_grid, result = falls(grid), []
    for w in weights:
        height = w / (2 * b)
        sign = np.sign(on_grid @ height)
        roots = [
            scipy.optimize.root_scalar(
                lambda x, height=height: float(falls(np.array(x)) @ height), bracket=(grid[i], grid[i + 1])
            ).root
            for i in np.flatnonzero(sign[1:] * sign[:-1] < 0)
        ]
        ends = np.concatenate([[0.0], cumulated(np.array(roots)) @ w, [w.sum()]])
        result.append(float(np.abs(np.diff(ends)).sum()))
    return result
