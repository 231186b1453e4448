"""Judge claims: share out the failure probability, seed every regime, time it, keep going when one fails."""

import hashlib
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from verify.claim import Budget, Claim, ClaimResult, Regime, RegimeResult, Verdict, together

OnRegime = Callable[[Claim, Regime, int], None]


def share(confidence: float, register: Mapping[str, Claim]) -> float:
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
        >>> round(share(0.999, {"c": claim}), 9)
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


def judge(
    claim: Claim,
    scale: str,
    failure_probability: float,
    seed: int = 0,
    store: Path | None = None,
    on_regime: OnRegime | None = None,
) -> ClaimResult:
    """Judge every regime of a claim.

    A judge that raises is recorded in `errors` and stops no other regime; KeyboardInterrupt propagates.

    Args:
        claim: the claim.
        scale: "quick", "standard" or "full".
        failure_probability: the share of ONE regime, see `share`; the claim uses it once per random regime.
        seed: the seed of the run, from which each regime's is derived.
        store: folder for resumable counts, or None.
        on_regime: called with (claim, regime, index) before each regime.

    Returns:
        The results with the verdict that they make together.
    """
    began = time.perf_counter()
    results: list[RegimeResult] = []
    names: list[str] = []
    errors: list[tuple[str, str]] = []
    for index, regime in enumerate(claim.regimes):
        if on_regime is not None:
            on_regime(claim, regime, index)
        budget = Budget(scale, failure_probability, regime_seed(seed, claim.id, regime.name), store, seed)
        try:
            results.append(_judge_regime(regime, budget))
            names.append(regime.name)
        except Exception as error:  # one broken judge must not cost the verdicts of the others
            errors.append((regime.name, f"{type(error).__name__}: {error}"))
    verdict = together(results)
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
    )


def headline(result: ClaimResult) -> int | None:
    """Return the index of the regime that speaks for the claim: its counterexample, or the largest |gap|."""
    worst = result.counterexample
    for index, regime in enumerate(result.regimes):
        if regime is worst:
            return index
    sizes = [-1.0 if math.isnan(regime.gap) else abs(regime.gap) for regime in result.regimes]
    return max(range(len(sizes)), key=sizes.__getitem__, default=None)


def _judge_regime(regime: Regime, budget: Budget) -> RegimeResult:
    began = time.perf_counter()
    result = regime.judge(budget)
    if not isinstance(result, RegimeResult):
        raise TypeError(f"the judge returned {type(result).__name__}; it must return a RegimeResult")
    seconds = time.perf_counter() - began
    return replace(
        result,
        parameters=result.parameters or regime.parameters,
        reading=result.reading or regime.reading,
        seed=budget.seed if result.seed is None and result.games > 0 else result.seed,
        seconds=seconds,
    )
