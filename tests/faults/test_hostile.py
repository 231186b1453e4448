"""What somebody means ill by: a part of each campaign by default, all of them with -m slow."""

import pytest

from tests.faults import hostile_files, hostile_words
from tests.faults.test_storage import hold


def test_every_forged_array_of_every_file(tmp_path):
    assert hold(hostile_files.arrays(tmp_path)).tried > 500


def test_random_files(tmp_path):
    assert hold(hostile_files.random_files(tmp_path, 140)).seen["refused"] > 100


def test_random_probes(tmp_path):
    assert hold(hostile_files.probes(tmp_path, 40)).seen["refused"] > 20


def test_the_control_is_seen(tmp_path):
    """A sound file, and one that is refused in several lines, do not pass for hostile files that are refused."""
    path = tmp_path / "sound.npz"
    hostile_files.sound_scores(path)
    assert hostile_files.fault(lambda: hostile_files.read_scores(path), path.name) == hostile_files.READ

    def raises(text: str):
        raise ValueError(text)

    for said in ("sound.npz\nagain", "sound.npz \x1b[2J", "x", "sound.npz" + "x" * 400):
        assert hostile_files.fault(lambda said=said: raises(said), path.name)
    assert hostile_files.fault(lambda: bytearray(2**27), path.name)


@pytest.mark.parametrize("words", [hostile_words.WORDS[:3], hostile_words.WORDS[3:6]])
def test_hostile_words_in_every_place(words, tmp_path):
    hold(hostile_words.arguments(tmp_path, words))


def test_random_words_in_every_place(tmp_path):
    hold(hostile_words.random_arguments(tmp_path, 100))


def test_no_escape_sequence_reaches_a_terminal(tmp_path):
    hold(hostile_words.sequences(tmp_path, 1))


def test_markup(tmp_path):
    hold(hostile_words.markup(tmp_path, 5))
