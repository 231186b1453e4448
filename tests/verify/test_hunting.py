"""Hunts of the register in processes, and an interruption."""

import multiprocessing as mp
import os
import signal
import threading
import time
from functools import partial

import pytest

from mipsim import referee as rf
from verify import parallel
from verify.register import REGISTER, statement_of
from verify.session import _failed, hunted

STATEMENTS = [REGISTER[name] for name in ("field-yeom", "field-humphries", "field-gaussian")]


@pytest.mark.system
@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="it alone is interrupted"
)
def test_an_interruption_waits_for_a_probe_as_long_as_it_says(tmp_path, monkeypatch):
    """The first process hands over its counterexamples; the other, stopped, is not waited for longer than PATIENCE.

    The third hunt is not begun.
    """
    monkeypatch.setattr(parallel, "PATIENCE", 5.0)
    others = mp.active_children()
    stopped: list[int] = []

    def press() -> None:
        while len(list(tmp_path.glob("*.jsonl"))) < 2:
            time.sleep(0.05)
        stopped.extend(item.pid for item in mp.active_children() if item not in others and item.pid)
        os.kill(stopped[0], signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    result: list[rf.Outcome] = []
    act = partial(hunted, budget="10m", confidence=0.999, seed=0, folder=tmp_path)
    failed = partial(_failed, confidence=0.999, seed=0)
    with pytest.raises(KeyboardInterrupt):
        result.extend(parallel.outcomes([[item] for item in STATEMENTS], act, failed, statement_of))
    (handed,) = result
    assert handed.interrupted
    assert handed.probes
    assert len(list(tmp_path.glob("*.jsonl"))) == 2
    for process in stopped:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)
