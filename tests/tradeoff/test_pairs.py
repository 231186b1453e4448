"""Dominating pairs of single mechanisms against enumeration: of all outputs, of all samples, and of random neighbours."""

# mpmath says little of its types.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportCallIssue=false, reportOperatorIssue=false

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest

import mipsim as mi
from mipsim.tradeoff.events import curve_of_event
from tests.bound_holds import holds
from tests.peers import peer
from verify.field.statements.selection import permute_and_flip as flipped

EPSILONS = [0.0, 0.2, 0.7, 1.5]


def excess(inside: np.ndarray, out: np.ndarray, epsilon: float) -> float:
    return float(np.maximum(inside - math.exp(epsilon) * out, 0.0).sum())


def composed(inside: np.ndarray, out: np.ndarray, steps: int, epsilon: float) -> float:
    """Of all outputs of several steps."""
    worlds = [inside, out]
    for _ in range(steps - 1):
        worlds = [
            np.multiply.outer(world, own).ravel() for world, own in zip(worlds, (inside, out), strict=True)
        ]
    return excess(*worlds, epsilon)


class Noise(NamedTuple):
    """A curve by its parameter, that parameter, the sensitivity, and masses at x up to a factor."""

    curve: Callable[..., mi.AbstractTradeOff]
    parameter: float
    sensitivity: int
    mass: Callable[[int], Any]

    def worlds(self) -> tuple[np.ndarray, np.ndarray]:
        """In 40 digits, on the whole numbers from -60 to 60 and beyond by what the other world has."""
        with mpmath.workdps(40):
            masses = [self.mass(abs(x)) for x in range(-60, 61)]
            total = mpmath.fsum(masses)
            values = [float(mass / total) for mass in masses]
        none = [0.0] * self.sensitivity
        return np.array(none + values), np.array(values + none)


def squares(scale: float) -> Callable[[int], Any]:
    return lambda x: mpmath.e ** (-(mpmath.mpf(x) ** 2) / (2 * mpmath.mpf(scale) ** 2))


def bessel(variance: float) -> Callable[[int], Any]:
    return lambda x: mpmath.besseli(x, mpmath.mpf(variance))


NOISES = [
    *(Noise(mi.discrete_gaussian, scale, shift, squares(scale)) for scale, shift in ((1.3, 2), (0.4, 1), (6.0, 3))),
    *(Noise(mi.skellam, variance, shift, bessel(variance)) for variance, shift in ((3.0, 1), (0.3, 1), (20.0, 7))),
    Noise(mi.discrete_laplace, 2.0, 3, lambda x: mpmath.e ** (-mpmath.mpf(x) / mpmath.mpf(2.0))),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:delta is known to")
@pytest.mark.parametrize(
    "row", NOISES, ids=lambda row: f"{row.curve.__name__}-{row.parameter:g}-{row.sensitivity}"
)
@pytest.mark.parametrize("steps", [1, 2, pytest.param(3, marks=pytest.mark.evidence)])
def test_noise_on_whole_numbers_by_all_outputs(row: Noise, steps: int) -> None:
    inside, out = row.worlds()

    def seen(share: float) -> Iterator[tuple[tuple[float, float], float]]:
        curve = mi.compose(row.curve(share * row.parameter, row.sensitivity), copies=steps)
        return ((curve.delta_bounds(at), composed(inside, out, steps, at)) for at in EPSILONS)

    for known, truth in seen(1.0):
        holds(known, truth, slack=1e-12 + 1e-9 * truth, width=1e-12 + 1e-5 * truth)
    for share in (0.97, 1.03):
        assert any(not low <= truth <= high for (low, high), truth in seen(share))


@pytest.mark.parametrize(
    "row", NOISES, ids=lambda row: f"{row.curve.__name__}-{row.parameter:g}-{row.sensitivity}"
)
def test_smaller_shifts_of_noise_reveal_less(row: Noise) -> None:
    most = row.curve(row.parameter, row.sensitivity)
    for shift in range(1, row.sensitivity):
        for epsilon in EPSILONS:
            less = composed(*row._replace(sensitivity=shift).worlds(), 1, epsilon)
            assert less <= most.delta(epsilon) + 1e-12


def test_dp_accounting_on_noise_on_whole_numbers() -> None:
    pld = peer("dp_accounting.pld.privacy_loss_distribution")
    for curve, make, given in (
        (mi.discrete_gaussian(1.3, 2), pld.from_discrete_gaussian_mechanism, (1.3, 2)),
        (mi.discrete_laplace(2.0, 3), pld.from_discrete_laplace_mechanism, (0.5, 3)),
    ):
        known = mi.compose(curve, copies=3)
        ends = [make(*given, pessimistic_estimate=way).self_compose(3) for way in (False, True)]
        for epsilon in EPSILONS:
            least, most = (law.get_delta_for_epsilon(epsilon) for law in ends)
            holds(known.delta_bounds(epsilon), (least - 1e-12, most + 1e-12), (1.1 * most, 1.2 * most))


def softmax(scores: np.ndarray, epsilon: float) -> np.ndarray:
    weights = np.exp(0.5 * epsilon * (scores - scores.max()))
    return weights / weights.sum()


GAPS = np.concatenate([np.linspace(-3.0, 5.0, 2001), np.linspace(-40.0, 40.0, 1001)])
SELECTIONS = [(mi.exponential_mechanism, softmax), (mi.permute_and_flip, flipped)]


def neighbours(law: Callable, epsilon: float, gap: float) -> tuple[np.ndarray, np.ndarray]:
    """Two candidates, the first ahead by a gap that becomes 2 less."""
    return law(np.array([gap, 0.0]), epsilon), law(np.array([gap - 2.0, 0.0]), epsilon)


@pytest.mark.parametrize(
    ("curve", "law"),
    [
        pytest.param(*row, marks=[pytest.mark.evidence] * (row[0] is mi.permute_and_flip))
        for row in SELECTIONS
    ],
)
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_a_selection_by_random_neighbours_and_by_the_worst(curve: Any, law: Any, epsilon: float) -> None:
    rng, known = np.random.default_rng(1), curve(epsilon)
    deltas = {at: known.delta(at * epsilon) for at in EPSILONS}
    for count in (2, 3, 6):
        for _ in range(15):
            scores = rng.uniform(0.0, rng.choice([0.5, 3.0, 8.0]), count)
            moves = rng.choice([-1.0, 1.0], count) if rng.random() < 0.7 else rng.uniform(-1.0, 1.0, count)
            pair = law(scores, epsilon), law(scores + moves, epsilon)
            for at, most in deltas.items():
                assert excess(*pair, at * epsilon) <= most + 1e-12
    inside, out = np.array([neighbours(law, epsilon, gap) for gap in GAPS]).swapaxes(0, 1)
    for at in (0.0, 0.3, 0.8):
        reached = float(np.maximum(inside - math.exp(at * epsilon) * out, 0.0).sum(axis=1).max())
        holds(known.delta_bounds(at * epsilon), reached, slack=1e-4 * reached)
        for share in (0.97, 1.03):
            low, high = curve(share * epsilon).delta_bounds(at * epsilon)
            assert not low * (1.0 - 1e-3) <= reached <= high * (1.0 + 1e-3)


def adaptive(epsilon: float, runs: int, at: np.ndarray) -> np.ndarray:
    """The largest delta of exponential mechanisms that are chosen by the releases before, of 1500 two-valued losses a run; of a run by its formula."""
    if runs == 1:
        inside = (1.0 - np.exp(0.5 * (np.clip(at, -epsilon, epsilon) - epsilon))) ** 2 / -math.expm1(-epsilon)
        return np.where(at < -epsilon, -np.expm1(at), inside)
    t = np.linspace(0.0, epsilon, 1500 if runs == 2 else 150)
    rest = at[..., None] - t
    share = np.expm1(t - epsilon) / math.expm1(-epsilon)
    value = share * adaptive(epsilon, runs - 1, rest)
    return (value + (1.0 - share) * adaptive(epsilon, runs - 1, rest + epsilon)).max(axis=-1)


@pytest.mark.parametrize(
    ("epsilon", "runs"),
    [
        (0.02, 2),
        (0.3, 2),
        (2.0, 2),
        (6.0, 2),
        *(pytest.param(e, 3, marks=pytest.mark.evidence) for e in (0.3, 2.0)),
    ],
)
def test_adaptive_selections_by_recursion(epsilon: float, runs: int) -> None:
    at = np.array([0.0, 0.4, 1.1, 1.7]) * epsilon
    off = 1e-6 if runs == 2 else 1e-4  # relative: what the best of so few losses misses

    def misses(share: float) -> list[float]:
        curve = mi.exponential_mechanism(share * epsilon, runs)
        ends = [way.delta_bounds(x) for x in at.tolist() for way in (curve, curve.inverse())]
        assert all(high - low <= 1e-3 * high for low, high in ends)
        truth = np.repeat(adaptive(epsilon, runs, at), 2)
        return [
            max(low / true - 1.0 - off, true / high - 1.0)
            for (low, high), true in zip(ends, truth, strict=True)
        ]

    assert max(misses(1.0)) <= 1e-12
    assert min(max(misses(0.97)), max(misses(1.03))) > 5e-3


def test_no_adaptive_choice_of_scores_passes_the_upper_end() -> None:
    """Two runs, the second with other scores for each candidate of the first; known gaps that change between runs reveal more than a gap alone."""
    rng, epsilon = np.random.default_rng(3), 1.5
    curve = mi.exponential_mechanism(epsilon, 2)

    def scores() -> tuple[np.ndarray, np.ndarray]:
        own = rng.uniform(0.0, rng.choice([0.5, 3.0]), 3)
        return softmax(own, epsilon), softmax(own + rng.choice([-1.0, 1.0], 3), epsilon)

    for _ in range(200):
        first, later = scores(), [scores() for _ in range(3)]
        pair = [
            np.concatenate([share * then[i] for share, then in zip(first[i], later, strict=True)])
            for i in (0, 1)
        ]
        for at in EPSILONS:
            assert excess(*pair, at * epsilon) <= curve.delta_bounds(at * epsilon)[1]


@pytest.mark.parametrize(("curve", "law"), SELECTIONS[1:])
def test_three_selections_lie_between_both_ends(curve: Any, law: Any) -> None:
    """The best gap of three runs reaches the lower end, and no gaps pass the upper end."""
    known, less = curve(1.0, runs=3), curve(0.9, runs=3)
    for at in (0.0, 0.5, 1.0, 2.0):
        low, high = known.delta_bounds(at)
        best = max(composed(*neighbours(law, 1.0, gap), 3, at) for gap in np.linspace(-3.0, 5.0, 161))
        assert low <= best * (1.0 + 1e-3)
        assert best <= high
        assert less.delta_bounds(at)[1] < high
    assert known.delta_bounds(3.0)[1] < 1e-12


# Samples: every batch of a few records in [-1, 1].

Batches = list[tuple[float, float]]
"""(probability, sum)."""
NOISE = 0.8
GRID = np.linspace(-10.0, 10.0, 4001)
OFF = 2e-5  # relative: what sums over the grid miss at a kink


def without(values: Sequence[float], size: int) -> Batches:
    batches = list(itertools.combinations(values, size))
    return [(1.0 / len(batches), sum(batch)) for batch in batches]


def again(values: Sequence[float], size: int) -> Batches:
    batches = list(itertools.product(values, repeat=size))
    return [(1.0 / len(batches), sum(batch)) for batch in batches]


def truncated(values: Sequence[float], rate: float, largest: int) -> Batches:
    built = []
    for taken in itertools.product((False, True), repeat=len(values)):
        sample = [value for value, is_in in zip(values, taken, strict=True) if is_in]
        chance = math.prod(rate if is_in else 1.0 - rate for is_in in taken)
        built += [(chance * share, total) for share, total in without(sample, min(largest, len(sample)))]
    return built


def density(batches: Batches) -> np.ndarray:
    sums: dict[float, float] = {}
    for chance, total in batches:
        sums[round(total, 12)] = sums.get(round(total, 12), 0.0) + chance
    apart = (GRID - np.array([*sums])[:, None]) / NOISE
    return np.array([*sums.values()]) @ np.exp(-0.5 * apart**2) / (NOISE * math.sqrt(2.0 * math.pi))


class Sampling(NamedTuple):
    """A curve by its noise and neighbours, all batches of records, how many others there are and how many in the group, and others that reach the lower end."""

    curve: Callable[[float, str], mi.AbstractTradeOff]
    batches: Callable[[Sequence[float]], Batches]
    others: int
    group: int
    reaching: float

    def deltas(self, others: Sequence[float], group: Sequence[float], epsilon: float) -> tuple[float, float]:
        """Of the group removed, and added."""
        worlds = density(self.batches([*others, *group])), density(self.batches(others))
        step = GRID[1] - GRID[0]
        return excess(*worlds, epsilon) * step, excess(*worlds[::-1], epsilon) * step


def of_event(s: float, how: str) -> mi.AbstractTradeOff:
    """Three of seven records, a size that is that of the larger data set, and so for "add"."""
    inner = type("GaussianDpEvent", (), {"noise_multiplier": s})()
    sizes = {"source_dataset_size": 7, "sample_size": 3, "event": inner}
    curve = curve_of_event(type("SampledWithoutReplacementDpEvent", (), sizes)(), how)
    return curve.inverse() if how == "add" else curve


SAMPLINGS = {
    "an event without replacement": Sampling(of_event, lambda v: without(v, 3), 6, 1, -1.0),
    "a group without replacement": Sampling(
        lambda s, how: mi.fixed_samples(s, 3, 7, group=2, neighbours=how), lambda v: without(v, 3), 5, 2, -1.0
    ),
    "with replacement": Sampling(
        lambda s, how: mi.fixed_samples(s, 3, 4, replacement=True, neighbours=how), lambda v: again(v, 3), 3, 1, -1.0
    ),
    "a group with replacement": Sampling(
        lambda s, how: mi.fixed_samples(s, 2, 5, replacement=True, group=2, neighbours=how), lambda v: again(v, 2), 3, 2, -1.0
    ),
    "truncated": Sampling(
        lambda s, how: mi.truncated_poisson(s, 0.4, 2, 5, neighbours=how), lambda v: truncated(v, 0.4, 2), 4, 1, 0.0
    ),
    "hardly truncated": Sampling(
        lambda s, how: mi.truncated_poisson(s, 0.1, 4, 6, neighbours=how), lambda v: truncated(v, 0.1, 4), 5, 1, 0.0
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAMPLINGS)
def test_samples_by_all_batches(name: str) -> None:
    """No records pass the upper end; some reach the lower end, which is the upper end where the curve is exact."""
    row, rng = SAMPLINGS[name], np.random.default_rng(2)
    for way, how in enumerate(("remove", "add")):
        curve, *wrongs = (row.curve(share * NOISE, how) for share in (1.0, 0.97, 1.03))
        for epsilon in (0.02, 0.08):
            low, high = curve.delta_bounds(epsilon)
            truth = row.deltas([row.reaching] * row.others, [1.0] * row.group, epsilon)[way]
            assert low <= truth * (1.0 + OFF)
            assert truth <= high * (1.0 + OFF)
            if row.reaching:
                assert high - low <= 1e-6 * high
            for other in wrongs:  # an upper end alone is seen from a single side
                wrong = other.delta_bounds(epsilon)
                seen = wrong[1] if row.reaching else wrong[0] * (1.0 + 1e-3)
                assert not wrong[0] * (1.0 - OFF) <= truth <= seen
            for _ in range(4):
                others = (
                    rng.choice([-1.0, 1.0], row.others)
                    if rng.random() < 0.5
                    else rng.uniform(-1.0, 1.0, row.others)
                )
                group = rng.choice([-1.0, 1.0], row.group)
                assert row.deltas(others.tolist(), group.tolist(), epsilon)[way] <= high * (1.0 + OFF)
