"""Product laws with a target, over which linear attacks on the mean are compared: named cases, random ones, and pairs of coins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from scipy.special import ndtri

from mipsim.referee import Draws
from verify.azize.laws.cases import CASES
from verify.azize.laws.enumeration import roc_vertices
from verify.azize.laws.normal_sums import NormalCurve, law_third, linear_curve, sum_curve, sum_law
from verify.azize.laws.z_moments import World

LAWS = ("bernoulli", "gaussian", "exponential", "laplace", "uniform")
REFERENCES = {"origin": 0.0, "mean": None, "half": 0.5, "ones": 1.0}
"""Reference points of the scalar product with the same value in all coordinates; None: each coordinate's mean."""
NAMED = {case.name: case for case in CASES}


@dataclass(frozen=True)
class LinearProblem:
    """Kinds of independent coordinates in fixed shares."""

    third: np.ndarray  # E|Z - mean|^3 / sd^3 of each kind
    # mean, sd: of each kind
    mean: np.ndarray
    sd: np.ndarray
    t: np.ndarray  # the target, (z - mean)/sd
    far: np.ndarray  # a random reference point, (z_ref - mean)/sd
    share: np.ndarray  # of the coordinates

    def weights(self, score: str) -> np.ndarray:
        """Coefficients of the standardised coordinates: of the covariance score, or of the scalar product with a reference point.

        Those of the scalar product have the sign of its stronger side.
        """
        if score == "covariance":
            return self.t
        value = None if score == "random" else REFERENCES[score]
        place = self.far if score == "random" else 0.0 if value is None else (value - self.mean) / self.sd
        result = (self.t - place) * self.sd**2
        return result * (-1.0 if self.share @ (result * self.t) < 0 else 1.0)

    def curve(self, score: str, n: int, tau: float) -> NormalCurve:
        """The curve of a score at n rows and d = tau n coordinates, with its proven bracket; a constant score is a coin."""
        weights = self.weights(score)
        if not weights.any():
            return NormalCurve(0.0, 1.0)
        return linear_curve(weights, self.t, self.third, self.share * tau * n, n)


@lru_cache(maxsize=512)
def linear_problem(data: str, kinds: int, spread: float, draw: int) -> LinearProblem:
    """A named case of `verify.azize.laws.cases`, or `kinds` random kinds of coordinates; their sd differ by up to exp(2 spread).
    >>> linear_problem("uniform-corner", 1, 0.0, 0).t.round(3).tolist()
    [1.732, -1.732]
    >>> linear_problem("random", 3, 1.0, 0).share.size
    3
    """
    if data in NAMED:
        coordinates = NAMED[data].coordinates
        moments = np.array([item.moments for item in coordinates])
        sd, z = np.sqrt(moments[:, 1]), np.array([single.z for single in coordinates])
        third = law_third([(item.law, item.parameter) for item in coordinates])
        share = np.array([item.share for item in coordinates])
        t = (z - moments[:, 0]) / sd
        return LinearProblem(third, moments[:, 0], sd, t, 1.0 - t, share)
    rng = np.random.default_rng(draw)
    laws = [(str(rng.choice(LAWS)), float(rng.uniform(0.1, 0.9))) for _ in range(kinds)]
    coin, p = np.array([law == "bernoulli" for law, _ in laws]), np.array([q for _, q in laws])
    sd = np.where(coin, np.sqrt(p * (1 - p)), np.exp(spread * rng.uniform(-1.0, 1.0, kinds)))
    mean, t = np.where(coin, p, rng.normal(size=kinds)), rng.normal(size=kinds)
    t = np.where(coin, (rng.integers(0, 2, kinds) - p) / sd, t)
    return LinearProblem(law_third(laws), mean, sd, t, rng.normal(size=kinds), rng.dirichlet(np.ones(kinds)))


def pair_powers(
    n: int, p: np.ndarray, z: np.ndarray, reference: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(FPR, power of the covariance attack, of the scalar product, whether the latter splits no tie) for two Bernoulli(p) coordinates, by enumeration.

    At all corners of both curves; up to 60 ones of each coordinate are counted.
    """
    counts = np.arange(min(n, 60) + 1)
    out = [scipy.stats.binom.pmf(counts, n, q) for q in p]
    inside = [scipy.stats.binom.pmf(counts - v, n - 1, q) for q, v in zip(p, z, strict=True)]
    laws = np.outer(*out).ravel(), np.outer(*inside).ravel()
    curves = []
    for weight in ((z - p) / (p * (1 - p)), z - reference):
        scale = weight / np.abs(weight).max()
        score = np.add.outer(scale[0] * counts, scale[1] * counts).ravel()
        curves.append(roc_vertices(score, *laws))
    alpha = np.union1d(curves[0][0], curves[1][0])
    covariance, scalar = (np.interp(alpha, *curve) for curve in curves)
    return alpha, covariance, scalar, np.isin(alpha, curves[1][0])


def scalar_ahead(n: int, p: np.ndarray, z: np.ndarray, reference: np.ndarray) -> tuple[float, float, float]:
    """(FPR, powers of the covariance attack and of the scalar product) where the latter is farthest ahead, without a coin if it is ahead so at all."""
    alpha, covariance, scalar, no_coin = pair_powers(n, p, z, reference)
    lead = scalar - covariance
    worst = int(np.argmax(np.where(no_coin, lead, -1.0) if lead[no_coin].max() > 1e-9 else lead))
    return float(alpha[worst]), float(covariance[worst]), float(scalar[worst])


def two_coordinates(data: str, **at: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(p, target, reference point) of two coordinates, Bernoulli(p_j) or N(0, p_j), the target at its quantiles."""
    p, place, z_ref = (np.array([at[f"{name}_{j}"] for j in (1, 2)]) for name in ("p", "target", "reference"))
    return p, (place > 1 - p).astype(float) if data == "Bernoulli" else ndtri(place) * np.sqrt(p), z_ref


JUMP, FEW = 3.0, 20
"""An even coordinate j is +-3 2^j with probability 4^-j, else +-1; so many of them have values that any number of games may show."""


def jumping_curve(score: str, n: int, tau: float) -> NormalCurve:
    """The curve of the covariance score, or of the scalar product with the reference point 0, for the target (1, 1, ...) and these data.

    Even coordinates beyond J, 4^J >= n^2, are fair coins but for a probability below n 4^-J / 15; those up to J move the sum by no more than
    their deviation, and the rest is a sum of coins.
    """
    d, last = max(2, round(tau * n)), 2 * int(np.ceil(np.log2(n) / 2.0))
    near = np.arange(2, min(last, d) + 1, 2)
    variance = 1.0 - 4.0**-near + JUMP**2
    far = d // 2 - near.size
    # 1/variance differs from the weight of the coordinates beyond J by less than 4^-J / 50.
    weight, weights, off = (
        (0.1, 1.0 / variance, 4.0**-last / 50.0) if score == "covariance" else (1.0, 1.0, 0.0)
    )
    laws = []
    for member in (0, 1):
        rows = n - member
        coins = World(member, rows, rows)
        moved = float(np.sum(np.broadcast_to(weights, near.shape) ** 2 * variance))
        rest = World(
            float(member * np.sum(np.broadcast_to(weights, near.shape))), 0.0, 0.0,
            mean_error=n * far * off, mean_spread=rows * moved, elsewhere=n * 4.0**-last / 15.0,
        )  # fmt: skip
        laws.append(sum_law([(1.0, d - d // 2, coins), (weight, far, coins), (1.0, 1.0, rest)]))
    return sum_curve(*laws)


def sampled_jumps(n: int, tau: float, games: int = 200_000) -> tuple[Draws, Draws]:
    """(covariance attack, scalar product with the reference point 0) on sampled column sums of these data, the target (1, 1, ...)."""
    rng, d = np.random.default_rng(20_251_101), max(2, round(tau * n))
    even = np.arange(2, d + 1, 2)
    near, far, odd = even[:FEW], even[FEW:].size, d - even.size
    covariance, scalar = [], []
    for member in (0, 1):
        rows = n - member

        def coins(count: int, rows: int = rows) -> np.ndarray:
            return 2.0 * rng.binomial(rows * count, 0.5, games) - rows * count

        first, second = coins(odd) + member * odd, coins(far) + member * far
        single, plain = first + 0.1 * second, first + second
        for j in near.tolist():
            jumps = rng.binomial(rows, 4.0**-j, games)
            total = 2.0 * rng.binomial(rows - jumps, 0.5) - (rows - jumps)
            total += 3.0 * 2.0**j * (2.0 * rng.binomial(jumps, 0.5) - jumps) + member
            single, plain = single + total / (10.0 - 4.0**-j), plain + total
        covariance.append(single.round(9))
        scalar.append(plain)
    how = f"NumPy, {games:,} games a world with the column sums, n = {n}, d = {d}"
    return Draws(*covariance, how=how, size=n), Draws(*scalar, how=how, size=n)
