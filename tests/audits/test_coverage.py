"""How often the lower bounds of audits are above the truth, and how near they come to it."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from scipy.special import betaincc, ndtri

import mipsim as mi
from mipsim.bands import CurveBand, approximate_dp, clopper_pearson, family_bound, gdp, total_variation

DELTA, RISK = 1e-5, 0.05
FAMILIES = {"mu": gdp(), "epsilon": approximate_dp(DELTA), "advantage": total_variation()}


def truth(mu: float) -> dict[str, float]:
    """Of Gaussian scores with this shift."""
    curve = mi.GaussianTradeOff(mu)
    return {"mu": mu, "epsilon": float(curve.epsilon(DELTA)), "advantage": curve.advantage()}


def curve_of(out: np.ndarray, inside: np.ndarray) -> mi.EmpiricalTradeOff:
    return mi.EmpiricalTradeOff.from_scores(out_scores=out, in_scores=inside, confidence=1.0 - RISK)


def bounds_of(curve: mi.EmpiricalTradeOff, names: Sequence[str] = tuple(FAMILIES)) -> dict[str, float]:
    built = {
        "mu": curve.mu_lower_bound,
        "epsilon": lambda: curve.epsilon_lower_bound(DELTA),
        "advantage": curve.advantage_lower_bound,
    }
    return {name: built[name]() for name in names}


def values_of(name: str, n: int) -> family_bound._Values:
    """What gives the statistic of n scores in each world."""
    return family_bound._Values(FAMILIES[name], n, n, float(-ndtri(family_bound._SHARE * RISK)))


def rivals(out: np.ndarray, inside: np.ndarray) -> dict[str, np.ndarray]:
    """Each bound by Clopper-Pearson with a union over thresholds, by DKW, and by a threshold chosen on half of the scores."""
    curve, n, half = curve_of(out, inside), out.size, out.size // 2
    x, y = curve.false_positives, curve.false_negatives
    far = np.sqrt(np.log(2 / RISK) / (2 * n))
    nothing = np.zeros(x.size)
    bands = [
        CurveBand(nothing, clopper_pearson(x, n, RISK, thresholds=x.size)[1], nothing, clopper_pearson(y, n, RISK, thresholds=x.size)[1]),
        CurveBand(nothing, np.minimum(x / n + far, 1.0), nothing, np.minimum(y / n + far, 1.0)),
    ]  # fmt: skip
    result = {name: [band_bound(name, band) for band in bands] for name in FAMILIES}
    first = curve_of(out[:half], inside[:half])
    a = clopper_pearson(first.false_positives, half, RISK)[1]
    b = clopper_pearson(first.false_negatives, half, RISK)[1]
    m = n - half
    for name, family in FAMILIES.items():
        with np.errstate(invalid="ignore", divide="ignore"):
            values = np.nan_to_num(np.max([f(a) + g(b) for f, g in family.forms], axis=0), nan=-1.0)
        t = first.thresholds[int(np.argmax(values))]
        high = [
            clopper_pearson([count], m, RISK)[1]
            for count in ((out[half:] > t).sum(), (inside[half:] <= t).sum())
        ]
        result[name].append(band_bound(name, CurveBand(np.zeros(1), high[0], np.zeros(1), high[1])))
    return {name: np.array(several) for name, several in result.items()}


def band_bound(name: str, band: CurveBand) -> float:
    family = {"mu": gdp(), "epsilon": approximate_dp(DELTA)}.get(name, total_variation())
    return family.least(band.alpha_high, band.beta_high)


def played(n: int, mu: float, run: int) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian scores of an audit, (out, in), which need not be stored: its number gives them again."""
    rng = np.random.default_rng([n, round(2 * mu), run])
    return rng.normal(size=n), rng.normal(mu, size=n)


def order_statistics(rng: np.random.Generator, rank: np.ndarray, n: int, draws: int) -> np.ndarray:
    """The rank-th smallest of n uniforms, jointly, shape (ranks, draws): partial sums of exponentials over the whole."""
    shapes = np.diff(np.concatenate([[0], rank, [n + 1]]))
    sums = np.cumsum(np.stack([rng.standard_gamma(shape, draws) for shape in shapes]), axis=0)
    return sums[:-1] / sums[-1]


class Ordered:
    """The bounds of many audits in the order of their statistic, which alone decides a bound; few need to be computed.

    A bound passes the truth where the chance that a draw lies at or below it is under some k / B, but for the noise of its own draws. The chance that a draw does falls as the statistic rises:
    a share of such draws well above k / B says so of all smaller statistics, and a share well below it of all larger statistics.
    """

    def __init__(
        self, name: str, n: int, curves: Callable[[int], mi.EmpiricalTradeOff], levels: np.ndarray
    ) -> None:
        self.name, self.n, self.curves, self.levels = name, n, curves, levels
        self.values, self.order = values_of(name, n), np.argsort(-levels, kind="stable")
        self.draws = math.ceil(family_bound._FAILURES / RISK)
        ranks = np.arange(1, math.ceil(RISK * self.draws) + 1)
        self.k = int((betaincc(ranks, self.draws + 1 - ranks, RISK) <= family_bound._UNLUCKY).sum())

    def bound(self, place: int) -> float:
        return bounds_of(self.curves(int(self.order[place])), [self.name])[self.name]

    def below(self, place: int, right: float) -> int:
        """How many of B draws, of another seed than the bound's, lie at or below the truth at this statistic."""
        level = float(self.levels[self.order[place]])
        most = self.values.most(level) if level > -np.inf else np.zeros(1)
        if not (some := most > 0).any():
            return self.draws
        rng, theta = np.random.default_rng(0), np.array(-np.inf)
        columns, place_of = np.unique(most[some], return_inverse=True)
        u = order_statistics(rng, self.values.ranks[some], self.n, self.draws)
        v = order_statistics(rng, columns, self.n, self.draws)
        for a_part, b_part in FAMILIES[self.name].forms:
            theta = np.maximum(theta, a_part(u) + b_part(v)[place_of])
        return int((theta.min(axis=0) <= right).sum())

    def misses(self, right: float) -> int:
        """How many bounds pass the truth.

        From k + 10 sqrt(k) draws on none does: a draw's chance is then above (k + 5 sqrt(k)) / B, or the draws are 4.6 standard deviations
        off; and a bound at that chance passes the truth only if its own are 4.6 off. Up to k - 4 sqrt(k) all count as misses.
        """
        first = self._first(right, self.k - 4.0 * math.sqrt(self.k))
        last = self._first(right, self.k + 10.0 * math.sqrt(self.k))
        return first + sum(self.bound(place) > right for place in range(first, last))

    def _first(self, right: float, draws: float) -> int:
        """A place with so many draws, where the place before has fewer: neighbours may be out of order by chance."""
        low, high = -1, self.order.size
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.below(middle, right) >= draws else (middle, high)
        return high

    def median(self) -> float:
        """Of the five bounds in the middle, which are out of order by the noise of their draws at most."""
        middle = self.order.size // 2
        return float(np.median([self.bound(place) for place in range(middle - 2, middle + 3)]))


def cell(n: int, mu: float, runs: int) -> dict[str, Ordered]:
    """The bounds of audits of n Gaussian scores in each world."""

    def curve(run: int) -> mi.EmpiricalTradeOff:
        return curve_of(*played(n, mu, run))

    values = {name: values_of(name, n) for name in FAMILIES}
    levels = np.array(
        [
            [v.largest(item.false_positives, item.false_negatives) for v in values.values()]
            for item in map(curve, range(runs))
        ]
    )
    return {name: Ordered(name, n, curve, levels[:, i]) for i, name in enumerate(FAMILIES)}


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("n", "mu"),
    [(100, 2.0), *(pytest.param(*item, marks=pytest.mark.slow) for item in ((100, 0.0), (1000, 1.0)))],
)
def test_misses_counted_in_order_are_those_of_all_bounds(fewer_draws, n: int, mu: float) -> None:
    runs, right = 10, truth(mu)
    bounds = [bounds_of(curve_of(*played(n, mu, run))) for run in range(runs)]
    for name, ordered in cell(n, mu, runs).items():
        result = np.array([bound[name] for bound in bounds])
        assert ordered.misses(right[name]) == (result > right[name]).sum()
        wrong = float(np.quantile(result, 0.8))
        assert ordered.misses(wrong) == (result > wrong).sum()
        assert ordered.median() == pytest.approx(np.median(result), rel=0.05, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("mu", [0.0, 0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("n", [100, 1000, 10_000])
def test_medians_are_at_most_three_per_cent_below_those_of_rivals(n: int, mu: float) -> None:
    others = [rivals(*played(n, mu, run)) for run in range(200)]
    for name, ordered in cell(n, mu, 200).items():
        median, rival = (
            ordered.median(),
            float(np.median([other[name] for other in others], axis=0).max()),
        )
        print(f"{n} {mu:g} {name}: median {median:.4g}, best rival {rival:.4g}")
        assert median >= 0.97 * rival, name
