"""Every statement that is judged, paper by paper, with the counterexamples of hunts as points."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from mipsim.referee import Point, Statement
from mipsim.referee.hunting.search import definition
from verify.azize.statements import MODULES as AZIZE
from verify.azize.statements import gdp, mean
from verify.field.statements import MODULES as FIELD
from verify.izzo.statements import MODULES as IZZO
from verify.kaissis.statements import MODULES as KAISSIS
from verify.leemann.statements import MODULES as LEEMANN
from verify.matters import matters_of
from verify.standalone import formula_of, meanings_of, snippet_of

_PAPERS = tomllib.loads(Path(__file__).with_name("papers.toml").read_text(encoding="utf-8"))
PAPERS: dict[str, str] = {name: item["authors"] for name, item in _PAPERS.items()}
"""The first word of a statement's name -> whose statement it is."""
TITLES: dict[str, tuple[str, str]] = {
    single["authors"]: (single["title"], single["address"]) for single in _PAPERS.values()
}
"""Whose statement it is -> full title and address."""
MODULES = (*AZIZE, *LEEMANN, *KAISSIS, *IZZO, *FIELD)
HUNTED = Path(__file__).with_name("hunted.json")
"""What `python -m verify --hunt --keep` has recorded: name -> seed, budget, probes, worst gap, and counterexamples."""


def paper_of(name: str) -> str:
    """The paper that a statement belongs to: the first word of its name.
    >>> paper_of("izzo-thm-8-corrected")
    'izzo'
    """
    return name.partition("-")[0]


def recorded(file: Path) -> dict[str, dict[str, Any]]:
    """The records of hunts that a file keeps; none if there is no such file."""
    try:
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    except json.JSONDecodeError as error:
        raise ValueError(f"{file} is damaged ({error}); mend or delete it") from None


def group_of(statement: Statement) -> str:
    """Whose statement it is, as `PAPERS` says; the first word of its name where nobody is named there."""
    return PAPERS.get(paper_of(statement.name), paper_of(statement.name))


@cache
def hunted() -> Mapping[str, Mapping[str, Any]]:
    """The records of the hunts of the register."""
    return recorded(HUNTED)


def hunts_of(register: Mapping[str, Statement]) -> dict[str, Mapping[str, Any]]:
    """The records of the hunts of statements as they are now, by name: records of another definition are left out."""
    known = [(name, record) for name, record in hunted().items() if name in register]
    return {name: record for name, record in known if record.get("definition") == definition(register[name])}


def with_hunted_points(statement: Statement, statements: Sequence[Statement]) -> Statement:
    """The statement with the counterexamples of its hunts and of the hunts of the statement that it corrects.
    `statement`: printed or corrected; `statements`: among which its corrections are.
    """
    names = [
        statement.name,
        statement.corrects,
        *(item.name for item in statements if item.corrects == statement.name),
    ]
    known = [dict(point.at) for point in statement.points]
    result = []
    for name in names:
        record = hunted().get(name, {})
        for place, part in enumerate(record.get("points", ())):
            at = statement.restored(part, deferred=name == statement.name)
            if at is not None and at not in known:
                known.append(at)
                again = f", {place + 1}" if place else ""  # an earlier hunt of the same seed had another
                result.append(Point(at, name=f"from a hunt of {name}, seed {record['seed']}{again}"))
    return replace(statement, points=(*statement.points, *result)) if result else statement


def _all() -> dict[str, Statement]:
    statements = [
        replace(
            item,
            formula=formula_of(item.name, item.corrects),
            snippet=snippet_of(item.name),
            meanings=meanings_of(item.name, item.domain),
            matters_when=matters_of(item),
        )
        for module in MODULES
        for item in module.STATEMENTS
    ]
    return {single.name: with_hunted_points(single, statements) for single in statements}


REGISTER: dict[str, Statement] = _all()
"""Name -> statement, in the order of the papers."""


def statement_of(name: str) -> Statement:
    """A statement by its name: what another process, to which no function can be sent, begins with."""
    return REGISTER[name]


SAMPLES: dict[str, tuple[int, int, int]] = {
    name: counts for module in MODULES for name, counts in getattr(module, "SAMPLES", {}).items()
}
"""Name -> points that are sampled at quick, standard and full, where these are not the usual numbers."""
GAMES: dict[str, tuple[int, int, int]] = {
    name: counts for module in MODULES for name, counts in getattr(module, "GAMES", {}).items()
}
"""Name -> games per world at quick, standard and full, where these are not the usual numbers."""
DEAR: dict[str, list[dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("full.toml").read_text(encoding="utf-8")
)
"""Name -> parts of listed points, which are judged at --scale full only; see the file."""
_TOGETHER = {gdp: mean}
"""Module -> the module whose laws it reads once more."""
FAMILIES: list[list[str]] = [
    [item.name for kin in MODULES if _TOGETHER.get(kin, kin) is module for item in kin.STATEMENTS]
    for module in MODULES
    if module not in _TOGETHER
]
"""Names that are judged in turn by a single thread: they share laws, which are stored between them."""
