"""Scores that come in clusters, such as many records of the same trained model: a single score of each cluster is independent of the others."""

from __future__ import annotations

import hashlib

import numpy as np

from mipsim._content_seed import content_generator
from mipsim.audits.scores import LEAST_SCORES, Scores


def choose_from_clusters(scores: Scores) -> Scores:
    """Choose a single score of each cluster at random: neither the order of rows nor the names of clusters matter.

    Theorem. Let clusters be independent, and let each score of world w have the distribution P_w, given which worlds its cluster
    has; scores within a cluster may be arbitrarily dependent. Then the chosen scores are independent, each with the
    distribution of its world: what is proven for independent games holds.
    Proof. The choice is uniform and independent of the data in the sense of `mipsim._content_seed.content_generator`, so that each
    chosen score keeps its distribution; no two are of the same cluster.

    The world is chosen by a fair coin where a cluster has both, so that a rare world is not lost.

    `scores`: with clusters, 100 at least. Raises ValueError if there are fewer than 100 clusters, or none was chosen in
    either world.
    """
    assert scores.cluster is not None
    if scores.clusters < LEAST_SCORES:
        raise ValueError(
            f"cluster names {scores.clusters} clusters; an audit needs {LEAST_SCORES} at least, since clusters are what is independent"
        )
    order, turn, rng = by_content(scores, scores.cluster, "one a cluster")
    other = scores.member[order] != (rng.random(scores.clusters) < 0.5)[turn]
    first = np.lexsort((rng.random(order.size), other, turn))
    chosen = order[first[np.unique(turn[first], return_index=True)[1]]]
    return Scores.of(
        scores.values[chosen], scores.member[chosen], scores.cluster[chosen], column=scores.column
    )


def by_content(
    scores: Scores, group: np.ndarray, purpose: str
) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """An order of the rows that depends on neither their order nor the names of groups, and a generator for choices in it.
    `group`: the number of the group of each, shape (n,); `purpose`: of the choices, see
    `mipsim._content_seed.content_generator`. Returns (indices of the rows, groups with equal contents in any order; the
    place of the group of each in that order, from 0; the generator).
    """
    order = np.lexsort((scores.member, scores.values, group))
    number = np.unique(group[order], return_inverse=True)[1]
    pairs = np.stack([scores.values[order], scores.member[order]], axis=1)
    contents = [
        hashlib.sha256(part.tobytes()).digest()
        for part in np.split(pairs, np.flatnonzero(np.diff(number)) + 1)
    ]
    turns = np.empty(len(contents), dtype=np.int64)
    turns[sorted(range(len(contents)), key=contents.__getitem__)] = np.arange(len(contents))
    place = np.argsort(turns[number], kind="stable")
    return order[place], turns[number][place], content_generator(purpose, b"".join(sorted(contents)))
