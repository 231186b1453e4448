import numpy as np
import pytest

import mipsim as mi
from mipsim.theory import leemann

D, N = 3, 6
COVARIANCE = np.array([[2.0, 0.3, 0.0], [0.3, 1.0, 0.2], [0.0, 0.2, 0.5]])


@pytest.mark.evidence
@pytest.mark.parametrize("covariance", [np.diag(COVARIANCE), COVARIANCE], ids=["diagonal", "full"])
def test_its_exact_curve_is_equation_8(covariance):
    data = mi.Gaussian(np.zeros(D), covariance)
    target = np.array([1.0, -1.0, 0.5])
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=N, target=target)
    curve = leemann.step_tradeoff(D, N, leemann.gradient_susceptibility(data, target))
    alpha = np.array([1e-6, 0.01, 0.3, 0.9])
    np.testing.assert_allclose(game.exact(mi.GLiR(data, n=N)).beta(alpha), curve.beta(alpha), atol=1e-9)


@pytest.mark.evidence
def test_literal_games_agree_with_the_exact_law():
    # 20,000 literal games a world at 40 thresholds: Clopper-Pearson bands of joint confidence 1 - 1e-9.
    data, target = mi.Gaussian(np.full(D, 0.5), COVARIANCE), np.array([2.0, -1.0, 0.5])
    game, attack = mi.FixedTarget(mi.EmpiricalMean(), data, n=N, target=target), mi.GLiR(data, n=N)
    counts = mi.play(game, attack, 20_000, fidelity="literal", progress=False)
    curve = counts.tradeoff(1 - 1e-9, thresholds=40)
    low, high = curve.band(curve.alpha)
    uncentred = leemann.step_tradeoff(D, N, 4 * leemann.gradient_susceptibility(data, target))
    for known, holds in ((game.exact(attack), True), (uncentred, False)):
        beta = known.beta(curve.alpha)
        assert ((low <= beta) & (beta <= high)).all() == holds
