"""Several training runs: canaries of all of them together, or the same records in many, whose coins are compared in pairs."""

from __future__ import annotations

import math
import warnings

import numpy as np

from mipsim.audits.clusters import by_content
from mipsim.audits.scores import LEAST_SCORES, Scores

_DOUBTFUL, _IMPOSSIBLE = 1e-3, 1e-9  # p-values from which coins are warned of, and refused


def judged_canaries(scores: Scores) -> tuple[Scores, bool]:
    """What guesses are made about: canaries of several runs, or pairs of runs of one record; and whether it is pairs.

    Let f be the curve of the claim: given all other coins and the outputs of earlier runs, no test tells "out" from "in" of one record
    in one run better than f. Let the randomness of each run be independent of that of the others.

    Theorem 1 (no record is in two runs). Let all coins be independent and fair. Then all runs together are one training run that keeps
    the claim, and the theorem of `mipsim.audits.one_run.OneRun` holds for all canaries together.
    Proof. A coin of run k changes neither the earlier runs nor the distribution of the output of later runs given the outputs before them and
    their own coins. So the joint outputs for the two values of the coin are the earlier outputs, the output of run k, and a random function
    of these. A function of an output has no lower curve than the output.

    Theorem 2 (records in several runs). Let the coins of one record be exchangeable between runs and independent of those of
    other records: fair or not, or exactly half of them "in". Choose in each record as many disjoint pairs of a run with it and a run without as
    there are, uniformly; and one of the two runs of each pair, the first, by a fair coin. Whether the first has the record is
    then one fair coin a pair, all independent, and the runs are a training of these coins with the curve f (x) f^-1. The theorem of
    `mipsim.audits.one_run.OneRun` holds for pairs, whose score is that of the first run less that of the second.
    Proof. Exchanging the two coins of a pair keeps the number of runs that have the record, so by exchangeability the probability of the
    coins, and that of choosing these pairs. Hence given the pairs, the firsts and all coins outside them each order in each
    pair is equally likely. Exchanging one pair changes one record in two runs: "out, in" against "in, out" is the product of both curves
    where the runs are independent; where the second depends on outputs of the first, each test of the second keeps the claim given these,
    so the composition theorem of Dong, Roth, Su (2022) gives the same. The other runs change as in theorem 1.

    Both use that a score knows no coin of the judged runs. `calibrated` uses coins of other runs alone. Given these, coins of a record that
    are exchangeable still are; of a single judged run they are fair only if all coins of the record are independent, which theorem 1 asks:
    of exactly half of the runs the others tell the last.

    Args:
        scores: with runs and records; each record once in a run.

    Raises:
        ValueError: if a record is twice in a run, coins are so regular that they depend on each other, or there are too few pairs.

    Source: theorem 2 applies the composition theorem; exchanges within a record are those of Fisher's exact test.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> coins = np.tile(np.repeat([True, False], 8), (50, 1))
        >>> pairs, paired = judged_canaries(Scores.of_matrix(rng.normal(size=(50, 16)), coins, "records"))
        >>> pairs.values.size, paired
        (400, True)
    """
    assert scores.run is not None
    assert scores.record is not None
    places = np.stack([scores.record, scores.run])
    if np.unique(places, axis=1).shape[1] < scores.values.size:
        raise ValueError(
            "a record has several scores in one run; give each record once in a run, as one score"
        )
    _check_regular(scores.member, scores.run, "each of {:,} runs holds {:,} of {:,} records")
    whole = scores
    if scores.shadow is not None:
        scores = calibrated(scores)
        assert scores.record is not None
    if np.unique(scores.record).size == scores.values.size:
        # The coins of calibrating runs may tell the one that is left.
        if whole.shadow is not None and whole.record is not None:
            _check_regular(whole.member, whole.record, "each of {:,} records is in {:,} of {:,} runs")
        return scores, False
    order, turn, rng = by_content(scores, scores.record, "pairs of runs")
    values, member = scores.values[order], scores.member[order]
    place = np.lexsort((rng.random(order.size), member, turn))
    values, member, turn = values[place], member[place], turn[place]
    key = 2 * turn + member
    counts = np.bincount(key, minlength=2 * int(turn.max()) + 2)
    rank = np.arange(key.size) - (np.cumsum(counts) - counts)[key]
    matched = rank < np.minimum(counts[0::2], counts[1::2])[turn]
    apart = values[matched & member] - values[matched & ~member]
    if apart.size < LEAST_SCORES // 2:
        raise ValueError(
            f"{apart.size} pairs of runs have a record in one and not in the other; an audit needs {LEAST_SCORES // 2} at least"
        )
    first = rng.random(apart.size) < 0.5
    return Scores(np.where(first, apart, -apart), first), True


def _check_regular(member: np.ndarray, group: np.ndarray, words: str) -> None:
    """Refuse groups of equally many coins, as many of them "in": independent coins would hardly be so."""
    size, inside = np.bincount(group), np.bincount(group, weights=member)
    if size.size < 2 or np.ptp(size) or np.ptp(inside):
        return
    n, k = int(size[0]), int(inside[0])
    # The first group may hold any number: the others hold the same, each with probability C(n, k) q^k (1 - q)^(n - k) at most, q = k / n.
    log_chance = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    log_chance += sum(part * math.log(part / n) for part in (k, n - k) if part)
    p_value = math.exp((size.size - 1) * log_chance)
    said = f"{words.format(size.size, k, n)}; independent coins do so with probability {p_value:.1g}"
    if p_value < _IMPOSSIBLE:
        raise ValueError(f"{said}. Put each record into each run by a coin of its own")
    if p_value <= _DOUBTFUL:
        warnings.warn(f"{said}; the bounds hold for independent coins", stacklevel=4)


def calibrated(scores: Scores) -> Scores:
    """The scores of the judged runs, each calibrated for its record by the runs that only calibrate.

    The log-likelihood ratio of two normal distributions: the means are those of the record's scores in calibrating runs with it and
    without it, and the variance is that of all of them about these means. A record that lacks one of the two is left out.

    Args:
        scores: with runs and records, `shadow` saying which runs calibrate.

    Raises:
        ValueError: if the rest are too few.

    Source: Carlini et al. (2022), "Membership inference attacks from first principles", with one variance for all records.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> coins = rng.random((60, 20)) < 0.5
        >>> whole = Scores.of_matrix(rng.normal(size=(60, 20)) + coins, coins, "records", shadow=range(16))
        >>> calibrated(whole).values.size
        240
    """
    assert scores.record is not None
    assert scores.shadow is not None
    key, n = 2 * scores.record + scores.member, int(scores.record.max()) + 1
    known, shown = key[scores.shadow], scores.values[scores.shadow]
    counts = np.bincount(known, minlength=2 * n)
    means = np.bincount(known, weights=shown, minlength=2 * n) / np.maximum(counts, 1)
    variance = float(np.mean((shown - means[known]) ** 2))
    both = counts.reshape(n, 2).min(axis=1) > 0
    rest = scores.where(~scores.shadow & both[scores.record])
    if rest.values.size < LEAST_SCORES or variance == 0.0:
        raise ValueError(
            f"shadow leaves {rest.values.size:,} scores of judged runs to calibrate; an audit needs {LEAST_SCORES} at least"
        )
    assert rest.record is not None
    out, inside = means.reshape(n, 2)[rest.record].T
    ratio = (inside - out) * (rest.values - 0.5 * (inside + out)) / variance
    return Scores(
        ratio, rest.member, run=rest.run, record=rest.record, source=rest.source, digest=rest.digest
    )
