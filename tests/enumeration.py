"""Games by enumeration: of all records, places and sub-samples, the gold standard; and of all sums, in fractions."""

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

import mipsim as mi

Law = dict[tuple[int, ...], float]


class Weighted(mi.AbstractLinearAttack):
    """A linear score with any weights and offset."""

    w: np.ndarray = eqx.field(converter=np.asarray)
    start: float = 0.0

    def weights(self, target: Any) -> Any:
        return jnp.asarray(self.w)

    def offset(self, target: Any) -> Any:
        return jnp.asarray(self.start)


def literal_sums(p: Sequence[float], n: int, target: Sequence[int] | None, chosen: int | None = None) -> Law:
    """The law of the column sums of `chosen` of n Bernoulli records, by brute force; a target replaces a record at random."""
    d, law = len(p), defaultdict(float)
    subsets = list(itertools.combinations(range(n), n if chosen is None else chosen))
    for bits in itertools.product((0, 1), repeat=n * d):
        records = np.array(bits).reshape(n, d)
        weight = math.prod(
            p[j] if records[i, j] else 1 - p[j] for i, j in itertools.product(range(n), range(d))
        )
        for place in range(n):
            played = records.copy()
            if target is not None:
                played[place] = target
            for subset in subsets:
                total = tuple(int(s) for s in played[list(subset)].sum(axis=0))
                law[total] += weight / (n * len(subsets))
    return dict(law)


def random_target_sums(p: Sequence[float], n: int, member: bool) -> Law:
    """The joint law of (*target, *column sums) of the random-target game, by brute force."""
    d, law = len(p), defaultdict(float)
    for bits in itertools.product((0, 1), repeat=(n + 1) * d):
        records = np.array(bits).reshape(n + 1, d)  # the last record is the fresh draw
        weight = math.prod(
            p[j] if records[i, j] else 1 - p[j] for i, j in itertools.product(range(n + 1), range(d))
        )
        total = tuple(int(s) for s in records[:n].sum(axis=0))
        for place in range(n):
            target = records[place] if member else records[n]
            law[(*(int(z) for z in target), *total)] += weight / n
    return dict(law)


def total_variation(first: Law, second: Law) -> float:
    """Half the sum of the absolute differences."""
    return 0.5 * sum(abs(first.get(k, 0.0) - second.get(k, 0.0)) for k in set(first) | set(second))


ZERO, UNIT = Fraction(0), Fraction(1)
Masses = dict[Fraction, Fraction]
Tests = list[tuple[Fraction, Fraction]]
"""(FPR, TPR) of every threshold test, from (0, 0) on."""


def as_fraction(value: float) -> Fraction:
    return Fraction(float(value))


def coin(p: float | Fraction) -> Masses:
    return {ZERO: 1 - Fraction(p), UNIT: Fraction(p)}


def linear(weights: Sequence[float | Fraction]) -> Callable[[list[Fraction]], Fraction]:
    exact = [Fraction(w) for w in weights]
    return lambda point: sum((w * x for w, x in zip(exact, point, strict=True)), ZERO)


def sums(record: Masses, rows: int, start: Fraction) -> Masses:
    """The law of start + a sum of `rows` records of a single coordinate."""
    total = {start: UNIT}
    for _ in range(rows):
        new: Masses = {}
        for (x, p), (y, q) in itertools.product(total.items(), record.items()):
            new[x + y] = new.get(x + y, ZERO) + p * q
        total = new
    return total


def masses_of(
    record: Sequence[Masses],
    n: int,
    target: Sequence[float | Fraction],
    score: Callable[[list[Fraction]], Fraction] | None,
) -> dict[Any, list[Fraction]]:
    """Score, a function of the sums, -> its probabilities in both worlds; without a score that of the likelihood ratio itself."""
    worlds = [
        [sums(law, n - k, Fraction(z) if k else ZERO) for law, z in zip(record, target, strict=True)]
        for k in (0, 1)
    ]
    masses: dict[Any, list[Fraction]] = {}
    for world in (0, 1):
        for outcome in itertools.product(*(law.items() for law in worlds[world])):
            point, own = [x for x, _ in outcome], math.prod((p for _, p in outcome), start=UNIT)
            if score is not None:
                key: Any = score(point)
            else:
                out, inside = (
                    math.prod((law.get(x, ZERO) for law, x in zip(laws, point, strict=True)), start=UNIT)
                    for laws in worlds
                )
                key = (0, inside / out) if out else (1, ZERO)
            masses.setdefault(key, [ZERO, ZERO])[world] += own
    return masses


def threshold_tests(masses: dict[Any, list[Fraction]]) -> Tests:
    """Every threshold test of the score, from the highest threshold on."""
    result = [(ZERO, ZERO)]
    for key in sorted(masses, reverse=True):
        result.append((result[-1][0] + masses[key][0], result[-1][1] + masses[key][1]))
    return result


def best_tests(tests: Tests) -> Tests:
    """At every FPR the test of the largest TPR."""
    return list(dict(tests).items())


def fnr_between(tests: Tests, alpha: Fraction) -> Fraction:
    """On the segment of two neighbours; the least at the FPR of a test."""
    last = max(i for i, (fpr, _) in enumerate(tests) if fpr <= alpha)
    fpr, tpr = tests[last]
    if fpr < alpha:
        above, more = tests[last + 1]
        tpr += (alpha - fpr) / (above - fpr) * (more - tpr)
    return 1 - tpr
