"""What `mipsim.audits` offers; see there."""

from mipsim.audits.auditing import audit
from mipsim.audits.result import Audit
from mipsim.audits.running import RunningAudit

__all__ = ["Audit", "RunningAudit", "audit"]
