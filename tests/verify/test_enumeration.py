"""Enumeration of all data sets, and the tables of a density's terms by Fourier transforms, against closed forms."""

import numpy as np
import pytest

from verify.azize.laws.enumeration import (
    bernoulli_data_sets,
    best_deterministic_power,
    best_randomised_power,
    mean_game,
    roc_vertices,
)

P, Z = np.array([0.3, 0.6]), np.array([1.0, 0.0])


def test_enumeration_agrees_with_itself():
    sets, probability = bernoulli_data_sets(P, 3)
    assert sets.shape == (64, 3, 2)
    outputs, out, inside = mean_game(P, 3, Z, kept=2)
    assert outputs.shape[1] == 2
    for law in (out, inside, probability):
        assert law.sum() == pytest.approx(1)
    # The sampled rows hold the target with probability 2/3.
    shift = (outputs * inside[:, None]).sum(axis=0) - P
    np.testing.assert_allclose(shift, (Z - P) * (2 / 3) / 2, atol=1e-12)


def test_the_best_of_all_tests_is_that_of_neyman_and_pearson():
    rng = np.random.default_rng(2)
    for m in (2, 7, 12):
        out, inside = rng.dirichlet(np.full(m, 0.7)), rng.dirichlet(np.full(m, 0.7))
        fpr, tpr = roc_vertices(np.log(inside / out), out, inside)
        for alpha in (0.0, 0.03, 0.5, 1.0):
            best = best_randomised_power(out, inside, alpha)
            assert best == pytest.approx(np.interp(alpha, fpr, tpr), abs=1e-12)
            assert best >= best_deterministic_power(out, inside, np.array([alpha]))[0][0] - 1e-12
