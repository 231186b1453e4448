"""Training by DP-SGD: a step by hand, its noise, how batches are sampled, and that it continues where it was stopped."""

from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from mipsim import nn
from mipsim.nn import training
from mipsim.nn.gradients import example_bytes
from mipsim.nn.private import augmented, longest_batch, mean_gradient

RNG = np.random.default_rng(20_261_125)
X, Y = RNG.normal(size=(40, 6)).astype(np.float32), RNG.integers(0, 4, 40)
FAILURE = 1e-9
"""Probability with which a right noise or a right sampling fails a test here."""


@cache
def small() -> tuple[nn.Network, Any]:
    """A network, and where it starts."""
    network = nn.layered((6,), (5,), 4)
    return network, network.start(0)


def moved(**settings: Any) -> np.ndarray:
    """What training adds to the parameters of the start."""
    network, start = small()
    chosen = {"epochs": 1, "rate": 1.0, "batch": 40, "optimiser": "sgd", "start": start, **settings}
    return np.asarray(network.flat(nn.train(network, X, Y, **chosen)) - network.flat(start))


def clipped(clip: float) -> np.ndarray:
    """Gradients of all examples at the start, shortened by NumPy."""
    network, start = small()
    rows = nn.per_example_gradients(network, start, X, Y)
    return rows * np.minimum(1.0, clip / np.linalg.norm(rows, axis=1))[:, None]


@pytest.mark.parametrize("sampling", ["shuffled", pytest.param("fixed", marks=pytest.mark.evidence)])
def test_a_step_is_that_of_algorithm_1(sampling: str) -> None:
    network, start = small()
    norms = np.linalg.norm(nn.per_example_gradients(network, start, X, Y), axis=1)
    clip = float(np.median(norms))  # half of them are shortened
    result, by_hand = moved(sampling=sampling, clip=clip, rate=0.5), -0.5 * clipped(clip).mean(axis=0)
    assert np.allclose(result, by_hand, rtol=0, atol=1e-6)
    assert not np.allclose(result, -0.5 * clipped(2 * clip).mean(axis=0), rtol=0, atol=1e-3)


@pytest.mark.evidence
@pytest.mark.parametrize(
    "settings", [{}, {"batch": 20}, {"epochs": 2}], ids=["a step", "two steps", "two epochs"]
)
def test_the_noise_has_the_stated_deviation_and_differs_from_step_to_step(settings: dict[str, int]) -> None:
    """The squares of d independent normal numbers, over their variance, are chi-square with d degrees of freedom.

    If the noise of two steps were the same, its deviation would be doubled instead of sqrt(2)-fold.
    """
    clip, multiplier, repeats = 1e-6, 1e6, 20  # the gradients themselves move nothing
    noise = np.concatenate(
        [moved(clip=clip, noise_multiplier=multiplier, seed=s, **settings) for s in range(repeats)]
    )
    steps = 1 + bool(settings)
    deviation = multiplier * clip / settings.get("batch", 40) * steps**0.5
    low, high = stats.chi2.ppf([FAILURE / 2, 1 - FAILURE / 2], noise.size)
    assert low < (noise**2).sum() / deviation**2 < high
    for wrong in (1.25, 2**0.5):
        assert not low < (noise**2).sum() / (wrong * deviation) ** 2 < high
    between = np.corrcoef(noise.reshape(repeats, -1))[np.triu_indices(repeats, 1)]
    # Correlations of independent numbers in d = 59 coordinates are nearly normal with variance 1/d; all pairs share the failure.
    assert np.abs(between).max() < stats.norm.isf(FAILURE / between.size / 2) / np.sqrt(noise.size / repeats)


def test_batches_are_sampled_as_stated() -> None:
    count, batch, rng = 40, 7, np.random.default_rng(1)
    rows, retained = training._batches(rng, count, batch, "shuffled")
    assert retained is None
    assert len(set(rows.ravel())) == rows.size == count // batch * batch
    rows, retained = training._batches(rng, count, batch, "fixed")
    assert retained is None
    assert all(len(set(row)) == batch for row in rows)
    sample = [training._batches(rng, count, batch, "poisson") for _ in range(200)]
    sizes = np.concatenate([selected.sum(axis=1) for _, selected in sample if selected is not None])
    assert sample[0][0].shape == (count // batch, longest_batch(count, batch))
    low, high = stats.binom.ppf([FAILURE / 2, 1 - FAILURE / 2], sizes.size * count, batch / count)
    assert low <= sizes.sum() <= high
    assert sizes.var() > 0, "and not of the same size"
    for rows, retained in sample:
        assert retained is not None
        assert all(len(set(row[own])) == own.sum() for row, own in zip(rows, retained, strict=True))


@pytest.mark.parametrize("sampling", ["poisson", "fixed", "shuffled"])
def test_batches_do_not_depend_on_coins_of_the_same_seed(sampling: str) -> None:
    """Half of the records with heads are in the first batch, to binomial quantiles; Poisson batches of `default_rng([seed, 0])` hold all of them."""

    def first(rng: np.random.Generator) -> np.ndarray:
        rows, retained = training._batches(rng, 20, 10, sampling)
        return np.isin(np.arange(20), rows[0] if retained is None else rows[0][retained[0]])

    seeds = range(200)
    coins = np.array([np.random.default_rng(seed).random(20) < 0.5 for seed in seeds])
    taken = coins & [first(training._numbers(seed, 0)) for seed in seeds]
    low, high = stats.binom.ppf([FAILURE / 2, 1 - FAILURE / 2], coins.sum(), 0.5)
    assert low <= taken.sum() <= high
    if sampling == "poisson":
        alike = coins & [first(np.random.default_rng([seed, 0])) for seed in seeds]
        assert alike.sum() == coins.sum() > high


def test_a_poisson_step_divides_by_the_expected_number() -> None:
    rows, retained = training._batches(training._numbers(1, 0), 40, 30, "poisson")
    assert retained is not None
    chosen = rows[0][retained[0]]
    assert len(chosen) != 30
    by_hand = -clipped(0.5)[chosen].sum(axis=0) / 30
    assert np.allclose(moved(sampling="poisson", batch=30, clip=0.5, seed=1), by_hand, rtol=0, atol=1e-6)


def test_an_example_with_views_is_clipped_once() -> None:
    """Its gradient is the mean over its views, shortened afterwards; clipping each view first is the control."""
    network, start = small()
    views, clip, count = 4, 0.5, 10
    memory = views * example_bytes(network)
    x, y = jnp.asarray(X).reshape(count, views, 6), jnp.asarray(Y[:count])
    result = mean_gradient(network, start, network.flat(start), x, y, clip=clip, memory=memory, views=views)
    rows = nn.per_example_gradients(network, start, X, np.repeat(Y[:count], views))
    means = rows.reshape(count, views, -1).mean(axis=1)
    by_hand = (means * np.minimum(1.0, clip / np.linalg.norm(means, axis=1))[:, None]).mean(axis=0)
    first = rows * np.minimum(1.0, clip / np.linalg.norm(rows, axis=1))[:, None]
    assert np.allclose(result, by_hand, rtol=0, atol=1e-6)
    assert not np.allclose(result, first.mean(axis=0), rtol=0, atol=1e-3)


def test_views_are_mirrored_and_shifted_with_equal_probability() -> None:
    """An image of 8 x 8 has 2 x 3 x 3 views; Hoeffding's bound on the share of each, all 18 together, and of another law as control."""
    image, views = jnp.arange(1.0, 65.0).reshape(1, 8, 8, 1), 20_000
    padded = np.pad(np.asarray(image)[0, :, :, 0], 1)
    shifts = [padded[i : i + 8, j : j + 8] for i in range(3) for j in range(3)]
    possible = {
        np.ascontiguousarray(a).tobytes(): k for k, a in enumerate(shifts + [a[:, ::-1] for a in shifts])
    }
    seen = np.asarray(augmented(jax.random.key(0), image, views))[0, ..., 0]
    counts = np.bincount([possible[view.tobytes()] for view in seen], minlength=18)
    room = np.sqrt(np.log(36 / FAILURE) / (2 * views))
    assert (abs(counts / views - 1 / 18) < room).all()
    assert not (abs(counts / views - 1 / 12) < room).all()


@pytest.mark.evidence
@pytest.mark.parametrize("sampling", ["shuffled", "fixed", "poisson"])
def test_it_goes_on_with_the_bits_of_one_run(sampling: str, tmp_path: Path) -> None:
    settings: Any = {
        "sampling": sampling,
        "batch": 8,
        "clip": 0.5,
        "noise_multiplier": 1.0,
        "rate": 0.1,
        "seed": 3,
    }
    path = tmp_path / "state.npz"
    whole = moved(epochs=3, **settings)
    moved(epochs=1, checkpoint=path, **settings)
    assert (moved(epochs=3, checkpoint=path, **settings) == whole).all()
    assert (moved(epochs=3, **{**settings, "seed": 4}) != whole).any()
    scheme = {"sampling": "fixed" if sampling != "fixed" else "poisson"}
    for other in ({"clip": 0.6}, {"noise_multiplier": 1.1}, scheme):
        with pytest.raises(ValueError, match="belongs to another training"):
            moved(epochs=4, checkpoint=path, **{**settings, **other})


@pytest.mark.evidence
def test_views_are_of_images_and_of_the_seed() -> None:
    network = nn.linear((8, 8, 1), 4)
    images = RNG.normal(size=(20, 8, 8, 1)).astype(np.float32)

    def trained(**settings: Any) -> np.ndarray:
        learned = nn.train(network, images, Y[:20], epochs=1, rate=0.1, batch=10, clip=1.0, **settings)
        return np.asarray(network.flat(learned))

    assert (trained(views=2) == trained(views=2)).all()
    assert (trained(views=2) != trained(views=0)).any()
    with pytest.raises(ValueError, match=r"views is 2; inputs of shape .* are no images"):
        moved(views=2)


@pytest.mark.evidence
def test_parts_that_only_fill_up_a_batch_add_nothing() -> None:
    network, start = small()
    x, y, retained = jnp.asarray(X), jnp.asarray(Y), jnp.arange(40) < 3
    vector = network.flat(start)
    for memory in (example_bytes(network), 10 * example_bytes(network), 2**29):
        result = mean_gradient(
            network, start, vector, x, y, included=retained, size=3.0, clip=0.5, memory=memory
        )
        assert np.allclose(result, clipped(0.5)[:3].mean(axis=0), rtol=0, atol=1e-6)
