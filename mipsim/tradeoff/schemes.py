"""The ways in which DP-SGD samples records, each with the function that accounts for it; light, since a command's `--help` shows them."""

from __future__ import annotations

from dataclasses import dataclass

TYPE_CHECKING = False  # as in `mipsim`
if TYPE_CHECKING:
    from collections.abc import Callable

    from mipsim.tradeoff.base import AbstractTradeOff

    Parts = dict[float, float]
    Release = Callable[[Parts, Parts], AbstractTradeOff]
    Step = Callable[[Release, float, str, int], AbstractTradeOff]
    Epochs = Callable[[float, int, int, bool], AbstractTradeOff]

NEIGHBOURS = ("remove", "add", "add_or_remove", "replace")
"""What differs between the data sets. Numbers of records, and rates of samples of a fixed size, are those of the larger of both, whichever is the null."""
UNKNOWN = "; of others no dominating pair is proven here"
"""Why an accountant has no number, behind what is proven."""
NORMALISE = ("expected", "floor", "realised")
"""By what a noisy sum is divided: see `mipsim.account`."""
ALWAYS = "a release is a sum of clipped contributions and Gaussian noise; all releases are seen, and later steps may use them"
"""What every way of sampling assumes."""


def proven_neighbours(neighbours: str, allowed: tuple[str, ...], what: str, other: str = "") -> str:
    """Return the neighbours, or say for which `what` has bounds; `other`: what else is proven.
    >>> proven_neighbours("replace", NEIGHBOURS[:2], "sampling 'poisson'")
    Traceback (most recent call last):
    ...
    ValueError: neighbours is 'replace' with sampling 'poisson'; proven are remove, add; of others no dominating pair is proven here
    """
    from mipsim._validation import choice

    if (way := choice("neighbours", neighbours, NEIGHBOURS)) not in allowed:
        raise ValueError(
            f"neighbours is {way!r} with {what}; proven are {', '.join(allowed)}{other}{UNKNOWN}"
        )
    return way


def shift(neighbours: str) -> float:
    """How far a record moves a sum, in clipping norms.
    >>> shift("remove"), shift("replace")
    (1.0, 2.0)
    """
    return 2.0 if neighbours == "replace" else 1.0


@dataclass(frozen=True, kw_only=True)
class Scheme:
    """A way of sampling; it has a single function that accounts, of a step or of epochs, or it cannot be made.

    >>> Scheme(assumes="each step draws its sample with replacement", neighbours=("replace",))
    Traceback (most recent call last):
    ...
    TypeError: a scheme needs one function that accounts for it, step or epochs
    """

    assumes: str  # beside `ALWAYS`
    neighbours: tuple[str, ...]  # those for which bounds are proven
    spelt: str = ""  # how configurations of other libraries write it, beside its own name
    groups: bool = False  # whether bounds are proven of several records, too
    # (curve of a noisy sum by what both worlds add to it, rate, neighbours, group) -> that of a step
    step: Step | None = None
    # (noise, steps of an epoch, epochs, replace) -> the curve: a record takes part once in each epoch
    epochs: Epochs | None = None

    def __post_init__(self) -> None:
        """Refuse a way that nothing accounts for."""
        if callable(self.step) == callable(self.epochs):
            raise TypeError("a scheme needs one function that accounts for it, step or epochs")


NOTHING = {0.0: 1.0}
"""Of a world without the target: the probability of each sensitivity, the norm of what the target adds in units of the clipping norm."""


def _poisson(release: Release, rate: float, neighbours: str, group: int) -> AbstractTradeOff:
    """Of a group as many take part as a binomial variable says, and what they add has at most that norm."""
    parts = _binomial(group, rate)
    return release(parts, parts if neighbours == "replace" else NOTHING)


def _fixed_size(release: Release, rate: float, neighbours: str, group: int) -> AbstractTradeOff:
    """A sample with the target is a sample without, of which a uniform record gives way to the target: they are 2 apart.

    So it is where a record is removed; the rate is that of the larger data set. Where it is replaced, the steps of each direction may be mixed.
    """
    from mipsim.tradeoff.convex_hull import convex_hull

    if rate == 1.0 and neighbours != "replace":
        raise ValueError(
            f"sampling_rate is 1 with sampling 'fixed_size' and neighbours {neighbours!r}; it must be below 1, since the smaller data set "
            "has no such sample"
        )
    part = release({0.0: 1.0 - rate, 2.0: rate}, NOTHING)
    back = part.inverse()
    return convex_hull(part, back) if neighbours == "replace" and back is not part else part


def _binomial(count: int, rate: float) -> Parts:
    from fractions import Fraction
    from math import comb

    p = Fraction(rate)
    return {float(k): float(comb(count, k) * p**k * (1 - p) ** (count - k)) for k in range(count + 1)}


def _shuffled(noise: float, steps: int, epochs: int, replace: bool) -> AbstractTradeOff:
    from mipsim.tradeoff.shuffled import shuffled

    return shuffled(noise, steps, epochs, replace=replace)


def _random_allocation(noise: float, steps: int, epochs: int, replace: bool) -> AbstractTradeOff:
    from mipsim.tradeoff.random_allocation import random_allocation

    assert not replace
    return random_allocation(noise, steps, epochs=epochs)


SCHEMES = {
    "poisson": Scheme(
        assumes="in each step each record takes part by its own coin",
        neighbours=NEIGHBOURS,
        spelt="poisson_sampling uniform_with_replacement uniformwithreplacementsampler dpdataloader true_poisson",
        groups=True,
        step=_poisson,
    ),
    "fixed_size": Scheme(
        assumes="each step has a sample of fixed size without replacement",
        neighbours=NEIGHBOURS,
        spelt="fixed without_replacement sampled_without_replacement uniform_without_replacement",
        step=_fixed_size,
    ),
    "shuffled": Scheme(
        assumes="equal batches, shuffled before each epoch; a removed record leaves zeros in its place; lower ends are of the worst case",
        neighbours=NEIGHBOURS,
        spelt="shuffle random_sampler randomsampler epoch_shuffle",
        epochs=_shuffled,
    ),
    "random_allocation": Scheme(
        assumes="each record takes part in a single step of each epoch, sampled uniformly and independently of all else",
        neighbours=NEIGHBOURS[:3],
        spelt="balls_in_bins balls_and_bins",
        epochs=_random_allocation,
    ),
}
