"""Games on the gradients of a network at real records: a single number for each record gives the law of the game on all of its coordinates."""

import itertools
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import mipsim as mi
from mipsim import data, nn
from mipsim.engine import checkpoint, run
from sims import gradient_epochs, runner
from sims.gradient_epochs import EPOCH_STUDIES, AtRecord, epoch_game
from sims.gradients import ATTACKS, TARGETS, VICTIMS, Victim, attacked, victim
from tests.sampler_laws import has_law, moved, same

N = 60


@cache
def digits() -> data.DataSet:
    return data.digits()


@cache
def gradients() -> tuple[mi.Empirical, mi.CovarianceScore, dict[str, mi.AbstractMechanism]]:
    """Gradients of a network at digits, an attack with moments of other digits, and mechanisms by their names."""
    network = nn.layered((8, 8, 1), (64,), 10)
    rows = nn.per_example_gradients(network, network.start(0), digits().x, digits().y, part="last").astype(
        float
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
    has_law(literal, projected, moved(projected))


def studied() -> Victim:
    return victim("digits", digits(), convolutions=False, part="trained", references=200)


@pytest.fixture(scope="module")
def of_digits() -> Victim:
    return studied()


@pytest.fixture(scope="module")
def attacked_digits() -> Any:
    return attacked(digits(), convolutions=False, part="trained", references=200)


def test_algorithm_3_orders_targets_on_real_gradients(of_digits: Victim) -> None:
    """Targets, scores and Mahalanobis distances of a victim are those of its gradients, computed here all at once."""
    result = of_digits
    assert result.scores.shape == (1597, 3, 2)
    easy, medium, hard = result.mahalanobis[list(result.targets)]
    assert easy == result.mahalanobis.max() > medium > hard == result.mahalanobis.min()
    assert (result.mahalanobis < medium).sum() == 1597 // 2
    for place, at in enumerate(result.targets):
        own, rest = result.scores[at, place], result.scores[:, place]
        assert (own > rest.mean(axis=0)).all(), "a target speaks for itself"


@pytest.mark.evidence
@pytest.mark.parametrize("attack", ATTACKS)
def test_known_vectors_give_the_scores_of_gradients_written_out(
    attack: str, of_digits: Victim, attacked_digits: Any
) -> None:
    """On the releases of games of either world, to the rounding of float32 gradients; vectors or offsets 3% off are seen."""
    of = attacked_digits
    game, quick = epoch_game(of, of_digits.targets[1], attack, steps=5, batch=16)
    assert isinstance(quick, AtRecord)
    assert isinstance(game.mechanism, nn.Descent)
    on_mean = (
        mi.CovarianceScore(of.moments, n=16)
        if attack == "covariance"
        else mi.ScalarProduct(np.zeros(of_digits.dimension))
    )
    literal = nn.SummedOverSteps(game.mechanism, on_mean)
    play = jax.jit(lambda key, inside: game.play(key, inside), static_argnums=1)
    rounds = [play(jax.random.key(seed), bool(seed % 2)) for seed in range(6)]

    def scores(of: mi.AbstractAttack) -> np.ndarray:
        return np.array([float(of.score(*each)) for each in rounds])

    expected = scores(literal)
    away = np.abs(expected).max()
    np.testing.assert_allclose(scores(quick), expected, atol=1e-5 * away)
    controls = [eqx.tree_at(lambda a: a.lines, quick, 1.03 * quick.lines)]
    if attack == "covariance":
        controls.append(eqx.tree_at(lambda a: a.own, quick, 1.03 * quick.own))
    for off in controls:
        assert np.abs(scores(off) - expected).max() > 1e-3 * away


@pytest.mark.evidence
def test_a_study_has_the_same_bits_on_any_number_of_threads_of_blas() -> None:
    """What the threads of BLAS do to the last bits must not reach the data of a run, by whose digest its counts are known."""
    built = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            built.append(studied())
    assert built[0].scores.tobytes() == built[1].scores.tobytes()
    assert built[0].mahalanobis.tobytes() == built[1].mahalanobis.tobytes()


STUDY = """
import hashlib, os, sys
if sys.argv[1:]:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])  # before XLA counts the cores
from mipsim import data
from sims.gradients import victim
result = victim("digits", data.digits(), convolutions=False, part="trained", references=200)
print(hashlib.sha256(result.scores.tobytes() + result.mahalanobis.tobytes()).hexdigest())
"""


@pytest.mark.skipif(len(getattr(os, "sched_getaffinity", lambda _: ())(0)) < 2, reason="it takes two cores")
@pytest.mark.system
def test_a_study_has_the_same_bits_on_a_single_core_and_on_all() -> None:
    """XLA takes as many threads as there are cores: the sums within a gradient must not depend on them, as those of a training may."""
    words = [sys.executable, "-c", STUDY]
    alone, everywhere = (
        subprocess.run([*words, *more], cwd=Path(__file__).parents[2], check=True, capture_output=True).stdout
        for more in (["alone"], [])
    )
    assert alone == everywhere != b""


@pytest.fixture
def epochs(of_digits: Victim, attacked_digits: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The studies of an epoch, on digits."""
    monkeypatch.setattr(gradient_epochs, "of", lambda _: attacked_digits)
    monkeypatch.setitem(VICTIMS, "fashion", lambda: of_digits)
    monkeypatch.setattr(gradient_epochs, "EPOCH", 2 * 64)
    return [study for study in EPOCH_STUDIES if "fashion" in study.name]


def of_study(study: Any, folder: Path) -> mi.Histogram:
    return mi.Histogram.load(runner.store_path(study, 3, folder))


@pytest.mark.system
def test_games_played_together_go_on_where_they_were_stopped_between_two_files(
    epochs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the counts of a run that was not stopped; counts of more games are left alone."""
    writes, store = itertools.count(), run.store

    def stops(path: Path, counts: dict[str, Any]) -> None:
        if next(writes) == 8:  # six of no games, two of twelve
            raise KeyboardInterrupt
        store(path, counts)

    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    with monkeypatch.context() as change:
        for module in (run, checkpoint):
            change.setattr(module, "store", stops)
        with pytest.raises(KeyboardInterrupt):
            gradient_epochs.play_together("fashion", 12, 3, stopped)
    assert [of_study(study, stopped).games for study in epochs] == [12, 12, 0, 0, 0, 0]
    for games, folder in ((20, stopped), (20, whole), (5, whole)):
        gradient_epochs.play_together("fashion", games, 3, folder)
    assert all(same(of_study(study, stopped), of_study(study, whole), manifest=True) for study in epochs)


@pytest.mark.slow
def test_games_played_together_are_stored_as_games_played_alone(epochs: Any, tmp_path: Path) -> None:
    """Counts, thresholds and manifests of each study are those of a run of its own, which goes on from them; another target's counts differ."""
    gradient_epochs.play_together("fashion", 12, 3, tmp_path)
    assert len(list(tmp_path.glob("*.npz"))) == len(epochs) == len(TARGETS) * len(ATTACKS)
    together = [of_study(study, tmp_path) for study in epochs]
    for study, stored in zip(epochs[::3], together[::3], strict=True):
        assert same(runner.run(study, 12, 3), stored, manifest=True)
        assert runner.run(study, 20, 3, tmp_path).games == 20
    assert not np.array_equal(together[0].inside, together[2].inside)
