"""What a statement's functions may return, read once: a curve, a number, a game that is played, a pair of samplers."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from mipsim._printed import at_least, at_most, ceiling
from mipsim._validation import UndefinedError, check_fields, number, real
from mipsim.attacks.base import AbstractAttack
from mipsim.attacks.function import as_attack
from mipsim.attacks.likelihood_ratio import GaussianLikelihoodRatio, LikelihoodRatio
from mipsim.distributions.gaussian import Gaussian
from mipsim.games.base import AbstractGame
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounds import EPS, CurveBounds, probit_of_log
from mipsim.tradeoff.partition import defined

CONVEX = 1e-9
"""By how much an FNR may lie above the chord of its neighbours: rounding of its values."""
Sampler = Callable[[np.random.Generator, int], Any]


@dataclass(frozen=True)
class Number:
    """A number with a proven bound on its error, and words about it for the reader.

    Args:
        value: the number, not NaN.
        error: what it may be off at most, finite and >= 0. An estimate of the error is none.
        unit: of the number; that of the statement's kind if empty.
        route: how it was computed, in a few words; "number" if empty.
        detail: a sentence for the reader.
        unknown: "above" where the number is at least value - error and may be anything above (a lower bound), "below" where it is
            at most value + error. A judge decides by what is known: a lower bound refutes "at most" and never confirms it.

    Raises:
        ValueError: if the value is NaN, the error is not finite and >= 0, or `unknown` is another word.

    Examples:
        >>> Number(0.25, error=1e-6).error, Number(0.5, unknown="above").high
        (1e-06, inf)
        >>> print(Number(0.25, error=1e-6, unit="probit"), "and", Number(0.5, unknown="above", route="an event"))
        0.25 +- 1e-06 probit and at least 0.5 (an event)
    """

    value: float
    error: float = 0.0
    unit: str = ""
    route: str = ""
    detail: str = ""
    unknown: str = field(default="", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        if math.isnan(real("value", self.value)):
            raise UndefinedError("value is NaN; it must be a number")
        number("error", self.error, 0.0)
        if self.unknown not in ("", "above", "below"):
            raise ValueError(f"unknown is {self.unknown!r}; it must be 'above', 'below' or empty")

    def __str__(self) -> str:
        near = f"{self.value:.6g}"
        known = {"above": at_least(self.low, 6), "below": at_most(self.high, 6)}.get(self.unknown, near)
        off = self.error + abs(self.value - float(near)) if math.isfinite(self.value) else self.error
        error = f" +- {ceiling(off, 2)}" if self.error and not self.unknown else ""
        return (
            f"{known}{error}{f' {self.unit}' if self.unit else ''}{f' ({self.route})' if self.route else ''}"
        )

    @classmethod
    def between(cls, low: float, high: float, **details: str) -> Number:
        """A number that is proven to lie between two others.

        Args:
            low: lower bound.
            high: upper bound, finite and >= low.
            details: `unit`, `route` and `detail`.

        Raises:
            ValueError: if low > high or either is NaN.

        Examples:
            >>> Number.between(0.25, 0.75)
            Number(value=0.5, error=0.25, unit='', route='', detail='')
            >>> Number.between(1.0, 0.0)
            Traceback (most recent call last):
                ...
            ValueError: low is 1 and high 0; low must be at most high
        """
        if not low <= high:
            raise ValueError(f"low is {low:g} and high {high:g}; low must be at most high")
        return cls(0.5 * (low + high), 0.5 * (high - low), **details)

    @property
    def low(self) -> float:
        """What it is at least."""
        return -math.inf if self.unknown == "below" else self.value - self.error

    @property
    def high(self) -> float:
        """What it is at most."""
        return math.inf if self.unknown == "above" else self.value + self.error


@dataclass(frozen=True)
class Played:
    """A game and the attack in it."""

    game: AbstractGame
    attack: AbstractAttack

    @cached_property
    def law(self) -> AbstractTradeOff | None:
        """The curve, if the exact distribution of the score is known."""
        try:
            return self.game.exact(self.attack)
        except UndefinedError:  # its budget ended: it is not unknown
            raise
        except ValueError:
            return None

    @property
    def is_optimal(self) -> bool:
        """Whether no attacker does better: the likelihood ratio of the game's own distribution."""
        if isinstance(self.attack, GaussianLikelihoodRatio):
            return isinstance(getattr(self.game, "data", None), Gaussian)
        return isinstance(self.attack, LikelihoodRatio)


@dataclass(frozen=True)
class Samplers:
    """Draws of a score in the two worlds."""

    out: Sampler
    inside: Sampler

    def draw(self, inside: bool, seed: tuple[int, ...], games: int) -> np.ndarray:
        """Return scores of independent games, shape (games,).
        Raises ValueError if the sampler returns another shape, or NaN.
        """
        generator = np.random.default_rng([*seed, int(inside)])
        scores = np.asarray((self.inside if inside else self.out)(generator, games), float)
        if scores.shape != (games,) or np.isnan(scores).any():
            what = "NaN" if scores.shape == (games,) else f"shape {scores.shape}"
            raise ValueError(
                f"the sampler of {'in' if inside else 'out'} returned {what}; it must return {games} scores"
            )
        return scores


Value = AbstractTradeOff | Number | Played | Samplers


def read(role: str, value: Any) -> Value:
    """Return what a statement's function returned, as a number, a curve, a game or samplers.
    Raises ValueError if it is none of them; NaN too.

    >>> read("truth", 0.5)
    Number(value=0.5, error=0.0, unit='', route='', detail='')
    >>> read("truth", None)
    Traceback (most recent call last):
        ...
    ValueError: truth returned None; it must return a trade-off function, a number or rf.Number(value, error=...), (game, attack), or samplers (out, in) of (generator, games)
    """
    if isinstance(value, (Number, AbstractTradeOff)):
        return value
    if isinstance(value, (tuple, list)) and len(value) == 2:
        first, second = value
        if isinstance(first, AbstractGame):
            return Played(first, as_attack(second))
        if callable(first) and callable(second) and all(map(_takes_games, (first, second))):
            return Samplers(first, second)
    elif np.ndim(value) == 0 and not isinstance(
        value, (bool, str, bytes, type(None), np.timedelta64, np.ma.MaskedArray)
    ):
        try:
            result = float(value)  # pyright: ignore[reportArgumentType]
        except (TypeError, ValueError):
            pass
        else:
            if math.isnan(result):
                raise UndefinedError(f"{role} is undefined (NaN) here, which decides nothing")
            return Number(result)
    shown = repr(value) if len(repr(value)) < 60 else type(value).__name__
    raise ValueError(
        f"{role} returned {shown}; it must return a trade-off function, a number or rf.Number(value, error=...), (game, attack), "
        "or samplers (out, in) of (generator, games)"
    )


def _takes_games(sampler: Callable[..., Any]) -> bool:
    try:
        inspect.signature(sampler).bind(np.random.default_rng(0), 1)
    except TypeError:
        return False
    except ValueError:  # of a built-in, which has none
        pass
    return True


def no_tradeoff(curve: AbstractTradeOff) -> str:
    """Return why a curve is no trade-off function; empty if 121 points show nothing wrong."""
    alpha = np.concatenate([[0.0], ndtr(np.linspace(-4.0, 4.0, 121)), [1.0]])
    beta = np.asarray(curve.beta(alpha), float)
    if beta.shape != alpha.shape or np.isnan(beta).any():
        return ""  # such a curve cannot be judged at all, which is reported elsewhere
    if (out := (beta < -CONVEX) | (beta > 1.0 + CONVEX)).any():
        return f"its FNR is {beta[out][0]:.6g} at the FPR {alpha[out][0]:.6g}, outside [0, 1]"
    if (over := beta > 1.0 - alpha + CONVEX).any():
        return f"its FNR is {beta[over][0]:.6g} at the FPR {alpha[over][0]:.6g}, above that of blind guessing"
    if (rises := np.diff(beta) > CONVEX).any():
        return f"its FNR rises from {beta[:-1][rises][0]:.6g} to {beta[1:][rises][0]:.6g} after the FPR {alpha[:-1][rises][0]:.6g}"
    width = np.diff(alpha)
    bent = np.diff(beta)[:-1] * width[1:] - np.diff(beta)[1:] * width[:-1]
    if (bad := bent > CONVEX * (width[1:] + width[:-1])).any():
        return f"it is not convex: its slope falls at the FPR {alpha[1:-1][bad][0]:.6g}"
    return ""


class Shifted(AbstractTradeOff):
    """The curve Phi(Phi^-1(f) - shift): what an error of `shift` in the local mu makes of f.

    It need not be convex, nor reach 1 at FPR 0: it is a false claim for a control, and no guarantee.
    """

    curve: AbstractTradeOff  # f
    shift: float  # in probits; positive: a stronger attacker

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        base = self.curve.enclosure(log_fpr)
        low, high = (
            _moved(*ends, -self.shift)
            for ends in ((base.log_fnr_low, base.log_tpr_high), (base.log_fnr_high, base.log_tpr_low))
        )
        slack = 16.0 * EPS * (1.0 + (abs(self.shift) if np.isfinite(self.shift) else 0.0))
        low, high = (
            z + sign * slack * (1.0 + np.where(np.isinf(z), 0.0, np.abs(z)))
            for z, sign in ((low, -1.0), (high, 1.0))
        )
        return CurveBounds.of_probit(low, high)


def _moved(log_fnr: np.ndarray, log_tpr: np.ndarray, shift: float) -> np.ndarray:
    """The probit of the FNR, moved; certainty stays certain."""
    probit = np.where(log_fnr <= -0.69, probit_of_log(log_fnr), -probit_of_log(log_tpr))
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(probit), probit, probit + shift)


def mu_of(curve: AbstractTradeOff) -> float:
    """The mu of the Gaussian curve with the same advantage, of the tests with FPRs from 2 to 98% alone: others may take minutes.

    A convex curve has at least 97% of its advantage there.
    >>> from mipsim.tradeoff import GaussianTradeOff
    >>> round(mu_of(GaussianTradeOff(0.7)), 3)
    0.7
    """
    z = np.linspace(-2.0, 2.0, 65)
    return 2.0 * float(
        ndtri(0.5 + 0.5 * np.max(np.exp(defined(curve, log_ndtr(z)).log_tpr_high) - ndtr(z), initial=0.0))
    )
