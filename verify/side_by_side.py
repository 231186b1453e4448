"""Judge several claims at once: exact laws leave a core idle, and so do compiling and drawing."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from verify.claim import Claim
from verify.claim_result import ClaimResult
from verify.judge import OnRegime, judge


def families(claims: Sequence[Claim]) -> list[list[Claim]]:
    """Claims of the same laws, or else with their corrections: a family shares laws and games, so one thread judges it in turn.

    Examples:
        >>> from verify.register import REGISTER
        >>> [claim.id for claim in families(list(REGISTER.values()))[0]]
        ['azize-thm-2.1a', 'azize-thm-2.1a-corrected']
    """
    found: dict[str, list[Claim]] = {}
    for claim in claims:
        found.setdefault(claim.laws or claim.corrects or claim.id, []).append(claim)
    return list(found.values())


def judge_all(
    claims: Sequence[Claim],
    scale: str,
    failure_probability: float,
    seed: int = 0,
    store: Path | None = None,
    on_regime: OnRegime | None = None,
    workers: int = 1,
    register: Mapping[str, Claim] | None = None,
) -> Iterator[ClaimResult]:
    """Judge claims and yield results as they are finished; their values do not depend on `workers`.

    The other arguments are those of `judge`.

    The threads are daemons and look at a flag between regimes, so that Ctrl-C in the reader ends the run at once. An
    interruption or another `BaseException` inside a judge is raised in the reader.
    """
    waiting: queue.SimpleQueue[list[Claim]] = queue.SimpleQueue()
    for family in families(claims):
        waiting.put(family)
    done: queue.SimpleQueue[ClaimResult | BaseException] = queue.SimpleQueue()
    stop = threading.Event()

    def report(claim, regime, index) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        if on_regime is not None:
            on_regime(claim, regime, index)

    def work() -> None:
        try:
            while not stop.is_set():
                for claim in waiting.get_nowait():
                    done.put(judge(claim, scale, failure_probability, seed, store, report, register))
        except queue.Empty:
            return
        except BaseException as error:  # the reader must hear of it, whatever it is
            done.put(error)

    for _ in range(workers):
        threading.Thread(target=work, daemon=True).start()
    try:
        for _ in claims:
            result = done.get()
            if isinstance(result, BaseException):
                raise result
            yield result
    finally:
        stop.set()
