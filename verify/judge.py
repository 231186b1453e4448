"""Judge claims: share out the failure probability, seed every regime, time it, keep going when one fails."""

import hashlib
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from verify.claim import Budget, Claim, Regime, RegimeResult, Verdict
from verify.claim_result import ClaimResult, verdict_on, weight

OnRegime = Callable[[Claim, Regime, int], None]
SCALES = ("quick", "standard", "full")
SAMPLED = "sampled"
"""The first word of the names of the points that are drawn from a domain."""


def failure_share(confidence: float, register: Mapping[str, Claim]) -> float:
    """Return the failure probability of one regime: (1 - confidence) / (random regimes of the register).

    The division is always by the whole register, even where few claims are judged (Bonferroni): a claim gets
    the same verdict alone and among the others, and a run of all claims errs with
    probability <= 1 - confidence. Regimes that no chance enters (exact laws, enumerations) need no share.

    Args:
        confidence: family-wise, in (0, 1).
        register: every claim there is.

    Examples:
        >>> from verify.claim import Claim, Kind, Regime
        >>> regimes = [Regime(name, {}, judge=lambda budget: None) for name in ("a", "b")]
        >>> claim = Claim("c", "paper", "x = x", Kind.EXACT, 0.0, "relative", {}, regimes, lambda: regimes[0])
        >>> round(failure_share(0.999, {"c": claim}), 9)
        0.0005
    """
    return (1.0 - confidence) / max(1, random_regimes(register))


def random_regimes(register: Mapping[str, Claim]) -> int:
    """Return the number of regimes of the register that chance enters.

    Examples:
        >>> random_regimes({})
        0
    """
    return sum(regime.random for claim in register.values() for regime in claim.regimes)


def regime_seed(seed: int, claim: str, regime: str) -> int:
    """Return the seed of one regime, a hash of (seed, claim id, regime name), in [0, 2^31).

    It depends on nothing else: neither on the order of the register nor on which claims are judged with it.

    Examples:
        >>> regime_seed(0, "azize-thm-4.2", "n = 1000") == regime_seed(0, "azize-thm-4.2", "n = 1000")
        True
        >>> regime_seed(0, "azize-thm-4.2", "n = 1000") == regime_seed(1, "azize-thm-4.2", "n = 1000")
        False
    """
    digest = hashlib.sha256(json.dumps([seed, claim, regime]).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def sampled_regimes(claim: Claim, scale: str, seed: int) -> tuple[Regime, ...]:
    """Return the points of the claim's domain that are drawn at this scale, named "sampled 1", "sampled 2", ...

    Each has a generator of its own, made from (claim id, seed, number), with the name of the laws in the place of the id where the
    claim has one: a point is the same at every scale and does not depend on the claims beside it.

    Args:
        claim: its `sampled` draws the points; without it there are none.
        scale: "quick", "standard" or "full".
        seed: of the run.

    Raises:
        ValueError: if the claim's `sampled` returns anything but one regime that no chance enters.

    Examples:
        >>> from verify.claim import Claim, Kind, Regime
        >>> claim = Claim("c", "paper", "x = x", Kind.EXACT, 0.0, "relative", {}, (), lambda: None)
        >>> sampled_regimes(claim, "quick", 0)
        ()
    """
    if claim.sampled is None:
        return ()
    count = claim.samples[SCALES.index(scale)]
    return tuple(_sampled_regime(claim, seed, index) for index in range(1, count + 1))


def regime_named(claim: Claim, name: str, seed: int) -> Regime | None:
    """Return the regime of this name, drawn again if it is a sampled one; None if there is none.

    Examples:
        >>> from verify.claim import Claim, Kind, Regime
        >>> claim = Claim("c", "paper", "x = x", Kind.EXACT, 0.0, "relative", {}, (), lambda: None)
        >>> regime_named(claim, "sampled 1", 0) is None
        True
    """
    for regime in claim.regimes:
        if regime.name == name:
            return regime
    word, _, number = name.partition(" ")
    if claim.sampled is not None and word == SAMPLED and number.isdecimal() and int(number) > 0:
        return _sampled_regime(claim, seed, int(number))
    return None


def _sampled_regime(claim: Claim, seed: int, index: int) -> Regime:
    assert claim.sampled is not None
    name = f"{SAMPLED} {index}"
    found = claim.sampled(
        np.random.default_rng([regime_seed(seed, claim.laws or claim.id, SAMPLED), index]), 1
    )
    if len(found) != 1 or found[0].random:
        what = f"{len(found)} regimes" if len(found) != 1 else "a regime that chance enters"
        raise ValueError(
            f"sampled of {claim.id} returned {what} for one point; it must return one with random=False"
        )
    return replace(found[0], name=name)


def judge(
    claim: Claim,
    scale: str,
    failure_probability: float,
    seed: int = 0,
    store: Path | None = None,
    on_regime: OnRegime | None = None,
    register: Mapping[str, Claim] | None = None,
) -> ClaimResult:
    """Judge every regime of a claim, and the points of its domain that are drawn at this scale.

    A judge that raises is recorded in `errors` and stops no other regime; KeyboardInterrupt propagates.

    Args:
        claim: the claim.
        scale: "quick", "standard" or "full".
        failure_probability: the share of ONE regime, see `failure_share`; the claim uses it once per random regime.
        seed: the seed of the run, from which each regime's is derived.
        store: folder for resumable counts, or None.
        on_regime: called with (claim, regime, index) before each regime.
        register: where the claim's correction is looked up, which tells a missing condition from a wrong formula.

    Returns:
        The results with the verdict that they make together.
    """
    began = time.perf_counter()
    results: list[RegimeResult] = []
    names: list[str] = []
    errors: list[tuple[str, str]] = []
    try:
        drawn = sampled_regimes(claim, scale, seed)
    except Exception as error:  # as for a judge that fails, below
        drawn = ()
        errors.append((SAMPLED, f"{type(error).__name__}: {error}"))
    for index, regime in enumerate((*claim.regimes, *drawn)):
        if on_regime is not None:
            on_regime(claim, regime, index)
        budget = Budget(scale, failure_probability, regime_seed(seed, claim.id, regime.name), store, seed)
        try:
            result = _judge_regime(claim, regime, budget)
            results.append(replace(result, sampled=index >= len(claim.regimes)))
            names.append(regime.name)
        except Exception as error:  # one broken judge must not cost the verdicts of the others
            errors.append((regime.name, f"{type(error).__name__}: {error}"))
    verdict = verdict_on(results)
    if errors and verdict is Verdict.CONFIRMED:
        verdict = Verdict.INCONCLUSIVE
    return ClaimResult(
        claim,
        verdict,
        tuple(results),
        failure_probability * sum(regime.random for regime in claim.regimes),
        time.perf_counter() - began,
        names=tuple(names),
        errors=tuple(errors),
        correction=(register or {}).get(claim.corrected_by or ""),
    )


def headline(result: ClaimResult) -> int | None:
    """Return the index of the regime that speaks for the claim: its counterexample, or the largest gap in tolerances."""
    worst = result.counterexample
    for index, regime in enumerate(result.regimes):
        if regime is worst:
            return index
    return max(range(len(result.regimes)), key=lambda i: weight(result.regimes[i]), default=None)


def _judge_regime(claim: Claim, regime: Regime, budget: Budget) -> RegimeResult:
    began = time.perf_counter()
    result = regime.judge(budget)
    if not isinstance(result, RegimeResult):
        raise TypeError(f"the judge returned {type(result).__name__}; it must return a RegimeResult")
    seconds = time.perf_counter() - began
    _check(regime, result)
    if result.tolerance is None and result.unit != claim.unit:
        raise ValueError(
            f"tolerance of the result is missing and its unit is {result.unit!r}; the claim's own is in {claim.unit!r}"
        )
    return replace(
        result,
        tolerance=claim.tolerance if result.tolerance is None else result.tolerance,
        setting=result.setting or regime.setting,
        random=regime.random,
        parameters=result.parameters or regime.parameters,
        reading=result.reading or regime.reading,
        seed=budget.seed if result.seed is None and result.games > 0 else result.seed,
        seconds=seconds,
    )


def _check(regime: Regime, result: RegimeResult) -> None:
    """Refuse what calls itself exact and is not.

    Raises:
        ValueError: saying what is contradictory.
    """
    if not regime.random and result.games:
        raise ValueError(
            f"random is False for regime {regime.name}, which played {result.games:,} games; it must be True"
        )
    if regime.random and result.route.startswith("exact"):
        raise ValueError(
            f"route is {result.route!r} for regime {regime.name}, which chance enters; it must not be called exact"
        )
    low, high = result.interval
    if regime.random and low == high and math.isfinite(low):
        raise ValueError(
            f"interval is the point {low:g} for regime {regime.name}, which chance enters; it must be an interval"
        )
