"""Steps whose batches have a fixed size, or a largest size: with or without replacement, of groups, and truncated Poisson samples."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np

from mipsim._validation import choice, flag, number, whole
from mipsim.tradeoff.approx_dp import ApproxDPTradeOff
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounded import BoundedTradeOff
from mipsim.tradeoff.compose import MOST_STEPS, compose
from mipsim.tradeoff.divisors import binomial_near
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.gaussian_mixture import GaussianMixtureTradeOff
from mipsim.tradeoff.mixture import MixtureTradeOff
from mipsim.tradeoff.noise_multiplier import NOISES, directed
from mipsim.tradeoff.schemes import NEIGHBOURS, UNKNOWN
from mipsim.tradeoff.stochastic import stochastic_composition

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
    way, again = choice("neighbours", neighbours, NEIGHBOURS), flag("replacement", replacement)
    if way == "replace":
        raise ValueError(
            f"neighbours is 'replace'; of fixed_samples proven are remove, add, add_or_remove, and a single record without replacement by dpsgd{UNKNOWN}"
        )
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


def truncated_poisson(
    noise_multiplier: float,
    sampling_rate: float,
    largest: int,
    data_size: int,
    steps: int = 1,
    *,
    neighbours: str = "add_or_remove",
) -> BoundedTradeOff:
    """Bounds of the curve of Gaussian sums of Poisson samples, of which at most `largest` records remain, a random subset of larger samples.

    Let M of the other records be in the sample, B = `largest`. If M < B, the target takes part by its coin, and moves the sum by at most 1 clipping norm. If M >= B,
    the batch without the target is a uniform set of B others, whatever M is; with it, it is in the batch with the probability p B / (M + 1),
    independently of that set, in the place of an other: it moves the sum by at most 2. So an attacker who knows whether M < B sees the mixture of
    rate p and a shift by 1, or that of rate E[p B / (M + 1) | M >= B] and a shift by 2, and no less than without. The other end is that of others
    which are 0. Where a batch in 500 or more is cut, both ends of epsilon are a factor of 2 to 13 apart.

    Args:
        noise_multiplier: s over the clipping norm, in [1e-3, 1e9].
        sampling_rate: p, in (0, 1).
        largest: B, >= 1.
        data_size: records in all, the target among them, from 2 to 10^9.
        steps: with fresh samples, >= 1.
        neighbours: "add_or_remove", "remove" or "add".

    Raises:
        ValueError: if an argument is outside its range.

    Source: Ganesh (2025), arXiv 2508.15089, as dp_accounting 0.6.0 has it, where the second part is that of a record replaced; that of
    `mipsim.GaussianMixtureTradeOff`.

    Examples:
        >>> [round(bound, 2) for bound in truncated_poisson(1.0, 0.01, 20, 1000, 100).epsilon_bounds(1e-5)]
        [0.71, 2.25]
    """
    s = number("noise_multiplier", noise_multiplier, *NOISES)
    p = number("sampling_rate", sampling_rate, 0.0, 1.0, low_open=True, high_open=True)
    size, n = whole("largest", largest, 1, 10**9), whole("data_size", data_size, 2, 10**9)
    count = whole("steps", steps, 1, MOST_STEPS)
    if (way := choice("neighbours", neighbours, NEIGHBOURS)) == "replace":
        raise ValueError(
            f"neighbours is 'replace'; of truncated samples proven are remove, add, add_or_remove{UNKNOWN}"
        )
    beyond, held, off = _truncated(n, p, size)
    full = MixtureTradeOff(GaussianTradeOff.of_noise(1.0, s), p)
    cut = MixtureTradeOff(GaussianTradeOff.of_noise(2.0, s), min(held * (1.0 + off), 1.0))
    most = stochastic_composition([full, cut], [1.0 - beyond, beyond], weights_off=off, points=1 << 13)
    taken = ((1.0 - beyond) * p + beyond * held) * (1.0 - 2.0 * off)
    least = MixtureTradeOff(GaussianTradeOff.of_noise(1.0, s), taken)
    ends = (
        directed(compose(curve, copies=count, accuracy=1e-3, epsilon_accuracy=1e-2), way)
        for curve in (most, least)
    )
    return BoundedTradeOff(*ends)


def _truncated(n: int, p: float, size: int) -> tuple[float, float, float]:
    """P(M >= B) of M others of n - 1 at the rate p, E[p B / (M + 1) | M >= B], and a bound of the relative errors."""
    m, mass, off = binomial_near(n - 1, p, 45.0 * np.sqrt(n * p * (1.0 - p)) + 700.0)
    above = mass[m >= size]
    if not above.size or not (total := float(above.sum())):
        return 0.0, 0.0, off
    return min(total, 1.0), p * size * float((above / (m[m >= size] + 1.0)).sum()) / total, off
