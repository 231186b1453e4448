"""Hunt the register: several statements at once, each in a process of its own, and what is kept of it."""

from __future__ import annotations

import json
import math
import multiprocessing as mp
import queue
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from mipsim.referee import Outcome, Statement, Verdict, hunt
from mipsim.referee.judging import GAMES
from mipsim.referee.outcome import Failure
from mipsim.referee.replay import replay_of
from mipsim.referee.reporting.files import write_atomically
from mipsim.referee.reporting.plain import plain
from mipsim.referee.reporting.wording import number, plural

Say = Callable[[str, str], object]
"""Called with (statement, what its hunt is doing)."""
PATIENCE = 60.0
"""Seconds that an interrupted hunt has to end the probe it is at and to judge what it found."""


def hunt_all(
    statements: Sequence[Statement],
    budget: str,
    confidence: float,
    seed: int,
    folder: Path | None,
    say: Say,
    workers: int = 1,
) -> Iterator[Outcome]:
    """Hunt statements and yield what was found as it is finished.

    Args:
        statements: of the register, if there is more than one worker.
        budget: of each.
        confidence: of each, in (0, 1).
        seed: of each.
        folder: keeps every probe, in a file for each statement and seed, so that a hunt goes on where it was; or None.
        say: told how far each hunt is.
        workers: processes; 1: this one.

    Raises:
        KeyboardInterrupt: on Ctrl-C, after what was found until then was yielded.
    """
    if workers == 1:
        for one in statements:
            found = hunt_one(one, budget, confidence, seed, folder, say)
            yield found
            if found.interrupted:
                raise KeyboardInterrupt
        return
    known = {one.name: one for one in statements}
    context = mp.get_context("spawn")  # JAX has threads, which a forked process would lack
    waiting: Any = context.Queue()
    done: Any = context.Queue()
    for name in [*known, *(None for _ in range(workers))]:
        waiting.put(name)
    pool = [
        context.Process(target=_work, args=(waiting, done, budget, confidence, seed, folder), daemon=True)
        for _ in range(workers)
    ]
    for process in pool:
        process.start()
    left, end, interrupted = set(known), math.inf, False
    try:
        while left and time.monotonic() < end:
            try:
                kind, name, what = done.get(timeout=1.0)
            except KeyboardInterrupt:
                # The processes have heard it too: each hands over the hunt it is at.
                interrupted, end = True, time.monotonic() + PATIENCE
                continue
            except queue.Empty:
                if not any(process.is_alive() for process in pool):
                    break  # killed, by the system perhaps: what is left was not hunted
                continue
            if kind == "say":
                say(name, what)
                continue
            left.discard(name)
            interrupted |= what["interrupted"]
            yield Outcome(statement=known[name], **what)
        if not interrupted:
            for name in sorted(left):
                yield failed(known[name], "the process that hunted it was lost", confidence, seed, budget)
    finally:
        for process in pool:
            process.terminate()
    if interrupted:
        raise KeyboardInterrupt


def _work(waiting: Any, done: Any, budget: str, confidence: float, seed: int, folder: Path | None) -> None:
    """Hunt one statement after the other, in a process of its own."""
    from verify.register import REGISTER

    try:
        while (name := waiting.get()) is not None:
            found = hunt_one(
                REGISTER[name],
                budget,
                confidence,
                seed,
                folder,
                lambda name, line: done.put(("say", name, line)),
            )
            # A statement holds functions, which no queue carries; the reader has it.
            what = {one.name: getattr(found, one.name) for one in fields(found) if one.name != "statement"}
            done.put(("done", name, what))
            if found.interrupted:
                break
    except KeyboardInterrupt:
        pass


def hunt_one(
    statement: Statement, budget: str, confidence: float, seed: int, folder: Path | None, say: Say
) -> Outcome:
    """The outcome of one hunt; if it could not be made, one that says why, since the others are hunted still."""
    file = None if folder is None else folder / f"{statement.name}-{seed}.jsonl"
    try:
        return hunt(
            statement,
            budget,
            confidence,
            seed,
            checkpoint=file,
            progress=lambda line: say(statement.name, line),
        )
    except Exception as error:  # such as the kept probes of another domain
        return failed(statement, f"{type(error).__name__}: {error}", confidence, seed, budget)


def failed(statement: Statement, why: str, confidence: float, seed: int, budget: str) -> Outcome:
    """The outcome of a hunt that could not be made."""
    return Outcome(
        statement=statement,
        verdict=Verdict.INCONCLUSIVE,
        worst=None,
        judged=(),
        replay=replay_of(statement, None, confidence, seed, GAMES),
        confidence=confidence,
        seed=seed,
        seconds=0.0,
        how="not hunted",
        failures=(Failure({}, why),),
        budget=budget,
    )


def kept(outcome: Outcome) -> dict[str, Any]:
    """What is kept of a hunt beside the register: its record, and the counterexample, shrunk.

    Args:
        outcome: of a hunt.
    """
    refuted = [one for one in outcome.judged if one.verdict is Verdict.REFUTED]
    names = outcome.statement.free
    return plain(
        {
            "seed": outcome.seed,
            "budget": outcome.budget,
            "probes": len(outcome.probes),
            "failed": len(outcome.failures),
            "verdict": outcome.verdict,
            "share": outcome.share,
            "gap": outcome.gap,
            "unit": "" if outcome.worst is None else outcome.worst.unit,
            "at": None if outcome.point is None else {name: outcome.point[name] for name in names},
            "points": [{name: refuted[-1].parameters[name] for name in names}] if refuted else [],
        }
    )


def keep(file: Path, outcomes: Sequence[Outcome]) -> None:
    """Write what hunts found beside the register; counterexamples and statements that are there stay.

    Args:
        file: of the register.
        outcomes: of hunts; an interrupted one is not kept.
    """
    before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    found = {one.statement.name: kept(one) for one in outcomes if not one.interrupted and one.probes}
    for name, record in found.items():
        known = before.get(name, {}).get("points", [])
        record["points"] = [*known, *(at for at in record["points"] if at not in known)]
    text = json.dumps(before | found, indent=1, ensure_ascii=False, allow_nan=False, sort_keys=True)
    write_atomically(file, text + "\n")


def told(record: Mapping[str, Any]) -> str:
    """What the report says of a hunt.

    Examples:
        >>> told({"seed": 0, "budget": "2m", "probes": 900, "failed": 0, "verdict": "CONFIRMED", "share": 1.0, "gap": -0.1,
        ...       "unit": "probit", "at": {"n": 3}, "points": []})
        'Budget 2m, seed 0: 900 probes, none failed; nothing was found, the worst gap is −0.1 probit at n = 3.'
    """
    failed = f"{record['failed']:,} failed" if record["failed"] else "none failed"
    if record["at"] is None:
        return f"Budget {record['budget']}, seed {record['seed']}: no point could be judged, {failed}."
    at = ", ".join(f"{name} = {value}" for name, value in (record["at"] or {}).items())
    gap = number(float("nan") if record["gap"] is None else float(record["gap"]))
    found = {
        "REFUTED": "it was broken, the worst gap is",
        "CONFIRMED": "nothing was found, the worst gap is",
    }.get(record["verdict"], "nothing was decided, the worst gap is")
    share = record["share"]
    stands = (
        f" It stood at {share:.0%} of the evenly spread probes."
        if share is not None and not math.isclose(share, 1.0)
        else ""
    )
    return (
        f"Budget {record['budget']}, seed {record['seed']}: {plural(record['probes'], 'probe')}, {failed}; {found} {gap} "
        f"{record['unit']} at {at}.{stands}"
    )
