"""Signals, closed streams, and what a user may have set: a few of each by default, all of them with -m slow."""

import signal
import sys

import jax
import pytest

from sims.__main__ import main
from tests.faults import processes
from tests.faults.same_counts import digest
from tests.faults.test_storage import hold

FEW = ("clipped-law", "random-table")
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
    return digest(FEW)


@pytest.mark.evidence
@pytest.mark.parametrize("flag", FLAGS)
def test_no_setting_changes_a_count(flag, plain):
    before = getattr(jax.config, flag, None)
    jax.config.update(flag, FLAGS[flag])
    try:
        assert digest(FEW) == plain
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
