"""A planted defect for each campaign of faults: what mends the fault is taken away, and the campaign must report it."""

import os
import sys
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.faults import campaigns, children, hostile_files, hostile_words, processes
from tests.faults.campaigns import Figures, stored_games

Plant = Callable[[pytest.MonkeyPatch], None]
_PATIENCE = 120.0


class Control(NamedTuple):
    """How a campaign is shown to see a defect.

    Attributes:
        plant: takes the mend away.
        arguments: of the campaign, as few as will do.
        report: a pattern of what the campaign says then.
        long: whether it takes more than two seconds.
    """

    plant: Plant
    arguments: tuple[Any, ...]
    report: str
    long: bool = False


def replaced(module: str, **attributes: object) -> Plant:
    """Other attributes of a module of the package."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        for name, value in attributes.items():
            patch.setattr(import_module(module), name, value)

    return plant


def plant_here(module: str, **attributes: object) -> None:
    """The same in this process, for as long as it lives."""
    replaced(module, **attributes)(pytest.MonkeyPatch())


def every(*plants: Plant) -> Plant:
    """Several defects at once."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        for item in plants:
            item(patch)

    return plant


def in_place(path: str | os.PathLike[str], content: bytes, keep: object = None) -> None:
    """`replace_file` that writes over the old file."""
    Path(path).write_bytes(content)


def in_halves(path: str | os.PathLike[str], content: bytes, keep: object = None) -> None:
    """The same, slowly."""
    with Path(path).open("wb") as file:
        file.write(content[: len(content) // 2])
        file.flush()
        time.sleep(0.2)
        file.write(content[len(content) // 2 :])


def unseen(text: str, single_line: bool = False) -> str:
    """`visible` that leaves control characters as they are."""
    return text


def careless(work: str) -> Plant:
    """The processes of a campaign do something else, and are killed once they have stored anything."""

    def started(_: str, path: str, *arguments: object) -> BaseProcess:
        child, end = children.start("planted", work, path, *arguments), time.monotonic() + _PATIENCE
        while not stored_games(Path(path)) and child.is_alive() and time.monotonic() < end:
            time.sleep(0.01)
        return child

    return lambda patch: patch.setattr(campaigns, "start", started)


def play_and_store_others(path: str, games: int) -> None:
    """A run whose stored counts are not its own: the histogram of the "out" world is turned round."""
    write = import_module("mipsim.engine.checkpoint").write_counts

    def turned(path: str, out: Any, **counts: Any) -> None:
        write(path, out=out[::-1], **counts)

    plant_here("mipsim.engine.checkpoint", write_counts=turned)
    children.play(path, games)


def play_in_halves(path: str, games: int) -> None:
    """A run that writes over its file, without a lock."""
    plant_here("mipsim.engine.checkpoint", replace_file=in_halves)
    children.play(path, games)


def write_in_halves(path: str, cells: int) -> None:
    """Nothing but writing over a file."""
    plant_here("mipsim.engine.checkpoint", replace_file=in_halves)
    children.write(path, cells)


def moved_seeds() -> str:
    """The digest of a run whose target is sampled with JAX's own key, which a flag moves."""
    import jax

    plant_here("mipsim.distributions.base", fixed_key=jax.random.key)
    return import_module("tests.faults.same_counts").digest(("normal",))


NO_STATUS = """import os, signal, sys
for number in (1, 2, 15):
    signal.signal(number, lambda *_: os._exit(1))
from sims.__main__ import main
sys.exit(main(sys.argv[1:]))"""
"""`python -m sims` whose handlers end it with status 1 and no word."""
NO_STREAMS = """import sys
from mipsim import _signals
_signals.open_streams = lambda: None
from sims.__main__ import main
sys.exit(main(sys.argv[1:]))"""
"""`python -m sims` that leaves closed streams as they are."""
UNNAMED = replaced("mipsim.engine.checkpoint", printable=lambda *_: "it")
RAW = every(replaced("mipsim._words", visible=unseen), replaced("mipsim._command_line", visible=unseen))
"""Control characters of others are printed."""


def no_checksums(patch: pytest.MonkeyPatch) -> None:
    """The checksums of a ZIP are not looked at."""
    patch.setattr("zipfile.ZipExtFile._update_crc", lambda self, content: None)


def believed(patch: pytest.MonkeyPatch) -> None:
    """Whatever a record of a probe holds is taken for a probe."""
    patch.setattr("mipsim.referee.hunting.search.Search._is_probe", lambda self, record: True)


def commanded(code: str) -> Plant:
    """The command of the campaigns of processes is other code."""
    return replaced("tests.faults.processes", COMMAND=(sys.executable, "-c", code, *processes.COMMAND[3:]))


DIGEST = "from tests.faults import controls; print(controls.moved_seeds())"
STORE = "mipsim.engine.checkpoint"
CONTROLS: Mapping[Callable[..., Figures], Control] = {
    campaigns.forgeries: Control(replaced(STORE, _are_sound=lambda **_: True), (), "^negative counts: ", long=True),
    campaigns.flips: Control(no_checksums, (200,), r"^byte \d+ \^ \d+: None"),
    campaigns.full_disks: Control(replaced(STORE, replace_file=in_place), (2,), "^room for 0 bytes"),
    campaigns.links: Control(replaced("mipsim._files", _followed=Path), (), "^a link to counts$"),
    campaigns.kills: Control(careless("play_and_store_others"), (1,), "^the resumed run has other counts", long=True),
    campaigns.kills_in_writes: Control(careless("write_in_halves"), (2,), "^unreadable", long=True),
    campaigns.writers: Control(careless("play_in_halves"), (1,), "games became -1", long=True),
    processes.signals: Control(commanded(NO_STATUS), (1, 0, 0.0), r"^SIGINT after 0\.000 s: status 1,", long=True),
    processes.closed_streams: Control(commanded(NO_STREAMS), ((">&-",),), r"^>&-: 1, (?s:.*)has no attribute .{1,2}flush", long=True),
    processes.settings: Control(replaced("tests.faults.processes", DIGEST=DIGEST), (("JAX_RANDOM_SEED_OFFSET",),), "^JAX_RANDOM_SEED_OFFSET=5: [0-9a-f]{64}$", long=True),
    hostile_files.arrays: Control(no_checksums, (("scores",),), "^scores, entries altered: it was read"),
    hostile_files.random_files: Control(UNNAMED, (35,), r"^\d+, counts.npz: ValueError: it is truncated"),
    hostile_files.probes: Control(believed, (30,), r"^\d+: \w+Error", long=True),
    hostile_words.arguments: Control(RAW, (hostile_words.WORDS[2:3],), "it printed"),
    hostile_words.random_arguments: Control(RAW, (100,), "it printed"),
    hostile_words.sequences: Control(RAW, (1,), r"status \d, \['\\x1b'", long=True),
    hostile_words.markup: Control(replaced("mipsim.referee.mathml", escape=lambda text: text), (5,), "AssertionError"),
}  # fmt: skip
"""Campaign -> its control."""
