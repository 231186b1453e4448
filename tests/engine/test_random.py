"""Random words, numbers and keys: published sequences, laws far into the tails, and nothing that goes together."""

from functools import partial
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import mipsim as mi
from mipsim._samplers import cosines, events, exponentials, laplaces, normals, places
from mipsim.engine import play
from mipsim.engine.random import counter, vectorised
from mipsim.engine.random.counter import GameDraws, run_draws, words_of
from mipsim.engine.random.keys import COUNTER, counter_keys
from mipsim.engine.random.philox import philox
from mipsim.engine.random.splitmix import splitmix64
from mipsim.engine.samplers.table import _normal
from tests.law_agreement import FAILURE
from tests.scope import in_exact_scope  # noqa: F401

GAMES = 2_000


def keys(seed: int = 1, games: int = GAMES, stream: int = 0, world: int = 0):
    return counter_keys(run_draws(seed, stream, world)._replace(games=jnp.arange(games, dtype=jnp.uint64)))


def passes(p_value: float | np.ndarray) -> bool:
    return bool(p_value > FAILURE)


@pytest.mark.parametrize("width", [8, 64])  # others are upper bits too
def test_every_bit_is_a_fair_coin_in_games_and_along_them(width):
    dtype = jnp.dtype(f"uint{width}")
    words = np.asarray(jax.vmap(lambda key: jax.random.bits(key, (50,), dtype))(keys()))
    bits = np.unpackbits(words.view(np.uint8).reshape(GAMES, 50, -1), axis=2)
    for axes in ((0, 1), (0, 2), (1, 2)):  # each bit, each place of a game, each game
        ones, count = bits.sum(axis=axes), bits.size / bits.sum(axis=axes).size
        z = (ones - count / 2) / np.sqrt(count / 4)
        assert passes(stats.chi2.sf((z**2).sum(), z.size))
        assert passes(stats.chi2.cdf((z**2).sum(), z.size))


@pytest.mark.evidence
def test_neighbours_of_every_kind_draw_unlike_words():
    """Games, seeds, worlds, streams, the keys of a key, and what is folded in: the words agree in half their bits."""
    item = keys(seed=5, games=200)
    split = jax.random.split(item[0], (200,))
    folded = jax.vmap(lambda k: jax.random.fold_in(item[0], k))(jnp.arange(200))
    others = [keys(seed=s, games=200) for s in (4, 6, 2**32 + 5)]
    places = [keys(5, 200, stream, world) for stream, world in ((0, 1), (1, 0), (1, 1))]
    sample = [
        jax.vmap(lambda key: jax.random.bits(key, (16,), jnp.uint64))(k)
        for k in (item, split, folded, *others, *places)
    ]
    words = np.concatenate([np.asarray(d) for d in sample])
    assert np.unique(words).size == words.size
    parts = np.unpackbits(words.view(np.uint8), axis=1).astype(float) - 0.5
    for apart in (1, 200, 400, 600, 1000, 1400):  # neighbours in a kind, and the same number of other kinds
        z = 4.0 * (parts[apart:] * parts[:-apart]).sum() / np.sqrt(parts[apart:].size)
        assert passes(2 * stats.norm.sf(abs(z)))


@pytest.mark.evidence
def test_keys_that_begin_at_the_same_place_of_the_cycle_draw_unlike_words():
    """The second half of a key keeps them apart, word by word and all of them together, and so the keys made of them."""
    halves = jnp.asarray([[1, 2, 0, 0], [1, 2, 0, 1], [1, 2, 3, 4]], jnp.uint32)
    own = jax.random.wrap_key_data(halves, impl=COUNTER)
    words = np.asarray(jax.vmap(lambda key: jax.random.bits(key, (64,), jnp.uint64))(own))
    assert np.unique(words).size == words.size
    for built in (lambda key: jax.random.split(key, 8), lambda key: jax.random.fold_in(key, 5)[None]):
        made = np.asarray(jax.vmap(lambda key, built=built: jax.random.key_data(built(key)))(own)).reshape(
            -1, 4
        )
        assert np.unique(made[:, :2], axis=0).shape[0] == made.shape[0]


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("draw", "law"),
    [
        (lambda key: jax.random.uniform(key, (50,)), stats.uniform()),
        (lambda key: normals(key, (25, 2)), stats.norm()),
        (lambda key: exponentials(key, (50,)), stats.expon()),
        (lambda key: laplaces(key, (50,)), stats.laplace()),
        (lambda key: cosines(key, (50,)), stats.arcsine(-1.0, 2.0)),
        (lambda key: jax.random.gamma(key, 2.5, (20,)), stats.gamma(2.5)),
    ],
    ids=["uniform", "normals", "exponentials", "laplaces", "cosines", "gamma, by JAX with a loop"],
)
def test_draws_have_their_law(draw, law):
    result = np.asarray(jax.vmap(draw)(keys())).reshape(GAMES, -1)
    assert result.dtype == np.float64
    assert passes(stats.kstest(result.ravel(), law.cdf).pvalue)
    # The control: a law two per cent off is seen.
    assert not passes(stats.kstest(np.tile(result.ravel(), 5) * 1.02, law.cdf).pvalue)
    cells = law.cdf(result)
    other = np.roll(cells, 1, axis=1)
    assert passes(2 * stats.norm.sf(abs(12 * ((cells - 0.5) * (other - 0.5)).sum() / np.sqrt(cells.size))))


CORNERS = [0, 1, 2**12, 2**52, 2**62, 2**63 - 1, 2**63, 2**63 + 2**12, 2**64 - 2**13, 2**64 - 1]
POWERS = np.uint64(1) << np.arange(64, dtype=np.uint64)
WORDS = np.r_[
    np.random.default_rng(0).integers(0, 2**64, 10_000, np.uint64), POWERS, np.array(CORNERS, np.uint64)
]


def middles(words: np.ndarray) -> np.ndarray:
    """The uniform numbers of words, in more than float64."""
    return ((words >> np.uint64(12)).astype(np.longdouble) + np.longdouble(0.5)) * np.longdouble(2.0**-52)


PI = np.longdouble("3.14159265358979323846264338")


@pytest.mark.parametrize(
    ("made", "exact", "error"),
    [
        (vectorised.exponential, lambda words: -np.log(middles(words)), 5.6e-10),
        (vectorised.sine, lambda words: np.sin((middles(words) - 0.5) * PI), 2.2e-11),
        # A word's normal has its own radius and angle.
        (vectorised.normal, lambda words: np.sqrt(-2.0 * np.log(middles(words))) * np.sin((middles(words * np.uint64(vectorised._TURNS)) - 0.5) * PI), 3.1e-10),
    ],
)  # fmt: skip
def test_numbers_are_functions_of_uniform_numbers(made, exact, error):
    result, wanted = np.asarray(made(jnp.asarray(WORDS))), exact(WORDS)
    assert (np.abs(result - wanted) <= error * np.abs(wanted)).all()
    if made is vectorised.exponential:
        assert (result > 0).all()
        # What the law is off by: an error of its quantiles, times the density there.
        assert (np.abs(result - wanted) * np.exp(-wanted)).max() < 2.0**-32


def test_points_of_words_share_every_rectangle_evenly():
    """What quotients of the multiplier's continued fraction promise, and that a plain multiplier has larger quotients."""

    def quotients(multiplier: int) -> int:
        a, b, total = 2**64, multiplier, 0
        while b:
            total, a, b = total + a // b, b, a % b
        return total

    assert quotients(vectorised._TURNS) == 225
    assert 4 * (225 + 2) < 2**10  # four corners of a rectangle: 2^-54 of all 2^64 points
    assert quotients(2**32 + 1) > 2**31


def far_share(draw, beyond: float, share: float) -> float:
    """The probability of as unusual a number of draws beyond a place, where that has this share."""
    sample = np.asarray(jax.jit(jax.vmap(lambda key: (jnp.abs(draw(key, (2000,))) > beyond).sum()))(keys()))
    count, mean = sample.sum(), share * 2000 * GAMES
    return 2.0 * float(min(stats.poisson.cdf(count, mean), stats.poisson.sf(count - 1, mean)))


@pytest.mark.parametrize(
    ("draw", "beyond", "law"),
    [
        (normals, 4.0, lambda x: 2 * stats.norm.sf(x)),
        (exponentials, 9.0, stats.expon.sf),
        (laplaces, 9.0, stats.expon.sf),
    ],
)
def test_tails_have_their_share(draw, beyond, law):
    assert far_share(draw, beyond, law(beyond)) > FAILURE
    assert far_share(draw, beyond, law(1.1 * beyond)) < FAILURE  # the control


def test_a_normal_and_its_size_are_unlike_its_neighbours():
    """Each word makes a number: neither signs nor sizes of neighbours, nor a sign and the size beside it, go together."""
    for shape, draw in product(((), (0, 2), (3, 2)), (normals, exponentials, laplaces, cosines)):
        assert jax.eval_shape(partial(draw, shape=shape), keys(games=1)[0]).shape == shape
    z = np.asarray(jax.vmap(lambda key: normals(key, (100,)))(keys()))
    parts = np.sign(z), stats.norm.cdf(np.abs(z)) - 0.75  # within +-1/4, of variance 1/48
    scales = 1.0, np.sqrt(1 / 48)
    for i, first in enumerate(parts):
        for j, second in enumerate(parts):
            for a, b in ((first[:, 1:], second[:, :-1]), (first[1:], second[:-1])):
                assert passes(2 * stats.norm.sf(abs((a * b).sum() / np.sqrt(a.size)) / scales[i] / scales[j]))
    same = (parts[1] * parts[1]).sum() / np.sqrt(z.size) * 48  # the control: each with itself
    assert not passes(2 * stats.norm.sf(abs(same)))


@pytest.mark.parametrize("d", [1, 7, 8])
def test_events_have_their_probabilities_and_go_with_no_other(d):
    """Two of them have a word in common: nor do these go together."""
    p = np.linspace(0.5, 0.8, d)
    sample = jax.vmap(lambda key: events(key, 40, jnp.asarray((p * 2**32).astype(np.uint32))))(keys())
    result = np.asarray(sample).reshape(-1, d)

    def off(p: np.ndarray) -> np.ndarray:
        return (result - p) / np.sqrt(p * (1 - p))

    z = off(p)
    assert passes(stats.chi2.sf((z.sum(axis=0) ** 2).sum() / len(z), d))
    # The control: probabilities four per cent off, ten standard deviations or more, are seen.
    assert not passes(stats.chi2.sf((off(1.04 * p).sum(axis=0) ** 2).sum() / len(z), d))
    pairs = (z.T @ z / np.sqrt(len(z)))[np.triu_indices(d, 1)]
    assert passes(stats.chi2.sf((pairs**2).sum(), pairs.size)) or d == 1
    assert passes(2 * stats.norm.sf(abs((z[1:] * z[:-1]).sum()) / np.sqrt(z[1:].size)))


def test_events_are_comparisons_of_halves_of_words():
    key, thresholds = keys(games=1)[0], jnp.asarray([0, 2**31, 2**32 - 1, 2**30, 2**29], jnp.uint32)
    word = np.asarray(jax.random.bits(key, (3, 3), jnp.uint64))
    each = np.concatenate([word & np.uint64(2**32 - 1), (word >> np.uint64(32))[:, :2]], axis=1)
    assert np.array_equal(events(key, 3, thresholds), each < np.asarray(thresholds))


@pytest.mark.parametrize("count", [1, 2, 7, 1000])
def test_places_are_alike_and_none_is_beyond(count):
    result = np.asarray(jax.vmap(lambda key: places(key, (50,), count))(keys()))
    counts = np.bincount(result.ravel(), minlength=count)
    assert counts.size == count
    odd = np.bincount(
        result.ravel() // 2 * 2, minlength=count
    )  # the control: places that miss the odd numbers
    assert count == 1 or passes(stats.chisquare(counts).pvalue) > passes(stats.chisquare(odd).pvalue)


@pytest.mark.evidence
def test_a_sampler_that_knows_its_own_generator_only_is_played():
    """JAX draws Poisson numbers from its own keys alone: the game gets those."""
    with pytest.raises(NotImplementedError):
        jax.random.poisson(jax.random.key(0, impl=COUNTER), 3.0)
    game = mi.FixedTarget(
        lambda key, rows: rows.sum(axis=0) + jax.random.poisson(key, 3.0, (1,)), mi.Bernoulli([0.5]), 4, [1.0]
    )
    counts = play(game, mi.ScalarProduct([0.0]), 2_000, seed=1, edges=np.arange(-0.5, 20.0), progress=False)
    # A sum of 4 coins and a Poisson number: mean 5, variance 4.
    mean = counts.out @ np.arange(-1.0, 21.0)[: counts.out.size] / 2_000
    assert abs(mean - 5.0) < stats.norm.isf(FAILURE / 2) * np.sqrt(4.0 / 2_000)


ONES, MASK = 0xFFFFFFFF, 2**64 - 1
# The known answers that Salmon et al. publish with Random123 for philox4x32-10: counter, key, words.
PHILOX = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((ONES,) * 4, (ONES,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0), (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
]  # fmt: skip


def test_philox_gives_the_published_words():
    """By itself, and compiled for a column of counters."""
    columns: Any = [
        tuple(jnp.asarray(words, jnp.uint32) for words in zip(*part, strict=True))
        for part in zip(*PHILOX, strict=True)
    ]
    counters, by, expected = columns
    for call in (philox, jax.jit(philox)):
        assert np.array_equal(np.stack(call(counters, by)), np.stack(expected))


def literal_splitmix(seed, count):
    """The generator as Steele, Lea and Flood wrote it: a state that steps, in Python's whole numbers."""
    sample = []
    for _ in range(count):
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        word = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
        sample.append(word ^ (word >> 31))
    return sample


def test_splitmix_is_the_published_sequence():
    # The first five numbers of seed 1234567 are published with the reference code.
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821]  # fmt: skip
    assert literal_splitmix(1234567, 5) == published
    for start in (1234567, 0, MASK):
        sample = jax.jit(splitmix64)(jnp.asarray(start, jnp.uint64), jnp.arange(2500, dtype=jnp.uint64))
        assert np.asarray(sample).tolist() == literal_splitmix(start, 2500)


@pytest.mark.evidence
def test_bits_of_neighbouring_words_are_independent():
    # 64 x 64 pairs of bits of successive words over 1e6 random starts, each a fair coin of 1e6 throws when compared:
    # the largest of 4096 deviations passes 8.1 standard deviations with probability below 4096 x 6e-16 < 1e-11.
    starts = jnp.asarray(np.random.default_rng(0).integers(0, 2**64, 2**20, dtype=np.uint64))
    first, second = (np.asarray(splitmix64(starts, jnp.asarray(i, jnp.uint64))) for i in (0, 1))
    pairs, sums = np.zeros((64, 64)), np.zeros(64)
    for words in zip(np.split(first, 16), np.split(second, 16), strict=True):  # a gigabyte all at once
        bits = [
            np.unpackbits(word.view(np.uint8).reshape(-1, 8), axis=1).astype(np.float32) * 2 - 1
            for word in words
        ]
        pairs, sums = pairs + bits[0].T @ bits[1], sums + bits[0].sum(0)
    assert max(np.abs(pairs).max(), np.abs(sums).max()) < stats.norm.isf(3e-16) * 2**10


def sampled(what, seed=1, world=0, count=2**20):
    """Normals of the projected games, or chi-squares of so many degrees of freedom."""
    draws = GameDraws(jnp.array([0, seed], jnp.uint32), jnp.zeros((), jnp.int64), jnp.asarray(world, jnp.int64), jnp.arange(count, dtype=jnp.uint64))  # fmt: skip
    if what == "normal":
        return np.asarray(jax.jit(counter.normals)(draws))
    return np.asarray(jax.jit(lambda draws: counter.chi_square(words_of(draws), what, count))(draws))


@pytest.mark.evidence
@pytest.mark.parametrize("what", ["normal", 1, 2, 3, 20, 4999])
def test_numbers_of_projected_games_have_their_law(what):
    law, bins, numbers = stats.norm() if what == "normal" else stats.chi2(what), 4096, sampled(what)
    counts = np.bincount((law.cdf(numbers) * bins).astype(int), minlength=bins)
    assert passes(stats.chisquare(counts).pvalue)


def test_their_tails_are_fine_grained_and_their_variance_is_1():
    normals = sampled("normal", count=2**20)
    tail = np.sort(normals)[-64:]
    assert tail.dtype == np.float64
    assert np.unique(tail).size == 64  # float32 normals have a handful of values out here
    # P(max of 2^20 > 7.2) and P(max < 4) are below 1e-6 and 1e-14.
    assert 4.0 < tail[-1] < 7.2
    # Within 6.2 standard errors, passed by chance with probability 1e-9; an error of 1% is 14 of them.
    most = 6.2 * np.sqrt(2.0 / normals.size)
    assert abs(np.mean(normals**2) - 1.0) < most < abs(np.mean((0.99 * normals) ** 2) - 1.0)
    word = jnp.asarray([0, ONES], jnp.uint32)
    ends = np.asarray(_normal((word, word, word, word)))
    assert np.isfinite(ends).all()
    assert 8.5 < ends[0] < 8.6
    assert not sampled(0, count=16).any()


def test_the_two_of_a_pair_and_the_worlds_are_independent():
    first = sampled("normal")
    # 6.2 standard deviations of a mean of products: 1e-9.
    for a, b in (
        (*first.reshape(2, -1),),
        (first, sampled("normal", world=1)),
        (first, sampled("normal", seed=2)),
    ):
        assert abs(np.mean(a * b)) < 6.2 / np.sqrt(a.size)
        assert abs(np.mean((a**2 - 1) * (b**2 - 1))) < 6.2 * 2 / np.sqrt(a.size)
