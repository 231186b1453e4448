"""The exact law of a linear score: a sum over independent rows."""

from dataclasses import replace
from fractions import Fraction
from math import fsum

import numpy as np

from mipsim.attacks.base import AbstractLinearAttack
from mipsim.distributions.bernoulli import Bernoulli
from mipsim.exact import discrete_rows as _discrete_rows  # noqa: F401 - registers its laws
from mipsim.exact.atoms import convolve
from mipsim.exact.density_rows import NormalRow
from mipsim.exact.derived_laws import MixedLaw, mixed_with_out
from mipsim.exact.gaussian import NormalLaw
from mipsim.exact.inversion import InvertedLaw
from mipsim.exact.noise_transform import NoiseTail, score_noise
from mipsim.exact.noisy import NoisyAtomsLaw
from mipsim.exact.poisson import PoissonRow
from mipsim.exact.rounding import exact_dot, precise_dot
from mipsim.exact.rows import row_of
from mipsim.exact.transform import RowsTransform
from mipsim.forms.problem import FixedProblem
from mipsim.forms.score import line_at
from mipsim.tradeoff.score_law import AbstractScoreLaw

_GOOD = 1e-9  # a bound so small needs no second route
_FEW, _MOST_SUMMED = 2**8, 2**12  # atoms: a sum over so many is the quicker, and over more takes too long


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
