"""A law of privacy losses between two measures on a lattice: the first reveals more, the second less.

Source: Doroshenko et al. (2022), "Connect the dots: tighter discrete approximations of privacy loss distributions".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from mipsim._validation import UndefinedError
from mipsim.sums.lattice import Measure

LIGHTEST = -600.0  # logarithm of a tilted mass that is left out, and counted as lost
_HIDDEN = 4  # a law is merged to a single outcome if that hides so many times the mass that would be missing: of many laws, what is hidden adds up by squares
_SAME_LOSS = 1e-11  # a difference of losses that counts as rounding
_PASSES = 8  # over all nodes, which remove concave corners together
_MOST_CORNERS = 1 << 12  # that are removed thereafter: some milliseconds


@dataclass(frozen=True, eq=False)
class Levels:
    """Losses of a distribution, widths of cells there in steps, the widest allowed, logarithms of tilted weights, and the mean
    square of the widths.
    """

    losses: np.ndarray
    width: np.ndarray
    widest: np.ndarray
    log_weights: np.ndarray
    burden: float

    def finest(self, step: float, most: float) -> float:
        """The step, or a larger one for which about so many nodes at most are needed.

        >>> atoms = Levels(np.array([0.0, 1.0]), np.ones(2), np.ones(2), np.zeros(2), 1.0)
        >>> atoms.finest(1e-3, 1e4)
        0.001
        >>> atoms.nodes(0.0, atoms.finest(1e-7, 1e4)).size < 10010
        True
        """
        while self.size(step) > most:
            step *= 1.25
        return step

    def size(self, step: float) -> float:
        """About how many nodes a lattice of that step has."""
        gaps, width, widest = np.diff(self.losses), self.width[:-1], self.widest[:-1]
        return float(np.sum(gaps / np.minimum(step * width, np.maximum(widest, step))))

    def nodes(self, fixed: float, step: float) -> np.ndarray:
        """Places of the lattice from below the least loss to above the largest, as many steps apart as is allowed there."""
        losses = self.losses
        low = math.floor((float(losses[0]) - fixed) / step - 1e-9)
        high = math.ceil((float(losses[-1]) - fixed) / step + 1e-9)
        most = np.exp2(np.floor(np.log2(np.maximum(self.widest / step, 1.0))))
        allowed = np.minimum(self.width, most)
        place = (losses - fixed) / step
        # Runs of the same width; a width lasts until the next begins.
        starts = np.flatnonzero(np.concatenate([[True], np.diff(allowed) != 0.0]))
        pieces, at = [np.array([low])], low
        for n, s in enumerate(starts):
            end = high if n + 1 == starts.size else math.floor(float(place[starts[n + 1]]))
            jump = int(allowed[s])
            if n + 1 < starts.size:
                jump = int(min(jump, max(1.0, 2.0 ** math.floor(math.log2(max(end - at, 1))))))
            if end <= at:
                continue
            piece = np.arange(at + jump, end + 1, jump)
            if piece.size:
                pieces.append(piece)
                at = int(piece[-1])
        if at < high:
            pieces.append(np.array([high]))
        built = np.concatenate(pieces)
        pad = max(1, int(allowed[-1])), max(1, int(allowed[0]))
        return np.concatenate([built[:1] - pad[1], built, built[-1:] + pad[0]]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class LossCells:
    """Masses of the cells between nodes of the lattice of losses offset + index step, in both worlds.

    In a cell all losses lie between its two nodes. Masses are logarithms; -inf is none.
    """

    nodes: np.ndarray  # indices, rising, shape (m + 1,)
    # log_out, log_in: masses of the cells, shape (m,)
    log_out: np.ndarray
    log_in: np.ndarray
    # masses in the world "out" of outcomes whose loss is that of a node, shape (m + 1,)
    log_atoms: np.ndarray
    # offset, step: of the lattice
    offset: float
    step: float
    # log_in_only, log_out_only: masses that reveal the world
    log_in_only: float = -math.inf
    log_out_only: float = -math.inf
    # log_in_below, log_out_below: bounds on the masses of outcomes below the lowest node
    log_in_below: float = -math.inf
    log_out_below: float = -math.inf
    # log_in_above, log_out_above: bounds on the masses above the highest node
    log_in_above: float = -math.inf
    log_out_above: float = -math.inf
    rounding: float = 0.0  # a bound on the relative error of each mass


@dataclass(frozen=True, eq=False)
class Rounded:
    """A measure on the lattice, and logarithms of the masses that it does not hold."""

    measure: Measure  # the finite losses
    # log_in_only, log_out_only: masses that reveal the world
    log_in_only: float = -math.inf
    log_out_only: float = -math.inf
    log_in_missing: float = -math.inf  # mass of the world "in" that is nowhere
    # (mass "in", mass "out") of outcomes far below and far above that are nowhere: a test may accept or reject all of
    # them
    lost: tuple[tuple[float, float], ...] = ()
    # log_in_surplus, log_out_surplus: masses that the measure may hold beyond those of the cells
    log_in_surplus: float = -math.inf
    log_out_surplus: float = -math.inf
    rounding: float = 0.0  # relative error of each mass


def pessimistic(cells: LossCells, theta: float) -> Rounded:
    """Each cell split over its two nodes, which keeps its masses in both worlds and reveals more."""
    _, width, tilted, _, share, scale = _tilted(cells, theta)
    weights = _atoms(cells, theta, scale)
    light = _Light.of(cells, tilted, weights)
    weights[:-1] += tilted * (1.0 - share)
    weights[1:] += tilted * share * np.exp(theta * width)
    losses = cells.offset + cells.step * cells.nodes

    def put(node: int, log_out: float) -> None:
        weights[node] += math.exp(min(log_out + theta * float(losses[node]) - float(scale), 700.0))

    # What lies below a node reveals no more than it: its in mass is moved there. What lies above leaves its out mass there.
    put(0, cells.log_in_below - float(losses[0]))
    put(light.first, light.log_in_below - float(losses[light.first]))
    put(light.last, light.log_out_above)
    return Rounded(
        _measure(cells.nodes, weights, cells, theta, scale),
        log_in_only=_total(cells.log_in_only, cells.log_in_above, light.log_in_above, light.log_in_between),
        log_out_only=_total(
            cells.log_out_only,
            cells.log_out_below,
            cells.log_out_above,
            light.log_out_below,
            light.log_out_between,
        ),
        log_in_surplus=cells.log_in_below,
        log_out_surplus=cells.log_in_below - float(losses[0]),
        rounding=cells.rounding + 64.0 * 2.0**-53,
    )


def optimistic(cells: LossCells, theta: float) -> Rounded:
    """A measure on the nodes that reveals less.

    As a function of e^loss the hockey-stick divergence of the cells, each merged to a single outcome, is convex and
    piecewise linear. Its values at the nodes are lowered until the chords between them lie below it; where that makes a
    corner concave the corner is left out, which lowers the chords again.
    """
    parts = _tilted(cells, theta)
    k, shift = _bulk(cells, parts)
    if shift > 0.0:
        cells = _through_bulk(cells, k, shift, parts)
        parts = _tilted(cells, theta)
    left, _, tilted, more, _, scale = parts
    built, missing, off = _atoms(cells, theta, scale), -math.inf, 0.0
    light = _Light.of(cells, tilted, built)
    full = np.flatnonzero(tilted > 0.0)
    result: np.ndarray | None = None
    if full.size:
        first, last = int(full[0]), int(full[-1])
        nodes, inner = slice(first, last + 2), slice(first, last + 1)
        losses = cells.offset + cells.step * cells.nodes[nodes]
        line = _Line(
            losses,
            built[nodes],
            tilted[inner] * np.exp(theta * more[inner]),
            left[inner] + more[inner],
            theta,
        )
        result = _less_revealing(line)
        if result is not None:
            built[nodes] = result
        else:
            # Either all outcomes are merged, or each cell keeps its out mass at its lower node.
            with np.errstate(divide="ignore"):
                lost = float(np.logaddexp.reduce((cells.log_out + left + np.log(np.expm1(more)))[full]))
            merged = _merged(cells, nodes, _HIDDEN * math.exp(min(lost, 0.0)))
            if merged is not None:
                built[:], (at, weight, off) = 0.0, merged
                built[at] = math.exp(weight + theta * losses[at - first] - float(scale))
            else:
                built[:-1] += tilted
                missing = lost
    below = (
        _total(cells.log_in_below, light.log_in_below, light.log_in_between),
        _total(cells.log_out_below, light.log_out_below, light.log_out_between),
    )
    above = _total(cells.log_in_above, light.log_in_above), _total(cells.log_out_above, light.log_out_above)
    return Rounded(
        _measure(cells.nodes, np.maximum(built, 0.0), cells, theta, scale),
        log_in_only=cells.log_in_only,
        log_out_only=cells.log_out_only,
        log_in_missing=missing,
        lost=(below, above),
        rounding=cells.rounding + off + 64.0 * 2.0**-53,
    )


def bulk(cells: LossCells, theta: float) -> tuple[int, float]:
    """The cell with a large part of the tilted mass, and how far above its lower node its mean loss is; 0 if there is none.

    A lattice through that loss has no chords over so much mass, which would lie too high for the little beside it.
    """
    return _bulk(cells, _tilted(cells, theta))


def _bulk(cells: LossCells, parts: tuple[np.ndarray, ...]) -> tuple[int, float]:
    _, width, tilted, more, _, _ = parts
    k = int(tilted.argmax())
    beside = np.concatenate([[0.0], tilted, [0.0]])[[k, k + 2]]  # what lies around a node is there already
    alone = tilted[k] > max(0.1 * tilted.sum(), 10.0 * beside.max()) and not (cells.log_atoms > -np.inf).any()
    return k, float(more[k]) if alone and more[k] < width[k] else 0.0


def _through_bulk(cells: LossCells, k: int, shift: float, parts: tuple[np.ndarray, ...]) -> LossCells:
    """The same outcomes, those of each cell merged, on a lattice through that of the `bulk`."""
    left, width, _, more, _, _ = parts
    nodes = np.concatenate([cells.nodes[:1] - math.ceil(width[k] / cells.step), cells.nodes])
    offset = cells.offset + shift
    at = np.searchsorted(offset + cells.step * nodes, left + more, side="right") - 1
    logs = np.full((2, nodes.size - 1), -np.inf)
    for total, masses in zip(logs, (cells.log_out, cells.log_in), strict=True):
        np.logaddexp.at(total, np.delete(at, k), np.delete(masses, k))
    atoms = np.full(nodes.size, -np.inf)
    atoms[k + 1] = cells.log_out[k]
    loss = offset + cells.step * float(nodes[k + 1])
    off = abs(loss - float(cells.log_in[k] - cells.log_out[k])) + 4.0 * 2.0**-53 * (1.0 + abs(loss))
    return replace(
        cells,
        nodes=nodes,
        log_out=logs[0],
        log_in=logs[1],
        log_atoms=atoms,
        offset=offset,
        rounding=cells.rounding + off,
    )


def _total(*logs: float) -> float:
    return float(np.logaddexp.reduce(logs))


def _merged(cells: LossCells, nodes: slice, most: float) -> tuple[int, float, float] | None:
    """All outcomes as a single outcome, where its loss is a node and that hides a total variation of at most `most`."""
    held = np.flatnonzero(cells.log_atoms > -np.inf)
    if (held < nodes.start).any() or (held >= nodes.stop).any():
        return None
    atoms = cells.log_atoms[nodes], cells.offset + cells.step * cells.nodes[nodes]
    log_out = np.concatenate([cells.log_out, atoms[0]])
    log_in = np.concatenate([cells.log_in, atoms[0] + atoms[1]])
    if np.maximum(np.exp(log_in) - np.exp(log_out), 0.0).sum() > most:
        return None
    total = float(np.logaddexp.reduce(log_out))
    off = np.abs(atoms[1] - (float(np.logaddexp.reduce(log_in)) - total))
    nearest = int(off.argmin())
    return (nodes.start + nearest, total, float(off[nearest])) if off[nearest] <= _SAME_LOSS else None


def _tilted(cells: LossCells, theta: float) -> tuple[np.ndarray, ...]:
    """(loss of the left node, width, tilted out mass, mean loss above the left node, share that goes right, log scale)."""
    losses = cells.offset + cells.step * cells.nodes
    left, width = losses[:-1], cells.step * np.diff(cells.nodes)
    with np.errstate(invalid="ignore"):
        more = np.clip(
            np.where(cells.log_out > -np.inf, cells.log_in - cells.log_out - left, 0.0), 0.0, width
        )
    logs = cells.log_out + theta * left
    scale = max(
        float(logs.max(initial=-np.inf)), float((cells.log_atoms + theta * losses).max(initial=-np.inf))
    )
    if scale == -math.inf:
        raise UndefinedError(
            f"no exact answer: none of a step's losses lies on its lattice, from {losses[0]:.3g} to {losses[-1]:.3g}; rounding hides them"
        )
    tilted = np.where(logs - scale > LIGHTEST, np.exp(logs - scale), 0.0)
    share = np.expm1(more) / np.expm1(width)
    return left, width, tilted, more, np.minimum(share, 1.0), np.asarray(scale)


def _atoms(cells: LossCells, theta: float, scale: np.ndarray) -> np.ndarray:
    logs = cells.log_atoms + theta * (cells.offset + cells.step * cells.nodes) - scale
    return np.where(logs > LIGHTEST, np.exp(logs), 0.0)


@dataclass(frozen=True, eq=False)
class _Light:
    """Logarithms of the masses of cells and atoms whose tilted masses underflow: below the node `first`, above the node `last`, and between."""

    # first, last: indices of the lowest and the highest node that has a tilted mass
    first: int
    last: int
    log_out_below: float
    log_in_below: float
    log_out_above: float
    log_in_above: float
    log_out_between: float
    log_in_between: float

    @classmethod
    def of(cls, cells: LossCells, tilted: np.ndarray, atoms: np.ndarray) -> _Light:
        """Of tilted masses of cells and of atoms."""
        held = atoms > 0.0
        held[:-1] |= tilted > 0.0
        held[1:] |= tilted > 0.0
        first, last = (int(k) for k in np.flatnonzero(held)[[0, -1]])
        below = slice(first), slice(first)
        above, between = (
            (slice(last, None), slice(last + 1, None)),
            (slice(first, last), slice(first, last + 1)),
        )
        ends = []
        for at, on in (below, above, between):  # cells, and nodes
            light, none = tilted[at] == 0.0, atoms[on] == 0.0
            fixed = cells.log_atoms[on][none]
            losses = cells.offset + cells.step * cells.nodes[on][none]
            for masses, more in ((cells.log_out, fixed), (cells.log_in, fixed + losses)):
                parts = [np.logaddexp.reduce(logs, initial=-np.inf) for logs in (masses[at][light], more)]
                ends.append(float(np.logaddexp(*parts)))
        return cls(first, last, *ends)


def _measure(
    nodes: np.ndarray, weights: np.ndarray, cells: LossCells, theta: float, scale: np.ndarray
) -> Measure:
    seen = weights > 0.0
    total = float(weights.sum())
    return Measure(
        nodes[seen], weights[seen] / total, cells.offset, cells.step, theta, float(scale) + math.log(total)
    )


@dataclass(frozen=True, eq=False)
class _Line:
    """Atoms at nodes, and a merged outcome in each cell between two nodes, all tilted.

    An outcome of loss z and weight w has the out mass w e^(-theta z) and the in mass w e^((1 - theta) z).
    """

    nodes: np.ndarray  # losses, rising, shape (m + 1,)
    atoms: np.ndarray  # weights at the nodes
    # weights, losses: of the outcomes, shape (m,)
    weights: np.ndarray
    losses: np.ndarray
    theta: float  # the tilt

    def turned(self) -> _Line:
        """The worlds exchanged."""
        return _Line(
            -self.nodes[::-1], self.atoms[::-1], self.weights[::-1], -self.losses[::-1], 1.0 - self.theta
        )

    def sags(self) -> np.ndarray:
        """How far the chord over each cell lies above the corner in it, times e^((theta - 1) loss of the left node)."""
        more, width = self.losses - self.nodes[:-1], np.diff(self.nodes)
        share = np.where(width > 0.0, np.exp(more) * np.expm1(width - more) / np.expm1(width), 0.0)
        return self.weights * np.exp(-self.theta * more) * np.expm1(more) * share

    def first_cut(self) -> int:
        """How many nodes next to the lowest are left out: until what their outcomes reveal is about a sag."""
        near = self.nodes[1:] - self.nodes[0]
        steep = max(abs(self.theta), abs(1.0 - self.theta), 1.0)
        near = near[near * steep < 300.0]
        if not near.size:
            return 0
        z, w = self.losses[: near.size] - self.nodes[0], self.weights[: near.size]
        out, inside = np.cumsum(w * np.exp(-self.theta * z)), np.cumsum(w * np.exp((1.0 - self.theta) * z))
        tail = out * np.exp(self.theta * near) - inside * np.exp((self.theta - 1.0) * near)
        sags = np.append(self.sags(), 0.0)
        return int(np.argmax(tail >= sags[1 : near.size + 1]))

    def merged(self, count: int) -> _Line:
        """Without `count` nodes next to the lowest: the outcomes of the cells between are merged to a single outcome."""
        if count == 0:
            return self
        nodes = slice(1, count + 1)
        losses = np.append(self.losses[: count + 1], self.nodes[nodes])
        with np.errstate(divide="ignore"):
            logs = np.log(np.append(self.weights[: count + 1], self.atoms[nodes]))
        log_out = np.logaddexp.reduce(logs - self.theta * losses)
        loss = np.logaddexp.reduce(logs + (1.0 - self.theta) * losses) - log_out
        loss = min(max(float(loss), float(self.nodes[0])), float(self.nodes[count + 1]))
        weight = math.exp(log_out + self.theta * loss)
        return _Line(
            np.delete(self.nodes, nodes),
            np.delete(self.atoms, nodes),
            np.append(weight, self.weights[count + 1 :]),
            np.append(loss, self.losses[count + 1 :]),
            self.theta,
        )


def _less_revealing(line: _Line) -> np.ndarray | None:
    """Weights at the nodes of a line that reveal less and keep the masses of both worlds; None if there are too few cells."""
    size = line.weights.size
    low, high = line.first_cut(), line.turned().first_cut()
    while low + high < size - 2:
        with np.errstate(over="ignore", invalid="ignore"):
            result = _lowered(line.merged(low).turned().merged(high).turned())
        if not np.isfinite(result).all():  # cells too wide for the tilt
            return None
        if isinstance(result, int):
            low, high = (2 * low + 1, high) if result < 0 else (low, 2 * high + 1)
            continue
        built = np.zeros(size + 1)
        built[0], built[-1] = result[0], result[-1]
        built[low + 1 : size - high] = result[1:-1]
        return built
    return None


def _lowered(line: _Line) -> np.ndarray | int:
    """The weights at the nodes, or -1 or 1: the end that does not allow it.

    A lowering c of the corner at a node of loss l is held as c e^((theta - 1) l), so that it has the scale of the weights.
    """
    theta, width = line.theta, np.diff(line.nodes)
    more = line.losses - line.nodes[:-1]
    tilted = line.weights * np.exp(-theta * more)
    grow = np.expm1(width)
    share = np.minimum(np.expm1(more) / grow, 1.0)
    up, down = tilted * share * np.exp(theta * width), tilted * np.exp(more) * np.expm1(width - more) / grow
    built = line.atoms.copy()
    built[:-1] += down
    built[1:] += up
    whole = built.copy()
    turn = np.exp((theta - 1.0) * width)  # from the scale of a left node to that of the right node
    sag = line.sags()
    c = np.zeros(built.size)
    c[:-1] = sag
    c[1:] = np.maximum(c[1:], sag * turn)
    # At the ends nothing may be lowered: the masses of both worlds would not be preserved.
    c[-2] = max(float(c[-2]), float(tilted[-1] * math.expm1(float(more[-1]))))
    c[1] = max(float(c[1]), float(down[0] * grow[0] * turn[0]))
    c[0] = c[-1] = 0.0
    built[:-1] -= (c[1:] / turn - c[:-1]) / grow
    built[1:] += (c[1:] - c[:-1] * turn) / -np.expm1(-width)
    built[np.abs(built) <= 1e-13 * whole] = 0.0
    return _without_corners(line, built)


def _without_corners(line: _Line, built: np.ndarray) -> np.ndarray | int:
    """Weights without negative ones, or the end that does not allow it: each is divided between the nearest nodes that hold any.

    A negative weight is a concave corner, without which the chord over it is lower. In which order they go does not matter: the convex
    hull is left. Many at a time by passes over all nodes; then each by itself, since a deep corner moves from node to node.
    """
    theta = line.theta
    for _ in range(_PASSES):
        bad = np.flatnonzero(built < 0.0)
        if not bad.size:
            return built
        good = np.flatnonzero(built > 0.0)
        right = np.searchsorted(good, bad)
        if right[0] == 0:
            return -1
        if right[-1] == good.size:
            return 1
        low, high = good[right - 1], good[right]
        rise, span = line.nodes[bad] - line.nodes[low], line.nodes[high] - line.nodes[low]
        part = np.expm1(rise) / np.expm1(span)  # of the out mass
        mass = built[bad]
        built[bad] = 0.0
        np.add.at(built, low, mass * (1.0 - part) * np.exp(-theta * rise))
        np.add.at(built, high, mass * part * np.exp(theta * (span - rise)))
    left = _MOST_CORNERS
    for start in np.flatnonzero(built < 0.0).tolist():
        at, low, high = start, start, start
        while (mass := float(built[at])) < 0.0:
            while low >= 0 and (low == at or built[low] == 0.0):
                low -= 1
            while high < built.size and (high == at or built[high] == 0.0):
                high += 1
            left -= 1
            if low < 0 or (left < 0 and start < built.size // 2):
                return -1
            if high == built.size or left < 0:
                return 1
            rise, span = float(line.nodes[at] - line.nodes[low]), float(line.nodes[high] - line.nodes[low])
            if span * max(1.0, abs(theta)) > 700.0:
                return np.full(built.shape, np.nan)
            part = math.expm1(rise) / math.expm1(span)
            built[at] = 0.0
            built[low] += mass * (1.0 - part) * math.exp(-theta * rise)
            built[high] += mass * part * math.exp(theta * (span - rise))
            at = low if built[low] < 0.0 else high
    return built
