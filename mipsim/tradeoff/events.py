"""Trade-off functions of the events of dp_accounting, which are recognised by the names of their classes: nothing of it is imported."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mipsim._validation import number, whole
from mipsim._words import kind_of
from mipsim.tradeoff.approx_dp import ApproxDPTradeOff
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.compose import MOST_STEPS, compose
from mipsim.tradeoff.convex_hull import convex_hull
from mipsim.tradeoff.discrete_laplace import discrete_laplace
from mipsim.tradeoff.fixed_samples import fixed_samples
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.gaussian_mixture import GaussianMixtureTradeOff
from mipsim.tradeoff.laplace import LaplaceTradeOff
from mipsim.tradeoff.mixture import MixtureTradeOff
from mipsim.tradeoff.noise_multiplier import dpsgd
from mipsim.tradeoff.piecewise_linear import PiecewiseLinearTradeOff
from mipsim.tradeoff.random_allocation import random_allocation
from mipsim.tradeoff.schemes import NEIGHBOURS, proven_neighbours, shift
from mipsim.tradeoff.selection import best_of_runs
from mipsim.tradeoff.truncated_poisson import truncated_poisson

BLIND, ALL = GaussianTradeOff(0.0), ApproxDPTradeOff(0.0, 1.0)
"""What nothing is released of, and what all is released of."""
ASSUMES = "the event describes what is released; its noise multipliers are over the largest norm of a record's contribution"
_SUMMED, _REPLACED = NEIGHBOURS[:3], NEIGHBOURS[3:]


def is_event(value: object) -> bool:
    """Whether a value is an event by the name of its class.
    >>> is_event(0.5)
    False
    """
    return not isinstance(value, type) and type(value).__name__.endswith("DpEvent")


def curve_of_event(event: Any, neighbours: str) -> AbstractTradeOff:
    """The curve of an event, of which the world without the record is the null; of a replaced record the worse order of both.

    What is sampled differs where the record takes part. So if P and Q dominate what is done with a sample, p P + (1 - p) Q and Q dominate
    what is done with a Poisson sample, whatever it is, and the same pair in the other order a record added. Compositions may be adaptive.

    Args:
        event: of `dp_accounting`, or of a class with the same name and attributes.
        neighbours: as of `mipsim.dpsgd`; of "add" and "add_or_remove" the caller takes the inverse, or the worse of both.

    Raises:
        ValueError: if the event is not known, no curve is proven for these neighbours, or a number of it is outside its range.

    Source: Zhu, Dong and Wang (2022), theorems 10 and 11; Dong, Roth and Su (2022), theorems 3.2 and 4.2; Kairouz et al. (2021),
    "Practical and private (deep) learning without sampling or shuffling", theorem 4.1 and appendix D, for trees.

    >>> class GaussianDpEvent:
    ...     noise_multiplier = 2.0
    >>> curve_of_event(GaussianDpEvent(), "remove"), curve_of_event(GaussianDpEvent(), "replace")
    (GaussianTradeOff(mu=0.5), GaussianTradeOff(mu=1.0))
    """
    name = type(event).__name__
    if name not in _READERS:
        known = ", ".join(sorted(name.removesuffix("DpEvent") for name in _READERS))
        raise ValueError(f"noise_multiplier is the event {kind_of(event)}; proven are {known}")
    allowed, read = _READERS[name]
    proven_neighbours(neighbours, allowed, f"the event {name}")
    try:
        return read(event, neighbours)
    except AttributeError as error:
        lacks = getattr(error, "name", None)
        raise ValueError(f"noise_multiplier is the event {name}, which has no attribute {lacks!r}") from None


def _gaussian(event: Any, neighbours: str) -> AbstractTradeOff:
    noise = number("noise_multiplier of the event", event.noise_multiplier, 0.0, 1e100)
    return GaussianTradeOff.of_noise(shift(neighbours), noise) if noise > 0.0 else ALL


def _laplace(event: Any, neighbours: str) -> AbstractTradeOff:
    scale = number("noise_multiplier of the event", event.noise_multiplier, 0.0, 1e100)
    return LaplaceTradeOff(math.nextafter(shift(neighbours) / scale, math.inf)) if scale > 0.0 else ALL


def _randomised_response(event: Any, neighbours: str) -> AbstractTradeOff:
    noise = number("noise_parameter of the event", event.noise_parameter, 0.0, 1.0)
    buckets = whole("num_buckets of the event", event.num_buckets, 1)
    if buckets == 1 or noise == 1.0:
        return BLIND
    other = noise / buckets  # the probability of each bucket that is not the record's
    own = 1.0 - noise + other
    if other == 0.0:
        return ALL
    return PiecewiseLinearTradeOff([0.0, other, 1.0 - own, 1.0], [1.0, 1.0 - own, other, 0.0])


def _composed(event: Any, neighbours: str) -> AbstractTradeOff:
    return compose(BLIND, *(curve_of_event(part, neighbours) for part in event.events))


def _self_composed(event: Any, neighbours: str) -> AbstractTradeOff:
    count = whole("count of the event", event.count, 0, MOST_STEPS)
    return compose(curve_of_event(event.event, neighbours), copies=count) if count else BLIND


def _poisson(event: Any, neighbours: str) -> AbstractTradeOff:
    p = number("sampling_probability of the event", event.sampling_probability, 0.0, 1.0)
    if neighbours == "replace":  # what the other record adds depends on the sample too
        return _gaussian_sum(event, "poisson", p, neighbours)
    inner = curve_of_event(event.event, neighbours)
    return MixtureTradeOff(inner, p) if p < 1.0 else inner


def _noise(event: Any, neighbours: str) -> float:
    """Of what is proven of Gaussian sums alone."""
    if (name := type(event.event).__name__) != "GaussianDpEvent":
        raise ValueError(
            f"noise_multiplier is {type(event).__name__} of the event {name}; proven for neighbours {neighbours!r} is GaussianDpEvent"
        )
    return event.event.noise_multiplier


def _gaussian_sum(event: Any, sampling: str, rate: float, neighbours: str) -> AbstractTradeOff:
    way = neighbours if neighbours == "replace" else "remove"
    return dpsgd(_noise(event, neighbours), rate, neighbours=way, sampling=sampling)


def _fixed_size(event: Any, neighbours: str) -> AbstractTradeOff:
    n = whole("source_dataset_size of the event", event.source_dataset_size, 1)
    size = whole("sample_size of the event", event.sample_size, 0, n)
    if neighbours != "replace" and size > 0:  # another record takes the place of the record
        return _gaussian_sum(event, "fixed_size", size / n, neighbours)
    inner = curve_of_event(event.event, neighbours)
    part = MixtureTradeOff(inner, size / n)
    return inner if size == n else convex_hull(part, part.inverse())


def _with_replacement(event: Any, neighbours: str) -> AbstractTradeOff:
    sizes = event.sample_size, event.source_dataset_size
    return fixed_samples(_noise(event, neighbours), *sizes, replacement=True, neighbours="remove")


def _truncated(event: Any, neighbours: str) -> AbstractTradeOff:
    sizes = event.sampling_probability, event.truncated_batch_size, event.dataset_size
    return truncated_poisson(event.noise_multiplier, *sizes, neighbours="remove")


def _allocated(event: Any, neighbours: str) -> AbstractTradeOff:
    steps = whole("num_steps of the event", event.num_steps, 1)
    chosen = whole("num_selected of the event", event.num_selected, 0, steps)
    return random_allocation(_noise(event, neighbours), steps, chosen) if chosen else BLIND


def _discrete_laplace(event: Any, neighbours: str) -> AbstractTradeOff:
    parameter = number("noise_parameter of the event", event.noise_parameter, 1e-4, 100.0)
    return discrete_laplace(1.0 / parameter, event.sensitivity * round(shift(neighbours)))


def _mixture(event: Any, neighbours: str) -> AbstractTradeOff:
    return GaussianMixtureTradeOff(event.sensitivities, event.sampling_probs, event.standard_deviation)


def _best(event: Any, neighbours: str) -> AbstractTradeOff:
    best = best_of_runs(curve_of_event(event.event, neighbours), runs=event.mean, shape=event.shape)
    return best._one_way() or best


def _tree(event: Any, neighbours: str) -> AbstractTradeOff:
    """A record is in a leaf of a single tree, and so in as many nodes as that tree is deep."""
    counts = event.step_counts if isinstance(event.step_counts, (list, tuple)) else [event.step_counts]
    steps = max((whole("step_counts of the event", count, 0, MOST_STEPS) for count in counts), default=0)
    return compose(_gaussian(event, neighbours), copies=steps.bit_length()) if steps else BLIND


_Reader = Callable[[Any, str], AbstractTradeOff]
_READERS: dict[str, tuple[tuple[str, ...], _Reader]] = {
    "NoOpDpEvent": (NEIGHBOURS, lambda event, neighbours: BLIND),
    "NonPrivateDpEvent": (NEIGHBOURS, lambda event, neighbours: ALL),
    "GaussianDpEvent": (NEIGHBOURS, _gaussian),
    "LaplaceDpEvent": (NEIGHBOURS, _laplace),
    "RandomizedResponseDpEvent": (_REPLACED, _randomised_response),
    "ComposedDpEvent": (NEIGHBOURS, _composed),
    "SelfComposedDpEvent": (NEIGHBOURS, _self_composed),
    "MixtureOfGaussiansDpEvent": (_SUMMED, _mixture),
    "PoissonSampledDpEvent": (NEIGHBOURS, _poisson),
    "SampledWithoutReplacementDpEvent": (NEIGHBOURS, _fixed_size),
    "SampledWithReplacementDpEvent": (_SUMMED, _with_replacement),
    "TruncatedSubsampledGaussianDpEvent": (_SUMMED, _truncated),
    "RandomAllocationDpEvent": (_SUMMED, _allocated),
    "RepeatAndSelectDpEvent": (NEIGHBOURS, _best),
    "DiscreteLaplaceDpEvent": (NEIGHBOURS, _discrete_laplace),
    "SingleEpochTreeAggregationDpEvent": (_SUMMED, _tree),
}
"""Name of a class -> the neighbours for which its curve is proven, and what reads it."""
