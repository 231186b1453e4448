"""Small synthetic files in the published formats, and the real ones where they are."""

import gzip
import hashlib
import io
import json
import os
import struct
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mipsim.data import published
from mipsim.data.files import DIRECTORY, DataFile

ADULT = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, Cuba, <=50K\n"
    "50, ?, 83311, HS-grad, 9, Divorced, Sales, Husband, Black, Female, 0, 5, 13, Peru, >50K\n"
)


def idx(array: np.ndarray) -> bytes:
    head = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
    return gzip.compress(head + array.astype(np.uint8).tobytes())


def archive(**members: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name.replace("__", "/").replace("_dot_", "."))
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


PAIRS = (
    ("neutral", "A person on a horse jumps.", "A person is training his horse."),
    ("-", "Children smile.", "They are at a camera."),
    ("contradiction", "Children smile.", "The kids are frowning."),
    ("entailment", "Two dogs, running!", "two DOGS running"),
)
"""As SNLI has them; the annotators did not agree on the second."""


def zipped(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as held:
        for name, content in members.items():
            held.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return out.getvalue()


def jsonl(pairs: tuple[tuple[str, str, str], ...]) -> bytes:
    """With the fields of the published files."""
    lines = []
    for i, (label, *sentences) in enumerate(pairs):
        fields = {
            "annotator_labels": [label],
            "captionID": "3416050480.jpg#4",
            "gold_label": label,
            "pairID": f"3416050480.jpg#4r{i}",
        }
        for k, text in enumerate(sentences, 1):
            fields |= {
                f"sentence{k}": text,
                f"sentence{k}_binary_parse": f"( {text} )",
                f"sentence{k}_parse": f"(ROOT {text})",
            }
        lines.append(json.dumps(fields).encode() + b"\n")
    return b"".join(lines)


def npz(images: np.ndarray, labels: np.ndarray, **other: np.ndarray) -> bytes:
    """A batch of ImageNet: images of shape (N, 32, 32, 3), labels from 1."""
    out = io.BytesIO()
    data = images.transpose(0, 3, 1, 2).reshape(len(images), int(np.prod(images.shape[1:])))
    np.savez_compressed(out, **{"data": data, "labels": labels, "mean": np.zeros(3072), **other})
    return out.getvalue()


def small_files() -> dict[str, dict[str, bytes]]:
    rng = np.random.default_rng(0)
    fashion = {}
    for prefix, n in (("train", 6), ("t10k", 3)):
        fashion[f"{prefix}-images-idx3-ubyte.gz"] = idx(rng.integers(0, 256, (n, 28, 28)))
        fashion[f"{prefix}-labels-idx1-ubyte.gz"] = idx(np.arange(n) % 10)
    names = [*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]
    cifar = {name: bytes([i]) + rng.bytes(3072) for i, name in enumerate(names)}

    def batch(*labels: int) -> bytes:
        return npz(rng.integers(0, 256, (len(labels), 32, 32, 3)).astype(np.uint8), np.array(labels))

    parts = {f"train_data_batch_{i}_dot_npz": batch(i, 1000) for i in range(1, 11)}
    seen = batch(7, 1, 1000)
    corpus = {f"snli_1.0__snli_1.0_{split}_dot_jsonl": jsonl(PAIRS) for split in ("train", "dev", "test")}
    rows = "".join(f'"{k}",' + ",".join(["0", "1"] * 223) + "\n" for k in (1, 30))
    return {
        "fashion-mnist": fashion,
        "cifar10": cifar,
        "adult": {
            "adult.data": ADULT.encode(),
            "adult.test": b"|1x3 Cross validator\n" + ADULT.replace("K\n", "K.\n").encode(),
        },
        "snli": {"snli_1.0.zip": zipped(**{"snli_1.0__README_dot_txt": b"SNLI", **corpus})},
        "imagenet32": {
            "Imagenet32_train_npz.zip": zipped(**parts),
            "Imagenet32_val_npz.zip": zipped(folder__val_data_dot_npz=seen),
        },
        "location30": {"dataset_location.tgz": archive(bangkok=rows.encode())},
    }


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return lay_out(tmp_path, monkeypatch)


def lay_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory of small files that count as the published ones; their publisher is a folder beside it."""
    directory, origin = tmp_path / "data", tmp_path / "origin"
    origin.mkdir()
    for name, files in small_files().items():
        (directory / name).mkdir(parents=True)
        known = []
        for file, content in files.items():
            (directory / name / file).write_bytes(content)
            (origin / file).write_bytes(content)
            url = (origin / file).as_uri()
            if name == "cifar10":
                url = (origin / "cifar.tar.gz").as_uri()
            known.append(DataFile(file, hashlib.sha256(content).hexdigest(), len(content), url))
        if name == "cifar10":
            packed = {f"folder__{file.replace('.', '_dot_')}": content for file, content in files.items()}
            (origin / "cifar.tar.gz").write_bytes(archive(**packed))
        old = published.PUBLISHED[name]
        monkeypatch.setitem(published.PUBLISHED, name, replace(old, files=tuple(known)))
    monkeypatch.delenv(DIRECTORY, raising=False)
    return directory


@pytest.fixture(scope="session")
def real() -> Path:
    """The data directory with the published files."""
    named = os.environ.get(DIRECTORY)
    beside = Path(__file__).parents[3] / "shared" / "data"
    result = Path(named) if named else beside
    if not result.is_dir():
        pytest.skip(f"no published data: set {DIRECTORY} to a data directory, or put it at {beside}")
    return result
