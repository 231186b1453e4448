"""A judged statement as plain JSON data: the entries of verdicts.json.

JSON has no infinities: they are written as the strings "inf" and "-inf" (so that float(x) reads every number
back), and NaN, a number that does not exist, as null. A statement that could not be judged has the verdict null.
"""

import json
import shlex
from typing import Any

from mipsim.referee import Outcome, Statement, Verdict
from mipsim.referee.outcome import is_judged, simplest
from mipsim.referee.reporting.page import record
from mipsim.referee.reporting.plain import plain
from mipsim.referee.result import PointResult
from verify.register import paper_of

SAME = (
    "verdict",
    "defect",
    "share",
    "readings",
    "corrected_by",
    "failures",
    "findings",
    "importance",
    "seconds",
)
"""What an entry holds as the referee's own report does."""


def command_of(outcome: Outcome, scale: str, point: PointResult | None = None) -> str:
    """The command that judges a point of a statement again, with the same games; by default its worst."""
    name, at = outcome.statement.name, outcome.point if point is None else point.parameters
    parameters = {} if at is None else outcome.statement.essential(at)
    return (
        f"python -m verify {shlex.quote(name)} --at {shlex.quote(json.dumps(parameters))} --scale {scale}"
        f" --confidence {outcome.confidence!r} --seed {outcome.seed}"
    )


def record_of(outcome: Outcome, correction: Statement | None, scale: str) -> dict[str, Any]:
    """Return a statement's entry, see the module's first lines for what JSON cannot hold.
    `outcome`: what came of judging it; `correction`: the corrected statement, if there is a correction; `scale`: of the run.
    """
    whole, statement = record(outcome, correction), outcome.statement.record()
    worst = outcome.worst if outcome.verdict is Verdict.REFUTED else None
    first = simplest(outcome.statement, outcome.judged) if worst else None
    return plain(
        {
            "claim": statement.pop("name"),
            "paper": paper_of(outcome.statement.name),
            "statement": statement.pop("says"),
            **{key: whole[key] for key in SAME},
            "extent": outcome.extent if is_judged(outcome) else "",
            **statement,
            "verdict": outcome.verdict if is_judged(outcome) else None,
            "corrects": outcome.statement.corrects or None,
            "same_formula": correction is not None and correction.claimed is outcome.statement.claimed,
            "counterexample": worst and _shown(outcome, worst, scale),
            "simple_counterexample": first and _shown(outcome, first, scale),
            "points": [_point(item) for item in outcome.judged],
        }
    )


def _shown(outcome: Outcome, point: PointResult, scale: str) -> dict[str, Any]:
    return _point(point) | {"command": command_of(outcome, scale, point)}


def _point(point: PointResult) -> dict[str, Any]:
    return point.record() | {"exact": point.exact}
