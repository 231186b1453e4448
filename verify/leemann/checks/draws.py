"""Second, independent ways to what Leemann et al.'s statements are about: literal games sampled with NumPy, enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import scipy
from scipy.special import ndtr, ndtri

from mipsim.referee import Draws, Replication
from mipsim.referee.replication import RISK, share
from verify.by_hand import difference, near
from verify.leemann.laws.problems import BERNOULLI, COIN, LAPLACE, MIXTURE, finite_laws, gradients


def sampled_means(
    d: int, n: int, mean: float, target: float, tau: float, spread: float, evenness: float
) -> Draws:
    """Means sampled with NumPy, and the likelihood ratio of normal laws written out."""
    rng, games = np.random.default_rng(0), 2_000_000 // (d + 9)
    centre, variance, gradient = gradients(d, n, mean, target, spread, evenness)
    shift = (gradient - centre) / variance**0.5
    noise = tau**2 * n / variance
    scores = []
    for rows, own in ((n, 0.0), (n - 1, shift)):
        total = rng.standard_normal((games, d)) * np.sqrt(rows + noise) + own
        ratio = total**2 / (n + noise) - (total - shift) ** 2 / (n - 1 + noise)
        scores.append(ratio.sum(axis=1))
    return Draws(
        scores[0], scores[1], f"NumPy, {games:,} means a world, seed 0, the likelihood ratio as the test"
    )


def pairs_sorted(n: int, own: float, spare: float) -> Replication:
    """All pairs (target +-1, number of +1 in the batch), sorted by their likelihood ratio."""
    ones = np.arange(n + 1)
    out, inside = [], []
    for target, chance in ((1, own), (0, 1.0 - own)):
        out.append(chance * scipy.stats.binom.pmf(ones, n, own))
        inside.append(chance * scipy.stats.binom.pmf(ones - target, n - 1, own))
    null, member = np.concatenate(out), np.concatenate(inside)
    order = np.argsort(-member / np.maximum(null, 1e-300))
    fpr, tpr, rate = null[order].cumsum(), member[order].cumsum(), 1e-3
    k = 1.0 / (4.0 * own * (1.0 - own)) * spare
    claim = scipy.stats.ncx2.cdf(n / (n - 1) * scipy.stats.ncx2.ppf(rate, 1, n * k), 1, (n - 1) * k)
    return Replication(
        *near(float(np.interp(rate, fpr, tpr)) - rate, 1e-6),
        what=f"TPR - FPR at FPR {rate:g}",
        how=f"SciPy, the {null.size} pairs of target and sum, sorted by their ratio",
        claim=float(claim) - rate,
    )


def summed(n: int, shift: float, own: float, mu: float) -> Replication:
    """The densities of pairs (target +-1, noisy sum) in both worlds on a grid of outputs, sorted by their ratio."""
    x = np.linspace(-shift * n - 9.0, shift * n + 9.0, 100_001)

    def density(rows: int, target: float) -> np.ndarray:
        result = np.zeros(x.size)
        for k, chance in enumerate(scipy.stats.binom.pmf(np.arange(rows + 1), rows, own)):
            if chance > 1e-18:
                result += chance * np.exp(-0.5 * (x - shift * (2.0 * k - rows + target)) ** 2)
        return result

    shares = (own, 1.0), (1.0 - own, -1.0)
    null = np.concatenate([share * density(n, 0.0) for share, _ in shares])
    member = np.concatenate([share * density(n - 1, target) for share, target in shares])
    order = np.argsort(member / np.maximum(null, 1e-300))
    kept, missed = (law[order].cumsum() / law.sum() for law in (null, member))
    # The first of these rates at which the promise is clearly broken.
    rows = [
        (rate, float(np.interp(rate, kept, missed)), float(ndtr(ndtri(rate) - mu)))
        for rate in (0.2, 0.1, 0.01, 1e-3, 1e-4, 1e-5)
    ]
    rate, value, claim = next((row for row in rows if row[1] < 0.9 * row[2]), rows[-1])
    return Replication(
        -value,
        -1.002 * value,
        -0.998 * value,
        f"minus the FNR at FPR {1.0 - rate:.10g}",
        "NumPy, densities of target and sum on 100,001 outputs",
        -claim,
    )


def every_test(mechanism: str, skew: float, draw: int) -> Replication:
    """All sets of pairs (sample, output) as tests, against a linear program for the split of the FPR over the samples."""
    laws, prior = finite_laws(mechanism, skew, draw)
    inside = np.einsum("abo,b->ao", laws, prior)
    out, member = np.outer(prior, prior @ inside).ravel(), (prior[:, None] * inside).ravel()
    sets = (np.arange(2**out.size)[:, None] >> np.arange(out.size)) & 1
    fpr, fnr = sets @ out, 1.0 - sets @ member
    apart = 0.0
    for alpha in np.linspace(0.05, 0.95, 7):
        # The best mixture of two sets, the first with a lower FPR than the second.
        low, high = np.flatnonzero(fpr <= alpha), np.flatnonzero(fpr > alpha)
        share = (alpha - fpr[low])[:, None] / (fpr[high][None, :] - fpr[low][:, None])
        best = float(((1.0 - share) * fnr[low][:, None] + share * fnr[high][None, :]).min())
        split = scipy.optimize.linprog(-member, A_eq=[out], b_eq=[alpha], bounds=(0.0, 1.0), method="highs")
        apart = max(apart, abs(best - (1.0 + split.fun)))
    return Replication(
        -apart,
        -apart - 1e-9,
        1e-9 - apart,
        what="minus the distance of the two curves in FNR at seven FPRs",
        how=f"NumPy, all {len(sets):,} sets of pairs and their mixtures; SciPy, a linear program for the composition",
    )


def atoms_counted() -> Draws:
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
    how = f"NumPy, {games:,} data sets a world, seed 0, n = {n}, d = {d}, the atoms read off their sums and counted"
    return Draws(*seen, how=how, size=n)


def four_counted() -> Draws:
    """Records with four equally likely values near +-1, and a target of the same law: the values are read off the sums of coordinates."""
    rng, games, n, d = np.random.default_rng(0), 5_000, 12, 6
    values = (
        np.array([-1.0, -1.0, 1.0, 1.0]) + np.sqrt([2.0, 3.0, 5.0, 7.0]) * np.array([-1, 1, -1, 1]) / 1000
    )
    counts = np.array([c for c in product(range(n + 1), repeat=4) if sum(c) == n])
    sums = counts @ values
    order = np.argsort(sums)
    sums, counts = sums[order], counts[order]
    seen = []
    for rows in (n, n - 1):
        target = rng.integers(0, 4, (games, d))
        total = values[rng.integers(0, 4, (games, d, rows))].sum(axis=-1) + (n - rows) * values[target]
        place = np.searchsorted(sums, total - 1e-9)
        seen.append(np.take_along_axis(counts[place], target[..., None], axis=-1).sum(axis=(1, 2)))
    how = (
        f"NumPy, {games:,} data sets and targets a world, seed 0, n = {n}, d = {d}: the target's values counted, read off sums that are "
        f"{np.diff(sums).min():.1g} apart at least"
    )
    return Draws(*(scores.astype(float) for scores in seen), how=how, size=n)


def parities() -> Draws:
    """Sums of gradients +-1, a gradient replaced by 0 in the world in: does the sum have the parity of n?"""
    rng, games, n = np.random.default_rng(0), 100_000, 20
    sums = [2 * rng.binomial(rows, 0.5, games) - rows for rows in (n, n - 1)]
    return Draws(
        *((np.abs(s - n) % 2).astype(float) for s in sums),
        how=f"NumPy, {games:,} sums a world, seed 0, n = {n}: their parity",
        size=n,
    )


def places_read() -> Replication:
    """Sums of records that are sums of fair coins over k!, as whole numbers of 1/N!, whose places are read and compared with the target's coins."""
    rng, games, n, size = np.random.default_rng(0), 200, 100, 2_000
    seen = []
    for rows in (n - 1, n):
        hits = 0
        for _ in range(games):
            own, total, score = rng.integers(0, 2, size), 0, 0.0
            counts = rng.binomial(rows, 0.5, size) + (n - rows) * own
            for k, count in enumerate(counts.tolist(), 1):
                total = total * k + count
            for k in range(size, n, -1):
                total, place = divmod(total, k)
                score += (2 * int(own[k - 1]) - 1) * (place - n / 2)
            hits += score > 0.25 * (size - n)
        seen.append(share(hits, games, RISK / 4))
    how = f"NumPy, {games} games a world with sampled targets, seed 0, n = {n}, d = 1, the first {size:,} places of the sum in whole numbers"
    what = "TPR - FPR of reading the places of the sum"
    return Replication(*difference(*seen), what=what, how=how, size=n)


def sampled_endless(step: float, c: float) -> Draws:
    """Runs whose i-th batch has the rate min(1, c/sqrt(i)), step by step."""
    rng, games, steps = np.random.default_rng(0), 4_000, 4096
    ratio = np.zeros((2, games))
    for p in np.minimum(1.0, c / np.sqrt(np.arange(1.0, steps + 1))):
        shown = rng.standard_normal((2, games))
        shown[1] += step * (rng.random(games) < p)
        ratio += np.log1p(p * np.expm1(step * shown - 0.5 * step**2))
    return Draws(*ratio, how=f"NumPy, {games:,} runs of {steps:,} steps a world, seed 0", size=steps)


def sampled_exposed(epsilon: float, c: float, exposed: float) -> Draws:
    """Draw who is exposed, in which batches the target is, and every coin: an attack on the exposed alone."""
    rng, games, steps = np.random.default_rng(0), 200_000, 16_384
    chance, scores = 1.0 / (1.0 + np.exp(-epsilon)), []
    for member in (0, 1):
        batches = member * rng.binomial(steps, c / steps**0.5, games)
        ones = rng.binomial(steps - batches, 1.0 - chance) + rng.binomial(batches, chance)
        scores.append(np.where(rng.random(games) < exposed, ones, -1.0))
    return Draws(*scores, how=f"NumPy, {games:,} games of {steps:,} steps a world, seed 0", size=steps)


def exposed_alone(curve: str, size: float, share: float, k: int) -> Draws | Replication:
    """The attacker spends the whole FPR on the exposed: all outputs of coins enumerated, others sampled."""
    if curve == COIN:
        chance, ones = 1.0 / (1.0 + np.exp(-size)), np.arange(k, 0, -1)
        rates = share * np.cumsum(scipy.stats.binom.pmf(ones, k, 1.0 - chance))
        powers = share * np.cumsum(scipy.stats.binom.pmf(ones, k, chance))
        # The mu of a step is that of the corner where it says that an exposed target is in; k steps are to have sqrt(k) of it.
        mu = k**0.5 * (ndtri(share * chance) - ndtri(share * (1.0 - chance)))
        best = int(np.argmax(ndtri(powers) - ndtri(rates) - mu))
        return Replication(
            *near(float(powers[best])),
            what=f"power at FPR {rates[best]:.3g} of attacking the exposed alone",
            how=f"SciPy, enumeration of the {k} coins",
            claim=float(ndtr(ndtri(rates[best]) + mu)),
        )
    rng, games = np.random.default_rng(0), 200_000
    if curve == LAPLACE:
        shown = (rng.laplace(size=(games, k)) + inside * size for inside in (0.0, 1.0))
        sums = [(np.abs(x) - np.abs(x - size)).sum(axis=1) for x in shown]
    else:
        sums = [rng.standard_normal(games) + inside * size * k**0.5 for inside in (0.0, 1.0)]
    return Draws(
        *(np.where(rng.random(games) < share, x, -1e9) for x in sums),
        how=f"NumPy, {games:,} runs of {k} steps a world, seed 0",
    )


def by_rounded_ratio(size: float, rate: float, steps: int) -> Replication:
    """The log ratios of the steps, rounded down to whole cells and added up, as the test: its two laws by the discrete Fourier transform."""
    mu = rate * np.sqrt(2.0 * steps * (np.exp(size**2) * ndtr(1.5 * size) + 3.0 * ndtr(-0.5 * size) - 2.0))
    cell, cells = 0.002, 2**15
    loss = np.log1p(-rate) + cell * np.arange(cells)
    with np.errstate(divide="ignore"):
        x = (np.log(np.maximum(np.exp(loss) - (1.0 - rate), 0.0)) - np.log(rate)) / size + size / 2.0
    x[0] = -np.inf
    sums = []
    for above in (ndtr(-x), (1.0 - rate) * ndtr(-x) + rate * ndtr(size - x)):
        law = np.fft.irfft(np.fft.rfft(-np.diff(above, append=0.0)) ** steps, cells)
        sums.append(np.cumsum(law[::-1]))
    for least in (1e-4, 1e-7):  # rarer errors where these show nothing
        seen = (sums[0] > least) & (sums[0] < 0.1)
        fpr, power = sums[0][seen], sums[1][seen]
        best = int(np.argmax(ndtri(power) - ndtri(fpr)))
        result = Replication(
            *near(float(power[best]), 1e-6),
            what=f"power at FPR {fpr[best]:.2g} of the sum of rounded log ratios",
            how="SciPy, the discrete Fourier transform",
            claim=float(ndtr(ndtri(fpr[best]) + mu)),
            one_sided=True,
        )
        if result.low > result.claim:
            break
    return result


def sampled_k(components: str, p: float, deviation: float, d: int) -> Replication:
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
    # The standard error of a variance by its fourth moment.
    variance = float(k.var())
    error = 6.0 * float((((k - k.mean()) ** 2).var() / k.size) ** 0.5)
    ends = [(max(x, 0.0) / (2 * d)) ** 0.5 for x in (variance, variance - error, variance + error)]
    return Replication(
        *ends, what="sd(K) / sd(chi2_d)", how=f"NumPy, {size[0]:,} gradients, seed 0; 6 standard errors"
    )


def sampled_p_values(d: int, n: int, k: float, level: float, printed: bool) -> Replication:
    """Batch means under H0 sampled with NumPy, and SciPy's chi-square law; as printed, how often F^-1 has no value."""
    rng, means = np.random.default_rng(0), min(20_000, 20_000_000 // d)
    theta = np.full(d, np.sqrt(k / d))
    square = ((rng.standard_normal((means, d)) / np.sqrt(n) - theta) ** 2).sum(axis=1)
    how = f"NumPy and SciPy, {means:,} batch means under H0, seed 0"
    if printed:
        return Replication(
            *share(((n - 1) * square > 1.0).sum(), means), what="P0(S > 1), where F^-1 has no value", how=how
        )
    below = scipy.stats.ncx2.cdf((n - 1) * square, d, n * k) <= level
    return Replication(*share(below.sum(), means), what=f"P0(p <= {level:g})", how=how)
