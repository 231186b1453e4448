from .auditing import audit as audit
from .result import Audit as Audit
from .running import RunningAudit as RunningAudit
