"""Both tails of a sum of independent terms between bounds that are relative: brackets of tilted laws.

With q = p exp(theta v) / M for every term, the law Q of the sum has dP = exp(K - theta s) dQ, and for theta >= 0

    P(S > x) = exp(K - theta x) int_0^inf theta exp(-theta u) [Q(S > x) - Q(S > x + u)] du;

for theta < 0 the same holds of P(S <= x) with the sum turned. Q has its mean near x, so that absolute bounds on its tails, those of
`bracket`, are relative bounds on that of P. Likely values of Q are known individually, and are summed as such.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.signal import lfilter
from scipy.special import log_ndtr, ndtri_exp

from mipsim._budget import check_budget
from mipsim.exact.independent import Independent, Stack
from mipsim.exact.rounding import EPS
from mipsim.tradeoff.bounds import CurveBounds, complement_bounds, log_difference, lowered, raised
from mipsim.tradeoff.score_law import AbstractScoreLaw, Thresholds

_RETAINED = 2.0  # deviations on either side of its point in which a tilted law's bounds are retained
_FAR = 60  # points on either side: beyond lies no rate that float64 knows
_NODES, _MOST_NODES = 2**14 - 1, 2**18  # frequencies of a bracket: at first, and at most
_WORK = 2**37  # frequencies times values of tables: some ten seconds
_THIN = 0.1  # deviations fall by no more from a point to the next
_TRIES = 6  # points at which the thresholds of a rate are sought
_NEWTON = 50  # steps at most; five, but at the end of what is possible
_NEAR = 0.02  # of a deviation: so near to the point its mean need be
_STEEPEST = 80.0  # tilts, in inverse deviations
_STEPS = 2**12  # of a grid where every value is listed
_ROUNDED = 1e-11  # of sums over a grid, absolute, under the tilted law
_LARGEST = 600.0  # exponents
_MARGIN = 0.2  # of the distance of two bounds


@dataclass(frozen=True)
class _Side:
    """A tail of one world near a point: P(S > x) if `upper`, else P(S <= x) of finite scores."""

    upper: bool
    theta: float
    centre: float  # the weights exp(-theta (s - centre)) are taken from here
    log_scale: float  # K - theta centre
    relative: float  # a bound on the |log| of what any outcome's probability is off by
    lost: float  # a bound on the probability that is missing
    grid: np.ndarray  # thresholds, rising, shape (M,)
    # bounds of the integral over the values that are not listed, less and plus what all values are off by, shape (M,)
    low: np.ndarray
    high: np.ndarray
    # the listed values, rising, and their masses, shape (A,)
    atoms: np.ndarray
    masses: np.ndarray
    heavy: np.ndarray  # the sum over those beyond atom k - 1, k = 0 ... A
    slack: float  # a bound on the error of a listed value

    def __call__(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the log of the tail, shape of x; beyond the grid by monotonicity."""
        last = self.grid.size - 1
        after = np.searchsorted(self.grid, x, side="right") - 1
        before = np.searchsorted(self.grid, x, side="left")
        outer, inner = (after, before) if self.upper else (before, after)
        known = (inner >= 0) & (inner <= last), (outer >= 0) & (outer <= last)
        heavy = self.heavy[np.searchsorted(self.atoms, x + self.slack, side="right")]
        result = []
        for k, rest in ((inner, self.low), (outer, self.high)):
            at = np.clip(k, 0, last)
            exponent = np.minimum(-self.theta * (self.grid[at] - self.centre), _LARGEST)
            result.append(np.maximum(np.exp(exponent) * rest[at] + heavy, 0.0))
        with np.errstate(divide="ignore", under="ignore"):
            low, high = (np.log(value) + self.log_scale for value in result)
            low, high = low - self.relative, high + self.relative
            if self.lost > 0.0:
                low = np.where(low > np.log(self.lost), log_difference(low, np.log(self.lost)), -np.inf)
                high = np.logaddexp(high, np.log(self.lost))
        return np.where(known[0], lowered(low), -np.inf), np.where(
            known[1], np.minimum(raised(high), 0.0), 0.0
        )


@dataclass(frozen=True)
class TiltedBrackets(AbstractScoreLaw):
    """A sum of tables between relative bounds on both tails, in both worlds, from a bracket at each point of a grid of scores."""

    total: Independent  # without noise of a density
    # bounds of a law from so many frequencies, as `mipsim.exact.bracketed.bracket` gives
    bracket: Callable[[Independent, int], Any]
    relative: float  # a bound on the |log| of what the probability of any outcome of the tables is off by
    lost: float  # a bound on the probability that is in no table, in either world
    below: np.ndarray  # the probability of a score of -inf, as right as the tables, shape (2,)
    nodes: int = _NODES  # frequencies of a bracket
    _points: dict[int, tuple[float, float]] = field(default_factory=dict)
    _sides: dict[int, tuple[_Side, _Side]] = field(default_factory=dict)
    _tilts: dict[tuple[int, int], tuple[float, float, float]] = field(default_factory=dict)

    def sharper(self) -> AbstractScoreLaw | None:
        nodes = 4 * (self.nodes + 1)
        if nodes > _MOST_NODES or nodes * sum(stack.values.size for stack in self.total.stacks) > _WORK:
            return None
        return replace(self, nodes=nodes - 1, _sides={})

    def _impossible(self, world: int) -> tuple[np.ndarray, np.ndarray]:
        """Bounds on the log of the probability of a score of -inf."""
        with np.errstate(divide="ignore"):
            log = np.log(self.below[world])
        off = self.relative + 16.0 * EPS
        return lowered(log - off), np.minimum(raised(log + off), 0.0)

    def _finite(self, world: int) -> tuple[np.ndarray, np.ndarray]:
        """Bounds on the log of the probability of finite scores, which may be as rare as any tail."""
        _, logs, off = self._tilted((0.0, 0.0))
        low, high = complement_bounds(*self._impossible(world))
        missing = np.log(self.lost) if self.lost > 0.0 else -np.inf
        most = raised(np.logaddexp(logs[world] + self.relative + off, missing))
        return np.maximum(low, lowered(logs[world] - self.relative - off)), np.minimum(high, most)

    def _point(self, k: int) -> tuple[float, float]:
        """The k-th point and the smaller deviation of the laws that are tilted to it; as far from the last as that had deviations."""
        if k == 0:
            return self._first[0], self._deviation(0, self._first[1])
        if k not in self._points:
            side = 1 if k > 0 else -1
            x, sd = self._point(k - side)
            x += side * sd
            self._points[k] = x, sd  # for the tilts themselves
            self._points[k] = x, max(self._deviation(k, sd), _THIN * sd)
        return self._points[k]

    @cached_property
    def _first(self) -> tuple[float, float]:
        """Mean and deviation of the finite scores of the world "out"."""
        finite, _, _ = self._tilted((0.0, 0.0))
        return float(finite.mean[0]), float(np.sqrt(finite.variance[0]))

    def _deviation(self, k: int, otherwise: float) -> float:
        """The smaller of the tilted laws whose mean is at the point: beyond the scores of a world there is none."""
        spread = float(np.sqrt(min(self._tilt(k, world)[2] for world in (0, 1))))
        return spread if np.isfinite(spread) else otherwise

    def _nearest(self, x: np.ndarray) -> np.ndarray:
        """The point that is nearest to each score in its own deviations; those of an end are for what lies beyond."""
        ends = [float(x.min()), float(x.max())] if x.size else [0.0, 0.0]
        first, last = 0, 0
        while first > -_FAR and self._point(first)[0] > ends[0]:
            first -= 1
        while last < _FAR and self._point(last)[0] < ends[1]:
            last += 1
        points = np.array([self._point(k) for k in range(first, last + 1)])
        right = np.clip(np.searchsorted(points[:, 0], x), 1 if len(points) > 1 else 0, len(points) - 1)
        left = np.maximum(right - 1, 0)
        away = [np.abs(x - points[at, 0]) / points[at, 1] for at in (left, right)]
        return first + np.where(away[0] < away[1], left, right)

    def tail_bounds(self, threshold: Thresholds, *, inside: bool) -> CurveBounds:
        x = np.asarray(threshold, float)
        flat = np.ravel(x)
        ends = np.tile(np.array([[-np.inf], [0.0], [-np.inf], [0.0]]), (1, flat.size))
        finite = np.isfinite(flat)
        places = self._nearest(np.where(finite, flat, self.total.mean[0]))
        for k in np.unique(places[finite]):
            at = np.flatnonzero(finite & (places == k))
            ends[:, at] = self._both(int(k), int(inside), flat[at])
        ends[:, flat == np.inf] = np.array([[0.0], [0.0], [-np.inf], [-np.inf]])
        ends[:, flat == -np.inf] = np.array([*self._impossible(int(inside)), *self._finite(int(inside))])[
            :, None
        ]
        return CurveBounds(*(end.reshape(x.shape) for end in ends))

    def _both(self, k: int, world: int, x: np.ndarray) -> np.ndarray:
        side = self._at(k)[world]
        low, high = side(x)
        if side.upper:
            return np.stack([*complement_bounds(low, high), low, high])
        low, high = (
            np.logaddexp(end, other) for end, other in zip((low, high), self._impossible(world), strict=True)
        )
        low, high = lowered(low), np.minimum(raised(high), 0.0)
        return np.stack([low, high, *complement_bounds(low, high)])

    def log_tail(self, threshold: Thresholds, *, inside: bool, upper: bool) -> np.ndarray:
        """The upper bound."""
        ends = self.tail_bounds(threshold, inside=inside)
        return ends.log_tpr_high if upper else ends.log_fnr_high

    def threshold_at(self, alpha: object) -> np.ndarray:
        with np.errstate(divide="ignore"):
            a = np.asarray(alpha, float)
            return self.around(np.log(a.ravel()), np.log1p(-a.ravel()))[0].reshape(a.shape)

    @property
    def error_bound(self) -> float:
        """None is known that serves all thresholds."""
        return 1.0

    def around(self, log_fpr: np.ndarray, log_rest: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Thresholds of `AbstractScoreLaw.around`, as far apart as the brackets can tell; NaN where there are none."""
        upper = log_fpr <= np.log(0.5)
        with np.errstate(divide="ignore", invalid="ignore"):
            probit = np.where(
                upper, -ndtri_exp(np.minimum(log_fpr, -1e-300)), ndtri_exp(np.minimum(log_rest, -1e-300))
            )
        result, places = np.full((3, log_fpr.size), np.nan), np.zeros(log_fpr.size, int)
        every = raised(self._finite(0)[1]) <= log_fpr  # so frequent that all finite scores are above
        result[0, every] = -np.inf
        left = np.flatnonzero(~every)
        places[left] = [self._place(z) for z in probit[left].tolist()]
        for _ in range(_TRIES if left.size else 0):  # until the thresholds belong to the point that gave them
            moved = np.zeros(left.size, int)
            for k in np.unique(places[left]):
                group = np.flatnonzero(places[left] == k)
                at = left[group]
                now, owner = self._between(int(k), log_fpr[at], log_rest[at])
                # Past the likely scores a point may list too few values: what an earlier point knew stays.
                ended = np.isnan(now).any(axis=0) & ~np.isnan(result[:, at]).any(axis=0)
                moved[group] = np.where(ended, k, owner)
                result[:, at] = np.where(np.isnan(now), result[:, at], now)
            other = moved != places[left]
            places[left] = moved
            left = left[other]
        return result[0], result[1], result[2]

    def _place(self, probit: float) -> int:
        """The point whose tail in the "out" world is about that of a standard normal number."""
        side = 1 if probit >= 0.0 else -1
        k = 0
        while abs(k) < _FAR and side * self._probit(k) < side * probit:
            k += side
        return k

    def _probit(self, k: int) -> float:
        """Esscher's approximation: it only chooses a point."""
        x, _ = self._point(k)
        theta, log_mgf, variance = self._tilt(k, 0)
        size = abs(theta) * np.sqrt(variance if np.isfinite(variance) else 0.0)
        tail = float(log_mgf - theta * x + 0.5 * size**2 + log_ndtr(-size))
        if theta < 0.0:  # of the scores below, beside those of -inf
            with np.errstate(divide="ignore"):
                tail = float(np.log(min(self.below[0] + np.exp(min(tail, 0.0)), 1.0 - 1e-16)))
        return float(np.sign(theta or 1.0) * -ndtri_exp(min(tail, -1e-16)))

    def _between(self, k: int, log_fpr: np.ndarray, log_rest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Thresholds as of `around`, and the point that they belong to, or a neighbour where they are out of sight."""
        x = self._candidates(k)
        missed_low, missed_high, low, high = self._both(k, 0, x)
        wanted = log_fpr
        if not self._at(k)[0].upper:  # compared where the tail is small: P(S <= x) rises with x
            low, high, wanted = -missed_high, -missed_low, -log_rest
        # All of these fall in x.
        high, low = np.minimum.accumulate(high), np.maximum.accumulate(low[::-1])[::-1]

        def three(margin: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            """The thresholds, so many widths of the bounds beyond where these say so, and the places of the first and the last."""
            with np.errstate(invalid="ignore"):
                room = np.nan_to_num(margin * (high - low), nan=0.0, posinf=0.0)
            sure = np.minimum.accumulate(high + room)
            reached = np.maximum.accumulate((low - room)[::-1])[::-1]
            a = np.searchsorted(-sure, -wanted, side="left")  # the first that is sure
            b = np.searchsorted(-reached, -wanted, side="right") - 1  # the last that is reached
            c = np.searchsorted(-reached, -sure[np.maximum(b, 0)], side="left") - 1
            places = np.stack([a, b, c])
            inside = (a < x.size) & (b >= 0) & (c >= 0)
            return np.where(inside, x[np.clip(places, 0, x.size - 1)], np.nan), a, c

        result, a, c = three(_MARGIN)
        owner = np.where(a >= x.size, min(k + 1, _FAR), np.where(c < 0, max(k - 1, -_FAR), k))
        known = np.flatnonzero(~np.isnan(result[0]))
        near = self._nearest(result[:, known].ravel()).reshape(3, -1)
        owner[known] = near[0]
        # Where another point's bounds hold at a threshold, these may be wider.
        far = np.ones(wanted.size, bool)
        far[known] = (near != k).any(axis=0)
        return np.where(far, three(1.0 + _MARGIN)[0], result), owner

    def _candidates(self, k: int) -> np.ndarray:
        side = self._at(k)[0]
        inner = side.atoms[(side.atoms >= side.grid[0]) & (side.atoms <= side.grid[-1])]
        return np.unique(np.concatenate([side.grid, inner, inner - 3.0 * side.slack]))

    def others(self, low: np.ndarray, high: np.ndarray, *, inside: bool) -> np.ndarray:
        result = np.zeros(np.shape(low))
        if not result.size:
            return result
        known = np.isfinite(low) & np.isfinite(high)
        places = self._nearest(np.where(known, high, self.total.mean[0]))
        for k in np.unique(places[known]):
            at = np.flatnonzero((places == k) & known)
            out, side = (self._at(int(k))[world] for world in (0, int(inside)))
            first, last = (
                np.searchsorted(side.atoms, end[at] + side.slack, side="right") for end in (low, high)
            )
            listed = [
                each.sum() - each[main.argmax()] if each.size else 0.0
                for a, b in zip(first.tolist(), last.tolist(), strict=True)
                for main, each in [(out.masses[a:b], side.masses[a:b])]
            ]
            light = replace(side, heavy=np.zeros_like(side.heavy))
            ends = [light(end[at]) for end in (low, high)]
            outer, inner = ends if side.upper else ends[::-1]
            with np.errstate(divide="ignore", invalid="ignore"):
                rest = np.where(
                    outer[1] > inner[0], log_difference(outer[1], np.minimum(inner[0], outer[1])), outer[1]
                )
                rest = np.logaddexp(rest, np.log(listed) + side.log_scale + side.relative + _ROUNDED)
            result[at] = np.minimum(raised(rest), 0.0)
        return result

    def _tilt(self, k: int, world: int) -> tuple[float, float, float]:
        """(theta, K, variance) of the tilt whose mean is the k-th point; the nearest, with infinite variance, where there is none."""
        if (k, world) not in self._tilts:
            x, sd = self._points[k] if k else self._first
            most = _STEEPEST / max(sd, 1e-300)
            low, high, theta = -most, most, 0.0
            if k:  # from the neighbour, whose mean is a deviation away
                side = 1 if k > 0 else -1
                last, _, variance = self._tilt(k - side, world)
                theta = min(max(last + side * sd / max(variance, 1e-300), low), high)
            steps = 0
            while True:
                tilted, logs, _ = self._tilted((theta, theta), (world,))
                mean, variance = float(tilted.mean[world]), float(tilted.variance[world])
                low, high = (theta, high) if mean < x else (low, theta)
                near = abs(mean - x) <= _NEAR * np.sqrt(variance) or high - low <= 1e-3 / max(sd, 1e-300)
                if near or (steps := steps + 1) == _NEWTON:
                    break
                step = theta + (x - mean) / max(variance, 1e-300)
                theta = step if low < step < high else 0.5 * (low + high)
            met = abs(mean - x) <= np.sqrt(variance)
            self._tilts[k, world] = theta, float(logs[world]), variance if met else np.inf
        return self._tilts[k, world]

    def _tilted(
        self, theta: tuple[float, float], worlds: tuple[int, ...] = (0, 1)
    ) -> tuple[Independent, np.ndarray, float]:
        """The tilted tables of finite values, K in each world, and a bound on the |log| of what rounding makes of an outcome."""
        stacks, logs, off = (
            [],
            np.array([t * o for t, o in zip(theta, self.total.offset, strict=True)]),
            64.0 * EPS,
        )
        for s in self.total.stacks:
            q = s.probability.copy()
            for world in worlds:
                possible = q[world] > 0.0
                exponent = np.where(possible, theta[world] * s.values, -np.inf)
                top = exponent.max(axis=1, keepdims=True)
                top = np.where(np.isfinite(top), top, 0.0)
                q[world] *= np.exp(exponent - top)
                mass = q[world].sum(axis=1)
                used = s.copies[world] > 0
                q[world] /= np.where(mass > 0.0, mass, 1.0)[:, None]
                each = np.log(np.where(mass > 0.0, mass, 1.0)) + top[:, 0]
                logs[world] += float(np.sum((s.copies[world] * each)[used]))
                size = np.where(possible, np.abs(exponent), 0.0).max(axis=1) + np.abs(each)
                off += EPS * float(s.copies[world] @ (8.0 * size + q.shape[2] + 32.0))
            stacks.append(Stack(s.values, q, s.copies))
        return replace(self.total, stacks=tuple(stacks)), logs, off

    def _at(self, k: int) -> tuple[_Side, _Side]:
        if k not in self._sides:
            check_budget()
            x, sd = self._point(k)
            theta = self._tilt(k, 0)[0], self._tilt(k, 1)[0]
            tilted, logs, off = self._tilted(theta)
            know = _RETAINED * sd, self.relative + off, self.lost

            law = self.bracket(tilted, self.nodes)
            out, inside = (_side(law, w, theta[w], float(logs[w]), x, *know) for w in (0, 1))
            self._sides[k] = out, inside
        return self._sides[k]


def _side(
    law: Any, world: int, theta: float, log_mgf: float, x: float, reach: float, relative: float, lost: float
) -> _Side:
    """What a bracket of the law that is tilted to x says of the law itself."""
    upper, tilt = theta >= 0.0, abs(theta)
    error = 2.0 * float(law.error[world]) + _ROUNDED  # of Q at a point, and of its mean beyond
    grid = np.linspace(x - reach, x + reach, _STEPS)
    low, high = np.zeros(_STEPS), np.full(_STEPS, 1.0 if law.grid.size else 0.0)
    if law.grid.size:
        points, above, most_above = law.grid, law.low[world], law.high[world]
        spacing = float(points[-1] - points[0]) / (points.size - 1)
        r, new = np.exp(-tilt * spacing), -np.expm1(-tilt * spacing)

        def integral(values: np.ndarray, first: float) -> np.ndarray:
            """first, then new * values[i] + r * (the value before)."""
            rest, _ = lfilter([new], [1.0, -r], values, zi=[r * first])
            return np.append(first, rest)

        if upper:
            most = integral(most_above[:-1][::-1], float(most_above[-1]))[::-1]
            least = integral(above[1:][::-1], 0.0)[::-1]
            ends = above - most, most_above - least
        else:
            least = integral(above[1:], float(above[0]))
            most = integral(most_above[:-1], float(most_above[0]))
            ends = least - most_above, most - above
        retained = np.abs(points - x) <= reach + spacing
        if retained.any():
            grid, low, high = points[retained], ends[0][retained], ends[1][retained]
    low, high = low - error, np.maximum(high, 0.0) + error
    inner = law.atoms >= grid[0] - 4.0 * law.slack if upper else law.atoms <= grid[-1] + 4.0 * law.slack
    mass = np.where(inner, law.masses[world] * np.exp(np.minimum(-theta * (law.atoms - x), _LARGEST)), 0.0)
    heavy = np.append(np.cumsum(mass[::-1])[::-1], 0.0) if upper else np.append(0.0, np.cumsum(mass))
    relative += tilt * law.slack + EPS * (8.0 * tilt * reach + 4.0 * law.atoms.size)
    relative += 4.0 * EPS * (abs(log_mgf) + tilt * abs(x))
    return _Side(
        upper,
        theta,
        x,
        log_mgf - theta * x,
        relative,
        lost,
        grid,
        low,
        high,
        law.atoms,
        mass,
        heavy,
        law.slack,
    )
