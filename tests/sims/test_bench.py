"""The bench: what it writes, and that its clocks and ratios mean what they say. How fast things are is no test."""

import os
from pathlib import Path

import jax
import numpy as np
import pytest
import scipy.stats

from mipsim.distributions.binomial_table import BinomialTable
from sims.bench import Contest, Way, by_hand, measure, questions
from sims.bench.contest import on_cores
from sims.bench.plain_jax import jax_rows
from tests.law_agreement import follows


def test_ratios_are_of_the_same_repeat(monkeypatch):
    """A clock of the test's own: the machine slows down threefold in the second of three repeats, for all ways alike."""
    now, slow = [0.0], iter([1, 1, 1, 1, 3, 3, 1, 1])  # two calls to warm up, then two ways in each repeat

    def taking(seconds):
        def work(times):
            now[0] += seconds * times * next(slow)
            return times

        return work

    monkeypatch.setattr("sims.bench.contest.time.perf_counter", lambda: now[0])
    ways = [Way("long", taking(0.02), 1, True), Way("short", taking(0.002), 10, True)]
    long, short = measure(Contest("naps", "naps", ways), repeats=3)
    assert jax_rows(lambda key: jax.random.uniform(key), 7).work(1) == 7
    assert (long.ratio, long.spread) == (1.0, (1.0, 1.0))
    assert short.ratio == pytest.approx(10.0)
    assert short.spread == pytest.approx((10.0, 10.0))
    assert short.games_per_second == pytest.approx(500.0)
    assert short.baseline == "long"


@pytest.mark.evidence
def test_the_kernel_in_c_plays_the_same_game(monkeypatch, capsys):
    """With each of its generators: their sums have the law of alias rows, whose mean and variance are sums over coordinates."""
    with monkeypatch.context() as patch:
        patch.setattr(by_hand.shutil, "which", lambda name: None)
        assert [way.name for way in by_hand.kernel_by_hand(True).ways] == ["mipsim table kernel"]
    assert "no C compiler that knows vectors here" in capsys.readouterr().out
    play = by_hand.compiled_by_hand()
    if play is None:
        pytest.skip("no C compiler that knows vectors here")
    rows, steps, bits = by_hand.linear_table()
    law = BinomialTable(rows, np.zeros(len(rows), np.int64), bits).probabilities()
    columns, games = np.arange(1 << bits), 2**14
    means = law @ columns
    mean, variance = steps @ means, steps.astype(float) ** 2 @ (law @ columns**2 - means**2)
    for which in range(len(by_hand.GENERATORS)):
        sums = np.empty(games, np.int32)
        play(which, rows.ctypes.data, steps.ctypes.data, len(rows), bits, 7, games, sums.ctypes.data)
        z = (sums - mean) / np.sqrt(variance)
        # Of 5000 terms it is the normal law, as far as 2^14 games tell.
        assert follows(z, scipy.stats.norm.cdf)
        assert not follows(z + 0.1, scipy.stats.norm.cdf)  # the control


def test_the_page_has_the_answers_to_the_forty_questions():
    """Each row of the page is a question of the bench, in order; what takes no time is answered again."""
    text = (Path(__file__).parents[2] / "docs" / "speed.md").read_text()
    begin, end = f"<!-- {questions.MARK} -->", f"<!-- end of {questions.MARK} -->"
    rows = text.split(begin)[1].split(end)[0].strip().splitlines()[2:]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert [(row[0], row[-1]) for row in cells] == [(q.words, q.source) for q in questions.QUESTIONS]
    assert len(cells) == 40
    for row, question in zip(cells, questions.QUESTIONS, strict=True):
        if float(row[2]) < 0.1:
            low, high = questions.ours(question)
            shown = [float(end) for end in row[1].split(" to ")]
            assert low * (1.0 - 1e-5) <= shown[0]
            assert shown[-1] <= high * (1.0 + 1e-5)


def test_a_core_way_counts_the_time_of_the_process(monkeypatch):
    """Clocks of the test's own: a nap takes 0.5 s on the wall and 0.01 s of a core, so that a core does 100 naps a second."""
    naps = [0]

    def nap(times):
        naps[0] += times
        return times

    monkeypatch.setattr("sims.bench.contest.time.perf_counter", lambda: 0.5 * naps[0])
    monkeypatch.setattr("sims.bench.contest.time.process_time", lambda: 0.01 * naps[0])
    on_core, on_wall = measure(Contest("naps", "naps", [Way("a", nap, 3), Way("b", nap, 3, True)]), repeats=1)
    assert on_core.games_per_second == pytest.approx(100.0)
    assert on_wall.games_per_second == pytest.approx(2.0)


def test_a_single_core_is_given_back():
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    with on_cores(1):
        assert not allowed or len(os.sched_getaffinity(0)) == 1
    assert not allowed or os.sched_getaffinity(0) == allowed
