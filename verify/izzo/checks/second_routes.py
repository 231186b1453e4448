"""Second ways to numbers of Izzo et al. (2024): draws with NumPy, literal enumerations, whole fractions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from math import comb, inf, log2
from typing import Any

import numpy as np

from mipsim._roots import outer_root
from mipsim.referee import Replication
from mipsim.referee.replication import RISK, share
from verify.by_hand import difference, near
from verify.izzo.laws.algorithms import (
    NAMED,
    algorithm_of,
    central_moment,
    law_of,
    records_of,
    statistic_of_halves,
)
from verify.izzo.laws.subset_enumeration import LARGEST, best_of_all_attacks, half_subsets, subsets, worlds

LITERAL = 12
"""Records up to which all halves and neighbours are enumerated."""
BLOCK = 20_000
"""Games that are sampled at once."""


def scale_of(moment: float, eta: float) -> float:
    """Corollary 10's scale over sigma."""
    return (6.16 / eta) ** (1.0 + 2.0 / moment)


def norms(x: np.ndarray, moment: float) -> np.ndarray:
    """(mean |x_i|^M)^(1/M) over the last axis, by the largest entry, so that no power overflows."""
    size = np.abs(x)
    most = size.max(axis=-1, keepdims=True)
    return most[..., 0] * np.mean((size / most) ** moment, axis=-1) ** (1 / moment)


def printed_noise(
    rng: np.random.Generator, games: int, dimension: int, moment: float, scale: float
) -> np.ndarray:
    """Corollary 10's noise as printed, r U with a Laplace radius; shape (games, d).

    |Y_i|^M ~ Gamma(1/M) is Gamma(1 + 1/M) times V^M, V uniform, which does not underflow for large M.
    """
    y = rng.gamma(1 + 1 / moment, size=(games, dimension)) ** (1 / moment) * rng.uniform(
        -1, 1, (games, dimension)
    )
    return (rng.laplace(0.0, scale, games) / norms(y, moment))[:, None] * y


def two_output_draws(
    moment: float, dimension: int, eta: float
) -> tuple[Callable[..., np.ndarray], Callable[..., np.ndarray]]:
    """Samplers (out, in) of the log-likelihood ratio of "in" (output (1, ..., 1)) to "out" (output (-1, ..., -1)), every sigma_i = 1."""
    scale = scale_of(moment, eta)

    def sampler(side: float) -> Callable[..., np.ndarray]:
        def block(rng: np.random.Generator, games: int) -> np.ndarray:
            x = printed_noise(rng, games, dimension, moment, scale) + side
            far, near = norms(x + 1, moment), norms(x - 1, moment)
            return (dimension - 1) * np.log(far / near) + (far - near) / scale

        return lambda rng, games: np.concatenate(
            [block(rng, min(BLOCK, games - done)) for done in range(0, games, BLOCK)]
        )

    return sampler(-1.0), sampler(1.0)


def corollary_10_again(M: float, eta: float, d: int) -> Replication:
    """Draws of what is integrated or bounded elsewhere."""
    if M == 2.0:
        return nearer_of_two(eta, d)
    return planar_draws(M, eta) if d == 2 else sign_of_the_mean(M, d, eta)


def sign_of_the_mean(moment: float, dimension: int, eta: float) -> Replication:
    """Two outputs in R^d, the sign of the mean of the noisy output named: P(wrong) given the direction, averaged over sampled directions."""
    rng, games = np.random.default_rng(12), int(np.clip(3e7 / dimension, 40, BLOCK))
    block = max(1, int(2e6 / dimension))
    means = []
    for done in range(0, games, block):
        # As in `printed_noise`, with a radius of 1.
        size = (min(block, games - done), dimension)
        y = rng.gamma(1 + 1 / moment, size=size) ** (1 / moment) * rng.uniform(-1, 1, size)
        means.append(y.mean(axis=1) / norms(y, moment))
    # The output's mean is +-1 + r u: wrong where r u < -1, of probability exp(-1/(c |u|))/2 for a Laplace radius.
    gains = -0.5 * np.expm1(-1.0 / (scale_of(moment, eta) * np.abs(np.concatenate(means)))) / eta
    # Directions along which the outputs nearly agree gain most and are rare: the lower end leaves out what they gain beyond 5 medians.
    usual = np.minimum(gains, 5.0 * np.median(gains))
    value, low = float(gains.mean()), float(usual.mean() - 6.0 * usual.std() / games**0.5)
    how = f"NumPy, {games:,} sampled directions of the noise, seed 12; 6 standard errors"
    return Replication(
        value, low, inf, "eta of naming the sign of the mean, times the promised", how, claim=1.0
    )


def nearer_of_two(eta: float, dimension: int) -> Replication:
    """M = 2, two outputs at distance 2 sigma, the nearer named: P(wrong) given the direction, averaged over sampled directions."""
    rng, games = np.random.default_rng(10), 200_000
    u = rng.standard_normal(games)
    rest = rng.chisquare(dimension - 1, games) if dimension > 1 else 0.0
    # Output r u + 1 ("in") or r u - 1 along their line, u a single coordinate of a uniform direction and r a Laplace radius.
    along = np.abs(u) / np.sqrt(u**2 + rest)
    gains = -0.5 * np.expm1(-1.0 / (scale_of(2.0, eta) * along)) / eta
    value, error = float(gains.mean()), 6.0 * float(gains.std()) / games**0.5
    how = f"NumPy, {games:,} sampled directions, seed 10; 6 standard errors"
    return Replication(
        value,
        value - error,
        value + error,
        "eta of naming the nearer output, times the promised",
        how,
        claim=1.0,
    )


def crossings(u: np.ndarray, moment: float) -> np.ndarray:
    """t* > 0 with ||u - t w|| = 1 for unit directions u, shape (N, d), w = (2, ..., 2); 0 where there is none.

    The norm is convex in t, so that it is below 1 between 0 and t* only.
    """
    falling = np.sum(np.sign(u) * np.abs(u) ** (moment - 1), axis=1) > 0
    ends = np.full(len(u), np.log(1e-9)), np.full(len(u), np.log(2.0))
    result = outer_root(
        lambda log_t, index: np.log(norms(u[index] - 2 * np.exp(log_t)[:, None], moment)), *ends
    )
    return np.where(falling, np.exp(result), 0.0)


def planar_draws(moment: float, eta: float, parts: int = 20) -> Replication:
    """Two outputs in the plane, with directions sampled by importance (log-uniform gaps) and bisection."""
    rng = np.random.default_rng(11)
    scale = scale_of(moment, eta)
    ratios = []
    for _ in range(parts):
        gap = np.exp(-(8.0 + np.log(scale)) * rng.random(5_000))
        v = 1.0 - gap
        weight = np.exp((1 / moment - 1) * np.log1p(-0.5 * v**moment)) * gap
        large = np.exp(np.log(2.0 - v**moment) / moment)
        total = 0.0
        for sign in (1.0, -1.0):
            t = crossings(np.column_stack([large, sign * v]), moment)
            with np.errstate(divide="ignore"):  # t = 0 where two coordinates cancel
                total = total + 0.5 * -np.expm1(-1.0 / (scale * t))
        ratios.append(0.5 * float(np.mean(weight * total)) / float(np.mean(weight)) / eta)
    value, error = float(np.mean(ratios)), 8.0 * float(np.std(ratios)) / parts**0.5
    how = f"NumPy, {parts} times 5,000 weighted draws of the direction, seed 11; 8 standard errors"
    return Replication(
        value, value - error, value + error, "eta of the best attack, times the promised", how, claim=1.0
    )


def algorithm_1_runs(
    records: str, statistic: str, n: int, spread: float, draw: int, M: float, eta: float
) -> Replication:
    """Run algorithm 1 with every half of the training half in place of B random ones, as B grows, and judge by thresholds of |output - median|."""
    rows = records_of(records, n, spread, draw)
    algorithm, rng, c = algorithm_of(statistic, rows), np.random.default_rng(13), scale_of(M, eta)
    cache = [(f, algorithm(rows[f]), statistic_of_halves(algorithm, rows[f])) for f in half_subsets(n)]
    games, outputs, member = 6000, [], []
    for index in rng.integers(0, len(cache), games):
        flags, value, halves = cache[index]
        sigma = central_moment(halves, M)
        outputs.append(value + rng.laplace(0.0, c * sigma) if sigma > 0 else value)
        member.append(flags[n - 1])
    score, inside = np.abs(np.array(outputs) - np.median(outputs)), np.array(member)
    first, second = slice(None, games // 2), slice(games // 2, None)
    levels = np.quantile(score[first], np.linspace(0.01, 0.99, 50))
    best = max(levels, key=lambda t: np.mean((score[first] > t) == inside[first]))
    right = ((score[second] > best) == inside[second]).sum()
    ends = ((x - 0.5) / eta for x in share(right, games // 2))
    how = f"NumPy, {games:,} runs of the printed algorithm, seed 13, with every half in place of B random ones, a threshold chosen on a half and judged on the other"
    return Replication(*ends, what="accuracy - 1/2 over the promised eta", how=how)


def rates_again(algorithm: str, n: int, k: int, keep: float, **at: Any) -> Replication:
    """Theorem 8: TPR, FPR and accuracy of the likelier side, counted over sampled training sets and outputs."""
    if algorithm == NAMED:
        return literal_rates(n, k, keep)
    law = law_of(algorithm, n, **at)
    target = max(range(n), key=lambda target: best_of_all_attacks(law, n, target)[1])
    rng, flags = np.random.default_rng(8), half_subsets(n)[:, target]
    out, inside = worlds(law, n, target)
    # How often each half comes with each output.
    games = rng.multinomial(10**10, (law / law.sum()).ravel()).reshape(law.shape)
    rates = (share(games[of][:, inside >= out].sum(), games[of].sum(), RISK / 4) for of in (flags, ~flags))
    return Replication(
        *difference(*rates),
        what="TPR - FPR of naming the likelier side",
        how="NumPy, 10,000,000,000 sampled training sets, seed 8",
    )


def literal_sensitivity(reading: str, n: int) -> Replication:
    """Proposition 11: every half and every adjacent pair, literally, in Python numbers; of many records by the least sum, which bounds 1/sum."""
    what, promised = "minus the sensitivity", -(2.0 ** (n / 3)) / 4.0
    if n > LITERAL:
        if reading != "text":
            raise ValueError(f"n is {n}; halves of more than {LITERAL} records are not enumerated")
        # Without x_last a half has a sum of at least 2^(n/2) - 1; with it at least C(n, n/2)^(1/2), which the exponent +1/2 makes large.
        most = 2.0 ** -min(0.5 * log2(comb(n, n // 2)), n // 2 - 0.01)
        how = "the least sum of a half, by hand: all 1/sum lie between 0 and its inverse"
        return Replication(-most, -most, inf, what, how, promised, one_sided=True)
    records = [2.0**i for i in range(n - 1)] + [
        comb(n, n // 2) ** (0.5 if reading == "text" else -0.5) - (2 ** (n // 2 - 1) - 1)
    ]
    value = {s: 1.0 / sum(records[i] for i in s) for s in combinations(range(n), n // 2)}
    largest = max(
        abs(a - value[tuple(sorted((set(s) - {i}) | {j}))])
        for s, a in value.items()
        for i in s
        for j in set(range(n)) - set(s)
    )
    how = "literal enumeration of all halves and neighbours"
    return Replication(*near(-largest), what, how, promised, one_sided=True)


def three_points(k: float, t: float, sigma: float) -> Replication:
    """Lemma 13: a law on -a, 0, a with E X^2 <= sigma^k; in whole fractions where k is a whole number."""
    exact = k == int(k)
    s, x, power = (Fraction(sigma), Fraction(t), int(k)) if exact else (sigma, t, k)
    a = x * s * (Fraction(10001, 10000) if exact else 1.0001)
    p = min(1, s**power / a**2)
    kind = "whole fractions" if exact else "by hand"
    how = f"{kind}: X = +-{float(a):.8g} with probability {float(p / 2):.6g} each, else 0, has E X^2 = {float(p * a**2):.6g} <= sigma^k"
    return Replication(*near(float(p)), what="P(|X| > t sigma)", how=how, claim=float(1 / x**power))


def literal_rates(n: int, k: int, keep: float) -> Replication:
    """TPR - FPR of the algorithm that names a record: over every k-set and output, or over sampled ones where there are too many."""
    if comb(n, k) > LARGEST:
        rng, games = np.random.default_rng(9), 20_000
        order = rng.random((games, n)).argsort(axis=1)  # the first k are the training set
        place = np.where(rng.random(games) < keep, rng.integers(k, n, games), rng.integers(0, k, games))
        named, member = order[np.arange(games), place] == 0, (order[:, :k] == 0).any(axis=1)
        rates = sorted((share(named[of].sum(), of.sum(), RISK / 4) for of in (member, ~member)), reverse=True)
        return Replication(
            *difference(*rates),
            what="TPR - FPR of asking whether x* is named",
            how=f"NumPy, {games:,} sampled sets and outputs, seed 9",
        )
    flags = subsets(n, k)
    law = np.where(flags, (1 - keep) / k, keep / (n - k))
    gap = float(np.maximum(law[flags[:, 0]].mean(axis=0) - law[~flags[:, 0]].mean(axis=0), 0).sum())
    return Replication(
        *near(gap),
        what="TPR - FPR of the best attack",
        how=f"NumPy, all {len(flags)} sets and {n} outputs enumerated",
    )
