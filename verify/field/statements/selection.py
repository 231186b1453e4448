"""Selection and pure privacy: Renyi divergences of the exponential mechanism, permute-and-flip, the best of several runs, and Laplace noise."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import scipy

import mipsim as mi
from mipsim.referee import Bound, Choice, Control, Equality, Number, Point, Quote, Real, Replication, Whole
from verify.by_hand import near
from verify.statement import Statement

DIGITS = 50


def divergence(p: Sequence[Any], q: Sequence[Any], order: float) -> Any:
    """The Renyi divergence of two finite laws without zeros."""
    total = mpmath.fsum(a * (a / b) ** (mpmath.mpf(order) - 1) for a, b in zip(p, q, strict=True))
    return mpmath.log(total) / (mpmath.mpf(order) - 1)


def known(value: Any, route: str) -> Number:
    """A number computed in 50 digits, to the rounding of float64."""
    return Number(float(value), 1e-15 * abs(float(value)), route=route)


def by_logs(logs: Sequence[np.ndarray], order: float) -> Replication:
    """The Renyi divergence of two finite laws in float64."""
    log_p, log_q = logs
    result = float(np.logaddexp.reduce(log_q + order * (log_p - log_q)))
    return Replication(
        *near(result / (order - 1.0), 1e-6), what="Renyi divergence", how="NumPy, logarithms of the masses"
    )


# An accountant, and how often a mechanism runs.

_ORDERS = np.concatenate([1.0 + np.arange(1, 100) / 10.0, np.arange(11, 64), [128, 256, 512, 1024]])


def counted_once(epsilon: float, log10_delta: float) -> float:
    """The accountant's epsilon: min(xi + epsilon^2 a / 8, epsilon) at order a, whatever the count is, by its own orders and conversion.
    >>> round(counted_once(0.1, -5.0), 4)
    0.1035
    """
    x = epsilon / math.expm1(epsilon)
    divergences = np.minimum(x - 1.0 - math.log(x) - epsilon**2 / 8.0 + epsilon**2 / 8.0 * _ORDERS, epsilon)
    log_delta = log10_delta * math.log(10.0)
    converted = divergences + np.log1p(-1.0 / _ORDERS) - (log_delta + np.log(_ORDERS)) / (_ORDERS - 1.0)
    return max(0.0, float(converted.min()))


def repeated(epsilon: float, count: int, log10_delta: float) -> Number:
    """Epsilon of `count` runs with two candidates whose scores move by 1, in opposite ways: a coin of e^(epsilon/2) : 1 each."""
    if count == 1:
        low, high = mi.ApproxDPTradeOff(epsilon / 2.0, 0.0).epsilon_bounds(10.0**log10_delta)
    else:
        curve = mi.compose(mi.ApproxDPTradeOff(epsilon / 2.0, 0.0), copies=count)
        low, high = curve.epsilon_bounds(10.0**log10_delta)
    return Number.between(float(low), float(high), route="composition")


def repeated_coins(epsilon: float, count: int, log10_delta: float) -> Replication:
    """The delta at the accountant's epsilon, over the number of heads."""
    claimed, heads = counted_once(epsilon, log10_delta), np.arange(count + 1)
    chance = 1.0 / (1.0 + math.exp(-epsilon / 2.0))
    inside, out = (
        scipy.stats.binom.pmf(heads, count, chance),
        scipy.stats.binom.pmf(heads, count, 1.0 - chance),
    )
    value = float(np.maximum(inside - math.exp(claimed) * out, 0.0).sum())
    how = f"SciPy, the binomial law of {count:,} coins"
    return Replication(
        *near(value, 1e-6), what="delta at the accountant's epsilon", how=how, claim=10.0**log10_delta
    )


_LEFT_OUT = Quote(
    "self._rdp += np.minimum(xi + (eps**2 / 8) * self._orders, eps)",
    "rdp_privacy_accountant.py:1072 of the same commit",
)
EXPONENTIAL_COUNT = Statement(
    name="field-rdp-exponential-count",
    says="The epsilon that an accountant by Renyi divergences gives for the exponential mechanism, run `count` times, is at least the true epsilon. Judged "
    "for two candidates. The file as of commit 0719e70 has the count.",
    fails="At that commit the accountant adds the cost of an event a single time, whatever its `count` is (a single run is right, and so are runs composed one by one); the neighbouring events have `count *`, and so has the file since commit 0719e70.",
    instead="`count *` the cost",
    source="google/differential-privacy, dp_accounting, rdp_privacy_accountant.py of commit b5b0286 (main of 6 August 2026)",
    kind=Bound(unit="epsilon"),
    domain={
        "epsilon": Real(0.01, 3.0, log=True, meaning="epsilon of a run"),
        "count": Whole(1, math.inf, log=True, hunt_to=2000, meaning="runs"),
        "log10_delta": Real(-8.0, -2.0, meaning="log10 of delta"),
    },
    where=lambda epsilon, count: epsilon**2 * count <= 200.0,
    claimed=counted_once,
    truth=repeated,
    points=[
        Point({"epsilon": 0.1, "count": 1000, "log10_delta": -5.0}, "1,000 runs of 0.1", "lead"),
        {"epsilon": 0.1, "count": 1, "log10_delta": -5.0},
        {"epsilon": 1.0, "count": 20, "log10_delta": -5.0},
    ],
    control=Control({"epsilon": 0.1, "count": 1, "log10_delta": -5.0}, attained=True),
    quote=_LEFT_OUT,
    slip=(
        _LEFT_OUT,
        Quote(
            "self._rdp += count * (event.xi + event.rho * self._orders)",
            "rdp_privacy_accountant.py:1055 of the same commit, the event of a (xi, rho)-zCDP mechanism; the other neighbouring events have count * too",
        ),
    ),
    restricted_by=(
        Quote(
            "For RDP accounting, we use the fact that the exponential mechanism is epsilon-bounded range, i.e. for some t the privacy loss is always in "
            "the interval [t, t+epsilon].",
            "dp_event.py:491 of the same commit",
        ),
    ),
    second_route=repeated_coins,
)  # fmt: skip


# Bounded range, pure privacy, Laplace noise.


def of_bounded_range(eta: float, place: float, order: float) -> Number:
    """D_a / a of the two laws on two outputs whose losses are -place eta and (1 - place) eta."""
    with mpmath.workdps(DIGITS):
        low, high = mpmath.e ** (-mpmath.mpf(place) * eta), mpmath.e ** ((1 - mpmath.mpf(place)) * eta)
        q = (1 - low) / (high - low)  # so that the ratios have mean 1
        p = [q * high, (1 - q) * low]
        return known(divergence(p, [q, 1 - q], order) / order, "two outputs, 50 digits")


BOUNDED_RANGE = Statement(
    name="field-bounded-range",
    formula=r"\eta\text{-bounded range} \Rightarrow \frac{\eta^2}{8}\text{-zCDP}",
    says="An $\\eta$-bounded range private mechanism is $\\eta^2/8$-concentrated differentially private: $D_a \\le a \\eta^2/8$ at every order $a > 1$. "
    "Judged for the pairs with two outputs, which are the worst (Dong, Durfee and Rogers 2020).",
    source="Cesar and Rogers (2021), as Rogers and Steinke (2021), differentialprivacy.org, theorem 5, has it; the post was at hand, not the paper",
    kind=Bound(unit="D_a / a"),
    domain={
        "eta": Real(0.01, 20.0, log=True, meaning="eta, the length of the range of losses"),
        "place": Real(0.01, 0.99, meaning="how much of the range lies below 0"),
        "order": Real(1.001, 1000.0, log=True, meaning="order a"),
    },
    claimed=lambda eta: eta**2 / 8.0,
    truth=of_bounded_range,
    points=({"eta": 1.0, "place": 0.5, "order": 1.01}, {"eta": 0.01, "place": 0.5, "order": 2.0}, {"eta": 5.0, "place": 0.1, "order": 3.0}),
    control=Control({"eta": 1.0, "place": 0.5, "order": 1.01}, attained=True),
    quote=Quote(
        "If M is eta-bounded range, then it is (1/8) eta^2-concentrated differentially private.",
        "theorem 5 of the post 'A Better Privacy Analysis of the Exponential Mechanism'",
    ),
)  # fmt: skip


def pure_pair(epsilon: float, outcomes: int, draw: int) -> tuple[list[Any], list[Any]]:
    """Two laws whose ratios lie within e^-epsilon and e^epsilon; draw 0: randomised response."""
    if draw == 0:
        chance = 1 / (1 + mpmath.e ** -mpmath.mpf(epsilon))
        return [chance, 1 - chance], [1 - chance, chance]
    rng = np.random.default_rng([draw, outcomes])
    losses = [mpmath.mpf(float(x)) * epsilon for x in rng.uniform(-1.0, 1.0, outcomes)]
    losses[0], losses[1] = -abs(losses[0]) - mpmath.mpf(10) ** -6, abs(losses[1]) + mpmath.mpf(10) ** -6
    losses = [max(-mpmath.mpf(epsilon), min(mpmath.mpf(epsilon), x)) for x in losses]
    ratios, weights = (
        [mpmath.e**x for x in losses],
        [mpmath.mpf(float(x)) for x in rng.uniform(0.1, 1.0, outcomes)],
    )
    sides = [
        [(r, w) for r, w in zip(ratios, weights, strict=True) if (r > 1) == above] for above in (False, True)
    ]
    less, more = (mpmath.fsum(r * w for r, w in side) / mpmath.fsum(w for _, w in side) for side in sides)
    # so that the ratios have mean 1
    shares = {False: (more - 1) / (more - less), True: (1 - less) / (more - less)}
    totals = {above: mpmath.fsum(w for _, w in sides[above]) for above in (False, True)}
    q = [w * shares[r > 1] / totals[r > 1] for r, w in zip(ratios, weights, strict=True)]
    return [r * x for r, x in zip(ratios, q, strict=True)], q


def of_pure_pair(epsilon: float, outcomes: int, draw: int, order: float) -> Number:
    """Its Renyi divergence."""
    with mpmath.workdps(DIGITS):
        return known(divergence(*pure_pair(epsilon, outcomes, draw), order), "finite laws, 50 digits")


def of_response(epsilon: float, order: float) -> Number:
    """The value epsilon - log((1 + e^-epsilon) / (1 + e^-(2a-1)epsilon)) / (a - 1)."""
    with mpmath.workdps(DIGITS):
        e, a = mpmath.mpf(epsilon), mpmath.mpf(order)
        return known(
            e - mpmath.log((1 + mpmath.e**-e) / (1 + mpmath.e ** (-(2 * a - 1) * e))) / (a - 1), "50 digits"
        )


PURE = Statement(
    name="field-pure-to-renyi",
    formula=r"\hat\varepsilon(a) = \varepsilon - \frac{1}{a - 1} \log \frac{1 + e^{-\varepsilon}}{1 + e^{-(2 a - 1) \varepsilon}}",
    says="An $\\varepsilon$-DP algorithm has at order $a > 1$ a Renyi divergence of at most $\\varepsilon - \\frac{1}{a-1} "
    "\\log\\frac{1 + e^{-\\varepsilon}}{1 + e^{-(2a-1)\\varepsilon}}$. Judged for random finite laws, and randomised response, which attains it.",
    source="Steinke (2024), differentialprivacy.org, 'Tight RDP & zCDP Bounds from Pure DP', theorem 4; the post was at hand",
    kind=Bound(unit="Renyi divergence"),
    domain={
        "epsilon": Real(0.01, 10.0, log=True, meaning="epsilon"),
        "outcomes": Whole(2, 8, meaning="outcomes of a random pair of laws"),
        "draw": Whole(0, 10**6, meaning="seed of the pair; 0: randomised response"),
        "order": Real(1.01, 100.0, log=True, meaning="order a"),
    },
    claimed=of_response,
    truth=of_pure_pair,
    points=[
        {"epsilon": epsilon, "outcomes": 4, "draw": draw, "order": order}
        for epsilon, draw, order in ((1.0, 0, 2.0), (1.0, 1, 2.0), (0.1, 2, 20.0), (5.0, 3, 1.5))
    ],
    control=Control({"epsilon": 1.0, "outcomes": 4, "draw": 0, "order": 2.0}),
    quote=Quote(
        "Let M : X^n -> Y be a randomized algorithm satisfying epsilon-differential privacy. Then M satisfies (alpha, epsilon(alpha))-Renyi DP for "
        "all alpha > 1, where [...] Furthermore, this bound is tight.",
        "theorem 4",
    ),
    matters_when={"outcomes": lambda draw: draw != 0},
)  # fmt: skip


def of_laplace(epsilon: float, order: float) -> Number:
    """D_a / a of Laplace noise of scale 1/epsilon and a shift by 1 (Mironov 2017, table II)."""
    with mpmath.workdps(DIGITS):
        e, a = mpmath.mpf(epsilon), mpmath.mpf(order)
        total = a / (2 * a - 1) * mpmath.e ** ((a - 1) * e) + (a - 1) / (2 * a - 1) * mpmath.e ** (-a * e)
        return known(mpmath.log(total) / (a - 1) / a, "closed form, 50 digits")


LAPLACE = Statement(
    name="field-laplace-zcdp",
    formula=r"\rho = \varepsilon + e^{-\varepsilon} - 1",
    says="The $\\varepsilon$-DP Laplace mechanism is $(\\varepsilon + e^{-\\varepsilon} - 1)$-zCDP: $D_a \\le a \\rho$ at every order $a > 1$. That no less "
    "does is its divergence as $a \\to 1$.",
    source="Harrison and Manurangsi (2026), arXiv 2510.25746, whose abstract alone was at hand",
    kind=Bound(unit="D_a / a"),
    domain={
        "epsilon": Real(0.001, 50.0, log=True, meaning="epsilon"),
        "order": Real(1.0001, 10_000.0, log=True, meaning="order a"),
    },
    claimed=lambda epsilon: epsilon + math.expm1(-epsilon),
    truth=of_laplace,
    points=({"epsilon": 1.0, "order": 1.0001}, {"epsilon": 0.1, "order": 2.0}, {"epsilon": 10.0, "order": 1.01}),
    control=Control({"epsilon": 1.0, "order": 1.0001}),
    quote=Quote(
        "We prove that the tight zCDP bound for the epsilon-DP Laplace mechanism is exactly epsilon + e^-epsilon - 1, confirming a recent "
        "conjecture by Wang (2022).",
        "abstract",
    ),
)  # fmt: skip


# Permute and flip.


def permute_and_flip(scores: np.ndarray, epsilon: float) -> np.ndarray:
    """Probabilities of the candidates: each flips a coin of e^(epsilon (q - max)/2) in random order, and the first head wins.

    With a uniform arrival of each, a candidate that arrives at u wins if none that came before, each with probability u, had a head:
    a_i times the integral of prod_{j != i} (1 - u a_j), a polynomial.

    >>> permute_and_flip(np.array([0.0, -2.0]), 1.0).round(6).tolist()
    [0.81606, 0.18394]
    """
    heads = np.exp(0.5 * epsilon * (scores - scores.max()))
    result = []
    for i, own in enumerate(heads):
        part = np.polynomial.Polynomial([1.0])
        for j, other in enumerate(heads):
            if j != i:
                part *= np.polynomial.Polynomial([1.0, -other])
        result.append(own * float(part.integ()(1.0)))
    return np.array(result)


def scores_of(candidates: int, gap: float, draw: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores of neighbours, each moved by 1 at most; draw 0: the first is `gap` ahead and falls by 1, and the others rise by 1."""
    scores = np.concatenate([[0.0], np.full(candidates - 1, -gap)])
    if draw == 0:
        return scores, scores + np.concatenate([[-1.0], np.ones(candidates - 1)])
    rng = np.random.default_rng([draw, candidates])
    scores = scores + rng.uniform(-1.0, 1.0, candidates)
    return scores, scores + rng.uniform(-1.0, 1.0, candidates)


def flipped_delta(epsilon: float, candidates: int, gap: float, draw: int, share: float) -> Number:
    """The delta at share x epsilon, the worse of both directions."""
    first, second = (permute_and_flip(item, epsilon) for item in scores_of(candidates, gap, draw))
    k = math.exp(share * epsilon)
    value = max(float(np.maximum(a - k * b, 0.0).sum()) for a, b in ((first, second), (second, first)))
    return Number(value, 1e-12 * k, route="probabilities of the candidates")


def worst_pair(share: float) -> dict[str, Any]:
    """The worst neighbours at e = share x epsilon: two candidates, whose gap of 1 - share falls by 2."""
    return {"candidates": 2, "gap": 1.0 - share, "draw": 0, "share": share}


_FAR = {"epsilon": 1.0, "candidates": 2, "gap": 4.0, "draw": 0, "share": 0.0}
PERMUTE_BOUND = Statement(
    name="field-permute-and-flip-bound",
    formula=r"\delta(e) \le 1 - e^{(e - \varepsilon) / 2}",
    says="Of any two neighbours, permute-and-flip has at most the privacy loss of the Laplace mechanism of scale $1/\\varepsilon$. (Most have less, and only "
    "those whose candidates change places reach it, each pair at a single $e$.) Judged for 2 to 8 candidates; the derivation is for any number.",
    source="google/differential-privacy, dp_accounting, PermuteAndFlipDpEvent: its words in the code, which name no proof",
    kind=Bound(unit="delta"),
    domain={
        "epsilon": Real(0.1, 8.0, log=True, meaning="epsilon of the mechanism"),
        "candidates": Whole(2, 8, meaning="candidates"),
        "gap": Real(0.0, 6.0, meaning="how far the best candidate is ahead"),
        "draw": Whole(0, 10**6, meaning="seed of the scores; 0: the best falls by 1, the others rise by 1"),
        "share": Real(0.0, 0.95, meaning="e over epsilon"),
    },
    claimed=lambda epsilon, share: -math.expm1((share - 1.0) * epsilon / 2.0),
    truth=flipped_delta,
    points=[
        Point(_FAR, "two candidates, far apart"),
        _FAR | {"gap": 1.0},
        _FAR | {"epsilon": 2.0, "candidates": 8, "gap": 2.0, "share": 0.5},
        _FAR | {"epsilon": 2.0, "candidates": 5, "gap": 2.0, "draw": 1, "share": 0.5},
    ],
    control=Control(_FAR | {"gap": 1.0}, shift=0.03),
    quote=Quote(
        "Its privacy loss distribution is identical to that of the Laplace mechanism with parameter 1/epsilon. A dedicated event type is provided for API "
        "clarity and to allow future tighter analyses. [...] For PLD accounting, we use the Laplace privacy loss distribution.",
        "dp_event.py:504 of google/differential-privacy, dp_accounting, commit b5b0286 (6 August 2026)",
    ),
    derivation="Permute-and-flip is the report of the noisy maximum with exponential noise of rate $\\varepsilon/2$ (Ding et al. 2021). For a set "
    "S of candidates let A and B be the largest noisy scores in S and outside, and $G(t) = P(A - B > t)$. S has the probability G(0), and with a "
    "neighbour's scores, of which those in S fall by 1 at most and the others rise by 1 at most, at least G(2). Exponential noise has no memory: where "
    "A passes c, the noise of the first candidate that passes it goes on by h with a probability of at least $e^{-\\varepsilon h/2}$, so that "
    "$P(A > c + h) \\ge e^{-\\varepsilon h/2} P(A > c)$, and the same of B. So $G(t + h) \\ge e^{-\\varepsilon h/2} G(t)$ and "
    "$1 - G(t) \\ge e^{-\\varepsilon h/2} (1 - G(t + h))$: G falls no faster than $\\frac{\\varepsilon}{2} \\min(G, 1 - G)$, which is how the tail H of a Laplace number of scale $2/\\varepsilon$ falls. With "
    "$H(x) = G(0)$ therefore $G(2) \\ge H(x + 2)$. Half-lines are best to tell two Laplace numbers apart: no event, and so no test, shows more than "
    "Laplace noise of scale $1/\\varepsilon$ and a shift by 1. A gap of $1 - e/\\varepsilon$ of two candidates that falls by 2 attains the bound at $e$.",
)
PERMUTE = replace(
    PERMUTE_BOUND,
    name="field-permute-and-flip",
    uses=(PERMUTE_BOUND.name,),
    formula=r"\delta(e) = 1 - e^{(e - \varepsilon) / 2}",
    says="Of a single use of permute-and-flip the largest $\\delta(e)$ of neighbours is that of the Laplace mechanism of scale $1/\\varepsilon$, at every e from 0 to 0.95 $\\varepsilon$. "
    "(Each e is reached by another pair of two candidates.)",
    kind=Equality(unit="delta"),
    domain={name: PERMUTE_BOUND.domain[name] for name in ("epsilon", "share")},
    truth=lambda epsilon, share: flipped_delta(epsilon, **worst_pair(share)),
    points=[{"epsilon": epsilon, "share": share} for epsilon, share in ((1.0, 0.0), (2.0, 0.5), (8.0, 0.95))],
    control=Control({"epsilon": 1.0, "share": 0.0}, shift=-0.05),
    not_judged={
        "Its privacy loss distribution is identical": "of several uses, for which it is an upper bound: no pair of neighbours has the whole distribution, as a release has finitely many values"
    },
    derivation="",
)


# The best of several runs.

POISSON, FIXED = "Poisson", "a fixed number"


def _base(outcomes: int, size: float, draw: int) -> tuple[np.ndarray, np.ndarray]:
    """Laws of the outcome of a run, from the worst to the best; draw 0: a coin of e^size : 1, whose worse side the record favours."""
    if draw == 0:
        chance = 1.0 / (1.0 + math.exp(-size))
        return np.array([chance, 1.0 - chance]), np.array([1.0 - chance, chance])
    rng = np.random.default_rng([draw, outcomes])
    first, moved = rng.dirichlet(np.ones(outcomes)) + 1e-3, np.exp(rng.uniform(-size, size, outcomes) / 2.0)
    second = first * moved
    return first / first.sum(), second / second.sum()


def _best(law: np.ndarray, runs: str, mean: int) -> list[Any]:
    """The law of the best of the runs; of none that there was none."""
    below = [mpmath.mpf(0)]
    for mass in law:
        below.append(below[-1] + mpmath.mpf(float(mass)))
    below = [x / below[-1] for x in below]
    reached = [mpmath.e ** (mean * (x - 1)) if runs == POISSON else x**mean for x in below]
    none = [reached[0]] if runs == POISSON else []
    return none + [b - a for a, b in itertools.pairwise(reached)]


def best_of(outcomes: int, size: float, draw: int, order: float, mean: int, runs: str) -> Number:
    """The Renyi divergence of the best, the larger of both directions."""
    with mpmath.workdps(DIGITS):
        first, second = (_best(law, runs, mean) for law in _base(outcomes, size, draw))
        return known(
            max(divergence(first, second, order), divergence(second, first, order)), "finite laws, 50 digits"
        )


def promised_best(outcomes: int, size: float, draw: int, order: float, mean: int) -> Number:
    """The sum epsilon + mean x delta + log(mean) / (order - 1), (order, epsilon) of a run and delta of a run at log(1 + 1 / (order - 1))."""
    with mpmath.workdps(DIGITS):
        first, second = ([mpmath.mpf(float(x)) for x in law] for law in _base(outcomes, size, draw))
        first, second = ([x / mpmath.fsum(law) for x in law] for law in (first, second))
        pairs = ((first, second), (second, first))
        both: list[Any] = [divergence(*pair, order) for pair in pairs]
        epsilon, k = max(both), 1 + 1 / (mpmath.mpf(order) - 1)
        excess: list[Any] = [
            sum(max(a - k * b, mpmath.mpf(0)) for a, b in zip(*pair, strict=True)) for pair in pairs
        ]
        delta = max(excess)
        return known(
            epsilon + mean * delta + mpmath.log(mean) / (mpmath.mpf(order) - 1), "finite laws, 50 digits"
        )


def every_run(outcomes: int, size: float, draw: int, order: float, mean: int) -> Replication:
    """The best of a fixed number of runs, from differences of what the distribution function of a run becomes."""
    logs = [np.log(np.diff(np.append(0.0, np.cumsum(law)) ** mean)) for law in _base(outcomes, size, draw)]
    return max((by_logs(pair, order) for pair in (logs, logs[::-1])), key=lambda seen: seen.value)


_BEST = {
    "outcomes": Whole(2, 6, meaning="outcomes of a run"),
    "size": Real(0.05, 3.0, log=True, meaning="largest privacy loss of a run, about"),
    "draw": Whole(0, 10**6, meaning="seed of the laws of a run; 0: a coin of e^size : 1"),
    "order": Real(1.05, 50.0, log=True, meaning="order lambda"),
    "mean": Whole(1, math.inf, log=True, hunt_to=100, meaning="mean number of runs"),
}
_COIN = {"outcomes": 2, "size": 1.0, "draw": 0, "order": 10.0, "mean": 10}
_RUNS = [
    _COIN,
    _COIN | {"draw": 1, "outcomes": 5},
    _COIN | {"size": 0.1, "order": 30.0, "mean": 50},
    _COIN | {"mean": 1, "order": 2.0},
]
_THEOREM_6 = "Papernot and Steinke (2022), theorem 6, as dp_accounting states it (rdp_privacy_accountant.py:803 of commit b5b0286); of the paper the abstract was at hand"
BEST_POISSON = Statement(
    name="field-best-of-poisson",
    formula=r"\varepsilon' = \varepsilon + \mu \hat\delta + \frac{\log \mu}{\lambda - 1}",
    says="The best of a Poisson number of runs, of mean $\\mu \\ge 1$, has at order $\\lambda$ a Renyi divergence of at most $\\varepsilon + \\mu\\hat\\delta + "
    "\\log(\\mu)/(\\lambda - 1)$, where a run is $(\\lambda, \\varepsilon)$-RDP and $(\\log(1 + 1/(\\lambda - 1)), \\hat\\delta)$-DP. "
    "Judged for coins and random finite laws of 2 to 6 outcomes.",
    source=_THEOREM_6,
    kind=Bound(unit="Renyi divergence"),
    domain=_BEST,
    claimed=promised_best,
    truth=lambda **at: best_of(runs=POISSON, **at),
    points=_RUNS,
    control=Control(_COIN, attained=True),
    matters_when={"outcomes": lambda draw: draw != 0},
)  # fmt: skip
BEST_FIXED = Statement(
    name="field-best-of-fixed",
    formula=BEST_POISSON.formula,
    says="The best of $\\mu$ runs has at most the Renyi divergence that the bound for a Poisson number of mean $\\mu$ gives, also where the number is fixed.",
    fails="The theorem averages over a Poisson number of runs; a fixed number loses what that randomness hides.",
    instead="a Poisson number of runs",
    source=f"no author's claim, but a use of the theorem where the number is fixed, though it asks for a Poisson number: {_THEOREM_6}",
    kind=Bound(unit="Renyi divergence"),
    domain=_BEST | {"runs": Choice(FIXED, POISSON, meaning="how the number of runs is chosen")},
    claimed=promised_best,
    truth=best_of,
    points=[at | {"runs": runs} for runs in (FIXED, POISSON) for at in _RUNS],
    control=Control(_COIN | {"runs": POISSON}, attained=True),
    second_route=every_run,
    restored_by=("the number of runs is Poisson", lambda runs: runs == POISSON),
    matters_when={"outcomes": lambda draw: draw != 0},
)

STATEMENTS = (
    EXPONENTIAL_COUNT,
    BOUNDED_RANGE,
    PURE,
    LAPLACE,
    PERMUTE,
    PERMUTE_BOUND,
    BEST_POISSON,
    BEST_FIXED,
)
