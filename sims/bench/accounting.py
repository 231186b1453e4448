"""Privacy accounting: the curve of many steps of DP-SGD, and the noise that a bound asks for, beside the accountants that are in use."""

from importlib.util import find_spec

from mipsim.tradeoff import dpsgd, find_noise_multiplier_for_advantage
from sims.bench.contest import Contest, Way

NOISE, RATE, STEPS, EPSILON = 0.8, 0.01, 1000, 1.0
INTERVAL = 2e-4
"""dp-accounting's grid of losses: its delta is then above the truth by 1.8e-6, and half of mipsim's bracket of the curve is 1.5e-6. (1e-4 is
its default.)"""


def composed_delta(library: str) -> float:
    """delta(1) of 1,000 steps, a record added or removed, by "dp-accounting" or "mipsim"; both are upper bounds.

    Examples:
        >>> round(composed_delta("mipsim"), 4)
        0.0242
    """
    if library == "mipsim":
        curve = dpsgd(NOISE, sampling_rate=RATE, steps=STEPS)
        return max(float(side.delta_bounds(EPSILON)[1]) for side in (curve, curve.inverse()))  # pyright: ignore[reportAttributeAccessIssue]
    from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism

    step = from_gaussian_mechanism(NOISE, sampling_prob=RATE, value_discretization_interval=INTERVAL)
    return float(step.self_compose(STEPS).get_delta_for_epsilon(EPSILON))


def noise_for_advantage(library: str, steps: int) -> float:
    """The least noise multiplier with which the advantage is at most .2, by "riskcal" or "mipsim".

    Examples:
        >>> round(noise_for_advantage("mipsim", 1), 3)
        0.5
    """
    if library == "mipsim":
        return float(find_noise_multiplier_for_advantage(0.2, sampling_rate=RATE, steps=steps))
    from riskcal.calibration.dpsgd import find_noise_multiplier_for_advantage as theirs

    return float(theirs(0.2, sample_rate=RATE, num_steps=steps))


def composed_curve(quick: bool) -> Contest:
    """delta of 1,000 sub-sampled Gaussian steps at one epsilon, in both directions."""

    def work(library: str) -> Way:
        def curves(count: int) -> int:
            for _ in range(count):
                composed_delta(library)
            return count

        return Way(library, curves, 1 if quick else 2, all_cores=True, library="numpy")

    return Contest("1,000 steps of DP-SGD composed, delta to 2e-6", "curves", _known(work, "dp-accounting"))


def calibrated_noise(quick: bool) -> Contest:
    """The noise multiplier of 1,000 steps for an advantage of .2."""

    def work(library: str) -> Way:
        def searches(count: int) -> int:
            for _ in range(count):
                noise_for_advantage(library, 10 if quick else STEPS)
            return count

        return Way(library, searches, 1, all_cores=True, library="numpy")

    return Contest("noise for an advantage of .2 in 1,000 steps", "searches", _known(work, "riskcal"))


def _known(work, peer: str) -> list[Way]:
    """The peer, where it is installed, and mipsim."""
    if find_spec(peer.replace("-", "_")) is None:
        print(f"{peer} is not installed (it is in the development group): no ratio to it")
        return [work("mipsim")]
    return [work(peer), work("mipsim")]
