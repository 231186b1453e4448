"""The three things that can be said of a claim."""

from enum import StrEnum


class Verdict(StrEnum):
    """What evidence makes of a claim."""

    CONFIRMED = "CONFIRMED"
    REFUTED = "REFUTED"
    INCONCLUSIVE = "INCONCLUSIVE"
