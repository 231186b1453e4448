"""A clipped noisy step: its formula, its noise convention, and what it refuses."""

from typing import Any

import jax
import numpy as np
import pytest
from scipy import stats

import mipsim as mi
from tests.law_agreement import follows
from tests.scope import in_exact_scope  # noqa: F401

KEY = jax.random.key(0)
RECORDS: Any = np.array([[3.0, 4.0], [0.0, 0.5], [0.0, 0.0], [-6.0, 8.0]])


def test_rows_are_clipped_and_averaged() -> None:
    clipped = np.array([[0.6, 0.8], [0.0, 0.5], [0.0, 0.0], [-0.6, 0.8]])
    released = mi.SGDStep(1.0, 0.0).release(KEY, RECORDS)
    assert np.allclose(released, clipped.mean(axis=0), rtol=1e-15)
    assert released.dtype == np.float64


def test_without_clipping_it_is_the_mean() -> None:
    assert np.allclose(mi.SGDStep(np.inf, 0.0).release(KEY, RECORDS), RECORDS.mean(axis=0), rtol=1e-15)
    assert np.allclose(mi.SGDStep(10.0, 0.0).release(KEY, RECORDS), RECORDS.mean(axis=0), rtol=1e-15)
    assert not np.allclose(mi.SGDStep(9.9, 0.0).release(KEY, RECORDS), RECORDS.mean(axis=0), rtol=1e-3)


def test_noise_is_counted_in_clips_on_the_sum() -> None:
    step = mi.SGDStep(2.0, 3.0)
    keys = jax.random.split(jax.random.key(1), 20_000)
    noise = np.asarray(jax.vmap(lambda key: step.release(key, RECORDS))(keys)) - np.asarray(
        mi.SGDStep(2.0, 0.0).release(KEY, RECORDS)
    )
    assert step.noise_std(4) == 3.0 * 2.0 / 4
    for j in (0, 1):
        assert follows(noise[:, j], stats.norm(0, 1.5).cdf)
        assert not follows(noise[:, j], stats.norm(0, 3.0).cdf)  # over sqrt(n) instead of n


def test_conversions_to_the_noise_of_the_mean() -> None:
    step = mi.SGDStep.with_noise_std(clip=2.0, noise_std=0.05, n=100)
    assert step.noise_std(100) == pytest.approx(0.05, rel=1e-15)
    # n + tau^2 n^2 / C^2, as printed
    assert step.effective_n(100) == pytest.approx(100 + 0.05**2 * 100**2 / 2.0**2, rel=1e-15)
    assert mi.SGDStep(np.inf, 0.0).effective_n(100) == 100.0
    assert mi.SGDStep(np.inf, 0.0).noise_std(100) == 0.0


def test_a_batch_is_a_subsample() -> None:
    batch = mi.Subsampled(mi.SGDStep(1.0, 1.0), 0.25)
    assert (batch.rows(100), batch.has_exact_law, batch.output_shape(7)) == (25, False, (7,))


def test_numpy_numbers_are_taken() -> None:
    assert mi.SGDStep(np.float64(2.0), 1) == mi.SGDStep(2.0, 1.0)


def test_no_exact_law_is_promised() -> None:
    game = mi.FixedTarget(mi.SGDStep(1.0, 1.0), mi.Gaussian(0.0, 1.0), n=4, target=[1.0])
    assert not game.has_exact_law
