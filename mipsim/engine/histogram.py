"""The result of a run: integer counts of scores on fixed edges, with the manifest of what was played."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from mipsim._printed import html_table
from mipsim._validation import held, increasing_vector, whole
from mipsim.bands.curve_band import are_single
from mipsim.bands.empirical_tradeoff import EmpiricalTradeOff
from mipsim.engine.checkpoint import MOST_GAMES, difference, read_counts, total, write_counts
from mipsim.engine.pilot import spread_evenly

_ELSEWHERE = {
    "false_positive_rates": "; call .tradeoff(thresholds=1024).tpr_interval([0.01]), or for rates below 1% game.exact(attack).tpr_bounds([...])",
    "edges": "; the edges belong to the games: play(..., edges=[...])",
    "claim": "; compare the curve with a claim: .tradeoff().compare(claim)",
    "tolerance": "; the tolerance belongs to the comparison: .tradeoff().compare(claim, tolerance)",
}
"""Arguments that new users look for in `Histogram.tradeoff`."""
_MERGEABLE = ("game", "attack", "fidelity", "precision", "sampler", "draws", "versions")


@dataclass(frozen=True, eq=False, repr=False)
class Histogram:
    """Counts of the scores in the two worlds.

    Attributes:
        edges: K increasing thresholds, float64, in units of the score, fixed before the run.
        out: K + 1 counts (int64) of the "out" games: entry i counts scores in (edges[i-1], edges[i]].
        inside: the same for the "in" games.
        manifest: what was played: game, attack, seed, games, edges digest, versions (plain JSON types).

    Source: standard; counts at fixed thresholds determine the curve of Dong, Roth, Su (2022) there.

    Examples:
        >>> h = Histogram(np.array([0.0, 1.0]), np.array([5, 3, 2]), np.array([1, 4, 5]))
        >>> h
        Histogram(10 games per world, 2 edges from 0 to 1)
    """

    edges: np.ndarray
    out: np.ndarray
    inside: np.ndarray
    manifest: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        edges = increasing_vector("edges", self.edges)
        object.__setattr__(self, "edges", edges)
        for name in ("out", "inside"):
            object.__setattr__(self, name, _counts(name, getattr(self, name), edges.size + 1))
        games = total(self.out)
        if games != total(self.inside):
            raise ValueError(f"out holds {games} games and inside {total(self.inside)}; they must be as many")
        if games > MOST_GAMES:
            raise ValueError(f"out holds {games} games; a histogram can hold {MOST_GAMES}")

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Answer the name of a number of the curve with the call that gives it."""
            hint = f"; call .tradeoff().{name} of it" if hasattr(EmpiricalTradeOff, name) else ""
            raise AttributeError(f"Histogram has no attribute {name!r}{hint}")

    @property
    def games(self) -> int:
        """Games played in each world."""
        return total(self.out)

    def tradeoff(
        self, confidence: float = 0.999, thresholds: int = 64, *, anytime: bool = False, **others: Never
    ) -> EmpiricalTradeOff:
        """The empirical trade-off curve with its simultaneous band.

        Thresholds are picked evenly by their index among the edges, or for a score with atoms by what the pilot measured
        (`mipsim.engine.pilot.pilot_shares`), never by looking at these counts: the band needs it. Edges around a single value come
        first. The AUC, and comparisons of two played curves, use all edges.

        Args:
            confidence: of the band, simultaneous over both worlds and all thresholds, in [0.5, 1).
            thresholds: how many edges to use, >= 1; all of them if there are fewer.
            anytime: whether every interval shall hold at all numbers of games at once, as it must where the games are looked at while
                they are played; always so where they were played `until` a verdict.
            **others: none; the error for an argument of another call names that call.

        Examples:
            >>> h = Histogram(np.array([0.0, 1.0]), np.array([5, 3, 2]), np.array([1, 4, 5]))
            >>> h.tradeoff().alpha
            array([0.5, 0.2])
        """
        for name in others:
            raise TypeError(f"tradeoff has no argument {name!r}{_ELSEWHERE.get(name, '')}")
        wanted = min(whole("thresholds", thresholds, 1), self.edges.size)
        if self.games == 0:
            raise ValueError("the histogram holds 0 games; a trade-off curve needs at least 1")
        pick = self._picked(wanted)
        above, below = self.games - np.cumsum(self.out)[:-1], np.cumsum(self.inside)[:-1]
        n = self.games
        earlier = self._pilot_counts()[:, pick] if anytime or "until" in self.manifest else None
        return EmpiricalTradeOff(
            self.edges[pick],
            above[pick],
            n,
            below[pick],
            n,
            confidence,
            finer_counts=(self.edges, above, below),
            earlier_counts=earlier,
            precision=self.manifest.get("precision", ""),
        )

    def _picked(self, wanted: int) -> np.ndarray:
        """Which edges to use, at most `wanted`: those around cells of a single value if they are so few, and others evenly."""
        shares = dict(self.manifest.get("edges", {})).get("shares")
        ends = are_single(self.edges)
        needed = ends[:-1] | ends[1:]
        rest = np.flatnonzero(~needed)
        if not rest.size or not 0 < needed.sum() <= wanted:
            return spread_evenly(shares, self.edges.size, wanted)
        if isinstance(shares, list) and len(shares) == needed.size:
            shares = [shares[i] for i in rest]
        others = rest[spread_evenly(shares, rest.size, wanted - int(needed.sum()))]
        return np.sort(np.concatenate([np.flatnonzero(needed), others]))

    def _pilot_counts(self) -> np.ndarray:
        """What the pilot counted, as `EmpiricalTradeOff.earlier_counts` at every edge; zeros where it is not known."""
        cells = np.asarray(dict(self.manifest.get("edges", {})).get("counts", 0), np.float64)
        if cells.shape != (2, self.edges.size + 1):
            return np.zeros((4, self.edges.size))
        below = np.cumsum(cells, axis=1)
        out, inside, games = below[0, :-1], below[1, :-1], below[:, -1]
        return np.stack([games[0] - out, out, inside, games[1] - inside])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to an NPZ file (no pickle), whole or not at all; `load` reads it back.

        Raises:
            OSError: if the file cannot be written; an old file stays intact.
            ValueError: if there are too many edges for a file.
        """
        write_counts(path, self.edges, self.out, self.inside, self.manifest)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Histogram:
        """Read a saved histogram.

        Raises:
            FileNotFoundError: if there is no such file.
            OSError: if the system does not let it be read.
            ValueError: if the file is truncated, corrupt, changed or of another kind.
        """
        return cls(**read_counts(path))

    def __add__(self, other: object) -> Histogram:
        """Merge two runs of the same game, attack, edges and fidelity whose games are disjoint.

        Runs of the same seed that meet are merged, so that the shards of a run add up to it, manifest and all.

        Raises ValueError if anything but the seed and the range of games differs, or games are counted twice.
        """
        if not isinstance(other, Histogram):
            return NotImplemented
        if not np.array_equal(self.edges, other.edges):
            raise ValueError(
                "these histograms have different edges; only counts on equal edges can be merged: play the second with "
                "edges=first.edges"
            )
        if part := difference(self.manifest, other.manifest, _MERGEABLE):
            raise ValueError(
                f"these histograms differ in their {part}; only runs with the same {part} can be merged"
            )
        runs = _joined(self.manifest, other.manifest)
        games = self.games + other.games
        if games > MOST_GAMES:
            raise ValueError(f"both histograms hold {games} games; a histogram can hold {MOST_GAMES}")
        manifest = {**self.manifest, "games": games, "runs": runs}
        manifest.pop("shard", None)  # a sum is no shard
        if "until" in other.manifest:  # nor are its games of a number that was fixed before them
            manifest.setdefault("until", other.manifest["until"])
        if self.manifest.get("seed") != other.manifest.get("seed"):
            manifest["seed"] = None
        if "device" in manifest and self.manifest["device"] != other.manifest.get("device"):
            manifest["device"] = f"{self.manifest['device']}, {other.manifest.get('device')}"
        return Histogram(self.edges, self.out + other.out, self.inside + other.inside, manifest)

    def __repr__(self) -> str:
        low, high = self.edges[0], self.edges[-1]
        return (
            f"Histogram({self.games:,} games per world, {self.edges.size} edges from {low:.4g} to {high:.4g})"
        )

    def _repr_html_(self) -> str:
        rows = {
            "games per world": f"{self.games:,}",
            "edges": f"{self.edges.size} from {self.edges[0]:.4g} to {self.edges[-1]:.4g}",
            **{
                part: _short(self.manifest[part])
                for part in ("game", "attack", "fidelity", "precision", "seed")
                if part in self.manifest
            },
        }
        lines = ((name, str(value)) for name, value in rows.items())
        return f"<div><b>Histogram of scores</b>{html_table(lines)}</div>"


def _counts(name: str, value: object, cells: int) -> np.ndarray:
    array = held(name, value)
    if array.shape != (cells,):
        raise ValueError(
            f"{name} has shape {array.shape}; with {cells - 1} edges it must have shape ({cells},)"
        )
    if array.dtype.kind not in "iu" or (array < 0).any() or (array > MOST_GAMES).any():
        raise ValueError(f"{name} has dtype {array.dtype}; counts must be whole numbers in [0, {MOST_GAMES}]")
    return array.astype(np.int64)


def _joined(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[list[int]]:
    """Both lists of [seed, first game, end], sorted and joined where they meet, or say that they overlap."""
    if not ("runs" in mine and "runs" in theirs):
        raise ValueError(
            "a histogram without a manifest of its runs cannot be merged: its games may be counted twice"
        )
    joined: list[list[int]] = []
    for seed, start, stop in sorted(run for run in [*mine["runs"], *theirs["runs"]] if run[1] < run[2]):
        if not joined or joined[-1][0] != seed or joined[-1][2] < start:
            joined.append([seed, start, stop])
        elif joined[-1][2] == start:
            joined[-1][2] = stop
        else:
            raise ValueError(
                f"both histograms hold game {start} of seed {seed}; only disjoint games can be merged"
            )
    return joined or mine["runs"]


def _short(described: Any) -> str:
    return (
        described["class"].rsplit(".", 1)[-1]
        if isinstance(described, dict) and "class" in described
        else str(described)
    )
