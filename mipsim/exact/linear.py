"""The exact law of a linear score: a sum over independent rows, or over the atoms of a score before its noise."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import fsum

import numpy as np

from mipsim.attacks.base import AbstractLinearAttack
from mipsim.distributions.bernoulli import Bernoulli
from mipsim.exact import discrete_rows as _discrete_rows  # noqa: F401 - registers its laws
from mipsim.exact.atoms import AtomsLaw, convolve
from mipsim.exact.density_rows import NormalRow
from mipsim.exact.derived_laws import MixedLaw, mixed_with_out
from mipsim.exact.gaussian import NormalLaw
from mipsim.exact.inversion import InvertedLaw
from mipsim.exact.noise_transform import NoiseTail, score_noise
from mipsim.exact.poisson import PoissonRow
from mipsim.exact.rounding import EPS, exact_dot, precise_dot
from mipsim.exact.rows import row_of
from mipsim.exact.transform import RowsTransform
from mipsim.forms.problem import FixedProblem
from mipsim.forms.score import line_at
from mipsim.tradeoff.score_law import AbstractScoreLaw, Thresholds

_GOOD = 1e-9  # a bound so small needs no second route
_FEW, _MOST_SUMMED = 2**8, 2**12  # atoms: a sum over so many is the quicker, and over more takes too long
_BLOCK = 2**20  # numbers of a batch: 8 MiB


def linear_law(problem: FixedProblem) -> AbstractScoreLaw | None:
    """Weights . output + offset of a noisy mean, for every data law that `row_of` knows."""
    attack, mean = problem.attack, problem.mean
    if not isinstance(attack, AbstractLinearAttack):
        return None
    weights, offset = line_at(attack, problem.target)
    if not weights.any():
        raise ValueError(
            f"attack {type(attack).__name__} has weights 0 only; its score is a constant, not a law"
        )
    row_weights = weights / (mean.rows * mean.rate)
    row, noise = row_of(problem.data, row_weights), score_noise(mean, weights)
    if row is None or noise is None:
        return None
    if np.isfinite(row.reach) and noise.parts and not any(part.vanishes for part in noise.parts):
        return None  # atoms and nothing else, on no lattice: the modulus of its transform falls nowhere
    target_terms = (row_weights * problem.row)[row_weights != 0.0]
    if row.step is not None and not noise.parts:  # on a lattice the atoms are where they are
        row_mean, low = exact_dot(row_weights, problem.data.mean)
    else:  # the weights of a row are rounded
        exact = sum(map(Fraction, exact_dot(weights, problem.data.mean))) / (mean.rows * Fraction(mean.rate))
        row_mean = float(exact)
        low = float(exact - Fraction(row_mean))
    # The mean of a Bernoulli law is its parameter; of the others it has been computed.
    computed = not isinstance(problem.data, Bernoulli)
    rounded = mean.rows * float(np.abs(row_weights) @ np.abs(problem.data.mean)) if computed else 0.0
    transform = RowsTransform(
        row=row,
        rows=mean.rows,
        row_mean=row_mean,
        row_mean_low=low,
        target=precise_dot(row_weights, problem.row),
        offset=offset + noise.mean,
        noise=noise.parts,
        magnitude=2.0
        * (rounded + fsum(map(abs, noise.means)) + float(np.abs(row_weights * problem.row).sum())),
        lost=noise.error,
    )
    if mean.rate < 1.0:
        retained = replace(
            transform,
            row=PoissonRow(row, transform.row_mean, mean.rate),
            row_mean=mean.rate * transform.row_mean,
            row_mean_low=mean.rate * low,
        )
        dropped = replace(retained, target=0.0)
        law = MixedLaw((InvertedLaw(retained), InvertedLaw(dropped)), (mean.rate, 1.0 - mean.rate))
    elif not noise.error and all(isinstance(part, NormalRow) for part in (row, *noise.parts)):
        law = _normal(transform)
    else:
        law = _inverted(transform, target_terms, noise.tail)
    return mixed_with_out(law, mean.inclusion)


def _normal(transform: RowsTransform) -> NormalLaw:
    variance = -2.0 * transform.cumulant(np.array([1j])).real[:, 0]
    sd, doubt = np.sqrt(variance), transform.row.doubt if isinstance(transform.row, NormalRow) else 0.0
    # A standard deviation off by e of itself moves P by .25 e at most, a score off by e sd by .4 e.
    return NormalLaw(transform.mean, sd, transform.shift + 0.5 * doubt * float(sd.max()))


def _inverted(
    transform: RowsTransform, target_terms: np.ndarray, noise: NoiseTail | None
) -> AbstractScoreLaw:
    """By a sum over atoms where there are few; else by inversion, unless noise is so fine, or has such a kink, that this knows little."""
    inversion = InvertedLaw(transform)
    known = not transform.noise or noise is not None
    tables = transform.row.tables(transform.rows, target_terms) if known else None
    law = None if tables is None else convolve(tables, transform.offset)
    if law is not None and noise is not None:
        size = law.score.size
        summed = size <= _FEW or (size <= _MOST_SUMMED and inversion.error_bound > _GOOD)
        law = NoisyAtomsLaw(law, noise) if summed else None
    return inversion if law is None else law


@dataclass(frozen=True)
class NoisyAtomsLaw(AbstractScoreLaw):
    """P(S > x) = sum_a P(A = a) P(noise > x - a): positive terms, so that every tail has its full relative accuracy.
    >>> coin = AtomsLaw(np.array([0.0, 1.0]), np.array([0.5, 0.5]), np.array([0.0, 1.0]))
    >>> law = NoisyAtomsLaw(coin, NoiseTail(0.0, np.array([0.1])))
    >>> print(law.sf([0.5, 1.0], inside=False).round(6), law.threshold_at(0.25))
    [0.5  0.25] 1.0
    """

    atoms: AtomsLaw  # the law of the score without noise
    noise: NoiseTail  # the law of the noise, the same in both worlds

    def threshold_at(self, alpha: object) -> np.ndarray:
        reach = self.noise.spread
        ends = float(self.atoms.score[0]) - reach, float(self.atoms.score[-1]) + reach
        return continuous_threshold(self, alpha, *ends)

    @property
    def error_bound(self) -> float:
        """Of the atoms' probabilities, their sum, the noise's tail, and of the differences x - a at its density."""
        off = 2.0 * EPS * (np.abs(self.atoms.score) + self.noise.spread / 40.0) + self.atoms.near
        moved = float(max(self.atoms.out @ off, self.atoms.inside @ off)) * self.noise.density
        return min(1.0, self.atoms.error_bound + self.noise.error_bound + moved)

    def log_tail(self, threshold: Thresholds, *, inside: bool, upper: bool) -> np.ndarray:
        sign, weights = 1.0 if upper else -1.0, self.atoms.inside if inside else self.atoms.out
        used = weights > 0.0
        score, weights = self.atoms.score[used], weights[used]
        return _log_of(lambda x: self.noise.sf(sign * (x - score)) @ weights, threshold, score.size)


def _log_of(probability: Callable[[np.ndarray], np.ndarray], x: Thresholds, width: int) -> np.ndarray:
    """Log of a probability that takes `width` numbers a threshold, for some thresholds at a time, shape (T, 1)."""
    flat = np.ravel(np.asarray(x, float))
    result, size = np.empty(flat.shape), max(1, _BLOCK // width)
    for start in range(0, flat.size, size):
        result[start : start + size] = probability(flat[start : start + size, None])
    with np.errstate(divide="ignore"):
        return np.log(np.minimum(result, 1.0)).reshape(np.shape(x))


def continuous_threshold(law: AbstractScoreLaw, alpha: object, low: float, high: float) -> np.ndarray:
    """The x in [low, high] with P_out(score > x) = alpha, by Chandrupatla's method; -inf and inf at 1 and 0.
    >>> from mipsim.exact.gaussian import NormalLaw
    >>> law = NormalLaw(np.zeros(2), np.ones(2))
    >>> continuous_threshold(law, np.array([0.5, 0.025, 0.0]), -10.0, 9.0).round(6)
    array([0.      , 1.959964,      inf])
    """
    a = np.asarray(alpha, float)
    flat = np.ravel(a)
    inner = (flat > 0.0) & (flat < 1.0)
    result = np.where(flat <= 0.0, np.inf, -np.inf)
    wanted = flat[inner]

    def gap(x: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """Falls in x; in logarithms of the side that is small."""
        upper, lower = law.logsf(x, inside=False), law.logcdf(x, inside=False)
        with np.errstate(invalid="ignore"):
            side = np.where(wanted <= 0.5, upper - np.log(wanted), np.log1p(-wanted) - lower)
        return np.clip(np.nan_to_num(side, nan=0.0, posinf=1e3, neginf=-1e3), -1e3, 1e3)

    from scipy.optimize import elementwise  # a fourth of a second: not when the library is imported

    root = elementwise.find_root(gap, (np.full(wanted.shape, low), high), args=(wanted,))
    # With the same sign at both ends there is no root: the nearer end.
    result[inner] = np.where(np.isnan(root.x), np.where(root.f_bracket[0] > 0.0, high, low), root.x)
    return result.reshape(a.shape)
