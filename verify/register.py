"""Every statement that is judged, paper by paper."""

from mipsim import referee as rf
from verify import statement
from verify.azize.statements import MODULES as AZIZE
from verify.azize.statements import gdp, mean
from verify.field.statements import MODULES as FIELD
from verify.izzo.statements import MODULES as IZZO
from verify.kaissis.statements import MODULES as KAISSIS
from verify.leemann.statements import MODULES as LEEMANN
from verify.statement import Statement

PAPERS: dict[str, str] = {name: item["authors"] for name, item in statement.PAPERS.items()}
"""The first word of a statement's name -> whose statement it is."""
TITLES = {item["authors"]: (item["title"], item["address"]) for item in statement.PAPERS.values()}
"""Whose statement it is -> full title and address."""
MODULES = (*AZIZE, *LEEMANN, *KAISSIS, *IZZO, *FIELD)


def paper_of(name: str) -> str:
    """The paper that a statement belongs to: the first word of its name.
    >>> paper_of("izzo-thm-8-corrected")
    'izzo'
    """
    return name.partition("-")[0]


def group_of(item: rf.Statement) -> str:
    """Whose statement it is, as `PAPERS` says; the first word of its name where nobody is named there."""
    return PAPERS.get(paper_of(item.name), paper_of(item.name))


REGISTER: dict[str, Statement] = {item.name: item for module in MODULES for item in module.STATEMENTS}
"""Name -> statement, in the order of the papers."""


def statement_of(name: str) -> Statement:
    """A statement by its name: what another process, to which no function can be sent, begins with."""
    return REGISTER[name]


_TOGETHER = {gdp: mean}
"""Module -> the module whose laws it reads once more."""
FAMILIES: list[list[str]] = [
    [item.name for kin in MODULES if _TOGETHER.get(kin, kin) is module for item in kin.STATEMENTS]
    for module in MODULES
    if module not in _TOGETHER
]
"""Names that are judged in turn by a single thread: they share laws, which are stored between them."""
