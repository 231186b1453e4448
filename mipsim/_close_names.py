"""What a mistyped name may stand for."""

import difflib
from collections.abc import Iterable

from mipsim._words import printable

LONGEST = 500
"""Letters of a word that are looked at; no name has as many."""


def close_names(word: str, names: Iterable[str], most: int) -> list[str]:
    """At most so many names: those in which the word stands, whatever the punctuation, then those that are spelt alike.
    >>> names = ["fig6_n2", "fig2_hard", "fig2_easy", "thm-3.1-power"]
    >>> close_names("fig2", names, 2), close_names("thm-31", names, 2), close_names("fig6_n3", names, 1)
    (['fig2_hard', 'fig2_easy'], ['thm-3.1-power'], ['fig6_n2'])
    """
    known, word = list(names), word[:LONGEST]
    bare = _bare(word)
    held = [name for name in known if bare and bare in _bare(name)]
    alike = difflib.get_close_matches(word, known, n=most, cutoff=0.6)
    return [*held, *(name for name in alike if name not in held)][:most]


def no_such(what: str, word: str, names: Iterable[str], allowed: str = "") -> str:
    """The sentence that refuses a name, and says which may have been meant.
    >>> no_such("COMMAND", "jugde", ["judge", "hunt"])
    "COMMAND is 'jugde'; allowed: judge, hunt; did you mean judge?"
    """
    known = list(names)
    close = close_names(word, known, 3)
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    return f"{what} is '{printable(word, 80)}'; {f'it must be {allowed}' if allowed else 'allowed: ' + ', '.join(known)}{hint}"


def _bare(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))
