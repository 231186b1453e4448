"""Steps of Poisson samples of which a largest number of records remains."""

from __future__ import annotations

import numpy as np

from mipsim._validation import number, whole
from mipsim.tradeoff.bounded import BoundedTradeOff
from mipsim.tradeoff.compose import MOST_STEPS, compose
from mipsim.tradeoff.divisors import binomial_near
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.mixture import MixtureTradeOff
from mipsim.tradeoff.noise_multiplier import NOISES, directed
from mipsim.tradeoff.schemes import NEIGHBOURS, proven_neighbours
from mipsim.tradeoff.stochastic import stochastic_composition


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
    way = proven_neighbours(neighbours, NEIGHBOURS[:3], "truncated_poisson")
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
    if not (total := float(above.sum())):
        return 0.0, 0.0, off
    return min(total, 1.0), p * size * float((above / (m[m >= size] + 1.0)).sum()) / total, off
