"""What eta-MIP means (proposition 2) and that post-processing keeps it (theorem 3), by enumeration."""

from __future__ import annotations

from functools import partial
from itertools import pairwise, product

import numpy as np
from scipy import integrate

from mipsim.exact.subset.enumeration import finite_eta, half_subsets
from mipsim.exact.subset.laplace import laplace_eta
from mipsim.referee.exact_judges import ROUNDING
from verify.claim import Between, Budget, Claim, Kind, OneOf, Quote, Regime, RegimeResult
from verify.control import Control
from verify.izzo.algorithms import ALGORITHMS, SIZES, Law, best_by_search, drawn_law
from verify.izzo.noise import HALF
from verify.limits import judge_bound, judge_identity

N = Between(2, float("inf"), "even; enumerated at " + ", ".join(map(str, SIZES)))
ALGORITHM = OneOf((*ALGORITHMS, "Laplace noise on a sum"), "any algorithm")


def posterior_regime(name: str, n: int, factor: float = 1.0, law: Law | None = None) -> Regime:
    """The sum of larger posteriors against the best of all 2^m attacks, for every target."""
    parameters = {"n": n, "algorithm": name, "target": "every record"}

    law = ALGORITHMS[name](n) if law is None else law

    def judge(_: Budget) -> RegimeResult:
        eta = factor * finite_eta(law, n)
        gaps = []
        for target in range(n):
            best = best_by_search(law, n, target)[0]
            flags = half_subsets(n)[:, target]
            inside, everything = law[flags].sum(axis=0), law.sum(axis=0)
            says_in = law @ (2 * inside >= everything).astype(float)  # the stated optimal attack
            stated = float(np.where(flags, says_in, 1 - says_in).mean())
            gaps += [best - 0.5 - eta[target], stated - 0.5 - eta[target]]
        worst = max(gaps, key=abs)
        return judge_identity(
            worst, ROUNDING, parameters, unit="accuracy", route="enumeration of all attacks and targets"
        )

    return Regime(f"{name}, n = {n}", parameters, judge, random=False)


def density_regime(n: int, scale: float) -> Regime:
    """Continuous outputs: the integral of the larger joint density by quadrature against the closed form."""
    values = np.array([2.0 ** np.flatnonzero(flags) for flags in half_subsets(n)]).sum(axis=1)
    parameters = {"n": n, "algorithm": "sum of 2^0, ..., 2^(n-1) plus Laplace noise", "scale": scale}

    def judge(_: Budget) -> RegimeResult:
        flags = half_subsets(n)[:, 0]
        cuts = [values.min() - 40 * scale, *np.unique(values).tolist(), values.max() + 40 * scale]

        def larger(x: float) -> float:
            density = np.exp(-np.abs(x - values) / scale) / (2 * scale * len(values))
            return max(float(density[flags].sum()), float(density[~flags].sum()))

        total = sum(integrate.quad(larger, a, b, limit=200)[0] for a, b in pairwise(cuts))
        gap = total - 0.5 - float(laplace_eta(values, scale, n)[0])
        return judge_identity(gap, 1e-7, parameters, unit="accuracy", route="quadrature and closed form")

    return Regime(f"density, n = {n}, scale = {scale:g}", parameters, judge, random=False)


def processing_regime(name: str, n: int, factor: float = 1.0, law: Law | None = None) -> Regime:
    """Eta after every deterministic relabelling of up to 4 outputs and many random channels, less eta before."""
    parameters = {"n": n, "algorithm": name}
    law = ALGORITHMS[name](n) if law is None else law

    def judge(_: Budget) -> RegimeResult:
        m = law.shape[1]
        rng = np.random.default_rng(n)
        channels = [np.eye(m)]
        if m <= 4:
            channels += [np.eye(m)[list(labels)] for labels in product(range(m), repeat=m)]
        for concentration in (0.05, 0.3, 1.0):
            channels += [
                rng.dirichlet(np.full(k, concentration), size=m) for k in (2, m, 2 * m) for _ in range(15)
            ]
        before = factor * finite_eta(law, n)
        # For each target and hence for the largest of them.
        gap = max(float((finite_eta(law @ channel, n) - before).max()) for channel in channels)
        detail = f"{len(channels)} channels; the largest change is that of a one-to-one relabelling, 0"
        return judge_bound(gap, parameters, unit="eta", route="enumeration", detail=detail)

    return Regime(f"{name}, n = {n}", parameters, judge, random=False)


CLAIMS = (
    Claim(
        "izzo-prop-2",
        "izzo",
        "At k = n/2, A is eta-MIP if and only if, for every x*, sum_A max{P(x* in D_train | A), P(x* not in D_train | A)} P(A) "
        "<= 1/2 + eta; the optimal attack guesses the likelier side.",
        Kind.EXACT,
        ROUNDING,
        "accuracy",
        {
            "n": N,
            "algorithm": ALGORITHM,
            "x*": OneOf(("every record",)),
            "attack": OneOf(("all 2^m, one by one",)),
        },
        (
            *(posterior_regime(name, n) for name in ALGORITHMS for n in SIZES),
            *(density_regime(n, scale) for n in (2, 4) for scale in (0.2, 3.0, 50.0)),
        ),
        Control(partial(posterior_regime, "a count", 4)),
        quote=Quote(
            "Then A is eta-MIP if and only if sum_A max{P(x* in D_train | A(D_train) = A), P(x* not in D_train | A(D_train) = A)} P(A(D_train) = A) "
            "<= 1/2 + eta. Furthermore, the optimal adversary is given by I(x*, A) = 1{P(x* in D_train | A(D_train) = A) >= 1/2}.",
            "proposition 2",
        ),
        restricted_by=(HALF,),
        sampled=lambda rng, count: [
            posterior_regime("drawn", n, law=law) for n, law in (drawn_law(rng) for _ in range(count))
        ],
    ),
    Claim(
        "izzo-thm-3",
        "izzo",
        "If A is eta-MIP and f is any function, randomised independently of D_train, then f o A is eta-MIP.",
        Kind.BOUND,
        ROUNDING,
        "eta",
        {
            "n": N,
            "algorithm": ALGORITHM,
            "f": OneOf(
                ("every relabelling", "random channels"),
                "its coins are also independent of A's: with coins shared, A = membership XOR coin has eta 0 and "
                "f o A = membership has eta 1/2",
            ),
        },
        tuple(processing_regime(name, n) for name in ALGORITHMS for n in SIZES),
        Control(partial(processing_regime, "a count", 4), -0.03),
        quote=Quote(
            "Suppose that A is eta-MIP, and let f be any (potentially randomized, with randomness independent of D_train) function. Then f o A is "
            "also eta-MIP.",
            "theorem 3",
        ),
        # The coins of f are coins of the attack that f is part of.
        restricted_by=(
            HALF,
            Quote(
                "any classifier (whose randomness is independent of the randomness in A; if the adversary knows the algorithm and the random seed, we "
                "have no hope of enforcing privacy)",
                "section 3.3, after definition 1",
            ),
        ),
        sampled=lambda rng, count: [
            processing_regime("drawn", n, law=law) for n, law in (drawn_law(rng) for _ in range(count))
        ],
    ),
)
"""The meaning of eta, and post-processing."""
