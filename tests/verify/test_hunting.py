"""Hunts of the register: processes that are lost or stopped, an interruption, and what is stored beside the register."""

import multiprocessing as mp
import os
import signal
import threading
import time
from multiprocessing.process import BaseProcess
from types import SimpleNamespace

import pytest

from mipsim import referee as rf
from verify import parallel
from verify.register import REGISTER, statement_of

FIRST, SECOND, THIRD = (REGISTER[name] for name in ("field-yeom", "field-humphries", "field-gaussian"))


def new_processes(before: list[BaseProcess]) -> list[int]:
    """Those of this test: another may have left some that live as long as pytest."""
    return [process.pid for process in mp.active_children() if process not in before and process.pid]


@pytest.mark.system
def test_a_lost_process_costs_a_single_statement_and_is_replaced(tmp_path):
    """Killed at its first word, as by a machine without memory."""
    met, before = [], mp.active_children()

    def say(name: str, line: str) -> None:
        if not met:
            for process in new_processes(before):
                os.kill(process, signal.SIGKILL)
        met.append(name)

    result = list(
        parallel.hunt_all([FIRST, SECOND, THIRD], "64 probes", 0.999, 0, tmp_path, say, 2, statement_of)
    )
    by_name = {item.statement.name: item for item in result}
    assert set(by_name) == {FIRST.name, SECOND.name, THIRD.name}
    assert len(by_name[THIRD.name].probes) >= 32
    lost = [single for single in result if single.how == parallel.NOT_HUNTED]
    assert lost
    assert all(
        lost_outcome.failures[0].error == parallel.LOST and lost_outcome.worst is None
        for lost_outcome in lost
    )
    again = parallel.hunt_statement(lost[0].statement, "64 probes", 0.999, 0, tmp_path, say)
    assert len(again.probes) >= 32


@pytest.mark.system
@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="it alone is interrupted"
)
def test_an_interruption_waits_for_a_probe_as_long_as_it_says(tmp_path, monkeypatch):
    """The first process hands over its counterexamples; the other, stopped, is not waited for longer than PATIENCE.

    A clock of the test's own: the patience ends as soon as the first process has answered, however long that takes.
    """
    late = [0.0]
    monkeypatch.setattr(parallel, "PATIENCE", 300.0)
    monkeypatch.setattr(parallel, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + late[0]))
    met: set[str] = set()
    stopped, before = [], mp.active_children()

    def say(name: str, line: str) -> None:
        if "probes" not in line:
            return
        if len(met | {name}) == 2 > len(met):
            stopped.append(new_processes(before)[0])
            os.kill(stopped[0], signal.SIGSTOP)
            os.kill(os.getpid(), signal.SIGINT)
        met.add(name)

    result: list[rf.Outcome] = []
    hunts = parallel.hunt_all([FIRST, SECOND, THIRD], "10m", 0.999, 0, tmp_path, say, 2, statement_of)
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012
        while True:
            result.append(next(hunts))
            late[0] = 1e6
    assert {item.statement.name for item in result} == met == {FIRST.name, SECOND.name}
    handed, cut_off = sorted(result, key=lambda outcome: outcome.how == parallel.NOT_HUNTED)
    assert handed.interrupted
    assert handed.probes
    assert cut_off.failures[0].error == parallel.CUT_OFF
    assert (tmp_path / f"{cut_off.statement.name}-0.jsonl").read_text().count("\n") >= 1
    with pytest.raises(ProcessLookupError):
        os.kill(stopped[0], 0)
