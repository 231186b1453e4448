"""How sharply an equality is judged by default: in proportion to what is claimed."""

from __future__ import annotations

import math
from typing import Any

from scipy.special import ndtri

from mipsim._validation import refuse_class
from mipsim.tradeoff.base import KNOWN, AbstractTradeOff

LARGEST, SHARE = 0.02, 0.02
"""The default tolerance is the smaller of 0.02 probits and 2% of the claim's own mu."""
_LEAST_MU = 1e-3  # below it 2% of mu is 2e-5 probits, which 1e10 games would not resolve


def check_claim(name: str, claim: Any) -> None:
    """Raise ValueError unless `claim` is a trade-off function without chance."""
    refuse_class(name, claim, "a trade-off function")
    if not all(callable(getattr(claim, part, None)) for part in ("beta", "tpr_at", "probit_beta")):
        raise ValueError(
            f"{name} is {type(claim).__name__}; it must be {KNOWN}, e.g. GaussianTradeOff(1){_remedy(claim)}"
        )


def _remedy(claim: object) -> str:
    """What to write where the claim is played counts, or their curve."""
    if callable(getattr(claim, "tradeoff", None)):
        return "; counts are turned into a curve by counts.tradeoff(), and curve.compare(other) compares"
    if callable(getattr(claim, "compare", None)):
        return "; call the method of the played curve: played.compare(other)"
    return ""


def equality_tolerance(claim: AbstractTradeOff) -> float:
    """The default tolerance of an equality, in probits: min(0.02, 2% of the claim's mu).

    The mu of a curve is that of the Gaussian trade-off function with the same advantage v, 2 Phi^-1((1 + v) / 2).

    Args:
        claim: the claimed trade-off function.

    Raises:
        ValueError: if its mu is below 0.001: 2% of nothing is no tolerance, and an absolute tolerance must be given.

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff
        >>> [round(equality_tolerance(GaussianTradeOff(mu)), 6) for mu in (0.1, 1.0, 4.0)]
        [0.002, 0.02, 0.02]
        >>> equality_tolerance(GaussianTradeOff(0.0))
        Traceback (most recent call last):
        ...
        ValueError: tolerance is None, but 2% of the claim's own mu = 0 is no tolerance; give a tolerance in probits, > 0
    """
    mu = 2.0 * float(ndtri(0.5 + 0.5 * min(1.0, float(claim.advantage()))))
    if not mu >= _LEAST_MU:
        raise ValueError(
            f"tolerance is None, but 2% of the claim's own mu = {max(mu, 0.0):.3g} is no tolerance; "
            "give a tolerance in probits, > 0"
        )
    return min(LARGEST, SHARE * mu) if math.isfinite(mu) else LARGEST
