"""The judges of exact results under one name: the referee's, for the papers' claims."""

from mipsim.referee.curve_gap import FLOOR, GRID, Beta, Size, curve_gap
from mipsim.referee.exact_judges import (
    MOST_TOLERANCE,
    SHARE,
    curve_tolerance,
    judge_bound,
    judge_equality,
    judge_identity,
    number_tolerance,
)
from mipsim.referee.limit_judge import SIZES, judge_limit

__all__ = [
    "FLOOR",
    "GRID",
    "MOST_TOLERANCE",
    "SHARE",
    "SIZES",
    "Beta",
    "Size",
    "curve_gap",
    "curve_tolerance",
    "judge_bound",
    "judge_equality",
    "judge_identity",
    "judge_limit",
    "number_tolerance",
]
