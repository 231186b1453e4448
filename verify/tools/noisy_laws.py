"""Exact laws of what is decided by Laplace or exponential noise: sums of exponentials, integrated without error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import jax
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(40)
_NODES, _WEIGHTS = 0.5 * (_NODES + 1.0), 0.5 * _WEIGHTS
"""Gauss and Legendre's rule on [0, 1], exact for polynomials of degree 79: those of ten queries have at most 31, of forty 42."""

Outcomes = Float[np.ndarray, " m"]


@dataclass(frozen=True)
class Noise:
    """Laplace or exponential noise: its scale, and whether it is one-sided."""

    scale: float
    one_sided: bool = False

    def density(self, x: np.ndarray) -> np.ndarray:
        """The density at x."""
        if self.one_sided:
            return np.where(x >= 0.0, np.exp(-np.abs(x) / self.scale), 0.0) / self.scale
        return np.exp(-np.abs(x) / self.scale) / (2.0 * self.scale)

    def below(self, x: np.ndarray) -> np.ndarray:
        """P(noise < x)."""
        far = -np.expm1(-np.maximum(x, 0.0) / self.scale)
        if self.one_sided:
            return far
        return np.where(x < 0.0, 0.5 * np.exp(-np.abs(x) / self.scale), 0.5 + 0.5 * far)

    def above(self, x: np.ndarray) -> np.ndarray:
        """P(noise >= x)."""
        if self.one_sided:
            return np.exp(-np.maximum(x, 0.0) / self.scale)
        return self.below(-x)

    def draw(self, key: PRNGKeyArray, shape: tuple[int, ...]) -> Array:
        """Draw independent noises."""
        if self.one_sided:
            return self.scale * jax.random.exponential(key, shape)
        return self.scale * jax.random.laplace(key, shape)


def integral(f: Callable[[np.ndarray], np.ndarray], kinks: Sequence[float], rate: float) -> np.ndarray:
    """The integral over the line of f: x of shape (k,) -> (m, k), exact where f is a sum of exponentials between its kinks.

    Beyond the outermost kinks f must be a polynomial in e^(-rate |x|) of degree at most 80 without a constant term: with
    that as the variable Gauss's rule is exact. Between two kinks at most a few apart, exponents of at most 1 a unit are
    integrated by 40 nodes to 1e-60.

    >>> print(integral(lambda x: np.exp(-np.abs(x - 1.0))[None], [1.0], rate=0.5).round(12))
    [2.]
    """
    ends = np.unique(np.asarray(kinks, float))
    parts = []
    for low, high in pairwise(ends):
        parts.append(f(low + (high - low) * _NODES) @ ((high - low) * _WEIGHTS))
    away, change = -np.log(_NODES) / rate, _WEIGHTS / (rate * _NODES)
    parts += [f(ends[0] - away) @ change, f(ends[-1] + away) @ change]
    return np.sum(parts, axis=0)


def first_above(threshold: float, at_threshold: Noise, at_query: Noise) -> Callable[[np.ndarray], Outcomes]:
    """The law of how many answers come before the first "above", for a single threshold noise and fresh noises at the queries."""

    def law(answers: np.ndarray) -> Outcomes:
        gaps = threshold - answers
        rate = _common_rate(at_threshold, at_query)

        def pieces(r: np.ndarray) -> np.ndarray:
            below = np.cumprod(at_query.below(r + gaps[:, None]), axis=0)
            before = np.concatenate([np.ones((1, r.size)), below])
            stops = np.concatenate([at_query.above(r + gaps[:, None]), np.ones((1, r.size))])
            return at_threshold.density(r) * before * stops

        return integral(pieces, [0.0, *(-gaps)], rate)

    return law


def each_above(
    threshold: float, at_threshold: Noise, at_query: Noise | None
) -> Callable[[np.ndarray], Outcomes]:
    """The law of the whole vector of above and below, where nothing stops it; 2^q outcomes, the first answer first."""

    def law(answers: np.ndarray) -> Outcomes:
        gaps = threshold - answers
        above = np.array(list(product((False, True), repeat=answers.size)))
        if at_query is None:  # answer i is above where the threshold's noise is at most -gap_i
            ends = np.where(above, -gaps, np.inf).min(axis=1), np.where(above, -np.inf, -gaps).max(axis=1)
            return np.maximum(at_threshold.below(ends[0]) - at_threshold.below(ends[1]), 0.0)
        noise, rate = at_query, _common_rate(at_threshold, at_query)

        def pieces(r: np.ndarray) -> np.ndarray:
            both = np.stack([noise.below(r + gaps[:, None]), noise.above(r + gaps[:, None])])
            chosen = both[above.astype(int), np.arange(answers.size)]
            return at_threshold.density(r) * chosen.prod(axis=1)

        return integral(pieces, [0.0, *(-gaps)], rate)

    return law


def _common_rate(*noises: Noise) -> float:
    """The largest rate of which all the noises' rates are multiples."""
    rates = [1.0 / noise.scale for noise in noises]
    least = min(rates)
    assert all(abs(r / least - round(r / least)) < 1e-12 for r in rates)
    return least


def value_above(
    threshold: float, at_threshold: Noise, at_query: Noise, cuts: np.ndarray
) -> Callable[[np.ndarray], Outcomes]:
    """The law of the place of the first "above" and the cell of the noisy answer released there; last comes "never"."""

    def law(answers: np.ndarray) -> Outcomes:
        gaps = threshold - answers
        edges = np.concatenate([[-np.inf], cuts, [np.inf]])

        def pieces(r: np.ndarray) -> np.ndarray:
            before = np.concatenate(
                [np.ones((1, r.size)), np.cumprod(at_query.below(r + gaps[:, None]), axis=0)]
            )
            least = np.maximum(edges[None, :, None], threshold + r) - answers[:, None, None]  # of the noise
            tail = np.where(np.isinf(least), 0.0, at_query.above(np.where(np.isinf(least), 0.0, least)))
            cells = np.where(tail[:, :-1] > tail[:, 1:], cell(at_query, least), 0.0)
            result = before[:-1, None] * cells
            return at_threshold.density(r) * np.concatenate([result.reshape(-1, r.size), before[-1:]])

        # so that no piece is long
        steps = np.arange(cuts[0] - threshold - 4.0, cuts[-1] - threshold + 4.0, 4.0)
        return integral(
            pieces, [0.0, *(-gaps), *(cuts - threshold), *steps], _common_rate(at_threshold, at_query)
        )

    return law


def cell(noise: Noise, edges: np.ndarray) -> np.ndarray:
    """P(edge_j <= noise < edge_(j+1)) along axis 1, without loss where both are far on the same side."""
    low, high = edges[:, :-1], edges[:, 1:]
    finite = np.where(np.isinf(high), 0.0, high)
    left = np.where(np.isinf(high), 1.0, noise.below(finite)) - noise.below(low)
    right = noise.above(low) - np.where(np.isinf(high), 0.0, noise.above(finite))
    return np.maximum(np.where(low >= 0.0, right, left), 0.0)
