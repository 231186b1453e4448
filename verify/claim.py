"""What a claim is, and what comes of judging it: plain data, shared by the register, the command and the report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np


class Verdict(StrEnum):
    """The three things that can be said of a statement."""

    CONFIRMED = "CONFIRMED"
    REFUTED = "REFUTED"
    INCONCLUSIVE = "INCONCLUSIVE"


class Kind(StrEnum):
    """What sort of statement it is, which decides the logic of its verdict."""

    CURVE = "equality of a curve"
    SCALAR = "equality of a number"
    LAW = "law of a score"
    LIMIT = "limit"
    ORDERING = "ordering"
    BOUND = "bound for all attacks"
    EXACT = "exact identity"
    EXISTENCE = "existence"


@dataclass(frozen=True)
class Between:
    """A real or whole parameter with the range that the statement allows; open ends are said in `note`."""

    low: float
    high: float
    note: str = ""


@dataclass(frozen=True)
class OneOf:
    """A parameter with the choices that the statement allows."""

    choices: tuple[str, ...]
    note: str = ""


Domain = Mapping[str, Between | OneOf]


@dataclass(frozen=True)
class CurveEvidence:
    """An estimated or exact trade-off curve and the claimed one, for the report's plots.

    Attributes:
        alpha, beta: the points of the curve (empirical frequencies, or exact values), shape (K,).
        band_alpha, band_low, band_high: the simultaneous band on a grid of alpha; empty for an exact law.
        claimed_alpha, claimed_beta: the claimed curve on a grid.
        route: "1,000,000 games (sufficient fidelity)" or "exact law".
    """

    alpha: np.ndarray
    beta: np.ndarray
    band_alpha: np.ndarray
    band_low: np.ndarray
    band_high: np.ndarray
    claimed_alpha: np.ndarray
    claimed_beta: np.ndarray
    route: str
    label: str = ""


@dataclass(frozen=True)
class TrendEvidence:
    """The gap at growing sizes, with its interval, for claims about a limit."""

    sizes: np.ndarray
    gap: np.ndarray
    low: np.ndarray
    high: np.ndarray
    tolerance: float
    size_name: str = "n"
    gap_name: str = "probit gap"
    label: str = ""


@dataclass(frozen=True)
class RegimeResult:
    """What came of one regime.

    Attributes:
        parameters: JSON-able description of the regime: everything needed to build it again.
        verdict: the verdict at this regime.
        games: games played per world (0: an exact law or an enumeration decided).
        gap: the estimated departure from the claim, in the claim's unit (`unit`), largest in absolute value.
        interval: simultaneous interval of the gap over all thresholds of this regime.
        smallest_tolerance: the least tolerance that this evidence would confirm (inf if none).
        detectable_gap: the gap that this regime would have detected with probability 0.9 (0 for exact routes).
        reading: how an open wording was read; empty when it leaves nothing open.
        route: how it was judged ("exact law", "enumeration", "games: sufficient", ...).
        second_route: for a refutation, what the second, independent route found.
        detail: one sentence for the reader.
        seed: the seed, where games were played.
        evidence: what the report draws.
        games_to_decide: for INCONCLUSIVE, how many games per world would decide.
    """

    parameters: dict[str, Any]
    verdict: Verdict
    games: int
    gap: float
    interval: tuple[float, float]
    smallest_tolerance: float
    detectable_gap: float
    unit: str = "probit"
    reading: str = ""
    route: str = ""
    second_route: str = ""
    detail: str = ""
    seed: int | None = None
    evidence: CurveEvidence | TrendEvidence | None = None
    games_to_decide: int | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class Budget:
    """What a judge may spend.

    Attributes:
        scale: "quick", "standard" or "full".
        failure_probability: the share of the family-wise failure probability that this one regime may use.
        seed: the seed of its own games or draws.
        store: folder for resumable counts, or None.
        study_seed: the seed of named studies, the same for all regimes, so that those that ask for one study share
            its games; their joint failure probability is covered by Bonferroni, whatever their dependence.
    """

    scale: str
    failure_probability: float
    seed: int
    store: Path | None = None
    study_seed: int = 0

    def games(self, quick: int, standard: int, full: int) -> int:
        """Pick the number of games of this scale."""
        return {"quick": quick, "standard": standard, "full": full}[self.scale]


@dataclass(frozen=True)
class Regime:
    """One point of a claim's domain, with the judge that plays it.

    Attributes:
        name: short and unique within the claim.
        parameters: JSON-able; what the report prints.
        judge: plays or computes, and returns the result. Called with a `Budget`.
        reading: how an open wording is read here; empty when nothing is open.
        random: whether chance enters (games or draws). Only these share the family-wise failure probability: an
            enumeration or an exact law cannot err by chance.
    """

    name: str
    parameters: dict[str, Any]
    judge: Callable[[Budget], RegimeResult]
    reading: str = ""
    random: bool = True


@dataclass(frozen=True)
class Claim:
    """A numbered statement, as printed, or a correction of one.

    Attributes:
        id: e.g. "azize-thm-4.2"; corrections end in "-corrected".
        statement: the statement in words and formulas.
        tolerance: what counts as equal, declared before any game, in `unit`.
        domain: every parameter that the statement leaves free, with its whole range.
        regimes: the spread of that domain that is judged, corners included.
        control: builds the negative control: the same claim, made false by a few per cent, which must be REFUTED.
        corrects, corrected_by: ids of the printed or corrected twin.
        derivation: for a correction, why it is the right statement.
    """

    id: str
    paper: str
    statement: str
    kind: Kind
    tolerance: float
    unit: str
    domain: Domain
    regimes: Sequence[Regime]
    control: Callable[[], Regime]
    corrects: str | None = None
    corrected_by: str | None = None
    derivation: str = ""


@dataclass(frozen=True)
class ClaimResult:
    """A claim with the results of its regimes and the verdict that they make together.

    Attributes:
        regimes, names: the results of the regimes that were judged and their names, in the same order.
        failure_probability: the share of the family-wise failure probability that the whole claim used.
        seconds: wall time.
        errors: the regimes whose judge failed, each as (name, error): they were not judged.
    """

    claim: Claim
    verdict: Verdict
    regimes: tuple[RegimeResult, ...]
    failure_probability: float
    seconds: float
    interrupted: bool = False
    names: tuple[str, ...] = field(default=())
    errors: tuple[tuple[str, str], ...] = field(default=())

    @property
    def judged(self) -> bool:
        """Whether the verdict stands: a refutation does, whatever failed beside it; nothing else does."""
        return not self.errors or self.verdict is Verdict.REFUTED

    @property
    def counterexample(self) -> RegimeResult | None:
        """The refuted regime with the largest gap, or None."""
        refuted = [r for r in self.regimes if r.verdict is Verdict.REFUTED]
        return max(refuted, key=lambda r: abs(r.gap), default=None)

    @property
    def gap(self) -> float:
        """The largest departure over the regimes."""
        return max((abs(r.gap) for r in self.regimes), default=float("nan"))

    @property
    def smallest_tolerance(self) -> float:
        """The least tolerance at which every regime would be confirmed."""
        return max((r.smallest_tolerance for r in self.regimes), default=float("inf"))

    @property
    def detectable_gap(self) -> float:
        """The largest detectable gap over the regimes that played games."""
        return max((r.detectable_gap for r in self.regimes), default=0.0)


def together(results: Sequence[RegimeResult]) -> Verdict:
    """One refuted regime refutes the statement; it is confirmed only where every regime confirms it."""
    if any(r.verdict is Verdict.REFUTED for r in results):
        return Verdict.REFUTED
    if results and all(r.verdict is Verdict.CONFIRMED for r in results):
        return Verdict.CONFIRMED
    return Verdict.INCONCLUSIVE
