"""What is claimed at a point, and what counts as equal to it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mipsim.bands.compare import equality_tolerance
from mipsim.referee.kinds import FIXED_ALPHA, Kind
from mipsim.referee.values import Number, mu_of
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.exact_tradeoff import ExactTradeOff

TOO_RARE = 1e3
"""Error rates below this many times the proven error of a distribution say nothing by it."""
LEAST_MU = 0.05
"""A thousandth of a smaller mu is finer than probits are known at FPRs of 1e-9, where the rounding of float64 leaves up to 2e-5."""
SHARE = 0.02
"""Of a claimed number that counts as equal: a small number is judged as sharply as a large number."""


@dataclass(frozen=True)
class Claim:
    """A curve or a number, and what a statement says of it."""

    kind: Kind
    value: AbstractTradeOff | Number

    @cached_property
    def tolerance(self) -> float:
        """What counts as equal: what the kind declares, else the smaller of 0.02 probits and 2% of mu, or 2% of the number.
        Raises ValueError if the claim is about 0 and no absolute tolerance was declared.

        >>> from mipsim.referee.kinds import Equality
        >>> Claim(Equality(), Number(-2.0)).tolerance
        0.04
        """
        given, value = getattr(self.kind, "tolerance", None), self.value
        if given is not None:
            return given
        if not isinstance(value, Number):
            return equality_tolerance(value)
        if value.value == 0 or not math.isfinite(value.value):
            raise ValueError(
                f"claimed is {value.value:g}; it must be finite and not 0, or an absolute tolerance must be given"
            )
        return SHARE * abs(value.value)

    @property
    def unit(self) -> str:
        """Of the gap."""
        return (self.value.unit or self.kind.unit) if isinstance(self.value, Number) else "probit"

    @property
    def size(self) -> float:
        """That of the number, if it is finite; of a curve 1."""
        number = self.value.value if isinstance(self.value, Number) else 1.0
        return abs(number) if math.isfinite(number) else 1.0

    @cached_property
    def scale(self) -> float:
        """What a proven error is measured by: the size of the number, or the curve's own mu, and 1 where that is less."""
        return min(1.0, self.size if isinstance(self.value, Number) else max(mu_of(self.value), LEAST_MU))

    def floor(self, *curves: Any) -> float:
        """The least error rate that is judged: that of the kind, or the rarest that the proven errors of these distributions and the claim's reach.

        If the bounds are too wide at `FIXED_ALPHA`, that rate is judged all the same, and the statement stays undecided.
        """
        errors = [c.law.error_bound for c in (self.value, *curves) if isinstance(c, ExactTradeOff)]
        return max(self.kind.floor, min(TOO_RARE * max(errors, default=0.0), FIXED_ALPHA))
