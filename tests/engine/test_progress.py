import io
import sys
import threading
import time

import numpy as np
import pytest

from mipsim import _progress
from mipsim._progress import progress_line
from mipsim.engine.counting import play_range


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_line_shows_the_fidelity_on_a_terminal_only(monkeypatch):
    monkeypatch.setattr(_progress, "SAYS_EVERY", 0.0)
    for stream, enabled, shown in (
        (Terminal(), True, True),
        (Terminal(), False, False),
        (io.StringIO(), True, False),
    ):
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
    assert len(lines) == 5
    assert lines[4] == "stopped at literal: 60 of 400 games, 1 games/s, 1:00"
    monkeypatch.setattr(sys, "stderr", None)
    with progress_line("literal", 400, 0, enabled=True) as advance:
        now += 100
        advance(4)


def count(begin, end):
    return np.array([[end - begin, begin]]), np.zeros(0)


@pytest.mark.parametrize(("chunk", "workers"), [(None, 1), (None, 4), (1, 2), (7, 3), (1000, 2)])
@pytest.mark.parametrize(("start", "stop"), [(0, 1), (0, 100), (3, 50), (8, 8)])
def test_chunks_are_in_order_and_whole(start, stop, chunk, workers):
    done = start
    for end, counts in play_range(count, start, stop, 4, chunk, workers):
        assert counts.tolist() == [[end - done, done]]
        assert end % 4 == 0 or end == stop
        done = end
    assert done == stop


def test_several_threads_work_at_once_and_preserve_order():
    barrier = threading.Barrier(3, timeout=300)

    def meet(begin, end):
        if begin < 12:
            barrier.wait()  # passes only when three chunks are played at the same time
        time.sleep(0.001 * (10 - begin % 7))
        return count(begin, end)

    ends = [end for end, _ in play_range(meet, 0, 40, 4, 4, 3)]
    assert ends == list(range(4, 41, 4))


def test_an_error_in_a_thread_is_raised():
    def broken(begin, end):
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        list(play_range(broken, 0, 10, 1, None, 2))
