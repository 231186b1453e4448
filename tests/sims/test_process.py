"""What a command does before a signal ends it, in a process of the test's own."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.system

ROOT = Path(__file__).parents[2]
PROGRAM = """
import os, signal
from sims.process import before_ending, ending_on_signals
def act():
    os.write(1, b"cancelled ")
    {then}
with ending_on_signals(lambda: "interrupted"):
    with before_ending(act):
        pass
    {ignored}
    with before_ending(act):
        os.kill(os.getpid(), signal.{name})
    os.write(1, b"went on")
"""


@pytest.mark.parametrize("then", ["pass", "raise OSError"])
@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_it_acts_first_and_ends_as_ever(name, status, then):
    program = PROGRAM.format(then=then, ignored="pass", name=name)
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (status, b"cancelled ", b"interrupted\n")


def test_a_signal_that_is_ignored_stays_so():
    ignored = "signal.signal(signal.SIGHUP, signal.SIG_IGN)"
    program = PROGRAM.format(then="pass", ignored=ignored, name="SIGHUP")
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (0, b"went on")
