"""An exact curve decides without games: the gap of a Gaussian score is known by its own formula."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

import mipsim as mi

N, D = 10_000, 100
DATA = mi.Gaussian(0.0, 1.0, d=D)
GAME = mi.FixedTarget(mi.EmpiricalMean(), DATA, n=N, target=np.ones(D))
EXACT = GAME.exact(mi.CovarianceScore(DATA, n=N))
MU = (D / N) ** 0.5


def gap(mu: float, fpr: np.ndarray) -> np.ndarray:
    """Scores are N(0, s^2) and N(mu s, s^2 (1 - 1/n)): the gap to G_mu at an FPR."""
    z = -ndtri(fpr)
    return (z - mu) - (z - MU) / np.sqrt(1 - 1 / N)


@pytest.mark.parametrize("kind", ["equality", "upper_bound_on_power", "ordering"])
@pytest.mark.parametrize(
    ("share", "stands"), [(1.0, "equality"), (1.03, "upper_bound_on_power"), (0.97, "ordering")]
)
def test_a_verdict_has_the_gap_of_the_formula(kind, share, stands):
    result = EXACT.compare(mi.GaussianTradeOff(share * MU), kind=kind)
    assert result.verdict == ("CONFIRMED" if kind == stands else "REFUTED")
    # FPR and claimed FNR are both within the error rates that are judged.
    far = -ndtri(result.least_rate)
    seen = gap(share * MU, ndtr(-np.linspace(share * MU - far, far, 2001)))
    extreme = {"upper_bound_on_power": seen.max(), "ordering": seen.min()}.get(
        kind, seen[np.abs(seen).argmax()]
    )
    assert result.gap == pytest.approx(extreme, rel=0.01)
    low, high = result.interval
    assert low <= result.gap <= high
    if result.verdict == "REFUTED":
        assert low > 0 or high < 0


def test_it_is_shown_like_a_comparison_of_games():
    result = EXACT.compare(mi.GaussianTradeOff(MU))
    assert str(result).startswith("CONFIRMED as an equality: GaussianTradeOff(mu=0.1)")
    assert "exact law, no games" in result._repr_html_()
    assert len(repr(result)) < 120
    assert EXACT.compare(mi.GaussianTradeOff(MU), tolerance=1e-4).verdict == "REFUTED"
