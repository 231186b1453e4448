"""What `mipsim.audits` offers; see there."""

from mipsim.audits.auditing import audit
from mipsim.audits.result import Audit

__all__ = ["Audit", "audit"]
