"""When a run may stop: as soon as its counts decide a claim, at fixed numbers of games."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from mipsim._validation import choice, confidence_level, number, whole
from mipsim._verdict import READINGS, Verdict
from mipsim.bands.anytime import next_look
from mipsim.bands.compare import check_claim, equality_tolerance
from mipsim.bands.comparison import Comparison
from mipsim.engine.histogram import Histogram
from mipsim.tradeoff.base import AbstractTradeOff

FIRST, PARTS = 8192, 4
"""The first look of a run, and looks in each doubling: a run then plays 9% too many games in the mean, and a look costs 0.1 s."""


@dataclass(frozen=True)
class Until:
    """A claim whose verdict ends a run: `mi.play(..., until=mi.Until(claim, kind="ordering"))`.

    The intervals hold at every number of games at once (`mipsim.bands.anytime_bounds`), so that the verdict at which the run stops is wrong
    with at most the failure probability. The run is looked at after 8,192 games in each world, four times in each doubling, and at its
    end; where it stops depends on nothing but the study, the seed and the games.

    Attributes:
        claim: the claimed trade-off function.
        kind: what it says, as in `EmpiricalTradeOff.compare`; by default "equality".
        tolerance: what counts as equal, in probits, > 0; by default the smaller of 0.02 and 2% of the claim's mu.
        confidence: of the verdict, in [0.5, 1).
        least_rate: a confirmation is about thresholds whose error rates lie between this and 1 minus this, in [0, 0.5).
        thresholds: how many thresholds share the failure probability, >= 1.

    Examples:
        >>> import mipsim as mi
        >>> mi.Until(mi.GaussianTradeOff(1.0)).tolerance
        0.02
        >>> mi.Until(mi.GaussianTradeOff(1.0), kind="equal")
        Traceback (most recent call last):
        ...
        ValueError: kind is 'equal'; allowed: equality, equivalence, upper_bound_on_power, ordering; did you mean equality or equivalence?
    """

    claim: AbstractTradeOff
    kind: str | None = None
    tolerance: float | None = None
    confidence: float = 0.999
    least_rate: float = 0.01
    thresholds: int = 64

    def __post_init__(self) -> None:
        check_claim("claim", self.claim)
        margin = equality_tolerance(self.claim) if self.tolerance is None else self.tolerance
        checked = {
            "kind": "equality" if self.kind is None else choice("kind", self.kind, tuple(READINGS)),
            "tolerance": number("tolerance", margin, 0.0, low_open=True),
            "confidence": confidence_level(self.confidence),
            "least_rate": number("least_rate", self.least_rate, 0.0, 0.5, high_open=True),
            "thresholds": whole("thresholds", self.thresholds, 1),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @classmethod
    def checked(cls, until: Any) -> Until:
        """What `until=` was given, a claim by itself with the defaults.

        Examples:
            >>> import mipsim as mi
            >>> Until.checked(mi.GaussianTradeOff(1.0)).kind
            'equality'
        """
        if isinstance(until, cls):
            return until
        check_claim("until", until)
        return cls(until)

    def compare(self, counts: Histogram) -> Comparison:
        """Hold counts against the claim, by intervals that hold at every number of games at once.

        Args:
            counts: games of a run, as many as there are.

        Examples:
            >>> import mipsim as mi, numpy as np
            >>> counts = Histogram(np.array([0.5]), np.array([6915, 3085]), np.array([3085, 6915]))
            >>> mi.Until(mi.GaussianTradeOff(1.5)).compare(counts).verdict
            'REFUTED'
        """
        curve = counts.tradeoff(self.confidence, self.thresholds, anytime=True)
        return curve.compare(self.claim, self.tolerance, kind=self.kind, least_rate=self.least_rate)

    def decides(self, counts: Histogram) -> bool:
        """Whether counts confirm or refute the claim."""
        return self.compare(counts).verdict != Verdict.INCONCLUSIVE

    def looks(self, games: range) -> list[int]:
        """The ends of the ranges of games at which a run is looked at.

        Examples:
            >>> import mipsim as mi
            >>> Until(mi.GaussianTradeOff(1.0)).looks(range(100, 20_100))
            [8292, 10340, 12388, 14436, 16484, 20100]
        """
        look, result = next_look(0, FIRST, PARTS), []
        while look < len(games):
            result.append(games.start + look)
            look = next_look(look, FIRST, PARTS)
        return [*result, games.stop]

    def manifest(self) -> Any:
        """What manifests say of it."""
        # By values: what a claim has computed so far would change a description of its parts.
        beta = np.round(self.claim.beta(ndtr(np.linspace(-4.0, 4.0, 17))), 6).tolist()
        return {**vars(self), "claim": {"claim": repr(self.claim), "beta": beta}}
