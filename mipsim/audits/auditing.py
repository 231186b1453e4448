"""Audits of a user's scores by the design that made them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from scipy.special import ndtri

from mipsim._printed import at_least
from mipsim._signals import interruptible
from mipsim._validation import choice, confidence_level, number, refuse_class, whole
from mipsim._verdict import Verdict
from mipsim._words import printable
from mipsim.audits.claims import RatePromise, read_claim, words
from mipsim.audits.clusters import choose_from_clusters
from mipsim.audits.one_run import SINGLE, OneRun
from mipsim.audits.result import Audit
from mipsim.audits.runs import BALANCED, judged_canaries
from mipsim.audits.scores import Scores, read_scores, refuse_repeated_rows, scores_of
from mipsim.audits.settings import CONFIDENCE, DELTA, DESIGNS
from mipsim.bands.clopper_pearson import clopper_pearson
from mipsim.bands.comparison_base import NUMERICAL_FLOOR
from mipsim.bands.empirical_tradeoff import EmpiricalTradeOff
from mipsim.bands.family_bound import approximate_dp, gdp
from mipsim.tradeoff import ApproxDPTradeOff, GaussianTradeOff
from mipsim.tradeoff.base import KNOWN, AbstractTradeOff

_LEAST_RISK = 2e-9  # that bands at free thresholds know
_BINS = 40  # of the histogram of a report
_BY_COINS = ("one-run", "runs")
_NEVER = "not refuted; scores of a single attack can refute a promise and never confirm it, since a better attack may leak more"


@interruptible
def audit(
    scores: object,
    member: object = None,
    *,
    design: str,
    runs: object = None,
    records: object = None,
    rows: str | None = None,
    shadow: object = None,
    cluster: object = None,
    claim: AbstractTradeOff | RatePromise | str | None = None,
    confidence: float = CONFIDENCE,
    delta: float | None = None,
    guesses: tuple[int, int] | None = None,
    inclusion_probability: float | None = None,
    epsilon: float | None = None,
    columns: Mapping[str, str] | str | None = None,
    higher: str | None = None,
    separator: str | None = None,
) -> Audit:
    """Compute lower bounds on the leakage that attack scores demonstrate, and test a promised guarantee against them.

    The design is how the scores were collected, which cannot be inferred from them:

    - "independent": each score is of a training run, or a game, of its own; say so by `runs=`, how many there were. One-sided bounds
      calibrated over all thresholds for every law of the scores, `mipsim.bands.family_lower_bound`, and a simultaneous band.
    - "one-run": the scores are of canaries of a single training run, each put in by an independent coin, fair or of a known
      `inclusion_probability`; `member` holds the coins. `mipsim.audits.one_run.OneRun`.
    - "runs": several training runs, such as a matrix of records and models. Where records are in several runs, or all runs hold equally
      many, exchanges of coins are judged; else all canaries together. `mipsim.audits.runs.judged_canaries`.
    - "clustered": scores of the same `cluster` may depend on each other; a single score of each cluster is judged as independent,
      `mipsim.audits.clusters.choose_from_clusters`.

    Neither the order of rows nor an increasing map of the scores changes anything: their ranks are judged. A claim is refuted where what is promised lies below the bound (mu, epsilon), or the curve of the attack below the promised curve.
    No claim is confirmed.

    Args:
        scores: shape (n,), n >= 100; for the design "runs" also a matrix; or a data frame, a dictionary of arrays or the path of a file, see `mipsim.audits.scores.read_scores`.
        member: 1 for the world "in", 0 for "out", of the shape of `scores`; None where `scores` holds it.
        design: "independent", "one-run", "runs" or "clustered".
        runs: how many training runs or games made the scores, or the name of the run of each, shape (n,). The design "independent" needs
            the first or the second, "runs" the second.
        records: the name of the record of each score, shape (n,), for the design "runs", where a record has the same name in different runs; for
            "one-run" they may show that no row was pasted twice.
        rows: of a matrix, also of matrices in an .npz, "records" (its columns are models) or "models".
        shadow: for the design "runs", the names of the runs, or the numbers of the models from 0, which only calibrate the scores of the others
            for each record; fixed before the scores. See `mipsim.audits.runs.calibrated`.
        cluster: names of clusters, shape (n,), for the design "clustered".
        claim: a trade-off function that bounds every attack, out against in; or text such as "epsilon=2,delta=1e-5", see
            `mipsim.audits.claims.read_claim`.
        confidence: of each bound and of the verdict by itself, in [0.5, 1); at most 1 - 2e-9 except for the design "one-run".
        delta: at which epsilon is bounded, in [0, 1]; by default that of the claim, or 1e-5.
        guesses: for the designs "one-run" and "runs", how many of the highest scores are guessed "in" and of the lowest "out", fixed before
            the scores; by default `mipsim.audits.one_run.guess_plan`.
        inclusion_probability: for canaries that are in a single run each, the probability with which each canary was put in, in (0, 1), as it was set before the
            run; by default 0.5. Other designs need no coins: their bounds hold given the worlds of the scores.
        epsilon: at which delta is bounded, in [0, 700], but where coins are guessed; by default that of the claim, if it has an epsilon.
        columns: of a file or a frame, which column is which, such as {"score": "loss", "member": "is_member"}.
        higher: "in" or "out", the world that higher scores indicate; "in" is assumed, and the result says so.
        separator: of the cells of a text file, where its header does not tell.

    Raises:
        ValueError: a single sentence that names the argument or the file, and what is allowed.

    Warns:
        UserWarning: where independent coins give such numbers of members with probability 1e-3 or less, or rows repeat scores and worlds.

    Source: Mahloujifar, Melis, Chaudhuri (2025) for a single run, in the setting of Steinke, Nasr, Jagielski (2023).

    Examples:
        >>> import mipsim as mi, numpy as np
        >>> rng = np.random.default_rng(1)
        >>> coins = rng.random(1000) < 0.5
        >>> result = mi.audit(rng.normal(size=1000) + 3.0 * coins, coins, design="one-run", claim="epsilon=1,delta=1e-6")
        >>> result.verdict, result.epsilon_lower_bound > 1.0
        (<Verdict.REFUTED: 'REFUTED'>, True)
        >>> models = rng.random((200, 16)) < 0.5  # 200 records, 16 models
        >>> mi.audit(rng.normal(size=(200, 16)) + models, models, design="runs", rows="records", claim="mu=0.5").verdict
        <Verdict.REFUTED: 'REFUTED'>
        >>> mi.audit([0.1] * 100, [0, 1] * 50, design="independent", runs=100)
        Traceback (most recent call last):
        ...
        ValueError: scores all equal 0.1; a constant score tells nothing about any world
    """
    choice("design", design, tuple(DESIGNS))
    level = confidence_level(confidence)
    if design != "one-run" and level > 1.0 - _LEAST_RISK:
        raise ValueError(f"confidence is {level!r}; the design {design!r} allows 1 - {_LEAST_RISK:g} at most")
    for name, value in (("guesses", guesses), ("inclusion_probability", inclusion_probability)):
        if value is not None and design not in _BY_COINS:
            raise ValueError(
                f'{name} is given for the design {design!r}; only "one-run" and "runs" guess about coins'
            )
    for name, value in (("records", records), ("rows", rows), ("shadow", shadow)):
        if value is not None and design not in (_BY_COINS if name == "records" else ("runs",)):
            raise ValueError(f'{name} is given for the design {design!r}; only "runs" has records and models')
    coin = 0.5 if inclusion_probability is None else inclusion_probability
    number("inclusion_probability", coin, 0.0, 1.0, low_open=True, high_open=True)
    promised = read_claim(claim) if isinstance(claim, str) else claim
    refuse_class("claim", promised, "a trade-off function, or text such as 'mu=1'")
    if not (promised is None or isinstance(promised, (AbstractTradeOff, RatePromise))):
        raise ValueError(
            f"claim is {printable(type(promised).__name__, 40)}; it must be {KNOWN}, or text such as 'mu=1'"
        )
    at = _delta(delta, promised)
    if design in _BY_COINS and (epsilon is not None or isinstance(promised, RatePromise)):
        raise ValueError(
            f'{"epsilon" if epsilon is not None else "a promise of a TPR"} is given for the design "{design}", which bounds neither delta nor a '
            "TPR: to release all at random with a small probability leaks little, and may show all"
        )
    own = promised.at_epsilon if isinstance(promised, ApproxDPTradeOff) and design not in _BY_COINS else None
    spent = own if epsilon is None else number("epsilon", epsilon, 0.0, 700.0)
    counted = whole("runs", runs, 0) if isinstance(runs, (int, np.integer)) else None
    names = None if counted is not None else runs
    if isinstance(scores, np.ndarray) and scores.ndim > 1 and design != "runs":
        raise ValueError(
            f'scores has shape {scores.shape}; a matrix of records and models is for design "runs"'
        )
    if isinstance(scores, (str, os.PathLike)):
        if any(given is not None for given in (member, cluster, names, records)):
            raise ValueError(
                "member, cluster, runs or records is given beside a file of scores; the file must hold them"
            )
        read = {"columns": columns, "higher": higher, "separator": separator}
        known = read_scores(scores, **read, shadow=shadow, rows=rows)
    elif separator is not None:
        raise ValueError("separator is given beside scores that are no file; only text has a separator")
    else:
        how = {"run": names, "record": records, "rows": rows, "shadow": shadow}
        known = scores_of(scores, member, cluster, **how, columns=columns, higher=higher)
    _agrees(known, design, counted, inclusion_probability)
    known = known.in_order()
    judged, exchange, risk = known.by_rank(), SINGLE, 1.0 - level
    if design in ("independent", "one-run") and known.values.size not in (known.records, known.runs):
        refuse_repeated_rows(known)
    if design == "clustered":
        judged = choose_from_clusters(judged)
    if design == "runs":
        judged, exchange = judged_canaries(judged, coin)
        risk *= 1.0 - BALANCED
    if exchange.runs > 1 and inclusion_probability is not None:
        raise ValueError(
            f"inclusion_probability is given, but {exchange.words} are judged, which need no probability of a coin"
        )
    promise = "" if promised is None else printable(claim) if isinstance(claim, str) else words(promised)
    if design in _BY_COINS:
        run = OneRun(judged, risk, guesses, coin, exchange=exchange)
        curve, advantage = None, None
        mu, epsilon = run.mu(), run.epsilon(at)
        shown = None
    else:
        run = None
        curve = EmpiricalTradeOff.from_scores(
            out_scores=judged.values[~judged.member], in_scores=judged.values[judged.member], confidence=level
        )
        mu, epsilon, advantage = (
            curve.mu_lower_bound(),
            curve.epsilon_lower_bound(at),
            curve.advantage_lower_bound(),
        )
        shown = None if spent is None else curve.delta_lower_bound(spent)
    gap, verdict, says = _verdict(promised, mu, epsilon, curve, run)
    return Audit(
        design=design,
        confidence=level,
        delta=at,
        in_scores=int(known.member.sum()),
        out_scores=int((~known.member).sum()),
        clusters=known.clusters if design == "clustered" else None,
        runs=known.values.size if design == "independent" else known.runs,
        records=known.records if design == "runs" else None,
        shadow_runs=0
        if known.shadow is None or known.run is None
        else np.unique(known.run[known.shadow]).size,
        judged=exchange.words if design in _BY_COINS else "scores",
        used=judged.values.size if run is None else run.canaries,
        mu_lower_bound=mu,
        epsilon_lower_bound=epsilon,
        epsilon=spent,
        delta_lower_bound=shown,
        advantage_lower_bound=advantage,
        gap_lower_bound=gap,
        curve=curve,
        guesses=() if run is None else tuple(run.guesses),
        deciding_guesses={} if run is None else run.deciding,
        inclusion_probability=None if run is None or exchange != SINGLE else coin,
        coin_p_value=None if run is None else run.coin_p_value,
        claim=promised.curve if isinstance(promised, RatePromise) else promised,
        promise=promise,
        verdict=verdict,
        says=says,
        source=_relative(known.source),
        digest=known.digest,
        histogram=_histogram(known),
        decides=None if curve is None else _decides(curve, promised, at),
        read_as=known.read_as,
        order=known.order,
        higher_is_in=known.higher_is_in,
    )


def _relative(source: str) -> str:
    """A file's path from the working folder, or its name alone where it lies elsewhere: a report tells nobody's folders."""
    if not source:
        return ""
    path, here = Path(source).absolute(), Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.name


def _histogram(scores: Scores) -> tuple[tuple[float, ...], tuple[int, ...], tuple[int, ...]]:
    values, at = scores.values, np.linspace(0.0, 1.0, _BINS + 1)
    if np.isinf(values[[0, -1]]).any():
        values = scores.by_rank().values
    # A difference of two scores may overflow, and bins may be narrower than float64 tells apart.
    edges = np.unique((1.0 - at) * values[0] + at * values[-1]).clip(values[0], values[-1])
    out, inside = (np.histogram(values[scores.member == world], edges)[0] for world in (False, True))
    return tuple(edges.tolist()), tuple(out.tolist()), tuple(inside.tolist())


def _decides(
    curve: EmpiricalTradeOff, claim: AbstractTradeOff | RatePromise | None, delta: float
) -> tuple[float, float]:
    """(FPR, FNR) at the threshold whose own bounds speak most clearly against the claim, or for a leak."""
    a, b = (
        clopper_pearson(counts, games, 1.0 - curve.confidence)[1]
        for counts, games in (
            (curve.false_positives, curve.out_games),
            (curve.false_negatives, curve.in_games),
        )
    )
    if isinstance(claim, RatePromise):  # the lowest whose FPR is within the promise
        best = min(int((a > claim.fpr).sum()), a.size - 1)
        return float(curve.alpha[best]), float(curve.beta[best])
    if isinstance(claim, ApproxDPTradeOff):
        forms = approximate_dp(delta).forms
    elif claim is None or isinstance(claim, GaussianTradeOff):
        forms = gdp().forms
    else:
        forms = ((claim.probit_beta, lambda rate: -ndtri(rate)),)
    with np.errstate(invalid="ignore"):
        clear = np.nan_to_num(np.max([f(a) + g(b) for f, g in forms], axis=0), nan=-np.inf)
    best = int(np.argmax(clear))
    return float(curve.alpha[best]), float(curve.beta[best])


def _delta(delta: float | None, claim: AbstractTradeOff | RatePromise | None) -> float:
    own = claim.at_delta if isinstance(claim, ApproxDPTradeOff) else None
    if delta is None:
        return DELTA if own is None else own
    at = number("delta", delta, 0.0, 1.0)
    if own is not None and at != own:
        raise ValueError(
            f"delta is {at:g} and the claim's is {own:g}; a claim of epsilon is judged at its own delta"
        )
    return at


def _agrees(scores: Scores, design: str, counted: int | None, inclusion_probability: float | None) -> None:
    """Raise ValueError where what is known of the scores, or stated about their runs, contradicts the design."""
    where = f"{printable(scores.source)}: " if scores.source else ""
    n, run = scores.values.size, scores.run
    stated = (whole("runs", counted, 1) if counted is not None else None) if run is None else scores.runs
    if run is not None and counted not in (None, stated):
        raise ValueError(f"{where}runs is {counted:,}, and {stated:,} are named")
    if design == "clustered":
        if scores.cluster is None:
            raise ValueError(
                f'{where}it has no cluster; design "clustered" needs to know which cluster each score is in'
            )
        shared = run is not None and np.unique([run, scores.cluster], axis=1).shape[1] > (stated or 0)
        if shared or (stated is not None and stated < scores.clusters):
            raise ValueError(
                f"{where}{stated:,} runs are in {scores.clusters:,} clusters, which depend on each other where they share a run; "
                'name each run as a cluster, or use design "runs"'
            )
        return
    one_run = design == "one-run" and scores.clusters == 1  # a column that names the run of all
    if scores.cluster is not None and scores.clusters < n and not one_run:
        several = "cluster" if scores.clusters == 1 else "clusters"
        raise ValueError(
            f'{where}{n:,} scores are in {scores.clusters:,} {several}, which design "{design}" contradicts; '
            f'design "{"one-run" if scores.clusters == 1 else "clustered"}" is for them'
        )
    if design == "runs" and (run is None or scores.record is None):
        raise ValueError(
            f'{where}design "runs" needs the name of the run and of the record of each score: '
            + (
                "columns run and record, or matrices in an .npz with --rows"
                if scores.source
                else "runs= and records=, or a matrix with rows="
            )
        )
    if design == "independent" and stated != n:
        option = f"--runs {n}" if scores.source else f"runs={n}"
        raise ValueError(
            f'{where}design "independent" needs a training run or game for each score: say {option} if so many were run'
            + ("" if stated is None else f", not {stated:,}")
            + '; for records of a run use "one-run", of several "runs"'
        )
    if design == "one-run" and scores.records not in (None, n):
        raise ValueError(
            f"{where}{n:,} scores are of {scores.records:,} records, whose coins they share; give a single score a record, such as the mean: "
            'frame.groupby("record", as_index=False).mean()'
        )
    if design == "one-run" and stated not in (None, 1):
        raise ValueError(
            f'{where}{stated:,} runs are stated for design "one-run"; design "runs" is for several'
        )
    if design == "one-run" and scores.source and scores.column != "coin" and inclusion_probability is None:
        raise ValueError(
            f'{where}it has no coin; if a fair coin put each canary in (1) or left it out (0), as design "one-run" needs, say '
            "--inclusion-probability 0.5"
        )


def _verdict(
    claim: AbstractTradeOff | RatePromise | None,
    mu: float,
    epsilon: float,
    curve: EmpiricalTradeOff | None,
    run: OneRun | None,
) -> tuple[float | None, Verdict | None, str]:
    """(gap to a promised curve, verdict, sentence)."""
    gap = None
    if claim is None:
        return None, None, ""
    if isinstance(claim, GaussianTradeOff):
        refuted, why = mu > claim.mu, f"mu is {at_least(mu)}"
    elif isinstance(claim, ApproxDPTradeOff):
        refuted, why = (
            epsilon > claim.at_epsilon,
            f"epsilon is {at_least(epsilon)} at delta = {claim.at_delta:g}",
        )
    elif isinstance(claim, RatePromise):
        assert curve is not None
        rate = curve.tpr_lower_bound(claim.fpr)
        refuted, why = (
            rate > claim.tpr,
            f"the TPR, equal scores by lot, is {at_least(rate)} at FPR {claim.fpr:g}",
        )
    elif run is not None:
        refuted, why = run.refutes(claim), "guesses about the canaries are right more often than it allows"
    else:
        assert curve is not None
        gap = curve.gap_lower_bound(claim)
        refuted, why = gap > NUMERICAL_FLOOR, f"the attack passes below it by {at_least(gap)} probits"
    return gap, Verdict.REFUTED if refuted else Verdict.INCONCLUSIVE, why if refuted else _NEVER
