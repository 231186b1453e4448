"""SNLI and ImageNet, whose real files are too large for a test: small ones in the published formats."""

import hashlib
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mipsim import data
from mipsim.data import published
from mipsim.data.files import DataError, lacking, sampled
from mipsim.data.images import imagenet_batch
from mipsim.data.text import hashed_bags, hashed_pairs, labelled_pairs
from tests.data.conftest import PAIRS, jsonl, npz, small_files, zipped

IMAGES = np.random.default_rng(1).integers(0, 256, (4, 32, 32, 3)).astype(np.uint8)


def test_pairs_are_read(small: Path) -> None:
    for split in ("train", "dev", "test"):
        pairs = data.snli(split, small, width=64)
        assert (pairs.x.shape, pairs.x.dtype, pairs.y.dtype) == ((3, 256), np.float32, np.int64)
        assert pairs.classes == ("entailment", "neutral", "contradiction")
        assert [pairs.classes[y] for y in pairs.y] == ["neutral", "contradiction", "entailment"], (
            "all but the pair without a gold label"
        )
        assert len(pairs.features) == 256
        retained = [pair for pair in PAIRS if pair[0] != "-"]
        assert (pairs.x == hashed_pairs([p for _, p, _ in retained], [h for _, _, h in retained], 64)).all()
    first, second, product, difference = np.split(pairs.x, 4, axis=1)
    assert (product == first * second).all()
    assert (difference == np.abs(first - second)).all()
    assert not difference[2].any(), "the same words"
    assert difference[:2].any(axis=1).all()
    with pytest.raises(ValueError, match="split is 'validation'; allowed: train, dev, test"):
        data.snli("validation", small)  # pyright: ignore[reportArgumentType]


def test_a_pair_is_encoded_by_itself() -> None:
    """No record changes what another becomes; and words land where their BLAKE2b hash says, on any machine."""
    sentences = [pair[1] for pair in PAIRS]
    together = hashed_bags(sentences, 32)
    assert (together == np.concatenate([hashed_bags([item], 32) for item in sentences])).all()
    # `printf dogs | b2sum -l 64` says 3a3cfac1e6b03a5f, the least byte first: even, so that the sign is +.
    bag = hashed_bags(["dogs"], 1000)[0]
    assert bag[0x5F3AB0E6C1FA3C3A // 2 % 1000] == 1.0 == np.abs(bag).sum()


def test_lines_that_are_no_pairs_are_named() -> None:
    good, changed = jsonl(PAIRS[:1]), json.loads(jsonl(PAIRS[:1]))
    assert len(list(labelled_pairs([good]))) == 1
    wrong = (
        good[:-20],
        b"[]\n",
        b"\xff\n",
        json.dumps({**changed, "gold_label": "maybe"}).encode(),
        json.dumps({**changed, "gold_label": ["neutral"]}).encode(),
        json.dumps({**changed, "sentence2": None}).encode(),
        json.dumps({key: changed[key] for key in changed if key != "sentence1"}).encode(),
    )
    for line in wrong:
        with pytest.raises(
            DataError, match=r"line 2 is .*; it must be JSON with sentence1, sentence2"
        ) as result:
            list(labelled_pairs([good, line]))
        assert "\n" not in str(result.value)


def test_batches_of_images_are_read(small: Path) -> None:
    things, test = data.imagenet(directory=small), data.imagenet("test", small)
    assert (things.x.shape, things.x.dtype, things.y.dtype) == ((20, 32, 32, 3), np.float32, np.int64)
    assert things.y.tolist() == [label for i in range(10) for label in (i, 999)]
    assert (len(things.classes), test.y.tolist()) == (1000, [6, 0, 999])
    images, labels = imagenet_batch(npz(IMAGES, np.array([3, 1, 1000, 3])))
    assert (images == IMAGES).all(), "red, green and blue planes"
    assert labels.tolist() == [2, 0, 999, 2]


def pretend(small: Path, monkeypatch: pytest.MonkeyPatch, name: str, file: str, content: bytes) -> None:
    """Let these bytes be the published ones."""
    (small / name / file).write_bytes(content)
    old, known = (
        published.PUBLISHED[name],
        {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)},
    )
    files = tuple(replace(item, **known) if item.name == file else item for item in old.files)
    monkeypatch.setitem(published.PUBLISHED, name, replace(old, files=files))


def written(save: Any, *arrays: np.ndarray, **named: np.ndarray) -> bytes:
    out = io.BytesIO()
    save(out, *arrays, **named)
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (written(np.save, IMAGES), "no NPZ file with the arrays data and labels"),
        (
            written(np.savez, images=IMAGES, labels=np.ones(4, np.int64)),
            "no NPZ file with the arrays data and labels",
        ),
        (b"", "no NPZ file"),
        (b"PK\3\4 nothing", "no NPZ file"),
        (npz(IMAGES, np.ones(4, np.int64))[:-50], "no NPZ file"),
        (npz(IMAGES, np.array([1, "two", None, 4], object)), "no whole .npz archive of plain arrays"),
        (npz(IMAGES, np.array([0, 1, 2, 3])), "labels go from 0 to 3"),
        (npz(IMAGES, np.array([1, 2, 3, 1001])), "labels go from 1 to 1001"),
        (npz(IMAGES, np.ones(3, np.int64)), r"labels is int64 of shape \(3,\); it must be 4 whole numbers"),
        (npz(IMAGES, np.ones(4)), "labels is float64"),
        (npz(IMAGES.astype(np.float32), np.ones(4, np.int64)), "data is float32"),
        (npz(IMAGES[:, :16], np.ones(4, np.int64)), r"data is uint8 of shape \(4, 1536\)"),
        (npz(IMAGES[:0], np.ones(0, np.int64)), r"shape \(0, 3072\)"),
    ],
)
def test_what_is_no_batch_of_images_is_refused(content: bytes, words: str) -> None:
    with pytest.raises(DataError, match=words) as result:
        imagenet_batch(content)
    assert "\n" not in str(result.value)


def test_archives_without_a_member_or_that_are_none_are_reported(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(small, monkeypatch, "snli", "snli_1.0.zip", zipped(snli_dot_txt=b""))
    with pytest.raises(DataError, match=r"snli_1.0.zip has no member snli_1.0_train.jsonl"):
        data.snli("train", small)
    pretend(small, monkeypatch, "snli", "snli_1.0.zip", b"no archive")
    with pytest.raises(DataError, match=r"snli_1.0.zip cannot be read \(File is not a zip file\)"):
        data.snli("train", small)
    whole = bytearray(small_files()["imagenet32"]["Imagenet32_val_npz.zip"])
    whole[200] ^= 1  # within the packed images: the checksum of the member
    pretend(small, monkeypatch, "imagenet32", "Imagenet32_val_npz.zip", bytes(whole))
    with pytest.raises(DataError, match=r"Imagenet32_val_npz.zip cannot be read"):
        data.imagenet("test", small)


def test_some_records_are_always_the_same_and_evenly_sampled(small: Path) -> None:
    assert (data.imagenet(directory=small, records=5).x == data.imagenet(directory=small, records=5).x).all()
    rows = {row.tobytes() for row in data.imagenet(directory=small).x}
    some = data.imagenet(directory=small, records=5)
    assert len({row.tobytes() for row in some.x} & rows) == 5
    assert sorted(data.imagenet(directory=small, records=20).y) == sorted(data.imagenet(directory=small).y)
    assert len(data.snli("train", small, records=2)) == 2
    with pytest.raises(ValueError, match="records is 4; there are 3"):
        data.snli("train", small, records=4)
    with pytest.raises(ValueError, match="records is 0; it must be"):
        data.imagenet(directory=small, records=0)
    x, y = sampled([(rows, rows) for rows in np.arange(8000).reshape(8, 1000)], 4000)
    assert (x == y).all()
    assert len(set(x)) == 4000, "without replacement"
    # By Hoeffding's inequality, 2 exp(-2 t^2 / 4000), a fair draw goes farther with probability below 1e-10; the first 4,000 would be 2,000 away.
    assert abs((x < 4000).sum() - 2000) < 7 * np.sqrt(4000) / 2


def test_imagenet_is_not_fetched(small: Path) -> None:
    assert data.fetch("imagenet32", small) == ()
    assert lacking(published.PUBLISHED["imagenet32"], small) == ()
    (small / "imagenet32/Imagenet32_val_npz.zip").unlink()
    with pytest.raises(DataError, match=r"Imagenet32_val_npz.zip is not fetched: .*terms"):
        data.fetch("imagenet32", small)
    assert not (small / "imagenet32/Imagenet32_val_npz.zip").exists()
    assert lacking(published.PUBLISHED["imagenet32"], small) == ("Imagenet32_val_npz.zip",)
    assert len(lacking(published.PUBLISHED["imagenet32"])) == 2, "no data directory is named"
