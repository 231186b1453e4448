"""Numbers over the whole of an exact curve: bounds of second order between thresholds, and the AUC as a tail of a difference."""

# mpmath says little of its types.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false, reportOperatorIssue=false

from typing import Any

import mpmath
import numpy as np
import pytest

import mipsim as mi
from mipsim.exact.inversion import InvertedLaw
from mipsim.tradeoff.conversions import auc
from mipsim.tradeoff.exact_tradeoff import ExactTradeOff
from mipsim.tradeoff.threshold_partition import ThresholdPartition
from tests.exact.test_relative_tails import gamma_sum, normal_and_laplace, uniform_sum

mp: Any = mpmath.mp.clone()
mp.dps = 40
GAMES = (gamma_sum, normal_and_laplace, uniform_sum)


def reference() -> ExactTradeOff:
    data = mi.Bernoulli(np.random.default_rng(5).uniform(0.25, 0.75, 5000))
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=1000, target=data.easiest_target())
    return game.exact(mi.CovarianceScore(data, n=1000))


def test_numbers_of_the_reference_game_are_narrow() -> None:
    curve = reference()
    bounds = [
        curve.advantage_bounds(),
        curve.auc_bounds(),
        curve.delta_bounds(1.0),
        curve.bayes_risk_bounds(0.1),
    ]
    for low, high in bounds:
        assert 0.0 <= high - low < 1e-11
    low, high = curve.epsilon_bounds(1e-5)
    assert 0.0 <= high - low < 1e-9
    fpr = np.linspace(0.01, 0.99, 99)
    assert bounds[0][1] >= (curve.tpr_bounds(fpr)[0] - fpr).max()
    least, most = auc(curve)  # by areas under the curve, without the law of the difference
    assert least <= bounds[1][0] <= bounds[1][1] <= most


def misses(rng: np.random.Generator, games: int) -> tuple[int, list[float]]:
    """How many numbers lie outside their bounds: sup P_in(S > x) - e^eps P_out(S > x) is approached from below in mpmath; widths."""
    missed, widths = 0, []
    for game in range(games):
        transform, tail = GAMES[game % len(GAMES)](rng)
        law = InvertedLaw(transform)
        curve = ExactTradeOff(law)
        assert isinstance(curve._partition(), ThresholdPartition)
        for epsilon in (0.0, rng.uniform(0.1, 2.0)):
            low, high = curve.delta_bounds(epsilon)
            if not high > 1e-6:
                continue
            x = law.threshold_at(np.geomspace(1e-4, 1 - 1e-4, 400))
            gap = law.sf(x, inside=True) - np.exp(epsilon) * law.sf(x, inside=False)
            k = int(np.clip(gap.argmax(), 1, x.size - 2))
            ends = sorted([x[k - 1], x[k + 1]])
            for _ in range(40):  # golden section
                a, b = ends[0] + 0.382 * (ends[1] - ends[0]), ends[0] + 0.618 * (ends[1] - ends[0])
                values = [
                    float(law.sf(at, inside=True) - np.exp(epsilon) * law.sf(at, inside=False))
                    for at in (a, b)
                ]
                ends = [ends[0], b] if values[0] > values[1] else [a, ends[1]]
            best = 0.5 * (ends[0] + ends[1])
            truth = tail(best, True, True) - mp.exp(mp.mpf(epsilon)) * tail(best, False, True)
            missed += not mp.mpf(high) >= truth  # it is at least so large
            missed += not mp.mpf(low) <= truth + mp.mpf(1e-13)  # and no larger than the section leaves
            widths.append(high - low)
    return missed, widths


@pytest.mark.evidence
def test_suprema_lie_between_their_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    missed, widths = misses(np.random.default_rng(3), 6)
    assert missed == 0
    assert np.median(widths) < 1e-10
    honest = InvertedLaw.bends

    def straight(self: InvertedLaw, low: np.ndarray, high: np.ndarray, *, inside: bool) -> Any:
        result = honest(self, low, high, inside=inside)
        return result and (0.0 * np.nan_to_num(result[0]), 0.0 * np.nan_to_num(result[1]))

    monkeypatch.setattr(InvertedLaw, "bends", straight)
    assert misses(np.random.default_rng(3), 6)[0] > 0  # chords that do not bend miss


def test_chords_bend_no_more_than_stated() -> None:
    rng, used = np.random.default_rng(4), 0.0
    for game in range(9):
        law = InvertedLaw(GAMES[game % 3](rng)[0])
        x = np.sort(law.threshold_at(rng.uniform(0.001, 0.999, 40)))
        low, high = x[:-1], x[1:]
        for inside in (False, True):
            result = law.bends(low, high, inside=inside)
            assert result is not None
            for u in (0.1, 0.5, 0.8):
                ends = [law.sf(at, inside=inside) for at in (low, high, low + u * (high - low))]
                off = np.abs(ends[2] - (1 - u) * ends[0] - u * ends[1])
                allowed = 4 * u * (1 - u) * result[0] + 2 * result[1]
                assert (off <= allowed * (1 + 1e-9) + 1e-15).all()
                used = max(used, float((off / allowed).max()))
    assert used > 0.05  # a twentieth of the bend would not do


@pytest.mark.evidence
def test_the_area_is_a_tail_of_the_difference() -> None:
    rng, off = np.random.default_rng(6), 0.0
    for game in range(9):
        law = InvertedLaw(GAMES[game % 3](rng)[0])
        curve = ExactTradeOff(law)
        low, high = curve.auc_bounds()
        least, most = auc(curve)
        assert least <= high
        assert low <= most
        assert high - low < 1e-7
        off = max(off, abs(low - 0.5))
    assert off > 0.05  # areas are not all alike
    data = mi.Gaussian(0.0, 1.0, d=3)
    game = mi.FixedTarget(mi.LaplaceNoise(mi.EmpiricalMean(), 1e-9), data, 10, [3.0, 0.0, 0.0])
    low, high = game.exact(mi.ScalarProduct(np.zeros(3))).auc_bounds()
    # A shift of .9 in deviations of .9^.5 and 1, but for noise of 1e-9: 3 / 10 over sqrt((9 + 10) / 100).
    weight = mp.mpf(9)  # the score is target . output: mean 0.9, variances 9 (10 / 100) and 9 (9 / 100)
    truth = float(mp.ncdf(mp.mpf("0.9") / mp.sqrt(weight * mp.mpf("0.19"))))
    assert low - 1e-8 <= truth <= high + 1e-8
