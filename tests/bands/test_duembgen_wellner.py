import math
from importlib import import_module

import numpy as np
import pytest
from scipy.special import gammaln

from mipsim.bands import duembgen_wellner

MODULE = import_module("mipsim.bands.duembgen_wellner")  # of this name the package has the function


def chance_of_a_miss(low: np.ndarray, high: np.ndarray) -> float:
    """P(the band misses somewhere) for uniform scores, exact: a walk of counts through the allowed corridor.

    Count i is allowed at t in [low[i], high[i]]. Between two jumps of the corridor the counts grow as a
    Poisson process; conditioning on n at the end makes them uniform order statistics.
    """
    n = low.size - 1
    events = np.unique(np.concatenate([low[1:], high[:-1]]))
    events = events[(events > 0) & (events < 1)]
    least_after = np.searchsorted(high, events, side="right")
    most_before = np.searchsorted(low, events, side="left") - 1
    walk, first, now = np.ones(1), 0, 0.0
    for event, least, most in zip(events, least_after, most_before, strict=True):
        mean = n * (event - now)
        now = event
        steps = np.arange(int(mean + 12 * math.sqrt(mean) + 25) + 1)
        walk = np.convolve(walk, np.exp(-mean + steps * math.log(mean) - gammaln(steps + 1)))[
            : most - first + 1
        ]
        if least > first:
            walk, first = walk[least - first :], int(least)
    mean = n * (1 - now)
    left = n - first - np.arange(walk.size)
    finish = np.exp(-mean + left * math.log(mean) - gammaln(left + 1))
    return 1.0 - float((walk * finish).sum()) / math.exp(-n + n * math.log(n) - gammaln(n + 1))


@pytest.mark.parametrize("games", [1, 2, 10, 40, 75, 200, 1000])
@pytest.mark.parametrize("risk", [0.05, 0.03, 0.01, 2e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 1e-8])
def test_the_exact_failure_probability_is_at_most_nominal(games: int, risk: float) -> None:
    low, high = duembgen_wellner(np.arange(games + 1), games, risk)
    miss = chance_of_a_miss(low, high)
    # The sum of n terms is exact to about 1e-13 relative to 1.
    assert miss <= risk + 1e-12
    if games >= 40 and risk >= 1e-4:
        assert miss >= 0.75 * risk  # and it is not needlessly wide


def test_a_slightly_smaller_constant_would_be_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "_KAPPAS", tuple(k - 0.1 for k in MODULE._KAPPAS))
    low, high = duembgen_wellner(np.arange(76), 75, 0.01)
    assert chance_of_a_miss(low, high) > 0.01


def test_the_recursion_agrees_with_a_single_score() -> None:
    """With a single score the corridor is 1 - high[0] <= U fails or U <= low[1] fails: two closed-form tails."""
    low, high = duembgen_wellner([0, 1], 1, 0.05)
    assert chance_of_a_miss(low, high) == pytest.approx(low[1] + 1 - high[0], rel=1e-12)


@pytest.mark.parametrize("games", [1, 10, 75, 1000])
@pytest.mark.parametrize("risk", [0.5, 0.05, 1e-3])
def test_a_single_side_misses_as_harris_says(games: int, risk: float) -> None:
    """A single side fails with chance p, both sides with the risk: 2p - p^2 <= risk, so two worlds pay the risk once."""
    low, high = duembgen_wellner(np.arange(games + 1), games, risk)
    everything = np.ones(games + 1)
    assert chance_of_a_miss(low, everything) <= 1 - math.sqrt(1 - risk) + 1e-12
    assert chance_of_a_miss(low, everything) <= chance_of_a_miss(low, high)
