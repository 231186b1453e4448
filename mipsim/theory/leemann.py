"""Formulas of Leemann, Pawelczyk & Kasneci, "Gaussian Membership Inference Privacy" (NeurIPS 2023), as printed.

n is the rows of a batch, d the dimension of a gradient, K the gradient susceptibility |Sigma^-1/2 theta'|^2 (a number
without unit), tau the standard deviation of the noise on the released mean and `clip` the bound on gradient norms,
both in the gradients' unit; mu is that of a Gaussian trade-off.
"""

from __future__ import annotations

import math

from scipy.special import ndtr

from mipsim._validation import number, sample_size
from mipsim.tradeoff import NoncentralChiSquareTradeOff


def step_tradeoff(d: float, rows: float, susceptibility: float) -> NoncentralChiSquareTradeOff:
    """Equation 8: the curve of ||m - theta'||^2 in a single step, small values speaking for "in".

    beta(alpha) = 1 - F_{chi2_d((r-1)K)}( r/(r-1) F^-1_{chi2_d(rK)}(alpha) ) with r = `rows`. For Gaussian gradients and the
    centred K of the target it is the curve of the best attack, at every size. It falls in K and in d and rises in `rows`.

    Args:
        d: dimension >= 1.
        rows: n, or n_eff where there is noise, > 1.
        susceptibility: K >= 0.

    Source: Leemann et al. (2023), theorem 5.1.

    Examples:
        >>> step_tradeoff(650, 500, 650.0).beta([0.1]).round(4)
        array([0.556])
    """
    rows = number("rows", rows, 1.0, low_open=True)
    k = number("susceptibility", susceptibility, 0.0)
    return NoncentralChiSquareTradeOff(d, rows * k, (rows - 1) * k, rows, rows - 1, rejects="small")


def step_mu(d: float, rows: float, susceptibility: float) -> float:
    """Equation 9: mu_step = (d + (2r - 1)K) / (r sqrt(2d + 4 r K)), r the (effective) rows; arguments as in `step_tradeoff`.

    Source: Leemann et al. (2023), corollary 5.1.

    Examples:
        >>> round(step_mu(650, 500, 650), 3), round(step_mu(2580, 1970, 2580), 3), round(step_mu(1026, 790, 1026), 3)
        (1.14, 1.144, 1.139)
    """
    d, k = number("d", d, 1.0), number("susceptibility", susceptibility, 0.0)
    rows = number("rows", rows, 1.0, low_open=True)
    return (d + (2 * rows - 1) * k) / (rows * math.sqrt(2 * d + 4 * rows * k))


def long_run_mu(step: float, c: float) -> float:
    """Equation 10: mu = sqrt(2) c sqrt(exp(s^2) Phi(1.5 s) + 3 Phi(-0.5 s) - 2), s = mu_step.

    A limit for t to infinity. At a finite number of steps the attacker may be stronger, at low FPR above all.

    Args:
        step: mu of a single step on the records of the batch, in [0, 26] (beyond, exp(s^2) overflows).
        c: lim n sqrt(t) / N >= 0.

    Source: Leemann et al. (2023), lemma 5.1; Dong, Roth & Su (2022), corollary 4.

    Examples:
        >>> round(long_run_mu(1.0, 0.5), 4)
        0.8551
    """
    s, c = number("step", step, 0.0, 26.0), number("c", c, 0.0)
    inner = math.expm1(s**2) * ndtr(1.5 * s) + (ndtr(1.5 * s) - 0.5) + 3 * (ndtr(-0.5 * s) - 0.5)
    return math.sqrt(2 * max(inner, 0.0)) * c


def step_for_long_run_mu(mu: float, c: float) -> float:
    """The mu_step at which equation 10 gives mu: the inverse of `long_run_mu`, to 1e-12.

    Args:
        mu: wanted, > 0, at most what equation 10 gives at mu_step = 26.
        c: lim n sqrt(t) / N > 0.

    Source: Leemann et al. (2023), section 6.2 and lemma 5.1.

    Examples:
        >>> round(step_for_long_run_mu(0.8551, 0.5), 4)
        1.0
    """
    mu, c = number("mu", mu, 0.0, low_open=True), number("c", c, 0.0, low_open=True)
    if long_run_mu(26.0, c) < mu:
        raise ValueError(f"mu is {mu:g}; at c = {c:g} equation 10 gives at most {long_run_mu(26.0, c):.3g}")
    from scipy.optimize import root_scalar  # a fourth of a second: not when the library is imported

    return float(root_scalar(lambda s: long_run_mu(s, c) - mu, bracket=(0.0, 26.0), xtol=1e-12).root)


def noise_for_step_mu(mu: float, d: int, n: int, susceptibility: float, clip: float) -> float:
    """The least tau at which equation 9 promises mu for a single step; 0 where none is needed.

    Equation 9 is an approximation for large d and n: at mu = 7.148, n = 50 and d = K = 2580 the curve of equation 8 at this
    noise lies below that of mu. The noise of `noise_for_dp` is a guarantee at every size.

    Args:
        mu: wanted, > 0.
        d: dimension >= 1.
        n: rows, >= 2.
        susceptibility: K >= 0.
        clip: C > 0, finite.

    Source: Leemann et al. (2023), section 6.2 and table 5.

    Examples:
        >>> noise_for_step_mu(1.2, 650, 500, 650.0, 1.0)
        0.0
        >>> round(noise_for_step_mu(0.5, 650, 500, 650.0, 1.0), 5)
        0.09164
    """
    mu = number("mu", mu, 0.0, low_open=True)
    sample_size(n)
    clip = number("clip", clip, 0.0, low_open=True)
    if step_mu(d, n, susceptibility) <= mu:
        return 0.0
    top = float(n)
    while step_mu(d, top, susceptibility) > mu:
        top *= 4
    from scipy.optimize import root_scalar  # a fourth of a second: not when the library is imported

    result = root_scalar(lambda r: step_mu(d, r, susceptibility) - mu, bracket=(n, top), xtol=1e-9 * n)
    return clip / n * math.sqrt(max(result.root - n, 0.0))


def noise_for_dp(mu: float, n: int, clip: float) -> float:
    """The tau at which a single step of n >= 2 rows is mu-GDP: Delta / mu, with Delta = 2C/n, since a record is
    replaced.

    Source: Dong, Roth & Su (2022), theorem 1.

    Examples:
        >>> noise_for_dp(0.5, 100, 1.0)
        0.04
    """
    mu, clip = number("mu", mu, 0.0, low_open=True), number("clip", clip, 0.0, low_open=True)
    return 2.0 * clip / (sample_size(n) * mu)
