"""One-run audits by canaries: published figures, how often the bounds are wrong, and what must be detected."""

from functools import cache

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import binom

import mipsim as mi
from mipsim.audits.one_run import OneRun, chance_of_the_nearest_number, guess_plan
from mipsim.audits.scores import Scores
from mipsim.theory.one_run import (
    epsilon_bound,
    largest_refused,
    mu_bound,
    p_value,
    refuses_curve,
    refuses_epsilon,
    refuses_gdp,
)

RISK = 0.05


def hull(shift: float) -> tuple[int, list[tuple[int, int]]]:
    """(thresholds, (right, wrong) guesses "in") on the convex hull of 10,000 + 10,000 canary scores at the normal quantiles."""
    out = ndtri((np.arange(10_000) + 0.5) / 10_000)
    at = np.append(np.union1d(out, out + shift), np.inf)
    result: list[tuple[int, int]] = []
    for c, d in zip(
        np.searchsorted(out + shift, at).tolist(), np.searchsorted(out, at).tolist(), strict=True
    ):
        while len(result) > 1:
            (a, b), (e, f) = result[-2:]
            if (e - a) * (d - b) < (f - b) * (c - a):
                break
            result.pop()
        result.append((c, d))
    return len(result), [(10_000 - a, 10_000 - b) for a, b in result if (a, b) != (10_000, 10_000)]


PUBLISHED = {1: (1.13346, 2.164749), 2: (2.311945, 4.7218075), 4: (4.395568, 9.133752)}


@pytest.mark.evidence
@pytest.mark.parametrize("shift", [1, *(pytest.param(shift, marks=pytest.mark.slow) for shift in (2, 4))])
def test_both_bounds_reproduce_the_published_figures(shift: int) -> None:
    """Of a public implementation, delta = 1e-6: all thresholds of the hull share the significance of .05, as they do there."""
    count, thresholds = hull(shift)
    epsilon = mu = 0.0
    for right, wrong in sorted(thresholds, key=lambda at: at[1] - at[0]):
        epsilon = epsilon_bound(20_000, right + wrong, right, 1e-6, RISK / count, epsilon)
        mu = mu_bound(20_000, right + wrong, right, RISK / count, mu)
    assert epsilon == pytest.approx(PUBLISHED[shift][0], abs=1e-6)
    # Their search ends within 1e-6 of mu; epsilon is some 2.7 times as steep.
    assert float(mi.GaussianTradeOff(mu).epsilon(1e-6)) == pytest.approx(PUBLISHED[shift][1], abs=3e-6)


@pytest.mark.parametrize("shift", [1, 2, 4])
def test_fixed_numbers_of_guesses_show_more_than_the_published_choice(shift: int) -> None:
    out = ndtri((np.arange(10_000) + 0.5) / 10_000)
    scores = Scores.of(np.concatenate([out, out + shift]), np.repeat([0, 1], 10_000))
    run = OneRun(scores, RISK / chance_of_the_nearest_number(scores.member, 0.5))  # of fair coins, as there
    curve = mi.GaussianTradeOff(run.mu())
    assert PUBLISHED[shift][0] < run.epsilon(1e-6) < float(mi.GaussianTradeOff(shift).epsilon(1e-6))
    assert PUBLISHED[shift][1] < float(curve.epsilon(1e-6)) < float(mi.GaussianTradeOff(shift).epsilon(1e-6))


def canaries(rng: np.random.Generator, n: int, mu: float) -> Scores:
    coins = rng.random(n) < 0.5
    return Scores.of(rng.normal(size=n) + mu * coins, coins)


def misses(n: int, mu: float, runs: int) -> np.ndarray:
    """How many of so many audits refuse the truth, (mu, epsilon at 1e-5), which is how often their bounds pass it."""
    rng, epsilon = np.random.default_rng([n, round(2 * mu)]), float(mi.GaussianTradeOff(mu).epsilon(1e-5))

    @cache  # many audits have as many right guesses
    def refused(number: int, right: int, risk: float) -> tuple[bool, bool]:
        return refuses_gdp(n, number, right, mu, risk), refuses_epsilon(n, number, right, epsilon, 1e-5, risk)

    missed = np.zeros(2)
    for _ in range(runs):
        run = OneRun(canaries(rng, n, mu), RISK)
        missed += np.any([refused(item.number, item.right, run.risk) for item in run.guesses], axis=0)
    return missed


@pytest.mark.parametrize(("n", "mu"), [(200, 0.0), (2000, 0.0), (1000, 1.0)])
def test_bounds_are_wrong_as_rarely_as_stated(n: int, mu: float) -> None:
    """Independent Gaussian canaries, some of which leak nothing; misses of 200 audits below the 1e-9 quantile."""
    assert (misses(n, mu, 200) <= binom.isf(1e-9, 200, RISK)).all()


@pytest.mark.filterwarnings("ignore:.*canaries are in; fair coins")
@pytest.mark.slow
@pytest.mark.parametrize("mu", [0.0, 0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("n", [100, 1000, 10_000])
def test_the_whole_table(n: int, mu: float) -> None:
    """2,000 audits a cell: misses below the 1e-6 quantile of the nominal binomial, so that at the nominal rate all 30 counts fail with
    3e-5 together."""
    missed = misses(n, mu, 2000)
    print(f"{n} {mu:g}: {missed[0]:g} miss mu, {missed[1]:g} epsilon, of 2000")
    assert (missed <= binom.isf(1e-6, 2000, RISK)).all()


def response(rng: np.random.Generator, n: int, epsilon: float) -> Scores:
    """Canaries reported by randomised response, each a score of its own: the guarantee is tight."""
    coins = rng.random(n) < 0.5
    report = coins ^ (rng.random(n) > 1.0 / (1.0 + np.exp(-epsilon)))
    return Scores.of(report * 1.0 + 0.5 * rng.random(n), coins)


@pytest.mark.evidence
@pytest.mark.filterwarnings(
    "ignore:.*canaries are in; fair coins"
)  # a p-value of 1e-3 is due in some of 2,000 audits
@pytest.mark.parametrize("guesses", [(500, 500), (400, 0)])
def test_the_bound_of_randomised_response_is_wrong_nearly_as_often_as_stated(
    guesses: tuple[int, int],
) -> None:
    """At delta = 0 the theorem is tight there; 2,000 audits with guesses that were fixed: neither too often nor too rarely."""
    rng, runs, epsilon = np.random.default_rng(4), 2000, 1.0
    missed = 0
    for _ in range(runs):
        (item,) = OneRun(response(rng, 1000, epsilon), RISK, guesses).guesses
        missed += refuses_epsilon(1000, item.number, item.right, epsilon, 0.0, RISK)
    assert missed <= binom.isf(1e-9, runs, RISK)
    assert missed >= binom.ppf(1e-9, runs, RISK / 2)  # discreteness keeps some


def test_an_epsilon_five_per_cent_too_small_is_refuted() -> None:
    rng, runs = np.random.default_rng(5), 20
    result = [OneRun(response(rng, 20_000, 1.05), RISK, (5000, 5000)) for _ in range(runs)]
    right = [OneRun(response(rng, 20_000, 1.0), RISK, (5000, 5000)) for _ in range(runs)]
    refuted, wrongly = (
        sum(refuses_epsilon(20_000, 10_000, run.guesses[0].right, 1.0, 0.0, RISK) for run in several)
        for several in (result, right)
    )
    assert wrongly <= binom.isf(1e-9, runs, RISK)
    assert refuted > binom.isf(1e-9, runs, RISK)


def test_a_number_of_guesses_chosen_for_free_would_be_caught() -> None:
    """The best of all numbers of guesses, each at the whole failure probability, is wrong far more often than stated."""
    rng, runs, n = np.random.default_rng(6), 400, 400
    missed = 0
    for _ in range(runs):
        scores = canaries(rng, n, 0.0)
        result = np.cumsum(scores.member[np.argsort(-scores.values)])
        r = np.arange(10, n + 1, 5)
        missed += bool(
            (binom.sf(result[r - 1] - 1, r, 0.5) <= RISK).any()
        )  # the p-value at epsilon = delta = 0
    assert missed > binom.isf(1e-9, runs, RISK)


def test_a_promised_curve_is_judged_as_its_mu() -> None:
    """The same decision by the general recursion with G_mu, whose inverse is by the curve, as by the closed form."""
    rng = np.random.default_rng(8)
    run = OneRun(canaries(rng, 2000, 2.0), RISK)
    mu = run.mu()
    assert run.refutes(mi.GaussianTradeOff(mu - 1e-6))
    assert not run.refutes(mi.GaussianTradeOff(mu + 1e-6))


def test_a_promise_in_a_single_direction_counts_by_its_symmetric_part() -> None:
    run = OneRun(canaries(np.random.default_rng(9), 4000, 3.0), RISK)
    for claim in (mi.FoldedLaplaceTradeOff(1.0), mi.FoldedLaplaceTradeOff(1.0).inverse()):
        assert run.refutes(claim)
    assert not run.refutes(
        mi.ApproxDPTradeOff(0.0, 0.5)
    )  # delta sometimes reveals everything: a single run shows nothing against it


def test_the_plan_is_fixed_by_the_number_of_canaries() -> None:
    for n in (100, 101, 12_345):
        plan = guess_plan(n)
        assert all(16 <= a + b + 1 <= n + 1 for a, b in plan)
        assert len(set(plan)) == len(plan)


@pytest.mark.parametrize("confidence", [0.95, 0.999])
def test_noise_four_times_too_small_is_refuted(confidence: float) -> None:
    """1,000 ideal canaries at a shift of 4, promised (3, 1e-5)-DP: theorem 5.2 pays 2 canaries delta, at 0.999 more than there is."""
    rng = np.random.default_rng(3)
    coins = rng.random(1000) < 0.5
    scores = rng.normal(size=1000) + 4.0 * coins
    result = mi.audit(scores, coins, design="one-run", claim="epsilon=3,delta=1e-5", confidence=confidence)
    assert str(result.verdict) == "REFUTED"
    assert all(
        p_value(1000, item.number, item.right, 3.0, 1e-5) > (1.0 - 0.999) / len(result.guesses)
        for item in result.guesses
    )


@pytest.mark.parametrize("share", [0.6, 0.75, 0.95])
@pytest.mark.parametrize("canaries_", [100, 1000])
def test_the_curve_shows_hardly_less_than_theorem_5_2_and_does_not_pay_for_delta(
    canaries_: int, share: float
) -> None:
    """The theorem is sharp at delta = 0. At 1e-5, 1,000 canaries and 0.999 it pays more than there is."""
    guesses = canaries_ // 2
    right = round(share * guesses)

    def by_curve(delta: float, risk: float) -> float:
        return largest_refused(
            lambda epsilon: refuses_epsilon(canaries_, guesses, right, epsilon, delta, risk), 0.0, 50.0
        )

    assert by_curve(0.0, RISK) >= epsilon_bound(canaries_, guesses, right, 0.0, RISK) - 0.02
    assert by_curve(1e-5, 0.001) >= epsilon_bound(canaries_, guesses, right, 1e-5, 0.001) - 0.02


def test_epsilon_is_judged_as_its_curve() -> None:
    run = OneRun(canaries(np.random.default_rng(10), 2000, 2.0), RISK)
    epsilon = run.epsilon(1e-5)
    assert run.refutes(mi.ApproxDPTradeOff(epsilon - 1e-6, 1e-5))
    assert not run.refutes(mi.ApproxDPTradeOff(epsilon + 1e-6, 1e-5))


def test_all_right_guesses_by_hand() -> None:
    """r of r right under (epsilon, 0): q^r, q = 1 / (1 + e^-epsilon)."""
    assert epsilon_bound(50, 20, 20, 0.0, 0.01) == pytest.approx(-np.log(0.01 ** (-1 / 20) - 1), abs=1e-8)
    assert epsilon_bound(50, 20, 20, 0.0, 0.01, least=9.0) == 9.0
    assert epsilon_bound(50, 20, 10, 0.0, 0.01) == 0.0


def test_the_recursion_by_hand() -> None:
    """A single guess of a single canary, right: r = s, h = 0, then h = f; refused where s + 0 (h - 0) + h > 1, here f(s) = s / 2."""
    assert refuses_curve(1, 1, 1, lambda tpr: tpr / 2.0, 0.7)
    assert not refuses_curve(1, 1, 1, lambda tpr: tpr / 2.0, 0.6)


def test_an_audit_prints_the_guesses_behind_each_bound() -> None:
    """All 1,000 of the outer guesses are right, and of all 2,000 fewer: the first give epsilon."""
    rng = np.random.default_rng(0)
    coins = rng.random(2000) < 0.5
    shown = mi.audit(rng.normal(size=2000) + 4.0 * coins, coins, design="one-run")
    by = shown.deciding_guesses["epsilon"]
    assert f"{by.right:,} of {by.number:,} guesses right" in str(shown)
    alone = mi.audit(rng.normal(size=200), rng.random(200) < 0.5, design="one-run")
    assert (alone.epsilon_lower_bound > 0.0) == ("epsilon" in alone.deciding_guesses)
