"""Every statement that is judged, paper by paper."""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from mipsim import referee as rf
from verify.azize.statements import MODULES as AZIZE
from verify.azize.statements import gdp, mean
from verify.field.statements import MODULES as FIELD
from verify.izzo.statements import MODULES as IZZO
from verify.kaissis.statements import MODULES as KAISSIS
from verify.leemann.statements import MODULES as LEEMANN
from verify.matters import Where
from verify.statement import Statement

_PAPERS = tomllib.loads(Path(__file__).with_name("papers.toml").read_text(encoding="utf-8"))
PAPERS: dict[str, str] = {name: item["authors"] for name, item in _PAPERS.items()}
"""The first word of a statement's name -> whose statement it is."""
TITLES: dict[str, tuple[str, str]] = {
    single["authors"]: (single["title"], single["address"]) for single in _PAPERS.values()
}
"""Whose statement it is -> full title and address."""
MODULES = (*AZIZE, *LEEMANN, *KAISSIS, *IZZO, *FIELD)


def paper_of(name: str) -> str:
    """The paper that a statement belongs to: the first word of its name.
    >>> paper_of("izzo-thm-8-corrected")
    'izzo'
    """
    return name.partition("-")[0]


def group_of(statement: rf.Statement) -> str:
    """Whose statement it is, as `PAPERS` says; the first word of its name where nobody is named there."""
    return PAPERS.get(paper_of(statement.name), paper_of(statement.name))


MATTERS: dict[str, dict[str, Where]] = {
    title: table for module in MODULES for title, table in getattr(module, "MATTERS", {}).items()
}
"""The beginning of a name -> parameter -> where it matters; of several beginnings the longest that names the parameter decides."""


def matters_of(statement: Statement) -> dict[str, Where]:
    """Where the parameters of a statement matter, of those that it varies.
    >>> sorted(matters_of(REGISTER["leemann-less-noise"]))
    ['d', 'k_over_d', 'own']
    """
    result: dict[str, Where] = {}
    for title in sorted(MATTERS, key=len):
        if (
            statement.name == title
            or (statement.name.startswith(title) and statement.name[len(title)] in "-abc.")
            or (title.endswith("-") and statement.name.startswith(title))
        ):
            result = {} if not MATTERS[title] else result | dict(MATTERS[title])
    return {name: where for name, where in result.items() if name in statement.domain}


def _all() -> dict[str, Statement]:
    statements = [
        replace(item, matters_when=matters_of(item)) for module in MODULES for item in module.STATEMENTS
    ]
    return {single.name: single for single in statements}


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
FULL: dict[str, list[dict[str, Any]]] = {
    name: parts for module in MODULES for name, parts in getattr(module, "FULL", {}).items()
}
"""Name -> values of listed points, each of which costs seconds: points with them are judged at --scale full only."""
NEEDS: dict[str, dict[str, dict[str, Any]]] = {
    name: words for module in MODULES for name, words in getattr(module, "NEEDS", {}).items()
}
"""Name -> condition in its words -> where it is needed, see `verify.rules.unmet_needs`."""
_TOGETHER = {gdp: mean}
"""Module -> the module whose laws it reads once more."""
FAMILIES: list[list[str]] = [
    [item.name for kin in MODULES if _TOGETHER.get(kin, kin) is module for item in kin.STATEMENTS]
    for module in MODULES
    if module not in _TOGETHER
]
"""Names that are judged in turn by a single thread: they share laws, which are stored between them."""
