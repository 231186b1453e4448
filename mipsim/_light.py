"""What `import mipsim` offers without JAX: audits, counts as curves, and trade-off functions."""

from mipsim import tradeoff
from mipsim._budget import budget
from mipsim._certify import certify
from mipsim._version import __version__
from mipsim.audits import Audit, RunningAudit, audit
from mipsim.bands import Comparison, EmpiricalTradeOff
from mipsim.bands.drawing import plot
from mipsim.tradeoff import *  # noqa: F403

__all__ = [
    "Audit",
    "Comparison",
    "EmpiricalTradeOff",
    "RunningAudit",
    "__version__",
    "audit",
    "budget",
    "certify",
    "plot",
]
__all__ += tradeoff.__all__
