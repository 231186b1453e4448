"""The exact curve of many sub-sampled Gaussian steps, by the characteristic function of the log-likelihood ratio."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.special import ndtri
from scipy.stats import norm

_SPAN, _NODES, _POINTS = 14.0, 600, 6001


@lru_cache(maxsize=64)
def long_run_curve(step: float, rate: float, steps: int) -> Callable[[np.ndarray], np.ndarray]:
    """FNR against FPR when each of `steps` steps shows N(step, 1) with probability `rate` and else N(0, 1).

    The game itself, with the target in or out of the data set. The ratio of one step is L = log(1 - p + p exp(s x -
    s^2/2)); E[exp(iuL)] is a trapezoid sum in x, its power is taken in logarithms, and both distribution functions
    follow by the midpoint rule of Gil-Pelaez, whose error is the mass beyond 30 standard deviations and what the
    characteristic function holds beyond the last node (checked to be below 1e-9).

    Args:
        step: s, mu of one step.
        rate: p in (0, 1).
        steps: number of steps; some hundred at least, for the characteristic function to have died out.

    Raises:
        ValueError: if the characteristic function has not died out at the last node.
    """
    x = np.linspace(-_SPAN, _SPAN + step, _POINTS)
    weight = norm.pdf(x) * (x[1] - x[0])
    ratio = np.log1p(rate * np.expm1(step * x - step**2 / 2))
    tilted = weight * np.exp(ratio)
    mean = [steps * float(w @ ratio) for w in (weight, tilted)]
    spread = [
        np.sqrt(steps * float(w @ ratio**2) - m**2 / steps)
        for w, m in zip((weight, tilted), mean, strict=True)
    ]
    width = max(spread)
    nodes = (np.arange(_NODES) + 0.5) * (2 * np.pi / (60 * width + abs(mean[1] - mean[0])))
    wave = np.expm1(1j * np.multiply.outer(nodes, ratio))
    grid = np.linspace(mean[0] - 9 * spread[0], mean[1] + 9 * spread[1], 801)
    below = []
    for w in (weight, tilted):
        transform = np.exp(steps * np.log1p(wave @ w))
        if abs(transform[-1]) > 1e-9:
            raise ValueError(
                f"steps is {steps}; too few for the inversion at mu_step = {step:g} and rate {rate:g}"
            )
        turned = np.exp(-1j * np.multiply.outer(grid, nodes)) * transform
        below.append(0.5 - (turned.imag / (np.arange(_NODES) + 0.5)).sum(axis=1) / np.pi)
    alpha, beta = np.clip(1 - below[0], 1e-12, 1 - 1e-12), np.clip(below[1], 1e-12, 1 - 1e-12)
    kept = (alpha > 1e-8) & (alpha < 1 - 1e-8)
    known = ndtri(alpha[kept])[::-1], ndtri(beta[kept])[::-1]

    def curve(rates: np.ndarray) -> np.ndarray:
        return norm.cdf(np.interp(ndtri(rates), *known))

    return curve
