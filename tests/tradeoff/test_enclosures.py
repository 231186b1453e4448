"""Every bound against a second route: closed forms in high precision, vertices in fractions, and inputs that once failed."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import mipsim as mi
from mipsim.exact.atoms import AtomsLaw
from mipsim.tradeoff import (
    AbstractTradeOff,
    ApproxDPTradeOff,
    AveragedTradeOff,
    CurveBounds,
    FoldedLaplaceTradeOff,
    GaussianTradeOff,
    InverseFoldedLaplaceTradeOff,
    InverseTradeOff,
    LaplaceTradeOff,
    MixtureTradeOff,
    SampledTradeOff,
    bounds_from_rates,
    convex_hull,
    find_noise_multiplier_for_epsilon_delta,
)
from mipsim.tradeoff.bounds import probit_of_log
from mipsim.tradeoff.exact_tradeoff import ExactTradeOff

LOGS = np.array([-1e5, -900.0, -700.0, -50.0, -5.0, -1.2, -0.7, -0.3, -1e-3, -1e-9, -1e-30, -1e-200])
MUS = [0.005, 0.01, 0.02, 0.5, 1.0, 2.0, 20.0, 40.0, 80.0]


def tail(x: mp.mpf) -> mp.mpf:
    """P(N(0, 1) > x)."""
    return mp.erfc(x / mp.sqrt(2)) / 2


def gaussian(mu: float, log_fpr: float) -> tuple[Any, Any]:
    z = mp.mpf(float(-probit_of_log(log_fpr)))
    for _ in range(4):  # Newton's steps in the logarithm of the smaller tail
        if log_fpr < -0.69:
            z += (mp.log(tail(z)) - mp.mpf(log_fpr)) * tail(z) / mp.npdf(z)
        else:
            z -= (mp.log(tail(-z)) - mp.log(-mp.expm1(mp.mpf(log_fpr)))) * tail(-z) / mp.npdf(z)
    return tail(mu - z), tail(z - mu)


def laplace(mu: Any, log_fpr: float) -> tuple[Any, Any]:
    mu, x = mp.mpf(mu), mp.mpf(log_fpr)
    a: Any = mp.exp(x)
    c: Any = -mp.expm1(x)
    if a < mp.exp(-mu) / 2:
        return 1 - mp.exp(mu) * a, mp.exp(mu) * a
    fnr = mp.exp(-mu) / (4 * a) if a <= 0.5 else mp.exp(-mu) * c
    return fnr, 1 - fnr


def folded(mu: Any, log_fpr: float) -> tuple[Any, Any]:
    mu, x = mp.mpf(mu), mp.mpf(log_fpr)
    if x <= -mu:
        return 1 - mp.exp(x) * mp.cosh(mu), mp.exp(x) * mp.cosh(mu)
    fnr = mp.exp(-mu) * mp.sinh(-x)
    return fnr, 1 - fnr


def inverse_folded(mu: Any, log_fpr: float) -> tuple[Any, Any]:
    mu, x = mp.mpf(mu), mp.mpf(log_fpr)
    a: Any = mp.exp(x)
    c: Any = -mp.expm1(x)
    u = a * mp.exp(mu)
    fnr = mp.sqrt(u**2 + 1) - u if a < (1 - mp.exp(-2 * mu)) / 2 else c / mp.cosh(mu)
    tpr = (
        u - u**2 / (mp.sqrt(u**2 + 1) + 1)
        if a < (1 - mp.exp(-2 * mu)) / 2
        else (mp.cosh(mu) - c) / mp.cosh(mu)
    )
    return fnr, tpr


def mixed(mu: float, log_fpr: float) -> tuple[Any, Any]:
    fnr, tpr = gaussian(mu, log_fpr)
    p, x = mp.mpf(0.3), mp.mpf(log_fpr)
    return p * fnr - (1 - p) * mp.expm1(x), p * tpr + (1 - p) * mp.exp(x)


FORMS = {
    "gaussian": (GaussianTradeOff, gaussian),
    "laplace": (LaplaceTradeOff, laplace),
    "folded": (FoldedLaplaceTradeOff, folded),
    "inverse folded": (InverseFoldedLaplaceTradeOff, inverse_folded),
    "mixture": (lambda mu: MixtureTradeOff(GaussianTradeOff(mu), 0.3), mixed),
}


@pytest.mark.evidence
@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("name", FORMS)
def test_closed_forms_in_high_precision(name: str, mu: float) -> None:
    """Both logarithms lie inside, and the bounds of each are some ulp of it apart, or of the other rate's."""
    built, formula = FORMS[name]
    with mp.workdps(330):  # 1 - 1e-304 has 304 nines
        truth = [[mp.log(rate) for rate in formula(mu, float(x))] for x in LOGS if x > -1000.0]
        result = built(mu).enclosure(LOGS[LOGS > -1000.0])
        for k, (fnr, tpr) in enumerate(truth):
            ends = [mp.mpf(float(end[k])) for end in result]
            assert ends[0] <= fnr <= ends[1]
            assert ends[2] <= tpr <= ends[3]
            # Far out a rate moves by its logarithm's rounding, and at a large shift by that of the shift.
            small = 0 if fnr < tpr else 2
            far = 2.0 * float(abs(min(fnr, tpr))) ** 0.5 + 2.0 * abs(float(LOGS[LOGS > -1000.0][k])) ** 0.5
            assert ends[small + 1] - ends[small] <= 1e-14 * (8.0 + mu + far) ** 2


def test_the_bounds_exclude_what_is_a_little_off() -> None:
    """The control: a shift that is 1e-12 too large lies outside."""
    result, other = GaussianTradeOff(1.0).enclosure(LOGS), GaussianTradeOff(1.0 + 1e-12).enclosure(LOGS)
    assert (result.log_tpr_high < other.log_tpr_low)[(LOGS > -100.0) & (LOGS < -1.0)].all()


def delta_of_gaussian(mu: Any, epsilon: float) -> Any:
    mu, eps = mp.mpf(mu), mp.mpf(epsilon)
    return tail(eps / mu - mu / 2) - mp.exp(eps) * tail(eps / mu + mu / 2)


@pytest.mark.parametrize("mu", [0.1, 0.5, 1.0, 2.0, 20.0, 40.0, 80.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 10.0, 500.0, 1000.0, 2000.0])
def test_delta_and_epsilon_of_a_gaussian(mu: float, epsilon: float) -> None:
    with mp.workdps(400):
        truth = mp.log(delta_of_gaussian(mu, epsilon))
    curve = GaussianTradeOff(mu)
    low, high = curve.log_delta_bounds(epsilon)
    assert low <= truth <= high
    assert high - low <= 1e-10 * max(1.0, abs(float(truth)))
    if epsilon and -1e6 < truth < -1e-6:
        least, most = curve.epsilon_bounds(log_delta=float(truth))
        assert least - 1e-9 * epsilon <= epsilon <= most + 1e-9 * epsilon
        assert most - least <= 1e-8 * max(1.0, epsilon)
    # The same by the search that knows no closed form.
    again = AbstractTradeOff._log_delta(curve, np.array([epsilon]))
    if truth > -1e6:
        assert again[0] <= high
        assert again[1] >= low


def test_beyond_epsilon_700() -> None:
    assert GaussianTradeOff(40.0).epsilon(1e-5) == pytest.approx(969.6456, abs=1e-3)
    for epsilon in (500.0, 1000.0, 2000.0):
        noise = find_noise_multiplier_for_epsilon_delta(epsilon, 1e-5)
        assert delta_of_gaussian(1.0 / noise, epsilon) <= 1e-5
        assert delta_of_gaussian(1.0 / (noise * 0.9999), epsilon) > 1e-5
    assert find_noise_multiplier_for_epsilon_delta(1000.0, 1e-5) == pytest.approx(0.0246, abs=5e-5)


def attack_curve(rng: np.random.Generator, size: int) -> tuple[ExactTradeOff, np.ndarray, np.ndarray]:
    """The exact curve of a score whose values are in no order of likelihood, with the rates of its thresholds."""
    out, inside = rng.dirichlet(np.ones(size) * 0.3), rng.dirichlet(np.ones(size) * 0.3)
    law = AtomsLaw(np.arange(float(size)), out, inside, np.zeros(size), 0.0)
    fpr, tpr = (np.append(0.0, np.cumsum(masses[::-1])) for masses in (out, inside))
    return ExactTradeOff(law), np.minimum(fpr, 1.0), np.minimum(tpr, 1.0)


@pytest.mark.evidence
@pytest.mark.parametrize("size", [2, 4, 8, 30])
def test_an_attack_whose_curve_is_not_convex(size: int) -> None:
    rng, bent = np.random.default_rng(size), 0
    for _ in range(50):
        curve, fpr, tpr = attack_curve(rng, size)
        bent += bool((np.diff(tpr[1:] - tpr[:-1]) > 0).any())
        for epsilon in (0.0, 0.25, 0.5, 1.0, 3.0, 6.0):
            truth = max(0.0, float((tpr - np.exp(epsilon) * fpr).max()))
            low, high = curve.delta_bounds(epsilon)
            assert low - 1e-15 <= truth <= high + 1e-15
            assert high - low < 1e-9
        with np.errstate(divide="ignore", invalid="ignore"):
            for delta in (0.05, 0.1, 0.2):
                truth = max(0.0, float(np.log(np.maximum(tpr[1:] - delta, 0.0) / fpr[1:]).max()))
                low, high = curve.epsilon_bounds(delta)
                assert low - 1e-12 <= truth <= high + 1e-12
        for prior in (0.15, 0.3, 0.6):
            truth = float((prior * (1.0 - tpr) + (1.0 - prior) * fpr).min())
            low, high = curve.bayes_risk_bounds(prior)
            assert low - 1e-15 <= truth <= high + 1e-15
            assert high - low < 1e-9
        low, high = curve.auc_bounds()
        assert low <= float(((tpr[1:] + tpr[:-1]) * np.diff(fpr)).sum() / 2.0) <= high
    assert size == 2 or bent > 0  # the test has met curves that are not convex


def test_a_convex_search_would_miss_it() -> None:
    """The control: of the hull, which a randomising attacker has, the numbers are the same; of a grid they are not."""
    curve, fpr, tpr = attack_curve(np.random.default_rng(1), 6)
    assert curve.advantage() == pytest.approx(float((tpr - fpr).max()), abs=1e-12)
    hull = curve.convexified()
    alpha = np.linspace(0.01, 0.99, 99)
    assert (hull.beta(alpha) <= curve.beta_bounds(alpha)[1] + 1e-12).all()
    assert (hull.beta_bounds(alpha)[1] < curve.beta(alpha) - 1e-3).any()
    assert hull.advantage() == pytest.approx(curve.advantage(), abs=1e-9)


class Loose(AbstractTradeOff):
    """A curve that is known to 1e-3 only."""

    inner: AbstractTradeOff

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        return bounds_from_rates(
            lambda fpr: (self.inner.beta(fpr), self.inner.tpr_at(fpr)), log_fpr, error=1e-3
        )

    def is_convex(self) -> bool:
        return True


OPERATIONS = {
    "inverse": lambda c: c.inverse(),
    "numerical inverse": InverseTradeOff,
    "mixture": lambda c: MixtureTradeOff(c, 0.5),
    "symmetrized": lambda c: MixtureTradeOff(c, 0.3).symmetrized(),
    "subsampled": lambda c: c.subsampled(0.3),
    "hull": lambda c: convex_hull(c, ApproxDPTradeOff(0.0, 0.1)),
    "averaged": lambda c: AveragedTradeOff([c, GaussianTradeOff(2.0)], [0.7, 0.3]),
    "convexified": lambda c: c.convexified(),
}
ALPHA = np.array([0.01, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9])


@pytest.mark.evidence
@pytest.mark.parametrize("mu", [1.0, *(pytest.param(mu, marks=pytest.mark.slow) for mu in (0.5, 2.0))])
@pytest.mark.parametrize("name", OPERATIONS)
def test_no_operation_forgets_a_bound(name: str, mu: float) -> None:
    exact, loose = (OPERATIONS[name](curve) for curve in (GaussianTradeOff(mu), Loose(GaussianTradeOff(mu))))
    truth = exact.beta_bounds(ALPHA)
    low, high = loose.beta_bounds(ALPHA)
    assert (low <= truth[1]).all()
    assert (truth[0] <= high).all()
    assert (high - low).max() > 5e-4  # the width has come along
    assert (high - low < 0.2).all()
    for number in (
        lambda c: c.delta_bounds(0.5),
        lambda c: c.bayes_risk_bounds(0.4),
        lambda c: c.auc_bounds(),
    ):
        (least, most), (first, last) = number(exact), number(loose)
        assert first <= most
        assert least <= last
    claim = loose.compare(exact, kind="upper_bound_on_power")
    assert claim.verdict != "REFUTED"


def test_a_hull_lies_below_its_curves_and_above_every_line_below_them() -> None:
    curves = FoldedLaplaceTradeOff(2.0), GaussianTradeOff(0.9)
    low, high = convex_hull(*curves).beta_bounds(ALPHA)
    slopes = np.exp(np.linspace(-6, 6, 4001))
    hull: Any = convex_hull(*curves)
    slopes = np.append(slopes, np.exp(hull.tangents[:, 0]))  # corners of the conjugate
    fine = np.unique(np.concatenate([np.geomspace(1e-9, 1, 20_001), np.linspace(0, 1, 20_001)]))
    least = np.min([c.beta(fine) for c in curves], axis=0)
    lines = np.array([(least + s * fine).min() for s in slopes])
    dual = (lines[:, None] - slopes[:, None] * ALPHA).max(axis=0)
    assert (low <= dual + 1e-5).all()
    assert (high >= dual - 1e-5).all()
    assert (high - low < 1e-8).all()


class Undefined(AbstractTradeOff):
    """A curve that has no value between 0.2 and 0.3."""

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        fpr = np.exp(log_fpr)
        hole = (fpr > 0.2) & (fpr < 0.3)
        return CurveBounds.of_rates(np.where(hole, np.nan, 1.0 - fpr), np.where(hole, 1.0, fpr))


@pytest.mark.parametrize("kind", ["equality", "upper_bound_on_power", "ordering"])
def test_what_is_undefined_decides_nothing(kind: str) -> None:
    for curve, claim in (
        (Undefined(), GaussianTradeOff(1.0)),
        (GaussianTradeOff(1.0), Undefined()),
    ):
        result = curve.compare(claim, 0.1 if kind == "equality" else None, kind=kind)
        assert result.verdict == "INCONCLUSIVE"
        assert "undefined (NaN) at FPR" in result.detail
    with pytest.raises(ValueError, match=r"the curve Undefined is undefined \(NaN\) at FPR 0\.\d+"):
        Undefined().advantage()
    assert math.isnan(Undefined().beta(0.25))
    assert Undefined().beta(0.5) == pytest.approx(0.5)


def test_an_open_end_is_stated_as_a_bound() -> None:
    law = AtomsLaw(np.array([0.0, 1.0]), np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.zeros(2), 1e-12)
    result = ExactTradeOff(law).compare(GaussianTradeOff(1.0), kind="upper_bound_on_power")
    assert result.verdict == "REFUTED"
    assert result.interval[1] == math.inf
    assert result._lines()[0][1].startswith("at least +")


@pytest.mark.evidence
@pytest.mark.parametrize("p", [0.15, 0.3, 0.6])
@pytest.mark.parametrize("mu", [0.025, 0.05, 0.1, 1.0])
def test_the_mu_of_a_sub_sampled_gaussian_is_finite(mu: float, p: float) -> None:
    """G_mu lies below the mixture, and the mixture nears it in the tail."""
    curve = MixtureTradeOff(GaussianTradeOff(mu), p)
    for each in (curve, curve.inverse(), curve.symmetrized()):
        low, high = each.least_mu_bounds()
        assert high <= mu
        assert low > 0.99 * mu


def test_rates_of_a_polygon_in_fractions() -> None:
    """Corners at dyadic rates, the truth on the edges known exactly."""
    curve = SampledTradeOff(
        [2.0**-900, 2.0**-30, 0.5], [1.0, 1.0 - 2.0**-10, 0.125], [2.0**-600, 2.0**-10, 0.875]
    )
    between = 1.5 * 2.0**-901  # half-way to the second corner
    low, high = curve.tpr_bounds(between)
    assert low <= 0.75 * 2.0**-600 <= high
    assert high - low < 2e-11 * high


def test_users_see_the_width() -> None:
    text = Loose(GaussianTradeOff(1.0))._repr_html_()
    assert "[0.3881, 0.3902] at FPR 0.1" in text
    assert "[0.3891, 0.3892] at FPR 0.1" in mi.GaussianTradeOff(1.0)._repr_html_()
