"""Counts at fixed thresholds held against a claimed trade-off function, and how sharply an equality is judged."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtri

from mipsim._validation import choice, number, refuse_class
from mipsim._words import kind_of
from mipsim.bands.anytime import MixedRates, anytime_bounds, mixture_probits
from mipsim.bands.comparison import KINDS, LEAST_COUNT, POWER, Comparison
from mipsim.bands.counted_rates import CountedRates
from mipsim.bands.gap_interval import critical_probits, gap_bounds, gap_standard_error
from mipsim.tradeoff.base import KNOWN, AbstractTradeOff

LARGEST, SHARE = 0.02, 0.02
"""The default tolerance is the smaller of 0.02 probits and 2% of the claim's own mu."""
_LEAST_MU = 1e-3  # below it 2% of mu is 2e-5 probits, which 1e10 games would not resolve


def check_claim(name: str, claim: Any) -> None:
    """Raise ValueError unless `claim` is a trade-off function without chance."""
    refuse_class(name, claim, "a trade-off function")
    if not all(callable(getattr(claim, part, None)) for part in ("beta", "tpr_at", "probit_beta")):
        raise ValueError(
            f"{name} is {kind_of(claim)}; it must be {KNOWN}, e.g. GaussianTradeOff(1){_remedy(claim)}"
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


def compare_rates(
    out: CountedRates,
    inside: CountedRates,
    claim: AbstractTradeOff,
    *,
    failure_probability: float = 1e-3,
    tolerance: float | None = None,
    least_rate: float = 0.0,
    kind: str | None = None,
    mixed: tuple[MixedRates, MixedRates] | None = None,
) -> Comparison:
    """Hold FPRs `out` and FNRs `inside`, at K thresholds fixed before the games, against a claimed curve.

    Each threshold has a proven interval of its gap, see `mipsim.bands.gap_interval.gap_bounds`; Bonferroni divides the
    failure probability over all K, and over the two ends where the claim is not one-sided. Where any of the four cells has fewer
    than 25 games a threshold can refute, not confirm.

    `failure_probability`: for all K thresholds together, in (0, 1); `tolerance`, `least_rate`, `kind`: see
    `mipsim.bands.EmpiricalTradeOff.compare`; `mixed`: the same rates with their mixtures, for intervals that hold at every number
    of games at once. Raises ValueError if an argument is outside its range, or the tolerance is left to a claim whose mu is about 0.
    """
    risk = number("failure_probability", failure_probability, 0.0, 1.0, low_open=True, high_open=True)
    rarest = number("least_rate", least_rate, 0.0, 0.5, high_open=True)
    check_claim("claim", claim)
    margin = (
        equality_tolerance(claim) if tolerance is None else number("tolerance", tolerance, 0.0, low_open=True)
    )
    k = out.count.size
    if inside.count.size != k:
        raise ValueError(f"inside has {inside.count.size} rates; it must have {k}, like out")
    cells = np.minimum(out.rarest_cell, inside.rarest_cell)
    enough = cells >= LEAST_COUNT
    used = enough.copy()
    for rate in (out.rate, inside.rate):
        used &= np.minimum(rate, 1.0 - rate) >= rarest

    def bounds(sides: int = 2) -> tuple[np.ndarray, np.ndarray]:
        if mixed is not None:  # both ends hold at once; a single end would be no narrower
            return anytime_bounds(*mixed, claim, risk)
        return gap_bounds(out, inside, claim, critical_probits(risk, k, sides))

    low, high = bounds()
    estimate = np.full(k, np.nan)
    claimed = np.mean(claim.beta_bounds(out.rate[enough]), axis=0)
    estimate[enough] = ndtri(claimed) - inside.probit[enough]
    error = gap_standard_error(out, inside, claim)
    probit = critical_probits(risk, k, 2)[0] if mixed is None else mixture_probits(*mixed, risk)
    with np.errstate(invalid="ignore"):
        # the first is the width where there is no interval
        planned, power = probit * error, float(ndtri(POWER))
        longer = np.fmax(planned, np.fmax(high - estimate, estimate - low))
        half_width = np.where(np.isfinite(low) | np.isfinite(high), longer, planned)
        # With probability 1 - POWER the rarest cell holds z_p sqrt(m) of its m counts fewer, and every width is larger by this share.
        share = power / (2.0 * np.sqrt(np.maximum(cells, 1)))
        detectable = (half_width + power * error) * (1.0 + share)
    return Comparison(
        estimate=estimate,
        low=low,
        high=high,
        tested=np.ones(k, dtype=bool),
        used=used,
        standard_error=error,
        half_width=half_width,
        detectable=detectable,
        failure_probability=risk,
        tolerance=margin,
        claim=repr(claim),
        games=min(out.games, inside.games),
        one_sided=partial(bounds, 1),
        alpha=out.rate,
        beta=inside.rate,
        out_games=out.games,
        in_games=inside.games,
        kind="equality" if kind is None else choice("kind", kind, KINDS),
        anytime=mixed is not None,
    )
