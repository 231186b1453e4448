"""A statement of the register: the referee's, and what the register alone asks of it."""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mipsim import referee as rf

Counts = tuple[int, int, int]
"""Numbers at the scales quick, standard and full."""
PAPERS: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("papers.toml").read_text("utf-8"))
"""The first word of a statement's name -> authors, title and address of the paper that it belongs to, and what was at hand of it."""
NUMBERED = {"thm": "theorem", "lemma": "lemma", "cor": "corollary", "prop": "proposition", "rem": "remark", "alg": "algorithm", "eq": "equation"}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Statement(rf.Statement):
    """A printed statement, or the correction of a statement; the arguments are those of the referee's `Statement` and these.

    A correction has none of these but `not_judged`. In `matters_when` parameters may be named that other statements alone vary.

    Args:
        source: may be left out where the name has it.
        not_judged: a part of the quotation that this statement does not judge -> "by NAME" of the statement that does, or why none does.
        uses: the names of the statements that it depends on. If such a statement is refuted as printed, this statement is judged with
            it as printed, or gives in `unreached` the reason why its defect does not matter here.
        unreached: name of a used statement that is refuted -> a function of the point that is true where the defect does not
            reach this statement.
        samples: points that are sampled from the domain.
        games: games in each world, where no exact law is known.
        expensive: values of listed points, each of which costs seconds: points with them are judged at --scale full only.
        needs: a condition in its words, or in those of `restricted_by` -> where it is needed, see `verify.rules.unmet_needs`.
    """

    source: str = ""
    not_judged: Mapping[str, str] = field(default_factory=dict)
    uses: tuple[str, ...] = ()
    unreached: Mapping[str, Callable[..., bool]] = field(default_factory=dict)
    samples: Counts = (4, 24, 200)
    games: Counts = (100_000, 500_000, 5_000_000)
    expensive: tuple[Mapping[str, Any], ...] = ()
    needs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = {name: where for name, where in self.matters_when.items() if name in self.domain}
        object.__setattr__(self, "matters_when", known)
        object.__setattr__(self, "source", self.source or source_of(self.name))
        super().__post_init__()

    def corrected(self, **changes: Any) -> "Statement":
        """The same as the referee's; what the register alone asks of the statement is left out of its correction."""
        counts = {"samples": Statement.samples, "games": Statement.games}
        usual = counts | {"uses": (), "unreached": {}, "expensive": (), "needs": {}}
        return super().corrected(**(usual | changes))  # pyright: ignore[reportReturnType]

    def record(self) -> dict[str, Any]:
        """The statement as JSON holds it."""
        return super().record() | {"not_judged": dict(self.not_judged), "uses": list(self.uses)}


def at_hand(name: str) -> str:
    """What was at hand of the paper that a statement belongs to, in a sentence; "" where all was.
    >>> at_hand("leemann-thm-5.1"), at_hand("izzo-thm-8")
    ('At hand: the paper without its appendices.', '')
    """
    had = PAPERS.get(name.partition("-")[0], {}).get("at_hand", "")
    return f"At hand: {had}." if had else ""


def source_of(name: str) -> str:
    """Where a statement stands, by its name; "" where that does not say it.
    >>> source_of("azize-thm-4.2-corrected"), source_of("azize-gdp")
    ('Azize & Basu, theorem 4.2', '')
    """
    paper, kind, number = (*name.split("-"), "", "")[:3]
    known = paper in PAPERS and kind in NUMBERED and re.match(r"[A-Z\d.]+", number)
    return f"{PAPERS[paper]['short']}, {NUMBERED[kind]} {known[0]}" if known else ""


def where_in(name: str, *values: object) -> Callable[..., bool]:
    """Whether a parameter matters: where another parameter has any of these values.
    >>> where_in("data", "gamma")(data="gamma", n=3)
    True
    """
    return lambda **at: at[name] in values


def nowhere(**_: object) -> bool:
    """Whether a parameter matters that the words leave free and that changes neither claim nor truth.
    >>> nowhere(n=3)
    False
    """
    return False
