"""Coins of a run that are not fair: detected where possible, and accounted for where their probability is known."""

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

import mipsim as mi
from mipsim.audits.one_run import OneRun, chance_of_the_nearest_number
from mipsim.audits.scores import Scores

RISK = 0.05
quiet = pytest.mark.filterwarnings("ignore:.*canaries are in; ")  # the audits of a test are many


@pytest.mark.parametrize("risk", [0.05, 0.001, 1e-6])
def test_a_fixed_half_of_canaries_is_judged_at_its_risk(risk: float) -> None:
    """Exactly, of nothing, where all are guessed and rows may be lost; as fair coins, halves were wrong up to 1.2, 1.3 and 1.4 times as often."""

    def error(half: int, lost: int, pays: bool) -> float:
        n, wrong = 2 * half - lost, 0.0
        for k in range(half - lost, half + 1):
            chance = chance_of_the_nearest_number(np.arange(n) < k, 0.5) if pays else 1.0
            least = int(binom.isf(risk * chance, n, 0.5)) + 1  # right guesses that refute
            high = np.arange(
                k + 1
            )  # members among the upper half: right guesses there, and wrong ones not in the lower half
            right = high + (n - n // 2) - (k - high)
            wrong += (
                hypergeom.pmf(k, 2 * half, half, n) * hypergeom.pmf(high, n, k, n // 2)[right >= least].sum()
            )
        return wrong / risk

    lost = [
        *((half, 0) for half in range(50, 80, 3)),
        *((half, 2) for half in range(51, 80, 3)),
        (60, 10),
        (500, 10),
    ]
    assert max(error(*item, True) for item in lost) <= 1.0
    worst = max(error(half, 0, False) for half in range(50, 80))
    assert worst == pytest.approx({0.05: 1.198, 0.001: 1.285, 1e-6: 1.41}[risk], abs=0.02)  # the control


@quiet
@pytest.mark.parametrize("q", [0.3, 0.52])
def test_known_coins_keep_what_the_scores_show(q: float) -> None:
    """Of 4,000 canaries a share of 2 min(q, 1 - q) remains, and the bound of mu is near that of as many fair coins."""
    rng = np.random.default_rng(2)
    coins = rng.random(4000) < q
    unfair = OneRun(Scores.of(rng.normal(size=4000) + 2.0 * coins, coins), RISK, inclusion_probability=q)
    share = 2.0 * min(q, 1.0 - q)
    assert abs(unfair.canaries - 4000 * share) <= 6.0 * np.sqrt(4000 * share * (1.0 - share))
    fair = rng.random(unfair.canaries) < 0.5
    other = OneRun(Scores.of(rng.normal(size=fair.size) + 2.0 * fair, fair), RISK)
    assert unfair.mu() == pytest.approx(other.mu(), rel=0.15)


def test_the_coins_that_remain_are_fair() -> None:
    """Of the canaries that remain half are in, in 400 audits together; the count is within 6 standard deviations."""
    rng, inside, remaining = np.random.default_rng(3), 0, 0
    for _ in range(400):
        coins = rng.random(500) < 0.7
        run = OneRun(Scores.of(rng.normal(size=500), coins), RISK, inclusion_probability=0.7)
        remaining += run.canaries
        inside += run.canaries - int((~coins).sum())  # all that are out remain
    assert abs(inside - remaining / 2) <= 6.0 * np.sqrt(remaining) / 2


def test_doubtful_coins_are_a_warning_and_impossible_ones_an_error() -> None:
    values = np.arange(1000.0)
    with pytest.warns(
        UserWarning, match=r"445 of 1,000 canaries are in; fair coins give .* probability 0\.00056"
    ):
        result = mi.audit(
            values, np.arange(1000) < 445, design="one-run", confidence=0.95, inclusion_probability=0.5
        )
    assert "DOUBTFUL" in str(result)
    assert result.coin_p_value == pytest.approx(2 * binom.cdf(445, 1000, 0.5))
    assert "p-value 0.00056" not in str(mi.audit(values, np.arange(1000) < 480, design="one-run"))
    for inside, stated in ((445, None), (100, None), (100, 0.5)):
        with pytest.raises(
            ValueError, match=f"{inside} of 1,000 canaries are in; fair coins give a number as far off"
        ) as error:
            mi.audit(values, np.arange(1000) < inside, design="one-run", inclusion_probability=stated)
        assert "give inclusion_probability=" in str(error.value)
        assert len(str(error.value)) <= 200
    result = mi.audit(values, np.arange(1000) < 100, design="one-run", inclusion_probability=0.1)
    assert result.inclusion_probability == 0.1
    assert f"{result.used:,} canaries remain, as if by fair coins" in str(result)
    with pytest.raises(ValueError, match=r"coins with inclusion_probability=0\.9 give"):
        mi.audit(values, np.arange(1000) < 100, design="one-run", inclusion_probability=0.9)
