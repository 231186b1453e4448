"""What the report shows of a statement beside its words: its formula, what its parameters are, and a program that contradicts it."""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

SNIPPETS = Path(__file__).parents[1] / "docs" / "programs"
"""Counterexamples that need NumPy and SciPy alone: an author checks them without trusting mipsim."""

_ENTRIES = tomllib.loads((Path(__file__).parent / "formulas.toml").read_text(encoding="utf-8"))["formula"]
MEANINGS: dict[str, dict[str, str]] = tomllib.loads(
    (Path(__file__).parent / "parameters.toml").read_text(encoding="utf-8")
)
"""How names of statements begin -> parameter -> what it is."""
FORMULAS: dict[str, str] = {name: entry["latex"] for entry in _ENTRIES for name in entry["of"]}
"""Name of a statement -> its formula in LaTeX."""


def formula_of(name: str, corrects: str) -> str:
    """The formula of a statement, or of the statement that it corrects; "" where words alone say it.
    >>> formula_of("azize-thm-3.1-power-corrected", "azize-thm-3.1-power") == FORMULAS["azize-thm-3.1-power"]
    True
    """
    return FORMULAS.get(name, FORMULAS.get(corrects, ""))


def meanings_of(name: str, parameters: Iterable[str]) -> dict[str, str]:
    """What the parameters of a statement are, those that `parameters.toml` knows: of the longest title that begins the statement's name.
    >>> meanings_of("azize-onion", ["d", "keep"])["keep"]
    'share of the points that remain'
    """
    titles = sorted((title for title in MEANINGS if name.startswith(title)), key=len, reverse=True)
    result = {
        item: next((MEANINGS[t][item] for t in titles if item in MEANINGS[t]), "") for item in parameters
    }
    return {single: words for single, words in result.items() if words}


def snippet_of(name: str) -> str:
    """The program that contradicts a statement, or "" if there is none.
    >>> snippet_of("nobody's")
    ''
    """
    path = SNIPPETS / f"{re.sub('[-.]', '_', name)}.py"
    return path.read_text(encoding="utf-8") if path.is_file() else ""
