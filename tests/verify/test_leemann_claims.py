"""Leemann et al.: the decisive verdicts, and the routes of the judges against others."""

import numpy as np
import pytest
from scipy.optimize import linprog

from mipsim.tradeoff import GaussianTradeOff, MixtureTradeOff, compose, stochastic_composition
from verify.claim import Budget, Verdict
from verify.leemann import CLAIMS, mip
from verify.leemann.long_run import long_run_curve

BUDGET = Budget("quick", 1e-12, seed=1)
BY_ID = {claim.id: claim for claim in CLAIMS}


def regime(claim, name):
    return next(r for r in BY_ID[claim].regimes if r.name == name)


@pytest.mark.parametrize(
    ("claim", "name"),
    [
        ("leemann-thm-5.1", "Gaussian, d = 2, n = 10, mean 3, target 0"),
        ("leemann-rem-5.1", "Bernoulli(1/2), d = 5"),
        ("leemann-alg-1", "F^-1(S), d = 5, n = 20, K = 5"),
        ("leemann-lemma-5.1", "T = 1, n/N = 0.01, mu_step = 2"),
        ("leemann-D.3", "shared target, k = 4"),
        ("leemann-less-noise", "mu = 1, d = 650, n = 500, K = 1 d, replace"),
    ],
)
def test_what_is_wrong_as_printed(claim, name):
    result = regime(claim, name).judge(BUDGET)
    assert result.verdict is Verdict.REFUTED
    assert len(result.second_route) > 20


def test_the_long_run_curve_is_the_composition():
    alpha = np.array([1e-3, 0.05, 0.5, 0.9])
    for step, rate, steps in ((0.5, 0.05, 1024), (1.0, 0.02, 2048)):
        inverted = long_run_curve(step, rate, steps)(alpha)
        composed = compose(MixtureTradeOff(GaussianTradeOff(step), rate), copies=steps)
        np.testing.assert_allclose(inverted, composed.beta(alpha), atol=2e-4 + composed.error())


def test_the_optimal_split_is_a_linear_program():
    """Randomised response on three values: the best tests of all targets together, against the sorted slopes."""
    laws, prior = mip.response_laws(3, 1.0), np.array([0.6, 0.3, 0.1])
    out = prior @ laws
    for alpha in (0.02, 0.1, 0.4):
        # One test value per target and output; maximise the power at the given mean FPR.
        power = (prior[:, None] * laws).ravel()
        rate = (prior[:, None] * out[None, :]).ravel()
        best = linprog(-power, A_ub=rate[None, :], b_ub=[alpha], bounds=(0, 1))
        curves = [mip.finite_curve(out, laws[target]) for target in range(3)]
        assert 1 + best.fun == pytest.approx(
            float(stochastic_composition(curves, prior).beta(alpha)), abs=1e-9
        )


def test_a_promise_that_is_too_strong_is_broken():
    laws = mip.response_laws(12, 1.0)
    assert mip.violation(laws, laws, np.full(12, 1 / 12)) < 1e-12
    assert mip.violation(laws, mip.response_laws(12, 0.7), np.full(12, 1 / 12)) > 1e-3
