"""Rounds played a block of records at a time: of the same records, with the same sums, and only where a round does no more than to add up."""

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.engine.random.counter import run_draws
from mipsim.engine.random.keys import COUNTER, counter_keys
from mipsim.engine.row_blocks import by_blocks
from mipsim.engine.row_reading import InseparableError
from mipsim.engine.samplers.literal import LiteralSampler
from tests.distributions.members import MEMBERS
from tests.sampler_laws import same

N, BLOCK = 23, 5  # the last block has rows that are no records
Mechanism = Callable[[Array, Array], Array]


@pytest.fixture(autouse=True)
def in_float64() -> Iterator[None]:
    """In float32 a user's function is given all its records at once."""
    with exact_scope("float64"):
        yield


def clipped(key: Array, r: Array) -> Array:
    norms = jnp.linalg.norm(r, axis=1, keepdims=True)
    return (r * jnp.minimum(1.0, 1.0 / norms)).mean(axis=0) + jax.random.normal(key, r.shape[1:])


def logistic_gradient(key: Array, r: Array) -> Array:
    share = jax.nn.sigmoid(r @ jnp.linspace(-1.0, 1.0, r.shape[1]))
    return ((share - 0.5)[:, None] * r).sum(axis=0)


SEPARABLE: dict[str, Mechanism] = {
    "mean": lambda key, r: jnp.mean(r, axis=0),
    "all numbers": lambda key, r: r.sum(),
    "product": lambda key, r: jnp.prod(1.0 + 0.1 * jnp.tanh(r), axis=0),
    "extremes": lambda key, r: jnp.concatenate([r.max(axis=0), r.min(axis=0)]),
    "any and all": lambda key, r: ((r > 1.0).any(axis=0) ^ (r > -1.0).all(axis=0)).astype(float),
    "with noise": lambda key, r: r.sum(axis=0) + jax.random.laplace(key, r.shape[1:]),
    "noise on every record": lambda key, r: (r + jax.random.normal(key, r.shape)).mean(axis=0),
    "Poisson sub-sampling": lambda key, r: jnp.where(jax.random.bernoulli(key, 0.5, (r.shape[0], 1)), r, 0.0).sum(axis=0),
    "clipped": clipped,
    "logistic gradient": logistic_gradient,
    "weights": lambda key, r: jnp.linspace(0.0, 1.0, r.shape[0]) @ r,
    "products of coordinates": lambda key, r: jnp.concatenate([(r.T @ r)[0], jnp.einsum("ni,nj->ij", r, r)[1]]),
    "squared norms": lambda key, r: jnp.einsum("ij,ij->i", r, r).max(),
    "features": lambda key, r: jnp.tanh(r @ jnp.ones((r.shape[1], 4)) + 1.0).mean(axis=0),
    "softmax": lambda key, r: jax.nn.softmax(r, axis=1).sum(axis=0),
    "sorted within records": lambda key, r: jnp.sort(r, axis=1).mean(axis=0),
    "votes": lambda key, r: jax.nn.one_hot(r.argmax(axis=1), r.shape[1]).sum(axis=0),
    "within coordinates": lambda key, r: jnp.concatenate([r[:, ::-1], r[:, :1]], axis=1).sum(axis=0),
    "three axes": lambda key, r: (jnp.transpose(r[:, None] * r[:, :, None], (0, 2, 1)).reshape(r.shape[0], -1).sum(axis=0)),
    "a single record": lambda key, r: jax.lax.dynamic_index_in_dim(r, jax.random.randint(key, (), 0, r.shape[0]), 0, False),
}  # fmt: skip
INSEPARABLE: dict[str, Mechanism] = {
    "median": lambda key, r: jnp.median(r, axis=0),
    "variance": lambda key, r: r.var(axis=0),  # the records are needed again when their mean is known
    "sorted": lambda key, r: jnp.sort(r, axis=0)[0],
    "running sums": lambda key, r: jnp.cumsum(r, axis=0)[-1],
    "differences": lambda key, r: (r[1:] - r[:-1]).sum(axis=0),
    "shuffled": lambda key, r: jax.random.permutation(key, r)[0],
    "all records": lambda key, r: r,
    "no record": lambda key, r: jax.random.normal(key, (2,)),
    "each with each": lambda key, r: (r @ r.T).max(),
    "a place that the records choose": lambda key, r: r[r[:, 0].argmax()],
    "a loop": lambda key, r: jax.lax.fori_loop(0, 3, lambda i, x: x + r[i], r[0]),
    "what prints": lambda key, r: (jax.debug.print("{}", r[0, 0]), r.sum(axis=0))[1],
}


def round_of(
    mechanism: Mechanism, law: mi.AbstractDistribution, n: int, random: bool
) -> Callable[[Array], Array]:
    """The target and the output of a round with it, side by side."""
    game = (
        mi.RandomTarget(mechanism, law, n)
        if random
        else mi.FixedTarget(mechanism, law, n, np.linspace(1.0, 2.0, law.dimension))
    )

    def play(key: Array) -> Array:
        target, output = game.play(key, jnp.asarray(True))
        return jnp.concatenate([target, jnp.ravel(output)])

    return play


def a_key(game: int = 0) -> Array:
    return counter_keys(run_draws(3, 0)._replace(games=jnp.asarray([game], jnp.uint64)))[0]


def agree(first: Array, second: Array) -> bool:
    """To within the rounding of some dozens of numbers in another order."""
    return bool(np.allclose(first, second, rtol=1e-13, atol=1e-13))


def all_at_once(key: Array, r: Array) -> Array:
    return jnp.concatenate([jnp.ravel(mechanism(key, r)) for mechanism in SEPARABLE.values()])


@pytest.mark.evidence
@pytest.mark.parametrize(("name", "random"), [("Gaussian full", False), ("Empirical", True)])
def test_blocks_give_what_all_records_give(name: str, random: bool) -> None:
    play = round_of(all_at_once, MEMBERS[name].law, N, random)
    in_blocks, whole = jax.jit(by_blocks(play, N, BLOCK)), jax.jit(play)
    assert agree(in_blocks(a_key()), whole(a_key()))
    assert not agree(in_blocks(a_key()), whole(a_key(1)))  # the control: another game's records


@pytest.mark.evidence
def test_rows_that_are_no_records_would_be_seen(monkeypatch) -> None:
    play = round_of(SEPARABLE["mean"], mi.Bernoulli(0.3, d=4), N, False)
    whole = play(a_key())
    assert agree(jax.jit(by_blocks(play, N, BLOCK))(a_key()), whole)
    monkeypatch.setattr("mipsim.engine.row_reading.Reading._own", lambda self, block, *_: block)
    assert not agree(jax.jit(by_blocks(play, N, BLOCK))(a_key()), whole)


@pytest.mark.evidence
@pytest.mark.parametrize("name", SEPARABLE)
def test_each_of_these_is_separable(name: str) -> None:
    """By itself, and where there are as many records as coordinates."""
    law = mi.Gaussian(0.0, 1.0, d=4)
    for n in (N, 4):
        jax.eval_shape(by_blocks(round_of(SEPARABLE[name], law, n, random=False), n, 3), a_key())


@pytest.mark.evidence
def test_as_many_records_as_coordinates_are_not_taken_for_them() -> None:
    play = round_of(all_at_once, mi.Gaussian(0.0, 1.0, d=6), 6, random=True)
    assert agree(jax.jit(by_blocks(play, 6, 4))(a_key()), jax.jit(play)(a_key()))


@pytest.mark.parametrize("name", INSEPARABLE)
def test_what_needs_its_records_at_once_is_not_played_by_blocks(name: str) -> None:
    with pytest.raises(InseparableError):
        jax.eval_shape(
            by_blocks(round_of(INSEPARABLE[name], mi.Gaussian(0.0, 1.0, d=4), N, False), N, BLOCK), a_key()
        )


@pytest.mark.evidence
@pytest.mark.parametrize("name", ["Gaussian", "Laplace", "Exponential", "Uniform", "StudentT", "Empirical"])
def test_records_are_the_same_bit_for_bit(name: str) -> None:
    law = MEMBERS[name].law
    picked = jnp.asarray([0, BLOCK - 1, BLOCK, N - 1])

    def some(key: Array, r: Array) -> Array:
        return jnp.concatenate([jnp.where((jnp.arange(N) == i)[:, None], r, 0.0).sum(axis=0) for i in picked])

    play = round_of(some, law, N, random=False)
    assert np.array_equal(jax.jit(by_blocks(play, N, BLOCK))(a_key()), jax.jit(play)(a_key()))


def own_mean(n: int, d: int, of: Mechanism = SEPARABLE["mean"]) -> mi.FixedTarget:
    return mi.FixedTarget(of, mi.Bernoulli(0.3, d=d), n, np.ones(d))


@pytest.mark.evidence
def test_a_game_that_fits_no_memory_is_played_by_blocks(monkeypatch) -> None:
    """10^8 numbers a game where a hundredth of them would fit."""
    monkeypatch.setattr("mipsim.engine.memory.available", lambda _: 8e6)
    how: Any = {"attack": mi.ScalarProduct(np.full(1000, 0.3)), "games": 1, "edges": [0.0], "progress": False}
    assert mi.play(own_mean(100_000, 1000), **how, fidelity="literal").games == 1
    with pytest.raises(ValueError, match="needs"):
        mi.play(own_mean(100_000, 1000, INSEPARABLE["median"]), **how)


@pytest.mark.evidence
def test_a_game_by_blocks_has_the_counts_of_the_game_at_once(monkeypatch) -> None:
    """Sums of zeros and ones are exact in any order: the counts are the same."""
    game, score = own_mean(60, 200), mi.ScalarProduct(np.full(200, 0.3))
    edges = np.linspace(40.0, 44.0, 50)  # the mean of the scores is 42, their standard deviation .6
    in_blocks = mi.play(game, score, 300, 1, edges=edges, fidelity="literal", progress=False)
    monkeypatch.setattr(LiteralSampler, "_by_blocks", lambda *_: None)
    jax.clear_caches()
    whole = mi.play(game, score, 300, 1, edges=edges, fidelity="literal", progress=False)
    assert in_blocks.manifest["sampler"] == LiteralSampler.name
    assert same(in_blocks, whole)
    assert np.count_nonzero(whole.out) > 5  # they are spread over many cells


@pytest.mark.evidence
def test_a_key_of_another_kind_is_not_played_by_blocks() -> None:
    with pytest.raises(InseparableError):
        by_blocks(lambda key: jax.random.uniform(key, (N, 2)).sum(), N, BLOCK)(jax.random.key(0))
    by_blocks(lambda key: jax.random.uniform(key, (N, 2)).sum(), N, BLOCK)(jax.random.key(0, impl=COUNTER))
