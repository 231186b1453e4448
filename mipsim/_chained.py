"""The one circle of imports: what users chain to an object leads up to what is built on top of it.

`curve.subsampled(0.1)` and `game.exact(attack)` are methods of base classes, and what they return is made of members of
those classes. So that base files import nothing from above, their methods call such a function by its name in this module,
which imports it at the first call. Every other import of the package runs one way, and a test walks them all.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mipsim.exact.exact_tradeoff import ExactTradeOff as ExactTradeOff
    from mipsim.referee.judging.comparison import ExactComparison as ExactComparison

HOMES = {
    "auc": "mipsim.tradeoff.conversions",
    "bayes_risk": "mipsim.tradeoff.conversions",
    "epsilon": "mipsim.tradeoff.conversions",
    "log_delta": "mipsim.tradeoff.conversions",
    "least_mu": "mipsim.tradeoff.conversions",
    "supremum": "mipsim.tradeoff.partition",
    "Partition": "mipsim.tradeoff.partition",
    "regret": "mipsim.tradeoff.conversions",
    "InverseTradeOff": "mipsim.tradeoff.inverse",
    "convexified": "mipsim.tradeoff.convex_hull",
    "subsampled": "mipsim.tradeoff.convex_hull",
    "symmetrized": "mipsim.tradeoff.convex_hull",
    "plot": "mipsim.bands.drawing",
    "with_claim": "mipsim.bands.drawing",
    "picture": "mipsim.bands.drawing",
    "exact_law": "mipsim.exact.dispatch",
    "ExactTradeOff": "mipsim.exact.exact_tradeoff",
    "ExactComparison": "mipsim.referee.judging.comparison",
    "compare_exact": "mipsim.referee.judging.comparison",
}
"""Name -> the module that it is imported from."""


def __getattr__(name: str) -> Any:
    """The function of this name, imported now.

    Examples:
        >>> from mipsim import GaussianTradeOff, _chained
        >>> _chained.convexified(GaussianTradeOff(1.0))
        GaussianTradeOff(mu=1.0)
    """
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(HOMES[name]), name)
