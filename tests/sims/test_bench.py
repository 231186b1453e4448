"""The bench: what it writes, and that its clocks and ratios mean what they say. How fast things are is no test."""

import json
import os
import time

import pytest

from sims.__main__ import main
from sims.bench import Contest, Way, command, measure
from sims.bench.contest import one_core
from sims.bench.report import as_json, print_report


def sleeping(seconds):
    def work(times):
        time.sleep(seconds * times)
        return times

    return work


def working(times):
    return sum(1 for _ in range(times))


def test_ratios_are_of_the_same_repeat():
    contest = Contest(
        "naps", "naps", [Way("long", sleeping(0.02), 1, True), Way("short", sleeping(0.002), 10, True)]
    )
    long, short = measure(contest, repeats=3)
    assert long.ratio == 1.0
    assert long.spread == (1.0, 1.0)
    # A sleep is never shorter than asked: 0.02 s against 0.002 s is a ratio of 10, less what waking up costs.
    assert 1.0 < short.ratio < 11.0
    assert short.baseline == "long"


def test_a_core_way_counts_the_time_of_the_process():
    # A sleeping process uses no core: per core it does far more naps a second than the wall would allow.
    contest = Contest("naps", "naps", [Way("work", working, 1000), Way("sleep", sleeping(0.05), 1)])
    assert measure(contest, repeats=1)[1].games_per_second > 40


def test_one_core_is_given_back():
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    with one_core():
        assert not allowed or len(os.sched_getaffinity(0)) == 1
    assert not allowed or os.sched_getaffinity(0) == allowed


def test_the_file_has_the_keys(capsys):
    timings = measure(Contest("game", "games", [Way("a", working, 10), Way("b", working, 10)]), repeats=2)
    print_report(timings)
    assert "ratio to a" in capsys.readouterr().out
    *rows, memory = json.loads(as_json(timings))
    assert {"name", "games_per_second", "baseline", "ratio", "spread", "device", "unit"} == set(rows[0])
    assert [row["name"] for row in rows] == ["game: a", "game: b"]
    assert memory["bytes"] > 2**20
    assert set(memory) == {*rows[0], "bytes"}


def test_the_command_writes_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "CONTESTS", (lambda quick: Contest("t", "games", [Way("a", working, 10)]),))
    monkeypatch.setattr(command, "whole_play", lambda games: 1.0)
    assert main(["bench", "--quick", "--json", str(tmp_path / "b.json")]) == 0
    assert json.loads((tmp_path / "b.json").read_text())[0]["name"] == "t: a"
    assert main(["bench", "--quick", "--json", str(tmp_path / "no" / "b.json")]) == 2
    assert "No such file" in capsys.readouterr().err


@pytest.mark.parametrize("contest", command.CONTESTS, ids=lambda c: c.__name__)
@pytest.mark.slow
def test_every_contest_runs(contest):
    assert all(timing.ratio > 0 for timing in measure(contest(True), repeats=1))
