"""Inputs that were once answered wrongly, and their neighbours: each parameter doubled and halved, both directions."""

import itertools
import math
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import mipsim as mi
from mipsim import check
from mipsim.tradeoff.stochastic import stochastic_composition

from .composed import SubsampledSteps
from .curves import SURE_MASSES, Between, Hidden, Walk, guaranteed
from .enclosed import Queries, hold, misses
from .truth import Atoms, Gaussian, Laplace, Mixed, Times, mp, mpf, response

pytestmark = pytest.mark.filterwarnings("ignore:.*both bounds hold")

DELTA_WIDTH, EPSILON_WIDTH = 1e-6, 1e-4
"""What composition refines to: relative in delta, absolute in epsilon. Where it cannot, it warns and both bounds hold."""

STEPS = [
    # noise, sampling rate, steps, epsilons, deltas
    (0.8, 0.001, 50000, [0.0, 1.0], [1e-6]),
    (1.0, 0.01, 10000, [0.0, 1.0], [1e-5]),
    (0.8, 0.05, 20000, [0.0, 30.0], [1e-6]),
    (4.0, 0.01, 1000, [0.0, 1.0], [1e-30, 1e-6]),
]


def neighbours(noise: float, p: float, n: int) -> list[tuple[float, float, int]]:
    return [
        (noise, p, n),
        *((noise * f, p, n) for f in (0.5, 2.0)),
        *((noise, p * f, n) for f in (0.5, 2.0)),
        *((noise, p, int(n * f)) for f in (0.5, 2.0)),
    ]


CASES = [
    pytest.param(*point, eps, deltas, turned, marks=[] if (k == 0 and row == 1) else pytest.mark.slow)
    for row, (noise, p, n, eps, deltas) in enumerate(STEPS)
    for k, point in enumerate(neighbours(noise, p, n))
    for turned in (False, True)
]


@pytest.mark.evidence
@pytest.mark.parametrize(("noise", "p", "n", "epsilons", "deltas", "turned"), CASES)
def test_numbers_of_dpsgd(
    noise: float, p: float, n: int, epsilons: list[float], deltas: list[float], turned: bool
) -> None:
    truth, curve = SubsampledSteps(1.0 / noise, p, n), mi.dpsgd(noise, p, n, neighbours="remove")
    item, other = (curve.inverse(), truth.reversed) if turned else (curve, truth)
    with warnings.catch_warnings(record=True) as report:
        warnings.simplefilter("always")
        held = hold(item, other, Queries.at(epsilons, deltas))
    assert held.misses == []
    widths = {"delta": DELTA_WIDTH, "epsilon": EPSILON_WIDTH}
    wide = [
        (*key, low, high)
        for key, (low, high) in held.bounds.items()
        if high > 1e-300
        and high - low > 1.01 * widths.get(key[0], math.inf) * (high if key[0] == "delta" else max(1.0, low))
    ]
    assert wide == [] or any("both bounds hold" in str(w.message) for w in report), wide


@pytest.mark.parametrize("mu", [20.0, 40.0, 80.0])
def test_beyond_epsilon_700(mu: float) -> None:
    queries = Queries.at([0.0, 100.0, 690.0, 710.0, 1000.0, 5000.0], [1e-5, 1e-10, 0.5], [1e-300, 0.1])
    assert misses(mi.GaussianTradeOff(mu), Gaussian(mu), queries) == []
    if mu == 40.0:
        assert abs(mi.GaussianTradeOff(mu).epsilon(1e-5) - 969.65) < 0.01


@pytest.mark.parametrize(("epsilon", "seen"), [(1000.0, 0.0246), (500.0, None), (2000.0, None)])
def test_noise_of_a_large_epsilon(epsilon: float, seen: float | None) -> None:
    noise = mi.find_noise_multiplier_for_epsilon_delta(epsilon, 1e-5)
    spent = Gaussian(1 / mpf(noise)).hockey(mpf(epsilon))
    assert spent <= mpf(1e-5)  # never too little noise
    assert Gaussian(1 / (mpf(noise) * (1 - mpf("1e-6")))).hockey(mpf(epsilon)) > mpf(1e-5)
    assert seen is None or abs(noise - seen) < 5e-5


@pytest.mark.slow
def test_the_algebra_keeps_bounds() -> None:
    """A mixture of a curve between bounds is between bounds: it neither refutes nor is narrower than what it is made of."""
    band = mi.compose(*[mi.MixtureTradeOff(mi.GaussianTradeOff(0.05), 1.0)], copies=400)
    half, claim = mi.MixtureTradeOff(band, 0.5), mi.MixtureTradeOff(mi.GaussianTradeOff(1.0), 0.5)
    assert half.compare(claim, kind="upper_bound_on_power").verdict != "REFUTED"
    wide = Between(mi.GaussianTradeOff(1.05), mi.GaussianTradeOff(0.95))
    for operation in (
        lambda c: c.inverse(),
        lambda c: c.symmetrized(),
        lambda c: mi.MixtureTradeOff(c, 1.0),
        lambda c: mi.convex_hull(c, mi.GaussianTradeOff(0.1)),
        lambda c: stochastic_composition([c, c], [0.5, 0.5]),
    ):
        for true in (0.951, 1.0, 1.049):
            queries = Queries.at([0.0, 0.5, 2.0], [1e-6, 0.1], [1e-9, 0.01, 0.5, 0.99])
            assert misses(operation(wide), Gaussian(true), queries) == []


def test_neither_convex_nor_stated_to_be() -> None:
    """Advantage, delta, epsilon and Bayes risk of a curve that is far from its hull; and what its hull has."""
    truth = Atoms(
        [(mpf(1) / 4, mpf(1) / 16), (mpf(1) / 8, mpf(1) / 2), (mpf(1) / 8, mpf(0)), (mpf(1) / 2, mpf(7) / 16)]
    )
    curve = Walk(truth)
    queries = Queries.sampled(np.random.default_rng(3), 3, most_epsilon=5.0)
    assert misses(curve, truth, queries) == []
    assert misses(curve.convexified(), truth.hull(), queries) == []
    # Both reach the same corners; between them only the hull mixes tests.
    assert curve.tpr_at(0.2) < 0.051 < 0.28 < curve.convexified().tpr_bounds(0.2)[0]


@pytest.mark.evidence
def test_a_question_that_is_repeated_is_answered_no_wider() -> None:
    """A band that an answer rests on stays when bands are made for its other losses; here it tells 1e-12 for 1e-8."""
    curve = mi.compose(Hidden(mi.GaussianTradeOff(0.0788840833984183)), copies=3880).inverse()
    losses = np.array([0.6, 0.4, 520.73])
    low, high = curve.delta_bounds(losses)
    for again in (curve.delta(losses), curve.delta_bounds(losses)[1]):
        assert (again <= high).all()
    assert (curve.delta_bounds(losses)[0] >= low).all()


@pytest.mark.parametrize("turned", [False, True])
def test_epsilon_of_a_rare_delta_is_narrow(turned: bool) -> None:
    """It was searched for from epsilon 0, where bounds made for a delta of 1e-50 say nothing: in [16.6, 94.5] for 94.4."""
    truth, curve = SubsampledSteps(1.25, 0.05, 2000), mi.dpsgd(0.8, 0.05, 2000, neighbours="remove")
    item, other = (curve.inverse(), truth.reversed) if turned else (curve, truth)
    held = hold(item, other, Queries.at(delta=[1e-50], numbers=()))
    assert held.misses == []
    low, high = held.bounds["epsilon", 1e-50]
    assert high - low <= 1.01 * EPSILON_WIDTH * max(1.0, low / 10.0)


@pytest.mark.evidence
def test_a_far_question_spoils_no_near_question() -> None:
    """Nor is the far curve given up: its delta is about e^-5,400."""
    curve = mi.compose(Hidden(mi.GaussianTradeOff(0.0788840833984183)), copies=3880).inverse()
    (low, _), (high, far) = curve.delta_bounds(np.array([0.4, 520.73]))
    assert high - low <= 1.01 * DELTA_WIDTH * high
    assert far < 1e-200


@check.ctx.workprec(128)
def test_least_mu_of_subsampled_steps() -> None:
    """It is finite, or stated to be at least something."""
    noise, p, n = 20.0, 0.3, 10
    shift, rate = 1 / Fraction(noise), Fraction(p)
    step = check.Smooth("gaussian", [(Fraction(0), 1 - rate), (shift, rate)], [(Fraction(0), Fraction(1))])
    frame = check.Frame(Fraction(1, 2**10), [-(2**10), 2**10], 1, Fraction(1, 10**20), above=False)
    below = check.composed([(step, n)], [frame])
    low, high = mi.dpsgd(noise, p, n, neighbours="remove").least_mu_bounds()
    # At any threshold the shift is at most the supremum.
    for fpr in (0.01, 0.3, 0.5, 0.9):
        assert check.probit(below.tpr(Fraction(fpr))[0]) - check.probit(check.arb(fpr)) <= high
    assert low <= high
    assert low > 0.0


@pytest.mark.evidence
def test_a_hull_of_points_that_go_up_and_down() -> None:
    """Of an attack worse than chance and its inverse: the diagonal, also at FPRs of 1 - 1e-20."""
    walked = Atoms([(1 - mpf("1e-116"), mpf(5) / 8), (mpf("1e-116"), mpf(3) / 8)])
    curve, truth = Walk(walked).symmetrized(), walked.hull(walked.reversed)
    queries = Queries.at([0.0, 1.0], [0.0, 1e-12], [0.0, 1e-18, 0.5, 1.0])
    queries.log_fpr = np.array([-np.inf, -1e100, -40.0, -0.5, -1e-10, -2e-20, -1e-37, 0.0])
    assert misses(curve, truth, queries) == []
    bounds = curve.enclosure(queries.log_fpr[2:-1])
    np.testing.assert_allclose(bounds.log_fnr_low, bounds.log_fnr_high, rtol=1e-12)


@pytest.mark.evidence
@pytest.mark.parametrize("rate", [0.0, 1e-300, 0.5, 1.0])
@pytest.mark.parametrize("mu", [0.0, pytest.param(1e-300, marks=pytest.mark.slow), 1.0, 40.0, 1e3])
def test_edges_of_a_mixture(mu: float, rate: float) -> None:
    curve, truth = (
        mi.MixtureTradeOff(mi.GaussianTradeOff(mu), rate),
        Mixed(Gaussian(mu), rate) if rate else Gaussian(0),
    )
    queries = Queries.at(
        [0.0, 1e-3, 1.0, 1000.0],
        [0.0, 1e-30, 0.5, 1.0],
        [0.0, 5e-324, 1e-300, 0.5, math.nextafter(1.0, 0.0), 1.0],
        numbers=(),
    )
    assert misses(curve, truth, queries) == []


@pytest.mark.parametrize(
    ("epsilon", "delta"), list(itertools.product([0.0, 1e-300, 1.0, 700.0], [0.0, 1e-300, 0.5, 1.0]))
)
def test_edges_of_approximate_dp(epsilon: float, delta: float) -> None:
    curve, truth = mi.ApproxDPTradeOff(epsilon, delta), response(epsilon, delta)
    queries = Queries.at(
        [0.0, epsilon, 1000.0],
        [0.0, delta, 1.0],
        [0.0, 5e-324, 0.5, math.nextafter(1.0, 0.0), 1.0],
        numbers=("advantage", "auc", "least_mu"),
    )
    assert misses(curve, truth, queries) == []


def test_perfect_and_blind() -> None:
    blind, perfect = mi.GaussianTradeOff(0.0), mi.ApproxDPTradeOff(0.0, 1.0)
    assert (blind.advantage(), blind.epsilon(0.0), blind.least_mu(), blind.delta(0.0)) == (0.0, 0.0, 0.0, 0.0)
    assert perfect.advantage() == 1.0
    assert perfect.epsilon(0.5) == math.inf
    assert perfect.least_mu() == math.inf
    assert mi.convex_hull(blind, perfect).beta(0.3) == 0.0
    assert mp.almosteq(mpf(perfect.auc()), 1, 1e-12)


@pytest.mark.parametrize(
    ("delta", "copies", "mu", "accuracy"),
    [
        (1e-9, 1, 0.1, 0.1),
        *(
            pytest.param(*case, 1e-6, marks=pytest.mark.slow)
            for case in [(1e-9, 1, 0.1), (1e-12, 10, 0.1), (3e-8, 2, 0.3), (1e-16, 1, 0.5), (0.7, 2, 0.5)]
        ),
    ],
)
def test_a_mass_that_surely_reveals_the_world(delta: float, copies: int, mu: float, accuracy: float) -> None:
    """It was taken of 1 less itself: epsilon at just less was finite, and delta far out below it or 1."""
    curve, truth, _ = guaranteed(delta, copies, mu, accuracy=accuracy)
    assert isinstance(truth, Times)
    low, high = curve.tpr_bounds(0.0)
    assert low <= truth.only[1] <= high <= low * (1 + 1e-15)
    assert curve.epsilon_bounds(math.nextafter(low, 0.0)) == (math.inf, math.inf)
    assert curve.epsilon_bounds(1.01 * high)[1] < math.inf
    first, last = curve.delta_bounds(12.0)
    assert low <= first <= last <= high * (1 + accuracy)
    queries = Queries.at([0.0, 5.0, 12.0], [low, min(1.0, 1.01 * high)], [0.0, 0.1, 0.9])
    assert misses(curve, truth, queries) == []


@pytest.mark.parametrize(
    "mass",
    [
        pytest.param(
            m, marks=[] if m == 1e-9 else pytest.mark.evidence if m in (1e-300, 0.7) else pytest.mark.slow
        )
        for m in SURE_MASSES
    ],
)
def test_sure_masses_under_every_operation(mass: float) -> None:
    """In fractions; a curve and its inverse."""
    single, exact = mi.ApproxDPTradeOff(0.1, mass), Fraction(mass)
    blind, other = mi.GaussianTradeOff(0.3), mi.ApproxDPTradeOff(0.5, 0.25)
    for curve, ahead, back in (
        (single, exact, exact),
        (mi.MixtureTradeOff(single, 0.3), Fraction(0.3) * exact, 0),
        (single.subsampled(0.3), Fraction(0.3) * exact, Fraction(0.3) * exact),
        (mi.convex_hull(single, blind), exact, exact),
        (stochastic_composition([single, other]), exact / 2 + Fraction(1, 8), exact / 2 + Fraction(1, 8)),
        (mi.compose(single, copies=5), 1 - (1 - exact) ** 5, 1 - (1 - exact) ** 5),
        (mi.compose(mi.MixtureTradeOff(single, 0.3), blind), Fraction(0.3) * exact, 0),
        (mi.compose(single, other, blind, copies=[3, 2, 1]), *[1 - (1 - exact) ** 3 * Fraction(9, 16)] * 2),
        (mi.compose(single, blind, copies=[4, 1]).symmetrized(), *[1 - (1 - exact) ** 4] * 2),
    ):
        for side, truth in ((curve, ahead), (curve.inverse(), back)):
            low, high = side.tpr_bounds(0.0)
            assert low <= truth <= high, (curve, low, high, float(truth))
            assert high - low <= 2e-13 * high + 1e-322, (curve, low, high)
            if low > 1e-300:
                assert side.epsilon_bounds(math.nextafter(low, 0.0)) == (math.inf, math.inf)


def test_a_mass_next_to_1_is_not_1() -> None:
    """Steps that reveal all but 1e-24 were returned in the place of five of them."""
    single = mi.convex_hull(
        mi.compose(mi.ApproxDPTradeOff(0.5, 1 - 1e-12), copies=2), mi.ApproxDPTradeOff(3.0)
    )
    low, high = mi.compose(single, copies=5).beta_bounds(0.0)
    assert low <= (1 - Fraction(1 - 1e-12)) ** 10 <= high


def exactly(
    data: mi.Bernoulli, n: int, attack: Callable[[mi.Bernoulli, int], mi.AbstractAttack]
) -> Callable[[], mi.AbstractTradeOff]:
    return lambda: mi.FixedTarget(mi.EmpiricalMean(), data, n, np.ones(data.dimension)).exact(attack(data, n))


QUESTIONS = {
    "delta": lambda c: c.delta_bounds(np.array([0.0, 1.0, 12.0])),
    "far delta": lambda c: c.delta_bounds(12.0),
    "epsilon": lambda c: c.epsilon_bounds(1e-5),
    "beta": lambda c: c.beta_bounds(0.1),
    "tpr": lambda c: c.tpr_bounds(np.array([0.0, 1e-6, 0.5])),
    "advantage": lambda c: c.advantage_bounds(),
    "risk": lambda c: c.bayes_risk_bounds(0.3),
    "high risk": lambda c: c.bayes_risk_bounds(0.55),
}


BRACKET = exactly(mi.Bernoulli(np.linspace(0.25, 0.75, 12)), 20, mi.CovarianceScore)


def composed(steps: int, **how: Any) -> list[Callable[[], mi.AbstractTradeOff]]:
    """Curves that are refined at each question, and curves of them."""
    step, half = (mi.MixtureTradeOff(mi.GaussianTradeOff(mu), p) for mu, p in ((1.0, 0.01), (0.5, 0.5)))
    return [
        lambda: mi.compose(mi.ApproxDPTradeOff(0.1, 1e-9), mi.GaussianTradeOff(0.1), **how),
        lambda: mi.compose(step, copies=steps, **how),
        lambda: mi.compose(step, copies=steps, **how).inverse(),
        lambda: mi.compose(mi.ApproxDPTradeOff(0.1, 1e-9), half, **how).symmetrized(),
        lambda: mi.MixtureTradeOff(mi.compose(mi.LaplaceTradeOff(0.2), copies=steps // 2, **how), 0.5),
    ]


@pytest.mark.parametrize(
    "make",
    [
        *composed(4, accuracy=0.1, epsilon_accuracy=1.0)[:4],  # the fifth takes as long at 100 steps
        *(
            pytest.param(make, marks=(pytest.mark.slow, pytest.mark.evidence)[k in (2, 4)])
            for k, make in enumerate(composed(100))
        ),
        lambda: stochastic_composition([mi.GaussianTradeOff(1.0), mi.LaplaceTradeOff(1.0)], points=256),
        lambda: mi.GaussianTradeOff(1.0).subsampled(0.3),
        lambda: mi.FixedTarget(mi.EmpiricalMean(), mi.Gaussian(0.0, 1.0), 100, [3.0]).exact(
            mi.ScalarProduct([0.0])
        ),
        # By a bracket, by inversion, and by inversion on a lattice.
        BRACKET,
        *(
            pytest.param(exactly(*case), marks=(pytest.mark.slow, pytest.mark.evidence)[case[1] == 20])
            for case in [
                (mi.Bernoulli(np.linspace(0.25, 0.75, 12)), 20, mi.CovarianceScore),
                (mi.Bernoulli(np.linspace(0.25, 0.75, 200)), 100, mi.CovarianceScore),
                (mi.Bernoulli([0.3]), 10**11, lambda _data, _n: mi.ScalarProduct([0.3])),
            ]
        ),
    ],
)
def test_no_answer_depends_on_earlier_questions(make: Callable[[], mi.AbstractTradeOff]) -> None:
    rng = np.random.default_rng(0)
    names = [
        name for name in QUESTIONS if not (make is BRACKET and name == "tpr")
    ]  # its rare rates take ten seconds
    first, second = (
        {name: QUESTIONS[name](curve) for name in rng.permutation(names)} for curve in (make(), make())
    )
    for name in names:
        assert np.array_equal(first[name], second[name]), name


@pytest.mark.parametrize("off", [-9e-10, 9e-10])
def test_weights_that_sum_to_nearly_1(off: float) -> None:
    """They were scaled in some numbers of a curve and not in others, whose bounds crossed."""
    curve = stochastic_composition([mi.LaplaceTradeOff(1.0), mi.LaplaceTradeOff(1.0)], [0.5, 0.5 + off])
    assert misses(curve, Laplace(1), Queries.at([0.5], [0.0, 1e-12], [0.0, 1e-9, 0.1], numbers=())) == []


@pytest.mark.parametrize("weight", [1e-5, 1e-15, 1e-18, 1e-100])
def test_products_below_the_least_normal_number(weight: float) -> None:
    """Shares of rates of 1e-304 had lost their digits without a sign of it."""
    curve = stochastic_composition(
        [mi.ApproxDPTradeOff(700.0), mi.GaussianTradeOff(0.0)], [weight, 1 - weight]
    )
    truth = response(700.0, 0.0)
    for epsilon in (690.0, 695.0, 699.9):
        low, high = curve.delta_bounds(epsilon)
        assert low <= mpf(weight) * truth.hockey(mpf(epsilon)) <= high <= 1.001 * weight


@pytest.mark.parametrize(("prior", "steps"), [(0.55, 10), (0.7, 10), (0.45, 100), (0.55, 100)])
def test_the_risk_where_a_guess_is_about_as_good(prior: float, steps: int) -> None:
    """No band was near such a threshold, and the risk in [0, 0.3]; it is a share of 1 less delta of a direction."""
    curve = mi.dpsgd(1.0, 0.01, steps, neighbours="remove")
    low, high = curve.bayes_risk_bounds(prior)
    side = curve if prior <= 0.5 else curve.inverse()
    least, most = side.delta_bounds(abs(math.log1p(-prior) - math.log(prior)))
    share = min(prior, 1.0 - prior)
    assert low <= share * (1 - least) * (1 + 1e-12)
    assert share * (1 - most) * (1 - 1e-12) <= high <= low * (1 + 1e-6)
