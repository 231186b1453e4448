"""Theorems beyond the four papers: published figures, verdicts, and controls."""

import math

import pytest

import mipsim as mi
from mipsim import referee as rf
from mipsim.tradeoff import GaussianTradeOff
from verify.field.laws.gaussian_accounting import (
    ADDED,
    REPLACED,
    composed_epsilon,
    limit_epsilon,
    log_delta,
    sampled_delta,
)
from verify.field.laws.shuffled_laws import poisson_epsilon, shuffled_delta, shuffled_epsilon
from verify.field.statements import MODULES

BY_NAME = {statement.name: statement for module in MODULES for statement in module.STATEMENTS}
FLIPPED = {"epsilon": 1.0, "candidates": 2, "gap": 4.0, "draw": 0, "share": 0.0}


def test_the_classical_gaussian_fails_from_epsilon_8_4() -> None:
    """Published: at delta = 1e-5 the calibration stands up to epsilon of about 8.4."""
    result = {e: log_delta(e, e / math.sqrt(2 * math.log(1.25e5))).value for e in (8.4, 8.5)}
    assert result[8.4] < -5.0 < result[8.5]


def test_delta_of_the_gaussian_is_that_of_its_curve() -> None:
    for epsilon, mu in ((0.5, 1.0), (3.0, 2.0), (0.01, 0.1)):
        exact = float(GaussianTradeOff(mu).delta(epsilon))
        assert 10 ** log_delta(epsilon, mu).value == pytest.approx(exact, rel=1e-9)


@pytest.mark.evidence
def test_the_published_epsilons_of_shuffled_batches() -> None:
    assert shuffled_epsilon(0.8, 1000, 1e-5) == pytest.approx(5.24, abs=0.005)
    assert shuffled_epsilon(0.5, 1000, 1e-5) == pytest.approx(10.00, abs=0.005)
    assert poisson_epsilon(0.8, 1000, 1e-5) == pytest.approx(0.305, abs=0.005)
    point = {"batches": "shuffled", "sigma": 0.8, "steps": 1000, "delta": 1e-5}
    assert rf.judge(BY_NAME["field-shuffled-batches"], at=[point]).verdict is rf.Verdict.REFUTED


@pytest.mark.evidence
def test_the_central_limit_theorem_is_no_accountant() -> None:
    """Published: 3.06 against 5.23."""
    assert limit_epsilon(0.5, 0.1, -5.0) == pytest.approx(3.06, abs=0.005)
    point = {"sigma": 0.5, "nu": 0.1, "steps": 10_000, "log10_delta": -5.0}
    exact = composed_epsilon(0.5, 0.001, 10_000, -5.0)
    assert exact.value == pytest.approx(5.227, abs=0.0005)
    assert exact.error < 1e-4
    assert rf.judge(BY_NAME["field-central-limit"], at=[point]).verdict is rf.Verdict.REFUTED


def test_sub_sampling_by_the_algebra_of_curves() -> None:
    """The delta of the sampled pair, by the sub-sampled trade-off function of the library."""
    curve = GaussianTradeOff(1.0).subsampled(0.1)
    epsilon = math.log1p(0.1 * math.expm1(1.0))
    result = max(10 ** sampled_delta(1.0, 1.0, 0.1, ADDED).value, 0.0)
    assert result == pytest.approx(float(curve.delta(epsilon)), rel=1e-6)
    assert sampled_delta(1.0, 1.0, 0.1, REPLACED).value > sampled_delta(1.0, 1.0, 0.1, ADDED).value


def test_shuffled_reports_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two users: the pair has four outcomes a count."""
    local, epsilon = 1.0, 0.3
    right, blended = math.exp(local) / (1 + math.exp(local)), math.exp(-local)
    by_hand = (1 - blended) * (right - math.exp(epsilon) * (1 - right))
    p = [(1 - right) / 2, 0.5, right / 2]
    by_hand += blended * sum(max(a - math.exp(epsilon) * b, 0.0) for a, b in zip(p, p[::-1], strict=True))
    monkeypatch.setattr("verify.field.laws.shuffled_laws.amplified", lambda *_: epsilon)
    assert 10 ** shuffled_delta(2, local, -3.0).value == pytest.approx(by_hand, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "at", "verdict", "value", "claim"),
    [
        # A test of TPR .991 at FPR .0091: 1 - p - e p.
        ("r1smg", {"dimension": 100, "epsilon": 1.0, "log10_delta": -5.0}, "REFUTED", 0.966, 1e-5),
        ("random-allocation", {"sigma": 0.7, "steps": 2, "epsilon": 0.1}, "REFUTED", math.log10(0.4047), math.log10(0.3538)),
        ("random-allocation", {"sigma": 1.0, "steps": 10, "epsilon": 3.0}, "CONFIRMED", None, None),
        ("random-allocation", {"sigma": 3.0, "steps": 20, "epsilon": 0.05}, "CONFIRMED", None, None),
        pytest.param("allocation-blocks", {"sigma": 1.0, "log10_delta": -2.0}, "CONFIRMED", 2.9976, 3.226, marks=pytest.mark.evidence),
        pytest.param("allocation-blocks-lower", {"sigma": 1.0, "log10_delta": -2.0, "selected": 2}, "REFUTED", 3.226, 2.9976, marks=pytest.mark.evidence),
        pytest.param("allocation-blocks-lower", {"sigma": 1.0, "log10_delta": -2.0, "selected": 1}, "CONFIRMED", None, None, marks=pytest.mark.evidence),
        ("rdp-exponential-count", {"epsilon": 0.1, "count": 1000, "log10_delta": -5.0}, "REFUTED", 7.4928, 0.1035),
        ("binomial-subset", {"records": 5, "rate": 0.3}, "REFUTED", 0.0, -1e-6),
        ("effective-noise", {"sigma": 1.0, "rate": 0.1, "factor": 2.0, "epsilon": 0.5}, "CONFIRMED", None, None),
        ("permute-and-flip", {"epsilon": 1.0, "share": 0.0}, "CONFIRMED", 0.3935, 0.3935),
        ("permute-and-flip-bound", FLIPPED, "CONFIRMED", 0.1163, 0.3935),
        ("best-of-fixed", {"outcomes": 2, "size": 1.0, "draw": 0, "order": 10.0, "mean": 10, "runs": "a fixed number"}, "REFUTED", 9.652, 5.543),
        ("best-of-poisson", {"outcomes": 2, "size": 1.0, "draw": 0, "order": 10.0, "mean": 10}, "CONFIRMED", 4.392, 5.543),
        ("bounded-range", {"eta": 1.0, "place": 0.5, "order": 1.01}, "CONFIRMED", None, 0.125),
        ("laplace-zcdp", {"epsilon": 1.0, "order": 1.0001}, "CONFIRMED", math.exp(-1.0), math.exp(-1.0)),
        ("yeom", {"epsilon": 800.0}, "CONFIRMED", 1.0, None),
    ],
)  # fmt: skip
def test_claims_of_the_field_at_published_points(
    name: str, at: dict, verdict: str, value: float | None, claim: float | None
) -> None:
    statement = BY_NAME[f"field-{name}"]
    assert str(rf.judge(statement, at=[at], progress=False).verdict) == verdict
    for role, wanted in (("truth", value), ("claimed", claim)):
        if wanted is not None:
            found = statement.call(role, statement.check(at))
            assert getattr(found, "value", found) == pytest.approx(wanted, abs=6e-4)


def test_composed_epsilon_is_that_of_the_worse_of_both_directions() -> None:
    curve = mi.dpsgd(1.0, 0.05, 100, neighbours="remove")
    both = [curve.epsilon_bounds(1e-5)[0], curve.inverse().epsilon(1e-5)]
    result = composed_epsilon(1.0, 0.05, 100, -5.0)
    assert result.value + result.error >= max(both) * (1 - 1e-9)
    assert both[1] < both[0] - 1.0  # they differ, so that it matters which is taken


def test_a_direction_that_may_be_worse_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the directions exchanged the bounds are wider, and still hold the epsilon of the worse direction."""
    curve, right = mi.dpsgd(1.0, 0.05, 100, neighbours="remove"), composed_epsilon(1.0, 0.05, 100, -5.0)
    monkeypatch.setattr(mi, "dpsgd", lambda *_: curve.inverse())
    turned = composed_epsilon(1.0, 0.05, 100, -5.0)
    assert turned.value + turned.error >= right.value + right.error - 1e-9
    assert turned.error >= right.error
