"""Random allocation and shuffled batches: bounds against integrals, enumeration, simulation and other theorems."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import ndtr

import mipsim as mi
from mipsim._powers import repeated
from mipsim.tradeoff import epochs
from mipsim.tradeoff.additive_test import additive_test
from mipsim.tradeoff.random_allocation import random_allocation
from mipsim.tradeoff.shuffled import shuffled
from verify.field.statements.allocation import two_of_three

POINTS, WEIGHTS = np.polynomial.legendre.leggauss(40)
FAILURE = 1e-9  # of each interval by simulation


def integral(f, low: float, high: float, parts: int = 100) -> float:
    edges = np.linspace(low, high, parts + 1)
    middle, half = 0.5 * (edges[1:] + edges[:-1]), 0.5 * np.diff(edges)
    return float((half[:, None] * WEIGHTS * f(middle[:, None] + half[:, None] * POINTS)).sum())


def hockey_sticks(noise: float, k: float) -> float:
    """E_Q (S - k)_+ for a random step of two: the second step by the formula of a call option, the first by quadrature."""
    mu = 1.0 / noise

    def calls(z: np.ndarray) -> np.ndarray:
        rest = 2.0 * k - np.exp(mu * z - 0.5 * mu * mu)
        d = np.log(np.maximum(rest, 1e-300)) / mu + 0.5 * mu
        call = np.where(rest > 0.0, ndtr(mu - d) - rest * ndtr(-d), 1.0 - rest)
        return 0.5 * call * np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)

    kink = math.log(2.0 * k) / mu + 0.5 * mu if k > 0.0 else -40.0
    ends = (-40.0, min(max(kink, -40.0), 40.0 + mu), 42.0 + 2.0 * mu)
    return float(sum(integral(calls, *pair) for pair in itertools.pairwise(ends)))


@pytest.mark.parametrize("noise", [0.2, 0.7, 2.0, 50.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.1, 1.0])
def test_the_first_of_two_steps_by_quadrature(noise: float, epsilon: float) -> None:
    curve, k = random_allocation(noise, 2), math.exp(epsilon)
    add = k * hockey_sticks(noise, 1.0 / k) + 1.0 - k  # E (1 - k S)_+ by the parity of calls and puts
    for way, truth in ((curve, hockey_sticks(noise, k)), (curve.inverse(), add)):
        low, high = way.delta_bounds(epsilon)
        assert low <= truth + 1e-13
        assert truth <= high + 1e-13
        assert high - low <= 1e-3 * high + 1e-14
        if truth > 1e-10:
            assert not low <= 1.02 * truth <= high  # a value 2% off is none


def test_random_allocation_is_not_dominated_by_poisson_sampling() -> None:
    """The record in a random step of two at noise 0.7 leaks more than two Poisson steps of rate 1/2, at epsilon 0.1 and 1; both sides are proven."""
    allocation = mi.account(0.7, 0.5, 2, sampling="random_allocation", epsilon=[0.1, 1.0])
    poisson = mi.account(0.7, 0.5, 2, epsilon=[0.1, 1.0])
    for name, least, most in (
        ("delta at epsilon 0.1", 0.4046, 0.3545),
        ("delta at epsilon 1", 0.1900, 0.1875),
    ):
        assert allocation.numbers[name][0] > least > most > poisson.numbers[name][1]
        assert allocation.compare(poisson).leaks[name] == "more"
    # With more noise it is the other way round.
    quiet = [mi.account(1.0, 0.1, 10, sampling=way, fpr=[]) for way in ("random_allocation", "poisson")]
    assert quiet[0].compare(quiet[1]).leaks["epsilon at delta 1e-05"] == "less"


def simulated(
    noise: float, steps: int, epsilon: float, count: int, add: bool, selected: int = 1
) -> tuple[float, float]:
    """An interval of delta by the bound of Maurer and Pontil (2009), theorem 4, at `FAILURE`."""
    rng = np.random.default_rng([steps, int(100 * noise), add])
    z = rng.normal(size=(count, steps))
    if not add:
        z[:, :selected] += 1.0 / noise  # the places do not matter
    sums = np.vstack(
        [np.zeros(count), np.full((selected, count), -np.inf)]
    )  # of all products of so many ratios
    for ratio in (z / noise - 0.5 / noise**2).T:
        sums[1:] = np.logaddexp(sums[1:], sums[:-1] + ratio)
    loss = sums[-1] - math.log(math.comb(steps, selected))
    values = np.maximum(-np.expm1(epsilon + (loss if add else -loss)), 0.0)
    log = math.log(4.0 / FAILURE)
    off = math.sqrt(2.0 * float(values.var(ddof=1)) * log / count) + 7.0 * log / (3.0 * (count - 1))
    return float(values.mean()) - off, float(values.mean()) + off


@pytest.mark.parametrize("add", [pytest.param(False, marks=pytest.mark.evidence), True])
@pytest.mark.parametrize(
    ("steps", "count", "epsilon"),
    [(10, 600_000, 0.1), pytest.param(100, 200_000, 0.02, marks=pytest.mark.evidence)],
)
def test_more_steps_by_simulation(steps: int, count: int, epsilon: float, add: bool) -> None:
    noise = 0.6
    low, high = simulated(noise, steps, epsilon, count, add)

    def meets(curve: mi.AbstractTradeOff) -> bool:
        bounds = (curve.inverse() if add else curve).delta_bounds(epsilon)
        return bounds[0] <= high and low <= bounds[1]

    assert meets(random_allocation(noise, steps))
    assert not meets(random_allocation(0.97 * noise, steps))
    assert not meets(random_allocation(1.03 * noise, steps))


@pytest.mark.parametrize("seed", range(4))
def test_sums_of_any_law_against_enumeration(seed: int) -> None:
    """Seven-fold means of laws with masses down to 1e-250: every hockey stick lies between those of the two laws."""
    rng = np.random.default_rng(seed)
    ratios = np.sort(np.concatenate([[0.0], np.exp(rng.normal(size=4) * (1.0 + 3.0 * seed))]))
    out = np.exp(-rng.uniform(0.0, 40.0 * seed + 1.0, 5))
    out /= out.sum()
    ratios /= float(ratios @ out)
    terms = 7
    made = []
    for more in (True, False):
        single = epochs._Mean(more, 1, ratios, out, ratios * out, 0.0, 0.0, 0.0)
        if not more:  # an atom at 0 has no mass of the world "in", which a law that reveals less merges
            single = epochs._Table(
                1, np.append(ratios, 2.0 * ratios[-1]), out, 0.0 * out, ratios * out, 0.0, 0.0, 0.0, 0.0
            ).merged()
        made.append(repeated(single, terms, epochs._added))
    counts = np.array([c for c in itertools.product(range(terms + 1), repeat=5) if sum(c) == terms])
    ways = [math.factorial(terms) / math.prod(map(math.factorial, c)) for c in counts.tolist()]
    mass, mean = np.array(ways) * np.prod(out**counts, axis=1), counts @ ratios / terms
    for k in np.quantile(mean[mean > 0.0], np.linspace(0.0, 0.999, 60)):
        up, down = (float((mass * np.maximum(s, 0.0)).sum()) for s in (mean - k, 1.0 - mean / k))
        ends = [
            (
                float(np.maximum(law.inside - k * law.out, 0.0).sum()) + law.in_only,
                float(np.maximum(law.out - law.inside / k, 0.0).sum()),
            )
            for law in made
        ]
        for truth, most, least in zip((up, down), *ends, strict=True):
            assert least <= truth * (1.0 + 1e-8) + 1e-15
            assert truth <= most * (1.0 + 1e-8) + 1e-15


@pytest.mark.parametrize(
    ("noise", "epsilon"),
    [
        pytest.param(noise, epsilon, marks=[pytest.mark.evidence] * (i != k or i == 0))
        for i, noise in enumerate([0.8, 1.0, 2.0])
        for k, epsilon in enumerate([0.1, 1.0, 2.5])
    ],
)
def test_two_of_three_steps_by_sums_over_cells(noise: float, epsilon: float) -> None:
    """The truth lies between both ends, and these between those of a step more and a step less."""
    curve, truth = random_allocation(noise, 3, selected=2), two_of_three(noise, epsilon)
    low, high = (
        max(end) for end in zip(*(way.delta_bounds(epsilon) for way in (curve, curve.inverse())), strict=True)
    )
    assert low <= truth.high
    assert truth.low <= high
    assert low > 0.25 * high
    for selected, end, sign in ((1, low, 1.0), (3, high, -1.0)):
        other = random_allocation(noise, 3, selected)
        assert sign * (end - max(way.delta(epsilon) for way in (other, other.inverse()))) > 0.0


def test_the_published_lower_end_of_two_of_three_is_above_ours() -> None:
    """PLD_accounting says 3.1760 where the truth is 2.9976."""
    low, high = random_allocation(1.0, 3, 2).epsilon_bounds(0.01)
    assert 2.97 < low < 2.997 < 3.0 < 3.176 < high < 3.23
    assert two_of_three(1.0, 2.997).low > 0.01 > two_of_three(1.0, 3.0).high


@pytest.mark.parametrize("noise", [1e-2, 1.0])
def test_all_steps_of_two_epochs_are_a_gaussian_shift(noise: float) -> None:
    assert random_allocation(noise, 2, 2, epochs=2).least_mu() == pytest.approx(2.0 / noise, rel=1e-12)


@pytest.mark.evidence
def test_both_ends_of_a_thousand_of_a_million_steps_are_near() -> None:
    low, high = random_allocation(1.0, 1_000_000, selected=1000).epsilon_bounds(1e-5)
    assert low < high < 1.003 * low
    assert high < mi.dpsgd(1.0, 1e-3, 1_000_000).epsilon(1e-5)  # whose numbers of turns vary


@pytest.mark.parametrize("add", [pytest.param(False, marks=pytest.mark.evidence), True])
def test_several_of_ten_steps_by_simulation(add: bool) -> None:
    ends = simulated(0.8, 10, 1.0, 400_000, add, selected=3)
    curve = random_allocation(0.8, 10, selected=3)
    low, high = (curve.inverse() if add else curve).delta_bounds(1.0)
    assert low <= ends[1]
    assert ends[0] <= high
    assert high - low <= 0.1 * high
    for selected, wrong in ((2, "high"), (4, "low")):
        other = simulated(0.8, 10, 1.0, 40_000, add, selected=selected)
        assert other[1] < low if wrong == "high" else other[0] > high


def test_the_test_by_scores_has_the_rates_of_its_sum() -> None:
    """Two steps, the target in one of them: P(score 1 + score 2 > c) by quadrature over the first."""
    noise, q = 0.7, 0.4
    mu = 1.0 / noise
    for c in (-0.5, 1.5):

        def rate(first: float, second: float, c: float = c) -> float:
            def inner(z: np.ndarray) -> np.ndarray:
                left = c - np.log1p(q * np.expm1(mu * z - 0.5 * mu * mu))
                ratio = np.maximum(np.expm1(left) / q + 1.0, 1e-300)
                tail = ndtr(second - np.log(ratio) / mu - 0.5 * mu)
                return tail * np.exp(-0.5 * (z - first) ** 2) / math.sqrt(2.0 * math.pi)

            return integral(inner, -12.0, 14.0, 400)

        fpr, tpr = rate(0.0, 0.0), rate(mu, 0.0)
        assert rate(0.0, mu) == pytest.approx(tpr, rel=1e-4)

        def known(shift: float, fpr: float = fpr) -> float:
            return additive_test(shift, 2, 1, q).tpr_bounds(fpr)[0]

        assert known(mu) == pytest.approx(tpr, rel=2e-4)
        assert known(1.03 * mu) > 1.003 * tpr
        assert known(0.97 * mu) < 0.997 * tpr


def test_two_epochs_by_quadrature() -> None:
    """delta of two epochs is the mean over the first of that of the second."""
    noise, epsilon, mu = 0.7, 1.0, 1.0 / 0.7
    grid = np.linspace(-14.0, 12.0, 1301)  # log k
    single = np.array([hockey_sticks(noise, math.exp(x)) for x in grid])
    z = np.linspace(-9.0, 9.0 + mu, 601)
    weight = np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi) * (z[1] - z[0])
    first, second = np.meshgrid(mu * z - 0.5 * mu**2, mu * z - 0.5 * mu**2)
    loss = np.logaddexp(first, second) - math.log(2.0)
    # Under P: weights times S; delta at the factor k is E_Q (S - k)_+.
    truth = float((np.outer(weight, weight) * np.exp(loss) * np.interp(epsilon - loss, grid, single)).sum())
    both = mi.dpsgd(noise, 0.5, 4, sampling="random_allocation")
    low, high = both.delta_bounds(epsilon)
    assert low <= truth * (1.0 + 1e-4)
    assert truth <= high * (1.0 + 1e-4)
    assert high - low <= 5e-3 * high
    assert not low <= 1.02 * truth <= high


@pytest.mark.parametrize(
    "noise", [0.1, 1e4, *(pytest.param(noise, marks=pytest.mark.evidence) for noise in (1.0, 50.0))]
)
def test_one_step_and_many_lie_where_they_must(noise: float) -> None:
    """With a single step the curve is Gaussian; with more it leaks less, and more than a known share of the Gaussian's deltas."""
    gaussian = mi.GaussianTradeOff(1.0 / noise)
    alone = random_allocation(noise, 1)
    for fpr in (1e-12, 1e-3, 0.5):
        low, high = alone.tpr_bounds(fpr)
        assert low <= gaussian.tpr_bounds(fpr)[1]
        assert gaussian.tpr_bounds(fpr)[0] <= high
    deltas = [random_allocation(noise, steps).delta_bounds(0.0) for steps in (1, 2, 4, 32)]
    assert all(more[1] > less[0] for more, less in itertools.pairwise(deltas))
    for curve in (alone, random_allocation(noise, 32)):
        least = [curve.epsilon_bounds(d) for d in (1e-2, 1e-12, 1e-300)]
        assert all(0.0 <= low <= high for low, high in least)
        assert least[1][1] <= gaussian.epsilon(1e-12) * 1.01 + 1e-4
        assert curve.tpr_bounds(0.0)[0] == 0.0
        assert curve.tpr_bounds(1.0) == (1.0, 1.0)


def test_shuffled_batches_by_simulation() -> None:
    """The lower end is what the test "largest release > c" shows of the records of its proof."""
    noise, steps, count = 0.8, 20, 400_000
    rng = np.random.default_rng(0)
    largest = []
    for mean in (2.0, 1.0):
        z = rng.normal(size=(count, steps)) * noise
        z[:, 0] += mean
        largest.append(z.max(axis=1))
    curve = shuffled(noise, steps)
    c = float(np.quantile(largest[1], 0.9))
    tpr, fpr = ((single > c).mean() for single in largest)
    off = math.sqrt(math.log(4.0 / FAILURE) / (2.0 * count))  # Hoeffding
    least = curve.upper
    assert least.tpr_bounds(min(fpr + off, 1.0))[1] >= tpr - off
    assert least.tpr_bounds(fpr - off)[0] <= tpr + off
    assert not least.tpr_bounds(fpr - off)[0] <= 0.95 * tpr + off
    low, high = curve.epsilon_bounds(1e-5)
    assert low < high == mi.GaussianTradeOff(1.0 / noise).epsilon(1e-5)


def test_rates_that_underflow_make_no_certain_test() -> None:
    for curve in (shuffled(0.1, 1000), shuffled(0.1, 1000).inverse()):
        assert isinstance(curve, mi.BoundedTradeOff)
        assert curve.upper.tpr_bounds(0.0) == (0.0, 0.0)
        low, high = curve.epsilon_bounds(0.0)
        assert 100.0 < low < high == math.inf


def test_shuffled_bounds_compose_and_keep_their_order() -> None:
    for replace in (False, True):
        three = shuffled(1.0, 50, 3, replace=replace)
        shift = (2.0 if replace else 1.0) * math.sqrt(3.0)
        for way in (three, three.inverse(), three.symmetrized()):
            low, high = way.epsilon_bounds(1e-5)
            assert 0.5 < low < high == pytest.approx(mi.GaussianTradeOff(shift).epsilon(1e-5), rel=1e-9)
    assert shuffled(1.0, 1, 4).epsilon_bounds(1e-5)[0] == pytest.approx(
        mi.GaussianTradeOff(2.0).epsilon(1e-5)
    )
