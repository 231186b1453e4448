"""What `mipsim.referee` offers; see there."""

from mipsim.referee.domain import Choice, Fixed, Real, Whole
from mipsim.referee.gap_units import gap_in
from mipsim.referee.hunting.hunt import hunt
from mipsim.referee.judging.judge import judge
from mipsim.referee.judging.limit import LimitVerdict, limit_verdict
from mipsim.referee.judging.point import controlled
from mipsim.referee.kinds import Bound, Equality, Exists, Limit, Ordering, Rate
from mipsim.referee.listing import grid, rows
from mipsim.referee.loading import load
from mipsim.referee.outcome import Outcome
from mipsim.referee.replication import Draws, Replication
from mipsim.referee.reporting.audit_page import report_audit
from mipsim.referee.reporting.page import report
from mipsim.referee.result import Verdict
from mipsim.referee.statement import Control, Point, Quote, Statement
from mipsim.referee.values import Number

__all__ = [
    "Bound",
    "Choice",
    "Control",
    "Draws",
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
    "Rate",
    "Real",
    "Replication",
    "Statement",
    "Verdict",
    "Whole",
    "controlled",
    "gap_in",
    "grid",
    "hunt",
    "judge",
    "limit_verdict",
    "load",
    "report",
    "report_audit",
    "rows",
]
