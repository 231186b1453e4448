"""Formulas of Azize & Basu, "Some Targets Are Harder to Identify than Others" (AISTATS 2025), as printed and corrected.

Scores and leakages are numbers without unit; n is rows, d coordinates, tau = d/n; t_j = (z_j - mu_j) / sigma_j. What is computed at an
array is float64 of its shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

from mipsim._validation import finite_vector, moments, noise_scale, number, sample_size
from mipsim.tradeoff import GaussianTradeOff, MixtureTradeOff
from mipsim.tradeoff.base import rates

if TYPE_CHECKING:
    from mipsim.distributions.base import AbstractDistribution


def leakage_score(
    data: AbstractDistribution, target: object, n: int, record_deviation: object = 0.0
) -> float:
    """m* = (1/n) ||z - mu||^2 in (C + diag(record_deviation^2))^-1, >= 0.

    Args:
        data: the law of a record.
        target: z*, shape (d,).
        n: rows, >= 2.
        record_deviation: standard deviation per record of the mechanism's Gaussian noise, a number or shape (d,), >= 0.

    Source: Azize & Basu (2025), theorems 3.1 and 4.1.

    Examples:
        >>> import mipsim as mi
        >>> leakage_score(mi.Bernoulli([0.5, 0.5]), [1.0, 0.0], n=10)
        0.2
    """
    difference = finite_vector("target", target, moments("data", data, "dimension").dimension) - data.mean
    sample_size(n)
    deviation = noise_scale("record_deviation", record_deviation, difference.size)
    noise = np.broadcast_to(deviation, difference.shape) ** 2
    covariance = data.covariance
    if covariance.ndim == 1:
        return float(np.sum(difference**2 / (covariance + noise)) / n)
    return float(difference @ np.linalg.solve(covariance + np.diag(noise), difference) / n)


def scalar_leakage(data: AbstractDistribution, aimed: object, target: object, n: int) -> float:
    """m_scal = (1/n) (z_targ - mu)' Sigma^-1 (z* - mu) of product data, of either sign.

    Args:
        data: the law of a record, a product law.
        aimed: z_targ, the point the attack is aimed at, shape (d,).
        target: z*, the game's target, shape (d,).
        n: rows, >= 2.

    Source: Azize & Basu (2025), theorem 4.3.

    Examples:
        >>> import mipsim as mi
        >>> scalar_leakage(mi.Bernoulli([0.5, 0.5]), [1.0, 1.0], [1.0, 0.0], n=10)
        0.0
    """
    left = finite_vector("aimed", aimed, moments("data", data, "dimension").dimension) - data.mean
    right = finite_vector("target", target, moments("data", data, "dimension").dimension) - data.mean
    sample_size(n)
    return float(np.sum(left * right / data.variance) / n)


def advantage(leakage: float) -> float:
    """Phi(sqrt(m)/2) - Phi(-sqrt(m)/2), the limit of the optimal advantage TPR - FPR at a leakage m >= 0.

    Source: Azize & Basu (2025), equation 3.

    Examples:
        >>> round(advantage(1.0), 4)
        0.3829
    """
    half = 0.5 * np.sqrt(number("leakage", leakage, 0.0))
    return float(ndtr(half) - ndtr(-half))


def power(alpha: object, leakage: float) -> np.ndarray:
    """Phi(Phi^-1(alpha) + sqrt(m)), the limit of the optimal TPR at FPRs alpha in [0, 1], any shape, and a leakage m >= 0.

    Source: Azize & Basu (2025), equation 4.

    Examples:
        >>> print(power(0.5, 1.0).round(4))
        0.8413
    """
    return ndtr(ndtri(rates("alpha", alpha)) + np.sqrt(number("leakage", leakage, 0.0)))


def threshold(alpha: object, leakage: float) -> np.ndarray:
    """tau_alpha = -m/2 + sqrt(m) Phi^-1(1 - alpha), the threshold of the log-likelihood ratio at which that power is reached.

    Args:
        alpha: the FPR, any shape, in [0, 1]; at its ends the threshold is inf and -inf (m > 0).
        leakage: m >= 0.

    Source: Azize & Basu (2025), theorem 3.1.

    Examples:
        >>> print(threshold(0.5, 1.0))
        -0.5
    """
    m = number("leakage", leakage, 0.0)
    return -m / 2 - np.sqrt(m) * ndtri(rates("alpha", alpha))


def mean_tradeoff(leakage: float) -> GaussianTradeOff:
    """The trade-off curve of theorem 3.1, Gaussian with mu = sqrt(m), at a leakage m >= 0.

    Source: Azize & Basu (2025), theorem 3.1.

    Examples:
        >>> print(round(mean_tradeoff(1.0).beta(0.5), 4))
        0.1587
    """
    return GaussianTradeOff(float(np.sqrt(number("leakage", leakage, 0.0))))


def subsampled_tradeoff_printed(leakage: float, sampling_rate: float) -> GaussianTradeOff:
    """The printed curve of a sub-sampled mean: Gaussian with mu = sqrt(rho m), rho the sampling rate. Refuted; see the
    corrected curve, whose arguments it has.

    Source: Azize & Basu (2025), theorem 4.2.

    Examples:
        >>> print(subsampled_tradeoff_printed(4.0, 0.25).mu)
        1.0
    """
    m = number("leakage", leakage, 0.0)
    return mean_tradeoff(number("sampling_rate", sampling_rate, 0.0, 1.0, low_open=True) * m)


def subsampled_tradeoff_corrected(leakage: float, sampling_rate: float) -> MixtureTradeOff:
    """The curve rho g_{sqrt(m / rho)} + (1 - rho)(1 - alpha), the true limit: the joint H1 law is a mixture of two product laws.

    A single coin decides for all coordinates together whether the target is among the k = rho n rows. If it is, the mean of
    k rows leaks ||z - mu||^2 / k = m / rho (theorem 3.1 with k rows); if not, the output is as under H0. The ratio
    (1 - rho) + rho L_k increases with L_k, so its tests are those of L_k, and their power is the mixture's.

    Args:
        leakage: m >= 0 of the mean of all n rows.
        sampling_rate: rho, the share of rows sampled, in (0, 1].

    Source: derived here; the printed form is Azize & Basu (2025), theorem 4.2.

    Examples:
        >>> print(subsampled_tradeoff_corrected(4.0, 0.25).beta(0.0))
        1.0
    """
    share = number("sampling_rate", sampling_rate, 0.0, 1.0, low_open=True)
    return MixtureTradeOff(mean_tradeoff(number("leakage", leakage, 0.0) / share), share)


def effective_mu(weights: object, data: AbstractDistribution, target: object, n: int) -> float:
    """The limit mu >= 0 of a linear score w' output: |w'(z - mu)| / sqrt(n w' Sigma w), product data.

    Under H0 the score has mean w'mu and variance w'Sigma w/n; the target moves the mean by w'(z - mu)/n.
    The largest value, sqrt(m*), is reached at w = Sigma^-1 (z - mu), by Cauchy and Schwarz.

    Args:
        weights: w, shape (d,), not all zero.
        data: the law of a record, a product law.
        target: z*, shape (d,).
        n: rows, >= 2.

    Source: derived here, for the scalar product and for estimated moments.

    Examples:
        >>> import mipsim as mi
        >>> data = mi.Bernoulli([0.5, 0.5])
        >>> round(effective_mu([1.0, 1.0], data, [1.0, 1.0], n=10), 4), round(leakage_score(data, [1, 1], 10) ** 0.5, 4)
        (0.4472, 0.4472)
    """
    w = finite_vector("weights", weights, moments("data", data, "dimension").dimension)
    z = finite_vector("target", target, moments("data", data, "dimension").dimension)
    sample_size(n)
    if not w.any():
        raise ValueError("weights is zero everywhere; a weight must differ from 0")
    return float(abs(np.sum(w * (z - data.mean))) / np.sqrt(n * np.sum(w**2 * data.variance)))
