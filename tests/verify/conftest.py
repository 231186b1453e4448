"""A small register with a claim of each verdict, of each kind of evidence, and one whose judge fails."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from verify.claim import (
    Between,
    Budget,
    Claim,
    CurveEvidence,
    Kind,
    OneOf,
    Regime,
    RegimeResult,
    TrendEvidence,
    Verdict,
)

NASTY = "<script>alert(\"x\")</script> & 'quoted' <b>bold</b>"


def curve() -> CurveEvidence:
    alpha = np.geomspace(1e-4, 0.99, 64)
    beta = (1 - np.sqrt(alpha)) ** 2
    return CurveEvidence(
        alpha, beta, alpha, beta * 0.9, np.minimum(1, beta * 1.1), alpha, 1 - alpha, "10 games", NASTY
    )


def trend() -> TrendEvidence:
    gap = np.array([0.1, 0.05, 0.02, 0.01])
    return TrendEvidence(np.array([10, 100, 1000, 10000]), gap, gap - 0.03, gap + 0.03, 0.05)


def regime(
    name: str, verdict: Verdict, gap: float = 0.01, evidence: CurveEvidence | TrendEvidence | None = None
) -> Regime:
    def judge(budget: Budget) -> RegimeResult:
        return RegimeResult(
            {"n": np.int64(50), "law": NASTY, "shares": np.array([0.5, 0.5])},
            verdict,
            budget.games(10, 1000, 100_000),
            gap,
            (gap - 0.01, gap + 0.01),
            abs(gap) + 0.01,
            0.02,
            route="games: sufficient",
            detail=NASTY,
            second_route="exact law: the same" if verdict is Verdict.REFUTED else "",
            evidence=evidence,
            games_to_decide=123_000_000 if verdict is Verdict.INCONCLUSIVE else None,
        )

    return Regime(name, {"n": 50}, judge, reading=NASTY)


def failing(budget: Budget) -> RegimeResult:
    raise RuntimeError(f"counts are truncated {NASTY}")


def claim(name: str, *regimes: Regime, corrects: str | None = None, corrected_by: str | None = None) -> Claim:
    return Claim(
        name,
        "azize",
        f"For every n: power -> Φ(z + √m*), {NASTY}",
        Kind.CURVE,
        0.05,
        "probit",
        {"n": Between(2, float("inf"), "whole"), "law": OneOf(("Bernoulli", "Gaussian"), NASTY)},
        regimes,
        lambda: regimes[0],
        corrects=corrects,
        corrected_by=corrected_by,
        derivation=f"Because {NASTY}" if corrects else "",
    )


@pytest.fixture
def make_claim() -> Callable[..., Claim]:
    return claim


@pytest.fixture
def make_regime() -> Callable[..., Regime]:
    return regime


@pytest.fixture
def sound() -> Mapping[str, Claim]:
    """Claims that can all be judged; 6 regimes."""
    extreme = RegimeResult({}, Verdict.INCONCLUSIVE, 5, np.nan, (-np.inf, np.inf), np.inf, np.inf)
    claims = [
        claim("true-1", regime("a", Verdict.CONFIRMED, evidence=curve())),
        claim(
            "false-1",
            regime("holds", Verdict.CONFIRMED, 0.002),
            regime("small gap", Verdict.REFUTED, 0.1, evidence=trend()),
            regime("large gap", Verdict.REFUTED, -0.3, evidence=curve()),
            corrected_by="false-1-corrected",
        ),
        claim("false-1-corrected", regime("a", Verdict.CONFIRMED, evidence=trend()), corrects="false-1"),
        claim("open-1", Regime("wide", {"n": 1}, lambda budget: extreme), corrected_by="not-here"),
    ]
    return {item.id: item for item in claims}


@pytest.fixture
def broken(sound: Mapping[str, Claim]) -> Mapping[str, Claim]:
    """The sound claims behind one whose judge fails; 8 regimes."""
    bad = claim("broken-1", regime("fine", Verdict.CONFIRMED), Regime("bad", {"n": 3}, failing))
    return {bad.id: bad} | dict(sound)
