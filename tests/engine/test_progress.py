"""What a terminal, a log and a notebook show while a long call runs; and chunks that are played in order."""

import io
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

import mipsim as mi
from mipsim import _progress
from mipsim._progress import progress_line
from mipsim.engine.counting import play_range

DATA = mi.Bernoulli([0.3, 0.6])
GAME = mi.FixedTarget(mi.EmpiricalMean(), DATA, n=10, target=[1.0, 0.0])


class Terminal(io.StringIO):
    def isatty(self):
        return True


KERNEL, SESSION = (SimpleNamespace(get_ipython=lambda shell=shell: shell) for shell in (SimpleNamespace(kernel=1), SimpleNamespace()))  # fmt: skip


@pytest.mark.parametrize(
    ("stream", "ipython", "how", "shown"),
    [
        (Terminal, SESSION, {}, True),
        (Terminal, SESSION, {"progress": False}, False),
        (io.StringIO, SESSION, {}, False),
        (io.StringIO, KERNEL, {}, True),
        (io.StringIO, KERNEL, {"progress": False}, False),
    ],
)
def test_a_terminal_and_a_notebook_show_a_line_that_is_written_anew(monkeypatch, stream, ipython, how, shown):
    """And a log of a short call nothing."""
    monkeypatch.setattr(_progress, "SAYS_EVERY", 0.0)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    shown_there = stream()
    monkeypatch.setattr(sys, "stderr", shown_there)
    mi.play(GAME, mi.CovarianceScore(DATA, n=10), 3000, chunk=1000, **how)
    text = shown_there.getvalue()
    assert bool(text) == shown
    if shown:
        assert text.count("\r") > 1 == text.count("\n")
        assert "3,000 of 3,000 games" in text.split("\r")[-1]
        assert "left" not in text.split("\r")[-1]


def test_a_log_gets_a_line_now_and_then_from_half_a_minute_on(monkeypatch):
    now, log = 0.0, io.StringIO()
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    monkeypatch.setattr(sys, "stderr", log)
    with progress_line("literal", 400, 0, enabled=True) as advance:
        for now in range(1, 61):  # read by the clock
            advance(now)
    lines = log.getvalue().splitlines()
    assert lines[0] == "literal: 30 of 400 games, 1 games/s, 6:10 left"
    assert lines[4:] == ["stopped at literal: 60 of 400 games, 1 games/s, 1:00"]
    monkeypatch.setattr(sys, "stderr", None)
    with progress_line("literal", 400, 0, enabled=True) as advance:
        now += 100
        advance(4)


class Counts:
    """Counts ranges by a function, in blocks of a few games."""

    seconds = 0.5

    def __init__(self, function, span):
        self.function, self.span = function, span

    def __call__(self, start, stop):
        return self.function(start, stop)

    def stop(self):
        pass


def count(begin, end):
    return np.array([[end - begin, begin]]), np.zeros(0)


@pytest.mark.parametrize(("chunk", "workers"), [(None, 1), (None, 4), (1, 2), (7, 3), (1000, 2)])
@pytest.mark.parametrize(("start", "stop"), [(0, 1), (0, 100), (3, 50), (8, 8)])
def test_chunks_are_in_order_and_whole(start, stop, chunk, workers):
    done = start
    for end, counts in play_range(Counts(count, 4), start, stop, chunk, workers):
        assert counts.tolist() == [[end - done, done]]
        assert end % 4 == 0 or end == stop
        done = end
    assert done == stop


def test_several_threads_work_at_once_and_preserve_order_and_errors():
    barrier = threading.Barrier(3, timeout=300)

    def meet(begin, end):
        if begin < 12:
            barrier.wait()  # passes only when three chunks are played at the same time
        time.sleep(0.001 * (10 - begin % 7))
        return count(begin, end)

    assert [end for end, _ in play_range(Counts(meet, 4), 0, 40, 4, 3)] == list(range(4, 41, 4))

    def broken(begin, end):
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        list(play_range(Counts(broken, 1), 0, 10, None, 2))
