"""The covariance attack against the scalar-product attack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from itertools import product

import numpy as np
from scipy import stats

from mipsim.exact.enumeration import mean_game, roc_vertices
from sims import cases
from sims.cases import Case
from sims.runner import run
from sims.studies import STUDIES
from verify.azize.linear import NormalCurve, law_third, linear_curve, normal_gap
from verify.claim import Between, Budget, Claim, CurveEvidence, Kind, OneOf, Quote, Regime, RegimeResult
from verify.control import Control
from verify.limits import Size, curve_tolerance, judge_bound, judge_limit

REFERENCES = {"origin": 0.0, "mean": None, "half": 0.5, "ones": 1.0}
SIZES = (100, 200, 400, 800, 1600, 3200, 6400, 12_800)
LARGE = tuple(10**7 * 4**k for k in range(8))
ROUTE = "normal law with its proven error"
LEAST_RATE = 1e-3
"""FPR and FNR that are judged: below, the proven error of the normal law in probits is the larger part."""
CASES = {c.name: c for c in cases.CASES}
LIMIT = "n, d to infinity"


def case_curve(case: Case, n: int, score: str) -> NormalCurve:
    """The curve of the covariance score, or of the scalar product with one of the `REFERENCES`, with its proven bracket."""
    moments = np.array([c.moments for c in case.coordinates])
    z, sd = np.array([c.z for c in case.coordinates]), np.sqrt(moments[:, 1])
    t = (z - moments[:, 0]) / sd
    weight = t
    if score != "covariance":
        value = REFERENCES[score]
        weight = (z - (moments[:, 0] if value is None else value)) * sd
    count = np.array([c.share for c in case.coordinates]) * case.tau * n
    return linear_curve(weight, t, law_third([(c.law, c.parameter) for c in case.coordinates]), count, n)


def limit_regime(name: str, score: str, factor: float = 1.0) -> Regime:
    """The curve of one of the two scores against g_mu, mu = w'(z - mu)/sqrt(n w'Cw); the covariance score has the largest."""
    case = CASES[name]
    mu, best = (case_curve(case, LARGE[-1], which).mu for which in (score, "covariance"))
    parameters = case.parameters | {
        "score": score,
        "mu": round(mu, 4),
        "mu of the covariance score": round(best, 4),
    }

    def at(n: int) -> Size:
        return normal_gap(case_curve(case, n, score), factor * mu, LEAST_RATE, name)

    def judge(_: Budget) -> RegimeResult:
        if not 0.0 < mu <= best * (1 + 1e-12):
            raise ValueError(f"mu is {mu:g}; by Cauchy and Schwarz it must lie in (0, {best:g}]")
        return judge_limit(
            at,
            curve_tolerance(mu),
            parameters,
            sizes=LARGE,
            reading=LIMIT,
            route=ROUTE,
        )

    return Regime(f"{name}, {score}", parameters, judge, LIMIT, random=False)


def sampled(rng: np.random.Generator, count: int) -> Sequence[Regime]:
    """Random product laws, targets, reference points and d/n: both scores against their limits."""
    return [_drawn(rng) for _ in range(count)]


def _drawn(rng: np.random.Generator) -> Regime:
    kinds = int(rng.integers(1, 7))
    laws: list[tuple[str, float]] = []
    t, weight = rng.normal(size=kinds), np.zeros(kinds)
    for j in range(kinds):
        law = str(rng.choice(["bernoulli", "gaussian", "exponential", "laplace", "uniform"]))
        p = float(rng.uniform(0.1, 0.9))
        laws.append((law, p))
        sd = np.sqrt(p * (1 - p)) if law == "bernoulli" else float(np.exp(rng.uniform(-1.0, 1.0)))
        if law == "bernoulli":
            t[j] = (float(rng.integers(0, 2)) - p) / sd
        # z - z_ref in units of the data, times sd: the reference point lies anywhere around the mean.
        weight[j] = (t[j] - rng.normal()) * sd**2
    weight *= np.sign(weight @ t)  # the stronger side of the scalar product
    tau, share = float(np.exp(rng.uniform(np.log(0.1), np.log(5.0)))), rng.dirichlet(np.ones(kinds))

    def curve(n: int, of: np.ndarray) -> NormalCurve:
        return linear_curve(of, t, law_third(laws), share * tau * n, n)

    mus = [curve(LARGE[-1], of).mu for of in (t, weight)]
    parameters: dict[str, object] = {
        "data": [f"{law}({p:.3f})" if law == "bernoulli" else law for law, p in laws], "(z - mean)/sd": t.round(3).tolist(),
        "(z - z_ref) sd": weight.round(3).tolist(), "d/n": round(tau, 4), "mu": [round(mu, 4) for mu in mus],
    }  # fmt: skip

    def at(n: int) -> Size:
        both = [normal_gap(curve(n, of), mu, LEAST_RATE) for of, mu in zip((t, weight), mus, strict=True)]
        low, high, error = (
            fold(getattr(s, name) for s in both)
            for fold, name in ((min, "low"), (max, "high"), (max, "error"))
        )
        return Size(low, high, error=error)

    def judge(_: Budget) -> RegimeResult:
        if not mus[1] <= mus[0] * (1 + 1e-12):
            raise ValueError(
                f"the scalar product has mu {mus[1]:g}; by Cauchy and Schwarz it must be at most {mus[0]:g}"
            )
        return judge_limit(
            at, curve_tolerance(max(mus[1], 0.05)), parameters, sizes=LARGE, reading=LIMIT, route=ROUTE
        )

    return Regime("a random law", parameters, judge, LIMIT, random=False)


RARE = 0.05
"""Expected number of ones among the n records of a rare coordinate."""


@cache
def rare_powers(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(FPR, power of the covariance attack, power of the scalar product) for two rare coordinates and targets of ones.

    D_1, D_2 = Bernoulli(.05/n); every other coordinate has its target and its reference at the mean, so neither score sees it.
    The covariance score is N_1 + N_2; with the reference (0, 1/2) the scalar product is N_1 + N_2 / 2.
    """
    counts = np.arange(15)  # more ones have probability below 1e-30
    out = stats.binom.pmf(counts, n, RARE / n)
    inside = stats.binom.pmf(counts - 1, n - 1, RARE / n)
    first, second = (x.ravel() for x in np.meshgrid(counts, counts, indexing="ij"))
    laws = np.outer(out, out).ravel(), np.outer(inside, inside).ravel()
    curves = [roc_vertices(first + weight * second, *laws) for weight in (1.0, 0.5)]
    alpha = np.union1d(curves[0][0], curves[1][0])
    covariance, scalar = (np.interp(alpha, *curve) for curve in curves)
    return alpha, covariance, scalar


def rare_regime() -> Regime:
    """Laws with all moments whose standardised moments grow with the index: the scores stay Poisson."""
    parameters: dict[str, object] = {
        "data": "D_j = Bernoulli(.05/j) at j = n - 1, n; elsewhere N(0, 1)", "target": "1 at the rare coordinates, the mean elsewhere",
        "reference point": "(0, 1/2) at the rare coordinates, the mean elsewhere",
    }  # fmt: skip

    def at(n: int) -> Size:
        _, covariance, scalar = rare_powers(n)
        ahead = float((scalar - covariance).max())
        return Size(ahead, ahead)

    def second() -> str:
        rng, n, games = np.random.default_rng(20_251_101), 200, 400_000
        counts = [rng.binomial(n - member, RARE / n, (games, 2)) + member for member in (0, 1)]
        power = {}
        for word, weight in (("covariance", 1.0), ("scalar product", 0.5)):
            out, inside = (c @ np.array([1.0, weight]) for c in counts)
            # The test rejects the largest scores, by lot at the last one, so that its FPR is .0035.
            cut = np.quantile(out, 1 - 0.0035)
            lot = (0.0035 - (out > cut).mean()) / (out == cut).mean()
            power[word] = float((inside > cut).mean() + lot * (inside == cut).mean())
        return (
            f"{games:,} games per world with the counts of ones (n = {n}): power at FPR .0035 is {power['covariance']:.3f} (covariance) "
            f"and {power['scalar product']:.3f} (scalar product)"
        )

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(
            at, 0.02, parameters, sizes=SIZES, unit="power", reading=LIMIT, second_route=second
        )

    return Regime("rare coordinates", parameters, judge, LIMIT, random=False)


def _curves(p: np.ndarray, n: int, z: np.ndarray, reference: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    outputs, out, inside = mean_game(p, n, z)
    found = []
    for weights in ((z - p) / (p * (1 - p)), z - reference):
        x, y = roc_vertices(outputs @ weights, out, inside)
        found.append(np.interp(np.linspace(0, 1, 201), x, y))
    return found[0], found[1]


@lru_cache(maxsize=1)
def hunted() -> tuple[float, dict[str, object], np.ndarray, np.ndarray]:
    """The largest advance of the scalar product over a grid of small games, by enumeration."""
    best: tuple[float, dict[str, object], np.ndarray, np.ndarray] = (-1.0, {}, np.zeros(0), np.zeros(0))
    for p in product((0.05, 0.1, 0.2, 0.3, 0.5), repeat=2):
        for z, reference in product(product((0.0, 1.0), repeat=2), repeat=2):
            if z == reference:
                continue
            covariance, scalar = _curves(np.array(p), 4, np.array(z), np.array(reference))
            ahead = float((scalar - covariance).max())
            if ahead > best[0] + 1e-9:
                where = {"n": 4, "p": list(p), "target": list(z), "reference": list(reference)}
                best = (ahead, where, covariance, scalar)
    return best


def finite_regime() -> Regime:
    """Every n: the worst of the hunted small games."""
    reading = "every n and d"
    parameters: dict[str, object] = {
        "n": 4,
        "d": 2,
        "searched": "p in {.05, .1, .2, .3, .5}^2, targets and references {0,1}^2",
    }

    def second() -> str:
        histograms = [
            run(STUDIES[f"azize_counterexample_scalar_{k}"], 40_000, 12) for k in ("covariance", "product")
        ]
        curves = [h.tradeoff(confidence=1 - 1e-6) for h in histograms]
        alpha = np.linspace(0.005, 0.995, 199)
        weaker, stronger = (c.band(alpha) for c in curves)
        k = int(np.argmax(weaker[0] - stronger[1]))
        return (
            f"40,000 literal games per world and attack (seed 12): at FPR {alpha[k]:.3f} the scalar product has power >= "
            f"{1 - stronger[1][k]:.4f} and the covariance attack <= {1 - weaker[0][k]:.4f} (failure probability 2e-6)"
        )

    def judge(_: Budget) -> RegimeResult:
        ahead, where, covariance, scalar = hunted()
        result = judge_bound(
            ahead,
            parameters | where,
            unit="power",
            route="enumeration (hunt over 300 games)",
            reading=reading,
            second_route=second,
        )
        grid, empty = np.linspace(0, 1, 201), np.zeros(0)
        label = "scalar product (solid) against the covariance attack (claimed to be at least as strong)"
        evidence = CurveEvidence(
            grid, 1 - scalar, empty, empty, empty, grid, 1 - covariance, "enumeration", label
        )
        return replace(result, evidence=evidence)

    return Regime("small games", parameters, judge, reading, random=False)


DOMAIN = {
    "n": Between(
        2,
        float("inf"),
        "a limit; judged at n = 1e7 ... 1.6e11 by a proven normal bracket",
    ),
    "d": Between(1, float("inf"), "d = tau n, tau from .1 to 20"),
    "data": OneOf(tuple(CASES), "product laws with finite (4 + delta)-th moments"),
    "target": OneOf(("easiest", "hardest", "typical", "far"), "every z*"),
    "reference point": OneOf((*REFERENCES, "random"), "any point, fixed or drawn apart from the records"),
    "alpha": Between(0, 1, "a fixed FPR; judged on [1e-3, 1 - 1e-3]"),
}
_LIMITS = tuple(limit_regime(name, score) for name in CASES for score in ("covariance", *REFERENCES))
SCALAR = Quote(
    "Our asymptotic analysis shows that the LR attack, i.e. the optimal attack, is also a scalar-product attack (Equation (5)), but "
    "corrected for the geometry of the data using the inverse covariance matrix.",
    'section 3, connection to the scalar product attack; appendix D.3: "provably better than the scalar product attack"',
)
CLAIMS = (
    Claim(
        "azize-scalar-product",
        "azize",
        "The covariance attack is at least as strong as the scalar-product attack (z* - z_ref)' muhat.",
        Kind.ORDERING, 0.02, "probit", DOMAIN,
        (*_LIMITS, rare_regime(), finite_regime()),
        Control(partial(limit_regime, "gaussian", "half")),
        corrected_by="azize-scalar-product-corrected",
        quote=SCALAR,
        restricted_by=(
            Quote("asymptotically in n and d", "section 3, after equation 5"),
            Quote(
                "The decrease in the power of the covariance attack compared to the LR attack depends on the accuracy of the estimators",
                "section 3, empirical LR attack",
            ),
        ),
        sampled=sampled,
    ),
    Claim(
        "azize-scalar-product-corrected",
        "azize",
        "As n and d grow, for data with independent coordinates, the covariance attack with known moments has at every fixed FPR at least the power of "
        "the scalar-product attack, for every reference point, fixed or drawn apart from the records, if for some delta > 0 the moments E|(Z_j - mu_j)/sigma_j|^(2 + delta) "
        "are bounded by one number for all coordinates, all sigma_j > 0: the curves tend to g_mu with mu = w'(z* - mu)/sqrt(n w'Cw), uniformly in w "
        "(0 for w = 0, a constant score).",
        Kind.ORDERING, 0.02, "probit",
        DOMAIN | {
            "data": OneOf(tuple(CASES), "product laws with E|(Z_j - mu_j)/sigma_j|^(2 + delta) <= M for all j and all sizes"),
        },
        _LIMITS,
        Control(partial(limit_regime, "gaussian", "half")),
        corrects="azize-scalar-product",
        quote=SCALAR,
        same_formula=True,
        derivation=(
            "(1) n w'(muhat - mu) is under H0 a sum of n d independent terms w_j sigma_j X_ij, X_ij = (Z_ij - mu_j)/sigma_j, of variance n v, "
            "v = w'Cw; under H1 one row is replaced by the constant w'(z* - mu) and n - 1 rows remain. "
            "(2) Each weight is at most |w_j| sigma_j <= sqrt(v), so the Lyapunov ratio is at most M n sum_j (|w_j| sigma_j)^(2+delta) / (n v)^(1+delta/2) "
            "<= M n^(-delta/2) for delta <= 1, whatever w, z* and z_ref are: no condition on the target or on the largest weight is needed. By "
            "Lyapunov's theorem both distribution functions tend to normal ones, and uniformly in w, z* and z_ref: were their distance to stay above some "
            "eps along a sequence of these, the array of that sequence, whose Lyapunov ratios tend to 0, would contradict the theorem. (3) So the score at FPR alpha (randomised at ties, whose mass is "
            "at most twice that distance) has FNR Phi((Phi^-1(1 - alpha) - mu) sqrt(n/(n - 1))) + o(1) with mu = w'(z* - mu)/sqrt(n v), uniformly in w. "
            "(4) Cauchy and Schwarz: mu <= sqrt((1/n)||z* - mu||^2_{C^-1}) = sqrt(m*), with equality for w = C^-1 (z* - mu), the covariance score. "
            "A test of either side of the scalar product has mu or -mu, both <= sqrt(m*). (5) A reference point drawn apart from the records: "
            "at one threshold for all, its FPRs and powers are averages over z_ref, and Phi(Phi^-1(a) + sqrt(m*)) is concave in a (Jensen). "
            "Without the bound, (2) fails: rare coordinates stay Poisson, where a linear score with other weights may rank better. At finite n the "
            "covariance score is not the likelihood ratio, and again another may win."
        ),
        sampled=sampled,
    ),
)  # fmt: skip
"""Printed for moments that are only finite, corrected to bounded ones."""
