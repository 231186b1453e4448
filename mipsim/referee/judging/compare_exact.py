"""An exact curve compared with a claimed curve, without a statement."""

from __future__ import annotations

from mipsim._signals import interruptible
from mipsim._validation import UndefinedError, choice, number
from mipsim.bands.compare import check_claim
from mipsim.referee.judging.claim import Claim
from mipsim.referee.judging.decide import judge_gap
from mipsim.referee.judging.gap import gap_between
from mipsim.referee.judging.law import exact_route
from mipsim.referee.judging.point import undefined
from mipsim.referee.kinds import Bound, Equality
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.comparison import ExactComparison

_KINDS = ("equality", "upper_bound_on_power", "ordering")


@interruptible
def compare_exact(
    curve: AbstractTradeOff, claim: AbstractTradeOff, tolerance: float | None = None, kind: str = "equality"
) -> ExactComparison:
    """Compare an exact curve with a claimed curve, over the whole curve; see `AbstractTradeOff.compare`.
    >>> import mipsim as mi
    >>> data = mi.Gaussian(0.0, 1.0, d=100)
    >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=10_000, target=[1.0] * 100)
    >>> print(compare_exact(game.exact(mi.CovarianceScore(data, n=10_000)), mi.GaussianTradeOff(0.1)).verdict)
    CONFIRMED
    """
    check_claim("claim", claim)
    requested = choice("kind", kind, _KINDS)
    if requested == "equality":
        margin = None if tolerance is None else number("tolerance", tolerance, 0.0, low_open=True)
        judged = Equality(margin)
    elif tolerance is not None:
        raise ValueError(f"tolerance is {tolerance}; a bound judged by an exact curve has none: leave it out")
    else:
        judged = Bound()
    claimed, truth = (curve, claim) if requested == "ordering" else (claim, curve)
    convex, held = claimed.is_convex() and truth.is_convex(), Claim(judged, claimed)
    try:
        result = judge_gap(held, gap_between(held, truth, convex), {}, exact_route(curve))
    except UndefinedError as error:
        result = undefined({}, judged, str(error))
    turned, (low, high) = requested == "ordering", result.interval
    return ExactComparison(
        claim=repr(claim),
        kind=requested,
        verdict=str(result.verdict),
        gap=-result.gap if turned else result.gap,
        interval=(-high, -low) if turned else (low, high),
        tolerance=result.tolerance or 0.0,
        least_rate=held.floor(truth),
        route=result.route,
        detail=result.detail,
    )
