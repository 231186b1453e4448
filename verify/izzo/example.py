"""Proposition 11 (a tiny variance beside a huge sensitivity) and the noise scales of figure 1."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import combinations
from math import log2, sqrt

import numpy as np

from mipsim.exact.subset_enumeration import half_subsets
from mipsim.exact.subset_laplace import laplace_eta
from mipsim.theory import izzo, izzo_example
from verify.claim import Between, Budget, Claim, Kind, OneOf, Regime, RegimeResult, TrendEvidence
from verify.limits import judge_identity

VARIANCE = 5.0
"""The paper's bound of the variance."""
LEAST = 0.25
"""Delta >= LEAST 2^(n/3): what Omega is read as; from n = 6 on it holds with 1."""
EVEN = (2, 4, 6, 8, 12, 24, 36, 48, 100, 400, 1000)
ODD = (3, 5, 7, 9, 13, 25, 37, 101, 999)
PROOF = "x_last = C(n, n/2)^(-1/2) - sum 2^i, as in the proof"
TEXT = "x_last = C(n, n/2)^(1/2) - sum 2^i, as in the text"
SHARE = 0.99
"""Of the etas in (0, 1/2): what "almost all" is read as."""


def growth_regime(reading: str, sizes: tuple[int, ...], rate: float = 1 / 3) -> Regime:
    """The variance against its bound, and log2 Delta against n/3, at growing n."""
    word = PROOF if reading == "proof" else TEXT
    kind = "even n" if sizes[0] % 2 == 0 else "odd n"
    parameters = {"n": list(sizes), "reading": reading}

    def judge(_: Budget) -> RegimeResult:

        variances = [izzo_example.moments(n, reading).variance[1] for n in sizes]
        short = np.array([rate * n + log2(LEAST) - log2(izzo_example.sensitivity(n, reading)) for n in sizes])
        gap = max(max(variances) - VARIANCE, float(short.max()))
        result = judge_identity(
            gap,
            0.0,
            parameters,
            unit="bits of Delta below 2^(n/3)/4",
            route="whole-number counts with bounds",
            reading=word,
            detail=f"largest variance {max(variances):.4g}; Delta = "
            + ", ".join(f"{izzo_example.sensitivity(n, reading):.3g}" for n in sizes)
            + " at n = "
            + ", ".join(map(str, sizes)),
            second_route=partial(enumerated, reading),
            one_sided=True,
        )
        trend = TrendEvidence(
            np.array(sizes, float), short, short, short, 0.0, "n", "log2(2^(n/3)/4) - log2 Delta", word
        )
        return replace(result, evidence=trend)

    return Regime(f"{reading}, {kind}", parameters, judge, word, random=False)


def enumerated(reading: str) -> str:
    """Every half and every adjacent pair, literally, in Python numbers."""
    found = []
    for n in (8, 10, 12):
        records = [2.0**i for i in range(n - 1)] + [izzo_example.last_record(n, reading)]
        value = {s: 1.0 / sum(records[i] for i in s) for s in combinations(range(n), n // 2)}
        largest = max(
            abs(a - value[tuple(sorted((set(s) - {i}) | {j}))])
            for s, a in value.items()
            for i in s
            for j in range(n)
            if j not in s
        )
        found.append(f"{largest:.4g} (variance {np.var(list(value.values())):.3g}) at n = {n}")
    return (
        "literal enumeration of all halves and neighbours: Delta = "
        + ", ".join(found)
        + "; 2^(n/3) = 6.35, 10.1, 16"
    )


def share_regime(n: int, sigma_reading: str) -> Regime:
    """The share of eta in (0, 1/2) at which the MIP noise is below the DP noise."""
    reading = f"sigma = {sigma_reading}; almost all = at least 99% of (0, 1/2), and all of [0.01, 0.49]"
    parameters = {"n": n, "sigma": sigma_reading}

    def judge(_: Budget) -> RegimeResult:
        sigma = sqrt(5.0) if sigma_reading == "sqrt 5" else sqrt(izzo_example.moments(n).variance[1])
        low, high = izzo_example.mip_wins_from(n, sigma)
        share = 0.0 if np.isnan(low) else (high - low) / 0.5
        grid = np.linspace(0.01, 0.49, 200)
        delta = izzo_example.sensitivity(n)
        beaten = sum(
            izzo.mip_noise_scale(float(e), sigma) >= izzo.dp_noise_scale(float(e), delta) for e in grid
        )
        return judge_identity(
            max(SHARE - share, float(beaten)),
            0.0,
            parameters,
            unit="share of eta",
            route="formula, crossings by bisection",
            reading=reading,
            detail=f"MIP needs less noise for eta in ({low:.4g}, {high:.6g}), {share:.2%} of the range",
            one_sided=True,
        )

    return Regime(f"n = {n}, sigma = {sigma_reading}", parameters, judge, reading, random=False)


def sound_regime(n: int) -> Regime:
    """On the data set itself, both noises keep eta: exactly."""
    parameters = {"n": n, "eta": [0.01, 0.1, 0.25, 0.4, 0.49]}

    def judge(_: Budget) -> RegimeResult:
        records = np.array([2.0**i for i in range(n - 1)] + [izzo_example.last_record(n)])
        values = np.array([1.0 / records[flags].sum() for flags in half_subsets(n)])
        sigma, delta = float(values.std()), izzo_example.sensitivity(n)
        worst = -1.0
        for eta in (0.01, 0.1, 0.25, 0.4, 0.49):
            for scale in (izzo.mip_noise_scale(eta, sigma), izzo.dp_noise_scale(eta, delta)):
                worst = max(worst, float(laplace_eta(values, scale, n).max()) / eta - 1.0)
        return judge_identity(
            worst,
            1e-9,
            parameters,
            unit="relative to eta",
            route="closed form of Laplace mixtures",
            detail=f"largest eta is {worst + 1:.3g} of the promised one",
            one_sided=True,
        )

    return Regime(f"both noises suffice, n = {n}", parameters, judge, random=False)


_PROPOSITION = (
    "A(D) = 1/sum(D) over the halves of {2^i : i = 0, ..., n - 2} and x_last has sigma^2 = O(1) but sensitivity "
    "Omega(2^(n/3)), x_last = "
)
CLAIMS = (
    Claim(
        "izzo-prop-11",
        "izzo",
        _PROPOSITION
        + "C(n, n/2)^(1/2) - sum_{i <= n/2 - 2} 2^i (text), C(n, n/2)^(-1/2) - sum_{i <= n/2 - 2} 2^i (proof).",
        Kind.LIMIT,
        0.0,
        "bits",
        {
            "n": Between(2, float("inf"), "judged to 1000"),
            "reading": OneOf(("text", "proof"), "printed differently"),
        },
        (growth_regime("text", EVEN), growth_regime("proof", EVEN)),
        partial(growth_regime, "proof", EVEN, 0.51),
        corrected_by="izzo-prop-11-corrected",
    ),
    Claim(
        "izzo-prop-11-corrected",
        "izzo",
        _PROPOSITION + "C(n, m)^(-1/2) - sum_{i <= m - 2} 2^i, m = floor(n/2), for even and odd n.",
        Kind.LIMIT,
        0.0,
        "bits",
        {"n": Between(2, float("inf"), "judged to 1000")},
        (growth_regime("proof", EVEN), growth_regime("proof", ODD)),
        partial(growth_regime, "proof", EVEN, 0.51),
        corrects="izzo-prop-11",
        derivation=(
            "With p = 1/C(n, m) the set D* = {2^0, ..., 2^(m-2), x_last} has the sum p^(1/2), so A(D*) = p^(-1/2) has probability p and adds "
            "p (p^(-1/2))^2 = 1 to E A^2; every other half has a sum >= 1, so that the variance stays below 5 (it tends to 1). D* and the "
            "neighbour with x_last replaced by 2^(n-2) differ by p^(-1/2) - 1/(2^(m-1) - 1 + 2^(n-2)), about 2^(n/2) (pi n/2)^(-1/4). With the "
            "text's exponent +1/2 the sum of D* is p^(-1/2), A(D*) = p^(1/2), and the largest change tends to 0."
        ),
    ),
    Claim(
        "izzo-noise",
        "izzo",
        "Figure 1: the noise scale (6.16/eta)^2 sigma for MIP is below Delta/log((1 + 2 eta)/(1 - 2 eta)) for DP from n = 36 on, for "
        "almost all eta; both suffice for eta-MIP.",
        Kind.BOUND,
        0.0,
        "share of eta",
        {
            "n": Between(36, float("inf"), "even; judged to 1000"),
            "eta": Between(0, 0.5, "open ends"),
            "sigma": OneOf(("exact", "sqrt 5"), "the paper does not say which it draws"),
            "x_last": OneOf(("proof",), "figure 1 is drawn for the construction of the proof"),
        },
        (
            *(
                share_regime(n, word)
                for n in (36, 38, 40, 48, 100, 400, 1000)
                for word in ("exact", "sqrt 5")
            ),
            *(sound_regime(n) for n in (4, 8, 10)),
        ),
        partial(share_regime, 24, "exact"),
    ),
)
"""The example that motivates the wrapper."""
