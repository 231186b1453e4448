"""Where the families meet: bodies of methods that lead from a base class to what is built on it.

Each imports at its first call, so that `import mipsim` imports nothing. This is the only file that reaches both ways: what it
binds, base files call by name through `mipsim._late_binding`, and import nothing from above.
"""

from __future__ import annotations

from mipsim._late_binding import bind

TYPE_CHECKING = False  # as in `mipsim`
if TYPE_CHECKING:
    from typing import Any

    from mipsim.attacks.base import AbstractAttack
    from mipsim.games.base import AbstractGame
    from mipsim.tradeoff.base import AbstractTradeOff
    from mipsim.tradeoff.comparison import ExactComparison
    from mipsim.tradeoff.exact_tradeoff import ExactTradeOff


@bind
def inverse(curve: AbstractTradeOff) -> AbstractTradeOff:
    """See `AbstractTradeOff.inverse`."""
    from mipsim.tradeoff.inverse import InverseTradeOff

    return InverseTradeOff(curve)


@bind
def symmetrized(curve: AbstractTradeOff) -> AbstractTradeOff:
    """See `AbstractTradeOff.symmetrized`."""
    from mipsim.tradeoff.convex_hull import symmetrized

    return symmetrized(curve)


@bind
def convexified(curve: AbstractTradeOff) -> AbstractTradeOff:
    """See `AbstractTradeOff.convexified`."""
    from mipsim.tradeoff.convex_hull import convexified

    return convexified(curve)


@bind
def subsampled(curve: AbstractTradeOff, sampling_rate: float) -> AbstractTradeOff:
    """See `AbstractTradeOff.subsampled`."""
    from mipsim.tradeoff.convex_hull import subsampled

    return subsampled(curve, sampling_rate)


@bind
def compare(
    curve: AbstractTradeOff, claim: AbstractTradeOff, tolerance: float | None, kind: str
) -> ExactComparison:
    """See `AbstractTradeOff.compare`."""
    from mipsim.referee.judging.compare_exact import compare_exact

    return compare_exact(curve, claim, tolerance, kind)


@bind
def plot(curve: Any, claim: Any, **how: Any) -> Any:
    """See `Shown.plot`."""
    from mipsim.bands.drawing import plot, with_claim

    return plot(with_claim(curve, claim), **how)


@bind
def picture(curve: Any, alt: str) -> str:
    """See `mipsim.bands.drawing.picture`."""
    from mipsim.bands.drawing import picture

    return picture(curve, alt)


@bind
def exact(game: AbstractGame, attack: AbstractAttack) -> ExactTradeOff:
    """See `AbstractGame.exact`."""
    from mipsim.exact.dispatch import exact_law
    from mipsim.tradeoff.exact_tradeoff import ExactTradeOff

    return ExactTradeOff(exact_law(game, attack))


@bind
def report(audit: Any, folder: Any, about: Any) -> Any:
    """See `Audit.report`."""
    from mipsim.referee.reporting.audit_page import report_audit

    return report_audit(audit, folder, about)
