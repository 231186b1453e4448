"""Audits in a single training run: how many right guesses about canaries a privacy guarantee allows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import betainc, betaincc, ndtr, ndtri

from mipsim._validation import member, number, sizes, whole
from mipsim._words import quoted

_STEP = 1e-9  # of the bounds
_LAST_DIGITS = 1e-15  # by which rounding may raise an FPR


def _check(canaries: int, guesses: int, right: int, **probabilities: float) -> None:
    whole("right", right, 0, whole("guesses", guesses, 0, whole("canaries", canaries, 1, 2**53)))
    for name, value in probabilities.items():
        number(name, value, 0.0, 1.0)


def p_value(canaries: int, guesses: int, right: int, epsilon: float, delta: float) -> float:
    """The largest probability of so many right guesses under (epsilon, delta)-DP.

    Args:
        canaries: each in the training set or not by a fair coin.
        guesses: how many of them the auditor guesses about.
        right: how many of the guesses are right.
        epsilon: of the null hypothesis.
        delta: of the null hypothesis.

    Source: Steinke, Nasr, Jagielski (2023), theorem 5.2.

    Examples:
        >>> p_value(100, 10, 10, 0.0, 0.0) == 2.0**-10
        True
    """
    _check(canaries, guesses, right, delta=delta)
    number("epsilon", epsilon, -700.0)
    chance = 1.0 / (1.0 + math.exp(-epsilon))
    fewer = np.arange(right - 1, -1, -1)
    # P(fewer than right), then with 1 less each
    below = np.append(betaincc(fewer + 1.0, guesses - fewer, chance), 0.0)
    steps = (below[0] - below[1:]) / np.arange(1, right + 1)
    worst = float(steps.max(initial=0.0))
    return min(_tail(guesses, right, chance) + 2.0 * canaries * delta * worst, 1.0)


def refuses_gdp(canaries: int, guesses: int, right: int, mu: float, significance: float) -> bool:
    """Whether so many right guesses are too many for mu-GDP; see `refuses_curve`.

    Examples:
        >>> refuses_gdp(1000, 100, 99, 1.0, 0.05), refuses_gdp(1000, 100, 60, 1.0, 0.05)
        (True, False)
    """
    distance = number("mu", mu)
    return refuses_curve(
        canaries, guesses, right, lambda tpr: float(ndtr(ndtri(tpr) - distance)), significance
    )


def refuses_curve(
    canaries: int, guesses: int, right: int, fpr_at: Callable[[float], float], significance: float
) -> bool:
    """Whether so many right guesses are too many for a trade-off function that holds in both directions.

    Args:
        canaries: each in the training set or not by a fair coin.
        guesses: how many of them the auditor guesses about, always as many.
        right: how many of the guesses are right.
        fpr_at: the least FPR at which the curve allows a TPR, f^-1(1 - TPR), for a TPR in (0, 1].
        significance: in (0, 1).

    Source: Mahloujifar, Melis, Chaudhuri (2025), algorithm for f-DP with a fair coin for each canary.

    Examples:
        >>> refuses_curve(1000, 100, 99, lambda tpr: tpr / 3.0, 0.05)  # epsilon = log 3, as far as it is felt here
        True
    """
    _check(canaries, guesses, right, significance=significance)
    member("fpr_at", fpr_at, Callable, "a function of a TPR")
    r, h = significance * right / canaries, significance * (guesses - right) / canaries
    for i in range(right - 1, -1, -1):
        higher = max(h, fpr_at(r))
        if higher == h:
            break
        r, h = min(r + i / (guesses - i) * (higher - h), 1.0), higher
        if r + h > guesses / canaries:  # both only grow
            return True
    return r + h > guesses / canaries


def refuses_epsilon(
    canaries: int,
    guesses: int,
    right: int,
    epsilon: float,
    delta: float,
    significance: float,
    *,
    records: int = 1,
    runs: int = 1,
) -> bool:
    """Whether so many right guesses are too many for (epsilon, delta)-DP, by its curve; see `refuses_curve`.

    At delta = 0 it refuses hardly less than `p_value` does. Unlike that, it does not pay 2 canaries delta.

    Args:
        canaries: as in `refuses_curve`.
        guesses: the same.
        right: the same.
        epsilon: of the guarantee, at least 0, times records and runs at most 700.
        delta: of the guarantee, in [0, 1].
        significance: in (0, 1).
        records: 2 if each canary is a record that comes and another that goes: two steps between neighbours.
        runs: 2 if each canary is in two runs, "in" in the first and "out" in the second, or the reverse: the curve is that of two such mechanisms.

    Source: Kairouz, Oh, Viswanath (2015), theorem 3.3, for the composition of two; Vadhan (2017), lemma 2.2, for two steps.

    Examples:
        >>> refuses_epsilon(1000, 500, 500, 3.0, 1e-5, 1e-4), p_value(1000, 500, 500, 3.0, 1e-5) < 1e-4
        (True, False)
        >>> [refuses_epsilon(1000, 500, 480, 2.0, 0.0, 0.05, records=k) for k in (1, 2)]
        [True, False]
    """
    _check(canaries, guesses, right, delta=delta)
    number("epsilon", epsilon, 0.0)
    if whole("records", records, 1, 2) == 2:
        epsilon, delta = of_two_records(epsilon, delta)
    lines = [(math.exp(epsilon), delta)]
    # The losses of two are 2 epsilon, 0 and -2 epsilon; either delta gives all away.
    if whole("runs", runs, 1, 2) == 2:
        product = (1.0 - delta) ** 2
        lines = [
            (math.exp(2.0 * epsilon), 1.0 - product),
            (1.0, 1.0 - product * (1.0 - math.tanh(0.5 * epsilon))),
        ]

    def fpr_at(tpr: float) -> float:  # rounded down, which refutes less
        least = (max(1.0 - d - ratio * (1.0 - tpr), (tpr - d) / ratio) for ratio, d in lines)
        return max(*least, _LAST_DIGITS) - _LAST_DIGITS

    return refuses_curve(canaries, guesses, right, fpr_at, significance)


def of_two_records(epsilon: float, delta: float) -> tuple[float, float]:
    """The (epsilon, delta) of two steps between neighbours. Source: Vadhan (2017), lemma 2.2.

    Args:
        epsilon: of a single step, in [0, 700].
        delta: of a single step, in [0, 1].

    Examples:
        >>> of_two_records(0.0, 0.25)
        (0.0, 0.5)
    """
    number("epsilon", epsilon, 0.0, 700.0)
    number("delta", delta, 0.0, 1.0)
    return 2.0 * epsilon, min(delta * (1.0 + math.exp(epsilon)), 1.0)


def refuses_order(guesses: Sequence[int], right: Sequence[int], epsilon: float, significance: float) -> bool:
    """Whether so many right guesses among the first of an order, for several numbers of guesses at once, are too many for epsilon-DP.

    The order of the canaries, and what is guessed about each, are functions of the release. Unlike separate tests, each at its share of
    the failure probability, this one takes into account how the numbers of right guesses hang together.

    Theorem. Let p = 1 / (1 + e^-epsilon). Under epsilon-DP the probability that right guesses are in a set E, closed under more right guesses, is
    at most that of independent guesses, each right with probability p. Under (epsilon, delta)-DP it is at most that plus canaries delta / (1 + e^epsilon).
    Proof. Given the release w and the coins before the canary in the order of w, let a and b be the densities of w under the coin that is guessed
    and under the other, the coins behind averaged. Its guess is right with probability q = a / (a + b), whatever came before. So it is
    right only where a coin B of probability p shows heads, independently of all before, or else a coin M of probability
    (q - p)_+ / (1 - p) does. Right guesses in E then have B in E, or some M but not its B, which has probability E(q - p)_+ for
    a canary. As w has density (a + b) / 2 and p = e^epsilon (1 - p), this is (1 - p) / 2 times the sum over releases of (a - e^epsilon b)_+.
    It grows if the coins behind are not averaged (Jensen), and then is at most delta for either guess: (1 - p) delta together.

    The test refuses where the least binomial tail of the numbers of right guesses is too small for its distribution under p, which is computed by convolution.

    Args:
        guesses: increasing numbers of guesses, each about the first of the order.
        right: how many are right of each.
        epsilon: of the guarantee, at least 0.
        significance: in (0, 1).

    Examples:
        >>> refuses_order([16, 64], [16, 50], 1.0, 0.05), refuses_order([16, 64], [12, 50], 1.0, 0.05)
        (True, False)
    """
    number("significance", significance, 0.0, 1.0)
    least = least_tail(guesses, right, epsilon)
    if any(b <= a for a, b in itertools.pairwise(guesses)):
        raise ValueError(f"guesses is {quoted(guesses)}; it must hold increasing numbers")
    p = 1.0 / (1.0 + math.exp(-epsilon))
    if least > significance or least * len(guesses) <= significance:  # bounds of the probability below
        return least <= significance
    alive, first, done, reached = np.ones(1), 0, 0, 0.0
    for n in guesses:
        start, more = _binomial(n - done, p)
        alive, first, done = np.convolve(alive, more), first + start, n
        cut = max(_limit(n, least, p) - first, 0)
        reached += float(alive[cut:].sum()) + _LOST
        alive = alive[:cut]
        if not cut:
            break
    return reached <= significance


def least_tail(guesses: Sequence[int], right: Sequence[int], epsilon: float) -> float:
    """The least probability, over the numbers of guesses, of so many right guesses under epsilon-DP; it grows with epsilon.

    Args:
        guesses: numbers of guesses.
        right: how many are right of each.
        epsilon: of the guarantee, at least 0.

    Examples:
        >>> least_tail([1, 2], [1, 2], 0.0)
        0.25
    """
    p, trials = 1.0 / (1.0 + math.exp(-number("epsilon", epsilon, 0.0))), sizes("guesses", guesses)
    if not trials:
        raise ValueError("guesses is empty; it must hold a number of guesses")
    right = right.tolist() if isinstance(right, np.ndarray) else right
    if not isinstance(right, (list, tuple)) or len(right) != len(trials):
        raise ValueError(f"right is {quoted(right)}; it must hold a number for each of guesses")
    return min(_tail(n, whole("right", k, 0, n), p) for n, k in zip(trials, right, strict=True))


_LOST = 1e-13  # more than the probability beyond what `_binomial` lists, by Bernstein's inequality


def _binomial(trials: int, p: float) -> tuple[int, np.ndarray]:
    """(The least number that is listed, the probabilities of this and the next numbers of successes)."""
    reach = 10.0 * math.sqrt(trials * p * (1.0 - p)) + 60.0
    low, high = max(math.floor(trials * p - reach), 0), min(math.ceil(trials * p + reach), trials)
    k = np.arange(low, high)
    log = np.append(0.0, np.cumsum(np.log((trials - k) / (k + 1.0)) + math.log(p) - math.log1p(-p)))
    weight = np.exp(log - log.max())
    return low, weight / weight.sum()


def _tail(trials: int, number: int, p: float) -> float:
    """P(at least this number of successes)."""
    return float(betainc(number, trials - number + 1.0, p)) if number else 1.0


def _limit(trials: int, tail: float, p: float) -> int:
    """The least number of successes whose tail is at most `tail`; trials + 1 if none is."""
    low, high = 0, trials + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (
            (low, middle) if middle > trials or _tail(trials, middle, p) <= tail else (middle + 1, high)
        )
    return low


def mu_bound(canaries: int, guesses: int, right: int, significance: float, least: float = 0.0) -> float:
    """A mu below which no mu-GDP allows so many right guesses but with probability `significance`: what is returned has a p-value of at most that itself.

    `least`: what other guesses have shown already, >= 0, which is returned where nothing above it is refused.

    Source: Mahloujifar, Melis, Chaudhuri (2025).

    Examples:
        >>> round(mu_bound(1000, 100, 99, 0.05), 2), mu_bound(1000, 100, 50, 0.05)
        (1.07, 0.0)
    """
    number("least", least, 0.0)
    return largest_refused(lambda mu: refuses_gdp(canaries, guesses, right, mu, significance), least, 75.0)


def largest_refused(refused: Callable[[float], bool], least: float, most: float) -> float:
    """The largest value of a parameter in [least, most] that is refused, from below to 1e-9; `least` if none is.

    Args:
        refused: whether a value is; where it is, so are all smaller ones.
        least: of the values.
        most: of the values.

    Examples:
        >>> round(largest_refused(lambda x: x < 2.5, 0.0, 100.0), 6), largest_refused(lambda x: False, 1.0, 100.0)
        (2.5, 1.0)
    """
    member("refused", refused, Callable, "a function of a value")
    number("most", most, number("least", least))
    if not refused(least + _STEP):
        return least
    low, step = least + _STEP, 1.0
    while refused(high := min(low + step, most)):
        if high == most:
            return most
        low, step = high, 2.0 * step
    while high - low > _STEP:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if refused(middle) else (low, middle)
    return low
