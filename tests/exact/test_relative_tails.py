"""Rates of 1e-100 are known to a share of themselves: the proven bounds of inverted laws in their tails, against mpmath.

The truths are closed forms in 340 digits: sums of exponentials and of uniforms, coins with noise, a normal with a Laplace.
"""

# mpmath says little of its types.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false, reportOperatorIssue=false

import time
from collections.abc import Callable
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest

import mipsim as mi
from mipsim.exact.density_rows import ExponentialRow, LaplaceRow, NormalRow, UniformRow
from mipsim.exact.discrete_rows import BernoulliRow
from mipsim.exact.inversion import InvertedLaw
from mipsim.exact.rows import AbstractRow
from mipsim.exact.transform import RowsTransform
from mipsim.tradeoff.exact_tradeoff import ExactTradeOff

mp: Any = mpmath.mp.clone()
mp.dps = 340
Tail = Callable[[float, bool, bool], Any]
"""(threshold, inside, upper) -> P(score > threshold), or P(score <= threshold) where `upper` is False."""
SLACK = 1e-12  # of the logarithm of an FPR that is rounded to float64


def gamma_sum(rng: np.random.Generator) -> tuple[RowsTransform, Tail]:
    return exponentials(
        int(rng.integers(2, 60)), int(rng.integers(1, 6)), rng.uniform(0.3, 3), rng.uniform(0, 4)
    )


def exponentials(n: int, d: int, scale: float, target: float) -> tuple[RowsTransform, Tail]:
    def tail(x: float, inside: bool, upper: bool) -> Any:
        y = (mp.mpf(x) - (mp.mpf(target) if inside else 0)) / mp.mpf(scale)
        ends = (y, mp.inf) if upper else (0, y)
        return mp.gammainc((n - inside) * d, *ends, regularized=True) if y > 0 else mp.mpf(upper)

    return RowsTransform(ExponentialRow(np.full(d, scale)), n, d * scale, target, 0.0), tail


def uniform_sum(rng: np.random.Generator) -> tuple[RowsTransform, Tail]:
    return uniforms(int(rng.integers(6, 40)), rng.uniform(-0.5, 0.5))


def uniforms(n: int, target: float) -> tuple[RowsTransform, Tail]:
    def tail(x: float, inside: bool, upper: bool) -> Any:
        m = n - inside
        y = mp.mpf(x) - (mp.mpf(target) if inside else 0) + mp.mpf(m) / 2
        y = min(max(m - y if upper else y, mp.mpf(0)), mp.mpf(m))
        terms = ((-1) ** k * mp.binomial(m, k) * (y - k) ** m for k in range(int(y) + 1))
        return mp.fsum(terms) / mp.factorial(m)

    return RowsTransform(UniformRow(np.array([0.5])), n, 0.0, target, 0.0), tail


def above(kind: str, scale: float, y: Any) -> Any:
    """P(noise > y)."""
    if kind == "gauss":
        return mp.erfc(y / mp.mpf(scale) / mp.sqrt(2)) / 2
    return mp.exp(-y / mp.mpf(scale)) / 2 if y >= 0 else 1 - mp.exp(y / mp.mpf(scale)) / 2


def noisy_coins(rng: np.random.Generator) -> tuple[RowsTransform, Tail]:
    n, p = int(rng.integers(5, 60)), rng.uniform(0.05, 0.95)
    scale, kind = 2.0 ** rng.integers(-1, 3), str(rng.choice(["gauss", "laplace"]))
    part: AbstractRow = NormalRow(scale**2) if kind == "gauss" else LaplaceRow(np.array([scale]))

    def tail(x: float, inside: bool, upper: bool) -> Any:
        m, q, sign = n - inside, mp.mpf(p), 1 if upper else -1
        return mp.fsum(
            mp.binomial(m, k)
            * q**k
            * (1 - q) ** (m - k)
            * above(kind, scale, sign * (mp.mpf(x) - k - inside))
            for k in range(m + 1)
        )

    return RowsTransform(BernoulliRow(np.ones(1), np.array([p])), n, p, 1.0, 0.0, (part,)), tail


def normal_and_laplace(rng: np.random.Generator) -> tuple[RowsTransform, Tail]:
    return normal_with_laplace(int(rng.integers(2, 50)), rng.uniform(0.1, 2), 2.0 ** rng.integers(-2, 3), 1.0)


def normal_with_laplace(n: int, variance: float, b: float, target: float) -> tuple[RowsTransform, Tail]:
    def tail(x: float, inside: bool, upper: bool) -> Any:
        s = mp.sqrt(mp.mpf(variance) * (n - inside))
        y = (mp.mpf(x) - inside * mp.mpf(target)) * (1 if upper else -1)

        def half(sign: int) -> Any:
            return mp.exp(s * s / (2 * mp.mpf(b) ** 2) - sign * y / b) * mp.ncdf((sign * y - s * s / b) / s)

        return mp.erfc(y / s / mp.sqrt(2)) / 2 + (half(1) - half(-1)) / 2

    return RowsTransform(NormalRow(variance), n, 0.0, target, 0.0, (LaplaceRow(np.array([b])),)), tail


GAMES = (gamma_sum, uniform_sum, noisy_coins, normal_and_laplace)


def held(rng: np.random.Generator, games: int) -> tuple[list[str], float, list[float]]:
    """What is missed; the largest share of its bound that an error takes up; the widths of log TPRs, rates down to 1e-100."""
    missed, worst, widths = [], 0.0, []
    for game in range(games):
        transform, tail = GAMES[game % len(GAMES)](rng)
        law = InvertedLaw(transform)
        if law.error_bound > 1e-3:
            continue
        rare = -rng.uniform(0.1, 100.0, 4) * np.log(10.0)
        logs = np.where(rng.random(4) < 0.7, rare, np.log1p(-np.exp(rare)))
        thresholds = law.around(logs, np.where(logs == rare, np.log1p(-np.exp(rare)), rare))
        assert thresholds is not None
        x = thresholds[0]
        logs = []
        for inside in (False, True):
            bounds, error = law.tail_bounds(x, inside=inside), law.errors(x, inside=inside)
            for upper in (False, True):
                truths = [tail(float(at), inside, upper) for at in x]
                low, high = bounds[2 * upper : 2 * upper + 2]
                for k, truth in enumerate(truths):
                    log = mp.log(truth) if truth > 0 else -mp.inf
                    if not mp.mpf(float(low[k])) <= log <= mp.mpf(float(high[k])):
                        missed.append(f"{transform} at {float(x[k])!r}, inside {inside}, upper {upper}")
                    value = mp.exp(mp.mpf(float(law.log_tail(x[k], inside=inside, upper=upper))))
                    if error[k] > 1e-300:  # smaller ones are lost to underflow, which the bounds allow for
                        worst = max(worst, float(abs(value - truth) / mp.mpf(float(error[k]))))
                logs.append([float(mp.log(truth)) if truth > 0 else -np.inf for truth in truths])
        below, fpr, _, tpr = np.array(logs)
        known = np.isfinite(fpr) & np.isfinite(below) & (fpr < -1e-12)
        curve = ExactTradeOff(law)
        # The curve falls in the FPR, whose logarithm is right to a float64.
        strict, lenient = curve.enclosure(fpr * (1 + SLACK)), curve.enclosure(fpr * (1 - SLACK))
        low, high = strict.log_tpr_low <= tpr * (1 - SLACK), lenient.log_tpr_high >= tpr * (1 + SLACK)
        missed += [f"curve of {transform} at log FPR {at}" for at in fpr[known & ~(low & high)]]
        widths += (strict.log_tpr_high - strict.log_tpr_low)[known].tolist()
    return missed, worst, widths


@pytest.mark.evidence
def test_tails_to_1e_minus_100_lie_within_their_bounds() -> None:
    missed, worst, widths = held(np.random.default_rng(1), 20)
    assert missed == []
    assert worst > 0.01  # a hundredth of the bounds would miss
    assert np.median(widths) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_more_tails_lie_within_their_bounds(seed: int) -> None:
    missed, worst, _ = held(np.random.default_rng(seed), 60)
    assert missed == []
    assert worst > 0.01


@pytest.mark.parametrize(
    ("game", "places"),
    [
        (uniforms(20, 0.0), [-7.0, -0.1, 0.0, 4.0, 9.0]),
        (normal_with_laplace(4, 0.25, 0.5, 0.0), [0.5, 4.0, 30.0]),
        (exponentials(21, 2, 1.0, 1.0), [1.0, 5.0, 20.0, 42.0, 44.0, 100.0, 400.0]),
    ],
    ids=["Irwin-Hall", "normal with Laplace", "exponentials"],
)
def test_tails_to_eleven_digits(game: tuple[RowsTransform, Tail], places: list[float]) -> None:
    law, tail = InvertedLaw(game[0]), game[1]
    for x, inside, upper in product(places, (False, True), (False, True)):
        truth = tail(x, inside, upper)
        exact = float(mp.log(truth)) if truth > 0 else -np.inf
        result = float(law.log_tail(np.asarray(x), inside=inside, upper=upper))
        assert result == pytest.approx(exact, rel=1e-11, abs=1e-11)


def test_the_reference_game_is_known_relatively_at_1e_minus_100() -> None:
    data = mi.Bernoulli(np.random.default_rng(5).uniform(0.25, 0.75, 5000))
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=1000, target=data.easiest_target())
    curve = game.exact(mi.CovarianceScore(data, n=1000))
    low, high = curve.tpr_bounds(np.array([1e-100, 1e-40, 1e-12]))
    assert ((high - low) < 1e-9 * low).all()
    assert (low > 0.0).all()
    near_1 = curve.inverse().tpr_bounds(1e-60)  # FNRs are known as well
    assert 0.0 < near_1[1] - near_1[0] < 1e-8 * near_1[0]
    low, high = curve.epsilon_bounds(1e-30)
    assert high - low < 1e-3


@pytest.mark.evidence
def test_the_ratio_of_the_first_game_is_narrow_at_rare_rates() -> None:
    """A thousand records of 5,000 coordinates: to 1% at FPRs from 1% to 1e-6, within a minute of a core."""
    begun, rng = time.process_time(), np.random.default_rng(0)
    data, target = mi.Bernoulli(rng.uniform(0.05, 0.95, 5000)), rng.integers(0, 2, 5000).astype(float)
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=1000, target=target)
    curve = game.exact(mi.LikelihoodRatio(game.mechanism, data, n=1000, target=target))
    low, high = curve.tpr_bounds(np.array([1e-2, 1e-4, 1e-6]))
    assert (high <= 1.01 * low).all()
    assert time.process_time() - begun < 60.0
