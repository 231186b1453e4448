"""Audits of scores in clusters: the bounds hold for any dependence of the scores within a cluster."""

import numpy as np
import pytest
from scipy.stats import binom

import mipsim as mi
from mipsim.audits.designs import choose_from_clusters
from mipsim.audits.scores import Scores

RISK = 0.05


def draw(rng: np.random.Generator, clusters: int, size: int, mu: float, shared: float, mixed: bool) -> Scores:
    """Gaussian scores of shift mu in each world, of which a share of the variance is the cluster's; worlds mixed in it or not."""
    name = np.repeat(np.arange(clusters), size)
    member = (
        rng.random(name.size) < 0.5 if mixed else np.tile([False, True], clusters)[:clusters].repeat(size)
    )
    noise = np.sqrt(shared) * rng.normal(size=clusters)[name] + np.sqrt(1.0 - shared) * rng.normal(
        size=name.size
    )
    return Scores.of(noise + mu * member, member, name)


def bound(scores: Scores) -> float:
    curve = mi.EmpiricalTradeOff.from_scores(
        out_scores=scores.values[~scores.member],
        in_scores=scores.values[scores.member],
        confidence=1.0 - RISK,
    )
    return curve.advantage_lower_bound()


def misses(mu: float, shared: float, mixed: bool, runs: int) -> int:
    rng, truth = (
        np.random.default_rng([round(2 * mu), round(10 * shared), mixed]),
        mi.GaussianTradeOff(mu).advantage(),
    )
    return sum(
        bound(choose_from_clusters(draw(rng, 120, 20, mu, shared, mixed))) > truth for _ in range(runs)
    )


@pytest.mark.evidence
@pytest.mark.parametrize(("mu", "shared", "mixed"), [(0.0, 0.9, False), (0.0, 0.5, True), (1.0, 1.0, False)])
def test_bounds_are_wrong_as_rarely_as_stated(fewer_draws, mu: float, shared: float, mixed: bool) -> None:
    assert misses(mu, shared, mixed, 40) <= binom.isf(1e-9, 40, RISK)


@pytest.mark.slow
@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("shared", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("mu", [0.0, 1.0, 4.0])
def test_the_whole_table(mu: float, shared: float, mixed: bool) -> None:
    assert misses(mu, shared, mixed, 2000) <= binom.isf(1e-6, 2000, RISK)


@pytest.mark.evidence
def test_rows_taken_for_independent_would_be_caught(fewer_draws) -> None:
    """Scores of nothing: the same bound on all rows of clusters that hang together is wrong far more often than stated."""
    rng, runs = np.random.default_rng(3), 20
    missed = sum(bound(draw(rng, 120, 20, 0.0, 0.9, False)) > 0.0 for _ in range(runs))
    assert missed > binom.isf(1e-9, runs, RISK)


def test_a_rare_world_is_not_lost() -> None:
    """A single member in each cluster of 50: a fair coin chooses the world, so that about half of the chosen are members."""
    member = np.tile(np.arange(50) == 0, 200)
    scores = Scores.of(np.arange(10_000.0), member, np.repeat(np.arange(200), 50))
    assert abs(int(choose_from_clusters(scores).member.sum()) - 100) <= 6.5 * np.sqrt(
        50
    )  # all seeds but a share of 1e-10
