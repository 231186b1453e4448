"""The referee: a theorem as data, its judges, the hunt for where it breaks.

Examples:
    >>> import mipsim as mi
    >>> from mipsim import referee as rf
    >>> statement = rf.Statement(
    ...     name="doubled",
    ...     says="Two releases that are mu-GDP each are (1.4 mu)-GDP together.",
    ...     source="a wrong constant",
    ...     kind=rf.Bound(),
    ...     domain={"mu": rf.Real(0.1, 2.0)},
    ...     claimed=lambda mu: mi.GaussianTradeOff(1.4 * mu),
    ...     truth=lambda mu: mi.GaussianTradeOff(2**0.5 * mu),
    ... )
    >>> str(rf.hunt(statement, "32 probes", progress=False).verdict)
    'REFUTED'
"""

from mipsim.referee.domain import Choice, Fixed, Real, Whole
from mipsim.referee.grid import grid, rows
from mipsim.referee.hunt import hunt
from mipsim.referee.judging import judge
from mipsim.referee.kinds import Bound, Equality, Exists, Limit, Ordering
from mipsim.referee.limits import LimitVerdict, limit_verdict
from mipsim.referee.loading import load
from mipsim.referee.outcome import Outcome
from mipsim.referee.point import controlled
from mipsim.referee.reporting.audit_page import report_audit
from mipsim.referee.reporting.page import report
from mipsim.referee.result import Verdict
from mipsim.referee.statement import Control, Point, Quote, Statement
from mipsim.referee.values import Number

__all__ = [
    "Bound",
    "Choice",
    "Control",
    "Equality",
    "Exists",
    "Fixed",
    "Limit",
    "LimitVerdict",
    "Number",
    "Ordering",
    "Outcome",
    "Point",
    "Quote",
    "Real",
    "Statement",
    "Verdict",
    "Whole",
    "controlled",
    "grid",
    "hunt",
    "judge",
    "limit_verdict",
    "load",
    "report",
    "report_audit",
    "rows",
]
