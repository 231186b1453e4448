"""The law of a single coordinate's term of an additive score, in the two worlds, as a finite table."""

from dataclasses import dataclass

import numpy as np

from mipsim.exact.binomial import binomial_probabilities, one_trial_less
from mipsim.exact.rounding import EPS

_REACH, _MORE = 12.0, 40.0  # standard deviations and counts at either side of a binomial mean
_BEYOND = 1e-24  # of what lies there: exp(-58) by Bernstein's inequality

Vector = np.ndarray


@dataclass(frozen=True)
class Terms:
    """`count` independent coordinates that share the same law and the same target value.
    `leakage`: t^2 = (z - mean)^2 / (variance + noise variance) of a single coordinate, without unit.
    """

    out: Vector  # probabilities of the possible values of the released column sum when the target is out, shape (m,)
    inside: Vector  # their probabilities when the target is in, shape (m,)
    ratio: Vector  # log(inside / out) as the exact likelihood-ratio attack sees it, shape (m,); -inf and +inf allowed
    count: int  # how many coordinates
    t: float  # (z - mean) / sd of a single coordinate, signed
    deviation: Vector  # (sum - n mean) / sqrt(n (variance + noise variance)), noise included, shape (m,)
    n: int  # rows behind the sum
    # a proven bound on the probability, in either world, that is nowhere in a single coordinate's tables or wrong there
    # by more than `relative`; inf where there is none, and then a law made of them is an estimate and decides nothing
    error: float = np.inf
    relative: float = 0.0  # a proven bound on the relative error of each probability besides

    @property
    def leakage(self) -> float:
        """t^2 of a single coordinate."""
        return self.t**2

    @property
    def covariance_score(self) -> Vector:
        """The term of the covariance score with known moments: t deviation / sqrt(n) - t^2 / (2 n), shape (m,)."""
        return self.t * self.deviation / np.sqrt(self.n) - self.t**2 / (2 * self.n)


def binomial_terms(n: int, p: float, z: int, count: int) -> Terms:
    """Bernoulli(p) data and a target value z in {0, 1}: the sum is Binomial(n, p) or z + Binomial(n - 1, p).

    The ratio is log(s / (n p)) for z = 1 and log((n - s) / (n (1 - p))) for z = 0, by division of the two mass functions.
    The same table serves a law with rationally independent atoms: the sum then reveals how often the target's atom
    occurs, so with p its probability and z = 1 this is the exact law of the likelihood ratio.

    >>> terms = binomial_terms(2, 0.5, 1, 1)
    >>> print(terms.out, terms.inside, terms.ratio.round(3))
    [0.25 0.5  0.25] [0.  0.5 0.5] [ -inf 0.    0.693]
    """
    reach = _REACH * np.sqrt(n * p * (1 - p)) + _MORE
    low, high = max(0, int(n * p - reach)), min(n, int(n * p + reach) + 1)
    every, first = np.array([p]), np.array([float(low)])
    table = binomial_probabilities(n, every, first, high - low + 1)
    s = np.arange(low, min(high + z, n) + 1)
    out, inside = np.zeros(s.size), np.zeros(s.size)
    out[: high - low + 1] = table[0]
    inside[z:] = one_trial_less(table, n, first)[0][: s.size - z]
    with np.errstate(divide="ignore"):
        ratio = np.log(s / (n * p)) if z == 1 else np.log((n - s) / (n * (1 - p)))
    deviation = (s - n * p) / np.sqrt(n * p * (1 - p))
    t = (z - p) / np.sqrt(p * (1 - p))
    # Two counts more, and 14 roundings, for a trial less; what underflows is far below `_BEYOND`.
    relative = EPS * (6.0 * (high - low + 3) + 100.0)
    return Terms(out, inside, ratio, count, t, deviation, n, _BEYOND, relative)
