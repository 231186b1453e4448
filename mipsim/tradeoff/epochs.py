"""A single epoch of random allocation (balls in bins): laws of the mean of density ratios that reveal more, and less."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtri

from mipsim._powers import repeated
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounded import BoundedTradeOff
from mipsim.tradeoff.bounds import EPS
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.points import polygon
from mipsim.tradeoff.sampled import SampledTradeOff
from mipsim.tradeoff.step_laws import MixedGaussian

SQUARABLE = (1e-100, 1e100)
"""Noise multipliers whose squares are numbers of float64."""
_ATOMS = 1800  # of a law of sums: its width falls with the square
_BULK, _SHARE = 8.5, 0.75  # probits, and the share of the atoms within them; the rest goes out to 37
_FARTHEST = 37.0  # standard deviations of a single step: the rates there are float64's least
_LARGEST_LOSS = 690.0  # of a single step: e^690 is a float64; P has less than e^-30 beyond it for s >= 1/30
_LEAST = 1e-290  # a mass below it is not treated as an atom
_LEAST_PRODUCT = 1e-300  # nor is a product of two masses
_ROWS = 64  # of a table of sums that is made at once
_NEAREST = 1e-6  # relative distance of neighbouring nodes, at least
_COARSE, _KNOTS = 240, 160  # atoms by which nodes are planned, and places between which these are as dense


@dataclass(frozen=True, eq=False)
class _Mean:
    """A law of the mean of `terms` density ratios, of which it is known whether it reveals more than the true law."""

    more: bool  # whether it reveals more than the true law, or less
    terms: int  # how many
    ratios: np.ndarray  # values s of the mean, rising, shape (m,)
    # out, inside: masses in the world "out", and s times these, those of the world "in"; shape (m,)
    out: np.ndarray
    inside: np.ndarray
    in_only: float  # mass of the world "in" at an infinite ratio
    masses: float  # bound on the relative error of each mass of "out"
    places: float  # bound on the relative error of each s

    def tradeoff(self) -> SampledTradeOff:
        """The curve of the law, its rounding included."""
        slack = 2.0 * (self.masses + self.places) + 4.0 * EPS * (self.ratios.size + 8)
        seen = self.inside > 0.0
        corners = polygon(
            self.out[seen][::-1], self.inside[seen][::-1], float(self.out[~seen].sum()), self.in_only, 1e-6
        )
        return SampledTradeOff.from_points(*corners, slack=slack)


def single_epoch(sigma: float, steps: int) -> AbstractTradeOff:
    """The curve of a single epoch of `steps` releases, of which the target takes part in one; see `random_allocation` for the proof."""
    if steps == 1:
        return GaussianTradeOff.of_noise(1.0, sigma)
    more, less = _laws(1.0 / sigma, steps)
    return BoundedTradeOff(more.tradeoff(), less.tradeoff())


@lru_cache(maxsize=8)
def _laws(mu: float, steps: int) -> tuple[_Mean, _Mean]:
    """Laws of S that reveal more and less."""
    more, less = (repeated(_first(mu, more=side), steps, _added) for side in (True, False))
    return more, less


def _first(mu: float, *, more: bool) -> _Mean:
    """A single step: cells of e^(mu z - mu^2 / 2), dense where z or z - mu is within 8.5."""
    lattice = mu * _FARTHEST / (1 << 16)
    edge = min(_FARTHEST + 0.5 * mu, _LARGEST_LOSS / mu)
    losses = mu * _probit_grid(_BULK + 0.5 * mu, edge)
    places = np.unique(np.round(losses / lattice)).astype(np.int64)
    cells = MixedGaussian(mu, 1.0).cells(places, 0.0, lattice)[0]
    losses, width = lattice * places, lattice * np.diff(places)
    nodes = np.exp(losses)
    with np.errstate(under="ignore", invalid="ignore"):
        out, above = np.exp(cells.log_out), np.clip(cells.log_in - cells.log_out - losses[:-1], 0.0, width)
        inside = np.exp(cells.log_in)
        rise = out * nodes[:-1] * np.expm1(above)
        # What lies beyond the cells has less than e^-680 in its likelier world.
        beyond_out = math.exp(cells.log_out_below) + math.exp(cells.log_out_above)
        beyond_in = math.exp(cells.log_in_below) + math.exp(cells.log_in_above)
    places_error = 2.0 * cells.rounding + EPS * (8.0 + 4.0 * edge * mu)
    nodes, out, rise, inside = (np.append(0.0, part) for part in (nodes, out, rise, inside))
    table = _Table(1, nodes, out, rise, inside, beyond_out, beyond_in, cells.rounding, places_error)
    return table.split() if more else table.merged()


@dataclass(frozen=True, eq=False)
class _Table:
    """Masses of the values of a mean in cells between nodes."""

    terms: int  # of the mean
    nodes: np.ndarray  # borders of the cells, rising from 0, shape (m + 1,)
    out: np.ndarray  # masses in the world "out", shape (m,)
    rise: np.ndarray  # the sum of out mass times (value - lower border), shape (m,)
    inside: np.ndarray  # masses in the world "in", shape (m,)
    # lost_out, lost_in: masses of values in no cell, too rare for float64, and of an infinite value
    lost_out: float
    lost_in: float
    masses: float  # bound on the relative error of each mass
    # by how much, relatively, a true value may be off the value that was put in its cell, or a mean off that of its cell
    places: float

    def split(self) -> _Mean:
        """Each cell to the nodes around it: a law that reveals more.

        Let a < b be the nodes around a cell, a' and b' the next ones, g1, g2, g3 the three gaps, r the relative error of places, and V
        the true values in the cell, times a common factor of at most 1 + r that gives them the mean which was computed. They lie
        within [a (1 - 2 r), b (1 + 2 r)]. The share 1 - c goes to a and b, the share c to a' and b', both with that mean. For a
        convex f take off the line through f(a) and f(b): then f <= 0 between them, f >= 0 outside, and f(b + x) <= f(b') x / g3. So the
        split has no smaller mean of f than V if 2 r b P(V > b) / g3 is at most c times the share of b', and likewise below a. By
        Markov's bound P(V > b) over that share is at most (g1 + g2 + g3) / max(g1, g2). Both hold for c = 4 r b (1/g1 + 1/g2 + 1/g3). At
        the ends, where values are at least 0 and at most the last node, there is no next node, and its gap counts as infinite.
        """
        nodes, light = self.nodes, self.out < _LEAST
        out, rise = np.where(light, 0.0, self.out), np.where(light, 0.0, self.rise)
        lost_out = self.lost_out + float(self.out[light].sum())
        lost_in = self.lost_in + float(self.inside[light].sum())
        last = nodes.size - 1
        left = np.arange(last)
        before, after = np.maximum(left - 1, 0), np.minimum(left + 2, last)
        gap = np.diff(nodes)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            up = np.where(out > 0.0, np.clip(rise / out, 0.0, gap), 0.0)
            far = 1.0 / gap + np.append(0.0, 1.0 / gap[:-1]) + np.append(1.0 / gap[1:], 0.0)
            aside = 4.0 * self.places * nodes[1:] * far
        if not (aside < 0.5).all():
            raise ArithmeticError("nodes of a grid are too near for the error of their masses")
        wide = (nodes[:-1] - nodes[before] + up) / (nodes[after] - nodes[before])
        parts = [
            (left, (1.0 - aside) * (1.0 - up / gap)),
            (left + 1, (1.0 - aside) * (up / gap)),
            (before, aside * (1.0 - wide)),
            (after, aside * wide),
        ]
        built = np.zeros(nodes.size)
        for at, share in parts:
            built += np.bincount(at, out * share, nodes.size)
        light = (built < _LEAST_PRODUCT) & (nodes > 0.0)
        lost_out += float(built[light].sum())
        lost_in += float((nodes[light] * (built[light] + 1e-320)).sum())
        built[light] = 0.0
        built[0] += lost_out
        seen = built > 0.0
        masses, places = self.masses + 32.0 * EPS, self.places + 16.0 * EPS
        return _Mean(
            True, self.terms, nodes[seen], built[seen], (nodes * built)[seen], lost_in, masses, places
        )

    def merged(self) -> _Mean:
        """Each cell to its mean: a law that reveals less. What is rare, or lost, is merged with the heaviest cell."""
        light = (self.out < _LEAST) | (self.inside < _LEAST)
        heaviest = int(np.argmax(np.minimum(self.out, self.inside)))
        out, inside = self.out[~light], self.inside[~light]
        at = heaviest - int(light[:heaviest].sum())
        out[at] += float(self.out[light].sum()) + self.lost_out
        inside[at] += float(self.inside[light].sum()) + self.lost_in
        return _Mean(False, self.terms, inside / out, out, inside, 0.0, self.masses + 8.0 * EPS, 4.0 * EPS)


def _added(first: _Mean, second: _Mean) -> _Mean:
    """The mean of the terms of two independent means, rounded to the side to which both are."""
    table = _table(first, second, _nodes(first, second))
    return table.split() if first.more else table.merged()


def _table(first: _Mean, second: _Mean, nodes: np.ndarray) -> _Table:
    """The sums of all pairs of values in cells; of equal laws each pair is made once."""
    terms, equal = first.terms + second.terms, first is second
    share, other = first.terms / terms, second.terms / terms
    out, rise, lost_out, lost_in = np.zeros(nodes.size - 1), np.zeros(nodes.size - 1), 0.0, 0.0
    added = 0
    for start in range(0, first.ratios.size, _ROWS):
        rows, columns = slice(start, start + _ROWS), slice(start if equal else 0, None)
        mass = np.multiply.outer(first.out[rows], second.out[columns])
        if equal:
            mass[:, _ROWS:] *= 2.0
        light = mass < _LEAST_PRODUCT
        if light.any():
            inside = share * np.multiply.outer(first.inside[rows], second.out[columns])
            inside += other * np.multiply.outer(first.out[rows], second.inside[columns])
            if equal:
                inside[:, _ROWS:] *= 2.0
            lost_out += float(mass[light].sum()) + 1e-310
            lost_in += float(inside[light].sum()) + 1e-310
            mass[light] = 0.0
        values = np.add.outer(share * first.ratios[rows], other * second.ratios[columns]).ravel()
        at = np.searchsorted(nodes, values, side="right") - 1
        mass = mass.ravel()
        out += np.bincount(at, mass, out.size)
        rise += np.bincount(at, mass * (values - nodes[at]), out.size)
        added += int(np.bincount(at).max())
    off = EPS * (added + 16 + first.ratios.size // _ROWS)
    return _Table(
        terms,
        nodes,
        out,
        rise,
        nodes[:-1] * out + rise,
        lost_out,
        lost_in + share * first.in_only + other * second.in_only,
        1.01 * (first.masses + second.masses + off),
        max(first.places, second.places) + 2.0 * off,
    )


def _nodes(first: _Mean, second: _Mean) -> np.ndarray:
    """Borders of cells for a sum, from 0 to above the largest, dense where a sum of coarse laws has mass in either world."""
    parts, terms = [_coarse(law) for law in (first, second)], first.terms + second.terms
    values = np.add.outer(first.terms / terms * parts[0][0], second.terms / terms * parts[1][0]).ravel()
    out = np.multiply.outer(parts[0][1], parts[1][1]).ravel()
    order = np.argsort(values, kind="stable")
    order = order[values[order] > 0.0]
    values, out = values[order], out[order]
    worlds = _probits(out), _probits(out * values)
    probits = np.maximum.accumulate(0.5 * (worlds[0] + worlds[1]))
    apart = 0.5 * float((worlds[0] - worlds[1])[int(np.abs(probits).argmin())])
    wanted = _probit_grid(_BULK + max(apart, 0.0), float(np.abs(probits).max()))
    # Coarse sums come in clusters: by knots that are farther apart than these.
    knots = np.linspace(probits[0], probits[-1], _KNOTS)
    logs = np.round(np.interp(wanted, knots, np.interp(knots, probits, np.log(values))) / _NEAREST)
    largest = first.terms / terms * first.ratios.max() + second.terms / terms * second.ratios.max()
    top = math.ceil(math.log(largest) / _NEAREST) + 2.0
    logs = np.unique(np.append(logs[logs < top - 1.5], top))
    return np.append(0.0, np.exp(_NEAREST * logs))


def _coarse(law: _Mean) -> tuple[np.ndarray, np.ndarray]:
    """Values and masses of some groups of neighbours."""
    probits = np.maximum.accumulate(0.5 * (_probits(law.out) + _probits(law.inside)))
    grid = _probit_grid(_BULK, float(np.abs(probits).max()), _COARSE)
    edges = np.searchsorted(probits, grid)
    starts = np.unique(np.minimum(edges, probits.size - 1))
    out = np.add.reduceat(law.out, starts)
    return np.add.reduceat(law.inside, starts) / out, out


def _probits(masses: np.ndarray) -> np.ndarray:
    """About Phi^-1 of the mass up to the midst of each atom, from the smaller tail."""
    with np.errstate(under="ignore"):
        shares = masses / masses.sum()
        below, above = np.cumsum(shares) - 0.5 * shares, np.cumsum(shares[::-1])[::-1] - 0.5 * shares
    below, above = np.maximum(below, 1e-300), np.maximum(above, 1e-300)
    return np.where(below < above, ndtri(below), -ndtri(above))


def _probit_grid(dense: float, edge: float, size: int = _ATOMS) -> np.ndarray:
    """Probits of nodes: most of them evenly between -dense and dense, the others out to the edge."""
    inner = min(dense, _SHARE * edge)
    return np.interp(np.linspace(-1.0, 1.0, size), [-1.0, -_SHARE, _SHARE, 1.0], [-edge, -inner, inner, edge])
