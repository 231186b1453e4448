"""The central limit theorem used as an accountant."""

import math

import numpy as np
from scipy.special import ndtr

import mipsim as mi
from mipsim.referee import Bound, Control, Number, Point, Real, Statement, Whole


def limit_epsilon(sigma: float, rate: float, steps: int, log10_delta: float) -> float:
    """Epsilon of G_mu with mu = rate sqrt(steps (exp(1 / sigma^2) - 1)).

    Source: Bu, Dong, Long, Su (2020), section 3.

    Examples:
        >>> round(limit_epsilon(0.5, 0.001, 10_000, -5.0), 2)
        3.06
    """
    mu = rate * math.sqrt(steps * math.expm1(1.0 / sigma**2))
    return float(mi.GaussianTradeOff(mu).epsilon(10.0**log10_delta))


def composed_epsilon(sigma: float, rate: float, steps: int, log10_delta: float) -> Number:
    """The true epsilon of the Poisson-sampled Gaussian steps, of both directions, between certified bounds.

    Raises:
        ValueError: if the composition is not known to that delta in both directions.
    """
    delta = 10.0**log10_delta
    curve = mi.dpsgd(sigma, rate, steps)
    if not isinstance(curve, mi.BoundedTradeOff):
        raise ValueError(f"steps is {steps}; it must be at least 2, whose composition is bounded")
    low, high = _between(curve, delta)
    turned = curve.inverse()
    assert isinstance(turned, mi.BoundedTradeOff)
    if float(turned.delta_bounds(low)[1]) > delta:  # the other direction is not shown to be the smaller one
        high = max(high, _between(turned, delta)[1])
    if not math.isfinite(high):
        raise ValueError(f"log10_delta is {log10_delta:g}; the composition is not known to that delta")
    return Number(0.5 * (low + high), 0.5 * (high - low))


def _between(curve: mi.BoundedTradeOff, delta: float) -> tuple[float, float]:
    """Bounds of epsilon in one direction."""
    ends = ((curve.upper, curve.rounding), (curve.lower, -curve.rounding))
    low, high = (float(side.epsilon(min(max(delta + slack, 0.0), 1.0))) for side, slack in ends)
    return low, high


def by_transform(sigma: float, rate: float, steps: int, log10_delta: float) -> str:
    """Delta at the claimed epsilon: the losses of one step rounded to a grid, their law to the power `steps` by a Fourier transform."""
    epsilon, width, size = limit_epsilon(sigma, rate, steps, log10_delta), 2e-4, 1 << 21
    x = np.linspace(-12.0 * sigma, 1.0 + 12.0 * sigma, 2_000_001)
    loss = np.log1p(rate * np.expm1((2.0 * x[:-1] + np.diff(x) - 1.0) / (2.0 * sigma**2)))
    mass = (1.0 - rate) * np.diff(ndtr(x / sigma)) + rate * np.diff(ndtr((x - 1.0) / sigma))
    one = np.bincount(np.rint(loss / width).astype(int) % size, mass, size)
    law = np.maximum(np.fft.irfft(np.fft.rfft(one) ** steps, size), 0.0)
    total = width * np.fft.fftfreq(size, 1.0 / size)
    found = float((law * np.maximum(-np.expm1(epsilon - total), 0.0)).sum())
    return f"the losses of {steps} steps on a grid, by a Fourier transform: delta = {found:.3g} at the claimed epsilon, {10.0**log10_delta:.3g} was promised"


CENTRAL_LIMIT = Statement(
    name="field-central-limit",
    says="$T$ steps of the Gaussian mechanism on Poisson samples of rate $q$ have at most the $\\varepsilon$ of $G_\\mu$ with "
    "$\\mu = q \\sqrt{T (e^{1/\\sigma^2} - 1)}$: the limit for $q \\sqrt{T}$ fixed, used at finite $T$.",
    source="Bu, Dong, Long and Su (2020), section 3, where it is a limit",
    kind=Bound(unit="epsilon"),
    domain={
        "sigma": Real(0.4, 4.0, log=True),
        "rate": Real(1e-3, 0.05, log=True),
        "steps": Whole(10, 10_000, log=True),
        "log10_delta": Real(-7.0, -3.0),
    },
    claimed=limit_epsilon,
    truth=composed_epsilon,
    second_route=by_transform,
    points=(
        Point({"sigma": 0.5, "rate": 0.001, "steps": 10_000, "log10_delta": -5.0}, "sigma .5, q .001, T 1e4"),
    ),
    control=Control({"sigma": 0.5, "rate": 0.001, "steps": 10_000, "log10_delta": -5.0}, attained=True),
)

STATEMENTS = (CENTRAL_LIMIT,)
