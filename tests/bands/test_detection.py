"""The verifier is itself tested: planted errors are refuted at the predicted games, true claims are not."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

from mipsim.bands import ScaledRates, compare_counts
from mipsim.bands.comparison_base import NUMERICAL_FLOOR
from mipsim.bands.gap_interval import critical_probits, gap_bounds
from mipsim.tradeoff import GaussianTradeOff

MU, RISK, REPLICATES = 1.0, 1e-3, 100
CLAIM = GaussianTradeOff(MU)
T = np.linspace(-2.0, 4.0, 16)
Rates = tuple[np.ndarray, np.ndarray]


def gaussian(mu: float, spread: float = 1.0) -> Rates:
    return ndtr(-T), ndtr((T - mu) / spread)


def contaminated(share: float, shift: float) -> Rates:
    """The "out" scores come from N(shift, 1) with probability `share`."""
    return (1 - share) * ndtr(-T) + share * ndtr(shift - T), ndtr(T - MU)


PLANTED: dict[str, Callable[[], Rates]] = {
    "mu + 1%": lambda: gaussian(1.01 * MU),
    "mu - 5%": lambda: gaussian(0.95 * MU),
    "mu times sqrt 2": lambda: gaussian(np.sqrt(2) * MU),
    "variance 1.1 times": lambda: gaussian(MU, np.sqrt(1.1)),
    "contaminated tail": lambda: contaminated(1e-4, 4.0),
}


def predicted_games(rates: Rates) -> int:
    """Games at which the gap of the best threshold is detected with probability 0.9."""
    # and with 45 counts on average there, so that a cell with fewer than 25 is rare
    rarest = np.minimum.reduce([rates[0], 1 - rates[0], rates[1], 1 - rates[1]])
    low, high = 2.0, 9.0
    for _ in range(14):
        games = round(10 ** (0.5 * (low + high)))
        counts = np.round(games * rates[0]), games, np.round(games * rates[1]), games
        result = compare_counts(*counts, CLAIM, failure_probability=RISK)
        seen = (result.detectable_gaps <= np.abs(result.estimate)) & (games * rarest >= 45)
        low, high = (low, math.log10(games)) if seen.any() else (math.log10(games), high)
    return math.ceil(10**high)


def refuted(draw_counts, rates: Rates, games: int, replicates: int, seed: int) -> int:
    """How many replicates are refuted: the rule of `compare_counts`, for all replicates in a single call."""
    rng = np.random.default_rng(seed)
    x, y = draw_counts(rng, rates[0], games, replicates), draw_counts(rng, rates[1], games, replicates)
    out, inside = (ScaledRates.plain(counts.ravel(), games) for counts in (x, y))
    low, high = gap_bounds(out, inside, CLAIM, critical_probits(RISK, T.size, 2))
    result = (low > NUMERICAL_FLOOR) | (high < -NUMERICAL_FLOOR)
    return int(result.reshape(x.shape).any(axis=1).sum())


QUICK = ("mu times sqrt 2",)
"""Judged by default; the others take a quarter of a minute each and are run by name."""


@pytest.mark.evidence
@pytest.mark.parametrize(
    "planted", [item if item in QUICK else pytest.param(item, marks=pytest.mark.slow) for item in PLANTED]
)
def test_a_planted_error_is_refuted_at_the_predicted_games(draw_counts, planted: str) -> None:
    rates = PLANTED[planted]()
    games = predicted_games(rates)
    assert games < 10**8
    # A detection probability of 0.9 passes with probability 1 - 1e-9; a probability at a quarter of the games does not.
    enough = binom.ppf(1e-9, REPLICATES, 0.9)
    assert refuted(draw_counts, rates, games, REPLICATES, seed=1) >= enough
    assert refuted(draw_counts, rates, games // 4, REPLICATES, seed=2) < enough


@pytest.mark.evidence
@pytest.mark.parametrize(
    "games", [2000, *(pytest.param(single, marks=pytest.mark.slow) for single in (200_000, 20_000_000))]
)
def test_the_true_claim_is_not_refuted(draw_counts, games: int) -> None:
    """Refutations of 100 replicates stay below the 1e-9 quantile of the nominal binomial."""
    assert refuted(draw_counts, gaussian(MU), games, REPLICATES, seed=3) <= binom.isf(1e-9, REPLICATES, RISK)


@pytest.mark.evidence
def test_a_per_cent_of_mu_takes_the_planned_games() -> None:
    """By the textbook: the best threshold, 1/2, has se^2 = 2 a (1 - a) / (n phi(1/2)^2) with a = Phi(-1/2)."""
    a, density = ndtr(-0.5), math.exp(-0.125) / math.sqrt(2 * math.pi)
    probits = critical_probits(RISK, T.size, 2)[0] + 1.281552  # the normal quantile at 0.9
    textbook = 2 * a * (1 - a) / density**2 * (probits / 0.01) ** 2
    # The cells round outwards by 1% or so, and a detectable gap allows for the luck of its own width.
    assert textbook < predicted_games(gaussian(1.01)) < 1.1 * textbook


@pytest.mark.evidence
@pytest.mark.parametrize(("rates", "verdict"), [(gaussian(1.02), "REFUTED"), (gaussian(1.0), "CONFIRMED")])
def test_whole_comparisons_agree(draw_counts, rates: Rates, verdict: str) -> None:
    """The public route on real draws; at 2e7 games an error of 2% is seven detectable gaps away."""
    games = 20_000_000
    rng = np.random.default_rng(9)
    x, y = (draw_counts(rng, r, games, 5) for r in rates)
    settings: dict[str, Any] = {"failure_probability": 1e-9, "tolerance": 0.2}
    result = [compare_counts(a, games, b, games, CLAIM, **settings) for a, b in zip(x, y, strict=True)]
    assert {c.verdict for c in result} == {verdict}
