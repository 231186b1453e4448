"""Check a certificate of mipsim in ball arithmetic; run it as `mipsim check FILE` or `python check.py FILE`.

This file needs python-flint and nothing of mipsim: who trusts it, and Arb, need not trust mipsim. ACCEPTED means that each claimed number
lies between its claimed ends. The checker computes a lower and an upper end of its own, at the precision and on the grid that the
certificate states, and accepts if these lie between the claimed ends. So no claim is narrower than what its grid proves, and
`mipsim.certify` claims the checker's own ends, widened by 1e-10. The ends that mipsim computes by other means may be narrower. They are in
the certificate as `stated`; a certificate whose stated ends are proven to miss the number is REJECTED.

How compositions are bounded. An outcome has a probability p in the world "in" and q in "out". The polynomial whose k-th coefficient is the
q of all outcomes with p / q = e^(k step) is an experiment on a grid, and products of polynomials are compositions. From any experiment two
on the grid are made, and composing keeps their order:

- *above*: an outcome between two places is split among both, with the sums of p and of q unchanged (Doroshenko et al., 2022);
- *below*: outcomes around a place are merged so that their p / q is that of the place, or p is reduced to it.

Mass beyond the window counts at the safe end. Every number is a ball of Arb, which carries the rounding.
"""

from __future__ import annotations

import json
import math
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any

from flint import arb, arb_poly, ctx, fmpq

Mass = tuple[Fraction, Fraction]  # (place, probability)
Cell = tuple[arb, arb]  # probabilities "in" and "out" of an outcome, or of several
Ends = tuple[arb, arb]  # a lower and an upper end
PLACES, COPIES, BITS = 1 << 20, 10**9, 4096  # most places of a window, copies of a part, bits
ZERO, NUDGE = arb(0), 2.0**-44


class Undecided(ValueError):
    """The certificate is malformed, or asks for more than this program decides."""


def demand(holds: Any, says: str) -> None:
    """Raise `Undecided` unless a condition holds."""
    if not holds:
        raise Undecided(says)


def exactly(value: arb) -> Fraction:
    """A number without a radius."""
    mantissa, exponent = map(int, value.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent


def ball(value: Fraction | int) -> arb:
    """A rational number as a ball."""
    return arb(fmpq(*Fraction(value).as_integer_ratio()))


# The curve of a pair of distributions at x >= 0 is the largest in(A) - x out(A) of a set A of outcomes: delta at the epsilon log x.


class Smooth:
    """Mixtures of shifts of a noise of scale 1; no shift of "out" is above any of "in", so that the likelihood ratio rises with the outcome."""

    def __init__(self, noise: Any, inside: list[Mass], out: list[Mass]):
        demand(noise in ("gaussian", "laplace"), "noise must be gaussian or laplace")
        for side in (inside, out):
            demand(side and all(w > 0 for _, w in side), "weights must be above 0")
            demand(sum(w for _, w in side) == 1, "weights must sum to 1")
        shared = max(s for s, _ in out)
        demand(shared <= min(s for s, _ in inside), "a shift of out is above a shift of in")
        self.gaussian = noise == "gaussian"
        self.sides = [[(ball(s), ball(w)) for s, w in side] for side in (inside, out)]
        self.shifts = {float(s): s for side in self.sides for s, _ in side}
        self.least, self.most = (ball(f(s for s, _ in (*inside, *out))) for f in (min, max))
        self.ends: list[arb | None] = [
            None,
            None,
        ]  # the least and the largest ratio; None where it is 0 or infinite
        if not self.gaussian:
            self.ends = [self.ratio(self.least), self.ratio(self.most)]
        else:
            if len(out) == 1 and shared in dict(inside):
                self.ends[0] = ball(dict(inside)[shared])
            if len(inside) == 1 and inside[0][0] in dict(out):
                self.ends[1] = 1 / ball(dict(out)[inside[0][0]])
        self.simple = len(out) == 1 and len({s for s, _ in inside} - {shared}) == 1 == len(inside) - (
            shared in dict(inside)
        )

    def tail(self, z: arb, above: bool) -> arb:
        """P(Z > z), or P(Z < z), of the noise Z around 0."""
        z = z if above else -z
        if self.gaussian:
            return (z * arb(0.5).sqrt()).erfc() / 2
        demand(z > 0 or z <= 0, "an outcome lies too near to a kink of the noise")
        return (-z).exp() / 2 if z > 0 else 1 - z.exp() / 2

    def tails(self, y: arb, above: bool = True) -> Cell:
        """Probabilities of the outcomes above, or below, y in both worlds."""
        inside, out = (sum((w * self.tail(y - s, above) for s, w in side), ZERO) for side in self.sides)
        return inside, out

    def ratio(self, y: arb) -> arb:
        """The likelihood ratio at the outcome y."""
        if self.gaussian:
            inside, out = (sum((w * (s * (y - s / 2)).exp() for s, w in side), ZERO) for side in self.sides)
        else:
            inside, out = (
                sum((w * (abs(y - self.least) - abs(y - s)).exp() for s, w in side), ZERO)
                for side in self.sides
            )
        return inside / out

    def place(self, x: arb, near: arb) -> arb | None:
        """A ball around the outcome of ratio x; None below the least and above the largest ratio."""
        low, high = self.ends
        if (low is not None and x <= low) or (high is not None and x >= high):
            return None
        if self.simple:
            (base, _), (shift, weight) = self.sides[1][0], self.sides[0][-1]
            log = ((x - (1 - weight)) / weight).log()
            y = log / (shift - base) + (base + shift) / 2 if self.gaussian else (log + base + shift) / 2
            demand(y.is_finite(), "a place of the grid meets an end of the losses; take another step")
            return y
        y, log, width = near, x.log(), arb(2) ** (-ctx.prec // 2)
        for _ in range(200):
            slope = (self.ratio(y + width).log() - self.ratio(y - width).log()) / (2 * width)
            move = (self.ratio(y).log() - log) / slope if slope > 0 else arb(math.copysign(0.5, log < 0))
            y = (y - move.max(arb(-1)).min(arb(1))).mid()
            if abs(move) < width:
                break
        near = (arb(2) ** (20 - ctx.prec) * (1 + abs(y))).mid()
        demand(self.ratio(y - near) < x < self.ratio(y + near), "an outcome of given ratio was not found")
        return y + arb(0, near)

    def cells(self, frame: Frame) -> tuple[int, list[Cell], Cell, Cell]:
        """The lowest place that is used, outcomes between places, their ratios rising, and rare outcomes below and above these."""
        first, last = (
            None if end is None else math.floor(float(end.log()) / float(frame.step)) for end in self.ends
        )
        low = frame.low if first is None else max(frame.low, first - 1)
        high = frame.high if last is None else min(frame.high, last + 2)

        def rare(k: int, above: bool) -> bool:
            y = self.place(frame.place(k), self.least)
            return y is not None and bool(self.tails(y, above)[0 if above else 1] < frame.tail)

        if first is None:
            low = low + max(bisect_left(range(low, 0), 1, key=lambda k: 1 - rare(k, False)) - 1, 0)
        if last is None:
            high = bisect_left(range(high), 1, key=lambda k: rare(k, True))
        edges, y, places = (
            [(dict.fromkeys(self.shifts, ZERO), dict.fromkeys(self.shifts, False))],
            self.least,
            frame.parts,
        )
        for j in range(low * places, high * places + 1):
            place = self.place((frame.unit * j / places).exp(), y)
            if place is not None:
                y = place
                above = {name: bool(y.mid() > s.mid()) for name, s in self.shifts.items()}
                edges.append(
                    ({name: self.tail(y - s, above[name]) for name, s in self.shifts.items()}, above)
                )
        edges.append((dict.fromkeys(self.shifts, ZERO), dict.fromkeys(self.shifts, True)))
        built = []
        for (old, was), (new, now) in pairwise(edges):
            mass = {
                n: 1 - old[n] - new[n] if was[n] != now[n] else old[n] - new[n] if now[n] else new[n] - old[n]
                for n in self.shifts
            }
            built.append(tuple(sum((w * mass[float(s)] for s, w in side), ZERO) for side in self.sides))
        below = built.pop(0) if first is None else (ZERO, ZERO)
        return low, built, below, built.pop() if last is None else (ZERO, ZERO)

    def curve(self, x: arb) -> Ends:
        """The curve at x."""
        _, high = self.ends
        if (y := self.place(x, self.least)) is None:
            value = ZERO if high is not None and x >= high else 1 - x
        else:
            p, q = self.tails(y)
            value = p - x * q
        return value, value

    def tpr(self, fpr: Fraction) -> Ends:
        """The largest probability "in" of outcomes that have probability `fpr` "out"."""
        goal = ball(fpr)
        demand(0 < fpr < 1, "fpr must lie between 0 and 1")
        low, high = self.least - 1, self.most + 1
        while not self.tails(low)[1] >= goal:
            low = 2 * low - self.most - 1
        while not self.tails(high)[1] <= goal:
            high = 2 * high - self.least + 1
        for _ in range(2 * ctx.prec):
            middle = ((low + high) / 2).mid()
            q = self.tails(middle)[1]
            if q >= goal:
                low = middle
            elif q <= goal:
                high = middle
            else:
                break
        return self.tails(high)[0], self.tails(low)[0]


class Finite:
    """Outcomes in the order of a score, lowest first; by default the score is the likelihood ratio, whose test is the best."""

    def __init__(self, cells: list[Cell], losses: list[float] | None = None, ordered: bool = False):
        self.ordered = ordered
        if not ordered and losses is None:
            known = sorted(((loss(cell), n) for n, cell in enumerate(cells)))
            cells, losses = [cells[n] for _, n in known], [value for value, _ in known]
        self.cells, self.losses = cells, losses or []
        self.sums = [(ZERO, ZERO)]  # of the last outcomes: none, the last, ...
        for p, q in reversed(cells):
            self.sums.append((self.sums[-1][0] + p, self.sums[-1][1] + q))

    def curve(self, x: arb) -> Ends:
        """The curve at x, of the tests of this score."""
        if self.ordered:
            value = ZERO
            for p, q in self.sums:
                value = value.max(p - x * q)
            return value, value
        at = float(x.log()) if x > 0 else -math.inf
        first, last = (
            bisect_right(self.losses, at + off) for off in (-1e-9, 1e-9)
        )  # the others are surely on their side
        p, q = self.sums[len(self.cells) - last]
        value = p - x * q
        for p, q in self.cells[first:last]:
            value += (p - x * q).max(ZERO)
        return value, value

    def tpr(self, fpr: Fraction) -> Ends:
        """The probability "in" of the highest outcomes that have probability `fpr` "out", equal outcomes by lot."""
        demand(0 <= fpr <= 1, "fpr must lie between 0 and 1")
        goal, top = ball(fpr), len(self.cells)
        at, over = 0, top
        while at < over:  # the last sum that is not above the goal
            middle = (at + over + 1) // 2
            at, over = (at, middle - 1) if self.sums[middle][1].mid() > goal.mid() else (middle, over)
        p, off = self.sums[at][0], goal - self.sums[at][1]
        slopes = []
        for n, sign in ((at, 1), (at - 1, -1)):  # of the next outcome, and of the last
            part = (sign * off).max(ZERO)
            if 0 <= n < top and not part.is_zero():
                gained, spent = self.cells[top - 1 - n]
                demand(spent > 0, "a threshold was not decided; take more bits")
                p += sign * part * gained / spent
                slopes.append((gained / spent).mid())
        high = p
        if not self.ordered and slopes:
            high = self.curve(slopes[0])[1] + slopes[0] * goal
        return p, high.min(arb(1))


def loss(cell: Cell) -> float:
    """The privacy loss of an outcome to rounding."""
    p, q = cell
    if q.is_zero() or p.is_zero():
        return math.inf if q.is_zero() else -math.inf
    ratio = (p / q).log()
    demand(ratio.rad() < 1e-12, "a probability was lost to rounding; take more bits")
    return float(ratio)


class Grid:
    """Measures on places of a grid, and what lies above all places "in"."""

    def __init__(self, masses: dict[int, arb], infinite: arb, frame: Frame, above: bool):
        self.start = min(masses, default=frame.low)
        self.poly = arb_poly(
            [masses.get(k, ZERO) for k in range(self.start, max(masses, default=frame.low) + 1)]
        )
        self.infinite, self.frame, self.above = infinite, frame, above

    def total(self) -> arb:
        """Of what lies on the places, "in"."""
        return self.poly(self.frame.root) * self.frame.place(self.start)

    def __mul__(self, other: Grid) -> Grid:
        new, frame = Grid.__new__(Grid), self.frame
        poly, start = self.poly * other.poly, self.start + other.start
        new.frame, new.above = frame, self.above
        new.infinite = (
            self.infinite * (other.total() + other.infinite) + self.total() * other.infinite
            if self.above
            else ZERO
        )
        cut = frame.low - start
        if cut > 0:
            lost = poly.truncate(cut)(arb(1))
            poly, start = poly.right_shift(cut), frame.low
            poly = poly + lost if self.above else poly
        keep = frame.high - start + 1
        if poly.length() > keep:
            lost = poly.right_shift(keep)
            poly = poly.truncate(keep)
            if self.above:
                new.infinite += lost(frame.root) * frame.place(start + keep)
            else:
                poly += arb_poly([ZERO] * (keep - 1) + [lost(arb(1))])
        new.poly, new.start = poly, start
        return new

    def finite(self) -> Finite:
        """The same as outcomes, whose masses are rounded to the safe end: more outcomes tell more."""
        frame, step = self.frame, float(self.frame.step)
        masses = [mass.upper() if self.above else mass.lower().max(ZERO) for mass in self.poly.coeffs()]
        cells = [(mass * frame.place(self.start + n), mass) for n, mass in enumerate(masses)]
        losses = [step * (self.start + n) for n in range(len(masses))]
        return Finite([*cells, (self.infinite.upper(), ZERO)], [*losses, math.inf])


class Frame:
    """A grid and its window, and how an experiment is put on it; `tail` is rare, and each step has that many `parts`."""

    def __init__(self, step: Fraction, low: int, high: int, parts: int, tail: Fraction):
        demand(
            0 < step <= 1 and low < 0 < high and tail > 0,
            "the grid must have a step, a window around 0 and a tail",
        )
        demand(high - low <= PLACES and low * step > -700 and high * step < 700, "the window is too large")
        self.step, self.low, self.high, self.parts, self.tail = step, low, high, parts, ball(tail)
        self.unit, self._places = ball(step), dict[int, arb]()
        self.root = self.unit.exp()

    def place(self, k: int) -> arb:
        """e^(k step)."""
        if k not in self._places:
            self._places[k] = (self.unit * k).exp()
        return self._places[k]

    def on(self, part: Smooth | Finite, above: bool) -> Grid:
        """An experiment on the grid that tells at least, or at most, as much."""
        if isinstance(part, Smooth):
            least, cells, below, beyond = part.cells(self)
        else:
            cells, below, beyond = (
                [cell for cell in part.cells if not cell[0].is_zero()],
                (ZERO, ZERO),
                (ZERO, ZERO),
            )
            least = self.low
        masses: dict[int, arb] = {}
        infinite = beyond[0] if above else ZERO

        def put(k: int, mass: arb) -> None:
            masses[k] = masses.get(k, ZERO) + mass

        if above:
            put(least, below[1])
        elif not beyond[0].is_zero():
            cells.append(beyond)
        for p, q in cells if above else self.merged(cells):
            value = loss((p, q))
            k = max(min(value / float(self.step), self.high + 1), self.low - 1)
            k = math.floor(k)
            if not above:
                while k >= self.low and not self.place(k) * q <= p:
                    k -= 1
                if k >= self.low:
                    put(min(k, self.high), q)
                continue
            while k < self.high and not p <= self.place(k + 1) * q:
                k += 1
            if k >= self.high:
                infinite += p
            elif k < self.low:
                put(self.low, q)
            else:
                x, y = self.place(k), self.place(k + 1)
                share = ((p - x * q) / (y - x)).max(ZERO)
                put(k + 1, share)
                put(k, q - share)
        return Grid(masses, infinite, self, above)

    def merged(self, cells: list[Cell]) -> list[Cell]:
        """Outcomes merged so that each p / q is just above a place; from the end that is farther, where the sides of a cell become alike."""
        cells = [cell for cell in cells if not (cell[0].is_zero() or cell[1].is_zero())] + [
            c for c in cells if c[1].is_zero()
        ]
        if not cells:
            return []
        ends = loss(cells[0]), loss(cells[-1])
        turned = abs(ends[0]) < abs(ends[1])
        step, built = float(self.step), list[Cell]()
        waiting = [(q, p) for p, q in cells] if turned else cells[::-1]
        share, held, n = arb(1), (ZERO, ZERO), 0
        excess, aim = 0.0, None
        while n < len(waiting):
            p, q = waiting[n]
            if aim is None:
                value = loss((p, q))
                aim = math.exp(
                    step * math.floor(min(value / step, self.high) - 1e-6) + (-NUDGE if turned else NUDGE)
                )
                excess, held = 0.0, (ZERO, ZERO)
            more = float(share) * (float(p) - aim * float(q))
            if excess + more >= 0.0:
                held, excess, n, share = (
                    (held[0] + p * share, held[1] + q * share),
                    excess + more,
                    n + 1,
                    arb(1),
                )
                continue
            part = share * arb(excess / -more)
            built.append((held[0] + p * part, held[1] + q * part))
            share, aim = share - part, None
        if aim is not None:
            built.append(held)
        return [(q, p) for p, q in built] if turned else built


# Reading a certificate


def exact(value: Any) -> Fraction:
    """A number that is written as an integer, "n/d" or as `float.hex` writes it."""
    demand(
        isinstance(value, (int, str)) and not isinstance(value, bool),
        "a number must be an integer, a fraction or hexadecimal",
    )
    demand(len(text := str(value)) <= 1000, "a number is too long")
    try:
        return Fraction(float.fromhex(text)) if "x" in text else Fraction(*map(int, text.split("/")))
    except (ValueError, TypeError, OverflowError, ZeroDivisionError) as wrong:
        raise Undecided(f"{text[:40]!r} is no number") from wrong


def whole(value: Any, low: int, high: int, name: str) -> int:
    """An integer between two others."""
    demand(
        isinstance(value, int) and not isinstance(value, bool) and low <= value <= high,
        f"{name} must lie in [{low}, {high}]",
    )
    return value


def record(value: Any, needed: Iterable[str], more: Iterable[str] = ()) -> dict[str, Any]:
    """An object of JSON with these keys, and maybe more of these."""
    demand(isinstance(value, dict), "an object is missing")
    demand(
        set(needed) <= value.keys() <= {*needed, *more},
        f"an object must have {', '.join(needed)}, and may have {', '.join(more) or 'no more'}",
    )
    return value


def pairs(value: Any, most: int = 10_000) -> list[tuple[Fraction, Fraction]]:
    """Pairs of numbers."""
    demand(
        isinstance(value, list)
        and 0 < len(value) <= most
        and all(isinstance(x, list) and len(x) == 2 for x in value),
        "a list of pairs is missing",
    )
    return [(exact(a), exact(b)) for a, b in value]


def part(value: Any, turned: bool) -> tuple[Smooth | Finite, int]:
    """A part of a composition, its worlds maybe exchanged, and how many copies of it there are."""
    if "dp" in record(value, (), ("noise", "in", "out", "atoms", "dp", "copies")):
        epsilon, delta = pairs([record(value, ("dp", "copies"))["dp"]])[0]
        demand(0 <= epsilon < 700 and 0 <= delta <= 1, "dp must be an epsilon and a delta")
        sure, odds = ball(delta), ball(epsilon).exp()
        likely = (1 - sure) * odds / (1 + odds)
        built = Finite([(ZERO, sure), (likely / odds, likely), (likely, likely / odds), (sure, ZERO)])
    elif "atoms" in value:
        atoms = pairs(record(value, ("atoms", "copies"))["atoms"])
        demand(all(p >= 0 and q >= 0 for p, q in atoms), "a probability is below 0")
        demand(sum(p for p, _ in atoms) == 1 == sum(q for _, q in atoms), "probabilities must sum to 1")
        built = Finite([(ball(q), ball(p)) if turned else (ball(p), ball(q)) for p, q in atoms])
    else:
        record(value, ("noise", "in", "out", "copies"))
        inside, out = (sorted(pairs(value[side])) for side in ("in", "out"))
        turn = [sorted((-s, w) for s, w in side) for side in (out, inside)]
        built = Smooth(value["noise"], *(turn if turned else (inside, out)))
    return built, whole(value["copies"], 1, COPIES, "copies")


def power(cells: list[Cell], count: int, most: int) -> list[Cell]:
    """Independent copies of an experiment, outcomes that differ in their order alone taken together."""
    demand(math.comb(count + len(cells) - 1, count) <= most, "the outcomes are too many; give a grid")
    if len(cells) == 1:
        return [(cells[0][0] ** count, cells[0][1] ** count)]
    p, q = cells[0]
    rest = [power(cells[1:], count - n, most) for n in range(count + 1)]
    return [
        (math.comb(count, n) * p**n * a, math.comb(count, n) * q**n * b)
        for n in range(count + 1)
        for a, b in rest[n]
    ]


def together(parts: list[tuple[Smooth | Finite, int]], most: int = 1 << 17) -> Smooth | Finite:
    """A composition in closed form or by enumeration."""
    if len(parts) == 1 and parts[0][1] == 1:
        return parts[0][0]
    cells = [(arb(1), arb(1))]
    for single, count in parts:
        demand(isinstance(single, Finite), "the composition needs a grid")
        assert isinstance(single, Finite)
        new = power(single.cells, count, most)
        demand(len(cells) * len(new) <= most, "the outcomes are too many; give a grid")
        cells = [(p * a, q * b) for p, q in cells for a, b in new]
    return Finite(cells)


def composition(question: dict[str, Any], grid: Any) -> list[tuple[Smooth | Finite, Smooth | Finite]]:
    """Experiments that tell at most, and at least, as much as a composition; of each direction of the neighbours."""
    record(question, ("kind", "parts", "neighbours"))
    ways = {"remove": [False], "add": [True], "add_or_remove": [False, True]}.get(str(question["neighbours"]))
    demand(
        ways and isinstance(question["parts"], list) and 0 < len(question["parts"]) <= 10_000,
        "neighbours or parts are wrong",
    )
    built = []
    for turned in ways or ():
        parts = [part(value, turned) for value in question["parts"]]
        if grid is None:
            built.append((together(parts),) * 2)
            continue
        frames = read_frames(grid)
        built.append(tuple(composed(parts, frames, above).finite() for above in (False, True)))
    return built


def read_frames(grid: Any) -> list[Frame]:
    """Grids for a part, for 4 parts, for 16, ...: each twice as coarse as the last, over the same losses."""
    record(grid, ("step", "window", "parts", "grids", "tail"))
    window = grid["window"]
    demand(isinstance(window, list) and len(window) == 2, "window must be two places")
    low, high = (whole(k, -PLACES, PLACES, "window") for k in window)
    parts, last = whole(grid["parts"], 1, 16, "parts"), whole(grid["grids"], 1, 16, "grids") - 1
    step, tail = exact(grid["step"]), exact(grid["tail"])
    return [Frame(step * 2**n, low << (last - n), high << (last - n), parts, tail) for n in range(last + 1)]


def composed(parts: list[tuple[Smooth | Finite, int]], frames: list[Frame], above: bool) -> Grid:
    """A composition on grids. Doubling quadruples what the variance of a loss may be off, in units of its own; so may the grid be coarser."""

    def product(level: int, first: Grid, second: Grid) -> Grid:
        frame = frames[min(level // 2, len(frames) - 1)]
        first, second = (x if x.frame is frame else frame.on(x.finite(), above) for x in (first, second))
        return first * second

    waiting = []
    for single, count in parts:
        base, level = frames[0].on(single, above), 0
        while count:
            if count & 1:
                waiting.append((level, len(waiting), base))
            count >>= 1
            if count:
                level += 1
                base = product(level, base, base)
    heapify(waiting)
    while len(waiting) > 1:
        (_, _, first), (level, n, second) = heappop(waiting), heappop(waiting)
        heappush(waiting, (level + 1, n, product(level, first, second)))
    return waiting[0][2]


def epsilon(low: Callable[[arb], arb], high: Callable[[arb], arb], delta: Fraction) -> Ends:
    """Ends of the least epsilon at which a curve, between two others, is at most delta."""
    demand(0 <= delta <= 1, "delta must lie between 0 and 1")
    goal, ends = ball(delta), []
    for curve, upper in ((low, False), (high, True)):
        first, last = arb(0), arb(1)
        known = curve(first.exp())
        if (known <= goal) if upper else not (known > goal):
            ends.append(first)
            continue
        while last < 700 and not curve(last.exp()) <= goal:
            last = 2 * last
        if last >= 700 and upper:
            ends.append(arb("inf"))
            continue
        for _ in range(60):
            middle = ((first + last) / 2).mid()
            value = curve(middle.exp())
            if (value <= goal) if upper else not (value > goal):
                last = middle
            else:
                first = middle
        ends.append(last if upper else first)
    return ends[0], ends[1]


def number(experiments: list[tuple[Any, Any]], quantity: str, at: Fraction) -> Ends:
    """Ends of a quantity; of two directions, of the larger."""
    found = []
    for below, above in experiments:
        if quantity == "epsilon":
            found.append(epsilon(lambda x, e=below: e.curve(x)[0], lambda x, e=above: e.curve(x)[1], at))
        elif quantity == "tpr":
            found.append((below.tpr(at)[0], above.tpr(at)[1]))
        else:
            demand(
                quantity == "delta" or (quantity == "advantage" and at == 0),
                "quantity must be delta, epsilon, tpr or advantage",
            )
            demand(0 <= at < 700, "epsilon must lie between 0 and 700")
            x = ball(at).exp()
            found.append((below.curve(x)[0], above.curve(x)[1]))
    low, high = found[0]
    for first, last in found[1:]:
        low, high = low.max(first), high.max(last)
    return low.lower(), high.upper()


def computed(certificate: Any) -> list[Ends]:
    """A lower and an upper end of the number of each claim.

    Raises:
        Undecided: if the certificate is malformed, or asks for more than this program decides.
    """
    record(certificate, ("certificate", "question", "claims", "bits"), ("grid", "about"))
    demand(
        certificate["certificate"] == "mipsim 1", "this is no certificate of a kind that this program knows"
    )
    ctx.prec = whole(certificate["bits"], 53, BITS, "bits")
    question, claims = certificate["question"], certificate["claims"]
    kind = question.get("kind") if isinstance(question, dict) else None
    demand(kind == "composition", f"no kind {str(kind)[:40]!r} is known")
    demand(isinstance(claims, list) and 0 < len(claims) <= 1000, "claims must be a list of claims")
    known, found = composition(question, certificate.get("grid")), []
    for claim in claims:
        record(claim, ("quantity", "at", "low", "high"), ("stated",))
        low, high = number(known, str(claim["quantity"]), exact(claim["at"]))
        demand(low.is_finite() and not high.is_nan(), "an end was lost to rounding; take more bits")
        found.append((low, high))
    return found


def proves(ends: Ends, claim: dict[str, Any]) -> bool:
    """Whether ends lie between those of a claim, and stated ends do not miss the number."""
    low, high = ends
    stated = [ball(exact(end)) for end in claim.get("stated", ())] or [low, high]
    missed = stated[0] > high or stated[-1] < low
    return bool(
        ball(exact(claim["low"])) <= low
        and (claim["high"] is None or high <= ball(exact(claim["high"])))
        and not missed
    )


def main(arguments: list[str] | None = None) -> int:
    """Check a file; returns 0 for ACCEPTED, 1 for REJECTED, 2 if it was not decided."""
    paths, accepted = sys.argv[1:] if arguments is None else arguments, True
    try:
        demand(len(paths) == 1, "usage: check FILE")
        with open(paths[0], encoding="utf-8") as file:
            certificate = json.load(file)
        for ends, claim in zip(computed(certificate), certificate["claims"], strict=True):
            holds = proves(ends, claim)
            words = f"{claim['quantity']} at {float(exact(claim['at'])):g} lies in [{float(ends[0]):.12g}, {float(ends[1]):.12g}]"
            print(f"{'proven' if holds else 'NOT PROVEN'}: {words}")
            accepted = accepted and holds
    except (Undecided, OSError, ValueError, RecursionError, ArithmeticError) as wrong:
        print(f"UNDECIDED: {wrong}")
        return 2
    print("ACCEPTED" if accepted else "REJECTED")
    return 0 if accepted else 1


if __name__ == "__main__":
    sys.exit(main())
