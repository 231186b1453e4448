"""True statements in closed form, and the same damaged in a small part of their domain."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

import mipsim as mi
from mipsim import referee as rf
from mipsim.tradeoff import AbstractTradeOff, CurveBounds, bounds_from_rates

EXCESS = 1.05
"""Where a statement is damaged the truth is what a claim of 5% more leakage would be."""

G = mi.GaussianTradeOff
SIDES, LAWS = rf.Choice("add", "remove"), rf.Choice("Gaussian", "Bernoulli", "uniform", "exponential")
Formula = Callable[..., Any]


@dataclass(frozen=True)
class Base:
    """A true statement."""

    says: str  # in words
    domain: Mapping[str, Any]  # its parameters
    claimed: Formula  # called as claimed(factor, **point): the claim with the leakage multiplied by `factor`
    truth: Formula | None = None  # called as truth(**point); None: the claim itself
    kind: Any = rf.Bound()  # noqa: RUF009
    where: Formula | None = None  # assumptions


@dataclass(frozen=True)
class Defect:
    """A damaged base: `region(**point)` says where, or `truth` is what stands in the place of the truth everywhere."""

    name: str
    base: str
    region: Formula | None = None
    truth: Formula | None = None


class Leaky(AbstractTradeOff):
    """With probability `gamma` the output shows its world, else it is G_mu: seen at rare rates only."""

    mu: float
    gamma: float

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        """Proven bounds at logarithms of FPRs."""
        return bounds_from_rates(self._rates, log_fpr)

    def _rates(self, fpr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        fnr, tpr = G(self.mu).beta(fpr), G(self.mu).tpr_at(fpr)
        return (1.0 - self.gamma) * fnr, self.gamma + (1.0 - self.gamma) * tpr

    def is_convex(self) -> bool:
        """True: it is the curve of a best test."""
        return True


def _mean(factor: float, n: int, d: int, z: float, **_: Any) -> AbstractTradeOff:
    return G(factor * abs(z) * math.sqrt(d / n))


def _amplified(epsilon: float, q: float) -> float:
    return math.log1p(q * math.expm1(epsilon))


def _gauss_delta(mu: float, epsilon: float) -> float:
    return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu))


SHIFT = {
    "s": rf.Real(-2.0, 2.0),
    "sigma": rf.Real(0.05, 20.0, log=True),
    "n": rf.Whole(1, 1_000_000, log=True),
}
MEAN = {
    "n": rf.Whole(1, 1_000_000), "d": rf.Whole(1, 1000), "z": rf.Real(-3.0, 3.0), "rho": rf.Real(0.0, 1.0),
    "p": rf.Real(0.01, 0.99), "law": LAWS, "side": SIDES, "fixed": rf.Choice(True, False),
}  # fmt: skip
RATIOS = {"r1": rf.Real(0.01, 1.0, log=True), "r2": rf.Real(0.01, 1.0, log=True), "side": SIDES}
EPSILON = {"epsilon": rf.Real(0.01, 8.0), "q": rf.Real(0.0, 1.0), "side": SIDES}
CUBE = {
    "x": rf.Real(0.0, 1.0),
    "y": rf.Real(0.0, 1.0),
    "w": rf.Real(0.0, 1.0),
    "mu": rf.Real(0.1, 3.0),
    "law": LAWS,
}
STEPS = {"mu": rf.Real(0.01, 1.0), "T": rf.Whole(1, 1000), "q": rf.Real(0.001, 1.0, log=True), "law": LAWS}

BASES: dict[str, Base] = {
    "shift": Base("A shift s in noise sigma is (|s| / sigma)-GDP.", SHIFT | {"side": SIDES}, lambda f, s, sigma, **_: G(f * abs(s) / sigma)),
    "mean": Base("The mean is (|z| sqrt(d / n))-GDP.", MEAN, _mean),
    "equal": Base("The mean has the curve G_mu exactly.", MEAN, _mean, kind=rf.Equality(), where=lambda z, n, d: abs(z) * math.sqrt(d / n) > 0.01),
    "two": Base("Two releases compose to hypot(r1, r2).", RATIOS, lambda f, r1, r2, **_: G(f * math.hypot(r1, r2))),
    "triangle": Base("hypot(r1, r2) <= r1 + r2.", RATIOS, lambda f, r1, r2, **_: f * (r1 + r2), lambda r1, r2, **_: math.hypot(r1, r2)),
    "pure": Base("Laplace noise is (epsilon, 0)-DP.", EPSILON, lambda f, epsilon, **_: mi.ApproxDPTradeOff(f * epsilon, 0.0), lambda epsilon, **_: mi.LaplaceTradeOff(epsilon)),
    "amplified": Base("log(1 + q (e^epsilon - 1)) <= epsilon.", EPSILON, lambda f, epsilon, **_: f * epsilon, lambda epsilon, q, **_: _amplified(epsilon, q)),
    "advantage": Base("The advantage of G_mu is at most mu / sqrt(2 pi).", CUBE, lambda f, mu, **_: f * mu / math.sqrt(2 * math.pi), lambda mu, **_: 2 * ndtr(mu / 2) - 1),
    "tight": Base("The advantage of (epsilon, 0)-DP is tanh(epsilon / 2).", EPSILON, lambda f, epsilon, **_: f * math.tanh(epsilon / 2), kind=rf.Equality()),
    "delta": Base("delta(epsilon) of G_mu is at most Phi(mu / 2 - epsilon / mu).", EPSILON | {"mu": rf.Real(0.1, 4.0)}, lambda f, epsilon, mu, **_: f * float(ndtr(mu / 2 - epsilon / mu)), lambda epsilon, mu, **_: _gauss_delta(mu, epsilon)),
    "cube": Base("Whatever x, y and w are, the curve is G_mu.", CUBE, lambda f, mu, **_: G(f * mu), kind=rf.Equality()),
    "processed": Base("Post-processing with correlation x leaves at most G_mu.", CUBE, lambda f, mu, **_: G(f * mu), lambda mu, x, **_: G(mu * x), kind=rf.Ordering()),
    "steps": Base("T steps of mu-GDP are (sqrt(T) mu)-GDP.", STEPS, lambda f, mu, T, **_: G(f * math.sqrt(T) * mu)),
    "group": Base("A group of T has at most T times the mu.", STEPS, lambda f, mu, T, **_: f * T * mu, lambda mu, T, **_: math.sqrt(T) * mu),
    "rare": Base("It is (1.02 mu)-GDP at every FPR.", CUBE, lambda f, mu, **_: G(1.02 * f * mu), lambda mu, **_: G(mu)),
    "clipped": Base("Sampling T of 1000 steps at rate q leaks at most G_mu.", STEPS, lambda f, mu, **_: G(f * mu), lambda mu, q, **_: G(mu * q)),
}  # fmt: skip

DEFECTS: tuple[Defect, ...] = (
    Defect("only for d < 3", "mean", lambda d, **_: d < 3),
    Defect("only below alpha = 1e-4", "rare", truth=lambda mu, law, **_: Leaky(mu, 1e-6) if law == "uniform" else G(mu)),
    Defect("only where two ratios differ much", "two", lambda r1, r2, **_: max(r1, r2) > 50 * min(r1, r2)),
    Defect("only for skewed data", "mean", lambda p, law, **_: law == "Bernoulli" and p < 0.05),
    Defect("only for negative shifts of a single side", "shift", lambda s, side, **_: s < -1.5 and side == "remove"),
    Defect("a single adjacency, few records", "shift", lambda n, side, **_: side == "remove" and n < 4),
    Defect("at the upper end of a range", "shift", lambda sigma, **_: sigma > 19.5),
    Defect("at the lower end of a range, negative", "shift", lambda s, sigma, **_: sigma < 0.0505 and s < 0),
    Defect("in a single categorical cell of sixteen", "mean", lambda law, side, fixed, **_: law == "exponential" and side == "remove" and not fixed),
    Defect("for n beyond 1e5, d < 3", "mean", lambda n, d, **_: n > 100_000 and d < 3),
    Defect("at n = 1e6 alone", "equal", lambda n, **_: n == 1_000_000),
    Defect("for n < 10 on a linear scale", "equal", lambda n, **_: n < 10),
    Defect("sub-sampling below 1%", "equal", lambda rho, side, **_: rho < 0.01 and side == "remove"),
    Defect("at q = 1 exactly", "amplified", lambda q, **_: q == 1.0),
    Defect("in a band of epsilon", "tight", lambda epsilon, side, **_: 3.0 < epsilon < 3.1 and side == "remove"),
    Defect("in a box of 1% of the cube", "cube", lambda x, y, w, **_: max(abs(x - 0.3), abs(y - 0.7), abs(w - 0.4)) < 0.11),
    Defect("a bump that has to be climbed", "cube", truth=lambda mu, x, y, w, **_: G(mu * (1 + 0.06 * math.exp(-20 * ((x - 0.35) ** 2 + (y - 0.62) ** 2 + (w - 0.81) ** 2)) - 0.02))),
    Defect("a ridge along x = y", "processed", truth=lambda mu, x, y, **_: G(mu * (1.02 - 2.0 * abs(x - y)) if abs(x - y) < 0.4 else 0.0)),
    Defect("for a single step", "group", lambda T, **_: T == 1),
    Defect("many steps at a small rate", "steps", lambda T, q, **_: T > 990 and q < 0.0011),
    Defect("a small mu, a single law", "cube", lambda mu, law, **_: mu < 0.105 and law == "exponential"),
    Defect("pure DP at a large epsilon", "pure", lambda epsilon, side, **_: epsilon > 7.9 and side == "remove"),
    Defect("a small mu and a large epsilon", "delta", lambda epsilon, mu, **_: mu > 3.9 and epsilon < 0.05),
    Defect("a triangle at both small ends", "triangle", lambda r1, r2, **_: r1 < 0.0102 and r2 < 0.0102),
)  # fmt: skip


def true_statement(name: str) -> rf.Statement:
    """A base as a statement.
    >>> true_statement("two").kind
    Bound(unit='number', floor=1e-09)
    """
    base = BASES[name]
    return _statement(name, base, base.truth or (lambda **at: base.claimed(1.0, **at)))


def damaged_statement(defect: Defect) -> rf.Statement:
    """A base with its defect as a statement.
    >>> len(DEFECTS) >= 20 and len(BASES) >= 15
    True
    >>> damaged_statement(DEFECTS[0]).name
    'only-for-d-3'
    """
    base = BASES[defect.base]
    whole = base.truth or (lambda **at: base.claimed(1.0, **at))

    def truth(**at: Any) -> Any:
        if defect.truth is not None:
            return defect.truth(**at)
        assert defect.region is not None
        return base.claimed(EXCESS, **at) if defect.region(**at) else whole(**at)

    name = "-".join("".join(c if c.isalnum() else " " for c in defect.name).split())
    return _statement(name, base, truth)


def _statement(name: str, base: Base, truth: Formula) -> rf.Statement:
    return rf.Statement(
        name=name,
        says=base.says,
        source="planted",
        kind=base.kind,
        domain=base.domain,
        claimed=lambda **at: base.claimed(1.0, **at),
        truth=truth,
        where=base.where,
    )
