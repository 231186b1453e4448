"""Canaries of one training run, each put in by a fair coin: guesses about them, and what so many right ones refute."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr

from mipsim._validation import whole
from mipsim.audits.scores import Scores
from mipsim.bands.family_bound import least_beta
from mipsim.theory.one_run import epsilon_bound, mu_bound, refuses_curve
from mipsim.tradeoff.base import AbstractTradeOff

LEAST_GUESSES = 16
"""Fewer guesses, all of them right, are no surprise by chance at the usual failure probabilities."""
_ROUNDING = (
    1e-9  # share of the failure probability kept back: both tests then refuse by far more than float64 rounds
)
_LAST_DIGITS = 1e-15  # by which a promised curve may have been rounded up between two points of a table
_UNFAIR = 1e-9  # coins as lopsided as this were not fair
_SEED = 20_260_102  # any fixed number: the order of equal scores then depends on the number of canaries alone


@dataclass(frozen=True)
class Guesses:
    """Guesses about some of the canaries.

    Attributes:
        inside: how many of the highest scores are guessed "in".
        outside: how many of the lowest are guessed "out".
        right: how many of these guesses are right.
    """

    inside: int
    outside: int
    right: int

    @property
    def number(self) -> int:
        """How many guesses there are."""
        return self.inside + self.outside


def guess_plan(canaries: int) -> list[tuple[int, int]]:
    """The numbers of guesses ("in", "out") that are tried, fixed by the number of canaries alone.

    All, half, a quarter and so on of the canaries, down to 16: by halves at both ends of the order, and "in" alone.

    Examples:
        >>> guess_plan(100)
        [(50, 50), (25, 25), (50, 0), (12, 12), (25, 0)]
    """
    plan, total = [], canaries
    while total >= LEAST_GUESSES:
        plan.append((total // 2, total // 2))
        if total < canaries:
            plan.append((total, 0))
        total //= 2
    return plan


class OneRun:
    """What guesses about the canaries of one run show; every number of guesses has an equal share of the failure probability.

    Theorem (Steinke et al. 2023, theorem 5.2; Mahloujifar et al. 2025). Let fair coins decide which canaries are in the training
    set, and let the order of the scores be a function of what the training released and of the canaries, not of the coins. So many
    right guesses about so many canaries have, under the guarantee, at most the probability that is computed here. Numbers of guesses
    that were fixed beforehand are K tests, each at a K-th of the failure probability (Bonferroni).

    Equal scores are ordered by a permutation with a fixed seed, which knows nothing of the coins.

    Args:
        scores: of canaries, with their coins as `member`.
        risk: failure probability of each bound, in (0, 1).
        guesses: the one pair ("in", "out") to judge, fixed before the scores; None tries `guess_plan`.

    Raises:
        ValueError: if the coins were not fair, or there are more guesses than canaries.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> coins = rng.random(2000) < 0.5
        >>> found = OneRun(Scores.of(rng.normal(size=2000) + 2.0 * coins, coins), 0.05)
        >>> round(found.mu(), 1), round(found.epsilon(1e-5), 1), len(found.guesses)
        (1.2, 3.6, 13)
    """

    def __init__(self, scores: Scores, risk: float, guesses: tuple[int, int] | None = None) -> None:
        n, inside = scores.values.size, int(scores.member.sum())
        if 2.0 * bdtr(min(inside, n - inside), n, 0.5) < _UNFAIR:
            raise ValueError(
                f"{inside:,} of {n:,} canaries are in; fair coins would hardly give that, and design one-run needs a fair coin for each"
            )
        plan = guess_plan(n) if guesses is None else [_pair(guesses, n)]
        shuffled = np.random.default_rng([_SEED, n]).permutation(n)
        order = shuffled[np.argsort(-scores.values[shuffled], kind="stable")]
        found = np.concatenate(
            [[0], np.cumsum(scores.member[order])]
        )  # members among the highest 0, 1, 2, ...
        self.canaries, self.risk = n, (1.0 - _ROUNDING) * risk / len(plan)
        self.guesses = [
            Guesses(high, low, int(found[high] + low - (inside - found[n - low]))) for high, low in plan
        ]

    def epsilon(self, delta: float) -> float:
        """No (epsilon, delta)-DP for any epsilon below this, >= 0."""
        best = 0.0
        for one in self.guesses:
            best = epsilon_bound(self.canaries, one.number, one.right, delta, self.risk, best)
        return best

    def mu(self) -> float:
        """No mu-GDP for any mu below this, >= 0."""
        best = 0.0
        for one in self.guesses:
            best = mu_bound(self.canaries, one.number, one.right, self.risk, best)
        return best

    def refutes(self, claim: AbstractTradeOff) -> bool:
        """Whether some number of guesses is right too often for a promised curve, of which its symmetric part is felt here."""
        both = (
            claim.symmetrized()
        )  # coins exchange the worlds: what is promised in one direction bounds the other by its inverse

        def fpr_at(tpr: float) -> float:  # rounded down, which refutes less
            alpha = min(float(np.nextafter(1.0 - tpr, np.inf)), 1.0)
            return max(float(least_beta(both, alpha)) - _LAST_DIGITS, 0.0)

        return any(
            refuses_curve(self.canaries, one.number, one.right, fpr_at, self.risk) for one in self.guesses
        )


def _pair(guesses: object, canaries: int) -> tuple[int, int]:
    if not isinstance(guesses, (tuple, list)) or len(guesses) != 2:
        raise ValueError(f'guesses is {guesses!r}; it must be a pair, how many "in" and how many "out"')
    inside, outside = (whole(f"guesses[{i}]", value, 0) for i, value in enumerate(guesses))
    if not 1 <= inside + outside <= canaries:
        raise ValueError(
            f"guesses is {(inside, outside)}; together they must be from 1 to the {canaries:,} canaries"
        )
    return inside, outside
