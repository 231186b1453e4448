"""What tools compute that cannot be installed here, written anew from the formulas of their public sources."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float
from scipy.special import betaincinv
from scipy.stats import chi2

Numbers = Float[np.ndarray, " n"]


def best_of_all_guesses(
    inside: Numbers, outside: Numbers, p_value: float = 0.05, fixed: float = 0.0
) -> float:
    """Epsilon of a single run, at the best numbers of guesses: the largest bound over a grid of (lowest "out", highest "in").

    Each bound is Clopper and Pearson's for the share of right guesses at the full p-value; delta is 0.

    `inside`: scores of canaries that were put in; `outside`: scores of the others; `fixed`: the share that is guessed
    "in", and as many "out", if that is fixed before; 0 for the best.

    Source: ml_privacy_meter, `compute_abstain_attack_results` in audit.py.

    >>> round(best_of_all_guesses(np.arange(50.0) + 100, np.arange(50.0)), 2)
    3.39
    """
    scores = np.concatenate([inside, outside])
    member = (np.arange(scores.size) < inside.size)[np.argsort(scores)]
    size, step = scores.size, max(1, int(math.sqrt(scores.size)))
    ends = np.arange(0, size, step)
    low, high = (item.ravel() for item in np.meshgrid(ends, ends))
    low, high = low[low < high], high[low < high]
    if fixed:
        low, high = np.array([int(fixed * size)]), np.array([size - int(fixed * size)])
    ins = np.concatenate([[0], np.cumsum(member)])
    right = (low - ins[low]) + (ins[-1] - ins[high])
    guesses = low + size - high
    share = np.where(right > 0, betaincinv(np.maximum(right, 1), guesses - right + 1.0, p_value), 0.0)
    best = float(share.max())
    return max(0.0, math.log(best) - math.log1p(-best)) if best > 0.0 else 0.0


def tpr_at_fpr(inside: Numbers, outside: Numbers, fpr: float) -> float:
    """The largest share of members above a threshold that at most a share `fpr` of the others passes, on the same scores.
    `outside`: scores of non-members; `fpr`: in [0, 1].

    Source: LeakPro, `_get_result_fixed_fpr` in leakpro/reporting/mia_result.py; ml_privacy_meter, `get_audit_results` in audit.py.

    >>> tpr_at_fpr(np.array([1.0, 3.0]), np.array([0.0, 2.0]), 0.0)
    0.5
    """
    allowed = math.floor(fpr * outside.size + 1e-9)
    threshold = np.sort(outside)[::-1][allowed] if allowed < outside.size else -math.inf
    return float(np.mean(inside > threshold))


def hockey_stick(first: Numbers, second: Numbers, epsilon: float, cut: float, failure: float) -> float:
    """A lower bound on delta by the accuracy of a classifier, less Hoeffding's error.
    `first`: outputs on the first data set, those that the classifier calls so are above `cut`; `second`: outputs on its
    neighbour; `epsilon`: of the promise, >= 0; `cut`: of the classifier, fixed before; `failure`: the probability that
    the bound does not hold.

    Source: DP-Auditorium, `_compute_divergence_on_samples` in testers/hockey_stick_tester.py.

    >>> hockey_stick(np.ones(1000), np.zeros(1000), 0.0, 0.5, 0.05) > 0.9
    True
    """
    share = 1.0 / (math.exp(epsilon) + 1.0)
    ones, twos = first[: int(share * first.size)], second[int(share * second.size) :]
    accuracy = (np.sum(ones > cut) + np.sum(twos <= cut)) / (ones.size + twos.size)
    error = math.sqrt(math.log(1.0 / failure) / (2.0 * min(first.size, second.size)))
    return float((accuracy - error) * (1.0 + math.exp(epsilon)) - math.exp(epsilon))


def histogram(first: Numbers, second: Numbers, epsilon: float, failure: float, cells: int = 20) -> float:
    """A lower bound on delta by the excesses of all cells of a histogram on [-5, 6], less an error for their selection.
    `first`: outputs on the first data set; `second`: outputs on its neighbour; `epsilon`: of the promise, >= 0;
    `failure`: the probability that the bound does not hold; `cells`: how many.

    Source: DP-Auditorium, `HistogramTester.estimate_lower_bound` in testers/histogram_tester.py.

    >>> histogram(np.ones(10**6), np.zeros(10**6), 0.0, 0.05) > 0.9
    True
    """
    p, q = (np.histogram(np.clip(x, -5.0, 6.0), cells, (-5.0, 6.0))[0] / x.size for x in (first, second))
    size, grown = min(first.size, second.size), math.exp(epsilon)
    spread = 2.0 / math.sqrt(size) * float(np.sqrt(p).sum() + grown * np.sqrt(q).sum())
    error = spread + 6.0 * (1.0 + grown) * math.sqrt(math.log(4.0 / failure) / (2.0 * size))
    return float(np.maximum(p - grown * q, 0.0).sum()) - error


def normalised_noise(records: int, rate: float, sigma: float, dimension: int) -> float:
    """A lower bound on epsilon at delta = 1e-5 of a single step of DP-SGD whose noise is divided by floor(rate * records).

    A record fewer makes the divisor smaller by 1, and so the noise larger in every coordinate: of records with gradient 0 the squared
    norm of the output is a scaled chi-square variable in both worlds.

    `records`: n, with floor(rate n) > floor(rate (n - 1)) >= 1; `rate`: of the Poisson samples; `sigma`: noise
    multiplier; the bound does not depend on it; `dimension`: of the gradient.

    >>> round(normalised_noise(1000, 0.01, 1.0, 1000), 1)
    11.2
    """
    with_it, without = (math.floor(rate * n + 1e-9) for n in (records, records - 1))
    fpr = 1e-5
    threshold = chi2.isf(fpr, dimension) * (sigma / with_it) ** 2
    tpr = chi2.sf(threshold / (sigma / without) ** 2, dimension)
    return math.log((tpr - 1e-5) / fpr)
