"""Stored counts that cannot lie, and runs that cannot be lost: a few of each fault by default, all of them with -m slow."""

import errno
import os
import re
import signal
import sys
import tempfile
from pathlib import Path

import jax
import numpy as np
import pytest

import mipsim as mi
from mipsim import _files
from mipsim.engine.checkpoint import store
from sims.__main__ import main
from tests.engine.long_run import run
from tests.faults import campaigns, hostile_files, hostile_words, processes
from tests.faults.__main__ import LONG
from tests.faults.children import start
from tests.faults.controls import CONTROLS
from tests.faults.same_counts import digest


def hold(figures):
    assert figures.tried > 0
    assert not figures.failed, figures.failed[:5]
    return figures


FEW = [
    (campaigns.forgeries, ()), (campaigns.flips, (200,)), (campaigns.full_disks, (5,)), (campaigns.links, ()),
    (campaigns.kills, (2,)), (campaigns.kills_in_writes, (10,)),
]  # fmt: skip


@pytest.mark.evidence
@pytest.mark.parametrize(("campaign", "arguments"), FEW)
def test_a_few(campaign, arguments, tmp_path):
    hold(campaign(tmp_path, *arguments))


@pytest.mark.slow
@pytest.mark.parametrize(("campaign", "arguments"), LONG)
def test_all(campaign, arguments):
    hold(campaigns.in_folder(campaign, *arguments))


def test_fewer_games_never_replace_more(tmp_path):
    path = tmp_path / "run.npz"
    few, many = run(None, 3_000), run(None, 5_000)
    for counts in (few, many, few):
        store(path, vars(counts))
    assert campaigns.same(mi.Histogram.load(path), many)
    other = mi.Histogram(
        few.edges, few.out, few.inside, {**few.manifest, "seed": 12, "runs": [[12, 0, 3_000]]}
    )
    with pytest.raises(ValueError, match=r"run\.npz belongs to another run, which differs in seed"):
        store(path, vars(other))


def test_writers_wait_for_each_other_and_not_for_the_dead(tmp_path, monkeypatch):
    path, part, held = tmp_path / "a", tmp_path / ".a.part", tmp_path / ".a.lock"
    part.write_bytes(b"half")  # nobody holds it
    held.touch()
    _files.replace_file(path, b"first")
    assert os.listdir(tmp_path) == ["a"]
    monkeypatch.setattr(_files, "PATIENCE", 0.05)
    with (
        _files.locked(held),
        pytest.raises(OSError, match=r"another process has held .*\.a\.lock") as error,
    ):
        _files.replace_file(path, b"two")
    assert error.value.errno == errno.EBUSY
    _files.replace_file(path, b"two")
    assert path.read_bytes() == b"two"


def test_what_a_writer_of_a_read_only_file_left_is_removed():
    with tempfile.TemporaryDirectory() as folder:  # pytest's own may be closed to other users
        Path(folder).chmod(0o777)
        path = Path(folder) / "a"
        child = start("replace_read_only", str(path))
        child.join(120)
        assert child.exitcode == 0
        assert path.read_bytes() == b"whole"
        assert os.listdir(folder) == ["a"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_an_interruption_leaves_nothing_beside_the_file(step, tmp_path, monkeypatch):
    """Right after a step, as Ctrl-C is."""
    path = tmp_path / "a"
    path.write_bytes(b"old")
    taken = getattr(os, step)

    def interrupted(*given):
        taken(*given)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, step, interrupted)
    with pytest.raises(KeyboardInterrupt):
        _files.replace_file(path, b"new")
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["a"]
    assert path.read_bytes() == (b"new" if step == "replace" else b"old")
    _files.replace_file(path, b"newer")
    assert path.read_bytes() == b"newer"


def test_what_is_no_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match=r"counts cannot be written to .*pipe: it is no regular file"):
        run(None, 10).save(tmp_path / "pipe")


def test_counts_beyond_an_int64_are_refused():
    big, item = np.array([2**62, 0]), np.array([1, 1])
    first, second = (mi.Histogram(np.zeros(1), big, big, {"runs": [[i, 0, 2**62]]}) for i in (0, 1))
    for call, words in (
        (lambda: mi.Histogram(np.arange(3.0), np.full(4, 2**62), np.full(4, 2**62)), "out holds 18446744073709551616 games; a histogram can hold 9223372036854775807"),
        (lambda: mi.Histogram(np.zeros(1), np.array([2**64 - 1, 1], np.uint64), item), "out has dtype uint64; counts must be whole numbers"),
        (lambda: first + second, "both histograms hold 9223372036854775808 games"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            call()


# Signals, closed streams, and what a user may have set: a few of each by default, all of them with -m slow.

SHORT = ("clipped-law", "random-table")
FLAGS = {
    "jax_numpy_dtype_promotion": "strict",
    "jax_numpy_rank_promotion": "raise",
    "jax_random_seed_offset": 5,
    "jax_transfer_guard": "disallow",
    "jax_disable_jit": True,
    "jax_debug_nans": True,
    "jax_default_prng_impl": "rbg",
}


@pytest.fixture(scope="module")
def plain():
    return digest(SHORT)


@pytest.mark.evidence
@pytest.mark.parametrize("flag", FLAGS)
def test_no_setting_changes_a_count(flag, plain):
    before = getattr(jax.config, flag, None)
    jax.config.update(flag, FLAGS[flag])
    try:
        assert digest(SHORT) == plain
    finally:
        jax.config.update(flag, before)


@pytest.mark.evidence
@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells when a process handles its signals")
def test_a_signal_ends_a_run_in_a_single_line(tmp_path):
    hold(processes.signals(tmp_path, 2, longest=2.0))


def test_handlers_are_as_they_were(capsys):
    before = [signal.getsignal(number) for number in processes.STATUS]
    assert main(["list"]) == 0
    assert [signal.getsignal(number) for number in processes.STATUS] == before


# Each campaign reports a planted defect, so that what it says held was looked at.


@pytest.mark.parametrize(
    "campaign",
    [
        pytest.param(campaign, id=campaign.__name__, marks=[pytest.mark.system] * control.long)
        for campaign, control in CONTROLS.items()
    ],
)
def test_a_planted_defect_is_reported(campaign, tmp_path, monkeypatch):
    control = CONTROLS[campaign]
    control.plant(monkeypatch)
    result = campaign(tmp_path, *control.arguments)
    assert any(re.search(control.report, text) for text in result.failed), result.failed[:5]


def test_every_campaign_is_run_and_has_a_control():
    defined = {
        item
        for module in (campaigns, processes, hostile_files, hostile_words)
        for item in vars(module).values()
        if getattr(item, "__annotations__", {}).get("return") is campaigns.Figures
    } - {campaigns.in_folder}
    assert defined == {campaign for campaign, _ in LONG} == set(CONTROLS)
