"""Discrete Gaussian noise around another mechanism."""

import equinox as eqx
import numpy as np

from mipsim._validation import number
from mipsim.distributions.discrete import Discrete
from mipsim.mechanisms.base import AbstractMechanism
from mipsim.mechanisms.function import as_base
from mipsim.mechanisms.noise import AbstractIndependentNoise
from mipsim.mechanisms.release import NoiseLaw

_LEAST = 0.03  # steps: below, exp(-1 / (2 deviation^2)) nears the least float64
_MOST = 1e4  # steps: above, the table has more than 180,000 values
_REACH = 9.0  # deviations: by Chernoff's bound 2 exp(-9^2 / 2) < 6e-18 lies beyond, which `error` counts
# Of the probabilities together: an exponent right to 4 units, an exponential, two sums by pairs of 2^18 terms.
_ROUNDING = 2.0**-46


class DiscreteGaussianNoise(AbstractIndependentNoise):
    """base + step times independent discrete Gaussians: P(K = k) proportional to exp(-k^2 / (2 deviation^2)) on the integers.

    Args:
        base: the mechanism whose output is made noisy, or a function `(key, records) -> output`.
        deviation: about the standard deviation of K, which it bounds, in steps, in [0.03, 10000].
        step: > 0, in the units of the output: 1/n where the sum of n whole numbers is to stay on the integers.

    Source: Canonne, Kamath, Steinke (2020), "The discrete Gaussian for differential privacy", definition 1 and its
    sub-Gaussian tail.

    Examples:
        >>> import jax, mipsim as mi
        >>> noisy = DiscreteGaussianNoise(mi.EmpiricalMean(), deviation=2.0, step=0.25)
        >>> output = noisy.release(jax.random.key(0), np.ones((4, 3)))
        >>> bool((4 * output == np.round(4 * output)).all())
        True
    """

    base: AbstractMechanism = eqx.field(converter=as_base)
    deviation: float = eqx.field(static=True)
    step: float = eqx.field(static=True)

    def __check_init__(self) -> None:
        number("deviation", self.deviation, _LEAST, _MOST)
        number("step", self.step, 0.0, low_open=True)

    @property
    def noise_law(self) -> NoiseLaw:
        most = int(np.ceil(_REACH * self.deviation))
        k = np.arange(-most, most + 1.0)
        weight = np.exp(-0.5 * (k / self.deviation) ** 2)
        beyond = 2.0 * np.exp(-0.5 * ((most + 1.0) / self.deviation) ** 2)
        return NoiseLaw(Discrete(k, weight / weight.sum()), self.step, float(beyond) + _ROUNDING)
