"""Processes that judge: they end with the reader, and say what was raised in them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from verify import parallel

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
