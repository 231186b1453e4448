"""Hunts of the register: processes that are lost or stopped, an interruption, and what is stored beside the register."""

import json
import multiprocessing as mp
import os
import signal
import threading
import time
from dataclasses import replace
from multiprocessing.process import BaseProcess
from types import SimpleNamespace

import pytest

from mipsim import referee as rf
from verify import hunting, parallel
from verify.register import REGISTER, hunts_of, recorded, statement_of

FIRST, SECOND, THIRD = (REGISTER[name] for name in ("field-yeom", "field-humphries", "field-gaussian"))


def hunted(statement: rf.Statement, budget: str = "40 probes", **settings) -> rf.Outcome:
    return rf.hunt(statement, budget, progress=False, **settings)


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


def test_of_two_hunts_the_longer_is_stored_and_counterexamples_stay(tmp_path):
    file = tmp_path / "hunted.json"
    long, short = hunted(FIRST, "80 probes"), hunted(FIRST, "20 probes", seed=1)
    hunting.keep(file, [replace(long, seconds=120.0)])
    record = recorded(file)[FIRST.name]
    assert (record["probes"], record["seconds"], record["seed"]) == (len(long.probes), 120.0, 0)
    hunting.keep(file, [replace(short, seconds=3.0)])
    assert recorded(file)[FIRST.name] == record
    hunting.keep(file, [replace(short, seconds=130.0)])
    assert recorded(file)[FIRST.name]["seed"] == 1
    text = file.read_text()
    hunting.keep(file, [parallel.failed(FIRST, "lost", "2m", 0.999, 0)])  # nothing was seen
    assert file.read_text() == text


def test_a_counterexample_is_stored_and_another_definition_begins_anew(tmp_path, make, monkeypatch):
    file = tmp_path / "hunted.json"
    item = make("azize-single", truth=lambda x: x + 0.5)
    broken = hunted(item)
    assert broken.verdict is rf.Verdict.REFUTED
    hunting.keep(
        file,
        [broken, replace(hunted(item, "4 probes"), verdict=rf.Verdict.CONFIRMED, judged=(), seconds=1e6)],
    )
    record = recorded(file)[item.name]
    assert (record["verdict"], len(record["points"])) == ("REFUTED", 1)
    changed = make("azize-single", truth=lambda x: x)
    monkeypatch.setattr("verify.register.hunted", lambda: recorded(file))
    assert set(hunts_of({item.name: item})) == {item.name}
    assert hunts_of({item.name: changed}) == {}
    hunting.keep(file, [replace(hunted(changed), seconds=1.0)])
    again = recorded(file)[item.name]
    assert (again["verdict"], again["points"]) == ("CONFIRMED", record["points"])
    file.write_text("{")
    with pytest.raises(ValueError, match="is damaged"):
        recorded(file)


def test_what_was_hunted_so_before_is_not_hunted_again(tmp_path):
    file = tmp_path / "hunted.json"
    hunting.keep(file, [hunted(FIRST)])
    record = json.loads(file.read_text())[FIRST.name]
    assert hunting.is_recorded(record, FIRST, "40 probes", 0)
    assert not hunting.is_recorded(record | {"interrupted": True}, FIRST, "40 probes", 0)
    assert not hunting.is_recorded(record, FIRST, "2m", 0)
    assert not hunting.is_recorded(record, FIRST, "40 probes", 1)
    assert not hunting.is_recorded(record, SECOND, "40 probes", 0)
    assert not hunting.is_recorded(None, FIRST, "40 probes", 0)
