"""A second route is a number with an interval that excludes the claim, or it saw nothing."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom, norm

import mipsim as mi
from mipsim import referee as rf
from mipsim.referee.replication import RISK, replicate, share
from mipsim.referee.reporting.wording import claimed_and_true
from verify.by_hand import ahead

RNG = np.random.default_rng(0)


def gaussian(mu: float, games: int = 100_000, **more) -> rf.Draws:
    return rf.Draws(RNG.normal(size=games), RNG.normal(size=games) + mu, "NumPy", **more)


def statement(second, claimed=lambda: mi.GaussianTradeOff(1.0), kind=None) -> rf.Statement:
    return rf.Statement(
        name="s", says="mu is 1", source="nobody", kind=kind or rf.Bound(), domain={"mu": rf.Real(0.5, 3.0)}, claimed=claimed,
        truth=lambda mu: mi.GaussianTradeOff(mu), points=[{"mu": 2.0}], second_route=second,
    )  # fmt: skip


@pytest.mark.parametrize("again", [False, True])
def test_each_test_begins_with_the_same_random_numbers(again: bool):
    assert RNG.random() == np.random.default_rng(0).random()


@pytest.mark.parametrize("alpha", [1e-3, 0.05, 0.5, 0.9])
@pytest.mark.parametrize("mu", [0.0, 1.0, 3.0])
def test_the_interval_of_a_power_holds_it(alpha: float, mu: float):
    """Each fails with a probability below 1e-6 / 28: beta laws of the ranks' FPRs and binomial ones of the hits above them bound the width."""
    seen = gaussian(mu).power(alpha)
    assert seen.low <= norm.cdf(norm.ppf(alpha) + mu) <= seen.high
    assert seen.high - seen.low < (0.32 if alpha < 0.01 else 0.08)


def test_ties_are_split_by_lot():
    """Scores 0 and 1: the power at FPR alpha lies on the chord. They come from `default_rng(0)`: lots of the same generator would sort them."""
    sampled = rf.Draws(*(RNG.binomial(1, p, 100_000) for p in (0.3, 0.8)), how="NumPy")
    for alpha, power in ((0.15, 0.4), (0.3, 0.8), (0.65, 0.9)):
        seen = sampled.power(alpha)
        assert seen.low <= power <= seen.high


def test_the_interval_of_a_share_has_its_risk():
    """By summing the binomial law: no p is left out with more than RISK / 2 on a side."""
    for p in (0.001, 0.1, 0.5):
        hits = np.arange(201)
        ends = np.array([share(float(k), 200)[1:] for k in hits])
        law = binom.pmf(hits, 200, p)
        assert law[ends[:, 0] > p].sum() <= RISK / 2
        assert law[ends[:, 1] < p].sum() <= RISK / 2


@pytest.mark.parametrize(("mu", "seen"), [(2.0, True), (1.0, False), (0.5, False)])
def test_a_stronger_attacker_alone_excludes_a_bound(mu: float, seen: bool):
    sampled = gaussian(mu)
    assert replicate(statement(lambda: sampled), {"mu": 2.0}).excludes is seen
    both = replicate(statement(lambda: sampled, kind=rf.Equality()), {"mu": 2.0})
    assert both.excludes is (mu != 1.0)


def test_the_claim_comes_from_the_statement():
    given = rf.Replication(0.9, 0.8, 1.0, "advantage", "by hand")
    result = replicate(statement(lambda: given, claimed=lambda: 0.5), {"mu": 2.0})
    assert (result.claim, result.one_sided, result.excludes) == (0.5, True, True)
    with pytest.raises(ValueError, match="the second route must say what is claimed"):
        replicate(statement(lambda: given), {"mu": 2.0})
    with pytest.raises(ValueError, match="must return a Replication or Draws"):
        replicate(statement(lambda: "0.9, promised 0.5"), {"mu": 2.0})


@pytest.mark.parametrize(
    ("theorem", "claim"),
    [
        ({}, 1.1),  # none says what the claim tends to: what it is at the size that was measured
        ({"ceiling": rf.Ceiling(0.0, source="school", claimed=1.0)}, 1.0),
        ({"rate": rf.Rate(1.0, 1.0, limit=0.0, source="school", claimed=1.0)}, 1.0),
    ],
)
def test_a_limit_claims_its_limit(theorem, claim):
    given = rf.Replication(0.2, 0.1, 0.3, "power", "by hand", size=10)
    limit = rf.Statement(
        name="s", says="it tends to 1", source="nobody", kind=rf.Limit("n", **theorem), domain={"n": rf.Whole(2, np.inf, hunt_to=100)}, claimed=lambda n: 1.0 + 1.0 / n,
        truth=lambda n: 0.2, points=[{}], second_route=lambda: given,
    )  # fmt: skip
    seen = replicate(limit, {})
    assert seen.claim == pytest.approx(claim)
    assert claimed_and_true(SimpleNamespace(second_route=seen)) == (  # pyright: ignore[reportArgumentType]
        f"Power: {claim:g} in the limit by the claim, about 0.2 true at size 10, in [0.1, 0.3]."
    )


def test_an_event_bounds_an_advantage_and_a_delta_from_below():
    sampled = gaussian(2.0)
    advantage = rf.Number(float(2 * norm.cdf(1.0) - 1))
    assert not sampled.against(advantage, one_sided=False).excludes
    assert sampled.against(rf.Number(0.6), one_sided=False).excludes
    delta = norm.cdf(0.5) - np.exp(1.0) * norm.cdf(-1.5)
    seen = gaussian(2.0, epsilon=1.0).against(rf.Number(0.9 * delta), one_sided=True)
    assert seen.excludes
    assert seen.low <= delta


def test_of_two_attacks_the_stronger_is_reported():
    weak, strong = gaussian(0.5), gaussian(1.0)
    assert ahead(strong, weak, "strong less weak").excludes
    assert not ahead(weak, strong, "weak less strong").excludes


def test_what_fails_or_sees_nothing_says_so():
    failed = rf.judge(statement(lambda: 1 / 0), at={"mu": 2.0}).judged[0].second_route
    assert failed is not None
    assert not failed.excludes
    assert "failed: ZeroDivisionError" in str(failed)
    blind = rf.Replication(0.5, 0.1, 0.9, "power", "by hand", claim=0.5)
    assert "NOT SEEN" in str(blind)
    with pytest.raises(ValueError, match=r"value is 0.5 in \[0.6, 0.7\]"):
        rf.Replication(0.5, 0.6, 0.7, "power", "by hand")
    with pytest.raises(ValueError, match="how is empty"):
        rf.Replication(0.5, 0.4, 0.7, "power", " ")
