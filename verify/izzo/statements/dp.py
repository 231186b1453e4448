"""MIP beside differential privacy: theorems 4, 5 and 7, proposition 6, over all algorithms by linear programs."""

from fractions import Fraction
from math import comb

import numpy as np

from mipsim import referee as rf
from verify.izzo.laws.algorithms import fingerprint_law, response_law
from verify.izzo.laws.finite_divergences import least_delta, renyi_divergence
from verify.izzo.laws.linear_programs import largest_dp_eta, largest_posterior_odds
from verify.izzo.laws.subset_enumeration import finite_eta
from verify.izzo.statements.definition import EVEN, HALF, SIZES
from verify.statement import Statement, nowhere

# Every half is an unknown of the linear program, and e^epsilon a coefficient of it: the solver may give up from about epsilon = 11.5 on.
_N, _EPSILON = (
    rf.Whole(2, np.inf, hunt_to=8, meaning="records in D, of which the training set is sampled"),
    rf.Real(0.0, np.inf, hunt_to=10, meaning="privacy parameter epsilon"),
)
ALL = "the largest eta of all algorithms"
EXAMPLE, SPENT = "eta of the paper's example", "delta of the paper's example"
ENUMERATED = 12
"""Records up to which every half is enumerated for 1{D_train = D*}."""


def between(low: float, high: float) -> rf.Number:
    """The optimum of a linear program over all algorithms, between proven bounds."""
    # Where they meet, rounding may turn them round.
    return rf.Number.between(*sorted((low, high)), route="linear program over all algorithms")


def eta_from_dp(epsilon: float, delta: float) -> float:
    """What (epsilon, delta)-DP implies, as (delta + (1 - delta) tanh(epsilon / 2)) / 2, so that a small eta loses no digits: theorem 4."""
    return float(0.5 * (delta + (1.0 - delta) * np.tanh(0.5 * epsilon)))


def dp_number(part: str, n: int, epsilon: float, delta: float) -> rf.Number:
    """The largest eta of any (epsilon, delta)-DP algorithm, or eta or the least delta of the paper's example."""
    if part == ALL:
        return between(*largest_dp_eta(n, epsilon, delta))
    law = response_law(n, epsilon, delta)
    if part == EXAMPLE:
        return rf.Number(float(finite_eta(law, n).max()), route="enumeration")
    return rf.Number(least_delta(law[0], law[-1], epsilon), route="enumeration")


THEOREM_4 = Statement(
    name="izzo-thm-4",
    formula=r"\eta = \delta + \frac{1 - \delta}{1 + e^{-\varepsilon}} - \frac{1}{2}",
    uses=("izzo-lemma-12",),
    says="(epsilon, delta)-DP implies eta-MIP with eta = delta + (1 - delta)/(1 + e^-epsilon) - 1/2, and this is tight.",
    # The largest eta of all algorithms equals the formula: the bound holds, and it is tight at this n.
    kind=rf.Equality(1e-9, unit="eta"),
    domain={
        "part": rf.Choice(ALL, EXAMPLE, SPENT, meaning="what is judged"),
        "n": _N,
        "epsilon": _EPSILON,
        "delta": rf.Real(0.0, 1.0, meaning="privacy parameter delta"),
    },
    where=lambda n, delta: n % 2 == 0 and delta < 1.0,
    claimed=lambda part, epsilon, delta: delta if part == SPENT else eta_from_dp(epsilon, delta),
    truth=dp_number,
    points=rf.grid(part=ALL, n=SIZES, epsilon=(0.0, 0.01, 1.0, 5.0), delta=(0.0, 1e-5, 0.3, 0.999))
    + rf.grid(part=ALL, n=10, epsilon=1.0, delta=0.01)
    + rf.grid(part=(EXAMPLE, SPENT), n=(2, 6), epsilon=(0.01, 1.0, 50.0), delta=(0.0, 0.01, 0.999)),
    control=rf.Control({"part": ALL, "n": 4, "epsilon": 1.0, "delta": 0.3}),
    quote=rf.Quote(
        "Let A be (eps, delta)-DP. Then A is eta-MIP with eta = delta + (1-delta)/(1+e^-eps) - 1/2. Furthermore, this bound is tight, i.e. for any eps > 0 and 0 <= delta < 1, there exists an (eps, delta)-DP algorithm against which the optimal attacker has accuracy delta + (1-delta)/(1+e^-eps).",
        "theorem 4",
    ),
    restricted_by=(
        HALF,
        rf.Quote(
            "To be precise, given two datasets D and D', we say that these datasets are adjacent (denoted D ~ D') if |D \\ D'| = |D' "
            "\\ D| = 1, or equivalently if D and D' differ by replacing exactly one element.",
            "section 2",
        ),
    ),
    needs=EVEN,
)


def fingerprint_eta(n: int) -> Fraction:
    """The eta of 1{D_train = D*} for the worst target, by counting: "yes" comes from D* alone, "no" from the other halves."""
    inside, outside = comb(n - 1, n // 2 - 1), comb(n - 1, n // 2)
    right = max(1 + max(inside - 1, outside), 1 + max(outside - 1, inside))
    return Fraction(right, comb(n, n // 2)) - Fraction(1, 2)


def fingerprint(part: str, eta: float, epsilon: float) -> rf.Number:
    """The eta of 1{D_train = D*} over the promised eta at the least n of which 1/C(n, n/2) <= eta, or how far its least delta is from 1."""
    n = 2
    while comb(n, n // 2) * Fraction(eta) < 1:
        n += 2
    law = fingerprint_law(min(n, ENUMERATED))
    if part == "DP":
        return rf.Number(1.0 - least_delta(law[0], law[1], epsilon), route="enumeration")
    result = Fraction(float(finite_eta(law, n).max())) if n <= ENUMERATED else fingerprint_eta(n)
    route = "enumeration" if n <= ENUMERATED else "whole numbers"
    return rf.Number(float(result / Fraction(eta)), route=route, detail=f"n = {n} suffices.")


THEOREM_5 = Statement(
    name="izzo-thm-5",
    says="For any eta > 0 some algorithm is eta-MIP and not (epsilon, delta)-DP for any epsilon < inf and delta < 1: A = 1{D_train = D*}, with n large enough.",
    kind=rf.Bound(unit="times the promised eta"),
    domain={
        "part": rf.Choice("MIP", "DP", meaning="what is judged"),
        "eta": rf.Real(1e-300, 0.5, log=True, meaning="promised eta"),
        "epsilon": rf.Real(0.0, np.inf, hunt_to=700, meaning="privacy parameter epsilon"),
    },
    # "DP": the least delta is 1, so that no delta < 1 does.
    claimed=lambda part: rf.Number(0.0, unit="1 - delta") if part == "DP" else 1.0,
    truth=fingerprint,
    # At 1/C(n, n/2) the bound is attained.
    points=rf.grid(part="MIP", eta=[1 / comb(n, n // 2) for n in (2, 4, 6, 8, 10, 12)], epsilon=1.0)
    + rf.grid(part="MIP", eta=(0.1, 1e-3, 1e-10, 1e-100, 1e-300), epsilon=1.0)
    + rf.grid(part="DP", eta=0.1, epsilon=(0.1, 10.0, 700.0)),
    control=rf.Control({"part": "MIP", "eta": 1 / 20, "epsilon": 1.0}),
    quote=rf.Quote(
        "For any eta > 0, there exists an algorithm A which is eta-MIP but not (eps, delta)-DP for any eps < infinity and delta < 1.",
        "theorem 5",
    ),
    matters_when={"epsilon": nowhere},
)

PROPOSITION_6 = Statement(
    name="izzo-prop-6",
    formula=r"\frac{P(x^* \notin D_{\mathrm{train}} \mid A)}{P(x^* \in D_{\mathrm{train}} \mid A)} \le e^\varepsilon \frac{P(x^* \notin D_{\mathrm{train}})}{P(x^* \in D_{\mathrm{train}})}",
    uses=("izzo-lemma-12",),
    says="If A is (epsilon, 0)-DP, P(x* out | A)/P(x* in | A) <= e^epsilon P(x* out)/P(x* in) for every x* and output.",
    kind=rf.Bound(unit="times e^epsilon times the prior odds"),
    domain={
        "n": _N,
        "k": rf.Whole(1, np.inf, hunt_to=7, meaning="records in the training set, of n"),
        "epsilon": _EPSILON,
    },
    where=lambda n, k: k < n,
    claimed=lambda: 1.0,
    truth=lambda n, k, epsilon: between(
        *np.array(largest_posterior_odds(n, k, epsilon)) / (np.exp(epsilon) * (n - k) / k)
    ),
    points=[
        at
        for n in (2, 3, 4, 5, 6, 8)
        for at in rf.grid(n=n, k=sorted({1, n // 2, n - 1}), epsilon=(0.0, 0.1, 1.0, 5.0))
    ],
    control=rf.Control({"n": 6, "k": 3, "epsilon": 1.0}),
    quote=rf.Quote(
        "If A is an (eps, 0)-DP algorithm, then for any x*, we have P(x* not in D_train | A(D_train))/P(x* in D_train | A(D_train)) <= e^eps P(x* not in D_train)/P(x* in D_train).",
        "proposition 6",
    ),
)


def left_of_privacy(flip: float, n: int, notion: str, order: float) -> float:
    """1/divergence, or the least FPR + FNR, of D* and a neighbour, whose answer is turned with probability `flip`."""
    first, second = (fingerprint_law(n) * (1 - 2 * flip) + flip)[:2]
    if notion == "f-DP":
        return 1.0 - 0.5 * float(np.abs(first - second).sum())
    return 1.0 / min(renyi_divergence(first, second, order), renyi_divergence(second, first, order))


RENYI = "RDP, CDP, tCDP"
_FOUR = {"n": 4, "notion": "f-DP", "order": 2.0}
THEOREM_7 = Statement(
    name="izzo-thm-7",
    uses=("izzo-thm-5",),
    says="For any eta > 0 some algorithm is eta-MIP and not (nontrivially) RDP, CDP, tCDP or f-DP: the example of theorem 5. (That it is eta-MIP is judged in izzo-thm-5, and here that D* and a neighbour have disjoint answers.)",
    # Disjoint supports: f = 0, and RDP, CDP and tCDP hold with an infinite bound only.
    kind=rf.Equality(1e-12, unit="least FPR + FNR, or 1/divergence"),
    domain={
        "n": rf.Whole(2, np.inf, hunt_to=14, meaning="records in D, of which the training set is sampled"),
        "notion": rf.Choice("f-DP", RENYI, meaning="notion of privacy"),
        "order": rf.Real(0.0, np.inf, hunt_to=1000, meaning="order of the Renyi divergence"),
    },
    where=lambda n, order: n % 2 == 0 and order not in (0.0, 1.0),
    claimed=lambda: 0.0,
    truth=lambda n, notion, order: left_of_privacy(0.0, n, notion, order),
    points=rf.grid(_FOUR, n=(2, 4, 8, 12)) + rf.grid(_FOUR, notion=RENYI, order=(0.5, 1.0001, 2.0, 100.0)),
    # The algorithm lies with a probability of 3%.
    control=rf.Control(
        _FOUR, truth=lambda factor, n, notion, order: left_of_privacy(factor - 1.0, n, notion, order)
    ),
    quote=rf.Quote(
        "For any eta > 0, there exists an algorithm A and a dataset D such that A is eta-MIP with respect to D, but A is not (nontrivially) RDP, CDP, tCDP, or f-DP.",
        "theorem 7",
    ),
)

STATEMENTS = (THEOREM_4, THEOREM_5, PROPOSITION_6, THEOREM_7)
