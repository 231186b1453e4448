"""Adding up the shards of a run: `python -m sims merge`."""

import os
from collections.abc import Sequence
from functools import reduce
from operator import add
from pathlib import Path

import numpy as np

import mipsim as mi
from mipsim.engine.checkpoint import IDENTITY, difference
from mipsim.engine.settings import shard_of


def merge(
    files: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str], force: bool = False
) -> mi.Histogram:
    """Add shards that `python -m sims run --shard i/k` wrote, and store the result of a whole run.
    `files`: the shards, in any order; each game must be in a single shard; `out`: where the sum is stored. An existing
    file stays, unless it holds this sum already or `force` is true; `force`: replace what is at `out`. Returns the counts
    and the manifest that a single process would have given. Raises ValueError if a file is corrupt, no shard or not
    finished, belongs to another run (study, seed, edges, version), or games are missing or in two files, or `out` holds
    something else; OSError if a file cannot be read or written.
    """
    if not files:
        raise ValueError("files is empty; name every shard of a run")
    shards = [(Path(file), _shard(Path(file))) for file in files]
    whole = _one_run(shards)
    shards.sort(key=lambda item: item[1].manifest["runs"][0][1:])
    _partition(shards, whole)
    total = reduce(add, (shard for _, shard in shards))
    total.manifest.pop("shard", None)
    target = Path(out)
    if target.exists() and _holds(target, total):
        return total
    if target.exists() and not force:
        raise ValueError(
            f"{target} exists and holds something else; name another file, or use --force to replace it"
        )
    total.save(target)
    return total


def _shard(path: Path) -> mi.Histogram:
    try:
        result = mi.Histogram.load(path)
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist") from None
    if "shard" not in result.manifest:
        raise ValueError(f"{path} is no shard; `python -m sims run STUDY --shard i/k` writes them")
    index, count, (first, stop) = (result.manifest["shard"][key] for key in ("index", "count", "games"))
    requested = shard_of(range(first, stop), index, count)
    if result.games != len(requested):
        raise ValueError(
            f"{path} holds {result.games} of the {len(requested)} games of shard {index}/{count}; "
            "run it again with the same arguments to finish it"
        )
    return result


def _one_run(shards: Sequence[tuple[Path, mi.Histogram]]) -> range:
    """The games of the whole, if all shards are of the same run."""
    (first, model), *others = shards
    parts = [part for part in IDENTITY if part != "shard"]
    for path, shard in others:
        if part := difference(model.manifest, shard.manifest, parts):
            raise ValueError(f"{path} and {first} belong to different runs: they differ in {part}")
        if shard.manifest["shard"]["games"] != model.manifest["shard"]["games"]:
            totals = [s.manifest["shard"]["games"][1] for s in (shard, model)]
            raise ValueError(
                f"{path} is a shard of {totals[0]} games and {first} a shard of {totals[1]}; they must be of as many"
            )
    return range(*model.manifest["shard"]["games"])


def _partition(shards: Sequence[tuple[Path, mi.Histogram]], whole: range) -> None:
    """Check that sorted shards hold each game of the whole once."""
    reached, before = whole.start, None
    missing = []
    for path, shard in shards:
        _, start, stop = shard.manifest["runs"][0]
        if start < min(reached, stop):
            raise ValueError(
                f"{path} and {before} both hold game {start}; each game must be in a single shard"
            )
        if start > reached:
            missing.append(f"{reached} to {start - 1}")
        reached, before = max(reached, stop), path
    if reached < whole.stop:
        missing.append(f"{reached} to {whole.stop - 1}")
    if missing:
        raise ValueError(
            f"games {', '.join(missing)} of {len(whole)} are in no shard; name every shard of the run"
        )


def _holds(path: Path, total: mi.Histogram) -> bool:
    try:
        result = mi.Histogram.load(path)
    except (ValueError, OSError):
        return False
    equal = all(np.array_equal(getattr(result, k), getattr(total, k)) for k in ("edges", "out", "inside"))
    return equal and result.manifest == total.manifest
