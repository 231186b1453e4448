"""Scores that come in clusters, such as many records of one trained model: one of each cluster is independent of the others."""

from __future__ import annotations

import numpy as np

from mipsim.audits.scores import LEAST_SCORES, Scores

_SEED = 20_260_101  # any fixed number: the choice then depends on the clusters and worlds alone


def one_a_cluster(scores: Scores) -> Scores:
    """One score of each cluster, chosen by clusters, worlds and a fixed seed, never by scores.

    Theorem. Let clusters be independent, and each score of world w have the law P_w, however scores of one cluster hang
    together. Then the chosen scores are independent, each with the law of its world: what is proven of independent games holds.
    Proof. The choice is fixed before the scores, so that each chosen score keeps its law; no two are of one cluster.

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
    rng = np.random.default_rng([_SEED, scores.clusters, scores.values.size])
    wanted = rng.random(scores.clusters) < 0.5
    other = scores.member != wanted[scores.cluster]
    order = np.lexsort((rng.random(scores.values.size), other, scores.cluster))
    chosen = order[np.unique(scores.cluster[order], return_index=True)[1]]
    return Scores.of(
        scores.values[chosen], scores.member[chosen], scores.cluster[chosen], column=scores.column
    )
