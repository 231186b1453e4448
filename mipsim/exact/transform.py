"""The cumulant generating functions of a score in the two worlds, which is all that inversion needs."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import exp, fsum, log

import numpy as np

from mipsim.exact.rounding import EPS, ComplexArray, product_parts
from mipsim.exact.rows import AbstractRow, Multiples

_WHOLE = 2.0**52  # nodes: beyond, k is no whole number in float64
_QUIET = -38.5  # log of 2e-17, a tenth of the rounding of 1: a modulus below is negligible
_LOUD = -50.0  # log of 2e-22: bounds below add nothing to a sum
_SHARE = 0.7  # of a level that the proof without a tilt must retain, so as not to be made anew
_PLAIN = 0.0, 0.0  # without a tilt
_FINE, _COARSE = 1.1, 2.0  # growth of the blocks of frequencies that a single bound serves: near and far
_DOUBLINGS = 900  # blocks: 60 fine ones, and more than enough doublings to 2^52 nodes
NEAR = 1e-6
"""Steps of a lattice by which a threshold may miss an atom and is still on it."""
_OFF_LATTICE = 1e-7  # steps by which a sum may miss its lattice


@dataclass(frozen=True)
class Tail:
    """What is proven of |phi(k h)| beyond k = first: a bound on sum_k |phi(k h)| / k up to k = last."""

    total: float
    last: float

    def distance(self, lipschitz: float) -> float:
        """How far a tail probability of the tilted law can be from its sum over the nodes up to `first`.

        Where every frequency is in the bound (last = inf), the terms left out are at most (1 / pi) sum |phi(k h)| / k in
        all. Else: 4 L / (m + 1) + (4 / pi) sum_{first < k <= m} |phi| / k bounds the distance of the distribution function
        of the law, wound round the circle and counted from the threshold, to that of the trigonometric polynomial of the
        nodes, whose density is at most L = `lipschitz`. What is integrated against the two falls by 1 round the circle,
        so by parts the same number bounds the difference of the integrals.

        Proof. Let d_k be the difference of the two transforms, 0 up to k = first, and psi*, F the polynomial and Fejer's kernel of
        degree m of `mipsim.exact.selberg`: |psi - psi*| <= F / (2 m + 2), and psi* has coefficients of modulus at most 1 / (2 pi k).
        The integral of F is at most L against the modulus of the polynomial's density, and so at most L + 2 sum (1 - k / (m + 1))
        |d_k| against the law. Hence the two integrals of psi differ by at most
        L / (m + 1) + sum |d_k| (1 / pi + u (1 - u)) / k, u = k / (m + 1), with u (1 - u) <= 1 / 4. The indicator of an arc is a
        difference of two saw-teeth and a constant: twice that, 2 L / (m + 1) + 1.14 sum |d_k| / k, is less than is stated.

        Source: Niederreiter and Philipp (1973) for such a bound; Vaaler (1985), theorem 18, for psi*.
        """
        if np.isinf(self.last):
            return self.total / np.pi
        return 4.0 * lipschitz / (self.last + 1.0) + 4.0 / np.pi * self.total


@dataclass(frozen=True)
class Lattice:
    """The lattice that holds a score, in units of the score and in those of the cumulants."""

    step: float  # its spacing
    anchor: np.ndarray  # a point of it in each world, shape (2,)
    # the spacing as the cumulants have it: the step to 1e-9, so short that its multiples are exact
    unit: float
    mean: np.ndarray  # of the score, shape (2,)
    # of the whole number that the score is, counted from the anchor, and what rounding took from it, each of shape (2,)
    centre: tuple[np.ndarray, np.ndarray]

    def atom(self, u: np.ndarray, world: int, upper: bool) -> np.ndarray:
        """The first atom above centred thresholds, or the last atom not above, centred, in units of the cumulants.

        Thresholds within 1e-6 steps of an atom are on it. A whole number less its mean, which nothing rounds until the difference
        is taken.
        """
        k = np.floor((u + self.mean[world] - self.anchor[world]) / self.step + NEAR) + float(upper)
        high, low = self.centre
        return self.unit * ((k - high[world]) - low[world])


class AbstractCumulants(ABC):
    """The centred cumulants K_w(s) = log E_w exp(s (S - mean_w)) of a finite score S, for w = out (0) and in (1).

    Attributes:
        lost: a bound on the total error of the probabilities behind the cumulants.
    """

    lost: float = 0.0

    @property
    @abstractmethod
    def mean(self) -> np.ndarray:
        """What the score is centred with in each world, shape (2,)."""

    @property
    def lattice(self) -> Lattice | None:
        """The lattice that holds the score, if any does."""
        return None

    @property
    @abstractmethod
    def strip(self) -> tuple[float, float]:
        """The open interval of real s with finite cumulants."""

    @abstractmethod
    def cumulant(self, s: ComplexArray) -> ComplexArray:
        """K_w(s), shape (2, T), for complex s of shape (T,) inside the strip; any branch of the logarithm."""

    def quiet_from(self, c: float, start: float, stop: float, span: tuple[float, float]) -> float:
        """A frequency in [start, stop] up to which nodes are needed; beyond it, as long as their modulus is not negligible."""
        return start

    @abstractmethod
    def rounding(self, s: ComplexArray) -> np.ndarray:
        """A bound on the rounding error of `cumulant` at s, up to whole multiples of 2 pi i; the larger world, shape (T,)."""

    @property
    @abstractmethod
    def shift(self) -> float:
        """A bound on what rounding moves the score by: its mean, and its distance from a lattice on which it is declared to lie."""

    @abstractmethod
    def tail(self, c: float, spacing: float, first: int, span: tuple[float, float]) -> Tail:
        """The `Tail` of the law tilted by c at the frequencies k `spacing`, k > first, in the worse of the worlds.

        span: an interval that holds every real part that will be requested.
        """


@dataclass(frozen=True)
class RowsTransform(AbstractCumulants):
    """A score offset + sum of independent rows + noise; in the "in" world a single row is the constant `target`."""

    row: AbstractRow  # the law of a row's term, centred
    rows: int  # how many rows are summed
    row_mean: float  # mean of a row's term
    target: float  # the target's term
    offset: float  # the constant of the score
    noise: tuple[AbstractRow, ...] = ()  # further independent centred terms, the same in both worlds
    row_mean_low: float = 0.0  # what rounding took from `row_mean`
    magnitude: float = 0.0  # by how many EPS the exact mean of all rows may be off besides
    lost: float = 0.0  # a bound on the error of the noise's laws, in total variation

    @property
    def mean(self) -> np.ndarray:
        return self._mean

    @cached_property
    def _mean(self) -> np.ndarray:
        # Rows and offset cancel where the score is centred: their sum is rounded once.
        high, low = product_parts(float(self.rows), self.row_mean)
        parts = [self.offset, float(high), float(low), self.rows * self.row_mean_low]
        inside = [*parts, self.target, -self.row_mean, -self.row_mean_low]
        return np.array([fsum(parts), fsum(inside)])

    @cached_property
    def lattice(self) -> Lattice | None:  # pyright: ignore[reportIncompatibleMethodOverride] - a property
        """The rows' own, without noise, if all rows together miss the lattice by 1e-7 steps at most."""
        step, multiples = self.row.step, self._multiples
        if step is None or multiples is None:
            return None
        rows = np.array([float(self.rows), self.rows - 1.0])
        high, low = product_parts(rows, multiples.mean[0])
        base = self.offset + rows * self.row.base + np.array([0.0, self.target])
        return Lattice(step, base, multiples.unit, self._mean, (high, low + rows * multiples.mean[1]))

    @property
    def _unit(self) -> float | None:
        return self.lattice and self.lattice.unit

    @cached_property
    def _multiples(self) -> Multiples | None:
        result = None if self.noise else self.row.on_lattice()
        step = self.row.step
        if result is None or step is None:
            return None
        base = np.abs(np.array([self.offset, self.rows * self.row.base, self.target])).sum()
        rounding = 8.0 * EPS * (base / step + self.rows * result.most)
        return None if self.rows * result.misfit + rounding > _OFF_LATTICE else result

    @cached_property
    def _row(self) -> AbstractRow:
        return self.row if self._multiples is None else self._multiples.row

    @property
    def shift(self) -> float:
        """Rounding of the means, here and in the row's cumulants; on a lattice the atoms are where they are."""
        noise, magnitude, own = sum(part.size for part in self.noise), 0.0, 0.0
        if self._multiples is None:
            magnitude, own = self.magnitude, float(np.abs(self._mean).max()) + abs(self.target)
        return EPS * (magnitude + self.rows * self._row.size + 2.0 * (noise + own))

    def rounding(self, s: ComplexArray) -> np.ndarray:
        """That of the row times the rows, that of the noise, and of their products and sums."""
        row = self.rows * self._row.rounding(s)
        size = self.rows * np.abs(self._row.cumulant(s))
        noise = np.zeros(s.shape)
        for part in self.noise:
            noise += part.rounding(s)
            size += np.abs(part.cumulant(s))
        return row + noise + (2.0 + len(self.noise)) * EPS * size

    @property
    def strip(self) -> tuple[float, float]:
        parts = [part.strip for part in (self.row, *self.noise)]
        return max(low for low, _ in parts), min(high for _, high in parts)

    def cumulant(self, s: ComplexArray) -> ComplexArray:
        """That of a row times n in the "out" world and n - 1 in the "in" world, plus the noise's."""
        item = self._row.cumulant(s)
        noise = sum((part.cumulant(s) for part in self.noise), np.zeros(s.shape, complex))
        return np.stack([self.rows * item + noise, (self.rows - 1) * item + noise])

    def quiet_from(self, c: float, start: float, stop: float, span: tuple[float, float]) -> float:
        """The first computed frequency beyond which the modulus is proven below 1e-17, else `stop`.

        A score without noise and lattice comes back to 1 again and again: its nodes end with the envelope's reach at most.
        """
        if not self._vanishing and self._unit is None:
            stop = min(stop, max(start, self._row.reach))
        t = start
        while t < stop and self._highest(c, t, span) > _QUIET:
            t *= 1.05
        return min(t, stop)

    def _highest(self, c: float, t: float, span: tuple[float, float]) -> float:
        """A bound on the log modulus at every frequency from t on: to pi / step on a lattice, else to infinity.

        Without noise and lattice it is that up to the reach: the rest is for `tail`.
        """
        reach = self._row.reach
        inner = self._height(c, t, reach, span) if t < reach else -np.inf
        whole = self._unit is not None and reach * self._unit >= np.pi * (1 - 1e-12)
        if whole or np.isinf(reach) or not (self._vanishing or self._unit):
            return inner
        start = max(t, reach)
        beyond = self._noise(c, start)
        if beyond > _QUIET:
            for level, until in self._quiet(span):
                over = self._unit is not None and until * self._unit >= np.pi
                after = -np.inf if over else self._noise(c, max(t, until))
                beyond = min(beyond, max(self._noise(c, start) - level, after))
        return max(inner, beyond)

    @cached_property
    def _vanishing(self) -> tuple[AbstractRow, ...]:
        """The noises with a density, whose transforms fall for ever; those of atoms come back to 1."""
        return tuple(part for part in self.noise if part.vanishes)

    def _noise(self, c: float, t: float) -> float:
        return sum(part.envelope(c, t) for part in self._vanishing)

    def _height(self, c: float, start: float, stop: float, span: tuple[float, float]) -> float:
        """A bound on the log modulus at frequencies in [start, stop]: the noise's, and the rows' where they have any."""
        result = self._noise(c, start)
        if stop <= self._row.reach:
            return result + (self.rows - 1) * self._row.envelope(c, start)
        if start >= self._row.reach * (1 - 1e-13) and result > _LOUD:
            result -= max((level for level, until in self._quiet(span) if stop <= until), default=0.0)
        return result

    def tail(self, c: float, spacing: float, first: int, span: tuple[float, float]) -> Tail:
        """Blocks of frequencies, each with a proven height: by the envelopes, by the phases, by the noise alone.

        The envelope of the rows says nothing beyond its reach, where the modulus of a discrete score rises again; that of
        the noise falls for ever. Once it falls to exp(-0.65) < .53 of itself with every doubling, the rest of the sum is at most
        height sum_i .53^i (log 2 + 1 / k) < 4 height.
        """
        reach = self._row.reach
        if not self._vanishing and self._unit is None and np.isfinite(reach):
            return phased_tail(
                lambda t: self._height(c, t, reach, span), reach, self._quiet(span), spacing, first
            )
        most = np.inf if self._unit is None else np.pi / (self._unit * spacing)
        edges: list[float] = []
        if np.isfinite(reach) and self._noise(c, reach) > _LOUD:
            edges = sorted({reach, *(until for _, until in self._quiet(span))})
        total, k = 0.0, first + 1.0
        options: list[Tail] = []
        for count in range(_DOUBLINGS):
            if k > most * (1 + 1e-12):
                return Tail(total, np.inf)
            edge = next((at for at in edges if at > k * spacing * (1 + 1e-12)), np.inf)
            until = min(k * (_FINE if count < 60 else _COARSE), edge / spacing, max(most, k + 1.0))
            height = self._height(c, k * spacing, until * spacing * (1 - 1e-13), span)
            if height < _LOUD and until * spacing < reach < np.inf and np.isinf(most):
                until = reach / spacing  # up to there it only falls
            total += float(np.exp(height)) * (1.0 / k + log(until / k))
            if np.isinf(most):
                # Beyond its reach the rows' modulus comes back: what ends the sum for ever is the noise alone.
                lasting = height if np.isinf(reach) else self._noise(c, k * spacing)
                if lasting < _LOUD and self._falls(c, k * spacing):
                    return Tail(total + 4.0 * float(np.exp(lasting)), np.inf)
                options.append(Tail(total, float(np.floor(until * (1 - 1e-13)))))
                if until > _WHOLE:
                    break
            k = until
        if not options:
            return Tail(total, np.inf)
        return min(options, key=lambda tail: tail.distance(1.0))

    def _falls(self, c: float, t: float) -> bool:
        """Whether the bound halves, nearly, from t to 2 t, and so does with every doubling after.

        The logarithms of the envelopes of noise and of densities are concave functions of log t: sums of -log(1 + (b t)^2),
        -t^2, min(0, const - log(c^2 + t^2)). Rows of a discrete law have no part in it: their modulus comes back.
        """
        parts = self._vanishing or ((self._row,) if self._row.vanishes else ())
        copies = 1 if self._vanishing else self.rows - 1
        return copies * sum(part.envelope(c, 2.0 * t) - part.envelope(c, t) for part in parts) < -0.65

    def _quiet(self, span: tuple[float, float]) -> list[tuple[float, float]]:
        """(level, frequency up to which |phi| <= exp(-level) is proven), once for all lines of a span.

        Under a tilt whose strengths are at least a share of those without a tilt, the levels of those hold to that share.
        """
        if span not in self._known:
            phases, plain = (self._row.phases(*tilts) if self.rows > 1 else None for tilts in (span, _PLAIN))
            share = phases.share_of(plain) if phases and plain and span != _PLAIN else 0.0
            if share >= _SHARE:
                levels = [(share * level, until) for level, until in self._quiet(_PLAIN)]
            else:
                levels = phases.levels(self._row.reach, self.rows - 1) if phases else []
            self._known[span] = levels
        return self._known[span]

    @cached_property
    def _known(self) -> dict[tuple[float, float], list[tuple[float, float]]]:
        return {}


def phased_tail(
    # frequency t -> a bound on the log modulus at frequencies in [t, reach]
    height: Callable[[float], float],
    reach: float,  # how far that holds
    # pairs (level, frequency): beyond `reach`, up to the frequency, the modulus is at most exp(-level)
    quiet: list[tuple[float, float]],
    spacing: float,  # of the frequencies k spacing
    first: int,  # the last k that is summed
) -> Tail:
    """A `Tail` from a bound on the log modulus that falls up to `reach`, and levels that are proven beyond it.
    >>> phased_tail(lambda t: -t * t, 20.0, [(36.0, 1e9)], 1.0, 6).distance(1.0) < 1e-8
    True
    """
    total, k = 0.0, first + 1.0
    while k * spacing < reach * (1 - 1e-13) and k < _WHOLE:
        level = height(k * spacing)
        until = min(_FINE * k, reach / spacing) if level > _LOUD else reach / spacing
        total += float(np.exp(level)) * (1.0 / k + log(until / k))
        k = until
    options = [Tail(total, max(float(first), float(np.floor(k * (1 - 1e-13)))))]
    for level, frequency in sorted(quiet, key=lambda pair: pair[1]):
        last = frequency / spacing
        if last > k:
            total += exp(-level) * (1.0 / k + log(last / k))
            options.append(Tail(total, float(np.floor(last * (1 - 1e-13)))))
            k = last
    return min(options, key=lambda tail: tail.distance(1.0))
