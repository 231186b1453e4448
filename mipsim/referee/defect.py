"""What is wrong with a statement that is refuted: its formula, a missing condition, its wording, or one way to read it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum

from mipsim.referee.kinds import Equality, Limit
from mipsim.referee.outcome import Outcome, verdict_on
from mipsim.referee.result import Verdict
from mipsim.referee.statement import READING, Statement


class Defect(StrEnum):
    """What is wrong with a statement that does not stand as printed; see `defect_of`."""

    FORMULA = "formula"
    CONDITION = "condition"
    WORDING = "wording"
    READING = "reading"

    @property
    def meaning(self) -> str:
        """The class in words.

        Examples:
            >>> Defect.CONDITION.meaning
            'right with a condition that is not stated'
        """
        return {
            Defect.FORMULA: "wrong at the paper's own setting, in most of its domain, or put right by more than a condition",
            Defect.CONDITION: "right with a condition that is not stated",
            Defect.WORDING: "a slip of the pen that another line of the paper has right",
            Defect.READING: "false under some readings, right under another",
        }[self]


def readings_of(outcome: Outcome) -> dict[str, Verdict]:
    """The verdict of each reading, over its judged points; empty if the statement has no parameter named "reading".

    Args:
        outcome: what judging or hunting returned.
    """
    judged = [(str(item.parameters[READING]), item) for item in outcome.judged if READING in item.parameters]
    failed = {str(single.at[READING]) for single in outcome.failures if READING in single.at}
    return {
        name: verdict_on(outcome.statement, [one for read, one in judged if read == name], name in failed)
        for name in dict.fromkeys([*(read for read, _ in judged), *sorted(failed)])
    }


def correction_of(statement: Statement, among: Iterable[Statement]) -> Statement | None:
    """The first of some statements that corrects this one, or None."""
    return next((item for item in among if item.corrects == statement.name), None)


def defect_of(outcome: Outcome, correction: Statement | None = None) -> Defect | None:
    """What is wrong with a refuted statement; None where it is not refuted, is itself a correction, or where the data do not say.

    - wording: both places of a slip of the pen are given.
    - reading: it is refuted under some readings and confirmed under another.
    - formula: it is refuted at the paper's own setting, or at more than half of the evenly spread points; or the correction changes what
      is claimed, of what, or in which sense.
    - condition: the correction is the same claim about the same truth, judged in the same way, and assumes more; or a limit of it, in
      the place of an equality: that sizes grow is a condition.

    Args:
        outcome: what judging or hunting returned.
        correction: the corrected statement, if there is one.

    Examples:
        >>> from mipsim import referee as rf
        >>> printed = rf.Statement(
        ...     name="square", says="x <= x^2", source="a slip", kind=rf.Bound(), domain={"x": rf.Real(0.0, 4.0)},
        ...     claimed=lambda x: x * x, truth=lambda x: x,
        ... )
        >>> right = printed.corrected(says="x <= x^2 for x >= 1", where=lambda x: x >= 1)
        >>> str(defect_of(rf.judge(printed), right))
        'condition'
    """
    statement = outcome.statement
    if outcome.verdict is not Verdict.REFUTED or statement.corrects:
        return None
    if statement.slip is not None:
        return Defect.WORDING
    if Verdict.CONFIRMED in readings_of(outcome).values():
        return Defect.READING
    refuted = [item for item in outcome.judged if item.verdict is Verdict.REFUTED]
    if any(single.setting == "paper" for single in refuted) or outcome.share < 0.5:
        return Defect.FORMULA
    if correction is None:
        return None
    return Defect.CONDITION if _only_assumes_more(statement, correction) else Defect.FORMULA


def _only_assumes_more(statement: Statement, correction: Statement) -> bool:
    kind = correction.kind
    if isinstance(kind, Limit) and isinstance(statement.kind, Limit) and statement.kind.bound:
        kind = replace(kind, bound=True)  # a limit from both sides says more than one from one side
    same = correction.claimed is statement.claimed and correction.truth is statement.truth
    # An equality that holds as sizes grow lacks that condition.
    grows = isinstance(statement.kind, Equality) and isinstance(kind, Limit) and not kind.bound
    return same and (grows or kind == statement.kind)
