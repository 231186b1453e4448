"""Who is sampled and who is replaced, on records that are all different."""

from typing import Any

import jax
import numpy as np
import pytest

import mipsim as mi
from tests.law_agreement import has_frequencies, same_law
from tests.refusals import Refusals, message_test
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


# Values of a wrong type, which a type checker would refuse.
ANYTHING: dict[str, Any] = {"half": 2.5, "word": "mean", "array": np.zeros(2), "class": mi.Bernoulli}
BAD: Refusals = [
    (lambda: mi.FixedTarget(mi.EmpiricalMean(), DATA, 1, [0.0, 0.0]), "n is 1; it must be a whole number >= 2"),
    (lambda: mi.RandomTarget(mi.EmpiricalMean(), DATA, 1), "n is 1; it must be a whole number >= 2"),
    (lambda: mi.RandomTarget(mi.EmpiricalMean(), DATA, ANYTHING["half"]), "n is 2.5; it must be a whole number"),
    (lambda: mi.RandomTarget(mi.EmpiricalMean(), DATA, True), "n is True; it must be a whole number"),
    (lambda: mi.RandomTarget(everything, DATA, 0), "n is 0; it must be a whole number >= 2"),
    (lambda: mi.FixedTarget(mi.EmpiricalMean(), DATA, 4, [0.0]), r"target has shape \(1,\); it must have shape \(2,\)"),
    (lambda: mi.FixedTarget(mi.EmpiricalMean(), DATA, 4, [[0.0, 0.0]]), r"target has shape \(1, 2\)"),
    (lambda: mi.FixedTarget(mi.EmpiricalMean(), DATA, 4, [0.0, np.nan]), "target holds nan at index 1"),
    (lambda: mi.FixedTarget(mi.EmpiricalMean(), DATA, 4, "far"), "target is str; it must be an array"),
    (lambda: mi.FixedTarget(mi.EmpiricalMean(), DATA, 4, None), "target is NoneType; it must be an array of real numbers"),
    (lambda: mi.FixedTarget(mi.EmpiricalMean(), mi.Bernoulli(0.5), 4, "1"), "target is str; it must be an"),
    (lambda: mi.FixedTarget(mi.GaussianNoise(mi.EmpiricalMean(), np.ones(3)), DATA, 4, [0.0, 0.0]),
     r"record_deviation has shape \(3,\); it must be a number or have the output's shape \(2,\)"),
    (lambda: mi.RandomTarget(mi.GaussianNoise(mi.Subsampled(mi.LaplaceNoise(mi.EmpiricalMean(), [1.0]), 0.5), 1.0), DATA, 4),
     r"scale has shape \(1,\); it must be a number or have the output's shape \(2,\)"),
    (lambda: mi.RandomTarget(mi.GaussianNoise(mi.PoissonSubsampled(mi.EmpiricalMean(), 0.5), np.ones(4)), DATA, 4),
     r"record_deviation has shape \(4,\); it must be"),
    (lambda: mi.FixedTarget(mi.Subsampled(mi.EmpiricalMean(), 0.3), DATA, 9, [0.0, 0.0]),
     "sampling_rate n = 0.3 x 9 = 2.7; sampling_rate n must be a whole number of rows"),
    (lambda: mi.RandomTarget(mi.Subsampled(mi.EmpiricalMean(), 0.1), DATA, 10), "at least 2 rows must be sampled"),
    (lambda: mi.RandomTarget(mi.EmpiricalMean, DATA, 10), "mechanism is the class EmpiricalMean"),
    (lambda: mi.RandomTarget(ANYTHING["word"], DATA, 10), "mechanism is str; it must be"),
    (lambda: mi.RandomTarget(mi.EmpiricalMean(), ANYTHING["array"], 10), "data is ndarray; it must be a distribution"),
    (lambda: mi.FixedTarget(mi.EmpiricalMean(), ANYTHING["class"], 10, [1.0]), "data is .*; it must be a distribution"),
]  # fmt: skip

test_message = message_test(BAD)
