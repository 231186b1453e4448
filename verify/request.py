"""The request of the command: checked, and turned into the statements to judge. Imports nothing that takes time."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mipsim._words import no_such

if TYPE_CHECKING:
    from mipsim.referee import Point, Statement

SCALES = ("quick", "standard", "full")
DEFAULT_OUT = Path("results/verify")
BUDGET = "2m"
BEFORE = "Interrupted before the first statement: nothing was written."
_Entry = TypeVar("_Entry")


@dataclass(frozen=True)
class Request:
    """The options of the command, by their names."""

    claims: tuple[str, ...]  # names and globs
    scale: str  # a member of `SCALES`
    confidence: float  # in [0.5, 1)
    seed: int  # in [0, 2^64)
    out: Path | None  # folder of the report
    at: tuple[Any, ...]  # points as JSON holds them
    json: str | None  # file of the data, "-" for standard output
    list: bool  # whether the statements are listed alone
    show: bool  # whether the entries of their findings are printed alone
    hunt: bool  # whether they are hunted
    budget: str | None  # of each hunt, as written
    suite: str | None  # name of a suite to judge instead

    def check(self) -> None:
        """Check what goes together.
        Raises ValueError if two options exclude each other, or the budget is none; a sentence that names them.
        """
        from mipsim.referee.hunting.search import budget_of

        if self.budget and not self.hunt:
            raise ValueError("--budget is given without --hunt; it must go with it")
        if self.show and (self.at or self.json or self.hunt or not self.claims):
            raise ValueError(
                "--show is given without CLAIM, or beside --at, --json or --hunt; it judges each CLAIM and its correction"
            )
        if self.hunt and (self.at or self.json):
            raise ValueError("--hunt is given beside --at or --json; its data are in the report's folder")
        budget_of(self.budget or BUDGET)

    @property
    def folder(self) -> Path | None:
        """The folder of the report; none where data alone are requested."""
        return self.out or (None if self.at or self.json is not None else DEFAULT_OUT)

    def points(self, statements: Sequence[Statement]) -> tuple[Point, ...] | None:
        """The points of --at, or None: then they are those of the register.
        Raises ValueError unless they are points of the only statement.
        """
        from mipsim.referee import Point

        if not self.at:
            return None
        if len(statements) != 1:
            raise ValueError(
                f"--at is given for {len(statements)} statements; it must go with exactly 1 CLAIM"
            )
        (statement,) = statements
        places = [statement.check(at) for at in self.at]
        # A listed point keeps its name.
        return tuple(
            next((item for item in statement.points if dict(item.at) == at), Point(at)) for at in places
        )


def select(patterns: Sequence[str], register: Mapping[str, _Entry]) -> tuple[_Entry, ...]:
    """Return the statements whose names match any pattern, in the register's order; all if there is none.
    `patterns`: full names or globs such as "azize-thm-4*"; `register`: the statements by name, or what else is stored of
    each. Raises ValueError if a pattern matches nothing; it lists the close names.

    >>> select(["azize-*"], {})
    Traceback (most recent call last):
        ...
    ValueError: CLAIM is 'azize-*'; it must be a statement of the register or a glob that some match (see --list)
    """
    chosen: set[str] = set()
    for pattern in patterns:
        # Of a long pattern fnmatch looks at every bracket's every end.
        matches = fnmatch.filter(register, pattern) if len(pattern) <= 500 else []
        if not matches:
            raise ValueError(
                no_such(
                    "CLAIM",
                    pattern,
                    register,
                    "a statement of the register or a glob that some match (see --list)",
                )
            )
        chosen.update(matches)
    return tuple(item for name, item in register.items() if not patterns or name in chosen)
