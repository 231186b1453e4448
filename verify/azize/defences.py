"""Noise and sub-sampling: theorems 4.1 and 4.2 and the correction of 4.2."""

from __future__ import annotations

from functools import partial

import numpy as np

from mipsim.exact import additive_law, density_terms
from mipsim.theory import azize
from mipsim.tradeoff import AbstractTradeOff
from sims.studies import STUDIES
from verify.azize.cases import LAWS, OFF_SUPPORT, REGULAR, THREE_ATOMS, Case, mean_law
from verify.azize.mean import DOMAIN, PAPER_POINT, REGULAR_DOMAIN, TOLERANCE
from verify.azize.second import compare_by_small_games
from verify.by_games import judge_curve
from verify.by_rare_games import judge_rare
from verify.claim import Between, Budget, Claim, Kind, OneOf, Regime, RegimeResult
from verify.limits import Size, curve_gap, judge_limit

LARGE = (6400, 25_600, 102_400, 409_600)
"""Rows for weak noise, which smooths a lattice of spacing 1/n only from n = 1/gamma^2 on."""


ALPHA: dict[bool, dict[str, object]] = {False: {}, True: {"alpha": "1e-6 to 1e-2"}}
"""What the parameters say of the rates that tilted games judge."""


def noise_regime(
    case: Case, gamma: float, stretch: float = 1.0, sizes: tuple[int, ...] | None = None
) -> Regime:
    """The optimal curve of the noisy mean by its exact law."""
    parameters = case.parameters | {"gamma": gamma}

    def at(n: int) -> Size:
        m, law = mean_law(case, n, n, gamma**2)
        return curve_gap(law.beta, azize.mean_tradeoff(m * stretch).beta, case.name)

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(at, TOLERANCE, parameters, sizes=sizes or case.sizes)

    return Regime(f"{case.name}-gamma-{gamma:g}", parameters, judge, random=False)


def fading_regime() -> Regime:
    """Noise gamma_j = 1/j on fair coins, target (1/2, ...): m = 0, judged by coordinate n alone, which only helps less."""
    parameters = {
        "data and target": "Bernoulli(1/2), target (1/2, ...)",
        "d/n": 1.0,
        "gamma": "gamma_j = 1/j",
    }
    reading = "gamma in R^d without a lower bound"
    characteristic, mean, variance = LAWS["bernoulli"](0.5)

    def at(n: int) -> Size:
        # The lattice is fine against the grid's usual step: 2^18 points resolve noise of sd 1/sqrt(n).
        terms = density_terms(n, characteristic, mean, variance, 0.5, 1, 1.0 / n**2, points=2**18)
        law = additive_law([terms])
        return curve_gap(law.beta, azize.mean_tradeoff(0.0).beta, "gamma_j = 1/j")

    def second() -> str:
        rng, n, games = np.random.default_rng(15), 400, 200_000
        rates = []
        for member in (False, True):
            total = rng.binomial(n - member, 0.5, games) + member * 0.5 + rng.normal(0.0, n**-0.5, games)
            rates.append(float((np.abs(total - np.floor(total) - 0.5) < 0.25).mean()))
        return (
            f"{games:,} games per world from column sums (NumPy, seed 15, n = {n}): the test 'nearer to a half than to a "
            f"whole number' has FPR {rates[0]:.5f} and TPR {rates[1]:.5f}; the statement says equal rates"
        )

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(at, TOLERANCE, parameters, reading=reading, second_route=second)

    return Regime("fading noise", parameters, judge, reading, random=False)


def noise_by_games(gamma: str, *, rare: bool = False) -> Regime:
    """The paper's own point with the covariance score of C + C_gamma; `rare`: at FPR 1e-6 to 1e-2, by tilted games."""
    parameters = PAPER_POINT | {"target": "easiest", "gamma": float(gamma)} | ALPHA[rare]

    def judge(budget: Budget) -> RegimeResult:
        study = STUDIES[f"azize_fig2_noise_{gamma}"]
        game, _ = study.build()
        m = azize.leakage_score(game.data, game.target, game.n, float(gamma))  # pyright: ignore[reportAttributeAccessIssue]
        how = judge_rare if rare else judge_curve
        return how(study, azize.mean_tradeoff(m), TOLERANCE, budget, parameters | {"m": round(m, 4)})

    return Regime(f"paper-gamma-{gamma}" + "-rare" * rare, parameters, judge)


def _subsampled(leakage: float, rho: float, printed: bool) -> AbstractTradeOff:
    if printed:
        return azize.subsampled_tradeoff_printed(leakage, rho)
    return azize.subsampled_tradeoff_corrected(leakage, rho)


def subsample_regime(case: Case, rho: float, *, printed: bool, stretch: float = 1.0) -> Regime:
    """The optimal curve of the sub-sampled mean: the mixture of the exact law of k = rho n rows with H0."""
    parameters = case.parameters | {"rho": rho}

    def at(n: int) -> Size:
        m_k, law = mean_law(case, round(rho * n), n)  # m_k = m* / rho

        def exact(alpha: np.ndarray) -> np.ndarray:
            return rho * law.beta(alpha) + (1 - rho) * (1 - alpha)

        return curve_gap(
            exact, _subsampled(rho * m_k * stretch, rho, printed).beta, f"{case.name}, rho = {rho:g}"
        )

    def second() -> str:
        study = STUDIES[f"azize_counterexample_subsampled_{rho:g}"]
        game, _ = study.build()
        m = azize.leakage_score(game.data, game.target, game.n)  # pyright: ignore[reportAttributeAccessIssue]
        return compare_by_small_games(study, _subsampled(m, rho, printed))

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(at, TOLERANCE, parameters, sizes=case.sizes, second_route=second)

    return Regime(f"{case.name}-rho-{rho:g}", parameters, judge, random=False)


def subsample_by_games(rho: str, *, printed: bool, rare: bool = False) -> Regime:
    """The paper's own point with the likelihood ratio of the joint mixture; `rare` as for the noise."""
    parameters = PAPER_POINT | {"target": "easiest", "rho": float(rho)} | ALPHA[rare]

    def judge(budget: Budget) -> RegimeResult:
        study = STUDIES[f"azize_fig2_rho_{rho}"]
        game, _ = study.build()
        m = azize.leakage_score(game.data, game.target, game.n)  # pyright: ignore[reportAttributeAccessIssue]
        claimed = _subsampled(m, float(rho), printed)
        how = judge_rare if rare else judge_curve
        return how(
            study,
            claimed,
            TOLERANCE,
            budget,
            parameters | {"m*": round(m, 4)},
            refutes=printed,
            second_route=lambda: "the exact law of the same sub-sampling at n = 100 to 6400 (regimes above)",
        )

    return Regime(f"paper-rho-{rho}" + "-rare" * rare, parameters, judge)


FAINT = Case(
    "bernoulli-faint", REGULAR[2].coordinates, 0.002, "Bernoulli(.3, .4, .55, .7), typical, m* = 0.002"
)
_CASES = (REGULAR[0], REGULAR[1], REGULAR[2], REGULAR[6], REGULAR[7])
_RHOS = (0.05, 0.1, 0.5, 0.9)
_SPREAD = tuple((case, rho) for case in _CASES for rho in _RHOS)

NOISY = (
    "Noisy mean (1/n) sum Z_i + N(0, C_gamma)/sqrt(n): theorem 3.1 holds with "
    "m = (1/n) ||z* - mu||^2_{(C + C_gamma)^-1}."
)
DOMAIN_LAWS = (
    "product of Bernoulli, Gaussian, exponential, Laplace, uniform, Student (4.5 df)",
    "atoms 0, 1, sqrt 2",
)
_NOISE = (
    *(noise_regime(c, g) for c in REGULAR for g in (0.1, 1.0)),
    *(noise_regime(c, g) for c in (OFF_SUPPORT, THREE_ATOMS) for g in (0.1, 1.0)),
    *(noise_regime(c, 5.0) for c in (REGULAR[0], REGULAR[7], OFF_SUPPORT)),
    *(noise_regime(c, 0.02, sizes=LARGE) for c in (REGULAR[0], OFF_SUPPORT, THREE_ATOMS)),
    *(noise_by_games(g) for g in ("0.1", "0.5", "1")),
    *(noise_by_games(g, rare=True) for g in ("0.1", "1")),
)

CLAIMS = (
    Claim(
        "azize-thm-4.1",
        "azize",
        NOISY,
        Kind.LIMIT,
        TOLERANCE,
        "probit",
        DOMAIN
        | {
            "gamma": OneOf(
                ("one positive number for all coordinates", "gamma_j = 1/j"), "gamma in R^d, as printed"
            )
        },
        (*_NOISE, fading_regime()),
        partial(noise_regime, REGULAR[0], 0.1, stretch=1.1),
        corrected_by="azize-thm-4.1-corrected",
    ),
    Claim(
        "azize-thm-4.1-corrected",
        "azize",
        NOISY
        + " If gamma_j / sigma_j is bounded below and standardised moments are bounded over the coordinates; for "
        "every target, on the support or off, and without any condition on the shape of the data.",
        Kind.LIMIT,
        TOLERANCE,
        "probit",
        DOMAIN
        | {
            "data": OneOf(DOMAIN_LAWS, "standardised (4 + delta)-th moments bounded over the coordinates"),
            "gamma": Between(0, float("inf"), "gamma_j / sigma_j bounded below; judged from 0.02 to 5"),
        },
        _NOISE,
        partial(noise_regime, REGULAR[0], 0.1, stretch=1.1),
        corrects="azize-thm-4.1",
        derivation=(
            "The noise multiplies the characteristic function of each normalised coordinate by exp(-gamma_j^2 u^2 / 2), which "
            "is Cramer's condition, and uniformly so if gamma_j / sigma_j >= c > 0: the Edgeworth expansion then holds for any "
            "data, and theorem 3.1 follows with the variances sigma_j^2 + gamma_j^2. Noise that fades over the coordinates "
            "leaves their lattices visible: with D_j = Bernoulli(1/2), gamma_j = 1/j and z_j = 1/2, m = 0, yet the sum of "
            "coordinate n lies within about 1/sqrt(n) of a whole number or of a half."
        ),
    ),
    Claim(
        "azize-thm-4.2",
        "azize",
        "Mean of k = rho n rows drawn without replacement: theorem 3.1 with rho m*, i.e. power "
        "Phi(z_alpha + sqrt(rho m*)), and l => N(-+rho m*/2, rho m*).",
        Kind.LIMIT,
        TOLERANCE,
        "probit",
        DOMAIN | {"rho": Between(0, 1, "0 < rho < 1; judged from 0.05 to 0.9")},
        (
            *(subsample_regime(c, r, printed=True) for c, r in _SPREAD),
            subsample_regime(FAINT, 0.5, printed=True),
            *(subsample_by_games(r, printed=True) for r in ("0.1", "0.5")),
            subsample_by_games("0.1", printed=True, rare=True),
        ),
        partial(subsample_regime, REGULAR[0], 0.5, printed=True, stretch=1.1),
        corrected_by="azize-thm-4.2-corrected",
    ),
    Claim(
        "azize-thm-4.2-corrected",
        "azize",
        "Mean of k = rho n rows drawn without replacement: the optimal power tends to "
        "rho Phi(z_alpha + sqrt(m*/rho)) + (1 - rho) alpha, for data with, uniformly over the coordinates, Cramer's condition (or one lattice with the target on it) and bounded standardised moments.",
        Kind.LIMIT,
        TOLERANCE,
        "probit",
        REGULAR_DOMAIN | {"rho": Between(0, 1, "0 < rho < 1; judged from 0.05 to 0.9")},
        (
            *(subsample_regime(c, r, printed=False) for c, r in _SPREAD),
            subsample_regime(FAINT, 0.5, printed=False),
            *(subsample_by_games(r, printed=False) for r in ("0.1", "0.5")),
            subsample_by_games("0.1", printed=False, rare=True),
        ),
        partial(subsample_regime, REGULAR[2], 0.9, printed=False, stretch=1.2),
        corrects="azize-thm-4.2",
        derivation=(azize.subsampled_tradeoff_corrected.__doc__ or "").partition("Args:")[0],
    ),
)
"""Noise, and sub-sampling printed and corrected."""
