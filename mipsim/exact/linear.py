"""The exact law of a linear score: a sum over independent rows."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np

from mipsim.attacks.base import AbstractAdditiveAttack, AbstractLinearAttack
from mipsim.exact import discrete_rows as _discrete_rows  # noqa: F401 - registers its laws
from mipsim.exact.atoms import AtomsLaw, convolve
from mipsim.exact.changed import DrawnLaw, MixedLaw
from mipsim.exact.density_rows import LaplaceRow, NormalRow
from mipsim.exact.gaussian import NormalLaw
from mipsim.exact.inversion import InvertedLaw
from mipsim.exact.law import AbstractScoreLaw
from mipsim.exact.poisson import PoissonRow
from mipsim.exact.problem import Problem
from mipsim.exact.rows import AbstractRow, row_of
from mipsim.exact.sums import precise_dot
from mipsim.exact.transform import RowsTransform


def linear_law(problem: Problem) -> AbstractScoreLaw | None:
    """Weights . output + offset of a noisy mean, for every data law that `row_of` knows.

    Examples:
        >>> import mipsim as mi
        >>> data = mi.Laplace(0.0, [1.0, 2.0, 3.0])
        >>> game = mi.FixedTarget(mi.LaplaceNoise(mi.EmpiricalMean(), 0.1), data, n=50, target=[1.0, -2.0, 5.0])
        >>> print(game.exact(mi.CovarianceScore(data, n=50)).beta(0.1).round(9))
        0.861868096
    """
    attack, mean = problem.attack, problem.mean
    if not isinstance(attack, AbstractLinearAttack) or not _is_plain(attack):
        return None
    target = jnp.asarray(problem.target)
    weights, offset = np.asarray(attack.weights(target), np.float64), float(attack.offset(target))
    if not weights.any():
        raise ValueError(
            f"attack {type(attack).__name__} has weights 0 only; its score is one constant, not a law"
        )
    share = weights / (mean.rows * mean.rate)
    row = row_of(problem.data, share)
    if row is None:
        return None
    shares = (share * problem.target)[share != 0.0]
    transform = RowsTransform(
        row=row,
        rows=mean.rows,
        row_mean=precise_dot(share, problem.data.mean),
        target=precise_dot(share, problem.target),
        offset=offset,
        noise=_noise(problem, weights),
    )
    if mean.rate < 1.0:
        kept = replace(
            transform,
            row=PoissonRow(row, transform.row_mean, mean.rate),
            row_mean=mean.rate * transform.row_mean,
        )
        dropped = replace(kept, target=0.0)
        law = MixedLaw((InvertedLaw(kept), InvertedLaw(dropped)), (mean.rate, 1.0 - mean.rate))
    elif isinstance(row, NormalRow) and all(isinstance(part, NormalRow) for part in transform.noise):
        law = _normal(transform)
    else:
        law = _few_atoms(transform, shares) or InvertedLaw(transform)
    return law if mean.drawn == 1.0 else DrawnLaw(law, mean.drawn)


def _is_plain(attack: AbstractLinearAttack) -> bool:
    """Whether the score really is weights . output + offset: a subclass may have said otherwise."""
    kind = type(attack)
    return (
        kind.score is AbstractAdditiveAttack.score
        and kind.contributions is AbstractLinearAttack.contributions
        and kind.link is AbstractLinearAttack.link
    )


def _noise(problem: Problem, weights: np.ndarray) -> tuple[AbstractRow, ...]:
    parts: list[AbstractRow] = []
    variance = float(np.sum(weights**2 * problem.mean.variance))
    if variance > 0.0:
        parts.append(NormalRow(variance))
    for scale in problem.mean.laplace:
        scales = np.abs(weights * scale)
        if (scales > 0.0).any():
            parts.append(LaplaceRow(scales[scales > 0.0]))
    return tuple(parts)


def _normal(transform: RowsTransform) -> NormalLaw:
    variance = -2.0 * transform.cumulant(np.array([1j])).real[:, 0]
    return NormalLaw(transform.mean, np.sqrt(variance))


def _few_atoms(transform: RowsTransform, shares: np.ndarray) -> AtomsLaw | None:
    if transform.noise:
        return None
    tables = transform.row.tables(transform.rows, shares)
    law = None if tables is None else convolve(tables)
    return None if law is None else replace(law, score=law.score + transform.offset)
