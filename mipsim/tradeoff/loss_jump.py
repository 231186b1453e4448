"""Sums of privacy losses of which few rare, large losses make a delta: no tilt has its mean there, so that they are looked at apart.

Outcomes have 0, 1, 2 and so on losses above a border, so that delta is a sum of deltas. Each is that of a sum of independent losses too,
some of which have the masses of the large losses alone, and is known relative to these. What is left is bounded: where no loss is large by
Markov's inequality, as `LossSum.rough_other` does, or by a lattice too; of more large losses by the mass of the world "in".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from mipsim.tradeoff.bounds import log_complement
from mipsim.tradeoff.loss_band import Band
from mipsim.tradeoff.loss_plan import LARGEST_TILT, ROUGH
from mipsim.tradeoff.step_laws import AbstractStepLaw, MixedGaussians, Outline, Restricted, ReversedStep

LossSum = Any  # that of `loss_sum`, which looks for jumps
_BORDERS = 0.65, 0.5, 0.35, 0.25, 0.2, 0.15  # of a loss: the nearer, the rarer are losses above them
_COMMON = math.log(1.0 / 16.0)  # logarithm of the probability of large losses from which they are not rare
_NOTHING = -1e6  # logarithm of less than any delta
_NEAR = 0.2  # of a loss, about which losses are near to it
_MOST = 3  # large losses that are looked at
_BESIDE = 0.1  # of the accuracy: share of a delta that what is bounded by little effort may have
_FIRST, _PASSES = 0.1, 10  # accuracy of a first lattice, and how many there are, each finer than the previous
_PLACES = 1 << 21  # of a lattice: a second of a core
_HARDLY = 0.85  # a finer lattice that leaves so much of the width is no use


@dataclass(frozen=True, eq=False)
class Jump:
    """Bounds of the delta at losses around its own.

    `bands`: of sums with some large losses or none, and logarithms of how many there are of each; `line`: (logarithm at 0, fall) of a bound
    of what no large loss makes, where no band tells it; `log_beside`: of what reveals the world "in", and of more large losses.
    """

    bands: Sequence[tuple[Band, float]]
    line: tuple[float, float]
    log_beside: float

    def sticks(self, loss: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of log delta."""
        line = self.line[0] - self.line[1] * loss
        line += 1e-12 * (1.0 + np.abs(line))
        low, high = np.full(loss.shape, -np.inf), np.logaddexp(line, self.log_beside)
        for band, log_count in self.bands:
            ends = band.sticks(loss)
            low, high = np.logaddexp(low, ends[0] + log_count), np.logaddexp(high, ends[1] + log_count)
        slack = [1e-14 * (8.0 + np.where(np.isinf(end), 0.0, np.abs(end))) for end in (low, high)]
        return low - slack[0], high + slack[1]


def jump(whole: LossSum, loss: float, accuracy: float) -> Jump | None:
    """By sums of which few losses are above a border; None where many make the delta there, or steps are no mixed Gaussians."""
    kinds = [law.inner if isinstance(law, ReversedStep) else law for law, _ in whole.laws]
    if not all(isinstance(kind, MixedGaussians) for kind in kinds):
        return None
    if _is_seen(whole, loss):
        return None
    counts, share = [count for _, count in whole.laws], math.log(_BESIDE * min(accuracy, 1.0))
    single = _log_beyond(whole, loss, delta=True)
    for border in (part * loss for part in _BORDERS):
        large = _log_beyond(whole, border)
        small = [Restricted(law, border, above=False) for law, _ in whole.laws]
        none = _built(whole, list(zip(small, counts, strict=True)))
        if large > _COMMON or not all(line.losses.size for line, _ in none.outlines):
            return None
        theta = min(none.tilt_of_loss(loss), LARGEST_TILT)
        if theta <= 1.0:
            return None
        left = none.cumulants(theta)[0] + (1.0 - theta) * loss
        most = next((k for k in range(1, _MOST + 1) if _several(large, k + 1) < single + share), 0)
        # None by Markov's inequality, or by a lattice around a tilt that makes no single loss common either.
        negligible = left < single + share
        if most and (negligible or not none._before_jump(theta)):
            break
    else:
        return None
    bands, line, beside = [], (_NOTHING, 0.0), -math.inf
    if negligible:
        widest = 1.0 / (theta * math.sqrt(sum(counts)))  # of which cells add little to the sum
        if not none._pays(theta, ROUGH, "other", min(none.step(theta, ROUGH, "other"), widest)):
            return None
        log_height, beside = none._line(theta, widest)
        line = log_height, theta - 1.0
    elif (band := _narrow(none, loss, accuracy, theta)) is None:
        return None
    else:
        bands.append((band, 0.0))
    log_small, total = single + share - math.log(sum(counts)), -math.inf
    parts, units = list[Restricted](), list[float]()
    for law, count in whole.laws:
        cells, _ = Restricted(law, border, above=True).cells(np.array([0, 1]), border, 1.0)
        mass = float(np.logaddexp(cells.log_in[0], cells.log_in_above)) + cells.rounding
        part = Restricted(law, border, above=True, log_small=log_small, log_unit=mass)
        total = float(np.logaddexp(total, math.log(count) + mass))
        if not part.outline.losses.size:  # farther than losses are followed
            beside = float(np.logaddexp(beside, math.log(count) + mass))
        parts.append(part)
        units.append(mass)
    seen = [k for k, part in enumerate(parts) if part.outline.losses.size]
    # Half of the tilt by which the least and the largest of the large losses are as common.
    tilt = 1.0 + 0.5 * min((_fall(parts[k].outline, 1e-3 * loss) for k in seen), default=0.0)
    for number in range(1, most + 1):
        for some in combinations_with_replacement(seen, number):
            taken = [some.count(k) for k in range(len(parts))]
            ways = math.prod(math.comb(count, n) for count, n in zip(counts, taken, strict=True))
            if not ways:
                continue
            others = [(law, count - n) for law, count, n in zip(small, counts, taken, strict=True)]
            laws = [(law, n) for law, n in [*zip(parts, taken, strict=True), *others] if n]
            if (band := _narrow(_built(whole, laws), loss, accuracy, tilt)) is None:
                return None
            bands.append((band, math.log(ways) + math.fsum(units[k] for k in some)))
    beside = float(np.logaddexp(beside, _several(total, most + 1)))
    return Jump(bands, line, beside + 1e-12 * (1.0 + abs(beside)))


def _is_seen(whole: LossSum, loss: float) -> bool:
    """Whether a tilt of the sum makes what leads to a loss common: many losses, or a single large loss beside small losses."""
    theta = whole.tilt_of_loss(loss)
    if not whole._before_jump(theta):
        return True
    small, single = 0.0, 0.0
    for line, count in whole.outlines:
        weights = line.log_out + theta * line.losses
        weights = np.exp(weights - np.logaddexp.reduce(weights))
        near = float(weights[np.abs(line.losses - loss) < _NEAR * loss].sum())
        rest = float(weights[line.losses < _NEAR * loss].sum())
        small += count * math.log(max(rest, 1e-300))
        single += count * near / max(rest, 1e-300)
    return single > 0.0 and small + math.log(single) > _COMMON


def _fall(line: Outline, least: float) -> float:
    """The slope from the logarithm of the whole mass of "in" to that of the largest loss."""
    return float(np.logaddexp.reduce(line.log_in) - line.log_in[-1]) / max(float(np.ptp(line.losses)), least)


def _several(large: float, count: int) -> float:
    """Log of a bound of the mass of so many large losses or more, from that of their number's mean."""
    return count * large - math.lgamma(count + 1.0)


def _built(whole: LossSum, laws: Sequence[tuple[AbstractStepLaw, int]]) -> LossSum:
    """A sum of parts, whose lattices count as those of the whole."""
    built = type(whole)(laws, places=min(whole.places, _PLACES))
    built._left = whole._left
    return built


def _log_beyond(whole: LossSum, loss: float, *, delta: bool = False) -> float:
    """About the logarithm of the mass of "in" that single losses have beyond a loss, or of the delta there that they make."""
    parts = []
    for line, count in whole.outlines:
        beyond = line.losses > loss
        masses = line.log_in[beyond] + (log_complement(loss - line.losses[beyond]) if delta else 0.0)
        parts.append(math.log(count) + float(np.logaddexp.reduce(masses, initial=-np.inf)))
    return float(np.logaddexp.reduce(parts))


def _narrow(built: LossSum, loss: float, accuracy: float, theta: float) -> Band | None:
    """A band of a tilt, as fine as the delta at a loss needs; None where not even a first lattice may be taken."""
    best, width, step = None, 1e3, built.step(theta, min(accuracy, _FIRST), "delta")
    for _ in range(_PASSES):
        step = max(step, built.floor(theta))
        if not built._pays(theta, accuracy, "delta", step):
            break
        band = built.band(theta, accuracy, "delta", step)
        low, high, *_ = (float(end[0]) for end in band.sticks(np.array([loss])))
        if best is not None and not high - low < _HARDLY * width:
            break
        best, width = band, min(high - low, 1e3)  # of a coarse lattice an end may be infinite
        if width <= 0.5 * accuracy or step <= 1.05 * built.floor(theta):
            break
        step *= min(0.5, max(0.1, math.sqrt(0.25 * accuracy / width)))
    return best
