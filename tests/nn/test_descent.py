"""Training as a game: which records enter a batch, what a step releases, and games on it against games on their mean."""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import mipsim as mi
from mipsim import data, nn
from mipsim._precision import exact_scope
from mipsim.engine.counting import on_device
from mipsim.engine.random.counter import run_draws
from mipsim.engine.samplers.literal import literal_sampler
from mipsim.nn.network import Parameters
from mipsim.nn.private import longest_batch
from tests.contracts.family import compiled
from tests.law_agreement import FAILURE
from tests.sampler_laws import has_law, moved, same

TINY = 1e-30  # a rate that moves nothing, so that every step sees the same gradients


@cache
def line() -> tuple[nn.Network, Parameters]:
    """Half the squared error of slope x + offset, and parameters of 0."""
    network = nn.linear((1,), 1)
    return network, network.with_flat(network.start(0), np.zeros(2, np.float32))  # pyright: ignore[reportArgumentType]


@cache
def digits() -> tuple[data.DataSet, nn.Network, Parameters]:
    """The digits, a linear network for them, and where it starts."""
    network = nn.linear((8, 8, 1), 10)
    return data.digits(), network, network.start(0)


def revealing(n: int, batch: int, steps: int, sampling: str) -> nn.Descent:
    """A descent whose gradient in the offset is the sum of 2^i over the records i of the batch, over `batch`."""
    x, y = np.zeros((n, 1)), -(2.0 ** np.arange(n))
    return nn.Descent(*line(), x, y, batch=batch, steps=steps, rate=TINY, sampling=sampling)  # pyright: ignore[reportArgumentType]


def batches(descent: nn.Descent, n: int, times: int, seed: int = 0) -> np.ndarray:
    """Which of the records 0, ..., n - 1 each step of so many trainings took, shape (times, steps, n)."""
    with exact_scope():
        keys = jax.random.split(jax.random.key(seed), times)
        records = np.arange(n, dtype=float)[:, None]
        result = compiled(jax.vmap(lambda key: descent.release(key, records).gradients[:, 0]))(keys)  # pyright: ignore[reportArgumentType]
    sums = np.rint(np.asarray(result, float) * descent.batch).astype(int)
    return sums[..., None] >> np.arange(n) & 1


@pytest.mark.evidence
def test_shuffled_batches_take_every_record_once_a_pass() -> None:
    taken = batches(revealing(9, 4, 5, "shuffled"), 9, 400)
    assert (taken.sum(axis=2) == 4).all()
    passes = taken[:, :4].reshape(400, 2, 2, 9).sum(axis=2)
    assert (passes <= 1).all(), "no record twice in a pass"
    assert (passes.sum(axis=2) == 8).all(), "1 of 9 is left out of each pass of two batches"
    assert (taken[:, 0] != taken[:, 2]).any(), "passes differ"
    # Two records of the first batch: uniform over the 36 pairs that they can be among.
    assert uniform(taken[:, 0], 4)


@pytest.mark.evidence
def test_batches_of_fixed_size_are_uniform_subsets_sampled_anew() -> None:
    taken = batches(revealing(9, 4, 6, "fixed"), 9, 400)
    assert (taken.sum(axis=2) == 4).all()
    assert uniform(taken.reshape(-1, 9), 4)
    # Hypergeometric: how many of the first batch come up in the second.
    again, expected = (taken[:, 0] * taken[:, 1]).sum(axis=1), stats.hypergeom.pmf(np.arange(4), 9, 4, 4)
    counts = np.bincount(again, minlength=5)[:4]
    assert stats.chisquare(counts, expected / expected.sum() * counts.sum()).pvalue > FAILURE


def uniform(taken: np.ndarray, size: int) -> bool:
    """Whether subsets of 9 are uniformly distributed among those of that size, by a chi-square that fails with probability 1e-9."""
    codes = (taken << np.arange(9)).sum(axis=1)
    all_codes = [c for c in range(512) if bin(c).count("1") == size]
    counts = np.bincount(codes, minlength=512)[all_codes]
    return bool(stats.chisquare(counts).pvalue > FAILURE)


def test_poisson_batches_keep_each_record_by_its_own_coin() -> None:
    """Every subset of 6 records has the probability of its coins; coins of a rate a tenth off are seen."""
    taken = batches(revealing(6, 3, 8, "poisson"), 6, 1_000).reshape(-1, 6)
    counts = np.bincount((taken << np.arange(6)).sum(axis=1), minlength=64)
    sizes = np.array([bin(c).count("1") for c in range(64)])

    def p_value(rate: float) -> float:
        expected = rate**sizes * (1 - rate) ** (6 - sizes) * len(taken)
        return float(stats.chisquare(counts, expected).pvalue)

    assert p_value(0.5) > FAILURE > p_value(0.55)


def test_the_room_for_a_poisson_batch() -> None:
    for n, batch in ((6, 3), (1000, 64), (60_000, 64), (60_000, 1), (100, 99)):
        room = longest_batch(n, batch)
        assert stats.binom.sf(room, n, batch / n) < 2.0**-60
        assert room == n or stats.binom.sf(room - 1, n, batch / n) >= 2.0**-60
    assert longest_batch(60_000, 64) < 200, "far from all of them"


@pytest.mark.evidence
@pytest.mark.parametrize("part", ["trained", "last"])
def test_steps_are_those_of_a_loop(part: Any) -> None:
    """Each step's mean is that of the gradients of its batch at its parameters, which is looked up among the records; float32."""
    images, _, _ = digits()
    network = nn.layered((8, 8, 1), (7,), 10)
    start = network.start(1)
    descent = nn.Descent(network, start, images.x, images.y, batch=3, steps=4, rate=0.7, part=part)
    records = np.array([[3.0], [700.0], [9.0], [1500.0], [11.0], [12.0]])
    with exact_scope():
        steps = descent.release(jax.random.key(0), records)  # pyright: ignore[reportArgumentType]
    rows = records[:, 0].astype(int)
    now, taken = np.asarray(network.flat(start, part)), []
    for parameters, mean in zip(*map(np.asarray, steps), strict=True):
        assert np.allclose(parameters, now, rtol=0, atol=1e-6)
        here = network.with_flat(start, parameters, part)
        own = nn.per_example_gradients(network, here, images.x[rows], images.y[rows], part=part)
        result = np.linalg.lstsq(own.T, mean, rcond=None)[0] * 3.0
        assert np.allclose(result, np.rint(result), atol=1e-3)
        assert np.allclose(own[np.rint(result).astype(bool)].mean(axis=0), mean, rtol=0, atol=1e-6)
        taken.append(np.rint(result).astype(int))
        now = parameters - 0.7 * mean
    assert (np.array(taken).reshape(2, 2, 6).sum(axis=1) == 1).all(), (
        "every record once in each of two passes"
    )


@pytest.mark.evidence
def test_clipping_and_noise() -> None:
    """The mean gradient is normal about that of the clipped gradients, with the noise of DP-SGD; noise 4% off is seen."""
    images, softmax, begin = digits()
    clip, multiplier, batch = 1.5, 0.8, 5
    how: Any = {"batch": batch, "steps": 1, "rate": 0.1, "clip": clip, "noise_multiplier": multiplier}
    descent = nn.Descent(softmax, begin, images.x, images.y, **how)
    rows = np.arange(5)
    own = nn.per_example_gradients(softmax, begin, images.x[rows], images.y[rows])
    norms = np.linalg.norm(own, axis=1)
    assert (norms > clip).any(), "some are clipped"
    mean = (own * np.minimum(1.0, clip / norms)[:, None]).mean(axis=0)
    with exact_scope():
        keys = jax.random.split(jax.random.key(0), 40)
        records = jnp.asarray(rows[:, None], float)
        play = jax.jit(jax.vmap(lambda key: descent.release(key, records).gradients[0]))
        away = (np.asarray(play(keys), float) - mean).ravel() / (multiplier * clip / batch)
    assert stats.kstest(away, "norm").pvalue > FAILURE
    squares = np.sum(away**2)
    low, high = stats.chi2.ppf([FAILURE / 2, 1 - FAILURE / 2], away.size)
    assert low < squares < high < 1.04**2 * squares


@pytest.mark.evidence
def test_an_epoch_of_frozen_steps_is_a_game_on_a_mean() -> None:
    """At a rate that moves nothing, the scalar products of an epoch add up to that of the mean of all its gradients.

    The projected game on that mean has another sampler and other random numbers, and the same law, by a two-sample chi-square
    that fails with probability 1e-9; it rejects counts shifted by a third of a standard deviation.
    """
    images, softmax, begin = digits()
    n, steps = 60, 5
    rows = nn.per_example_gradients(softmax, begin, images.x, images.y).astype(np.float64)
    pool = np.arange(300, 1797)
    target = int(pool[np.argmax(np.linalg.norm(rows[pool], axis=1))])
    descent = nn.Descent(softmax, begin, images.x, images.y, batch=n // steps, steps=steps, rate=TINY)
    product = mi.ScalarProduct(np.zeros(650))
    game = mi.FixedTarget(descent, descent.records(pool), n, [target])
    played = mi.play(game, nn.SummedOverSteps(descent, product), 4_000, seed=1, progress=False)
    assert played.manifest["fidelity"] == played.manifest["sampler"] == "literal"
    products = mi.Empirical((rows[pool] @ rows[target])[:, None])
    means = mi.FixedTarget(mi.EmpiricalMean(), products, n, [rows[target] @ rows[target]])
    single = mi.ScalarProduct([0.0], target=[1.0])
    projected = mi.play(means, single, 40_000, seed=2, edges=played.edges / steps, progress=False)
    has_law(played, projected, moved(projected))


@pytest.mark.evidence
def test_a_covariance_score_of_the_last_layer_of_a_deeper_training() -> None:
    """Scores of a part of the gradient are those of the part."""
    images, _, _ = digits()
    network = nn.layered((8, 8, 1), (6,), 10)
    start = network.start(2)
    known = mi.ShrunkMoments(
        nn.per_example_gradients(network, start, images.x[:200], images.y[:200], part="last")
    )
    descent = nn.Descent(network, start, images.x, images.y, batch=4, steps=3, rate=0.5)
    with exact_scope():
        steps = descent.release(jax.random.key(1), np.arange(12.0)[:, None])  # pyright: ignore[reportArgumentType]
    attack, expected = mi.CovarianceScore(known, n=4), 0.0
    for parameters, mean in zip(*steps, strict=True):
        here = network.with_flat(start, parameters)
        own = nn.per_example_gradients(network, here, images.x[20:21], images.y[20:21], part="last")[
            0
        ].astype(float)
        last = np.asarray(network.flat(network.with_flat(start, mean), "last"), float)
        expected += float(attack.score(own, last))  # pyright: ignore[reportArgumentType]
    summed = nn.SummedOverSteps(descent, attack, part="last")
    result = float(summed.score(np.array([20.0]), steps))  # pyright: ignore[reportArgumentType]
    assert result == pytest.approx(expected, rel=1e-4)


def descent(**changes: Any) -> nn.Descent:
    images, softmax, begin = digits()
    how = {"batch": 4, "steps": 2, "rate": 0.1} | changes
    return nn.Descent(softmax, begin, images.x, images.y, **how)


@pytest.mark.parametrize(
    ("sampling", "n", "outputs"),
    [
        ("fixed", 9, 4),
        *(
            pytest.param(*row, marks=pytest.mark.evidence)
            for row in (("fixed", 33, 4), ("fixed", 9, 2), ("shuffled", 9, 4))
        ),
        *(pytest.param("shuffled", *row, marks=pytest.mark.slow) for row in ((9, 2), (33, 4))),
    ],
)
def test_a_linear_classifier_takes_the_steps_of_any_network(
    sampling: Any, n: int, outputs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Products of features and residuals against automatic differentiation, in six games at once of fewer records than the data set
    has, or more; a single other record is seen.
    """
    random = np.random.default_rng(5)
    x, y, network = (
        random.normal(size=(20, 2, 3)),
        random.integers(outputs, size=20),
        nn.linear((2, 3), outputs),
    )
    keys, rows = jax.random.split(jax.random.key(1), 6), random.integers(20, size=(6, n, 1)).astype(float)
    some = nn.Descent(network, network.start(2), x, y, batch=n, steps=5, rate=0.5, sampling=sampling)
    other = rows.copy()
    other[:, 0] = (rows[:, 0] + 1.0) % 20.0

    def played(*records: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        with exact_scope():
            play = compiled(jax.vmap(some.release))
            seen = [play(keys, jnp.asarray(of)) for of in records]
        return [(np.asarray(steps.parameters), np.asarray(steps.gradients)) for steps in seen]

    fast, off = played(rows, other)
    monkeypatch.setattr(nn.Descent, "_is_plain_linear", False)
    (literal,) = played(rows)
    assert literal[0].shape == (6, 5, 7 * outputs)
    for quick, plain, wrong in zip(fast, literal, off, strict=True):
        np.testing.assert_allclose(quick, plain, atol=2e-6)
        assert np.abs(wrong - plain).max() > 1e-3


@pytest.mark.evidence
def test_games_that_are_played_in_turn_score_as_games_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores of a block, whose trainings share the first residuals, against game after game by automatic differentiation; a target that
    is not in the batch is seen.
    """
    images, softmax, begin = digits()
    some = nn.Descent(softmax, begin, images.x, images.y, batch=40, steps=3, rate=0.5)
    game = mi.RandomTarget(some, some.records(range(300)), 40)
    known = nn.SummedOverSteps(
        some, mi.ScalarProduct(np.zeros(650)), background=(images.x[300:340], images.y[300:340])
    )

    def scores(*worlds: int) -> list[np.ndarray]:
        with exact_scope():
            sampler = on_device(literal_sampler(game, known))
            draws = run_draws(3, 0)._replace(games=jnp.arange(64, dtype=jnp.uint64))
            play = jax.jit(lambda world: sampler.scores(draws._replace(world=world)))
            return [np.asarray(play(jnp.asarray(world))) for world in worlds]

    together, off = scores(1, 0)
    monkeypatch.setattr(nn.Descent, "numbers_retained", lambda self, n: None)
    (literal,) = scores(1)
    np.testing.assert_allclose(together, literal, rtol=1e-4, atol=1e-6)
    assert np.abs(off - together).max() > 1e-3 * np.abs(together).max()


OWN = nn.Descent._step.__globals__
"""What the class sees: a doctest of its file imports the module once more."""
IMAGES = nn.convolutional((8, 8, 1), (2, 3), 10)
TRAININGS: dict[str, tuple[nn.Network, dict[str, Any]]] = {
    "linear": (nn.linear((8, 8, 1), 10), {"batch": 5}),
    "linear, all records in each step": (nn.linear((8, 8, 1), 10), {"batch": 20}),
    "convolutional": (IMAGES, {"batch": 10}),
    "Poisson batches with noise": (
        IMAGES,
        {"batch": 9, "sampling": "poisson", "clip": 0.5, "noise_multiplier": 0.3, "releases": "parameters"},
    ),
}


@pytest.mark.evidence
@pytest.mark.parametrize("name", TRAININGS)
def test_trainings_that_share_steps_are_those_by_themselves(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the bit: three sets of 20 records that differ in the eighth. Steps are shared until its batch: fewer are computed."""
    network, how = TRAININGS[name]
    images, _, _ = digits()
    some = nn.Descent(network, network.start(1), images.x, images.y, **({"steps": 4, "rate": 0.5} | how))
    records = jnp.tile(jnp.arange(20.0)[:, None], (3, 1, 1)).at[:, 7, 0].set(jnp.array([100.0, 200.0, 300.0]))
    taken: list[int] = []
    plain = OWN["mean_gradient"]

    def counted(*args: Any, **kwargs: Any) -> Any:
        jax.debug.callback(lambda: taken.append(1))
        return plain(*args, **kwargs)

    monkeypatch.setitem(OWN, "mean_gradient", counted)
    with exact_scope():
        together = jax.jit(lambda *args: some.releases_of(*args))(jax.random.key(0), records)
        jax.effects_barrier()
        computed, release = len(taken), jax.jit(lambda *args: some.release(*args))
        for i, own in enumerate(records):
            alone = release(jax.random.key(0), own)
            equal = jax.tree.map(lambda a, b, i=i: bool((a[i] == b).all()), together, alone)
            assert all(jax.tree.leaves(equal))
    seen = np.asarray(jax.tree.leaves(together)[-1])
    assert (seen[0] != seen[1]).any()
    if "releases" not in how and how["batch"] < 20:
        alike = int((seen == seen[0]).all(axis=(0, 2)).sum())
        assert computed == alike + 3 * (4 - alike) < 12


@pytest.mark.evidence
def test_convolutions_in_parts_take_the_steps_of_the_whole_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of 20 images, image by image or in parts of 8, the last filled up, to the rounding of float32; a single other image is seen."""
    images, _, _ = digits()
    some = nn.Descent(IMAGES, IMAGES.start(1), images.x, images.y, batch=20, steps=3, rate=0.5)
    records = jnp.arange(60.0)[:, None]

    def steps(*of: Any) -> list[np.ndarray]:
        with exact_scope():
            release = jax.jit(lambda *args: some.release(*args).gradients)
            return [np.asarray(release(jax.random.key(0), rows)) for rows in of]

    parts, off = steps(records, records.at[7].set(100.0))
    monkeypatch.setitem(OWN, "_TOGETHER", None)
    (whole,) = steps(records)
    np.testing.assert_allclose(parts, whole, atol=2e-6 * np.abs(whole).max())
    assert np.abs(off - whole).max() > 1e-4 * np.abs(whole).max()


@pytest.mark.evidence
def test_counts_do_not_depend_on_chunks_threads_or_resuming(tmp_path: Any) -> None:
    images, softmax, begin = digits()
    descent = nn.Descent(softmax, begin, images.x, images.y, batch=5, steps=3, rate=0.5, sampling="poisson")
    game = mi.RandomTarget(descent, descent.records(range(300)), 30)
    attack = nn.SummedOverSteps(descent, mi.ScalarProduct(np.zeros(650)))
    whole = mi.play(game, attack, 300, seed=3, progress=False)
    path = tmp_path / "counts.npz"
    mi.play(game, attack, 100, seed=3, progress=False, checkpoint=path)
    ways: list[dict[str, Any]] = [{"chunk": 64}, {"workers": 1}, {"checkpoint": path}]
    for how in ways:
        assert same(whole, mi.play(game, attack, 300, seed=3, progress=False, **how))
    assert not (mi.play(game, attack, 300, seed=4, edges=whole.edges, progress=False).out == whole.out).all()
