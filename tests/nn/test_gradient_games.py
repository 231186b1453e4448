"""Games on the gradients of a network at real records: a single number for each record gives the law of the game on all of its coordinates."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import mipsim as mi
from mipsim import data, nn
from sims.gradient_epochs import epoch_game
from sims.gradients import attacked, victim
from tests.engine.two_sample import FAILURE, two_sample_p

N = 60


@cache
def digits() -> data.DataSet:
    return data.digits()


@cache
def gradients() -> tuple[mi.Empirical, mi.CovarianceScore, dict[str, mi.AbstractMechanism]]:
    """Gradients of a network at digits, an attack with moments of other digits, and mechanisms by their names."""
    network = nn.layered((8, 8, 1), (64,), 10)
    rows = nn.per_example_gradients(network, network.start(0), digits().x, digits().y, part="last").astype(
        np.float64
    )
    clip = float(
        0.5 * np.median(np.linalg.norm(rows, axis=1))
    )  # nearly all are clipped, which scales their scores
    mechanisms = {
        "SGD": mi.EmpiricalMean(),
        "DP-SGD, batch of fixed size": mi.Subsampled(mi.SGDStep(clip, 0.3), 0.5),
        "DP-SGD, Poisson batch": mi.PoissonSubsampled(mi.SGDStep(clip, 0.3), 0.5),
    }
    attack = mi.CovarianceScore(mi.ShrunkMoments(rows[:400]), n=N)
    return mi.Empirical(rows[400:], covariance="diagonal"), attack, mechanisms


@pytest.mark.evidence
@pytest.mark.parametrize("name", ["SGD", "DP-SGD, batch of fixed size", "DP-SGD, Poisson batch"])
def test_the_projected_game_has_the_law_of_the_literal_game(name: str) -> None:
    """By a two-sample chi-square that fails with probability 1e-9, and rejects counts shifted by forty thresholds, a quarter of a standard deviation or more."""
    pool, attack, mechanisms = gradients()
    game = mi.FixedTarget(mechanisms[name], pool, N, pool.easiest_target())
    literal = mi.play(game, attack, 4_000, seed=1, fidelity="literal", progress=False)
    projected = mi.play(game, attack, 100_000, seed=2, edges=literal.edges, progress=False)
    assert projected.manifest["fidelity"] == "projected"
    for a, b in ((literal.out, projected.out), (literal.inside, projected.inside)):
        assert two_sample_p(a, b)[1] >= FAILURE
    assert two_sample_p(literal.out, np.roll(projected.out, 40))[1] < FAILURE


@pytest.mark.evidence
def test_a_single_number_for_each_record_plays_the_same_games() -> None:
    """The same draws, and scores that differ by the rounding of a sum of 650 products: the same counts."""
    pool, attack, _ = gradients()
    target = pool.hardest_target()
    game = mi.FixedTarget(mi.EmpiricalMean(), pool, N, target)
    weights = np.asarray(attack.weights(target))  # pyright: ignore[reportArgumentType]
    line = mi.FixedTarget(
        mi.EmpiricalMean(), mi.Empirical((pool.records @ weights)[:, None]), N, [target @ weights]
    )
    whole = mi.play(game, attack, 20_000, seed=5, progress=False)
    offset = float(attack.score(target, np.zeros(target.size)))  # pyright: ignore[reportArgumentType]
    reduced = mi.play(
        line,
        mi.ScalarProduct([0.0], target=[1.0]),
        20_000,
        seed=5,
        edges=whole.edges - offset,
        progress=False,
    )
    assert (whole.out == reduced.out).all()
    assert (whole.inside == reduced.inside).all()
    assert not (np.roll(whole.out, 1) == reduced.out).all()


@pytest.mark.evidence
def test_a_study_has_the_same_bits_on_any_number_of_threads_of_blas() -> None:
    """What the threads of BLAS do to the last bits must not reach the data of a run, by whose digest its counts are known."""
    built = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            built.append(victim("digits", digits(), convolutions=False, part="trained", references=200))
    assert built[0].scores.tobytes() == built[1].scores.tobytes()
    assert built[0].mahalanobis.tobytes() == built[1].mahalanobis.tobytes()


STUDY = """
import hashlib, os, sys
if sys.argv[1] == "single":
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])  # before XLA counts the cores
from mipsim import data
from sims.gradients import victim
result = victim("digits", data.digits(), convolutions=False, part="trained", references=200)
print(hashlib.sha256(result.scores.tobytes() + result.mahalanobis.tobytes()).hexdigest())
"""


@pytest.mark.skipif(len(getattr(os, "sched_getaffinity", lambda _: ())(0)) < 2, reason="it takes two cores")
@pytest.mark.slow
def test_a_study_has_the_same_bits_on_a_single_core_and_on_all() -> None:
    """XLA takes as many threads as there are cores: the sums within a gradient must not depend on them, as those of a training may."""
    root = Path(__file__).parents[2]
    built = [
        subprocess.run([sys.executable, "-c", STUDY, cores], cwd=root, check=True, capture_output=True)
        for cores in ("single", "all")
    ]
    assert built[0].stdout == built[1].stdout
    assert len(built[0].stdout.split()) == 1


def test_algorithm_3_orders_targets_on_real_gradients() -> None:
    """Targets, scores and Mahalanobis distances of a victim are those of its gradients, computed here all at once."""
    result = victim("digits", digits(), convolutions=False, part="trained", references=200)
    assert result.scores.shape == (1597, 3, 2)
    easy, medium, hard = result.mahalanobis[list(result.targets)]
    assert easy == result.mahalanobis.max() > medium > hard == result.mahalanobis.min()
    assert (result.mahalanobis < medium).sum() == 1597 // 2
    for place, at in enumerate(result.targets):
        own, rest = result.scores[at, place], result.scores[:, place]
        assert (own > rest.mean(axis=0)).all(), "a target speaks for itself"


@pytest.mark.evidence
def test_a_literal_epoch_of_a_victim_is_attacked_at_every_step() -> None:
    """The covariance attack on the easiest target sees its membership in an epoch that trains the network, by bounds at 1 - 1e-9; on shuffled worlds it does not."""
    result = attacked(digits(), convolutions=False, part="trained", references=200)
    easiest = victim("digits", digits(), convolutions=False, part="trained", references=200).targets[0]
    game, attack = epoch_game(result, easiest, "covariance", steps=4, batch=8)
    played = mi.play(game, attack, 1_000, seed=1, progress=False)
    assert played.tradeoff(1 - 1e-9).auc_interval()[0] > 0.5
    mixed = mi.Histogram(played.edges, played.out, played.out, played.manifest)
    assert mixed.tradeoff(1 - 1e-9).auc_interval()[0] <= 0.5
