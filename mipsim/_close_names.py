"""What a mistyped name may stand for."""

import difflib
from collections.abc import Iterable


def close_names(word: str, names: Iterable[str], most: int) -> list[str]:
    """At most so many names: those in which the word stands, whatever the punctuation, then those that are spelt alike.

    Examples:
        >>> names = ["fig6_n2", "fig2_hard", "fig2_easy", "thm-3.1-power"]
        >>> close_names("fig2", names, 2), close_names("thm-31", names, 2), close_names("fig6_n3", names, 1)
        (['fig2_hard', 'fig2_easy'], ['thm-3.1-power'], ['fig6_n2'])
    """
    known, bare = list(names), _bare(word)
    held = [name for name in known if bare and bare in _bare(name)]
    alike = difflib.get_close_matches(word, known, n=most, cutoff=0.6)
    return [*held, *(name for name in alike if name not in held)][:most]


def _bare(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))
