"""Theorem 5.1 as a guarantee: for every law of the gradients, and for targets that are drawn from it (K = d)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.special import ndtri
from scipy.stats import binom, chi2

from mipsim.referee.exact_judges import MOST_TOLERANCE
from mipsim.theory import leemann
from mipsim.tradeoff import GaussianTradeOff
from verify.claim import Between, Budget, Claim, Kind, OneOf, Regime, RegimeResult
from verify.control import Control
from verify.leemann import quotes
from verify.leemann.by_games import case_by_games
from verify.leemann.laws import (
    drawn_target_curve,
    exponential_curve,
    lattice_curve,
    line_tradeoff,
    noisy_lattice_curve,
)
from verify.limits import FLOOR, Size, curve_gap, curve_tolerance, judge_equality, judge_limit

UNBOUNDED = float("inf")
SIZES = tuple(1000 * 3**k for k in range(9))
"""Rows, 1,000 to 6.6 million: the approach is of order n^-1/2."""

NOISY_SIZES = tuple(16 * 2**k for k in range(9))
"""With noise the approach is of order 1/n."""


def _at_points(alpha: np.ndarray, beta: np.ndarray, claimed: Callable[[np.ndarray], np.ndarray]) -> Size:
    """The gap of a curve that is known at thousands of its own thresholds, not at given FPRs."""
    order = np.argsort(alpha)
    rising = np.concatenate([[True], np.diff(alpha[order]) > 0])
    a, b = alpha[order][rising], beta[order][rising]
    return curve_gap(lambda rates: np.interp(rates, a, b), claimed, "exact law", vertices=a, resolution=1e-5)


def line_regime(law: str, leakage: float, factor: float = 1.0) -> Regime:
    """One fixed law in one dimension, n growing, the target sqrt(leakage n) standard deviations from the mean.

    `factor` times that distance is claimed (negative control).
    """
    parameters = {"gradients": law, "d": 1, "K/n": leakage}

    def at(n: int) -> Size:
        if law == "Exponential(1)":
            claimed = line_tradeoff(n, factor**2 * leakage * n)
            return _at_points(*exponential_curve(n, 1.0 + (leakage * n) ** 0.5), claimed)
        if law == "Bernoulli(0.3), target on the lattice":
            target = round(0.3 + (0.21 * leakage * n) ** 0.5)
            claimed = line_tradeoff(n, factor**2 * (target - 0.3) ** 2 / 0.21)
            exact = lattice_curve(n, 0.3, target)
            return curve_gap(exact.beta, claimed, law, vertices=exact.alpha, resolution=1e-5)
        # Gradients +-C are clipped, of variance C^2: n_eff is attained. Noise of the sum: C sqrt(n) / 2.
        exact = noisy_lattice_curve(n, 0.5, 0.5 + 0.5 * (leakage * n) ** 0.5, 0.25 * n**0.5)
        claimed = leemann.step_tradeoff(1, 1.25 * n, factor**2 * leakage * n)
        return curve_gap(exact.beta, claimed, law, vertices=exact.alpha, resolution=1e-5)

    def judge(_: Budget) -> RegimeResult:
        tolerance = curve_tolerance((leakage / (1.25 if "noise" in law else 1.0)) ** 0.5)
        sizes = NOISY_SIZES if "noise" in law else SIZES
        return judge_limit(at, tolerance, parameters, sizes=sizes)

    return Regime(f"{law}, K/n = {leakage:g}", parameters, judge, random=False)


def independent_regime(n_rows: tuple[int, ...] = tuple(10**k for k in range(2, 9))) -> Regime:
    """A continuous law on a set that is independent over the rationals: the sum names every record.

    Such sets are compact and of continuous measures (Rudin, Fourier analysis on groups, theorem 5.2.2). Half of the
    mass is near -1 and half near +1, within 0.001, so that the mean is 0, the variance and K are 1 within 0.3%.
    """
    parameters = {
        "gradients": "continuous, on a rationally independent compact set near -1 and +1",
        "d": 1,
        "K": 1.01,
    }

    def at(n: int) -> Size:
        # In: the target is among the n records that the sum names. Out: it is none of them, almost surely.
        gap = 1.0 - GaussianTradeOff(leemann.step_mu(1, n, 1.01)).advantage()
        return Size(gap, gap)

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(
            at,
            MOST_TOLERANCE,
            parameters,
            sizes=n_rows,
            unit="advantage",
            bound=True,
            route="algebra: the sum determines its terms",
            second_route=_named_by_search,
        )

    return Regime("independent over the rationals", parameters, judge, random=False)


def _named_by_search() -> str:
    """Square roots of primes are independent: 4 of 30 are found again from their sum by going through all 31,465 sums."""
    from itertools import combinations_with_replacement

    primes = [p for p in range(2, 114) if all(p % q for q in range(2, p))][:30]
    roots = np.sqrt(np.array(primes, float))
    sets = np.array(list(combinations_with_replacement(range(30), 4)))
    sums = np.sort(roots[sets].sum(axis=1))
    return (
        f"enumeration: the {len(sums):,} sums of 4 of the square roots of the first 30 primes differ by {np.diff(sums).min():.1g} at "
        "least, 10,000 times their rounding, so that each names its records"
    )


def atom_regime() -> Regime:
    """Values 0, 1, sqrt 2 (.6, .3, .1) in d = n/2 coordinates, the target sqrt 2 in all: an attack that counts it.

    The sum of a coordinate determines how many of its n terms are sqrt 2. Only this attack is used, so that the
    attacker's gain is a lower bound.
    """
    parameters = {
        "gradients": "values 0, 1, sqrt 2 with probabilities .6, .3, .1",
        "d/n": 0.5,
        "target": "sqrt 2",
    }
    mean = 0.3 + 0.1 * 2**0.5
    own = (2**0.5 - mean) ** 2 / (0.5 - mean**2)

    def at(n: int) -> Size:
        d = n // 2
        out, inside = binom(n * d, 0.1), binom((n - 1) * d, 0.1)
        spread = (0.09 * n * d) ** 0.5
        cuts = np.unique(np.round(0.1 * n * d + np.linspace(-3.5, 6.0, 400) * spread))
        alpha, beta = out.sf(cuts - 1), inside.cdf(cuts - 1 - d)
        wanted = GaussianTradeOff(leemann.step_mu(d, n, d * own)).beta(alpha)
        judged = (alpha >= FLOOR) & (wanted >= FLOOR) & (wanted <= 1 - FLOOR)
        gain = float((ndtri(wanted) - ndtri(beta))[judged].max())
        return Size(gain, gain)

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(
            at,
            MOST_TOLERANCE,
            parameters,
            sizes=tuple(2 * 10**k for k in range(2, 9)),
            bound=True,
            second_route=partial(case_by_games, "three-atoms"),
        )

    return Regime("three atoms, d = n/2", parameters, judge, random=False)


def drawn_regime(d: int, n: int, *, setting: str = "") -> Regime:
    """Targets drawn from Gaussian gradients against equation 8 with K = d, at one size."""
    parameters = {"d": d, "n": n, "K of the claim": d, "target": "drawn from the gradients' law"}

    def judge(_: Budget) -> RegimeResult:
        mu = leemann.step_mu(d, n, float(d))
        claimed = leemann.step_tradeoff(d, n, float(d))
        found = curve_gap(
            drawn_target_curve(d, n), claimed, "all targets", resolution=curve_tolerance(mu) / 20
        )
        return judge_equality(
            found,
            parameters,
            mu=mu,
            route="exact law, integrated over K",
            second_route=partial(_drawn_by_games, d, n),
        )

    return Regime(f"drawn targets, d = {d}, n = {n}", parameters, judge, random=False, setting=setting)


def _drawn_by_games(d: int, n: int) -> str:
    """Literal batches: targets drawn, the log ratio thresholded at the FPR 1e-2 of the games themselves."""
    rng, games = np.random.default_rng(0), min(400_000, 8_000_000 // d)
    target = rng.standard_normal((games, d))
    k = (target**2).sum(axis=1)
    scores = []
    for member in (False, True):
        rows = n - 1 if member else n
        mean = (rng.standard_normal((games, d)) * rows**0.5 + member * target) / n
        scores.append(0.5 * k - n / (2 * (n - 1)) * ((mean - target) ** 2).sum(axis=1))
    cut = np.quantile(scores[0], 0.99)
    claimed = 1.0 - float(leemann.step_tradeoff(d, n, float(d)).beta(np.array([0.01]))[0])
    return (
        f"NumPy, {games:,} games in each world with drawn targets (seed 0): power {(scores[1] > cut).mean():.4f} at FPR 0.01; K = d "
        f"says {claimed:.4f}"
    )


def drawn_limit_regime(ratio: float, factor: float = 1.0) -> Regime:
    """The same as d and n grow with d/n fixed; `factor` times the mu of equation 9 at K = d is claimed."""
    parameters = {"d/n": ratio, "target": "drawn from the gradients' law"}

    def at(n: int) -> Size:
        d = round(ratio * n)
        if factor == 1.0:
            claimed = leemann.step_tradeoff(d, n, float(d)).beta
        else:
            claimed = GaussianTradeOff(factor * leemann.step_mu(d, n, float(d))).beta
        return curve_gap(drawn_target_curve(d, n), claimed, f"n = {n}", resolution=1e-5)

    def judge(_: Budget) -> RegimeResult:
        most = 8192 if ratio <= 1 else 2048
        sizes = [most // 2**k for k in range(8, -1, -1)]
        return judge_limit(at, curve_tolerance(ratio**0.5), parameters, sizes=sizes)

    return Regime(f"drawn targets, d = {ratio:g} n", parameters, judge, random=False)


def share_beyond(d: int) -> float:
    """The share of targets drawn from Gaussian gradients whose own K exceeds d."""
    return float(chi2.sf(d, d))


_LAWS = ("Exponential(1)", "Bernoulli(0.3), target on the lattice", "+-C with noise, C^2 the variance")
_LINES = tuple((law, leakage) for law in _LAWS for leakage in (0.25, 1.0, 4.0))
_ALPHA = Between(0, 1, f"error rates from {FLOOR:g}")

CLAIMS = (
    Claim(
        "leemann-thm-5.1-guarantee",
        "leemann",
        "For every law of the gradients with a covariance ('all distributions with finite variance') and n large, one step is "
        "f-MIP with f of equation 8, K that of the centred gradients.",
        Kind.BOUND,
        MOST_TOLERANCE,
        "probit",
        {
            "gradients": OneOf(
                (*_LAWS, "atoms at 0, 1, sqrt 2", "continuous, rationally independent"),
                "any with a covariance",
            ),
            "d": Between(1, UNBOUNDED, "fixed, or growing with n"),
            "n": Between(1000, UNBOUNDED, "large"),
            "alpha": _ALPHA,
        },
        (*(line_regime(*line) for line in _LINES), atom_regime(), independent_regime()),
        Control(lambda factor: line_regime("Exponential(1)", 1.0, factor)),
        corrected_by="leemann-thm-5.1-guarantee-corrected",
        quote=quotes.ALL_DISTRIBUTIONS,
        restricted_by=(quotes.LARGE_BATCHES, quotes.EXTREME_GRADIENTS, quotes.SMALL_SIZES),
    ),
    Claim(
        "leemann-thm-5.1-guarantee-corrected",
        "leemann",
        "For one fixed law of the gradients with a regular covariance and fixed d, the curve of one step tends to equation 8 "
        "(centred K) as n grows, uniformly over all targets, near or as far as sqrt(n) (of a drawn one, given what it is), if (a) some "
        "convolution power of the law has an absolutely continuous part, or (b) the law lies on a lattice and the target on the "
        "least one that holds it, or (c) n tau^2 stays above a positive number; where C^2 exceeds the variances, equation 8 is a "
        "bound under (c).",
        Kind.LIMIT,
        MOST_TOLERANCE,
        "probit",
        {
            "gradients": OneOf(_LAWS, "one fixed law, (a), (b) or (c)"),
            "d": Between(1, UNBOUNDED, "fixed; judged at 1"),
            "K/n": Between(0, UNBOUNDED, "any target"),
            "alpha": _ALPHA,
        },
        tuple(line_regime(*line) for line in _LINES),
        Control(lambda factor: line_regime("Bernoulli(0.3), target on the lattice", 1.0, factor)),
        corrects="leemann-thm-5.1-guarantee",
        derivation=(
            "Let e_n be the total variation between the law of the centred sum of n records (with noise: of the output) and the "
            "Gaussian of the same moments. (a) e_n tends to 0: Prohorov's theorem (1952: if the sum of some number of records has a part with a "
            "density), whose condition is also necessary. (c) The scaled sum tends to its Gaussian weakly by the "
            "central limit theorem; convolved with one fixed Gaussian density its density converges at every point, so in "
            "total variation (Scheffe), and more noise can only reduce it. In world in the output is that of n - 1 records shifted "
            "by the target. Total variation does not see shifts: both worlds are within e_n and e_{n-1} of the two Gaussians of "
            "theorem 5.1, for all targets at once. A test then has rates within these of its rates between the Gaussians: f(alpha) >= "
            "f_8(alpha + e_n) - e_{n-1}, and f(alpha + e_n) <= f_8(alpha) + e_{n-1}. A trade-off function has slope at most 1/a on [a, 1], so that "
            "the curves meet at every alpha in (0, 1). (b) By the local limit theorem on the least lattice (Gnedenko; Spitzer, "
            "Principles of random walk, P7.9) the masses times the inverse volume of a cell tend to the density, so in total "
            "variation after each lattice point is spread over its cell, which is undone by rounding; the shifted law lies on the "
            "same lattice because the target does. Drawn targets: the bound holds for each, and f_8 at the largest K is convex (Jensen). "
            "Without one of the conditions the sum may name its terms, and where d grows with n an array needs more than each of "
            "its laws does."
        ),
        quote=quotes.ALL_DISTRIBUTIONS,
        same_formula=True,
    ),
    Claim(
        "leemann-K-equals-d",
        "leemann",
        "With K = d equation 8 is the trade-off of targets drawn from Gaussian gradients.",
        Kind.CURVE,
        MOST_TOLERANCE,
        "probit",
        {
            "d": Between(1, UNBOUNDED, "judged from 1"),
            "n": Between(2, UNBOUNDED, "judged from 10"),
            "alpha": _ALPHA,
        },
        (
            *(drawn_regime(d, n, setting="paper") for d, n in ((650, 500), (2580, 1970), (1026, 790))),
            *(drawn_regime(d, n) for d, n in ((1, 1000), (5, 500), (20, 20), (100, 100))),
            *(drawn_limit_regime(ratio) for ratio in (0.5, 1.0, 5.0)),
        ),
        Control(lambda factor: drawn_limit_regime(1.0, factor)),
        corrected_by="leemann-K-equals-d-corrected",
        quote=quotes.K_EQUALS_D,
        restricted_by=(quotes.SMALL_SIZES,),
    ),
    Claim(
        "leemann-K-equals-d-corrected",
        "leemann",
        "As d and n grow and d/n tends to a positive number, the trade-off of targets drawn from Gaussian gradients tends to "
        "equation 8 with K = d. At a finite d a third to a half of the targets have K > d, so that it is no bound.",
        Kind.LIMIT,
        MOST_TOLERANCE,
        "probit",
        {"d/n": Between(0, UNBOUNDED, "fixed, positive; judged at 0.5, 1, 5"), "alpha": _ALPHA},
        tuple(drawn_limit_regime(ratio) for ratio in (0.5, 1.0, 5.0)),
        Control(lambda factor: drawn_limit_regime(1.0, factor)),
        corrects="leemann-K-equals-d",
        derivation=(
            "K ~ chi2_d, so that K/d tends to 1 in probability (Chebyshev). Given K the log ratio out is, by theorem 5.1 and the normal "
            "limit of its chi-square law, asymptotically N(-K/2n, K/n), and in N(K/2n, K/n); with K/n tending to v = lim d/n the log ratio of "
            "(output, target) tends to N(-v/2, v) and N(v/2, v) (Slutsky), and by Neyman and Pearson its trade-off, which is the stochastic "
            "composition, to G_sqrt(v). At K = d equation 9 is sqrt(2d / (2n + 1)), which tends to sqrt(v), and equation 8 follows by "
            "corollary 5.1."
        ),
        quote=quotes.K_EQUALS_D,
        same_formula=True,
    ),
)
