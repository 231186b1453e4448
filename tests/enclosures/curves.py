"""Random curves of the package, each with its truth: families, operations on them, operations on operations."""

# mpmath says little of its types.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false, reportOperatorIssue=false
# pyright: reportIncompatibleMethodOverride=false, reportCallIssue=false, reportIncompatibleVariableOverride=false

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import mipsim as mi
from mipsim.tradeoff import AbstractTradeOff, CurveBounds
from mipsim.tradeoff.stochastic import stochastic_composition

from .truth import (
    Atoms,
    FoldedLaplace,
    Gaussian,
    Hull,
    Laplace,
    Magnitude,
    Mixed,
    Split,
    Times,
    Truth,
    guarantees,
    mp,
    mpf,
    power_of_pair,
    response,
)

Rng = np.random.Generator


SURE_MASSES = [1e-300, 1e-100, 1e-30, 1e-16, 1e-12, 1e-9, 3e-8, 1e-5, 0.1, 0.7, 1 - 1e-9, 1 - 2**-53, 1.0]


class Case(NamedTuple):
    """A curve, what is true of it, and how it was made."""

    curve: AbstractTradeOff
    truth: Truth
    words: str


class Walk(AbstractTradeOff):
    """A polygon of a user's own, which need not be convex and says nothing of its corners; in long doubles, from both ends."""

    truth: Atoms

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        x = np.asarray(log_fpr, np.longdouble)
        fpr, tnr, fnr, tpr = (
            np.array([as_long(v) for v in side])
            for side in (self.truth.fpr, self.truth.tnr, self.truth.fnr, self.truth.tpr)
        )
        out, inside = np.array([[as_long(v) for v in mass] for mass in self.truth.masses]).T
        a, c = np.exp(x), -np.expm1(x)
        left = a <= 0.5
        at = np.where(
            left,
            np.searchsorted(fpr[1:], a, side="right"),
            tnr.size - 1 - np.searchsorted(tnr[:0:-1], c, side="left"),
        )
        over = at >= out.size
        at = np.minimum(at, out.size - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            done = np.where(left, a - fpr[at], tnr[at] - c) / out[at]
            rest = np.where(left, fpr[at + 1] - a, c - tnr[at + 1]) / out[at]
            b, t = fnr[at + 1] + rest * inside[at], tpr[at] + done * inside[at]
            b, t = np.where(over, 0.0, b), np.where(over, 1.0, t)
            logs = np.where(b < 0.5, np.log(b), np.log1p(-t)), np.where(t < 0.5, np.log(t), np.log1p(-b))
            first = (x < -700.0) & (fpr[at] == 0.0) & (tpr[at] == 0.0)
            logs = (
                np.where(first, 0.0, logs[0]),
                np.where(first, x + np.log(inside[at]) - np.log(out[at]), logs[1]),
            )
        # The differences lose what they have in common; half a millionth of a bit is ample for the rest.
        return CurveBounds.of_logs(*(np.minimum(v, 0.0).astype(np.float64) for v in logs), 64.0)


def as_long(value: mpf) -> np.longdouble:
    """To the nearest long double, as far as two floats reach; below 1e-300 scaled."""
    if value == 0:
        return np.longdouble(0.0)
    power = int(mp.floor(mp.log(value, 2)))
    scaled = value / mpf(2) ** power
    high = float(scaled)
    return np.ldexp(np.longdouble(high) + np.longdouble(float(scaled - mpf(high))), power)


class Between(AbstractTradeOff):
    """A convex curve of which is known only that it lies between two."""

    below: AbstractTradeOff
    above: AbstractTradeOff

    def is_convex(self) -> bool:
        return True

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        low, high = self.below.enclosure(log_fpr), self.above.enclosure(log_fpr)
        return CurveBounds(low.log_fnr_low, high.log_fnr_high, high.log_tpr_low, low.log_tpr_high)


class Hidden(AbstractTradeOff):
    """A curve whose class nobody knows, so that no closed form of an operation applies."""

    inner: AbstractTradeOff

    def is_convex(self) -> bool:
        return self.inner.is_convex()

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        return self.inner.enclosure(log_fpr)


def walk(rng: Rng, steps: int | None = None) -> Case:
    """A polygon in random order, some of its masses of any magnitude down to 1e-300."""
    n = int(rng.integers(2, 7)) if steps is None else steps
    masses = 10.0 ** np.where(
        rng.random((2, n)) < 0.25, -rng.uniform(0, 300, (2, n)), -rng.uniform(0, 2, (2, n))
    )
    masses *= rng.random((2, n)) > 0.1
    masses[:, 0] = np.maximum(masses[:, 0], 0.05)
    truth = Atoms([(mpf(o) / mp.fsum(masses[0]), mpf(i) / mp.fsum(masses[1])) for o, i in masses.T.tolist()])
    return Case(Walk(truth), truth, f"walk {masses.tolist()}")


def gaussian(rng: Rng) -> Case:
    mu = float(rng.choice([0.0, 1e-300, 1e-8, 0.01, 0.3, 1.0, 2.5, 8.0, 40.0, 1000.0]))
    return Case(mi.GaussianTradeOff(mu), Gaussian(mu), f"Gaussian({mu})")


def mild_gaussian(rng: Rng) -> Case:
    mu = float(rng.uniform(0.05, 4.0))
    return Case(mi.GaussianTradeOff(mu), Gaussian(mu), f"Gaussian({mu})")


def laplace(rng: Rng) -> Case:
    mu = float(rng.choice([0.0, 1e-9, 0.1, 1.0, 5.0, 30.0, 300.0]) * rng.uniform(0.5, 1.0))
    return Case(mi.LaplaceTradeOff(mu), Laplace(mu), f"Laplace({mu})")


def folded(rng: Rng) -> Case:
    mu = float(rng.uniform(0.1, 4.0))
    return Case(mi.FoldedLaplaceTradeOff(mu), FoldedLaplace(mu), f"FoldedLaplace({mu})")


def magnitude(rng: Rng) -> Case:
    mu = float(rng.uniform(0.2, 5.0))
    curve, truth = mi.NoncentralChiSquareTradeOff(1.0, 0.0, mu * mu), Magnitude(mp.sqrt(mpf(mu * mu)))
    return Case(curve, truth, f"Magnitude({mu})")


def approx_dp(rng: Rng) -> Case:
    epsilon = float(rng.choice([0.0, 1e-12, 0.1, 1.0, 5.0, 50.0, 600.0]) * rng.uniform(0.5, 1.0))
    delta = float(rng.choice([0.0, 0.0, 0.0, *SURE_MASSES]))
    return Case(
        mi.ApproxDPTradeOff(epsilon, delta), response(epsilon, delta), f"ApproxDP({epsilon}, {delta})"
    )


def polygon(rng: Rng) -> Case:
    """Corners that are floats, convex to the last bit: slopes that fall by much."""
    n = int(rng.integers(1, 6))
    slopes = np.sort(10.0 ** rng.uniform(-3.0, 3.0, n))[::-1]
    out = 2.0 ** -rng.integers(1, 40, n).astype(float)
    inside = slopes * out
    scale = 2.0 ** np.ceil(np.log2(max(out.sum(), inside.sum(), 1e-12)) + 1)
    alpha, beta = (
        np.concatenate([[0.0], np.cumsum(out / scale)]),
        1.0 - np.concatenate([[0.0], np.cumsum(inside / scale)]),
    )
    alpha, beta = np.append(alpha, 1.0), np.append(beta, 0.0)
    try:
        curve = mi.PiecewiseLinearTradeOff(alpha, beta)
    except ValueError:
        return polygon(rng)
    return Case(
        curve,
        Atoms.through(alpha.tolist(), beta.tolist()).hull(),
        f"polygon {alpha.tolist()} {beta.tolist()}",
    )


def between(rng: Rng) -> Case:
    """Known to some per cent; the truth is either end, or between."""
    mu, width = float(rng.uniform(0.2, 3.0)), float(10.0 ** -rng.uniform(1.0, 6.0))
    share = float(rng.choice([-1.0, 1.0, rng.uniform(-1, 1)]))
    true = mu * (1 + 0.999 * share * width)
    curve = Between(mi.GaussianTradeOff(mu * (1 + width)), mi.GaussianTradeOff(mu * (1 - width)))
    return Case(curve, Gaussian(true), f"between Gaussian({mu} +- {width}), in truth {true}")


def hidden(rng: Rng) -> Case:
    case = [mild_gaussian, laplace, folded, approx_dp][int(rng.integers(4))](rng)
    return Case(Hidden(case.curve), case.truth, f"hidden {case.words}")


SMOOTH: list[Callable[[Rng], Case]] = [gaussian, mild_gaussian, laplace, folded, magnitude, between, hidden]
POLYGONS: list[Callable[[Rng], Case]] = [approx_dp, polygon]
FAMILIES = [*SMOOTH, *POLYGONS]


def choice_of(rng: Rng, kinds: list[Callable[[Rng], Case]]) -> Case:
    return kinds[int(rng.integers(len(kinds)))](rng)


def weights(rng: Rng, size: int) -> list[float]:
    """Whole 64ths, so that they sum to 1 exactly."""
    cuts = np.sort(rng.integers(0, 65, size - 1))
    return (np.diff(np.concatenate([[0], cuts, [64]])) / 64.0).tolist()


def rate_of_sampling(rng: Rng) -> float:
    return float(rng.choice([0.0, 1.0, 1e-4, 0.01, 0.3, 0.5, float(rng.random())]))


def hull(*truths: Truth) -> Truth:
    if all(isinstance(t, Atoms) for t in truths):
        return truths[0].hull(*truths[1:])  # type: ignore[union-attr]
    return Hull(*truths)


def mixed(truth: Truth, p: float) -> Truth:
    return truth.mixed(p) if isinstance(truth, Atoms) else Mixed(truth, p)


def split(truths: list[Truth], shares: list[float]) -> Truth:
    if all(isinstance(t, Atoms) for t in truths):
        return Atoms.optimal(
            [(mpf(w) * o, mpf(w) * i) for t, w in zip(truths, shares, strict=True) for o, i in t.masses]
        )  # type: ignore[union-attr]
    return Split(truths, shares)


def operated(rng: Rng, base: Case, other: Callable[[Rng], Case], *, convex: bool = True) -> Case:
    """A single operation on a curve, some with a second curve."""
    names = ["inverse", "symmetrized", "convexified", "subsampled", "mixture", "convex_hull"]
    if convex:
        names += ["stochastic_composition"]
    name = str(rng.choice(names))
    curve, truth, words = base
    if name == "inverse":
        return Case(curve.inverse(), truth.reversed, f"inverse of ({words})")
    if name == "symmetrized":
        return Case(curve.symmetrized(), hull(truth, truth.reversed), f"symmetrized ({words})")
    if name == "convexified":
        return Case(curve.convexified(), truth if convex else hull(truth), f"convexified ({words})")
    if name in ("subsampled", "mixture"):
        p = rate_of_sampling(rng)
        part = mixed(truth, p)
        if name == "mixture":
            return Case(mi.MixtureTradeOff(curve, p), part, f"{p} of ({words})")
        return Case(curve.subsampled(p), hull(part, part.reversed), f"subsampled at {p} ({words})")
    more = other(rng)
    both, shares = [truth, more.truth], weights(rng, 2)
    words = f"{name} of ({words}) and ({more.words})"
    if name == "convex_hull":
        return Case(mi.convex_hull(curve, more.curve), hull(*both), words)
    words += f" at {shares}"
    return Case(stochastic_composition([curve, more.curve], shares), split(both, shares), words)


def guaranteed(delta: float, copies: int, mu: float, epsilon: float = 0.1, accuracy: float = 1e-6) -> Case:
    """Guarantees and a Gaussian mechanism: a sum of losses with a mass that surely reveals the world."""
    steps = mi.ApproxDPTradeOff(epsilon, delta), mi.GaussianTradeOff(mu)
    curve = mi.compose(*steps, copies=[copies, 1], accuracy=accuracy)
    truth = Times(guarantees(epsilon, delta, copies), mu)
    return Case(curve, truth, f"{copies} x ApproxDP({epsilon}, {delta}) x Gaussian({mu})")


def compositions(rng: Rng) -> Case:
    """A composition whose truth is exact: of polygons, or of Gaussians whose class is hidden."""
    kind = int(rng.integers(4))
    if kind == 3:
        return guaranteed(
            float(rng.choice(SURE_MASSES[:-1])),
            int(rng.integers(1, 6)),
            float(rng.uniform(0.05, 3.0)),
            rng.random(),
        )
    if kind == 0:
        first, second = choice_of(rng, POLYGONS), choice_of(rng, POLYGONS)
        truth = first.truth.times(second.truth)  # type: ignore[attr-defined]
        return Case(mi.compose(first.curve, second.curve), truth, f"({first.words}) x ({second.words})")
    steps = int(10 ** rng.uniform(0, 5 if kind == 1 else 4))
    if kind == 1:
        mu = float(rng.uniform(0.05, 6.0)) / steps**0.5
        return Case(
            mi.compose(Hidden(mi.GaussianTradeOff(mu)), copies=steps),
            Gaussian(mpf(mu) * mp.sqrt(steps)),
            f"{steps} x hidden Gaussian({mu})",
        )
    epsilon, p = float(10 ** rng.uniform(-1, 1)) / steps**0.5, float(10 ** rng.uniform(-4, 0))
    pair = response(epsilon).mixed(p)
    (o, i), *_ = pair.masses
    curve = mi.MixtureTradeOff(mi.ApproxDPTradeOff(epsilon), p)
    return Case(
        mi.compose(curve, copies=steps), power_of_pair(o, i, steps), f"{steps} x {p} of ApproxDP({epsilon})"
    )
