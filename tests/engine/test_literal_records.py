"""Literal games as the engine plays them: the laws of their records, and the place of the target."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.engine.counting import Counter, on_device
from mipsim.engine.random.counter import GameDraws, run_draws
from mipsim.engine.route import build_sampler
from mipsim.engine.samplers.literal import LiteralSampler
from tests.distributions.members import MEMBERS
from tests.law_agreement import follows, has_frequencies, has_mean

N, GAMES = 50, 2048
FAR = 1000.0  # no record is there
MANY_VALUES = mi.Discrete(np.sqrt(np.arange(40.0)), np.arange(40.0) / 780, d=2)
LAWS = {name: member.law for name, member in MEMBERS.items()} | {"Discrete many": MANY_VALUES}


def all_records(key: Array, records: Array) -> Array:
    return records


@eqx.filter_jit
def _both(sampler: LiteralSampler, draws: GameDraws) -> tuple[Array, Array]:
    # A single array of both, since a sampler makes a single array of each game.
    def round_of(key: Array) -> Array:
        target, records = sampler.round()(key, draws.world == 1)
        return jnp.concatenate([target[None], records])

    result = sampler.each(round_of, draws)
    return result[:, 0], result[:, 1:]


def literal_sampler(game: mi.AbstractMembershipGame) -> LiteralSampler:
    """What plays the game literally; called inside `exact_scope`."""
    sampler = on_device(build_sampler(game, mi.ScalarProduct(np.zeros(game.data.dimension)), "literal"))
    assert isinstance(sampler, LiteralSampler)
    return sampler


def sampled(
    game: mi.FixedTarget | mi.RandomTarget, world: int, games: int = GAMES
) -> tuple[np.ndarray, np.ndarray]:
    """Targets (games, d) and records (games, n, d) of the first games of a world."""
    with exact_scope("float64"):
        sampler = literal_sampler(game)
        result = []
        for first in range(0, games, sampler.block):
            numbers = jnp.arange(first, first + sampler.block, dtype=jnp.uint64)
            draws = run_draws(5, 0)._replace(world=jnp.asarray(world), games=numbers)
            result.append([np.asarray(x) for x in _both(sampler, draws)])
    targets, records = (np.concatenate(parts)[:games] for parts in zip(*result, strict=True))
    return targets, records


def fixed(law: mi.AbstractDistribution, n: int = N) -> mi.FixedTarget:
    return mi.FixedTarget(all_records, law, n=n, target=np.full(law.dimension, FAR))


def follow_their_law(name: str, sample: np.ndarray, tilt: float = 0.0) -> bool:
    """Whether every coordinate has its law, and they are uncorrelated where they should be; `tilt` moves the law that is compared.

    Each comparison fails for correct records with probability 1e-9 at the most.
    """
    law = LAWS[name]
    many = tuple((MANY_VALUES.values, row) for row in MANY_VALUES.probabilities)
    atoms = MEMBERS[name].atoms if name in MEMBERS else many
    for j, known in enumerate(MEMBERS[name].continuous if name in MEMBERS else ()):
        if not follows(sample[:, j] + tilt * known.std(), known.cdf):
            return False
    for j, (values, weights) in enumerate(atoms):
        counts = np.array([np.count_nonzero(sample[:, j] == v) for v in values])
        tilted = weights * np.where(np.arange(values.size) == values.size - 1, 1 + 6 * tilt, 1.0)
        if counts.sum() != len(sample) or not has_frequencies(counts, tilted / tilted.sum()):
            return False
    shifted = sample - law.mean
    products = shifted[:, :, None] * shifted[:, None, :]
    covariance = np.diag(law.covariance) if law.is_product else law.covariance
    return has_mean(products.reshape(len(sample), -1), covariance.ravel(), 1.1 * products.var(axis=0).ravel())


@pytest.mark.evidence
@pytest.mark.parametrize("name", LAWS)
def test_records_follow_their_law(name: str) -> None:
    with exact_scope("float64"):
        sampler = literal_sampler(fixed(LAWS[name]))
        assert 1 < sampler.together < sampler.block  # games are played a few at a time
    _, records = sampled(fixed(LAWS[name]), world=0)
    sample = records.reshape(-1, LAWS[name].dimension)
    assert follow_their_law(name, sample)
    assert not follow_their_law(name, sample, tilt=0.05)


@pytest.mark.evidence
@pytest.mark.parametrize("name", LAWS)
def test_numbers_of_a_game_and_of_its_neighbours_are_independent(name: str) -> None:
    law = LAWS[name]
    out, inside = (sampled(fixed(law), world)[1] - law.mean for world in (0, 1))
    inside = np.where(np.abs(inside + law.mean - FAR) < 1e-9, np.nan, inside)  # the target's row
    pairs = {
        "next row": (out[:, :-1], out[:, 1:]),
        "next game": (out[:-1], out[1:]),
        "other world": (out, inside),
        "next row and coordinate": (out[:, :-1, :-1], out[:, 1:, 1:]),
    }
    for what, (first, second) in pairs.items():
        products = (first * second).reshape(-1, first.shape[-1])
        products = products[~np.isnan(products).any(axis=1)]
        if products.shape[1]:
            assert has_mean(products, np.zeros(products.shape[1]), 1.1 * products.var(axis=0)), what
    same = (out[:, :-1] ** 2).reshape(-1, law.dimension)  # what a row sampled twice would give
    assert not has_mean(same, np.zeros(law.dimension), 1.1 * same.var(axis=0))


def test_a_fixed_target_stands_in_a_single_row_of_the_games_with_it() -> None:
    """Of five, so that a row that is never replaced is seen."""
    law, games = MEMBERS["Gaussian"].law, 8 * GAMES
    targets, records = sampled(fixed(law, 5), world=1, games=games)
    assert (targets == FAR).all()
    is_target = (records == FAR).all(axis=2)
    assert (is_target.sum(axis=1) == 1).all()
    assert has_frequencies(is_target.sum(axis=0), np.full(5, 0.2))
    assert follow_their_law("Gaussian", records[~is_target])
    targets, records = sampled(fixed(law, 5), world=0, games=games)
    assert (targets == FAR).all()
    assert not (records == FAR).any()


def test_a_random_target_is_a_uniform_row_or_a_fresh_record() -> None:
    law, games = MEMBERS["Gaussian"].law, 32 * GAMES
    game = mi.RandomTarget(all_records, law, n=5)
    targets, records = sampled(game, world=1, games=games)
    is_target = (records == targets[:, None]).all(axis=2)
    assert (is_target.sum(axis=1) == 1).all()
    assert has_frequencies(is_target.sum(axis=0), np.full(5, 0.2))
    assert follow_their_law("Gaussian", targets)
    targets, records = sampled(game, world=0, games=games)
    assert not (records == targets[:, None]).any()
    assert follow_their_law("Gaussian", targets)
    for row in range(5):
        products = (targets - law.mean) * (records[:, row] - law.mean)
        assert has_mean(products, np.zeros(2), 1.1 * products.var(axis=0))


@pytest.mark.evidence
@pytest.mark.parametrize("name", ["Bernoulli", "Discrete"])
def test_a_large_game_holds_its_records_once(name: str) -> None:
    """XLA would else keep a table of counters as large as the records, which costs a large game as much time as these."""
    d, n = 1000, 500
    discrete = mi.Discrete([-1.0, 0.0, 2.0], [0.2, 0.3, 0.5], d=d)
    law = mi.Bernoulli(0.3, d=d) if name == "Bernoulli" else discrete
    # A game that needs all of its records at once: others are played by blocks of them.
    game = mi.FixedTarget(lambda key, records: records.var(axis=0), law, n=n, target=np.ones(d))
    with exact_scope("float64"):
        assert Counter(literal_sampler(game), [np.zeros(1)], 0).needs() < 1.5 * 8 * n * d
