import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mipsim as mi
from mipsim.engine.counting import _count

DATA = mi.Bernoulli(np.random.default_rng(0).uniform(0.25, 0.75, 6))
GAME = mi.FixedTarget(mi.EmpiricalMean(), DATA, n=12, target=DATA.easiest_target())
ATTACK = mi.CovarianceScore(DATA, n=12, target=GAME.target)
NORMAL = mi.FixedTarget(mi.EmpiricalMean(), mi.Gaussian(np.zeros(3), np.ones(3)), n=5, target=np.ones(3))


# Plain functions are played literally here where the fidelity does not matter: it compiles faster.


def same(a, b):
    return all(np.array_equal(x, y) for x, y in ((a.edges, b.edges), (a.out, b.out), (a.inside, b.inside)))


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("game", "attack", "fidelity"),
    [
        (GAME, ATTACK, "sufficient"),
        (NORMAL, mi.CovarianceScore(NORMAL.data, n=5), "sufficient"),
        (GAME, ATTACK, "literal"),
    ],
    ids=["table", "law", "literal"],
)
def test_bits_do_not_depend_on_chunk_or_threads(game, attack, fidelity):
    games = 40_001
    whole = mi.play(game, attack, games, seed=7, fidelity=fidelity, progress=False)
    assert whole.games == games
    for chunk, workers in ((1, 1), (10_000, 3), (13_777, 2), (10**9, 4)):
        assert same(
            whole,
            mi.play(game, attack, games, 7, fidelity=fidelity, chunk=chunk, workers=workers, progress=False),
        )
    other = mi.play(game, attack, games, 8, fidelity=fidelity, edges=whole.edges, progress=False)
    assert not np.array_equal(other.out, whole.out)


def test_games_are_numbered():
    # The first games of a longer run are the games of the shorter run, so that counts can only grow.
    edges = np.linspace(-5, 5, 50)
    short, long = (mi.play(GAME, ATTACK, g, edges=edges, progress=False) for g in (9_000, 20_000))
    assert (long.out >= short.out).all()
    assert (long.inside >= short.inside).all()


def test_worlds_and_pilot_have_streams_of_their_own():
    edges = np.linspace(-1, 1, 200)
    blind = mi.play(NORMAL, lambda target, output: output[1], 500, edges=edges, progress=False)
    assert not np.array_equal(blind.out, blind.inside)
    piloted = mi.play(GAME, ATTACK, 4096, progress=False)
    assert piloted.manifest["edges"]["source"] == "pilot"


def test_a_mechanism_and_an_attack_as_plain_functions():
    def clipped_median(key, records):
        noise = 0.1 * jax.random.normal(key, records.shape[1:])
        return jnp.median(jnp.clip(records, -1.0, 1.0), axis=0) + noise

    def score(target, output):
        return jnp.dot(target, output)

    game = mi.FixedTarget(clipped_median, mi.Gaussian(np.zeros(4), np.ones(4)), n=5, target=3 * np.ones(4))
    histogram = mi.play(game, score, games=2_000, progress=False)
    assert histogram.games == 2_000
    assert histogram.manifest["fidelity"] == "literal"
    assert histogram.manifest["attack"]["function"]["function"].endswith("score")
    middles = np.concatenate([[histogram.edges[0]], histogram.edges])
    # The target lifts the median of five: the means differ by many standard errors.
    assert histogram.inside @ middles > histogram.out @ middles + 0.1 * 2_000


@pytest.mark.evidence
def test_float32_and_bool_scores_are_counted():
    for score in (
        lambda t, o: o[0].astype(jnp.float32),
        lambda t, o: o[0] > 0.5,
    ):
        assert mi.play(GAME, score, 300, fidelity="literal", progress=False).games == 300


def test_infinite_scores_fall_into_the_outer_bins():
    histogram = mi.play(
        GAME, lambda t, o: jnp.where(o[0] > 0.5, jnp.inf, -jnp.inf), 1000, fidelity="literal", progress=False
    )
    assert histogram.edges.size >= 1
    assert histogram.out[1:-1].sum() == 0
    assert 0 < histogram.out[0] < 1000


@pytest.mark.evidence
def test_nan_scores_are_an_error_that_names_the_attack():
    def sometimes(target, output):
        return jnp.where(output[0] > 0.9, jnp.nan, output[0])

    def always(target, output):
        return jnp.log(-1.0 - output[0] ** 2)

    with pytest.raises(ValueError, match=r"attack .*always gave NaN for 2048 of 2048 pilot games"):
        mi.play(GAME, always, 10, fidelity="literal", progress=False)
    with pytest.raises(ValueError, match=r"attack .*sometimes gave NaN for \d+ of the \d+ games"):
        mi.play(GAME, sometimes, 50_000, edges=[0.0], fidelity="literal", progress=False)


def test_a_second_play_compiles_nothing():
    other = mi.Bernoulli(np.linspace(0.3, 0.6, 6))
    mi.play(GAME, ATTACK, 100, progress=False)
    cache = getattr(_count, "_cached")  # noqa: B009 - the jitted function inside `filter_jit`
    before = cache._cache_size()
    game = mi.FixedTarget(mi.EmpiricalMean(), other, n=12, target=other.easiest_target())
    mi.play(game, mi.CovarianceScore(other, n=12, target=game.target), 5_000, seed=3, progress=False)
    assert cache._cache_size() == before


def test_settings_of_jax_are_left_alone_and_do_not_matter():
    before = {name: getattr(jax.config, name) for name in ("jax_enable_x64", "jax_threefry_partitionable")}
    first = mi.play(NORMAL, mi.ScalarProduct(np.zeros(3)), 500, progress=False)
    assert before == {name: getattr(jax.config, name) for name in before}
    with jax.threefry_partitionable(False), jax.enable_x64(True):
        assert same(first, mi.play(NORMAL, mi.ScalarProduct(np.zeros(3)), 500, progress=False))


def test_the_manifest_says_what_was_played():
    manifest = mi.play(GAME, ATTACK, 200, seed=5, progress=False).manifest
    assert manifest["game"]["class"] == "mipsim.games.fixed_target.FixedTarget"
    assert manifest["game"]["n"] == 12
    assert manifest["game"]["target"]["shape"] == [6]
    assert (manifest["seed"], manifest["games"], manifest["fidelity"]) == (5, 200, "sufficient")
    assert set(manifest["versions"]) == {"mipsim", "jax", "numpy"}
    assert len(manifest["edges"]["sha256"]) == 64


def test_the_pilot_shares_no_stream_with_the_games():
    """Edges that came from the games' own draws would spoil the coverage of the band."""
    from mipsim.engine.counting import GAMES, PILOT

    assert GAMES != PILOT
