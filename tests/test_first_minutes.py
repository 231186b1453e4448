"""What a new user mistypes first gets a single sentence before any work."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mipsim as mi

DATA = mi.Gaussian(np.zeros(3), np.ones(3))
GAME = mi.FixedTarget(mi.EmpiricalMean(), DATA, n=10, target=np.ones(3))
# What a type checker does not look into: it would refuse these mistakes itself.
COUNTS: Any = mi.Histogram(np.array([0.0]), np.array([5, 5]), np.array([2, 8]))
FIND: Any = mi.find_noise_multiplier_for_advantage


@pytest.mark.parametrize("attack", [mi.CovarianceScore, mi.GaussianLikelihoodRatio])
def test_an_attack_for_another_number_of_records_is_warned_of(attack: type) -> None:
    with pytest.warns(UserWarning, match="made for a mean of 11 rows, but the game's mechanism averages 10"):
        GAME.exact(attack(DATA, n=11, target=GAME.target))


def _played(**wrong: Any) -> object:
    return mi.play(GAME, mi.CovarianceScore(DATA, n=10, target=GAME.target), games=1000, **wrong)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: _played(confidence=0.9), r"play has no argument 'confidence'; .*: play\(...\).tradeoff\(confidence=0.999\)"),
        (lambda: _played(claim=mi.GaussianTradeOff(1.0)), r"play has no argument 'claim'; .*compare\(claim\), or use decide"),
        (lambda: _played(gmaes=3), "play has no argument 'gmaes'$"),
        (lambda: COUNTS.tradeoff(false_positive_rates=[0.01]), r"tradeoff has no argument 'false_positive_rates'; .*tpr_interval\(\[0.01\]\), .*game.exact\(attack\)"),
        (lambda: COUNTS.tradeoff(gmaes=3), "tradeoff has no argument 'gmaes'$"),
        (lambda: COUNTS.tradeoff().tradeoff(thresholds=9), r"'EmpiricalTradeOff' object has no attribute 'tradeoff'; it is the curve already"),
        (lambda: COUNTS.advantage_interval(), r"'advantage_interval'; call .tradeoff\(\).advantage_interval of it$"),
        (lambda: COUNTS.nothing, r"Histogram has no attribute 'nothing'$"),
        (GAME.exact, r"attack is missing; .* game.exact\(mi.CovarianceScore\(game.data, n=game.n\)\)"),
        (lambda: mi.FixedTarget(mi.EmpiricalMean(), DATA, n=10, target=2.5), r"target has shape \(\); it must have shape \(3,\): write np.full\(3, 2.5\)"),
        (lambda: FIND(0.1, 0.01, 1000), r"2 arguments beyond the .*; write sampling_rate=0.01, steps=1000$"),
    ],
)  # fmt: skip
def test_a_call_in_the_wrong_place_is_answered_with_the_right_call(
    call: Callable[[], object], message: str
) -> None:
    with pytest.raises((TypeError, AttributeError, ValueError), match=message) as error:
        call()
    assert len(str(error.value)) < 200
    assert pickle.loads(pickle.dumps(COUNTS)).games == 10


STATEMENT = mi.referee.Statement(
    name="named", says="A statement.", source="here", kind=mi.referee.Bound(), domain={"mu": mi.referee.Real(0.1, 1.0)},
    claimed=mi.GaussianTradeOff, truth=mi.GaussianTradeOff,
)  # fmt: skip


@pytest.mark.parametrize("confidence", [0.05, 0.4999, 95])
@pytest.mark.parametrize(
    "call",
    [
        lambda c: mi.EmpiricalTradeOff([0.0], [50], 100, [20], 100, c),
        lambda c: mi.EmpiricalTradeOff.from_scores(out_scores=[0.1, 0.2], in_scores=[0.3, 0.4], confidence=c),
        lambda c: mi.audit([0.1, 0.2], [0, 1], design="one-run", confidence=c),
        lambda c: mi.RunningAudit("mu=1", confidence=c),
        lambda c: mi.Until(mi.GaussianTradeOff(1.0), confidence=c),
        lambda c: mi.referee.judge(STATEMENT, confidence=c, budget=0),
        lambda c: mi.referee.hunt(STATEMENT, confidence=c),
        lambda c: mi.ManyHistogram((COUNTS, COUNTS)).tradeoffs(c),
    ],
)
def test_a_failure_probability_in_the_place_of_a_confidence_is_refused(
    call: Callable[[float], object], confidence: float
) -> None:
    with pytest.raises(
        ValueError, match=rf"confidence is {confidence}; .* in \[0.5, 1\): 1 minus the failure"
    ):
        call(confidence)


def test_the_default_of_dpsgd_is_the_convention_of_account() -> None:
    """The directions differ: with "remove" and "add" the TPRs at FPR 0.001 are 0.0334 and 0.0119."""
    curve, how = mi.dpsgd(0.6, 0.01, 1000), {"delta": 1e-5, "epsilon": 1.0, "fpr": 0.001}
    account = mi.account(0.6, 0.01, 1000, **how)  # pyright: ignore[reportArgumentType]
    numbers = account.numbers
    assert curve.epsilon(1e-5) == pytest.approx(numbers["epsilon at delta 1e-05"][1], rel=1e-4)
    assert curve.tpr_bounds(0.001)[1] == pytest.approx(numbers["TPR at FPR 0.001"][1], rel=1e-4)
    assert "direction='both'" in repr(curve)
    assert "add_or_remove" in str(account)
    added = mi.dpsgd(0.6, 0.01, 1000, neighbours="add")
    assert added.epsilon(1e-5) < 0.5 * curve.epsilon(1e-5)
    assert "direction='inverse'" in repr(added)
