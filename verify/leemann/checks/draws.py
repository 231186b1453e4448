"""Second, independent ways to what Leemann et al.'s statements are about: literal games drawn with NumPy, enumeration."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import scipy
from scipy.special import ndtri

from mipsim.theory import leemann
from mipsim.tradeoff import AbstractTradeOff, GaussianTradeOff
from verify.leemann.laws.curves import long_run_curve
from verify.leemann.laws.problems import ATOMS_OWN, BERNOULLI, COIN, LAPLACE, MIXTURE, coins, gradients


def drawn_means(
    d: int, n: int, mean: float, target: float, tau: float, spread: float, evenness: float
) -> str:
    """Means drawn with NumPy, and the likelihood ratio of normal laws written out."""
    rng, games, alpha = np.random.default_rng(0), 2_000_000 // (d + 9), 0.05
    data, gradient = gradients(d, n, mean, target, spread, evenness)
    shift = (gradient - data.mean) / data.variance**0.5
    noise = tau**2 * n / data.variance
    scores = []
    for rows, own in ((n, 0.0), (n - 1, shift)):
        total = rng.standard_normal((games, d)) * np.sqrt(rows + noise) + own
        ratio = total**2 / (n + noise) - (total - shift) ** 2 / (n - 1 + noise)
        scores.append(ratio.sum(axis=1))
    missed = float((scores[1] < np.quantile(scores[0], 1.0 - alpha)).mean())
    own = leemann.gradient_susceptibility(data, gradient, centred=False)
    claimed = leemann.step_tradeoff(d, leemann.effective_rows(n, tau / n**0.5, 1.0), own)
    return (
        f"NumPy, {games:,} means a world (seed 0), the likelihood ratio as the test: FNR {missed:.4f} at FPR {alpha:g} (standard error "
        f"below {0.8 / games**0.5:.4f}); equation 8 with the printed K of the target says {float(claimed.beta(alpha)):.4f}"
    )


def summed(n: int, shift: float, own: float, mu: float) -> str:
    """The curve of the sum by drawing sums and noise, and by its densities on a grid of 200,001 outputs."""
    rng, games = np.random.default_rng(0), 1_000_000
    out = shift * (2.0 * rng.binomial(n, own, games) - n) + rng.standard_normal(games)
    inside = shift * (2.0 * rng.binomial(n - 1, own, games) - n + 2.0) + rng.standard_normal(games)
    cut = np.quantile(out, 0.2)
    wanted = float(GaussianTradeOff(mu).beta(0.8))
    x = np.linspace(-shift * n - 9.0, shift * n + 9.0, 200_001)
    places = shift * (2.0 * np.arange(n + 1) - n)
    shapes = np.exp(-0.5 * (x - places[:, None]) ** 2)
    masses = (
        scipy.stats.binom.pmf(np.arange(n + 1), n, own) @ shapes,
        scipy.stats.binom.pmf(np.arange(n), n - 1, own) @ shapes[1:],
    )
    fpr, fnr = (mass.cumsum() / mass.sum() for mass in (masses[0][::-1], masses[1]))
    fpr, fnr = fpr[::-1][1:], fnr[:-1]
    seen = (fpr < 1.0) & (fnr < 1.0) & (fnr > 0.0) & (fpr > 0.0)
    gain = ndtri(GaussianTradeOff(mu).beta(fpr[seen])) - ndtri(fnr[seen])
    best = int(np.argmax(np.where((fnr[seen] > 1e-9) & (fpr[seen] > 1e-9), gain, -np.inf)))
    return (
        f"NumPy, {games:,} sums in each world (seed 0): FNR {(inside < cut).mean():.5f} at FPR 0.8, where {wanted:.5f} is promised; "
        f"densities on a grid: the attacker gains {gain[best]:.3f} probits at FNR {fnr[seen][best]:.2g}"
    )


def atoms_counted() -> str:
    """Records with values 0, 1, sqrt 2 that are read off their sums."""
    rng, games, n, d = np.random.default_rng(0), 20_000, 20, 10
    values = np.array([0.0, 1.0, 2**0.5])
    ones, roots = np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0))
    order = np.argsort((ones + 2**0.5 * roots).ravel())
    sums, counts = (ones + 2**0.5 * roots).ravel()[order], roots.ravel()[order]
    seen = []
    for rows, own in ((n, 0.0), (n - 1, 2**0.5)):
        total = np.full((games, d), own)
        for _ in range(rows):
            total += values[(rng.random((games, d, 1)) > (0.6, 0.9)).sum(axis=-1)]
        seen.append(counts[np.searchsorted(sums, total - 1e-9)].sum(axis=1))
    cut = np.quantile(seen[0], 0.95)
    fpr, tpr = (float((result > cut).mean()) for result in seen)
    claimed = float(leemann.step_tradeoff(d, n, d * ATOMS_OWN).tpr_at(fpr))
    return (
        f"NumPy, {games:,} data sets a world (seed 0), n = {n}, d = {d}, the atoms read off their sums and counted: power {tpr:.4f} at "
        f"FPR {fpr:.4f}, where equation 8 allows {claimed:.4f}"
    )


def roots_named() -> str:
    """Records that are square roots of primes are read off their sum, by going through all sums."""
    primes = [p for p in range(2, 114) if all(p % q for q in range(2, p))][:30]
    sets = np.array(list(combinations_with_replacement(range(30), 4)))
    sums = np.sort(np.sqrt(np.array(primes, float))[sets].sum(axis=1))
    return (
        f"enumeration: the {len(sums):,} sums of 4 of the square roots of the first 30 primes (which are independent) differ by "
        f"{np.diff(sums).min():.1g} at least, 10,000 times their rounding, so that each names its records"
    )


def drawn_targets(d: int, n: int) -> str:
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
    claimed = float(leemann.step_tradeoff(d, n, float(d)).tpr_at(0.01))
    return (
        f"NumPy, {games:,} games in each world with drawn targets (seed 0): power {(scores[1] > cut).mean():.4f} at FPR 0.01; K = d "
        f"says {claimed:.4f}"
    )


def drawn_endless(step: float, c: float) -> str:
    """Runs whose i-th batch has the rate min(1, c/sqrt(i)), step by step."""
    rng, claimed = np.random.default_rng(0), GaussianTradeOff(leemann.long_run_mu(step, c))
    games, steps = 2_000, 4096
    ratio = np.zeros((2, games))
    for p in np.minimum(1.0, c / np.sqrt(np.arange(1.0, steps + 1))):
        shown = rng.standard_normal((2, games))
        shown[1] += step * (rng.random(games) < p)
        ratio += np.log1p(p * np.expm1(step * shown - 0.5 * step**2))
    result = float((ratio[1] > 0).mean() - (ratio[0] > 0).mean())
    return (
        f"NumPy, {games:,} runs of {steps:,} steps a world (seed 0): the likelihood-ratio test at 0 has advantage {result:.3f} "
        f"(standard error below {0.71 / games**0.5:.3f}); mu-GMIP with mu of equation 10 allows {claimed.advantage():.3f}"
    )


def drawn_exposed(epsilon: float, c: float, share: float, claimed: AbstractTradeOff) -> str:
    """Draw who is exposed, in which batches the target is, and every coin: an attack on the exposed alone."""
    rng = np.random.default_rng(0)
    games, steps, (q, _) = 200_000, 16_384, coins(epsilon, 0.0)
    exposed = rng.random(games) < share
    batches = rng.binomial(steps, c / steps**0.5, games)
    ones = rng.binomial(steps - batches, q) + rng.binomial(batches, 1 - q)
    least = int(scipy.stats.binom(steps, q).isf(1e-3 / share)) + 1
    rate = share * float(scipy.stats.binom(steps, q).sf(least - 1))
    power = float((exposed & (ones >= least)).mean())
    return (
        f"NumPy, {games:,} games of {steps:,} steps with the target in (seed 0): power {power:.4f} at FPR {rate:.3g} (exact); "
        f"the statement allows {float(claimed.tpr_at(rate)):.4f}"
    )


def exposed_alone(curve: str, size: float, share: float, k: int, claimed: AbstractTradeOff) -> str:
    """The attacker spends the whole FPR on the exposed: all outputs of coins enumerated, others drawn."""
    if curve == COIN:
        chance, ones = 1 / (1 + np.exp(-size)), np.arange(k, 0, -1)
        route, rates, powers = (
            f"enumeration of the {k} coins",
            np.cumsum(scipy.stats.binom.pmf(ones, k, 1 - chance)),
            np.cumsum(scipy.stats.binom.pmf(ones, k, chance)),
        )
    else:
        rng, games = np.random.default_rng(0), 200_000
        sums = [rng.standard_normal(games) + inside * size * k**0.5 for inside in (0.0, 1.0)]
        if curve == LAPLACE:
            shown = (rng.laplace(size=(games, k)) + inside * size for inside in (0.0, 1.0))
            sums = [(np.abs(x) - np.abs(x - size)).sum(axis=1) for x in shown]
        rates = np.geomspace(1e-4, 0.5, 30)
        route = f"NumPy, {games:,} runs of {k} steps a world (seed 0)"
        powers = np.array([(sums[1] > np.quantile(sums[0], 1.0 - rate)).mean() for rate in rates])
    gains = ndtri(share * powers) + claimed.probit_beta(share * rates)
    best = int(np.argmax(gains))
    return (
        f"{route}: attacking the exposed alone has power {share * powers[best]:.4f} at FPR {share * rates[best]:.3g}, which is "
        f"{gains[best]:+.3f} probits beyond sqrt(k) mu_step"
    )


def by_inversion(size: float, rate: float, steps: int) -> str:
    """The same steps by the characteristic function of the log ratio: no composition of curves, no grid of losses."""
    claimed = GaussianTradeOff(leemann.long_run_mu(size, rate * steps**0.5))
    try:
        curve = long_run_curve(size, rate, steps)
    except (
        ValueError
    ):  # too few steps for it to have died out: a coin decides in each whether the target is in the batch
        rng, games = np.random.default_rng(0), 2_000_000
        alpha = np.array([1e-5, 1e-4, 1e-3, 1e-2])
        total = rng.binomial(steps, rate, games) * size + rng.standard_normal(games) * steps**0.5
        caught = np.array([(total > -ndtri(a) * steps**0.5).mean() for a in alpha])
        k = int(np.argmax(ndtri(np.maximum(caught, 1e-12)) - ndtri(claimed.tpr_at(alpha))))
        return (
            f"NumPy, {games:,} games with the target in (seed 0): power {caught[k]:.5f} at FPR {alpha[k]:g} by thresholding the sum of the "
            f"outputs alone; the bound allows {float(claimed.tpr_at(alpha[k])):.5f}"
        )
    alpha = np.geomspace(1e-7, 0.1, 50)
    gains = claimed.probit_beta(alpha) - curve.probit_beta(alpha)
    best = int(np.argmax(gains))
    return f"inversion of the characteristic function: the attacker gains {gains[best]:+.3g} probits over the bound at FPR {alpha[best]:.2g}"


def drawn_k(components: str, p: float, deviation: float, d: int) -> str:
    """The same by drawing gradients with another library."""
    rng = np.random.default_rng(0)
    size = (20_000, d) if d <= 1000 else (200, d)
    scale = (1 - p + p * deviation**2) ** 0.5
    draws = {
        "Gaussian": lambda: rng.standard_normal(size),
        "uniform": lambda: rng.uniform(-np.sqrt(3), np.sqrt(3), size),
        "Laplace": lambda: rng.laplace(0.0, np.sqrt(0.5), size),
        "exponential": lambda: rng.exponential(1.0, size) - 1.0,
        "Student t, 9 df": lambda: rng.standard_t(9, size) / np.sqrt(9 / 7),
        BERNOULLI: lambda: ((rng.random(size) < p) - p) / np.sqrt(p * (1 - p)),
        MIXTURE: lambda: rng.standard_normal(size) * np.where(rng.random(size) < p, deviation, 1.0) / scale,
    }
    k = (draws[components]() ** 2).sum(axis=1)
    return f"NumPy, {size[0]:,} gradients (seed 0): mean of K {k.mean():.4g} and variance {k.var():.4g}, against {d} and {2 * d}"


def drawn_p_values(d: int, n: int, k: float, level: float) -> str:
    """Batch means under H0 drawn with NumPy, and SciPy's chi-square law."""
    rng, means = np.random.default_rng(0), min(20_000, 20_000_000 // d)
    theta = np.full(d, np.sqrt(k / d))
    square = ((rng.standard_normal((means, d)) / np.sqrt(n) - theta) ** 2).sum(axis=1)
    share = float((scipy.stats.ncx2.cdf((n - 1) * square, d, n * k) <= level).mean())
    return f"NumPy and SciPy, {means:,} batch means under H0 (seed 0): P(p <= {level:g}) = {share:.4f}"
