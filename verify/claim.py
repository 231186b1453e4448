"""What a claim is, and what comes of judging it: plain data, shared by the register, the command and the report."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

SAMPLES = (8, 24, 200)
"""Points of the domain that are drawn for a claim at quick, standard and full, unless it says otherwise."""


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
class Quote:
    """A sentence of the paper and where it stands.

    Attributes:
        text: verbatim; what a machine misread in a formula may be put right.
        place: for example "theorem 3.1, p. 5".
    """

    text: str
    place: str


class Defect(StrEnum):
    """What is wrong with a statement that does not stand as printed; see `ClaimResult.defect`."""

    FORMULA = "formula"
    CONDITION = "condition"
    WORDING = "wording"
    READING = "reading"


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
        gap: the estimated departure from the claim, in `unit`, largest in absolute value.
        interval: simultaneous interval of the gap over all thresholds of this regime.
        smallest_tolerance: the least tolerance that this evidence would confirm, in `unit` (inf if none).
        detectable_gap: the gap that this regime would have detected with probability 0.9 (0 for exact routes).
        reading: how an open wording was read; empty when it leaves nothing open.
        route: how it was judged ("exact law", "enumeration", "games: sufficient", ...).
        second_route: for a refutation, what the second, independent route found.
        detail: one sentence for the reader.
        seed: the seed, where games were played.
        evidence: what the report draws.
        games_to_decide: for INCONCLUSIVE, how many games per world would decide.
        tolerance: what counted as equal here, in `unit`; 0 for a bound by an exact law. None: that of the claim.
        setting: "paper" where the regime is one of the paper's own settings.
        sampled: whether the point was drawn at random from the domain (see `Claim.sampled`).
        random: whether chance entered the result (see `Regime.random`).
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
    tolerance: float | None = None
    setting: str = ""
    sampled: bool = False
    random: bool = False

    @property
    def exact(self) -> bool:
        """Whether no chance entered and the gap is known to its interval."""
        return not self.random and self.games == 0 and not any(math.isnan(end) for end in self.interval)

    @property
    def relative_gap(self) -> float:
        """|gap| in tolerances, the one scale on which regimes with different units can be compared.

        With no tolerance any gap at all is infinitely many; nan where the gap is.
        """
        gap = abs(self.gap)
        if self.tolerance:
            return gap / self.tolerance
        return gap and float("inf")


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
        setting: "paper" where this is one of the paper's own settings (its figures, its tables, its examples).
    """

    name: str
    parameters: dict[str, Any]
    judge: Callable[[Budget], RegimeResult]
    reading: str = ""
    random: bool = True
    setting: str = ""


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
        derivation: for a correction, why it is the right statement: every condition, and a proof or a theorem for
            each step.
        quote: the sentence of the paper that is judged.
        restricted_by: sentences elsewhere in the paper that restrict it; what they exclude is outside the domain.
        slip: for a slip of the pen, the wrong place and the right one of the same paper.
        same_formula: for a correction: it keeps the printed formula and only narrows the domain.
        sampled: draws points of the domain, called as sampled(generator, count); judged by exact laws, without games.
            Each point has a generator of its own, made from (claim id, seed, number of the point).
        samples: how many points are drawn at quick, standard and full; a smaller scale draws the first of them.
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
    quote: Quote | None = None
    restricted_by: tuple[Quote, ...] = ()
    slip: tuple[Quote, Quote] | None = None
    same_formula: bool = False
    sampled: Callable[[np.random.Generator, int], Sequence[Regime]] | None = None
    samples: tuple[int, int, int] = SAMPLES


@dataclass(frozen=True)
class ClaimResult:
    """A claim with the results of its regimes and the verdict that they make together.

    Attributes:
        regimes, names: the results of the regimes that were judged and their names, in the same order.
        failure_probability: the share of the family-wise failure probability that the whole claim used.
        seconds: wall time.
        errors: the regimes whose judge failed, each as (name, error): they were not judged.
        correction: the corrected statement, where there is one.
    """

    claim: Claim
    verdict: Verdict
    regimes: tuple[RegimeResult, ...]
    failure_probability: float
    seconds: float
    interrupted: bool = False
    names: tuple[str, ...] = field(default=())
    errors: tuple[tuple[str, str], ...] = field(default=())
    correction: Claim | None = None

    @property
    def judged(self) -> bool:
        """Whether the verdict stands: a refutation does, whatever failed beside it; nothing else does."""
        return not self.errors or self.verdict is Verdict.REFUTED

    @property
    def exact(self) -> bool:
        """Whether every regime was judged without chance."""
        return bool(self.regimes) and all(regime.exact for regime in self.regimes)

    @property
    def counterexample(self) -> RegimeResult | None:
        """The refuted regime with the largest gap in tolerances, or None."""
        refuted = [r for r in self.regimes if r.verdict is Verdict.REFUTED]
        return max(refuted, key=weight, default=None)

    @property
    def gaps(self) -> dict[str, float]:
        """Unit -> the largest |gap| over the regimes that were judged in that unit."""
        return self._largest(lambda regime: abs(regime.gap))

    @property
    def smallest_tolerances(self) -> dict[str, float]:
        """Unit -> the least tolerance at which every regime in that unit would be confirmed."""
        return self._largest(lambda regime: regime.smallest_tolerance)

    @property
    def detectable_gaps(self) -> dict[str, float]:
        """Unit -> the largest detectable gap over the regimes in that unit that chance entered."""
        return self._largest(lambda regime: regime.detectable_gap, lambda regime: not regime.exact)

    @property
    def share(self) -> float | None:
        """The share of the sampled points of the domain that stand; None where none was drawn."""
        drawn = [r.verdict for r in self.regimes if r.sampled]
        return sum(verdict is Verdict.CONFIRMED for verdict in drawn) / len(drawn) if drawn else None

    @property
    def readings(self) -> dict[str, Verdict]:
        """Reading -> its verdict, over its own regimes and those that leave nothing open; empty if there is no choice."""
        names = dict.fromkeys(r.reading for r in self.regimes if r.reading)
        return {name: together([r for r in self.regimes if r.reading in ("", name)]) for name in names}

    @property
    def defect(self) -> Defect | None:
        """What is wrong with a refuted statement; None where it is not refuted, or where the data do not say.

        - wording: both places of a slip of the pen are given.
        - reading: it is refuted under some readings and confirmed under another.
        - formula: it is refuted at the paper's own setting, or at more than half of the points drawn at random.
        - condition: the correction keeps the formula and narrows the domain.
        """
        if self.verdict is not Verdict.REFUTED:
            return None
        if self.claim.slip is not None:
            return Defect.WORDING
        if Verdict.CONFIRMED in self.readings.values():
            return Defect.READING
        refuted = [r for r in self.regimes if r.verdict is Verdict.REFUTED]
        drawn = sum(r.sampled for r in self.regimes)
        if any(r.setting == "paper" for r in refuted) or 2 * sum(r.sampled for r in refuted) > drawn:
            return Defect.FORMULA
        if self.correction is not None and self.correction.same_formula:
            return Defect.CONDITION
        return None

    def _largest(
        self,
        value: Callable[[RegimeResult], float],
        among: Callable[[RegimeResult], bool] = lambda regime: True,
    ) -> dict[str, float]:
        found: dict[str, float] = {}
        for regime in self.regimes:
            if among(regime):
                # fmax: a gap that could not be computed is shown with its regime and hides no other.
                found[regime.unit] = float(np.fmax(value(regime), found.get(regime.unit, math.nan)))
        return found


def weight(regime: RegimeResult) -> tuple[float, float]:
    """What the worst regime is the largest of: its gap in tolerances, then the gap itself; nan last of all."""
    return (_number(regime.relative_gap), _number(abs(regime.gap)))


def _number(value: float) -> float:
    return -1.0 if math.isnan(value) else value


def together(results: Sequence[RegimeResult]) -> Verdict:
    """One refuted regime refutes the statement; it is confirmed only where every regime confirms it."""
    if any(r.verdict is Verdict.REFUTED for r in results):
        return Verdict.REFUTED
    if results and all(r.verdict is Verdict.CONFIRMED for r in results):
        return Verdict.CONFIRMED
    return Verdict.INCONCLUSIVE
