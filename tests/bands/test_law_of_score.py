import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from mipsim.bands import law_of_score

EDGES = np.linspace(-3.0, 3.0, 13)


def expected(games: int, shift: float = 0.0) -> np.ndarray:
    below = np.round(games * ndtr(EDGES - shift))
    return np.diff(np.concatenate([[0.0], below, [games]]))


def test_the_true_law_is_confirmed() -> None:
    result = law_of_score(expected(10**6), EDGES, ndtr, tolerance=0.1)
    assert result.verdict == "CONFIRMED"
    assert result.thresholds_used == 13
    assert result.games == 10**6
    assert "range over thresholds" in str(result)
    assert "FPR" not in str(result)


def test_the_sign_says_that_scores_are_larger_than_claimed() -> None:
    result = law_of_score(expected(10**6, shift=0.1), EDGES, ndtr)
    assert result.verdict == "REFUTED"
    assert result.gap == pytest.approx(0.1, abs=0.01)


def test_few_scores_are_inconclusive() -> None:
    result = law_of_score(expected(30), EDGES, ndtr)
    assert result.verdict == "INCONCLUSIVE"
    assert result.games_to_confirm() is not None


def test_coverage_and_false_refutations() -> None:
    """Failures of 2000 replicates stay below the 1e-9 quantile of the nominal binomial."""
    replicates, games, risk = 2000, 500, 0.05
    rng = np.random.default_rng(4)
    bins = np.diff(np.concatenate([[0.0], ndtr(EDGES - 0.2), [1.0]]))
    missed = refuted = 0
    for counts in rng.multinomial(games, bins, size=replicates):
        wrong = law_of_score(counts, EDGES, ndtr, risk)
        missed += bool(((wrong.low > 0.2) | (wrong.high < 0.2)).any())
        refuted += law_of_score(counts, EDGES, lambda t: ndtr(t - 0.2), risk).verdict == "REFUTED"
    allowed = binom.isf(1e-9, replicates, risk)
    assert missed <= allowed
    assert refuted <= allowed


def test_the_detectable_gap_is_detected() -> None:
    replicates, games = 500, 20_000
    gap = law_of_score(expected(games), EDGES, ndtr).detectable_gap
    rng = np.random.default_rng(6)
    bins = np.diff(np.concatenate([[0.0], ndtr(EDGES - gap), [1.0]]))
    draws = rng.multinomial(games, bins, size=replicates)
    refuted = sum(law_of_score(counts, EDGES, ndtr).verdict == "REFUTED" for counts in draws)
    assert refuted >= binom.ppf(1e-9, replicates, 0.9)


def test_scores_where_the_claim_has_none() -> None:
    """Uniform on [0, 1] claimed, a score in a thousand below 0: the tail alone refutes."""
    edges = np.array([-0.5, 0.0, 0.5, 1.0, 1.5])
    result = law_of_score([0, 100, 49_950, 49_950, 0, 0], edges, lambda t: np.clip(t, 0, 1))
    assert result.verdict == "REFUTED"
    assert result.interval[0] == -math.inf
    right = law_of_score([0, 0, 50_000, 50_000, 0, 0], edges, lambda t: np.clip(t, 0, 1))
    assert right.verdict == "CONFIRMED"
    assert right.thresholds_used == 1


def test_the_interval_is_exact() -> None:
    result = law_of_score([500, 500], [0.0], ndtr, 0.01)
    p = 0.5 - ndtr(result.low[0])  # claimed 1/2: the ends are -Phi^-1 of the ends of P(score <= 0)
    assert binom.cdf(500, 1000, 0.5 + p) == pytest.approx(0.005, rel=1e-6)
    assert ndtri(0.5) == 0


@pytest.mark.parametrize(
    ("counts", "edges", "cdf", "words"),
    [
        ([1, 2], [0.0, 1.0], ndtr, r"counts has shape \(2,\); it must have shape \(3,\)"),
        ([1, 2, 3], [1.0, 0.0], ndtr, "edges falls or stays at index 1"),
        ([1, -2, 3], [0.0, 1.0], ndtr, "counts holds -2"),
        ([1, 0.5, 3.5], [0.0, 1.0], ndtr, "counts holds 0.5"),
        ([0, 0, 0], [0.0, 1.0], ndtr, "games is 0.0; it must be a whole number >= 1"),
        ([1, 2, 3], [0.0, 1.0], lambda t: 2 + t, r"cdf\(edges\) leaves \[0, 1\] or falls"),
        ([1, 2, 3], [0.0, 1.0], lambda t: ndtr(-t), r"cdf\(edges\) leaves \[0, 1\] or falls"),
        ([1, 2, 3], [0.0, 1.0], lambda t: t * np.nan, r"cdf\(edges\) holds nan"),
    ],
)
def test_bad_input(counts, edges, cdf, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        law_of_score(counts, edges, cdf)
