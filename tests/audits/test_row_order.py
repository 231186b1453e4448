"""The order of rows changes nothing in any audit, and rows sorted by world or score make no false claims more often than stated."""

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, norm

import mipsim as mi
from mipsim import audits
from mipsim.audits.designs import DESIGNS, choose_from_clusters
from mipsim.audits.one_run import OneRun, guess_plan, tie_free_split
from mipsim.audits.runs import judged_canaries
from mipsim.audits.scores import Scores
from mipsim.theory.one_run import p_value

RISK = 0.05
SIZES = (330, 990)
"""By 990 rows an order that n alone decides is caught; other sizes are slow."""


def tied_but_a_single(rng: np.random.Generator, n: int) -> np.ndarray:
    return (np.arange(n) == rng.integers(n)) * 1.0


SCORES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "continuous": lambda rng, n: rng.normal(size=n),
    "the same in all audits": lambda rng, n: np.arange(n) * 1.0,
    "few values": lambda rng, n: rng.integers(5, size=n) * 1.0,
    "yes or no": lambda rng, n: (rng.random(n) < 0.99) * 1.0,
    "tied but a single score": tied_but_a_single,
}
"""Scores that say nothing of the coins."""
ORDERS: dict[str, Callable[[np.random.Generator, Scores], np.ndarray]] = {
    "members first": lambda rng, s: np.lexsort((s.values, s.member))[::-1],
    "members last": lambda rng, s: np.lexsort((s.values, s.member)),
    "sorted by score": lambda rng, s: np.lexsort((s.member, s.values)),
    "reversed": lambda rng, s: np.arange(s.values.size)[::-1],
    "shuffled": lambda rng, s: rng.permutation(s.values.size),
}


def nothing(rng: np.random.Generator, kind: str, n: int, coin: float = 0.5) -> Scores:
    """Coins, and scores that are independent of them."""
    while True:
        values, coins = SCORES[kind](rng, n), rng.random(n) < coin
        if np.ptp(values) > 0.0 and 0 < coins.sum() < n:
            return Scores.of(values, coins)


def nothing_in_clusters(rng: np.random.Generator, kind: str, clusters: int) -> Scores:
    """Clusters of three rows with the same score, and in half of the cases the same world: contents depend on membership."""
    while True:
        values, coins = np.repeat(SCORES[kind](rng, clusters), 3), rng.random(3 * clusters) < 0.5
        if rng.random() < 0.5:
            coins = np.repeat(coins[:clusters], 3)
        if np.ptp(values) > 0.0 and 0 < coins.sum() < coins.size:
            return Scores.of(values, coins, np.arange(3 * clusters) // 3)


def nothing_in_runs(rng: np.random.Generator, kind: str, n: int) -> Scores:
    """Records in ten runs; each record in exactly half of them, or by coins of a probability of its own."""
    records = n // 10
    while True:
        coins = rng.random((records, 10)).argsort(axis=1) < 5
        if rng.random() < 0.5:
            coins = rng.random((records, 10)) < rng.uniform(0.3, 0.7, (records, 1))
        values = np.round(SCORES[kind](rng, coins.size), 1).reshape(coins.shape)
        if np.ptp(values[:, 3:]) > 0.0 and 0 < coins.sum() < coins.size:
            return Scores.of(values, coins, rows="records")


@dataclass(frozen=True)
class Case:
    """An audit of nothing.

    Attributes:
        design: how the scores were collected.
        draw: scores of a kind, of a size.
        options: of the audit.
        repeats: audits of each kind and order, at each size.
    """

    design: str
    draw: Callable[[np.random.Generator, str, int], Scores]
    options: Mapping[str, Any] = field(default_factory=dict)
    repeats: int = 1

    def decided(self, scores: Scores, place: np.ndarray) -> dict[str, object]:
        """All that the audit says of the rows in an order, or why it says nothing."""
        names = {"cluster": scores.cluster, "runs": scores.run, "records": scores.record}
        given: dict[str, Any] = {k: x[place] for k, x in names.items() if x.size}
        if self.design == "independent":
            given["runs"] = scores.values.size
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*canaries are in")  # expected in 1 of 1,000
            try:
                return mi.audit(
                    scores.values[place],
                    scores.member[place],
                    design=self.design,
                    claim="mu=0",
                    confidence=1.0 - RISK,
                    **given,
                    **self.options,
                ).to_dict()
            except ValueError as error:  # where equal scores alone were chosen
                return {"verdict": None, "says": str(error)}


CASES = {
    "independent": Case("independent", nothing),
    "clustered": Case("clustered", nothing_in_clusters),
    "one-run": Case("one-run", nothing, repeats=10),
    "one-run, unfair coins": Case(
        "one-run",
        lambda rng, kind, n: nothing(rng, kind, 2 * n, 0.7),  # of which 0.6 remain
        {"inclusion_probability": 0.7},
        repeats=10,
    ),
    "runs": Case("runs", nothing_in_runs, repeats=10),
    "runs, some of which calibrate": Case("runs", nothing_in_runs, {"shadow": [0, 1, 2]}, repeats=10),
    "one-run, given guesses": Case("one-run", nothing, {"guesses": (40, 30)}, repeats=10),
}
"""Every audit, and for each what says nothing."""
# 990 independent scores or clusters say what 330 do: their bounds are calibrated, and slow.
AUDITED = [
    pytest.param(name, n, marks=() if n == 330 or (n == 990 and case.repeats > 1) else pytest.mark.slow)
    for name, case in CASES.items()
    for n in (100, *SIZES, 2100)
]


@pytest.fixture
def only_mu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Audits of independent scores compute the bound that the claim mu = 0 is about."""
    for bound in ("epsilon_lower_bound", "advantage_lower_bound"):
        monkeypatch.setattr(mi.EmpiricalTradeOff, bound, lambda *_: 0.0)


def test_every_audit_has_a_case() -> None:
    """A public function, a design or an option that is new makes this fail."""
    public = {name for name in dir(audits) if not isinstance(getattr(audits, name), type)}
    assert public == {"audit"}
    assert {case.design for case in CASES.values()} == set(DESIGNS)
    options = {
        name
        for name, parameter in inspect.signature(mi.audit).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    chosen = {name for case in CASES.values() for name in case.options}
    arrays = {"cluster", "runs", "records", "rows", "columns", "higher", "separator"}
    assert options == chosen | arrays | {"design", "claim", "confidence", "delta", "epsilon"}


@pytest.mark.evidence
@pytest.mark.parametrize(("name", "n"), AUDITED)
def test_an_audit_is_the_same_in_every_order_of_rows(fewer_draws, only_mu, name: str, n: int) -> None:
    rng, case = np.random.default_rng([n, len(name)]), CASES[name]
    item = case.draw(rng, list(SCORES)[n % len(SCORES)] if case.repeats == 1 else "few values", n)
    first = case.decided(item, np.arange(item.values.size))
    for order, place in ORDERS.items():
        assert case.decided(item, place(rng, item)) == first, order


@pytest.mark.evidence
@pytest.mark.parametrize(("name", "n"), AUDITED)
def test_no_audit_makes_false_claims_more_often_than_stated(fewer_draws, only_mu, name: str, n: int) -> None:
    """Audits of nothing in each order of rows: claims of each kind of scores, and of all kinds, stay below the 1e-7 quantile of the nominal.

    There are 168 such counts, slow ones included, so that right audits fail here with probability 1.7e-5 at most. Of independent scores and of clusters
    five of a kind are audited, too few to exceed the quantile: there the count of all 25 is what can fail.
    """
    rng, case = np.random.default_rng([n, len(name), 2]), CASES[name]
    counts = {kind: (claims_of_nothing(rng, case, kind, n), len(ORDERS) * case.repeats) for kind in SCORES}
    counts["all"] = tuple(np.sum(list(counts.values()), axis=0))
    for kind, (false, tried) in counts.items():
        assert false <= binom.isf(1e-7, tried, RISK), (kind, false, tried)


def claims_of_nothing(rng: np.random.Generator, case: Case, kind: str, n: int) -> int:
    """How many audits of a kind of scores claim a leak."""
    items = ((case.draw(rng, kind, n), place) for place in ORDERS.values() for _ in range(case.repeats))
    return sum(case.decided(item, place(rng, item))["verdict"] == "REFUTED" for item, place in items)


MAPS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exponential": np.exp2,
    "beside 1": lambda k: 1.0 - (k.max() - k) * 2.0**-53,
    "large and near": lambda k: 1e15 + k / 8.0,
    "from end to end": lambda k: (2.0 * k / k.max() - 1.0) * 1.6e308,
    "to infinity": lambda k: np.where(k == k.max(), np.inf, np.where(k == 0, -np.inf, k)),
}
"""Increasing maps of ranks."""


@pytest.mark.parametrize("kind", ["continuous", "few values"])
@pytest.mark.parametrize("name", CASES)
def test_increasing_maps_of_scores_change_nothing(fewer_draws, only_mu, name: str, kind: str) -> None:
    """All results are equal to the last bit; the order says that infinite scores count by rank."""
    case = CASES[name]
    item = case.draw(np.random.default_rng(len(name)), kind, 330)
    ranks, place = np.unique(item.values, return_inverse=True)[1] * 1.0, np.arange(item.values.size)
    first = case.decided(item, place)
    assert first["verdict"] is not None
    for how, increasing in MAPS.items():
        again = case.decided(replace(item, values=increasing(ranks)), place)
        assert again | {"order": first["order"]} == first, how


def test_names_and_coins_alone_choose_pairs() -> None:
    """Rounded scores are judged in the same pairs, and those of other names in others."""
    item = nothing_in_runs(np.random.default_rng(1), "continuous", 990)
    noise = 1e-9 * np.random.default_rng(2).normal(size=item.values.size)
    renamed = replace(item, record=np.random.default_rng(3).permutation(99)[item.record])
    first, rounded, other = (
        judged_canaries(x)[0] for x in (item, replace(item, values=item.values + noise), renamed)
    )
    assert (first.member == rounded.member).all()
    assert np.allclose(first.values, rounded.values, rtol=0.0, atol=1e-6)
    assert not np.array_equal(first.values, other.values)


def test_names_of_clusters_do_not_choose() -> None:
    item = nothing_in_clusters(np.random.default_rng(0), "continuous", 330)
    renamed = Scores.of(item.values, item.member, np.random.default_rng(1).permutation(330)[item.cluster])
    assert sorted(choose_from_clusters(item).values) == sorted(choose_from_clusters(renamed).values)


@cache
def refused(canaries: int, number: int, right: int, risk: float) -> bool:
    return p_value(canaries, number, right, 0.0, 0.0) <= risk


def test_a_choice_by_the_number_of_rows_alone_would_be_caught() -> None:
    """Equal scores in the order of a permutation that n alone decides, rows sorted by world: some sizes fail in nearly all audits."""
    worst = 0
    for n in SIZES:
        rng, order = np.random.default_rng(n), np.random.default_rng([20_260_102, n]).permutation(n)
        plan, false = guess_plan(n), 0
        for _ in range(50):
            inside = rng.binomial(n, 0.5)
            result = np.concatenate([[0], np.cumsum(order < inside)])
            right = [int(result[a] + b - (inside - result[n - b])) for a, b in plan]
            false += any(
                refused(n, a + b, r, RISK / len(plan)) for (a, b), r in zip(plan, right, strict=True)
            )
        worst = max(worst, false)
    assert worst > binom.isf(1e-9, 50, RISK)  # so many audits of each kind


def test_the_score_of_a_cluster_is_chosen_at_random() -> None:
    """Rows sorted by score, in 300 audits of 150 clusters: chosen ranks have the mean of a random choice, and half are members."""
    rng, size, clusters, runs = np.random.default_rng(5), 5, 150, 300
    rank, member = np.tile(np.arange(size), clusters), np.tile(np.arange(size) % 2 == 0, clusters)
    off = members = 0.0
    for _ in range(runs):
        scores = np.sort(rng.normal(size=(clusters, size)), axis=1).ravel()
        chosen = choose_from_clusters(Scores.of(scores, member, np.repeat(np.arange(clusters), size)))
        off += (
            rank[np.isin(scores, chosen.values)] - 2.0
        ).sum()  # ranks 0, 2, 4 are members, 1 and 3 are not: all have the mean 2
        members += chosen.member.sum() - clusters / 2
    far = float(norm.isf(1e-9)) * np.sqrt(runs * clusters)
    assert abs(off) <= far * np.sqrt(8 / 3)  # the largest variance of a rank
    assert abs(members) <= far * 0.5


def in_order_of_score(rng: np.random.Generator, clusters: int) -> Scores:
    """Clusters of nothing, of four rows each in both worlds, named in the order of their scores, rows sorted."""
    values = np.sort(
        np.sort(rng.normal(size=clusters))[:, None] + 0.1 * rng.normal(size=(clusters, 4)), axis=1
    )
    return Scores.of(values.ravel(), rng.random(4 * clusters) < 0.5, np.arange(4 * clusters) // 4)


def leaks(scores: Scores) -> bool:
    """Whether independent scores show that something leaks."""
    out, inside = scores.values[~scores.member], scores.values[scores.member]
    return (
        mi.EmpiricalTradeOff.from_scores(
            out_scores=out, in_scores=inside, confidence=1 - RISK
        ).mu_lower_bound()
        > 0.0
    )


@pytest.mark.evidence
@pytest.mark.parametrize(
    "clusters", [330, *(pytest.param(n, marks=pytest.mark.slow) for n in (100, 160, 990, 2100))]
)
def test_sorted_clusters_make_no_false_claims_more_often_than_stated(fewer_draws, clusters: int) -> None:
    """30 audits of clusters of nothing stay below the 1e-9 quantile of the nominal binomial."""
    rng = np.random.default_rng([6, clusters])
    false = sum(leaks(choose_from_clusters(in_order_of_score(rng, clusters))) for _ in range(30))
    assert false <= binom.isf(1e-9, 30, RISK)


@pytest.mark.evidence
def test_worlds_chosen_by_the_number_of_clusters_alone_would_be_caught(fewer_draws) -> None:
    """The k-th cluster gives a row of the same world in every audit: the worst of 20,000 such choices fails nearly always."""
    choices = np.random.default_rng(0).random((20_000, 330)) < 0.5
    wanted = choices[np.argmax((choices - choices.mean(axis=1, keepdims=True)) @ np.arange(330.0))]
    rng, false = np.random.default_rng(1), 0
    for _ in range(12):
        scores = in_order_of_score(rng, 330)
        chosen = np.lexsort((scores.member != wanted[scores.cluster], scores.cluster))[::4]
        false += leaks(Scores.of(scores.values[chosen], scores.member[chosen]))
    assert false > binom.isf(1e-9, 12, RISK)


def test_equal_scores_are_ordered_against_the_claim() -> None:
    """By hand: 60 equal scores of 30 members, 25 guesses "in" about them, all of them wrong; no other order has fewer right."""
    values = np.concatenate([np.ones(60), np.zeros(60)])
    member = np.tile([True, False], 60)
    (item,) = OneRun(Scores.of(values, member), RISK, (25, 10)).guesses
    assert item.right == 0
    (item,) = OneRun(Scores.of(values, member), RISK, (40, 60)).guesses
    assert item.right == 10 + 30


def test_a_yes_or_no_attack_keeps_its_power() -> None:
    """All canaries are guessed about and no two equal scores are separated: 1,300 of 2,000 right, whatever the order."""
    member = np.repeat([True, False], 1000)
    right = np.tile(np.arange(1000) < 650, 2)
    run = OneRun(Scores.of((member == right) * 1.0, member), RISK)
    assert [item.right for item in run.guesses if item.number == 2000] == [1300]
    assert run.epsilon(0.0) > 0.4  # log(.65 / .35) = .62


@pytest.mark.parametrize("number", [0, 1, 7, 20])
def test_splits_by_brute_force(number: int) -> None:
    rng = np.random.default_rng(number)
    for _ in range(50):
        values = np.sort(rng.integers(rng.integers(1, 9), size=20))[::-1] * 1.0

        def separated(high: int, values: np.ndarray = values) -> int:
            low_at = 20 - number + high
            above = sum(values[i] == values[high] for i in range(high)) if 0 < high < 20 else 0
            below = sum(values[i] == values[low_at - 1] for i in range(low_at, 20)) if 0 < low_at < 20 else 0
            return above + below

        best = min(range(number + 1), key=lambda high: (separated(high), abs(2 * high - number), high))
        assert tie_free_split(values, number) == (best, number - best)


def test_a_rare_world_is_not_lost() -> None:
    """A single member in each of 200 clusters of 50: a fair coin chooses the world, for all seeds but a share of 1e-10."""
    item = Scores.of(np.arange(10_000.0), np.tile(np.arange(50) == 0, 200), np.repeat(np.arange(200), 50))
    assert abs(int(choose_from_clusters(item).member.sum()) - 100) <= 6.5 * np.sqrt(50)
