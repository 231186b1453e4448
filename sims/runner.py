"""Running a study, with a store that survives interruptions."""

import os
from pathlib import Path
from typing import Any

import mipsim as mi
from mipsim.engine.checkpoint import read_counts
from sims.stored_values import storing_in
from sims.study import Study


def store_path(study: Study, seed: int, directory: str | os.PathLike[str]) -> Path:
    """Where the counts of a study are stored: `directory/<study>-<seed>.npz`."""
    return Path(directory) / f"{study.name}-{seed}.npz"


def shard_path(
    study: Study, seed: int, directory: str | os.PathLike[str], games: range, shard: tuple[int, int]
) -> Path:
    """Where shard (i, k) of the games is stored: `<study>-<seed>.games-<first>-<end>.shard-<i>-of-<k>.npz`.
    >>> from sims.studies import STUDIES
    >>> shard_path(STUDIES["azize_fig2_easy"], 0, "", range(10), (1, 4)).name
    'azize_fig2_easy-0.games-0-10.shard-1-of-4.npz'
    """
    which = f"games-{games.start}-{games.stop}.shard-{shard[0]}-of-{shard[1]}"
    return Path(directory) / f"{study.name}-{seed}.{which}.npz"


def run(
    study: Study,  # what is played
    games: int,  # games per world, >= 1
    seed: int | None = None,  # None = the study's own
    # the folder of stored counts, made if missing; None stores nothing
    directory: str | os.PathLike[str] | None = None,
    progress: bool = False,  # show a progress bar
    *,
    chunk: int | None = None,  # games per call, see `mi.play`
    workers: int | None = None,  # threads, see `mi.play`
    devices: int | None = None,  # local devices, see `mi.play`
    # (i, k) plays the i-th of k shards only, stored at `shard_path`; `sims.merge.merge` adds all k files
    shard: tuple[int, int] | None = None,
    executor: Any = None,  # plays shards of the games elsewhere, see `mi.play`
    # a claim whose verdict ends the run, see `mi.play`; counts of other claims, or of none, are not extended
    until: mi.AbstractTradeOff | mi.Until | None = None,
) -> mi.Histogram:
    """Play a study, going on from its stored counts if there are any.

    The result depends on the study, the seed and the number of games only. Stored counts of as many games are
    returned as they are; those of fewer are extended, to the result that a single run would have given; those of more are
    left alone, and the games are played afresh without being stored.

    Raises ValueError on bad arguments, or a stored file that is corrupt or belongs to another run; OSError if the folder
    cannot be written.
    """
    seed = study.seed if seed is None else seed
    with storing_in(directory):
        game, attack = study.build()
    edges = None if study.thresholds is None else _placed(study.thresholds, seed, directory)
    path = None
    if directory is not None and shard is not None:
        path = shard_path(study, seed, directory, range(games), shard)
        _make(path.parent)
    elif directory is not None:
        path = store_path(study, seed, directory)
        _make(path.parent)
        if path.exists() and read_counts(path)["manifest"].get("games", 0) > games:
            path = None
    return mi.play(
        game,
        attack,
        games,
        seed,
        edges=edges,
        chunk=chunk,
        progress=progress,
        checkpoint=path,
        workers=workers,
        devices=devices,
        shard=shard,
        executor=executor,
        until=until,
        precision="float64",  # a study's own classes are reference computations
    )


def _placed(study: Study, seed: int, directory: str | os.PathLike[str] | None) -> mi.Histogram:
    """Counts of a study, of a single game if none are stored: a pilot places the same thresholds for any number of games and any seed."""
    place = study.name, seed, directory
    if place not in _PLACED or _PLACED[place][0] is not study:
        games = 1
        if directory is not None and (path := store_path(study, seed, directory)).exists():
            games = read_counts(path)["manifest"].get("games", 1)
        _PLACED[place] = study, run(study, games, seed, directory)
    return _PLACED[place][1]


_PLACED: dict[tuple[str, int, str | os.PathLike[str] | None], tuple[Study, mi.Histogram]] = {}
"""Studies whose thresholds serve others, with counts: each of the others need not play or read them again."""


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno, f"results cannot be stored in {folder}: {reason}") from error
