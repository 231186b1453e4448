"""The subset game: who is sampled, what is refused, and its outputs against enumeration."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mipsim as mi
from tests.law_agreement import has_frequencies
from tests.scope import in_exact_scope  # noqa: F401
from verify.izzo.laws.subset_enumeration import finite_eta, half_subsets

N, GAMES = 6, 20_000
RECORDS = np.column_stack([np.arange(N), [3.0, 1.0, 4.0, 1.0, 5.0, 9.0]]).astype(float)


def played(game: mi.Subset, member: bool, games: int = GAMES) -> tuple[np.ndarray, np.ndarray]:
    keys = jax.random.split(jax.random.key(4), games)
    target, output = jax.jit(jax.vmap(lambda key: game.play(key, jnp.asarray(member))))(keys)
    return np.asarray(target), np.asarray(output)


@pytest.mark.evidence
@pytest.mark.parametrize("member", [False, True])
def test_every_half_of_its_world_is_equally_likely(member):
    game = mi.Subset(lambda key, rows: rows[:, 0], RECORDS, target=2)
    target, rows = played(game, member)
    assert (target == RECORDS[2]).all()
    assert (np.diff(rows, axis=1) > 0).all()  # in the order of the data set
    codes, counts = np.unique((2 ** rows.astype(int)).sum(axis=1), return_counts=True)
    flags = half_subsets(N)
    possible = np.sort((flags[flags[:, 2] == member] * 2 ** np.arange(N)).sum(axis=1))
    assert codes.tolist() == possible.tolist()
    assert has_frequencies(counts, np.full(len(possible), 1 / len(possible)))


def test_two_records_are_enough():
    game = mi.Subset(mi.EmpiricalMean(), [[0.0], [1.0]], target=1)
    assert set(played(game, True, 50)[1].ravel()) == {1.0}
    assert set(played(game, False, 50)[1].ravel()) == {0.0}


def test_equal_rows_are_different_records():
    game = mi.Subset(lambda key, rows: rows.sum(axis=0), [[1.0], [1.0], [0.0], [2.0]], target=0)
    assert set(played(game, False, 300)[1].ravel()) == {1.0, 2.0, 3.0}


def test_games_find_the_enumerated_eta():
    """Randomised response about the target: bands at 1e-9 hold the exact eta, and not the eta of another epsilon."""
    records = np.arange(4.0)[:, None]
    answer = mi.RandomizedResponse([0.0], epsilon=1.5, delta=0.1)
    game = mi.Subset(answer, records, target=0)
    histogram = mi.play(
        game, lambda target, output: output, games=20_000, edges=[0.5, 1.5, 2.5], progress=False
    )
    low, high = histogram.tradeoff(confidence=1 - 1e-9).advantage_interval()
    law = np.array([answer.law(bool(flags[0])) for flags in half_subsets(4)])
    assert low <= 2 * finite_eta(law, 4)[0] <= high
    wrong = mi.RandomizedResponse([0.0], epsilon=3.0, delta=0.1)
    law = np.array([wrong.law(bool(flags[0])) for flags in half_subsets(4)])
    assert not low <= 2 * finite_eta(law, 4)[0] <= high
