"""What a notebook shows while a long call runs."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

import mipsim as mi
from mipsim import _progress
from mipsim._progress import ProgressLine, progress_line

DATA = mi.Bernoulli([0.3, 0.6])
GAME = mi.FixedTarget(mi.EmpiricalMean(), DATA, n=10, target=[1.0, 0.0])
ATTACK = mi.CovarianceScore(DATA, n=10)


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


def test_a_single_output_with_rate_and_time_left(front: Front, capsys: pytest.CaptureFixture[str]) -> None:
    with progress_line("literal", 3000, 0, enabled=True) as advance:
        for done in (1000, 2000, 3000):
            advance(done)
    (sample,) = front.outputs
    assert "1,000 of 3,000 games" in sample[0]
    assert "games/s" in sample[0]
    assert sample[0].endswith("left")
    assert "3,000 of 3,000 games" in sample[-1]
    assert sample[-1].count(":") == 2
    assert "left" not in sample[-1]
    assert capsys.readouterr() == ("", "")


def test_play_draws_once(front: Front) -> None:
    mi.play(GAME, ATTACK, 3000)
    (sample,) = front.outputs
    assert "3,000 of 3,000 games" in sample[-1]


def test_nothing_is_shown_when_not_wanted(front: Front) -> None:
    mi.play(GAME, ATTACK, 3000, chunk=1000, progress=False)
    assert front.outputs == []


def test_a_short_call_draws_nothing(front: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_progress, "SAYS_EVERY", 3600.0)
    mi.play(GAME, ATTACK, 3000, chunk=1000)
    assert front.outputs == []


def test_an_interrupt_says_where_it_stopped(front: Front) -> None:
    def stopped() -> None:
        with progress_line("literal", 100, 0, enabled=True) as advance:
            advance(40)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert front.outputs[0][-1].startswith("stopped at literal: 40 of 100 games")


def test_games_of_an_earlier_run_do_not_count_for_the_rate(
    front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, *[10.0] * 9])
    monkeypatch.setattr(_progress.time, "perf_counter", lambda: next(clock))
    with progress_line("literal", 100, 50, enabled=True) as advance:
        advance(60)
    assert front.outputs[0][0] == "literal: 60 of 100 games, 1 games/s, 0:40 left"


def test_a_terminal_session_of_ipython_is_no_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace()))
    assert not _progress.in_notebook()


def test_a_hunt_draws_a_single_output(front: Front, capsys: pytest.CaptureFixture[str]) -> None:
    from mipsim.referee.hunting.search import Search

    search = Search.__new__(Search)
    search.__dict__.update(
        statement=SimpleNamespace(name="square"),
        budget=SimpleNamespace(used=3),
        line=ProgressLine(True),
        probes=[],
        failures=[],
        judging="",
    )
    search.say(last=True)
    search.say(last=True)
    assert front.outputs == [["square: 3 probes, worst gap none yet"] * 2]
    assert capsys.readouterr() == ("", "")
