"""Moments from few reference records: shrunk, inverted without a matrix, refused where singular."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import log_ndtr, ndtri_exp
from sklearn.covariance import LedoitWolf

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.special import noncentral_chi_square as law

RNG = np.random.default_rng(20_041_101)
FEW, MANY = RNG.normal(size=(12, 30)) * np.linspace(0.5, 2.0, 30), RNG.normal(size=(80, 9)) + 3.0
POINTS = {30: RNG.normal(size=(5, 30)), 9: RNG.normal(size=(5, 9))}


@pytest.mark.parametrize("reference", [FEW, MANY], ids=["n0 < d", "n0 > d"])
@pytest.mark.parametrize("ridge", ["ledoit-wolf", 0.3])
def test_it_is_the_matrix_that_it_stands_for(reference: np.ndarray, ridge: Any) -> None:
    moments = mi.ShrunkMoments(reference, ridge)
    if ridge == "ledoit-wolf":
        expected = LedoitWolf().fit(reference).covariance_
    else:
        expected = np.cov(reference.T, bias=True) + ridge * np.eye(reference.shape[1])
    assert np.allclose(moments.covariance, expected, rtol=0, atol=1e-12)
    assert not np.allclose(moments.covariance, 1.01 * expected, rtol=0, atol=1e-12)
    inverse, d = np.linalg.inv(expected), reference.shape[1]
    assert np.allclose(moments.inverse_matrix(), inverse, rtol=0, atol=1e-9 * abs(inverse).max())
    assert not np.allclose(moments.inverse_matrix(), 1.01 * inverse, rtol=0, atol=1e-9 * abs(inverse).max())
    for point in POINTS[d]:
        away = point - reference.mean(axis=0)
        assert np.isclose(moments.mahalanobis_squared(point[None])[0], away @ inverse @ away, rtol=1e-10)
        attack = mi.CovarianceScore(moments, n=10)
        assert np.allclose(attack.weights(point), inverse @ away, rtol=0, atol=1e-9)
        dense = mi.CovarianceScore(_Dense(moments), n=10)
        output = POINTS[d][0]
        assert np.isclose(attack.score(point, output), dense.score(point, output), rtol=1e-9)


def test_a_ridge_too_small_for_a_cholesky_factor_leaves_the_inverse_to_the_axes() -> None:
    moments = mi.ShrunkMoments(FEW, 1e-10)
    unit = moments.covariance @ moments.inverse_matrix()
    assert np.allclose(unit, np.eye(30), rtol=0, atol=1e-4)
    assert not np.allclose(1.01 * unit, np.eye(30), rtol=0, atol=1e-4)


@pytest.mark.parametrize("unit", [1e-100, 1e100])
def test_ledoit_wolf_has_the_unit_of_the_records(unit: float) -> None:
    near, far = mi.ShrunkMoments(FEW), mi.ShrunkMoments(unit * FEW)
    assert 0.01 < near.weight < 0.99
    assert far.weight == pytest.approx(near.weight, rel=1e-9)
    assert far.ridge / unit**2 == pytest.approx(near.ridge, rel=1e-9)


class _Dense:
    """The same moments, without their structure."""

    def __init__(self, moments: mi.ShrunkMoments) -> None:
        self.mean, self.covariance = moments.mean, moments.covariance


def test_without_regularisation_a_few_records_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"12 records of 30 coordinates and varies along 11 .* singular; give ridge"
    ):
        mi.ShrunkMoments(FEW, ridge=0.0)
    plain = mi.ShrunkMoments(MANY, ridge=0.0)
    with pytest.raises(AttributeError, match="ShrunkMoments is immutable; ridge cannot be set"):
        plain.ridge = 0.1
    assert np.allclose(plain.covariance, np.cov(MANY.T, bias=True))
    assert np.allclose(plain.inverse, np.linalg.inv(plain.covariance))  # pyright: ignore[reportArgumentType]
    bad: list[tuple[Any, Any, str]] = [
        (FEW[:1], 1.0, "has 1 record"),
        (np.ones((4, 3)), 1.0, "equal records"),
        (np.full((3, 2), 0.1), 1.0, "equal records"),  # whose mean is another number
        (1e200 * FEW, "ledoit-wolf", r"no square in float64; scale it$"),
        (1e-200 * FEW, "ledoit-wolf", r"no square in float64; scale it$"),
        (FEW, -1.0, "ridge is -1"),
        (FEW, "lasso", "ridge is 'lasso'"),
    ]
    for reference, ridge, words in bad:
        with pytest.raises(ValueError, match=words):
            mi.ShrunkMoments(reference, ridge)
    singular = _Dense(mi.ShrunkMoments(MANY))
    constant, nothing = np.arange(9.0), np.full((9, 9), np.nan)
    for covariance in (np.ones((9, 9)), constant, np.diag(constant), np.diag(constant - 1.5), nothing):
        singular.covariance = covariance
        for attack in (mi.GLiR, mi.GLiRPValue):
            with pytest.raises(ValueError, match=r"singular covariance.*ShrunkMoments regularises"):
                attack(singular, n=10)


@pytest.mark.parametrize(("d", "times"), [(100, 0.1), (100, 1.0), (513, 1.0), (1026, 10.0)])
def test_glir_p_value_is_the_normal_score_of_the_p_value(d: int, times: float) -> None:
    n, susceptibility = 500, times * d
    noncentrality = n * susceptibility
    target: Any = np.full(d, np.sqrt(times))
    attack, wrong = (mi.GLiRPValue(mi.Gaussian(np.zeros(d), np.ones(d)), m) for m in (n, n - 1))
    for sigmas in (-6.0, -3.0, 0.0, 3.0, 6.0):
        statistic = d + noncentrality + sigmas * np.sqrt(2 * (d + 2 * noncentrality))
        output = target - np.sqrt(statistic / (n * d))  # n ||output - target||^2 is the statistic
        below, above = (float(tail(statistic, d, noncentrality)) for tail in (law.logcdf, law.logsf))
        expected = -ndtri_exp(below) if below < above else ndtri_exp(above)
        assert (
            abs(attack.score(target, output) - expected) < 1e-4 < abs(wrong.score(target, output) - expected)
        )


@pytest.mark.parametrize("covariance", ["diagonal", "full", "shrunk"])
def test_glir_p_value_along_axes_is_that_in_their_coordinates(covariance: str) -> None:
    rng = np.random.default_rng(8)
    axes = np.linalg.qr(rng.normal(size=(130, 110)))[0]
    records = rng.normal(size=(300, 110)) * np.geomspace(0.2, 2.0, 110)
    data: Any = {
        "diagonal": mi.Gaussian(records.mean(axis=0), records.var(axis=0)),
        "full": mi.Gaussian(records.mean(axis=0), np.cov(records.T)),
        "shrunk": mi.ShrunkMoments(records),
    }[covariance]
    target, output = rng.normal(size=(2, 110)) * np.array([[1.0], [0.1]])
    inside = float(mi.GLiRPValue(data, 40).score(target, output))
    assert float(mi.GLiRPValue(data, 40, axes).score(axes @ target, axes @ output)) == pytest.approx(inside)
    logarithm = float(mi.GLiRPValue(data, 40, axes, logarithm=True).score(axes @ target, axes @ output))
    assert logarithm == pytest.approx(-float(log_ndtr(-inside)))
    # What the axes leave out counts for nothing: the p-value is that of 110 degrees of freedom, not of 130.
    away = rng.normal(size=130)
    beside = axes @ output + away - axes @ (axes.T @ away)
    assert float(mi.GLiRPValue(data, 40, axes).score(axes @ target, beside)) == pytest.approx(inside)
    full = float(mi.GLiRPValue(mi.ShrunkMoments(records @ axes.T), 40).score(axes @ target, axes @ output))
    assert full != pytest.approx(inside, abs=0.05)


@pytest.mark.parametrize("rows", [32, 600])
def test_half_of_an_inverse_gives_its_quadratic_forms(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By blocks of its rows, or a single block; forms 1% off are seen, and those of the blocks without their double."""
    monkeypatch.setattr("mipsim.attacks.glir._ROWS", rows)
    rng = np.random.default_rng(9)
    moments = mi.ShrunkMoments(rng.normal(size=(300, 110)) * np.geomspace(0.2, 2.0, 110))
    attack, away = mi.GLiRPValue(moments, 40), rng.normal(size=(2, 110))
    inverse = np.linalg.inv(moments.covariance)
    assert len(attack.inverse) == (4 if rows == 32 else 1)
    with exact_scope():
        forms = np.asarray(attack._squares(jnp.asarray(away)))
    expected = 40 * np.sum(away @ inverse * away, axis=1)
    np.testing.assert_allclose(forms, expected, rtol=1e-10)
    assert (abs(forms / expected - 1.01) > 5e-3).all()
    once = 40 * np.sum(away @ np.triu(inverse) * away, axis=1)
    assert (abs(forms / once - 1.0) > 5e-3).all()


def test_a_matrix_that_is_not_symmetric_has_its_own_quadratic_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    """By blocks of its rows: the half above the diagonal alone gives others."""
    monkeypatch.setattr("mipsim.attacks.glir._ROWS", 1)
    moments = _Dense(mi.ShrunkMoments(MANY[:, :3]))
    moments.covariance = np.array([[2.0, 0.5, 0.0], [0.1, 1.0, 0.3], [0.0, 0.2, 1.0]])
    away, inverse = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]]), np.linalg.inv(moments.covariance)
    with exact_scope():
        forms = np.asarray(mi.GLiRPValue(moments, 10)._squares(jnp.asarray(away)))
    np.testing.assert_allclose(forms, 10 * np.sum(away @ inverse * away, axis=1), rtol=1e-12)
