"""A user's functions run as they do in the user's own process: the same bits, of the same keys, in the same precision."""

from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.engine.counting import GAMES
from mipsim.engine.random.counter import run_draws
from mipsim.engine.random.keys import counter_keys
from tests.sampler_laws import same

POINTS = np.linspace(-1.0, 1.0, 12).reshape(6, 2) ** 3
NORMAL = mi.Gaussian(np.array([0.1, 3e5]), np.array([1.0, 1e4]))  # a sum of records is rounded
PLAYED = 60
EDGES = [-1e6, -1e3, *np.linspace(-1.0, 4.0, 400), 1e3, 1e6]


WIDE = mi.Gaussian(np.array([0.1, 3.0]), 1.0)


def rows(key, records):
    noise = jax.random.laplace(key, records.shape[1:])
    return jnp.sort(records / 3, axis=0)[0] + records.sum(axis=0) @ jnp.ones(records.shape[1:]) + noise


def mixture(key, records):
    """Of many operations, on rows and on whole numbers; the exponential is of small records only."""
    first, second = jax.random.split(key)
    chosen = jax.random.choice(first, records.shape[0], (2,), replace=False)
    loop = jax.lax.fori_loop(0, 3, lambda i, x: jnp.tanh(x + i) + records[i], records[0])
    at = jnp.where(jax.random.bernoulli(second, 0.3), 1e-3, jnp.exp(loop))
    return records[chosen].mean(axis=0) * jnp.argmax(records[:, 0]) + at


def overflowing(key, x):
    w = jnp.exp(x.sum() * jnp.ones(2))
    return jax.random.choice(key, 2, p=w / w.sum())


def textbook(key, x):
    return x[0] + jax.random.laplace(key)


def is_on_grid(target, output):
    return (output * 2.0**26 == jnp.round(output * 2.0**26)).astype(float)


def remainder(target, output):
    """It tells low bits apart."""
    return jnp.sum(jnp.ravel(output)[:3] * 1e6 % 1.0) + 1e-12 * target.sum()


def lower(target, output):
    return -output


class OwnMechanism(mi.AbstractMechanism):
    def release(self, key, records):
        return rows(key, records)

    def rows(self, n):
        return n

    def output_shape(self, dimension):
        return None


class OwnScore(mi.AbstractAttack):
    def score(self, target, output):
        return remainder(target, output)


GAME_KINDS = {
    "two inputs": lambda mech: mi.TwoInputs(mech, [[80.1, 0.0], [1.0, 2.0], [0.3, 1.0]], POINTS[:3]),
    "fixed target": lambda mech: mi.FixedTarget(mech, NORMAL, n=7, target=[1.0, 1e5]),
    "small records": lambda mech: mi.FixedTarget(mech, WIDE, n=7, target=[1.0, 2.0]),
    "a column": lambda mech: mi.FixedTarget(mech, mi.Gaussian(1.0, 1.0, d=1), n=1000, target=[1.0]),
    "in blocks": lambda mech: mi.FixedTarget(mech, mi.Gaussian(1e4, 1.0, d=64), n=96, target=np.ones(64)),
    "random target": lambda mech: mi.RandomTarget(mech, NORMAL, n=5),
    "subset": lambda mech: mi.Subset(mech, POINTS * 1e3, target=2),
}


def recorded(game, seed, games, world):
    """(key words, what the mechanism is given, target) of every game, as its process would hold them."""

    def play(key):
        target, (words, records) = game.play(key, jnp.asarray(world == 1))
        return words, records, target

    with exact_scope("float32"):
        draws = run_draws(seed, GAMES)._replace(
            world=jnp.asarray(world), games=jnp.arange(games, dtype="uint64")
        )
        words, records, target = jax.jit(jax.vmap(play))(counter_keys(draws))
    plain = np.float32 if records.dtype == np.float64 else np.int32
    return np.asarray(words, np.uint32), np.asarray(records, plain), np.asarray(target, plain)


def plain_counts(build, mechanism, attack, seed, games, edges):
    """What JAX alone counts in this process, given the same keys and records."""
    game = build(lambda key, records: (jax.random.key_data(key), records))
    result = []
    for world in (0, 1):
        words, records, target = recorded(game, seed, games, world)
        keys = jax.random.wrap_key_data(jnp.asarray(words))
        outputs = jax.jit(jax.vmap(mechanism))(keys, jnp.asarray(records))
        scores = np.asarray(jax.jit(jax.vmap(attack))(jnp.asarray(target), outputs), np.float64)
        result.append(np.bincount(np.searchsorted(edges, scores), minlength=len(edges) + 1))
    return mi.Histogram(np.array(edges), *result)


WHOLE = ("two inputs", "subset", "fixed target", "in blocks", "a column", "small records")


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("kind", "mechanism"),
    [("random target", OwnMechanism()), *((kind, mixture if kind == "small records" else rows) for kind in WHOLE)],
)  # fmt: skip
def test_counts_are_those_of_plain_jax(kind, mechanism):
    own = isinstance(mechanism, OwnMechanism)
    attack = OwnScore() if own else remainder
    expected = plain_counts(GAME_KINDS[kind], rows if own else mechanism, remainder, 3, PLAYED, EDGES)
    counts = mi.play(GAME_KINDS[kind](mechanism), attack, PLAYED, seed=3, edges=EDGES, progress=False)
    assert same(counts, expected)
    assert counts.manifest["precision"] == "float32"


@pytest.mark.evidence
def test_every_way_of_playing_counts_the_same():
    game, settings = GAME_KINDS["random target"](rows), {"seed": 3, "edges": EDGES, "progress": False}
    counts = mi.play(game, remainder, PLAYED, **settings)
    expected = counts
    first, second = (
        mi.play(game, remainder, part, chunk=1, **settings) for part in (range(31), range(31, PLAYED))
    )
    assert same(first + second, expected)
    assert same(mi.play_many(game, [lower_sum, remainder], PLAYED, **settings)[1], expected)
    with ThreadPoolExecutor(2) as executor:
        assert same(mi.play(game, remainder, PLAYED, executor=executor, **settings), expected)
    whole = mi.play(game, remainder, PLAYED, precision="float64", **settings)
    assert not same(whole, expected)  # the test sees the low bits
    with jax.enable_x64(True):
        assert same(mi.play(game, remainder, PLAYED, **settings), whole)
        assert same(mi.play(game, remainder, PLAYED, precision="float32", **settings), expected)


def lower_sum(target, output):
    return -jnp.sum(output)


CLAIMS = [
    (overflowing, [80.0, 0.0], [80.0, 10.0], lower, 0.5, "CONFIRMED"),
    pytest.param(textbook, [0.0], [1.0], is_on_grid, 1.0, "INCONCLUSIVE", marks=pytest.mark.evidence),
]


@pytest.mark.parametrize(("mechanism", "a", "b", "attack", "epsilon", "in_float64"), CLAIMS)
def test_a_claim_that_float32_breaks_is_refuted(mechanism, a, b, attack, epsilon, in_float64):
    game, claim = mi.TwoInputs(mechanism, a, b), mi.ApproxDPTradeOff(epsilon, 0.0)
    settings = {"edges": [-0.5, 0.5], "progress": False}
    for precision, verdict in ((None, "REFUTED"), ("float64", in_float64)):
        curve = mi.play(game, attack, 100_000, precision=precision, **settings).tradeoff(confidence=0.999)
        result = curve.compare(claim, kind="upper_bound_on_power")
        assert result.verdict == verdict
        assert f"your functions       in {precision or 'float32'}" in str(result)
    decided = mi.decide(game, attack, claim, 100_000, kind="upper_bound_on_power", **settings)
    assert decided.verdict == "REFUTED"


OTHERS = [np.array([0.1, 0.0], np.float32), np.array([1, 0], np.int8)]


@pytest.mark.parametrize("given", [[1, 0], *(pytest.param(x, marks=pytest.mark.evidence) for x in OTHERS)])
def test_inputs_are_what_jnp_asarray_makes_of_them(given):
    seen = []

    def mechanism(key, x):
        seen.append((x.dtype, key.dtype))
        return x

    for enabled in (False, True):
        with jax.enable_x64(enabled):
            mi.play(mi.TwoInputs(mechanism, given, given), lower_sum, 10, edges=[0.0], progress=False)
            dtype, key = seen[-1]  # to see whether it is pure, it is traced in float64 before
            assert dtype == jnp.asarray(given).dtype
            assert enabled or key == jax.random.key(0).dtype
        seen.clear()


def test_whole_numbers_that_int32_cannot_hold_are_refused():
    game = mi.TwoInputs(lambda key, x: x, [2**40], [0])
    with pytest.raises(
        ValueError, match=r"a holds 1099511627776, which is no int32: give floats, or precision='float64'"
    ):
        mi.play(game, lower_sum, 10, progress=False)
    assert mi.play(game, lower_sum, 10, precision="float64", edges=[0.0], progress=False).games == 10


def test_a_checkpoint_of_another_precision_is_refused(tmp_path):
    game = mi.TwoInputs(textbook, [0.0], [1.0])
    file = tmp_path / "counts.npz"
    mi.play(game, is_on_grid, 100, edges=[0.5], checkpoint=file, progress=False)
    with pytest.raises(ValueError, match=r"another .*precision"):
        mi.play(game, is_on_grid, 200, edges=[0.5], checkpoint=file, precision="float64", progress=False)
    with jax.enable_x64(True), pytest.raises(ValueError, match=r"another .*precision"):
        mi.play(game, is_on_grid, 200, edges=[0.5], checkpoint=file, progress=False)
    ours = mi.FixedTarget(mi.EmpiricalMean(), NORMAL, n=5, target=[0.0, 0.0]), mi.ScalarProduct(np.zeros(2))
    assert (
        "precision" not in mi.play(*ours, 10, edges=[0.5], progress=False).manifest
    )  # nothing of the user's


@pytest.mark.evidence
def test_members_of_the_library_keep_float64_in_a_users_function():
    def mechanism(key, records):
        return jnp.stack([NORMAL.sample(key, 3)[0, 1], mi.EmpiricalMean().release(key, records)[1]])

    game = mi.FixedTarget(mechanism, NORMAL, n=4, target=[0.0, 0.0])
    assert mi.play(game, remainder, 50, edges=[0.5], progress=False).games == 50


def test_scores_of_float32_are_counted_exactly():
    """Neighbouring floats stay apart, and an edge that is among them is a score of its own."""
    unit, above = np.float32(1.0), np.nextafter(np.float32(1.0), np.float32(2.0))
    game = mi.TwoInputs(lambda key, x: x, unit, above)
    counts = mi.play(
        game, lambda target, output: output, 50, edges=[0.0, float(unit), float(above)], progress=False
    )
    assert counts.out.tolist() == [0, 50, 0, 0]
    assert counts.inside.tolist() == [0, 0, 50, 0]
    piloted = mi.play(game, lambda target, output: output, 50, progress=False).tradeoff()
    assert piloted.advantage_interval()[0] > 0.5


def test_the_query_of_a_relaxed_threat_has_the_users_precision():
    query = lambda records: records.sum(axis=0) / 3  # noqa: E731
    noise = mi.Gaussian(0.0, 1.0, d=1)
    for enabled, kind in ((False, np.float32), (True, np.float64)):
        with jax.enable_x64(enabled):
            game = mi.RelaxedThreat(query, [[0.1], [0.3]], [1e-9], noise)
        assert game.known[0] == np.array([0.1, 0.3], kind).sum() / kind(3)
        assert (game.shift[0] == 0.0) is not enabled  # float32 loses the record
        assert game.precision == kind.__name__


def test_an_exact_law_of_a_users_score_says_that_it_is_in_real_arithmetic():
    game = mi.FixedTarget(mi.EmpiricalMean(), mi.Gaussian(0.0, 1.0, d=2), n=5, target=[1.0, 2.0])
    own = game.exact(lambda target, output: target @ output)
    with jax.enable_x64(True):
        assert game.exact(lambda target, output: target @ output).assumed == ""
    assert own.assumed == "the score is in real arithmetic"
    assert game.exact(mi.ScalarProduct(np.zeros(2))).assumed == ""
