"""How curves are plotted, printed in a single line, and written as data."""

import io
import json
import re
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

import mipsim as mi

pytestmark = pytest.mark.usefixtures("no_screen")


def played(mu: float, games: int = 10_000) -> mi.EmpiricalTradeOff:
    t = np.linspace(-2, 5, 24)
    return mi.EmpiricalTradeOff.from_counts(
        t, np.round(games * ndtr(-t)), games, np.round(games * ndtr(t - mu)), games
    )


def exact() -> mi.AbstractTradeOff:
    data = mi.Bernoulli(np.linspace(0.25, 0.75, 8))
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=20, target=data.easiest_target())
    return game.exact(mi.LikelihoodRatio(mi.EmpiricalMean(), data, n=20))


CURVES = {
    "Gaussian": lambda: mi.GaussianTradeOff(1.0),
    "sub-sampled": lambda: mi.LaplaceTradeOff(1.0).subsampled(0.1),
    "mix": lambda: mi.mix(*map(mi.GaussianTradeOff, np.linspace(0.1, 3.0, 30)), weights=np.full(30, 1 / 30)),
    "composed": lambda: mi.dpsgd(2.0, 0.1, 10),
    "exact": exact,
    "played": lambda: played(1.0),
}
"""Built when a test asks: a mix takes a second."""


@pytest.mark.evidence
@pytest.mark.parametrize("name", CURVES)
def test_every_curve_tells_itself(name: str) -> None:
    curve: Any = CURVES[name]()
    assert "\n" not in repr(curve)
    assert len(repr(curve)) <= 160
    html = curve._repr_html_()
    assert "data:image/png;base64," in html
    assert len(html) < 200_000
    data = json.loads(json.dumps(curve.to_dict()))
    assert len(data["alpha"]) == len(data["beta"]) == len(data["tpr"])
    assert np.abs(1.0 - np.asarray(data["beta"]) - data["tpr"]).max() <= 1e-9
    figure = curve.plot(mi.GaussianTradeOff(1.0))
    assert [ax.get_xscale() for ax in figure.axes] == ["linear", "log"]
    figure.savefig(io.BytesIO(), format="png")


@pytest.mark.parametrize("name", ["exact", "played"])
def test_print_shows_the_tpr_at_three_rates(name: str) -> None:
    """Rounded outwards, so that the bounds hold as printed; ends a hundredth of a TPR narrower are not printed."""
    curve: Any = CURVES[name]()
    for fpr in (0.001, 0.01, 0.1):
        found = re.search(rf"\n  TPR at FPR {fpr:g} +\[([^,]+), ([^]]+)\]", str(curve))
        assert found is not None
        shown = np.array([float(end) for end in found.groups()])
        low, high = curve.tpr_bounds(fpr) if name == "exact" else 1.0 - np.array(curve.band(fpr))[::-1]
        assert shown[0] <= low < shown[0] + 1e-3
        assert shown[1] - 1e-3 < high <= shown[1]
    assert "\n" not in repr(curve)
