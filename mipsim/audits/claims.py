"""Promised guarantees: read, named, and held against what an audit has shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mipsim._validation import number
from mipsim._words import printable
from mipsim.audits.scores import content_of, parsed_numbers, table
from mipsim.audits.settings import FORMS
from mipsim.tradeoff import ApproxDPTradeOff, GaussianTradeOff, PrivacyLossDistribution, SampledTradeOff
from mipsim.tradeoff.base import AbstractTradeOff, rates

_ROUNDING = 1e-9  # of printed rates: beta may pass 1 - alpha by so much


def read_claim(text: str) -> AbstractTradeOff:
    """A promised guarantee as a trade-off function.

    Args:
        text: "mu=1", "epsilon=2,delta=1e-5" or the path of a .csv file; see `read_curve`.

    Raises:
        ValueError: if it is none of these, a number is outside its range, or the file cannot be read.

    Examples:
        >>> read_claim("mu=1"), read_claim("epsilon=2,delta=1e-5")
        (GaussianTradeOff(mu=1.0), ApproxDPTradeOff(at_epsilon=2.0, at_delta=1e-05))
        >>> read_claim("sigma=1")
        Traceback (most recent call last):
        ...
        ValueError: claim is 'sigma=1'; it must be mu=1, epsilon=2,delta=1e-5 or the path of a .csv file with the columns alpha and beta
    """
    if text.lower().endswith(".csv"):
        return read_curve(Path(text))
    given: dict[str, float] = {}
    try:
        for part in text.split(","):
            name, value = (side.strip() for side in part.split("="))
            if name in given:
                raise ValueError  # two values of one name promise nothing that is clear
            given[name] = float(value)
    except ValueError:
        given = {}
    if list(given) == ["mu"]:
        return GaussianTradeOff(number("mu", given["mu"], 0.0))
    if sorted(given) == ["delta", "epsilon"]:
        return ApproxDPTradeOff(given["epsilon"], given["delta"])
    raise ValueError(f"claim is {printable(repr(text))}; it must be {FORMS}")


def read_curve(file: Path) -> AbstractTradeOff:
    """A promised curve from a .csv file with the columns alpha (FPR) and beta (least FNR).

    A curve is promised at the points of the file alone. Between them the claim is the least that convexity leaves of a curve
    through them, so that a true promise is not refuted for the chords of its table: give many points where the curve bends.
    The numbers are taken as they are printed: round both down, since a beta rounded up promises more than the curve, and
    so does an alpha rounded up. A beta up to 1e-9 above 1 - alpha is such a rounding, and is taken down to 1 - alpha.

    Args:
        file: alpha does not decrease, beta does not increase, both in [0, 1], and beta is at most 1 - alpha (+ 1e-9).

    Raises:
        ValueError: one sentence that names the file and what is wrong.
    """
    try:
        content = content_of(file)
    except ValueError as error:
        raise ValueError(f"claim: {error}") from None
    try:
        columns = table(content)
        if set(columns) != {"alpha", "beta"}:
            raise ValueError(
                f"it has the columns {printable(', '.join(map(repr, columns)))}; it must have alpha and beta alone"
            )
        alpha, beta = (rates(name, parsed_numbers(name, columns[name])) for name in ("alpha", "beta"))
        if (np.diff(alpha) < 0).any():
            raise ValueError("alpha must not decrease from line to line")
        if (np.diff(beta) > 0).any() or (beta > 1.0 - alpha + _ROUNDING).any():
            raise ValueError("beta must not increase, and be at most 1 - alpha")
    except ValueError as error:
        raise ValueError(f"claim: {printable(file)}: {error}") from None
    first = [0.0] if alpha[0] > 0.0 else []
    a = np.concatenate([first, alpha, [1.0]])
    b = np.minimum(np.concatenate([np.ones(len(first)), beta, [0.0]]), 1.0 - a)
    return PrivacyLossDistribution.below_polygon(
        SampledTradeOff.from_points(a, 1.0 - a, b, 1.0 - b)
    ).tradeoff()


def words(claim: AbstractTradeOff) -> str:
    """How a guarantee is named.

    Examples:
        >>> words(GaussianTradeOff(1.0)), words(ApproxDPTradeOff(2.0, 1e-5))
        ('mu = 1', 'epsilon = 2 at delta = 1e-05')
    """
    if isinstance(claim, GaussianTradeOff):
        return f"mu = {claim.mu:g}"
    if isinstance(claim, ApproxDPTradeOff):
        return f"epsilon = {claim.at_epsilon:g} at delta = {claim.at_delta:g}"
    return f"the curve {type(claim).__name__}"
