"""Tables of bad input: calls that must be refused, each in a single sentence."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

Refusals = Sequence[tuple[Callable[[], Any], str]]
"""Calls, and a pattern of the message of each."""


def message_test(refusals: Refusals) -> Callable[..., None]:
    """A test of each call of a table."""

    @pytest.mark.parametrize(("build", "message"), refusals, ids=[message[:40] for _, message in refusals])
    def test_message(build: Callable[[], Any], message: str) -> None:
        with pytest.raises(ValueError, match=message) as caught:
            build()
        assert "\n" not in str(caught.value)

    return test_message
