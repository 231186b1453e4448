"""The tests of an attacker who does not know to which side the output is shifted: regimes of lemmas 1 to 4."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from scipy.special import ndtr

from mipsim.referee.exact_judges import ROUNDING
from verify.claim import Budget, Regime, RegimeResult
from verify.kaissis.outputs import LAWS, best_test, cells, log_uniform
from verify.limits import GRID, judge_bound, judge_identity

MARGIN = 1e-6
"""The relative power that a test must lose somewhere before it counts as not uniformly most powerful."""
UNBOUNDED = float("inf")
SETTINGS = tuple(
    (noise, mu, rate)
    for noise, rate in (("Gaussian", 1.0), ("Laplace", 1.0), ("Gaussian", 0.3))
    for mu in (0.1, 1.0, 3.0, 10.0)
)


LOGISTIC = (("logistic", 1.0, 1.0), ("logistic", 3.0, 1.0))
GUMBEL = (("Gumbel", 1.0, 1.0), ("Gumbel", 3.0, 1.0))


def setting_name(noise: str, mu: float, rate: float) -> str:
    """What a regime is called."""
    return f"{noise}, Delta = {mu:g}" + (f", p = {rate:g}" if rate < 1 else "")


def setting_parameters(noise: str, mu: float, rate: float) -> dict:
    """What the report prints of a regime."""
    return {"noise": noise, "Delta/scale": mu, "p": rate}


def log_ratio(noise: str, z: np.ndarray, shift: np.ndarray, rate: float) -> np.ndarray:
    """Log of the likelihood of a shift over that of none, for outputs z and shifts that broadcast."""
    law = LAWS[noise]
    whole = law.logpdf(z - shift) - law.logpdf(z)
    return whole if rate == 1.0 else np.logaddexp(np.log1p(-rate), np.log(rate) + whole)


def cell_law(noise: str, mu: float, rate: float, shift: float) -> tuple[np.ndarray, np.ndarray]:
    """(outputs at the middle of some 4000 cells, probabilities of the cells under this shift).

    0 and +-mu are ends of cells: where a likelihood ratio has a corner there, each cell lies on one side of it.
    """
    law, per_shift = LAWS[noise], int(np.ceil(mu / 0.016))
    step = mu / per_shift
    side = int(np.ceil((mu + 30.0) / step))
    width, count = side * step, 2 * side
    edges = np.linspace(-width, width, count + 1)
    moved = cells(lambda x: law.cdf(x - shift), width, count)[1:-1]
    still = cells(law.cdf, width, count)[1:-1]
    return 0.5 * (edges[1:] + edges[:-1]), rate * moved + (1 - rate) * still


def no_best_regime(noise: str, mu: float, rate: float, other: float = -1.0) -> Regime:
    """Lemma 1: a test best against the shifts mu and other * mu would reach both envelopes; the best on average does not."""
    parameters = setting_parameters(noise, mu, rate) | {"shifts": [mu, other * mu]}

    def judge(_: Budget) -> RegimeResult:
        # Given that the record takes part: the coin adds the same to both powers and changes no test.
        out, first, second = (cell_law(noise, mu, 1.0, s)[1] for s in (0.0, mu, other * mu))
        each = [best_test(out, law) for law in (first, second)]
        average = best_test(out, 0.5 * (first + second))
        power = 1.0 - average.tpr_at(GRID) / np.mean([best.tpr_at(GRID) for best in each], axis=0)
        least_fnr = np.mean([best.beta(GRID) for best in each], axis=0)
        miss = 1.0 - least_fnr / np.maximum(average.beta(GRID), 1e-300)
        least = float(np.min(np.maximum(power, miss)))
        return judge_bound(
            MARGIN - least,
            parameters,
            unit="relative power",
            route="sorting the likelihood ratios of both shifts",
            detail=f"at every FPR from 1e-4 the best test on average loses a share of at least {least:.3g} of the power or FNR that "
            "the best tests of the two shifts have",
            second_route=partial(_one_test_for_both, noise, mu, other),
        )

    sides = "" if other == -1.0 else f", shifts of Delta and {other:g} Delta"
    return Regime(setting_name(noise, mu, rate) + sides, parameters, judge, random=False)


def _one_test_for_both(noise: str, mu: float, other: float) -> str:
    """The one-sided test z > c beside the best test of each shift, by the distribution function."""
    alpha, law = 0.05, LAWS[noise]
    out, *inside = (cell_law(noise, mu, 1.0, s)[1] for s in (0.0, mu, other * mu))
    cut = law.isf(alpha)
    one = [float(law.sf(cut - s)) for s in (mu, other * mu)]
    best = [float(best_test(out, law_in).tpr_at(alpha)) for law_in in inside]
    return (
        f"at FPR {alpha:g} the one test z > {cut:.4f} has the powers {one[0]:.4f} and {one[1]:.4f} by the distribution function; the best "
        f"tests of the two shifts have {best[0]:.4f} and {best[1]:.4f} (likelihood ratios of cells, sorted)"
    )


def two_tests_regime(noise: str, mu: float, rate: float, drop: float = 1.0) -> Regime:
    """Lemma 2: the composite ratio falls, then rises with z, and is flat only where every single ratio is.

    So its rejection regions are two tails, and a coin at a tie cannot matter. `drop` < 1 leaves out the largest shifts on
    one side (the control).
    """
    parameters = setting_parameters(noise, mu, rate)

    def judge(_: Budget) -> RegimeResult:
        z = np.linspace(-mu - 8.0, mu + 8.0, 1601)
        if noise == "Gumbel":
            z = z[z > -4.0]  # left of it the density is below 1e-300
        shifts = mu * np.linspace(-drop, 1.0, 401)
        single = log_ratio(noise, z[:, None], shifts, rate)
        composite = np.maximum(single.max(axis=1), 0.0)
        sides = np.maximum(
            np.maximum(single[:, shifts > 0].max(axis=1), 0.0),
            np.maximum(single[:, shifts < 0].max(axis=1), 0.0),
        )
        low = int(np.argmin(composite))
        fall, rise = np.diff(composite[: low + 1]), np.diff(composite[low:])
        wrong = max(0.0, float(fall.max(initial=0.0)), float(-rise.min(initial=0.0)))
        largest = np.array([-mu, mu])
        step = np.abs(np.diff(log_ratio(noise, z[:, None], largest, rate), axis=0)).max(axis=1)
        far = np.abs(z[1:]) >= mu  # nearer to 0 a flat piece is the spacing of the shifts
        tied = (np.abs(np.diff(composite)) < 1e-13) & far
        hidden = float(step[tied].max(initial=0.0))
        uneven = float(np.abs(composite - np.maximum(sides, 0.0)).max())
        missing = float(np.abs(composite - _composite(noise, z, mu, rate)).max())
        return judge_identity(
            max(wrong, hidden, uneven, missing if drop < 1 else 0.0),
            ROUNDING,
            parameters,
            unit="log likelihood ratio",
            route="likelihood ratios at 1601 outputs and 401 shifts",
            detail="the composite ratio is the larger of the two one-sided ones, both monotone",
        )

    return Regime(setting_name(noise, mu, rate), parameters, judge, random=False)


def _composite(noise: str, z: np.ndarray, mu: float, rate: float) -> np.ndarray:
    return np.maximum(log_ratio(noise, z[:, None], mu * np.linspace(-1.0, 1.0, 401), rate).max(axis=1), 0.0)


def ratio_regime(noise: str, mu: float, rate: float, *, null_only: bool, tilt: float = 0.0) -> Regime:
    """Lemma 3: the ratio of two shifts rises with z, and the power of z > c with the shift.

    `null_only` compares the shifts in [0, Delta] with those in [-Delta, 0]; otherwise any two in [0, Delta] are compared. `tilt` spoils the ratio (the control).
    """
    parameters = setting_parameters(noise, mu, rate)

    def judge(_: Budget) -> RegimeResult:
        # Far out, where the smallest shifts begin to fail: a likelihood ratio is compared at every z.
        z = np.linspace(-mu - 40.0, mu + 40.0, 4001)
        shifts = mu * np.linspace(0.0, 1.0, 9)
        ratios = log_ratio(noise, z[:, None], shifts, rate) - tilt * z[:, None] * np.linspace(0, 1, 9)
        starts = log_ratio(noise, z[:, None], -shifts, rate) if null_only else ratios
        drops = []
        for first in range(shifts.size):
            ratio = ratios[:, 0 if null_only else first :] - starts[:, [first]]
            drops.append(float((np.maximum.accumulate(ratio, axis=0) - ratio).max(initial=0.0)))
        power = np.stack([LAWS[noise].sf(LAWS[noise].isf(GRID) - s) for s in shifts])
        falls = float((-np.diff(power, axis=0)).max(initial=0.0))
        return judge_identity(
            max(*drops, falls),
            ROUNDING,
            parameters,
            unit="log likelihood ratio",
            route="densities at 4001 outputs",
            detail=f"the ratio falls by {max(drops):.3g} at most as z rises; the power falls by {falls:.3g} as the shift grows",
            second_route=partial(_counted, mu, rate),
        )

    return Regime(setting_name(noise, mu, rate), parameters, judge, random=False)


def _counted(mu: float, rate: float) -> str:
    """Two cells left and right of where the ratio of Delta to Delta/2 is least: it must rise from one to the other."""
    half = 0.5 * mu
    least = -np.log(2.0) / half + 0.75 * mu
    edges = np.array([-np.inf, least - 2.0, least - 0.5, least + 0.5])
    masses = [rate * np.diff(ndtr(edges - s)) + (1 - rate) * np.diff(ndtr(edges)) for s in (half, mu)]
    left, right = (masses[1] / masses[0])[[0, 2]]
    said = (
        f"by the normal distribution function P(shift Delta)/P(shift Delta/2) is {left:.6f} on z < {edges[1]:.3g} and "
        f"{right:.6f} on {edges[2]:.3g} < z < {edges[3]:.3g}, lower where it should be higher"
    )
    if least < -3.0:
        return said
    rng, games = np.random.default_rng(0), 2_000_000
    drawn = [rng.standard_normal(games) + s * (rng.random(games) < rate) for s in (half, mu)]
    counts = [np.histogram(z, [-1e9, *edges[1:]])[0] for z in drawn]
    ratios = (counts[1] / counts[0])[[0, 2]]
    return f"{said}; NumPy, {games:,} draws of each (seed 0): {ratios[0]:.4f} and {ratios[1]:.4f}"


def magnitude_regime(noise: str, mu: float, rate: float, factor: float = 1.0) -> Regime:
    """Lemma 4: two one-sided tests of level alpha/2 against integrating the density outside (-c, c)."""
    parameters = setting_parameters(noise, mu, rate)
    nodes, weights = np.polynomial.legendre.leggauss(200)

    def judge(_: Budget) -> RegimeResult:
        law = LAWS[noise]
        cut = law.isf(0.5 * GRID * factor)
        powers, gaps = [], []
        for shift in mu * np.linspace(0.0, 1.0, 9):
            tails = rate * (law.sf(cut - shift) + law.cdf(-cut - shift)) + (1 - rate) * 2 * law.sf(cut)
            within = np.zeros(cut.size)
            edge = law.isf(0.5 * GRID)
            middle = np.clip(shift, -edge, edge)  # the density of Laplace noise has a kink there
            for low, high in ((-edge, middle), (middle, edge)):
                for start, end in ((low, np.maximum(low, high - 12.0)), (np.maximum(low, high - 12.0), high)):
                    x = 0.5 * ((end + start)[:, None] + (end - start)[:, None] * nodes)
                    within += 0.5 * (end - start) * (law.pdf(x - shift) @ weights)
            integrated = 1.0 - rate * within - (1 - rate) * (1.0 - GRID)
            gaps.append(float(np.abs(tails - integrated).max()))
            powers.append(integrated)
        falls = float((-np.diff(np.stack(powers), axis=0)).max(initial=0.0))
        return judge_identity(
            max(*gaps, falls),
            ROUNDING,
            parameters,
            unit="power",
            route="quadrature of the density",
            detail="the power rises up to |shift| = Delta",
        )

    return Regime(setting_name(noise, mu, rate), parameters, judge, random=False)


def some_setting(rng: np.random.Generator, noises: Sequence[str], sampling: bool) -> tuple[str, float, float]:
    """A noise, a Delta from 0.05 to 15 in its scale (by the logarithm), and a sampling rate: 1, or any, each half of the time."""
    rate = float(rng.uniform(0.01, 0.99)) if sampling and rng.random() < 0.5 else 1.0
    return str(rng.choice(list(noises))), log_uniform(rng, 0.05, 15.0), rate
