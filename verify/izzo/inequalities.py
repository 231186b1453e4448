"""Lemma 12 (an injection between adjacent sets) and lemma 13 (a generalised Chebyshev inequality)."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
from scipy import optimize, stats

from mipsim.exact.subset.linear_programs import bracket_injection, matching_size
from verify.claim import Between, Budget, Claim, Kind, OneOf, Quote, Regime, RegimeResult
from verify.control import Control
from verify.limits import judge_bound, judge_identity

SOLVED = 1e-6


def matching_regime(n: int, k: int, factor: float = 1.0) -> Regime:
    """How many of `factor` times the sets without the target a largest matching leaves alone."""
    parameters = {"n": n, "k": k}

    def judge(_: Budget) -> RegimeResult:
        matched, sets = matching_size(n, k)
        return judge_identity(
            factor * sets - matched,
            0.0,
            parameters,
            unit="sets left alone",
            route="maximum matching",
            detail=f"{matched} of {sets} sets without x* are matched",
        )

    return Regime(f"matching, n = {n}, k = {k}", parameters, judge, random=False)


def bracket_regime(n: int, k: int) -> Regime:
    """An explicit injection, checked set by set: adjacent, with the target, all different."""
    parameters = {"n": n, "k": k}

    def judge(_: Budget) -> RegimeResult:
        before, after = bracket_injection(n, k)
        wrong = int((((before ^ after).sum(axis=1) != 2) | ~after[:, 0]).sum())
        doubled = len(after) - len(np.unique(np.packbits(after, axis=1), axis=0))
        return judge_identity(
            float(wrong + doubled), 0.0, parameters, unit="sets", route="explicit injection (brackets)"
        )

    return Regime(f"brackets, n = {n}, k = {k}", parameters, judge, random=False)


def largest_tail(bound: float, exponent: float, threshold: float) -> float:
    """The largest P(|X| > threshold) of all centred laws with E|X|^exponent <= bound, by a linear program on a grid.

    The grid holds the points just above the threshold; the value is attained by a law on it.
    """
    grid = np.concatenate([[0.0], np.geomspace(0.1, 0.999, 12), [1 + 1e-9], np.geomspace(1.01, 10.0, 30)])
    x = np.concatenate([-grid[:0:-1], grid])  # in units of the threshold
    result = optimize.linprog(
        -(np.abs(x) > 1.0).astype(float),
        A_ub=(np.abs(x) ** exponent)[None, :],
        b_ub=[bound / threshold**exponent],
        A_eq=np.vstack([np.ones_like(x), x]),
        b_eq=[1.0, 0.0],
        bounds=(0.0, 1.0),
        method="highs",
    )
    return -float(result.fun)


def tail_regime(k: float, t: float, sigma: float, exponent: float, factor: float = 1.0) -> Regime:
    """The largest P(|X - EX| > t sigma) under E|X - EX|^exponent <= sigma^k, less 1/t^k."""
    parameters = {
        "k": k,
        "t": t,
        "sigma": sigma,
        "premise": f"E||X - EX||^{exponent:g} <= sigma^{k:g}",
        "X": "all laws",
    }

    def judge(_: Budget) -> RegimeResult:
        largest = largest_tail(sigma**k, exponent, t * sigma)
        # The program is over laws on a grid with a point 1e-9 above the threshold: every law is a lower bound of the supremum.
        return judge_bound(
            largest - factor * min(1.0, t**-k),
            parameters,
            unit="probability",
            error=SOLVED,
            route="linear program over all laws on a grid",
            detail=f"largest P(||X - EX|| > t sigma) = {largest:.4g}; claimed bound {t**-k:.4g}",
            second_route=partial(two_points, k, t, sigma),
        )

    return Regime(f"k = {k:g}, t = {t:g}, sigma = {sigma:g}", parameters, judge, random=False)


def two_points(k: float, t: float, sigma: float) -> str:
    """A law on -a, 0, a with E X^2 <= sigma^k; in whole fractions where k is a whole number."""
    exact = k == int(k)
    s, x, power = (Fraction(sigma), Fraction(t), int(k)) if exact else (sigma, t, k)
    a = x * s * (Fraction(10001, 10000) if exact else 1.0001)
    p = min(1, s**power / a**2)
    kind = "exact fractions" if exact else "by hand"
    return (
        f"{kind}: X = +-{float(a):.4g} with probability {float(p / 2):.4g} each, else 0, has E X^2 = {float(p * a**2):.4g} "
        f"<= sigma^k and P(|X| > t sigma) = {float(p):.6g} > 1/t^k = {float(1 / x**power):.6g}"
        if p > 1 / x**power
        else f"{kind}: no law on these three points; P = {float(p):.6g}"
    )


LAWS = {
    "N(0, 1)": stats.norm(),
    "Laplace(1)": stats.laplace(),
    "Uniform(-1, 1)": stats.uniform(-1, 2),
    "Student t, 9 df": stats.t(9),
}


def law_regime(name: str, k: float) -> Regime:
    """The corrected inequality for a named law, at many t, with sigma its own k-th moment."""
    parameters = {"X": name, "k": k, "t": "0.5 to 20"}

    def judge(_: Budget) -> RegimeResult:
        law = LAWS[name]
        sigma = law.expect(lambda x: abs(x) ** k) ** (1 / k)
        t = np.geomspace(0.5, 20.0, 200)
        gap = float((2 * law.sf(t * sigma) - t**-k).max())
        return judge_bound(gap, parameters, unit="probability")

    return Regime(f"{name}, k = {k:g}", parameters, judge, random=False)


_K = Between(0, float("inf"), "k > 0; judged at 1 to 8")
_POINTS = tuple(
    (k, t, s) for k in (1.0, 2.0, 3.0, 4.0, 8.0) for t in (0.5, 1.5, 4.0) for s in (0.25, 1.0, 3.0)
)
_CHEBYSHEV = {
    "k": _K,
    "t": Between(0, float("inf"), "t > 0"),
    "sigma": Between(0, float("inf"), "sigma > 0"),
    "norm": OneOf(("any",), "||X - EX|| is a number, and every law on the line is judged"),
}
_LEMMA_13 = Quote(
    "Let ||.|| be any norm and X be a random vector with E||X - EX||^2 <= sigma^k. Then for any t > 0, we have P(||X - EX|| > t sigma) <= 1/t^k.",
    "lemma 13",
)
_MARKOV = Quote(
    "P(||X - EX|| > t sigma) = P(||X - EX||^k > t^k sigma^k) <= E||X - EX||^k/(t^k sigma^k) <= 1/t^k",
    "lemma 13, proof",
)


def _sampled_tails(rng: np.random.Generator, count: int, printed: bool) -> list[Regime]:
    """Any k, t and sigma; the printed premise has the exponent 2."""
    found = []
    for _ in range(count):
        k, t, sigma = (
            float(np.exp(rng.uniform(np.log(low), np.log(high))))
            for low, high in ((0.5, 8.0), (0.3, 6.0), (0.2, 5.0))
        )
        found.append(tail_regime(k, t, sigma, 2.0 if printed else k))
    return found


CLAIMS = (
    Claim(
        "izzo-lemma-12",
        "izzo",
        "For k >= n/2 there is an injection from the k-sets without x* to adjacent k-sets with it.",
        Kind.EXISTENCE,
        0.0,
        "sets left alone",
        {
            "n": Between(2, float("inf"), "every n to 10; 11, 15, 20"),
            "k": Between(1, float("inf"), "n/2 <= k <= n"),
        },
        (
            *(matching_regime(n, k) for n in range(2, 11) for k in range((n + 1) // 2, n + 1)),
            *(
                bracket_regime(n, k)
                for n, k in ((2, 1), (7, 4), (10, 5), (11, 6), (15, 8), (15, 12), (20, 10))
            ),
        ),
        Control(partial(matching_regime, 6, 3)),
        quote=Quote(
            "If k >= n/2 then there is an injective function f : D^out -> D^in such that D ~ f(D) for all D in D^out.",
            "lemma 12",
        ),
    ),
    Claim(
        "izzo-lemma-13",
        "izzo",
        "If E||X - EX||^2 <= sigma^k then P(||X - EX|| > t sigma) <= 1/t^k for any t > 0.",
        Kind.BOUND,
        SOLVED,
        "probability",
        _CHEBYSHEV,
        tuple(tail_regime(k, t, s, 2.0) for k, t, s in _POINTS),
        Control(partial(tail_regime, 2.0, 4.0, 1.0, 2.0), -0.03),
        corrected_by="izzo-lemma-13-corrected",
        quote=_LEMMA_13,
        slip=(_LEMMA_13, _MARKOV),
        sampled=partial(_sampled_tails, printed=True),
    ),
    Claim(
        "izzo-lemma-13-corrected",
        "izzo",
        "If EX exists and E||X - EX||^k <= sigma^k then P(||X - EX|| > t sigma) <= 1/t^k for any t > 0, k > 0 and sigma >= 0.",
        Kind.BOUND,
        SOLVED,
        "probability",
        _CHEBYSHEV | {"k": Between(0, float("inf"), "k > 0; judged at 0.5 to 8")},
        (
            *(tail_regime(k, t, s, k) for k, t, s in (*_POINTS, (0.5, 1.5, 1.0), (0.5, 4.0, 0.25))),
            *(law_regime(name, k) for name in LAWS for k in (1.0, 2.0, 4.0, 8.0)),
        ),
        Control(partial(tail_regime, 4.0, 4.0, 1.0, 4.0), -0.03),
        corrects="izzo-lemma-13",
        quote=_LEMMA_13,
        sampled=partial(_sampled_tails, printed=False),
        derivation=(
            "sigma > 0: ||X - EX||^k >= 0 is a number (a norm is measurable), and Markov's inequality gives P(||X - EX|| > t sigma) <= "
            "E||X - EX||^k/(t sigma)^k <= 1/t^k, the printed proof, which needs the k-th moment where the premise prints the exponent 2. sigma = 0: "
            "||X - EX|| = 0 almost surely, and the probability is 0. The two premises agree at k = 2 only. For k < 1 the mean may not exist; "
            "the same holds for any other centre."
        ),
    ),
)
"""The two lemmas."""
