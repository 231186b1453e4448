"""Tables of terms by a fast Fourier transform: a second route to those of laws with a density, right to about 1e-8."""

from collections.abc import Callable

import numpy as np

from verify.azize.laws.terms import Terms


def density_terms(
    n: int,
    characteristic: Callable[[np.ndarray], np.ndarray],
    mean: float,
    variance: float,
    z: float,
    count: int,
    noise_variance: float = 0.0,
    points: int = 4096,
    reach: float = 16.0,
) -> Terms:
    """Data with a known characteristic function u -> E exp(i u (Z - mean)) of a coordinate: the sum's density on a grid.

    Of n rows; z is the target's value at each of `count` such coordinates, N(0, n noise_variance) is added to the sum, and the grid reaches
    so many standard deviations of the sum. Both densities are trapezoid sums of the same transform, so their aliasing errors are alike; points whose density
    is below 1e-13 of its maximum carry a ratio clipped to +-60, and together hold less than 1e-9 of the probability.
    """
    spread = np.sqrt(n * (variance + noise_variance))
    step = 2 * reach * spread / points
    grid = (np.arange(points) - points // 2) * step  # of the centred sum
    u = 2 * np.pi * np.fft.fftfreq(points, step)
    noise = np.exp(-0.5 * n * noise_variance * u**2)
    item = characteristic(u)
    out = _density(item**n * noise, step)
    inside = _density(item ** (n - 1) * noise * np.exp(1j * u * (z - mean)), step)
    floor = 1e-13 * out.max()
    ratio = np.where(
        (out > floor) | (inside > floor),
        np.log(np.maximum(inside, floor * 1e-3) / np.maximum(out, floor * 1e-3)),
        0.0,
    )
    out, inside = np.maximum(out, 0.0) * step, np.maximum(inside, 0.0) * step
    t = (z - mean) / np.sqrt(variance + noise_variance)
    return Terms(out / out.sum(), inside / inside.sum(), ratio, count, float(t), grid / spread, n)


def _density(transform: np.ndarray, step: float) -> np.ndarray:
    values = np.fft.fftshift(np.fft.fft(transform)).real
    return values / (values.shape[0] * step)
