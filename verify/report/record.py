"""A claim's result as plain JSON data: the entries of verdicts.json.

JSON has no infinities: they are written as the strings "inf" and "-inf" (so that float(x) reads every number
back), and NaN, a number that does not exist, as null. A claim or a regime that could not be judged has the
verdict null.
"""

import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mipsim.referee.reporting.plain import plain
from verify.claim import Between, Domain, Quote, Regime, RegimeResult, Verdict
from verify.claim_result import ClaimResult


@dataclass(frozen=True)
class Setting:
    """What a run was asked: enough to play any of its regimes again.

    Attributes:
        scale: "quick", "standard" or "full".
        confidence: family-wise, in (0, 1).
        seed: the seed of the run.
    """

    scale: str
    confidence: float
    seed: int

    def command(self, claim: str, regime: str) -> str:
        """Return the command that judges one regime again, with the same games.

        Examples:
            >>> Setting("standard", 0.999, 0).command("azize-thm-4.2", "n = 50")
            "python -m verify azize-thm-4.2 --regime 'n = 50' --scale standard --confidence 0.999 --seed 0"
        """
        return (
            f"python -m verify {shlex.quote(claim)} --regime {shlex.quote(regime)} --scale {self.scale}"
            f" --confidence {self.confidence!r} --seed {self.seed}"
        )


def domain_record(domain: Domain) -> dict[str, Any]:
    """Return a domain as data.

    Examples:
        >>> domain_record({"n": Between(2, math.inf)})
        {'n': {'low': 2, 'high': 'inf', 'note': ''}}
    """
    return {
        name: plain(
            {"low": span.low, "high": span.high, "note": span.note}
            if isinstance(span, Between)
            else {"choices": span.choices, "note": span.note}
        )
        for name, span in domain.items()
    }


def alone(values: Mapping[str, float], without: float = math.nan) -> float | None:
    """Return the number of the only unit, `without` if there is none, or None where units differ: see those by unit.

    Examples:
        >>> alone({"probit": 0.1}), alone({"probit": 0.1, "advantage": 0.2})
        (0.1, None)
    """
    if len(values) > 1:
        return None
    return next(iter(values.values()), without)


def quote_record(quote: Quote | None) -> dict[str, str] | None:
    """Return a quotation as data.

    Examples:
        >>> quote_record(Quote("For n large.", "p. 4"))
        {'text': 'For n large.', 'place': 'p. 4'}
    """
    return None if quote is None else {"text": quote.text, "place": quote.place}


def regime_record(name: str, result: RegimeResult) -> dict[str, Any]:
    """Return one judged regime as data."""
    return plain(
        {
            "name": name,
            "parameters": result.parameters,
            "reading": result.reading,
            "setting": result.setting,
            "sampled": result.sampled,
            "exact": result.exact,
            "route": result.route,
            "games": result.games,
            "seed": result.seed,
            "verdict": result.verdict,
            "unit": result.unit,
            "tolerance": result.tolerance,
            "gap": result.gap,
            "interval": result.interval,
            "smallest_tolerance": result.smallest_tolerance,
            "detectable_gap": result.detectable_gap,
            "games_to_decide": result.games_to_decide,
            "second_route": result.second_route,
            "detail": result.detail,
            "seconds": result.seconds,
        }
    )


def claim_record(result: ClaimResult, setting: Setting) -> dict[str, Any]:
    """Return a claim's entry in verdicts.json, see the module's first lines for what JSON cannot hold."""
    claim = result.claim
    judged = dict(zip(result.names, result.regimes, strict=True))
    failed = dict(result.errors)
    regimes = []
    sampled = [regime_record(name, found) for name, found in judged.items() if found.sampled]
    for regime in claim.regimes:
        if regime.name in judged:
            regimes.append(regime_record(regime.name, judged[regime.name]))
        elif regime.name in failed:
            regimes.append(_failed_record(regime, failed[regime.name]))
    return plain(
        {
            "claim": claim.id,
            "paper": claim.paper,
            "statement": claim.statement,
            "kind": claim.kind,
            "verdict": result.verdict if result.judged else None,
            "defect": result.defect,
            "quote": quote_record(claim.quote),
            "restricted_by": [quote_record(quote) for quote in claim.restricted_by],
            "slip": None if claim.slip is None else [quote_record(quote) for quote in claim.slip],
            "same_formula": claim.same_formula,
            "share": result.share,
            "readings": result.readings,
            "tolerance": claim.tolerance,
            "unit": claim.unit,
            "gaps": result.gaps,
            "smallest_tolerance": math.inf if result.errors else alone(result.smallest_tolerances),
            "detectable_gap": alone(result.detectable_gaps, 0.0),
            "smallest_tolerances": dict.fromkeys(result.smallest_tolerances, math.inf)
            if result.errors
            else result.smallest_tolerances,
            "failure_probability": result.failure_probability,
            "detectable_gaps": result.detectable_gaps,
            "domain": domain_record(claim.domain),
            "regimes": regimes + sampled,
            "holds_on": names_with(result, Verdict.CONFIRMED),
            "fails_on": names_with(result, Verdict.REFUTED),
            "counterexample": counterexample_record(result, setting),
            "corrects": claim.corrects,
            "corrected_by": claim.corrected_by,
            "seconds": result.seconds,
        }
    )


def names_with(result: ClaimResult, verdict: Verdict) -> list[str]:
    """Return the names of the regimes that got this verdict."""
    pairs = zip(result.names, result.regimes, strict=True)
    return [name for name, regime in pairs if regime.verdict is verdict]


def counterexample_record(result: ClaimResult, setting: Setting) -> dict[str, Any] | None:
    """Return the refuted regime with the largest gap and the command that replays it, or None."""
    worst = result.counterexample
    for name, regime in zip(result.names, result.regimes, strict=True):
        if regime is worst:
            return regime_record(name, regime) | {"command": setting.command(result.claim.id, name)}
    return None


def _failed_record(regime: Regime, error: str) -> dict[str, Any]:
    keys = (
        "unit",
        "tolerance",
        "gap",
        "interval",
        "smallest_tolerance",
        "detectable_gap",
        "games_to_decide",
        "seed",
        "verdict",
    )
    return dict.fromkeys(keys) | {
        "name": regime.name,
        "parameters": regime.parameters,
        "reading": regime.reading,
        "setting": regime.setting,
        "sampled": False,
        "exact": False,
        "route": "not judged",
        "games": 0,
        "second_route": "",
        "detail": error,
        "seconds": 0.0,
    }
