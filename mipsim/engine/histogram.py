"""The result of a run: integer counts of scores on fixed edges, with the manifest of what was played."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Histogram:
    """Counts of the scores in the two worlds.

    Attributes:
        edges: K increasing thresholds, float64, in units of the score, fixed before the run.
        out: K + 1 counts (int64) of the "out" games: entry i counts scores in (edges[i-1], edges[i]].
        inside: the same for the "in" games.
        manifest: what was played: game, attack, seed, games, edges digest, versions (plain JSON types).
    """

    edges: np.ndarray
    out: np.ndarray
    inside: np.ndarray
    manifest: dict[str, Any] = field(default_factory=dict)
