"""What a second, independent route measures at a refuted point: a number with an interval, beside what the statement says of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from mipsim._content_seed import content_generator
from mipsim._printed import at_least, at_most, shown
from mipsim._validation import check_fields, number, real, score_vector
from mipsim._words import quoted
from mipsim.bands.clopper_pearson import clopper_pearson
from mipsim.referee.kinds import Limit, ceiling_of, rate_of
from mipsim.referee.statement import Statement
from mipsim.referee.values import Number, read
from mipsim.tradeoff.base import AbstractTradeOff

RISK = 1e-6
"""Failure probability of the interval of a replication that rests on draws."""
RATES = (1e-4, 1e-3, 3e-3, 0.01, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.99)
"""FPRs at which `Draws` compares powers; the failure probability is shared among them."""

APART = 1e-6
"""By how much a quantity that is claimed not to be 0 exceeds it, as statements write it."""
SCALES = {"log10 ": lambda x: 10.0**x, "Phi^-1 of the ": ndtr}
"""How a quantity on a scale begins, and what leads from the scale back to the quantity."""


@dataclass(frozen=True)
class Replication:
    """A quantity measured by other code than the judge's, with an interval that holds it.

    Attributes:
        value: the estimate.
        low, high: the ends of the interval. With draws it fails with a probability of at most `RISK`; else it holds the error of the method.
        what: the quantity, such as "power at FPR 0.05"; for a bound a larger number speaks for the attacker.
        how: the code and its numbers, such as "NumPy, 400,000 games a world, seed 0".
        claim: what the statement says of the quantity; NaN asks the statement's own claim.
        size: where a limit is measured, the size.
        one_sided: whether only an excess over the claim counts.

    Raises:
        ValueError: if the interval does not hold the value, or words are missing.

    Examples:
        >>> seen = Replication(0.17, 0.16, 0.18, "power at FPR 0.05", "NumPy, 400,000 games", claim=0.11)
        >>> seen.excludes, str(seen)
        (True, 'power at FPR 0.05: about 0.17, in [0.16, 0.18], the statement says 0.11 (NumPy, 400,000 games)')
        >>> Replication(0.0, 0.0, 0.05, "power at FPR 0.1", "NumPy, 100 games", claim=0.0).excludes
        False
    """

    value: float
    low: float
    high: float
    what: str
    how: str
    claim: float = math.nan
    size: int | None = None
    one_sided: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("value", "low", "high", "claim"):
            real(name, getattr(self, name))
        if self.size is not None:
            number("size", self.size, 0.0, low_open=True)
        if not self.low <= self.value <= self.high:
            raise ValueError(
                f"value is {self.value:g} in [{self.low:g}, {self.high:g}]; it must lie between low and high"
            )
        for name in ("what", "how"):
            if not getattr(self, name).strip():
                raise ValueError(f"{name} is empty; it must be words")

    @classmethod
    def failed(cls, why: str) -> Replication:
        """That of a route that raised an error: it excludes nothing.

        Examples:
            >>> Replication.failed("ValueError").excludes
            False
        """
        return cls(0.0, -math.inf, math.inf, "nothing", f"failed: {why}")

    @property
    def excludes(self) -> bool:
        """Whether the interval excludes what the statement says, on the side that counts."""
        return self.claim < self.low or (not self.one_sided and self.claim > self.high)

    def record(self) -> dict[str, Any]:
        """The replication as JSON holds it."""
        return vars(self) | {"excludes": self.excludes}

    def for_readers(self) -> tuple[str, str, str, str]:
        """(what, what is stated of it, what is true, ", in" its interval if it is wide), without the sign by which a larger number speaks for the
        attacker and on its own scale.

        "about" is an estimate, with as many digits as its interval bears out. The truth is 0 where rounding alone is left. What is claimed to be
        `APART` at least is claimed not to be 0.

        >>> Replication(-2e-16, -1e-9, 1e-9, "minus the distance", "NumPy", claim=-1e-6, one_sided=True).for_readers()
        ('the distance', 'above 0', '0', '')
        >>> Replication(-3.0, -3.0, -3.0, "log10 delta", "NumPy", claim=-5.0, one_sided=True).for_readers()
        ('delta', 'at most 1e-05', '0.001', '')
        >>> Replication(0.51234, 0.5, 0.53, "power", "games", claim=0.25).for_readers()
        ('power', '0.25', 'about 0.512', ', in [0.5, 0.53]')
        """
        what, claim, value, low, high = self.what, self.claim, self.value, self.low, self.high
        value = 0.0 if low <= 0.0 <= high and abs(value) < 1e-6 * abs(claim) else value
        limit = "at most " if self.one_sided else ""
        if what.startswith("minus "):
            claim, value, low, high = (0.0 - x for x in (claim, value, high, low))
            what, limit = what.removeprefix("minus "), limit.replace("most", "least")
        for prefix, back in SCALES.items():
            if what.startswith(prefix) and " over " not in what:
                what = what.removeprefix(prefix)
                claim, value, low, high = (float(back(x)) for x in (claim, value, low, high))
        stated = "above 0" if limit == "at least " and 0.0 < claim <= APART else f"{limit}{claim:.4g}"
        if math.isinf(high - low):
            return what, stated, at_least(low, 3) if math.isinf(high) else at_most(high, 3), ""
        wide = (high - low) / abs(value or 1.0)
        if wide < 1e-4:
            return what, stated, f"{value:.4g}", ""
        digits = min(4, max(1, 1 - math.floor(math.log10(wide))))
        return what, stated, f"about {value:.{digits}g}", f", in {shown((low, high), min(4, digits + 1))}"

    def __str__(self) -> str:
        seen = "" if self.excludes else "; NOT SEEN: the interval does not exclude it"
        what, stated, true, ends = self.for_readers()
        return f"{what}: {true}{ends}, the statement says {stated}{seen} ({self.how})"


@dataclass(frozen=True)
class Draws:
    """Scores of an attack sampled in both worlds by other code: a second route whose quantity the referee chooses.

    For a claimed curve it is the power at the FPR of `RATES` at which the sure gap is largest; for a claimed number, which must be an advantage
    or a delta, P(in) - e^epsilon P(out) of the event that the score exceeds a threshold chosen on other draws.

    Attributes:
        out, inside: scores, larger ones speak for membership, shape (games,) each.
        how: the code and its numbers.
        size: where a limit is measured, the size.
        epsilon: of a claimed delta; 0 for an advantage.

    Examples:
        >>> import mipsim as mi
        >>> rng = np.random.default_rng(0)
        >>> draws = Draws(rng.normal(size=10_000), rng.normal(size=10_000) + 2.0, "NumPy")
        >>> draws.against(mi.GaussianTradeOff(1.0), one_sided=True).excludes
        True
        >>> draws.against(mi.GaussianTradeOff(2.0), one_sided=True).excludes
        False
    """

    out: np.ndarray
    inside: np.ndarray
    how: str
    size: int | None = None
    epsilon: float = 0.0

    def __post_init__(self) -> None:
        for name in ("out", "inside"):
            object.__setattr__(self, name, score_vector(name, getattr(self, name)))
        check_fields(self)
        number("epsilon", self.epsilon, 0.0)
        if self.size is not None:
            number("size", self.size, 0.0, low_open=True)

    def against(self, claimed: AbstractTradeOff | Number, one_sided: bool, floor: float = 0.0) -> Replication:
        """Compare with what is claimed.

        Args:
            claimed: a trade-off curve, or an advantage or delta.
            one_sided: whether only an excess counts.
            floor: of a curve, error rates from here to 1 minus this are compared.
        """
        if isinstance(claimed, Number):
            return self._event(claimed.value)
        rows = [
            replace(self.power(rate), claim=float(claimed.tpr_at(rate)), one_sided=one_sided)
            for rate in RATES
            if floor <= rate <= 1.0 - floor
        ]

        def clear(row: Replication) -> float:
            return row.low - row.claim if one_sided else max(row.low - row.claim, row.claim - row.high)

        return max(rows, key=clear)

    def power(self, alpha: float) -> Replication:
        """The power at an FPR: its interval holds that of the threshold test, ties split by a coin.

        Order statistics of the scores out hold the threshold of that FPR; Clopper and Pearson hold the powers at both.
        """
        risk = RISK / (8 * len(RATES))
        ranked, inside = self._ranked
        least = int(binom.ppf(risk, ranked.size, alpha))
        most = int(binom.isf(risk, ranked.size, alpha)) + 1
        low = (
            share(inside.size - np.searchsorted(inside, ranked[least - 1], "right"), inside.size, risk)[1]
            if least
            else 0.0
        )
        high = (
            share(inside.size - np.searchsorted(inside, ranked[most - 1]), inside.size, risk)[2]
            if most <= ranked.size
            else 1.0
        )
        middle = ranked[min(max(round(alpha * ranked.size) - 1, 0), ranked.size - 1)]
        value = float(np.clip((inside > middle).mean(), low, high))
        return Replication(value, low, high, f"power at FPR {alpha:g}", self.how, size=self.size)

    def probit(self, alpha: float, unit: float = 1.0, missed: bool = False) -> Replication:
        """Phi^-1 of the power (or of the FNR) at an FPR, over a unit.

        Examples:
            >>> draws = Draws(np.arange(10_000.0), np.arange(10_000.0), "NumPy")
            >>> round(draws.probit(0.5).value, 2)
            0.0
        """
        seen = self.power(alpha)
        ends = [float(ndtri(x)) / unit for x in (seen.value, seen.low, seen.high)]
        if missed:
            ends = [-ends[0], -ends[2], -ends[1]]
        of = "FNR" if missed else "power"
        scale = "" if unit == 1.0 else f" over {unit:.3g}"
        return Replication(
            *ends, what=f"Phi^-1 of the {of} at FPR {alpha:.4g}{scale}", how=self.how, size=self.size
        )

    @cached_property
    def _ranked(self) -> tuple[np.ndarray, np.ndarray]:
        """(falling scores out, rising scores in) in the same order as the scores, with ties split by lot."""
        _, place = np.unique(np.concatenate([self.out, self.inside]), return_inverse=True)
        # A seed of its own: the scores may themselves come from `default_rng(0)`, and depend on its numbers.
        lots = place.ravel() + content_generator("ties", self.out, self.inside).random(place.size)
        return np.sort(lots[: self.out.size])[::-1], np.sort(lots[self.out.size :])

    def _event(self, claim: float) -> Replication:
        factor = math.exp(self.epsilon)
        first, second = slice(None, None, 2), slice(1, None, 2)
        ranked = np.sort(np.concatenate([self.out[first], self.inside[first]]))
        levels = np.unique(ranked[np.linspace(0, ranked.size - 2, 400).astype(int)])
        gains = [(self.inside[first] > x).mean() - factor * (self.out[first] > x).mean() for x in levels]
        level = levels[int(np.argmax(gains))]
        caught = share((self.inside[second] > level).sum(), self.inside[second].size, RISK / 4)
        wrong = share((self.out[second] > level).sum(), self.out[second].size, RISK / 4)
        what = "P(in) - P(out)" if self.epsilon == 0.0 else f"P(in) - e^{self.epsilon:g} P(out)"
        ends = [caught[0] - factor * wrong[0], caught[1] - factor * wrong[2], caught[2] - factor * wrong[1]]
        return Replication(
            *ends, what=f"{what} of an event", how=self.how, claim=claim, size=self.size, one_sided=True
        )


def share(hits: float, games: int, risk: float = RISK / 2) -> tuple[float, float, float]:
    """(share, low, high): a `clopper_pearson` interval.
    `hits`: how often it happened; `games`: in how many draws; `risk`: failure probability of each end, below 1/2.
    """
    low, high = clopper_pearson([hits], games, 2.0 * risk)
    return float(hits) / games, float(low[0]), float(high[0])


def replicate(statement: Statement, at: Mapping[str, Any]) -> Replication:
    """Ask the second route at a point, and the statement what it claims of that quantity.
    `statement`: with a `second_route`; `at`: a point of its domain. Raises ValueError if the second route returns neither
    a `Replication` nor `Draws`.
    """
    kind = statement.kind
    at = {name: at[name] for name in statement.free}  # a limit's result holds its sizes too
    result = statement.call("second_route", at)
    if not isinstance(result, (Replication, Draws)):
        raise ValueError(f"second_route returned {quoted(result)}; it must return a Replication or Draws")
    if isinstance(result, Replication) and not math.isnan(result.claim):
        return replace(result, one_sided=result.one_sided or kind.one_sided)
    claimed = read("claimed", _claimed(statement, at, result.size))
    if isinstance(result, Draws):
        return result.against(claimed, kind.one_sided, kind.floor)  # pyright: ignore[reportArgumentType]
    if not isinstance(claimed, Number):
        raise ValueError(
            "claim is NaN and the claimed value no number; the second route must say what is claimed"
        )
    return replace(result, claim=claimed.value, one_sided=result.one_sided or kind.one_sided)


def _claimed(statement: Statement, at: Mapping[str, Any], size: int | None) -> Any:
    """What is claimed at a point; of a limit what the claim tends to, where a theorem gives it, and else the claim at the size that was measured."""
    kind = statement.kind
    if not isinstance(kind, Limit):
        return statement.call("claimed", at)
    for theorem in (ceiling_of(kind, at), rate_of(kind, at)):
        if theorem is not None and theorem.claimed is not None:
            return theorem.claimed
    return statement.call("claimed", dict(at) if size is None else {**at, kind.grows: size})
