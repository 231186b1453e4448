"""The routes that a game offers, what the attacker sees, and the subset game against enumeration."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mipsim as mi
from tests.contracts.family import compiled
from tests.law_agreement import has_frequencies
from tests.scope import in_exact_scope  # noqa: F401
from verify.izzo.laws.subset_enumeration import finite_eta, half_subsets

MEAN = mi.EmpiricalMean()


def test_the_attacker_knows_the_second_input() -> None:
    game = mi.TwoInputs(lambda key, answers: answers, [0.0, 0.0], [1.0, 2.0])
    counts = mi.play(game, lambda target, output: jnp.sum(target * output), 100, edges=[2.5], progress=False)
    assert counts.out.tolist() == counts.inside[::-1].tolist() == [100, 0]


RECORDS = np.column_stack([np.arange(6), [3.0, 1.0, 4.0, 1.0, 5.0, 9.0]]).astype(float)


def played(game: mi.Subset, member: bool, games: int) -> tuple[np.ndarray, np.ndarray]:
    keys = jax.random.split(jax.random.key(4), games)
    target, output = compiled(jax.vmap(game.play, (0, None)))(keys, jnp.asarray(member))
    return np.asarray(target), np.asarray(output)


@pytest.mark.evidence
@pytest.mark.parametrize("member", [False, True])
def test_every_half_of_its_world_is_equally_likely(member):
    target, rows = played(mi.Subset(lambda key, rows: rows[:, 0], RECORDS, target=2), member, 20_000)
    assert (target == RECORDS[2]).all()
    assert (np.diff(rows, axis=1) > 0).all()  # in the order of the data set
    codes, counts = np.unique((2 ** rows.astype(int)).sum(axis=1), return_counts=True)
    flags = half_subsets(6)
    possible = np.sort((flags[flags[:, 2] == member] * 2 ** np.arange(6)).sum(axis=1))
    assert codes.tolist() == possible.tolist()
    assert has_frequencies(counts, np.full(len(possible), 1 / len(possible)))


def test_two_records_are_enough_and_equal_rows_are_different_records():
    game = mi.Subset(MEAN, [[0.0], [1.0]], target=1)
    assert [set(played(game, member, 50)[1].ravel()) for member in (True, False)] == [{1.0}, {0.0}]
    game = mi.Subset(lambda key, rows: rows.sum(axis=0), [[1.0], [1.0], [0.0], [2.0]], target=0)
    assert set(played(game, False, 300)[1].ravel()) == {1.0, 2.0, 3.0}


def test_games_find_the_enumerated_eta():
    """Randomised response about the target: bands at 1e-9 hold the exact eta, and not the eta of another epsilon."""

    def answer(key: Any, records: Any) -> Any:
        truth = (records == 0.0).any()
        return jnp.where(jax.random.uniform(key) < 1.0 / (1.0 + jnp.exp(-1.5)), truth, ~truth) * 1.0

    game = mi.Subset(answer, np.arange(4.0)[:, None], target=0)
    counts = mi.play(game, lambda target, output: output, 20_000, edges=[0.5], progress=False)
    low, high = counts.tradeoff(confidence=1 - 1e-9).advantage_interval()
    eta, other = (
        finite_eta(np.array([[1 - p, p] if flags[0] else [p, 1 - p] for flags in half_subsets(4)]), 4)[0]
        for p in 1.0 / (1.0 + np.exp([-1.5, -3.0]))
    )
    assert low <= 2 * eta <= high
    assert not low <= 2 * other <= high
