"""A single clear sentence for each bad parameter."""

from typing import Any

import numpy as np
import pytest

import mipsim as mi
from tests.refusals import Refusals, message_test

# Values of a wrong type, which a type checker would refuse.
ANYTHING: dict[str, Any] = {"banded": "banded"}
BAD: Refusals = [
    (lambda: mi.Bernoulli([0.5, 1.2]), r"p is 1.2 at coordinate 1; every probability must be in \(0, 1\)"),
    (lambda: mi.Bernoulli(-0.1), r"p is -0.1 at coordinate 0; every probability must be in \(0, 1\)"),
    (lambda: mi.Bernoulli([0.5, 0.0]), "p is 0 at coordinate 1, a constant coordinate with zero variance"),
    (lambda: mi.Bernoulli([1.0]), "p is 1 at coordinate 0, a constant coordinate"),
    (lambda: mi.Bernoulli([0.5, np.nan]), "p holds nan at index 1; every entry must be finite"),
    (lambda: mi.Bernoulli([]), r"p has shape \(0,\)"),
    (lambda: mi.Bernoulli([[0.5]]), r"p has shape \(1, 1\); it must be a vector"),
    (lambda: mi.Bernoulli("half"), "p is str; it must be an array of real numbers"),
    (lambda: mi.Bernoulli([0.5, 0.5], d=3), r"p has shape \(2,\); it must have shape \(3,\)"),
    (lambda: mi.Bernoulli(0.5, d=0), "d is 0; it must be a whole number >= 1"),
    (lambda: mi.Gaussian(0.0, [1.0, 0.0]), "cov is 0 at coordinate 1; it must be > 0"),
    (lambda: mi.Gaussian([0.0], -1.0), "cov is -1 at coordinate 0; it must be > 0"),
    (lambda: mi.Gaussian([0.0, 0.0], [1.0, 1.0, 1.0]), r"cov has shape \(3,\); it must have shape \(2,\)"),
    (lambda: mi.Gaussian(0.0, [[1.0, 2.0], [2.0, 1.0]]), "cov has the eigenvalue -1; it must be positive semi"),
    (lambda: mi.Gaussian(0.0, [[1.0, 0.5], [0.4, 1.0]]), "cov is not symmetric"),
    (lambda: mi.Gaussian(0.0, [[1.0, 0.0], [0.0, 0.0]]), "cov's diagonal is 0 at coordinate 1; it must be > 0"),
    (lambda: mi.Gaussian(0.0, np.ones((2, 3))), r"cov has shape \(2, 3\)"),
    (lambda: mi.Gaussian([0.0, 0.0, 0.0], np.eye(2)), r"mean has shape \(3,\); it must have shape \(2,\)"),
    (lambda: mi.Gaussian(0.0, np.eye(2), d=3), r"cov has shape \(2, 2\); it must have shape \(3, 3\)"),
    (lambda: mi.Gaussian(np.inf, 1.0), r"mean holds inf"),
    (lambda: mi.Laplace(0.0, [1.0, -1.0]), "scale is -1 at coordinate 1; it must be > 0"),
    (lambda: mi.Exponential(0.0), "scale is 0 at coordinate 0; it must be > 0"),
    (lambda: mi.StudentT([3.0, 2.0]), "df is 2 at coordinate 1; it must be > 2 for a finite variance"),
    (lambda: mi.StudentT(5.0, scale=0.0), "scale is 0 at coordinate 0"),
    (lambda: mi.Uniform([0.0, 1.0], 1.0), "high is 1 at coordinate 1; it must exceed low = 1"),
    (lambda: mi.Discrete([0.0, 0.0, 1.0], [0.2, 0.3, 0.5]), "values holds 2 distinct numbers of 3"),
    (lambda: mi.Discrete([1.0], [1.0]), "values holds 1 distinct numbers of 1; give m >= 2"),
    (lambda: mi.Discrete([0.0, 1.0], [0.2, 0.3, 0.5]), r"probabilities has shape \(3,\); it must have shape"),
    (lambda: mi.Discrete([0.0, 1.0], [[0.2, 0.8]], d=2), r"probabilities has shape \(1, 2\)"),
    (lambda: mi.Discrete([0.0, 1.0], [-0.2, 1.2]), "probabilities holds -0.2; every probability must be >= 0"),
    (lambda: mi.Discrete([0.0, 1.0], [0.2, 0.7]), "probabilities sum to 0.9; each row must sum to 1"),
    (lambda: mi.Discrete([0.0, 1.0], [0.0, 1.0]), "constant coordinate with zero variance"),
    (lambda: mi.Empirical([[0.0, 1.0], [1.0, 1.0]]), "records has the constant column 1, of zero variance"),
    (lambda: mi.Empirical([[0.0, 1.0]]), "records has 1 row; it must have at least 2"),
    (lambda: mi.Empirical([0.0, 1.0]), r"records has shape \(2,\); it must be a matrix"),
    (lambda: mi.Empirical([[0.0], [np.nan]]), r"records holds nan at index \(1, 0\)"),
    (lambda: mi.Empirical([[0.0], [1.0]], ANYTHING["banded"]), "covariance is 'banded'; allowed: full, diagonal"),
    (lambda: mi.Empirical([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]).easiest_target(),
     "covariance is not positive definite; add regularisation or use its diagonal"),
    (lambda: mi.Bernoulli(0.5).mahalanobis_squared([1.0, 0.0]), r"point has shape \(2,\)"),
]  # fmt: skip

test_message = message_test(BAD)


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
