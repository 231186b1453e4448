"""Exponential tilting of the law of a record: the same family of laws, moved towards a half-space."""

from __future__ import annotations

from functools import singledispatch

import equinox as eqx
import numpy as np

from mipsim._validation import finite_vector
from mipsim.distributions.base import AbstractDistribution, check_each
from mipsim.distributions.bernoulli import Bernoulli
from mipsim.distributions.discrete import Discrete
from mipsim.distributions.exponential import Exponential
from mipsim.distributions.gaussian import Gaussian

TILTABLE = "Bernoulli, Gaussian, Exponential and Discrete"
"""The laws whose tilted law can be sampled."""


def tilted(data: AbstractDistribution, slope: object) -> tuple[AbstractDistribution, float]:
    """The tilted law of a record and L: dP'/dP(z) = exp(slope . z - L), L = log E exp(slope . z).

    Bernoulli(p) becomes Bernoulli(p e^s / (1 - p + p e^s)); N(mu, C) becomes N(mu + C s, C); an exponential law of
    scale b an exponential law of scale b / (1 - b s), for b s < 1; a discrete law has each probability multiplied by e^(s v).

    Args:
        data: the law of a record in R^d.
        slope: s, shape (d,), in 1 / units of the data.

    Raises:
        ValueError: if the slope has the wrong shape, E exp(slope . z) is infinite, or the tilted law is not at hand.

    Source: Asmussen & Glynn (2007), "Stochastic Simulation", chapter VI.2.

    Examples:
        >>> law, cumulant = tilted(Bernoulli([0.5]), [np.log(3.0)])
        >>> print(law.mean, round(cumulant, 6))  # log 2
        [0.75] 0.693147
    """
    return _tilted(data, finite_vector("slope", slope, data.dimension))


@singledispatch
def _tilted(data: AbstractDistribution, s: np.ndarray) -> tuple[AbstractDistribution, float]:
    raise ValueError(f"data is {type(data).__name__}, whose tilted law is not at hand; it is for {TILTABLE}")


@_tilted.register
def _(data: Bernoulli, s: np.ndarray) -> tuple[AbstractDistribution, float]:
    high, low = np.log(data.p) + s, np.log1p(-data.p)
    total = np.logaddexp(high, low)
    # Float64 has no probability between 1 - 2^-53 and 1; the clip is below its rounding.
    p = np.clip(np.exp(high - total), 1e-300, 1.0 - 2.0**-53)
    return Bernoulli(p), float(total.sum())


@_tilted.register
def _(data: Gaussian, s: np.ndarray) -> tuple[AbstractDistribution, float]:
    shift = data.cov * s if data.is_product else data.cov @ s
    law = eqx.tree_at(lambda g: g.location, data, data.location + shift)  # keeps the factor of the covariance
    return law, float(s @ data.location + 0.5 * s @ shift)


@_tilted.register
def _(data: Exponential, s: np.ndarray) -> tuple[AbstractDistribution, float]:
    rest = 1.0 - data.scale * s
    good = rest > 0
    most = 1 / data.scale[int(np.argmin(good))]
    check_each("slope", s, good, f"; it must be below 1 / scale = {most:g}")
    return Exponential(data.scale / rest), float(-np.log(rest).sum())


@_tilted.register
def _(data: Discrete, s: np.ndarray) -> tuple[AbstractDistribution, float]:
    exponent = s[:, None] * data.values
    top = exponent.max(axis=1, keepdims=True)
    masses = data.probabilities * np.exp(exponent - top)
    total = masses.sum(axis=1, keepdims=True)
    return Discrete(data.values, masses / total), float((np.log(total) + top).sum())


def greatest_slope(data: AbstractDistribution, direction: np.ndarray) -> float:
    """The supremum of the c >= 0 for which E exp(c direction . z) is finite; inf where all are.

    Examples:
        >>> greatest_slope(Exponential([0.5]), np.array([4.0])), greatest_slope(Gaussian([0.0], 1.0), np.ones(1))
        (0.5, inf)
    """
    if not isinstance(data, Exponential):
        return float("inf")
    steepest = float((data.scale * direction).max())
    return 1.0 / steepest if steepest > 0 else float("inf")
