"""The test by a sum of independent scores, of which some have another law in the world "in"."""

from __future__ import annotations

import math

import numpy as np

from mipsim.sums.lattice import Circle, Measure, Power
from mipsim.sums.loss_bounds import LossCells
from mipsim.tradeoff.bounds import EPS
from mipsim.tradeoff.sampled import SampledTradeOff, with_trivial_tests
from mipsim.tradeoff.step_laws import MixedGaussian, Outline

_FAR = 38.0  # standard deviations of a step: what lies beyond has a mass below 1e-300
_TAIL = 45.0  # what lies beyond a circle has at most e^-45
_PLACES, _BLOCKS = 1 << 15, 1 << 12
# of a lattice, and the share of a score's deviation below which its step stays if it can
_MOST_PLACES, _FINE = 1 << 18, 0.25
_COARSEST = 300.0  # e-folds of a step of a lattice, which then shows nothing
_SLOPES = 2.0 ** np.arange(-10.0, 14.0)
_TILTS = (0, 0.0), (0, 1.0), (1, 0.0), (1, -1.0)  # of which world, and by how much
Masses = list[tuple[np.ndarray, int]]
Bounds = tuple[np.ndarray, np.ndarray]


class _Scores(MixedGaussian):
    """A shift by mu, in cells of the score log(1 - q + q y), y the density ratio of the shift."""

    def __init__(self, mu: float, q: float) -> None:
        super().__init__(mu, 1.0, _FAR)
        self.score = MixedGaussian(mu, q)

    def outcome(self, loss: np.ndarray) -> np.ndarray:
        return self.score.outcome(loss)


def additive_test(mu: float, steps: int, selected: int, q: float) -> SampledTradeOff:
    """A curve nowhere below that of the test by the sum of scores, FPR and FNR rounded up by all that the computation may have changed.

    `mu`: the shift of `selected` of the `steps`; `q`: of the score log(1 - q + q y), y the density ratio of the shift.
    Scores are rounded to a lattice by their very definition: the laws of the sum have no other error than that of transforms.

    >>> curve = additive_test(1.0, 2, 1, 0.5)
    >>> round(curve.advantage(), 3) < 0.383  # of a shift of a known step
    True
    """
    law = _Scores(mu, q)
    least, most = float(law.score.ends[0]), float(law.score.loss(np.array([mu + _FAR]))[0])

    def worlds(of: Outline | LossCells) -> list[Masses]:
        return [[(of.log_out, steps)], [(of.log_out, steps - selected), (of.log_in, selected)]]

    line = law.outline
    scores, weights = law.score.loss(line.losses / mu + 0.5 * mu), np.exp(line.log_out)
    windows = [_window(scores, worlds(line)[side], tilt) for side, tilt in _TILTS]
    low, high = min(ends[0] for ends in windows), max(ends[1] for ends in windows)
    middle = np.average(scores, weights=weights)
    fine = _FINE * math.sqrt(np.average((scores - middle) ** 2, weights=weights))
    places = _PLACES if high - low < fine * _PLACES else _MOST_PLACES
    step = (high - low) / (places - 64)
    if step > _COARSEST:
        return SampledTradeOff.from_points(*np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    # A score beyond the window is rounded to its end.
    last = math.ceil((most - least) / step) + 1
    cells = law.cells(np.append(np.arange(min(last, places)), last), least, step)[0]
    offset, off = least + 0.5 * step, 1.01 * steps * (cells.rounding + 8.0 * EPS)
    lattice = offset, step, Circle(math.floor((low - steps * offset) / step) - 32, places, _BLOCKS)
    known = [
        _tails(worlds(cells)[side], tilt, ends[2], lattice, off)
        for (side, tilt), ends in zip(_TILTS, windows, strict=True)
    ]
    (fpr, tnr), (fnr, tpr) = _outwards(known[:2], 0), _outwards(known[2:], 1)
    return SampledTradeOff.from_points(*with_trivial_tests((fpr, tnr, fnr, tpr)), slack=1e-13)


def _outwards(known: list[tuple[Bounds, Bounds]], tail: int) -> Bounds:
    """An upper bound of a tail, above 0 or below 1, and a lower bound of the other, the better of both tilts."""
    high, low = np.fmin(*(ends[tail][1] for ends in known)), np.fmax(*(ends[1 - tail][0] for ends in known))
    return np.clip(np.minimum(high, 1.0 - low), 0.0, 1.0), np.clip(np.maximum(low, 1.0 - high), 0.0, 1.0)


def _window(scores: np.ndarray, masses: Masses, tilt: float) -> tuple[float, float, tuple[float, float]]:
    """Where the tilted sum lies, about, and the shifts of tilt that show it."""

    def log_moment(at: float) -> float:
        return sum(count * float(np.logaddexp.reduce(logs + at * scores)) for logs, count in masses)

    base, ends = log_moment(tilt), []
    for sign in (-1.0, 1.0):
        reach = [(log_moment(tilt + sign * s) - base + _TAIL) / s for s in _SLOPES.tolist()]
        best = int(np.argmin(reach))
        ends.append((sign * reach[best], float(_SLOPES[best])))
    return ends[0][0], ends[1][0], (ends[0][1], ends[1][1])


def _tails(
    masses: Masses, tilt: float, shifts: tuple[float, float], lattice: tuple[float, float, Circle], off: float
) -> tuple[Bounds, Bounds]:
    """(Lower, upper) bounds of P(sum >= loss) and of P(sum < loss) at the blocks of a circle."""
    (offset, step, circle), terms = lattice, []
    for logs, count in masses:
        index = np.arange(logs.size)
        logs = logs + tilt * (offset + step * index)
        top = float(logs.max())
        weights = np.exp(np.maximum(logs - top, -700.0))
        total = float(weights.sum())
        terms.append((Measure(index, weights / total, offset, step, tilt, top + math.log(total)), count))
    power = Power(terms, circle, shifts)
    scale = power.log_scale - tilt * power.centre
    result = []
    for value, error in power.tails(-tilt):
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            low = np.exp(np.log(np.maximum(value - error, 0.0)) + scale) * (1.0 - off)
            high = np.exp(np.log(value + error) + scale) * (1.0 + off) + 1e-290
        result.append((np.nan_to_num(low, nan=0.0), np.nan_to_num(high, nan=1.0, posinf=1.0)))
    return result[0], result[1]
