"""What somebody means ill by: a part of each campaign by default, all of them with -m slow."""

import numpy as np
import pytest

from mipsim._archives import LIMIT
from mipsim.audits import tables
from tests.faults import heavy_files, hostile_files, hostile_words
from tests.faults.children import SERVER
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


def test_the_limit_holds_for_a_file_and_for_what_is_held_of_it_and_can_be_raised(tmp_path):
    """A byte too low is refused, what is needed is enough, and a limit that is none is named."""
    path, bomb, many = tmp_path / "sound.npz", tmp_path / "bomb.npz", 10**5
    hostile_files.sound_scores(path)
    np.savez_compressed(bomb, score=np.arange(many) % 7.0, label=np.arange(many) % 2)
    size = path.stat().st_size
    with hostile_files.limited(size - 1), pytest.raises(ValueError, match=f"has {size:,} bytes; at most"):
        hostile_files.read_scores(path)
    for file, scores in ((path, 300), (bomb, many)):
        enough = -(-(file.stat().st_size + 16 * scores + tables.A_SCORE * scores) // 2)
        with hostile_files.limited(enough):
            hostile_files.read_scores(file)
        with (
            hostile_files.limited(enough - 1),
            pytest.raises(ValueError, match=f"bytes of memory; .*{LIMIT} raises the limit"),
        ):
            hostile_files.read_scores(file)
    for wrong in ("0", "-1", "1e9", "many", "9" * 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(LIMIT, wrong)
            with pytest.raises(
                ValueError, match=f"{LIMIT} is {wrong}; it must be a whole number of bytes >= 1"
            ):
                hostile_files.read_scores(path)


def _weighed(kinds, folder, limit=2**26):
    """Files of more and more scores of each kind, and what reading each takes: a sentence, or no more than is allowed."""
    missed, read = [], set()
    with SERVER.Pool(1, maxtasksperchild=1) as pool:
        for kind in kinds:
            ending, make = heavy_files.FILES[kind]
            path, rows, what = folder / f"{kind}.{ending}", limit >> 13, ""
            while LIMIT not in what and rows < limit >> 5:
                make(path, rows)
                what, peak = pool.apply(heavy_files.cost, (path, limit))
                if peak > max(2 * limit, 4 * path.stat().st_size) or len(what) > hostile_files.MOST_TEXT:
                    missed.append((kind, rows, peak, what))
                read |= (
                    set() if what else {kind}
                )  # a sentence on what is in a file may end a reader that held all of it
                rows *= 2
    assert not missed
    return read


def test_a_small_file_does_not_take_gigabytes(tmp_path):
    kinds = (
        "int8, packed",
        "a long name of a run",
        "objects of nothing",
        "short lines",
    )
    assert _weighed(kinds, tmp_path) == {*kinds[:2], kinds[3]}


@pytest.mark.parametrize(
    "limit", [pytest.param(2**26, marks=pytest.mark.evidence), pytest.param(2**30, marks=pytest.mark.slow)]
)
def test_no_small_file_takes_gigabytes(tmp_path, limit):
    """The default limit comes last: no more than 2 GiB, or four times the file."""
    assert len(heavy_files.FILES) > 20
    assert len(_weighed(heavy_files.FILES, tmp_path, limit)) > 14


def test_no_memory_ends_in_a_sentence(tmp_path, monkeypatch):
    path = tmp_path / "sound.npz"
    hostile_files.sound_scores(path)

    def none(*_, **__):
        raise MemoryError

    for place in ("mipsim.audits.scores.hashlib.sha256", "mipsim._archives.np.load"):
        with monkeypatch.context() as patch:
            patch.setattr(place, none)
            with pytest.raises(ValueError, match=r"sound\.npz: there is no memory to hold what is in it"):
                hostile_files.read_scores(path)
            status, _, err = hostile_words.run_command("mipsim", ["audit", str(path), "--design", "one-run"])
            assert (status, err.count("\n")) == (2, 1)
    monkeypatch.setattr("mipsim.tradeoff.account", none)
    status, _, err = hostile_words.run_command("mipsim", ["account", "--noise-multiplier", "1"])
    assert (status, err) == (1, "mipsim: there is not enough memory\n")


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
