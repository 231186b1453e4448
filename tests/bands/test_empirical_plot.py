import io

import matplotlib as mpl
import numpy as np
import pytest
from scipy.special import ndtr

from mipsim.bands import EmpiricalTradeOff
from mipsim.tradeoff import GaussianTradeOff

pytestmark = pytest.mark.usefixtures("no_screen")


@pytest.fixture
def curve() -> EmpiricalTradeOff:
    t, n = np.linspace(-2, 5, 24), 10_000
    return EmpiricalTradeOff.from_counts(t, np.round(n * ndtr(-t)), n, np.round(n * ndtr(t - 1)), n)


def test_the_plotted_band_is_the_band(curve: EmpiricalTradeOff) -> None:
    from matplotlib import pyplot

    _, ax = pyplot.subplots()
    assert curve.plot(GaussianTradeOff(1.0), ax=ax) is ax
    corners = np.asarray(ax.collections[0].get_paths()[0].vertices)
    inside = corners[(corners[:, 0] > 0) & (corners[:, 0] < 1)]
    low, high = curve.band(inside[:, 0])
    before_low, before_high = curve.band(np.nextafter(inside[:, 0], 0))
    sample = inside[:, 1]
    on_a_bound = [np.isclose(sample, edge, atol=1e-12) for edge in (low, high, before_low, before_high)]
    assert np.logical_or.reduce(on_a_bound).all()
    assert {line.get_label() for line in ax.lines} == {"played", "claimed", "blind guess"}


def test_drawing_leaves_the_settings_alone(curve: EmpiricalTradeOff) -> None:
    before = dict(mpl.rcParams)
    curve.plot()
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize(("x", "y"), [([0], [0]), ([10], [10]), ([10], [0]), ([0], [10])])
def test_counts_at_the_ends_can_be_sampled(x: list[int], y: list[int]) -> None:
    figure = EmpiricalTradeOff.from_counts([0.0], x, 10, y, 10).plot(GaussianTradeOff(0.0))
    figure.savefig(io.BytesIO(), format="png")
