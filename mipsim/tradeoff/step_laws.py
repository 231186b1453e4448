"""Distributions of the privacy loss of a single step: masses of cells of losses in both worlds."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np

from mipsim._budget import check_memory
from mipsim.sums.loss_bounds import LossCells

_UNIT = 2.0**-53
_FURTHEST = 150.0  # standard deviations that a Gaussian is followed to: rates of e^-11,000
_BULK = 12.0  # the same where rates below 1e-30 do not matter
_EDGE = 128  # bytes that an edge takes, between which the outcomes of a step are integrated, measured
_BEYOND = 1e-3  # probability that a lattice should not miss
_TOGETHER = 1 << 18  # cells of eight points at once
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(8)
# (width of a cell) x (slope of the log density) up to which a series and 8 points are right to rounding
_NARROW, _WIDE = 0.09, 1.8


Parts = Sequence[tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Outline:
    """A distribution in coarse cells, for planning: losses, rising, and logarithms of their masses in both worlds; shape (m,)."""

    losses: np.ndarray
    log_out: np.ndarray
    log_in: np.ndarray
    widest: np.ndarray
    """The widest cell that is sensible at each loss."""

    def rising(self) -> Outline:
        """Cells whose losses are equal to rounding as a single cell."""
        alike = 1e-14 * min(1.0, float(np.abs(self.losses).max()))
        starts = np.flatnonzero(np.append(True, np.diff(self.losses) > alike))
        log_out, log_in = (np.logaddexp.reduceat(log, starts) for log in (self.log_out, self.log_in))
        return Outline(self.losses[starts], log_out, log_in, np.maximum.reduceat(self.widest, starts))

    def within(self, log_small: float) -> Outline:
        """Without the largest losses of less mass in the world "in", and the least of less mass in the world "out"; never all."""
        above = np.logaddexp.accumulate(self.log_in[::-1])[::-1]
        below = np.logaddexp.accumulate(self.log_out)
        held = np.flatnonzero((above > log_small) & (below > log_small))
        if not held.size:
            return self
        part = slice(int(held[0]), int(held[-1]) + 1)
        return Outline(self.losses[part], self.log_out[part], self.log_in[part], self.widest[part])

    def turned(self) -> Outline:
        """The worlds exchanged."""
        return Outline(-self.losses[::-1], self.log_in[::-1], self.log_out[::-1], self.widest[::-1])


class AbstractStepLaw(ABC):
    """The distribution of the loss of a single step.

    Attributes:
        ends: the least and the largest finite loss, maybe infinite.
        fixed: a loss that should lie on the lattice: an atom is there.
        effort: places of a circle in the time of a node of this distribution.
        narrowest: relative width that no lattice goes below: that of the samples which a distribution stands for.
        needed: the mu of mu-GDP that the rarest FPRs need, and that the rarest FNRs do; of Gaussian shifts, sub-sampled or mixed, else 0.
        p: of a mixture that reveals nothing else the probability that it differs; else infinite.
    """

    ends: tuple[float, float]
    p: float = math.inf
    effort: float = 1.0
    fixed: float = 0.0
    needed: tuple[float, float] = (0.0, 0.0)
    narrowest: float = 0.0

    @property
    def is_gaussian(self) -> bool:
        """Whether the worlds are Gaussian shifts, sub-sampled or mixed."""
        return max(self.needed) > 0.0

    @property
    @abstractmethod
    def outline(self) -> Outline:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The distribution in coarse cells."""

    def bulk(self, factor: float) -> AbstractStepLaw:
        """The same for a question without rare outcomes, and of a mixture with the probability `p` times a factor."""
        return self

    @abstractmethod
    def cells(self, nodes: np.ndarray, offset: float, step: float) -> tuple[LossCells, LossCells]:
        """Cells between nodes (places, rising), of a distribution that reveals at least as much, and of a distribution that
        reveals at most as much.
        """


class MixedGaussians(AbstractStepLaw):
    """Mixtures of N(shift, 1) in both worlds, where no shift of "out" is above a shift of "in": the loss rises with the outcome.
    `out`, `inside`: (shift, weight > 0) of each part; `furthest`: standard deviations that they are followed to, which cost accuracy.
    """

    weights_off = 128.0  # units of rounding that each weight may be off

    def __init__(self, out: Parts, inside: Parts, furthest: float = _FURTHEST) -> None:
        self.furthest, self._parts = furthest, (out, inside)
        self.effort = float(len(out) + len(inside) - 2)
        self.out, self.inside = (
            [(shift, _log_share(side, shift)) for shift, _ in side] for side in (out, inside)
        )
        shifts = [shift for shift, _ in (*out, *inside)]
        self.least, self.most = min(*shifts, 0.0), max(*shifts, 0.0)
        # The largest outcomes tell the nearest part of "out" from the farthest of "in", and the least the reverse.
        (low, high), (first, last) = ((min(side)[0], max(side)[0]) for side in (out, inside))
        self.needed = last - high, first - low
        base, rest = (dict(side).get(0.0, -math.inf) for side in (self.out, self.inside))
        self.ends = (rest if base == 0.0 else -math.inf, -base if rest == 0.0 else math.inf)
        if base == 0.0:
            self.p = math.fsum(weight for shift, weight in inside if shift)

    def bulk(self, factor: float) -> MixedGaussians:
        out, inside = self._parts
        if factor != 1.0:
            telling = [(shift, factor * weight) for shift, weight in inside if shift]
            inside = [(0.0, 1.0 - math.fsum(weight for _, weight in telling)), *telling]
        return MixedGaussians(out, inside, _BULK)

    def loss(self, y: np.ndarray) -> np.ndarray:
        """Log of the density ratio at the outcome y."""
        inside, out = (_log_of_mean_exp(side, y)[0] for side in (self.inside, self.out))
        return inside - out

    def outcome(self, loss: np.ndarray) -> np.ndarray:
        """The outcome of a loss, by Newton's steps between neighbours of a table; beyond those that are followed the last of them.

        A border that is off by a rounding of its loss moves outcomes of about that loss to the next cell, which is of second order.
        """
        far = self.furthest + 1.0
        table = np.linspace(self.least - far, self.most + far, 8193)
        known = np.maximum.accumulate(self.loss(table))
        at = np.clip(np.searchsorted(known, loss), 1, table.size - 1)
        low, high, y = table[at - 1], table[at], np.interp(loss, known, table)
        left = np.flatnonzero((loss > known[0]) & (loss < known[-1]))
        for _ in range(60):
            now, aim = y[left], loss[left]
            (first, rise), (other, fall) = (_log_of_mean_exp(side, now) for side in (self.inside, self.out))
            over = first - other - aim
            low[left], high[left] = (
                np.where(over < 0.0, now, low[left]),
                np.where(over < 0.0, high[left], now),
            )
            with np.errstate(divide="ignore", invalid="ignore"):
                near = now - over / (rise - fall)
            # Where no digit of the slope is left halving goes on.
            near = np.where((near >= low[left]) & (near <= high[left]), near, 0.5 * (low[left] + high[left]))
            off = np.abs(over) > 4.0 * _UNIT * np.abs(aim)
            y[left] = np.where(off, near, now)
            left = left[off & (np.abs(near - now) > 4.0 * _UNIT * (1.0 + np.abs(now)))]
            if not left.size:
                break
        return np.where(loss <= known[0], -np.inf, y)

    @cached_property
    def outline(self) -> Outline:  # pyright: ignore[reportIncompatibleMethodOverride]
        spread = self.most - self.least
        fine, coarse = max(min(0.05, 1.0 / (spread + 1.0)), (34.0 + spread) / 5000.0), 0.25
        borders = np.concatenate(
            [
                np.arange(self.least - _FURTHEST, self.least - 14.0, coarse),
                np.arange(self.least - 14.0, 20.0 + self.most, fine),
                np.arange(20.0 + self.most, _FURTHEST + self.most, coarse),
            ]
        )
        y, width = 0.5 * (borders[1:] + borders[:-1]), np.diff(borders)
        log_out = -0.5 * y * y + np.log(width) - 0.5 * math.log(2.0 * math.pi)
        if self.out != [(0.0, 0.0)]:
            log_out = log_out + _log_of_mean_exp(self.out, y)[0]
        losses = self.loss(y)
        gap = np.maximum(np.abs(np.gradient(losses)) / width, 1e-12) * min(0.2, 0.5 / (spread + 5.0) * 10.0)
        return Outline(losses, log_out, log_out + losses, gap).rising()

    def cells(self, nodes: np.ndarray, offset: float, step: float) -> tuple[LossCells, LossCells]:
        borders = self.outcome(offset + step * nodes)
        # The least loss may lie in the first cell, and all outcomes below it do. What lies beyond counts as outside of the nodes.
        # Where that is all that is followed, it lies on the right side of the nodes.
        followed = [self.least - self.furthest, self.furthest + self.most]
        lowest, highest = np.clip(followed, borders[0], borders[-1]).tolist()
        reach = max(abs(lowest), abs(highest)) + self.most - self.least
        count = 2 + int((highest - lowest) / min(0.15, _WIDE / (reach + 8.0)))
        check_memory(
            _EDGE * (count + nodes.size),
            f"a step with a shift by {self.most:g} deviations",
            "take more noise",
        )
        even = np.linspace(lowest, highest, count)
        inner = borders[1:]
        edges = np.concatenate([even, inner])
        edges.sort(kind="stable")  # two runs
        edges = edges[(edges >= lowest) & (edges <= highest)]
        edges = edges[np.append(True, np.diff(edges) > 0.0)]
        middle, half = 0.5 * (edges[1:] + edges[:-1]), 0.5 * np.diff(edges)
        root = 0.5 * math.log(2.0 * math.pi)
        starts = np.minimum(np.concatenate([[0], np.searchsorted(edges, inner[:-1])]), middle.size)
        shifts = {shift for shift, _ in (*self.out, *self.inside)}
        masses = {shift: _added(_log_integrals(middle - shift, half) - root, starts) for shift in shifts}
        below = {shift: _mills(shift - lowest) for shift in shifts}
        above = {shift: _mills(highest - shift) for shift in shifts}

        def mixed(side: Parts, of: dict[float, Any]) -> Any:
            return reduce(np.logaddexp, [weight + of[shift] for shift, weight in side])

        built = LossCells(
            nodes,
            mixed(self.out, masses),
            mixed(self.inside, masses),
            np.full(nodes.size, -np.inf),
            offset,
            step,
            log_in_below=float(mixed(self.inside, below)),
            log_out_below=float(mixed(self.out, below)),
            log_in_above=float(mixed(self.inside, above)),
            log_out_above=float(mixed(self.out, above)),
            rounding=_UNIT * (1.5 * reach**2 + 64.0 + self.weights_off),
        )
        return built, built


class MixedGaussian(MixedGaussians):
    """N(0, 1) against p N(mu, 1) + (1 - p) N(0, 1), in closed form.
    `mu`: the shift, > 0; `p`: in (0, 1]; `furthest`: standard deviations that it is followed to, which cost accuracy.
    """

    weights_off = 0.0

    def __init__(self, mu: float, p: float, furthest: float = _FURTHEST) -> None:
        self.mu = mu
        super().__init__([(0.0, 1.0)], [(0.0, 1.0 - p), (mu, p)] if p < 1.0 else [(mu, p)], furthest)

    def bulk(self, factor: float) -> MixedGaussian:
        return MixedGaussian(self.mu, factor * self.p, _BULK)

    def loss(self, y: np.ndarray) -> np.ndarray:
        inner = self.mu * y - 0.5 * self.mu**2
        if self.p == 1.0:
            return inner
        near = np.log1p(self.p * np.expm1(np.minimum(inner, 1.0)))  # all digits of the least losses
        return np.where(inner <= 1.0, near, np.logaddexp(math.log1p(-self.p), math.log(self.p) + inner))

    def outcome(self, loss: np.ndarray) -> np.ndarray:
        """The outcome of a loss; -inf at or below the least."""
        if self.p == 1.0:
            inner = loss
        else:
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                small = np.log1p(np.expm1(np.minimum(loss, 1.0)) / self.p)
                large = loss + np.log1p((self.p - 1.0) * np.exp(-np.maximum(loss, 1.0))) - math.log(self.p)
                inner = np.where(loss > self.ends[0], np.where(loss > 1.0, large, small), -np.inf)
                inner = np.where(np.isnan(inner), -np.inf, inner)
        return inner / self.mu + 0.5 * self.mu

    @property
    def log_rest(self) -> float:
        """Log of what neither direction tells: 1 less the masses of losses above 0, here and with the worlds exchanged.

        With a = P(N(0, 1) > mu / 2) these are a and (1 - p) a + p (1 - a), so that (1 - p) (1 - 2 a) is left.
        """
        return (
            math.log1p(-self.p) + math.log(math.erf(self.mu / math.sqrt(8.0))) if self.p < 1.0 else -math.inf
        )


def _log_share(parts: Parts, at: float) -> float:
    """Log of the weight of a part; of a weight near 1 by those of the others."""
    others = math.fsum(weight for shift, weight in parts if shift != at)
    return math.log1p(-others) if others < 0.5 else math.log(dict(parts)[at])


def _log_of_mean_exp(parts: Parts, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log of the mixture's density over that of N(0, 1) at y, and its slope; to EPS of what the shifted parts weigh, where they are few."""
    inner = [(shift, weight, shift * y - 0.5 * shift**2) for shift, weight in parts]
    value = reduce(np.logaddexp, [weight + at for _, weight, at in inner])
    slope = np.sum(
        [shift * np.exp(np.minimum(weight + at - value, 0.0)) for shift, weight, at in inner], axis=0
    )
    small = np.abs(value) < 0.5
    if small.any():
        near = sum(math.exp(weight) * np.expm1(np.minimum(at[small], 700.0)) for _, weight, at in inner)
        value[small] = np.log1p(near)
    return value, slope


def _log_integrals(middle: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Logarithms of the integrals of e^(-y^2 / 2) from middle - half to middle + half."""
    square, width = middle * middle, half * half
    # The mean of e^(-t m - t^2 / 2) over |t| <= h, less 1, by Hermite polynomials of even degree; that of degree 8 adds less than 2^-54.
    more = (((square - 15.0) * square + 45.0) * square - 15.0) * (width / 5040.0)
    more = width * ((square - 1.0) / 6.0 + width * (((square - 6.0) * square + 3.0) / 120.0 + more))
    wide = 2.0 * half * (np.abs(middle) + 6.0) > _NARROW
    if wide.any():
        for cells in np.array_split(np.flatnonzero(wide), 1 + np.count_nonzero(wide) // _TOGETHER):
            t = _POINTS[:, None] * half[cells]
            more[cells] = 0.5 * (_WEIGHTS @ np.exp(-t * (middle[cells] + 0.5 * t))) - 1.0
    return np.log(2.0 * half) - 0.5 * square + np.log1p(more)


def _added(log_masses: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Logarithms of the sums of masses from each start to the next; -inf where there is none."""
    lengths = np.diff(starts, append=log_masses.size)
    result = np.full(starts.size, -np.inf)
    single, several = lengths == 1, lengths > 1
    result[single] = log_masses[starts[single]]
    if several.any():
        parts = log_masses[np.repeat(several, lengths)]
        result[several] = np.logaddexp.reduceat(parts, np.cumsum(lengths[several]) - lengths[several])
    return result


def _mills(y: float) -> float:
    """The logarithm of a bound on P(N(0, 1) > y), up to twice the probability for y >= 1."""
    if y < 1.0:
        return 0.0
    return -0.5 * y * y * (1.0 - 1e-15) - math.log(y * math.sqrt(2.0 * math.pi)) + 1e-12


class MixedLaplace(AbstractStepLaw):
    """A Laplace distribution against the mixture of its shift by mu scales, with probability p, and itself.
    `mu`: the shift, > 0; `p`: in (0, 1].
    """

    def __init__(self, mu: float, p: float) -> None:
        self.mu, self.p = mu, p
        self.ends = tuple(float(self._loss(np.float64(end))) for end in (-mu, mu))  # pyright: ignore
        self.fixed = self.ends[1]

    @property
    def log_rest(self) -> float:
        """As that of a Gaussian shift, with a = P(outcome > mu / 2) = e^(-mu / 2) / 2."""
        rest = math.log(-math.expm1(-0.5 * self.mu))
        return math.log1p(-self.p) + rest if self.p < 1.0 else -math.inf

    def bulk(self, factor: float) -> MixedLaplace:
        return MixedLaplace(self.mu, factor * self.p)

    def _loss(self, inner: np.ndarray) -> np.ndarray:
        if self.p == 1.0:
            return inner
        return np.where(
            np.abs(inner) < 1.0,
            np.log1p(self.p * np.expm1(np.clip(inner, -1.0, 1.0))),
            np.logaddexp(math.log1p(-self.p), math.log(self.p) + inner),
        )

    def _inner(self, loss: np.ndarray) -> np.ndarray:
        if self.p == 1.0:
            return np.clip(loss, -self.mu, self.mu)
        with np.errstate(divide="ignore", invalid="ignore"):
            small = np.log1p(np.expm1(np.minimum(loss, 1.0)) / self.p)
            large = loss + np.log1p((self.p - 1.0) * np.exp(-np.maximum(loss, 1.0))) - math.log(self.p)
        return np.clip(np.nan_to_num(np.where(loss > 1.0, large, small), nan=-self.mu), -self.mu, self.mu)

    def _masses(self, borders: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Logs of the masses between inner losses, in both worlds of the inner distribution."""
        width = 0.5 * np.maximum(np.diff(borders), 0.0)
        with np.errstate(divide="ignore"):
            out = np.log(-np.expm1(-width)) - math.log(2.0) - 0.5 * (borders[:-1] + self.mu)
            inside = np.log(-np.expm1(-width)) - math.log(2.0) + 0.5 * (borders[1:] - self.mu)
        return out, inside

    def _mixed(self, out: np.ndarray, inside: np.ndarray) -> np.ndarray:
        if self.p == 1.0:
            return inside
        return np.logaddexp(math.log1p(-self.p) + out, math.log(self.p) + inside)

    @cached_property
    def outline(self) -> Outline:  # pyright: ignore[reportIncompatibleMethodOverride]
        borders = np.linspace(-self.mu, self.mu, 2 + max(1000, int(20 * self.mu)))
        out, inside = self._masses(borders)
        losses = self._loss(0.5 * (borders[1:] + borders[:-1]))
        atoms = np.array([-math.log(2.0), -self.mu - math.log(2.0)])
        log_out = np.concatenate([atoms[:1], out, atoms[1:]])
        log_inside = np.concatenate([atoms[1:], inside, atoms[:1]])
        losses = np.concatenate([[self.ends[0]], losses, [self.ends[1]]])
        log_in = self._mixed(log_out, log_inside)
        widest = np.full(losses.size, max(self.ends[1] - self.ends[0], 1e-12) / 64.0)
        return Outline(losses, log_out, log_in, widest).rising()

    def cells(self, nodes: np.ndarray, offset: float, step: float) -> tuple[LossCells, LossCells]:
        places = [(loss - offset) / step for loss in self.ends]
        near = [1e-13 * (1.0 + abs(place)) for place in places]  # of an end that is declared to be on a node
        inner = self._inner(offset + step * nodes)
        # Of a lattice that begins at the loss 0 all lower losses are beyond, however near they are.
        at_zero = offset + step * float(nodes[0]) == 0.0 > self.ends[0]
        beyond = at_zero or places[0] < nodes[0] - near[0], places[1] > nodes[-1] + near[1]
        inner[[0, -1]] = np.where(beyond, inner[[0, -1]], (-self.mu, self.mu))
        # An end on a node is the border there: a sliver of rounding beyond it would be an outcome beside its atom.
        for end, place, off in zip((-self.mu, self.mu), places, near, strict=True):
            inner[np.abs(nodes - place) <= off] = end
        # A first and a last cell hold what lies outside of the nodes.
        out, inside = self._masses(np.concatenate([[-self.mu], inner, [self.mu]]))
        log_in = self._mixed(out, inside)
        atoms = np.full(nodes.size, -np.inf)
        ends = ((-self.mu, -math.log(2.0)), (self.mu, -self.mu - math.log(2.0)))
        for (at, mass), place, off in zip(ends, places, near, strict=True):
            there = float(self._mixed(np.float64(mass), np.float64(mass + at)))  # pyright: ignore[reportArgumentType]
            nearest = int(np.searchsorted(nodes, round(place)))
            if nearest < nodes.size and abs(place - nodes[nearest]) <= off:
                atoms[nearest] = mass
                continue
            cell = int(np.searchsorted(nodes, place))
            out[cell], log_in[cell] = np.logaddexp(out[cell], mass), np.logaddexp(log_in[cell], there)
        built = LossCells(
            nodes,
            out[1:-1],
            log_in[1:-1],
            atoms,
            offset,
            step,
            log_in_below=float(log_in[0]),
            log_out_below=float(out[0]),
            log_in_above=float(log_in[-1]),
            log_out_above=float(out[-1]),
            rounding=_UNIT * (64.0 + 8.0 * self.mu),
        )
        return built, built


class Polygons(AbstractStepLaw):
    """Two finite distributions: the first reveals at least as much as a curve, and the second at most as much.
    `lower`, `upper`: (losses, out masses, in masses, out only, in only), by falling loss; of the curve below and that
    above; `rounding`: of each mass, relative; `fixed`: the loss that should lie on the lattice; the largest that is not
    rare if not given; `sampled`: whether they differ by the width of samples, and not by rounding alone.
    """

    def __init__(
        self,
        lower: Atoms,
        upper: Atoms,
        rounding: float,
        fixed: float | None = None,
        *,
        sampled: bool = False,
    ) -> None:
        self.lower, self.upper, self.rounding = lower, upper, rounding
        self.narrowest = 1e-4 if sampled else 0.0
        both = np.concatenate([lower[0], upper[0]])
        self.ends = (float(both.min(initial=0.0)), float(both.max(initial=0.0)))
        heavy = upper[0][upper[2] > 1e-9]
        self.fixed = fixed if fixed is not None else float(heavy[0]) if heavy.size else 0.0

    @cached_property
    def outline(self) -> Outline:  # pyright: ignore[reportIncompatibleMethodOverride]
        losses, out, inside = self._seen(self.upper)
        if losses.size == 0:
            losses, out, inside = np.zeros(1), np.full(1, 1e-300), np.full(1, 1e-300)
        more = self._seen(self.lower)
        beyond = (more[0] < losses[0]) | (more[0] > losses[-1])
        spread = max(self.ends[1] - self.ends[0], 1e-12)
        if more[1][beyond].sum() > _BEYOND:  # a lattice for the second alone would miss most of the first
            losses, out, inside = (
                np.concatenate(parts) for parts in zip((losses, out, inside), more, strict=True)
            )
            order = np.argsort(losses, kind="stable")
            losses, out, inside = losses[order], 0.5 * out[order], 0.5 * inside[order]
        return Outline(losses, np.log(out), np.log(inside), np.full(losses.size, spread / 64.0))

    @staticmethod
    def _seen(law: Atoms) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(Losses, rising, out masses, in masses) of what both worlds have."""
        losses, out, inside = (np.asarray(part)[::-1] for part in law[:3])
        seen = (out > 0.0) & (inside > 0.0)
        return losses[seen], out[seen], inside[seen]

    def cells(self, nodes: np.ndarray, offset: float, step: float) -> tuple[LossCells, LossCells]:
        return tuple(self._binned(law, nodes, offset, step) for law in (self.lower, self.upper))  # pyright: ignore[reportReturnType]

    def _binned(self, law: Atoms, nodes: np.ndarray, offset: float, step: float) -> LossCells:
        losses, out, inside, out_only, in_only = law
        place = (losses - offset) / step
        nearest = np.round(place)
        off = np.abs(place - nearest) * step
        atoms = np.zeros(nodes.size)
        at = np.clip(np.searchsorted(nodes, nearest), 0, nodes.size - 1)
        # Moved by less than the rounding of the loss itself.
        exact = (nodes[at] == nearest) & (off <= 4.0 * _UNIT * (np.abs(losses) + abs(offset)))
        np.add.at(atoms, at[exact], out[exact])
        cell = np.searchsorted(nodes, place, side="right") - 1
        low, high = ~exact & (cell < 0), ~exact & (cell >= nodes.size - 1)
        rest = ~exact & ~low & ~high
        q = np.bincount(cell[rest], out[rest], nodes.size - 1)
        p = np.bincount(cell[rest], inside[rest], nodes.size - 1)
        with np.errstate(divide="ignore"):
            return LossCells(
                nodes,
                np.log(q),
                np.log(p),
                np.log(atoms),
                offset,
                step,
                log_in_only=_log(in_only),
                log_out_only=_log(out_only),
                log_in_below=_log(inside[low].sum()),
                log_out_below=_log(out[low].sum()),
                log_in_above=_log(inside[high].sum()),
                log_out_above=_log(out[high].sum()),
                rounding=self.rounding + 64.0 * _UNIT,
            )


def _log(mass: float) -> float:
    return math.log(mass) if mass > 0.0 else -math.inf


Atoms = tuple[np.ndarray, np.ndarray, np.ndarray, float, float]


class Symmetrized(AbstractStepLaw):
    """The distribution of the hull of a curve and its inverse, where the curve is the lower at FPRs below its fixed point.

    Losses above 0 are those of the curve, losses below 0 those of its inverse, and what is left has the loss 0. So it is for
    a sub-sampled symmetric curve.

    Source: Dong, Roth and Su (2022), proposition A.1 of the hull, theorem 4.2 of sub-sampling.
    """

    def __init__(self, ahead: MixedGaussian | MixedLaplace) -> None:
        self.ahead = ahead
        self.ends = (-ahead.ends[1], ahead.ends[1])
        self.needed = max(ahead.needed), max(ahead.needed)

    @cached_property
    def outline(self) -> Outline:  # pyright: ignore[reportIncompatibleMethodOverride]
        line = self.ahead.outline
        up = line.losses > 0.0
        above = Outline(line.losses[up], line.log_out[up], line.log_in[up], line.widest[up])
        below = above.turned()
        middle = np.array([self.ahead.log_rest])
        parts = [
            np.concatenate([low, at, high])
            for low, at, high in (
                (below.losses, np.zeros(1), above.losses),
                (below.log_out, middle, above.log_out),
                (below.log_in, middle, above.log_in),
                # of losses above 0 there may be none
                (below.widest, line.widest[up.argmax()][None], above.widest),
            )
        ]
        return Outline(*parts)

    def cells(self, nodes: np.ndarray, offset: float, step: float) -> tuple[LossCells, LossCells]:
        # The node at loss 0 is in, since the lattice goes through it.
        zero = int(np.searchsorted(nodes, round(-offset / step)))
        if zero >= nodes.size or nodes[zero] != round(-offset / step):
            nodes = np.insert(nodes, zero, round(-offset / step))
        return tuple(
            self._joined(part, zero) for part in zip(*self._halves(nodes, zero, offset, step), strict=True)
        )  # pyright: ignore[reportReturnType]

    def _halves(
        self, nodes: np.ndarray, zero: int, offset: float, step: float
    ) -> tuple[tuple[LossCells, LossCells], tuple[LossCells, LossCells]]:
        low = ReversedStep(self.ahead).cells(nodes[: zero + 1], offset, step)
        high = self.ahead.cells(nodes[zero:], offset, step)
        return low, high

    def _joined(self, halves: tuple[LossCells, LossCells], zero: int) -> LossCells:
        low, high = halves
        atoms = np.concatenate([low.log_atoms, high.log_atoms[1:]])
        atoms[zero] = self.ahead.log_rest
        return LossCells(
            np.concatenate([low.nodes, high.nodes[1:]]),
            np.concatenate([low.log_out, high.log_out]),
            np.concatenate([low.log_in, high.log_in]),
            atoms,
            low.offset,
            low.step,
            log_in_only=high.log_in_only,
            log_out_only=low.log_out_only,
            log_in_below=low.log_in_below,
            log_out_below=low.log_out_below,
            log_in_above=high.log_in_above,
            log_out_above=high.log_out_above,
            rounding=max(low.rounding, high.rounding, 16.0 * _UNIT),
        )


class ReversedStep(AbstractStepLaw):
    """The distribution with the worlds exchanged: losses change their sign."""

    def __init__(self, inner: AbstractStepLaw) -> None:
        self.inner, self.effort = inner, inner.effort
        self.ends = (-inner.ends[1], -inner.ends[0])
        self.fixed, self.needed, self.narrowest = (
            -inner.fixed,
            (inner.needed[1], inner.needed[0]),
            inner.narrowest,
        )

    @property
    def outline(self) -> Outline:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self.inner.outline.turned()

    def cells(self, nodes: np.ndarray, offset: float, step: float) -> tuple[LossCells, LossCells]:
        return tuple(_turned(cells) for cells in self.inner.cells(-nodes[::-1], -offset, step))  # pyright: ignore[reportReturnType]


class Capped(AbstractStepLaw):
    """The distribution with losses above a cap at the cap; what the world "in" has more there reveals it.
    `cap`: >= 0; the node at or next above it is taken instead.
    """

    def __init__(self, inner: AbstractStepLaw, cap: float) -> None:
        self.inner, self.cap = inner, cap
        self.ends = inner.ends[0], min(cap, inner.ends[1])
        self.fixed, self.needed, self.narrowest = inner.fixed, inner.needed, inner.narrowest

    @cached_property
    def outline(self) -> Outline:  # pyright: ignore[reportIncompatibleMethodOverride]
        line, low = self.inner.outline, int(np.searchsorted(self.inner.outline.losses, self.cap))
        if low == line.losses.size:
            return line
        log_out = float(np.logaddexp.reduce(line.log_out[low:]))
        ends = (self.cap, log_out, log_out + self.cap, float(line.widest[low]))
        parts = (line.losses, line.log_out, line.log_in, line.widest)
        return Outline(*(np.append(part[:low], end) for part, end in zip(parts, ends, strict=True)))

    def cells(self, nodes: np.ndarray, offset: float, step: float) -> tuple[LossCells, LossCells]:
        top = int(np.searchsorted(offset + step * nodes, self.cap))
        if top >= nodes.size:
            return self.inner.cells(nodes, offset, step)
        # A single cell has all from the cap to where the distribution is followed to; its place may be no int64.
        far = max(float(nodes[top]) + 1.0, (float(self.inner.outline.losses[-1]) + 1.0 - offset) / step)
        above, below = self.inner.cells(np.append(nodes[: top + 1].astype(np.float64), far), offset, step)
        return self._cut(above, nodes[: top + 1], worse=True), self._cut(below, nodes[: top + 1], worse=False)

    def _cut(self, cells: LossCells, nodes: np.ndarray, *, worse: bool) -> LossCells:
        """Without the highest cell, whose mass in the world "out" goes to the node below it."""
        atoms = cells.log_atoms[:-1].copy()
        atoms[-1] = np.logaddexp.reduce([atoms[-1], cells.log_atoms[-1], cells.log_out[-1]])
        most = float(np.logaddexp(cells.log_in_only, cells.log_in[-1]))
        return replace(
            cells,
            nodes=nodes,
            log_out=cells.log_out[:-1],
            log_in=cells.log_in[:-1],
            log_atoms=atoms,
            log_in_only=most if worse else cells.log_in_only,
        )


class Restricted(AbstractStepLaw):
    """The outcomes of mixed Gaussian shifts whose losses are below a border, or those of the others: masses that do not sum to 1.
    `above`: which; `log_small`: a mass of the largest losses that need not be planned for; `log_unit`: all masses are over that.

    A border that is off by a rounding moves outcomes from one part to the other: (y + 1) d of the smaller part, relatively, if it is off by d at
    the outcome y. `rounding` has that beside what the masses of the whole are off by; the larger part must be above that of the other.
    """

    def __init__(
        self,
        inner: AbstractStepLaw,
        border: float,
        *,
        above: bool,
        log_small: float = -math.inf,
        log_unit: float = 0.0,
    ) -> None:
        self.inner, self.border, self.above, self._limits = inner, border, above, (log_small, log_unit)
        self.ends = (border, inner.ends[1]) if above else (inner.ends[0], border)
        self.effort = inner.effort

    @cached_property
    def outline(self) -> Outline:  # pyright: ignore[reportIncompatibleMethodOverride]
        line, (log_small, log_unit) = self.inner.outline, self._limits
        held = np.flatnonzero((line.losses >= self.border) == self.above)
        if not held.size:
            return Outline(*(np.zeros(0) for _ in range(4)))
        # Cells are known by their midst: at the border there is a part of the nearest.
        at, nearest = (0, held[0]) if self.above else (held.size, held[-1])
        log_out = line.log_out[nearest] - 1.0
        ends = self.border, log_out, log_out + self.border, line.widest[nearest]
        losses, out, inside, widest = (
            np.insert(part[held], at, end)
            for part, end in zip((line.losses, line.log_out, line.log_in, line.widest), ends, strict=True)
        )
        return Outline(losses, out - log_unit, inside - log_unit, widest).within(log_small - log_unit)

    def cells(self, nodes: np.ndarray, offset: float, step: float) -> tuple[LossCells, LossCells]:
        place = (self.border - offset) / step
        held = nodes[nodes > place] if self.above else nodes[nodes < place]
        node = math.floor(place) if self.above else math.ceil(place)
        reaches = held.size < nodes.size  # the cell at the border is on the lattice, and else beyond it
        if not held.size:
            held = np.array([node + 1 if self.above else node - 1])
        at = 0 if self.above else held.size
        pair = self.inner.cells(np.insert(held.astype(np.float64), at, place), offset, step)
        # In the cell at the border all losses still lie between its nodes.
        own = np.insert(held, at, node) if reaches else held
        below, above = (self._own(part, own) for part in pair)
        return below, above

    def _own(self, cells: LossCells, nodes: np.ndarray) -> LossCells:
        beyond, end = ("below", 0) if self.above else ("above", -1)
        masses: Any = {
            f"log_{world}_{side}": getattr(cells, f"log_{world}_{side}") - self._limits[1]
            for world in ("in", "out")
            for side in ("only", "below", "above")
        }
        for world in ("in", "out"):
            logs = getattr(cells, f"log_{world}") - self._limits[1]
            inner = logs.size + 1 > nodes.size
            masses[f"log_{world}_{beyond}"] = float(logs[end]) if inner else -math.inf
            masses[f"log_{world}"] = np.delete(logs, end) if inner else logs
        return replace(
            cells,
            nodes=nodes,
            log_atoms=np.full(nodes.size, -np.inf),
            rounding=(32.0 if self.above else 2.0) * cells.rounding,
            **masses,
        )


def _turned(cells: LossCells) -> LossCells:
    losses = cells.offset + cells.step * cells.nodes
    return replace(
        cells,
        nodes=-cells.nodes[::-1],
        log_out=cells.log_in[::-1],
        log_in=cells.log_out[::-1],
        log_atoms=(cells.log_atoms + losses)[::-1],
        offset=-cells.offset,
        log_in_only=cells.log_out_only,
        log_out_only=cells.log_in_only,
        log_in_below=cells.log_out_above,
        log_out_below=cells.log_in_above,
        log_in_above=cells.log_out_below,
        log_out_above=cells.log_in_below,
    )
