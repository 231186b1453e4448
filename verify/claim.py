"""What a claim is: plain data, shared by the register, the command and the report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from mipsim.referee.result import CurveEvidence, TrendEvidence, Verdict
from mipsim.referee.result import PointResult as RegimeResult
from mipsim.referee.statement import Quote

__all__ = [
    "SAMPLES", "Between", "Budget", "Claim", "CurveEvidence", "Domain", "Kind", "OneOf", "Quote", "Regime", "RegimeResult",
    "TrendEvidence", "Verdict",
]  # fmt: skip

SAMPLES = (8, 24, 200)
"""Points of the domain that are drawn for a claim at quick, standard and full, unless it says otherwise."""


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
            Each point has a generator of its own, made from (its laws or else its id, seed, number of the point).
        samples: how many points are drawn at quick, standard and full; a smaller scale draws the first of them.
        laws: claims with the same name here ask for the same exact laws: they draw the same points, and one thread judges them in
            turn, so that each law is built once.
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
    laws: str = ""
