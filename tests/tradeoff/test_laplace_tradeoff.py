"""The Laplace curves against integrals of the densities, and their inverses."""

import numpy as np
import pytest
from scipy.stats import laplace

from mipsim.tradeoff import FoldedLaplaceTradeOff, LaplaceTradeOff


@pytest.mark.parametrize("mu", [0.3, 1.0, 3.0])
def test_no_other_set_of_magnitudes_does_better(mu: float) -> None:
    # Neyman and Pearson on a fine partition of the magnitude: sort cells by their likelihood ratio.
    t = np.concatenate([np.linspace(0, 40, 400_001), [np.inf]])
    out = np.diff(1.0 - np.exp(-t))
    shifted = np.diff(np.append(laplace.cdf(t[:-1] - mu) - laplace.cdf(-t[:-1] - mu), 1.0))
    order = np.argsort(-shifted / np.maximum(out, 1e-300), kind="stable")
    alpha, tpr = np.cumsum(out[order]), np.cumsum(shifted[order])
    inside = (alpha > 1e-4) & (alpha < 1 - 1e-4)
    assert np.allclose(FoldedLaplaceTradeOff(mu).tpr_at(alpha[inside]), tpr[inside], atol=2e-4)


def test_the_advantage_is_the_total_variation() -> None:
    assert LaplaceTradeOff(1.0).advantage() == pytest.approx(1.0 - np.exp(-0.5), abs=1e-12)
    assert float(LaplaceTradeOff(2.0).delta(2.0)) == pytest.approx(0.0, abs=1e-15)
    # Of a single Laplace release: delta(eps) = 1 - e^((eps - mu) / 2), Balle, Barthe and Gaboardi (2020), theorem 3.
    assert float(LaplaceTradeOff(2.0).delta(0.5)) == pytest.approx(1.0 - np.exp(-0.75), abs=1e-12)
