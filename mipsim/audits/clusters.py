"""Scores that come in clusters, such as many records of one trained model: one of each cluster is independent of the others."""

from __future__ import annotations

import hashlib

import numpy as np

from mipsim._content_seed import content_generator
from mipsim.audits.scores import LEAST_SCORES, Scores


def one_a_cluster(scores: Scores) -> Scores:
    """Choose one score of each cluster at random: neither the order of rows nor the names of clusters matter.

    Theorem. Let clusters be independent, and let each score of world w have the distribution P_w, given which worlds its cluster
    has; scores within a cluster may be arbitrarily dependent. Then the chosen scores are independent, each with the
    distribution of its world: what is proven for independent games holds.
    Proof. The choice is uniform and independent of the data in the sense of `mipsim._content_seed.content_generator`, so that each
    chosen score keeps its distribution; no two are of one cluster.

    The world is chosen by a fair coin where a cluster has both, so that a rare world is not lost.

    Args:
        scores: with clusters, 100 at least.

    Raises:
        ValueError: if there are fewer than 100 clusters, or none was chosen in one of the worlds.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> whole = Scores.of(rng.normal(size=600), np.tile([0, 1], 300), np.repeat(np.arange(200), 3))
        >>> chosen = one_a_cluster(whole)
        >>> chosen.values.size, np.unique(chosen.cluster).size
        (200, 200)
    """
    assert scores.cluster is not None
    if scores.clusters < LEAST_SCORES:
        raise ValueError(
            f"cluster names {scores.clusters} clusters; an audit needs {LEAST_SCORES} at least, since clusters are what is independent"
        )
    order = np.lexsort((scores.member, scores.values, scores.cluster))
    ends = np.searchsorted(scores.cluster[order], np.arange(1, scores.clusters))
    pairs = np.stack([scores.values[order], scores.member[order]], axis=1)
    contents = [hashlib.sha256(part.tobytes()).digest() for part in np.split(pairs, ends)]
    turns = np.empty(scores.clusters, dtype=np.int64)
    turns[sorted(range(scores.clusters), key=contents.__getitem__)] = np.arange(scores.clusters)
    order = order[np.argsort(turns[scores.cluster[order]], kind="stable")]  # clusters by content, not by name
    turn = turns[scores.cluster[order]]
    rng = content_generator("one a cluster", b"".join(sorted(contents)))
    other = scores.member[order] != (rng.random(scores.clusters) < 0.5)[turn]
    first = np.lexsort((rng.random(order.size), other, turn))
    chosen = order[first[np.unique(turn[first], return_index=True)[1]]]
    return Scores.of(
        scores.values[chosen], scores.member[chosen], scores.cluster[chosen], column=scores.column
    )
