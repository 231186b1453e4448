"""What a user's own mechanism or attack may not do, since a single trace of it plays every game: each is a single sentence with a remedy."""

import random
import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mipsim as mi
from mipsim._pure import ImpureFunctionError, call_pure
from mipsim.engine.describe import describe

DATA = mi.Gaussian(np.zeros(2), np.ones(2))
TARGET = np.ones(2)
STORED: list = []
SHAPES: list = []
MEAN = mi.EmpiricalMean()
GENERATOR = np.random.default_rng(0)


def first(target, output):
    return output[0]


def play(mechanism, attack=first, games=32, **settings):
    game = mi.FixedTarget(mechanism, DATA, n=3, target=TARGET)
    return mi.play(game, attack, games, edges=[0.0], progress=False, **settings)


@jax.jit
def inner(key, records):
    return records.mean(0) + np.random.normal(size=2)  # noqa: NPY002


IMPURE = {
    "NumPy's old generator": (lambda key, r: r.mean(0) + np.random.normal(size=2), r"draws from np\.random while it is traced, once for all games; draw from its key"),  # noqa: NPY002
    "a generator": (lambda key, r: r.mean(0) + GENERATOR.normal(size=2), "draws from a NumPy generator while it is traced, once for all games"),
    "Python's": (lambda key, r: r.mean(0) + random.gauss(0.0, 1.0), "draws from random while it is traced"),
    "a coin that leaves no constant": (lambda key, r: r.mean(0) * (1.0 if GENERATOR.random() < 2.0 else 2.0), "draws from a NumPy generator"),
    "a clock": (lambda key, r: r.mean(0) + time.perf_counter(), "gives other constants each time it is traced"),
    "jitted": (jax.jit(lambda key, r: r.mean(0) + np.random.normal(size=2)), r"draws from np\.random"),  # noqa: NPY002
    "calls what is jitted": (lambda key, r: 2.0 * inner(key, r), r"draws from np\.random|gives other constants"),
    "a list": (lambda key, r: (STORED.append(r.mean()), r.mean(0))[1], "keeps a value of the trace, in a list, an attribute or a global"),
    "a branch": (lambda key, r: r.mean(0) if r[0, 0] > 0 else r.sum(0), r", line \d+, decides by `if`.*use jax\.numpy\.where"),
    "NumPy": (lambda key, r: np.median(np.asarray(r), axis=0), r", line \d+, hands .* to NumPy or SciPy; use jax\.numpy"),
    "a Python number": (lambda key, r: r.mean(0) + float(r[0, 0]), r", line \d+, makes a Python number .* by float\(\)"),
    "a range": (lambda key, r: r.mean(0) + sum(range(r[0, 0].astype(int))), r", line \d+, takes .* the end of a range"),
    "a mask": (lambda key, r: r[r > 0].mean() * jnp.ones(2), r", line \d+, keeps the entries that a mask picks"),
}  # fmt: skip


@pytest.mark.evidence
@pytest.mark.parametrize("name", IMPURE)
def test_what_a_single_trace_cannot_represent_is_refused_with_its_remedy(name):
    if "calls" in name:
        with jax.enable_x64(True):  # JAX holds a trace of it already
            inner(jax.random.key(0), jnp.zeros((3, 2)))
    mechanism, words = IMPURE[name]
    with pytest.raises(ImpureFunctionError, match=rf"^mechanism .*<lambda>.*{words}") as caught:
        play(mechanism)
    assert "\n" not in str(caught.value)


def test_a_class_of_ones_own_is_watched_too():
    class Frozen(mi.AbstractMechanism):
        def release(self, key, records):
            return records.mean(0) + np.random.normal(size=2)  # noqa: NPY002

        def rows(self, n):
            return n

        def output_shape(self, dimension):
            return (dimension,)

    class Guess(mi.AbstractAttack):
        def score(self, target, output):
            return output[0] + GENERATOR.normal()

    with pytest.raises(ValueError, match=r"release draws from np\.random"):
        play(Frozen())
    with pytest.raises(ValueError, match=r"score draws from a NumPy generator|score gives other constants"):
        play(MEAN, Guess())


def with_loops(key, records):
    def step(i, total):
        return total + jax.random.laplace(jax.random.fold_in(key, i), (2,)) + records[i]

    return jax.lax.fori_loop(0, 3, step, jnp.zeros(2))


def fixed_axes(seed):
    return np.random.default_rng(seed).normal(size=(2, 2))


def pure(key, r):
    return r.mean(0) + jax.random.normal(key, (2,))


def logs_shapes(key, r):
    SHAPES.append(r.shape)
    return jax.jit(lambda r: jnp.sort(r, axis=0))(r)[0]


@pytest.mark.evidence
@pytest.mark.parametrize(
    "mechanism",
    [
        pure, partial(pure), jax.jit(pure), with_loops, logs_shapes, lambda key, r: jnp.mean(r, axis=0), lambda key, r: fixed_axes(0) @ r.mean(0),
        lambda key, r: r.mean(0) @ fixed_axes(3) + jax.random.normal(key, (2,)),
    ],
)  # fmt: skip
def test_pure_functions_raise_no_alarm(mechanism):
    """Deterministic functions and fixed constants among them; warnings are errors here."""
    assert play(mechanism).games == 32


@pytest.mark.parametrize(
    ("mechanism", "attack", "words"),
    [
        (lambda key, r: {"mean": r.mean(0)}, first, "attack .*first does not fit the game, .* several arrays: KeyError 0"),
        (lambda key, r: None, first, "mechanism .* returns nothing; it must return its output"),
        (MEAN, lambda target, output: None, "attack .* returns nothing; the score must be a real scalar"),
        (lambda key, r: r.average(), first, "mechanism .* cannot be played: .*average"),
        (MEAN, lambda target, output: output.item_of, "attack .* does not fit the game, .*item_of"),
        (MEAN, lambda target, output: output[0] + np.random.normal(), r"attack .* draws from np\.random .*; randomness belongs into the mechanism"),  # noqa: NPY002
        (MEAN, lambda target, output: output[0] if output[0] > 0 else 0.0, r"attack .*, line \d+, decides by `if`"),
    ],
)  # fmt: skip
def test_what_gives_other_things_than_its_game_needs_is_named(mechanism, attack, words):
    with pytest.raises(ValueError, match=words):
        play(mechanism, attack)


def test_an_output_of_several_arrays_is_played():
    assert (
        play(lambda key, r: {"mean": r.mean(0)}, lambda target, output: output["mean"] @ target).games == 32
    )


def watched(mechanism):
    """Only traced, as for a game: nothing is compiled."""
    trace = jax.make_jaxpr(lambda key, records: call_pure("mechanism", mechanism, key, records))
    return trace(jax.random.key(0), jnp.zeros((3, 2)))


def test_noise_from_a_key_of_its_own_is_warned_of():
    def own_key(key, records):
        return records.mean(0) + jax.random.normal(jax.random.key(3), (2,))

    with pytest.warns(UserWarning, match="own_key draws jax.random numbers from a key of its own"):
        watched(own_key)


@pytest.mark.parametrize("made", [np.random.default_rng, np.random.RandomState])
def test_a_generator_of_a_fixed_seed_is_warned_of(made):
    """It gives the same numbers at each trace: no comparison of two traces tells that they were to be noise."""

    def default_rng(key, records):
        return records.mean(0) + np.random.default_rng(3).normal(size=2)

    def legacy(key, records):
        noise = lambda: np.random.RandomState(3).normal(size=2)  # noqa: E731
        return noise() + records.mean(0)

    function = default_rng if made is np.random.default_rng else legacy
    with pytest.warns(
        UserWarning,
        match=rf"draws random numbers from a generator \({made.__name__}\) of its own and leaves the key",
    ):
        watched(function)


def test_a_key_that_a_function_holds_is_part_of_what_was_played():
    """It was an error of JAX's on the way to the manifest."""

    def held(seed):
        key_of_its_own = jax.random.key(seed)
        return lambda key, records: records.mean(0) + jax.random.normal(key_of_its_own, (2,))

    with pytest.warns(UserWarning, match="from a key of its own"):
        watched(held(3))
    assert describe(held(3)) == describe(held(3)) != describe(held(4))


@pytest.mark.evidence
@pytest.mark.parametrize("games", [pytest.param(2_000, marks=pytest.mark.slow), 3])
def test_nan_of_the_mechanism_is_not_blamed_on_the_attack(games):
    def rooted(key, records):
        return jnp.sqrt(records.mean(0))

    with pytest.raises(ValueError, match=r"mechanism .*rooted gave NaN for \d+ of the \d+ games 0 to"):
        play(rooted, games=games)
    with pytest.raises(ValueError, match=r"mechanism .*rooted gave NaN for \d+ of \d+ pilot games"):
        mi.play(mi.FixedTarget(rooted, DATA, n=3, target=TARGET), first, 10, progress=False)
    with pytest.raises(ValueError, match=r"attack .* gave NaN for \d+ of the"):
        play(MEAN, lambda target, output: jnp.log(output[0]), games=games)


def test_an_attack_on_a_single_record_does_not_fit_a_game_of_many_targets():
    game = mi.RandomTarget(MEAN, DATA, n=5)
    for attack in (
        mi.CovarianceScore(DATA, n=5, target=TARGET),
        mi.ScalarProduct(np.zeros(2), target=TARGET),
        mi.LikelihoodRatio(MEAN, DATA, 5, target=TARGET),
    ):
        with pytest.raises(
            ValueError, match="is aimed at a fixed record, but RandomTarget draws another target in each game"
        ):
            mi.play(game, attack, 10, progress=False)


@pytest.mark.evidence
def test_a_likelihood_ratio_of_another_n_is_warned_of():
    game = mi.FixedTarget(MEAN, DATA, n=6, target=TARGET)
    for attack in (mi.LikelihoodRatio(MEAN, DATA, 5), mi.GaussianLikelihoodRatio(DATA, n=5)):
        for ask in (partial(mi.play, games=10, progress=False), lambda game, attack: game.exact(attack)):
            with pytest.warns(
                UserWarning, match=r"made for a mean of 5 rows, .* averages 6: it is not the optimal attack"
            ):
                ask(game, attack)
    bits = mi.Bernoulli([0.3] * 20)
    game = mi.FixedTarget(MEAN, bits, n=6, target=np.ones(20))
    with pytest.warns(
        UserWarning, match=r"made for a mean of 5 rows, .* averages 6: it is not the optimal attack"
    ):
        game.exact(mi.LikelihoodRatio(MEAN, bits, 5))
    half = mi.Subsampled(MEAN, 0.5)
    sampled = mi.FixedTarget(half, DATA, n=6, target=TARGET)
    mi.play(sampled, mi.LikelihoodRatio(half, DATA, 6), 10, progress=False)
