"""The exact trade-off curve of a score that is a sum over independent coordinates: no games, no bands."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mipsim.exact.terms import Terms

Score = Callable[[Terms], np.ndarray]
WIDTH = 28.0
"""Width of the grid in standard deviations of the score, besides the distance of the two worlds' means."""


def likelihood_ratio(terms: Terms) -> np.ndarray:
    """The term of the exact log-likelihood ratio."""
    return terms.ratio


def covariance_score(terms: Terms) -> np.ndarray:
    """The term of the covariance score."""
    return terms.covariance_score


@dataclass(frozen=True)
class AdditiveLaw:
    """The law of the score on a fine grid, in both worlds.

    Attributes:
        score: grid of score values, increasing, shape (N,).
        out, inside: probability at each grid value; they sum to 1 less the mass at -inf and +inf.
        out_low, inside_low: probability of a score of -inf (an output impossible with the target in).
        out_high, inside_high: probability of a score of +inf (an output impossible with the target out).
        added_variance: variance that the grid adds to the score (a bound on the discretisation), in score units squared.
    """

    score: np.ndarray
    out: np.ndarray
    inside: np.ndarray
    out_low: float
    inside_low: float
    out_high: float
    inside_high: float
    added_variance: float

    @property
    def false_positive_rate(self) -> np.ndarray:
        """P_out(score > grid value), shape (N,)."""
        return _above(self.out) + self.out_high

    @property
    def false_negative_rate(self) -> np.ndarray:
        """P_in(score <= grid value), shape (N,)."""
        return np.cumsum(self.inside) + self.inside_low

    def advantage(self) -> float:
        """Max over thresholds of TPR - FPR."""
        return float(
            max(np.max(1.0 - self.false_positive_rate - self.false_negative_rate), 0.0, self.inside_high)
        )

    def advantage_at(self, threshold: float) -> float:
        """TPR - FPR of the test score > threshold (ties on the grid shared out linearly)."""
        return float(self.below(threshold, inside=False) - self.below(threshold, inside=True))

    def below(self, threshold: float | np.ndarray, *, inside: bool) -> np.ndarray:
        """P(score <= threshold), interpolated between the grid's cells; shape of threshold."""
        cdf = self.false_negative_rate if inside else 1.0 - self.false_positive_rate
        step = self.score[1] - self.score[0]
        return np.asarray(np.interp(threshold, self.score + step / 2, cdf))

    def beta(self, alpha: np.ndarray) -> np.ndarray:
        """FNR of the threshold tests at FPR alpha, randomised between neighbouring thresholds; shape of alpha."""
        # From "all are out" over every threshold and the rejection of -inf only to "all are in": alpha never falls.
        a = np.concatenate([[0.0, self.out_high], self.false_positive_rate[::-1], [1.0 - self.out_low, 1.0]])
        b = np.concatenate(
            [[1.0, 1.0 - self.inside_high], self.false_negative_rate[::-1], [self.inside_low, 0.0]]
        )
        a, b = np.maximum.accumulate(a), np.minimum.accumulate(b)
        keep = np.concatenate([np.diff(a) > 0, [True]])  # at equal alpha the smallest beta counts
        return np.asarray(np.interp(alpha, a[keep], b[keep]))

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Hockey-stick divergences at e^epsilon: (in against out, out against in). Meaningful for the exact ratio."""
        e = np.exp(epsilon)
        forward = np.sum(np.maximum(self.inside - e * self.out, 0)) + self.inside_high
        backward = np.sum(np.maximum(self.out - e * self.inside, 0)) + self.out_low
        return float(forward), float(backward)


def additive_law(
    groups: Sequence[Terms], score: Score = likelihood_ratio, points: int | None = None
) -> AdditiveLaw:
    """Convolve the terms of all coordinates by fast Fourier transforms on one grid.

    Each value is split between its two neighbours on the grid so that means are kept exactly; the variance this adds
    is computed and returned. Infinite values leave the grid and are accounted apart. By default the grid has the power
    of two of points at which d coordinates add less than 1e-3 of the variance (an error of a probit below 2e-3 at 1e-4).

    Examples:
        >>> from mipsim.exact.terms import binomial_terms
        >>> law = additive_law([binomial_terms(50, 0.5, 1, 50)])
        >>> print(round(law.advantage(), 3))  # the limit, by theorem 3.1, is 0.383
        0.387
    """
    if points is None:
        points = int(
            np.clip(
                2 ** np.ceil(np.log2(WIDTH * np.sqrt(250.0 * sum(g.count for g in groups)))), 2**14, 2**22
            )
        )
    values = [score(g) for g in groups]
    finite = [np.isfinite(v) for v in values]
    moments = [_moments(g, v, f) for g, v, f in zip(groups, values, finite, strict=True)]
    low = min(sum(m[0] for m in moments), sum(m[2] for m in moments))
    high = max(sum(m[0] for m in moments), sum(m[2] for m in moments))
    spread = np.sqrt(max(sum(m[1] for m in moments), sum(m[3] for m in moments), 1e-12))
    start, stop = low - WIDTH / 2 * spread, high + WIDTH / 2 * spread
    step = (stop - start) / points
    transforms = [np.ones(points // 2 + 1, complex), np.ones(points // 2 + 1, complex)]
    masses = np.ones(2)
    added = 0.0
    impossible = [1.0, 1.0]  # probability that no coordinate is +inf
    for g, v, f in zip(groups, values, finite, strict=True):
        cell = v[f] / step
        floor = np.floor(cell)
        share = cell - floor
        index = floor.astype(np.int64) % points
        for world, probability in enumerate((g.out, g.inside)):
            table = np.bincount(index, probability[f] * (1 - share), points)
            table += np.bincount((index + 1) % points, probability[f] * share, points)
            transforms[world] = transforms[world] * np.fft.rfft(table) ** g.count
            masses[world] *= probability[f].sum() ** g.count
            impossible[world] *= (1.0 - probability[v == np.inf].sum()) ** g.count
        added += g.count * float(np.sum(np.maximum(g.out[f], g.inside[f]) * share * (1 - share))) * step**2
    out, inside = (np.maximum(np.fft.irfft(x, points), 0.0) for x in transforms)
    offset = int(np.floor(start / step))  # grid index k stands for the value (offset + k) step
    out, inside = np.roll(out, -(offset % points)), np.roll(inside, -(offset % points))
    out_high, in_high = 1.0 - impossible[0], 1.0 - impossible[1]
    grid = (offset + np.arange(points)) * step
    return AdditiveLaw(
        grid,
        out,
        inside,
        max(0.0, 1 - masses[0] - out_high),
        max(0.0, 1 - masses[1] - in_high),
        out_high,
        in_high,
        added,
    )


def _moments(g: Terms, v: np.ndarray, f: np.ndarray) -> tuple[float, float, float, float]:
    found: list[float] = []
    for probability in (g.out[f], g.inside[f]):
        mass = probability.sum()
        mean = float(probability @ v[f] / mass) if mass > 0 else 0.0
        variance = float(probability @ (v[f] - mean) ** 2 / mass) if mass > 0 else 0.0
        found += [g.count * mean, g.count * variance]
    return found[0], found[1], found[2], found[3]


def _above(probability: np.ndarray) -> np.ndarray:
    return np.concatenate([np.cumsum(probability[::-1])[::-1][1:], [0.0]])
