"""Bounds on a distribution function from finitely many values of its characteristic function."""

import numpy as np

from mipsim.exact.rounding import UNIT, ComplexArray

_TRANSFORM = 16.0  # units of rounding a level of a real FFT: Higham (2002), theorem 24.2, gives 8

OVERSAMPLING = 4
"""Thresholds a node: between two of them the bounds are extended by monotonicity, which widens them by about 1 / 4."""


def tail_bounds(values: ComplexArray, errors: np.ndarray, slack: float) -> tuple[np.ndarray, np.ndarray]:
    """Bounds on P(x_i < S) for a score S on a circle of circumference 1 cut at 0, at x_i = i / M, i = 0 ... M.

    With e(x) = exp(2 pi i x), J(t) = pi t (1 - t) cot(pi t) + t and the saw-tooth psi(x) = x - floor(x) - 1/2, the
    trigonometric polynomial psi*(x) = -sum_{n=1}^N J(n / (N + 1)) sin(2 pi n x) / (pi n) differs from psi(x) by at most
    F(x) / (2 N + 2), F being Fejer's kernel of degree N. The indicator of the arc (a, 1) is 1 - a + psi(x) - psi(x - a), so
    that its expectation lies within (E F(S - a) + E F(S)) / (2 N + 2) of that of the polynomial: nothing is assumed of the
    law, and nothing of its characteristic function beyond N. This is Selberg's majorant and minorant.

    `values`: E[e(n S)] for n = 0 ... N (of a sub-probability, if the first is below 1), shape (N + 1,); `errors`: bounds
    on the errors of these values, shape (N + 1,); `slack`: the score is known up to this, in circumferences. Returns
    (lower, upper) bounds, each of shape (M + 1,), non-increasing, M = 2 OVERSAMPLING times the power of two >= N + 1.

    Source: Vaaler (1985), "Some extremal functions in Fourier analysis", theorem 18.
    """
    degree = values.size - 1
    size = 2 * OVERSAMPLING * 2 ** int(np.ceil(np.log2(degree + 1)))
    n = np.arange(1, degree + 1)
    fraction = n / (degree + 1.0)
    taper = np.pi * fraction * (1.0 - fraction) / np.tan(np.pi * fraction) + fraction
    mass = float(values[0].real)
    wave = np.conj(values[1:])  # a sum over n of w_n e(n a) has to give E f(S - a) for even f
    saw = 1j * taper / (np.pi * n) * wave
    weights = (1.0 - fraction) / (degree + 1.0)  # Fejer's
    fejer: ComplexArray = (weights * wave).astype(complex)
    shift = np.exp(2j * np.pi * n * slack)
    at_cut = mass / (2.0 * degree + 2.0) + float(np.sum(fejer.real))
    saw_cut = float(np.sum((taper / (np.pi * n)) * -values[1:].imag))
    places = np.arange(size + 1) / size
    # Of values of modulus at most 1, in the l2 norm.
    rounding = _TRANSFORM * UNIT * np.log2(size) * np.sqrt(size)
    given = float(np.sum((taper / (np.pi * n)) * errors[1:]) + np.sum(weights * errors[1:]))
    error = 2.0 * given + 2.0 * float(errors[0]) + 4.0 * rounding + 64.0 * UNIT * np.log2(size + 2.0)
    sides = []
    for sign in (-1.0, 1.0):
        # A lower bound is wanted of P(S > x + slack), an upper bound of P(S > x - slack).
        moved = np.conj(shift) if sign < 0 else shift
        # -E psi*(S - a) = sum taper / (pi n) Im(phi_n e(-n a)), and Im(phi e(-n a)) = Re(i conj(phi) e(n a)).
        polynomial = _series(saw * np.conj(moved), size)
        kernel = mass / (2.0 * degree + 2.0) + _series(fejer * np.conj(moved), size)
        middle = mass * (1.0 - (places - sign * slack)) + saw_cut + polynomial
        sides.append(middle + sign * (kernel + at_cut + error))
    most = mass + float(errors[0])
    low = np.maximum.accumulate(np.clip(sides[0], 0.0, most)[::-1])[::-1]
    high = np.minimum.accumulate(np.clip(sides[1], 0.0, most))
    return low, high


def _series(coefficients: ComplexArray, size: int) -> np.ndarray:
    """Re sum_n c_n e(n i / size) for i = 0 ... size."""
    padded = np.zeros(size // 2 + 1, complex)
    padded[1 : coefficients.size + 1] = coefficients
    result = np.fft.irfft(padded, size) * (size / 2.0)
    return np.append(result, result[0])
