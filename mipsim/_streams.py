"""What a command does when nobody reads its output any more."""

import os
import sys

READER_GONE = 141
"""128 + the number of SIGPIPE, which is how a shell tells it of other programs."""


def reader_gone() -> int:
    """Send what is left of the output nowhere, and return the exit status: for `except BrokenPipeError`.

    Examples:
        >>> reader_gone.__module__
        'mipsim._streams'
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python complains when it ends
    return READER_GONE
