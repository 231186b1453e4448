"""Processes that judge and hunt: they end with the reader, say what was raised in them, and wait for a probe as long as they say."""

import multiprocessing as mp
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from mipsim import referee as rf
from verify import parallel
from verify.register import REGISTER, statement_of
from verify.session import _failed, hunted

JUDGES = """
import os, time
from types import SimpleNamespace
from verify import parallel

def find(name):
    if name == "false":
        raise LookupError("no such statement")
    if name == "lost":
        os._exit(9)
    print(os.getpid(), os.environ["OPENBLAS_NUM_THREADS"], flush=True)
    time.sleep(3600)

def failed(statement, why):
    return f"{statement.name} {why}"

if __name__ == "__main__":
    false, lost, endless = (SimpleNamespace(name=name) for name in ("false", "lost", "endless"))
    for line in parallel.outcomes([[false, lost, false, endless], [false]], print, failed, find):
        print(line, flush=True)
"""


@pytest.mark.system
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no such signal")
def test_a_process_tells_what_was_raised_and_ends_with_its_reader(tmp_path) -> None:
    script = tmp_path / "judges.py"
    script.write_text(JUDGES)
    paths = os.pathsep.join([str(Path(parallel.__file__).parents[1]), *sys.path])
    environment = {name: value for name, value in os.environ.items() if name != parallel.BLAS_THREADS}
    reader = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=environment | {"PYTHONPATH": paths}
    )  # fmt: skip
    assert reader.stdout is not None
    try:
        raised = "false LookupError: no such statement\n"
        lines = [reader.stdout.readline() for _ in range(5)]
        judge, threads = next(map(int, line.split()) for line in lines if line[0].isdigit())
        assert sorted(line for line in lines if not line[0].isdigit()) == [raised] * 3 + [
            f"lost {parallel.LOST}\n"
        ]
        assert threads == 1
        reader.send_signal(signal.SIGKILL)
        give_up = time.monotonic() + 300
        while (
            Path(f"/proc/{judge}").exists() and "\nState:\tZ" not in Path(f"/proc/{judge}/status").read_text()
        ):
            assert time.monotonic() < give_up
            time.sleep(0.05)
    finally:
        reader.kill()
        reader.wait()
        reader.stdout.close()


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
