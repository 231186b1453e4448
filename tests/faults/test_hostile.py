"""What somebody means ill by: a part of each campaign by default, all of them with -m slow."""

import numpy as np
import pytest

from mipsim._archives import LIMIT
from tests.faults import hostile_files, hostile_words
from tests.faults.test_storage import hold


@pytest.mark.evidence
def test_every_forged_array_of_every_file(tmp_path):
    assert hold(hostile_files.arrays(tmp_path)).tried > 500


@pytest.mark.evidence
def test_random_files(tmp_path):
    assert hold(hostile_files.random_files(tmp_path, 140)).seen["refused"] > 100


def test_random_probes(tmp_path):
    assert hold(hostile_files.probes(tmp_path, 40)).seen["refused"] > 20


def test_the_control_is_seen(tmp_path):
    """A sound file, and a file that is refused in several lines, do not pass for hostile files that are refused."""
    path = tmp_path / "sound.npz"
    hostile_files.sound_scores(path)
    assert hostile_files.fault(lambda: hostile_files.read_scores(path), path.name) == hostile_files.READ

    def raises(text: str):
        raise ValueError(text)

    for message in ("sound.npz\nagain", "sound.npz \x1b[2J", "x", "sound.npz" + "x" * 400):
        assert hostile_files.fault(lambda shown=message: raises(shown), path.name)
    assert hostile_files.fault(lambda: bytearray(2**27), path.name)


def test_the_limit_holds_for_a_file_and_for_its_arrays_and_can_be_raised(tmp_path):
    """A byte too low is refused, what is needed is enough, and a limit that is none is named."""
    path, bomb = tmp_path / "sound.npz", tmp_path / "bomb.npz"
    hostile_files.sound_scores(path)
    size, many = path.stat().st_size, 10**5
    np.savez_compressed(bomb, score=np.arange(many) % 7.0, label=np.arange(many) % 2)
    for file, enough, why in (
        (path, size, f"has {size:,} bytes"),
        (bomb, 16 * many + 256, "its arrays have 1,600,256 bytes"),  # two headers of 128 bytes
    ):
        with hostile_files.limited(enough):
            hostile_files.read_scores(file)
        with (
            hostile_files.limited(enough - 1),
            pytest.raises(ValueError, match=f"{why}.*{LIMIT} raises the limit"),
        ):
            hostile_files.read_scores(file)
    for wrong in ("0", "-1", "1e9", "many", "9" * 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(LIMIT, wrong)
            with pytest.raises(
                ValueError, match=f"{LIMIT} is {wrong}; it must be a whole number of bytes >= 1"
            ):
                hostile_files.read_scores(path)


@pytest.mark.parametrize("words", [hostile_words.WORDS[:3], hostile_words.WORDS[3:6]])
def test_hostile_words_in_every_place(words, tmp_path):
    hold(hostile_words.arguments(tmp_path, words))


def test_random_words_in_every_place(tmp_path):
    hold(hostile_words.random_arguments(tmp_path, 100))


@pytest.mark.evidence
def test_no_escape_sequence_reaches_a_terminal(tmp_path):
    hold(hostile_words.sequences(tmp_path, 1))


def test_markup(tmp_path):
    hold(hostile_words.markup(tmp_path, 5))
