"""The empirical mean: theorem 3.1, lemma C.6, equation 5 and their corrections."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np
from scipy.special import ndtri

from mipsim.exact import additive_law
from mipsim.theory import azize
from sims.studies import STUDIES
from verify.azize.cases import IRREGULAR, REGULAR, Case, mean_law
from verify.azize.second import by_small_games
from verify.by_games import judge_curve, judge_law
from verify.by_rare_games import judge_rare
from verify.claim import Between, Budget, Claim, Kind, OneOf, Regime, RegimeResult
from verify.limits import GRID, NUMERICAL_FLOOR, Size, curve_gap, judge_limit

TOLERANCE = 0.1
"""Probit units: a tenth of a standard deviation of a score, less than can be read off any printed figure."""

ADVANTAGE_TOLERANCE = 0.01
PAPER_POINT = {"n": 1000, "d": 5000, "data": "Bernoulli(p), p ~ U[.25, .75]^d drawn once"}

DOMAIN = {
    "n": Between(
        2,
        float("inf"),
        "a limit: judged at n = 100 ... 6400 by exact laws (409,600 where slow); games, where played, at 1000",
    ),
    "d/n": Between(0, float("inf"), "tau > 0; judged from 0.05 to 20"),
    "data": OneOf(
        (
            "product of Bernoulli, Gaussian, exponential, Laplace, uniform, Student (4.5 df)",
            "atoms 0, 1, sqrt 2",
            "a sequence of laws with rarer and rarer ones",
        ),
        "product laws with finite (4 + delta)-th moments",
    ),
    "target": OneOf(
        ("easiest", "hardest", "typical", "outlying", "off the support", "all in one coordinate"), "every z*"
    ),
    "alpha": Between(
        0,
        1,
        "judged on [1e-4, 1 - 1e-4] by exact laws, [1e-2, 1 - 1e-2] by games, which below can only refute, and [1e-6, "
        "1e-2] by tilted games at the paper's own point",
    ),
}
REGULAR_DOMAIN = DOMAIN | {
    "data": OneOf(
        ("product of Bernoulli, Gaussian, exponential, Laplace, uniform, Student (4.5 df)",),
        "as printed, and uniformly over the coordinates (finitely many laws up to location and scale, say): "
        "standardised moments bounded, and either Cramer's condition or one lattice",
    ),
    "target": OneOf(
        ("easiest", "hardest", "typical", "outlying", "all in one coordinate"),
        "on the lattice of lattice data",
    ),
}
WHY = (
    "The proof expands the density of the normalised mean (Edgeworth), and such an expansion needs more than moments: "
    "Cramer's condition, or for lattice data the local expansion on the lattice together with a target that stays on it, "
    "and either uniformly over the coordinates, whose number grows. "
    "Without: (1) a target off the lattice of Bernoulli data makes n times the mean a number that no data set without it "
    "gives, and the advantage is 1 whatever m* is; (2) atoms that are rationally independent let the mean reveal how often "
    "the target's own atom occurs, which leaks (1/p - 1)/n > t^2/n per coordinate; (3) a rare coordinate whose standardised "
    "moments grow with its index stays Poisson. With the condition, log d_{n-1}(x - t/sqrt n) - "
    "log d_n(x) = t x / sqrt n - t^2/2n + o(1/n) uniformly, and Lindeberg's theorem gives N(-+m*/2, m*). "
)


def _claimed(m: float, stretch: float) -> Callable[[np.ndarray], np.ndarray]:
    return azize.mean_tradeoff(m * stretch).beta


@cache
def _power_size(case: Case, stretch: float, n: int) -> Size:
    m, law = mean_law(case, n, n)
    curve = curve_gap(law.beta, _claimed(m, stretch), case.name)
    at_threshold = _law_size(case, stretch, n)
    return Size(min(curve.low, at_threshold.low), max(curve.high, at_threshold.high), curve.evidence)


@cache
def _law_size(case: Case, stretch: float, n: int) -> Size:
    m, law = mean_law(case, n, n)
    return _law_gaps(m * stretch, law.below)


@cache
def _difference_size(case: Case, epsilon: float, scale: float, n: int) -> Size:
    law = additive_law(case.terms(n, n), lambda terms: terms.ratio - scale * terms.covariance_score)
    far = [float(law.below(-epsilon, inside=w) + 1 - law.below(epsilon, inside=w)) for w in (False, True)]
    return Size(0.0, max(far))


def case_regime(
    case: Case,
    at: Callable[[int], Size],
    tolerance: float,
    *,
    sizes: tuple[int, ...] | None = None,
    unit: str = "probit",
    floor: float = NUMERICAL_FLOOR,
    **more: float,
) -> Regime:
    """A limit judged at one case by exact laws; the irregular cases have small games as their second route."""
    parameters = case.parameters | more
    second = partial(by_small_games, case.name) if case in IRREGULAR else None

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(
            at, tolerance, parameters, sizes=sizes or case.sizes, unit=unit, floor=floor, second_route=second
        )

    return Regime(case.name, parameters, judge, random=False)


def power_regime(case: Case, stretch: float = 1.0) -> Regime:
    """The optimal curve of a case, and the level and power at tau_alpha; `stretch` multiplies m* for the control."""
    return case_regime(case, partial(_power_size, case, stretch), TOLERANCE)


def _law_gaps(m: float, below: Callable[..., np.ndarray]) -> Size:
    gaps = []
    for inside in (False, True):
        centre = m / 2 if inside else -m / 2
        x = ndtri(GRID)
        found = below(centre + np.sqrt(m) * x, inside=inside)
        gaps.append(x - ndtri(np.clip(found, 1e-9, 1 - 1e-9)))
    return Size(float(np.min(gaps)), float(np.max(gaps)))


def law_regime(case: Case, stretch: float = 1.0) -> Regime:
    """The law of the likelihood ratio of a case against N(-+m*/2, m*)."""
    return case_regime(case, partial(_law_size, case, stretch), TOLERANCE)


def advantage_regime(case: Case, stretch: float = 1.0) -> Regime:
    """The optimal advantage of a case against equation 3."""

    def at(n: int) -> Size:
        m, law = mean_law(case, n, n)
        gap = law.advantage() - azize.advantage(m * stretch)
        return Size(gap, gap)

    return case_regime(case, at, ADVANTAGE_TOLERANCE, unit="advantage", floor=1e-4)


def paper_regime(kind: str, stretch: float = 1.0, attack: str = "lr") -> Regime:
    """The paper's own point by games: the exact likelihood ratio ("lr") or the covariance score ("fig2")."""
    parameters = PAPER_POINT | {
        "target": kind,
        "attack": "likelihood ratio" if attack == "lr" else "covariance score",
    }

    def judge(budget: Budget) -> RegimeResult:
        study = STUDIES[f"azize_{attack}_{kind}"]
        game, _ = study.build()
        m = azize.leakage_score(game.data, game.target, game.n)  # pyright: ignore[reportAttributeAccessIssue]
        claimed = azize.mean_tradeoff(m * stretch)
        return judge_curve(study, claimed, TOLERANCE, budget, parameters | {"m*": round(m, 4)})

    return Regime(f"paper-{kind}" + ("" if attack == "lr" else "-covariance"), parameters, judge)


def rare_regime(kind: str, stretch: float = 1.0) -> Regime:
    """The paper's own point at FPR 1e-6 to 1e-2, by tilted games with the exact likelihood ratio."""
    parameters = PAPER_POINT | {"target": kind, "attack": "likelihood ratio", "alpha": "1e-6 to 1e-2"}

    def judge(budget: Budget) -> RegimeResult:
        study = STUDIES[f"azize_lr_{kind}"]
        game, _ = study.build()
        m = azize.leakage_score(game.data, game.target, game.n)  # pyright: ignore[reportAttributeAccessIssue]
        claimed = azize.mean_tradeoff(m * stretch)
        return judge_rare(study, claimed, TOLERANCE, budget, parameters | {"m*": round(m, 4)})

    return Regime(f"paper-{kind}-rare", parameters, judge)


def difference_regime(case: Case, epsilon: float = 0.1, scale: float = 1.0) -> Regime:
    """P(|likelihood ratio - covariance score| > epsilon) in both worlds; `scale` spoils the score for the control."""
    at = partial(_difference_size, case, epsilon, scale)
    sizes = (100, 800, 6400, 51_200)
    return case_regime(case, at, 0.01, sizes=sizes, unit="probability", floor=1e-6, epsilon=epsilon)


def paper_law_regime(kind: str) -> Regime:
    """The law of the exact likelihood ratio at the paper's own point, by games, in both worlds."""
    parameters = PAPER_POINT | {"target": kind, "attack": "likelihood ratio"}

    def judge(budget: Budget) -> RegimeResult:
        study = STUDIES[f"azize_lr_{kind}"]
        game, _ = study.build()
        m = azize.leakage_score(game.data, game.target, game.n)  # pyright: ignore[reportAttributeAccessIssue]
        return judge_law(study, m, TOLERANCE, budget, parameters | {"m*": round(m, 4)})

    return Regime(f"paper-{kind}", parameters, judge)


KINDS = ("easy", "medium", "hard")
PAPER = (
    *(paper_regime(kind) for kind in KINDS),
    paper_regime("easy", attack="fig2"),
    *(rare_regime(kind) for kind in ("easy", "hard")),
)
CLAIMS = tuple(
    claim
    for name, statement, kind, tolerance, unit, regime, paper, control in (
        (
            "azize-thm-3.1-power",
            "Empirical mean: lim Pow_n(l_n, alpha, z*) = Phi(Phi^-1(alpha) + sqrt(m*)), reached at the threshold "
            "tau_alpha = -m*/2 + sqrt(m*) Phi^-1(1 - alpha); m* = lim (1/n) ||z* - mu||^2_{C^-1}.",
            Kind.LIMIT,
            TOLERANCE,
            "probit",
            power_regime,
            PAPER,
            partial(power_regime, stretch=1.1),
        ),
        (
            "azize-thm-3.1-advantage",
            "Empirical mean: the optimal advantage tends to Phi(sqrt(m*)/2) - Phi(-sqrt(m*)/2).",
            Kind.LIMIT,
            ADVANTAGE_TOLERANCE,
            "advantage",
            advantage_regime,
            (),
            partial(advantage_regime, stretch=1.1),
        ),
        (
            "azize-lemma-C.6",
            "Empirical mean: l_n => N(-m*/2, m*) under H0 and N(+m*/2, m*) under H1.",
            Kind.LAW,
            TOLERANCE,
            "probit",
            law_regime,
            tuple(paper_law_regime(kind) for kind in KINDS),
            partial(law_regime, stretch=1.1),
        ),
        (
            "azize-eq-5",
            "l_n ~ (z* - mu)' C^-1 (muhat - mu) - (1/2n) ||z* - mu||^2_{C^-1}: the difference vanishes in probability.",
            Kind.LIMIT,
            0.01,
            "probability",
            difference_regime,
            (),
            partial(difference_regime, scale=1.05),
        ),
    )
    for claim in (
        Claim(
            name,
            "azize",
            statement,
            kind,
            tolerance,
            unit,
            DOMAIN,
            (*(regime(c) for c in (*REGULAR, *IRREGULAR)), *paper),
            partial(control, REGULAR[0]),
            corrected_by=f"{name}-corrected",
        ),
        Claim(
            f"{name}-corrected",
            "azize",
            statement
            + " For data that satisfy, uniformly over the coordinates, Cramer's condition (or are lattice data with "
            "the target on the lattice) and have bounded standardised moments.",
            kind,
            tolerance,
            unit,
            REGULAR_DOMAIN,
            (*(regime(c) for c in REGULAR), *paper),
            partial(control, REGULAR[0]),
            corrects=name,
            derivation=WHY,
        ),
    )
)
"""Printed and corrected, side by side."""
