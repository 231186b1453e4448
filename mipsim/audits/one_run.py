"""Canaries of a single training run, each put in by a fair coin: guesses about them, and what so many right guesses refute."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, gammaln, xlog1py, xlogy

from mipsim._budget import check_budget, spent, warn_of_end
from mipsim._content_seed import content_generator
from mipsim._validation import whole
from mipsim._words import quoted
from mipsim.audits.scores import LEAST_SCORES, Scores
from mipsim.bands.family_bound import TabulatedCurve, quickly
from mipsim.theory.one_run import (
    largest_refused,
    least_tail,
    mu_bound,
    of_two_records,
    refuses_curve,
    refuses_epsilon,
    refuses_order,
)
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.compose import compose

LEAST_GUESSES = 16
"""Fewer guesses, all of them right, are no surprise by chance at the usual failure probabilities."""
# share of the failure probability held back: both tests then refuse by far more than float64 rounds
_ROUNDING = 1e-9
_LAST_DIGITS = 1e-15  # by which a promised curve may have been rounded up between two points of a table
DOUBTFUL_COINS = 1e-3
"""A p-value of the coins from which an audit warns, or refuses where nobody stated that they were fair."""
_IMPOSSIBLE_COINS = 1e-9  # from which it refuses always
_BOTH_ENDS = 0.75  # share of the failure probability of guesses at both ends, where "in" alone is guessed too
_MOST = 700.0  # an epsilon whose exponential is finite


@dataclass(frozen=True)
class Exchange:
    """What distinguishes the two values of a guessed coin; a guarantee is that of a single record in a single run."""

    records: int = 1  # 1, or 2 where a record comes and another goes
    runs: int = 1  # 1, or 2 where the opposite happens in another run

    @property
    def turns(self) -> int:
        """How many times the epsilon of a guarantee bounds the loss."""
        return self.records * self.runs

    @property
    def words(self) -> str:
        """What is guessed about.
        >>> Exchange().words, Exchange(records=2).words
        ('canaries', 'pairs of a record in a run and a record out of it')
        """
        return {
            (1, 1): "canaries",
            (1, 2): "pairs of a run with a record and a run without",
            (2, 1): "pairs of a record in a run and a record out of it",
            (2, 2): "pairs of records that can change places in two runs",
        }[self.records, self.runs]


SINGLE = Exchange()


@dataclass(frozen=True)
class Guesses:
    """Guesses about some of the canaries."""

    inside: int  # how many of the highest scores are guessed "in"
    outside: int  # how many of the lowest are guessed "out"
    right: int  # how many of these guesses are right

    @property
    def number(self) -> int:
        """How many guesses there are."""
        return self.inside + self.outside


def guess_plan(canaries: int) -> list[tuple[int, int]]:
    """The numbers of guesses ("in", "out") that are tried, falling, fixed by the number of canaries alone.

    All, half, a quarter and so on of the canaries, down to 16: by halves at both ends of the order, and "in" alone.
    """
    plan, total = [], canaries
    while total >= LEAST_GUESSES:
        plan.append((total // 2, total // 2))
        if total < canaries:
            plan.append((total, 0))
        total //= 2
    return plan


def tie_free_split(values: np.ndarray, number: int, within: tuple[int, int] | None = None) -> tuple[int, int]:
    """Split a number of guesses into ("in", "out"), nearest to halves among the splits that separate the fewest equal scores.
    `values`: the scores, falling, shape (n,); `number`: of guesses, from 0 to n; `within`: a split of more guesses that has these among its own.
    """
    n, (inside, outside) = values.size, within or (number, number)
    high = np.arange(max(number - outside, 0), min(number, inside) + 1)
    low_at = n - number + high  # where the guesses "out" begin
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1], [True]]))
    # Guesses "in" and "out" about a score that is separated.
    above = high - starts[np.searchsorted(starts, high, side="right") - 1]
    below = starts[np.searchsorted(starts, low_at, side="left")] - low_at
    best = int(np.lexsort((abs(2 * high - number), above + below))[0])
    return best, number - best


def _orders(values: np.ndarray) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """(Guesses at both ends, guesses "in" alone) of the plan, rising; the fewer are among the more."""
    ends, alone, within = [], [], None
    for high, low in guess_plan(values.size):
        if low:
            within = tie_free_split(values, high + low, within)
            ends.insert(0, within)
        else:
            alone.insert(0, (high, low))
    return ends, alone


def _on_grid(epsilon: float) -> float:
    """Rounded down to a number of ten binary digits.
    >>> _on_grid(1.0), _on_grid(3.141592653589793), _next_on_grid(3.140625)
    (1.0, 3.140625, 3.14453125)
    """
    return math.floor(epsilon / _step(epsilon)) * _step(epsilon)


def _next_on_grid(epsilon: float) -> float:
    return epsilon + _step(epsilon)


def _step(epsilon: float) -> float:
    return 2.0 ** (max(math.frexp(epsilon)[1], -1) - 10)


def _check_coins(member: np.ndarray, probability: float, stated: bool) -> float:
    """The exact two-sided p-value of the number of canaries that are in, twice the smaller tail."""
    n, inside = member.size, int(member.sum())
    # Not by `bdtr`: SciPy's is off by 0.3% at 10^7 trials and by a fifth at 10^8.
    fewer = float(betainc(n - inside, inside + 1, 1.0 - probability)) if inside < n else 1.0
    more = float(betainc(inside, n - inside + 1, probability)) if inside else 1.0
    p_value = min(1.0, 2.0 * min(fewer, more))
    fair = "fair coins" if probability == 0.5 else f"coins with inclusion_probability={probability:g}"
    seen = (
        f"{inside:,} of {n:,} canaries are in; {fair} give a number as far off with probability {p_value:.2g}"
    )
    if p_value < (_IMPOSSIBLE_COINS if stated else DOUBTFUL_COINS):
        raise ValueError(
            f"{seen}, which speaks against such coins: give inclusion_probability=, as it was set before the run"
        )
    if p_value <= DOUBTFUL_COINS:
        warnings.warn(
            f"{seen}; the bounds hold for such coins alone, see inclusion_probability", stacklevel=5
        )
    return p_value


def chance_of_the_nearest_number(member: np.ndarray, probability: float) -> float:
    """The probability of the number of canaries that are in, where it is a nearest whole number to the expected one; else 1. See `OneRun`.
    >>> round(chance_of_the_nearest_number(np.arange(100) < 50, 0.5), 4), chance_of_the_nearest_number(np.arange(100) < 51, 0.5)
    (0.0796, 1.0)
    """
    n, k = member.size, int(member.sum())
    if abs(k - n * probability) > 1.0 - 1e-9:
        return 1.0
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    log = ways + xlogy(k, probability) + xlog1py(n - k, -probability)
    return float(np.exp(log)) * (1.0 - _ROUNDING)


def _as_by_fair_coins(values: np.ndarray, member: np.ndarray, probability: float) -> np.ndarray:
    """Which canaries remain, so that their coins are fair, shape (n,); see `OneRun`."""
    if probability == 0.5:
        return np.ones(member.size, dtype=bool)
    likelier = max(probability, 1.0 - probability)
    sample = content_generator("canaries as by fair coins", values, member).random(member.size)
    return (member != (probability > 0.5)) | (sample >= (2.0 * likelier - 1.0) / likelier)


class OneRun:
    """What guesses about the canaries of a single run show; every number of guesses has an equal share of the failure probability.

    Theorem (Mahloujifar et al. 2025, for every trade-off curve; its setting is that of Steinke et al. 2023). Let fair coins decide which canaries are in the training
    set, and let the guesses be a function of what the training released and of the canaries, not of the coins. So many right
    guesses, of a number fixed beforehand, have under the guarantee at most the probability that is computed here. K numbers of
    guesses are K tests, each at a K-th of the failure probability (Bonferroni).

    Equal scores are ordered against the claim: where only some of them are guessed about, the wrong guesses come first.
    Proof. For every order of the canaries that knows nothing of the coins, such as that of their names, the theorem bounds the
    probability of so many right guesses. The number counted here is the least over all orders of equal scores, so it is never
    larger. It depends on the scores and coins alone, not on the order of rows.

    `tie_free_split` says how many guesses are "in" by the scores alone, so that few equal scores are separated.

    Coins that are independent, but not fair: let each canary be in with probability q. If q > 1/2, each canary that is in is
    dropped from the audit with probability (2q - 1) / q; if q < 1/2, each that is out with probability (1 - 2q) / (1 - q).
    Theorem. The coins of the others are fair and independent, and the theorem above holds for them.
    Proof, for q > 1/2. A canary is in and remains with probability q (1 - q) / q = 1 - q, which is that of out: given that it remains
    its coin is fair, independently of other canaries. Given which canaries are dropped, these are all in, and the training is a
    mechanism of the remaining coins with the same guarantee, since a guarantee holds for all other records. The drops are
    independent of the scores given the coins, by `mipsim._content_seed.content_generator`.

    A fixed number of canaries, such as exactly half of them, is not decided by independent coins. Where the number is a nearest whole number to
    n q, both are possible, and the failure probability r is taken times the chance B that independent coins give this number.
    Theorem. Let the canaries that are in be any set of this size, with equal probability. A bound at r B is wrong with probability r at most.
    Proof. They are distributed as independent coins given their number. With these it is wrong with probability r B, so that given
    an event of probability B it is wrong with probability r B / B at most. For independent coins a smaller failure probability refutes less.

    Args:
        scores: of canaries, with their coins as `member`.
        risk: failure probability of each bound, in (0, 1).
        guesses: the only pair ("in", "out") to judge, fixed before the scores; None tries `guess_plan`.
        inclusion_probability: q, the probability that a canary is in, in (0, 1), fixed before the coins.
        stated: whether somebody stated it; what is only assumed is refused sooner.
        exchange: what each canary is, see `mipsim.audits.runs.judged_canaries`; guarantees are those of a single record in a single run.

    Raises:
        ValueError: if such coins hardly give so many canaries that are in, fewer than 100 canaries remain, or there are more
            guesses than canaries.
    """

    def __init__(
        self,
        scores: Scores,
        risk: float,
        guesses: tuple[int, int] | None = None,
        inclusion_probability: float = 0.5,
        *,
        exchange: Exchange = SINGLE,
        stated: bool = True,
    ) -> None:
        # Against the claim: "out" first among equal scores.
        order = np.lexsort((scores.member, -scores.values))
        values, member = scores.values[order], scores.member[order]
        self.coin_p_value, self.chance = None, 1.0
        if exchange == SINGLE:  # else the audit itself drew which way an exchange is shown
            self.coin_p_value = _check_coins(member, inclusion_probability, stated)
            self.chance = chance_of_the_nearest_number(member, inclusion_probability)
        remains = _as_by_fair_coins(values, member, inclusion_probability)
        values, member = values[remains], member[remains]
        n, inside = member.size, int(member.sum())
        if n < LEAST_SCORES and exchange == SINGLE:
            raise ValueError(
                f"inclusion_probability is {inclusion_probability:g}; as if by fair coins {n} of {order.size:,} canaries remain, and "
                f"an audit needs {LEAST_SCORES}"
            )
        ends, alone = ([_pair(guesses, n)], []) if guesses is not None else _orders(values)
        result = np.concatenate([[0], np.cumsum(member)])  # members among the highest 0, 1, 2, ...
        self.canaries, self.exchange = n, exchange
        self.whole_risk = (1.0 - _ROUNDING) * risk * self.chance
        self.risk = self.whole_risk / (len(ends) + len(alone))
        self.deciding: dict[str, Guesses] = {}  # those behind the bounds that were computed
        self.orders = [
            [Guesses(high, low, int(result[high] + low - (inside - result[n - low]))) for high, low in plan]
            for plan in (ends, alone)
            if plan
        ]
        self.guesses = [item for order in self.orders for item in order]

    def epsilon(self, delta: float) -> float:
        """No (epsilon, delta)-DP for any epsilon below this, >= 0.

        By the curve of (epsilon, delta)-DP for each number of guesses: a smaller epsilon has a higher curve, so that it is refuted as well. From the
        epsilon on where delta costs at most half of the failure probability, all numbers of an order are judged together, by
        `mipsim.theory.one_run.refuses_order`.
        """
        start = self._judged_together(delta)
        best = 0.0 if start == 0.0 else self._epsilon_by_curve(delta)
        return self._epsilon_of_orders(start, delta) if best >= start else best

    def _epsilon_by_curve(self, delta: float) -> float:
        how = {"records": self.exchange.records, "runs": self.exchange.runs}
        return self._bound(
            "epsilon",
            lambda counts, least: largest_refused(
                lambda epsilon: refuses_epsilon(*counts, epsilon, delta, self.risk, **how),
                least,
                _MOST / self.exchange.turns,
            ),
        )

    def _left(self, epsilon: float, delta: float) -> float:
        """What delta leaves of the failure probability of `refuses_order`; it grows with epsilon."""
        each = of_two_records(epsilon, delta)[1] if self.exchange.records == 2 else delta
        away = self.canaries * self.exchange.runs * each
        return self.whole_risk - away / (1.0 + math.exp(self.exchange.turns * epsilon))

    def _judged_together(self, delta: float) -> float:
        """The least value of the grid at which delta leaves half of the failure probability."""
        lacks = largest_refused(
            lambda epsilon: self._left(epsilon, delta) < 0.5 * self.whole_risk,
            0.0,
            _MOST / self.exchange.turns,
        )
        return 0.0 if lacks == 0.0 else _next_on_grid(_on_grid(lacks + 1e-6))

    def _epsilon_of_orders(self, start: float, delta: float) -> float:
        """The largest value of a grid such that it and all smaller ones are refused, those below `start` by the curve.

        Theorem. It exceeds the epsilon of the mechanism with the stated probability at most. Proof. If it does, then the least value of the grid
        that is not below this epsilon is refused. The mechanism is (epsilon, delta)-DP there too, so that a single test fails, which no score chose.
        """
        turns = self.exchange.turns
        shares = (1.0,) if len(self.orders) == 1 else (_BOTH_ENDS, 1.0 - _BOTH_ENDS)
        orders = [([item.number for item in order], [item.right for item in order]) for order in self.orders]

        def surely(epsilon: float) -> bool:
            """By a sum of tails, which bounds the probability of the test and grows with epsilon."""
            left = self._left(start, delta)
            return any(
                len(order[0]) * least_tail(*order, turns * epsilon) <= share * left
                for share, order in zip(shares, orders, strict=True)
            )

        def refused(epsilon: float) -> bool:
            left = self._left(epsilon, delta)
            return any(
                refuses_order(*order, turns * epsilon, share * left)
                for share, order in zip(shares, orders, strict=True)
            )

        best = _on_grid(largest_refused(surely, start, _MOST / turns))
        if best == start > 0.0 and not refused(start):
            return start - _step(start)
        while (epsilon := _next_on_grid(best)) <= _MOST / turns and refused(epsilon):
            best = epsilon
            if spent():
                warn_of_end(f"the bound of epsilon is at least {best:g}", "it holds, and may be larger")
                break
        if best > 0.0:
            self.deciding["epsilon"] = min(
                self.guesses, key=lambda item: least_tail([item.number], [item.right], turns * best)
            )
        return best

    def mu(self) -> float:
        """No mu-GDP for any mu below this, >= 0."""
        best = self._bound("mu", lambda counts, least: mu_bound(*counts, self.risk, least))
        # Two steps between neighbours have 2 mu; G_mu (x) G_mu is G of sqrt(2) mu.
        several = self.exchange.records * self.exchange.runs**0.5
        return best if several == 1.0 else best / several * (1.0 - 1e-15)

    def _bound(self, name: str, above: Callable[[tuple[int, int, int], float], float]) -> float:
        """The largest bound that any number of guesses shows, each above that of those before; its guesses decide."""
        best = 0.0
        for done, item in enumerate(self.guesses):
            if spent():
                what = f"the bound of {name} is of {done} of {len(self.guesses)} numbers of guesses"
                warn_of_end(what, "it holds, and may be larger")
                break
            if (bound := above((self.canaries, item.number, item.right), best)) > best:
                best, self.deciding[name] = bound, item
        return best

    def refutes(self, claim: AbstractTradeOff) -> bool:
        """Whether some number of guesses is right too often for a promised curve, of which its symmetric part is felt here."""
        # Coins exchange the worlds: a promise in a single direction bounds the other by its inverse.
        both = quickly(claim.symmetrized())
        if self.exchange.runs == 2:
            polygon = both.polygon() if isinstance(both, TabulatedCurve) else both
            both = quickly(compose(polygon, copies=2))

        def fpr_at(tpr: float) -> float:  # rounded down, which refutes less
            check_budget()
            fpr = tpr
            for _ in range(self.exchange.records):  # f(1 - f) for two steps between neighbours
                alpha = min(float(np.nextafter(1.0 - fpr, np.inf)), 1.0)
                fpr = max(float(both.beta(alpha)) - _LAST_DIGITS, 0.0)
            return fpr

        return any(
            refuses_curve(self.canaries, item.number, item.right, fpr_at, self.risk) for item in self.guesses
        )


def _pair(guesses: object, canaries: int) -> tuple[int, int]:
    if not isinstance(guesses, (tuple, list)) or len(guesses) != 2:
        raise ValueError(f'guesses is {quoted(guesses)}; it must be a pair, how many "in" and how many "out"')
    inside, outside = (whole(f"guesses[{i}]", value, 0) for i, value in enumerate(guesses))
    if not 1 <= inside + outside <= canaries:
        raise ValueError(
            f"guesses is {quoted((inside, outside))}; together they must be from 1 to the {canaries:,} canaries"
        )
    return inside, outside
