"""Gradients that are stored micro-batch by micro-batch: a killed computation continues, and nothing else is taken for it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from mipsim import data, nn
from sims.gradients import victim
from sims.stored_values import stored_folder, storing_in

DIGITS = data.digits()
NETWORK = nn.linear((8, 8, 1), 10)
START = NETWORK.start(0)
SMALL = 2**22
"""Bytes of a micro-batch, of which the digits then take ten."""


def gradients(folder: Path | None, **changed) -> np.ndarray:
    chosen = {"parameters": START, "x": DIGITS.x, "y": DIGITS.y, "memory": SMALL, **changed}
    return nn.per_example_gradients(NETWORK, checkpoint=folder, **chosen)


def times(folder: Path) -> list[int]:
    return [file.stat().st_mtime_ns for file in sorted(folder.iterdir())]


def test_what_is_stored_has_the_same_bits(tmp_path):
    whole = gradients(None)
    assert gradients(tmp_path).tobytes() == whole.tobytes()
    before = times(tmp_path)
    assert len(before) > 4
    sorted(tmp_path.iterdir())[2].unlink()
    assert gradients(tmp_path).tobytes() == whole.tobytes()
    after = times(tmp_path)
    assert [new == old for new, old in zip(after, before, strict=True)] == [
        i != 2 for i in range(len(before))
    ]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"x": DIGITS.x * 0.5}, "belongs to other gradients"),
        ({"y": DIGITS.y[::-1]}, "belongs to other gradients"),
        ({"parameters": NETWORK.start(1)}, "belongs to other gradients"),
        ({"memory": SMALL // 2}, "belongs to other gradients"),
        ({"reduce": lambda rows: rows * np.float32(1 + 2**-20)}, "other numbers than `reduce` gives now"),
        ({"reduce": lambda rows: rows[:, :1]}, "other numbers than `reduce` gives now"),
    ],
)
def test_gradients_of_something_else_are_refused(tmp_path, changed, words):
    gradients(tmp_path)
    before = times(tmp_path)
    with pytest.raises(ValueError, match=words):
        gradients(tmp_path, **changed)
    assert times(tmp_path) == before


def test_a_corrupt_file_or_none_of_a_folder_is_refused(tmp_path):
    gradients(tmp_path)
    file = tmp_path / "00003.npz"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    for wrong in (content, content[: len(content) // 2]):
        file.write_bytes(wrong)
        with pytest.raises(ValueError, match=r"00003.npz is no whole micro-batch of gradients"):
            gradients(tmp_path)
    with pytest.raises(ValueError, match=r"checkpoint is '.*00003.npz' \(.*\); it must be a folder"):
        gradients(file, reduce=lambda rows: 1 / 0)  # before any work


SLOW = """
import sys, time
import numpy as np
from mipsim import data, nn
def slowly(rows):
    time.sleep(0.2)
    return rows
digits, network = data.digits(), nn.linear((8, 8, 1), 10)
nn.per_example_gradients(network, network.start(0), digits.x, digits.y, memory=2**22, checkpoint=sys.argv[1], reduce=slowly)
"""


@pytest.mark.system
def test_a_killed_computation_goes_on(tmp_path):
    folder = tmp_path / "stored"
    process = subprocess.Popen([sys.executable, "-c", SLOW, str(folder)], cwd=Path(__file__).parents[2])
    end = time.monotonic() + 120
    while time.monotonic() < end and len(list(folder.glob("0*.npz"))) < 3:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    retained = {file: file.stat().st_mtime_ns for file in folder.glob("0*.npz")}
    assert 3 <= len(retained) < 8
    assert gradients(folder, reduce=lambda rows: rows).tobytes() == gradients(None).tobytes()
    assert all(file.stat().st_mtime_ns == at for file, at in retained.items())


def test_a_victim_is_the_same_with_stored_values(tmp_path):
    settings = {"convolutions": False, "part": "trained", "references": 200}
    with storing_in(tmp_path):
        folder = stored_folder("gradients-digits")
    whole = victim("digits", DIGITS, **settings)
    for _ in range(2):
        result = victim("digits", DIGITS, **settings, store=folder)
        assert result.scores.tobytes() == whole.scores.tobytes()
        assert result.mahalanobis.tobytes() == whole.mahalanobis.tobytes()
    assert sorted(file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*.npz")) == [
        f"gradients-digits/{what}/00000.npz" for what in ("distances", "scores")
    ]
