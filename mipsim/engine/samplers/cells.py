"""The fast kernels for many records: cells of counts in the place of counts, so that tables do not grow with n."""

from collections.abc import Callable, Iterator
from typing import ClassVar

import jax
import numpy as np

from mipsim.attacks.base import AbstractAdditiveAttack, AbstractLinearAttack
from mipsim.distributions.bernoulli import Bernoulli
from mipsim.distributions.binomial_cells import (
    LEAST_BITS,
    MOST_ERROR,
    NARROW,
    Layout,
    binomial_cells,
    cell_layout,
)
from mipsim.distributions.binomial_table import alias_entries, table_bits
from mipsim.engine.samplers.base import BLOCK, MOST_BYTES
from mipsim.engine.samplers.fixed_point import BIT, AbstractTerms, LinearTerms, PairedTerms, PieceTerms
from mipsim.engine.samplers.table import (
    Cells,
    TableSampler,
    has_tables,
    of_tables,
    offsets_of_bits,
    padded,
    spread_of,
    unit_for_ties,
    weights_of_bits,
)
from mipsim.forms.problem import FixedProblem, Problem
from mipsim.forms.score import line_at, terms_at

_TOP = 2.0**52  # a total up to here is a float64 number, and none wraps around
_STEP = 2.0**31 - 1  # steps are int32, since a processor multiplies two of those to an int64 at once
_CELLS_AT_ONCE = 64  # whose terms are evaluated together: megabytes
_STRAIGHT = 1e-4  # of the score's standard deviation: what all its terms together may be off by


class CellSampler(TableSampler):
    """The score of a mean of many Bernoulli records: a `TableSampler` with `cells` and int64 totals."""

    name: ClassVar[str] = "cells"


def cell_sampler(problem: Problem) -> CellSampler | None:
    """The kernel of cells, or None where it does not apply, or tables of counts are small.

    It applies as `table_sampler` does, to additive attacks whose terms are nearly straight within a cell of counts. Must be called inside
    `exact_scope`.
    """
    layout = _layout_of(problem) if has_tables(problem) else None
    if layout is None:
        return None
    return _of_fixed(problem, layout) if isinstance(problem, FixedProblem) else _of_random(problem, layout)


def _layout_of(problem: Problem) -> Layout | None:
    """Where the cells lie, where cells serve and fit into half a gigabyte."""
    assert isinstance(problem.data, Bernoulli)
    p, rows, linear = (
        np.asarray(problem.data.p),
        problem.mean.rows,
        isinstance(problem.attack, AbstractLinearAttack),
    )
    bytes_of_column = p.size * (2 if isinstance(problem, FixedProblem) else 4) * (4 if linear else 20)
    if bytes_of_column << LEAST_BITS > MOST_BYTES or table_bits(rows, p) <= NARROW:
        return None
    layout = cell_layout(rows, p)
    return None if layout is None or bytes_of_column << layout.bits > MOST_BYTES else layout


def _of_fixed(problem: FixedProblem, layout: Layout) -> CellSampler | None:
    assert isinstance(problem.data, Bernoulli)
    attack, p, row, rows = problem.attack, np.asarray(problem.data.p), problem.row, problem.mean.rows
    tables = [binomial_cells(trials, p, layout) for trials in (rows, rows - 1)]
    if max(table.error for table in tables) > MOST_ERROR:
        return None
    low = tables[0].low[:, None] + np.stack([np.zeros_like(row), row], axis=1)
    noise = 0.0
    if isinstance(attack, AbstractLinearAttack):
        weights, offset = line_at(attack, problem.target)
        noise = float(np.sqrt(np.sum(weights**2 * problem.mean.variance)))
        terms, base, unit = _line(weights / rows, np.rint(rows * p), low, layout)
        result = terms, base + offset, unit
    else:
        assert isinstance(attack, AbstractAdditiveAttack)
        laws = np.stack([table.probabilities() for table in tables], axis=1)
        ends = np.stack([np.full_like(row, rows), row + rows - 1], axis=1)
        result = _pieces(lambda sums: terms_at(attack, problem.target, sums / rows), low, ends, laws, layout)
    if result is None or not np.isfinite(result[1:]).all():  # of a target beyond all bounds
        return None
    entries = np.stack([table.entries() for table in tables], axis=1)
    return _of_cells(problem, entries, result, layout, noise=noise)


def _of_random(problem: Problem, layout: Layout) -> CellSampler | None:
    assert isinstance(problem.data, Bernoulli)
    attack, p, rows = problem.attack, np.asarray(problem.data.p), problem.mean.rows
    if (offsets := offsets_of_bits(problem)) is None:
        return None
    # Without the target among the rows its bit and the count are independent; with it the count is the bit plus that of the others.
    out, others, and_target = (
        binomial_cells(trials, p, layout, plus) for trials, plus in ((rows, 0), (rows - 1, 0), (rows - 1, 1))
    )
    if max(out.error, others.error, and_target.error) > MOST_ERROR:
        return None
    sides = [[item.probabilities() for item in pair] for pair in ((out, out), (others, and_target))]
    laws = np.stack(
        [np.concatenate([(1 - p)[:, None] * a, p[:, None] * b], axis=1) for a, b in sides], axis=1
    )
    units = np.rint(np.cumsum(laws, axis=2) * 2.0**32).astype(np.int64)
    masses = np.diff(units, axis=2, prepend=0)
    entries = alias_entries(masses.reshape(2 * p.size, -1), layout.bits + 1)
    spread, noise = None, 0.0
    low = np.stack([out.low, out.low], axis=1).astype(np.float64)
    if isinstance(attack, AbstractLinearAttack):
        weights = weights_of_bits(problem)
        result = _two_lines(weights, offsets, np.rint(rows * p), out.low, layout)
        spread, noise = spread_of(weights, problem.mean)
    else:
        assert isinstance(attack, AbstractAdditiveAttack)

        def evaluate(sums: np.ndarray) -> np.ndarray:
            pairs = enumerate(np.moveaxis(sums, 1, 0) / rows)
            return np.stack(
                [terms_at(attack, np.full(p.size, float(bit)), outputs) for bit, outputs in pairs], axis=1
            )

        by_bit = laws.mean(axis=1).reshape(p.size, 2, -1)
        result = _pieces(evaluate, low, np.full(low.shape, float(rows)), by_bit, layout, both_sides=True)
    if result is None:
        return None
    return _of_cells(
        problem, entries.reshape(p.size, 2, -1), result, layout, has_bit=True, noise=noise, spread=spread
    )


def _of_cells(
    problem: Problem,
    entries: np.ndarray,
    terms: tuple[AbstractTerms, float, float],
    layout: Layout,
    *,
    has_bit: bool = False,
    noise: float,
    spread: np.ndarray | None = None,
) -> CellSampler:
    cells = Cells(jax.device_put(_shifts(layout)), layout.bits, has_bit)
    return of_tables(
        CellSampler, problem, entries, terms, noise=noise, spread=spread, block=BLOCK, cells=cells
    )


def _shifts(layout: Layout) -> np.ndarray:
    return padded(layout.shifts.astype(np.uint32))


def _line(
    weights: np.ndarray, middle: np.ndarray, low: np.ndarray, layout: Layout
) -> tuple[LinearTerms, float, float]:
    """The terms weights x (low + place) in fixed point, with base and unit; low has shape (d, 2), for either side.

    Weights are whole numbers of units, so that scores which tie stay tied; they are rounded by 1e-9 of the largest at most.
    """
    reach = np.abs(low - middle[:, None]).max(axis=1) + _places(layout)
    unit = _unit(np.abs(weights), reach)
    steps = np.rint(weights / unit)
    starts = np.rint(steps[:, None] * (low - middle[:, None])).astype(np.int64).sum(axis=0)
    terms = LinearTerms(
        steps=jax.device_put(padded(steps.astype(np.int32))),
        starts=jax.device_put(starts),
        has_impossible=False,
    )
    return terms, float(np.sum(weights * middle)), unit


def _two_lines(
    weights: np.ndarray, offsets: np.ndarray, middle: np.ndarray, low: np.ndarray, layout: Layout
) -> tuple[PairedTerms, float, float]:
    """The same for either bit of the target: terms weights x (low + place) + offsets; both have shape (d, 2)."""
    at_middle = weights * middle[:, None] + offsets
    largest, apart = np.abs(weights).max(axis=1), float(np.ptp(at_middle, axis=1).sum())
    unit = unit_for_ties(_unit(largest, np.abs(low - middle) + _places(layout), apart), weights)
    steps = np.rint(weights / unit)
    centre = np.rint(at_middle.mean(axis=1) / unit)
    firsts = steps * (low - middle)[:, None] + np.rint(at_middle / unit - centre[:, None])
    firsts = firsts.astype(np.int64)
    terms = PairedTerms(
        steps=jax.device_put(padded(steps.astype(np.int32)).reshape(-1)),
        jumps=jax.device_put(padded(firsts[:, 1] - firsts[:, 0])),
        first=jax.device_put(firsts[:, 0].sum()),
        bits=BIT,
        has_impossible=False,
    )
    return terms, float((centre * unit).sum()), unit


def _places(layout: Layout) -> np.ndarray:
    return 1 << layout.bits + layout.shifts


def _unit(weights: np.ndarray, reach: np.ndarray, apart: float = 0.0) -> float:
    """The unit of weights >= 0, as small as int32 steps allow, and totals below 2^52 where each is times its reach, and what they are apart."""
    total = float(np.sum(weights * reach)) + apart
    return max(total / _TOP, float(weights.max()) / _STEP) or 1.0


def _pieces(
    evaluate: Callable[[np.ndarray], np.ndarray],
    low: np.ndarray,
    ends: np.ndarray,
    laws: np.ndarray,
    layout: Layout,
    both_sides: bool = False,
) -> tuple[PieceTerms, float, float] | None:
    """Terms of any kind as a straight line over each cell, with base and unit; None where they are not straight enough.

    The line is that of least squares, so that it is right on average in every cell.
    """
    columns, width = laws.shape[2], (1 << layout.shifts)[:, None, None]
    sample = laws > 0
    for back in (1, 2, 3):  # a bell reaches over four cells, a single count over its own
        sample[:, :, back:] |= (laws[:, :, :-back] > 0) & (width > 1)
    mean, slope, off = np.zeros(laws.shape), np.zeros(laws.shape), np.zeros((*low.shape, 1))
    for begin in range(0, columns, _CELLS_AT_ONCE):
        part = slice(begin, begin + _CELLS_AT_ONCE)
        first = low[:, :, None] + width * np.arange(columns)[part]
        fitted = _fitted(evaluate, first, ends[:, :, None], sample[:, :, part], width)
        if fitted is None:
            return None
        mean[:, :, part], slope[:, :, part] = fitted[:2]
        off = np.maximum(off, fitted[2].max(axis=2, keepdims=True))
    # The second of its four cells stands for a column: enough to tell the spread.
    seen = np.minimum(np.arange(columns) + 2 * (width > 1), columns - 1)
    likely = np.take_along_axis(mean, np.broadcast_to(seen, laws.shape), axis=2)
    mass = laws.sum(axis=2)
    means = (laws * likely).sum(axis=2) / mass
    variances = (laws * (likely - means[:, :, None]) ** 2).sum(axis=2) / mass
    if off.sum(axis=0).max() > _STRAIGHT * np.sqrt(variances.sum(axis=0).min()):
        return None
    centre = means.mean(axis=1)
    middle = (width - 1) / 2
    greatest = np.where(sample, np.abs(mean - centre[:, None, None]) + middle * np.abs(slope), 0.0)
    unit = 2 * float(greatest.max(axis=(1, 2)).sum()) / _TOP or 1.0
    start = np.where(sample, mean - middle * slope - centre[:, None, None], 0.0)
    tables = (padded(np.rint(table / unit).astype(np.int64)) for table in (start, slope))
    if both_sides:
        tables = (np.stack([table, table], axis=1) for table in tables)
    values, slopes = (jax.device_put(table.reshape(-1)) for table in tables)
    shifts = jax.device_put(_shifts(layout))
    terms = PieceTerms(values=values, slopes=slopes, shifts=shifts, bits=layout.bits, has_impossible=False)
    return terms, float(centre.sum()), unit


def _fitted(
    evaluate: Callable[[np.ndarray], np.ndarray],
    first: np.ndarray,
    ends: np.ndarray,
    possible: np.ndarray,
    width: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Mean and slope of the terms over each cell that can be sampled, and how far they are from that line at most."""

    def places() -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Every place of the cells in turn, counted from their middles, which cells have it, and the terms there."""
        for place in range(int(width.max())):
            inside = possible & (place < width)
            sums = np.minimum(first + np.minimum(place, width - 1), ends)
            yield place - (width - 1) / 2, inside, np.where(inside, evaluate(sums), 0.0)

    mean, slope, off = np.zeros(first.shape), np.zeros(first.shape), np.zeros(first.shape)
    for away, _, terms in places():
        mean += terms / width
        slope += away * terms / np.maximum(width * (width**2 - 1) / 12, 1.0)
    if not np.isfinite(mean).all():
        return None
    for away, inside, terms in places():
        off = np.maximum(off, np.where(inside, np.abs(mean + away * slope - terms), 0.0))
    return mean, slope, off
