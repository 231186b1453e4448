"""The program that contradicts a statement without mipsim, which its report shows."""

import re
from pathlib import Path

SNIPPETS = Path(__file__).parents[1] / "docs" / "programs"
"""Counterexamples that need NumPy and SciPy alone: an author checks them without trusting mipsim."""


def snippet_of(name: str) -> str:
    """The program that contradicts a statement, or "" if there is none.
    >>> snippet_of("nobody's")
    ''
    """
    path = SNIPPETS / f"{re.sub('[-.]', '_', name)}.py"
    return path.read_text(encoding="utf-8") if path.is_file() else ""
