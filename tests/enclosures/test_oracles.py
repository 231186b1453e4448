"""The truths of the battery against each other, and a planted curve that is 1% off."""

# mpmath says little of its types.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false, reportOperatorIssue=false
# pyright: reportIncompatibleMethodOverride=false, reportCallIssue=false, reportIncompatibleVariableOverride=false

import numpy as np
import pytest

import mipsim as mi

from .composed import Transformed, gaussian, subsampled_gaussian
from .curves import Between
from .enclosed import Queries, misses
from .truth import Gaussian, Laplace, Mixed, Truth, from_logit, mp, mpf, response

SLOPES = [-2.5, -0.1, 0.0, 0.4, 3.0]


@pytest.mark.parametrize(
    ("truth", "logits"),
    [
        (Gaussian(1), (-70, 2)),
        (Mixed(Gaussian(2), 0.3), (-3, 0)),
        pytest.param(Gaussian(7), (-70, -3, 0, 2, 40), marks=pytest.mark.slow),
        pytest.param(Mixed(Gaussian(1), 0.01).reversed, (-70, -3, 0, 2, 40), marks=pytest.mark.slow),
    ],
)
def test_transforms_and_curves_belong_together(truth: Truth, logits: tuple[int, ...]) -> None:
    for u in logits:
        fnr, tpr = truth.curve(from_logit(mpf(u)))
        again = Truth.curve(truth, from_logit(mpf(u)))
        assert abs(again[0] / fnr - 1) < 1e-20
        assert abs(again[1] / tpr - 1) < 1e-20


def test_both_directions_of_a_hockey_stick() -> None:
    for truth in (Gaussian(1), Laplace(2), Mixed(Gaussian(3), 0.2), response(1, 0.1)):
        for s in map(mpf, SLOPES):
            assert abs(truth.put(s) - truth.hockey(s) - mp.expm1(s)) < 1e-40


def test_transforms_of_sums_against_closed_forms() -> None:
    """Gaussians compose in closed form, and a sub-sampled Gaussian that always takes part is Gaussian."""
    pairs = [
        (Transformed([(gaussian(0.1), 100)]), Gaussian(1)),
        (Transformed([(subsampled_gaussian(0.5, 1.0), 4)]), Gaussian(1)),
    ]
    for result, truth in pairs:
        for s in map(mpf, SLOPES):
            assert abs(result.hockey(s) / truth.hockey(s) - 1) < 1e-12
            assert abs(result.put(s) / truth.put(s) - 1) < 1e-12
    assert abs(pairs[0][0].hockey(mpf(30)) / Gaussian(1).hockey(mpf(30)) - 1) < 1e-12  # 5e-193


@pytest.mark.parametrize("share", [0.99, 1.01])
def test_a_curve_that_is_1_per_cent_off_is_detected(share: float) -> None:
    """Control: each number by itself shows a shift of 1%, to either side; the right curve shows nothing."""
    rng = np.random.default_rng(0)
    queries = Queries.sampled(rng, 3, most_epsilon=8.0)
    truth = Gaussian(1)
    assert misses(mi.GaussianTradeOff(1.0), truth, queries) == []
    result = misses(mi.GaussianTradeOff(share), truth, queries)
    for name in (
        "log FNR",
        "log TPR",
        "beta",
        "tpr",
        "delta",
        "log delta",
        "epsilon",
        "epsilon of log delta",
        "Bayes risk",
        "advantage",
        "eta",
        "auc",
        "least_mu",
    ):
        assert any(line.startswith((f"{name}(", f"{name} at", f"{name}:")) for line in result), name


def test_a_band_that_ends_just_before_the_truth_is_caught() -> None:
    band = Between(mi.GaussianTradeOff(1.02), mi.GaussianTradeOff(1.0 + 1e-9))
    assert misses(band, Gaussian(1.01), Queries.at([0.5], [1e-3], [0.1])) == []
    assert len(misses(band, Gaussian(1), Queries.at([0.5], [1e-3], [0.1]))) >= 4
