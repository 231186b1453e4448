"""A point of a statement, prepared: its functions called once, and what is claimed and true there with their exact distributions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr

from mipsim._budget import spent
from mipsim._validation import UndefinedError
from mipsim._words import printable
from mipsim.engine.describe import describe
from mipsim.referee.judging.claim import Claim
from mipsim.referee.kinds import Bound, Limit, companions, sizes_of
from mipsim.referee.statement import Statement
from mipsim.referee.values import Number, Played, Samplers, Value, no_tradeoff, read
from mipsim.tradeoff.base import AbstractTradeOff


@dataclass(frozen=True)
class Share:
    """What a point has of a run."""

    risk: float  # failure probability; exact distributions use none of it
    games: int  # in each world, where games are played
    run: int  # seed of the run
    purpose: str = "judge"  # sets the games apart from those of other judges with the same seed
    # of the processor for exact distributions; None: the amount of work alone limits them
    seconds: float | None = None

    def seed(self, statement: Statement, at: Mapping[str, Any]) -> int:
        """The seed of a point's own games, in [0, 2^62): of run, statement, what matters of the point, and purpose."""
        key = [self.run, statement.name, statement.mattering(at), self.purpose]
        text = json.dumps(key, sort_keys=True)
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 2


@dataclass(frozen=True)
class Prepared:
    """What a statement's functions say at a point, of a limit at a single size."""

    statement: Statement
    at: dict[str, Any]
    claimed: Value
    truth: Value

    @cached_property
    def claim(self) -> Claim | None:
        """What is claimed, if a curve or number is known."""
        value = lawful(self.claimed)
        return None if value is None else Claim(self.statement.kind, value)

    @property
    def optimal(self) -> bool:
        """Whether the truth is the best attacker's."""
        return (
            self.truth.is_optimal if isinstance(self.truth, Played) else not isinstance(self.truth, Samplers)
        )

    @property
    def doubted(self) -> bool:
        """Whether what the attacker of the truth does not break may be broken by another: the statement is about all of them."""
        kind = self.statement.kind
        about_all = isinstance(kind, Bound) or (isinstance(kind, Limit) and kind.bound)
        return about_all and not self.optimal

    @property
    def played(self) -> Played | Samplers | None:
        """What is played, where distributions are not known; a limit is judged by these alone."""
        if not isinstance(self.statement.kind, Limit):
            with suppress(UndefinedError):  # a budget ended: what has a law is not played
                for value in (self.truth, self.claimed):
                    if isinstance(value, (Played, Samplers)) and lawful(value) is None:
                        return value
        return None

    @property
    def finding(self) -> str:
        """Why the claimed curve is no trade-off function; empty if it is."""
        return "" if isinstance(self.claimed, (Number, Played, Samplers)) else no_tradeoff(self.claimed)


def prepare(statement: Statement, at: Mapping[str, Any]) -> Prepared:
    """Call the functions of a statement at a point; of a limit with a size. Raises Exception: whatever they raise."""
    claimed, truth = (read(role, statement.call(role, at)) for role in ("claimed", "truth"))
    return Prepared(statement, dict(at), claimed, truth)


def tried(statement: Statement, at: Mapping[str, Any]) -> Prepared | None:
    """The point, of a limit at its first size; None where a function raises, which is for the judge to record."""
    kind = statement.kind
    try:
        if isinstance(kind, Limit):
            at = dict(at) | {kind.grows: limit_sizes(statement, kind, at)[0]}
        return prepare(statement, at)
    except Exception:
        return None


def check_repeatable(first: Prepared | None) -> None:
    """Call the functions of a statement again at a single point, and compare bits: a verdict about values that change applies
    to none of them.

    Curves are compared at nine FPRs, samplers by 16 draws from generators of the same seed.

    Raises ValueError if `claimed` or `truth` returned another value the second time.
    """
    second = None if first is None else tried(first.statement, first.at)
    if first is None or second is None:
        return
    for role in ("claimed", "truth"):
        try:
            same = _bits(getattr(first, role)) == _bits(getattr(second, role))
        except Exception:
            continue
        if not same and not spent():  # what a budget cut short may end elsewhere
            raise ValueError(
                f"{role} of {first.statement.name} returned two values at {printable(first.at)}; it must return the same value at each call: fix its seed"
            )


def _bits(value: Value) -> object:
    """What is equal for two values only if they are the same."""
    if isinstance(value, Number):
        return repr(value)
    if isinstance(value, Played):
        return describe((value.game, value.attack))
    if isinstance(value, Samplers):
        return [value.draw(inside, (0,), 16).tobytes() for inside in (False, True)]
    return np.asarray(value.probit_beta(ndtr(np.linspace(-3.0, 3.0, 9))), float).tobytes()


def lawful(value: Value) -> AbstractTradeOff | Number | None:
    """The curve or number that a value is, or whose exact distribution is known."""
    if isinstance(value, Played):
        return value.law
    return None if isinstance(value, Samplers) else value


def limit_sizes(
    statement: Statement, kind: Limit, at: Mapping[str, Any], run: int | None = None
) -> tuple[int, ...]:
    """The sizes at which a limit is judged at a point: those that satisfy the assumptions.

    `run`: the seed of the run, for the companions of the listed sizes; None: without them.
    """
    low, high = statement.domain[kind.grows].ends
    sizes = sizes_of(kind, low, high, at)
    if run is not None and not kind.along:
        sizes = companions(sizes, run)
    if statement.where is None:
        return sizes
    return tuple(n for n in sizes if statement.call("where", dict(at) | {kind.grows: n}))
