"""The counts that a run goes on from."""

from pathlib import Path
from typing import Any

import numpy as np

from mipsim.engine.checkpoint import read_counts
from mipsim.engine.histogram import Histogram
from mipsim.engine.manifest import difference


def resume(path: Path | None, edges: np.ndarray, manifest: dict[str, Any], asked: range) -> Histogram:
    """The counts in the checkpoint if there is one, else none yet.

    Args:
        path: the checkpoint, written if it is missing; None = there is none.
        edges: thresholds of the run.
        manifest: of the run before its first game.
        asked: the games that the run is to play.

    Raises:
        ValueError: if the checkpoint is corrupt, or belongs to another run, or holds more games than asked.
        OSError: if it cannot be read or written.

    Examples:
        >>> resume(None, np.zeros(1), {"seed": 0}, range(10)).manifest
        {'seed': 0, 'games': 0, 'runs': [[0, 0, 0]]}
    """
    nothing = np.zeros(edges.size + 1, dtype=np.int64)
    fresh = Histogram(edges, nothing, nothing.copy(), {**manifest, **counted(manifest["seed"], asked, 0)})
    if path is None:
        return fresh
    if not path.exists():
        fresh.save(path)  # an unwritable folder must show before any work
        return fresh
    stored = read_counts(path)
    found = stored["manifest"]
    part = difference(manifest, found)
    if part is None and found["runs"] != counted(manifest["seed"], asked, found["games"])["runs"]:
        part = "range of games"
    if part is not None:
        raise ValueError(
            f"checkpoint {path} belongs to another run, which differs in {part}; name another file"
        )
    if found["games"] > len(asked):
        raise ValueError(
            f"checkpoint {path} holds {found['games']} games, more than the {len(asked)} asked; load it instead"
        )
    return Histogram(
        edges, stored["out"], stored["inside"], {**fresh.manifest, **{k: found[k] for k in ("games", "runs")}}
    )


def counted(seed: int, asked: range, games: int) -> dict[str, Any]:
    """The part of a manifest that says which games are counted: the first `games` of those asked.

    Examples:
        >>> counted(7, range(100, 200), 30)
        {'games': 30, 'runs': [[7, 100, 130]]}
    """
    return {"games": games, "runs": [[seed, asked.start, asked.start + games]]}
