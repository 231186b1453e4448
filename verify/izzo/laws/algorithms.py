"""Algorithms on small data sets for the subset game of Izzo et al. (2024): laws on finite outputs, outputs on the line."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from mipsim.theory import izzo_example
from verify.izzo.laws.subset_enumeration import half_subsets

Law = np.ndarray
"""P(output | D), a row for each half D in the order of `half_subsets`."""
RANDOM = "random"


def response_law(n: int, epsilon: float, delta: float) -> Law:
    """The randomised response about record 0: surely out or in with probability delta, else a likely or an unlikely answer."""
    odds = (1.0 - delta) / (1.0 + np.exp([epsilon, -epsilon]))
    law = np.array([0.0, *odds, delta])
    return np.where(half_subsets(n)[:, :1], law, law[::-1])


def fingerprint_law(n: int) -> Law:
    """1{D_train = D*} with D* the first half: columns "no" and "yes"."""
    yes = np.zeros(len(half_subsets(n)))
    yes[0] = 1.0
    return np.column_stack([1.0 - yes, yes])


def random_law(n: int, outputs: int, concentration: float, draw: int) -> Law:
    """Independent Dirichlet rows: small concentrations are nearly deterministic algorithms."""
    return np.random.default_rng(draw).dirichlet(np.full(outputs, concentration), size=len(half_subsets(n)))


def lookup_law(n: int, outputs: int, draw: int) -> Law:
    """A deterministic algorithm without any sense."""
    return np.eye(outputs)[np.random.default_rng(draw).integers(0, outputs, len(half_subsets(n)))]


ALGORITHMS: dict[str, Callable[[int], Law]] = {
    "constant": lambda n: np.ones((len(half_subsets(n)), 1)),
    "randomised response, epsilon = 0.1": lambda n: response_law(n, 0.1, 0.0),
    "randomised response, epsilon = 2, delta = 0.1": lambda n: response_law(n, 2.0, 0.1),
    "membership itself": lambda n: response_law(n, 0.0, 1.0),
    "1{D_train = D*}": fingerprint_law,
    # How many of the first n/2 records are in the training set: a typical statistic.
    "a count": lambda n: np.eye(n // 2 + 1)[half_subsets(n)[:, : n // 2].sum(axis=1)],
    "a lookup table": lambda n: lookup_law(n, 5, 3),
    "random, noisy": lambda n: random_law(n, 6, 5.0, 4),
    "random, nearly deterministic": lambda n: random_law(n, 8, 0.05, 5),
}
"""Name -> (n -> law of the outputs)."""


def law_of(algorithm: str, n: int, outputs: int, concentration: float, draw: int) -> Law:
    """The law of a named algorithm, or of a sampled algorithm: of that many outputs, of this concentration, with this seed."""
    return random_law(n, outputs, concentration, draw) if algorithm == RANDOM else ALGORITHMS[algorithm](n)


SKEWED = np.array([0.1, 0.2, 0.4, 0.5, 0.9, 1.4, 2.2, 5.0])
MEMBER = "1{x* in D_train}"
STATISTICS: dict[str, Callable[[np.ndarray], float]] = {
    "mean": lambda rows: float(rows.mean()),
    "maximum": lambda rows: float(rows.max()),
    "sum": lambda rows: float(rows.sum()),
    "variance": lambda rows: float(rows.var()),
}
RECORDS = ("0, 1, ..., n - 1", "0, ..., n - 2 and 1000", "skewed")


def records_of(records: str, n: int, spread: float, draw: int) -> np.ndarray:
    """Up to eight records: named ones, or log-normal ones of this spread, with this seed."""
    if records == RANDOM:
        return np.exp(spread * np.random.default_rng(draw).standard_normal(n))
    return (
        SKEWED[:n]
        if records == "skewed"
        else np.append(np.arange(n - 1.0), 1000.0 if "and" in records else n - 1.0)
    )


def algorithm_of(statistic: str, records: np.ndarray) -> Callable[[np.ndarray], float]:
    """The statistic, or whether the last record is among the training records."""
    return STATISTICS.get(statistic, lambda rows: float((rows == records[-1]).any()))


def statistic_of_halves(statistic: Callable[[np.ndarray], float], records: np.ndarray) -> np.ndarray:
    """The statistic of every half of the records, in the order of `half_subsets`."""
    return np.array([statistic(records[flags]) for flags in half_subsets(len(records))])


def heavy_tail(n: int) -> np.ndarray:
    """Cauchy quantiles, the larger ones with record 0: membership decides the rank, and a single output dwarfs the others."""
    flags = half_subsets(n)
    ranks = np.argsort(np.argsort(~flags[:, 0], kind="stable")) + 0.5
    return -np.tan(np.pi * (ranks / len(flags) - 0.5))


def example(n: int) -> np.ndarray:
    """1/sum(D) on the data set of proposition 11."""
    last = izzo_example.special_sum(n) - (2 ** (n // 2 - 1) - 1)
    records = np.array([2.0**i for i in range(n - 1)] + [last])
    return statistic_of_halves(lambda rows: 1.0 / rows.sum(), records)


def sums_of_powers(n: int) -> np.ndarray:
    """The sum of every half of 2^0, ..., 2^(n-1)."""
    return half_subsets(n) @ 2.0 ** np.arange(n)


OUTPUTS: dict[str, Callable[[int], np.ndarray]] = {
    # The whole spread is membership.
    "membership": lambda n: half_subsets(n)[:, 0].astype(float),
    # A huge output on a single training set: a small moment beside a huge sensitivity.
    "one heavy set": lambda n: np.append(1e6, np.zeros(len(half_subsets(n)) - 1)),
    "heavy tail": heavy_tail,
    "proposition 11": example,
    "mean of skewed records": lambda n: statistic_of_halves(STATISTICS["mean"], SKEWED[:n]),
}
"""Name -> (n -> A(D) of every half): algorithms with outputs on the line; the last is for n <= 8."""


def outputs_of(algorithm: str, n: int, tail: float, draw: int) -> np.ndarray:
    """The outputs of a named algorithm, or sampled ones: Cauchy numbers to the power `tail`, from nearly equal to very different."""
    if algorithm != RANDOM:
        return OUTPUTS[algorithm](n)
    sample = np.random.default_rng(draw).standard_cauchy(len(half_subsets(n)))
    return np.sign(sample) * np.abs(sample) ** tail


def central_moment(values: np.ndarray, moment: float) -> float:
    """(E|theta - E theta|^M)^(1/M) over a uniform half; 0 where all outputs are the same."""
    distance = np.abs(values - values.mean())
    most = float(distance.max())
    return most * float(np.mean((distance / most) ** moment)) ** (1 / moment) if most > 0.0 else 0.0


ITSELF, RELABELLED, CHANNEL = "the output itself", "a relabelling", "a random channel"


def channel_of(f: str, inputs: int, labels: int, spread: float, draw: int) -> np.ndarray:
    """P(f(a) = b), whatever a's coins were: nothing done, a random relabelling, or Dirichlet rows."""
    rng = np.random.default_rng([draw, 1])
    if f == CHANNEL:
        return rng.dirichlet(np.full(labels, spread), size=inputs)
    return np.eye(inputs) if f == ITSELF else np.eye(labels)[rng.integers(0, labels, inputs)]


NAMED = "names a record that was left out"
"""Each k-set's output is a record of n: each record left out with probability keep/(n - k), each member with (1 - keep)/k."""


def named_rates(n: int, k: int, keep: float) -> tuple[float, float, float]:
    """(eta, the largest TPR - FPR, twice the largest (k/n) TPR - (1 - k/n) FPR) of any attack, in whole fractions.

    An attack sees whether the target is named: the other outputs make, by symmetry, another outcome.
    """
    share, hit = Fraction(k, n), Fraction(keep)
    out, inside = hit / (n - k), (1 - hit) / k  # P(this record is named | it is out, in)
    pairs = ((out, inside), (1 - out, 1 - inside))
    eta = sum(max((1 - share) * a, share * b) for a, b in pairs) - max(share, 1 - share)
    rates = [(x * inside + y * (1 - inside), x * out + y * (1 - out)) for x in (0, 1) for y in (0, 1)]
    gap, weighted = max(a - b for a, b in rates), max(share * a - (1 - share) * b for a, b in rates)
    return float(eta), float(gap), float(2 * weighted)
