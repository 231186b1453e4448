"""Every trade-off curve's bounds hold the truth of a formula in 60 digits, also where rounding is all that they allow for."""

# mpmath says little of its types.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false, reportOperatorIssue=false

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mipsim as mi
from mipsim import tradeoff
from mipsim.tradeoff import AbstractTradeOff, CurveBounds
from tests.contracts.family import exported
from tests.enclosures.curves import Hidden
from tests.enclosures.truth import (  # fmt: skip
    Atoms,
    FoldedLaplace,
    Gaussian,
    Laplace,
    Magnitude,
    Mixed,
    Mixtures,
    Truth,
    mp,
    mpf,
    response,
)

PLAIN = np.concatenate([-np.geomspace(1e-12, 200.0, 13), [-0.7, -0.3, -1.5]])
FEW = np.log([1e-3, 0.1])  # where a truth takes seconds
Curve = Callable[[mpf, mpf], tuple[mpf, mpf]]


def of(truth: Truth) -> Curve:
    """(FPR, 1 - FPR) to (FNR, TPR)."""
    return lambda a, c: truth.curve((a, c))


def where_probits_cancel(mu: float, count: int = 120) -> np.ndarray:
    """log FPRs whose probit is near -mu, so that it and mu leave hardly more than their rounding."""
    from scipy.special import log_ndtr

    return log_ndtr(-mu + np.linspace(-0.5, 0.5, count))


def where_losses_cancel(mu: float) -> np.ndarray:
    """Around the corners of the Laplace curves."""
    corners = np.array([-mu, -mu - np.log(2.0), -np.log(2.0)])
    near = np.concatenate([[0.0], *(sign * np.geomspace(1e-16, 1e-2, 20) for sign in (-1.0, 1.0))])
    return np.minimum((corners[:, None] * (1.0 + near)).ravel(), -1e-300)


def logistic(mu: float) -> Curve:
    """Odds of the TPR are e^mu times those of the FPR."""

    def curve(a: mpf, c: mpf) -> tuple[mpf, mpf]:
        raised = mp.exp(mpf(mu)) * a
        return c / (c + raised), raised / (c + raised)

    return curve


NORMAL, HALF = Gaussian(1), Gaussian(2)
# Rows: class, member, truth, log FPRs beside those of all rows (or few in their place), and how wide the bounds of logarithms may be.
MEMBERS: list[tuple[str, AbstractTradeOff, Curve, np.ndarray, float]] = [
    ("GaussianTradeOff", mi.GaussianTradeOff(1.0), of(NORMAL), where_probits_cancel(1.0, 50), 1e-11),
    *(
        ("GaussianTradeOff", mi.GaussianTradeOff(mu), of(Gaussian(mu)), where_probits_cancel(mu), 1e-9)
        for mu in (7.3, 36.9)
    ),
    *(
        row
        for mu in (0.005, 0.5, 80.0)
        for row in (
            ("GaussianTradeOff", mi.GaussianTradeOff(mu), of(Gaussian(mu)), PLAIN[:0], 1e-8),
            ("LaplaceTradeOff", mi.LaplaceTradeOff(mu), of(Laplace(mu)), PLAIN[:0], 1e-10),
            ("FoldedLaplaceTradeOff", mi.FoldedLaplaceTradeOff(mu), of(FoldedLaplace(mu)), PLAIN[:0], 1e-10),
            ("MixtureTradeOff", mi.tradeoff.MixtureTradeOff(mi.GaussianTradeOff(mu), 0.3), of(Mixed(Gaussian(mu), 0.3)), PLAIN[:0], 1e-8),
        )
    ),
    ("LaplaceTradeOff", mi.LaplaceTradeOff(1.1), of(Laplace(1.1)), where_losses_cancel(1.1), 1e-12),
    ("LaplaceTradeOff", mi.LaplaceTradeOff(30.3), of(Laplace(30.3)), where_losses_cancel(30.3), 1e-12),
    ("FoldedLaplaceTradeOff", mi.FoldedLaplaceTradeOff(1.1), of(FoldedLaplace(1.1)), where_losses_cancel(1.1), 1e-12),
    ("FoldedLaplaceTradeOff", mi.FoldedLaplaceTradeOff(30.3), of(FoldedLaplace(30.3)), where_losses_cancel(30.3), 1e-12),
    *(("LogisticTradeOff", mi.LogisticTradeOff(mu), logistic(mu), where_losses_cancel(mu)[::8], 1e-10) for mu in (0.005, 1.1, 80.0)),
    (
        "InverseFoldedLaplaceTradeOff", mi.InverseFoldedLaplaceTradeOff(1.1), of(FoldedLaplace(1.1).reversed),
        where_losses_cancel(1.1)[::8], 1e-12,
    ),
    ("ApproxDPTradeOff", mi.ApproxDPTradeOff(1.1, 0.1), of(response(1.1, 0.1)), np.log([0.9, 0.2245]), 1e-11),
    ("ApproxDPTradeOff", mi.ApproxDPTradeOff(20.7, 1e-9), of(response(20.7, 1e-9)), -20.7 + np.linspace(-1e-9, 1e-9, 9), 1e-11),
    (
        "PiecewiseLinearTradeOff", mi.PiecewiseLinearTradeOff([0, 0.25, 1], [1, 0.25, 0]),
        of(Atoms.through([0.25, 1.0], [0.25, 0.0])), np.log([0.25]), 1e-11,
    ),
    ("SampledTradeOff", mi.tradeoff.SampledTradeOff([0.1, 0.4], [0.5, 0.2]), of(Atoms.through([0.1, 0.4, 1.0], [0.5, 0.2, 0.0])), np.log([0.1, 0.4]), np.inf),
    ("MixtureTradeOff", mi.tradeoff.MixtureTradeOff(mi.GaussianTradeOff(2.0), 0.3), of(Mixed(HALF, 0.3)), PLAIN[:0], 1e-11),
    *(
        ("GaussianMixtureTradeOff", mi.GaussianMixtureTradeOff(*given, *other), of(Mixtures(out, inside)), PLAIN[:0], 1e-9)
        for given, other, out, inside in (
            (([0, 1, 3], [0.5, 0.3, 0.2], 0.5), (), {0: 1}, {0: 0.5, 2: 0.3, 6: 0.2}),
            (([0, 1], [0.9, 0.1], 1.0), ([0, 1], [0.9, 0.1]), {0: 0.9, -1: 0.1}, {0: 0.9, 1: 0.1}),
            (([0, 9], [1 - 1e-6, 1e-6], 0.25), ([1, 2], [0.25, 0.75]), {-4: 0.25, -8: 0.75}, {0: 1 - 1e-6, 36: 1e-6}),
        )
    ),
    ("InverseTradeOff", mi.tradeoff.InverseTradeOff(mi.GaussianTradeOff(1.0)), of(NORMAL), PLAIN[:0], 1e-8),
    (
        "BoundedTradeOff", mi.tradeoff.BoundedTradeOff(mi.GaussianTradeOff(1.01), mi.GaussianTradeOff(1.0 - 1e-9)), of(NORMAL),
        PLAIN[:0], 1.0,
    ),
    ("NoncentralChiSquareTradeOff", mi.NoncentralChiSquareTradeOff(1, 0.0, 4.0), of(Magnitude(2)), FEW, 1e-9),
    ("ConvexHullTradeOff", mi.convex_hull(mi.GaussianTradeOff(1.0), mi.GaussianTradeOff(0.5)), of(NORMAL), -np.geomspace(0.01, 20.0, 12), 1.0),
    ("ComposedTradeOff", mi.compose(Hidden(mi.GaussianTradeOff(0.5)), copies=4), of(NORMAL), FEW, 1e-2),
]  # fmt: skip


def logarithms(curve: Curve, log_fpr: np.ndarray) -> list[tuple[mpf, mpf]]:
    """log FNR and log TPR of a formula at each FPR."""

    def log(rate: mpf, other: mpf) -> mpf:
        return mp.log1p(-other) if other < 0.5 else mp.log(rate) if rate > 0 else mpf("-inf")

    result = []
    for x in log_fpr.tolist():
        with mp.workdps(60 + (int(-np.log10(-x)) if x > -1.0 else 0)):
            fnr, tpr = curve(mp.exp(mpf(x)), -mp.expm1(mpf(x)))
            result.append((log(fnr, tpr), log(tpr, fnr)))
    return result


def misses(member: AbstractTradeOff, truths: list[tuple[mpf, mpf]], log_fpr: np.ndarray) -> tuple[int, float]:
    """How many bounds exclude the truth, and the greatest width of all bounds of a logarithm where its rate is > 0."""
    bounds: CurveBounds = member.enclosure(log_fpr)
    count, widest = 0, 0.0
    ends = (
        (bounds.log_fnr_low, bounds.log_fnr_high),
        (bounds.log_tpr_low, bounds.log_tpr_high),
    )
    for truth, (lows, highs) in zip(zip(*truths, strict=True), ends, strict=True):
        for value, low, high in zip(truth, lows, highs, strict=True):
            count += not (mpf(low) <= value <= mpf(high))
            if np.isfinite(low):
                widest = max(widest, (high - low) / max(1.0, abs(low)))
    return count, widest


class Moved(AbstractTradeOff):
    """A curve that is read at FPRs some per cent off: a planted error."""

    inner: AbstractTradeOff
    share: float

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        return self.inner.enclosure(np.minimum(log_fpr + np.log(self.share), 0.0))

    def is_convex(self) -> bool:
        return False


def test_every_member_has_its_formula() -> None:
    assert exported(tradeoff, AbstractTradeOff) == {name for name, *_ in MEMBERS}
    assert all(type(member).__name__ == name for name, member, *_ in MEMBERS)


MIXTURES = [k for k, row in enumerate(MEMBERS) if row[0] == "GaussianMixtureTradeOff"]


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=f"{k}-{row[0]}", marks=[pytest.mark.evidence] * (k in MIXTURES[1:]))
        for k, row in enumerate(MEMBERS)
    ],
)
def test_bounds_hold_the_formula(row: Any) -> None:
    kind, member, curve, more, wide = row
    log_fpr = (
        np.unique([*PLAIN[:: 4 if more.size > 100 or kind == "GaussianMixtureTradeOff" else 1], *more])
        if more is not FEW
        else FEW
    )
    truths = logarithms(curve, log_fpr)
    count, widest = misses(member, truths, log_fpr)
    assert count == 0
    assert widest <= wide
    planted = [misses(Moved(member, share), truths, log_fpr)[0] for share in (0.97, 1.03)]
    assert max(planted) > 0 if np.isinf(wide) or wide == 1.0 else min(planted) > 0
