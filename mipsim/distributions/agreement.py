"""What is stated of a distribution, held against all else that is stated of it: a user's own is checked when it is made."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from mipsim._family import is_users
from mipsim._precision import exact_scope, fixed_key
from mipsim.distributions.base import AbstractDistribution, AbstractWithCDF
from mipsim.distributions.by_cdf import cells_of, coordinates_by_law, reach_of
from mipsim.distributions.transforms import AbstractTransform

Waves = Callable[[np.ndarray], Any]
"""Frequencies u, shape (m, 1), to E exp(i u (z_j - mean_j)) of the checked coordinates, shape (m, k)."""

FAILURE = 1e-9
"""Largest probability with which a distribution is refused whose statements are all true."""
_LOG = 32.0  # log(4 / risk) of a test: 20,000 of them keep to `FAILURE`
_RECORDS = 2**18  # numbers of a coordinate; twice as many where nothing but records tells
_COORDINATES, _CELLS = 16, 2**13  # that are checked; of a distribution function
_WAVES = 0.7 * 2.0 ** np.arange(4)  # frequencies, per standard deviation, each twice the last
_STEP = 0.02  # the same, of differences that give the moments
_ROOM = {1: 1e-6, 2: 1e-5, 3: 1e-4, 4: 1e-3}  # for rounding and blur, in powers of the standard deviation
_ROWS, _MANY = 3, 8  # of a sum, by draws and by densities
_AGREEING: set[tuple[object, ...]] = set()
"""What was checked before: classes with their parameters."""


class DisagreementError(ValueError):
    """Two statements of a distribution contradict each other."""


def check_agreement(data: AbstractDistribution) -> None:
    """Refuse a distribution two of whose statements contradict each other.

    - `cdf`, `characteristic`, `lattice` and the law of `location_scale` each give E exp(i u (z_j - mean_j)). Its differences near u = 0
      give mean and central moments to the fourth; what they cannot tell of long tails is left open.
    - Records of `sample` have these waves. Where no law is given, they have the stated moments.
    - Sums of `sum_sampler` have the waves of sums of records, and none of no records is zero.
    - `sum_ratio` is the ratio of the densities, or of the probabilities on a lattice, of such sums. Where no law is given, it changes
      measure: for all bounded g, E g / (1 + e^-r) without = E g / (1 + e^r) with the target.
    - Coordinates that are not of a product have the stated covariances.
    - Coordinates of a product are independent: projections of records are as those of records with exchanged coordinates.

    Of more than 16 coordinates as many are checked, a coordinate of each law first. Tests of draws have a seed of their own. The mean of
    bounded numbers is tested by Maurer's and Pontil's inequality, that of others by Catoni's, with variances that are stated.

    Source: Maurer & Pontil (2009), "Empirical Bernstein bounds and sample variance penalization", theorem 4; Catoni (2012), "Challenging
    the empirical mean and empirical variance", proposition 2.2.

    Raises:
        ValueError: with both statements. A true distribution is refused with probability `FAILURE` at most.
    """
    if (key := _key_of(data)) not in _AGREEING:
        with exact_scope(), np.errstate(all="ignore"):
            _Check(data).run()
        _AGREEING.add(key)


def check_transformed(
    data: AbstractDistribution, transform: AbstractTransform, law: AbstractDistribution
) -> None:
    """Refuse the distribution of a transformed record that is not that of records which are transformed.

    Raises:
        ValueError: with both, as for `check_agreement`.
    """
    if not (is_users(type(data)) or is_users(type(transform))):
        return
    if (key := (*_key_of(data), *_key_of(transform))) not in _AGREEING:
        with exact_scope(), np.errstate(all="ignore"):
            _Check(law).compare_with(data, transform)
        _AGREEING.add(key)


def _key_of(thing: Any) -> tuple[object, ...]:
    leaves, form = jax.tree.flatten(thing)
    return type(thing), str(form), *(np.asarray(leaf).tobytes() for leaf in leaves)


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
        most = _RECORDS if seen else 2 * _RECORDS
        count = min(max(64, 4 * most // self.data.dimension), most)
        draw = _compiled(lambda key: self.data.sample(key, count))
        records = np.asarray(draw(fixed_key(0x5EED)), float)
        if records.shape != (count, self.data.dimension):
            self._refuse("sample", f"shape {records.shape}", f"shape ({count}, {self.data.dimension})")
        standard = (records - self.mean) / self.sd
        for name, waves, _ in seen:
            self._records("sample", name, waves, standard)
        self._covariances(standard)
        if not seen:
            self._moments_of_records(standard)
            records, standard = records[:_RECORDS], standard[:_RECORDS]
        if not all(self.data.in_support(row) for row in records[:8]):
            self._refuse("in_support", "False at a record that sample made", "True")
        self._independence(standard)
        self._sums(standard, seen)
        self._changes_of_measure(records, seen)

    def _grouped(self) -> list[np.ndarray]:
        by_law = coordinates_by_law(self.data)
        if by_law is None:
            apart = np.unique(
                np.linspace(0, self.data.dimension - 1, min(_COORDINATES, self.data.dimension)).astype(int)
            )
            return [np.array([j]) for j in apart]
        return [np.flatnonzero(by_law[1] == k) for k in range(min(len(by_law[0]), _COORDINATES))]

    def compare_with(self, data: AbstractDistribution, transform: AbstractTransform) -> None:
        """Whether the records of `data` have this distribution once they are transformed."""
        self.name, what = type(data).__name__, "transformed's sample"
        plain, own = (
            np.asarray(law.sample(fixed_key(seed), _RECORDS), float)
            for law, seed in ((data, 1), (self.data, 2))
        )
        plain, own = ((rows - self.mean) / self.sd for rows in (np.asarray(transform.apply(plain)), own))
        for name, waves, _ in self._waves():
            self._records(what, name, waves, plain)
        self._compare(what, plain, "transformed", own)

    def _compare(self, what: str, standard: np.ndarray, name: str, others: np.ndarray) -> None:
        """Whether two samples have the same waves in each coordinate, and in a sum of all."""
        weights = np.random.default_rng(1).choice([-1.0, 1.0], self.data.dimension) / math.sqrt(
            self.data.dimension
        )
        for column in (*(lambda x, j=j: x[:, j] for j in self.at), lambda x: x @ weights):
            other, more = _means(column(others))
            self._test(what, _means(column(standard)), name, other[:4] + 1j * other[4:], more)

    def _refuse(self, what: str, seen: str, wanted: str) -> None:
        raise DisagreementError(f"{self.name}.{what} is {seen}; it must be {wanted}")

    def _disagree(self, what: str, seen: Any, other: str, wanted: Any) -> None:
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
        steps = _STEP / sd * 2.0 ** -np.arange(-1, 3)[:, None]
        values = waves(steps)
        for order in (1, 2, 3, 4):
            try:
                stated = (
                    np.zeros(sd.size) if order == 1 else self.data.central_moment(order)[self.at] / sd**order
                )
            except Exception:  # a moment that is not stated
                continue
            first, second, third = _differences(values, steps[1:], order) / sd**order
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

    def _records(self, what: str, name: str, waves: Waves, standard: np.ndarray) -> None:
        for k, group in enumerate(self.groups):
            columns = standard[:, group].ravel()[:_RECORDS] if self.data.is_product else standard[:, group[0]]
            wanted = waves(_WAVES[:, None] / self.sd[group[0]])[:, k]
            self._test(what, _means(columns), name, wanted)

    def _test(
        self,
        what: str,
        sampled: tuple[np.ndarray, np.ndarray],
        name: str,
        wanted: Any,
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
        power = np.ones_like(standard)
        for order in (1, 2, 3, 4):
            power *= standard
            try:
                stated, twice = (self.data.central_moment(r) / self.sd**r for r in (order, 2 * order))
            except Exception:  # moments that are not stated
                continue
            wanted = stated if order > 1 else np.zeros(self.sd.size)
            if (off := _is_off(power, wanted, twice)).any():
                j = int(np.argmax(off * np.abs(power.mean(axis=0) - wanted)))
                at, unit = self.mean[j] if order == 1 else 0.0, self.sd[j] ** order
                what = "mean" if order == 1 else f"central_moment({order})"
                self._disagree(what, at + wanted[j] * unit, "sample", at + power[:, j].mean() * unit)

    def _covariances(self, standard: np.ndarray) -> None:
        """Sums and differences of two coordinates have the stated variances."""
        covariance = np.asarray(self.data.covariance)
        if self.data.is_product or covariance.ndim == 1:
            return
        try:
            fourth = (self.data.central_moment(4) / self.sd**4) ** 0.25
        except Exception:  # it is not stated
            return
        for i, j in itertools.combinations(self.at[:6], 2):
            stated = covariance[i, j] / (self.sd[i] * self.sd[j])
            both = np.stack([standard[:, i] + standard[:, j], standard[:, i] - standard[:, j]], axis=1) ** 2
            # Minkowski's inequality bounds the fourth moment of a sum.
            if _is_off(
                both, 2.0 + 2.0 * stated * np.array([1.0, -1.0]), np.full(2, (fourth[i] + fourth[j]) ** 4)
            ).any():
                seen = float((standard[:, i] * standard[:, j]).mean()) * self.sd[i] * self.sd[j]
                self._disagree(f"covariance[{i}, {j}]", covariance[i, j], "sample", seen)

    def _independence(self, standard: np.ndarray) -> None:
        d, rng = self.data.dimension, np.random.default_rng(0)
        if not self.data.is_product or d == 1:
            return
        apart = standard.copy()
        for j in range(min(d, 64)):
            apart[:, j] = np.roll(apart[:, j], j + 1)
        for _ in range(min(d, 4)):
            weights = rng.choice([-1.0, 1.0], d) * (np.arange(d) < 64) / math.sqrt(min(d, 64))
            # Rolled columns share numbers with neighbouring rows only; of two halves they share hardly any.
            half = standard.shape[0] // 2
            (value, error), (other, more) = (
                _means(standard[:half] @ weights),
                _means((apart[half:] @ weights)[: half - 64 if half > 200 else None]),
            )
            what = "sample along coordinates together"
            self._test(what, (value, error), "is_product", other[:4] + 1j * other[4:], more)

    def _sums(self, standard: np.ndarray, seen: list[tuple[str, Waves, float]]) -> None:
        draw: Any = self.data.sum_sampler()
        if draw is None:
            return
        d, count = self.data.dimension, max(21, standard.shape[0] // 2)
        ns = np.full(count, _ROWS)
        ns[0] = 0
        sums_of = _compiled(lambda key: jax.vmap(draw)(jax.random.split(key, count), ns))
        sums = np.asarray(sums_of(fixed_key(0x5EEE)), float)
        if sums[0].any():
            self._refuse("sum_sampler", "not 0 for n = 0", "0")
        sums = (sums[1:] - _ROWS * self.mean) / (self.sd * math.sqrt(_ROWS))
        literal = standard[: standard.shape[0] // _ROWS * _ROWS].reshape(-1, _ROWS, d).sum(axis=1)
        self._compare("sum_sampler", sums, "sample", literal / math.sqrt(_ROWS))
        for name, waves, _ in seen:
            for k, j in enumerate(self.at):
                wanted = waves(_WAVES[:, None] / (self.sd[j] * math.sqrt(_ROWS)))[:, k] ** _ROWS
                self._test("sum_sampler", _means(sums[:, j]), name, wanted)

    def _changes_of_measure(self, records: np.ndarray, seen: list[tuple[str, Waves, float]]) -> None:
        ratio: Any = self.data.sum_ratio()
        if ratio is None:
            return
        quiet = np.zeros(self.data.dimension)

        def of(totals: np.ndarray, n: int, target: np.ndarray) -> np.ndarray:
            each = _compiled(jax.vmap(lambda total: ratio(total, n, target, quiet)))
            return np.asarray(each(totals), float)

        for name, waves, _ in seen[:1]:
            self._ratio(name, waves, of, records[-1])
        if not seen:
            half = records[: records.shape[0] // 2 * 2].reshape(2, -1, self.data.dimension)
            quarter = half.shape[1] // 2
            out, inside = half[0][:quarter] + half[0][-quarter:], half[1] + records[-1]
            totals = of(np.concatenate([out, inside]), 2, records[-1]).sum(axis=1)
            self._change(totals[: len(out)], totals[len(out) :])

    def _ratio(self, name: str, waves: Waves, of: Callable[..., np.ndarray], target: np.ndarray) -> None:
        """`sum_ratio` against densities of 8 records' sums, or their probabilities on a lattice, in two coordinates at most."""
        at = np.array([-1.5, -0.5, 0.5, 1.5]) * math.sqrt(_MANY)
        if (grid := self.data.lattice()) is not None:
            step, least, masses = grid
            values = np.asarray(least)[:, None] + step * np.arange(masses.shape[1])
            target = values[np.arange(len(values)), masses.argmax(axis=1)]
            totals = _MANY * np.asarray(least) + step * np.rint(
                (_MANY * (self.mean - least) + at[:, None] * self.sd) / step
            )
            u = 2.0 * np.pi / step * (np.arange(_MANY * masses.shape[1] + 1) / (_MANY * masses.shape[1] + 1))
        else:
            totals = _MANY * self.mean + at[:, None] * self.sd
            u = np.arange(-160, 161) * 0.15
        stated = of(totals, _MANY, target)
        for k, j in list(enumerate(self.at))[:2]:
            f = u if grid is not None else u / self.sd[j]
            wave = waves(f[:, None])[:, k]
            if grid is None and abs(wave[-1]) ** (_MANY - 1) > 1e-7:
                continue  # a density with jumps
            away = totals[:, j] - _MANY * self.mean[j]
            out, inside = (
                np.real(np.exp(-1j * np.outer(x, f)) @ wave**n)
                for x, n in ((away, _MANY), (away - target[j] + self.mean[j], _MANY - 1))
            )
            sure = np.minimum(out, inside) > 1e-3 * (np.abs(wave) ** _MANY).sum()
            wanted = np.log(inside / out)
            off = np.where(sure, np.abs(stated[:, j] - wanted) - 1e-3, -1.0)
            if (off > 0.0).any():
                i = int(np.argmax(off))
                self._disagree(f"sum_ratio at {totals[i, j]:.6g} of {_MANY}", stated[i, j], name, wanted[i])

    def _change(self, out: np.ndarray, inside: np.ndarray) -> None:
        """Whether `sum_ratio`, with these values without and with the target, changes measure."""
        from scipy.special import expit

        for rate in (0.0, 1.0, -1.0):
            g = lambda r, rate=rate: expit(rate * r)  # noqa: E731
            (value, error), (other, more) = (
                _bounded_mean(expit(sign * r) * g(r), 1.0) for sign, r in ((1.0, out), (-1.0, inside))
            )
            if abs(value - other) > error + more:
                self._disagree("sum_ratio's E g(r) / (1 + e^-r)", value, "sample", other)


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compiled in a hurry: it runs once, and the compiler's optimisation takes longer than that."""
    return jax.jit(function, compiler_options={"xla_backend_optimization_level": 0})


def _waves_of(data: AbstractDistribution, at: np.ndarray) -> Iterator[tuple[str, Waves, float]]:
    """The waves of coordinates `at`, by each of what gives them."""
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


def _differences(values: Any, h: np.ndarray, order: int) -> np.ndarray:
    """The central moment of that order, shape of h, by differences of waves at h and 2 h; values at 2 h_1, h_1, h_2, h_3."""
    at, two = values[1:], values[:-1]
    if order == 1:
        return at.imag / h
    if order == 2:
        return 2.0 * (1.0 - at.real) / h**2
    if order == 3:
        return -(two.imag - 2.0 * at.imag) / h**3
    return 2.0 * (two.real - 4.0 * at.real + 3.0) / h**4


def _means(standard: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means of the waves' real and imaginary parts, and how far each may be off."""
    turns = [np.exp(1j * _WAVES[0] * standard)]
    for _ in _WAVES[1:]:
        turns.append(turns[-1] ** 2)  # twice the frequency
    parts = [*(turn.real for turn in turns), *(turn.imag for turn in turns)]
    values, errors = zip(*(_bounded_mean(part, 2.0) for part in parts), strict=True)
    return np.array(values), np.array(errors)


def _is_off(values: np.ndarray, mean: np.ndarray, square: np.ndarray) -> np.ndarray:
    """Of columns with a stated mean and a bound of E values^2: whether the mean is wrong, by Catoni's inequality."""
    count = values.shape[0]
    scale = np.sqrt(2.0 * _LOG / (count * np.maximum(square - mean**2, 1e-12)))
    x = scale * (values - mean)
    grown = np.sign(x) * np.log1p(np.abs(x) * (1.0 + 0.5 * np.abs(x)))
    return np.abs(grown.sum(axis=0)) > 2.0 * _LOG


def _bounded_mean(values: np.ndarray, width: float) -> tuple[float, float]:
    count = values.size
    return float(values.mean()), math.sqrt(
        2.0 * float(values.var(ddof=1)) * _LOG / count
    ) + 7.0 * width * _LOG / (3.0 * (count - 1))
