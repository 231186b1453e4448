"""Faults by the hundred, each with what must hold after it: a line of figures for each campaign."""

import os
import resource
import shutil
import stat
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import mipsim as mi
from tests.engine.long_run import run
from tests.faults.children import start
from tests.faults.forged import FORGERIES, OTHER
from tests.sampler_laws import same as _same

GAMES = 5_000
_PACE = 0.02
same = partial(_same, manifest=True)


@dataclass
class Figures:
    """What a campaign tried, and what did not hold.

    Attributes:
        what: the fault.
        held: what must hold after it.
        tried: how often.
        failed: a sentence for each time that it did not.
        seen: other counts of interest.
    """

    what: str
    held: str
    tried: int = 0
    failed: list[str] = field(default_factory=list)
    seen: dict[str, int] = field(default_factory=dict)

    def check(self, holds: object, message: str) -> None:
        """Count another case, and store its message if it does not hold."""
        self.tried += 1
        if not holds:
            self.failed.append(message)

    def note(self, what: str, more: int = 1) -> None:
        """Count something of interest."""
        self.seen[what] = self.seen.get(what, 0) + more


def refusal(read: Callable[[Path], Any], path: Path) -> str | None:
    """None if the file is read, "" if it is refused as it must be, else what came instead of a single sentence with its path."""
    try:
        read(path)
    except (ValueError, OSError) as error:
        text = getattr(error, "strerror", None) or str(error)
        return "" if path.name in text and "\n" not in text else f"{type(error).__name__}: {text}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def stored_games(path: Path) -> int:
    """How many games a file holds: 0 where there is none, -1 where it cannot be read."""
    try:
        return mi.Histogram.load(path).games
    except FileNotFoundError:
        return 0
    except ValueError:
        return -1


def _sound(folder: Path) -> tuple[Path, mi.Histogram]:
    path = folder / "sound.npz"
    return path, run(path, GAMES)


def forgeries(folder: Path) -> Figures:
    """Counts, manifests and whole files that were changed with the checksums of the ZIP done again."""
    result = Figures(
        "forged files", "a single sentence with the path, nothing run, waited for or decompressed"
    )
    sound, _ = _sound(folder)
    for name, forge in (FORGERIES | OTHER).items():
        path = folder / "forged.npz"
        path.unlink(missing_ok=True)
        shutil.copy(sound, path)
        forge(path)
        for read in (mi.Histogram.load, lambda path: run(path, GAMES + 1)):
            if name in OTHER and read == mi.Histogram.load:
                continue
            begun = time.process_time()  # which other processes do not lengthen
            what = refusal(read, path)
            result.check(what == "" and time.process_time() - begun < 5.0, f"{name}: {what}")
    return result


def flips(folder: Path, times: int, seed: int = 0) -> Figures:
    """A random byte of a stored file is changed."""
    result = Figures("flipped bytes", "named with the path, or the very same counts")
    sound, whole = _sound(folder)
    content, path, rng = sound.read_bytes(), folder / "flipped.npz", np.random.default_rng(seed)
    for _ in range(times):
        place, change = int(rng.integers(len(content))), int(rng.integers(1, 256))
        path.write_bytes(content[:place] + bytes([content[place] ^ change]) + content[place + 1 :])
        what = refusal(mi.Histogram.load, path)
        harmless = what is None and same(mi.Histogram.load(path), whole)
        result.note("harmless" if harmless else "named")
        result.check(what == "" or harmless, f"byte {place} ^ {change}: {what}")
    return result


def full_disks(folder: Path, times: int) -> Figures:
    """The disk takes only the first bytes; a limit on the size of files stands for it."""
    result = Figures(
        "full disks", "a single sentence with the path, the old file as it was, nothing left beside it"
    )
    path, _ = _sound(folder)
    before, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    for room in np.linspace(0, len(before) - 1, times).astype(int):
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(room), limits[1]))
        try:
            what = refusal(lambda path: run(path, GAMES + 1), path)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        retained = path.read_bytes() == before and [p.name for p in folder.iterdir()] == [path.name]
        result.check(what == "" and retained, f"room for {room} bytes: {what}")
    return result


def links(folder: Path) -> Figures:
    """Links and leftovers where a run writes."""
    result = Figures(
        "links, leftovers and permissions",
        "no link followed to be written, a linked file stays linked, a mode stays",
    )
    path, whole = _sound(folder)
    victim = folder / "victim"
    victim.write_text("mine")
    part = folder / f".{path.name}.part"
    for name, plant in {
        "a link": lambda: part.symlink_to(victim),
        "a link to nothing": lambda: part.symlink_to(folder / "nothing"),
        "a pipe": lambda: os.mkfifo(part),
        "what a killed writer left": lambda: part.write_bytes(b"half"),
    }.items():
        plant()
        whole.save(path)
        retained = same(mi.Histogram.load(path), whole) and victim.read_text() == "mine"
        result.check(
            retained and not part.is_symlink() and not part.exists() and not (folder / "nothing").exists(),
            name,
        )
    far = folder / "far"
    far.mkdir()
    for name, target in {
        "a link to counts": far / "counts.npz",
        "a link to counts to come": far / "later.npz",
    }.items():
        link = folder / f"{target.stem}-link.npz"
        if "come" not in name:
            run(target, 100)
        link.symlink_to(target)
        run(link, GAMES)
        result.check(link.is_symlink() and mi.Histogram.load(target).games == GAMES, name)
    loop = folder / "loop.npz"
    loop.symlink_to(loop)
    result.check(refusal(lambda path: run(path, 10), loop) == "" and loop.is_symlink(), "a link to itself")
    for mode in (0o600, 0o640, 0o444):
        path.chmod(mode)
        whole.save(path)
        result.check(stat.S_IMODE(path.stat().st_mode) == mode, f"mode {mode:o}")
    return result


def kills(folder: Path, times: int, seed: int = 0) -> Figures:
    """A run is killed at random moments and started again, as often; at the end it is compared with a run that was not."""
    result = Figures("kills of a run", "readable, never fewer games, at the end the same bits")
    path, games, rng = folder / "run.npz", 0, np.random.default_rng(seed)
    for _ in range(times):
        child = start("play", str(path), 10**9)
        time.sleep(float(rng.uniform(0.2, 2.0)))
        child.kill()
        child.join()
        result.note("left a temporary file", (folder / f".{path.name}.part").exists())
        reached = stored_games(path)
        result.check(reached >= games, f"{games} games became {reached}")
        games = reached
    last = run(path, games + 10_000)
    result.check(same(last, run(None, games + 10_000)), "the resumed run has other counts")
    result.check([p.name for p in folder.iterdir()] == [path.name], "a temporary file is left")
    return result


def kills_in_writes(folder: Path, times: int, seed: int = 0) -> Figures:
    """A process that does nothing but write is killed."""
    result = Figures("kills within writes", "readable, the next write removes what is left")
    path, rng = folder / "run.npz", np.random.default_rng(seed)
    for _ in range(times):
        child = start("write", str(path), 2_000)
        time.sleep(float(rng.uniform(0.02, 0.1)))
        child.kill()
        child.join()
        result.note("left a temporary file", (folder / f".{path.name}.part").exists())
        result.check(not path.exists() or refusal(mi.Histogram.load, path) is None, "unreadable")
    mi.Histogram(np.zeros(1), np.zeros(2, int), np.zeros(2, int)).save(path)
    result.check([p.name for p in folder.iterdir()] == [path.name], "a temporary file is left")
    return result


def writers(folder: Path, times: int) -> Figures:
    """Several processes play the same run, of different lengths, into the same file."""
    result = Figures(
        "several writers of a file", "never fewer games than were stored, at the end the same bits"
    )
    wholes = {games: run(None, games) for games in (150_000, 60_000)}
    for i in range(times):
        path, seen = folder / f"run-{i}.npz", 0
        children = [start("play", str(path), games) for games in (*wholes, 150_000)]
        while any(child.is_alive() for child in children):
            now = stored_games(path)
            result.check(now >= seen, f"{seen} games became {now}")
            seen = max(seen, now)
            time.sleep(_PACE)
        # A process that begins when more is stored than was requested says so, and ends.
        result.check(
            stored_games(path) == 150_000 and same(mi.Histogram.load(path), wholes[150_000]),
            "the file has other counts",
        )
        result.check([p.name for p in folder.glob(".*")] == [], "a temporary file is left")
    return result


def in_folder(campaign: Callable[..., Figures], *arguments: object) -> Figures:
    """Run a campaign in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return campaign(Path(folder), *arguments)
