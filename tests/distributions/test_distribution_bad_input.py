"""A single clear sentence for each bad parameter."""

from typing import Any

import numpy as np
import pytest

import mipsim as mi


def test_numbers_are_repeated() -> None:
    assert mi.Gaussian(1.0, [1.0, 2.0]).mean.tolist() == [1.0, 1.0]
    assert mi.Gaussian([0.0, 0.0], 2.0).covariance.tolist() == [2.0, 2.0]
    assert mi.StudentT(5.0, d=4).dimension == 4
    assert mi.Bernoulli(0.5).dimension == 1
    assert mi.Discrete([0.0, 1.0], [0.5, 0.5], d=3).mean.tolist() == [0.5] * 3


def test_student_moments_that_do_not_exist() -> None:
    law = mi.StudentT([3.0, 4.0, 4.5])
    assert np.isfinite(law.variance).all()
    assert np.isinf(law.central_moment(3)).tolist() == [True, False, False]
    assert np.isinf(law.fourth_cumulant).tolist() == [True, True, False]


def test_parameters_are_copied() -> None:
    p = np.array([0.5, 0.5])
    law = mi.Bernoulli(p)
    p[0] = 0.9
    assert law.mean.tolist() == [0.5, 0.5]


def test_empirical_targets_use_the_chosen_covariance() -> None:
    records = np.array([[0.0, 0.0], [1.0, 1.1], [2.0, 1.9], [3.0, 3.2], [2.0, 1.0]])
    full, diagonal = mi.Empirical(records), mi.Empirical(records, "diagonal")
    assert full.covariance.shape == (2, 2)
    np.testing.assert_allclose(full.covariance, np.cov(records.T, bias=True))
    np.testing.assert_allclose(diagonal.covariance, records.var(axis=0))
    assert full.easiest_target().tolist() == [2.0, 1.0]  # off the line on which the others lie
    assert diagonal.easiest_target().tolist() == [3.0, 3.2]


class Frame(dict[str, list[Any]]):
    """As much of a data frame as is requested: named columns, and all of them as an array."""

    @property
    def columns(self) -> list[str]:
        return list(self)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array([np.asarray(column, object) for column in self.values()], object).T.astype(
            dtype or object
        )


@pytest.mark.parametrize("column", [["Ann", "Bob", "Cyd"], [None, "x", 1.0]])
def test_the_column_of_a_data_frame_that_holds_text_is_named(column: list[Any]) -> None:
    ages = [20.0, 30.0, 41.0]
    assert mi.Empirical(Frame(age=ages)).mean[0] == pytest.approx(sum(ages) / 3)
    for make in (mi.Empirical, mi.EstimatedMoments):
        with pytest.raises(ValueError, match="has the column 'name', which holds other things than numbers"):
            make(Frame(age=ages, name=column))
