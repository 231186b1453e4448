"""Promised guarantees: read, named, and held against what an audit has shown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mipsim._validation import number, whole
from mipsim._words import printable
from mipsim.audits.scores import parsed_numbers
from mipsim.audits.tables import content_of, text_table
from mipsim.tradeoff import (
    ApproxDPTradeOff,
    GaussianTradeOff,
    PiecewiseLinearTradeOff,
    PrivacyLossDistribution,
    SampledTradeOff,
    dpsgd,
)
from mipsim.tradeoff.base import AbstractTradeOff, rates
from mipsim.tradeoff.compose import ComposedTradeOff
from mipsim.tradeoff.mixture import MixtureTradeOff

FORMS = (
    "mu=1 (or gdp=1), epsilon=2,delta=1e-5, rho=0.5, advantage=0.1, tpr=0.2,fpr=0.01, sigma=1,rate=0.1,steps=90 "
    "or a .csv file with alpha and beta"
)
"""How a promised guarantee is written."""
_LONGEST = 80  # characters of a curve that is named by what makes it
_NEIGHBOURS = {"both": "add_or_remove", "forward": "remove", "inverse": "add"}  # of a direction of steps
_ROUNDING = 1e-9  # of printed rates: beta may pass 1 - alpha by so much


@dataclass(frozen=True)
class RatePromise:
    """A promise about a single point: no attack has a TPR above `tpr` at the FPR `fpr`.

    A trade-off function f keeps it exactly if f(fpr) >= 1 - tpr. The point is judged, and the choice of a threshold paid for, by
    `EmpiricalTradeOff.tpr_lower_bound`. By convexity f lies on or above `curve` everywhere, which pictures show. A single run cannot test it: who
    releases all with probability (tpr - fpr) / (1 - fpr), and else nothing, keeps the promise, and all guesses may be right.
    Proof: with f(0) <= 1 and f(1) = 0, the chord to (1, 0) gives f(a) >= (1 - tpr) (1 - a) / (1 - fpr) for a <= fpr, that to (0, 1) gives
    f(a) >= 1 - tpr a / fpr for a >= fpr. The curve is their lower convex hull, the line from (0, (1 - tpr) / (1 - fpr)) to (fpr / tpr, 0).
    """

    tpr: float  # in [fpr, 1], since a coin has TPR = FPR
    fpr: float  # in (0, 1)

    def __post_init__(self) -> None:
        number("fpr", self.fpr, 0.0, 1.0, low_open=True, high_open=True)
        number("tpr", self.tpr, 0.0, 1.0)
        if self.tpr < self.fpr:
            raise ValueError(
                f"tpr is {self.tpr:g} and fpr {self.fpr:g}; a coin has the TPR {self.fpr:g}: promise at least that"
            )

    @property
    def curve(self) -> AbstractTradeOff:
        """The largest convex curve on or below which every mechanism that keeps the promise cannot pass."""
        if self.tpr == self.fpr:
            return ApproxDPTradeOff(0.0, 0.0)
        start = (1.0 - self.tpr) / (1.0 - self.fpr)
        return PiecewiseLinearTradeOff([0.0, self.fpr / self.tpr, 1.0], [start, 0.0, 0.0])


def read_claim(text: str) -> AbstractTradeOff | RatePromise:
    """A promised guarantee as a trade-off function.

    - "mu=1" or "gdp=1": mu-GDP. "epsilon=2" or "epsilon=2,delta=1e-5": (epsilon, delta)-DP. "rho=0.5": zero-concentrated DP, see `zcdp`.
    - "advantage=0.1": no attack has a larger TPR - FPR.
    - "tpr=0.2,fpr=0.01": no attack has a larger TPR at this FPR, see `RatePromise`.
    - "sigma=1,rate=0.01,steps=1000": DP-SGD with Poisson samples, a record added or removed, see `mipsim.dpsgd`; the rate and
      the steps are 1 where they are left out.
    - the path of a .csv file: see `read_curve`.

    `text`: any of these. Raises ValueError if it is none of these, a number is outside its range, or the file cannot be
    read.
    """
    if text.lower().endswith(".csv"):
        return read_curve(Path(text))
    given: dict[str, float] = {}
    try:
        for part in text.split(","):
            name, value = (side.strip() for side in part.split("="))
            if name in given:
                raise ValueError  # two values of the same name promise nothing that is clear
            given[name] = float(value if value.isascii() else "x")
    except ValueError:
        given = {}
    match sorted(given):
        case ["gdp"] | ["mu"]:
            ((name, mu),) = given.items()
            return GaussianTradeOff(number(name, mu, 0.0))
        case ["epsilon"] | ["delta", "epsilon"]:
            return ApproxDPTradeOff(given["epsilon"], given.get("delta", 0.0))
        case ["rho"]:
            return zcdp(given["rho"])
        case ["advantage"]:
            return ApproxDPTradeOff(0.0, number("advantage", given["advantage"], 0.0, 1.0))
        case ["fpr", "tpr"]:
            return RatePromise(**given)
        case names if "sigma" in names and {*names} <= {"sigma", "rate", "steps"}:
            steps = given.get("steps", 1.0)
            return dpsgd(
                number("sigma", given["sigma"], 0.0, low_open=True),
                number("rate", given.get("rate", 1.0), 0.0, 1.0),
                whole("steps", int(steps) if steps.is_integer() else steps, 1),
            )
    raise ValueError(f"claim is {printable(repr(text), 30)}; it must be like {FORMS}")


def zcdp(rho: float) -> AbstractTradeOff:
    """A trade-off function that every rho-zCDP mechanism keeps, in both directions.

    The mechanism is (epsilon, delta)-DP for each epsilon, with the least over a > 1 of
    delta = e^((a - 1)(a rho - epsilon)) (1 - 1/a)^a / (a - 1). The function is the largest of the curves of 800 such pairs, on a grid of
    FPRs from 1e-15. For rho above 3 the grid promises less than the conversion does: fewer promises are refuted, none wrongly.

    `rho`: in (0, 700]. Raises ValueError if rho is outside its range.

    Source: Canonne, Kamath, Steinke (2020), "The discrete Gaussian for differential privacy", proposition 12, remark 15.
    """
    value = number("rho", rho, 0.0, 700.0, low_open=True)
    root = math.sqrt(value)
    epsilon = np.concatenate([[0.0], np.minimum(value + root * np.geomspace(1e-2, 20.0, 799), 700.0)])[
        :, None
    ]
    order = 1.0 + np.geomspace(1e-3, 1e3, 2000) / max(root, value)  # any order gives a valid delta
    log_delta = (
        (order - 1.0) * (order * value - epsilon) + order * np.log1p(-1.0 / order) - np.log(order - 1.0)
    )
    delta = np.minimum(np.exp(log_delta.min(axis=1, keepdims=True)) * (1.0 + 1e-9), 1.0)
    alpha = np.unique(np.concatenate([np.geomspace(1e-15, 0.5, 3000), 1.0 - np.geomspace(1e-9, 0.5, 1000)]))
    beta = np.maximum(1.0 - delta - np.exp(epsilon) * alpha, np.exp(-epsilon) * (1.0 - delta - alpha)).max(
        axis=0
    )
    return _through(alpha, np.maximum(beta * (1.0 - 1e-12) - 1e-15, 0.0))


def _through(alpha: np.ndarray, beta: np.ndarray) -> AbstractTradeOff:
    """The least that convexity leaves of a curve through these points, by rising alpha."""
    first = [0.0] if alpha[0] > 0.0 else []
    a = np.concatenate([first, alpha, [1.0]])
    b = np.minimum(np.concatenate([np.ones(len(first)), beta, [0.0]]), 1.0 - a)
    return PrivacyLossDistribution.below_polygon(
        SampledTradeOff.from_points(a, 1.0 - a, b, 1.0 - b)
    ).tradeoff()


def read_curve(file: Path) -> AbstractTradeOff:
    """A promised curve from a .csv file with the columns alpha (FPR) and beta (least FNR).

    A curve is promised at the points of the file alone. Between them the claim is the least that convexity leaves of a curve
    through them, so that a true promise is not refuted for the chords of its table: give many points where the curve bends.
    The numbers are taken as they are printed: round both down, since a beta rounded up promises more than the curve, and
    so does an alpha rounded up. A beta up to 1e-9 above 1 - alpha is such a rounding, and is taken down to 1 - alpha.

    `file`: alpha does not decrease, beta does not increase, both in [0, 1], and beta is at most 1 - alpha (+ 1e-9).
    """
    try:
        content = content_of(file)
    except ValueError as error:
        raise ValueError(f"claim: {error}") from None
    try:
        table = text_table(content)
        columns = {name.lower(): column for name, column in table.read(table.names).items()}
        if set(columns) != {"alpha", "beta"}:
            raise ValueError(
                f"it has the columns {printable(', '.join(map(repr, columns)))}; it must have alpha and beta alone"
            )
        alpha, beta = (rates(name, parsed_numbers(name, columns[name])) for name in ("alpha", "beta"))
        if (np.diff(alpha) < 0).any():
            raise ValueError("alpha must not decrease from line to line")
        if (np.diff(beta) > 0).any() or (beta > 1.0 - alpha + _ROUNDING).any():
            raise ValueError("beta must not increase, and be at most 1 - alpha")
    except ValueError as error:
        raise ValueError(f"claim: {printable(file)}: {error}") from None
    return _through(alpha, beta)


def words(claim: AbstractTradeOff | RatePromise) -> str:
    """How a guarantee is named.
    >>> words(GaussianTradeOff(1.0)), words(ApproxDPTradeOff(2.0, 1e-5))
    ('mu = 1', 'epsilon = 2 at delta = 1e-05')
    >>> from mipsim.tradeoff import LaplaceTradeOff
    >>> words(LaplaceTradeOff(1.0))
    'LaplaceTradeOff(mu=1.0)'
    >>> words(dpsgd(1.0, 0.01, 1000))
    'DP-SGD(sigma=1, rate=0.01, steps=1000, add_or_remove)'
    """
    if isinstance(claim, GaussianTradeOff):
        return f"mu = {claim.mu:g}"
    if isinstance(claim, RatePromise):
        return f"TPR <= {claim.tpr:g} at FPR {claim.fpr:g}"
    if isinstance(claim, ApproxDPTradeOff):
        return f"epsilon = {claim.at_epsilon:g} at delta = {claim.at_delta:g}"
    if isinstance(claim, ComposedTradeOff) and len(claim.curves) == 1:
        step = claim.curves[0]
        if isinstance(step, MixtureTradeOff) and isinstance(step.inner, GaussianTradeOff):
            return (
                f"DP-SGD(sigma={1.0 / step.inner.mu:g}, rate={step.sampling_rate:g}, steps={claim.copies[0]}, "
                f"{_NEIGHBOURS[claim.direction]})"
            )
    text = repr(claim)
    return text if len(text) <= _LONGEST and "\n" not in text else f"the curve {type(claim).__name__}"
