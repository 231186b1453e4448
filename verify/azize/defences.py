"""Noise and sub-sampling: theorems 4.1 and 4.2 and their corrections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial

import numpy as np
from scipy.special import ndtr, ndtri

from mipsim.theory import azize
from mipsim.tradeoff import AbstractTradeOff
from sims.studies import STUDIES
from verify.azize.conditions import MEAN, REGULAR
from verify.azize.mean import (
    DOMAIN,
    MOST_TOLERANCE,
    NO_LEAKAGE,
    REGULAR_DOMAIN,
    RESTRICTED,
    SAMPLES,
)
from verify.azize.mean_cases import (
    IRREGULAR,
    PAPER,
    Group,
    MeanCase,
    MeanLaw,
    bernoulli,
    brackets,
    case,
    drawn,
    leakage,
    mean_law,
    of_one_kind,
)
from verify.azize.mean_cases import REGULAR as CASES
from verify.azize.second import compare_by_small_games
from verify.claim import Between, Budget, Claim, Kind, OneOf, Quote, Regime, RegimeResult
from verify.control import Control
from verify.limits import Size, curve_gap, curve_tolerance, judge_equality, judge_limit

_NAMED = {one.name: one for one in (*CASES, *IRREGULAR)}
_NOISE_SIZES = tuple(20 * 2**k for k in range(10))
PAPER_NOISE = case(
    "paper-easy", "Bernoulli(p), p = .3125 and .4375 (as good as .6875 and .5625), easiest target; the paper's own point is n = 1000",
    5.0, bernoulli((0.3125, 0.4375), "easiest"), sizes=_NOISE_SIZES,
)  # fmt: skip
NOISE_CASES = (
    case("bernoulli-typical", "Bernoulli(.3), typical", 1.0, bernoulli((0.3,), "typical"), sizes=_NOISE_SIZES),
    case("bernoulli-off-support", "Bernoulli(.4), targets at 1/2 and -.7, off the support", 1.0,
         [Group("bernoulli", 0.5, 0.5, 0.4), Group("bernoulli", -0.7, 0.5, 0.4)], sizes=_NOISE_SIZES),
    _NAMED["gaussian"],
)  # fmt: skip


def noise_regime(one: MeanCase, gamma: float, stretch: float = 1.0) -> Regime:
    """The optimal curve of the noisy mean by its certified law."""
    mu = np.sqrt(leakage(brackets(one, one.sizes[0], one.sizes[0], gamma)))
    parameters = one.parameters | {"gamma": gamma}

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(
            partial(_noise_size, one, gamma, stretch), curve_tolerance(mu), parameters, sizes=one.sizes
        )

    setting = "paper" if one is PAPER_NOISE else ""
    return Regime(f"{one.name}-gamma-{gamma:.3g}", parameters, judge, random=False, setting=setting)


@cache
def _noise_size(one: MeanCase, gamma: float, stretch: float, n: int) -> Size:
    law = mean_law(one, n, n, gamma)
    return curve_gap(law, azize.mean_tradeoff(law.leakage * stretch**2), one.name)


def drawn_noise(rng: np.random.Generator, count: int) -> Sequence[Regime]:
    """Gaussian data with random targets, or one Bernoulli law with a target anywhere; gamma log-uniform in [1/4, 2] sd."""
    found = []
    for _ in range(count):
        gamma = float(np.exp(rng.uniform(np.log(0.25), np.log(2.0))))
        if rng.random() < 0.5:
            found.append(noise_regime(drawn(rng, ("gaussian",), lattice=True), gamma))
            continue
        p, z, tau = (
            float(rng.uniform(0.1, 0.9)),
            float(rng.uniform(-1.0, 2.0)),
            float(np.exp(rng.uniform(-1.0, 1.0))),
        )
        words = f"Bernoulli({p:.3f}), target at {z:.3f}"
        one = of_one_kind(words, round(tau, 4), Group("bernoulli", z, 1.0, p), sizes=_NOISE_SIZES)
        # In units of the data's standard deviation, as for the Gaussian.
        found.append(noise_regime(one, gamma * np.sqrt(p * (1 - p))))
    return found


def fading_regime() -> Regime:
    """Noise gamma_j = 1/j on fair coins, target (1/2, ...): m = 0, judged by one test of coordinate n alone."""
    parameters = {
        "data and target": "Bernoulli(1/2), target (1/2, ...)",
        "d/n": 1.0,
        "gamma": "gamma_j = 1/j",
    }

    def at(n: int) -> Size:
        # The sum of coordinate n is a whole number (out), or one less a half (in), with noise of variance n / n^2.
        wrong = 2 * _far(0.25 * np.sqrt(n))
        return Size(1.0 - 2.0 * wrong, 1.0)

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
        return judge_limit(
            at, NO_LEAKAGE, parameters, sizes=tuple(100 * 2**k for k in range(8)), unit="advantage", second_route=second,
            route="exact bound",
        )  # fmt: skip

    return Regime("fading noise", parameters, judge, random=False)


def _far(x: float) -> float:
    return float(ndtr(-x))


@dataclass(frozen=True, eq=False)
class Subsampled:
    """The law of the sub-sampled mean at one size: with probability rho that of k = rho n rows, else that of H0."""

    law: MeanLaw
    rho: float

    def beta(self, alpha: np.ndarray) -> np.ndarray:
        """FNR in the middle of the bracket."""
        return self._mixed(self.law.beta(alpha), alpha)

    def beta_bracket(self, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Proven bounds of the FNR."""
        low, high = self.law.beta_bracket(alpha)
        return self._mixed(low, alpha), self._mixed(high, alpha)

    def _mixed(self, beta: np.ndarray, alpha: np.ndarray) -> np.ndarray:
        return self.rho * beta + (1 - self.rho) * (1 - alpha)


def _claimed(m: float, rho: float, printed: bool) -> AbstractTradeOff:
    return (
        azize.subsampled_tradeoff_printed(m, rho) if printed else azize.subsampled_tradeoff_corrected(m, rho)
    )


def _subsampled_size(one: MeanCase, rho: float, printed: bool, stretch: float, n: int) -> Size:
    return _subsampled_sizes(one, rho, stretch, n)[printed]


@cache
def _subsampled_sizes(one: MeanCase, rho: float, stretch: float, n: int) -> tuple[Size, Size]:
    """Against the corrected and against the printed curve, while the law is at hand."""
    rows = round(rho * n)
    law = mean_law(one, rows, n)
    m = law.leakage * rows / n  # of the mean of all n rows
    corrected, printed = (
        curve_gap(Subsampled(law, rho), _claimed(m * stretch**2, rho, printed), f"{one.name}, rho = {rho:g}")
        for printed in (False, True)
    )
    return corrected, printed


def first_size(one: MeanCase, rho: float) -> int:
    """The least n of which rho n rows are a whole number, at least as many as the case begins with."""
    part = Fraction(rho).limit_denominator(1000).denominator
    return part * int(np.ceil(one.sizes[0] / (rho * part) - 1e-9))


def _like(one: MeanCase, rho: float, printed: bool) -> float:
    """The mu whose Gaussian curve has the advantage that is claimed."""
    n = first_size(one, rho) * 2 ** (len(one.sizes) - 1)
    claimed = _claimed(leakage(brackets(one, round(rho * n), n)) * rho, rho, printed)
    return float(2 * ndtri(0.5 + 0.5 * claimed.advantage()))


def subsample_regime(one: MeanCase, rho: float, *, printed: bool, stretch: float = 1.0) -> Regime:
    """The optimal curve of the sub-sampled mean against the printed or the corrected one."""
    parameters = one.parameters | {"rho": round(rho, 4)}

    def second() -> str:
        near = min((0.05, 0.1, 0.5, 0.9), key=lambda known: abs(np.log(known / rho)))
        study = STUDIES[f"azize_counterexample_subsampled_{near:g}"]
        game, _ = study.build()
        m = azize.leakage_score(game.data, game.target, game.n)  # pyright: ignore[reportAttributeAccessIssue]
        return compare_by_small_games(study, _claimed(m, near, printed))

    # So many rows that the rho n drawn ones are about as many as the rows of the case. Sizes with another share of drawn rows than
    # rho would be judged against the curve of rho: gaps that jump about with the rounding.
    sizes = tuple(first_size(one, rho) * 2**k for k in range(len(one.sizes)))

    def judge(_: Budget) -> RegimeResult:
        at = partial(_subsampled_size, one, rho, printed, stretch)
        tolerance = curve_tolerance(_like(one, rho, printed))
        return judge_limit(at, tolerance, parameters, sizes=sizes, second_route=second)

    setting = "paper" if one in PAPER.values() else ""
    return Regime(f"{one.name}-rho-{rho:g}", parameters, judge, random=False, setting=setting)


def own_size_regime(rho: float, *, printed: bool) -> Regime:
    """The exact curve at the paper's own size, n = 1000 and d = 5000, against the limit."""
    one = PAPER["easiest"]
    parameters = one.parameters | {"rho": rho, "n": 1000}

    def judge(_: Budget) -> RegimeResult:
        size = _subsampled_size(one, rho, printed, 1.0, 1000)
        return judge_equality(
            size,
            parameters,
            mu=_like(one, rho, printed),
            second_route=lambda: "the same at other sizes, see the limits",
        )

    return Regime(f"paper-easy-rho-{rho:g}, n = 1000", parameters, judge, random=False, setting="paper")


def drawn_subsamples(printed: bool) -> Callable[[np.random.Generator, int], Sequence[Regime]]:
    """Drawn cases as for the correction of theorem 3.1 (what fails for all rows fails for k), with rho about uniform in
    [.1, .95], in fiftieths.
    """

    def draw(rng: np.random.Generator, count: int) -> Sequence[Regime]:
        found = []
        for _ in range(count):
            one, share = drawn(rng, lattice=True), float(rng.uniform(0.1, 0.95))
            found.append(subsample_regime(one, round(50 * share) / 50, printed=printed))
        return found

    return draw


_SPREAD = tuple(
    (one, rho) for one in (PAPER["hardest"], _NAMED["gaussian"], _NAMED["exponential"]) for rho in (0.5, 0.9)
)


def _subsamples(printed: bool) -> tuple[Regime, ...]:
    return (
        *(subsample_regime(PAPER["easiest"], rho, printed=printed) for rho in (0.1, 0.5)),
        *(own_size_regime(rho, printed=printed) for rho in (0.1, 0.5)),
        *(subsample_regime(one, rho, printed=printed) for one, rho in _SPREAD),
    )


NOISY = (
    "Noisy mean (1/n) sum Z_i + N(0, C_gamma)/sqrt(n): theorem 3.1 holds with "
    "m = (1/n) ||z* - mu||^2_{(C + C_gamma)^-1}."
)
_NOISE = (
    noise_regime(PAPER_NOISE, 1.0),
    noise_regime(NOISE_CASES[0], 1.0),
    *(noise_regime(NOISE_CASES[1], gamma) for gamma in (0.5, 1.0)),
    *(noise_regime(NOISE_CASES[2], gamma) for gamma in (0.25, 1.0)),
)
_NOISE_CONTROL = Control(lambda stretch: noise_regime(NOISE_CASES[2], 0.25, stretch), 0.05)
_NOISE_QUOTE = Quote(
    "The asymptotic trade-off function, achievable with threshold tau_alpha = -m/2 + sqrt(m) Phi^-1(1 - alpha), is "
    "lim_{n,d} Pow_n(l_n, alpha, z*) = Phi(Phi^-1(alpha) + sqrt(m)), m = lim (1/n) ||z* - mu||^2_{(C_sigma + C_gamma)^-1}.",
    "theorem 4.1, equation 9",
)
_SUB_QUOTE = Quote(
    "The asymptotic trade-off function, achievable with threshold tau_alpha = -rho m*/2 + sqrt(rho m*) Phi^-1(1 - alpha), is "
    "lim_{n,d} Pow_n(l_{n,rho}^sub, alpha, z*) = Phi(z_alpha + sqrt(rho m*)).",
    "theorem 4.2, equation 10",
)
CLAIMS = (
    Claim(
        "azize-thm-4.1",
        "azize",
        NOISY,
        Kind.LIMIT,
        MOST_TOLERANCE,
        "probit",
        DOMAIN
        | {
            "gamma": OneOf(
                ("one positive number for all coordinates", "gamma_j = 1/j"), "gamma in R^d, as printed"
            )
        },
        (*_NOISE, fading_regime()),
        _NOISE_CONTROL,
        corrected_by="azize-thm-4.1-corrected",
        quote=_NOISE_QUOTE,
        restricted_by=RESTRICTED,
        sampled=drawn_noise,
        samples=SAMPLES,
        laws="noisy mean",
    ),
    Claim(
        "azize-thm-4.1-corrected",
        "azize",
        NOISY
        + " Where gamma_j / sigma_j >= c > 0 and the standardised (4 + delta)-th moments are bounded, both for all coordinates and "
        "sizes, d/n is bounded and m tends to a limit (> 0 where a threshold is named); for every target, on the support or off, "
        "and whatever the shape of the data.",
        Kind.LIMIT,
        MOST_TOLERANCE,
        "probit",
        DOMAIN
        | {
            "data": OneOf(("Bernoulli", "Gaussian"), "any with bounded standardised (4 + delta)-th moments"),
            "target": OneOf(("typical", "easiest", "off the support"), "every z*"),
            "gamma": Between(
                0,
                float("inf"),
                "gamma_j / sigma_j bounded below; judged at 0.25 to 1, drawn from .25 to 2 sd",
            ),
        },
        _NOISE,
        _NOISE_CONTROL,
        corrects="azize-thm-4.1",
        quote=_NOISE_QUOTE,
        restricted_by=RESTRICTED,
        same_formula=True,
        sampled=drawn_noise,
        samples=SAMPLES,
        laws="noisy mean",
        derivation=(
            "Give each record its share of the noise: Z + gamma N. Its standardised law X has E|X|^(4 + delta) bounded, since those "
            "of Z and N are, and it has itself a density, at most sqrt(1 + 1/c^2)/sqrt(2 pi). So every coordinate is of kind (D) of "
            "the correction of theorem 3.1 with N = 1, for every target, but that the replaced record too carries its noise: the q of "
            "(ii) and (iii) is convolved with one more normal law, of variance c_j^2/n, c_j^2 = gamma_j^2/(sigma_j^2 + gamma_j^2) <= 1. That "
            "makes r^2 = 1 - (1 - c_j^2)/n, moves the polynomials by O(1/n) and raises no error bound. The theorem follows with the variances sigma_j^2 + gamma_j^2. Noise that fades "
            "over the coordinates leaves their lattices visible: with D_j = Bernoulli(1/2), gamma_j = 1/j and z_j = 1/2, m = 0, yet the "
            "sum of coordinate n lies within about 1/sqrt(n) of a whole number or of a half. " + MEAN
        ),
    ),
    Claim(
        "azize-thm-4.2",
        "azize",
        "Mean of k = rho n rows drawn without replacement: theorem 3.1 with rho m*, i.e. power "
        "Phi(z_alpha + sqrt(rho m*)), and l => N(-+rho m*/2, rho m*).",
        Kind.LIMIT,
        MOST_TOLERANCE,
        "probit",
        DOMAIN | {"rho": Between(0, 1, "0 < rho < 1; judged from 0.1 to 0.9, drawn from .1 to .95")},
        _subsamples(True),
        Control(lambda stretch: subsample_regime(PAPER["hardest"], 0.9, printed=True, stretch=stretch)),
        corrected_by="azize-thm-4.2-corrected",
        quote=_SUB_QUOTE,
        restricted_by=RESTRICTED,
        sampled=drawn_subsamples(True),
        samples=SAMPLES,
        laws="sub-sampled mean",
    ),
    Claim(
        "azize-thm-4.2-corrected",
        "azize",
        "Mean of k = rho n rows drawn without replacement: the optimal power tends to "
        f"rho Phi(z_alpha + sqrt(m*/rho)) + (1 - rho) alpha. Where {REGULAR}.",
        Kind.LIMIT,
        MOST_TOLERANCE,
        "probit",
        REGULAR_DOMAIN
        | {"rho": Between(0, 1, "0 < rho < 1, fixed; judged from 0.1 to 0.9, drawn from .1 to .95")},
        _subsamples(False),
        Control(
            lambda stretch: subsample_regime(_NAMED["exponential"], 0.5, printed=False, stretch=stretch), 0.05
        ),
        corrects="azize-thm-4.2",
        quote=_SUB_QUOTE,
        restricted_by=RESTRICTED,
        sampled=drawn_subsamples(False),
        samples=SAMPLES,
        laws="sub-sampled mean",
        derivation=(
            "One coin decides for all coordinates together whether the target is among the k rows. If it is not, the output is "
            "k independent rows, as under H0; so H1 is (1 - rho) P_k + rho Q_k with the worlds P_k and Q_k of the mean of k rows, a "
            "mixture of two product laws and not, as in the printed proof, a product of mixtures. The ratio (1 - rho) + rho L_k "
            "increases with L_k, so at every n the optimal tests are those of L_k, with power rho (1 - beta_k) + (1 - rho) alpha. "
            "beta_k is that of theorem 3.1 with k rows and leakage ||z* - mu||^2/k = m*/rho, d/k bounded. "
            + MEAN
        ),
    ),
)
"""Noise and sub-sampling, printed and corrected."""
