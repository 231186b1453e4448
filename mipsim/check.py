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
import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, partial, reduce
from heapq import heapify, heappop, heappush
from itertools import pairwise, zip_longest
from operator import mul
from typing import Any

from flint import acb, acb_poly, arb, arb_poly, ctx, fmpq

Cell = tuple[arb, arb]  # probabilities "in" and "out" of an outcome, or of several
Ends = tuple[arb, arb]  # a lower and an upper end
ZERO, FAR, NUDGE = arb(0), arb("inf"), 2.0**-44
PLACES = 1 << 20  # the most that a window has
WORK = 1 << 27  # the most bits of a window, of a sum's values or of the guesses about all canaries
HEXADECIMAL = re.compile("(-?)0x([0-9a-f]+)(?:[.]([0-9a-f]+))?p([+-]?[0-9]{1,4})")
RATIONAL = re.compile("-?[0-9]+(?:/0*[1-9][0-9]*)?")


class Undecided(ValueError):
    """The certificate is malformed, or asks for more than this program decides."""


def demand(holds: Any, says: str) -> None:
    """Raise `Undecided` unless a condition is proven."""
    if not holds:
        raise Undecided(says)


def ball(value: Fraction | int) -> arb:
    """A rational number as a ball."""
    return arb(fmpq(*Fraction(value).as_integer_ratio()))


def dot(first: Sequence[arb], second: Sequence[arb]) -> arb:
    """A sum of products."""
    return sum((a * b for a, b in zip(first, second, strict=True)), ZERO)


def turn(holds: Callable[[arb], Any], low: arb, high: arb | None) -> Ends:
    """Where a condition ends to hold: a point where it is proven, or `low`, and a point behind it where it is not; infinite beyond 700."""
    step = arb(1)
    while high is None and holds(low + step):
        step = 2 * step
        if step > 700:
            return low + step / 2, FAR
    last = low + step if high is None else high
    for _ in range(300):
        middle = ((low + last) / 2).mid()
        if last - low <= (abs(low) + abs(last)) * 2.0**-50:
            break
        low, last = (middle, last) if holds(middle) else (low, middle)
    return low, last


# What is known of two worlds is their curve at x >= 0, the largest in(A) - x out(A) of a set A of outcomes: delta at the epsilon log x.


class Smooth:
    """Mixtures of shifts of a noise of scale 1; no shift of "out" is above any of "in", so that the ratio in / out rises with the outcome."""

    def __init__(self, noise: Any, *sides: Any) -> None:
        demand(noise in ("gaussian", "laplace"), "noise must be gaussian or laplace")
        for side in sides:
            demand(all(w > 0 for _, w in side) and sum(w for _, w in side) == 1, "weights must sum to 1")
            demand(len(dict(side)) == len(side), "shifts must differ")
        (inside, out), self.gaussian = map(dict, sides), noise == "gaussian"
        demand(max(out) <= min(inside), "a shift of out is above a shift of in")
        shifts = sorted({*inside, *out})
        self.shifts = [ball(shift) for shift in shifts]
        self.weights = [[ball(side.get(shift, 0)) for shift in shifts] for side in (inside, out)]
        if self.gaussian:  # the ratios that no outcome is below, and above
            self.low = ball(inside.get(shifts[0], 0))
            self.high = 1 / ball(out[shifts[-1]]) if shifts[-1] in out else FAR
        else:
            self.low, self.high = self.ratio(self.shifts[0]), self.ratio(self.shifts[-1])

    def tail(self, z: arb) -> arb:
        """P(Z > z) of the noise Z around 0."""
        if self.gaussian:
            return (z * arb(0.5).sqrt()).erfc() / 2
        demand(z >= 0 or z <= 0, "an outcome lies too near to a kink of the noise")
        return (-z).exp() / 2 if z >= 0 else 1 - z.exp() / 2

    def tails(self, y: arb, sign: int = 1) -> Cell:
        """Probabilities in both worlds of the outcomes above y, or below it for the sign -1."""
        known = [self.tail(sign * (y - s)) for s in self.shifts]
        return dot(self.weights[0], known), dot(self.weights[1], known)

    def ratio(self, y: arb) -> arb:
        """The likelihood ratio at the outcome y."""
        first = self.shifts[0]
        powers = [s * (y - s / 2) if self.gaussian else abs(y - first) - abs(y - s) for s in self.shifts]
        known = [power.exp() for power in powers]
        return dot(self.weights[0], known) / dot(self.weights[1], known)

    def place(self, x: arb, near: arb) -> arb | None:
        """A ball around the outcome of ratio x; None where all are above it, or all below."""
        if x <= self.low or x >= self.high:
            return None
        if len(self.shifts) == 2:
            (u, v), (a, b) = self.weights, self.shifts
            log = ((v[0] * x - u[0]) / (u[1] - v[1] * x)).log()
            y = log / (b - a) + (a + b) / 2 if self.gaussian else (log + a + b) / 2
            demand(y.is_finite(), "a place of the grid meets an end of the losses; take another step")
            return y
        y, log, width, slope = near, x.log(), arb(2) ** (-ctx.prec // 2), arb(1)
        for _ in range(200):  # secants
            slope = (self.ratio(y + width) / self.ratio(y - width)).log() / (2 * width)
            move = (self.ratio(y).log() - log) / slope if slope > 0 else arb(-1 if log > 0 else 1)
            y = (y - move.max(arb(-1)).min(arb(1))).mid()
            if abs(move) < width:
                break
        near = (arb(2) ** (20 - ctx.prec) * (1 + abs(y)) / slope.min(arb(1))).mid()
        demand(self.ratio(y - near) < x < self.ratio(y + near), "an outcome of a given ratio was not found")
        return y + arb(0, near)

    def cells(self, frame: Frame) -> tuple[int, list[Cell], Cell, Cell]:
        """The lowest place that is used, outcomes between places, their ratios rising, and rare outcomes below and above these."""
        step, y = float(frame.step), self.shifts[0]
        low, high = frame.low, frame.high

        def rare(k: int, sign: int) -> bool:
            y = self.place(frame.place(k), self.shifts[0])
            return y is not None and bool(self.tails(y, sign)[sign < 0] < frame.tail)

        if open_below := self.low.is_zero():
            low += max(bisect_left(range(low, 0), True, key=lambda k: not rare(k, -1)) - 1, 0)
        else:
            low = max(low, math.floor(float(self.low.log()) / step) - 1)
        if open_above := not self.high.is_finite():
            high = bisect_left(range(high), True, key=lambda k: rare(k, 1))
        else:
            high = min(high, math.floor(float(self.high.log()) / step) + 2)
        edges = [[(arb(1), ZERO)] * len(self.shifts)]
        for j in range(low * frame.parts, high * frame.parts + 1):
            if (place := self.place((frame.unit * j / frame.parts).exp(), y)) is not None:
                y = place
                edges.append([(self.tail(y - s), self.tail(s - y)) for s in self.shifts])
        edges.append([(ZERO, arb(1))] * len(self.shifts))
        built = []
        for old, new in pairwise(edges):
            known = [a[0] - b[0] if a[0] < 0.5 else b[1] - a[1] for a, b in zip(old, new, strict=True)]
            built.append((dot(self.weights[0], known), dot(self.weights[1], known)))
        below = built.pop(0) if open_below else (ZERO, ZERO)
        return low, built, below, built.pop() if open_above else (ZERO, ZERO)

    def curve(self, x: arb) -> arb:
        """The curve at x."""
        if (y := self.place(x, self.shifts[0])) is None:
            return ZERO if x >= self.high else 1 - x
        p, q = self.tails(y)
        return p - x * q

    def tpr(self, fpr: Fraction) -> Ends:
        """The largest probability "in" of outcomes that have probability `fpr` "out"."""
        demand(2**-900 < fpr < 1 - 2**-900, "fpr must lie between 0 and 1")
        low, high, goal = self.shifts[0] - 700, self.shifts[-1] + 700, ball(fpr)
        least = turn(lambda y: not self.tails(y)[1] <= goal, low, high)[1]
        return self.tails(least)[0], self.tails(turn(lambda y: self.tails(y)[1] >= goal, low, high)[0])[0]


class Finite:
    """Outcomes in the order of a score, lowest first; by default the score is the likelihood ratio, whose test is the best."""

    def __init__(self, cells: list[Cell], losses: list[float] | None = None, ordered: bool = False) -> None:
        if not ordered and losses is None:
            cells = sorted(cells, key=loss)
            losses = list(map(loss, cells))
        self.cells, self.losses, self.ordered = cells, losses or [], ordered
        self.sums = [(ZERO, ZERO)]  # of the last outcomes: none, the last, the last two, ...
        for p, q in reversed(cells):
            self.sums.append((self.sums[-1][0] + p, self.sums[-1][1] + q))

    def curve(self, x: arb) -> arb:
        """The curve at x, of the tests of this score."""
        if self.ordered:
            value = ZERO
            for p, q in self.sums:
                value = value.max(p - x * q)
            return value
        at = float(x.log())
        first, last = (bisect_right(self.losses, at + off) for off in (-1e-9, 1e-9))  # the rest is sure
        p, q = self.sums[len(self.cells) - last]
        return sum(((p - x * q).max(ZERO) for p, q in self.cells[first:last]), p - x * q)

    def tpr(self, fpr: Fraction) -> Ends:
        """The probability "in" of the highest outcomes that have probability `fpr` "out", equal outcomes by lot."""
        demand(0 <= fpr <= 1, "fpr must lie between 0 and 1")
        goal, top = ball(fpr), len(self.cells)
        at = bisect_left(range(1, top + 1), True, key=lambda n: bool(self.sums[n][1] > goal))
        value, off, slope = self.sums[at][0], goal - self.sums[at][1], ZERO
        for n, sign in ((at - 1, -1), (at, 1)):  # the last outcome, and the next
            share = (sign * off).max(ZERO)
            if 0 <= n < top and (self.cells[top - 1 - n][1] > 0 or not share.is_zero()):
                p, q = self.cells[top - 1 - n]
                demand(q > 0 and (sign > 0 or q >= share), "a threshold was not decided; take more bits")
                slope = (p / q).mid()
                value += sign * share * p / q
        if self.ordered:
            return value, value
        return value, (self.curve(slope) + slope * goal).min(arb(1)) if slope > 0 else arb(1)  # at any slope


class Weighted:
    """A weighted sum S of n independent Bernoulli records, of which the target may be a row: its tests at given thresholds.

    Normal noise of scale blur / 8 is added; it moves a tail by less than the blur. For S with this noise, c > 0 and T > 0, Poisson's
    summation makes the sum of e^(c m T) P(S > t + m T) over all m that of E e^(s (S - t)) / (s T) over all k, s = c + 2 pi i k / T. All of
    the first but m = 0 is small; so is the second from some k on: a coin X, tilted by c to the variance v, has |E e^(iuX)| <= e^(-v (1 - cos u)).
    """

    def __init__(self, question: dict[str, Any], grid: Any) -> None:
        _, records, coordinates = record(question, "kind", "n", "coordinates")
        thresholds, *scales = record(grid, "thresholds", "tilt", "period", "blur")
        read = [tuple(map(exact, several(each, 3))) for each in several(coordinates)]
        levels, known = list(map(exact, several(thresholds))), list(map(exact, scales))
        demand(all(0 <= p <= 1 and z in (0, 1) for _, p, z in read), "a rate or a target is out of range")
        demand(levels == sorted(levels) and min(known) > 0, "thresholds must rise, and scales be above 0")
        self.n, (self.tilt, self.period, self.blur) = whole(records, 2, 10**6), map(ball, known)
        self.coins, self.moved = (
            [(ball(w), ball(p)) for w, p, _ in read],
            ball(sum(w * z for w, _, z in read)),
        )
        self.noise, pace = self.blur / 8, 2 * arb.pi() / self.period
        zero = self.transforms(self.tilt)
        terms, k = [[x / (2 * self.tilt)] for x in zero], 0
        while not k or abs(terms[0][-1]) > zero[0] * arb(2) ** -80 / self.tilt:
            k += 1
            s = acb(self.tilt, pace * k)
            for row, x in zip(terms, self.transforms(s), strict=True):
                row.append(x / s)
            work = k * (len(self.coins) + len(levels)) * ctx.prec
            demand(k < 4096 and work < 2**28, "a sum of so few terms is not inverted")
        rest, self.spent = self.beyond(pace * k, pace), 0
        self.rates = [(ZERO, ZERO)]
        worlds = [
            (acb_poly(row), x, self.transforms(2 * self.tilt)[n])
            for n, (row, x) in enumerate(zip(terms, zero, strict=True))
        ]
        self.rates += [
            tuple(self.between(ball(t), pace, rest, *world) for world in worlds) for t in reversed(levels)
        ]
        self.rates += [(arb(1), arb(1))]

    def transforms(self, s: Any) -> tuple[Any, Any]:
        """E e^(s S) in both worlds, of S with noise."""
        row = reduce(mul, (1 + p * ((s * w).exp() - 1) for w, p in self.coins))
        rest = row ** (self.n - 1) * ((s * self.noise) ** 2 / 2).exp()
        return rest * (s * self.moved).exp(), rest * row

    def beyond(self, u: arb, pace: arb) -> arb:
        """Of the terms above the frequency u, in units of the transform at 0: by the coins up to a last frequency, above it by the noise."""
        last, most, spread = 13 / self.noise + pace, ZERO, list[Cell]()
        for w, p in self.coins:
            odds = p * (self.tilt * w).exp()
            odds /= 1 - p + odds
            spread.append((w, odds * (1 - odds)))
        first, wide = u, 1 / (2 * reduce(arb.max, (abs(w) for w, _ in spread)))
        steps, work = 0, len(spread) * ctx.prec
        demand((last - first) * work < wide * 2**31, "the blur is too small")
        while not first >= last:
            steps += 1
            demand(steps * work < 2**32, "the blur is too small")
            size = (first / 8).min(wide)
            held, first = first.union(first + size), (first + size).mid()
            power = dot([v for _, v in spread], [1 - (held * w).cos() for w, _ in spread])
            most = most.max((-(self.n - 1) * power - (held * self.noise) ** 2 / 2).exp())
        above = (13 * arb(0.5).sqrt()).erfc() * (arb.pi() / 2).sqrt() / self.noise
        return (last * most / u + above / last).upper() / arb.pi()

    def between(self, t: arb, pace: arb, rest: arb, terms: Any, zero: arb, twice: arb) -> arb:
        """P(S > t)."""
        ends = []
        for at in (t + self.blur, t - self.blur):
            size = (-self.tilt * at).exp()
            value = 2 * terms(acb(0, -pace * at).exp()).real * size / self.period
            others = (1 + twice * size**2) / ((self.tilt * self.period).exp() - 1)
            ends.append((value - ZERO.union(others), zero * size * rest))
        (low, off), (high, more) = ends
        far = (8 * arb(0.5).sqrt()).erfc() / 2
        return (low - off - far).lower().max(ZERO).union(((high + more) / (1 - far)).upper().min(arb(1)))

    def curve(self, x: arb) -> arb:
        """The curve at x, of the tests of this score."""
        self.spent += len(self.rates)
        demand(self.spent < 10**7, "too many numbers are claimed for so many thresholds")
        low = reduce(arb.max, (p - x * q for p, q in self.rates))
        return low.lower().union(
            reduce(arb.max, (more - x * q for (_, q), (more, _) in pairwise(self.rates))).upper()
        )

    def tpr(self, fpr: Fraction) -> Ends:
        """The probability "in" of the highest scores that have probability `fpr` "out"."""
        demand(0 <= fpr <= 1, "fpr must lie between 0 and 1")
        low = reduce(arb.max, (p.lower() for p, q in self.rates if q <= ball(fpr)))
        return low, reduce(arb.min, (p.upper() for p, q in self.rates if q > ball(fpr)), arb(1))


def loss(cell: Cell) -> float:
    """The privacy loss of an outcome, to rounding."""
    if cell[0].is_zero() or cell[1].is_zero():
        return math.inf if cell[1].is_zero() else -math.inf
    ratio = (cell[0] / cell[1]).log()
    demand(ratio.rad() < 1e-12, "a probability was lost to rounding; take more bits")
    return float(ratio)


class Frame:
    """A grid and its window, and experiments on it that tell at least as much, or at most as much."""

    def __init__(self, step: Fraction, window: list[int], parts: int, tail: Fraction, above: bool) -> None:
        self.low, self.high = window
        demand(2**-20 <= step <= 1 and tail > 0, "the step or the tail is out of range")
        places = self.high - self.low
        fits = self.low < 0 < self.high and places <= PLACES and places * ctx.prec <= WORK
        demand(fits and max(self.high, -self.low) * step < 700, "the window is out of range")
        self.step, self.parts, self.tail, self.above = step, parts, ball(tail), above
        self.unit, self._places = ball(step), dict[int, arb]()
        self.root = self.unit.exp()

    def place(self, k: int) -> arb:
        """e^(k step)."""
        if k not in self._places:
            self._places[k] = (self.unit * k).exp()
        return self._places[k]

    def on(self, part: Smooth | Finite) -> Grid:
        """An experiment on the grid."""
        least, below, beyond = self.low, (ZERO, ZERO), (ZERO, ZERO)
        if isinstance(part, Smooth):
            least, cells, below, beyond = part.cells(self)
        else:
            cells = [cell for cell in part.cells if not cell[0].is_zero()]
        infinite = sum((p for p, q in cells if q.is_zero()), beyond[0] if self.above else ZERO)
        cells, masses = (
            [cell for cell in cells if not cell[1].is_zero()],
            {least: below[1] if self.above else ZERO},
        )
        if not self.above:
            cells = self.merged(cells if beyond[1].is_zero() else [*cells, beyond])
        for p, q in cells:
            k = math.floor(max(min(loss((p, q)) / float(self.step), self.high + 1), self.low - 1))
            if self.above:
                while k < self.high and not p <= self.place(k + 1) * q:
                    k += 1
                if self.low <= k < self.high:
                    share = ((p - self.place(k) * q) / (self.place(k + 1) - self.place(k))).max(ZERO)
                    masses[k + 1] = masses.get(k + 1, ZERO) + share
                    q -= share
                infinite += p if k >= self.high else ZERO
            else:
                while k >= self.low and not self.place(min(k, self.high)) * q <= p:
                    k -= 1
                k = min(k, self.high) if k >= self.low else self.high + 1
            if k < self.high + (not self.above):
                masses[max(k, self.low)] = masses.get(max(k, self.low), ZERO) + q
        start, end = min(masses), max(masses) + 1
        return Grid(self, arb_poly([masses.get(k, ZERO) for k in range(start, end)]), start, infinite)

    def merged(self, cells: list[Cell]) -> list[Cell]:
        """Outcomes merged so that each p / q is just above a place, from the end that is nearer: what is left at the other is rare."""
        if not cells:
            return []
        turned = abs(loss(cells[0])) < abs(loss(cells[-1]))
        waiting = [(q, p) for p, q in cells] if turned else cells[::-1]
        step, built, n, share = float(self.step), list[Cell](), 0, arb(1)
        held, excess, aim = (ZERO, ZERO), 0.0, 0.0
        while n < len(waiting):
            p, q = waiting[n]
            fresh = not aim
            if fresh:
                k = math.floor(min(loss((p, q)) / step, self.high) - 1e-6)
                held, excess, aim = (ZERO, ZERO), 0.0, math.exp(step * k + (-NUDGE if turned else NUDGE))
            more = float(share) * (float(p) - aim * float(q))
            more = (
                max(more, 0.0) if fresh else more
            )  # a mass may be too small for a float; the first is always taken
            if excess + more >= 0.0:
                held, excess = (held[0] + p * share, held[1] + q * share), excess + more
                n, share = n + 1, arb(1)
            else:
                part = share * arb(excess / -more)
                built.append((held[0] + p * part, held[1] + q * part))
                share, aim = share - part, 0.0
        built += [held] if aim else []
        return [(q, p) for p, q in built] if turned else built


class Grid:
    """Masses "out" on places of a frame from `start` on, and what lies above all places "in"."""

    def __init__(self, frame: Frame, poly: arb_poly, start: int, infinite: arb) -> None:
        self.frame, self.poly, self.start, self.infinite = frame, poly, start, infinite

    def __mul__(self, other: Grid) -> Grid:
        frame, poly, start = self.frame, self.poly * other.poly, self.start + other.start
        total, more = (grid.poly(frame.root) * frame.place(grid.start) for grid in (self, other))
        infinite = self.infinite * (more + other.infinite) + total * other.infinite
        if (cut := frame.low - start) > 0:
            lost = poly.truncate(cut)(1) if frame.above else ZERO
            poly, start = poly.right_shift(cut) + lost, frame.low
        if poly.length() > (places := frame.high - start + 1):
            lost, poly = poly.right_shift(places), poly.truncate(places)
            if frame.above:
                infinite += lost(frame.root) * frame.place(start + places)
            else:
                poly += arb_poly([ZERO] * (places - 1) + [lost(1)])
        return Grid(frame, poly, start, infinite)

    def finite(self) -> Finite:
        """The same as outcomes, whose masses are rounded to the safe end: more outcomes tell more."""
        frame, step, above = self.frame, float(self.frame.step), self.frame.above
        masses = [mass.upper() if above else mass.lower().max(ZERO) for mass in self.poly.coeffs()]
        cells = [(mass * frame.place(self.start + n), mass) for n, mass in enumerate(masses)]
        losses = [step * (self.start + n) for n in range(len(masses))]
        infinite = self.infinite.upper() if above else self.infinite.lower().max(ZERO)
        return Finite([*cells, (infinite, ZERO)], [*losses, math.inf])


def composed(parts: list[tuple[Smooth | Finite, int]], frames: list[Frame]) -> Finite:
    """A composition on grids. What is off in the variance of a loss adds up over copies, so that 4 copies allow twice the step."""

    def product(level: int, *both: Grid) -> Grid:
        frame = frames[min(level // 2, len(frames) - 1)]
        first, second = (x if x.frame is frame else frame.on(x.finite()) for x in both)
        return first * second

    waiting = []
    for part, count in parts:
        base, level = frames[0].on(part), 0
        while count:
            if count & 1:
                waiting.append((level, len(waiting), base))
            count >>= 1
            level, base = (level + 1, product(level + 1, base, base)) if count else (level, base)
    heapify(waiting)
    while len(waiting) > 1:
        (_, _, first), (level, n, second) = heappop(waiting), heappop(waiting)
        heappush(waiting, (level + 1, n, product(level + 1, first, second)))
    return waiting[0][2].finite()


# Reading a certificate: what is malformed is refused, here and nowhere else.


def exact(value: Any) -> Fraction:
    """A number that is written as an integer, as "n/d" or as `float.hex` writes it; of any size, and never rounded."""
    text = str(value)
    demand(type(value) in (int, str) and len(text) <= 2000, "a number must be an integer or a text")
    if hexadecimal := HEXADECIMAL.fullmatch(text):
        sign, digits, more, exponent = hexadecimal.groups("")
        return int(sign + digits + more, 16) * Fraction(2) ** (int(exponent) - 4 * len(more))
    demand(RATIONAL.fullmatch(text), f"{text[:40]!r} is no number")
    return Fraction(text)


def whole(value: Any, low: int, high: int) -> int:
    """An integer between two others."""
    demand(type(value) is int and low <= value <= high, f"a whole number must lie in [{low}, {high}]")
    return value


def record(value: Any, *needed: str, more: Sequence[str] = ()) -> list[Any]:
    """The values of an object of JSON with these keys, and maybe more."""
    fits = isinstance(value, dict) and set(needed) <= value.keys() <= {*needed, *more}
    demand(fits, f"an object must have {', '.join(needed)}, and no more than {', '.join(more) or 'these'}")
    return [value[name] for name in needed]


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, each of whose keys stands there a single time."""
    demand(len(dict(pairs)) == len(pairs), "a key of an object is given twice")
    return dict(pairs)


def several(value: Any, size: int | None = None) -> list[Any]:
    """A list that is not empty, or of a certain size."""
    demand(isinstance(value, list) and 0 < len(value) <= 10_000, "a list must have 1 to 10,000 entries")
    demand(size in (None, len(value)), f"a list must have {size} entries")
    return value


def masses(factors: Any) -> list[arb]:
    """Of a sum of independent whole numbers, each given by the probabilities of 0, 1, 2, ... and by how many of it there are."""
    product = arb_poly([1])
    for values, count in (several(pair, 2) for pair in several(factors)):
        known = [exact(value) for value in several(values)]
        demand(min(known) >= 0 and sum(known) == 1, "probabilities must be at least 0 and sum to 1")
        size = whole(count, 0, PLACES) * len(known) + product.length()
        demand(size * ctx.prec < WORK / 8, "a sum has too many values")
        product *= arb_poly([ball(mass) for mass in known]) ** count
    return product.coeffs()


def worlds(inside: Any, out: Any) -> list[Cell]:
    """The values of a sum, rising, with their probabilities in both worlds."""
    pairs = zip_longest(masses(inside), masses(out), fillvalue=ZERO)
    return [(p, q) for p, q in pairs if not (p.is_zero() and q.is_zero())]


def read_part(value: Any, turned: bool) -> tuple[Smooth | Finite, int]:
    """A part of a composition, its worlds maybe exchanged, and how many copies of it there are."""
    demand(isinstance(value, dict), "a part must be an object")
    if "dp" in value:
        promise, copies = record(value, "dp", "copies")
        epsilon, delta = map(exact, several(promise, 2))
        demand(0 <= epsilon < 700 and 0 <= delta <= 1, "dp must be an epsilon and a delta")
        sure, odds = ball(delta), ball(epsilon).exp()
        more, less = (1 - sure) * odds / (1 + odds), (1 - sure) / (1 + odds)
        built = Finite([(ZERO, sure), (less, more), (more, less), (sure, ZERO)])
    elif "noise" in value:
        noise, inside, out, copies = record(value, "noise", "in", "out", "copies")
        sides = [[tuple(map(exact, several(pair, 2))) for pair in several(side)] for side in (inside, out)]
        built = Smooth(noise, *([[(-s, w) for s, w in side] for side in sides[::-1]] if turned else sides))
    else:
        inside, out, copies = record(value, "in", "out", "copies")
        built = Finite(worlds(out, inside) if turned else worlds(inside, out))
    return built, whole(copies, 1, 10**9)


def composition(parts: Any, neighbours: Any, grid: Any) -> list[tuple[Any, Any]]:
    """Of each direction of the neighbours, experiments that tell at most, and at least, as much as a composition."""
    ways = {"remove": [False], "add": [True], "add_or_remove": [False, True]}
    demand(isinstance(neighbours, str) and neighbours in ways, f"neighbours must be of {', '.join(ways)}")
    known = [[read_part(value, turned) for value in several(parts)] for turned in ways[neighbours]]
    if grid is None:
        demand(len(known[0]) == 1 == known[0][0][1], "a composition needs a grid")
        return [(way[0][0], way[0][0]) for way in known]
    step, window, cut, count, tail = record(grid, "step", "window", "parts", "grids", "tail")
    ends, last = [whole(k, -PLACES, PLACES) for k in several(window, 2)], whole(count, 1, 16) - 1

    def frames(above: bool) -> list[Frame]:
        how = whole(cut, 1, 16), exact(tail), above
        return [Frame(exact(step) * 2**n, [k << (last - n) for k in ends], *how) for n in range(last + 1)]

    return [(composed(way, frames(False)), composed(way, frames(True))) for way in known]


# Numbers: each function returns a lower and an upper end.


def of_curves(ways: list[tuple[Any, Any]], quantity: str, at: Fraction) -> Ends:
    """A number of a composition or of a score; of two directions the larger."""
    demand(quantity != "advantage" or at == 0, "an advantage stands at 0")
    results = []
    for below, above in ways:
        if quantity == "tpr":
            results.append((below.tpr(at)[0], above.tpr(at)[1]))
        elif quantity == "epsilon":
            demand(0 <= at <= 1, "delta must lie between 0 and 1")
            low = turn(lambda e, curve=below.curve: curve(e.exp()) > ball(at), ZERO, None)[0]
            high = turn(lambda e, curve=above.curve: not curve(e.exp()) <= ball(at), -arb(1), None)[1]
            results.append((low, high.max(ZERO)))
        else:
            demand(
                quantity in ("delta", "advantage") and 0 <= at < 700, "no such number is known at this place"
            )
            x = ball(at).exp()
            results.append((below.curve(x), above.curve(x).min(arb(1))))
    low, high = zip(*results, strict=True)
    return reduce(arb.max, low), reduce(arb.max, high)


@cache
def limit(count: int, games: int, risk: Fraction) -> Ends:
    """The rate at which so many successes, or more, have the probability `risk`: a lower limit (Clopper and Pearson, 1934)."""
    if count == 0:
        return ZERO, ZERO
    low, high = turn(lambda p: tail(count, games, p) <= ball(risk), ZERO, arb(1))
    demand(tail(count, games, high) >= ball(risk), "a limit was lost to rounding; take more bits")
    return low, high


def tail(count: int, games: int, rate: arb) -> arb:
    """The probability of so many successes, or more."""
    return rate.beta_lower(count, games - count + 1, regularized=True) if count else arb(1)


def of_counts(question: dict[str, Any], quantity: str, at: Fraction) -> Ends:
    """What counts of games above thresholds, which were fixed before the scores, show with a failure probability; all limits hold together."""
    _, risk, thresholds = record(question, "kind", "risk", "thresholds")
    demand(0 < exact(risk) < 1 and 0 <= at <= 1, "risk and rates must lie between 0 and 1")
    share, results = exact(risk) / (2 * len(several(thresholds))), [(ZERO, ZERO)]
    for threshold in thresholds:
        (n, k), (m, hits) = (
            (whole(x, 0, 10**12) for x in several(pair, 2)) for pair in record(threshold, "out", "in")
        )
        demand(k <= n and hits <= m and n and m, "a count is above the number of games")
        tpr, tnr = limit(hits, m, share), limit(n - k, n, share)
        results.append((shown(tpr[0], tnr[0], quantity, ball(at)), shown(tpr[1], tnr[1], quantity, ball(at))))
    low, high = zip(*results, strict=True)
    return reduce(arb.max, low), reduce(arb.max, high)


def shown(tpr: arb, tnr: arb, quantity: str, at: arb) -> arb:
    """What a test with these rates shows; it grows with both."""
    demand(quantity not in ("advantage", "mu") or at == 0, "an advantage and mu stand at 0")
    if quantity == "advantage":
        return tpr + tnr - 1
    if quantity == "tpr":
        return tpr if 1 - tnr <= at else ZERO
    if quantity == "mu":
        return probit(tpr) + probit(tnr) if tpr > 0 and tnr > 0 else ZERO
    demand(quantity == "epsilon", "quantity must be mu, epsilon, advantage or tpr")
    odds = [(a - at) / (1 - b) for a, b in ((tpr, tnr), (tnr, tpr)) if a > at]
    return reduce(arb.max, [value.log() for value in odds], ZERO)


def probit(rate: arb) -> arb:
    """The normal quantile."""
    return -arb(2).sqrt() * (2 * rate).erfcinv()


def of_guesses(question: dict[str, Any], quantity: str, at: Fraction) -> Ends:
    """The largest epsilon at a delta, or mu, that so many right guesses about coins refute, with a failure probability for all numbers of guesses.

    Source: Mahloujifar, Melis, Chaudhuri (2025); Vadhan (2017), lemma 2.2, for two records; Kairouz, Oh, Viswanath (2015) for two runs.
    """
    _, risk, number, guesses, *twice = record(
        question, "kind", "risk", "canaries", "guesses", "records", "runs"
    )
    canaries, (records, runs) = whole(number, 1, WORK // ctx.prec), (whole(value, 1, 2) for value in twice)
    plan = [tuple(whole(x, 0, canaries) for x in several(pair, 2)) for pair in several(guesses)]
    demand(0 < exact(risk) < 1, "the risk must lie between 0 and 1")
    demand(all(right <= tried > 0 for tried, right in plan), "there are more right guesses than guesses")
    known = (quantity == "mu" and at == 0) or (quantity == "epsilon" and 0 <= at <= 1)
    demand(known, "quantity must be epsilon at a delta, or mu at 0")
    share = ball(exact(risk) / len(plan))

    def fpr(tpr: arb, value: arb) -> arb:
        if quantity == "mu":
            return (-(probit(tpr) - value * records * arb(runs).sqrt()) * arb(0.5).sqrt()).erfc() / 2
        epsilon, delta = (
            (value, ball(at)) if records == 1 else (2 * value, (ball(at) * (1 + value.exp())).min(arb(1)))
        )
        lines = [(epsilon.exp(), delta)]
        if runs == 2:
            product = (1 - delta) ** 2
            lines = [((2 * epsilon).exp(), 1 - product), (arb(1), 1 - product * (1 - (epsilon / 2).tanh()))]
        return reduce(arb.max, [v for x, d in lines for v in (1 - d - x * (1 - tpr), (tpr - d) / x)], ZERO)

    def spare(pair: Sequence[int], value: arb) -> arb:
        """Above 0 if the guarantee is refuted."""
        tried, right = pair
        r, h = share * right / canaries, share * (tried - right) / canaries
        for i in range(right - 1, -1, -1):
            least = fpr(r, value)
            if least <= h:
                break
            r, h = (r + (least.max(h) - h) * i / (tried - i)).min(arb(1)), least.max(h)
            if r + h > ball(Fraction(tried, canaries)):
                break
        return r + h - ball(Fraction(tried, canaries))

    low = turn(lambda v: any(spare(pair, v) > 0 for pair in plan), ZERO, None)[0]
    return low, turn(lambda v: not all(spare(pair, v) <= 0 for pair in plan), ZERO, None)[1]


def chi_square(x: arb, degrees: arb, off: arb = ZERO) -> arb:
    """The distribution function of a (non-central) chi-square law: a Poisson sum of gamma laws, whose rest lies between 0 and its weight."""
    demand(
        0 < degrees < 10**9 and off >= 0,
        "a chi-square law needs degrees in (0, 1e9), and a non-centrality >= 0",
    )
    if not x > 0:
        return ZERO if x <= 0 else ZERO.union(arb(1))
    a, y, rate = degrees / 2, x / 2, off / 2

    def central(a: arb) -> arb:
        below, above = y.gamma_lower(a, regularized=1), 1 - y.gamma_upper(a, regularized=1)
        return below if below.rad() < above.rad() else above

    if rate.is_zero():
        return central(a)
    middle, width = int(float(rate)), int(14 * math.sqrt(float(rate))) + 60
    demand(width < 20_000, "a non-centrality is too large")
    first, last = max(middle - width, 0), middle + width
    weight = (last * rate.log() - rate - arb(last + 1).lgamma()).exp()
    step = ((a + last) * y.log() - y - (a + last + 1).lgamma()).exp()  # P(a + j, y) - P(a + j + 1, y)
    share, total, known = central(a + last), ZERO, ZERO
    for j in range(last, first - 1, -1):
        total, known = total + weight * share, known + weight
        step *= (a + j) / y
        share, weight = share + step, weight * j / rate
    return total + ZERO.union((1 - known).upper().max(ZERO))


def chi_square_quantile(rate: arb, *law: arb) -> arb:
    """The point below which a (non-central) chi-square law has a probability."""
    demand(0 < rate < 1, "a quantile is of a probability")
    high = next((arb(2) ** k for k in range(200) if chi_square(arb(2) ** k, *law) > rate), None)
    if high is None:
        raise Undecided("a quantile is too large, or its probability too near 1")
    low = turn(lambda x: chi_square(x, *law) <= rate, ZERO, high)[0]
    high = (low * (1 + arb(2) ** -44)).mid()
    demand(chi_square(high, *law) >= rate, "a quantile was lost to rounding; take more bits")
    return low.union(high)


def integer(x: arb, most: int) -> int:
    """A ball that holds a whole number and nothing else."""
    demand(x.is_integer() and 0 <= x <= most, "a count must be a whole number")
    return int(float(x))


OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": lambda *x: sum(x, ZERO),
    "*": lambda *x: reduce(arb.__mul__, x),
    "-": lambda x, y=None: -x if y is None else x - y,
    "/": lambda x, y: x / y,
    "^": lambda x, y: x ** int(float(y)) if y.is_integer() and abs(y) < 10**6 else x**y,
    "max": lambda *x: reduce(arb.max, x),
    "min": lambda *x: reduce(arb.min, x),
    "hull": lambda x, y: x.union(y),  # what is known to lie between two numbers
    **{name: getattr(arb, name) for name in ("sqrt", "exp", "expm1", "log", "log1p", "tanh")},
    "Phi": lambda x: (-x * arb(0.5).sqrt()).erfc() / 2,
    "Phi^-1": lambda p: probit(p),
    "chi-square": chi_square,
    "chi-square^-1": chi_square_quantile,
    "choose": lambda n, k: arb.bin_uiui(integer(n, 10**6), integer(k, 10**6)),
}


def value(tree: Any, known: dict[str, arb]) -> arb:
    """An expression: a number, a name, an operation as a list, or a number of another question as an object."""
    if isinstance(tree, list):
        demand(isinstance(tree[:1] and tree[0], str) and tree[0] in OPERATIONS, "an operation is not known")
        try:
            result = OPERATIONS[tree[0]](*(value(each, known) for each in tree[1:]))
        except TypeError:
            raise Undecided(f"{tree[0]} has too many arguments, or too few") from None
    elif isinstance(tree, dict):
        question, quantity, at = record(tree, "question", "quantity", "at")
        low, high = numbers(question, None)(str(quantity), exact(at))
        result = low.union(high)
    else:
        result = known[tree] if isinstance(tree, str) and tree in known else ball(exact(tree))
    demand(result.is_finite(), "a number was lost to rounding; take more bits")
    return result


def of_cases(question: dict[str, Any]) -> Callable[[str, Fraction], Ends]:
    """Of a statement at points: each case names expressions, of which later ones may use earlier ones; among them are claim and truth."""
    cases = []
    for case in several(record(question, "kind", "cases")[1]):
        demand(isinstance(case, dict) and {"claim", "truth"} <= case.keys(), "a case has a claim and a truth")
        known = dict[str, arb]()
        for name, tree in case.items():
            demand(name.isidentifier() and name != "excess", "a name must be a word, and not excess")
            known[name] = value(tree, known)
        cases.append(known | {"excess": known["truth"] - known["claim"]})

    def number(quantity: str, at: Fraction) -> Ends:
        demand(at in range(len(cases)) and quantity in cases[int(at)], "no such number is known")
        return (cases[int(at)][quantity],) * 2

    return number


def numbers(question: Any, grid: Any) -> Callable[[str, Fraction], Ends]:
    """What computes the numbers of a question."""
    demand(isinstance(question, dict), "a question must be an object")
    kind = question.get("kind")
    if kind in ("counts", "guesses"):
        return partial(of_counts if kind == "counts" else of_guesses, question)
    if kind == "cases":
        return of_cases(question)
    if kind == "composition":
        _, parts, neighbours = record(question, "kind", "parts", "neighbours")
        return partial(of_curves, composition(parts, neighbours, grid))
    if kind == "weighted":
        score = Weighted(question, grid)
        return partial(of_curves, [(score, score)])
    _, inside, out = record(question, "kind", "in", "out")
    demand(kind == "score", "the kind of the question is not known")
    score = Finite(worlds(inside, out), ordered=True)
    return partial(of_curves, [(score, score)])


def computed(certificate: Any) -> list[Ends]:
    """A lower and an upper end of the number of each claim.

    Raises:
        Undecided: if the certificate is malformed, or asks for more than this program decides.
    """
    version, question, bits, claims = record(
        certificate, "certificate", "question", "bits", "claims", more=("grid", "about")
    )
    demand(version == "mipsim 1", "this program knows no such certificate")
    ctx.prec = whole(bits, 64, 1024)
    number = numbers(question, certificate.get("grid"))
    results = []
    for claim in several(claims):
        quantity, at, _, _ = record(claim, "quantity", "at", "low", "high", more=("stated",))
        low, high = number(str(quantity), exact(at))
        demand(low.is_finite() and not high.is_nan(), "an end was lost to rounding; take more bits")
        results.append((low.lower(), high.upper()))
    return results


def proves(ends: Ends, claim: dict[str, Any]) -> bool:
    """Whether ends lie between those of a claim, and stated ends do not miss the number; an end that is None is infinite."""
    low, high = ends
    pairs = [(claim["low"], claim["high"]), *([several(claim["stated"], 2)] if "stated" in claim else [])]
    (least, most), *stated = [(ball(exact(a)), FAR if b is None else ball(exact(b))) for a, b in pairs]
    return bool(least <= low and high <= most and not any(a > high or b < low for a, b in stated))


def main(arguments: list[str] | None = None) -> int:
    """Check a file; returns 0 for ACCEPTED, 1 for REJECTED, 2 if it was not decided."""
    paths, accepted = sys.argv[1:] if arguments is None else arguments, True
    try:
        demand(len(paths) == 1, "usage: check FILE")
        with open(paths[0], encoding="utf-8") as file:
            certificate = json.load(file, object_pairs_hook=once)
        for (low, high), claim in zip(computed(certificate), certificate["claims"], strict=True):
            accepted &= (holds := proves((low, high), claim))
            name, ends = f"{claim['quantity']} at {float(exact(claim['at'])):g}", [float(low), float(high)]
            print(f"{'proven' if holds else 'NOT PROVEN'}: {name} is in [{ends[0]:.12g}, {ends[1]:.12g}]")
    except (Undecided, OSError, ValueError, RecursionError, ArithmeticError) as wrong:
        print(f"UNDECIDED: {wrong}")
        return 2
    print("ACCEPTED" if accepted else "REJECTED")
    return 0 if accepted else 1


if __name__ == "__main__":
    sys.exit(main())
