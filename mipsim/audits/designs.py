"""Designs of an audit: what each promises of the scores, and what is judged of them. A new design is a row."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincc

from mipsim._content_seed import content_generator
from mipsim.audits.one_run import SINGLE, Exchange
from mipsim.audits.runs import BALANCED, judged_canaries
from mipsim.audits.scores import LEAST_SCORES, Scores

CONFIDENCE = 0.95
DELTA = 1e-5
_REPEATS = 4  # how often equal scores come at most, where scores are hardly rounded
_COINS = ("guesses", "inclusion_probability", "records")
OPTIONS = {
    **dict.fromkeys(_COINS[:2], 'only "one-run" and "runs" guess about coins'),
    **dict.fromkeys(("records", "rows", "shadow"), 'only "runs" has records and models'),
}
"""Arguments of an audit that some designs alone take, and which these are."""


@dataclass(frozen=True)
class Design:
    """How scores were collected."""

    assumes: str  # what it promises of the scores; nothing in the scores can show that it is so
    # what of the scores contradicts it, or "", given how many runs there were and the probability of a coin, or None
    contradiction: Callable[[Scores, int | None, float | None], str]
    # the scores that are judged, and what is guessed about them; None where thresholds are judged
    judged: Callable[[Scores, float], tuple[Scores, Exchange | None]]
    options: tuple[str, ...] = ()  # which of `OPTIONS` it takes
    least_risk: float = 2e-9  # that its tests know
    share: float = 1.0  # of the failure probability, that its test has

    @property
    def guesses(self) -> bool:
        """Whether coins are guessed."""
        return "guesses" in self.options


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
    if scores.clusters < LEAST_SCORES:
        raise ValueError(
            f"cluster names {scores.clusters} clusters; an audit needs {LEAST_SCORES} at least, since clusters are what is independent"
        )
    order = np.lexsort((scores.member, scores.values, scores.cluster))
    number = np.unique(scores.cluster[order], return_inverse=True)[1]
    pairs = np.stack([scores.values[order], scores.member[order]], axis=1)
    # Clusters in the order of their contents: equal ones may be in any.
    starts = np.flatnonzero(np.diff(number)) + 1
    contents = [hashlib.sha256(part.tobytes()).digest() for part in np.split(pairs, starts)]
    turns = np.empty(len(contents), dtype=np.int64)
    turns[sorted(range(len(contents)), key=contents.__getitem__)] = np.arange(len(contents))
    place = np.argsort(turns[number], kind="stable")
    order, turn = order[place], turns[number][place]
    rng = content_generator("one a cluster", b"".join(sorted(contents)))
    other = scores.member[order] != (rng.random(scores.clusters) < 0.5)[turn]
    first = np.lexsort((rng.random(order.size), other, turn))
    chosen = order[first[np.unique(turn[first], return_index=True)[1]]]
    return Scores.of(scores.values[chosen], scores.member[chosen])


def _clustered(scores: Scores, runs: int | None, coin: float | None) -> str:
    if not scores.cluster.size:
        return 'it has no cluster; design "clustered" needs to know which cluster each score is in'
    named = np.unique([scores.run, scores.cluster], axis=1).shape[1] if scores.run.size else 0
    if runs is not None and (named > runs or runs < scores.clusters):
        return (
            f"{runs:,} runs are in {scores.clusters:,} clusters, which depend on each other where they share a run; "
            'name each run as a cluster, or use design "runs"'
        )
    return ""


def _in_clusters(scores: Scores, design: str) -> str:
    n, clusters = scores.values.size, scores.clusters
    apart = clusters == n or (design == "one-run" and clusters == 1)  # a column that names the run of all
    noun, other = ("cluster", "one-run") if clusters == 1 else ("clusters", "clustered")
    words = f'{n:,} scores are in {clusters:,} {noun}, which design "{design}" contradicts; design "{other}" is for them'
    return "" if apart else words


def _several_runs(scores: Scores, runs: int | None, coin: float | None) -> str:
    how = "columns run and record, or matrices in an .npz with --rows"
    how = how if scores.source else "runs= and records=, or a matrix with rows="
    lacking = f'design "runs" needs the name of the run and of the record of each score: {how}'
    return _in_clusters(scores, "runs") or ("" if scores.run.size and scores.record.size else lacking)


def _independent(scores: Scores, runs: int | None, coin: float | None) -> str:
    n = scores.values.size
    fewer = (
        f'design "independent" needs a training run or game for each score: say {"--runs " if scores.source else "runs="}{n} if so many '
        f'were run{"" if runs is None else f", not {runs:,}"}; for records of a run use "one-run", of several "runs"'
    )
    return _in_clusters(scores, "independent") or (repeated_rows(scores) if runs == n else fewer)


def _one_run(scores: Scores, runs: int | None, coin: float | None) -> str:
    n, records = scores.values.size, scores.records
    if wrong := _in_clusters(scores, "one-run"):
        return wrong
    if records not in (0, n):
        return (
            f"{n:,} scores are of {records:,} records, whose coins they share; give a single score a record, such as the mean: "
            'frame.groupby("record", as_index=False).mean()'
        )
    if runs not in (None, 1):
        return f'{runs:,} runs are stated for design "one-run"; design "runs" is for several'
    if scores.source and scores.column != "coin" and coin is None:
        return (
            'it has no coin; if a fair coin put each canary in (1) or left it out (0), as design "one-run" needs, say '
            "--inclusion-probability 0.5"
        )
    return repeated_rows(scores)


def repeated_rows(scores: Scores) -> str:
    """What is wrong where scores come twice, three or four times as rounding hardly makes them; a warning where such scores have equal worlds.

    For rows without names alone: names of records, or of a run for each score, say it without an estimate.

    Let V_m scores come m times. Scores that are independent and rounded, from any distribution, fall into cells by Poisson's law, mixed over cells: the
    mean of V_(m+1) is at least m / (m + 1) times (mean of V_m)^2 / mean of V_(m-1), by the inequality of Cauchy and Schwarz. Far fewer are
    refused. How far is a rule of thumb and no theorem: the means of V_m and V_(m-1) are taken as they were counted, less and plus three roots of
    them, and V_(m+1) for a Poisson number, of an estimated probability of 1e-6. Rows pasted twice have V_1 = V_3 = 0.
    Else, where scores are hardly rounded and nothing leaks, equal scores all have equal worlds with probability 2^-repeats: 1e-3 warns.
    """
    values, place, counts = np.unique(scores.values, return_inverse=True, return_counts=True)
    inside = np.bincount(place, weights=scores.member)
    repeats = scores.values.size - values.size
    if counts.max() > _REPEATS or scores.values.size in (scores.records, scores.runs):
        return ""
    line = "frame.drop_duplicates()"
    came = np.bincount(counts, minlength=_REPEATS + 2).astype(float)
    for m in range(2, _REPEATS + 1):
        least = max(came[m] - 3.0 * came[m] ** 0.5, 0.0)
        mean = m / (m + 1.0) * least**2 / (came[m - 1] + 3.0 * came[m - 1] ** 0.5 + 3.0)
        if gammaincc(came[m + 1] + 1.0, mean) < 1e-6:  # the chance of as few for a Poisson number
            return (
                f"{repeats:,} rows repeat the score of another, {m} times each as in rows that were pasted twice; drop them: {line}, "
                "or name the record or run of each"
            )
    if repeats >= 10 and ((inside == 0) | (inside == counts)).all():
        warnings.warn(
            f"{repeats:,} rows repeat the score and the world of another; bounds hold if none was pasted twice, else use {line}",
            stacklevel=5,
        )
    return ""


DESIGNS = {
    "independent": Design(
        "every score is of a training run, or a game, of its own, independent of the others and equally distributed in its world",
        _independent,
        lambda scores, coin: (scores, None),
    ),
    "one-run": Design(
        "all scores are of canaries of a single training run, each put in by a fair coin",
        _one_run,
        lambda scores, coin: (scores, SINGLE),
        options=_COINS,
        least_risk=0.0,
    ),
    "runs": Design(
        "training runs have randomness of their own; coins are independent between records and exchangeable between the runs of a "
        "record; no score was calibrated by coins of the judged runs",
        _several_runs,
        judged_canaries,
        options=(*_COINS, "rows", "shadow"),
        share=1.0 - BALANCED,
    ),
    "clustered": Design(
        "clusters of scores are independent of each other and share no training run; scores within a cluster may be arbitrarily "
        "dependent, each with the distribution of its world",
        _clustered,
        lambda scores, coin: (choose_from_clusters(scores), None),
    ),
}
