"""Moments that an attacker estimates from reference points."""

from typing import Literal

import equinox as eqx
import numpy as np

from mipsim._validation import choice, finite_matrix, flag, number


class EstimatedMoments(eqx.Module):
    """Mean and covariance estimated from n0 reference records.

    Args:
        reference: records sampled independently of the game, shape (n0, d), n0 >= 1.
        covariance: "diagonal" keeps the variances, shape (d,); "full" the (d, d) matrix.
        centred: subtract the estimated mean (divisor n0). False is the uncentred (1/n0) sum Z Z' that the
            paper prints.
        regularisation: a variance added to the diagonal, in the units of the data squared, >= 0. Needed when
            a coordinate is constant in the reference (always when centred with n0 = 1) or, for "full", when
            n0 <= d.

    Source: Azize & Basu (2025), section 3 (empirical LR attack) and algorithm 3.

    Examples:
        >>> moments = EstimatedMoments([[0.0, 1.0], [2.0, 1.0]], regularisation=0.01)
        >>> print(moments.mean, moments.covariance)
        [1. 1.] [1.01 0.01]
    """

    mean: np.ndarray
    covariance: np.ndarray

    def __init__(
        self,
        reference: object,
        covariance: Literal["diagonal", "full"] = "diagonal",
        *,
        centred: bool = True,
        regularisation: float = 0.0,
    ) -> None:
        records = finite_matrix("reference", reference)
        ridge = number("regularisation", regularisation, 0.0)
        self.mean = records.mean(axis=0)
        shifted = records - self.mean if flag("centred", centred) else records
        if choice("covariance", covariance, ("diagonal", "full")) == "diagonal":
            self.covariance = (shifted**2).mean(axis=0) + ridge
        else:
            self.covariance = shifted.T @ shifted / records.shape[0] + ridge * np.eye(records.shape[1])
