"""Tails of a score with few atoms plus noise, by routes that share nothing with the exact laws: sums and quadrature."""

from typing import Any

import numpy as np
import scipy.stats
from numpy.polynomial.legendre import leggauss

stats: Any = scipy.stats
Noise = tuple[str, float]
"""("gauss", standard deviation) or ("laplace", scale)."""

NODES, WEIGHTS = leggauss(24)


def noise_sf(noises: list[Noise], x: np.ndarray) -> np.ndarray:
    """P(sum of the noises > x): SciPy's tails, and for each further noise a numerical convolution over panels."""
    if not noises:
        return (x < 0.0).astype(float)
    law = frozen(noises[-1])
    if len(noises) == 1:
        return law.sf(x)
    scale, reach = noises[-1][1], (12.0 if noises[-1][0] == "gauss" else 45.0) * noises[-1][1]
    panels = np.concatenate([[0.0], np.geomspace(1e-3, 60.0, 40)])
    result = []
    for point in np.ravel(x):
        # Panels are finest where a density or a tail has its kink.
        edges = [c + sign * w * panels for c in (0.0, point) for _, w in noises for sign in (-1, 1)]
        cuts = np.unique(np.clip(np.concatenate([*edges, [-reach, reach]]), -reach, reach))
        half, middle = 0.5 * np.diff(cuts), 0.5 * (cuts[1:] + cuts[:-1])
        at = middle[:, None] + half[:, None] * NODES
        inner = noise_sf(noises[:-1], (point - at).ravel()).reshape(at.shape)
        result.append(half @ (law.pdf(at) * inner) @ WEIGHTS + law.sf(reach))
    assert scale > 0.0
    return np.reshape(result, np.shape(x))


def frozen(noise: Noise) -> Any:
    kind, scale = noise
    return stats.norm(scale=scale) if kind == "gauss" else stats.laplace(scale=scale)


def binomial_atoms(weights: np.ndarray, p: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Every value of sum_j weights_j Binomial(n, p_j) and its probability."""
    atoms, probability = np.zeros(1), np.ones(1)
    for w, q in zip(weights, p, strict=True):
        count = np.arange(n + 1.0)
        atoms = np.add.outer(atoms, w * count).ravel()
        probability = np.multiply.outer(probability, stats.binom.pmf(count, n, q)).ravel()
    return atoms, probability


def noisy_sf(atoms: np.ndarray, probability: np.ndarray, noises: list[Noise], x: np.ndarray) -> np.ndarray:
    """P(atom + noise > x); what is farther than 45 scales is sure, and atoms below 1e-15 are not worth a quadrature."""
    far = 45.0 * sum(scale for _, scale in noises)
    points = x[:, None] - atoms
    tails = (points < 0.0).astype(float)
    near = (np.abs(points) <= far) & (probability > 1e-15)
    tails[near] = noise_sf(noises, points[near])
    return tails @ probability
