"""Compositions in high precision without a grid of losses.

`Transformed`: with M(z) = E_out e^(z L) of a single step, the transforms of the sum of n losses are integrals along a vertical line,

    E_out(e^L - e^s)_+ = e^s / (2 pi i) * integral of e^(-s z) M(z)^n / (z (z - 1)) dz   for Re z > 1,

and the same integral is E_out(e^s - e^L)_+ for Re z < 0 (the pay-offs' own transforms; Fourier inversion). Through the saddle point, where
the integrand is largest, nothing cancels, so that a delta of 1e-300 has as many digits as a delta of 0.1.
"""

# mpmath says little of its types.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false, reportOperatorIssue=false
# pyright: reportIncompatibleMethodOverride=false, reportCallIssue=false, reportIncompatibleVariableOverride=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from .truth import Truth, mp, mpf

LogMoment = Callable[[np.ndarray], np.ndarray]
Wide = np.clongdouble
FLOAT = np.longdouble
PI = 4 * np.arctan(FLOAT(1))


def subsampled_gaussian(mu: float, p: float, edges: Sequence[float] = (), part: int = 0) -> LogMoment:
    """log M(z) of N(0, 1) against p N(mu, 1) + (1 - p) N(0, 1), by trapezoids in the output; or of a single part between rising edges.

    The parts add up to M: an output x passes each edge with the probability Phi(2 (x - edge)), which is smooth, until an edge stops it.
    """
    m, q = FLOAT(mu), FLOAT(p)

    def log_moment(z: np.ndarray) -> np.ndarray:
        if z.size > 64:  # a slow part of the line needs few places
            return np.concatenate([log_moment(part) for part in np.array_split(z, -(-z.size // 64))])
        shift = float(z[0].real) * mu  # the tilted output lies between 0 and there
        turns = float(np.abs(z.imag).max(initial=0.0)) * mu  # radians a unit of the output
        step = 2.0 ** np.floor(np.log2(min(0.125, 0.2 / max(mu, 1e-9), 2.0 / (turns + 1e-9))))
        if step < 1e-3:
            raise ArithmeticError(f"the moments at {z[-1]} turn too fast")
        most = max(shift, 0.0, edges[part - 1] if part else 0.0)
        x = np.arange(np.floor(min(shift, 0.0)) - 12.0, most + 12.0, step).astype(FLOAT)
        # log(1 - p + p e^y), whichever of both is larger
        y = m * x - m * m / 2 + np.log(q)
        loss = np.log1p(np.expm1(y - np.log(q)) * q) if p < 1.0 else y
        weight = -x * x / 2 - np.log(2 * PI) / 2 + np.log(FLOAT(step))
        for k, edge in enumerate(edges[: part + 1]):
            weight += log_ndtr(((2.0 if k < part else -2.0) * (x - edge)).astype(np.float64))
        real = z[0].real * loss + weight
        top, tilted = real.max(), np.exp(real - real.max())
        keep = tilted > 1e-22
        loss, tilted = loss[keep], tilted[keep]
        out = np.empty(z.shape, Wide)
        for i, at in enumerate(z):  # all on the same vertical line
            out[i] = top + np.log((tilted * np.exp(1j * (at.imag * loss))).sum())
        return out

    return log_moment


def gaussian(mu: float) -> LogMoment:
    m = FLOAT(mu)
    return lambda z: m * m / 2 * z * (z - 1)


class Saddle(NamedTuple):
    """Where the line of an integral crosses the real axis: place, distance to the nearest pole, log of the integrand there."""

    c: FLOAT
    distance: FLOAT
    top: FLOAT


def saddle(log_moment: LogMoment, s: FLOAT, side: int, poles: tuple[int, ...]) -> Saddle:
    """Of e^(-s z) M(z) / prod(z - pole), left (-1) or right (1) of all poles."""

    def place(w: float) -> FLOAT:  # w: log of the distance to the nearest pole
        return FLOAT(max(poles) + np.exp(w)) if side > 0 else FLOAT(min(poles) - np.exp(w))

    def height(w: float) -> FLOAT:
        c = place(w)
        return log_moment(np.array([c], Wide))[0].real - s * c - sum(np.log(abs(c - pole)) for pole in poles)

    low, high = -12.0, 8.0
    for _ in range(60):
        x, y = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, y) if height(x) < height(y) else (x, high)
    w = 0.5 * (low + high)
    return Saddle(place(w), FLOAT(np.exp(w)), height(w))


def on_a_line(
    log_moment: LogMoment, s: FLOAT, poles: tuple[int, ...], at: Saddle, most_halvings: int = 11
) -> mpf:
    """1 / (2 pi i) times the integral of e^(-s z) M(z) / prod(z - pole) along the vertical line through a saddle."""
    c, distance, top = at

    def terms(u: np.ndarray) -> np.ndarray:
        z = c + 1j * distance * np.sinh(u.astype(FLOAT))
        with np.errstate(divide="ignore", invalid="ignore"):
            value = log_moment(z.astype(Wide)) - s * z - top
        for pole in poles:
            value = value - np.log((z - pole).astype(Wide))
        return np.nan_to_num((np.exp(value) * distance * np.cosh(u)).real)  # log 0 is no number

    # Half of the line by symmetry; trapezoids in u = asinh(t / distance) until two of them agree. Where few steps make most of
    # the sum, the integrand turns many times under a narrow peak: there hundreds of points are needed.
    step, end = 0.25, 2.0
    while np.abs(terms(np.linspace(end - 1.0, end, 48))).max() > 1e-16 and end < 10.0:
        end += 1.0
    total = (terms(np.arange(step, end, step)).sum() + terms(np.zeros(1))[0] / 2) * FLOAT(step) / PI
    last = total
    for _ in range(most_halvings):
        between = terms(np.arange(step / 2, end, step))
        last, total, step = total, (total + between.sum() * FLOAT(step) / PI) / 2, step / 2
        if abs(total - last) <= 1e-11 * abs(total):
            # Of terms that are right to 1e-16 their sum is right to 1e-10 or better.
            if abs(total) < 1e-6 * np.abs(between).sum() * step:
                break
            return mpf(np.format_float_scientific(abs(total), unique=True)) * mp.exp(_exactly(top))
    raise ArithmeticError(f"the integral at {float(s):g} has not settled: {total!r} after {last!r}")


class Transformed(Truth):
    """The product of independent experiments, each given by log M(z) and how often it is repeated."""

    slack, rounding = mpf("1e-10"), mpf("1e-310")

    def __init__(self, steps: Sequence[tuple[LogMoment, int]]) -> None:
        self.steps = list(steps)
        self.known: dict[tuple[str, float], mpf] = {}

    def _log_moment(self, z: np.ndarray) -> np.ndarray:
        total = np.zeros(z.shape, Wide)
        for log_moment, count in self.steps:
            total = total + count * log_moment(z)
        return total

    def _integral(self, s: FLOAT, side: int, poles: tuple[int, ...]) -> mpf:
        return on_a_line(self._log_moment, s, poles, saddle(self._log_moment, s, side, poles))

    def _cached(self, key: str, s: object, side: int, poles: tuple[int, ...]) -> mpf:
        at = float(s)  # a float: requests are made at floats
        if (key, at) not in self.known:
            self.known[key, at] = self._integral(FLOAT(at), side, poles)
        return self.known[key, at]

    def hockey(self, s: mpf) -> mpf:
        return self._cached("hockey", s, 1, (0, 1)) * mp.exp(float(s))

    def put(self, s: mpf) -> mpf:
        return self._cached("put", s, -1, (0, 1)) * mp.exp(float(s))


class SubsampledSteps(Transformed):
    """`steps` products of the sub-sampled Gaussian, also where the loss of a few steps makes the sum.

    There the logarithm of the tail is not concave, so that no vertical line is without cancellation. With M = a + b, the parts
    below and above an edge of the output, M^n is the sum over k of binomial(n, k) a^(n - k) b^k. Each term, that of k steps
    above the edge, is a positive measure with a saddle of its own; likewise with several edges.
    """

    def __init__(self, mu: float, p: float, steps: int) -> None:
        super().__init__([(subsampled_gaussian(mu, p), steps)])
        self.mu, self.p, self.count = mu, p, steps

    def _integral(self, s: FLOAT, side: int, poles: tuple[int, ...]) -> mpf:
        valley = self._valley(s) if side > 0 else None
        if valley is None:
            return super()._integral(s, side, poles)
        # The sum is the same for all edges; not for all do its terms settle.
        for edges in ([0.8], [0.65], [0.5], [0.4, 0.55, 0.7, 0.85, 1.0, 1.25]):
            try:
                return self._by_parts([share * valley for share in edges], s, side, poles)
            except ArithmeticError:
                continue
        raise ArithmeticError(f"no edges serve for the integral at {float(s):g}")

    def _valley(self, s: FLOAT) -> float | None:
        """The output between the two humps of a step under the tilt whose mean is s / steps; None where there is a single hump."""
        x = np.arange(-12.0, 80.0, 0.05)
        loss = np.log1p(np.expm1(self.mu * x - self.mu**2 / 2) * self.p)

        def density(c: float) -> np.ndarray:
            logs = c * loss - x * x / 2
            return np.exp(logs - logs.max())

        low, high = 0.0, 2.0
        mean = lambda c: float((w := density(c)) @ loss / w.sum())  # noqa: E731
        if float(s) <= self.count * mean(1.0):
            return None
        while self.count * mean(high) < s:
            high *= 1.5
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.count * mean(middle) < s else (low, middle)
        result = density(high)
        humps = np.flatnonzero((result[1:-1] > result[:-2]) & (result[1:-1] >= result[2:])) + 1
        if humps.size < 2:
            return None
        return float(x[humps[0] + np.argmin(result[humps[0] : humps[-1]])])

    def _by_parts(self, edges: Sequence[float], s: FLOAT, side: int, poles: tuple[int, ...]) -> mpf:
        """The sum over how many steps are in each part; terms that matter more first."""
        parts = [subsampled_gaussian(self.mu, self.p, edges, k) for k in range(len(edges) + 1)]
        terms: list[tuple[mpf, LogMoment, Saddle]] = []
        known: dict[int, mpf] = {}
        total = mpf(0)
        for among in range(self.count + 1):  # steps above the lowest edge
            most = mpf(0)
            for above in combinations_with_replacement(range(1, len(parts)), among):
                log_moment = counted(parts, [self.count - among, *map(above.count, range(1, len(parts)))])
                at = saddle(log_moment, s, side, poles)
                # Chernoff: a pay-off is at most e^(c (L - s)), at the saddle as anywhere.
                bound = mp.exp(_exactly(at.top)) * mp.fprod(abs(mpf(float(at.c - pole))) for pole in poles)
                terms.append((bound, log_moment, at))
                most = max(most, bound)
            total = mpf(0)
            for k in sorted(range(len(terms)), key=lambda k: -terms[k][0]):
                bound, log_moment, at = terms[k]
                if bound > 1e-13 * total:
                    if k not in known:
                        known[k] = on_a_line(log_moment, s, poles, at, 8)
                    total += known[k]
            if among and most < 1e-13 * total:
                return total
        return total


def counted(parts: Sequence[LogMoment], counts: Sequence[int]) -> LogMoment:
    """log of the multinomial coefficient times the product of the powers of the parts."""
    ways = mp.loggamma(sum(counts) + 1) - mp.fsum(mp.loggamma(count + 1) for count in counts)
    log_ways = FLOAT(mp.nstr(ways, 30))
    used = [(part, count) for part, count in zip(parts, counts, strict=True) if count]
    return lambda z: log_ways + sum(count * part(z) for part, count in used)


def _exactly(value: FLOAT) -> mpf:
    high = float(value)
    return mpf(high) + mpf(float(value - FLOAT(high)))
