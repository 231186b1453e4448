"""Several training runs: canaries of all of them together, or exchanges of coins between runs, or between records."""

from __future__ import annotations

import math

import numpy as np
from scipy.fft import irfft, rfft
from scipy.sparse import csr_array
from scipy.special import comb, rel_entr

from mipsim._content_seed import content_generator
from mipsim.audits.one_run import LEAST_GUESSES, Exchange
from mipsim.audits.scores import LEAST_SCORES, Scores

BALANCED = 0.05
"""Share of the failure probability that pays for telling coins of fixed numbers from independent ones by these numbers."""
_NO_CHANCE = math.log(1e-9)  # of two runs that agree in all coins
# of records that share their coins, and as much of runs that are shifts of each other
_PATTERN = math.log(5e-7)
# Redrawn coins, and of how many the numbers must be less regular, or of how many more irregular: in all `BALANCED` of them.
_REDRAWN, _REGULAR, _IRREGULAR = 199, 9, 1
_MANY, _FEWER = 5_000, 39  # scores from which fewer are redrawn, with a single one at either end


def judged_canaries(scores: Scores, coin: float = 0.5) -> tuple[Scores, Exchange]:
    """What guesses are made about: canaries of several runs, or exchanges of coins that leave all fixed numbers as they are.

    Let f be the curve of the claim: given all other coins and the outputs of earlier runs, no test distinguishes "out" from "in" of a record
    in a single run better than f. Let the randomness of each run be independent of that of the others.

    Theorem 1 (no record is in two runs). Let all coins be independent and fair. Then all runs together are a single training run that keeps
    the claim, and the theorem of `mipsim.audits.one_run.OneRun` holds for all canaries together.
    Proof. A coin of run k changes neither the earlier runs nor the distribution of the output of later runs given the outputs before them and
    their own coins. So the joint outputs for the two values of the coin are the earlier outputs, the output of run k, and a random function
    of these. A function of an output has no lower curve than the output.

    Theorem 2 (exchanges). Let exchanges be disjoint sets of coins, each of which can be turned: its "in" become "out", its "out" "in".
    Let the distribution of all coins stay the same where any exchange is turned, and let the exchanges be chosen with a probability that
    turning changes neither. Call each exchange as it is or turned the first by a fair coin. Then these coins are independent
    and fair, given the exchanges and all coins outside them, and the runs are a training of these coins. The theorem of `OneRun` holds for them with
    the curve of a single turn.
    Proof. Given the exchanges and all other coins, each choice of turns has the same probability. The rest is as in theorem 1.

    - Pairs of runs. In each record, pair a run with it and a run without, uniformly, until either kind is used up. Premise: the coins of a
      record are exchangeable between runs, and independent of other records: fair or not, or exactly half of them "in". A turn changes
      a record in two runs: "out, in" against "in, out" is the product f (x) f^-1 where the runs are independent; where the second
      depends on outputs of the first, each test of the second keeps the claim given these, so the composition theorem of Dong, Roth, Su (2022) gives the same.
    - Pairs of records. In each run, pair a record in it and a record out of it, uniformly. Premise: the coins of a run are exchangeable
      between records, such as a random half of them, and independent of other runs. A turn takes a record out and puts another in: the
      composition of two steps between neighbours, f(1 - f) by group privacy; 2 mu of mu-GDP, (2 epsilon, (1 + e^epsilon) delta) of
      (epsilon, delta).
    - Squares. Pair the runs at random. In each pair of runs, pair a record of the first alone with a record of the second alone,
      uniformly. Premise: exchanging two records in two runs does not change the probability of the coins, as where each run holds a number
      and each record is in a number of runs, otherwise uniform. A turn leaves all these numbers as they are; its curve is that of
      two steps between pairs of runs, a step for each record, or of a pair of records, composed for two runs.

    Scores are differences, so that the level of a record (pairs of runs, squares) or of a run (pairs of records, squares) cancels.
    Where a run holds the records that another leaves out, or nearly all, these two runs are the only ones that are paired with each other.

    Numbers are taken for fixed where they are too regular, or too irregular, for independent coins: `_numbers_are_fixed`, for runs of any sizes.
    Exchanges hold for independent coins too, given the numbers. So an audit that takes these for fixed errs only where it would have been wrong
    otherwise: with a chance of `BALANCED` at most the other test is made, and r + `BALANCED` r is paid for by taking r from 1 - `BALANCED`.
    Two runs of the same records do not show fixed numbers, unless they are large.

    Choices depend on the names of runs and records and on the coins, never on scores or the order of rows.

    All use that a score knows no coin of the judged runs. `calibrated` uses coins of other runs alone; given these the premises still
    hold. Of a single judged run they fail where the others tell its coins, which is refused.

    Args:
        scores: with runs and records; each record once in a run.
        coin: the probability of "in" where no record is in two runs.

    Raises:
        ValueError: if a record is twice in a run, coins are revealed by those of other runs or records, or there are too few exchanges.

    Source: theorem 2 applies the composition theorem and group privacy of Dong, Roth, Su (2022); exchanges within a record are those of
        Fisher's exact test, squares are the swaps of matrices with fixed sums (Besag and Clifford, 1989).
    """
    places = np.stack([scores.record, scores.run])
    if np.unique(places, axis=1).shape[1] < scores.values.size:
        raise ValueError(
            "a record has several scores in a run; give each record once in a run, with a single score"
        )
    apart = np.unique(scores.record).size == scores.values.size
    partner = _complements(scores)
    if not apart:  # of a run and its rest one alone: their sequences are as few as those of blocks
        judged = ~np.isin(scores.run, [max(pair) for pair in partner.items()])
        _refuse_patterns(scores.where(judged & ~scores.shadow if scores.shadow.size else judged))
    runs_fixed = _numbers_are_fixed(scores, scores.run, None if apart else scores.record, coin)
    calibrating, records_fixed = bool(scores.shadow.any()), False
    if calibrating:
        records_fixed = _numbers_are_fixed(
            scores, scores.record, scores.run, coin, 1, 0
        ) or _revealed_by_numbers(scores)
        scores = calibrated(scores)
    once = np.unique(scores.record).size == scores.values.size
    if once and calibrating and records_fixed:
        raise ValueError(
            "other runs tell the coins of the judged run, as where each record is in equally many runs, or nearly so; judge two runs or more"
        )
    if once or (runs_fixed and calibrating and not records_fixed and not partner):
        if not runs_fixed:
            return scores, Exchange()
        return _matched(scores, scores.run), Exchange(records=2)
    if runs_fixed:
        squares = _between_runs(scores, partner)
        return _matched(squares, squares.run), Exchange(records=2, runs=2)
    block = np.array([min(run, partner.get(run, -1)) for run in range(int(scores.run.max()) + 1)])
    groups = np.unique(np.stack([scores.record, block[scores.run]]), axis=1, return_inverse=True)[1]
    return _matched(scores, groups.ravel()), Exchange(runs=2)


def _matched(scores: Scores, group: np.ndarray) -> Scores:
    """In each group as many disjoint pairs of an "in" and an "out" as there are: the score of the first less that of the second."""
    order, turn, rng = _by_names(scores, group, "pairs")
    values, member = scores.values[order], scores.member[order]
    place = np.lexsort((rng.random(order.size), member, turn))
    values, member, turn = values[place], member[place], turn[place]
    key = 2 * turn + member
    counts = np.bincount(key, minlength=2 * int(turn.max(initial=-1)) + 2)
    rank = np.arange(key.size) - (np.cumsum(counts) - counts)[key]
    matched = rank < np.minimum(counts[0::2], counts[1::2])[turn]
    apart = values[matched & member] - values[matched & ~member]
    if apart.size < LEAST_GUESSES:
        raise ValueError(
            f'coins allow {apart.size} exchanges of an "in" and an "out"; an audit needs {LEAST_GUESSES} at least'
        )
    first = rng.random(apart.size) < 0.5
    return Scores(np.where(first, apart, -apart), first)


def _between_runs(scores: Scores, partner: dict[int, int]) -> Scores:
    """Runs in random pairs: for each record of exactly one run, its score in the first less that in the second, "in" if the first has it."""
    _, _, rng = _by_names(scores, scores.run, "runs in pairs")
    free = rng.permutation([run for run in np.unique(scores.run).tolist() if run not in partner])
    pairs = [(run, other) for run, other in partner.items() if run < other]
    pairs += list(zip(free[0::2], free[1::2], strict=False))
    pair, second = np.full(int(scores.run.max()) + 1, -1), np.zeros(int(scores.run.max()) + 1, dtype=bool)
    for number, (run, other) in enumerate(pairs):
        pair[[run, other]], second[other] = number, True
    order = np.lexsort((second[scores.run], scores.record, pair[scores.run]))
    record, number, member = scores.record[order], pair[scores.run[order]], scores.member[order]
    of_both = (record[1:] == record[:-1]) & (number[1:] == number[:-1]) & (number[1:] >= 0)
    at = np.flatnonzero(of_both & (member[1:] != member[:-1]))
    values = scores.values[order]
    return Scores(values[at] - values[at + 1], member[at], run=number[at], record=record[at])


def _by_names(
    scores: Scores, group: np.ndarray, purpose: str
) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """(Indices of the rows in the order of groups, runs and records; the group of each from 0; a generator for choices in it)."""
    order = np.lexsort((scores.record, scores.run, group))
    names = [x[order] for x in (scores.run, scores.record, scores.member)]
    return order, np.unique(group[order], return_inverse=True)[1], content_generator(purpose, *names)


def _complements(scores: Scores) -> dict[int, int]:
    """For each judged run the run that holds the records that it leaves out, nearly all of them, where there is one.

    Let k of n runs hold a record. Two runs differ in it with probability 2 k (n - k) / (n (n - 1)), if its coins are exchangeable between
    runs, and all others with 2 k (n - k) / n^2 at least, if each run has a complement. The chance of a number beyond both is bounded
    by Chernoff's inequality.
    """
    of, own = scores.record, np.unique(scores.run, return_inverse=True)[1]
    n, k = np.bincount(of).astype(float), np.bincount(of, weights=scores.member)
    least = 2.0 * k * (n - k) / np.maximum(n, 1.0) ** 2
    most = least * n / np.maximum(n - 1.0, 1.0)
    present, inside, low, high = (
        csr_array((value.astype(float), (own, of)))
        for value in (np.ones(of.size), scores.member, least[of], most[of])
    )
    common, low, high, both = ((x @ present.T).toarray() for x in (present, low, high, inside))
    different = both + both.T - 2.0 * (inside @ inside.T).toarray()
    mean = np.clip(different, low, np.minimum(high, common))
    excess = rel_entr(different, mean) + rel_entr(common - different, common - mean)  # of a binomial number
    judged = np.ones(common.shape[0], dtype=bool)
    judged[own[scores.shadow.nonzero()]] = False
    unlikely = np.triu(excess > 2.0 * math.log(len(judged)) - _NO_CHANCE, 1) & (judged[:, None] | judged)
    result: dict[int, int] = {}
    for run, other in sorted(np.argwhere(unlikely).tolist(), key=lambda pair: different[*pair] > mean[*pair]):
        turned = bool(different[run, other] > mean[run, other])
        if not turned or judged[run] != judged[other] or run in result or other in result:
            same = "the records that another leaves out" if turned else "the same records as another"
            raise ValueError(
                f"a run holds nearly or exactly {same}, so that its coins tell those of the other; leave out either run"
            )
        result |= {run: other, other: run}
    return result


def _numbers_are_fixed(
    scores: Scores,
    group: np.ndarray,
    within: np.ndarray | None,
    coin: float,
    regular: int = _REGULAR,
    irregular: int = _IRREGULAR,
) -> bool:
    """Whether the numbers of "in" in groups, of any sizes, are too regular or too irregular for independent coins.

    The statistic is the sum of squared deviations from the expected numbers, each over its variance. It is compared with that of coins sampled again:
    shuffled in each part of `within`, under which independent coins that are exchangeable there keep their distribution; or, for None,
    with probability `coin`. So such coins are taken for fixed numbers with probability `BALANCED` at most, for every size: that is the chance of a rank.
    """
    part = np.zeros(group.size, np.int64) if within is None else within
    order, part, rng = _by_names(scores, part, "coins sampled again")
    member = scores.member[order].astype(float)
    own = np.unique(group[order], return_inverse=True)[1]
    size = np.bincount(part)
    chance = np.full(size.size, coin) if within is None else np.bincount(part, weights=member) / size
    mean = np.bincount(own, weights=chance[part])
    variance = np.bincount(own, weights=(chance * (1.0 - chance))[part])
    some = variance > 0.0
    if some.sum() < 2:
        return False

    def deviation(inside: np.ndarray) -> np.ndarray:
        return ((inside - mean)[..., some] ** 2 / variance[some]).sum(axis=-1)

    redrawn, regular = (_REDRAWN, regular) if group.size <= _MANY else (_FEWER, 1)
    if within is None:
        again = deviation(rng.binomial(np.bincount(own), coin, (redrawn, mean.size)))
    else:
        shuffled = (member[np.argsort(part + rng.random(part.size))] for _ in range(redrawn))
        again = np.array([deviation(np.bincount(own, weights=coins)) for coins in shuffled])
    # equal but for rounding: a tie
    seen, digits = deviation(np.bincount(own, weights=member)), 1e-9 * (1.0 + again)
    return bool(
        1 + (again <= seen + digits).sum() <= regular or 1 + (again >= seen - digits).sum() <= _IRREGULAR
    )


def _refuse_patterns(scores: Scores) -> None:
    """Raise ValueError where records share their coins, in blocks, or a run is a cyclic shift of the first.

    Coins of either premise have such a pattern with probability 1e-6 at most, given which rows there are; only what is so rare under both is refused.
    - Pairs of runs, given in how many of its n runs each record is: its coins are one of C(n, k) equally likely sequences. In another run than
      the first they are "in" with probability (k - coin in the first) / (n - 1), given the coins of the first.
    - Pairs of records, given how many each run holds. Independent coins with these frequencies give these numbers with probability 1 / (n + 1) at least
      for a run of n, as the likeliest of n + 1. So what they do with probability p has p product (n + 1) at most.

    Blocks. Sequences and their opposites count as one. N records whose sequences have probability 1 / P at most have v of them or fewer with
    probability C(P, v) (v / P)^N at most, since the number of different ones is stochastically least for P equally likely ones.
    A group is the records of the same runs, and of the same number for the first premise; product (N + 1) pays for all the values of v.
    Shifts. Given the first run, the records in which another agrees with its shift are counted by independent coins, and Chernoff's inequality bounds them, for each run and shift.
    Where the numbers of both runs and records are fixed, the probability is an estimate.

    Source: Wong and Yue (1973), "A majorization theorem for the number of distinct outcomes in N independent trials".
    """
    order, record, rng = _by_names(scores, scores.record, "names of runs")
    run, member = np.unique(scores.run[order], return_inverse=True)[1], scores.member[order]
    paid, rate = np.log(np.bincount(run) + 1.0), np.bincount(run, weights=member) / np.bincount(run)
    n, k = np.bincount(record), np.bincount(record, weights=member)
    code = rng.integers(2**64, size=rate.size, dtype=np.uint64)
    starts = np.flatnonzero(np.diff(record, prepend=-1))
    present, inside = (np.add.reduceat(code[run] * some, starts) for some in (np.ones_like(member), member))
    fewer, folded = np.minimum(k, n - k).astype(np.uint64), np.minimum(inside, present - inside)
    with np.errstate(divide="ignore"):
        aligned, opposite = (
            np.exp(np.bincount(record, weights=np.log(best(rate, 1.0 - rate))[run]))
            for best in (np.maximum, np.minimum)
        )

    def rarity(groups: np.ndarray, sequences: np.ndarray) -> float:
        """How rare so few sequences are, as minus a log probability."""
        _, first, of, records = np.unique(
            groups, axis=1, return_index=True, return_inverse=True, return_counts=True
        )
        held = np.bincount(of.ravel()[np.unique([*groups, folded], axis=1, return_index=True)[1]])
        spare = np.log(np.maximum(np.minimum(sequences[first], 1e13) / held, 1.0))  # log(P / v)
        choices = held * np.minimum(spare + 1.0, np.exp(spare) * math.log(2.0))  # log C(P, v) at most
        return float(np.sum(np.maximum(records * spare - choices, 0.0) - np.log(records + 1.0)))

    by_runs = rarity(np.stack([present, fewer]), comb(n, k) / (1 + (2 * k == n)))
    if min(by_runs, rarity(present[None], np.floor(1.0 / (aligned + opposite))) - paid.sum()) > -_PATTERN:
        raise ValueError(
            "records share their coins in all runs, as fixed blocks do, which no theorem covers; draw a coin for each record"
        )
    runs = np.split(np.argsort(run, kind="stable"), np.cumsum(np.bincount(run))[:-1])
    n[record[runs[0]]] -= 1  # of the runs but the first
    k[record[runs[0]]] -= member[runs[0]]
    tilt = 2.0 * k / np.maximum(n, 1) - 1.0

    def spectra(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        coins = np.zeros((3, n.size))
        at = record[rows]
        coins[:, at] = np.stack([np.ones(at.size), 2.0 * member[rows] - 1.0, weights[rows]])
        return np.asarray(rfft(coins))

    start = np.conj(spectra(runs[0], 2.0 * member - 1.0))
    for other, rows in enumerate(runs[1:], 1):
        both, alike, tilted = np.asarray(irfft(spectra(rows, tilt[record]) * start, n.size))[:, 1:]
        both = np.maximum(both.round(), 0.0)
        seen, by_records = np.clip((both + np.stack([alike.round(), tilted])) / 2.0, 0.0, both)
        by_runs = both * (rate[other] * rate[0] + (1.0 - rate[other]) * (1.0 - rate[0]))
        mean = np.minimum(np.maximum(by_runs, by_records), both)
        excess = (rel_entr(seen, mean) + rel_entr(both - seen, both - mean)) * (seen > mean)
        if (excess > math.log(len(runs) * n.size) + paid[other] + paid[0] - _PATTERN).any():
            raise ValueError(
                "a run holds a cyclic shift of the records of another, by their names, which no theorem covers; draw a coin for each record"
            )


def _revealed_by_numbers(scores: Scores) -> bool:
    """Whether coins of a judged run depend on how many calibrating runs hold the record, as independent coins of equal probability hardly do.

    A group is the records with as many calibrating scores and as many of them "in". Each outcome, the numbers of coins "in" of all groups, has
    under any common probability at most exp(-excess), its likelihood ratio, and there are product (size + 1) outcomes: the chance of an
    excess that is refused is 1e-9 at most for each judged run.
    """
    n, known = int(scores.record.max()) + 1, scores.shadow
    many = np.bincount(scores.record[known], minlength=n)
    inside = np.bincount(scores.record[known], weights=scores.member[known], minlength=n)
    group = np.unique(np.stack([many, inside]), axis=1, return_inverse=True)[1].ravel()[scores.record]
    for run in np.unique(scores.run[~known]):
        rows = scores.run == run
        size = np.bincount(group[rows])
        present = size > 0
        size, of = size[present], np.bincount(group[rows], weights=scores.member[rows])[present]
        excess = float(np.sum(rel_entr(of, size * scores.member[rows].mean())))
        excess += float(np.sum(rel_entr(size - of, size * (1.0 - scores.member[rows].mean()))))
        if excess - float(np.log1p(size).sum()) > -_NO_CHANCE:
            return True
    return False


def calibrated(scores: Scores) -> Scores:
    """The scores of the judged runs, each calibrated for its record by the runs that only calibrate.

    The log-likelihood ratio of two normal distributions: the means are those of the record's scores in calibrating runs with it and
    without it, and the variance is that of all of them about these means. A record that lacks either is left out.

    `scores`: with runs and records, `shadow` saying which runs calibrate. Raises ValueError if the rest are too few.

    Source: Carlini et al. (2022), "Membership inference attacks from first principles", with the same variance for all records.

    >>> rng = np.random.default_rng(0)
    >>> coins = rng.random((60, 20)) < 0.5
    >>> whole = Scores.of(rng.normal(size=(60, 20)) + coins, coins, rows="records", shadow=range(16))
    >>> calibrated(whole).values.size
    240
    """
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
    out, inside = means.reshape(n, 2)[rest.record].T
    ratio = (inside - out) * (rest.values - 0.5 * (inside + out)) / variance
    return Scores(ratio, rest.member, run=rest.run, record=rest.record)
