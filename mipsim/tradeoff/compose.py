"""The composition of trade-off functions: all mechanisms run on the same data, all outputs are seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.fft import next_fast_len

from mipsim._validation import by_our_names, whole
from mipsim.tradeoff.atoms import as_polygon, exact_power, product
from mipsim.tradeoff.base import AbstractTradeOff, checked_curves
from mipsim.tradeoff.bounded import BoundedTradeOff
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.loss_window import Window, narrow_window, widened
from mipsim.tradeoff.points import polygon
from mipsim.tradeoff.privacy_loss import PrivacyLossDistribution, split_masses
from mipsim.tradeoff.sampled import SampledTradeOff, sample

_UNSEEN = (
    1e-25  # rates whose samples are few: even a million of them are far below what the window leaves out
)
_EQUAL = 1e-13  # relative rounding of the masses of one sample
_MASS_OF_AN_END = 1e-9  # lighter losses would stretch the grid for a mass that the bracket counts anyway
_EPS = float(np.finfo(np.float64).eps)
_LARGEST = 1 << 24  # cells that the sum may take if fewer are asked for: 128 MiB an array
_MOST_CELLS = 1 << 24
_DRIFT = 4  # times the cells asked for that the sum may take: it is rounded up to a length that FFTs are fast at, and drifts


@by_our_names
def compose(
    *curves: AbstractTradeOff, copies: int | Sequence[int] = 1, points: int = 1 << 15, cells: int = 1 << 17
) -> AbstractTradeOff:
    """The trade-off function of the product of the mechanisms behind the curves, f_1 (x) f_2 (x) ...

    Gaussian curves compose in closed form, G_mu with mu^2 = sum mu_i^2; polygons with few distinct losses (such as
    (epsilon, delta)) exactly, atom by atom. All else goes through the law of the privacy loss: each curve is put
    between two polygons (chords through samples, and chords prolonged until they meet), each polygon on a grid of
    losses to the side of its error, and the grids are convolved by FFT. The result is between two curves that enclose
    the truth; its error is of second order in the width of a cell and of a sample.

    Args:
        *curves: at least one; they need not be symmetric.
        copies: how often each is composed, one number for all or one for each, >= 1.
        points: samples of each curve, >= 16.
        cells: cells of the grid of losses, 1024 to 2^24; some ten arrays of up to 2 to 4 times as many are held.

    Returns:
        A `GaussianTradeOff`, a `SampledTradeOff` (exact), or a `BoundedTradeOff` with the certified bounds.

    Source: Dong, Roth and Su (2022), definition 3.1, corollary 3.3; Doroshenko et al. (2022), "Connect the dots".

    Examples:
        >>> from mipsim.tradeoff import ApproxDPTradeOff, LaplaceTradeOff
        >>> compose(GaussianTradeOff(3.0), GaussianTradeOff(4.0))
        GaussianTradeOff(mu=5.0)
        >>> ten = compose(LaplaceTradeOff(0.1), copies=10)
        >>> [round(bound, 5) for bound in ten.advantage_bounds()]
        [0.12213, 0.12213]
    """
    checked_curves(curves)
    counts = _counts(copies, len(curves))
    points, cells = whole("points", points, 16), whole("cells", cells, 1024)
    if cells > _MOST_CELLS:
        raise ValueError(f"cells is {cells:,}; it must be a whole number from 1,024 to {_MOST_CELLS:,}")
    pairs = _without_blind(_gaussians_together(list(zip(curves, counts, strict=True))))
    if len(pairs) == 1 and (pairs[0][1] == 1 or isinstance(pairs[0][0], GaussianTradeOff)):
        curve, count = pairs[0]
        return GaussianTradeOff(curve.mu * count**0.5) if isinstance(curve, GaussianTradeOff) else curve
    if (exact := _exactly(pairs)) is not None:
        return exact
    enclosures = [(enclosure(curve, points, _UNSEEN), count) for curve, count in pairs]
    window = narrow_window([(e.lower, count) for e, count in enclosures])
    step = _step([e.upper for e, _ in enclosures], (window.high - window.low) / cells)
    lower = [(e.lower, _grid(e.lower, step, cells), count) for e, count in enclosures]
    upper = [(e.upper, _grid(e.upper, step, cells), count) for e, count in enclosures]
    total = sum(count for _, count in enclosures)
    rounding = 64.0 * _EPS + 4.0 * _EPS * (total + np.log2(cells)) + total * _EQUAL
    rounding += sum(e.rounding * count for e, count in enclosures)
    rounding += sum(max(0.0, grid.moved(law)) * count for law, grid, count in [*lower, *upper])
    return BoundedTradeOff(
        _convolved([(pessimistic(law, grid), count) for law, grid, count in lower], window, step, cells),
        _convolved([(optimistic(law, grid), count) for law, grid, count in upper], window, step, cells),
        min(1.0, float(rounding)),
    )


@dataclass(frozen=True, eq=False)
class Enclosure:
    """Laws whose curves lie below and above a curve."""

    lower: PrivacyLossDistribution
    upper: PrivacyLossDistribution
    rounding: float


def _counts(copies: int | Sequence[int], size: int) -> list[int]:
    if isinstance(copies, (Sequence, np.ndarray)) and not isinstance(copies, (str, bytes)):
        if len(copies) != size:
            raise ValueError(f"copies has {len(copies)} entries; it must have one per curve, {size}")
        return [whole("copies", c, 1) for c in copies]
    return [whole("copies", copies, 1)] * size


def _gaussians_together(pairs: list[tuple[AbstractTradeOff, int]]) -> list[tuple[AbstractTradeOff, int]]:
    mus = [(c.mu, n) for c, n in pairs if isinstance(c, GaussianTradeOff)]
    rest = [(c, n) for c, n in pairs if not isinstance(c, GaussianTradeOff)]
    if len(mus) == len(pairs) == 1 or not mus:
        return pairs
    return [(GaussianTradeOff(float(np.sqrt(sum(n * mu**2 for mu, n in mus)))), 1), *rest]


def _without_blind(pairs: list[tuple[AbstractTradeOff, int]]) -> list[tuple[AbstractTradeOff, int]]:
    """Without curves that reveal nothing; with one of them if there is no other."""
    telling = [(c, n) for c, n in pairs if not (isinstance(c, GaussianTradeOff) and c.mu == 0.0)]
    return telling or pairs[:1]


def _exactly(pairs: list[tuple[AbstractTradeOff, int]]) -> SampledTradeOff | None:
    total: PrivacyLossDistribution | None = None
    for curve, count in pairs:
        corners = as_polygon(curve)
        power = corners and exact_power(PrivacyLossDistribution.from_polygon(corners), count)
        if power is None or (total := power if total is None else product(total, power)) is None:
            return None
    return total and total.tradeoff()


def enclosure(curve: AbstractTradeOff, points: int, rare: float = 0.0) -> Enclosure:
    """Laws below and above a curve: its own where it is a polygon, else from `points` samples and convexity.

    Few samples lie where rates are at most `rare`; see `sample`. The laws enclose the curve there all the same.

    Examples:
        >>> from mipsim.tradeoff import LaplaceTradeOff
        >>> laws = enclosure(LaplaceTradeOff(1.0), 64)
        >>> f = [law.tradeoff().advantage() for law in (laws.upper, laws.lower)]
        >>> f[0] <= LaplaceTradeOff(1.0).advantage() <= f[1]
        True
    """
    if isinstance(curve, BoundedTradeOff):
        below, above = enclosure(curve.lower, points, rare), enclosure(curve.upper, points, rare)
        return Enclosure(below.lower, above.upper, curve.rounding)
    if (corners := as_polygon(curve)) is not None:
        law = PrivacyLossDistribution.from_polygon(corners)
        return Enclosure(law, law, 0.0)
    chords = sample(curve, points, rare)
    law = PrivacyLossDistribution.from_polygon(chords)
    return Enclosure(PrivacyLossDistribution.below_polygon(chords), law, 0.0)


def _step(laws: list[PrivacyLossDistribution], most: float) -> float:
    """A step of at most this, which divides the range of the losses where there is one law.

    Off the grid, an atom at an end of the losses would cost an error of first order.
    """
    if len(laws) != 1:
        return most
    span = _largest(laws[0]) - _least(laws[0])
    return span / math.ceil(span / most) if span > 0.0 else most


def _largest(law: PrivacyLossDistribution) -> float:
    """The largest loss that has mass."""
    return float(next(iter(law.losses[law.in_masses > _MASS_OF_AN_END]), 0.0))


def _least(law: PrivacyLossDistribution) -> float:
    return float(next(iter(law.losses[law.out_masses > _MASS_OF_AN_END][::-1]), 0.0))


def _grid(law: PrivacyLossDistribution, step: float, cells: int) -> LossGrid:
    """The grid of one law, through its largest loss that has mass."""
    if law.losses.size == 0:
        return LossGrid(step, 0, 0)
    offset = _largest(law)
    low, high = ((float(loss) - offset) / step for loss in (law.losses[-1], law.losses[0]))
    return LossGrid(step, max(math.floor(low), -cells), min(math.ceil(high), cells), offset)


def _convolved(laws: list[tuple[GridLaw, int]], window: Window, step: float, cells: int) -> SampledTradeOff:
    """The curve of the sum of independent grid losses, each world by its own FFT.

    Each half of the losses is read from the world in which it is common: there the other mass is smaller, and
    follows from it to full relative accuracy.
    """
    offset = sum(law.offset * count for law, count in laws)
    window = widened(window, laws)
    low, high = math.floor((window.low - offset) / step), math.ceil((window.high - offset) / step)
    size: int = next_fast_len(high - low + 1, real=True)  # pyright: ignore[reportAssignmentType] (its stub says None)
    if size > max(_LARGEST, _DRIFT * cells):
        more = "more cells or " if cells < _MOST_CELLS else ""
        raise ValueError(
            f"copies is {max(count for _, count in laws):,}; on a grid of {cells:,} losses the sum of so many has an error as large as "
            f"itself: give {more}fewer copies"
        )
    spectra = [np.ones(size // 2 + 1, complex), np.ones(size // 2 + 1, complex)]
    kept = [0.0, 0.0]  # log of the mass that does not reveal the world
    for law, count in laws:
        places = (law.first + np.arange(law.out_masses.size)) % size
        for world, (masses, only) in enumerate(
            ((law.out_masses, law.out_only), (law.in_masses, law.in_only))
        ):
            spectra[world] *= np.fft.rfft(np.bincount(places, masses, size)) ** count
            with np.errstate(divide="ignore"):
                kept[world] += count * float(np.log1p(-only))
    out, inside = (np.maximum(np.fft.irfft(spectrum, size), 0.0) for spectrum in spectra)
    index = np.arange(high, low - 1, -1)
    losses = offset + index * step
    out, inside = out[index % size], inside[index % size]
    common_in = losses >= 0
    out = np.where(common_in, inside * np.exp(-np.maximum(losses, 0.0)), out)
    inside = np.where(common_in, inside, out * np.exp(np.minimum(losses, 0.0)))
    only = [float(-np.expm1(k)) for k in kept]
    return SampledTradeOff.from_points(*polygon(out, inside, only[0], only[1]))


_ON_THE_GRID = 1e-7  # cells: losses this near a grid point are taken to be on it


@dataclass(frozen=True, eq=False)
class GridLaw:
    """Masses at the losses offset + (first + i) step, i = 0, 1, ..., in both worlds, and what reveals the world.

    Attributes:
        first: index of the first loss.
        offset: loss of index 0.
        step: between neighbouring losses, > 0.
        out_masses, in_masses: shape (m,), by rising loss.
        out_only, in_only: masses at -inf and at +inf.
    """

    first: int
    offset: float
    step: float
    out_masses: np.ndarray
    in_masses: np.ndarray
    out_only: float
    in_only: float

    @property
    def losses(self) -> np.ndarray:
        """Shape (m,), rising."""
        return self.offset + (self.first + np.arange(self.out_masses.size)) * self.step


@dataclass(frozen=True)
class LossGrid:
    """The losses offset + k step for low <= k <= high."""

    step: float
    low: int
    high: int
    offset: float = 0.0

    def places(self, law: PrivacyLossDistribution) -> np.ndarray:
        """Losses in cells, whole numbers where they are on the grid but for rounding."""
        place = (law.losses - self.offset) / self.step
        nearest = np.round(place)
        return np.where(np.abs(place - nearest) < _ON_THE_GRID, nearest, place)

    def moved(self, law: PrivacyLossDistribution) -> float:
        """How far `places` moves losses, on average over both worlds together."""
        shift = np.abs(self.places(law) * self.step + self.offset - law.losses)
        near = shift < 2.0 * _ON_THE_GRID * self.step
        return float((shift * near * (law.in_masses + law.out_masses)).sum())


def pessimistic(law: PrivacyLossDistribution, grid: LossGrid) -> GridLaw:
    """The law split over the grid points around each loss: it reveals more, and keeps both masses of each atom.

    A loss beyond an end of the grid is split between that end and the infinity beyond.

    Source: Doroshenko et al. (2022), "Connect the dots": this is their pessimistic estimate.

    Examples:
        >>> law = PrivacyLossDistribution([0.5, -0.5], [0.37754067, 0.62245933], [0.62245933, 0.37754067])
        >>> pessimistic(law, LossGrid(1.0, -2, 2)).in_masses.round(4).tolist()
        [0.0, 0.1425, 0.47, 0.3875, 0.0]
    """
    low, high, size = grid.low, grid.high, grid.high - grid.low + 1
    place = grid.places(law)
    below = np.clip(np.floor(place), low - 1, high).astype(np.int64)
    up = np.where(below >= high, np.inf, (below + 1 - place) * grid.step)
    down = np.where(below < low, np.inf, (place - below) * grid.step)
    up, down = split_masses(law.out_masses, law.in_masses, up, down)
    out, inside = (
        np.bincount(below - low + 2, raised, size + 2) + np.bincount(below - low + 1, lowered, size + 2)
        for raised, lowered in zip(up, down, strict=True)
    )
    out_only, in_only = law.out_only + float(out[0]), law.in_only + float(inside[-1])
    return GridLaw(
        low, grid.offset, grid.step, out[1:-1], inside[1:-1], min(1.0, out_only), min(1.0, in_only)
    )


def optimistic(law: PrivacyLossDistribution, grid: LossGrid) -> GridLaw:
    """The law with outcomes merged until each merged loss lies on the grid: it reveals less.

    From the largest loss on, outcomes are merged up to the point where their common likelihood ratio is the next
    grid point; an outcome at the border is divided by a coin. What remains in the end keeps its out mass and loses the
    in mass that is more than its grid point allows, which reveals less still.

    Source: Doroshenko et al. (2022), "Connect the dots", for optimistic estimates on a grid; merging is
    post-processing.

    Examples:
        >>> law = PrivacyLossDistribution([0.5, -0.5], [0.37754067, 0.62245933], [0.62245933, 0.37754067])
        >>> optimistic(law, LossGrid(1.0, -2, 2)).in_masses.round(4).tolist()
        [0.0, 0.0, 1.0, 0.0, 0.0]
    """
    low, size = grid.low, grid.high - grid.low + 1
    out, inside = np.zeros(size), np.zeros(size)
    places, outs, ins = grid.places(law).tolist(), law.out_masses.tolist(), law.in_masses.tolist()
    m, i, k, lost = len(places), 0, grid.high, 0.0
    while i < m:
        k = min(k, math.floor(places[i]))
        if k < low:
            lost = sum(outs[i:])  # too rare for the grid: the in mass is dropped
            break
        taken_out = taken_in = excess = 0.0  # excess: of the in mass over e^loss times the out mass
        while i < m and places[i] >= k:
            taken_out, taken_in = taken_out + outs[i], taken_in + ins[i]
            excess -= ins[i] * math.expm1((k - places[i]) * grid.step)
            i += 1
        while i < m and excess > 0.0:
            shortage = ins[i] * math.expm1(min((k - places[i]) * grid.step, 700.0))
            share = min(1.0, excess / shortage) if shortage > 0.0 else 1.0
            taken_out, taken_in = taken_out + share * outs[i], taken_in + share * ins[i]
            if share < 1.0:
                outs[i], ins[i], excess = (1.0 - share) * outs[i], (1.0 - share) * ins[i], 0.0
            else:
                excess, i = excess - shortage, i + 1
        out[k - low], inside[k - low] = taken_out, max(0.0, taken_in - max(excess, 0.0))
        k -= 1
    return GridLaw(low, grid.offset, grid.step, out, inside, min(1.0, law.out_only + lost), law.in_only)
