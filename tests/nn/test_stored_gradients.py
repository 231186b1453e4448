"""Gradients that are stored micro-batch by micro-batch: a killed computation continues, and nothing else is taken for it."""

from pathlib import Path

import numpy as np
import pytest

from mipsim import data, nn

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
