"""Who is sampled and who is replaced, on records that are all different."""

import jax
import numpy as np
import pytest

import mipsim as mi
from tests.law_agreement import has_frequencies, same_law
from tests.scope import in_exact_scope  # noqa: F401

DATA = mi.Gaussian([0.0, 1.0], [1.0, 2.0])
N, GAMES = 5, 4000


def everything(key: jax.Array, records: jax.Array) -> jax.Array:
    """A mechanism without any privacy: the records themselves."""
    return records


def play(game: mi.AbstractGame) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Targets and records of GAMES rounds "out", then "in", with the same keys."""
    keys = jax.random.split(jax.random.key(3), GAMES)
    rounds = jax.jit(jax.vmap(game.play, in_axes=(0, None)))
    worlds = (rounds(keys, member) for member in (False, True))
    return tuple((np.asarray(target), np.asarray(records)) for target, records in worlds)


def places(target: np.ndarray, records: np.ndarray) -> np.ndarray:
    """Which rows are the target, shape (GAMES, N)."""
    return (records == target[:, None, :]).all(axis=2)


@pytest.mark.evidence
def test_fixed_target_replaces_a_uniform_row() -> None:
    (target, out), (_, inside) = play(mi.FixedTarget(everything, DATA, N, [9.0, 9.0]))
    assert (target == [9.0, 9.0]).all()
    replaced = places(target, inside)
    assert (replaced.sum(axis=1) == 1).all()
    assert has_frequencies(replaced.sum(axis=0), np.full(N, 1 / N))
    assert not places(target, out).any()
    # The two worlds of a key differ in the replaced row only.
    assert ((inside == out).all(axis=2) ^ replaced).all()


@pytest.mark.evidence
def test_random_target_is_a_uniform_row_or_none() -> None:
    (fresh, out), (target, inside) = play(mi.RandomTarget(everything, DATA, N))
    assert (places(target, inside).sum(axis=1) == 1).all()
    assert has_frequencies(places(target, inside).sum(axis=0), np.full(N, 1 / N))
    assert not places(fresh, out).any()
    for j in range(2):
        assert same_law(fresh[:, j], target[:, j])  # both are draws of the law


def test_the_routes_that_a_game_offers() -> None:
    bernoulli, uniform = mi.Bernoulli(0.5, d=2), mi.Uniform(0.0, 1.0, d=2)
    target = np.ones(2)
    assert mi.FixedTarget(mi.EmpiricalMean(), bernoulli, 4, target).has_exact_law
    assert not mi.FixedTarget(mi.EmpiricalMean(), uniform, 4, target).has_exact_law
    assert not mi.FixedTarget(everything, bernoulli, 4, target).has_exact_law
    assert not mi.RandomTarget(mi.GaussianNoise(everything, 1.0), bernoulli, 4).has_exact_law
    assert mi.RandomTarget(mi.GaussianNoise(mi.EmpiricalMean(), 1.0), bernoulli, 4).has_exact_law


@pytest.mark.evidence
def test_noise_that_fits_is_welcome_and_that_of_a_function_waits_for_play() -> None:
    mi.FixedTarget(mi.GaussianNoise(mi.EmpiricalMean(), [1.0, 2.0]), DATA, 4, [0.0, 0.0])
    mi.RandomTarget(mi.LaplaceNoise(mi.EmpiricalMean(), 1.0), DATA, 4)
    total = mi.GaussianNoise(lambda key, records: records.sum(axis=0)[:1], np.ones(1))
    game = mi.FixedTarget(total, DATA, 4, [0.0, 0.0])
    assert game.play(jax.random.key(0), True)[1].shape == (1,)
    wrong = mi.RandomTarget(mi.GaussianNoise(everything, np.ones(3)), DATA, 4)
    with pytest.raises(
        ValueError, match=r"record_deviation has shape \(3,\); .* the output's shape \(4, 2\)"
    ):
        wrong.play(jax.random.key(0), True)
