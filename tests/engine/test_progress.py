"""What a terminal, a log and a notebook show while a long call runs; and chunks that are played in order."""

import io
import sys
import threading
import time
from types import SimpleNamespace
from typing import Any

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


def test_the_line_shows_the_fidelity_on_a_terminal_only(monkeypatch):
    monkeypatch.setattr(_progress, "SAYS_EVERY", 0.0)
    for stream, enabled, shown in ((Terminal(), True, True), (Terminal(), False, False), (io.StringIO(), True, False)):  # fmt: skip
        monkeypatch.setattr(sys, "stderr", stream)
        with progress_line("sufficient fidelity (table)", 100, 0, enabled) as advance:
            for done in (10, 60, 100):
                advance(done)
        assert ("sufficient fidelity" in stream.getvalue()) == shown


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


class Front:
    """A front end that keeps what it was given: each output, and all that was shown there."""

    def __init__(self) -> None:
        self.outputs: list[list[str]] = []

    def display(self, bundle: dict[str, str], *, raw: bool, display_id: bool) -> Any:
        assert raw
        assert display_id
        sample = [bundle["text/plain"]]
        self.outputs.append(sample)
        return SimpleNamespace(update=lambda more, raw: sample.append(more["text/plain"]))


@pytest.fixture
def front(monkeypatch: pytest.MonkeyPatch) -> Front:
    shown = Front()
    ipython = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=shown.display))
    monkeypatch.setattr(_progress, "SAYS_EVERY", 0.0)
    return shown


@pytest.mark.parametrize(("every", "how", "shown"), [(0.0, {}, True), (0.0, {"progress": False}, False), (3600.0, {}, False)])  # fmt: skip
def test_a_notebook_shows_a_single_output(front, monkeypatch, capsys, every, how, shown) -> None:
    """None where it is not wanted, or the call is short."""
    monkeypatch.setattr(_progress, "SAYS_EVERY", every)
    mi.play(GAME, mi.CovarianceScore(DATA, n=10), 3000, chunk=1000, **how)
    assert len(front.outputs) == shown
    assert all("3,000 of 3,000 games" in sample[-1] and "left" not in sample[-1] for sample in front.outputs)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace()))
    assert not _progress.in_notebook()  # a terminal session of IPython


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
