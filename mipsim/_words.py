"""Words of others, such as names of files and headings of tables, as a terminal may be given them: short, and without control characters; and amounts."""

import difflib
import re
from collections.abc import Iterable
from typing import Any

_CONTROL = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e007f"
)
_HIDDEN, _HIDDEN_OR_LINES = re.compile(f"[{_CONTROL}]"), re.compile(rf"[{_CONTROL}\t\n]")
"""What moves the cursor, changes colours or the direction of writing, or cannot be written at all."""


def visible(text: str, single_line: bool = False) -> str:
    r"""Text with its control characters written as Python writes them."""
    hidden = _HIDDEN_OR_LINES if single_line else _HIDDEN
    return hidden.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def shortened(text: str, most: int = 80) -> str:
    """Text with its middle left out where it is longer than `most` characters."""
    if len(text) <= most:
        return text
    first = (most - 4) // 2
    return f"{text[:first]} ... {text[len(text) - (most - 5 - first) :]}"


def printable(value: Any, most: int = 200) -> str:
    r"""Another's value, or path, on part of a line."""
    text = str(value)
    if len(text) > 10 * most:  # what is left out need not be looked at
        text = text[: 5 * most] + text[-5 * most :]
    return shortened(visible(text, single_line=True), most)


def quoted(value: Any, most: int = 40) -> str:
    r"""Another's value as Python writes it, on part of a line."""
    try:
        text = repr(value)
    except Exception:  # of another's class, or of a whole number of thousands of digits
        text = f"<{type(value).__name__}>"
    return printable(text, most)


def kind_of(value: Any) -> str:
    """The name of its class, which another may have written."""
    return printable(type(value).__name__, 40)


def plural(amount: int, noun: str) -> str:
    """Write an amount with its noun."""
    return f"{amount:,} {noun}" + ("" if amount == 1 else "s")


def no_such(what: str, word: str, names: Iterable[str], allowed: str = "") -> str:
    """The sentence that refuses a name, and says which may have been meant.
    >>> no_such("encoding", "ordinl", ["ordinal", "one-hot"])
    "encoding is 'ordinl'; allowed: ordinal, one-hot; did you mean ordinal?"
    """
    known = list(names)
    close = difflib.get_close_matches(word[:500], known)  # no name is longer
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    return f"{what} is '{printable(word, 80)}'; {f'it must be {allowed}' if allowed else 'allowed: ' + ', '.join(known)}{hint}"
