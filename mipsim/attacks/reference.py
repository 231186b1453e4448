"""Moments that an attacker estimates from reference points."""

import equinox as eqx
import numpy as np

from mipsim._validation import finite_matrix, number


class EstimatedMoments(eqx.Module):
    """Mean and variances estimated from n0 reference records.

    Args:
        reference: records sampled independently of the game, shape (n0, d), n0 >= 1.
        regularisation: added to each variance, in the units of the data squared, >= 0. Needed when a coordinate is constant in the
            reference, as always with n0 = 1.

    Attributes:
        covariance: the variances about the estimated mean, of divisor n0, shape (d,). `ShrunkMoments` estimates the whole matrix.

    Source: Azize & Basu (2025), section 3 (empirical LR attack) and algorithm 3.

    Examples:
        >>> moments = EstimatedMoments([[0.0, 1.0], [2.0, 1.0]], regularisation=0.01)
        >>> print(moments.mean, moments.covariance)
        [1. 1.] [1.01 0.01]
    """

    mean: np.ndarray
    covariance: np.ndarray

    def __init__(self, reference: object, *, regularisation: float = 0.0) -> None:
        records = finite_matrix("reference", reference)
        ridge = number("regularisation", regularisation, 0.0)
        self.mean = records.mean(axis=0)
        self.covariance = ((records - self.mean) ** 2).mean(axis=0) + ridge
