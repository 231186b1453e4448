"""The list of the studies that stands beside them."""

from __future__ import annotations

import re
from pathlib import Path

from sims.kept_list import KeptList

HERE = Path(__file__).parent


def sources() -> list[Path]:
    """Where the studies' names and descriptions are written: the modules from which `sims.studies` takes them.

    Examples:
        >>> sorted(path.name for path in sources())[:2]
        ['azize_counterexamples.py', 'azize_gradients.py']
    """
    text = (HERE / "studies.py").read_text("utf-8")
    modules = re.findall(r"^from sims\.(\w+) import", text, re.MULTILINE)
    return [HERE / "studies.py", *(HERE / f"{module}.py" for module in modules)]


def _made() -> list[list[str]]:
    from sims.studies import STUDIES

    return [[study.name, study.description] for study in STUDIES.values()]


STUDIES = KeptList(HERE / "studies.json", sources, _made)
"""Every study's name and description."""


def lines_of(rows: list[list[str]]) -> list[str]:
    """The rows as lines.

    Examples:
        >>> lines_of([["one", "first"], ["three", "third"]])
        ['one    first', 'three  third']
    """
    width = max((len(name) for name, _ in rows), default=0)
    return [f"{name:<{width}}  {says}" for name, says in rows]
