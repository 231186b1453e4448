"""The trade-off curve of an attack whose score has a known distribution."""

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np

from mipsim._printed import ceiling, printed, shown
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounds import CurveBounds, Vertices, complement_bounds, log_complement, lowered, raised
from mipsim.tradeoff.display import PRINTED_FPRS
from mipsim.tradeoff.partition import Partition
from mipsim.tradeoff.score_law import AbstractScoreLaw
from mipsim.tradeoff.threshold_partition import ThresholdPartition

_WIDE = 1e-5  # of an AUC: areas of the curve are as good
_RARE = -680.0  # the log of a rate, below which no law knows more than that it is positive
_RELATIVE = 0.01  # a larger relative error is of no use
_ROUNDING = 2.0**-48  # of a share
_SMALL = math.log(0.25)  # a rate
_LEAST = math.log(5e-324)  # a rate
_NARROW = 0.0099  # bounds of the logarithm of a rate so far apart serve
_MISSED = 1e-9  # of a rate: a search that ends is far nearer


class ExactTradeOff(AbstractTradeOff):
    """The exact curve of the tests "score > threshold", for every FPR in [0, 1].

    Where the score has atoms the curve is linear between the FPRs of threshold tests. It is the curve of a single attack: it is
    convex where the score orders outputs as the likelihood ratio does. The test at an FPR in between may flip a coin on ties, or
    randomise between two thresholds whose FPRs are neighbours, which is as good or better: where only the "in" world has an
    atom it is better. The upper end of `beta_bounds` holds for the first, the lower for both; a plain number is the lower.

    Args:
        law: the distribution of the score in the two worlds.
        tails: returns the same between bounds that take longer, for small rates of which `law` says too little; or None.

    Source: standard; Neyman & Pearson (1933) for randomised tests.

    Examples:
        >>> import mipsim as mi, numpy as np
        >>> data = mi.Bernoulli(np.linspace(0.25, 0.75, 200))
        >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=100, target=data.easiest_target())
        >>> curve = game.exact(mi.CovarianceScore(data, n=100))
        >>> low, high = curve.beta_bounds(0.01)
        >>> [round(end, 2) for end in (low, high)]
        [0.67, 0.67]
        >>> curve.law.error_bound < 1e-3
        True
        >>> print(curve)
        ExactTradeOff(InvertedLaw, error bound 0.00012)
          TPR at FPR 0.001  [0.1118, 0.1119]
          TPR at FPR 0.01   [0.3274, 0.3276]
          TPR at FPR 0.1    [0.7278, 0.728]
          advantage         [0.6555, 0.6557]
    """

    law: AbstractScoreLaw
    tails: Callable[[], AbstractScoreLaw | None] | None = None

    def __repr__(self) -> str:
        assumed = f", assumed: {self.assumed}" if self.assumed else ""
        return f"ExactTradeOff({self.law.kind}, error bound {ceiling(self.law.error_bound, 2)}{assumed})"

    def __str__(self) -> str:
        tpr = [(f"TPR at FPR {fpr:g}", shown(self.tpr_bounds(fpr))) for fpr in PRINTED_FPRS]
        return printed(repr(self), [*tpr, ("advantage", shown(self.advantage_bounds()))])

    @property
    def assumed(self) -> str:
        """Unproven assumptions of the distribution; empty if there are none. See `FunctionAttack`."""
        return self.law.assumed

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        x = np.asarray(log_fpr, np.float64)
        return self._narrowed(x, self._between(x, log_complement(x), lambda where: self._nudged(x[where])))

    def rates_at(self, fpr: np.ndarray) -> CurveBounds:
        with np.errstate(divide="ignore"):
            x = np.log(fpr)
            bounds = self._between(x, np.log1p(-fpr), lambda where: self._within(fpr[where]))
        return self._narrowed(x, bounds)

    def _narrowed(self, log_fpr: np.ndarray, bounds: CurveBounds) -> CurveBounds:
        """The bounds, nearer by the bounds of small tails where they are too wide at a small rate."""
        if self.tails is None or self._knows_tails:
            return bounds
        rest = log_complement(log_fpr)
        # Searches read smooth curves at FPRs below float64's least, where nearer tails take most of the time and tell nothing.
        known, law = (log_fpr > (_LEAST if self._is_smooth() else -np.inf)) & (log_fpr < 0.0), self
        while True:
            with np.errstate(invalid="ignore"):
                wide = (log_fpr < _SMALL) & ~(bounds.log_tpr_high - bounds.log_tpr_low < _NARROW)
                wide |= (rest < _SMALL) & ~(bounds.log_fnr_high - bounds.log_fnr_low < _NARROW)
            wide &= known
            if not wide.any() or (law := law._sharper) is None:
                return bounds
            nearer = (np.maximum, np.minimum, np.maximum, np.minimum)
            for end, other, take in zip(bounds, law.enclosure(log_fpr[wide]), nearer, strict=True):
                end[wide] = take(end[wide], other)

    @cached_property
    def _knows_tails(self) -> bool:
        """Whether small tails are known relatively: what widens bounds then, as scores of unknown order do, no others know better."""
        return self.law.relative_error < _RELATIVE

    @cached_property
    def _sharper(self) -> "ExactTradeOff | None":
        law = None if self.tails is None else self.tails()
        return None if law is None else ExactTradeOff(law, law.sharper)

    def vertices(self) -> Vertices | None:
        """Every threshold test, where the values of the score are known individually."""
        atoms = self.law.support()
        if atoms is None:
            return None
        x = np.concatenate([atoms[::-1], [-np.inf]])
        fpr, tpr, fnr = (
            np.append(tail(x[:-1], inside=world), end)
            for tail, world, end in (
                (self.law.sf, False, 1.0),
                (self.law.sf, True, 1.0),
                (self.law.cdf, True, 0.0),
            )
        )
        ends = np.stack([*self._log_ends(fpr), *self._log_ends(fnr), *self._log_ends(tpr)])
        hidden = np.flatnonzero(self.law.unordered(x[:-1]))
        # Between the tests without and with scores of unknown order lies any other; FNRs fall as the rest rises.
        first, last = ends[:, hidden], ends[:, hidden + 1]
        middle = np.stack([first[0], last[1], last[2], first[3], first[4], last[5]])
        ends = np.insert(ends, hidden + 1, middle, axis=1)
        # Scores too rare to be listed may lie beyond all others: tests as near to either end as the law's error.
        most = float(self._known(np.zeros(1))[1][0])
        if 0.0 < most < 1.0:
            few, rest = (-np.inf, math.log(most) * (1.0 - 1e-15)), (math.log1p(-most) * (1.0 + 1e-15), 0.0)
            near = np.array([[*few, *rest, *few], [*rest, *few, *rest]]).T
            ends = np.insert(ends, [1, ends.shape[1] - 1], near, axis=1)
        low, high, *bounds = ends
        return Vertices(low, high, CurveBounds(*bounds))

    def _between(
        self, log_fpr: np.ndarray, log_rest: np.ndarray, otherwise: Callable[[np.ndarray], CurveBounds]
    ) -> CurveBounds:
        """Bounds from three thresholds around each FPR, where the distribution knows its tails well enough; else the other bounds.

        Proof. Let a > b > c be thresholds of which the distribution's bounds say P_out(S > a) <= FPR <= P_out(S > b) < P_out(S > c). The test
        "S > a" has at most the FPR, so that the curve's TPR is at least P_in(S > a). A randomised test of this FPR mixes
        thresholds whose FPRs f and g are neighbours, f <= FPR <= g. So g <= P_out(S > b) < P_out(S > c), and every threshold of FPR
        g is above c: its TPR, and with it the mixture's, is at most P_in(S > c). A rate and its complement are compared
        by either logarithm, each right to a few units in its last place. Where S has a single likely value between b and a, the mixture
        is about that of its two neighbours: see `_on_chord`.
        """
        shape = log_fpr.shape
        x, rest = log_fpr.ravel(), log_rest.ravel()
        result = self.law.around(x, rest)
        if result is None:
            return CurveBounds(*(end.reshape(shape) for end in otherwise(np.ones(shape, bool))))
        at_most, above, beyond = _bounds_at(self.law, result, inside=False)
        caught, most = _bounds_at(self.law, (result[0], result[2]), inside=True)
        sure = (at_most.log_tpr_high <= lowered(x)) | (at_most.log_fnr_low >= raised(rest))
        reached = (above.log_tpr_low >= raised(x)) | (above.log_fnr_high <= lowered(rest))
        apart = (beyond.log_tpr_low > above.log_tpr_high) | (beyond.log_fnr_high < above.log_fnr_low)
        lacking = np.isnan(np.stack(result))
        sure, reached, apart = sure & ~lacking[0], reached & ~lacking[1], apart & ~lacking[2]
        safe, rare, common = reached & apart, x < _RARE, rest < _RARE
        ends = (
            np.where(safe, most.log_fnr_low, np.where(common, -np.inf, np.nan)),
            np.where(sure, caught.log_fnr_high, np.where(rare, 0.0, np.nan)),
            np.where(sure, caught.log_tpr_low, np.where(rare, -np.inf, np.nan)),
            np.where(safe, most.log_tpr_high, np.where(common, 0.0, np.nan)),
        )
        # Above all finite scores lies the single value -inf, of which every FNR is the same share as of 1 - FPR.
        if (last := np.isneginf(result[0]) & sure).any():
            with np.errstate(invalid="ignore"):
                low = lowered(caught.log_fnr_low + rest - at_most.log_fnr_high, 16.0)
                high = raised(caught.log_fnr_high + rest - at_most.log_fnr_low, 16.0)
            shares = low, high, *complement_bounds(low, high)
            ends = [np.where(last, *pair) for pair in zip(shares, ends, strict=True)]
        chord = self._on_chord(x, result, (at_most, above), caught)
        if chord is not None:
            met = sure & reached & (x <= rest)
            nearer = (np.fmax, np.fmin, np.fmax, np.fmin)
            ends = [
                np.where(met, take(*pair), pair[0]) for take, *pair in zip(nearer, ends, chord, strict=True)
            ]
        bounds = CurveBounds(*(end.reshape(shape) for end in ends))
        if (missing := bounds.undefined()).any():
            unknown = CurveBounds(*(np.full(int(missing.sum()), end) for end in (-np.inf, 0.0, -np.inf, 0.0)))
            rest_of = otherwise(missing) if self.law.error_bound < 1.0 else unknown
            for end, other in zip(bounds, rest_of, strict=True):
                end[missing] = np.where(np.isnan(end[missing]), other.ravel(), end[missing])
        return bounds.ended(log_fpr)

    def _on_chord(
        self,
        log_fpr: np.ndarray,
        thresholds: tuple[np.ndarray, ...],
        out: tuple[CurveBounds, CurveBounds],
        caught: CurveBounds,
    ) -> CurveBounds | None:
        """Bounds where a single value y of the score lies between thresholds b and a, but for others of probability e in each world.

        Let F and T be P(S > .) in the worlds. All tests between b and a lie on a path from (F_a, T_a) to (F_b, T_b) that consists of y's
        chord, of slope at most (T_b - T_a) / (F_b - F_a - e_out) and at least (T_b - T_a - e_in) / (F_b - F_a), and of rises of e_out
        and e_in in all. None where the distribution knows of no single values.
        """
        e_out, e_in = (self.law.others(thresholds[1], thresholds[0], inside=world) for world in (False, True))
        if e_out is None or e_in is None:
            return None
        (before,) = _bounds_at(self.law, (thresholds[1],), inside=True)
        with np.errstate(all="ignore"):
            f, e, missed = np.exp(log_fpr), np.exp(e_out), np.exp(e_in)
            (a_low, a_high), (b_low, b_high) = (np.exp([end.log_tpr_low, end.log_tpr_high]) for end in out)
            least = np.clip((f - a_high - e) / (b_high - a_high) * (1.0 - _ROUNDING), 0.0, 1.0)
            width = b_low - a_low - e
            most = np.where(width > 0.0, np.clip((f - a_low) / width * (1.0 + _ROUNDING), 0.0, 1.0), 1.0)
            least = np.nan_to_num(least, nan=0.0)
            a, b = (np.exp(np.stack(end)) for end in (caught, before))
            fnr = (1.0 - most) * a[0] + most * b[0] - missed, (1.0 - least) * a[1] + least * b[1] + missed
            tpr = (1.0 - least) * a[2] + least * b[2] - missed, (1.0 - most) * a[3] + most * b[3] + missed
            ends = (np.log(np.clip(end, 0.0, 1.0)) for end in (*fnr, *tpr))
            low, high, least, most = ends
        return CurveBounds(
            lowered(low, 64.0),
            np.minimum(raised(high, 64.0), 0.0),
            lowered(least, 64.0),
            np.minimum(raised(most, 64.0), 0.0),
        )

    def _nudged(self, log_fpr: np.ndarray) -> CurveBounds:
        """The bounds of `_within` at FPRs given by their logarithms."""
        low, high, at = (
            CurveBounds(*ends)
            for ends in zip(
                *self._within(np.exp(np.stack([lowered(log_fpr), raised(log_fpr), log_fpr]))), strict=True
            )
        )
        result = CurveBounds(high.log_fnr_low, low.log_fnr_high, low.log_tpr_low, high.log_tpr_high)
        return at.where(np.isneginf(log_fpr) | (log_fpr == 0.0), result)

    def auc_bounds(self) -> tuple[float, float]:
        """(lower, upper) bound of the AUC: the distribution of the difference of two scores where that is known, else areas of the curve."""
        known = self.law.auc_bounds()
        return super().auc_bounds() if known is None or known[1] - known[0] > _WIDE else known

    def _is_smooth(self) -> bool:
        none = np.zeros(0)
        return self.law.bends(none, none, inside=True) is not None and self.law.around(none, none) is not None

    def _partition(self) -> Partition:
        return (
            ThresholdPartition(self, self.law)
            if self._is_smooth()
            else Partition(ExactTradeOff(self.law.whole()))
        )

    def _within(self, fpr: np.ndarray) -> CurveBounds:
        """Both error rates of every threshold test, randomised on ties or not, are right to e, the distribution's error bound.

        From above: let the test at alpha randomise on ties. A test that has an FPR of at most alpha - e in the distribution has
        an FPR of at most alpha in truth, and the FNRs differ by at most e. Where alpha < e only 1 is known.

        From below: let it randomise between any two thresholds whose true FPRs are neighbours, a and b. The point of their
        chord at alpha is within e of that of the distribution's chord. In the distribution there may be thresholds between the two, whose FPRs
        are those of a or b in truth, and so within 2 e of theirs in the distribution. The chord between the least FNRs within 2 e of
        neighbouring FPRs lies below the distribution's chord from a to b, and falls: its value at alpha + e, less e, is a bound. A
        relative error is used in the same way where it is the smaller error.

        Of an atom of scores whose order is not known the first bound takes nothing, and the second all of the "in" world's mass
        without any of the "out" world's.
        """
        less, more = self._known(fpr)
        low, caught = self._test(more, merged=True)
        high, least = self._test(less, merged=False)
        low, caught = self._known(low)[0], self._known(caught)[1]
        high, least = self._known(high)[1], self._known(least)[0]
        law = self.law.whole()
        first = min(law.error_bound, law.least_rate) if law.relative_error < _RELATIVE else law.error_bound
        unknown, last = fpr < first, fpr >= 1.0
        high, least = np.where(unknown, 1.0, high), np.where(unknown, 0.0, least)
        low, high = np.where(last, 0.0, low), np.where(last, 0.0, high)
        caught, least = np.where(last, 1.0, caught), np.where(last, 1.0, least)
        with np.errstate(divide="ignore"):
            logs = [np.log(v) for v in (low, high, least, caught)]
        return CurveBounds(lowered(logs[0]), raised(logs[1]), lowered(logs[2]), raised(logs[3]))

    def _known(self, rate: np.ndarray, times: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        """A rate less and plus the distribution's error, the smaller of the absolute and the relative error, so many times; in [0, 1]."""
        law = self.law.whole()
        e, r = law.error_bound, law.relative_error
        off = times * (np.minimum(e, 2.0 * r * rate + law.least_rate) if r < _RELATIVE else e)
        return np.maximum(rate - off, 0.0), np.minimum(rate + off, 1.0)

    def _log_ends(self, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Logarithms of rates less and plus the distribution's error; 0 and 1 at the ends are exact."""
        ends = np.zeros(rate.shape, bool)
        ends[[0, -1]] = (rate[[0, -1]] == 0.0) | (rate[[0, -1]] == 1.0)
        with np.errstate(divide="ignore"):
            low, high = (np.log(end) for end in self._known(rate))
            exact = np.log(rate)
        return np.where(ends, exact, lowered(low)), np.where(ends, exact, raised(high))

    def _test(self, alpha: np.ndarray, *, merged: bool) -> tuple[np.ndarray, np.ndarray]:
        """(FNR, TPR) of the distribution's randomised test at an FPR."""
        law = self.law.whole()  # whose thresholds are the least, not only such that they are surely enough
        threshold = law.threshold_at(alpha)
        fpr = law.sf(threshold, inside=False)
        fnr, tpr = law.cdf(threshold, inside=True), law.sf(threshold, inside=True)
        with_ties = np.exp(law.log_tail_with_ties(threshold, inside=False, upper=True))
        all_of_it = np.isneginf(threshold)
        with_ties = np.where(all_of_it, 1.0, with_ties)
        gap = with_ties - fpr
        if not (gap > 0.0).any():  # a threshold that a search did not reach says nothing
            missed = np.abs(fpr - alpha) > _MISSED * np.minimum(alpha, 1.0 - alpha) + law.least_rate
            return np.where(missed, 1.0 - merged, fnr), np.where(missed, 1.0 * merged, tpr)
        part = np.clip(np.where(gap > 0.0, (alpha - fpr) / np.where(gap > 0.0, gap, 1.0), 0.0), 0.0, 1.0)
        if not merged:
            part = np.where(law.unordered(threshold), 0.0, part)
            missed, caught = (
                np.exp(law.log_tail_with_ties(threshold, inside=True, upper=upper)) for upper in (False, True)
            )
        else:
            (fnr, tpr), (missed, caught) = (self._least(self._known(end, 2.0)[1]) for end in (fpr, with_ties))
        missed, caught = np.where(all_of_it, 0.0, missed), np.where(all_of_it, 1.0, caught)
        return (1.0 - part) * fnr + part * missed, (1.0 - part) * tpr + part * caught

    def _least(self, fpr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(FNR, TPR) at the least threshold with at most this FPR, with the atom there if it is of unknown order; all outputs at 1."""
        law, all_of_it = self.law.whole(), fpr >= 1.0
        threshold = law.threshold_at(fpr)
        hidden = law.unordered(threshold)
        fnr, tpr = (
            np.exp(
                np.where(
                    hidden,
                    law.log_tail_with_ties(threshold, inside=True, upper=upper),
                    law.log_tail(threshold, inside=True, upper=upper),
                )
            )
            for upper in (False, True)
        )
        return np.where(all_of_it, 0.0, fnr), np.where(all_of_it, 1.0, tpr)


def _bounds_at(
    law: AbstractScoreLaw, thresholds: tuple[np.ndarray, ...], *, inside: bool
) -> list[CurveBounds]:
    """The distribution's bounds at each of some arrays of the same shape, all at once."""
    return [
        CurveBounds(*ends) for ends in zip(*law.tail_bounds(np.stack(thresholds), inside=inside), strict=True)
    ]
