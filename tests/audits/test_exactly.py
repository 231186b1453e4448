"""Audits of few games against every outcome, summed with its probability: bounds are wrong at most as often as stated."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from mipsim.bands import approximate_dp, family_lower_bound, gdp, total_variation
from mipsim.theory.one_run import p_value, refuses_epsilon, refuses_gdp, refuses_order

RISKS = (0.5, 0.3, 0.1, 0.05, 0.01, 0.001)
CANARIES = 12
PLANS = [(6, 6), (4, 4), (5, 0), (0, 7), (12, 0), (1, 0)]


def outcomes(chances: np.ndarray, games: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """How many of independent games end in each way, with the probability of it."""

    def counts(left: int, ways: int) -> Iterator[tuple[int, ...]]:
        for first in range(left + 1) if ways > 1 else [left]:
            yield from ((first, *rest) for rest in (counts(left - first, ways - 1) if ways > 1 else [()]))

    for count in counts(games, chances.size):
        several = math.factorial(games) / math.prod(map(math.factorial, count))
        yield count, several * float(np.prod(chances ** np.array(count)))


def right_guesses(answers: np.ndarray, plan: tuple[int, int]) -> np.ndarray:
    """P(r guesses right), r = 0, 1, ..., of canaries with fair coins.

    Args:
        answers: P(answer | coin) of the mechanism about each canary, answers by falling score, shape (2, answers).
        plan: how many guesses "in" and how many "out".
    """
    inside, outside = plan
    law = np.zeros(inside + outside + 1)
    member = answers[1] / answers.sum(axis=0)  # P(in | answer): given the answers the coins are independent
    for count, chance in outcomes(answers.mean(axis=0), CANARIES):
        ordered = np.repeat(member, count)
        several = np.ones(1)
        for p in [*ordered[:inside], *(1.0 - ordered[CANARIES - outside :])]:
            several = np.convolve(several, [1.0 - p, p])
        law += chance * several
    assert law.sum() == pytest.approx(1.0, abs=1e-12)
    return law


def response(epsilon: float, delta: float = 0.0) -> np.ndarray:
    """Randomised response, which gives its coin away with probability delta: (epsilon, delta)-DP and no less."""
    q = (1.0 - delta) / (1.0 + math.exp(-epsilon))
    report = np.array([[0.0, 1.0 - delta - q, q, delta], [delta, q, 1.0 - delta - q, 0.0]])
    return report[:, report.sum(axis=0) > 0.0]


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("delta", [0.0, 0.01, 0.2])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])  # of 0 and 0: scores of nothing, in any order
def test_the_epsilon_of_one_run(plan: tuple[int, int], delta: float, epsilon: float) -> None:
    law, number = right_guesses(response(epsilon, delta), plan), sum(plan)
    values = [p_value(CANARIES, number, right, epsilon, delta) for right in range(number + 1)]
    for risk in RISKS:
        refused = [
            refuses_epsilon(CANARIES, number, right, epsilon, delta, risk) for right in range(number + 1)
        ]
        assert law[[value <= risk for value in values]].sum() <= risk
        assert law[refused].sum() <= risk


ORDER = (2, 4, 6)  # numbers of guesses


def right_in_order(answers: np.ndarray) -> dict[tuple[int, ...], float]:
    """The joint distribution of the numbers of right guesses, of as many canaries as the last of `ORDER`, the surest first."""
    chance, sure = answers.mean(axis=0), answers.max(axis=0) / answers.sum(axis=0)
    result: dict[tuple[int, ...], float] = {}
    for count, weight in outcomes(chance, ORDER[-1]):
        right = np.sort(np.repeat(sure, count))[::-1]
        for bits in itertools.product((False, True), repeat=ORDER[-1]):
            numbers = tuple(sum(bits[:n]) for n in ORDER)
            share = weight * float(np.prod(np.where(bits, right, 1.0 - right)))
            result[numbers] = result.get(numbers, 0.0) + share
    return result


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (0.5, 0.0), (2.0, 0.0), (0.5, 0.01), (2.0, 0.01)])
def test_the_epsilon_of_several_numbers_together(epsilon: float, delta: float) -> None:
    """Wrong as often as stated; an epsilon 5% smaller, without delta, would be caught at some failure probability."""
    joint = right_in_order(response(epsilon, delta))
    assert sum(joint.values()) == pytest.approx(1.0, abs=1e-12)

    def refused(at: float, risk: float) -> float:
        return sum(chance for right, chance in joint.items() if refuses_order(ORDER, right, at, risk))

    risks = np.append(RISKS, np.linspace(0.02, 0.6, 59))
    paid = ORDER[-1] * delta / (1.0 + math.exp(epsilon))
    assert all(refused(epsilon, risk) <= risk + paid for risk in risks)
    if epsilon > 0.0 and delta == 0.0:
        assert any(refused(0.95 * epsilon, risk) > risk for risk in risks)


def pair_of(answers: np.ndarray) -> np.ndarray:
    """P(answers | which of two runs has the record), by falling likelihood ratio."""
    both = np.array([np.kron(answers[0], answers[1]), np.kron(answers[1], answers[0])])
    ratio = both[1] / both.sum(axis=0).clip(1e-300)
    level, place = np.unique(-np.round(ratio, 12), return_inverse=True)
    return np.array([np.bincount(place, weights=row, minlength=level.size) for row in both])


def turned(epsilon: float, delta: float, records: int, runs: int) -> np.ndarray:
    """What uses up (epsilon, delta) where so many records change in so many runs; of two records by group privacy."""
    if records == 2:
        epsilon, delta = 2.0 * epsilon, delta * (1.0 + math.exp(epsilon))
    answers = response(epsilon, delta)
    return pair_of(answers) if runs == 2 else answers


EXCHANGES = [(1, 2), (2, 1), (2, 2)]


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (0.5, 0.05), (2.0, 0.0), (2.0, 0.05)])
@pytest.mark.parametrize(("records", "runs"), EXCHANGES)
def test_the_epsilon_of_exchanges(
    plan: tuple[int, int], epsilon: float, delta: float, records: int, runs: int
) -> None:
    law, number = right_guesses(turned(epsilon, delta, records, runs), plan), sum(plan)
    for risk in RISKS:
        refused = [
            refuses_epsilon(CANARIES, number, right, epsilon, delta, risk, records=records, runs=runs)
            for right in range(number + 1)
        ]
        assert law[refused].sum() <= risk


@pytest.mark.parametrize(("records", "runs"), EXCHANGES)
def test_an_epsilon_of_exchanges_five_per_cent_too_small_would_be_caught(records: int, runs: int) -> None:
    """A single exchange, right as often as its losses allow: refused at a smaller epsilon, not at its own."""
    law, how = right_guesses(turned(1.0, 0.0, records, runs), (1, 0)), {"records": records, "runs": runs}
    risk = float(law[-1]) * (1.0 - 1e-6)
    assert refuses_epsilon(CANARIES, 1, 1, 0.95, 0.0, risk, **how)
    assert not refuses_epsilon(CANARIES, 1, 1, 1.0, 0.0, risk, **how)


@pytest.mark.parametrize("number", [1, 5, 12])
@pytest.mark.parametrize("delta", [0.01, 0.2, 0.7])
def test_a_mechanism_that_gives_all_canaries_away_at_once(number: int, delta: float) -> None:
    """(0, delta)-DP; the guesses hang together as far as they can."""
    law = (1.0 - delta) * binom.pmf(range(number + 1), number, 0.5)
    law[-1] += delta
    values = [p_value(CANARIES, number, right, 0.0, delta) for right in range(number + 1)]
    for risk in RISKS:
        refused = [refuses_epsilon(CANARIES, number, right, 0.0, delta, risk) for right in range(number + 1)]
        assert law[[value <= risk for value in values]].sum() <= risk
        assert law[refused].sum() <= risk


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("cuts", [[0.5], [-0.5, 0.0, 1.5]])
@pytest.mark.parametrize("mu", [0.0, 0.5, 1.0, 3.0])
def test_the_mu_of_one_run(plan: tuple[int, int], cuts: list[float], mu: float) -> None:
    """Gaussian scores rounded to few steps are still mu-GDP."""
    ends = np.array([np.inf, *(mu * cut for cut in sorted(cuts, reverse=True)), -np.inf])
    answers = np.array([-np.diff(ndtr(ends - shift)) for shift in (0.0, mu)])
    law, number = right_guesses(answers[:, answers.sum(axis=0) > 0.0], plan), sum(plan)
    for risk in RISKS:
        refused = [refuses_gdp(CANARIES, number, right, mu, risk) for right in range(number + 1)]
        assert law[refused].sum() <= risk


@pytest.mark.parametrize("number", [1, 3, 5])
def test_an_epsilon_five_per_cent_too_small_would_be_caught(number: int) -> None:
    """All guesses right: refused at the p-value of the smaller epsilon, which happens more often than that under the true epsilon.

    Few of the twelve are guessed: all of them in two halves must go against some answers, and are right less often than allowed.
    """
    law = right_guesses(response(2.0), (number - number // 2, number // 2))
    risk = p_value(CANARIES, number, number, 0.95 * 2.0, 0.0)
    assert law[-1] > risk * (1.0 + 1e-3)
    assert law[-1] <= p_value(CANARIES, number, number, 2.0, 0.0) * (1.0 + 1e-12)


def test_a_curve_five_per_cent_too_high_would_be_caught() -> None:
    """Five right guesses of five: at some risk the smaller epsilon is refused, and the true epsilon is not."""
    law = right_guesses(response(2.0), (3, 2))
    risk = law[-1] * (1.0 - 1e-6)
    assert refuses_epsilon(CANARIES, 5, 5, 0.9 * 2.0, 0.0, risk)
    assert not refuses_epsilon(CANARIES, 5, 5, 2.0, 0.0, risk)


@pytest.mark.evidence
@pytest.mark.parametrize(
    "family", [gdp(), total_variation(), approximate_dp(0.1)], ids=["mu", "v", "epsilon"]
)
def test_independent_scores_of_three_values(fewer_draws, family) -> None:
    """Five games in each world, all 441 outcomes; ties, constant scores and values that a single world takes are among them."""
    games, bounds = 5, {}
    ends = [count for count, _ in outcomes(np.ones(3) / 3.0, games)]
    for out in ends:
        for inside in ends:
            x, y = [out[1] + out[2], out[2]], [inside[0], inside[0] + inside[1]]
            bounds[out, inside] = [
                family_lower_bound(x, games, y, games, family, risk) for risk in (0.3, 0.05)
            ]
    even, rising, falling, sure = np.array([[1, 1, 1], [1, 2, 6], [6, 2, 1], [0, 0, 1]]) / [
        [3],
        [9],
        [9],
        [1],
    ]
    for p, q in [
        (even, even),
        (even, rising),
        (falling, rising),
        (rising, falling),
        (sure, sure),
        (rising, sure),
    ]:
        a, b = np.array([p[1] + p[2], p[2]]), np.array([q[0], q[0] + q[1]])
        with np.errstate(invalid="ignore"):
            at = np.array([f(a) + g(b) for f, g in family.forms])
        right = float(np.where(np.isnan(at), 0.0, at).max(initial=0.0))  # nan: a score that says nothing
        law = {
            (out, inside): item * other
            for out, item in outcomes(p, games)
            for inside, other in outcomes(q, games)
        }
        for k, risk in enumerate((0.3, 0.05)):
            wrong = sum(chance for end, chance in law.items() if bounds[end][k] > right)
            assert wrong <= risk


def test_the_mu_of_randomised_response_is_what_its_curve_says() -> None:
    """A second way to a tight case: mu = 2 Phi^-1(q), a single guess."""
    for epsilon in (0.5, 2.0):
        q = 1.0 / (1.0 + math.exp(-epsilon))
        law = right_guesses(response(epsilon), (1, 0))
        for risk in RISKS:
            refused = [refuses_gdp(CANARIES, 1, right, 2.0 * float(ndtri(q)), risk) for right in range(2)]
            assert law[refused].sum() <= risk
