"""Exact curves of a single step and of many, of gradients that are not Gaussian, of targets that are sampled, of batches that are."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy
from scipy.special import gammainc, gammaincc, ndtr, ndtri

from mipsim._precision import exact_scope
from mipsim._roots import outer_root
from mipsim._validation import number, whole
from mipsim.exact.gaussian import quadratic_law
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounded import BoundedTradeOff
from mipsim.tradeoff.bounds import CurveBounds, bounds_from_rates
from mipsim.tradeoff.exact_tradeoff import ExactTradeOff
from mipsim.tradeoff.points import polygon
from mipsim.tradeoff.privacy_loss import PrivacyLossDistribution
from mipsim.tradeoff.sampled import SampledTradeOff
from mipsim.tradeoff.stochastic import stochastic_composition

WIDE = 40.0
"""Standard deviations beyond which a normal tail is 0 in float64."""
FAR = 12.0
"""Standard deviations of a sum that are retained: what lies beyond has a mass below 1e-30."""
ROUNDED = 1e-10
"""What SciPy's incomplete gamma functions and binomial sums are granted; they are right to some 1e-13."""
LEAST_WEIGHT = -75.0
"""Logarithm of the binomial weights that are left out: together they are nothing beside rates of 1e-12."""


def polygon_of(out: np.ndarray, inside: np.ndarray) -> SampledTradeOff:
    """The trade-off function of two finite laws: outputs sorted by their ratio, joined by chords.
    `out`: masses of the outputs in the world out, shape (m,), summing to 1 but for tails that were left out; `inside`:
    the same in the world in.

    >>> polygon_of(np.array([0.75, 0.25]), np.array([0.25, 0.75])).beta(0.125)
    0.625
    """
    seen = (out > 0) | (inside > 0)
    out, inside = out[seen], inside[seen]
    with np.errstate(divide="ignore"):
        likeliest = np.argsort(-inside / out, kind="stable")
    return SampledTradeOff.from_points(*polygon(out[likeliest], inside[likeliest], 0.0, 0.0))


class LineTradeOff(AbstractTradeOff):
    """Equation 8 of Leemann et al. at d = 1 by the normal distribution: it reaches n K beyond 1e8, where the chi-square ends.

    The region |x - r delta| <= rho is an interval whose far end is 2 sqrt(r) delta standard deviations away.

    Raises ValueError if r K is below 1600.

    >>> round(LineTradeOff(100.0, 100.0).beta(0.1), 4)
    0.6114
    """

    rows: float  # r > 1
    susceptibility: float  # K = delta^2 with r K >= 1600, so that the far end has no mass in float64

    def __check_init__(self) -> None:
        number("rows", self.rows, 1.0, low_open=True)
        if self.rows * self.susceptibility < WIDE**2:
            raise ValueError(
                f"susceptibility is {self.susceptibility:g}; rows x susceptibility must be at least {WIDE**2:g}"
            )

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        """Proven bounds at logarithms of FPRs."""
        return bounds_from_rates(self._rates, log_fpr, relative=1e-12)

    def _rates(self, fpr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        z = (-ndtri(fpr) * self.rows**0.5 - self.susceptibility**0.5) / (self.rows - 1) ** 0.5
        return ndtr(z), ndtr(-z)


def exponential_curve(n: int, target: float) -> BoundedTradeOff:
    """The likelihood ratio for the sum of n gradients Exponential(1), d = 1, bounded between its 4,000 thresholds.

    The sum is Gamma(n) out and target + Gamma(n - 1) in; the ratio (s - z)^(n-2) / s^(n-1) rises up to s = (n - 1) z
    and falls beyond, so that every test of the ratio accepts an interval.

    `n`: rows, >= 3; `target`: the target's gradient z > 0.

    >>> round(exponential_curve(100, 11.0).beta(0.1), 3)
    0.63
    """
    peak = (n - 1) * target
    first, last = max(target * (1 + 1e-12), n - 9 * n**0.5), min(peak, n + target + 9 * n**0.5)
    low = np.linspace(first, last, 4001, endpoint=False)

    def log_ratio(s: np.ndarray) -> np.ndarray:
        return (n - 2) * np.log1p(-target / s) - np.log(s)

    level = log_ratio(low)
    ends = np.full(low.shape, np.log(peak)), np.full(low.shape, np.log(peak * 1e9))
    far = np.exp(outer_root(lambda log_s, index: level[index] - log_ratio(np.exp(log_s)), *ends))
    alpha = gammaincc(n, low) - gammaincc(n, far)
    beta = gammainc(n - 1, low - target) + gammaincc(n - 1, far - target)
    return between(_through(alpha, beta))


def _through(alpha: np.ndarray, beta: np.ndarray) -> SampledTradeOff:
    """Chords through the rates of tests of the likelihood ratio, (0, 1) and (1, 0) added."""
    known = (alpha > 0.0) & (alpha < 1.0)
    a = np.r_[0.0, alpha[known], 1.0]
    b = np.r_[1.0, np.clip(beta[known], 0.0, 1.0), 0.0]
    return SampledTradeOff.from_points(a, 1.0 - a, b, 1.0 - b)


def between(chords: SampledTradeOff) -> BoundedTradeOff:
    """The convex curve that passes through the corners of a polygon: its chords lie above, and prolonged below.
    `chords`: through tests that are best at their rates, each known to `ROUNDED`.

    >>> [round(float(bound), 4) for bound in between(polygon_of(np.array([0.75, 0.25]), np.array([0.25, 0.75]))).beta_bounds(0.5)]
    [0.0, 0.1667]
    """
    below = PrivacyLossDistribution.below_polygon(chords).tradeoff()
    return BoundedTradeOff(below, chords, rounding=ROUNDED, sideways=ROUNDED)


def lattice_curve(n: int, p: float, target: int) -> SampledTradeOff:
    """Gradients Bernoulli(p), d = 1, a target that is any whole number: Binomial(n) against z + Binomial(n - 1).
    >>> lattice_curve(1, 0.5, 1).beta(0.25)
    0.5
    """
    spread = FAR * (n * p * (1 - p)) ** 0.5
    s = np.arange(max(0, int(n * p - spread)) + min(0, target), int(n * p + spread) + max(0, target) + 2)
    return polygon_of(scipy.stats.binom.pmf(s, n, p), scipy.stats.binom.pmf(s - target, n - 1, p))


@lru_cache(maxsize=16)
def sampled_coins_curve(n: int, own: float) -> AbstractTradeOff:
    """Gradients +-1, each +1 with probability `own`, and a target of the same law, which the attacker sees.
    >>> 1.9e-4 < 1.0 - sampled_coins_curve(100, 0.9).beta(1e-4) < 2.3e-4
    True
    """
    return stochastic_composition([lattice_curve(n, own, target) for target in (1, 0)], [own, 1.0 - own])


def whole_sum(law: np.ndarray, n: int, at: np.ndarray) -> np.ndarray:
    """Masses of the sum of n independent draws from a law on 0, 1, ..., at neighbouring whole numbers, by the fast Fourier transform.

    The logarithm of the characteristic function is that of the centred law, in forms that keep their digits near 1, where n of them
    multiply. What lies outside `at` is added to it, turn by turn.

    `law`: masses of 0, 1, ..., shape (k,), summing to 1; `n`: draws, >= 1; `at`: neighbouring whole numbers, shape (m,).

    >>> whole_sum(np.array([0.5, 0.5]), 2, np.arange(8)).round(12)[:4].tolist()
    [0.25, 0.5, 0.25, 0.0]
    """
    centre = round(float(law @ np.arange(law.size)))
    steps = np.arange(law.size) - centre
    turn = 2.0 * np.pi * np.fft.rfftfreq(at.size)
    # E exp(i turn (X - centre)) - 1, real and imaginary part.
    real, imaginary = (
        -2.0 * np.sin(0.5 * np.outer(turn, steps)) ** 2 @ law,
        np.sin(np.outer(turn, steps)) @ law,
    )
    with np.errstate(divide="ignore"):
        size = 0.5 * np.log1p(np.maximum(2.0 * real + real**2 + imaginary**2, -1.0))
    angle = np.arctan2(imaginary, 1.0 + real)
    result = np.fft.irfft(np.exp(n * size - 1j * n * angle), at.size)
    return np.maximum(result[(at - n * centre) % at.size], 0.0)


def discrete_curve(law: np.ndarray, n: int, target: int) -> SampledTradeOff:
    """Gradients of a law on 0, 1, ..., d = 1, and a target that is any whole number.
    >>> lattice, discrete = (lattice_curve(50, 0.3, 1), discrete_curve(np.array([0.7, 0.3]), 50, 1))
    >>> bool(np.allclose(lattice.beta([0.01, 0.3]), discrete.beta([0.01, 0.3]), atol=1e-12))
    True
    """
    values = np.arange(law.size)
    mean, spread = float(law @ values), FAR * (n * float(law @ values**2 - (law @ values) ** 2)) ** 0.5
    s = np.arange(int(n * mean - spread) - abs(target), int(n * mean + spread) + abs(target) + 2)
    return polygon_of(whole_sum(law, n, s), whole_sum(law, n - 1, s - target))


@lru_cache(maxsize=64)
def random_target_curve(d: int, n: int) -> ExactTradeOff:
    """Gaussian gradients and a target sampled from their law, which the attacker sees: the stochastic composition over K ~ chi2_d.

    The log ratio of (output, target) is d/2 log(n/(n-1)) + T/2 with T a quadratic form of two independent normals in each
    coordinate: T = A / (sqrt n + 1) - B / (sqrt n - 1) out and (A - B) / sqrt n in, A and B independent chi2_d, by the
    eigenvalues (-1 +- sqrt n) / (n - 1) and +-1 / sqrt n. Its characteristic function is inverted with a proven error, which is of no
    use for d < 5, where it dies out slowly (d = 1 at n = 1000: 4e-4).

    `d`: dimension, >= 1; `n`: rows, >= 2.

    >>> round(random_target_curve(650, 500).beta(0.1), 3)
    0.556
    """
    root = whole("n", n, 2) ** 0.5
    signs = np.repeat([1.0, -1.0], d)
    out, inside = signs / (root + signs), signs / root
    with exact_scope():
        return ExactTradeOff(quadratic_law(np.zeros(2), np.zeros((2, 2 * d)), np.stack([out, inside])))


class NoisySumTradeOff(AbstractTradeOff):
    """Gradients +-1, each +1 with probability `own`, and N(0, 1 / shift^2) on their sum; the target lies at +1 or beyond.

    Let g be the law of the noisy sum of the n - 1 others, log-concave as that of a sum of such variables. The ratio
    g(x - target) / E g(x - gradient) rises with the output x, since no gradient exceeds the target, so that thresholds
    are the best tests; their FPR is solved for. The target -1 is the same with signs changed.

    Raises ValueError if target is below 1.

    >>> round(NoisySumTradeOff(1, 0.5, 0.0).beta(0.1), 6)  # that of mu = 1
    0.610856
    """

    n: int  # rows, >= 1
    shift: float  # what a gradient is, in standard deviations of the noise
    own: float = 0.5  # probability of a gradient +1, in [0, 1]
    target: float = 1.0  # the target's gradient, >= 1

    def __check_init__(self) -> None:
        number("target", self.target, 1.0)

    def _cut(self, alpha: np.ndarray) -> np.ndarray:
        return _sum_cut(alpha.tobytes(), self.n, self.shift, self.own)

    def _tail(self, alpha: np.ndarray, side: float) -> np.ndarray:
        weight, place = _sum_terms(self.n - 1, self.shift, self.own, self.target)
        cut = self._cut(alpha.ravel())
        return (ndtr(side * (cut[:, None] - place)) @ weight).reshape(alpha.shape)

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        """Proven bounds at logarithms of FPRs."""
        return bounds_from_rates(self._rates, log_fpr, relative=1e-11)

    def _rates(self, fpr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.minimum(self._tail(fpr, 1.0), 1.0), np.minimum(self._tail(fpr, -1.0), 1.0)

    def is_convex(self) -> bool:
        """True: it is the curve of a best test."""
        return True


@lru_cache(maxsize=64)
def sampled_sum_curve(n: int, shift: float, own: float) -> AbstractTradeOff:
    """The same of a target +-1 of the gradients' own law, which the attacker sees; `own` in (0, 1).
    >>> 1.9e-4 < sampled_sum_curve(10, 1.0, 0.1).beta(0.99) < 2e-4
    True
    """
    shares = [own, 1.0 - own]  # the target -1 is the target +1 with all signs changed
    return (
        NoisySumTradeOff(n, shift)
        if own == 0.5
        else stochastic_composition([NoisySumTradeOff(n, shift, q) for q in shares], shares, points=1 << 12)
    )


@lru_cache(maxsize=64)
def _sum_terms(n: int, shift: float, own: float, certain: float) -> tuple[np.ndarray, np.ndarray]:
    """(weights, places) of the sum of n random gradients and `certain`."""
    k = np.arange(n + 1)
    weight = scipy.stats.binom.logpmf(k, n, own)
    retained = weight > LEAST_WEIGHT
    return np.exp(weight[retained]), shift * (2.0 * k - n + certain)[retained]


@lru_cache(maxsize=128)
def _sum_cut(levels: bytes, n: int, shift: float, own: float) -> np.ndarray:
    """Thresholds with these FPRs (float64); stored for a while, since FNR and TPR are computed at the same thresholds."""
    alpha = np.frombuffer(levels)
    weight, place = _sum_terms(n, shift, own, 0)

    def short_of(cut: np.ndarray, index: np.ndarray) -> np.ndarray:
        return alpha[index] - ndtr(place - cut[:, None]) @ weight

    reach = np.full(alpha.shape, shift * n + WIDE)
    return outer_root(short_of, -reach, reach)
