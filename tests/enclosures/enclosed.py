"""Every number of a curve held against a truth: which of them do not enclose it."""

# mpmath says little of its types.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false, reportOperatorIssue=false
# pyright: reportIncompatibleMethodOverride=false, reportCallIssue=false, reportIncompatibleVariableOverride=false

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mipsim.tradeoff import AbstractTradeOff

from .truth import Atoms, Gaussian, Truth, mp, mpf


@dataclass
class Queries:
    """At what a curve is read; each an array, any may be empty."""

    log_fpr: np.ndarray
    alpha: np.ndarray
    epsilon: np.ndarray
    delta: np.ndarray
    log_delta: np.ndarray
    prior: np.ndarray
    numbers: Sequence[str] = ("advantage", "eta", "auc", "least_mu")

    @classmethod
    def sampled(
        cls, rng: np.random.Generator, size: int = 4, most_epsilon: float = 1000.0, **how: Any
    ) -> Queries:
        """`size` of each over all magnitudes, and the edges."""
        rare = 10.0 ** -rng.uniform(0.0, 30.0, size)
        alpha = [
            *rng.random(size),
            *rare,
            *1.0 - 10.0 ** -rng.uniform(0.0, 15.0, size),
            10.0 ** -rng.uniform(30, 323),
            0.0,
            1.0,
            5e-324,
        ]
        epsilon = [
            0.0,
            *rng.uniform(0.0, 3.0, size),
            *10.0 ** rng.uniform(-3.0, np.log10(most_epsilon), size),
        ]
        delta = [*10.0 ** -rng.uniform(0.0, 30.0, size), *rng.random(size), 0.0, 1.0]
        return cls(
            np.array(
                [
                    -np.inf,
                    0.0,
                    *-(10.0 ** rng.uniform(-20.0, 3.5, size)),
                    -(10.0 ** rng.uniform(-320.0, -20.0)),
                    -(10.0 ** rng.uniform(3.5, 15.0)),
                ]
            ),
            np.array(alpha),
            np.array(epsilon),
            np.array(delta),
            -(10.0 ** rng.uniform(-1.0, 3.3, size)),
            np.array([0.0, 1.0, 0.5, *rng.random(size), 10.0 ** -rng.uniform(1, 300)]),
            **how,
        )

    @classmethod
    def at(
        cls,
        epsilon: Sequence[float] = (),
        delta: Sequence[float] = (),
        alpha: Sequence[float] = (),
        numbers: Sequence[str] = ("advantage",),
    ) -> Queries:
        none = np.array([])
        return cls(none, np.array(alpha), np.array(epsilon), np.array(delta), none, none, numbers)


@dataclass
class Held:
    """What was seen: the misses, and each pair of bounds for the widths."""

    misses: list[str] = field(default_factory=list)
    bounds: dict[tuple[str, float], tuple[float, float]] = field(default_factory=dict)
    slack: Any = 0
    rounding: Any = 0

    def check(self, name: str, at: float, bounds: Any, truth: mpf | Callable[[], mpf]) -> None:
        low, high = (float(end) for end in bounds)
        self.bounds[name, at] = low, high
        value = truth() if callable(truth) else truth
        if not (low <= high):
            self.misses.append(f"{name}({at!r}): the bounds are [{low!r}, {high!r}]")
        elif (value < low - abs(value) * self.slack - self.rounding) or (
            value > high + abs(value) * self.slack + self.rounding
        ):
            self.misses.append(f"{name}({at!r}): [{low!r}, {high!r}] misses {mp.nstr(value, 20)}")

    def safe(self, name: str, at: float, plain: Any, end: float, value: mpf | None = None) -> None:
        """A plain number is the end of the bounds, or as near as a curve that refines itself between two calls has it."""
        x = float(plain)
        near = x == end or abs(x - end) <= 0.02 * abs(end) + 1e-100
        sure = value is None or x == end
        if value is not None:  # known to `slack` of itself
            off = abs(value) * self.slack + self.rounding
            sure = sure or (x >= value - off if name not in ("beta", "bayes_risk") else x <= value + off)
        if not (near and sure):
            self.misses.append(f"{name}({at!r}) is {plain!r}, not its safe end {end!r}")


def hold(curve: AbstractTradeOff, truth: Truth, queries: Queries) -> Held:
    """Read everything and hold it against the truth."""
    held = Held(slack=truth.slack, rounding=truth.rounding)
    for part in (_points, _transforms, _numbers):
        part(curve, truth, queries, held)
    return held


def misses(curve: AbstractTradeOff, truth: Truth, queries: Queries) -> list[str]:
    return hold(curve, truth, queries).misses


def _log(value: mpf) -> mpf:
    return mp.log(value) if value > 0 else -mp.inf


def _points(curve: AbstractTradeOff, truth: Truth, queries: Queries, held: Held) -> None:
    if queries.log_fpr.size:
        result = curve.enclosure(queries.log_fpr)
        for k, x in enumerate(queries.log_fpr.tolist()):
            a = (mp.exp(mpf(x)), -mp.expm1(mpf(x))) if x > -math.inf else (mpf(0), mpf(1))
            fnr, tpr = truth.curve(a)
            # A relative error of a rate is an absolute error of its logarithm; near rate 1 that is the complement's.
            for name, low, high, value, other in (
                ("log FNR", result.log_fnr_low[k], result.log_fnr_high[k], fnr, tpr),
                ("log TPR", result.log_tpr_low[k], result.log_tpr_high[k], tpr, fnr),
            ):
                near = _log(value) if value < 0.5 else mp.log1p(-other)
                allowed = held.slack * (1 if value < 0.5 else 2 * other)
                unknown = mp.exp(-truth.reach)
                if not (low - allowed <= near <= high + allowed) and not (
                    truth.reach < 1e6 and mp.exp(mpf(low)) - unknown <= value <= mp.exp(mpf(high)) + unknown
                ):
                    held.misses.append(
                        f"{name} at log FPR {x!r}: [{low!r}, {high!r}] misses {mp.nstr(near, 20)}"
                    )
    if queries.alpha.size:
        beta, tpr = curve.beta_bounds(queries.alpha), curve.tpr_bounds(queries.alpha)
        plain = curve.beta(queries.alpha), curve.tpr_at(queries.alpha)
        for k, a in enumerate(queries.alpha.tolist()):
            b, t = truth.curve((mpf(a), 1 - mpf(a)))
            held.check("beta", a, (beta[0][k], beta[1][k]), b)
            held.check("tpr", a, (tpr[0][k], tpr[1][k]), t)
            held.safe("beta", a, plain[0][k], float(beta[0][k]), b)
            held.safe("tpr_at", a, plain[1][k], float(tpr[1][k]), t)


def _transforms(curve: AbstractTradeOff, truth: Truth, queries: Queries, held: Held) -> None:
    if queries.epsilon.size:
        low, high = curve.delta_bounds(queries.epsilon)
        log_low, log_high = curve.log_delta_bounds(queries.epsilon)
        plain = curve.delta(queries.epsilon)
        for k, e in enumerate(queries.epsilon.tolist()):
            value = max(mpf(0), truth.hockey(mpf(e)))
            held.check("delta", e, (low[k], high[k]), value)
            held.safe("delta", e, plain[k], float(high[k]), value)
            held.bounds["log delta", e] = float(log_low[k]), float(log_high[k])
            if (
                not (log_low[k] - held.slack <= _log(value) <= log_high[k] + held.slack)
                and value > held.rounding
            ):
                held.misses.append(
                    f"log delta({e!r}): [{log_low[k]!r}, {log_high[k]!r}] misses {mp.nstr(_log(value), 20)}"
                )
    for name, wanted, ask in (
        ("epsilon", queries.delta, lambda d: curve.epsilon_bounds(d)),
        ("epsilon of log delta", queries.log_delta, lambda d: curve.epsilon_bounds(log_delta=d)),
    ):
        if not wanted.size:
            continue
        low, high = ask(wanted)
        for k, d in enumerate(wanted.tolist()):
            delta = mpf(d) if name == "epsilon" else mp.exp(mpf(d))
            held.bounds[name, d] = float(low[k]), float(high[k])
            held.misses += [
                f"{name}({d!r}): [{low[k]!r}, {high[k]!r}] {why}"
                for why in _off(truth, delta, float(low[k]), float(high[k]))
            ]
    if queries.delta.size:
        plain, (_, high) = curve.epsilon(queries.delta), curve.epsilon_bounds(queries.delta)
        for k, d in enumerate(queries.delta.tolist()):
            held.safe("epsilon", d, plain[k], float(high[k]))
    if queries.prior.size:
        low, high = curve.bayes_risk_bounds(queries.prior)
        plain = curve.bayes_risk(queries.prior)
        for k, p in enumerate(queries.prior.tolist()):
            held.check("Bayes risk", p, (low[k], high[k]), truth.risk(mpf(p)))
            held.safe("bayes_risk", p, plain[k], float(low[k]), truth.risk(mpf(p)))


def _off(truth: Truth, delta: mpf, low: float, high: float) -> Iterator[str]:
    """Epsilon is at most e where delta(e) is at most delta: no root is needed."""
    if not (0.0 <= low <= high):
        yield "is no interval"
        return
    if (
        low > 0.0
        and (e := truth.hockey(mpf(min(low, truth.reach)))) < delta * (1 - truth.slack) - truth.rounding
    ):
        yield f"lies too high: delta at its lower end is {mp.nstr(e, 15)}"
    if low > 0.0 and delta >= 1:
        yield "lies too high"
    if high < math.inf and (e := truth.hockey(mpf(high))) > delta * (1 + truth.slack) + truth.rounding:
        yield f"lies too low: delta at its upper end is {mp.nstr(e, 15)}"


def _numbers(curve: AbstractTradeOff, truth: Truth, queries: Queries, held: Held) -> None:
    for name in queries.numbers:
        bounds = tuple(map(float, getattr(curve, f"{name}_bounds")()))
        if name in ("advantage", "eta"):
            held.check(
                name, math.nan, bounds, truth.hockey(mpf(0)) * (1 if name == "advantage" else mpf(1) / 2)
            )
        elif name == "auc":
            below, above = auc_between(truth)
            if bounds[1] < below or bounds[0] > above:
                held.misses.append(f"auc: {bounds!r} misses [{mp.nstr(below, 17)}, {mp.nstr(above, 17)}]")
            held.bounds[name, math.nan] = bounds
        else:
            least = truth.least_mu()
            held.check(
                name, math.nan, bounds if truth.least_mu_is_exact else (min(bounds[0], 0.0), bounds[1]), least
            )
        held.safe(name, math.nan, getattr(curve, name)(), bounds[1])


def auc_between(truth: Truth) -> tuple[mpf, mpf]:
    """The area under the ROC curve: exact, or between midpoints and chords (which enclose a convex curve's)."""
    if isinstance(truth, Atoms):
        return truth.auc(), truth.auc()
    if isinstance(truth, Gaussian):
        exact = 1 - mp.erfc(truth.mu / 2) / 2
        return exact, exact
    grid = [mpf(u) / 4 for u in range(-100, 101)]
    rates = [(mpf(0), mpf(1)), *((1 / (1 + mp.exp(-u)), 1 / (1 + mp.exp(u))) for u in grid), (mpf(1), mpf(0))]
    chords = tangents = mpf(0)
    ends = [truth.curve(r)[0] for r in rates]
    for k, (r, q) in enumerate(itertools.pairwise(rates)):
        width = q[0] - r[0] if r[0] < 0.5 else r[1] - q[1]
        middle = (r[0] + q[0]) / 2, (r[1] + q[1]) / 2
        chords += width * (ends[k] + ends[k + 1]) / 2
        tangents += width * truth.curve(middle)[0]
    return 1 - chords, 1 - tangents
