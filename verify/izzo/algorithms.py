"""The spread of algorithms on small data sets that the claims are judged at."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from mipsim.exact.subset.enumeration import half_subsets
from mipsim.mechanisms.response import RandomizedResponse

Law = np.ndarray

SIZES = (2, 4, 6, 8)


def response_law(n: int, epsilon: float, delta: float) -> Law:
    """The randomised response about record 0, one row for each half."""
    answer = RandomizedResponse([0.0], epsilon, delta)
    return np.array([answer.law(bool(flags[0])) for flags in half_subsets(n)])


def fingerprint_law(n: int) -> Law:
    """1{D_train = D*} with D* the first half: columns "no" and "yes"."""
    yes = np.zeros(len(half_subsets(n)))
    yes[0] = 1.0
    return np.column_stack([1.0 - yes, yes])


def random_law(n: int, outputs: int, concentration: float, seed: int) -> Law:
    """Independent Dirichlet rows: small concentrations are nearly deterministic algorithms."""
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(outputs, concentration), size=len(half_subsets(n)))


def lookup_law(n: int, outputs: int, seed: int) -> Law:
    """A deterministic algorithm without any sense."""
    rng = np.random.default_rng(seed)
    return np.eye(outputs)[rng.integers(0, outputs, len(half_subsets(n)))]


def count_law(n: int) -> Law:
    """How many of the first n/2 records are in the training set: a typical statistic."""
    return np.eye(n // 2 + 1)[half_subsets(n)[:, : n // 2].sum(axis=1)]


def silent_law(n: int) -> Law:
    """A constant: perfect privacy."""
    return np.ones((len(half_subsets(n)), 1))


ALGORITHMS: dict[str, Callable[[int], Law]] = {
    "constant": silent_law,
    "randomised response, epsilon = 0.1": lambda n: response_law(n, 0.1, 0.0),
    "randomised response, epsilon = 2, delta = 0.1": lambda n: response_law(n, 2.0, 0.1),
    "membership itself": lambda n: response_law(n, 0.0, 1.0),
    "1{D_train = D*}": fingerprint_law,
    "a count": count_law,
    "a lookup table": lambda n: lookup_law(n, 5, 3),
    "random, noisy": lambda n: random_law(n, 6, 5.0, 4),
    "random, nearly deterministic": lambda n: random_law(n, 8, 0.05, 5),
}
"""Name -> (n -> law of the outputs, one row for each half)."""


def drawn_law(rng: np.random.Generator) -> tuple[int, Law]:
    """(n, law) of an algorithm with 2 to 7 outputs at n = 2, 4 or 6, anything from a lookup table to nearly no privacy loss."""
    n = int(rng.choice([2, 4, 6]))
    concentration = float(np.exp(rng.uniform(np.log(0.03), np.log(30.0))))
    return n, rng.dirichlet(np.full(int(rng.integers(2, 8)), concentration), size=len(half_subsets(n)))


def worlds(law: Law, n: int, target: int) -> tuple[np.ndarray, np.ndarray]:
    """Output probabilities when the target is out and when it is in, each of shape (m,)."""
    flags = half_subsets(n)[:, target]
    return law[~flags].mean(axis=0), law[flags].mean(axis=0)


def best_by_search(law: Law, n: int, target: int) -> tuple[float, float]:
    """The largest accuracy and the largest TPR - FPR over every deterministic attack, one by one.

    The accuracy is counted literally, training set by training set; randomised attacks are averages of these.
    """
    flags = half_subsets(n)[:, target]
    guesses = np.array(list(product((0.0, 1.0), repeat=law.shape[1])))
    says_in = law @ guesses.T  # P(attack says "in" | D), shape (sets, attacks)
    correct = np.where(flags[:, None], says_in, 1.0 - says_in).mean(axis=0)
    gap = says_in[flags].mean(axis=0) - says_in[~flags].mean(axis=0)
    return float(correct.max()), float(gap.max())


def least_delta(first: np.ndarray, second: np.ndarray, epsilon: float) -> float:
    """The least delta of (epsilon, delta)-DP for one pair of output laws, in one direction."""
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.where(second > 0, np.exp(epsilon) * second, 0.0)
    return float(np.maximum(first - scaled, 0.0).sum())
