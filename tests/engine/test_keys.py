"""The keys of literal games: their words are uniform and unlike, and any of JAX's samplers can use them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import mipsim as mi
from mipsim._samplers import cosines, events, exponentials, laplaces, normals, places
from mipsim.engine import play
from mipsim.engine.random import vectorised
from mipsim.engine.random.counter import run_draws
from mipsim.engine.random.keys import COUNTER, counter_keys
from tests.scope import in_exact_scope  # noqa: F401

FAILURE = 1e-9  # of each test of a law
GAMES = 2_000


def keys(seed: int = 1, games: int = GAMES, stream: int = 0, world: int = 0):
    return counter_keys(run_draws(seed, stream, world)._replace(games=jnp.arange(games, dtype=jnp.uint64)))


def passes(p_value: float | np.ndarray) -> bool:
    return bool(p_value > FAILURE)


@pytest.mark.parametrize("width", [8, 16, 32, 64])
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
    for apart in (
        1,
        200,
        400,
        600,
        1000,
        1400,
    ):  # neighbours within a kind, and the same number of other kinds
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
        first = np.asarray(jax.vmap(lambda key, made=built: jax.random.key_data(made(key)))(own)).reshape(
            -1, 4
        )
        assert np.unique(first[:, :2], axis=0).shape[0] == first.shape[0]


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


@pytest.mark.evidence
@pytest.mark.parametrize("shape", [(), (0, 2), (3, 2)])
def test_any_shape_is_sampled(shape):
    key = keys(games=1)[0]
    assert {draw(key, shape).shape for draw in (normals, exponentials, laplaces, cosines)} == {shape}


CORNERS = np.array(
    [0, 1, 2**12, 2**52, 2**62, 2**63 - 1, 2**63, 2**63 + 2**12, 2**64 - 2**13, 2**64 - 1], np.uint64
)
WORDS = np.concatenate(
    [
        np.random.default_rng(0).integers(0, 2**64, 10_000, np.uint64),
        np.uint64(1) << np.arange(64, dtype=np.uint64),
        CORNERS,
    ]
)


def middles(words: np.ndarray) -> np.ndarray:
    """The uniform numbers of words, in more than float64."""
    return ((words >> np.uint64(12)).astype(np.longdouble) + np.longdouble(0.5)) * np.longdouble(2.0**-52)


def test_exponentials_are_logarithms_of_uniform_numbers():
    result, exact = np.asarray(vectorised.exponential(jnp.asarray(WORDS))), -np.log(middles(WORDS))
    assert (np.abs(result - exact) <= 5.6e-10 * exact).all()
    assert (result > 0).all()
    # What the law is off by: an error of its quantiles, times the density there.
    assert (np.abs(result - exact) * np.exp(-exact)).max() < 2.0**-32


def test_sines_are_those_of_uniform_angles():
    exact = np.sin((middles(WORDS) - 0.5) * np.longdouble("3.14159265358979323846264338"))
    result = np.asarray(vectorised.sine(jnp.asarray(WORDS)))
    assert (np.abs(result - exact) <= 2.2e-11 * np.abs(exact)).all()
    assert (np.abs(result) <= 1.0 + 1e-10).all()


def test_a_word_s_normal_has_its_own_radius_and_angle():
    turned = WORDS * np.uint64(vectorised._TURNS)
    angle = (middles(turned) - 0.5) * np.longdouble("3.14159265358979323846264338")
    exact = np.sqrt(-2.0 * np.log(middles(WORDS))) * np.sin(angle)
    result = np.asarray(vectorised.normal(jnp.asarray(WORDS)))
    assert (np.abs(result - exact) <= 3.1e-10 * np.abs(exact)).all()


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


@pytest.mark.evidence
@pytest.mark.parametrize(("turns", "is_even"), [(2592223, True), (2**11 + 1, False), (1, False)])
def test_normals_of_all_words_have_the_law(turns, is_even):
    """The same construction with words of 22 bits, all of them: a tenth of what as many independent numbers are from the law on average.

    These come so near with a probability below 1e-50. Tails are nearer than their standard deviation.
    """
    i = np.arange(2**22, dtype=np.int64)
    u, v = ((x + 0.5) / i.size for x in (i, i * turns % i.size))
    z = np.sort(np.sqrt(-2.0 * np.log(u)) * np.sin(np.pi * (v - 0.5)))
    off = np.abs((i + 0.5) / i.size - stats.norm.cdf(z)).max()
    places = np.array([2.0, 3.0, 4.0])
    beyond, mean = (
        np.array([np.count_nonzero(np.abs(z) > x) for x in places]),
        2 * stats.norm.sf(places) * i.size,
    )
    result = off < 0.087 / np.sqrt(i.size) and (np.abs(beyond - mean) < np.sqrt(mean)).all()
    assert result == is_even, (off, beyond, mean)


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
    z = np.asarray(jax.vmap(lambda key: normals(key, (500,)))(keys()))
    parts = np.sign(z), stats.norm.cdf(np.abs(z)) - 0.75  # within +-1/4, of variance 1/48
    scales = 1.0, np.sqrt(1 / 48)
    for i, first in enumerate(parts):
        for j, second in enumerate(parts):
            for a, b in ((first[:, 1:], second[:, :-1]), (first[1:], second[:-1])):
                assert passes(2 * stats.norm.sf(abs((a * b).sum() / np.sqrt(a.size)) / scales[i] / scales[j]))
    same = (parts[1] * parts[1]).sum() / np.sqrt(z.size) * 48  # the control: each with itself
    assert not passes(2 * stats.norm.sf(abs(same)))


@pytest.mark.parametrize("d", [1, 2, 7, 8])
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
    assert passes(stats.chisquare(counts).pvalue) or count == 1
    # The control: places that miss the odd ones are seen.
    assert count == 1 or not passes(
        stats.chisquare(np.bincount(result.ravel() // 2 * 2, minlength=count)).pvalue
    )


@pytest.mark.parametrize("count", [3, 2**20 + 1, 2**52 - 1, 2**52])
def test_the_last_place_is_never_passed(count):
    """Whichever way the product of the greatest number and the count is rounded."""
    assert int(np.float64(1.0 - 2.0**-53) * count) == count - 1


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
