"""The exact law of a score that is quadratic in a Gaussian output."""

from collections.abc import Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from mipsim.attacks.base import AbstractAdditiveAttack, AbstractAttack
from mipsim.attacks.quadratic import AbstractQuadraticAttack
from mipsim.distributions.gaussian import Gaussian
from mipsim.exact.derived_laws import linked, mixed_with_out
from mipsim.exact.gaussian import largest_norm, quadratic_law
from mipsim.exact.rounding import EPS
from mipsim.forms.polynomial import ReadLine, ReadParabolas, degree_of, polynomial_of
from mipsim.forms.problem import FixedProblem
from mipsim.tradeoff.score_law import AbstractScoreLaw

Array = np.ndarray
_CLOSE = 1e-8  # of the range of the scores: what a polynomial may miss by rounding


def quadratic_attack_law(problem: FixedProblem) -> AbstractScoreLaw | None:
    """A score c + g'o + o'H o / 2 of a Gaussian output o, or an increasing function of such a score.

    The polynomial is read from an `AbstractQuadraticAttack` (its centre and metric), from an additive attack whose terms
    are parabolas by their operations, or, for up to 4096 dimensions, from any score whose operations or whose user say that
    it is a parabola (`mipsim.forms.polynomial`). Equal eigenvalues of H in units of the output's covariance give a non-central
    chi-square; others are inverted.

    >>> import mipsim as mi
    >>> data = mi.Gaussian(0.0, 1.0, d=3)
    >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=10, target=[2.0, 0.0, 0.0])
    >>> curve = game.exact(mi.LikelihoodRatio(game.mechanism, data, 10))
    >>> print(curve.beta([0.05, 0.5]).round(6), type(curve.law).__name__)
    [0.854901 0.249751] ChiSquareLaw
    """
    data, mean = problem.data, problem.mean
    if not isinstance(data, Gaussian) or mean.noises or mean.rate < 1.0:
        return None
    k, shift = mean.rows, (problem.row - data.mean) / mean.rows
    centres = np.stack([data.mean, data.mean + shift])
    noise = np.broadcast_to(mean.variance, data.mean.shape)
    if data.is_product:
        covariances = [data.cov / k + noise, data.cov * (k - 1) / k**2 + noise]
    else:
        covariances = [data.cov / k + np.diag(noise), data.cov * ((k - 1) / k**2) + np.diag(noise)]
    return gaussian_output_law(problem.attack, problem.target, centres, covariances, mean.inclusion)


def gaussian_output_law(
    attack: AbstractAttack, target: Array, centres: Array, covariances: Sequence[Array], inclusion: float
) -> AbstractScoreLaw | None:
    """The law of a quadratic score of an output that is Gaussian in both worlds; None where the score is no such.

    Must be called inside `exact_scope`.

    `attack`: scores (target, output); `target`: the first argument of its score, shape (d,); `centres`: of the output
    without and with the record, shape (2, d); `covariances`: likewise, each of variances (d,) or full (d, d);
    `inclusion`: the probability that the record takes part in the "in" world.
    """
    spread = np.sqrt([c if c.ndim == 1 else np.diagonal(c) for c in covariances])
    probes = np.random.default_rng(0).normal(size=(6, centres.shape[1])) * 3.0  # six points of each world
    points = centres[:, None, :] + spread[:, None, :] * probes
    read = _polynomial(attack, target, points.reshape(-1, centres.shape[1]))
    if read is None:
        return None
    at, hessian, gradient, constant, link, differences = read
    blur = _blur(at, hessian, gradient, constant, centres, covariances)
    if differences is not None:
        independent = all(c.ndim == 1 for c in covariances)
        blur += _read_off(*differences, np.abs(centres - at), spread, independent)
    centres = centres - at
    if hessian.ndim == 1 and all(c.ndim == 1 for c in covariances):
        curve = np.stack([0.5 * hessian * c for c in covariances])
        slope = np.stack(
            [(hessian * m + gradient) * np.sqrt(c) for m, c in zip(centres, covariances, strict=True)]
        )
        level = np.array([constant + np.sum((0.5 * hessian * m + gradient) * m) for m in centres])
        law = quadratic_law(level, slope, curve, blur)
    else:
        full = np.diag(hessian) if hessian.ndim == 1 else hessian
        parts = [
            _rotated(full, gradient, m, np.diag(c) if c.ndim == 1 else c)
            for m, c in zip(centres, covariances, strict=True)
        ]
        level = np.array([constant + 0.5 * m @ full @ m + gradient @ m for m in centres])
        law = quadratic_law(level, np.stack([p[0] for p in parts]), np.stack([p[1] for p in parts]), blur)
    mixed = mixed_with_out(law, inclusion)
    return mixed if link is None else linked(mixed, link)


def _polynomial(attack: AbstractAttack, target: np.ndarray, points: np.ndarray):
    """(a point, Hessian as a diagonal (d,) or matrix, gradient and value there, link or None, what `_read_off` needs or None).

    None where the score is no such.
    """
    z = jnp.asarray(target)
    if isinstance(attack, AbstractQuadraticAttack):
        centre, metric = np.asarray(attack.centre(z)), np.asarray(attack.metric(z))
        falls = float(attack.value(z, jnp.asarray(0.0))) > float(attack.value(z, jnp.asarray(1.0)))
        sign, flat = -1.0 if falls else 1.0, np.zeros_like(centre)
        return centre, 2.0 * sign * metric, flat, 0.0, lambda total: attack.value(z, sign * total), None
    if isinstance(attack, ReadLine):
        none = np.zeros_like(attack.slope)
        return none, none, attack.slope, attack.constant, None, None
    if isinstance(attack, ReadParabolas):
        return attack.at, attack.curve, attack.slope, attack.constant, None, None
    if isinstance(attack, AbstractAdditiveAttack):
        if degree_of(lambda output: jnp.sum(attack.contributions(z, output)), jnp.asarray(points[0])) is None:
            return None
        return _parabolas(attack, z, points)
    result = polynomial_of(attack, target, points)
    if result is None:
        return None
    hessian = np.zeros_like(result.gradient) if result.hessian is None else result.hessian
    return result.at, hessian, result.gradient, result.constant, None, None


def _parabolas(attack: AbstractAdditiveAttack, z: jax.Array, points: np.ndarray):
    def terms(output: np.ndarray) -> np.ndarray:
        return np.asarray(attack.contributions(z, jnp.asarray(output)), np.float64)

    # Around the middle of the two worlds, in steps of their spread: no digit is lost to a distant origin.
    middle = points.mean(axis=0)
    width = np.ptp(points, axis=0)
    low, centre, high = (terms(middle + side * width) for side in (-1.0, 0.0, 1.0))
    curve = (high - 2.0 * centre + low) / width**2
    slope = (high - low) / (2.0 * width)
    scale = np.abs(high - centre) + np.abs(low - centre) + 1e-12 * np.abs(centre)
    flat = np.abs(curve) * width**2 <= 1e-13 * scale
    curve = np.where(flat, 0.0, curve)
    for point in points:
        step = point - middle
        expected = centre + step * (slope + 0.5 * curve * step)
        if not (np.abs(terms(point) - expected) <= _CLOSE * scale).all():
            return None
    sizes = np.max(np.abs([low, centre, high]), axis=0)
    off = 16.0 * EPS * sizes + np.where(flat, 1e-13 * scale, 0.0)
    return middle, curve, slope, float(np.sum(centre)), partial(attack.link, z), (off, width)


def _read_off(off: Array, width: Array, away: Array, spread: Array, independent: bool) -> float:
    """What the rounding of three terms that parabolas were read from, at steps of `width`, moves the score by; the larger of both worlds.

    The value, the slope and the curve are off by `off`, off / width and 4 off / width^2, and a step is `away` and spread |Z| long,
    |Z| <= sqrt d + 8.5 for all of Z; where coordinates are not independent each may have all of it.
    """
    radius, result = largest_norm(width.size), []
    for far, sd in zip(away / width, spread / width, strict=True):
        slopes, curves = off * (1.0 + 4.0 * far) * sd, 4.0 * off * sd**2
        steep, wide = (np.linalg.norm(slopes), curves.max()) if independent else (slopes.sum(), curves.sum())
        level = (off * (1.0 + far + 4.0 * far**2)).sum()
        result.append(float(level + steep * radius + wide * radius**2))
    return max(result)


def _rotated(hessian: Array, gradient: Array, mean: Array, covariance: Array) -> tuple[Array, Array]:
    """Slopes and curves of the independent normals that diagonalise L' H L, L L' = covariance."""
    values, vectors = np.linalg.eigh(covariance)
    factor = vectors * np.sqrt(np.clip(values, 0.0, None))
    curves, turn = np.linalg.eigh(factor.T @ hessian @ factor)
    return turn.T @ (factor.T @ (hessian @ mean + gradient)), 0.5 * curves


def _blur(
    at: Array, hessian: Array, gradient: Array, constant: float, centres: Array, covariances: Sequence[Array]
) -> float:
    """How far rounding moves the score as a polynomial of Z, where |Z| <= sqrt d + 8.5; the larger of both worlds.

    The coefficients are products and sums of d terms, right to (d + 32) EPS of the sum of their terms' sizes. Eigenvectors and
    eigenvalues are those of a matrix within 32 d EPS of the norms of its factors (LAPACK's are backward stable). The Hessian, the
    gradient and the value that were read are counted in the same way, as if they had been computed by d terms each; distances from
    the point `at` are right to 4 EPS of their ends.
    """
    d = gradient.size
    diagonal = hessian.ndim == 1 and all(c.ndim == 1 for c in covariances)
    each = EPS * (d + 64.0 if diagonal else 64.0 * d + 64.0)
    radius, result = largest_norm(d), []
    for centre, covariance in zip(centres, covariances, strict=True):
        m, size = np.abs(centre - at), np.abs(hessian)
        off = 4.0 * EPS * (np.abs(centre) + np.abs(at))
        shaken = size * off if hessian.ndim == 1 else size @ off
        pulled = size * m if hessian.ndim == 1 else size @ m
        steep = pulled + np.abs(gradient)
        level = float(steep @ m) + abs(constant)
        if diagonal:
            slope = float(np.linalg.norm(steep * np.sqrt(covariance)))
            curve, widest = float((size * covariance).max()), float(covariance.max())
        else:
            widest = float(covariance.max() if covariance.ndim == 1 else np.linalg.norm(covariance, 2))
            slope = float(np.linalg.norm(steep)) * widest**0.5
            curve = float(size.max() if hessian.ndim == 1 else np.linalg.norm(hessian, 2)) * widest
        moved = float(steep @ off) + float(np.linalg.norm(shaken)) * widest**0.5 * radius
        result.append(each * (level + slope * radius + curve * radius**2) + moved)
    return max(result)
