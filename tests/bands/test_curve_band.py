import numpy as np
import pytest

from mipsim.bands import CurveBand, approximate_dp, gdp


def test_the_steps_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(5)
    x = np.sort(rng.integers(0, 1000, 9))[::-1]
    y = np.sort(rng.integers(0, 1000, 9))
    band = CurveBand.from_counts(x, 1000, y, 1000, 0.01)
    for a in np.concatenate([band.alpha_low, band.alpha_high, rng.random(50), [0.0, 1.0]]):
        upper = min(
            [b for b, u in zip(band.beta_high, band.alpha_high, strict=True) if u <= a], default=1.0
        ) * (a < 1)
        lower = max([b for b, u in zip(band.beta_low, band.alpha_low, strict=True) if u > a], default=0.0)
        assert (float(band.lower(a)), float(band.upper(a))) == (lower, upper)
    fine = np.linspace(0, 1, 200_001)
    low, high = band.at(fine)
    least, most = band.auc_interval()
    assert least == pytest.approx(1 - high.mean(), abs=1e-4)
    assert most == pytest.approx(1 - low.mean(), abs=1e-4)
    assert band.advantage_interval()[1] == pytest.approx((1 - fine - low).max(), abs=1e-5)


@pytest.mark.parametrize(("x", "y"), [([0], [0]), ([10], [10]), ([0], [10]), ([10], [0])])
def test_counts_at_the_ends(x: list[int], y: list[int]) -> None:
    band = CurveBand.from_counts(x, 10, y, 10, 1e-3)
    low, high = band.at([0.0, 0.5, 1.0])
    assert ((low >= 0) & (low <= high) & (high <= 1)).all()
    mu, epsilon = (family.least(band.alpha_high, band.beta_high) for family in (gdp(), approximate_dp(0.0)))
    assert np.isfinite([*band.advantage_interval(), *band.auc_interval(), mu, epsilon]).all()


@pytest.mark.parametrize("single", [None, np.array([False, True, False, False, True, False])])
def test_the_area_of_a_yes_no_attack_counts_ties_half(single: np.ndarray | None) -> None:
    """From 10^9 games on the band tells the AUC: FPR 1/2 and FNR 2/5 at the values 0 and 1 make it 0.55, without ties 0.3 to 0.8."""
    n = 10**9
    counts = [n, n // 2, n // 2, n // 2, 0], n, [0, 2 * n // 5, 2 * n // 5, 2 * n // 5, n], n
    low, high = CurveBand.from_counts(*counts, 0.001, single).auc_interval()
    assert low < 0.55 < high
    assert (low > 0.3 + 0.2) == (high < 0.8 - 0.2) == (single is not None)
