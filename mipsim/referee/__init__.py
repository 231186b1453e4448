"""Judging statements: the rules that turn numbers into a verdict."""

from mipsim.referee.limits import LimitVerdict, limit_verdict

__all__ = ["LimitVerdict", "limit_verdict"]
