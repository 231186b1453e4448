"""How curves are printed."""

import re
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

import mipsim as mi


def exact() -> mi.AbstractTradeOff:
    game = mi.FixedTarget(mi.EmpiricalMean(), data := mi.Gaussian(0.0, 1.0, d=8), n=20, target=np.ones(8))
    return game.exact(mi.CovarianceScore(data, n=20))


def played() -> mi.EmpiricalTradeOff:
    t, n = np.linspace(-2, 5, 24), 10_000
    return mi.EmpiricalTradeOff(t, np.round(n * ndtr(-t)), n, np.round(n * ndtr(t - 1.0)), n)


@pytest.mark.parametrize("made", [exact, played])
def test_print_shows_the_tpr_at_three_rates(made: Any) -> None:
    """Rounded outwards, so that the bounds hold as printed; ends a hundredth of a TPR narrower are not printed."""
    curve = made()
    for fpr in (0.001, 0.01, 0.1):
        found = re.search(rf"\n  TPR at FPR {fpr:g} +\[([^,]+), ([^]]+)\]", str(curve))
        assert found is not None
        shown = np.array([float(end) for end in found.groups()])
        low, high = curve.tpr_bounds(fpr) if made is exact else 1.0 - np.array(curve.band(fpr))[::-1]
        assert shown[0] <= low < shown[0] + 1e-3
        assert shown[1] - 1e-3 < high <= shown[1]
    assert "\n" not in repr(curve)


def test_curves_are_laid_over_each_other_and_a_gaussian_is_straight_in_probits() -> None:
    curves = {"played": played(), "law": mi.GaussianTradeOff(1.0)}
    (ax,) = mi.plot(curves, log=True).axes
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert {*curves, "blind guess"} <= {text.get_text() for text in ax.get_legend().get_texts()}
    assert len(mi.plot(list(curves.values())).axes) == 2
    (ax,) = mi.plot(mi.GaussianTradeOff(3.0), scale="probit").axes
    x, y = (np.asarray(values, dtype=float) for values in ax.lines[0].get_data())
    seen = np.isfinite(x) & np.isfinite(y) & (y > -8)
    assert np.abs(y + x + 3.0)[seen].max() < 1e-6


def test_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    from types import SimpleNamespace

    monkeypatch.setitem(
        sys.modules, "pandas", SimpleNamespace(DataFrame=lambda columns: SimpleNamespace(columns=columns))
    )
    frame = played().to_dataframe()
    assert list(frame.columns) == ["threshold", "alpha", "beta", "tpr", "beta_low", "beta_high"]
    assert frame.attrs["in_games"] == 10_000
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match="to_dataframe needs pandas, which is not installed"):
        played().to_dataframe()
