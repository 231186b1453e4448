"""The proven interval of the gap: against brute force, and its exact failure probability by summing binomial laws."""

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from mipsim.bands import CountedRates
from mipsim.bands.gap_interval import critical_probits, gap_bounds, gap_standard_error
from mipsim.tradeoff import ApproxDPTradeOff, GaussianTradeOff, MixtureTradeOff, PiecewiseLinearTradeOff

CURVES = [
    GaussianTradeOff(0.0),
    GaussianTradeOff(1.0),
    GaussianTradeOff(4.0),
    MixtureTradeOff(GaussianTradeOff(2.0), 0.3),
    PiecewiseLinearTradeOff([0, 0.1, 0.4, 1], [0.95, 0.6, 0.2, 0]),
]


def ends(x: ArrayLike, n0: int, y: ArrayLike, n1: int, claim, probits) -> tuple[np.ndarray, np.ndarray]:
    out, inside = CountedRates(np.atleast_1d(x), n0), CountedRates(np.atleast_1d(y), n1)
    return gap_bounds(out, inside, claim, probits)


def chance_of_a_miss(n0: int, n1: int, a: float, claim, probits) -> tuple[float, float]:
    """Exact P(low > 0) and P(high < 0) where the claim is true: the binomial law summed over all likely counts."""
    b = float(claim.beta(a))
    xs = np.arange(int(binom.ppf(1e-9, n0, a)), int(binom.isf(1e-9, n0, a)) + 1)
    ys = np.arange(int(binom.ppf(1e-9, n1, b)), int(binom.isf(1e-9, n1, b)) + 1)
    x, y = (grid.ravel() for grid in np.meshgrid(xs, ys, indexing="ij"))
    low, high = ends(x, n0, y, n1, claim, probits)
    mass = np.outer(binom.pmf(xs, n0, a), binom.pmf(ys, n1, b)).ravel()
    return float(mass[low > 0].sum()), float(mass[high < 0].sum())


CASES = [(30, 30, 0.3), (40, 60, 0.02), (30, 30, 0.97), (40, 17, 0.5)]


@pytest.mark.evidence
@pytest.mark.parametrize(
    "risk", [1e-3 / 64, *(pytest.param(item, marks=pytest.mark.slow) for item in (0.02, 1e-3 / 6400))]
)
@pytest.mark.parametrize("claim", CURVES, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_each_end_misses_no_more_often_than_stated(claim, case, risk: float) -> None:
    """Also where all four cells hold a handful of counts, and at the small levels that a whole run uses."""
    n0, n1, a = case
    for miss in chance_of_a_miss(n0, n1, a, claim, critical_probits(risk, 1, 1)):
        assert miss <= risk + 5e-9  # what lies beyond the summed counts


def test_it_is_not_needlessly_wide() -> None:
    """At 1e6 games the width is that of the textbook interval at the same level, 3% more at most."""
    n, risk = 10**6, 1e-3
    x, y = np.array([500_000, 50_000]), np.array([158_655, 740_000])
    out, inside, claim = CountedRates(x, n), CountedRates(y, n), GaussianTradeOff(1.0)
    low, high = gap_bounds(out, inside, claim, critical_probits(risk, 1, 2))
    textbook = -ndtri(risk / 2) * gap_standard_error(out, inside, claim)
    assert (high - low) / 2 == pytest.approx(textbook, rel=0.03)
    assert ((high - low) / 2 > textbook).all()


@pytest.mark.parametrize("risk", [0.05, 1e-3 / 64])
def test_a_normal_approximation_would_be_caught(risk: float) -> None:
    """Wald's z se in place of the exact ends misses more often than stated, by the very same sum."""
    n, a, claim = 40, 0.1, GaussianTradeOff(1.5)
    b = float(claim.beta(a))
    xs, ys = np.arange(1, n), np.arange(1, n)
    x, y = (grid.ravel() for grid in np.meshgrid(xs, ys, indexing="ij"))
    out, inside = CountedRates(x, n), CountedRates(y, n)
    estimate = claim.probit_beta(x / n) - ndtri(y / n)
    mass = np.outer(binom.pmf(xs, n, a), binom.pmf(ys, n, b)).ravel()
    error = gap_standard_error(out, inside, claim)
    misses = [float(mass[s * estimate > -ndtri(risk) * error].sum()) for s in (1, -1)]
    assert max(misses) > risk


@pytest.mark.parametrize("z", [critical_probits(1e-3, 1, 2)[0], 0.0, -0.4, -1.5])
@pytest.mark.parametrize("claim", CURVES, ids=str)
def test_no_allowed_pair_of_rates_lies_outside(claim, z: float) -> None:
    """Every pair (a, b) of a fine grid that the definition allows, with its own angle, has its gap within the ends."""
    from mipsim.bands import gap_interval as module

    n0, n1, x, y = 400, 300, 90, 40
    out, inside = CountedRates(np.array([x]), n0), CountedRates(np.array([y]), n1)
    box = critical_probits(1e-3, 1, 2)[1]
    low, high = (float(end[0]) for end in gap_bounds(out, inside, claim, (z, box)))
    error = gap_standard_error(out, inside, claim)[0]
    za, zb = np.linspace(-1.9, 0.3, 351), np.linspace(-2.7, 0.1, 451)
    gap = claim.probit_beta(ndtr(za))[:, None] - zb[None, :]
    bins = np.round(gap / module._BIN)
    angles = np.zeros_like(gap)
    for place in np.unique(bins):
        of_bin = np.interp(za, module._NODES, module._angles(out, inside, claim, place * module._BIN))
        angles = np.where(bins == place, of_bin[:, None], angles)
    result = []
    for above in (0, 1):  # P(X <= k) at most, or P(X >= k)
        p, q = (
            np.where(at_most > 0.5, -ndtri(more), ndtri(at_most)) * (1 - 2 * above)
            for k, n, r in ((x, n0, ndtr(za)), (y, n1, ndtr(zb)))
            for at_most, more in [(binom.cdf(k - above, n, r), binom.sf(k - above, n, r))]
        )
        p, q = p[:, None], q[None, :]
        allowed = (p >= -box) & (q >= -box) & (np.cos(angles) * p + np.sin(angles) * q >= -z)
        result.append(gap[allowed])
    assert low <= result[0].min()
    assert high >= result[1].max()
    assert high - low <= result[1].max() - result[0].min() + 0.06 * 2.0 * max(z, 1.0) * error + 0.01


def test_counts_at_an_end_say_little_and_nothing_wrong() -> None:
    low, high = ends(
        [0, 10, 0, 10], 10, [0, 0, 10, 10], 10, GaussianTradeOff(1.0), critical_probits(0.05, 1, 2)
    )
    assert (low <= high).all()
    assert (
        high[3] < 0
    )  # every score above the threshold "out", every score below it "in": worse than any curve allows
    assert low[0] > 0  # a perfect attacker
    assert low[1] == -np.inf or low[1] < 0


def test_a_test_that_never_says_in_lies_on_a_curve_that_begins_below_1():
    """(0, 0.1)-DP and more: FPR 0 with any FNR from 0.9 to 1 is on the curve, and FNR 0.8 is not."""
    claim, z = ApproxDPTradeOff(1.0, 0.1), critical_probits(1e-3, 1, 2)
    none = CountedRates(np.array([0.0]), 10**5)
    for inside, inside_the_claim in ((100_000, True), (95_000, True), (80_000, False)):
        low, high = gap_bounds(none, CountedRates(np.array([float(inside)]), 10**5), claim, z)
        assert (low[0] <= 0.0 <= high[0]) == inside_the_claim
    # A false positive in a thousand is no FPR of 0: an FNR of 1 is then weaker than claimed.
    some = CountedRates(np.array([100.0]), 10**5)
    assert gap_bounds(some, CountedRates(np.array([100_000.0]), 10**5), claim, z)[1][0] < 0.0
