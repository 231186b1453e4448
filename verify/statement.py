"""A statement of the register: the referee's, and what the register alone asks of it."""

from dataclasses import dataclass
from typing import Any

from mipsim import referee as rf


@dataclass(frozen=True, kw_only=True)
class Statement(rf.Statement):
    """A printed statement, or the correction of a statement; the arguments are those of the referee's `Statement` and these.

    Args:
        instead: for a statement that is refuted, what holds instead, in a few words; "" where nothing is known to.
    """

    instead: str = ""

    def corrected(self, **changes: Any) -> "Statement":
        """The same as the referee's; `instead` of the statement is left out of its correction."""
        return super().corrected(**({"instead": ""} | changes))  # pyright: ignore[reportReturnType]
