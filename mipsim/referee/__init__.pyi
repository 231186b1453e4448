from .domain import Choice as Choice
from .domain import Fixed as Fixed
from .domain import Real as Real
from .domain import Whole as Whole
from .gap_units import gap_in as gap_in
from .hunting.hunt import hunt as hunt
from .hunting.hunt import judge as judge
from .judging.limit import LimitVerdict as LimitVerdict
from .judging.limit import limit_verdict as limit_verdict
from .judging.point import controlled as controlled
from .kinds import (
    Bound as Bound,
)
from .kinds import (
    Ceiling as Ceiling,
)
from .kinds import (
    Equality as Equality,
)
from .kinds import (
    Limit as Limit,
)
from .kinds import (
    Ordering as Ordering,
)
from .kinds import (
    Rate as Rate,
)
from .listing import grid as grid
from .listing import rows as rows
from .loading import load as load
from .outcome import Outcome as Outcome
from .replication import Draws as Draws
from .replication import Replication as Replication
from .reporting.audit_page import report_audit as report_audit
from .reporting.page import report as report
from .result import Verdict as Verdict
from .statement import Control as Control
from .statement import Point as Point
from .statement import Quote as Quote
from .statement import Statement as Statement
from .values import Number as Number
