"""The stored records of the hunts of the register."""

import contextlib
import fcntl
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mipsim._files import replace_file
from mipsim._words import plural
from mipsim.referee import Outcome, Statement, Verdict
from mipsim.referee.gap_words import gap_is, three_digits
from mipsim.referee.hunting.search import definition
from mipsim.referee.outcome import held
from mipsim.referee.reporting.plain import plain
from mipsim.referee.reporting.wording import duration
from verify.register import recorded


def record_of_hunt(outcome: Outcome) -> dict[str, Any]:
    """What the register stores of a hunt: its record, and the counterexample, shrunk."""
    refuted = [item for item in outcome.judged if item.verdict is Verdict.REFUTED]
    names = outcome.statement.free
    return plain(
        {
            "definition": definition(outcome.statement),
            "seed": outcome.seed,
            "budget": outcome.budget,
            "interrupted": outcome.interrupted,
            "seconds": round(outcome.seconds, 1),
            "probes": len(outcome.probes),
            "failed": len(outcome.failures),
            "verdict": outcome.verdict,
            "share": outcome.share,
            "gap": outcome.gap,
            "gap_is": gap_is(outcome.gap, outcome.interval),
            "unit": "" if outcome.worst is None else outcome.worst.unit,
            "at": None if outcome.point is None else {name: outcome.point[name] for name in names},
            "points": [{name: refuted[-1].parameters[name] for name in names}] if refuted else [],
        }
    )


def keep(file: Path, outcomes: Sequence[Outcome]) -> None:
    """Write the results of hunts beside the register; earlier counterexamples and statements stay.

    Of two hunts of a statement as it is now, the hunt that broke it is stored, else the longer hunt.
    """
    with _alone(file.parent):
        records = recorded(file)
        for outcome in outcomes:
            if outcome.probes:
                name, new = outcome.statement.name, record_of_hunt(outcome)
                old = records.get(name, {})
                known = old.get("points", [])
                points = [*known, *(at for at in new["points"] if at not in known)]
                if old.get("definition") == new["definition"]:
                    new = max(
                        new, old, key=lambda each: (each["verdict"] == Verdict.REFUTED, each["seconds"])
                    )
                records[name] = new | {"points": points}
        text = json.dumps(records, indent=1, ensure_ascii=False, allow_nan=False, sort_keys=True)
        replace_file(file, text + "\n")


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other hunt writes its records there: two at once would each forget what the other adds."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def is_recorded(record: Mapping[str, Any] | None, statement: Statement, budget: str, seed: int) -> bool:
    """Whether a requested hunt was made before, to its end, and its record stored."""
    wanted = {"definition": definition(statement), "budget": budget, "seed": seed, "interrupted": False}
    return record is not None and wanted.items() <= record.items()


def described(record: Mapping[str, Any], statement: Statement | None = None) -> str:
    """What the report says of a hunt.
    `statement`: that was hunted; with it parameters that do not matter at the point are left out.

    >>> described({"seed": 0, "budget": "2m", "seconds": 120.4, "probes": 900, "failed": 0, "verdict": "CONFIRMED",
    ...       "share": 1.0, "gap": -0.1, "gap_is": "", "unit": "probit", "at": {"n": 3}})
    'Budget 2m, seed 0: 900 probes in 2 min 0 s, none failed; no counterexample, the worst gap is −0.1 probit at n = 3.'
    """
    failed = f"{record['failed']:,} failed" if record["failed"] else "none failed"
    what = f"{plural(record['probes'], 'probe')} in {duration(record['seconds'])}, {failed}"
    head = f"Budget {record['budget']}, seed {record['seed']}: {what}"
    if record["at"] is None:
        return f"{head}; no point could be judged."
    result = {"REFUTED": "it was broken", "CONFIRMED": "no counterexample"}
    gap = three_digits(float("nan") if record["gap"] is None else float(record["gap"]))
    gap = record.get("gap_is") or gap
    point = record["at"] if statement is None else statement.mattering(record["at"])
    at = ", ".join(f"{name} = {value}" for name, value in point.items())
    text = f"{head}; {result.get(record['verdict'], 'nothing was decided')}, the worst gap is {gap} {record['unit']} at {at}."
    share = 1.0 if record["share"] is None else record["share"]
    return (
        text
        if math.isclose(share, 1.0)
        else f"{text} It seemed broken at {1 - share:.0%} of the evenly spread probes."
    )


def extent(outcome: Outcome, record: Mapping[str, Any] | None) -> str:
    """Where a CONFIRMED of the register holds: at how many points, and at how many the recorded hunt looked.
    `outcome`: of judging the statement; `record`: of its hunt as it is defined now, if it was hunted.
    """
    if not outcome.extent or outcome.whole or record is None or record["verdict"] == Verdict.REFUTED:
        return outcome.extent
    return held(len(outcome.judged), record["probes"])


def searched(outcomes: Sequence[Outcome], hunts: Mapping[str, Mapping[str, Any]]) -> str:
    """At how many points what is CONFIRMED held, and how much of it recorded hunts searched, in a sentence; empty if nothing is.
    `outcomes`: of a run; `hunts`: name -> the record of its hunt.

    >>> searched([], {})
    ''
    """
    confirmed = [item for item in outcomes if item.extent]
    if not confirmed:
        return ""
    points = plural(sum(len(item.judged) for item in confirmed), "judged point")
    records = [hunts[item.statement.name] for item in confirmed if item.statement.name in hunts]
    looked = sum(record["probes"] for record in records)
    head = f"CONFIRMED says: held at {points}"
    return f"{head}; recorded hunts looked at {looked:,} more points of {len(records):,} of these {plural(len(confirmed), 'statement')}."
