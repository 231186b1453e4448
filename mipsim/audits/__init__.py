"""Audits of scores that any attack has made: lower bounds on what leaks, and promised guarantees held against them."""

from mipsim.audits.audit import audit
from mipsim.audits.result import Audit

__all__ = ["Audit", "audit"]
