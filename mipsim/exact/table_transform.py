"""The cumulants of a sum of many terms with finitely many values each, which share neither values nor probabilities."""

from dataclasses import dataclass
from functools import cached_property
from math import factorial

import numpy as np

from mipsim.exact.phases import Phases, pair_phases
from mipsim.exact.rounding import EPS, Bounded, ComplexArray, in_blocks, log_1_plus, log_of_1_plus, summed
from mipsim.exact.transform import AbstractTransform, Tail, phased_tail

_ORDERS = 36  # moments: at half the radius 0.5^36 < 2e-11 of what they leave out at the radius
_SPLIT = 6  # moments of order 6 a + b as products of q u^(6 a) and u^b
_FACTORIALS = np.array([float(factorial(r)) for r in range(_ORDERS + 1)])
_TRIALS = 8  # radii; each halves at least
_REACH = 48.0  # deviations of the score: tails of 1e-308 and the line's own frequencies
_LEFT_OUT = 1e-9  # at the radius; 2^-36 of it at half of it
_BLOCK = 2**15  # values of a batch: its powers fit into the cache
_MARGIN = 1e-5  # covers the rounding and the remainders of moments that bound the modulus
_SMALLEST = 1e-300  # in the place of a variance of 0


@dataclass(frozen=True)
class TablesTransform(AbstractTransform):
    """A sum over coordinates of terms with finitely many values; the mass at -inf is left out of the cumulants."""

    # finite values of the terms, shape (2, g, K), less a centre per coordinate; worlds out and in
    values: np.ndarray
    probabilities: np.ndarray  # of these values, 0 where impossible, shape (2, g, K)
    copies: np.ndarray  # how many coordinates have each table, shape (g,)
    centre: np.ndarray  # what was taken from the score, shape (2,)
    first: np.ndarray  # the count that the first value belongs to, shape (g,)
    lost: float = 0.0  # a bound on the total error of all probabilities
    moved: float = 0.0  # a bound on the rounding of the sum of the centres
    most_nodes: int = 2**11  # few: where the modulus does not fall soon, no number of nodes is enough

    @property
    def mean(self) -> np.ndarray:
        return self.centre

    @property
    def log_mass(self) -> np.ndarray:
        return self._log_masses @ self.copies

    @cached_property
    def _log_masses(self) -> np.ndarray:
        gone = 1.0 - self.probabilities.sum(axis=2)
        return np.where(np.abs(gone) < 1e-14, 0.0, np.log1p(-np.minimum(gone, 1.0 - 1e-16)))

    @property
    def shift(self) -> float:
        return self.moved

    @property
    def strip(self) -> tuple[float, float]:
        """Everywhere: finitely many values."""
        return -np.inf, np.inf

    def cumulant(self, s: ComplexArray) -> ComplexArray:
        """K_w(s): from the moments of every coordinate where they suffice, else from the tilted laws, a real part at a time."""
        return self._both(s, exact=False)[0]

    def rounding(self, s: ComplexArray) -> np.ndarray:
        """That of the moments and of the logarithms, and what the moments' series leaves out."""
        return self._both(s)[1].max(axis=0)

    def _both(self, s: ComplexArray, *, exact: bool = True) -> Bounded:
        value, error = np.zeros((2, s.size), complex), np.zeros((2, s.size))
        near = (np.abs(s) <= self._radius) & (self._radius > 0.0)
        for world in (0, 1):
            if near.any():
                value[world, near], error[world, near] = in_blocks(
                    lambda at, w=world: self._by_moments(at, w, exact), s[near], self.copies.size
                )
            for c in np.unique(s.real[~near]):
                at = ~near & (s.real == c)
                value[world, at], error[world, at] = self._on_line(float(c), s.imag[at], world)
        return value, error

    @cached_property
    def _radius(self) -> float:
        return self._moments[0]

    @cached_property
    def _moments(self) -> tuple[float, np.ndarray, np.ndarray]:
        """(radius S, E (S v)^r / r! of shape (2, g, 36) with E 1 = 1, and a bound at |s| = S on what is left out, (2, g))."""
        pairs = zip(self.probabilities, self.values, strict=True)
        variance = np.array([_dot(p, np.square(v)) @ self.copies for p, v in pairs])
        radius = _REACH / float(np.sqrt(max(variance.max(), _SMALLEST)))
        moments, rest = np.empty((2, self.copies.size, _ORDERS)), np.empty((2, self.copies.size))
        for _ in range(_TRIALS):
            step = max(1, _BLOCK // self.values.shape[2])
            with np.errstate(over="ignore"):
                for world in (0, 1):
                    for start in range(0, self.copies.size, step):
                        part = slice(start, start + step)
                        moments[world, part], rest[world, part] = _scaled_moments(
                            self.probabilities[world, part], radius * self.values[world, part]
                        )
            left_out = float((rest @ self.copies).max())
            if left_out <= _LEFT_OUT:
                return radius, moments, rest
            # E |u|^36 exp(|u|) falls by f^36 at least where u is f times as large; NaN and inf halve.
            enough = 0.99 * (_LEFT_OUT / left_out) ** (1.0 / _ORDERS)
            radius *= enough if enough > 0.5 else 0.5
        return 0.0, moments, rest

    @cached_property
    def _upper(self) -> np.ndarray:
        return np.ascontiguousarray(self._moments[1][:, :, 1:])

    @cached_property
    def _sizes(self) -> np.ndarray:
        """The rounding of the moments of order 1, 2, ...; E |u|^r for odd r by Cauchy and Schwarz."""
        sizes = np.abs(self._moments[1])
        r = np.arange(1, _ORDERS - 1, 2)
        even = sizes * _FACTORIALS[:_ORDERS]
        sizes[:, :, r] = np.sqrt(even[:, :, r - 1] * even[:, :, r + 1]) / _FACTORIALS[r]
        sizes[:, :, -1] += sizes[:, :, -2]
        return sizes[:, :, 1:] * (EPS * (48.0 + 8.0 * np.arange(1, _ORDERS)))

    def _by_moments(self, s: ComplexArray, world: int, exact: bool) -> Bounded:
        radius, _, rest = self._moments
        w = s / radius
        powers = w[None, :] ** np.arange(1, _ORDERS)[:, None]
        parts = self._upper[world] @ np.concatenate([powers.real, powers.imag], axis=1)
        z = (parts[:, : s.size] + 1j * parts[:, s.size :]).T
        masses = self._log_masses[world]
        if not exact:
            return (log_of_1_plus(z) + masses) @ self.copies, np.zeros(s.size)
        lost = (self._sizes[world] @ np.abs(powers)).T
        lost += rest[world] * (np.abs(w)[:, None] ** _ORDERS)
        value, error = log_1_plus(z, lost)
        return summed(self.copies * (value + masses), self.copies * (error + EPS * np.abs(masses)))

    def _on_line(self, c: float, t: np.ndarray, world: int) -> Bounded:
        v, p = self.values[world], self.probabilities[world]
        tilt = c * v
        top = np.where(p > 0.0, tilt, -np.inf).max(axis=1, keepdims=True)
        q = p * np.exp(np.where(p > 0.0, tilt - top, 0.0))
        mass = q.sum(axis=1)
        q = q / mass[:, None]
        mean = _dot(q, v)
        centred = v - mean[:, None]
        # What rounding makes of each tilted probability, and of their sum.
        unsure = EPS * (_dot(q, np.abs(tilt)) + np.abs(top[:, 0]) + 40.0)
        real = self.copies @ (np.log(mass) + top[:, 0])
        real_error = self.copies @ (unsure + 40.0 * EPS * (np.abs(np.log(mass)) + np.abs(top[:, 0])))
        value, error = np.empty(t.size, complex), np.empty(t.size)
        for i, u in enumerate(t):
            half = 0.5 * u * centred
            sine = np.sin(half)
            z = -2.0 * _dot(q, sine * sine) + 2j * _dot(q, sine * np.cos(half))
            angles = _dot(q, np.abs(half))
            lost = unsure * np.minimum(2.0 * np.abs(u) * np.abs(centred).max(axis=1), 2.0)
            lost += EPS * (44.0 * np.minimum(2.0 * angles, 2.0) + 4.0 * angles)
            logs, errors = log_1_plus(z, lost)
            angle = mean * u
            value[i] = self.copies @ (logs + 1j * angle) + real
            errors = errors + EPS * (44.0 * np.abs(angle) + 40.0 * np.abs(logs))
            error[i] = self.copies @ errors + real_error
        return value, error

    def tail(self, c: float, spacing: float, first: int, span: tuple[float, float]) -> Tail:
        """From two moments of the tilted terms as far as they reach, then from the phases of pairs of values.

        |phi_j|^2 = E cos(t (Y - Y')) <= 1 - t^2 V_j + t^4 (mu4_j + 3 V_j^2) / 12, so that
        log |phi| <= -(t^2 V - t^4 M / 12) / 2 with sums V and M over j, which falls until t^2 = 6 V / M.
        """
        variance, fourth = self._spread(c)
        reach = float(np.sqrt(6.0 * variance / fourth).min())

        def height(t: float) -> float:
            return float((-0.5 * (t * t * variance - t**4 * fourth / 12.0)).max())

        return phased_tail(height, reach, self._quiet(span, reach), spacing, first)

    def _spread(self, c: float) -> tuple[np.ndarray, np.ndarray]:
        """V and M of both worlds under the tilt c, the first from below and the second from above."""
        result = np.empty((2, 2))
        for world in (0, 1):
            if abs(c) < 0.8 * self._radius:
                radius, moments, _ = self._moments
                m, x = moments[world], c / radius
                # Derivatives of E exp(x u): sum_r m_r r! / (r - k)! x^(r - k).
                weights = _FACTORIALS[:_ORDERS], x ** np.arange(_ORDERS)
                raw = [
                    m[:, k:] @ (weights[0][k:] / weights[0][: _ORDERS - k] * weights[1][: _ORDERS - k])
                    for k in range(5)
                ]
                e1, e2, e3, e4 = (part / raw[0] for part in raw[1:])
                var = (e2 - e1**2) / radius**2
                mu4 = (e4 - 4 * e1 * e3 + 6 * e1**2 * e2 - 3 * e1**4) / radius**4
            else:
                tilt = c * self.values[world]
                q = self.probabilities[world] * np.exp(tilt - tilt.max(axis=1, keepdims=True))
                q /= q.sum(axis=1, keepdims=True)
                centred = self.values[world] - _dot(q, self.values[world])[:, None]
                var, mu4 = _dot(q, centred**2), _dot(q, centred**4)
            var = np.maximum(var, 0.0)
            result[:, world] = self.copies @ var, self.copies @ (np.maximum(mu4, 0.0) + 3.0 * var**2)
        return result[0] * (1.0 - _MARGIN), np.maximum(result[1], _SMALLEST) * (1.0 + _MARGIN)

    def _quiet(self, span: tuple[float, float], start: float) -> list[tuple[float, float]]:
        if span not in self._known:
            laws = zip(self.values, self.probabilities, strict=True)
            self._known[span] = [pair_phases(v, p, self.copies, self.first, span) for v, p in laws]
        result = [dict(phases.levels(start, 1)) for phases in self._known[span] if phases is not None]
        if len(result) < 2:
            return []
        return [(level, min(result[0][level], result[1][level])) for level in result[0] if level in result[1]]

    @cached_property
    def _known(self) -> dict[tuple[float, float], list[Phases | None]]:
        return {}


def _dot(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.einsum("jk,jk->j", first, second)


def _scaled_moments(q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """E u^r / r! for r < 36 under q scaled to 1, shape (g, 36), and E |u|^36 exp(|u|) / 36!, shape (g,)."""
    q = q / q.sum(axis=1, keepdims=True)
    square = u * u
    low = np.stack([np.ones_like(u), u, square, square * u, square * square, square * square * u], axis=2)
    sixth = square * square * square
    high = [q]
    for _ in range(_ORDERS // _SPLIT - 1):
        high.append(high[-1] * sixth)
    moments = (np.stack(high, axis=1) @ low).reshape(q.shape[0], _ORDERS)
    rest = _dot(high[-1] * sixth, np.exp(np.minimum(np.abs(u), 600.0)))
    return moments / _FACTORIALS[:_ORDERS], rest / _FACTORIALS[_ORDERS]
