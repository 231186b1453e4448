"""Matrix mechanisms: training with noise that is correlated over the steps, such as a tree's or a banded matrix's."""

import math

import numpy as np

from mipsim._validation import choice, finite_matrix, number, whole
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounds import EPS
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.noise_multiplier import NOISES, dpsgd
from mipsim.tradeoff.schemes import NEIGHBOURS, shift


def matrix_mechanism(
    matrix: object,
    noise_multiplier: float,
    period: int | None = None,
    sampling_rate: float = 1.0,
    *,
    neighbours: str = "add_or_remove",
) -> AbstractTradeOff:
    """The curve of releases C x + Z, row by row: x has the sum of clipped contributions of each step, Z is noise N(0, s^2).

    Each record takes part at the steps r, r + period, r + 2 period and so on, r its own; there for certain, or by a coin (cyclic Poisson
    sampling). A contribution may depend on all rows before the first in which it is. What is shown may be any function of the releases, such
    as B (C x + Z), gradients with correlated noise.

    *For certain*: given the rows before, the target shifts a row by some v_i, and the sum of all |v_i|^2 is at most S^2, the largest sum over i and j
    of |C_i . C_j| for the columns of a record's steps; with a single turn the largest column norm, squared. A last row of noise with what S^2 leaves makes that
    sum S^2. Then the loss is that of a Brownian motion with a drift at the time S^2: a Gaussian shift by S / s. Where no product is negative it is reached.
    *By a coin*: columns a period apart have no common row. From z ~ N(|C_i|, s^2), or N(0, s^2) without the target, a function makes the noise along its
    contribution to the rows of C_i, as they come, and fresh noise across. So Poisson-sampled steps of sensitivity |C_i| dominate. The largest norm
    of all columns counts for each; where all are equal, it is reached.

    Args:
        matrix: C, shape (rows, steps), such as a lower triangular matrix, or a row for each node of a tree.
        noise_multiplier: s in units of the clipping norm, in [1e-3, 1e9].
        period: steps from a turn of a record to its next, >= 1; None if it has a single turn.
        sampling_rate: of the coin, in (0, 1]; 1 is for certain.
        neighbours: as of `mipsim.dpsgd`.

    Raises:
        ValueError: if an argument is outside its range, or a coin is given and two columns a period apart have a common row.

    Source: Denisov et al. (2022), "Improved differential privacy for SGD via optimal private linear operators on adaptive streams";
    Choquette-Choo et al. (2023), "(Amplified) banded matrix factorization", theorem 4; that of `mipsim.GaussianMixtureTradeOff`.

    Examples:
        >>> import mipsim as mi, numpy as np
        >>> round(matrix_mechanism(np.tri(4), 2.0).least_mu(), 12)  # all partial sums: the first record is in four
        1.0
        >>> banded = 0.8 * np.eye(8) + 0.6 * np.eye(8, k=-1)
        >>> curves = matrix_mechanism(banded, 2.0, period=2, sampling_rate=0.1), mi.dpsgd(2.0, 0.1, 4)
        >>> [round(curve.delta(0.1), 6) for curve in curves]
        [0.012581, 0.012581]
    """
    columns = np.asarray(finite_matrix("matrix", matrix), np.float64)
    sigma = number("noise_multiplier", noise_multiplier, *NOISES)
    p = number("sampling_rate", sampling_rate, 0.0, 1.0, low_open=True)
    steps = columns.shape[1]
    every = steps if period is None else whole("period", period, 1, steps)
    choice("neighbours", neighbours, NEIGHBOURS)
    turns = [columns[:, r::every] for r in range(every)]
    if p == 1.0:
        square = max(float(np.abs(own.T @ own).sum()) for own in turns)
        largest = max(float(np.linalg.norm(own, axis=0).sum()) for own in turns) ** 2
        # Of products that cancel, too.
        slack = 4.0 * EPS * (sum(turns[0].shape) + 2) * largest / square if square else 0.0
        return GaussianTradeOff(shift(neighbours) * math.sqrt(square) / sigma, slack)
    if any((np.count_nonzero(own, axis=1) > 1).any() for own in turns):
        raise ValueError(
            f"matrix has columns {every} apart with a common row; with sampling_rate below 1 proven are matrices without"
        )
    norm = float(np.linalg.norm(columns, axis=0).max())
    if norm == 0.0:
        return GaussianTradeOff(0.0)
    return dpsgd(sigma / norm, p, turns[0].shape[1], neighbours=neighbours)
