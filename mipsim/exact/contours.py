"""The lines of inversion: where they stand, how fine and how long they are, and what error they leave."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from mipsim._budget import check_budget
from mipsim.exact.rounding import EPS, ComplexArray
from mipsim.exact.transform import AbstractCumulants, Lattice, Tail

_STEPS = (2.5, 0.6, 0.15, 0.04)
"""Standard deviations of the tilted law from point to point, the first that leads anywhere; a line stands at every other point."""
LEAST_LOG = -745.0  # the log of the least positive float64
_DIGITS = 36.0  # aliases are exp(-36) of the wanted tail
_POINTS = 80  # at either side; 40 lines reach tails of exp(-745) of a normal law
_MOST_NODES = 2**14  # of a line that are worth their time, without a lattice
_MOST_CELLS = 2**17  # nodes of a lattice: the whole sum is then without truncation
_NEGLIGIBLE = 1e-17  # a tenth of the rounding of a sum of size 1
CLIP = 1e-9  # covers the rounding of the logarithm of Chernoff's bound


@dataclass(frozen=True)
class Saddlepoints:
    """Real points of the centred cumulants of both worlds, in increasing order; point `zero` is s = 0."""

    points: np.ndarray  # real parts c_i, shape (I,)
    value: np.ndarray  # K_w(c_i), shape (2, I)
    location: np.ndarray  # K_w'(c_i), the centred threshold whose saddlepoint is c_i, shape (2, I)
    sd: np.ndarray  # sqrt of K_out''(c_i), shape (I,)
    zero: int  # the index of c = 0
    # whether the walk was left off at the low and at the high end before the law ended there
    cut: tuple[bool, bool]

    @property
    def chernoff(self) -> np.ndarray:
        """K - c K', the log of Chernoff's bound at each point, shape (2, I)."""
        return self.value - self.points * self.location

    def served(self, u: np.ndarray) -> np.ndarray:
        """Whether the side of centred thresholds has any line."""
        return np.where(u > 0.0, self.zero < self.points.size - 1, self.zero > 0)

    def least_chernoff(self, u: np.ndarray, world: int, lattice: Lattice | None) -> np.ndarray:
        """Log of the least of Chernoff's bounds on the tail beyond centred thresholds, by all points of their side.

        On a lattice the tail is that of the atom which a threshold stands for.
        """
        upper, lower = slice(self.zero, None), slice(0, self.zero + 1)  # s = 0 is of both
        side = u > 0.0
        if lattice is not None:
            u = np.where(side, lattice.atom(u, world, True), lattice.atom(u, world, False))
        bounds = [
            (self.value[world, part] - np.outer(u, self.points[part])).min(axis=1) for part in (upper, lower)
        ]
        return np.where(side, *bounds)

    def line_for(self, u: np.ndarray, world: int) -> np.ndarray:
        """The index of the line that serves centred thresholds: the odd point between two even ones around u.

        Only of thresholds whose side has a line, see `served`.
        """
        side = np.where(u > 0.0, 1, -1)
        i = self.zero
        up, down = self.location[world, i::2], -self.location[world, i::-2]
        # Locations strictly between: 0 .. reach of the first line, and so on; the last line serves what lies beyond.
        above = np.clip(np.searchsorted(up[1:], u), 0, max(0, up.size - 2))
        below = np.clip(np.searchsorted(down[1:], -u), 0, max(0, down.size - 2))
        return i + side * (2 * np.where(side > 0, above, below) + 1)

    def beyond(self, u: np.ndarray, world: int) -> np.ndarray:
        """Which centred thresholds lie beyond an end at which the walk was left off."""
        low, high = self.cut
        ends = self.location[world, [0, -1]]
        return (low & (u < ends[0])) | (high & (u > ends[1]))

    def guess(self, probit: np.ndarray, world: int) -> np.ndarray:
        """A centred threshold with about this normal quantile: x against the signed root of its Chernoff exponent."""
        root = np.sign(self.points) * np.sqrt(np.maximum(-2.0 * self.chernoff[world], 0.0))
        return np.interp(probit, root, self.location[world])

    def spread(self, u: np.ndarray) -> np.ndarray:
        """The tilted standard deviation near centred thresholds."""
        return np.interp(u, self.location[0], self.sd)


class _Sums(NamedTuple):
    """Sums over the nodes of a line: twice the moduli (a bound on a density), what is lost, the terms' sizes, these times t and times |s|^2."""

    density: float
    lost: float
    terms: float
    waves: float
    curvature: float


@dataclass(frozen=True)
class Contour:
    """The line Re s = c: nodes c + i k h with the tilted characteristic functions there."""

    c: float  # real part, not 0
    spacing: float  # h
    log_mgf: np.ndarray  # K_w(c), shape (2,)
    centre: np.ndarray  # K_w'(c), shape (2,)
    phi: ComplexArray  # exp(K_w(c + i k h) - K_w(c) - i k h centre_w), shape (2, T), k >= 0
    kernel: ComplexArray  # 1 / s, or that of a lattice, with the sign of the tail, shape (T,)
    lattice: Lattice | None  # that of the score, if it lies on a lattice
    # rounding of the logarithm of phi at the nodes, shape (T,), as of `log_1_plus`
    lost: Callable[[], np.ndarray]

    def log_tail(self, u: np.ndarray, world: int) -> np.ndarray:
        """Log P(S - mean > u) for c > 0, log P(S - mean <= u) for c < 0."""
        y = self.lattice.atom(u, world, self.c > 0) if self.lattice else u
        # Not by BLAS, whose threads wait for each other longer than such a small sum takes.
        total = np.real(np.einsum("mt,t->m", self._waves(y, world), self._coefficients(world, self.kernel)))
        result = self._log(total * (self.spacing / (2 * np.pi)), y, world)
        return np.minimum(result, self.log_mgf[world] - self.c * y + CLIP)  # Chernoff

    def log_tail_and_density(self, u: np.ndarray, world: int) -> tuple[np.ndarray, np.ndarray]:
        """Log tail and log density of a score without lattice."""
        kernels = self.kernel, np.ones_like(self.kernel)
        waves, terms = self._waves(u, world), np.stack([self._coefficients(world, k) for k in kernels])
        both = np.einsum("mt,kt->mk", waves, terms)
        real = np.real(both) * (self.spacing / (2 * np.pi))
        return self._log(real[:, 0], u, world), self._log(real[:, 1], u, world)

    def curvature(self, u: np.ndarray, world: int) -> np.ndarray:
        """A bound on the second derivative of the sum over the nodes from each centred threshold on, away from the mean.

        Each term is differentiated by itself; the factor exp(K - c u) falls.
        """
        with np.errstate(over="ignore"):
            return self.chernoff(u, world) * self._sums[world].curvature * (1.0 + 1e-9)

    def chernoff(self, u: np.ndarray, world: int) -> np.ndarray:
        """Chernoff's bound at the line's real part, by which every error is scaled."""
        return np.exp(np.minimum(self.log_mgf[world] - self.c * u, 700.0))

    def errors(
        self, transform: AbstractCumulants, saddlepoints: Saddlepoints, u: np.ndarray, world: int, tail: Tail
    ) -> np.ndarray:
        """A bound on the error of the tail beyond each centred threshold; it falls with the distance from the mean.

        - Aliases: the sum over all nodes is exactly sum_m exp(m c P) P(S > x + m P) (Poisson), m != 0 by Chernoff.
        - Truncation: `Tail.distance`; on a lattice |1 - exp(-s step)| >= exp(-c step / 2) 2 t step / pi for t <= pi / step,
          so that what is left out is at most exp(c step / 2) / 2 sum |phi(k h)| / k.
        - Rounding: what is lost of each term, times its size; n EPS of all sizes for the sum of n terms.
        - The tail itself is below exp(K(c) - c y), and `log_tail` never gives more: that bounds the error too.
        """
        y = self.lattice.atom(u, world, self.c > 0) if self.lattice else u
        period = 2.0 * np.pi / self.spacing
        scale = self.chernoff(y, world)
        if self.lattice:
            truncated = 0.5 * np.exp(0.5 * abs(self.c) * self.lattice.unit) * tail.total
        else:
            truncated = tail.distance(self._sums[world].density)
        rounding = self._rounding(transform, y, world)
        with np.errstate(over="ignore"):  # what is infinite is no bound, and `scale` is taken
            alias = np.exp(np.minimum(_log_alias(saddlepoints, self.c, y, world, period), 700.0))
            error = scale * (truncated + rounding) + alias
        return np.minimum(1.001 * error, scale * (1 + CLIP))

    @cached_property
    def _sums(self) -> tuple["_Sums", "_Sums"]:
        """What the errors of all thresholds need of the nodes, in both worlds."""
        nodes = np.arange(self.kernel.size) * self.spacing
        lost, result = self.lost(), []
        for world in (0, 1):
            modulus = np.abs(self.phi[world])
            size = self.spacing / np.pi * modulus * np.abs(self.kernel)
            # The exponent's own: its cumulants, the products i t centre and the two logarithms taken from each other.
            own = 4.0 * np.abs(self.log_mgf[world]) + 8.0 * np.abs(self.centre[world]) * nodes + 64.0
            grown = lost + EPS * own
            each = np.where(grown < 0.05, 2.1 * grown, 2.0 * np.exp(np.minimum(grown, 700.0)))
            sums = (2.0 * modulus, size * each, size, size * nodes, size * (self.c**2 + nodes**2))
            result.append(_Sums(*(float(part.sum()) for part in sums)))
        return result[0], result[1]

    def _rounding(self, transform: AbstractCumulants, y: np.ndarray, world: int) -> np.ndarray:
        sums = self._sums[world]
        # A threshold moved by `moved` moves each term by |s| moved; the phase t (y - centre) is right to 4 EPS of itself.
        centred = 0.0 if self.lattice else abs(float(transform.mean[world]))
        moved = transform.shift + 4.0 * EPS * (np.abs(y) + centred)
        # |y - centre| and |c y| times exp(-c y) are largest here or 1 / c farther out.
        away = np.maximum(np.abs(y - self.centre[world]), 1.0 / abs(self.c))
        exponent = np.abs(self.log_mgf[world]) + np.abs(self.c * y) + 1.0
        return (
            sums.lost
            + sums.waves * (4.0 * EPS * away + moved)
            + sums.terms * (abs(self.c) * moved + EPS * (self.kernel.size + 16.0 + 4.0 * exponent))
        )

    def _coefficients(self, world: int, kernel: np.ndarray) -> np.ndarray:
        terms = 2.0 * self.phi[world] * kernel
        terms[0] *= 0.5
        return terms

    def _waves(self, y: np.ndarray, world: int) -> np.ndarray:
        """The waves exp(-i k h (y - centre)), shape (M, T)."""
        nodes = np.arange(self.phi.shape[1]) * self.spacing
        return np.exp(-1j * np.outer(y - self.centre[world], nodes))

    def _log(self, total: np.ndarray, y: np.ndarray, world: int) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(np.fmax(total, 0.0)) + (self.log_mgf[world] - self.c * y)  # NaN is no tail either


Point = tuple[float, np.ndarray, np.ndarray, float]
"""(c, K, K', sqrt K'')."""


def find_saddlepoints(
    transform: AbstractCumulants, least_log: float = LEAST_LOG, known: Saddlepoints | None = None
) -> Saddlepoints:
    """Walk from s = 0 in both directions until log probabilities are below `least_log` or the law or its strip ends.

    known: of a shorter walk, which is continued where it was left off.
    """
    if known is None:
        start = _point(transform, 0.0, _first_sd(transform), 0.0)
        before: list[list[Point]] = [[], []]
    else:
        points = [
            (float(c), known.value[:, i], known.location[:, i], float(known.sd[i]))
            for i, c in enumerate(known.points)
        ]
        start, before = points[known.zero], [points[known.zero + 1 :], points[: known.zero][::-1]]
    sides, cut = [], []
    for side, (sign, edge) in enumerate(((1.0, transform.strip[1]), (-1.0, -transform.strip[0]))):
        result, more = before[side], False
        if known is None or known.cut[1 - side]:
            for steps in _STEPS:  # of a law of rare values two and a half deviations may be beyond its end
                longer, more = _walk(transform, [start, *before[side]], sign, edge, least_log, steps)
                if longer:
                    result = result + longer
                    break
        sides.append(result)
        cut.append(more)
    every = zip(*sides[1][::-1], start, *sides[0], strict=True)
    points, value, location, sds = (np.stack(part, axis=-1) for part in every)
    return Saddlepoints(points, value, location, sds, len(sides[1]), (cut[1], cut[0]))


def _walk(
    transform: AbstractCumulants,
    before: list[Point],
    sign: float,
    edge: float,
    least_log: float,
    steps: float,
) -> tuple[list[Point], bool]:
    """The further points of a side, in pairs, `steps` deviations apart; and whether the law goes on beyond the last point."""
    start, result = before[-1], []
    c, spread = abs(start[0]), start[3]
    near = float(np.abs(start[2]).max()) if c else 0.0
    last: np.ndarray | float = start[1] - start[0] * start[2] if c else 0.0
    most, more = _POINTS + 1 - len(before), False
    while len(result) < most:
        c = min(c + steps / spread, c + 0.4 * (edge - c))
        with np.errstate(over="ignore", invalid="ignore"):
            point = _point(transform, sign * c, spread, near)
        exponent = point[1] - point[0] * point[2]
        # Where Chernoff's exponent stands still, the tilted law has reached the end of the support.
        ended = len(result) > 1 and np.max(last - exponent) < 0.5 and point[3] < 0.5 * spread
        paired = result and len(result) % 2 == 0
        if not np.isfinite(exponent).all() or (paired and (ended or point[3] <= 0.0)):
            break
        last = exponent
        spread = max(point[3], 0.1 * spread)
        result.append((*point[:3], spread))
        near = float(np.abs(point[2]).max())
        if len(result) % 2 == 0 and (exponent < least_log).all():
            more = least_log > LEAST_LOG
            break
    return result[: 2 * (len(result) // 2)], more


def build_contour(
    transform: AbstractCumulants, saddlepoints: Saddlepoints, index: int, span: tuple[float, float]
) -> Contour:
    """The line through a single point: a spacing for the aliases, and nodes until the modulus is negligible."""
    c, sd = float(saddlepoints.points[index]), float(saddlepoints.sd[index])
    period = _period(saddlepoints, index)
    lattice = transform.lattice
    step = lattice and lattice.unit
    most = _MOST_NODES
    if step is not None:
        cells = 2 * int(np.ceil(period / (2 * step))) + 1
        period, most = cells * step, min((cells - 1) // 2 + 1, _MOST_CELLS)
    spacing = 2 * np.pi / period
    log_mgf, centre = saddlepoints.value[:, index], saddlepoints.location[:, index]
    # A normal law's modulus is exp(-8.8^2 / 2) < 2e-17 there.
    quiet = transform.quiet_from(c, 8.8 / sd, most * spacing, span)
    count = min(most, int(np.ceil(quiet / spacing)) + 1)
    t = np.arange(count) * spacing
    log_phi = transform.cumulant(c + 1j * t)
    while count < most and (log_phi.real[:, -2:] - log_mgf[:, None] > np.log(_NEGLIGIBLE)).any():
        check_budget()
        more = min(most, 2 * count) if count > 64 else min(most, count + count // 4 + 1)
        t = np.arange(more) * spacing
        log_phi = np.concatenate([log_phi, transform.cumulant(c + 1j * t[count:])], axis=1)
        count = more
    phi = np.exp(log_phi - log_mgf[:, None] - 1j * np.outer(centre, t))
    s = c + 1j * t
    away = s if c > 0 else -s
    kernel: ComplexArray = 1.0 / away
    if step is not None:
        kernel = np.asarray(-step / np.expm1(-away * step), complex)
    # Twice the work of the nodes: only where errors are requested.
    lost = cache(lambda: transform.rounding(s))
    return Contour(c, spacing, log_mgf, centre, phi, kernel, lattice, lost)


def _point(
    transform: AbstractCumulants, c: float, sd: float, near: float
) -> tuple[float, np.ndarray, np.ndarray, float]:
    """(c, K, K', sqrt K'') by differences along the imaginary axis, which cost no digits that matter here.

    near: a bound on |K'|, so that the phase of the small step does not wrap.
    """
    far, small = 0.01 / sd, 0.3 / (near + 10.0 * sd)  # K'' to about 1e-4, and a phase below 0.3
    value = transform.cumulant(np.array([c, c + 1j * far, c + 1j * small]))
    location = np.angle(np.exp(1j * (value[:, 2].imag - value[:, 0].imag))) / small
    curvature = 2.0 * (value[0, 0].real - value[0, 1].real) / far**2
    return c, value[:, 0].real, location, float(np.sqrt(max(curvature, 0.0)))


def _first_sd(transform: AbstractCumulants) -> float:
    """The standard deviation at s = 0, computed by doubling a frequency until the modulus has clearly fallen."""
    t = 1.0
    for _ in range(400):
        fall = -float(transform.cumulant(np.array([1j * t]))[0].real[0])
        if fall > 1e-3:  # above, it is t^2 variance / 2 no longer; below 1e-5 it has too few digits
            t /= 3.0
        elif fall < 1e-5:
            t *= 2.0
        else:
            return np.sqrt(2.0 * fall) / t
    raise ValueError("the score has no spread; its exact law is a single atom")


def _period(saddlepoints: Saddlepoints, index: int) -> float:
    """The least period that keeps the aliases of every threshold served below exp(-36) of its tail."""
    c = saddlepoints.points[index]
    need = 4.0 * float(saddlepoints.sd[index])
    for world in (0, 1):
        for at in {index - 1, index, index + 1}:
            x = saddlepoints.location[world, at]
            steep = abs(saddlepoints.points[at]) * saddlepoints.sd[at]
            # The tail is Chernoff's bound less the factor of Laplace's method, sqrt(2 pi) |c| sd.
            tail = saddlepoints.chernoff[world, at] - np.log(1.0 + 2.5 * steep)
            # The alias at distance P is at most exp(K(a) - a x - P |c - a|), for any a on its side of c.
            cost = saddlepoints.value[world] - saddlepoints.points * x - tail + _DIGITS
            between = (saddlepoints.points >= 0.0) if c > 0 else (saddlepoints.points <= 0.0)
            lower, upper = saddlepoints.points < c, saddlepoints.points > c
            for side in (lower & between, upper & between):
                if side.any():
                    need = max(need, float(np.min(cost[side] / np.abs(c - saddlepoints.points[side]))))
    return need


def _log_alias(saddlepoints: Saddlepoints, c: float, y: np.ndarray, world: int, period: float) -> np.ndarray:
    """Log of the Chernoff bound on all aliases, whose terms fall at least geometrically."""
    between = (saddlepoints.points >= 0.0) if c > 0 else (saddlepoints.points <= 0.0)
    total = np.full(y.shape, -np.inf)
    for side in ((saddlepoints.points < c) & between, (saddlepoints.points > c) & between):
        a = saddlepoints.points[side]
        if a.size == 0:
            return np.full(y.shape, 0.0)
        distance = np.abs(c - a) * period
        bound = saddlepoints.value[world, side] - np.outer(y, a) - distance - np.log(-np.expm1(-distance))
        total = np.logaddexp(total, bound.min(axis=1))
    return total
