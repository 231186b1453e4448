"""Fits g + c phi(n) of a sequence to shapes phi of an approach: powers of n, and slow ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

POWERS = np.linspace(0.25, 2.0, 36)
"""q of n^-q: what a central limit theorem, its next terms and smoothing by noise give."""
SLOW_POWERS = (0.01, 0.02, 0.04, 0.07, 0.1, 0.13, 0.16, 0.19, 0.22)
LOG_POWERS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)
NOISES = np.concatenate([[0.0], np.geomspace(1e-10, 3.0, 60)])
"""Sizes of what a fit leaves, as a share of the change of the sequence, among which the likeliest is taken."""


@dataclass(frozen=True)
class Fits:
    """Fits g + c phi, one for each shape phi and each of the two kinds of noise, at its likeliest size.

    Attributes:
        g, c: shape (2 k,) for k shapes, first with noise of one size, then with noise in proportion to phi.
        error: standard error of g.
        loglik: log-likelihood.
        moved: how far c phi moves from the first size to the last.
        unexplained: root mean square of what is left, as a share of the standard deviation of the sequence.
    """

    g: np.ndarray
    c: np.ndarray
    error: np.ndarray
    loglik: np.ndarray
    moved: np.ndarray
    unexplained: np.ndarray


def power_shapes(n: np.ndarray) -> np.ndarray:
    """(n / n_1)^-q for all `POWERS`, shape (36, m).

    Examples:
        >>> power_shapes(np.array([1.0, 4.0]))[0].round(6).tolist()  # q = 1/4
        [1.0, 0.707107]
    """
    return np.exp(-POWERS[:, None] * np.log(n / n[0]))


def slow_shapes(n: np.ndarray) -> np.ndarray:
    """Slow approaches, and logarithms that diverge: n^-q with q < 1/4, powers of 1 / log n, 1 / log log n, log log n, log n.

    Logarithms are of 3 n / n_1 at least, so that they are defined and positive twice over.

    Examples:
        >>> slow_shapes(np.array([100.0, 200.0])).shape
        (22, 2)
    """
    x = np.log(n * max(1.0, 3.0 / n[0]))
    powers = np.exp(-np.array(SLOW_POWERS)[:, None] * (x - x[0]))
    logs = x ** -np.array(LOG_POWERS)[:, None]
    return np.concatenate([powers, logs, [1 / np.log(x), np.log(x), x]])


def fits(shapes: np.ndarray, y: np.ndarray, errors: np.ndarray) -> Fits:
    """Fit g + c phi by weighted least squares, for each shape and each kind of noise.

    Args:
        shapes: phi at the sizes, positive, shape (k, m).
        y: the sequence, shape (m,).
        errors: known standard errors, > 0, shape (m,); the noise of the fit is added to them.

    Examples:
        >>> n = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
        >>> found = fits(1 / n[None, :], 3 + 2 / n, np.full(5, 1e-6))
        >>> round(float(found.g[0]), 6), round(float(found.c[0]), 6)
        (3.0, 2.0)
    """
    change = float(np.ptp(y)) or 1.0
    centred = shapes / np.exp(np.log(shapes).mean(axis=1, keepdims=True))
    parts = [_fit(shapes, y, errors, change, scale) for scale in (np.ones_like(shapes), centred)]
    return Fits(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def second_term(shapes: np.ndarray, y: np.ndarray, errors: np.ndarray) -> float:
    """Return the g of g + c phi + b phi^2, the likeliest over the shapes and over both kinds of noise.

    Examples:
        >>> n = 2.0 ** np.arange(8)
        >>> round(second_term(power_shapes(n), 3 + n**-0.5 - 2 / n, np.full(8, 1e-9)), 6)
        3.0
    """
    best, limit = -np.inf, np.nan
    for scale in (np.ones_like(shapes), shapes):
        weight = 1.0 / np.hypot(errors / float(np.ptp(y) or 1.0), scale)
        design = np.stack([np.ones_like(shapes), shapes, shapes**2], axis=-1) * weight[..., None]
        solution = (np.linalg.pinv(design) @ (y * weight)[..., None])[..., 0]
        left = ((design @ solution[..., None])[..., 0] - y * weight) ** 2
        loglik = np.log(weight).sum(-1) - 0.5 * y.size * np.log(left.sum(-1) + 1e-300)
        if loglik.max() > best:
            best, limit = float(loglik.max()), float(solution[loglik.argmax(), 0])
    return limit


def _fit(
    shapes: np.ndarray, y: np.ndarray, errors: np.ndarray, change: float, scale: np.ndarray
) -> list[np.ndarray]:
    variance = errors**2 + (NOISES[:, None, None] * change * scale) ** 2  # noise, shape, size
    weight = 1.0 / variance
    total = weight.sum(-1)
    centre = (weight * shapes).sum(-1) / total
    apart = shapes - centre[..., None]
    spread = (weight * apart**2).sum(-1)
    c = (weight * apart * y).sum(-1) / spread
    g = (weight * y).sum(-1) / total - c * centre
    left = y - g[..., None] - c[..., None] * shapes
    loglik = -0.5 * (np.log(variance) + weight * left**2).sum(-1)
    best = (loglik.argmax(0), np.arange(shapes.shape[0]))
    error = np.sqrt(1.0 / total + centre**2 / spread)
    return [
        g[best],
        c[best],
        error[best],
        loglik[best],
        np.abs(c[best]) * np.ptp(shapes, axis=1),
        np.sqrt((left[best] ** 2).mean(-1)) / (float(np.std(y)) or 1.0),
    ]
