"""A lower bound of what a composition reveals, by the tests that reject where any of its steps does."""

from __future__ import annotations

import math

import numpy as np

from mipsim._roots import least_float
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounds import EPS, log_complement, log_difference, lowered
from mipsim.tradeoff.inverse import InverseTradeOff

_LOG_FPRS = -np.geomspace(1e-3, 2e3, 2049)
"""Of the tests of a single step: a hundredth apart, so that what lies between them is a small part of an e-fold."""


def any_step_tests(curve: AbstractTradeOff, copies: int) -> tuple[np.ndarray, np.ndarray]:
    """Tests of a composition that reject where any of `copies` equal steps does: upper bounds of log FPR and lower ones of log TPR.

    With rates a and t of a single step they are 1 - (1 - a)^copies and 1 - (1 - t)^copies. Where a rare, large loss makes most of
    the sum, no test does much better, and no transform resolves the sum.
    """
    # with the worlds exchanged an FNR is an FPR, and no bisection is needed
    if isinstance(curve, InverseTradeOff):
        log_fpr = curve.inner.enclosure(lowered(log_complement(_LOG_FPRS), 4.0)).log_fnr_high
        return _any(log_fpr, copies, 1.0), _any(_LOG_FPRS, copies, -1.0)
    step = curve.enclosure(_LOG_FPRS)
    return _any(_LOG_FPRS, copies, 1.0), _any(step.log_tpr_low, copies, -1.0)


def log_delta_of(tests: tuple[np.ndarray, np.ndarray], epsilon: np.ndarray) -> np.ndarray:
    """The largest log(TPR - e^epsilon FPR) of some tests: a lower bound of log delta."""
    log_fpr, log_tpr = tests
    paid = epsilon[:, None] + log_fpr
    paid = paid + 4.0 * EPS * (np.abs(epsilon[:, None]) + np.abs(log_fpr))
    best = log_difference(log_tpr, np.minimum(paid, log_tpr)).max(axis=1)
    return best - 8.0 * EPS * (1.0 + np.where(np.isneginf(best), 0.0, np.abs(best)))


def epsilon_of(tests: tuple[np.ndarray, np.ndarray], log_delta: float) -> float:
    """An epsilon at which some tests have more than a delta; 0 where there is none."""
    beyond = least_float(lambda x: log_delta_of(tests, x) <= log_delta, np.zeros(1), np.full(1, 1e6))
    return float(np.nextafter(beyond[0], 0.0))


def _any(log_rate: np.ndarray, copies: int, sign: float) -> np.ndarray:
    """log(1 - (1 - rate)^copies), rounded upwards or downwards by the sign."""
    with np.errstate(divide="ignore"):
        value = np.log(-np.expm1(copies * log_complement(log_rate)))
    # copies times a rate is more by a share of copies times the rate itself, which is nothing where it underflows.
    value = np.where(log_rate < -600.0, math.log(copies) + log_rate, value)
    size = np.where(np.isneginf(value), 0.0, np.abs(value))
    return np.minimum(
        value + sign * 32.0 * EPS * (1.0 + size + np.where(np.isneginf(log_rate), 0.0, np.abs(log_rate))), 0.0
    )
