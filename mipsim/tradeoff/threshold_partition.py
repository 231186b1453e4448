"""Thresholds of an exact distribution, and a polygon around its curve between them: the error is of second order in their distance."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr

from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounds import EPS, CurveBounds, log_complement, lowered, raised
from mipsim.tradeoff.partition import GRID, MOST_OF_OTHERS, Corners, Partition
from mipsim.tradeoff.score_law import AbstractScoreLaw

_ROUNDED = 16.0 * EPS  # of a sum of some rates


class ThresholdPartition(Partition):
    """A partition by thresholds: both rates are read at each, and no threshold is looked for.

    Between two thresholds each rate is within 4 u (1 - u) bend + 2 error of its chord at the share u of the way
    (`AbstractScoreLaw.bends`), and so within the tent over the chord whose top is 2 bend + 2 error above its middle, if the chord's ends
    are moved by 2 error too. That needs no convexity: the sum that represents the distribution is smooth.

    `curve`: an exact curve; `law`: its distribution, which must bound its curvature.
    """

    def __init__(self, curve: AbstractTradeOff, law: AbstractScoreLaw) -> None:
        self.curve, self.law, self.convex, self.most = curve, law, False, MOST_OF_OTHERS
        places = GRID[1:-1]
        result = law.around(np.asarray(log_ndtr(places)), np.asarray(log_ndtr(-places)))
        assert result is not None  # it knows its bends
        x = np.unique(result[1][np.isfinite(result[1])])
        self.z = np.concatenate([[-np.inf], -x[::-1], [np.inf]])
        self.fprs, self.bounds = (law.tail_bounds(-self.z, inside=world) for world in (False, True))
        self.known: list[tuple[np.ndarray, np.ndarray]] | None = None

    def add(self, z: np.ndarray) -> None:
        """Read both rates at further thresholds, negated, shape (k,)."""
        everywhere = np.concatenate([self.z, z])
        order = np.argsort(everywhere, kind="stable")
        pairs = [
            zip(known, self.law.tail_bounds(-z, inside=world), strict=True)
            for known, world in ((self.fprs, False), (self.bounds, True))
        ]
        self.z, self.known = everywhere[order], None
        self.fprs, self.bounds = (
            CurveBounds(*(np.concatenate(pair)[order] for pair in ends)) for ends in pairs
        )

    def safe_points(self) -> Corners:
        """The thresholds with rates that overstate the leakage, by so much that chords between them do."""
        errors = [2.0 * self._at_points(error) for _, error in self._bends()]
        return Corners(
            _moved(self.fprs.log_tpr_low, -errors[0]),
            _moved(self.bounds.log_fnr_low, -errors[1]),
            _moved(self.bounds.log_tpr_high, errors[1]),
        )

    def sure_points(self) -> Corners:
        """The thresholds with rates that the attacker surely has."""
        return Corners(self.fprs.log_tpr_high, self.bounds.log_fnr_high, self.bounds.log_tpr_low)

    def corners(self) -> Corners:
        """The corner of each interval, shape (m - 1,): the top of the tent, or that of the rectangle."""
        (out, out_error), (inside, in_error) = self._bends()
        plain = Corners(self.fprs.log_tpr_low[:-1], self.bounds.log_fnr_low[1:], self.bounds.log_tpr_high[1:])
        paid, gained = (2.0 * (bend + error) for bend, error in ((out, out_error), (inside, in_error)))
        with np.errstate(invalid="ignore"):
            tops = Corners(
                _moved(_middle(self.fprs.log_tpr_low), -paid),
                _moved(_middle(self.bounds.log_fnr_low), -gained),
                _moved(_middle(self.bounds.log_tpr_high), gained),
            )
        # A tent that leaves the rectangle says less than it. The FNR is the complement of the TPR, and rounded.
        usable = (
            (tops.log_tpr <= plain.log_tpr) & (tops.log_fpr >= plain.log_fpr) & np.isfinite(paid + gained)
        )
        tops = tops._replace(log_fnr=np.maximum(tops.log_fnr, plain.log_fnr))
        best = Corners(*(np.where(usable, top, corner) for top, corner in zip(tops, plain, strict=True)))
        met = self._where_slopes_meet(plain)
        if met is None:
            return best
        with np.errstate(invalid="ignore"):
            # By the height of the corner over the line of slope 1: what rates that are nearly equal differ by.
            usable = np.exp(met.log_tpr) - np.exp(met.log_fpr) <= np.exp(best.log_tpr) - np.exp(best.log_fpr)
        return Corners(*(np.where(usable, new, old) for new, old in zip(met, best, strict=True)))

    def _where_slopes_meet(self, plain: Corners) -> Corners | None:
        """Where a line of the largest slope from an end meets a line of the least slope to the other; None if neither is known."""
        inner = np.isfinite(self.z[:-1]) & np.isfinite(self.z[1:])
        slopes = self.law.log_ratios(-self.z[1:][inner], -self.z[:-1][inner])
        if slopes is None:
            return None
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            least, most = (np.exp(end) for end in slopes)
            (start, end), (low, high) = (
                (rate[:-1][inner], rate[1:][inner])
                for rate in (np.exp(self.fprs.log_tpr_low), np.exp(self.bounds.log_tpr_high))
            )
            width = end - start
            share = np.nan_to_num((high - low - least * width) / (most - least), nan=0.0)
            rise = np.clip(share, 0.0, width)
            # Both ends of the interval at the least FPRs they may have, and any place between is right: the higher line counts.
            tpr = np.maximum(low + most * rise, high - least * (width - rise))
            tops = [np.full(inner.shape, np.inf) for _ in range(2)]
            tops[0][inner], tops[1][inner] = (start + rise) * (1.0 - _ROUNDED), tpr * (1.0 + _ROUNDED)
            log_fpr, log_tpr = lowered(np.log(tops[0])), raised(np.log(tops[1]))
        log_fnr = np.maximum(plain.log_fnr, lowered(log_complement(np.minimum(log_tpr, 0.0))))
        return Corners(np.where(inner, log_fpr, np.nan), log_fnr, log_tpr)

    def _bends(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """(bend, error) of each interval in both worlds; infinite where an end is. Computed once for each set of thresholds."""
        if self.known is not None:
            return self.known
        low, high = -self.z[1:], -self.z[:-1]
        inner = np.isfinite(low) & np.isfinite(high)
        result = []
        for world in (False, True):
            parts = self.law.bends(low[inner], high[inner], inside=world)
            assert parts is not None
            bend, error = np.full(low.shape, np.inf), np.zeros(low.shape)
            bend[inner], error[inner] = parts
            bend[np.isinf(error)] = np.inf
            result.append((bend, np.where(np.isfinite(bend), error, 0.0)))
        self.known = result
        return result

    def _at_points(self, values: np.ndarray) -> np.ndarray:
        """The larger of the two intervals that meet at each point."""
        return np.maximum(np.append(values, 0.0), np.append(0.0, values))


def _middle(log_rate: np.ndarray) -> np.ndarray:
    """Log of the mean of neighbours, shape (m - 1,)."""
    return np.logaddexp(log_rate[:-1], log_rate[1:]) - np.log(2.0)


def _moved(log_rate: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Log of a rate moved by so much, rounded in that direction; -inf and 0 at the ends of [0, 1]."""
    outward = np.sign(by)
    with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
        rate = np.exp(log_rate)
        moved = np.where(by == 0.0, rate, rate * (1.0 + outward * _ROUNDED) + by)
        log = np.log(np.clip(moved, 0.0, 1.0))
    # A rate near 1 whose complement is smaller than its rounding is 1 at worst.
    return np.where(by == 0.0, log_rate, np.where(outward > 0.0, raised(log), lowered(log)))
