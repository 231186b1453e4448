"""Negative controls: a claim made false by a few per cent, through the very judge that it uses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

from verify.claim import Claim, Regime

MOST = 0.05
"""A control changes the claim by at most this share: a larger error would be seen by a blunt judge too."""


@dataclass(frozen=True)
class Control:
    """Builds the control of a claim from the function that builds its regimes.

    Attributes:
        build: build(1.0) is one of the claim's own regimes; build(1 + shift) is the same with the claimed quantity (or,
            where that says more, the truth) multiplied by 1 + shift.
        shift: a few per cent, of either sign, at most `MOST`.
        plants: for a bound that is loose, so that no small shift of it is false: what build(1.0) puts in place of the
            attacker, in words. build(1.0) then attains the bound and is none of the claim's regimes.

    Raises:
        ValueError: if the shift is 0 or larger than `MOST`.

    Examples:
        >>> Control(lambda factor: Regime(f"claim x {factor:g}", {}, print), shift=0.2)
        Traceback (most recent call last):
            ...
        ValueError: shift is 0.2; it must be at most 0.05 in absolute value and not 0
    """

    build: Callable[[float], Regime]
    shift: float = 0.03
    plants: str = ""

    def __post_init__(self) -> None:
        if not 0.0 < abs(self.shift) <= MOST:
            raise ValueError(
                f"shift is {self.shift:g}; it must be at most {MOST:g} in absolute value and not 0"
            )

    def __call__(self) -> Regime:
        """Build the control."""
        regime = self.build(1.0 + self.shift)
        return replace(regime, name=f"control, {self.shift:+.0%}: {regime.name}")

    @property
    def original(self) -> Regime:
        """The regime that the control shifts, unshifted."""
        return self.build(1.0)


def code_of(judge: Callable[..., Any]) -> CodeType | type:
    """Return the code that runs when `judge` is called: two regimes that share it are judged by the same function.

    Examples:
        >>> def outer(x):
        ...     def judge(budget):
        ...         return x
        ...
        ...     return judge
        >>> code_of(outer(1)) is code_of(partial(outer(2), None))
        True
    """
    while isinstance(judge, (partial, MethodType)):
        judge = judge.func if isinstance(judge, partial) else judge.__func__
    return judge.__code__ if isinstance(judge, FunctionType) else type(judge)


def shortcomings(claim: Claim) -> list[str]:
    """Return what keeps the claim's control from being one, in words; empty if nothing does.

    It builds regimes and judges none: that the control is REFUTED, and its unshifted twin is not, has to be played.
    """
    control = claim.control
    if not isinstance(control, Control):
        return ["the control is no verify.control.Control: what it shifts, and by how much, is not said"]
    found: list[str] = []
    original, shifted = control.original, control()
    if not control.plants and original.name not in {regime.name for regime in claim.regimes}:
        found.append(f"unshifted, the control is {original.name!r}, which is no regime of the claim")
    codes = {code_of(regime.judge) for regime in claim.regimes}
    if code_of(shifted.judge) not in codes:
        found.append("the control is judged by a function that judges no regime of the claim")
    return found
