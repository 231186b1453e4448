"""One step of noisy SGD on Gaussian gradients: theorem 5.1, its correction, and corollary 5.1."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

import mipsim as mi
from mipsim.exact.chi_square import ChiSquareLaw
from mipsim.exact.exact_tradeoff import ExactTradeOff
from mipsim.referee.exact_judges import MOST_TOLERANCE
from mipsim.theory import leemann
from mipsim.tradeoff import AbstractTradeOff, GaussianTradeOff
from verify.claim import Between, Budget, Claim, Kind, OneOf, Regime, RegimeResult
from verify.control import Control
from verify.leemann import quotes
from verify.leemann.by_games import mean_by_games
from verify.limits import Size, curve_gap, curve_tolerance, judge_bound, judge_equality, judge_limit

UNBOUNDED = float("inf")
FINE = 1e-5
"""Probits between two points of a curve: a tenth of what is usual, for curves whose own mu is small."""
PAPER = ((650, 500), (2580, 1970), (1026, 790))
"""(d, n) of figure 2: mu_step = 1.14 at K = d."""
COUNTEREXAMPLE = (2, 10, 3.0, 0.0)


def gaussian_regime(
    d: int,
    n: int,
    mean: float,
    point: float,
    *,
    centred: bool,
    spare: float = 1.0,
    factor: float = 1.0,
    setting: str = "",
) -> Regime:
    """Gaussian gradients without noise: the exact curve of the likelihood ratio against equation 8.

    Args:
        d: dimension.
        n: rows.
        mean: mu in every coordinate; the covariance is I, which is no loss since both sides are affine-invariant.
        point: the target's gradient in every coordinate.
        centred: whether K is that of theta' - mu.
        spare: the K of the bound over the target's own (K >= ... is allowed).
        factor: times the target's distance from the mean in the claim, for the negative control.
        setting: "paper" where the sizes are those of figure 2.
    """
    parameters = {"d": d, "n": n, "mean": mean, "target": point, "K over its own": spare}

    def judge(_: Budget) -> RegimeResult:
        data = mi.Gaussian(np.full(d, mean), np.ones(d))
        target = np.full(d, point)
        game = mi.FixedTarget(mi.EmpiricalMean(), data, n=n, target=target)
        exact = game.exact(mi.LikelihoodRatio(mi.EmpiricalMean(), data, n=n))
        own = leemann.gradient_susceptibility(data, target, centred=centred) * factor**2
        claimed = leemann.step_tradeoff(d, n, own * spare)
        found = curve_gap(closed_form(exact), claimed, "the likelihood ratio", resolution=FINE)
        detail = (
            f"the attacker's probit gain over equation 8 lies between {found.low:+.2g} and {found.high:+.2g}"
        )
        if spare > 1.0:
            return judge_bound(found, parameters, detail=detail)
        second = (
            mean_by_games
            if (d, n, mean, point) == COUNTEREXAMPLE
            else partial(_by_drawn_means, d, n, point - mean, claimed)
        )
        mu = leemann.step_mu(d, n, own)
        return judge_equality(found, parameters, mu=mu, detail=detail, second_route=second)

    name = f"d = {d}, n = {n}, mean {mean:g}, target {point:g}" + (f", K x {spare:g}" if spare != 1 else "")
    return Regime(name, parameters, judge, random=False, setting=setting)


def _by_drawn_means(d: int, n: int, shift: float, claimed: AbstractTradeOff) -> str:
    """Means drawn with NumPy, and the best test of the derivation: the distance of n (mean - mu) from n times the target's."""
    rng, games, alpha = np.random.default_rng(0), 2_000_000 // (d + 9), 0.05
    far = []
    for rows, own in ((n, 0.0), (n - 1, shift)):
        total = rng.standard_normal((games, d)) * np.sqrt(rows) + own
        far.append(np.square(total - n * shift).sum(axis=1))
    missed = float((far[1] > np.quantile(far[0], alpha)).mean())
    return (
        f"NumPy, {games:,} means a world (seed 0), the target's distance as the test: FNR {missed:.4f} at FPR {alpha:g} (standard error "
        f"below {0.8 / games**0.5:.4f}); equation 8 says {float(claimed.beta(alpha)):.4f}"
    )


def noisy_regime(
    n: int, scales: tuple[float, ...], noise_std: float, clip: float, factor: float = 1.0
) -> Regime:
    """Gaussian gradients with covariance diag(scales^2) <= C^2 I and noise on the mean: equation 8 as a bound.

    `factor` takes the target farther out than the claim knows: the negative control, where the bound is attained.
    """
    parameters = {"n": n, "standard deviations": list(scales[:8]), "d": len(scales)}
    parameters |= {"tau": noise_std, "C": clip}

    def judge(_: Budget) -> RegimeResult:
        data = mi.Gaussian(np.zeros(len(scales)), np.square(scales))
        target = np.full(len(scales), clip / np.sqrt(len(scales)))
        noisy = mi.GaussianNoise(mi.EmpiricalMean(), noise_std * np.sqrt(n))
        game = mi.FixedTarget(noisy, data, n=n, target=factor * target)
        exact = game.exact(mi.LikelihoodRatio(noisy, data, n=n))
        rows = leemann.effective_rows(n, noise_std, clip)
        claimed = leemann.step_tradeoff(
            len(scales), rows, leemann.gradient_susceptibility(data, target) * _SPARE
        )
        found = curve_gap(closed_form(exact), claimed.beta, "the likelihood ratio")
        return judge_bound(
            found, parameters, detail=f"slack of the bound up to {max(0.0, -found.low):.2g} probits"
        )

    words = f"{scales[0]:g}" if len(set(scales)) == 1 else f"{min(scales):g} to {max(scales):g}"
    return Regime(
        f"noise {noise_std:g}, C = {clip:g}, scales {words}, d = {len(scales)}, n = {n}",
        parameters,
        judge,
        random=False,
    )


def closed_form(exact: ExactTradeOff) -> ExactTradeOff | Callable[[np.ndarray], np.ndarray]:
    """The curve as a formula where the ratio is a scaled non-central chi-square in both worlds, as the claimed curve is.

    That is a theorem (both worlds are Gaussian with proportional covariances), so that only the parameters of two formulas are
    compared. Their values come from one special function, which is taken as accurate as tests against 50 digits find it
    (1e-12, relative), just as SciPy's normal distribution function is. Any other law keeps its proven error.
    """
    if not isinstance(exact.law, ChiSquareLaw):
        return exact

    def formula(alpha: np.ndarray) -> np.ndarray:
        return exact.beta(alpha)

    return formula


_SPARE = 1.0 + 1e-10
"""Where the bound is attained, two routes to one curve differ by rounding; K >= its own allows this much."""

GRID = (
    (1, 2, 1.0),
    (1, 500, 30.0),
    (2, 10, 1.0),
    (5, 100, 1.0),
    (5, 100, 0.0),
    (50, 20, 1.0),
    (50, 500, 3.0),
)
_NOISE = (
    (50, (1.0,) * 2, 0.05, 1.0),
    (2, (1.0,), 3.0, 1.0),
    (50, (0.3,) * 2, 0.2, 1.0),
    (20, (1.0, 0.1), 0.1, 1.0),
    (200, (0.1,) * 50, 0.02, 1.0),
    (500, (1.0,) * 650, 0.05, 1.0),
    (500, (1.0,) * 650, 1e-6, 1.0),
    (500, (1.0,) * 650, 10.0, 1.0),
)


def drawn(rng: np.random.Generator, count: int, *, centred: bool) -> list[Regime]:
    """Random sizes, means and targets of up to 2.5 probits: without noise, and with noise up to twice the mean's spread."""
    found = []
    for _ in range(count):
        d, n = int(rng.choice([1, 2, 5, 20, 100])), int(np.exp(rng.uniform(np.log(2), np.log(2000))))
        unit = (n / d) ** 0.5
        mean, point = rng.uniform(-2.5, 2.5) * unit, rng.uniform(-2.5, 2.5) * unit
        spare = float(rng.choice([1.0, rng.uniform(1.0, 1.5)]))
        if rng.random() < 0.5 or not centred:
            at = float(mean), float(mean + point)
            found.append(gaussian_regime(d, n, *at, centred=centred, spare=spare))
        else:
            tau = float(rng.uniform(0.0, 2.0) / n**0.5)
            found.append(noisy_regime(n, (float(rng.uniform(0.1, 1.0)),) * d, tau, 1.0))
    return found


PATHS: dict[str, Callable[[int], tuple[float, float, float]]] = {
    "d = n, K = d": lambda s: (s, s, s),
    "d = 10 n, K = d": lambda s: (10 * s, s, 10 * s),
    "d = n/10, K = d": lambda s: (s / 10, s, s / 10),
    "d = n, K = 10 d": lambda s: (s, s, 10 * s),
    "d = n, K = d/10": lambda s: (s, s, s / 10),
    "d = n, K = 0": lambda s: (s, s, 0.0),
    "n = d^1.4, K = d": lambda s: (s, s**1.4, s),
    "d = sqrt(n), K = n": lambda s: (s**0.5, s, s),
    "d = 1, K = n": lambda s: (1, s, s),
    "d = n^1.8, K = 0": lambda s: (s**1.8, s, 0.0),
}
"""How d, n and K grow together, from one size: (d, n, K)."""


def _sizes(path: Callable[[int], tuple[float, float, float]]) -> list[int]:
    """Up to nine sizes, each twice the one before, up to what the chi-square functions reach: d to 1e6, n K to 1e8."""
    most = 1
    while path(2 * most)[0] <= 1e6 and path(2 * most)[1] * path(2 * most)[2] <= 1e8 and most < 1 << 17:
        most *= 2
    return [size for size in (most // 2**k for k in range(8, -1, -1)) if size >= 4]


def corollary_regime(path: str, stretch: float = 1.0) -> Regime:
    """Equation 9 against equation 8 as both d and n grow; `stretch` times mu_step is claimed."""
    parameters = {"path": path}

    def judge(_: Budget) -> RegimeResult:
        sizes = _sizes(PATHS[path])
        tolerance = curve_tolerance(leemann.step_mu(*PATHS[path](sizes[-1])))

        def at(size: int) -> Size:
            d, n, k = PATHS[path](size)
            claimed = GaussianTradeOff(stretch * leemann.step_mu(d, n, k))
            exact = leemann.step_tradeoff(d, n, k)
            return curve_gap(exact, claimed, f"size {size}", resolution=tolerance / 200)

        return judge_limit(at, tolerance, parameters, sizes=sizes, size_name="size")

    return Regime(path, parameters, judge, random=False)


def paper_regime(d: int, n: int) -> Regime:
    """Corollary 5.1 at the sizes of figure 2, K = d."""
    parameters = {"d": d, "n": n, "K": d}

    def judge(_: Budget) -> RegimeResult:
        mu = leemann.step_mu(d, n, float(d))
        found = curve_gap(
            leemann.step_tradeoff(d, n, float(d)).beta, GaussianTradeOff(mu).beta, "equation 8", floor=1e-9
        )
        return judge_equality(found, parameters, mu=mu, detail="at error rates from 1e-9")

    return Regime(f"d = {d}, n = {n}, K = d", parameters, judge, random=False, setting="paper")


_DOMAIN = {
    "d": Between(1, UNBOUNDED, "dimension of a gradient"),
    "n": Between(2, UNBOUNDED, "rows of the batch"),
    "K": Between(0, UNBOUNDED, "the target's own or more"),
    "tau": Between(
        0, UNBOUNDED, "noise, where C^2 is at least the largest variance of the clipped gradients"
    ),
    "mean of the gradients": Between(-UNBOUNDED, UNBOUNDED, "any mu"),
    "gradients": OneOf(
        ("Gaussian",),
        "other laws are judged as leemann-thm-5.1-guarantee; theta_i = g_i min(1, C/|g_i|), where section 3.3 prints max",
    ),
    "alpha": Between(0, 1, "error rates from 1e-4"),
}
_STATEMENT = (
    "The most powerful attack on one step has the trade-off beta(alpha) = 1 - F_{chi2_d((r-1)K)}( r/(r-1) "
    "F^-1_{chi2_d(rK)}(alpha) ), r = n + tau^2 n^2/C^2, where K = PRINTED is the target's own and tau = 0, and at least that where "
    "K is larger or there is noise."
)


def _regimes(*, centred: bool) -> tuple[Regime, ...]:
    return (
        *(gaussian_regime(d, n, 0.0, z, centred=centred) for d, n, z in GRID),
        *(gaussian_regime(d, n, 0.0, 1.0, centred=centred, setting="paper") for d, n in PAPER),
        gaussian_regime(5, 100, 0.0, 1.0, centred=centred, spare=2.0),
        gaussian_regime(1, 3, 0.0, 0.0, centred=centred, spare=1.0),
        gaussian_regime(*COUNTEREXAMPLE, centred=centred),
        gaussian_regime(2, 10, 3.0, 3.0, centred=centred),
        gaussian_regime(50, 500, 1.0, 0.5, centred=centred),
        *(noisy_regime(*setting) for setting in _NOISE),
    )


CLAIMS = (
    Claim(
        "leemann-thm-5.1",
        "leemann",
        _STATEMENT.replace("PRINTED", "||C^-1/2 theta'||^2"),
        Kind.CURVE,
        MOST_TOLERANCE,
        "probit",
        _DOMAIN,
        _regimes(centred=False),
        Control(lambda factor: gaussian_regime(5, 100, 0.0, 1.0, centred=False, factor=factor), shift=-0.03),
        corrected_by="leemann-thm-5.1-corrected",
        quote=quotes.THEOREM_5_1,
        restricted_by=(quotes.LARGE_BATCHES, quotes.CLIPPING),
        slip=(quotes.THEOREM_5_1, quotes.CENTRED_K),
        sampled=partial(drawn, centred=False),
    ),
    Claim(
        "leemann-thm-5.1-corrected",
        "leemann",
        _STATEMENT.replace("PRINTED", "||C^-1/2 (theta' - mu)||^2")
        + " For Gaussian gradients, every n >= 2 and d >= 1, and, with noise, a covariance of at most C^2 I.",
        Kind.CURVE,
        MOST_TOLERANCE,
        "probit",
        _DOMAIN,
        _regimes(centred=True),
        Control(lambda factor: gaussian_regime(5, 100, 0.0, 1.0, centred=True, factor=factor), shift=-0.03),
        corrects="leemann-thm-5.1",
        derivation=(
            "Let x = n C^-1/2 (m - mu), delta = C^-1/2 (theta' - mu), |delta|^2 = K, and let the noise have covariance "
            "(tau^2/c^2) times that of the gradients, c the clip, r = n + tau^2 n^2/c^2. Out x is N(0, r I), in it is N(delta, (r-1) I). "
            "The log ratio is a constant less |x - r delta|^2 / (2 r (r-1)), so that by Neyman and Pearson small |x - r delta|^2 is "
            "the best test; it is r chi2_d(rK) out and (r-1) chi2_d((r-1)K) in, which is equation 8, for every n >= 2 and d. (1) "
            "Noise tau^2 I with a covariance of at most c^2 I is that noise plus an independent rest: post-processing, which lifts "
            "the curve. (2) The curve f_K falls in K: out the law does not depend on delta, and the test |x - r delta|^2 <= t of f_K has, "
            "under a target s delta with 1 <= s <= r, a ball whose centre is (r-s)|delta| <= (r-1)|delta| away from the mean, "
            "so by Anderson's inequality (1955) more power; f_{s^2 K} <= f_K, repeatedly for all s, and K = 0 by continuity. So K may be "
            "larger than the target's own, and a bound for every target of K(theta') <= K is one for their stochastic "
            "composition (Jensen: f_K is convex)."
        ),
        quote=quotes.THEOREM_5_1,
        restricted_by=(quotes.CLIPPING,),
        sampled=partial(drawn, centred=True),
    ),
    Claim(
        "leemann-cor-5.1",
        "leemann",
        "For large d and n the curve of theorem 5.1 is that of mu_step-GMIP, mu_step = (d + (2r - 1)K) / (r sqrt(2d + 4rK)).",
        Kind.LIMIT,
        MOST_TOLERANCE,
        "probit",
        {
            "d, n": Between(
                1, UNBOUNDED, "both grow, at any speeds, or n and K do; d alone does not do (n = 4, K = 0)"
            ),
            "K": Between(0, UNBOUNDED, "0, below, at and above d"),
            "alpha": Between(0, 1, "error rates from 1e-4"),
        },
        (
            *(corollary_regime(path) for path in PATHS),
            *(paper_regime(d, n) for d, n in PAPER),
        ),
        Control(partial(corollary_regime, "d = n, K = 10 d")),
        derivation=(
            "chi2_d(l) is a sum of d independent terms with mean d + l, variance 2(d + 2l) and third cumulant 8(d + 3l): by "
            "Berry and Esseen it is normal up to C (d + 2l)^-1/2 or C d^-1/2, whichever is less, uniformly in l. Write z for Phi^-1(alpha). "
            "Equation 8 is then Phi(-(z + mu_step) s), with s the ratio of the two standard deviations: mu_step is exactly the "
            "difference of the means in standard deviations of the law out, and 1 <= s <= (1 - 1/r)^-3/2. As sup_u |Phi(su) - Phi(u)| <= (s - "
            "1)/2, the FNRs differ by O(d^-1/2 + 1/n) at most, uniformly in alpha, K and the path; so do the probits where both error rates "
            "are bounded away from 0."
        ),
        quote=quotes.COROLLARY_5_1,
        restricted_by=(quotes.SMALL_SIZES,),
    ),
)
