"""What is stated of a distribution, held against all else that is stated of it: a user's own is checked when it is made."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from mipsim._precision import exact_scope, fixed_key

if TYPE_CHECKING:
    from mipsim.distributions.base import AbstractDistribution

Waves = Callable[[np.ndarray], np.ndarray]
"""Frequencies u, shape (m, 1), to E exp(i u (z_j - mean_j)) of the checked coordinates, shape (m, k)."""

FAILURE = 1e-9
"""Largest probability with which a distribution is refused whose statements are all true."""
_LOG = 32.0  # log(4 / risk) of a test: 20,000 of them keep to `FAILURE`
_RECORDS = (
    2**18
)  # that are sampled of a coordinate or two; eight times as many where nothing but records tells
_COORDINATES, _CELLS = 16, 2**15  # that are checked; of a distribution function
_WAVES = np.array([0.7, 1.4, 2.8, 5.6])  # frequencies, per standard deviation
_STEP = 0.02  # the same, of differences that give the moments
_ROOM = {
    1: 1e-6,
    2: 1e-5,
    3: 1e-4,
    4: 1e-3,
}  # rounding and blur of these, in powers of the standard deviation
_BLOCKS, _CANTELLI = (
    75,
    2.71,
)  # P(a block's mean is off) <= 1 / (1 + 2.71^2) = .12, P(half of 75 are) <= e^-32
_ROWS = 3  # of a sum


class DisagreementError(ValueError):
    """Two statements of a distribution contradict each other."""


def check_agreement(data: AbstractDistribution) -> None:
    """Refuse a distribution two of whose statements contradict each other.

    - `cdf`, `characteristic`, `lattice` and the law of `location_scale` each give E exp(i u (z_j - mean_j)). Its differences near u = 0
      give mean and central moments to the fourth; what they cannot tell of long tails is left open.
    - Records of `sample` have these waves. Where no law is given, they have the stated moments.
    - Sums of `sum_sampler` have the waves of sums of records, and none of no records is zero.
    - `sum_ratio` and `tilted` change measure: for all bounded g, E g / (1 + e^-r) without = E g / (1 + e^r) with the target.
    - Coordinates of a product are independent: projections of records are as those of records with exchanged coordinates.

    Of more than 16 coordinates as many are checked, a coordinate of each law first. Tests of draws have a seed of their own. The mean of
    bounded numbers is tested by Maurer's and Pontil's inequality, that of others by the median of 75 means, whose variances are stated.

    Source: Maurer & Pontil (2009), "Empirical Bernstein bounds and sample variance penalization", theorem 4.

    Raises:
        ValueError: with both statements. A true distribution is refused with probability `FAILURE` at most.
    """
    with exact_scope(), np.errstate(all="ignore"):
        _Check(data).run()


class _Check:
    """Everything that is checked of a distribution."""

    def __init__(self, data: AbstractDistribution) -> None:
        self.data, self.name = data, type(data).__name__
        self.mean, self.variance = np.asarray(data.mean, float), np.asarray(data.central_moment(2), float)
        self.sd = np.sqrt(self.variance)
        if not ((self.variance > 0).all() and np.isfinite(self.mean).all()):
            self._refuse("central_moment(2)", f"{self.variance.min():g}", "the variance of a coordinate, > 0")
        self.groups = self._grouped()
        self.at = np.array([group[0] for group in self.groups])

    def run(self) -> None:
        self._covariance()
        seen = self._waves()
        for name, waves, room in seen:
            self._moments(name, waves, room)
        if not np.isfinite(self.variance).all():
            return
        most = _RECORDS if seen else 8 * _RECORDS
        count = min(max(64, 4 * most // self.data.dimension), most)
        records = np.asarray(self.data.sample(fixed_key(0x5EED), count), float)
        if records.shape != (count, self.data.dimension):
            self._refuse("sample", f"shape {records.shape}", f"shape ({count}, {self.data.dimension})")
        standard = (records - self.mean) / self.sd
        for name, waves, _ in seen:
            self._records(name, waves, standard)
        if not seen:
            self._moments_of_records(standard)
            records, standard = records[:_RECORDS], standard[:_RECORDS]
        if not all(self.data.in_support(row) for row in records[:8]):
            self._refuse("in_support", "False at a record that sample made", "True")
        self._independence(standard)
        self._sums(standard, seen)
        self._changes_of_measure(records)

    def _grouped(self) -> list[np.ndarray]:
        from mipsim.distributions.by_cdf import coordinates_by_law

        by_law = coordinates_by_law(self.data)
        if by_law is None:
            apart = np.unique(
                np.linspace(0, self.data.dimension - 1, min(_COORDINATES, self.data.dimension)).astype(int)
            )
            return [np.array([j]) for j in apart]
        return [np.flatnonzero(by_law[1] == k) for k in range(min(len(by_law[0]), _COORDINATES))]

    def _refuse(self, what: str, seen: str, wanted: str) -> None:
        raise DisagreementError(f"{self.name}.{what} is {seen}; it must be {wanted}")

    def _disagree(self, what: str, seen: float, other: str, wanted: float) -> None:
        raise DisagreementError(
            f"{self.name}.{what} is {seen:.6g}, but by its {other} it is {wanted:.6g}; the two must agree"
        )

    def _covariance(self) -> None:
        covariance = np.asarray(self.data.covariance)
        own = covariance if covariance.ndim == 1 else np.diag(covariance)
        if not np.allclose(own, self.variance, rtol=1e-9):
            worst = int(np.argmax(np.abs(own / self.variance - 1.0)))
            self._disagree("covariance", own[worst], "central_moment(2)", self.variance[worst])

    def _waves(self) -> list[tuple[str, Waves, float]]:
        """Name, waves, and how much wider than a point a cell of these is, in squared standard deviations."""
        result = list(_waves_of(self.data, self.at))
        if (form := self.data.location_scale()) is not None:
            scale, sd, law = form
            for what, seen, wanted in (
                ("scale times sd", np.multiply(scale, sd), self.sd),
                ("sd", np.asarray(sd), np.sqrt(law.variance)),
            ):
                if not np.allclose(seen, wanted, rtol=1e-6):
                    j = int(np.argmax(np.abs(seen / wanted - 1.0)))
                    self._disagree(f"location_scale's {what}", seen.flat[j], "moments", wanted.flat[j])
            factor = np.broadcast_to(scale, self.mean.shape)[self.at]
            for name, waves, wide in _waves_of(law, self.at):
                result.append((f"location_scale's {name}", lambda u, waves=waves: waves(u * factor), wide))
        return result

    def _moments(self, name: str, waves: Waves, room: float) -> None:
        sd, mean = self.sd[self.at], self.mean[self.at]
        for order in (1, 2, 3, 4):
            try:
                stated = (
                    np.zeros(sd.size) if order == 1 else self.data.central_moment(order)[self.at] / sd**order
                )
            except Exception:  # a moment that is not stated
                continue
            steps = [_STEP / 2**k / sd for k in range(3)]
            first, second, third = (_difference(waves, h, order) / sd**order for h in steps)
            turn = (third - second) ** 2 / np.where(second == first, 1.0, (third - second) - (second - first))
            turn = np.where(np.isfinite(turn), turn, 0.0)
            doubt = (
                np.abs(turn)
                + np.abs(third - second)
                + (_ROOM[order] + 4.0 * room) * np.maximum(1.0, np.abs(stated))
            )
            off = np.abs(third - turn - stated) - doubt
            if (off > 0).any():
                j = int(np.nanargmax(np.where(np.isfinite(off), off, -1.0)))
                if np.isfinite(off[j]):
                    power = sd[j] ** order
                    what = "mean" if order == 1 else f"central_moment({order})"
                    at = mean[j] if order == 1 else 0.0
                    self._disagree(what, at + stated[j] * power, name, at + (third - turn)[j] * power)

    def _records(self, name: str, waves: Waves, standard: np.ndarray) -> None:
        for k, group in enumerate(self.groups):
            columns = standard[:, group].ravel() if self.data.is_product else standard[:, group[0]]
            wanted = waves(_WAVES[:, None] / self.sd[group[0]])[:, k]
            self._test("sample", _means(columns), name, wanted)

    def _test(
        self,
        what: str,
        sampled: tuple[np.ndarray, np.ndarray],
        name: str,
        wanted: np.ndarray,
        more: Any = 0.0,
    ) -> None:
        value, error = sampled
        both = np.concatenate([wanted.real, wanted.imag])
        off = np.abs(value - both) - error - more - 1e-6
        if (off > 0).any():
            k = int(np.argmax(off))
            wave = f"{what}'s E {'cos' if k < _WAVES.size else 'sin'}({_WAVES[k % _WAVES.size]:g} (z - mean) / sd)"
            self._disagree(wave, value[k], name, both[k])

    def _moments_of_records(self, standard: np.ndarray) -> None:
        size = standard.shape[0] // _BLOCKS
        for order in (1, 2, 3, 4):
            try:
                stated, twice = (self.data.central_moment(r) / self.sd**r for r in (order, 2 * order))
            except Exception:  # moments that are not stated
                continue
            wanted = stated if order > 1 else np.zeros(self.sd.size)
            error = _CANTELLI * np.sqrt(np.maximum(twice - wanted**2, 0.0) / size)
            blocks = (standard[: size * _BLOCKS] ** order).reshape(_BLOCKS, size, -1).mean(axis=1)
            off = np.abs(np.median(blocks, axis=0) - wanted) - error - 1e-9
            if size and (np.isfinite(off) & (off > 0)).any():
                j = int(np.argmax(np.where(np.isfinite(off), off, -1.0)))
                seen = np.median(blocks, axis=0)[j] * self.sd[j] ** order
                at = self.mean[j] if order == 1 else 0.0
                what = "mean" if order == 1 else f"central_moment({order})"
                self._disagree(what, at + wanted[j] * self.sd[j] ** order, "sample", at + seen)

    def _independence(self, standard: np.ndarray) -> None:
        d, rng = self.data.dimension, np.random.default_rng(0)
        if not self.data.is_product or d == 1:
            return
        apart = standard.copy()
        for j in range(min(d, 64)):
            apart[:, j] = np.roll(apart[:, j], j + 1)
        for _ in range(4):
            weights = rng.choice([-1.0, 1.0], d) * (np.arange(d) < 64) / math.sqrt(min(d, 64))
            # Rolled columns share numbers with neighbouring rows only; of two halves they share hardly any.
            half = standard.shape[0] // 2
            (value, error), (other, more) = (
                _means(standard[:half] @ weights),
                _means((apart[half:] @ weights)[: half - 64 if half > 200 else None]),
            )
            m = _WAVES.size
            self._test(
                "sample along coordinates together",
                (value, error),
                "is_product",
                other[:m] + 1j * other[m:],
                more,
            )

    def _sums(self, standard: np.ndarray, seen: list[tuple[str, Waves, float]]) -> None:
        draw = self.data.sum_sampler()
        if draw is None:
            return
        d, count = self.data.dimension, max(21, standard.shape[0] // 2)
        if np.any(np.asarray(draw(fixed_key(1), 0))):
            self._refuse("sum_sampler", "not 0 for n = 0", "0")
        keys = jax.random.split(fixed_key(0x5EEE), count)
        sums = np.asarray(jax.jit(jax.vmap(lambda key: draw(key, _ROWS)))(keys), float)
        sums = (sums - _ROWS * self.mean) / (self.sd * math.sqrt(_ROWS))
        literal = standard[: standard.shape[0] // _ROWS * _ROWS].reshape(-1, _ROWS, d).sum(
            axis=1
        ) / math.sqrt(_ROWS)
        weights = np.random.default_rng(1).choice([-1.0, 1.0], d) / math.sqrt(d)
        m = _WAVES.size
        for column in (*(lambda x, j=j: x[:, j] for j in self.at), lambda x: x @ weights):
            other, more = _means(column(literal))
            self._test("sum_sampler", _means(column(sums)), "sample", other[:m] + 1j * other[m:], more)
        for name, waves, _ in seen:
            for k, j in enumerate(self.at):
                wanted = waves(_WAVES[:, None] / (self.sd[j] * math.sqrt(_ROWS)))[:, k] ** _ROWS
                self._test("sum_sampler", _means(sums[:, j]), name, wanted)

    def _changes_of_measure(self, records: np.ndarray) -> None:
        half = records[: records.shape[0] // 2 * 2].reshape(2, -1, self.data.dimension)
        if (ratio := self.data.sum_ratio()) is not None:
            target = np.asarray(self.data.typical_target(3))
            out, inside = half[0][: half.shape[1] // 2] + half[0][-(half.shape[1] // 2) :], half[1] + target
            quiet = np.zeros(self.data.dimension)
            of = jax.jit(jax.vmap(lambda total: ratio(total, 2, target, quiet).sum()))
            self._change("sum_ratio", "sample", np.asarray(of(out)), np.asarray(of(inside)))
        try:
            slope = 0.5 / (self.sd * math.sqrt(self.data.dimension))
            law, log_mean = self.data.tilted(slope)
        except ValueError:
            return
        tilted = np.asarray(law.sample(fixed_key(0x5EEF), half.shape[1]), float)
        self._change("tilted", "sample", half[0] @ slope - log_mean, tilted @ slope - log_mean)

    def _change(self, what: str, name: str, out: np.ndarray, inside: np.ndarray) -> None:
        from scipy.special import expit

        for rate in (0.0, 1.0, -1.0):
            g = lambda r, rate=rate: expit(rate * r)  # noqa: E731
            (value, error), (other, more) = (
                _bounded_mean(expit(sign * r) * g(r), 1.0) for sign, r in ((1.0, out), (-1.0, inside))
            )
            if abs(value - other) > error + more:
                self._disagree(f"{what}'s E g(r) / (1 + e^-r)", value, name, other)


def _waves_of(data: AbstractDistribution, at: np.ndarray) -> Iterator[tuple[str, Waves, float]]:
    """The waves of coordinates `at`, by each of what gives them."""
    from mipsim.distributions.base import AbstractWithCDF
    from mipsim.distributions.by_cdf import cells_of, coordinates_by_law, reach_of

    mean, sd = data.mean[at], np.sqrt(data.variance)[at]
    if isinstance(data, AbstractWithCDF) and (by_law := coordinates_by_law(data)) is not None:
        laws = [by_law[0][by_law[1][j]] for j in at]
        ends = [reach_of(law) for law in laws]
        if all(end is not None for end in ends):
            cells = [
                cells_of(law, end[0], (end[1] - end[0]) / _CELLS, _CELLS)
                for law, end in zip(laws, ends, strict=True)
                if end is not None
            ]

            def of_cells(u: np.ndarray) -> np.ndarray:
                u = np.broadcast_to(u, (u.shape[0], at.size))
                columns = [
                    np.exp(1j * np.outer(u[:, k], cell.middles - mean[k]))
                    @ (cell.masses / cell.masses.sum())
                    * np.sinc(u[:, k] * cell.width / (2.0 * np.pi))  # uniform within a cell
                    for k, cell in enumerate(cells)
                ]
                return np.stack(columns, axis=1)

            yield "cdf", of_cells, max((cell.width / s) ** 2 for cell, s in zip(cells, sd, strict=True))
    if (of := data.characteristic()) is not None:

        def given(u: np.ndarray) -> np.ndarray:
            full = np.zeros((u.shape[0], data.dimension))
            full[:, at] = u
            return np.broadcast_to(of(full), full.shape)[:, at]

        yield "characteristic", given, 0.0
    if (grid := data.lattice()) is not None:
        step, least, masses = grid
        values = np.asarray(least)[:, None] + step * np.arange(masses.shape[1]) - data.mean[:, None]

        def of_lattice(u: np.ndarray) -> np.ndarray:
            u = np.broadcast_to(u, (u.shape[0], at.size))
            return np.stack(
                [np.exp(1j * np.outer(u[:, k], values[j])) @ masses[j] for k, j in enumerate(at)], axis=1
            )

        yield "lattice", of_lattice, 0.0


def _difference(waves: Waves, h: np.ndarray, order: int) -> np.ndarray:
    """The central moment of that order, shape of h, by differences of waves at h and 2 h."""
    one, two = (np.diagonal(waves(k * h[:, None])) for k in (1.0, 2.0))
    if order == 1:
        return one.imag / h
    if order == 2:
        return 2.0 * (1.0 - one.real) / h**2
    return (
        -(two.imag - 2.0 * one.imag) / h**3 if order == 3 else 2.0 * (two.real - 4.0 * one.real + 3.0) / h**4
    )


def _means(standard: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means of the waves' real and imaginary parts, and how far each may be off."""
    turns = [part(u * standard) for part in (np.cos, np.sin) for u in _WAVES]
    values, errors = zip(*(_bounded_mean(turn, 2.0) for turn in turns), strict=True)
    return np.array(values), np.array(errors)


def _bounded_mean(values: np.ndarray, width: float) -> tuple[float, float]:
    count = values.size
    return float(values.mean()), math.sqrt(
        2.0 * float(values.var(ddof=1)) * _LOG / count
    ) + 7.0 * width * _LOG / (3.0 * (count - 1))
