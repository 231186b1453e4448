"""Tables of the law of a column sum: a word picks a cell, another the place within it."""

from dataclasses import dataclass

import numpy as np

from mipsim.distributions.base import AbstractDistribution, AbstractWithCDF, CharacteristicFunction
from mipsim.distributions.binomial_table import MOST_BITS, alias_entries
from mipsim.distributions.by_cdf import CharacteristicByCDF, coordinates_by_law, reach_of

_TAIL = 2.0**-35  # an eighth of the unit 2^-32 in which masses are stored
_CELL_BITS = 12  # 4096 cells: a straight density in each is off by less than 1e-9; they fit the L2 cache
_FINE, _COARSE = 5e-4, 1e-2  # spacing in standard deviations: desired, and widest
_POINTS = 2**20  # of the Fourier transform: 16 MB of complex numbers
_MOST_FORMS = 64  # laws among the coordinates, each of which takes two tables and some tenths of a second
_QUIET = 1e-12  # of the transform at the grid's highest frequency: else the grid does not see the density


@dataclass(frozen=True)
class StandardForm:
    """Coordinate j of a record is location_j + scale_j X, where X, of mean 0, has the same law for several coordinates."""

    # location, scale: shape (d,)
    location: np.ndarray
    scale: np.ndarray
    sd: float  # the standard deviation of X
    characteristic: CharacteristicFunction  # u -> E exp(i u X), at the frequencies u of a Fourier transform


@dataclass(frozen=True)
class SumTable:
    """The law of the sum of k draws of X: cells with their masses, and in each a density that is a straight line."""

    entries: np.ndarray  # alias entries of the cells, uint32, shape (2^bits,)
    # left, width: of each cell, shape (2^bits,)
    left: np.ndarray
    width: np.ndarray
    # a, shape (2^bits,): within a cell the distribution function is a t + (1 - a) t^2, t in [0, 1]
    start: np.ndarray
    bits: int  # log2 of the number of cells


@dataclass(frozen=True)
class LatticeTable:
    """The laws of d column sums on a lattice: the sum is origin_j + step x (column)."""

    entries: np.ndarray  # alias entries, uint32, shape (d, 2^bits)
    origin: np.ndarray  # shape (d,)
    step: float  # of the lattice
    bits: int  # log2 of the number of columns


def standard_forms(data: AbstractDistribution) -> tuple[list[StandardForm], np.ndarray] | None:
    """The location-scale forms of a law whose coordinates have a law among a few, or None where there are none.

    Their transforms are given by `characteristic`, or follow from `cdf`.

    Returns (forms, which): coordinate j has the form `forms[which[j]]`; which has shape (d,).

    >>> import mipsim as mi
    >>> forms, which = standard_forms(mi.StudentT([5.0, 9.0, 5.0]))
    >>> len(forms), which
    (2, array([0, 1, 0]))
    """
    known = data.location_scale()
    result = coordinates_by_law(data if known is None else known[2])
    if result is None or len(result[0]) > _MOST_FORMS:
        return None
    laws, which = result
    scale, sd = (np.ones(data.dimension), np.sqrt(data.variance)) if known is None else known[:2]
    forms = []
    for k, law in enumerate(laws):
        of = law.characteristic()
        if of is None and isinstance(law, AbstractWithCDF) and (reach := reach_of(law)) is not None:
            of = CharacteristicByCDF(law, reach)
        if of is None:
            return None
        forms.append(StandardForm(data.mean, scale, float(sd[np.argmax(which == k)]), of))
    return forms, which


def sum_table(form: StandardForm, rows: int) -> SumTable | None:
    """Tabulate the sum of `rows` draws of X by a fast Fourier transform of its characteristic function.

    Masses of 4096 cells are rounded to multiples of 2^-32 after the tails beyond 2^-35 are left out, and within a cell
    the density is taken as a straight line: the distribution function is off by less than 1e-9 in all. Long tails widen the cells: of
    Student-t data it is off by 1e-8 for a single row with three degrees of freedom, 1.3e-9 with five, and by less for more rows.

    Returns None where the law is too rough for the grid (a few rows of a law with jumps) or its tails are too long.

    Source: standard; Walker (1977) for the alias table.
    """
    sd = form.sd * np.sqrt(rows)
    reach = 8.0
    while True:
        spacing = max(_FINE, 2 * reach / _POINTS)
        if spacing > _COARSE:
            return None
        points = 1 << int(np.ceil(np.log2(2 * reach / spacing)))
        step = 2 * reach / points * sd
        u = 2 * np.pi * np.fft.fftfreq(points, step)
        with np.errstate(under="ignore"):
            law = form.characteristic(u).astype(complex) ** rows
        if np.abs(law[points // 2]) > _QUIET:
            return None
        turned = law * (-1.0) ** np.arange(points)  # moves the grid's first point to -reach
        mass = np.fft.fft(turned * np.sinc(u * step / (2 * np.pi))).real / points
        cdf = np.concatenate([[0.0], np.cumsum(mass)])
        edge = points // 16
        if cdf[edge] < _TAIL and cdf[-1] - cdf[-1 - edge] < _TAIL:
            break
        reach *= 2
    density = np.fft.fft(turned * np.exp(0.5j * u * step)).real / (points * step)
    # Cell j of the grid lies around (j - N/2) step.
    places = (np.arange(points + 1) - points / 2 - 0.5) * step
    inside = np.flatnonzero((cdf > _TAIL) & (cdf < cdf[-1] - _TAIL))
    low, high = max(int(inside[0]) - 1, 0), min(int(inside[-1]) + 1, points - 1)
    # Narrow cells where the density is high, wide ones in the tails.
    columns = 1 << _CELL_BITS
    ends = np.arcsinh(places[[low, high]] / (2 * sd))
    wished = 2 * sd * np.sinh(np.linspace(ends[0], ends[1], columns + 1))
    chosen = np.clip(np.rint(wished / step + points / 2 + 0.5).astype(int), low, high)
    cut = np.clip(np.maximum.accumulate(cdf[chosen]) - cdf[low], 0.0, None)
    masses = np.diff(np.rint(cut / cut[-1] * 2.0**32).astype(np.int64))
    heights = np.maximum(density[chosen], 0.0)
    both = heights[:-1] + heights[1:]
    start = np.where(both > 0, 2 * heights[:-1] / np.where(both > 0, both, 1.0), 1.0)
    left = places[chosen]
    return SumTable(alias_entries(masses[None], _CELL_BITS)[0], left[:-1], np.diff(left), start, _CELL_BITS)


def lattice_table(
    data: AbstractDistribution, rows: int, bits: int | None = None, most: float = np.inf
) -> LatticeTable | None:
    """Tabulate the sum of `rows` >= 1 records of lattice data in every coordinate, as `binomial_table` does.
    `data`: a law for each coordinate; `rows`: how many records are added up; `bits`: log2 of the columns; None = as few
    as fit; `most`: bytes that the entries of all coordinates may take. Returns None where the data have no lattice, a sum
    needs more than 2^16 columns, or all of them more than `most` bytes.
    """
    result = data.lattice()
    if result is None:
        return None
    step, least, law = result
    distinct, row = np.unique(law, axis=0, return_inverse=True)
    row = row.ravel()
    span = rows * (law.shape[1] - 1)
    points = 1 << int(span + 1).bit_length()
    if points > 2**22:
        return None
    steps = np.arange(law.shape[1])
    spread = distinct @ steps**2 - (distinct @ steps) ** 2
    sums: list[tuple[int, np.ndarray]] = [(0, np.zeros(0))] * len(distinct)
    needed = 1
    for k in np.argsort(-spread):  # the widest first: it tells whether there will be a table
        item = distinct[k]
        pmf = np.fft.irfft(np.fft.rfft(item, points) ** rows, points)[: span + 1] if rows > 1 else item
        cdf = np.cumsum(np.maximum(pmf, 0.0))
        low = int(np.searchsorted(cdf, _TAIL)) if rows > 1 else 0
        high = min(int(np.searchsorted(cdf, cdf[-1] - _TAIL)), span) if rows > 1 else span
        sums[k] = low, pmf[low : high + 1].copy()  # not a view, which would keep the whole transform
        needed = max(needed, (high - low).bit_length())
        if needed > min(MOST_BITS, bits or MOST_BITS) or 4 * (len(law) << max(needed, bits or 0)) > most:
            return None
    chosen: int = needed if bits is None else bits
    if chosen > MOST_BITS:
        return None
    masses = np.zeros((len(sums), 1 << chosen), dtype=np.int64)
    for k, (_, pmf) in enumerate(sums):
        cdf = np.cumsum(np.maximum(pmf, 0.0))
        masses[k, : pmf.size] = np.diff(np.rint(cdf / cdf[-1] * 2.0**32).astype(np.int64), prepend=0)
    lows = np.array([float(low) for low, _ in sums])
    return LatticeTable(alias_entries(masses, chosen)[row], rows * least + step * lows[row], step, chosen)
