"""A run's counts in its file: found when it begins, kept as it goes on, and refused where they are another run's."""

from errno import ENOENT
from pathlib import Path
from typing import Any

import numpy as np

from mipsim._files import sweep
from mipsim.engine.checkpoint import read_counts, write_counts
from mipsim.engine.histogram import Histogram
from mipsim.engine.manifest import difference


def stored_counts(path: Path | None) -> dict[str, Any] | None:
    """What a checkpoint holds, or None where there is none yet. What a killed writer has left beside it is removed.

    Raises:
        ValueError: if it is corrupt.
        OSError: if it cannot be read.

    Examples:
        >>> stored_counts(None)
    """
    if path is None:
        return None
    if not path.parent.is_dir():
        raise FileNotFoundError(ENOENT, f"counts cannot be written to {path}: No such file or directory")
    sweep(path)
    try:
        return read_counts(path)
    except FileNotFoundError:
        return None


def resume(
    path: Path | None,
    stored: dict[str, Any] | None,
    edges: np.ndarray,
    manifest: dict[str, Any],
    asked: range,
) -> Histogram:
    """The counts in the checkpoint if there is one, else none yet.

    Args:
        path: the checkpoint, written if it is missing; None = there is none.
        stored: what it holds, or None.
        edges: thresholds of the run.
        manifest: of the run before its first game.
        asked: the games that the run is to play.

    Raises:
        ValueError: if the checkpoint belongs to another run, or holds more games than asked.
        OSError: if it cannot be written.

    Examples:
        >>> resume(None, None, np.zeros(1), {"seed": 0}, range(10)).manifest
        {'seed': 0, 'games': 0, 'runs': [[0, 0, 0]]}
    """
    nothing = np.zeros(edges.size + 1, dtype=np.int64)
    fresh = Histogram(edges, nothing, nothing.copy(), {**manifest, **counted(manifest["seed"], asked, 0)})
    if path is None:
        return fresh
    if stored is None:
        store(path, fresh)  # an unwritable folder must show before any work
        return fresh
    games = _same_run(path, fresh.manifest, stored["manifest"])
    if games > len(asked):
        raise ValueError(
            f"checkpoint {path} holds {games} games, more than the {len(asked)} asked; load it instead"
        )
    kept = {part: stored["manifest"][part] for part in ("games", "runs")}
    return Histogram(edges, stored["out"], stored["inside"], fresh.manifest | kept)


def store(path: Path, counts: Histogram) -> None:
    """Write the counts of a run, unless the file holds as many by now: another process plays the same run.

    Raises:
        ValueError: if the file belongs to another run by now, or is corrupt.
        OSError: if it cannot be written.
    """

    def keep() -> bool:
        try:
            found = read_counts(path)["manifest"]
        except FileNotFoundError:
            return False
        return _same_run(path, counts.manifest, found) >= counts.games

    write_counts(path, counts.edges, counts.out, counts.inside, counts.manifest, keep)


def _same_run(path: Path, mine: dict[str, Any], found: dict[str, Any]) -> int:
    """How many games the manifest of a file says that it holds of this run, or say why it is not of it."""
    part = difference(mine, found)
    if part is None and not {"games", "runs"} <= set(found):
        part = "games, of which it says nothing"
    if part is None:
        seed, first, _ = mine["runs"][0]
        if found["runs"] != [[seed, first, first + found["games"]]]:
            part = "range of games"
    if part is not None:
        raise ValueError(
            f"checkpoint {path} belongs to another run, which differs in {part}; name another file"
        )
    return found["games"]


def counted(seed: int, asked: range, games: int) -> dict[str, Any]:
    """The part of a manifest that says which games are counted: the first `games` of those asked.

    Examples:
        >>> counted(7, range(100, 200), 30)
        {'games': 30, 'runs': [[7, 100, 130]]}
    """
    return {"games": games, "runs": [[seed, asked.start, asked.start + games]]}
