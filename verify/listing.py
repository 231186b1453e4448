"""The lists of statements and studies that stand beside the registers; `python -m verify.listing` writes them anew."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sims.kept_list import CHECKOUT, KeptList, answer
from sims.listing import STUDIES

if TYPE_CHECKING:
    from mipsim.referee import Statement

HERE = Path(__file__).parent
WRITER = "python -m verify.listing"


def sources() -> list[Path]:
    """Where the statements' names, kinds and words are written: the modules of the papers, the register that names those, and `corrected`.

    A test sees that the words come from there alone, and that the list is that of the register.

    Examples:
        >>> "verify/azize/mean.py" in [path.relative_to(CHECKOUT).as_posix() for path in sources()]
        True
    """
    modules = (path for path in HERE.glob("*/*.py") if path.parent.name != "report")
    return [*modules, HERE / "register.py", CHECKOUT / "mipsim" / "referee" / "statement.py"]


def rows_of(statements: Iterable[Statement]) -> list[list[str]]:
    """Name, kind and what is said, for each statement.

    Examples:
        >>> rows_of([])
        []
    """
    return [[one.name, type(one.kind).__name__.lower(), " ".join(one.says.split())] for one in statements]


def lines_of(rows: Iterable[Sequence[str]]) -> list[str]:
    """The rows as lines.

    Examples:
        >>> lines_of([["izzo-thm-4", "equality", "DP implies MIP."]])
        ['izzo-thm-4                              equality  DP implies MIP.']
    """
    return [f"{name:<38}  {kind:<8}  {says}" for name, kind, says in rows]


def _made() -> list[list[str]]:
    from verify.register import REGISTER

    return rows_of(REGISTER.values())


STATEMENTS = KeptList(HERE / "statements.json", sources, _made)
"""Every statement of the register."""


def list_all() -> int:
    """List the register's statements; returns the exit status.

    Examples:
        >>> list_all() == 0
        azize-thm-2.1a ...
        True
    """
    return answer(lines_of(STATEMENTS.rows()), "python -m verify")


def main() -> int:
    """Write both lists, and say which have changed."""
    for kept in (STATEMENTS, STUDIES):
        print(f"{kept.file.relative_to(CHECKOUT)}: {'written' if kept.write() else 'as it was'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
