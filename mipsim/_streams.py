"""What a command prints: never a control character of somebody else's words, and nothing where nobody reads any more."""

import os
import sys
from contextlib import suppress

from mipsim._words import shortened, visible

READER_GONE = 141
"""128 + the number of SIGPIPE, which is how a shell tells it of other programs."""
MOST = 400
"""Characters of a sentence on stderr; of a longer sentence the middle is left out."""


def reader_gone() -> int:
    """Send what is left of the output nowhere, and return the exit status: for `except BrokenPipeError`."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python complains when it ends
    return READER_GONE


def drop_unwritten() -> bool:
    """Whether output is left that cannot be written, as on a full disk; it is then sent nowhere, as by `reader_gone`."""
    try:
        sys.stdout.flush()
    except OSError:
        reader_gone()
        return True
    return False


def say(text: str) -> None:
    r"""Print a result, which may hold names of files and words of statements, on stdout."""
    text = visible(text)
    try:
        print(text, flush=True)
    except UnicodeEncodeError:  # a terminal that knows fewer characters
        known = sys.stdout.encoding
        print(text.encode(known, "backslashreplace").decode(known), flush=True)


def complain(sentence: str) -> None:
    """Print what is wrong on a single line of stderr, if anybody listens there."""
    with suppress(OSError, ValueError):
        print(shortened(visible(sentence, single_line=True), MOST), file=sys.stderr, flush=True)
