"""What every exact distribution of a score provides."""

from abc import ABC, abstractmethod

import numpy as np

from mipsim.tradeoff.bounds import CurveBounds, complement_bounds, lowered, raised

Thresholds = float | np.ndarray
_UNDERFLOW = 1e-320  # of rates near float64's least


class AbstractScoreLaw(ABC):
    """The exact distribution of an attack's score in the two worlds of a game.

    Everything is NumPy float64 with the shape of the argument. Scores may have an atom at -inf (an output that rules
    the target out), never at +inf.

    Examples:
        >>> import mipsim as mi, numpy as np
        >>> data = mi.Bernoulli(np.linspace(0.25, 0.75, 200))
        >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=100, target=data.easiest_target())
        >>> law = game.exact(mi.CovarianceScore(data, n=100)).law
        >>> isinstance(law, AbstractScoreLaw)
        True
        >>> round(float(law.cdf(0.0, inside=False) + law.sf(0.0, inside=False)), 12)
        1.0
    """

    @abstractmethod
    def log_tail(self, threshold: Thresholds, *, inside: bool, upper: bool) -> np.ndarray:
        """Log P(score > threshold) if `upper`, else log P(score <= threshold); in the "in" world if `inside`, else in the "out" world."""

    @abstractmethod
    def threshold_at(self, alpha: object) -> np.ndarray:
        """The least threshold x with P_out(score > x) <= alpha, any shape; -inf and +inf are possible."""

    def log_tail_with_ties(self, threshold: Thresholds, *, inside: bool, upper: bool) -> np.ndarray:
        """Log P(score >= threshold) if `upper`, else log P(score < threshold), at a threshold from `threshold_at`.

        It is `log_tail` where the distribution has no atoms.
        """
        return self.log_tail(threshold, inside=inside, upper=upper)

    def tail_bounds(self, threshold: Thresholds, *, inside: bool) -> CurveBounds:
        """Proven bounds of both tails at each threshold: log P(score <= x) stands as log FNR, log P(score > x) as log TPR."""
        log_cdf, log_sf = (self.log_tail(threshold, inside=inside, upper=upper) for upper in (False, True))
        return within(log_cdf, log_sf, self.error_bound)

    def around(self, log_fpr: np.ndarray, log_rest: np.ndarray) -> tuple[np.ndarray, ...] | None:
        """Thresholds (a, b, c), falling, that are likely to have P_out(score > a) < FPR < P_out(score > b) < P_out(score > c).

        They are as near as `tail_bounds` can tell the rates apart. None where the distribution has atoms that its bounds see, or gives
        `tail_bounds` no more than `error_bound`.

        Args:
            log_fpr: log of the FPR, in (-inf, 0), any shape.
            log_rest: log of 1 - FPR.
        """
        return None

    def whole(self) -> "AbstractScoreLaw":
        """The law as numbers of a whole curve need it: without bounds of small tails, where these take long."""
        return self

    def sharper(self) -> "AbstractScoreLaw | None":
        """The same law with bounds that are nearer and take longer; None where there are none."""
        return None

    def others(self, low: np.ndarray, high: np.ndarray, *, inside: bool) -> np.ndarray | None:
        """A bound on the log probability of the scores in (low, high] but for a single one, the same in both worlds; None if not known."""
        return None

    def bends(
        self, low: np.ndarray, high: np.ndarray, *, inside: bool
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """How far P(score > x) can be from its chord between two thresholds: (bend, error), shape of both; None if not known.

        With u from 0 to 1 along the chord the distance is at most 4 u (1 - u) bend + 2 error.
        """
        return None

    def log_ratios(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Bounds of the log of the density ratio, in to out, of all scores between two thresholds; None if not known."""
        return None

    def auc_bounds(self) -> tuple[float, float] | None:
        """(lower, upper) bound of P(S_in > S_out) + P(S_in = S_out) / 2 for independent scores; None if not known."""
        return None

    def support(self) -> np.ndarray | None:
        """All values of the score, increasing, where they are known individually; else None."""
        return None

    def unordered(self, threshold: Thresholds) -> np.ndarray:
        """Whether the atom at a threshold of `threshold_at` or `support` is several unequal scores whose order rounding hides.

        Between the tests without it and with it there are others, of which no more is known.
        """
        return np.zeros(np.shape(threshold), bool)

    @property
    @abstractmethod
    def error_bound(self) -> float:
        """A proven bound on the absolute error of `cdf` and `sf`, at every threshold and in both worlds."""

    @property
    def relative_error(self) -> float:
        """A proven bound on the relative error of every `cdf` and `sf` from `least_rate` on; inf where only `error_bound` is known."""
        return np.inf

    @property
    def least_rate(self) -> float:
        """What `relative_error` does not cover: smaller rates may be lost to underflow; 0 where none is, so that a rate of 0 is 0."""
        return 1e-290

    @property
    def kind(self) -> str:
        """Name of the distribution in the printed curve."""
        return type(self).__name__

    @property
    def assumed(self) -> str:
        """Unproven assumptions, such as a user's declaration of the score's form; empty if there are none."""
        return ""

    def logsf(self, threshold: Thresholds, *, inside: bool) -> np.ndarray:
        """Log P(score > threshold) in the "in" world if `inside`, else in the "out" world."""
        return self.log_tail(threshold, inside=inside, upper=True)

    def logcdf(self, threshold: Thresholds, *, inside: bool) -> np.ndarray:
        """Log P(score <= threshold)."""
        return self.log_tail(threshold, inside=inside, upper=False)

    def sf(self, threshold: Thresholds, *, inside: bool) -> np.ndarray:
        """P(score > threshold): FPR of the threshold test ("out"), TPR ("in")."""
        return np.exp(self.logsf(threshold, inside=inside))

    def cdf(self, threshold: Thresholds, *, inside: bool) -> np.ndarray:
        """P(score <= threshold): the claimed distribution for a histogram whose bins are (edge, edge]."""
        return np.exp(self.logcdf(threshold, inside=inside))


def within(log_cdf: np.ndarray, log_sf: np.ndarray, error: np.ndarray | float) -> CurveBounds:
    """Bounds from logarithms of both tails, each right to an absolute error.
    >>> bounds = within(np.log([0.75]), np.log([0.25]), 0.05)
    >>> np.exp(bounds.log_tpr_high).round(6).tolist()
    [0.3]
    """
    small = np.minimum(log_cdf, log_sf)
    with np.errstate(divide="ignore", under="ignore"):
        rate = np.exp(small)
        low = lowered(np.log(np.maximum(rate - error - _UNDERFLOW, 0.0)))
        high = raised(np.log(np.minimum(rate + error + _UNDERFLOW, 1.0)))
    # The larger rate is known as well as the smaller.
    least, most = complement_bounds(low, high)
    below = CurveBounds(low, high, least, most)
    return below.where(log_cdf <= log_sf, below.exchanged())
