"""The three verdicts on a claim, and the kinds of claim."""

from enum import StrEnum


class Verdict(StrEnum):
    """What evidence makes of a claim."""

    CONFIRMED = "CONFIRMED"
    REFUTED = "REFUTED"
    INCONCLUSIVE = "INCONCLUSIVE"


READINGS = {
    "equality": "as an equality",
    "equivalence": "as an equality to its tolerance",
    "upper_bound_on_power": "as an upper bound on power",
    "ordering": "as a lower bound on power",
}
"""Kinds of claim, and how a verdict names them: a true bound that is no equality must not read as refuted."""
