"""Shuffled batches, shuffled reports and audits in a single run: bounds of what they show, and how often an audit errs."""

import math

import numpy as np
import scipy
from scipy.special import log_ndtr, ndtr

import mipsim as mi
from mipsim.referee import Number, Replication
from mipsim.theory.one_run import p_value, refuses_gdp
from verify.field.laws.gaussian_accounting import composed_epsilon


def poisson_epsilon(sigma: float, steps: int, delta: float) -> float:
    """What a certified accountant says of `steps` Poisson samples of rate 1/steps: an upper bound on epsilon."""
    result = composed_epsilon(sigma, 1.0 / steps, steps, math.log10(delta))
    return result.value + result.error


def shuffled_epsilon(sigma: float, steps: int, delta: float) -> float:
    """A lower bound on epsilon of a single epoch of shuffled batches, by a single event.

    A record of gradient 1 stands among records of gradient -1, or is zeroed out. But for a known shift the batches' sums are then
    normal around 2 e_t, or e_t, with t uniform. The event is that the largest sum exceeds c; any c gives a bound.

    Source: Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha, Zhang (2024).

    >>> round(shuffled_epsilon(0.8, 1000, 1e-5), 2), round(shuffled_epsilon(0.5, 1000, 1e-5), 2)
    (5.24, 10.0)
    """
    c = np.linspace(0.0, 4.0 + 8.0 * sigma, 4001)
    others = (steps - 1) * log_ndtr(c / sigma)
    with np.errstate(divide="ignore", invalid="ignore"):
        likely = -np.expm1(log_ndtr((c - 2.0) / sigma) + others)
        unlikely = -np.expm1(log_ndtr((c - 1.0) / sigma) + others)
        result = np.where(likely > delta, np.log(likely - delta) - np.log(unlikely), -math.inf)
    return float(np.nanmax(result))


def by_tails(sigma: float, steps: int, delta: float) -> Replication:
    """The event of a single c by complementary error functions: with the record its own batch alone, without it the union bound."""
    c = 2.0 + 4.0 * sigma

    def beyond(mean: float) -> float:
        return 0.5 * math.erfc((c - mean) / sigma / math.sqrt(2.0))

    value = math.log((beyond(2.0) - delta) / (beyond(1.0) + (steps - 1) * beyond(0.0)))
    how = "math.erfc, the record's own batch alone, and without the record the union bound"
    what = f"epsilon of the event that the noisy sum of some batch is more than {c:g} above that of a batch of -1s"
    return Replication(value, value - 1e-9, math.inf, what, how)


_TAIL = 1e-16
"""Counts beyond this probability on either side are added to delta in full."""


def amplified(n: int, local: float, log10_delta: float) -> float:
    """The epsilon of the closed form."""
    log_term = math.log(4.0) - log10_delta * math.log(10.0)
    share = math.expm1(local) / (math.exp(local) + 1.0)
    inner = 8.0 * math.sqrt(math.exp(local) * log_term / n) + 8.0 * math.exp(local) / n
    return math.log1p(share * inner)


def shuffled_delta(n: int, local: float, log10_delta: float) -> Number:
    """log10 of an upper bound on delta at that epsilon, for n reports of any local randomiser of this epsilon.

    The reports are post-processing of this pair: C ~ Bin(n - 1, e^-local) records are blended with the first, A ~ Bin(C, 1/2) of them
    into its first input; the first itself is counted rightly with probability e^local / (1 + e^local). delta is a finite sum over
    (C, A), and counts C in tails of 1e-16 are taken for delta = 1.

    Source: Feldman, McMillan, Talwar (2021), theorem 3.2.
    """
    epsilon = amplified(n, local, log10_delta)
    blended = math.exp(-local)
    low, high = (
        int(scipy.stats.binom.ppf(_TAIL, n - 1, blended)),
        int(scipy.stats.binom.isf(_TAIL, n - 1, blended)),
    )
    right = math.exp(local) / (1.0 + math.exp(local))
    total = 2.0 * _TAIL
    for c in range(low, high + 1):
        a = np.arange(c + 2)
        stay, move = scipy.stats.binom.pmf(a, c, 0.5), scipy.stats.binom.pmf(a - 1, c, 0.5)
        p, q = right * move + (1.0 - right) * stay, right * stay + (1.0 - right) * move
        total += float(scipy.stats.binom.pmf(c, n - 1, blended)) * float(
            np.maximum(p - math.exp(epsilon) * q, 0.0).sum()
        )
    return Number(math.log10(total), 1e-9, unknown="below", route="enumeration of the counts")


APPROXIMATE, FUNCTIONAL = "by (epsilon, delta)", "by the trade-off curve"


GRANTED = 1e-10
"""What SciPy's binomial tails are granted, absolute."""


def least_refused(
    canaries: int, guesses: int, mu: float, delta: float, significance: float, bound: str
) -> int:
    """The least number of right guesses at which the audit calls the true guarantee of G_mu false; all plus 1 if none."""
    epsilon = float(mi.GaussianTradeOff(mu).epsilon(delta))
    low, high = 0, guesses + 1
    while low < high:
        middle = (low + high) // 2
        if bound == APPROXIMATE:
            refused = p_value(canaries, guesses, middle, epsilon, delta) <= significance
        else:
            refused = refuses_gdp(canaries, guesses, middle, mu, significance)
        low, high = (low, middle) if refused else (middle + 1, high)
    return low


def false_alarms(
    mu: float, canaries: int, threshold: float, delta: float, significance: float, bound: str
) -> Number:
    """The probability that the audit's bound is above the truth.

    The score of a canary is N(0, 1), or N(mu, 1) if it is in; the auditor says "in" above a threshold that was fixed before. Given how
    many guesses he makes (here: as many as are expected), each is right independently.
    """
    out, inside = float(ndtr(-threshold)), float(ndtr(mu - threshold))
    guesses = max(1, round(canaries * (out + inside) / 2.0))
    least = least_refused(canaries, guesses, mu, delta, significance, bound)
    result = float(scipy.stats.binom.sf(least - 1, guesses, inside / (out + inside)))
    return Number(
        result, GRANTED, route="binomial law", detail=f"{guesses} guesses; refused from {least} right ones on"
    )
