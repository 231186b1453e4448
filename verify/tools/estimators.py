"""What auditing tools document of their lower bounds, tried on scores whose leakage is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import mipsim as mi
from mipsim.bands.clopper_pearson import clopper_pearson
from verify.tools.packages import module
from verify.tools.trial import ALPHA, Case, Simulated, Trial

Scores = tuple[np.ndarray, np.ndarray]
"""Scores of the canaries that were put in, and of those left out."""
Bound = Callable[[np.ndarray, np.ndarray], float]

DELTA = 1e-5


def nothing(rng: np.random.Generator, canaries: int = 200) -> Scores:
    """Scores that say nothing: standard normal numbers; each canary is in by a fair coin."""
    coins, scores = rng.random(canaries) < 0.5, rng.normal(size=canaries)
    return scores[coins], scores[~coins]


def responses(rng: np.random.Generator, canaries: int = 1000, epsilon: float = 1.0) -> Scores:
    """Randomised response: the coin is told truly with probability e^epsilon / (1 + e^epsilon), and a number of no meaning is added.

    The upper half of the values is likelier by e^epsilon with the record than without it, at each threshold in it: whoever takes the best
    of many thresholds without paying for it is seen here.
    """
    coins = rng.random(canaries) < 0.5
    told = coins == (rng.random(canaries) < 1.0 / (1.0 + math.exp(-epsilon)))
    scores = rng.random(canaries) + told
    return scores[coins], scores[~coins]


def shifted(rng: np.random.Generator, canaries: int = 1000, mu: float = 1.0) -> Scores:
    """Normal scores, shifted by mu for a canary that is in: mu-GDP, and no better."""
    coins = rng.random(canaries) < 0.5
    scores = rng.normal(size=canaries) + mu * coins
    return scores[coins], scores[~coins]


def epsilon_of_responses(epsilon: float, delta: float) -> float:
    """The least epsilon at delta of randomised response.

    Examples:
        >>> epsilon_of_responses(1.0, 0.0)
        1.0
    """
    p = 1.0 / (1.0 + math.exp(-epsilon))
    return math.log(p - delta) - math.log1p(-p)


_GAUSSIAN = mi.GaussianTradeOff(1.0).epsilon_bounds(DELTA)[1]
KNOWN: dict[str, tuple[Callable[[np.random.Generator], Scores], float]] = {
    "nothing leaks, 200 canaries": (nothing, 0.0),
    "randomised response, epsilon 1, 1,000 canaries": (responses, epsilon_of_responses(1.0, DELTA)),
    "normal scores, mu 1, 1,000 canaries": (shifted, _GAUSSIAN),
}
"""Case -> how its scores are drawn, and epsilon at delta = 1e-5."""
NOTHING, RESPONSE, NORMAL = KNOWN


def audits(bound: Bound, *cases: str, known: Mapping[str, Any] = KNOWN) -> dict[str, Case]:
    """One case of a trial for each known law of the scores.

    Args:
        bound: (scores in, scores out) -> a lower bound.
        cases: names in `known`; all if none is given.
        known: name -> (how scores are drawn, the truth).
    """

    def case(draw: Callable[[np.random.Generator], Scores], truth: float) -> Case:
        return lambda rng: (float(bound(*draw(rng))), truth)

    return {name: case(*known[name]) for name in cases or known}


# Controls: the judge must confirm a bound that is known to be valid, and refute one that is 5% higher.


def clopper_pearson_bound(inside: np.ndarray, outside: np.ndarray, alpha: float = ALPHA) -> float:
    """Epsilon at delta = 1e-5 from how many scores are above 1, a threshold fixed before: both rates by Clopper and Pearson.

    Examples:
        >>> round(clopper_pearson_bound(np.full(1000, 2.0), np.zeros(1000)), 2)
        5.6
    """
    (low, _), (_, high) = (clopper_pearson([int((x > 1.0).sum())], x.size, alpha) for x in (inside, outside))
    return max(0.0, math.log(max(float(low[0]) - DELTA, 1e-300)) - math.log(float(high[0])))


_LARGE = {
    "randomised response, epsilon 1, 40,000 canaries": (
        lambda rng: responses(rng, 40_000),
        epsilon_of_responses(1.0, DELTA),
    )
}
CONTROLS = (
    Trial(
        name="control-clopper-pearson",
        tool="control",
        package="",
        planted=True,
        call="Clopper and Pearson's intervals at a threshold fixed before",
        claim="A lower bound of epsilon, wrong in at most 5% of its uses.",
        place="a theorem",
        evidence=Simulated(
            audits(clopper_pearson_bound, known=KNOWN | _LARGE),
        ),
    ),
    Trial(
        name="control-5-percent-too-high",
        tool="control",
        package="",
        planted=True,
        call="the same, times 1.05",
        claim="A lower bound of epsilon, wrong in at most 5% of its uses.",
        place="planted by us",
        evidence=Simulated(audits(lambda i, o: 1.05 * clopper_pearson_bound(i, o), known=_LARGE)),
    ),
)

# mipsim itself


def _mipsim(design: str) -> Bound:
    def bound(inside: np.ndarray, outside: np.ndarray) -> float:
        scores = np.concatenate([inside, outside])
        member = np.arange(scores.size) < inside.size
        runs = scores.size if design == "independent" else 1
        found = mi.audit(scores, member, design=design, runs=runs, confidence=1.0 - ALPHA, delta=DELTA)
        return found.epsilon_lower_bound

    return bound


def _clustered(inside: np.ndarray, outside: np.ndarray) -> float:
    """Three equal scores in each cluster."""
    scores = np.repeat(np.concatenate([inside, outside]), 3)
    member = np.repeat(np.arange(inside.size + outside.size) < inside.size, 3)
    cluster = np.arange(scores.size) // 3
    found = mi.audit(scores, member, design="clustered", cluster=cluster, confidence=1.0 - ALPHA, delta=DELTA)
    return found.epsilon_lower_bound


MIPSIM = tuple(
    Trial(
        name=f"mipsim-{design}",
        tool="mipsim",
        package="",
        call=f'mi.audit(design="{design}", confidence=.95).epsilon_lower_bound',
        claim="it is not (epsilon, delta)-DP for any epsilon below this [...] Each bound is one-sided and holds with `confidence` by itself",
        place="mipsim/audits/result.py",
        evidence=Simulated(audits(_clustered if design == "clustered" else _mipsim(design)), runs=runs),
    )
    for design, runs in (("independent", 3000), ("one-run", 1000), ("clustered", 3000))
)

# jax_privacy


def _jax_privacy(how: str, strategy: str = "", **arguments: Any) -> Bound:
    def bound(inside: np.ndarray, outside: np.ndarray) -> float:
        auditing = module("jax_privacy.auditing")
        given = dict(arguments)
        if strategy:
            given["threshold_strategy"] = getattr(auditing, strategy)(
                **({"num_samples": 20} if strategy == "MultiSplit" else {}),
                **({"seed": 0} if strategy != "Bonferroni" else {}),
            )
        return getattr(auditing.CanaryScoreAuditor(inside, outside), how)(ALPHA, DELTA, **given)

    return bound


_LOWER_BOUNDS = "the auditor can be used to compute privacy metrics, including various epsilon lower bounds from the literature"
_ALLOWED = "significance: Allowed probability of failure (one minus confidence)."

JAX_PRIVACY = tuple(
    Trial(tool="jax_privacy", package="jax-privacy==2.0.*", **entry)
    for entry in (
        {
            "name": "jax-privacy-gdp",
            "call": "CanaryScoreAuditor.epsilon_from_gdp(.05, 1e-5)",
            "claim": f"{_LOWER_BOUNDS} [...] {_ALLOWED}",
            "place": "auditing.py:575 (class), :925",
            "restricted_by": "Calculates the an estimate for epsilon with GDP. [...] The estimated epsilon. (auditing.py:919)",
            "repaired": "main of 27 July 2026, commit aab3e1c, not released: negative values of mu count as 0",
            "evidence": Simulated(audits(_jax_privacy("epsilon_from_gdp"), NOTHING, NORMAL)),
        },
        {
            "name": "jax-privacy-clopper-pearson",
            "call": "CanaryScoreAuditor.epsilon_clopper_pearson(.05, 1e-5), Bonferroni",
            "claim": f"Optimal epsilon lower bound. [...] {_ALLOWED}",
            "place": "auditing.py:697",
            "evidence": Simulated(audits(_jax_privacy("epsilon_clopper_pearson", "Bonferroni"))),
        },
        {
            "name": "jax-privacy-split",
            "call": "CanaryScoreAuditor.epsilon_clopper_pearson(.05, 1e-5), Split",
            "claim": "Split data to choose threshold and then compute the bound.",
            "place": "auditing.py:57",
            "evidence": Simulated(audits(_jax_privacy("epsilon_clopper_pearson", "Split"))),
        },
        {
            "name": "jax-privacy-multisplit",
            "call": "CanaryScoreAuditor.epsilon_clopper_pearson(.05, 1e-5), MultiSplit of 20",
            "claim": "the median of bounds computed at significance alpha / 2 corresponds to the valid rejection threshold for an overall level "
            "of alpha",
            "place": "auditing.py:73",
            "evidence": Simulated(audits(_jax_privacy("epsilon_clopper_pearson", "MultiSplit")), runs=600),
        },
        {
            "name": "jax-privacy-one-run",
            "call": "CanaryScoreAuditor.epsilon_one_run(.05, 1e-5), Bonferroni",
            "claim": f"Computes lower bound on epsilon for a single round of auditing. [...] {_ALLOWED}",
            "place": "auditing.py:1063; Use Bonferroni correction across all possible thresholds. (auditing.py:42)",
            "repaired": "not in the main of 20 August 2026",
            "evidence": Simulated(audits(_jax_privacy("epsilon_one_run", "Bonferroni"), NOTHING, RESPONSE)),
        },
        {
            "name": "jax-privacy-one-run-fdp",
            "call": "CanaryScoreAuditor.epsilon_one_run_fdp(.05, 1e-5), Bonferroni",
            "claim": f"Computes lower bound on epsilon for a single round of auditing. [...] {_ALLOWED}",
            "place": "auditing.py:1108",
            "repaired": "not in the main of 20 August 2026",
            "evidence": Simulated(
                audits(_jax_privacy("epsilon_one_run_fdp", "Bonferroni"), NOTHING)
                | audits(
                    _jax_privacy("epsilon_one_run_fdp", "Explicit", threshold=1.0),
                    "few",
                    known={
                        "few": (
                            lambda rng: responses(rng, 200),
                            epsilon_of_responses(1.0, DELTA),
                        )
                    },
                ),
                runs=1500,
            ),
        },
    )
)

ESTIMATORS: tuple[Trial, ...] = (*CONTROLS, *MIPSIM, *JAX_PRIVACY)
