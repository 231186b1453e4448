"""Renyi divergences of the worlds behind a trade-off function, and the rho of zero-concentrated DP, each between proven bounds.

With P the world "in" and Q the world "out", D_a = log E_Q (dP / dQ)^a / (a - 1). It adds over composed mechanisms, does not decrease
in the order a, and is no larger for a curve that lies above another: a post-processing leads from that to this.

Source: van Erven and Harremoes (2014), "Renyi divergence and Kullback-Leibler divergence", theorems 3, 9 and 28; Blackwell (1953), by
Dong, Roth and Su (2022), "Gaussian differential privacy"; Mironov (2017), "Renyi differential privacy", for Gaussian and Laplace noise.
"""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np
from scipy.special import log_ndtr

from mipsim._budget import check_budget
from mipsim._printed import Bounds
from mipsim._validation import real_array
from mipsim._words import kind_of
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounded import BoundedTradeOff
from mipsim.tradeoff.bounds import EPS
from mipsim.tradeoff.compose import ComposedTradeOff
from mipsim.tradeoff.convex_hull import ConvexHullTradeOff
from mipsim.tradeoff.enclosing import Law, enclosing_laws
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.inverse import InverseTradeOff
from mipsim.tradeoff.laplace import LaplaceTradeOff
from mipsim.tradeoff.mixture import MixtureTradeOff
from mipsim.tradeoff.partition import Corners
from mipsim.tradeoff.points import hull_corners
from mipsim.tradeoff.sampled import SampledTradeOff, around

_GRID = 1.0 + np.geomspace(1e-3, 1e4, 400)  # orders at which rho is looked for, 4% apart
_SAMPLES = 1 << 14  # of a curve of which nothing else is known
_STEP, _RAREST = 0.05, -690.0  # logarithms of delta, at which epsilons are taken
_LARGEST = 700.0  # epsilon
_OUTWARD = 1e-11  # by which corners may miss their place
_WIDE, _FAR, _CELLS = 45.0, 12.0, 1 << 14
"""E-folds around the place where a sub-sampled ratio bends, probits, and cells there."""


def renyi(curve: AbstractTradeOff, orders: object) -> tuple[np.ndarray, np.ndarray]:
    """(lower, upper) bound of D_a at each order a > 1, any shape."""
    wanted = real_array("orders", orders)
    if not (wanted > 1.0).all():
        raise ValueError(f"orders holds {wanted[~(wanted > 1.0)].flat[0]:g}; each must be above 1")
    low, high = _renyi(curve, wanted.ravel())
    return low.reshape(wanted.shape), high.reshape(wanted.shape)


def zcdp(curve: AbstractTradeOff) -> Bounds:
    """(lower, upper) bound of sup over a > 1 of D_a / a.

    Between two orders D is at most that at the larger, and beyond the largest at most the largest loss. A curve above G_mu has
    at most mu^2 / 2, which sub-sampled Gaussian steps reach at large orders: there p^a times the moment of full steps is a lower bound.
    """
    ahead = curve._one_way()
    if ahead is not None:  # the worse of two directions, which are mu-GDP for the same mu
        ends = [zcdp(ahead)] * 2 if _shift(ahead)[1] else [zcdp(ahead), zcdp(ahead.inverse())]
        return max(ends[0][0], ends[1][0]), max(ends[0][1], ends[1][1])
    if curve._sure_mass()[0] > 0.0:
        return math.inf, math.inf
    mu, reached = _shift(curve)
    if reached:
        return 0.5 * mu[0] ** 2 * (1.0 - 16.0 * EPS), 0.5 * mu[1] ** 2 * (1.0 + 16.0 * EPS)
    ceiling = 0.5 * mu[1] ** 2 * (1.0 + 16.0 * EPS)
    if isinstance(curve, ComposedTradeOff):  # it is at most the sum of the parts'
        with suppress(ValueError):
            own = [n * zcdp(part)[1] for n, part in zip(curve.copies, _parts(curve), strict=True)]
            ceiling = min(ceiling, math.fsum(own) * (1.0 + 8.0 * EPS))
    low, high = renyi(curve, _GRID)
    steps = [high[0], *(high[1:] / _GRID[:-1]), curve.largest_loss_bounds()[1] / _GRID[-1]]
    end = min(ceiling, float(max(steps)))
    if math.isinf(end):
        raise ValueError(
            f"the curve {kind_of(curve)} has no rho that is proven: neither its largest loss nor its moments are known to be finite"
        )
    return min(float((low / _GRID).max()), end), end


def curve_of_divergences(orders: np.ndarray, rdp: np.ndarray, pure: float) -> SampledTradeOff:
    """A curve below all whose Renyi divergences at these orders, in both directions, are at most `rdp`,
    or the moments of its losses other than 0, and whose losses are at most `pure`.

    Each order gives an epsilon to each delta. Hockey-stick divergences are convex in e^epsilon, so that the hull of these points bounds
    them. Its edges are the corners of the largest curve with all these promises: their slopes are its FPRs.

    Source: Canonne, Kamath and Steinke (2020), "The discrete Gaussian for differential privacy", proposition 12 of version 4, for epsilon.

    >>> orders = np.array([2.0, 5.0, 20.0, 100.0])
    >>> [round(c.epsilon(1e-5), 3) for c in (curve_of_divergences(orders, orders / 8.0, math.inf), GaussianTradeOff(0.5))]
    [2.857, 1.993]
    """
    per, less = orders - 1.0, np.log1p(-1.0 / orders)
    at_zero = float(np.min(per * (rdp + less) - np.log(orders)))
    log_delta = np.arange(min(max(at_zero, _RAREST + 1.0), 0.0), _RAREST, -_STEP)
    epsilon = np.min(rdp + less - (log_delta[:, None] + np.log(orders)) / per, axis=1)
    epsilon = np.maximum(epsilon, 0.0) * (1.0 + 1e-12) + 1e-12
    epsilon[0], delta = 0.0, np.exp(log_delta) * (1.0 + 1e-12)
    known = epsilon < min(pure, _LARGEST)
    end = ([pure], [0.0]) if pure < _LARGEST else ([], [])
    epsilon, delta = np.append(epsilon[known], end[0]), np.append(np.minimum(delta[known], 1.0), end[1])
    out, inside = np.exp(epsilon[:-1]) * np.expm1(np.diff(epsilon)), -np.diff(delta)
    kept = np.array(hull_corners(out, inside) or [0])
    epsilon, delta = epsilon[kept], delta[kept]
    fpr = np.append(-np.diff(delta) / (np.exp(epsilon[:-1]) * np.expm1(np.diff(epsilon))), 0.0)
    tpr = np.append(delta[:-1] + np.exp(epsilon[:-1]) * fpr[:-1], delta[-1])
    # Both error rates where the curve meets its inverse; at FPRs below it the FNR is above it.
    equal = float(np.max((1.0 - delta) / (1.0 + np.exp(epsilon))))
    before = fpr < equal
    fpr, tpr = np.append(equal, fpr[before]), np.append(1.0 - equal, tpr[before])
    with np.errstate(divide="ignore"):
        missed = np.where(tpr < 0.5, np.log1p(-tpr), np.log(np.maximum(1.0 - tpr - 1e-15, equal)))
        corners = Corners(np.log(fpr), missed, np.where(tpr < 0.5, np.log(tpr), np.log1p(-np.exp(missed))))
    proper = tpr > 0.0  # the other is there already
    turned = Corners(missed[proper], corners.log_fpr[proper], np.log1p(-fpr[proper]))
    return around([corners, turned], _OUTWARD)


def _parts(curve: ComposedTradeOff) -> list[AbstractTradeOff]:
    return [part.inverse() if curve.direction == "inverse" else part for part in curve.curves]


def _shift(curve: AbstractTradeOff) -> tuple[Bounds, bool]:
    """Bounds of a mu for which the curve is mu-GDP, of which only the upper end is proven unless it is reached at large orders."""
    if isinstance(curve, GaussianTradeOff):
        return curve.least_mu_bounds(), True
    if (known := _sub_sampled(curve)) is not None:
        mixture, way = known
        return mixture.inner.least_mu_bounds(), way != "inverse" and mixture.sampling_rate > 0.0
    if isinstance(curve, ComposedTradeOff):
        known = [_shift(part) for part in _parts(curve)]
        low, high = (
            math.sqrt(math.fsum(n * mu[k] ** 2 for n, (mu, _) in zip(curve.copies, known, strict=True)))
            for k in (0, 1)
        )
        return (low * (1.0 - 8.0 * EPS), high * (1.0 + 8.0 * EPS)), all(reached for _, reached in known)
    return (0.0, curve.mu_ceiling()), False


def _renyi(curve: AbstractTradeOff, orders: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    ahead = curve._one_way()
    if ahead is not None:  # the worse of two directions
        ends = _renyi(ahead, orders), _renyi(ahead.inverse(), orders)
        return np.maximum(ends[0][0], ends[1][0]), np.maximum(ends[0][1], ends[1][1])
    if isinstance(curve, ComposedTradeOff):
        parts = [_renyi(part, orders) for part in _parts(curve)]
        low, high = (
            np.sum([n * end[k] for n, end in zip(curve.copies, parts, strict=True)], axis=0) for k in (0, 1)
        )
        off = len(parts) * EPS
    else:
        low, high = _single(curve, orders)
        off = 0.0
    low, high = low * (1.0 - 8.0 * EPS - off), high * (1.0 + 8.0 * EPS + off)
    most = curve.largest_loss_bounds()[1], 0.5 * orders * _shift(curve)[0][1] ** 2 * (1.0 + 8.0 * EPS)
    capped = np.minimum(high, np.minimum(*most))
    return np.maximum(np.minimum(low, capped), 0.0), np.maximum(capped, 0.0)


def _single(curve: AbstractTradeOff, orders: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of a single curve: in closed form, by the integral of a sub-sampled Gaussian shift, or of the laws around it."""
    if isinstance(curve, BoundedTradeOff) and not curve.rounding and not curve.sideways:
        return _renyi(curve.upper, orders)[0], _renyi(curve.lower, orders)[1]
    closed = isinstance(curve, (GaussianTradeOff, LaplaceTradeOff)) or _sub_sampled(curve) is not None
    laws = None if closed else enclosing_laws(curve, _SAMPLES)
    pairs = []
    for order in orders.tolist():
        check_budget()
        pairs.append(_closed(curve, order) if laws is None else _of_laws(laws, order))
    low, high = np.array(pairs).reshape(-1, 2).T
    return low, high


def _closed(curve: AbstractTradeOff, order: float) -> Bounds:
    if isinstance(curve, GaussianTradeOff):
        low, high = (0.5 * order * mu**2 for mu in curve.least_mu_bounds())
        return low, high
    if isinstance(curve, LaplaceTradeOff):
        mu = curve.mu
        log = np.logaddexp(
            math.log(order / (2.0 * order - 1.0)) + (order - 1.0) * mu,
            math.log((order - 1.0) / (2.0 * order - 1.0)) - order * mu,
        )
        return _divided((float(log), float(log)), order, 8.0 * EPS * (order * mu + 2.0))
    known = _sub_sampled(curve)
    assert known is not None
    mixture, way = known
    shift, p = mixture.inner.mu, mixture.sampling_rate  # pyright: ignore[reportAttributeAccessIssue]
    # The larger shift of a rounded mu reveals more.
    ends = [_moment(mu, p, order, way) for mu in mixture.inner.least_mu_bounds() if shift]
    return _divided((ends[0][0], ends[1][1]), order, 0.0) if ends else (0.0, 0.0)


def _of_laws(laws: tuple[Law, Law, float], order: float) -> Bounds:
    below, above, rounding = laws
    ends = []
    for law in (above, below):
        with np.errstate(divide="ignore"):
            log = np.log(law.in_masses) + (order - 1.0) * law.losses
        ends.append(
            math.inf if law.in_only > 0.0 else float(np.logaddexp.reduce(log)) if log.size else -math.inf
        )
    size = float(np.abs(below.losses).max()) if below.losses.size else 0.0
    return _divided((ends[0], ends[1]), order, rounding * (order + 1.0) + 16.0 * EPS * (order * size + 16.0))


def _divided(log: Bounds, order: float, error: float) -> Bounds:
    return (log[0] - error) / (order - 1.0), (log[1] + error) / (order - 1.0)


def _sub_sampled(curve: AbstractTradeOff) -> tuple[MixtureTradeOff, str] | None:
    """The sub-sampled Gaussian shift that a curve is made of, and whether it is it, its inverse, or the hull of both."""
    inner, way = curve, "forward"
    if isinstance(curve, InverseTradeOff):
        inner, way = curve.inner, "inverse"
    elif isinstance(curve, ConvexHullTradeOff) and curve.symmetric and not curve.two_way:
        inner, way = curve.curves[0], "hull"
    if isinstance(inner, MixtureTradeOff) and isinstance(inner.inner, GaussianTradeOff):
        return inner, way
    return None


def _moment(mu: float, p: float, order: float, way: str) -> Bounds:
    """Bounds of log E_Q (dP / dQ)^order of N(0, 1) = Q and p N(mu, 1) + (1 - p) N(0, 1) = P; of the inverse; or of the hull of both.

    The hull has the losses above 0 of both: of P against Q, and these with the worlds exchanged; all else is of the loss 0.
    """
    if way == "forward":
        return _integral(mu, p, order, -math.inf)
    if way == "inverse":
        return _integral(mu, p, 1.0 - order, -math.inf)
    parts = [_integral(mu, p, power, 0.5 * mu) for power in (order, 1.0 - order)]
    gone = [_integral(mu, p, power, 0.5 * mu) for power in (0.0, 1.0)]
    ends = []
    for k in (0, 1):
        rest = max(1.0 - math.exp(gone[0][1 - k]) - math.exp(gone[1][1 - k]), 0.0)
        with np.errstate(divide="ignore"):
            ends.append(float(np.logaddexp.reduce([parts[0][k], parts[1][k], np.log(rest)])))
    return ends[0], ends[1]


def _integral(mu: float, p: float, power: float, start: float) -> Bounds:
    """Bounds of the log of the integral over z > start of phi(z) (1 - p + p e^(mu z - mu^2 / 2))^power.

    The logarithm of the ratio is convex in z, with slopes from 0 to mu. On each cell a chord is above it and a tangent below, and
    phi(z) e^(a + b z) has the integral e^(a + b^2 / 2) (Phi(z_1 - b) - Phi(z_0 - b)). A power below 0 exchanges the two.
    """
    left, right = (math.log1p(-p) if p < 1.0 else -math.inf), math.log(p)
    bend = (left - right) / mu + 0.5 * mu if p < 1.0 else start if math.isfinite(start) else 0.0
    if p < 1.0:  # where it bends, and where more than e^-72 of the integral may be
        low, high = (sign * _FAR + mu * (min, max)[k](power, 0.0) for k, sign in enumerate((-1.0, 1.0)))
        ends = max(bend - _WIDE / mu, low, start), min(bend + _WIDE / mu, high)
        z = (
            np.linspace(*ends, _CELLS + 1)
            if ends[0] < ends[1]
            else np.array([max(ends[1], start + 1.0) if math.isfinite(start) else ends[1]])
        )
        z = z[z > start]
    else:
        z = np.array([bend if bend > start else start + 1.0])
    edges = np.concatenate([[start], z, [math.inf]])

    def ratio(at: np.ndarray) -> np.ndarray:
        return np.logaddexp(left, right + mu * at - 0.5 * mu**2)

    def touching(at: np.ndarray, turned: np.ndarray | float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        steep = mu * np.exp(right + mu * at - 0.5 * mu**2 - ratio(at)) * (1.0 + turned)
        return ratio(at) - steep * at, steep

    # A cell's chord; beyond the last cells the ratio rises, by at most mu.
    value = ratio(z)
    slope = np.diff(value) / np.diff(z)
    chord, tangent = (value[:-1] - slope * z[:-1], slope), touching(0.5 * (z[1:] + z[:-1]))
    above = [(value[0], 0.0), (value[-1] - mu * z[-1], mu)]
    below = [(left, 0.0), (right - 0.5 * mu**2, mu)]  # its asymptotes, of which powers below 0 make too much
    if power < 0.0:  # tangents, turned away from it by more than rounding
        below = [*zip(*touching(z[[0, -1]], np.array([1e-12, -1e-12])), strict=True)]
    if math.isfinite(start):
        below[0] = float(ratio(np.array([start]))[0]), 0.0
    lines = [
        tuple(np.concatenate([[ends[0][k]], cells[k], [ends[1][k]]]) for k in (0, 1))
        for ends, cells in ((below, tangent), (above, chord))
    ]
    result = []
    for (a, b), sign in zip(lines if power >= 0.0 else lines[::-1], (-1.0, 1.0), strict=True):
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            a, b = power * a, power * b
            first_z, second_z = edges[:-1] - b, edges[1:] - b
            right_side = first_z > 0.0
            more, less = (
                log_ndtr(np.where(right_side, -first_z, second_z)),
                log_ndtr(np.where(right_side, -second_z, first_z)),
            )
            gap = np.exp(np.minimum(less - more, 0.0))
            mass = more + np.log1p(-np.minimum(gap, 1.0))
            size = np.abs(np.where(np.isfinite(more), more, 0.0)) + 1.0
            error = (
                16.0
                * EPS
                * (
                    size * (1.0 + 2.0 * gap / np.maximum(1.0 - gap, 1e-300))
                    + np.abs(np.where(np.isfinite(a), a, 0.0))
                    + b**2
                    + 1.0
                )
            )
            terms = a + 0.5 * b**2 + mass
            terms = np.where(np.isnan(terms), -np.inf, terms)
            # A cell too thin for its error has at most all that lies beyond its nearer end.
            terms = np.where(
                gap < 1.0 - 1e-9,
                terms + sign * error,
                -np.inf if sign < 0.0 else a + 0.5 * b**2 + more + error,
            )
        result.append(float(np.logaddexp.reduce(terms)) + sign * 16.0 * EPS * math.log(terms.size + 1.0))
    return result[0], result[1]
