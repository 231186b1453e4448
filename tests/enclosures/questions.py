"""Random questions that public functions answer exactly: a call, and what must hold of its intervals by a second, cheap answer."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import mipsim as mi
from mipsim.tradeoff import AbstractTradeOff

Rng = np.random.Generator
Interval = tuple[str, float, float]

ALLOWED = 1e-9  # relative: by which ends of two answers may be rounded apart


class Question(NamedTuple):
    """`words`: what is requested, and a function that returns intervals, and pairs of which the first may not lie above the second."""

    words: str
    answer: Callable[[], tuple[list[Interval], list[tuple[Interval, Interval]]]]


def wrong(intervals: list[Interval], ordered: list[tuple[Interval, Interval]]) -> list[str]:
    """What does not hold of an answer."""
    crossed = [f"{name}: {low!r} > {high!r}" for name, low, high in intervals if not low <= high]
    above = [
        f"{first[0]} >= {first[1]!r}, above {second[0]} <= {second[2]!r}"
        for first, second in ordered
        if not first[1] <= second[2] + ALLOWED * abs(second[2])
    ]
    return crossed + above


def log_uniform(rng: Rng, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def pick(rng: Rng, entries: Any) -> Any:
    return entries[int(rng.integers(len(entries)))]


def noise_of(rng: Rng) -> float:
    return pick(rng, [0.001, 1 / 30, 1.0, 1e9]) if rng.random() < 0.1 else log_uniform(rng, 0.02, 50.0)


def rate_of(rng: Rng) -> float:
    return pick(rng, [0.0, 1e-100, 1e-9, 0.5, 1.0]) if rng.random() < 0.15 else log_uniform(rng, 1e-6, 1.0)


def steps_of(rng: Rng) -> int:
    most = pick(rng, [10, 1000, 10**5, 10**9])
    return int(min(10**9, max(1, round(log_uniform(rng, 1.0, most)))))


def delta_of(rng: Rng) -> float:
    return pick(rng, [0.0, 1.0, 1e-300]) if rng.random() < 0.1 else log_uniform(rng, 1e-18, 0.5)


def epsilon_of(rng: Rng) -> float:
    return 0.0 if rng.random() < 0.1 else log_uniform(rng, 1e-3, 300.0)


def fpr_of(rng: Rng) -> float:
    return pick(rng, [0.0, 1.0]) if rng.random() < 0.1 else log_uniform(rng, 1e-12, 0.99)


SCHEMES = [(how, "poisson") for how in ("add_or_remove", "remove", "add", "replace")] + [
    ("replace", "fixed_size")
]


def training(rng: Rng) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments of `dpsgd`, and those of another training that leaks no less."""
    how, sampling = pick(rng, SCHEMES)
    given = {"noise_multiplier": noise_of(rng), "sampling_rate": rate_of(rng), "steps": steps_of(rng)}
    worse = dict(given)
    what = pick(rng, list(given))
    if what == "noise_multiplier":
        worse[what] = max(given[what] * 0.9, 1e-3)
    elif what == "sampling_rate":
        worse[what] = min(given[what] * 1.1, 1.0)
    else:
        worse[what] = min(given[what] + max(1, given[what] // 10), 10**9)
    both = {"neighbours": how, "sampling": sampling}
    return given | both, worse | both


def epochs(rng: Rng) -> dict[str, Any]:
    how = pick(rng, ["add_or_remove", "remove", "add"])
    terms = int(pick(rng, [1, 2, 10, 100, 1000]))
    return {
        "noise_multiplier": log_uniform(rng, 0.1, 20.0),
        "sampling_rate": 1.0 / terms,
        "steps": terms * int(pick(rng, [1, 2, 10])),
        "neighbours": how,
        "sampling": pick(rng, ["random_allocation", "shuffled"]),
    }


REQUESTS = ("epsilon", "delta", "advantage", "tpr", "beta", "auc", "bayes_risk", "least_mu")


def request_of(rng: Rng) -> tuple[str, tuple[float, ...]]:
    what = pick(rng, REQUESTS)
    at = {"epsilon": delta_of, "delta": epsilon_of, "tpr": fpr_of, "beta": fpr_of, "bayes_risk": fpr_of}
    return what, (at[what](rng),) if what in at else ()


def interval(curve: AbstractTradeOff, what: str, at: tuple[float, ...], name: str) -> Interval:
    low, high = getattr(curve, f"{what}_bounds")(*at)
    return f"{name}.{what}{at}", float(low), float(high)


def ordered(what: str, private: Interval, worse: Interval) -> tuple[Interval, Interval]:
    return (worse, private) if what in ("beta", "bayes_risk") else (private, worse)


def of_training(rng: Rng) -> Question:
    (given, worse), (what, at) = training(rng), request_of(rng)
    names = [f"dpsgd({', '.join(f'{k}={v!r}' for k, v in how.items())})" for how in (given, worse)]

    def answer() -> Any:
        first, second = (
            interval(mi.dpsgd(**how), what, at, name) for how, name in zip((given, worse), names, strict=True)
        )
        return [first, second], [ordered(what, first, second)]

    return Question(f"{names[0]}.{what}{at}", answer)


def of_epochs(rng: Rng) -> Question:
    given, (what, at) = epochs(rng), request_of(rng)
    name = f"dpsgd({', '.join(f'{k}={v!r}' for k, v in given.items())})"
    return Question(f"{name}.{what}{at}", lambda: ([interval(mi.dpsgd(**given), what, at, name)], []))


def of_account(rng: Rng) -> Question:
    given, _ = training(rng)
    if rng.random() < 0.5:
        count = int(pick(rng, [1, 2, 3, 5, 100]))
        distinct = int(rng.integers(1, min(count, 4) + 1))
        parts = [(noise_of(rng), rate_of(rng), min(steps_of(rng), 10**7)) for _ in range(distinct)]
        how: dict[str, Any] = {"phases": (parts * count)[:count]}
        how |= {key: given[key] for key in ("neighbours", "sampling")}
    else:
        how = given
    how |= {"delta": delta_of(rng), "epsilon": epsilon_of(rng), "fpr": [fpr_of(rng), fpr_of(rng)]}

    def answer() -> Any:
        numbers = mi.account(**how).numbers
        return [(name, *ends) for name, ends in numbers.items()], []

    return Question(f"account({', '.join(f'{k}={v!r}' for k, v in how.items())})", answer)


def part_of(rng: Rng) -> AbstractTradeOff:
    """A curve of a single mechanism."""
    size = log_uniform(rng, 1e-3, 20.0)
    kind = int(rng.integers(9))
    if kind == 0:
        return mi.GaussianTradeOff(size)
    if kind in (1, 2):
        return mi.LaplaceTradeOff(size)
    if kind == 3:
        return mi.ApproxDPTradeOff(min(size, 10.0), pick(rng, [0.0, 1e-12, 1e-6, 0.01]))
    if kind == 4:
        a = np.sort(rng.random(3))
        b = np.sort(rng.random(3))[::-1]
        return mi.PiecewiseLinearTradeOff([0.0, *a, 1.0], [1.0, *b, 0.0]).convexified()
    if kind == 5:
        return mi.FoldedLaplaceTradeOff(min(size, 5.0))
    if kind == 6:
        return part_of(rng).subsampled(rate_of(rng))
    if kind == 7:
        return mi.MixtureTradeOff(part_of(rng), rate_of(rng))
    return mi.dpsgd(log_uniform(rng, 0.3, 10.0), log_uniform(rng, 1e-4, 0.5), int(rng.integers(1, 200)))


def of_composition(rng: Rng) -> Question:
    parts = [part_of(rng) for _ in range(int(pick(rng, [1, 1, 2, 2, 3])))]
    copies = [int(pick(rng, [1, 1, 2, 10, 100, 10**4])) for _ in parts]
    what, at = request_of(rng)
    name = f"compose({', '.join(map(repr, parts))}, copies={copies})"

    def answer() -> Any:
        whole = interval(mi.compose(*parts, copies=copies), what, at, name)
        single = interval(parts[0], what, at, repr(parts[0]))
        return [whole, single], [ordered(what, single, whole)]

    return Question(f"{name}.{what}{at}", answer)


def of_curve(rng: Rng) -> Question:
    kind = int(rng.integers(3))
    curve: AbstractTradeOff = part_of(rng)
    if kind == 0:
        curve = mi.NoncentralChiSquareTradeOff(
            int(rng.integers(1, 2000)), pick(rng, [0.0, 3.0]), 3.0 + log_uniform(rng, 1e-3, 300.0)
        )
    elif kind == 1:
        curve = mi.tradeoff.convex_hull(part_of(rng), part_of(rng))
    what, at = request_of(rng)
    return Question(f"{curve!r}.{what}{at}", lambda: ([interval(curve, what, at, repr(curve))], []))


def of_noise(rng: Rng) -> Question:
    how, sampling = pick(rng, SCHEMES)
    given = {"sampling_rate": rate_of(rng), "steps": steps_of(rng), "neighbours": how, "sampling": sampling}
    given["noise"] = pick(rng, ["gaussian", "gaussian", "laplace"])
    if (how, sampling) == ("replace", "poisson"):  # for Laplace noise it is not proven
        given["noise"] = "gaussian"
    kind = int(rng.integers(4))
    if kind == 0:
        name, target = "advantage", (log_uniform(rng, 1e-3, 0.9),)
    elif kind == 1:
        name, target = "epsilon_delta", (log_uniform(rng, 0.01, 100.0), log_uniform(rng, 1e-15, 1e-3))
    elif kind == 2:
        fpr = log_uniform(rng, 1e-6, 0.3)
        name, target = "tpr_at_fpr", (min(0.99, fpr * log_uniform(rng, 1.2, 100.0)), fpr)
        if target[0] <= fpr:
            target = (0.5 * (1.0 + fpr), fpr)
    else:
        name, target = "mu", (log_uniform(rng, 0.05, 10.0),)
    find = getattr(mi, f"find_noise_multiplier_for_{name}")

    def answer() -> Any:
        noise = find(*target, **given)
        return [("noise", 0.0, noise), ("noise", noise, math.inf)], []

    return Question(f"{find.__name__}{target} with {given}", answer)


def of_game(rng: Rng) -> Question:
    d, n = int(pick(rng, [1, 2, 5, 30, 200])), int(pick(rng, [4, 10, 100, 1000]))
    kind = pick(rng, ["Gaussian", "Discrete", "Bernoulli"])
    if kind == "Gaussian":
        data: Any = mi.Gaussian(np.zeros(d), rng.uniform(0.5, 2.0, d))
        target = rng.normal(size=d) * log_uniform(rng, 0.1, 10.0)
    elif kind == "Discrete":
        values = pick(rng, [[0.0, 1.0, 4.0], [0.0, 1.0, math.sqrt(2.0)], [0.0, 0.1, 0.3, 1.0]])
        data = mi.Discrete(values, rng.dirichlet(np.full(len(values), 2.0), d))
        target = rng.choice(values, d)
    else:
        data = mi.Bernoulli(rng.uniform(0.05, 0.95, d))
        target = (rng.random(d) < 0.5).astype(float)
    noise, inclusion = log_uniform(rng, 1e-3, 10.0), pick(rng, [0.25, 0.5])
    mechanisms = {
        "the mean": lambda: mi.EmpiricalMean(),
        f"noise {noise!r}": lambda: mi.GaussianNoise(mi.EmpiricalMean(), noise),
        f"Laplace {noise!r}": lambda: mi.LaplaceNoise(mi.EmpiricalMean(), noise),
        f"a sub-sample {inclusion}": lambda: mi.Subsampled(mi.EmpiricalMean(), inclusion),
    }
    how, score = pick(rng, list(mechanisms)), pick(rng, ["covariance", "ratio"])
    what, at = request_of(rng)
    name = f"{kind} d={d} n={n} target={target[:3].tolist()}.. {how}, {score}"

    def answer() -> Any:
        mechanism = mechanisms[how]()
        game = mi.FixedTarget(mechanism, data, n=n, target=target)
        attack = (
            mi.CovarianceScore(data, n=n, target=target)
            if score == "covariance"
            else mi.LikelihoodRatio(mechanism, data, n=n, target=target)
        )
        return [interval(game.exact(attack), what, at, name)], []

    return Question(f"{name}.{what}{at}", answer)


def of_scores(rng: Rng) -> Question:
    count = int(pick(rng, [100, 300, 3000, 30000]))
    member = np.arange(count) % 2 == 0 if rng.random() < 0.3 else rng.random(count) < 0.5
    scores = rng.normal(size=count) + rng.uniform(0.0, 4.0) * member
    if rng.random() < 0.4:
        scores = np.round(scores, int(rng.integers(0, 3)))
    design = pick(rng, ["independent", "one-run"])
    given: dict[str, Any] = {
        "design": design,
        "claim": pick(rng, [None, "mu=1", "epsilon=1,delta=1e-5", "epsilon=0.1,delta=0.1"]),
    }
    given["confidence"] = float(pick(rng, [0.5, 0.95, 0.999, 1 - 1e-8]))
    if design == "independent":
        given["runs"] = count

    def answer() -> Any:
        result = mi.audit(scores, member, **given)
        return [
            ("mu", 0.0, result.mu_lower_bound),
            ("epsilon", 0.0, result.epsilon_lower_bound),
        ], []

    return Question(f"audit(normal scores, n={count}, {given})", answer)


def of_scheme(rng: Rng) -> Question:
    """A pair of another scheme or mechanism, or what is made of a curve."""
    noise, rate, size = noise_of(rng), rate_of(rng), log_uniform(rng, 1e-3, 20.0)
    few, steps = int(rng.integers(1, 6)), int(log_uniform(rng, 1.0, 1e4))
    whole, batch = int(log_uniform(rng, 2.0, 1e6)), int(log_uniform(rng, 1.0, 1e3))
    runs, how = int(log_uniform(rng, 1.0, 1e3)), pick(rng, ["add", "remove", "add_or_remove"])
    made = {
        "fixed_samples": lambda: mi.fixed_samples(
            noise, min(batch, whole), whole, steps, replacement=bool(few % 2), neighbours=how
        ),
        "truncated_poisson": lambda: mi.truncated_poisson(noise, rate, batch, whole, steps, neighbours=how),
        "random_allocation": lambda: mi.random_allocation(noise, max(steps, few), few, 1 + few % 3),
        "dpsgd of groups": lambda: mi.dpsgd(noise, rate, steps, neighbours=how, group=few),
        "discrete_gaussian": lambda: mi.compose(mi.discrete_gaussian(size, few), copies=runs),
        "discrete_laplace": lambda: mi.compose(mi.discrete_laplace(size, few), copies=runs),
        "skellam": lambda: mi.compose(mi.skellam(size**2, few), copies=runs),
        "exponential_mechanism": lambda: mi.exponential_mechanism(size, runs),
        "permute_and_flip": lambda: mi.permute_and_flip(size, runs),
        "logistic": lambda: mi.compose(mi.LogisticTradeOff(size), copies=runs),
        "matrix_mechanism": lambda: mi.matrix_mechanism(np.tril(np.ones((few, few))), noise, sampling_rate=rate, neighbours=how),
    }  # fmt: skip
    name, (what, at) = pick(rng, list(made)), request_of(rng)
    given = f"noise={noise!r}, rate={rate!r}, size={size!r}, few={few}, steps={steps}, whole={whole}, batch={batch}, runs={runs}, neighbours={how!r}"
    return Question(f"{name}({given}).{what}{at}", lambda: ([interval(made[name](), what, at, name)], []))


KINDS = [of_training] * 6 + [of_composition] * 5 + [of_account] * 2 + [of_noise] * 3 + [of_curve] * 2 + [of_epochs, of_game, of_game, of_scores]  # fmt: skip


def question(seed: list[int]) -> Question:
    rng = np.random.default_rng(seed)
    return (of_scheme if seed[-1] % 10 == 9 else pick(rng, KINDS))(rng)


def questions(start: int, count: int) -> Iterator[Question]:
    return (question([start, k]) for k in itertools.count() if k < count)
