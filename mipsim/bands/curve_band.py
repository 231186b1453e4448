"""The band of a trade-off curve, made of the bands of its two classes, and the numbers that it bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mipsim._validation import class_counts, number, real_array
from mipsim.bands.counted_rates import CountedRates

_LEAST = float(np.finfo(np.float64).tiny)


def just_below(value: np.ndarray) -> np.ndarray:
    """The largest float64 below each, any shape; of 0 the largest that is not subnormal, since compiled code takes those for 0.
    >>> just_below(np.array([1.0])).item() == 1.0 - 2.0**-53, just_below(np.array([0.0])).item()
    (True, -2.2250738585072014e-308)
    """
    with np.errstate(over="ignore"):
        return np.where(value == 0.0, -_LEAST, np.nextafter(value, -np.inf))


def are_single(thresholds: np.ndarray) -> np.ndarray:
    """Whether the scores of each bin, above a threshold and up to the next, can have a single value only, shape (K + 1,).

    The first bin reaches down to -inf, the last up to +inf. The least float64, which shares the first with -inf, counts as -inf.

    >>> are_single(np.array([0.5, 1.0 - 2.0**-53, 1.0, 1.5]))
    array([False, False,  True, False, False])
    >>> are_single(np.array([-1.0, 0.0, 1.0]) * np.finfo(np.float64).max)
    array([ True, False, False,  True])
    """
    ends = np.concatenate([[-np.inf], thresholds, [np.inf]])
    return just_below(ends[1:]) <= ends[:-1]


@dataclass(frozen=True, eq=False)
class CurveBand:
    """Simultaneous bounds of FPR and FNR at K thresholds, in increasing order of the threshold.

    Every number below holds at once with the confidence of the two class bands together, for the curve of the attack that played: its
    tests "score > t", equal scores by lot, so that the curve is linear between the FPRs of these tests, as `ExactTradeOff` is.

    Attributes:
        alpha_low, alpha_high: bounds of P0(score > t), shape (K,), non-increasing.
        beta_low, beta_high: bounds of P1(score <= t), shape (K,), non-decreasing.
        single: in which bins scores are equal for certain, see `are_single`, shape (K + 1,); None for none.

    Examples:
        >>> band = CurveBand.from_counts([900, 500, 100], 1000, [200, 500, 800], 1000, 0.01)
        >>> [np.round(bound, 3).tolist() for bound in band.at([0.2, 0.6])]
        [[0.45, 0.162], [0.838, 0.55]]
        >>> [round(float(end), 3) for end in band.advantage_interval()]
        [0.029, 0.478]
    """

    alpha_low: np.ndarray
    alpha_high: np.ndarray
    beta_low: np.ndarray
    beta_high: np.ndarray
    single: np.ndarray | None = None

    def __post_init__(self) -> None:
        # Both rates are monotone in the threshold: tightening each bound by its neighbours is free.
        for name, tighten, turn in (
            ("alpha_low", np.maximum, True),
            ("alpha_high", np.minimum, False),
            ("beta_low", np.maximum, False),
            ("beta_high", np.minimum, True),
        ):
            bound = real_array(name, getattr(self, name))
            walked = tighten.accumulate(bound[::-1])[::-1] if turn else tighten.accumulate(bound)
            object.__setattr__(self, name, walked)

    @classmethod
    def from_counts(
        cls,
        false_positives: object,
        out_games: int,
        false_negatives: object,
        in_games: int,
        failure_probability: float,
        single: np.ndarray | None = None,
    ) -> CurveBand:
        """Clopper-Pearson's band at K thresholds that were fixed before the games; half of the risk to each class."""
        risk = number("failure_probability", failure_probability, 0.0, 1.0, low_open=True, high_open=True)
        out = class_counts("false_positives", false_positives, "out_games", out_games)
        inside = class_counts("false_negatives", false_negatives, "in_games", in_games)
        return cls(*CountedRates(*out).bounds(risk / 2), *CountedRates(*inside).bounds(risk / 2), single)

    def lower(self, alpha: object) -> np.ndarray:
        """A lower bound of the FNR at each FPR, any shape: the points (alpha_low, beta_low) joined as `_joined` says."""
        return self._joined(alpha, self.alpha_low, self.beta_low, -1.0)

    def upper(self, alpha: object) -> np.ndarray:
        """An upper bound of the FNR at each FPR, any shape: the points (alpha_high, beta_high) joined as `_joined` says."""
        return self._joined(alpha, self.alpha_high, self.beta_high, 1.0)

    def _joined(self, fpr: object, alpha: np.ndarray, beta: np.ndarray, side: float) -> np.ndarray:
        """The chain from (1, 0) over the points to (0, 1).

        Between two thresholds with a single value of the score its ties are by lot, and the chain is the chord; else the order of scores
        is unknown, and it is the step on the requested side. Proof: so joined the true points give a bound of the curve, and a chain whose
        corners all move down and left, or up and right, moves with them.
        """
        x, y = np.concatenate([[1.0], alpha, [0.0]]), np.concatenate([[0.0], beta, [1.0]])
        single = np.zeros(x.size - 1, bool) if self.single is None else self.single
        corner = (x[1:], y[:-1]) if side < 0.0 else (x[:-1], y[1:])
        after = np.flatnonzero(~single)
        x, y = (
            np.insert(ends, after + 1, own[after])[::-1] for ends, own in zip((x, y), corner, strict=True)
        )
        result = np.interp(np.asarray(fpr, np.float64), x, y)
        rounded = ~np.isin(result, y)  # on a chord
        return np.clip(np.where(rounded, result * (1.0 + side * 2.0**-50), result), 0.0, 1.0)

    def at(self, alpha: object) -> tuple[np.ndarray, np.ndarray]:
        """(lower, upper) bound of the FNR at each FPR."""
        return self.lower(alpha), self.upper(alpha)

    def advantage_interval(self) -> tuple[float, float]:
        """Interval of the largest TPR - FPR over all thresholds, also those between the K."""
        low = max(0.0, float((1.0 - self.alpha_high - self.beta_high).max()))
        # Between two jumps of B_L the height 1 - a - B_L(a) is largest where B_L has just jumped.
        jumps = np.concatenate([[0.0], self.alpha_low])
        return low, float((1.0 - jumps - self.lower(jumps)).max())

    def auc_interval(self) -> tuple[float, float]:
        """Interval of the area under the ROC curve, ties counted half; scores between two thresholds may lie in any order, unless they are equal.

        Examples:
            >>> counts = [1000, 500, 0], 1000, [0, 400, 1000], 1000  # just below 0, at 0 and at 1 of a yes/no attack
            >>> for single in (None, np.array([False, True, True, False])):
            ...     print([round(end, 2) for end in CurveBand.from_counts(*counts, 0.01, single).auc_interval()])
            [0.25, 0.84]
            [0.5, 0.6]
        """
        single = np.zeros(self.alpha_low.size + 1, dtype=bool) if self.single is None else self.single

        def area(alpha: np.ndarray, beta: np.ndarray, share: float) -> float:
            """The mean over "out" scores of the FNR, of which those of an "in" score between the same thresholds count by a share."""
            x, y = np.concatenate([[1.0], alpha, [0.0]]), np.concatenate([[0.0], beta, [1.0]])
            return float(-np.diff(x) @ (y[:-1] + np.where(single, 0.5, share) * np.diff(y)))

        # The area falls in every FPR and FNR.
        return 1.0 - area(self.alpha_high, self.beta_high, 1.0), 1.0 - area(
            self.alpha_low, self.beta_low, 0.0
        )

    def intervals_of_ties(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Intervals of the advantage and the AUC where scores between two neighbouring thresholds are ties, counted half.

        The ROC curve is then the polygon of the K points (FPR, TPR), whose area falls in every FPR and FNR.

        Examples:
            >>> band = CurveBand.from_counts([50_000], 100_000, [16_000], 100_000, 0.001)  # a yes/no attack
            >>> [[round(end, 3) for end in ends] for ends in (band.advantage_interval(), *band.intervals_of_ties())]
            [[0.33, 0.844], [0.33, 0.35], [0.665, 0.675]]
        """

        def numbers(alpha: np.ndarray, beta: np.ndarray) -> tuple[float, float]:
            x, y = np.concatenate([[1.0], alpha, [0.0]]), np.concatenate([[0.0], beta, [1.0]])
            return max(0.0, float((1.0 - x - y).max())), 1.0 - float(-np.trapezoid(y, x))

        least, most = numbers(self.alpha_high, self.beta_high), numbers(self.alpha_low, self.beta_low)
        return (least[0], most[0]), (least[1], most[1])
