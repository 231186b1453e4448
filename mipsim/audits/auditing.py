"""Audits of a user's scores by the design that made them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import ndtri

from mipsim._printed import at_least, enough
from mipsim._signals import interruptible
from mipsim._validation import choice, confidence_level, member, number, whole
from mipsim._verdict import Verdict
from mipsim._words import printable
from mipsim.audits.claims import RatePromise, read_claim, words
from mipsim.audits.designs import CONFIDENCE, DELTA, DESIGNS, OPTIONS
from mipsim.audits.one_run import SINGLE, OneRun
from mipsim.audits.result import Audit
from mipsim.audits.scores import Scores, read_scores
from mipsim.bands.comparison import NUMERICAL_FLOOR
from mipsim.bands.empirical_tradeoff import EmpiricalTradeOff
from mipsim.bands.family_bound import approximate_dp, gdp
from mipsim.tradeoff import ApproxDPTradeOff, GaussianTradeOff
from mipsim.tradeoff.base import KNOWN, AbstractTradeOff

Promise = AbstractTradeOff | RatePromise | None
_NEVER = "not refuted; scores of a single attack can refute a promise and never confirm it, since a better attack may show more"


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
      `mipsim.audits.designs.choose_from_clusters`.

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
            run; by default 0.5, refused where so few or so many are in with probability 1e-3 at most. Other designs need no coins: their bounds hold given the worlds of the scores.
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
    kind = DESIGNS[choice("design", design, tuple(DESIGNS))]
    level = confidence_level(confidence)
    if level > 1.0 - kind.least_risk:
        raise ValueError(
            f"confidence is {level!r}; the design {design!r} allows 1 - {kind.least_risk:g} at most"
        )
    given = {"guesses": guesses, "inclusion_probability": inclusion_probability}
    given |= {"records": records, "rows": rows, "shadow": shadow}
    for name, value in given.items():
        if value is not None and name not in kind.options:
            raise ValueError(f"{name} is given for the design {design!r}; {OPTIONS[name]}")
    coin = 0.5 if inclusion_probability is None else inclusion_probability
    number("inclusion_probability", coin, 0.0, 1.0, low_open=True, high_open=True)
    promised, at_delta = _promised(claim, delta)
    if kind.guesses and (epsilon is not None or isinstance(promised, RatePromise)):
        raise ValueError(
            f'{"a promise of a TPR" if epsilon is None else "epsilon"} is given for the design "{design}", which bounds neither delta nor a '
            "TPR: to release all at random with a small probability leaks little, and may show all"
        )
    at_epsilon = promised.at_epsilon if isinstance(promised, ApproxDPTradeOff) and not kind.guesses else None
    if epsilon is not None:
        at_epsilon = number("epsilon", epsilon, 0.0, 700.0)
    counted = whole("runs", runs, 1) if isinstance(runs, (int, np.integer)) else None
    if isinstance(scores, np.ndarray) and scores.ndim > 1 and design != "runs":
        raise ValueError(
            f'scores has shape {scores.shape}; a matrix of records and models is for design "runs"'
        )
    how = {"columns": columns, "higher": higher, "separator": separator, "rows": rows, "shadow": shadow}
    how |= {"run": runs if counted is None else None, "record": records}
    known = read_scores(scores, member, cluster, **how)
    count = known.runs or counted
    wrong = kind.contradiction(known, count, inclusion_probability)
    if counted not in (None, count):
        wrong = f"runs is {counted:,}, and {count:,} are named"
    if wrong:
        raise ValueError(f"{printable(known.source)}: {wrong}" if known.source else wrong)
    judged, exchange = kind.judged(known.by_rank(), coin)
    if exchange is None:
        shown = _by_thresholds(judged, level, promised, at_delta, at_epsilon)
    elif exchange.runs > 1 and inclusion_probability is not None:
        raise ValueError(
            f"inclusion_probability is given, but {exchange.words} are judged, which need no probability of a coin"
        )
    else:
        stated = inclusion_probability is not None
        run = OneRun(judged, (1.0 - level) * kind.share, guesses, coin, exchange=exchange, stated=stated)
        shown = _by_guesses(run, promised, at_delta)
    return Audit(
        design=design,
        confidence=level,
        delta=at_delta,
        clusters=known.clusters if design == "clustered" else None,
        runs=known.values.size if design == "independent" else known.runs or None,
        records=known.records if design == "runs" else None,
        inclusion_probability=coin if exchange == SINGLE else None,
        claim=promised.curve if isinstance(promised, RatePromise) else promised,
        promise=printable(claim) if isinstance(claim, str) else "" if promised is None else words(promised),
        **known.shown(),
        **shown,
    )


def _promised(claim: object, delta: float | None) -> tuple[Promise, float]:
    """(The promise, at which delta epsilon is bounded)."""
    promised: Any = read_claim(claim) if isinstance(claim, str) else claim
    if promised is not None:
        member("claim", promised, (AbstractTradeOff, RatePromise), f"{KNOWN}, or text such as 'mu=1'")
    own = promised.at_delta if isinstance(promised, ApproxDPTradeOff) else None
    at = number("delta", delta, 0.0, 1.0) if delta is not None else DELTA if own is None else own
    if own not in (None, at):
        raise ValueError(
            f"delta is {at} and the claim's is {own}; a claim of epsilon is judged at its own delta"
        )
    return promised, at


def _by_guesses(run: OneRun, promised: Promise, delta: float) -> dict[str, Any]:
    """What right guesses about coins show, by the names of an audit's results."""
    mu, epsilon = run.mu(), run.epsilon(delta)
    against = _by_number(promised, mu, epsilon)
    if isinstance(promised, AbstractTradeOff) and against is None:
        against = run.refutes(promised), "guesses about the canaries are right more often than it allows"
    return _verdict(against) | {
        "mu_lower_bound": mu,
        "epsilon_lower_bound": epsilon,
        "exchange": run.exchange,
        "used": run.canaries,
        "guesses": tuple(run.guesses),
        "deciding_guesses": run.deciding,
        "coin_p_value": run.coin_p_value,
    }


def _by_thresholds(
    judged: Scores, level: float, promised: Promise, delta: float, at_epsilon: float | None
) -> dict[str, Any]:
    """What independent scores show at all thresholds, by the names of an audit's results."""
    out, inside = judged.values[~judged.member], judged.values[judged.member]
    curve = EmpiricalTradeOff.from_scores(out_scores=out, in_scores=inside, confidence=level)
    mu, epsilon, gap = curve.mu_lower_bound(), curve.epsilon_lower_bound(delta), None
    advantage = curve.advantage_lower_bound()
    against = _by_number(promised, mu, epsilon, advantage)
    if isinstance(promised, RatePromise):
        rate, at = curve.tpr_lower_bound(promised.fpr), f"at FPR {promised.fpr:g}"
        against = rate > promised.tpr, f"the TPR, equal scores by lot, is {_beyond(rate, promised.tpr)} {at}"
    elif promised is not None and against is None:
        gap = curve.gap_lower_bound(promised)
        against = gap > NUMERICAL_FLOOR, f"the attack passes below it by {at_least(gap)} probits"
    return _verdict(against) | {
        "mu_lower_bound": mu,
        "epsilon_lower_bound": epsilon,
        "used": judged.values.size,
        "epsilon": at_epsilon,
        "delta_lower_bound": None if at_epsilon is None else curve.delta_lower_bound(at_epsilon),
        "advantage_lower_bound": advantage,
        "gap_lower_bound": gap,
        "curve": curve,
        "decides": _decides(curve, promised, delta),
    }


def _by_number(
    promised: Promise, mu: float, epsilon: float, advantage: float = 0.0
) -> tuple[bool, str] | None:
    """Whether a bound passes the number that is promised, with a sentence; None where no number is."""
    if isinstance(promised, GaussianTradeOff):
        return mu > promised.mu, f"mu is {_beyond(mu, promised.mu)}"
    if isinstance(promised, ApproxDPTradeOff):
        why = f"epsilon is {_beyond(epsilon, promised.at_epsilon)} at delta = {promised.at_delta:g}"
        if promised.at_epsilon == 0.0 and advantage > promised.at_delta:  # a promised advantage
            why = f"the advantage is {_beyond(advantage, promised.at_delta)}"
        return epsilon > promised.at_epsilon, why
    return None


def _beyond(bound: float, promised: float) -> str:
    """A lower bound, with digits enough that it is read as larger than the promise where it is."""
    return at_least(bound, enough(bound, promised))


def _verdict(against: tuple[bool, str] | None) -> dict[str, Any]:
    if against is None:
        return {}
    refuted, why = against
    verdict = Verdict.REFUTED if refuted else Verdict.INCONCLUSIVE
    return {"verdict": verdict, "says": why if refuted else _NEVER}


def _decides(curve: EmpiricalTradeOff, claim: Promise, delta: float) -> tuple[float, float]:
    """(FPR, FNR) at the threshold whose own bounds speak most clearly against the claim, or for a leak."""
    risk = 1.0 - curve.confidence
    a, b = (rates.limits(0.5 * risk)[1] for rates in (curve.out, curve.inside))
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
