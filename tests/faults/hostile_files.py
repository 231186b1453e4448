"""Hostile files: each is refused in a single sentence, at once, and nothing in it is run."""

import contextlib
import io
import json
import math
import os
import random
import struct
import time
import tracemalloc
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import mipsim as mi
from mipsim import referee as rf
from mipsim._archives import LIMIT
from mipsim.audits.scores import read_scores
from mipsim.data.images import imagenet_batch
from mipsim.nn import linear, train
from mipsim.nn.batch_files import StoredBatches
from tests.engine.long_run import run
from tests.faults.campaigns import GAMES, Figures
from tests.faults.forged import header, members, npy, rewrite

MOST_TEXT, MOST_MEMORY, MOST_SECONDS = 400, 2**26, 5.0
"""Characters of a refusal, bytes allocated for it, and seconds of the processor."""
ROOM = 2**22
"""What the limit is set to: bombs and sparse files that pass it are small enough to be made quickly."""

READ = "it was read"

Forgery = Callable[[Path, str], object]


def _header(descr: str, shape: str) -> bytes:
    return header(f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n")


def _member(content: bytes) -> Forgery:
    """The array's bytes are others."""
    return lambda path, name: rewrite(path, members(path) | {f"{name}.npy": content})


def _stated(descr: str, shape: str) -> Forgery:
    """The array has another header before its own entries."""

    def forge(path: Path, name: str) -> None:
        held = members(path)[f"{name}.npy"]
        length = int.from_bytes(held[8:10], "little")
        rewrite(path, members(path) | {f"{name}.npy": _header(descr, shape) + held[10 + length :]})

    return forge


def _file(content: bytes) -> Forgery:
    return lambda path, name: path.write_bytes(content)


def _twice(second: str) -> Forgery:
    def forge(path: Path, name: str) -> None:
        held = members(path)
        with zipfile.ZipFile(path, "w") as archive:
            for member, content in held.items():
                archive.writestr(member, content)
            info = zipfile.ZipInfo(second.format(name))
            archive.NameToInfo.pop(info.filename, None)  # what warns of a name that is there
            archive.writestr(info, held[f"{name}.npy"])

    return forge


def _packed(method: int, junk: bool = False) -> Forgery:
    def forge(path: Path, name: str) -> None:
        held = members(path)
        with zipfile.ZipFile(path, "w") as archive:
            for member, content in held.items():
                if junk or member != f"{name}.npy":
                    archive.writestr(member, content)
            # What is beside the array may be left alone, and to unpack it would take more than a refusal may.
            many = npy(np.zeros((2 * MOST_MEMORY if junk else 2 * ROOM) // 8))
            archive.writestr("junk.npy" if junk else f"{name}.npy", many, method)

    return forge


def _with_flag(path: Path, name: str) -> None:
    content = bytearray(path.read_bytes())
    place = -1
    while (place := content.find(b"PK\1\2", place + 1)) >= 0:
        content[place + 8] |= 1  # encrypted
    path.write_bytes(content)


def _many(path: Path, name: str) -> None:
    with zipfile.ZipFile(path, "a") as archive:
        for i in range(8_000):
            archive.writestr(f"{i:0>100}.npy", b"")


def _longer_elsewhere(path: Path, name: str) -> None:
    """The end of the file tells of a short list, a record of ZIP64 before it of another."""
    content = path.read_bytes()
    end = content[-22:]
    length, begin = struct.unpack("<2L", end[12:20])
    record = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 2**40, 2**40, len(content), 0)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, begin + length, 1)
    path.write_bytes(content[:-22] + record + locator + end)


def _longer_than_it_is(path: Path, name: str) -> None:
    """A member whose entry in the list says terabytes."""
    content = bytearray(path.read_bytes())
    place = content.rfind(b"PK\1\2")
    content[place + 24 : place + 28] = b"\xfe\xff\xff\xff"
    path.write_bytes(content)


def _sparse(path: Path, name: str) -> None:
    with path.open("r+b") as file:
        file.truncate(2**32)


def _instead(make: Callable[[Path], Any]) -> Forgery:
    def forge(path: Path, name: str) -> None:
        path.unlink()
        make(path)

    return forge


def _altered(path: Path, name: str) -> None:
    held = members(path)[f"{name}.npy"]
    place = path.read_bytes().index(held) + len(held) - 3
    content = bytearray(path.read_bytes())
    content[place] ^= 0xFF
    path.write_bytes(content)


class Mine:
    """What a pickle may do when it is read."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path("run"),)


ARRAYS: dict[str, Forgery] = {
    **{f"a shape of 10^{k}": _stated("'<f8'", f"({10**k},)") for k in (10, 15, 18, 19, 20, 30)},
    "a shape of 10^20 by 0": _stated("'<f8'", f"({10**20}, 0)"),
    "forty sides": _member(_header("'<f8'", f"({'1, ' * 40})") + bytes(8)),
    "a side below 0": _stated("'<f8'", "(-1,)"),
    "a side that is a sum": _stated("'<f8'", "(10**10,)"),
    **{f"entries of {descr}": _stated(descr, "(3,)") for descr in (
        "'<U999999999'", "'|S2147483647'", "'|V9999999'", "'<f4096'", "('<f8', (100000,))", "'|O'", "'<U0'", "'M8'", "'x'", "''",
    )},
    "entries of no bytes, 10^18 of them": _member(_header("'|S0'", f"({10**18},)")),
    "thousands of fields": _member(_header(str([(f"f{i}", "<f8") for i in range(3000)]), "(3,)")),
    "9,000 minus signs": _member(_header("'<f8'", f"({'-' * 9000}1,)")),
    "9,000 minus signs for a type": _member(_header("-" * 9000 + "1", "(3,)")),
    "9,000 brackets": _member(_header("'<f8'", "(" * 9000)),
    "60,000 blanks": _member(_header("'<f8'", f"(3,{' ' * 60_000})")),
    "a header that computes": _member(_header("'<f8'", "(2**2**2**2**2**2,)")),
    "a header that runs": _member(_header("__import__('os').system('touch run')", "(3,)")),
    "a header without end": _member(b"\x93NUMPY\1\0\xff\xff{"),
    "objects that run": _member(_header("'|O'", "(3,)") + b"".join([b"\x80\4", b"cpathlib\nPath\n(S'run'\ntR."])),
    "pickled objects": lambda path, name: rewrite(path, members(path) | {f"{name}.npy": _pickled()}),
    "version 2 of NPY": _member(b"\x93NUMPY\2\0" + (2**32 - 1).to_bytes(4, "little") + bytes(99)),
    "too few entries": _member(_header("'<f8'", "(300,)") + bytes(8 * 299)),
    "too many entries": _member(_header("'<f8'", "(300,)") + bytes(8 * 301)),
    "no entries": _member(b""),
    "a name twice": _twice("{}.npy"),
    "a name twice, once without its ending": _twice("{}"),
    "a bomb": _packed(zipfile.ZIP_DEFLATED),
    "a bomb beside it": _packed(zipfile.ZIP_DEFLATED, junk=True),
    "LZMA": _packed(zipfile.ZIP_LZMA),
    "BZIP2": _packed(zipfile.ZIP_BZIP2),
    "a flag of encryption": _with_flag,
    "8,000 members of long names": _many,
    "two lists of members": _longer_elsewhere,
    "a member of terabytes": _longer_than_it_is,
    "entries altered": _altered,
    "4 GiB of nothing": _sparse,
    "a pipe": _instead(os.mkfifo),
    "a folder": _instead(os.mkdir),
    "a device": _instead(lambda path: path.symlink_to("/dev/zero")),
    "nothing": _file(b""),
    "a text": _file(b"hello"),
    "the end of a ZIP alone": _file(b"PK\5\6" + bytes(18)),
    "a comment": lambda path, name: path.write_bytes(path.read_bytes() + b"x"),
}  # fmt: skip
"""What is done to a sound file, given the name of an array in it."""


@cache
def _pickled() -> bytes:
    held = io.BytesIO()
    np.lib.format.write_array(held, np.array([Mine()] * 3), allow_pickle=True)
    return held.getvalue()


def _learned(path: Path) -> Any:
    x = np.random.default_rng(0).uniform(size=(64, 2))
    return train(
        linear((2,), 2), x, (x[:, 0] > 0.5).astype(int), epochs=2, rate=0.05, batch=32, checkpoint=path
    )


def _batch(path: Path) -> np.ndarray:
    retained = StoredBatches(path.parent, "seed 1")
    retained.get(0, lambda: np.arange(3.0))
    return retained.get(1, lambda: np.arange(300.0))


def save(path: Path, **arrays: np.ndarray) -> None:
    with path.open("wb") as file:
        np.savez(file, **arrays)  # pyright: ignore[reportArgumentType]


def sound_scores(path: Path) -> None:
    """A file of 300 scores that an audit takes."""
    rng = np.random.default_rng(0)
    save(path, score=rng.normal(size=300), label=np.tile([0, 1], 150))


def _sound_images(path: Path) -> None:
    save(path, data=np.zeros((4, 3072), np.uint8), labels=np.ones(4, np.int64))


READERS: dict[str, tuple[str, str, Callable[[Path], Any], Callable[[Path], Any]]] = {
    "scores": ("scores.npz", "score", sound_scores, read_scores),
    "counts": ("counts.npz", "out", lambda path: run(path, GAMES), mi.Histogram.load),
    "a training": ("training.npz", "leaf0", _learned, _learned),
    "a micro-batch": ("00001.npz", "rows", _batch, _batch),
    "images": ("images.npz", "data", _sound_images, lambda path: imagenet_batch(path.read_bytes())),
}
"""What is stored -> name of its file, array that is forged, how a sound file is made, and what reads it."""


@contextlib.contextmanager
def limited(most: int) -> Iterator[None]:
    """The limit of what is read is this for a while."""
    before = os.environ.get(LIMIT)
    os.environ[LIMIT] = str(most)
    try:
        yield
    finally:
        os.environ.pop(LIMIT) if before is None else os.environ.update({LIMIT: before})


def fault(read: Callable[[], Any], named: str) -> str | None:
    """What is wrong with how a hostile thing is refused; None where it is refused in a single short sentence, at once and in little memory."""
    begun = time.process_time()
    tracemalloc.start()
    try:
        read()
    except (ValueError, OSError) as error:
        text = getattr(error, "strerror", None) or str(error)
        bad = "\n" in text or len(text) > MOST_TEXT or named not in text or hidden(text)
        result = f"{type(error).__name__}: {text[:300]}" if bad else None
    except Exception as error:
        result = f"{type(error).__name__}: {str(error)[:300]}"
    else:
        result = READ
    finally:
        memory = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    if result in (None, READ) and memory > MOST_MEMORY:
        return f"{memory:,} bytes were allocated"
    if result in (None, READ) and time.process_time() - begun > MOST_SECONDS:
        return "it took too long"
    return result


def hidden(text: str) -> list[str]:
    """The characters of a text that steer a terminal."""
    return [c for c in text if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")]


def arrays(folder: Path, kinds: tuple[str, ...] = tuple(READERS)) -> Figures:
    """Every binary file that is read, forged in every way that is known."""
    result = Figures("hostile arrays", "a single sentence; nothing run, waited for, unpacked or allocated")
    with contextlib.chdir(folder):
        for kind in kinds:
            file, array, make, read = READERS[kind]
            place = folder / kind.replace(" ", "-")
            place.mkdir()
            path = place / file
            make(path)
            sound = path.read_bytes()
            for name, forge in ARRAYS.items():
                if kind == "images" and name in ("4 GiB of nothing", "a pipe", "a folder", "a device"):
                    continue  # its reader is given bytes
                if path.is_dir():
                    path.rmdir()
                path.unlink(missing_ok=True)
                path.write_bytes(sound)
                forge(path, array)
                named = "" if kind == "images" else path.name
                with limited(ROOM):
                    what = fault(lambda read=read, path=path: read(path), named)
                # Images and scores may be compressed; the readers of the others refuse all that is.
                unused = kind in ("images", "scores") and name == "a bomb beside it"
                result.check(what == (READ if unused else None), f"{kind}, {name}: {what}")
                result.check(not Path("run").exists(), f"{kind}, {name}: it ran")
    return result


def random_files(folder: Path, times: int, seed: int = 0) -> Figures:
    """Every file that is read with bytes altered, cut out, doubled or exchanged, by chance."""
    result = Figures("random files", "a single sentence with the path, or what was stored")
    rng = np.random.default_rng(seed)
    sounds: list[tuple[Path, bytes, Callable[[Path], Any]]] = []
    for kind, (file, _, make, read) in READERS.items():
        path = folder / kind.replace(" ", "-") / file
        path.parent.mkdir()
        make(path)
        sounds.append((path, path.read_bytes(), read))
    with np.load(folder / "scores/scores.npz") as held:
        np.savez_compressed(folder / "packed.npz", **held)
        pairs = zip(held["score"].tolist(), held["label"], strict=True)
        (folder / "s.csv").write_text("\n".join(["score,member", *(f"{a!r},{b}" for a, b in pairs)]))
        columns = {name: values.tolist() for name, values in held.items()}
    (folder / "s.json").write_text(json.dumps(columns))
    pd.DataFrame(columns).to_csv(folder / "s.tsv", sep="\t")
    others = ("packed.npz", "s.csv", "s.json", "s.tsv")
    sounds += [(path, path.read_bytes(), read_scores) for path in map(folder.joinpath, others)]
    for i in range(times):
        path, content, read = sounds[i % len(sounds)]
        path.write_bytes(altered(content, rng))
        what = fault(lambda path=path, read=read: read(path), "" if path.stem == "images" else path.name)
        result.note("read" if what == READ else "refused")
        result.check(what in (None, READ), f"{i}, {path.name}: {what}")
    return result


def altered(content: bytes, rng: np.random.Generator) -> bytes:
    """The bytes with 1 to 4 changes, most of them near an end, where archives say what they hold."""
    result = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        anywhere, size = rng.random() < 0.5, len(result)
        place = int(rng.integers(size) if anywhere else size - 1 - rng.integers(min(300, size)))
        length, other = int(rng.integers(1, 40)), int(rng.integers(len(result)))
        kind = int(rng.integers(5))
        if kind == 0:
            result[place] ^= int(rng.integers(1, 256))
        elif kind == 1 and len(result) > length:
            del result[place : place + length]
        elif kind == 2:
            result[place:place] = result[other : other + length]
        elif kind == 3:
            result[place : place + length] = rng.bytes(length)
        else:
            words = [b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f", b"\1\0\0\0"]
            result[place : place + 4] = rng.choice(words)
    return bytes(result)


ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    1e300,
    math.nan,
    math.inf,
    "x",
    "\x1b[2J",
    [],
    [1, 2],
    {},
    {"a": 1},
    10**400,
)
"""What stands where a record of a probe holds something else."""


def probes(folder: Path, times: int, seed: int = 0) -> Figures:
    """Files of probes, from which a hunt goes on, with parts that are others, missing or added, by chance."""
    result = Figures("random files of probes", "a single sentence with the path, or the hunt goes on")
    path, rng = folder / "first-0.jsonl", random.Random(seed)
    statement = rf.Statement(
        name="first", says="x <= 1", source="nobody", kind=rf.Bound(), domain={"x": rf.Real(0.0, 2.0), "c": rf.Choice("a", "b")},
        claimed=lambda: 1.0, truth=lambda x: x,
    )  # fmt: skip

    def hunted(_: Path) -> None:
        rf.report(rf.hunt(statement, "30 probes", progress=False, checkpoint=path), folder / "report")

    hunted(path)
    sound = path.read_text()
    for i in range(times):
        lines = [json.loads(line) for line in sound.splitlines()]
        for _ in range(rng.randint(1, 3)):
            record = rng.choice(lines)
            record = record["at"] if rng.random() < 0.2 and isinstance(record.get("at"), dict) else record
            key = rng.choice([*record, "new"])
            record[key] = rng.choice(ODD)
            if rng.random() < 0.3:
                del record[key]
        path.write_text("\n".join(map(json.dumps, lines)) + "\n")
        if i % 5 == 0:
            path.write_bytes(altered(sound.encode(), np.random.default_rng([seed, i])))
        what = fault(lambda: hunted(path), path.name)
        result.note("read" if what == READ else "refused")
        result.check(what in (None, READ), f"{i}: {what}")
    return result
