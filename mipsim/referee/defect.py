"""The class of a refuted statement's defect, computed from what restores the statement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from mipsim.referee.kinds import Bound, Equality, Limit
from mipsim.referee.outcome import Outcome, concluded
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
        >>> Defect.CONDITION.meaning
        'right with a condition that is not stated, or is left out where it is used'
        """
        return {
            Defect.FORMULA: "the formula fails as printed",
            Defect.CONDITION: "right with a condition that is not stated, or is left out where it is used",
            Defect.WORDING: "a slip of the pen that another line of the same source has right",
            Defect.READING: "false under some readings, right under another",
        }[self]


@dataclass(frozen=True)
class Diagnosis:
    """A class of defect and the reason that holds."""

    defect: Defect
    reason: str  # a sentence: what restores the statement at every judged point, or that nothing does


def readings_of(outcome: Outcome) -> dict[str, Verdict]:
    """The verdict of each reading, over its judged points; empty if the statement has no parameter named "reading".
    `outcome`: what judging or hunting returned.
    """
    judged = [(str(item.parameters[READING]), item) for item in outcome.judged if READING in item.parameters]
    failed = {str(single.at[READING]) for single in outcome.failures if READING in single.at}
    return {
        name: concluded(outcome.statement, [item for read, item in judged if read == name], name in failed)[0]
        for name in dict.fromkeys([*(read for read, _ in judged), *sorted(failed)])
    }


def correction_of(statement: Statement, among: Iterable[Statement]) -> Statement | None:
    """The first of some statements that corrects this statement, or None."""
    return next((item for item in among if item.corrects == statement.name), None)


def diagnose(outcome: Outcome, correction: Statement | None = None) -> Diagnosis | None:
    """Return the defect of a refuted statement, and why; None if it is not refuted or is itself a correction.

    The class is computed from what restores the statement, whatever share of its points was refuted:

    - wording: both places of a slip of the pen are given.
    - reading: every judged point of a single reading is confirmed.
    - condition: of the judged points that satisfy a condition some are confirmed and none is refuted. The condition is
      `restored_by` of the statement, or else the domain and `where` of a correction with the same claim, truth and kind. That sizes grow
      is a condition too: of an equality or a bound whose correction is a limit, or whose `restored_by` names that limit.
    - formula: nothing of this restores it; it may hold in special cases.

    `outcome`: what judging or hunting returned; `correction`: the corrected statement, if there is any.
    """
    statement = outcome.statement
    if outcome.verdict is not Verdict.REFUTED or statement.corrects:
        return None
    if statement.slip is not None:
        wrong, right = statement.slip
        return Diagnosis(
            Defect.WORDING,
            f"The slip: {wrong.place}. Right: {right.place}",
        )
    readings = readings_of(outcome)
    right = [name for name, verdict in readings.items() if verdict is Verdict.CONFIRMED]
    if right:
        return Diagnosis(
            Defect.READING,
            f"Every judged point stands under {len(right)} of {len(readings)} readings: {'; '.join(right)}",
        )
    if statement.restored_by is not None:
        words, where = statement.restored_by
        if isinstance(where, str):
            return Diagnosis(Defect.CONDITION, f"It holds as {words} ({where})")
        if met := _restored(outcome, lambda at: bool(statement.call(where, at))):
            return Diagnosis(Defect.CONDITION, f"All {met} judged points where {words} stand")
    if (
        correction is not None
        and correction.claimed is statement.claimed
        and correction.truth is statement.truth
    ):
        met = _restored(outcome, lambda at: meets(correction, at))
        if met and _same_kind(statement, correction):
            return Diagnosis(
                Defect.CONDITION,
                f"All {met} judged points that meet the conditions of {correction.name} stand",
            )
        if (
            isinstance(statement.kind, (Bound, Equality))
            and isinstance(correction.kind, Limit)
            and correction.kind.bound <= isinstance(statement.kind, Bound)
        ):
            return Diagnosis(Defect.CONDITION, f"It holds as {correction.kind.grows} grows")
    return Diagnosis(
        Defect.FORMULA,
        "No reading and no condition that was tried restores it in general; special cases may stand",
    )


def defect_of(outcome: Outcome, correction: Statement | None = None) -> Defect | None:
    """The class of `diagnose`; None where there is none.
    `outcome`: what judging or hunting returned; `correction`: the corrected statement, if there is any.
    """
    diagnosis = diagnose(outcome, correction)
    return None if diagnosis is None else diagnosis.defect


def meets(correction: Statement, at: Mapping[str, Any]) -> bool:
    """Whether a point of the printed statement lies in the domain of its correction; parameters that the other lacks do not count.

    Where the correction needs a parameter that the point does not have, its `where` cannot be evaluated and the domain alone decides.
    """
    common = {name: at[name] for name in correction.free if name in at}
    if len(common) == len(correction.free):
        return correction.holds_point(common)
    return all(correction.domain[name].allows(value) for name, value in common.items())


def _restored(outcome: Outcome, condition: Callable[[Mapping[str, Any]], bool]) -> int:
    """How many points satisfy a condition, if none of them is refuted and at least 1 stands; else 0. Probes of a hunt are
    points too.
    """
    verdicts = [item.verdict for item in outcome.judged if condition(item.parameters)]
    probes = [probe.strain for probe in outcome.probes if condition(probe.at)]
    if Verdict.REFUTED in verdicts or not (
        Verdict.CONFIRMED in verdicts or any(strain <= 0.0 for strain in probes)
    ):
        return 0
    return len(verdicts) + len(probes)


def _same_kind(statement: Statement, correction: Statement) -> bool:
    kind, printed = correction.kind, statement.kind
    if isinstance(kind, Limit) and isinstance(printed, Limit):
        # A theorem is evidence, not part of what is stated; a limit from both sides says more than a limit from a single side.
        kind, printed = (
            replace(kind, rate=None, ceiling=None, bound=kind.bound or printed.bound),
            replace(printed, rate=None, ceiling=None),
        )
    return kind == printed
