"""Running a study, with a store that survives interruptions, alone or with other processes."""

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import mipsim as mi
from mipsim.engine.checkpoint import read_counts
from mipsim.engine.manifest import IDENTITY, difference
from sims.hosts import Group
from sims.kept_values import keeping_in
from sims.study import Study

_WORDS = 8192
"""Room for the thresholds of a pilot, at most 1,024, as text."""


def store_path(study: Study, seed: int, directory: str | os.PathLike[str]) -> Path:
    """Where the counts of a study are stored: `directory/<study>-<seed>.npz`."""
    return Path(directory) / f"{study.name}-{seed}.npz"


def shard_path(
    study: Study, seed: int, directory: str | os.PathLike[str], games: range, shard: tuple[int, int]
) -> Path:
    """Where shard (i, k) of the games is stored: `<study>-<seed>.games-<first>-<end>.shard-<i>-of-<k>.npz`.

    Examples:
        >>> from sims.studies import STUDIES
        >>> shard_path(STUDIES["azize_fig2_easy"], 0, "", range(10), (1, 4)).name
        'azize_fig2_easy-0.games-0-10.shard-1-of-4.npz'
    """
    which = f"games-{games.start}-{games.stop}.shard-{shard[0]}-of-{shard[1]}"
    return Path(directory) / f"{study.name}-{seed}.{which}.npz"


def run(
    study: Study,
    games: int,
    seed: int | None = None,
    directory: str | os.PathLike[str] | None = None,
    progress: bool = False,
    *,
    chunk: int | None = None,
    workers: int | None = None,
    devices: int | None = None,
    shard: tuple[int, int] | None = None,
    executor: Any = None,
) -> mi.Histogram:
    """Play a study, going on from its stored counts if there are any.

    The result depends on the study, the seed and the number of games only. Stored counts of as many games are
    returned as they are; those of fewer are extended, to the result that one run would have given; those of more are
    left alone, and the games are played afresh without being stored.

    Args:
        study: what is played.
        games: games per world, >= 1.
        seed: None = the study's own.
        directory: the folder of stored counts, made if missing; None stores nothing.
        progress: show a progress bar.
        chunk: games per call, see `mi.play`.
        workers: threads, see `mi.play`.
        devices: local devices, see `mi.play`.
        shard: (i, k) plays the i-th of k shards only, stored at `shard_path`; `sims.merge.merge` adds all k files.
        executor: plays shards of the games elsewhere, see `mi.play`.

    Raises:
        ValueError: on bad arguments, or a stored file that is corrupt or belongs to another run.
        OSError: if the folder cannot be written.

    Examples:
        >>> from sims.studies import STUDIES
        >>> run(STUDIES["azize_fig2_easy"], games=100).games
        100
    """
    seed = study.seed if seed is None else seed
    with keeping_in(directory):
        game, attack = study.build()
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
        chunk=chunk,
        progress=progress,
        checkpoint=path,
        workers=workers,
        devices=devices,
        shard=shard,
        executor=executor,
    )


def run_on_hosts(
    study: Study,
    games: int,
    seed: int | None = None,
    directory: str | os.PathLike[str] | None = None,
    progress: bool = False,
    *,
    chunk: int | None = None,
    workers: int | None = None,
    devices: int | None = None,
    group: Group | None = None,
) -> mi.Histogram:
    """Play a study with all processes that `sims.meeting.connect` has joined: `run`, bit for bit.

    Each process plays one shard of the games, and keeps its counts in a file of its own in its own `directory` (hosts
    need not share a disk). At the end the counts are summed over all, process 0 stores the sum where `run` would, and
    the files of the shards are removed. Started again after an interruption, with as many processes, each goes on from
    its file; process 0 also extends a stored result of fewer games.

    Args:
        study: what is played.
        games: games per world, >= 1; of all processes together.
        seed: None = the study's own.
        directory: this process's folder; None stores nothing.
        progress: show a progress bar of the shard of process 0.
        chunk: games per call, see `mi.play`.
        workers: threads of each process, see `mi.play`.
        devices: local devices of each process, see `mi.play`.
        group: the processes; None = this one alone.

    Returns:
        The whole result, in every process.

    Raises:
        ValueError: as `run`; also if another process fails or plays another run.
        ConnectionError: if another process is gone or silent; the counts of this one are kept in its file.
        OSError: if the folder cannot be written.
    """
    seed = study.seed if seed is None else seed
    group = group or Group()
    index, count = group.index, group.count
    final = None if directory is None or index > 0 else store_path(study, seed, directory)
    base: list[mi.Histogram] = []
    built: list[tuple[Any, Any]] = []

    def look() -> np.ndarray:
        with keeping_in(directory):
            built.append(study.build())  # may take longer than the others wait for a word
        if directory is not None:
            _make(Path(directory))
        if final is not None and final.exists():
            base.append(mi.Histogram.load(final))
        return np.array([sum(h.games for h in base)])

    found = int(group.gathered(look, 1)[0, 0])
    game, attack = built[0]
    begin = found if found <= games else 0
    keep = directory is not None and found <= games
    rest = range(begin, games)
    path = (
        shard_path(study, seed, directory, rest, (index, count)) if directory is not None and keep else None
    )

    def thresholds() -> np.ndarray:
        held = [mi.Histogram.load(path)] if path is not None and path.exists() else base if begin else []
        return next(map(_as_words, held), np.zeros(_WORDS, np.int64))

    # A run keeps its thresholds: those of the first process that has stored any are played by all.
    edges = next(map(_of_words, filter(np.any, group.gathered(thresholds, _WORDS))), None)
    empty: list[mi.Histogram] = []

    def prepare() -> np.ndarray:
        fresh = mi.play(game, attack, range(begin, begin), seed, edges=edges, devices=devices, progress=False)
        if begin and base and (part := difference(fresh.manifest, base[0].manifest)):
            raise ValueError(f"{final} belongs to another run, which differs in {part}; name another folder")
        empty.append(fresh)
        return np.array([games, *_identity(fresh)])

    agreed = group.gathered(prepare, 5)
    if others := np.flatnonzero((agreed != agreed[0]).any(axis=1)).tolist():
        raise ValueError(
            f"process {', '.join(map(str, others))} plays another run than process 0: the study, games, seed, versions or the "
            "thresholds that the pilot finds there differ; use one command, and machines of one kind"
        )
    fresh = empty[0]

    def mine() -> np.ndarray:
        shard = mi.play(
            game,
            attack,
            rest,
            seed,
            edges=edges,
            chunk=chunk,
            progress=progress and index == 0,
            checkpoint=path if rest else None,
            workers=workers,
            devices=devices,
            shard=(index, count),
        )
        counted = [shard, *base] if begin else [shard]
        return np.concatenate([sum(h.out for h in counted), sum(h.inside for h in counted)])

    out, inside = group.gathered(mine, 2 * fresh.out.size).sum(axis=0).reshape(2, -1)
    whole = mi.Histogram(
        fresh.edges, out, inside, {**fresh.manifest, "games": games, "runs": [[seed, 0, games]]}
    )

    def store() -> np.ndarray:
        if final is not None and keep and rest:
            whole.save(final)
        return np.zeros(0)

    group.gathered(store, 0)  # no shard is removed before the whole is stored
    if path is not None:
        with suppress(OSError):
            path.unlink()
    return whole


def _as_words(histogram: mi.Histogram) -> np.ndarray:
    """Thresholds that a pilot placed, with what manifests say of them, as whole numbers; zeros for others, which are given."""
    said = histogram.manifest.get("edges", {})
    text = json.dumps([histogram.edges.tolist(), said]).encode() if said.get("source") == "pilot" else b""
    return np.frombuffer(text.ljust(8 * _WORDS, b" " if text else b"\0"), np.int64)


def _of_words(words: np.ndarray) -> mi.Histogram:
    edges, said = json.loads(words.tobytes())
    nothing = np.zeros(len(edges) + 1, np.int64)
    return mi.Histogram(np.array(edges), nothing, nothing, {"edges": said})


def _identity(histogram: mi.Histogram) -> np.ndarray:
    """Four words that decide what is played."""
    known = [histogram.manifest[part] for part in IDENTITY if part in histogram.manifest]
    return np.frombuffer(hashlib.sha256(json.dumps(known).encode()).digest(), dtype=np.int64)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno, f"results cannot be stored in {folder}: {reason}") from error
