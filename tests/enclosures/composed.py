"""Compositions in high precision without a grid of losses.

`Transformed`: with M(z) = E_out e^(z L) of one step, the transforms of the sum of n losses are integrals along a vertical line,

    E_out(e^L - e^s)_+ = e^s / (2 pi i) * integral of e^(-s z) M(z)^n / (z (z - 1)) dz   for Re z > 1,

and the same integral is E_out(e^s - e^L)_+ for Re z < 0 (the pay-offs' own transforms; Fourier inversion). Through the saddle point, where
the integrand is largest, nothing cancels, so that a delta of 1e-300 has as many digits as one of .1. `LaplaceSum` is exact: under the
measure half-way between the worlds a loss of the Laplace mechanism is uniform but for two atoms, and a sum of uniforms is a spline.
"""

# mpmath says little of its types.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false, reportOperatorIssue=false
# pyright: reportIncompatibleMethodOverride=false, reportCallIssue=false, reportIncompatibleVariableOverride=false

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .truth import Rate, Truth, mp, mpf

LogMoment = Callable[[np.ndarray], np.ndarray]
Wide = np.clongdouble
FLOAT = np.longdouble
PI = 4 * np.arctan(FLOAT(1))


def subsampled_gaussian(mu: float, p: float) -> LogMoment:
    """log M(z) of N(0, 1) against p N(mu, 1) + (1 - p) N(0, 1), by trapezoids in the output."""
    m, q = FLOAT(mu), FLOAT(p)

    def log_moment(z: np.ndarray) -> np.ndarray:
        shift = float(z[0].real) * mu  # the tilted output lies between 0 and there
        turns = float(np.abs(z.imag).max()) * mu  # radians a unit of the output
        step = 2.0 ** np.floor(np.log2(min(0.125, 0.2 / max(mu, 1e-9), 2.0 / (turns + 1e-9))))
        if step < 1e-3:
            raise ArithmeticError(f"the moments at {z[-1]} turn too fast")
        x = np.arange(np.floor(min(shift, 0.0)) - 12.0, max(shift, 0.0) + 12.0, step).astype(FLOAT)
        # log(1 - p + p e^y), whichever of both is larger
        y = m * x - m * m / 2 + np.log(q)
        loss = np.log1p(np.expm1(y - np.log(q)) * q) if p < 1.0 else y
        weight = -x * x / 2 - np.log(2 * PI) / 2 + np.log(FLOAT(step))
        real = z[0].real * loss + weight
        top, tilted = real.max(), np.exp(real - real.max())
        keep = tilted > 1e-22
        loss, tilted = loss[keep], tilted[keep]
        out = np.empty(z.shape, Wide)
        for i, at in enumerate(z):  # all on one vertical line
            out[i] = top + np.log((tilted * np.exp(1j * (at.imag * loss))).sum())
        return out

    return log_moment


def gaussian(mu: float) -> LogMoment:
    m = FLOAT(mu)
    return lambda z: m * m / 2 * z * (z - 1)


def two_coins(out: float, inside: float) -> LogMoment:
    """A coin with P(head) = `out` or `inside`."""
    o, i = FLOAT(out), FLOAT(inside)
    return lambda z: np.log(
        o * np.exp(z * np.log(i / o)) + (1 - o) * np.exp(z * (np.log1p(-i) - np.log1p(-o)))
    )


class Transformed(Truth):
    """The product of independent experiments, each given by log M(z) and how often it is repeated."""

    slack = mpf("1e-10")

    def __init__(self, steps: Sequence[tuple[LogMoment, int]]) -> None:
        self.steps = list(steps)
        self.known: dict[tuple[str, float], mpf] = {}

    def _log_moment(self, z: np.ndarray) -> np.ndarray:
        total = np.zeros(z.shape, Wide)
        for log_moment, count in self.steps:
            total = total + count * log_moment(z)
        return total

    def _integral(self, s: FLOAT, side: int, poles: tuple[int, ...]) -> mpf:
        """1 / (2 pi i) times the integral of e^(-s z) M(z) / prod(z - pole), left (-1) or right (1) of all poles."""

        def height(w: float) -> float:  # w: log of the distance to the nearest pole
            c = FLOAT(max(poles) + np.exp(w)) if side > 0 else FLOAT(min(poles) - np.exp(w))
            z = np.array([c], Wide)
            value = self._log_moment(z)[0].real - s * c - sum(np.log(abs(c - pole)) for pole in poles)
            return float(value)

        low, high = -12.0, 8.0
        for _ in range(60):
            x, y = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, y) if height(x) < height(y) else (x, high)
        distance = FLOAT(np.exp(0.5 * (low + high)))
        c = max(poles) + distance if side > 0 else min(poles) - distance
        top = FLOAT(height(0.5 * (low + high)))

        def terms(u: np.ndarray) -> np.ndarray:
            z = c + 1j * distance * np.sinh(u.astype(FLOAT))
            with np.errstate(divide="ignore", invalid="ignore"):
                value = self._log_moment(z.astype(Wide)) - s * z - top
            for pole in poles:
                value = value - np.log((z - pole).astype(Wide))
            return np.nan_to_num((np.exp(value) * distance * np.cosh(u)).real)  # log 0 is no number

        # Half of the line by symmetry; trapezoids in u = asinh(t / distance) until two of them agree.
        step, last, end = 0.25, FLOAT(np.nan), 4.0
        while np.abs(terms(np.linspace(end - 1.0, end, 24))).max() > 1e-16 and end < 10.0:
            end += 1.0
        total = FLOAT(0.0)
        for _ in range(8):
            u = np.arange(0.0, end + step, step)
            values = terms(u)
            total = (values.sum() - values[0] / 2) * FLOAT(step) / PI
            if abs(total - last) <= 1e-11 * abs(total):
                break
            last, step = total, step / 2
        else:
            raise ArithmeticError(f"the integral at {float(s):g} has not settled: {total!r} after {last!r}")
        return mpf(np.format_float_scientific(abs(total), unique=True)) * mp.exp(_exactly(top))

    def _cached(self, key: str, s: object, side: int, poles: tuple[int, ...]) -> mpf:
        at = float(s)  # a float: what is asked for is asked at floats
        if (key, at) not in self.known:
            self.known[key, at] = self._integral(FLOAT(at), side, poles)
        return self.known[key, at]

    def hockey(self, s: mpf) -> mpf:
        return self._cached("hockey", s, 1, (0, 1)) * mp.exp(float(s))

    def put(self, s: mpf) -> mpf:
        return self._cached("put", s, -1, (0, 1)) * mp.exp(float(s))

    def at_threshold(self, t: float) -> tuple[Rate, Rate]:
        """((FPR, 1 - FPR), (FNR, TPR)) of the test L > t."""
        fpr, tnr = self._cached("fpr", t, 1, (0,)), self._cached("tnr", t, -1, (0,))
        scale = mp.exp(float(t))
        tpr, fnr = self._cached("tpr", t, 1, (1,)) * scale, self._cached("fnr", t, -1, (1,)) * scale
        return (fpr, tnr), (fnr, tpr)


def _exactly(value: FLOAT) -> mpf:
    high = float(value)
    return mpf(high) + mpf(float(value - FLOAT(high)))


class LaplaceSum(Truth):
    """`steps` products of the Laplace mechanism of shift mu."""

    def __init__(self, mu: object, steps: int) -> None:
        self.mu, self.steps = mpf(mu), steps
        # ((1/2)(e^mz + e^-mz) + (e^mz - e^-mz) / 4z)^n = 2^-n sum over m, k of coefficient e^((2k - n) m z) / (2z)^m
        self.terms: list[tuple[int, list[int]]] = []
        for m in range(steps + 1):
            row = [1]
            for j in range(steps):
                sign = -1 if j < m else 1
                row = [
                    (sign * row[k] if k < len(row) else 0) + (row[k - 1] if k else 0)
                    for k in range(len(row) + 1)
                ]
            ways = int(mp.binomial(steps, m))
            self.terms.append((m, [ways * v for v in row]))

    def hockey(self, s: mpf) -> mpf:
        n = self.steps
        if s >= n * self.mu:
            return mpf(0)
        if s <= -n * self.mu:
            return -mp.expm1(s)
        with mp.workdps(60 + 6 * n + 20):
            total = mpf(0)
            for m, row in self.terms:
                for k, coefficient in enumerate(row):
                    end = (2 * k - n) * self.mu
                    if coefficient and end > s:
                        total += coefficient * self._pay_off(m, end, mpf(s)) / mpf(2) ** m
            total *= mp.exp(-n * self.mu / 2) / mpf(2) ** n
        return +total

    @staticmethod
    def _pay_off(m: int, end: mpf, s: mpf) -> mpf:
        """Integral of (end - y)^(m-1) / (m-1)! (e^(y/2) - e^(s - y/2)) over s < y < end."""
        w = end - s
        if m == 0:
            return mp.exp(end / 2) - mp.exp(s - end / 2)
        first = second = mpf(0)
        term = w**m / mp.factorial(m - 1)
        j = 0
        while True:  # sum over j of (-+ w / 2)^j / j! w^m / ((m - 1)! (m + j))
            first += (-1) ** j * term / (m + j)
            second += term / (m + j)
            j += 1
            term *= w / (2 * j)
            if term < mpf(10) ** (-mp.dps) * second:
                break
        return mp.exp(end / 2) * first - mp.exp(s - end / 2) * second

    def put(self, s: mpf) -> mpf:
        return mp.exp(s) * self.hockey(-s)

    @property
    def reversed(self) -> Truth:
        return self
