"""Data sets are read from the published files, and from no others."""

import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from http.client import BadStatusLine, IncompleteRead
from pathlib import Path

import numpy as np
import pytest

from mipsim import data
from mipsim.data.files import DIRECTORY, DataError
from mipsim.data.images import cifar_batch, idx_array
from tests.data.conftest import archive, small_files

LOADERS = {
    "fashion-mnist": data.fashion_mnist,
    "cifar10": data.cifar10,
    "adult": data.adult,
    "location30": data.location30,
    "snli": data.snli,
    "imagenet32": data.imagenet,
}
FETCHED = [name for name in LOADERS if name != "imagenet32"]


def test_small_files_are_read(small: Path) -> None:
    clothes, test = data.fashion_mnist(directory=small), data.fashion_mnist("test", small)
    assert clothes.x.shape == (6, 28, 28, 1)
    assert (clothes.x.dtype, clothes.y.dtype, clothes.y.tolist()) == (np.float32, np.int64, list(range(6)))
    assert 0.0 <= clothes.x.min() < 0.1 < 0.9 < clothes.x.max() <= 1.0
    assert len(test) == 3
    things = data.cifar10(directory=small)
    assert (things.x.shape, things.y.tolist()) == ((5, 32, 32, 3), [0, 1, 2, 3, 4])
    raw = np.frombuffer((small / "cifar10/data_batch_2.bin").read_bytes(), np.uint8)
    assert things.x[1, 3, 4, 2] == np.float32(raw[1 + 2 * 1024 + 3 * 32 + 4]) / np.float32(255)
    people, test_people = data.adult(directory=small), data.adult("test", directory=small)
    assert people.x.shape == (2, 12)
    assert people.y.tolist() == test_people.y.tolist() == [0, 1]
    assert people.features[1] == "workclass"
    assert people.x[:, 1].tolist() == [1.0, 0.0]  # "?" comes before the letters
    visits = data.location30(small)
    assert (visits.x.shape, visits.y.tolist(), visits.x.sum()) == ((2, 446), [0, 29], 446.0)


@pytest.mark.parametrize("name", LOADERS)
def test_an_error_is_a_single_sentence(
    name: str, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = LOADERS[name]
    with pytest.raises(
        DataError, match=rf"none is named: give directory, or set {DIRECTORY}, to the folder of"
    ):
        load()
    monkeypatch.setenv(DIRECTORY, str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match=rf"{DIRECTORY} is '.*nowhere', which is no folder"):
        load()
    monkeypatch.setenv(DIRECTORY, str(small))
    assert len(load()) > 0
    file = min((small / name).iterdir())
    for path in (small / name).iterdir():
        whole = path.read_bytes()
        path.write_bytes(whole[:-7])
        with pytest.raises(DataError, match=rf"{path.name} has .* bytes of .*: it is truncated; replace it"):
            _all_splits(load)
        half = len(whole) // 2
        path.write_bytes(whole[:half] + bytes([whole[half] ^ 1]) + whole[half + 1 :])
        with pytest.raises(DataError, match=r"SHA-256 .* which is not that of the published file"):
            _all_splits(load)
        path.write_bytes(whole)
    whole = file.read_bytes()
    file.unlink()
    with pytest.raises(DataError) as result:
        _all_splits(load)
    text = str(result.value)
    assert all(word in text for word in (file.name, "is missing", "file://", str(file)))
    assert ("fetch" in text) == (name in FETCHED)
    assert "\n" not in text


def _all_splits(load) -> None:
    load()
    if load is not data.location30:
        load("test")


def test_batches_may_be_packed(small: Path) -> None:
    before = data.cifar10(directory=small)
    for path in (small / "cifar10").iterdir():
        path.with_suffix(".bin.xz").write_bytes(lzma.compress(path.read_bytes()))
        path.unlink()
    assert (data.cifar10(directory=small).x == before.x).all()
    third = small / "cifar10/data_batch_3.bin.xz"
    third.write_bytes(third.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"data_batch_3.bin.xz cannot be read"):
        data.cifar10(directory=small)


@pytest.mark.parametrize("name", FETCHED)
def test_missing_files_are_fetched(name: str, small: Path, tmp_path: Path) -> None:
    assert data.fetch(name, small) == ()
    folder = small / name
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for path in folder.iterdir():
        path.unlink()
    assert {path.name for path in data.fetch(name, small)} == set(before)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    for path in folder.iterdir():
        path.unlink()
    for path in (tmp_path / "origin").iterdir():
        path.unlink()
    with pytest.raises(DataError, match=r"cannot be fetched from file://"):
        data.fetch(name, small)
    assert not list(folder.iterdir())


def test_a_wrong_download_is_not_stored(small: Path, tmp_path: Path) -> None:
    (small / "adult/adult.data").unlink()
    (tmp_path / "origin/adult.data").write_bytes(b"<html>not here</html>")
    with pytest.raises(DataError, match=r"has 21 bytes of .* truncated; nothing of it was stored"):
        data.fetch("adult", small)
    assert not (small / "adult/adult.data").exists()
    with pytest.raises(ValueError, match="dataset is 'mnist'; allowed: fashion-mnist"):
        data.fetch("mnist", small)


def test_an_archive_that_is_broken_anywhere_is_a_single_sentence(small: Path, tmp_path: Path) -> None:
    for path in (small / "cifar10").iterdir():
        path.unlink()
    origin, published = tmp_path / "origin/cifar.tar.gz", small_files()["cifar10"]
    # Before them a member that nobody wants, larger than what is unpacked at once.
    others = {f"folder__{name.replace('.', '_dot_')}": content for name, content in published.items()}
    whole = archive(readme=np.random.default_rng(0).bytes(400_000), **others)
    tar = gzip.decompress(whole)
    end = max(tar.index(content) for content in published.values())  # where the last member's begins
    # In the head of a member, in its content, in the padding.
    for place in (*range(0, 400_000, 50_000), *range(400_000, end, 700)):
        packer = zlib.compressobj(wbits=31)  # gzip
        packed = packer.compress(tar[:place]) + packer.flush(zlib.Z_FULL_FLUSH)
        cut = len(whole) * place // len(tar)
        for spoilt in (whole[:cut], packed, packed + b"\x07" * 9, packed + b"\0" * 9):  # \7: no such block
            origin.write_bytes(spoilt)
            with pytest.raises(DataError, match="nothing of it was stored"):
                data.fetch("cifar10", small)
            for path in (small / "cifar10").iterdir():  # those before the break
                assert path.read_bytes() == published[path.name]
                path.unlink()


def test_formats_are_checked() -> None:
    for wrong in (b"", b"no gzip", gzip.compress(b"\0\0\x09\x01\0\0\0\0"), gzip.compress(b"\0\0\x08\x03\0")):
        with pytest.raises(DataError):
            idx_array(wrong)
    with pytest.raises(DataError, match=r"shape \(2,\) with 1 entries, not 2"):
        idx_array(gzip.compress(b"\0\0\x08\x01\0\0\0\x02\x07"))
    with pytest.raises(DataError, match="no whole number of records"):
        cifar_batch(bytes(3074))


@pytest.mark.usefixtures("no_scikit_learn")
def test_without_scikit_learn_the_sentence_says_what_brings_it() -> None:
    for load, what in ((data.diabetes, "the diabetes data"), (data.digits, "the digits")):
        with pytest.raises(ImportError, match=rf'{what} need the package sklearn.*"mipsim\[nn\]"'):
            load()


@pytest.mark.evidence
def test_published_files(real: Path) -> None:
    clothes = data.fashion_mnist("test", real)
    assert clothes.x.shape == (10_000, 28, 28, 1)
    assert (np.bincount(clothes.y) == 1000).all()
    people, unseen = data.adult(directory=real), data.adult("test", real)
    assert people.x.shape == (32_561, 12)
    assert people.y.sum() == 7841
    assert unseen.x.shape == (16_281, 12)
    assert unseen.y.sum() == 3846
    visits = data.location30(real)
    assert visits.x.shape == (5010, 446)
    assert set(visits.y) == set(range(30))
    things = data.cifar10("test", real)
    assert things.x.shape == (10_000, 32, 32, 3)
    assert (np.bincount(things.y) == 1000).all()


class BrokenOff(io.BytesIO):
    """The answer of a server that goes away before its last byte."""

    def read(self, *_: object) -> bytes:
        raise IncompleteRead(self.getvalue()[:5], 20)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda url, timeout: BrokenOff(b"half of it"), r"IncompleteRead\(5 bytes read, 20 more expected\)"),
        (lambda url, timeout: (_ for _ in ()).throw(BadStatusLine("")), "BadStatusLine"),
    ],
    ids=("broken off", "no HTTP"),
)
def test_an_answer_that_is_no_whole_http_is_a_single_sentence(
    answer: Callable, words: str, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (small / "adult/adult.data").unlink()
    monkeypatch.setattr("urllib.request.urlopen", answer)
    with pytest.raises(DataError, match=rf"adult.data cannot be fetched from file://.*{words}"):
        data.fetch("adult", small)
    assert [path.name for path in (small / "adult").iterdir()] == ["adult.test"]
