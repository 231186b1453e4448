"""Small synthetic files in the published formats, and the real ones where they are."""

import gzip
import hashlib
import io
import os
import struct
import tarfile
from pathlib import Path

import numpy as np
import pytest

from mipsim.data import published
from mipsim.data.files import DIRECTORY, DataFile, Published

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


def small_files() -> dict[str, dict[str, bytes]]:
    rng = np.random.default_rng(0)
    fashion = {}
    for prefix, n in (("train", 6), ("t10k", 3)):
        fashion[f"{prefix}-images-idx3-ubyte.gz"] = idx(rng.integers(0, 256, (n, 28, 28)))
        fashion[f"{prefix}-labels-idx1-ubyte.gz"] = idx(np.arange(n) % 10)
    names = [*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]
    cifar = {
        name: bytes([i]) + rng.integers(0, 256, 3072).astype(np.uint8).tobytes()
        for i, name in enumerate(names)
    }
    rows = "".join(f'"{k}",' + ",".join(["0", "1"] * 223) + "\n" for k in (1, 30))
    return {
        "fashion-mnist": fashion,
        "cifar10": cifar,
        "adult": {
            "adult.data": ADULT.encode(),
            "adult.test": b"|1x3 Cross validator\n" + ADULT.replace("K\n", "K.\n").encode(),
        },
        "location30": {"dataset_location.tgz": archive(bangkok=rows.encode())},
    }


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
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
        monkeypatch.setitem(published.PUBLISHED, name, Published(old.title, old.folders, tuple(known)))
    monkeypatch.delenv(DIRECTORY, raising=False)
    return directory


@pytest.fixture(scope="session")
def real() -> Path:
    """The data directory with the published files."""
    named = os.environ.get(DIRECTORY)
    beside = Path(__file__).parents[3] / "shared" / "data"
    found = Path(named) if named else beside
    if not found.is_dir():
        pytest.skip(f"no published data: set {DIRECTORY} to a data directory, or put one at {beside}")
    return found
