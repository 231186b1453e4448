"""Audits of scores that arrive in sequence."""

import pickle

import numpy as np
import pytest
from scipy.stats import binom

import mipsim as mi


def stream(seed: int, scores: int, mu: float = 1.0):
    rng = np.random.default_rng(seed)
    member = rng.random(scores) < rng.uniform(0.2, 0.8)  # worlds that arrive at different rates
    return rng.normal(size=scores) + mu * member, member


def judged(claim, scores, member, batch: int, **how) -> mi.RunningAudit:
    audit = mi.RunningAudit(claim, **how)
    for start in range(0, len(scores), batch):
        audit.update(scores[start : start + batch], member[start : start + batch])
    return audit


@pytest.mark.parametrize("how", [{}, {"pilot": 37}, {"thresholds": [-1.0, 0.5, 2.0]}], ids=str)
def test_batches_change_nothing(how) -> None:
    scores, member = stream(0, 900)
    whole = judged("mu=0.3", scores, member, 900, **how)
    assert whole.verdict == "REFUTED"
    assert whole.scores == 900
    at = whole.refuted_at
    assert at is not None
    for batch in (1, 7, 250):
        other = judged("mu=0.3", scores, member, batch, **how)
        assert (other.refuted_at, str(other)) == (whole.refuted_at, str(whole))
    assert judged("mu=0.3", scores, member, at - 1, **how).refuted_at == at
    assert judged("mu=0.3", scores[: at - 1], member[: at - 1], 900, **how).verdict == "INCONCLUSIVE"


def test_a_refutation_stays_and_the_truth_never_stops() -> None:
    scores, member = stream(1, 20_000)
    audit = judged("mu=0.8", scores[:15_000], member[:15_000], 15_000)
    at = audit.refuted_at
    audit.update(np.zeros(2000), np.arange(2000) % 2)  # scores that say nothing
    assert (audit.verdict, audit.refuted_at) == ("REFUTED", at)
    same = judged("mu=1", scores, member, 20_000)
    assert same.verdict == "INCONCLUSIVE"
    assert same.curve is not None
    assert 0.85 < same.curve.mu_lower_bound() < 1.0


def test_what_is_no_score_is_refused_and_nothing_is_taken() -> None:
    audit = mi.RunningAudit("mu=1", thresholds=[0.0])
    for scores, member, error in (
        ([0.1, np.nan], [0, 1], "scores holds nan at index 1"),
        ([0.1, 0.2], [0, 2], "member hold 1 and 0 alone"),
        ([0.1, 0.2], [0], "they must be vectors of the same length"),
    ):
        with pytest.raises(ValueError, match=error):
            audit.update(scores, member)
    assert (audit.scores, audit.curve) == (0, None)
    with pytest.raises(ValueError, match="pilot is 5 beside"):
        mi.RunningAudit("mu=1", pilot=5, thresholds=[0])


def test_ties_a_world_that_is_late_and_a_copy() -> None:
    """A yes/no attack whose first 300 scores are all of the same world, continued from its pickle."""
    rng = np.random.default_rng(2)
    audit = mi.RunningAudit("epsilon=0.5,delta=1e-5")
    audit.update(1.0 * (rng.random(300) < 0.2), np.zeros(300))
    assert (audit.verdict, audit.curve) == ("INCONCLUSIVE", None)
    copy = pickle.loads(pickle.dumps(audit))
    yes = 1.0 * (rng.random(300) < 0.8)
    assert audit.update(yes, np.ones(300)) == copy.update(yes, np.ones(300)) == "REFUTED"
    assert audit.refuted_at == copy.refuted_at


def test_a_promised_rate_is_judged_by_its_curve() -> None:
    scores, member = stream(3, 2000, 3.0)
    assert judged("tpr=0.2,fpr=0.1", scores, member, 2000).verdict == "REFUTED"
    assert judged("tpr=0.99,fpr=0.1", scores, member, 2000).verdict == "INCONCLUSIVE"


@pytest.mark.evidence
@pytest.mark.parametrize("mu", [0.0, 1.0])
def test_a_true_promise_is_refuted_in_few_of_100_streams(mu) -> None:
    """At 95% confidence, 600 scores each; the control, a promise that is 40% too low, is refuted in most."""
    claim, low = mi.GaussianTradeOff(mu), mi.GaussianTradeOff(0.6)
    wrong = sum(judged(claim, *stream(seed, 600, mu), 600).verdict == "REFUTED" for seed in range(100))
    print(f"mu = {mu:g}: {wrong} of 100 true promises refuted")
    assert wrong <= binom.isf(1e-9, 100, 0.05)
    if mu:
        right = sum(judged(low, *stream(seed, 2000, mu), 2000).verdict == "REFUTED" for seed in range(20))
        assert right >= 10
