"""Counterexamples as programs that need NumPy and SciPy alone: an author checks them without trusting mipsim."""

import re
from pathlib import Path

SNIPPETS = Path(__file__).parent / "snippets"


def snippet_of(name: str) -> str:
    """The program that contradicts a statement, or "" if there is none.

    Examples:
        >>> snippet_of("nobody's")
        ''
    """
    path = SNIPPETS / f"{re.sub('[-.]', '_', name)}.py"
    return path.read_text(encoding="utf-8") if path.is_file() else ""
