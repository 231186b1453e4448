"""Steps whose samples have a fixed size, with or without replacement, and what they leak of a group."""

from __future__ import annotations

from fractions import Fraction
from math import comb

from mipsim._validation import flag, number, whole
from mipsim.tradeoff.approx_dp import ApproxDPTradeOff
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.compose import MOST_STEPS, compose
from mipsim.tradeoff.gaussian_mixture import GaussianMixtureTradeOff
from mipsim.tradeoff.noise_multiplier import NOISES, directed
from mipsim.tradeoff.schemes import NEIGHBOURS, proven_neighbours

_RARE = 1e-100  # more of the group in a batch than has this probability counts as revealed


def fixed_samples(
    noise_multiplier: float,
    sample_size: int,
    data_size: int,
    steps: int = 1,
    *,
    replacement: bool = False,
    group: int = 1,
    neighbours: str = "add_or_remove",
) -> AbstractTradeOff:
    """The curve of Gaussian sums of samples of a fixed size, with or without replacement; a group of records is removed or added.

    K places of a sample hold records of the group: a hypergeometric number, or with replacement a binomial number.

    *Removed or added.* Take a sample without the group, and put members of the group into K random places: that is a sample with it. What they displace is
    independent of K, and the sum moves by at most 2 K clipping norms. So the mixture of N(2 K, s^2) against N(0, s^2) dominates
    (`GaussianMixtureTradeOff`). It is reached where all others are opposite to the group.
    *Replaced.* Only of a single record without replacement a pair is proven: `mipsim.dpsgd(..., sampling="fixed_size", neighbours="replace")`.

    Args:
        noise_multiplier: s over the clipping norm, in [1e-3, 1e9].
        sample_size: records in a batch, from 1 to 10^5.
        data_size: records in all, the group among them, up to 10^12.
        steps: with fresh samples, >= 1.
        replacement: whether a record may be in a batch more than once.
        group: records that are removed or added together, from 1 to 16: of more a question takes minutes.
        neighbours: "add_or_remove", "remove" or "add".

    Raises:
        ValueError: if an argument is outside its range, or there are too few records for such a sample.

    Source: that of `mipsim.GaussianMixtureTradeOff`; Lebeda et al. (2024), "Avoiding pitfalls for privacy accounting of subsampled mechanisms under
    composition", on how samples of a fixed size differ from those by coins.

    Examples:
        >>> import mipsim as mi
        >>> ways = fixed_samples(1.0, 10, 100), mi.dpsgd(1.0, 0.1, sampling="fixed_size")
        >>> [round(curve.delta(1.0), 6) for curve in ways]
        [0.019648, 0.019648]
        >>> round(fixed_samples(1.0, 10, 100, replacement=True).delta(1.0), 6)  # a record may be in it twice
        0.020917
    """
    s = number("noise_multiplier", noise_multiplier, *NOISES)
    together, count = whole("group", group, 1, 16), whole("steps", steps, 1, MOST_STEPS)
    other = ", and a single record without replacement by dpsgd"
    way = proven_neighbours(neighbours, NEIGHBOURS[:3], "fixed_samples", other)
    again = flag("replacement", replacement)
    size, n = whole("sample_size", sample_size, 1, 10**5), whole("data_size", data_size, 1, 10**12)
    if n < (least := together + (1 if again else size)):
        raise ValueError(
            f"data_size is {n}; samples of {size} without the group of {together} need at least {least} records"
        )
    shares, rest = _members(size, n, together, again)
    parts = GaussianMixtureTradeOff([2.0 * k for k in range(len(shares))], shares, noise=s)
    beyond = [ApproxDPTradeOff(0.0, rest)] if rest else []
    return directed(compose(parts.simplest(), *beyond, copies=count), way)


def _members(size: int, n: int, group: int, replacement: bool) -> tuple[list[float], float]:
    """Probabilities that 0, 1, 2 and so on records of a group are in a sample, and of all that are rarer together."""
    mass = (
        (1 - Fraction(group, n)) ** size if replacement else Fraction(comb(n - size, group), comb(n, group))
    )
    shares: list[float] = []
    for k in range((size if replacement else min(size, group)) + 1):
        shares.append(float(mass))
        if k >= size * group / n and shares[-1] < _RARE:
            return shares[:-1], 2.0 * shares[-1]
        ratio = Fraction(group, n - group) if replacement else Fraction(group - k, n - group - size + k + 1)
        mass *= ratio * Fraction(size - k, k + 1)
    return shares, 0.0
