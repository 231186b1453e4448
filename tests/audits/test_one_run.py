"""One-run audits by canaries: published figures, how often the bounds are wrong, and what must be detected."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binom

import mipsim as mi
from mipsim.audits.one_run import OneRun, chance_of_the_nearest_number
from mipsim.audits.scores import Scores
from mipsim.theory.one_run import (
    largest_refused,
    mu_bound,
    p_value,
    refuses_curve,
    refuses_epsilon,
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

    def largest(bound: Callable[[int, int, float], float]) -> float:
        """Of all thresholds: near the best of every fortieth."""
        found, best = 0.0, 0
        for k in range(0, len(thresholds), 40):
            if (value := bound(*thresholds[k], found)) > found:
                found, best = value, k
        for right, wrong in thresholds[max(best - 40, 0) : best + 41]:
            found = bound(right, wrong, found)
        return found

    epsilon = largest(lambda r, w, least: epsilon_bound(20_000, r + w, r, 1e-6, RISK / count, least))
    mu = largest(lambda r, w, least: mu_bound(20_000, r + w, r, RISK / count, least))
    assert epsilon == pytest.approx(PUBLISHED[shift][0], abs=1e-6)
    # Their search ends within 1e-6 of mu; epsilon is some 2.7 times as steep.
    assert float(mi.GaussianTradeOff(mu).epsilon(1e-6)) == pytest.approx(PUBLISHED[shift][1], abs=3e-6)


def canaries(rng: np.random.Generator, n: int, mu: float) -> Scores:
    coins = rng.random(n) < 0.5
    return Scores.of(rng.normal(size=n) + mu * coins, coins)


@pytest.mark.parametrize("shift", [1, 2, 4])
def test_fixed_numbers_of_guesses_show_more_than_the_published_choice(shift: int) -> None:
    out = ndtri((np.arange(10_000) + 0.5) / 10_000)
    scores = Scores.of(np.concatenate([out, out + shift]), np.repeat([0, 1], 10_000))
    run = OneRun(scores, RISK / chance_of_the_nearest_number(scores.member, 0.5))  # of fair coins, as there
    curve = mi.GaussianTradeOff(run.mu())
    assert PUBLISHED[shift][0] < run.epsilon(1e-6) < float(mi.GaussianTradeOff(shift).epsilon(1e-6))
    assert PUBLISHED[shift][1] < float(curve.epsilon(1e-6)) < float(mi.GaussianTradeOff(shift).epsilon(1e-6))


def test_a_promise_in_a_single_direction_counts_by_its_symmetric_part() -> None:
    run = OneRun(canaries(np.random.default_rng(9), 4000, 3.0), RISK)
    for claim in (mi.FoldedLaplaceTradeOff(1.0), mi.FoldedLaplaceTradeOff(1.0).inverse()):
        assert run.refutes(claim)
    assert not run.refutes(
        mi.ApproxDPTradeOff(0.0, 0.5)
    )  # delta sometimes reveals everything: a single run shows nothing against it


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


SHIFT, ANSWERS = "a shift of {:g}", "randomised response of epsilon {:g}"
SETTINGS = [
    (n, SHIFT, of) for of, sizes in ((1.0, (500, 1000, 2000, 5000)), (3.0, (500, 1000, 5000))) for n in sizes
]
SETTINGS.append((1000, ANSWERS, 1.0))


def largest_epsilon(run: OneRun, refused: Callable[..., bool], share: float) -> float:
    """By each number of guesses at its share of the failure probability, times `share`; delta = 1e-5."""
    best = 0.0
    for item in run.guesses:
        count = run.canaries, item.number, item.right
        best = largest_refused(
            lambda epsilon, at=count: refused(*at, epsilon, 1e-5, share * run.risk), best, 50.0
        )
    return best


def by_theorem_5_2(n: int, number: int, right: int, epsilon: float, delta: float, risk: float) -> bool:
    return p_value(n, number, right, epsilon, delta) <= risk


@pytest.mark.evidence
@pytest.mark.parametrize(("n", "kind", "of"), SETTINGS)
@pytest.mark.parametrize("audits", [5, pytest.param(100, marks=pytest.mark.slow)])
def test_no_valid_rival_shows_more(n: int, kind: str, of: float, audits: int) -> None:
    """Medians of epsilon at 95%, the table of `docs/audit-evidence.md`."""
    rng, rows = np.random.default_rng([11, n]), []
    for _ in range(audits):
        coins = rng.random(n) < 0.5
        answers = coins ^ (rng.random(n) > 1.0 / (1.0 + np.exp(-of)))
        run = OneRun(canaries(rng, n, of) if kind == SHIFT else Scores.of(1.0 * answers, coins), RISK)
        theorem, curve, *halves = (
            largest_epsilon(run, by, share)
            for share in (1.0, 0.5)
            for by in (by_theorem_5_2, refuses_epsilon)
        )
        rows.append((run.epsilon(1e-5), theorem, curve, max(halves)))
    ours, *rivals = np.median(rows, axis=0)
    print(f"| {n:,} | {kind.format(of)} | {' | '.join(f'{value:.3g}' for value in (ours, *rivals))} |")
    assert ours >= max(rivals)


def test_canaries_taken_for_independent_would_be_caught() -> None:
    """All 1,000 are guessed; if 1-GDP meant independent guesses, each right with probability Phi(1/2) at most, false claims would be 69% of all.

    With probability .7 all canaries are answered by randomised response of 1.1, else none. It is 1-GDP: the corners of its ROC curve are below that of G_1.
    """
    answered, right = 0.7, 1.0 / (1.0 + np.exp(-1.1))
    corners = answered * np.array([1.0 - right, right]) + np.array([[0.0], [1.0 - answered]])
    assert (corners[:, 1] <= ndtr(ndtri(corners[:, 0]) + 1.0)).all()
    needed = binom.isf(RISK, 1000, ndtr(0.5))  # the test says "more than 1-GDP" above
    assert answered * binom.sf(needed, 1000, right) > 0.69


def epsilon_bound(
    canaries: int, guesses: int, right: int, delta: float, risk: float, least: float = 0.0
) -> float:
    """By theorem 5.2 of Steinke, Nasr and Jagielski (2023)."""
    return largest_refused(
        lambda epsilon: p_value(canaries, guesses, right, epsilon, delta) <= risk, least, 700.0
    )


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
