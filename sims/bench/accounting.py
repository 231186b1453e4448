"""Privacy accounting: the curve of many steps of DP-SGD, and the noise that a bound asks for, beside the accountants that are in use."""

from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec

from mipsim.tradeoff import (
    AbstractTradeOff,
    ComposedTradeOff,
    dpsgd,
    find_noise_multiplier_for_advantage,
    find_noise_multiplier_for_err_rates,
)
from sims.bench.contest import Contest, Way, in_turn
from sims.bench.questions import QUESTIONS, Question, ours, theirs

NOISE, RATE, STEPS, EPSILON = 0.8, 0.01, 1000, 1.0
ADVANTAGE, FPR, FNR = 0.2, 0.01, 0.9
DEFAULT = 1e-4  # dp-accounting's and riskcal's grid of losses
# with which dp-accounting's delta is above the truth by 3.4e-7, and mipsim's bounds are as far apart
EQUAL, OURS = 1.3e-4, 1.4e-5

# of dp-accounting: the coarsest of those tried whose upper bound is within 1e-4 of mipsim's lower bound
_GRIDS = {
    "500 x noise 1, rate 0.01, then 500 x noise 1.5, rate 0.02: epsilon(1e-05)": 3.4e-4,
    "100 x Laplace noise 1, rate 0.1: epsilon(1e-05)": 1.2e-3,
    "20 x Laplace noise 10, then 10 x noise 5: epsilon(1e-06)": 2.5e-3,
}
_AT_EQUAL_WIDTH = [(question, grid) for question in QUESTIONS if (grid := _GRIDS.get(question.words))]


def delta_bounds(curve: AbstractTradeOff) -> tuple[float, float]:
    """Bounds of delta(1), a record added or removed: the larger of both directions.
    >>> low, high = delta_bounds(dpsgd(0.8, 0.01, 10, neighbours="remove"))
    >>> low <= high <= low * (1.0 + 1e-6)
    True
    """
    low, high = curve.symmetrized().delta_bounds(EPSILON)
    return float(low), float(high)


def composed_curve(quick: bool) -> Contest:
    """delta(1) of 1,000 sub-sampled Gaussian steps; all are upper bounds, mipsim has the lower bound too.

    dp-accounting runs with its default grid, and with that on which its error is mipsim's.
    """
    del quick
    result: dict[str, float] = {}

    def theirs(name: str, interval: float) -> Way:
        def curve() -> None:
            from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism

            step = from_gaussian_mechanism(NOISE, sampling_prob=RATE, value_discretization_interval=interval)
            result[name] = float(step.self_compose(STEPS).get_delta_for_epsilon(EPSILON))

        return Way(name, in_turn(curve), 1, library="numpy")

    def ours(name: str, neighbours: str) -> Way:
        def curve() -> None:
            made = dpsgd(NOISE, RATE, STEPS, neighbours=neighbours)
            assert isinstance(made, ComposedTradeOff)
            result[name] = float(made.at_accuracy(OURS).delta_bounds(EPSILON)[1])

        # Whichever way comes after a peer starts with cold caches, which is a third of a single curve.
        return Way(name, in_turn(curve), 8, library="numpy")

    def says() -> list[str]:
        low, high = _truth()
        return [
            f"{name}: delta({EPSILON:g}) <= {value:.9f}, above the truth by {value - high:.1e} to {value - low:.1e}"
            for name, value in result.items()
        ]

    peers = [theirs("dp-accounting, equal error", EQUAL), theirs("dp-accounting, its default grid", DEFAULT)]
    ways = [
        *_installed("dp-accounting", peers),
        ours("mipsim, both directions", "add_or_remove"),
        ours("mipsim, single direction", "remove"),
    ]
    return Contest(f"{STEPS:,} composed steps of DP-SGD", "curves", ways, says)


def questions_at_equal_width() -> list[Callable[[bool], Contest]]:
    """A contest each for steps of two phases, and for Laplace steps, of the forty questions."""
    return [partial(_at_equal_width, question, grid) for question, grid in _AT_EQUAL_WIDTH]


def _at_equal_width(question: Question, grid: float, quick: bool) -> Contest:
    """Both directions; dp-accounting with the coarsest grid whose upper bound is within 1e-4 of mipsim's lower bound."""
    del quick
    result: dict[str, tuple[float, ...]] = {}

    def way(name: str, ask: Callable[[], tuple[float, ...]], times: int) -> Way:
        def answer() -> None:
            result[name] = ask()

        return Way(name, in_turn(answer), times, library="numpy")

    def says() -> list[str]:
        ends = {name: " to ".join(f"{end:.7g}" for end in value) for name, value in result.items()}
        return [f"{name}: {question.number}({question.at:g}) is {words}" for name, words in ends.items()]

    peers = [way("dp-accounting, equal width", lambda: (theirs(question, grid),), 1)]
    ways = [*_installed("dp-accounting", peers), way("mipsim", lambda: ours(question), 4)]
    return Contest(question.words.replace(": ", ", "), "answers", ways, says)


def epsilon_of_many_steps(quick: bool) -> Contest:
    """epsilon(1e-6) of 50,000 steps, to 1e-4."""
    del quick
    result: dict[str, tuple[float, float]] = {}

    def ours() -> None:
        low, high = dpsgd(NOISE, 0.001, 50_000, neighbours="remove").epsilon_bounds(1e-6)
        result["mipsim"] = float(low), float(high)

    def says() -> list[str]:
        return [f"{name}: epsilon(1e-6) in [{low:.6f}, {high:.6f}]" for name, (low, high) in result.items()]

    return Contest(
        "epsilon of 50,000 steps", "curves", [Way("mipsim", in_turn(ours), 1, library="numpy")], says
    )


@cache
def _truth() -> tuple[float, float]:
    """Bounds of delta(1) that are fifty times as near each other as those of the contest."""
    return delta_bounds(dpsgd(NOISE, RATE, STEPS, neighbours="remove"))


def noise_for_advantage(quick: bool) -> Contest:
    """The least noise multiplier with which TPR - FPR is at most .2.

    riskcal stops within 1e-3 of the advantage, its default; mipsim within some 1e-5 of the noise, on the safe side.
    """
    del quick

    def theirs() -> float:
        from riskcal.calibration.dpsgd import find_noise_multiplier_for_advantage as find

        return float(find(ADVANTAGE, sample_rate=RATE, num_steps=STEPS))

    def ours() -> float:
        return find_noise_multiplier_for_advantage(ADVANTAGE, sampling_rate=RATE, steps=STEPS)

    def reached(curve: AbstractTradeOff) -> str:
        return f"advantage {curve.advantage():.6f} of {ADVANTAGE:g}"

    return _calibration(f"noise for an advantage, {STEPS:,} steps", theirs, ours, reached)


def noise_for_operating_point(quick: bool) -> Contest:
    """The least noise multiplier with which the FNR at the FPR .01 is at least .9; tolerances as for the advantage."""
    del quick

    def theirs() -> float:
        from riskcal.calibration.dpsgd import find_noise_multiplier_for_err_rates as find

        return float(find(alpha=FPR, beta=FNR, sample_rate=RATE, num_steps=STEPS))

    def ours() -> float:
        return find_noise_multiplier_for_err_rates(FPR, FNR, sampling_rate=RATE, steps=STEPS)

    def reached(curve: AbstractTradeOff) -> str:
        return f"FNR {float(curve.symmetrized().beta(FPR)):.6f} of {FNR:g} at the FPR {FPR:g}"

    return _calibration(f"noise for an operating point, {STEPS:,} steps", theirs, ours, reached)


def _calibration(
    title: str,
    theirs: Callable[[], float],
    ours: Callable[[], float],
    reached: Callable[[AbstractTradeOff], str],
) -> Contest:
    result: dict[str, float] = {}

    def way(name: str, search: Callable[[], float]) -> Way:
        def searched() -> None:
            result[name] = search()

        return Way(name, in_turn(searched), 1, library="numpy")

    def says() -> list[str]:
        return [
            f"{name}: noise {noise:.6f}, {reached(dpsgd(noise, RATE, STEPS, neighbours='remove'))}"
            for name, noise in result.items()
        ]

    ways = [*_installed("riskcal", [way("riskcal", theirs)]), way("mipsim", ours)]
    return Contest(title, "searches", ways, says)


def _installed(peer: str, ways: list[Way]) -> list[Way]:
    """The ways of a peer, where it is installed."""
    if find_spec(peer.replace("-", "_")) is not None:
        return ways
    print(f"{peer} is not installed (it is in the development group): no ratio to it")
    return []
