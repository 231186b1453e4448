"""Every special function of SciPy that a law, a band or a claim uses, against big floats over the range where it is trusted.

The table here is the table of docs/special-functions.md: a test holds the two together, and another that no other function is used.
"""

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import mpmath as mp
import numpy as np
import pytest
from scipy import special, stats

from verify.kaissis.laws import noncentral_t

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "special-functions.md"
Draw = Callable[[np.random.Generator], tuple[float, ...]]


class Trusted(NamedTuple):
    """A function, big floats of it, where it is trusted, and to what relative error.

    `value` may return the logarithm of both, where that is what SciPy gives.
    """

    function: Callable[..., Any]
    truth: Callable[..., Any]
    draw: Draw
    extremes: tuple[tuple[float, ...], ...]
    error: float
    where: str


def between(low: float, high: float, *, log: bool = False) -> Callable[[np.random.Generator], float]:
    def draw(rng: np.random.Generator) -> float:
        return float(np.exp(rng.uniform(np.log(low), np.log(high)))) if log else float(rng.uniform(low, high))

    return draw


def each(*draws: Callable[[np.random.Generator], float]) -> Draw:
    return lambda rng: tuple(draw(rng) for draw in draws)


def near_shape(low: float, high: float) -> Draw:
    """A shape and a point within seven deviations of it."""

    def draw(rng: np.random.Generator) -> tuple[float, float]:
        a = between(low, high, log=True)(rng)
        return a, max(1e-3 * a, a + rng.uniform(-7.0, 7.0) * a**0.5)

    return draw


def near_mean(high: float) -> Draw:
    """Both shapes of a beta law, and a point within six deviations of its mean."""

    def draw(rng: np.random.Generator) -> tuple[float, float, float]:
        a, b = (between(0.5, high, log=True)(rng) for _ in range(2))
        mean = a / (a + b)
        x = mean + rng.uniform(-6.0, 6.0) * (mean * (1 - mean) / (a + b + 1)) ** 0.5
        return a, b, float(np.clip(x, 1e-3 * mean, 1 - 1e-3 * (1 - mean)))

    return draw


def trials(high: float) -> Draw:
    """A count within five deviations, a number of trials and a probability."""

    def draw(rng: np.random.Generator) -> tuple[float, float, float]:
        n, p = np.floor(between(1, high, log=True)(rng)), between(1e-6, 0.999)(rng)
        k = np.floor(n * p + rng.uniform(-5.0, 5.0) * (n * p * (1 - p)) ** 0.5)
        return float(np.clip(k, 0, n)), float(n), p

    return draw


def beta_integral(a: Any, b: Any, x: Any, *, upper: bool = False) -> Any:
    """The regularised incomplete beta function by its continued fraction (Lentz), on the side where that converges fast."""
    a, b, x = mp.mpf(a), mp.mpf(b), mp.mpf(x)
    if x > (a + 1) / (a + b + 2):
        return beta_integral(b, a, 1 - x, upper=not upper)
    front = mp.exp(
        a * mp.log(x) + b * mp.log(1 - x) + mp.loggamma(a + b) - mp.loggamma(a + 1) - mp.loggamma(b)
    )
    c, d = mp.mpf(1), 1 / (1 - (a + b) * x / (a + 1))
    result = d
    for m in range(1, 20_000):
        for top in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / (1 + top * d), 1 + top / c
            result *= c * d
        if abs(c * d - 1) < mp.mpf(10) ** -40:
            break
    return 1 - front * result if upper else front * result


def gamma_integral(a: Any, x: Any, *, upper: bool = False) -> Any:
    a, x = mp.mpf(a), mp.mpf(x)
    front = mp.exp(a * mp.log(x) - x - mp.loggamma(a + 1))
    total, term, k = mp.mpf(1), mp.mpf(1), 0
    while term > total * mp.mpf(10) ** -45:
        k += 1
        term *= x / (a + k)
        total += term
    return 1 - front * total if upper else front * total


def inverted(truth: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """What a quantile function must satisfy: the probability of its answer is the requested probability."""
    return lambda *given: truth(*given[:-1], mp.mpf(float(function(*given))))


def student(t: Any, df: Any) -> Any:
    t, df = mp.mpf(t), mp.mpf(df)
    return beta_integral(df / 2, mp.mpf(1) / 2, df / (df + t * t)) / 2 if t > 0 else 1 - student(-t, df)


def noncentral(t: Any, df: Any, delta: Any, side: Any) -> Any:
    """By the trapezoid rule on x = log u, which is exact to all digits for such an integrand."""
    t, delta, a = mp.mpf(t), mp.mpf(delta), mp.mpf(df) / 2
    log_front = mp.log(2) + a * mp.log(a) - mp.loggamma(a)

    def log_height(x: Any) -> Any:
        u = mp.exp(x)
        tail = mp.erfc(-side * (t * u - delta) / mp.sqrt(2)) / 2
        return log_front + df * x - a * u * u + (mp.log(tail) if tail > 0 else -mp.inf)

    coarse = [mp.mpf(k) / 12 for k in range(-360, 37)]
    heights = [log_height(x) for x in coarse]
    top = max(heights)
    inside = [x for x, h in zip(coarse, heights, strict=True) if h > top - 80]
    low, high = inside[0] - mp.mpf(1) / 12, inside[-1] + mp.mpf(1) / 12
    step = (high - low) / 400
    return step * sum(mp.exp(log_height(low + k * step)) for k in range(401))


def binomial(k: Any, n: Any, p: Any) -> Any:
    k, n, p = mp.mpf(k), mp.mpf(n), mp.mpf(p)
    choose = mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)
    return mp.exp(choose + k * mp.log(p) + (n - k) * mp.log(1 - p))


def log_ndtr(z: Any) -> Any:
    """By the smaller tail: 60 digits hold no 1 - 1e-308."""
    small = mp.erfc(abs(mp.mpf(z)) / mp.sqrt(2)) / 2
    return mp.log(small) if z < 0 else mp.log1p(-small)


ANY = between(-37.0, 37.0)
TABLE: dict[str, Trusted] = {
    "ndtr": Trusted(special.ndtr, lambda z: mp.erfc(-mp.mpf(z) / mp.sqrt(2)) / 2, each(ANY), ((-37.5,), (0.0,), (40.0,)), 5e-13, "-37.5 to inf"),
    "log_ndtr": Trusted(special.log_ndtr, log_ndtr, each(between(-1e3, 5.0)), ((-1e4,), (0.0,), (5.0,)), 1e-14, "-1e4 to 5; beyond, its relative error grows as the square, to 3e-13, and CurveBounds.of_probit reads the other tail"),
    "ndtri": Trusted(special.ndtri, inverted(lambda *a: mp.erfc(-a[-1] / mp.sqrt(2)) / 2, special.ndtri), each(between(1e-300, 1.0, log=True)), ((1e-307,), (0.5,), (1 - 2.0**-53,)), 5e-13, "1e-307 to 1 - 2^-53; relative error of the probability"),
    "ndtri_exp": Trusted(special.ndtri_exp, inverted(lambda *a: log_ndtr(a[-1]), special.ndtri_exp), each(between(-1e5, -1e-2)), ((-1e8,), (-0.7,), (-1e-3,)), 5e-12, "-1e8 to -1e-3; relative error of the log"),
    "gammaln": Trusted(special.gammaln, lambda x: mp.loggamma(mp.mpf(x)), each(between(3.0, 1e12, log=True)), ((1e-300,), (0.5,), (1e300,)), 4e-15, "1e-300 to 0.5 and from 3 on; 4e-15 absolute between"),
    "gammainc": Trusted(special.gammainc, lambda a, x: gamma_integral(a, x), near_shape(0.1, 1e3), ((0.5, 1e-300), (1.0, 1e-10), (1e4, 9.7e3)), 1e-11, "shapes 0.1 to 1e4; beyond 1e5 mipsim.special.gamma_tail"),
    "gammaincc": Trusted(special.gammaincc, lambda a, x: gamma_integral(a, x, upper=True), near_shape(0.1, 1e3), ((0.5, 1e-300), (1.0, 20.0), (256.0, 500.0)), 1e-11, "shapes 0.1 to 1e4"),
    "gammainccinv": Trusted(special.gammainccinv, inverted(lambda a, x: gamma_integral(a, x, upper=True), special.gammainccinv), each(between(0.5, 1e3, log=True), between(1e-9, 0.999)), ((0.5, 1e-9), (500.0, 0.999)), 1e-11, "shapes 0.5 to 1e3, probabilities 1e-9 to 0.999"),
    "gammaincinv": Trusted(special.gammaincinv, inverted(lambda a, x: gamma_integral(a, x), special.gammaincinv), each(between(0.5, 1e3, log=True), between(1e-9, 0.999)), ((0.5, 1e-9), (500.0, 0.999)), 1e-11, "shapes 0.5 to 1e3, probabilities 1e-9 to 0.999"),
    "betainc": Trusted(special.betainc, beta_integral, near_mean(1e5), ((1.0, 1.0, 1e-300), (0.5, 0.5, 0.5), (1e5, 1e5, 0.51)), 1e-11, "shapes 0.5 to 1e5; many trials: tests/special/test_scipy.py"),
    "betaincc": Trusted(special.betaincc, lambda a, b, x: beta_integral(a, b, x, upper=True), near_mean(1e5), ((1.0, 1.0, 1e-9), (0.5, 0.5, 0.5), (1e5, 1e5, 0.49)), 1e-11, "shapes 0.5 to 1e5"),
    "betaincinv": Trusted(special.betaincinv, inverted(lambda a, b, x: beta_integral(a, b, x), special.betaincinv), each(between(1.0, 1e5, log=True), between(1.0, 1e5, log=True), between(1e-12, 1.0, log=True)), ((1.0, 1e6, 1e-12), (1e6, 1.0, 1e-12)), 1e-9, "shapes 1 to 1e6, probabilities from 1e-12; error of the probability"),
    "betainccinv": Trusted(special.betainccinv, inverted(lambda a, b, x: beta_integral(a, b, x, upper=True), special.betainccinv), each(between(1.0, 1e5, log=True), between(1.0, 1e5, log=True), between(1e-12, 0.5, log=True)), ((1.0, 1e6, 1e-12), (50.0, 3.0, 1e-12)), 1e-3, "shapes 1 to 1e6, probabilities from 1e-12; error of the probability where the quantile rounds to 1 - 2^-53 k"),
    "bdtr": Trusted(lambda k, n, p: special.bdtr(k, int(n), p), lambda k, n, p: beta_integral(n - k, k + 1, 1 - mp.mpf(p)) if k < n else mp.mpf(1), trials(1e5), ((0.0, 10.0, 1e-9), (10.0, 10.0, 0.5)), 1e-9, "trials up to 1e5"),
    "bdtrc": Trusted(lambda k, n, p: special.bdtrc(k, int(n), p), lambda k, n, p: beta_integral(k + 1, n - k, mp.mpf(p)) if k < n else mp.mpf(0), trials(1e5), ((0.0, 10.0, 1e-9), (9.0, 10.0, 0.5)), 1e-9, "trials up to 1e5"),
    "rel_entr": Trusted(special.rel_entr, lambda x, y: mp.mpf(x) * mp.log(mp.mpf(x) / mp.mpf(y)), each(between(1e-9, 0.3, log=True), between(0.4, 1.0)), ((0.5, 0.25), (1e-300, 0.5)), 1e-14, "x and y in (0, 1] not within a factor of 1.3; x eps absolute nearer"),
    "xlogy": Trusted(special.xlogy, lambda x, y: mp.mpf(x) * mp.log(mp.mpf(y)) if x else mp.mpf(0), each(between(1.0, 1e6), between(1e-9, 0.9, log=True)), ((0.0, 0.0), (5.0, 1e-300)), 1e-14, "everywhere; 0 at x = 0"),
    "xlog1py": Trusted(special.xlog1py, lambda x, y: mp.mpf(x) * mp.log(1 + mp.mpf(y)) if x else mp.mpf(0), each(between(1.0, 1e6), between(-0.99, 1.0)), ((0.0, -1.0), (5.0, -1e-15)), 1e-14, "y > -1; 0 at x = 0"),
    "expit": Trusted(special.expit, lambda x: 1 / (1 + mp.exp(-mp.mpf(x))), each(between(-700.0, 700.0)), ((-700.0,), (0.0,), (40.0,)), 1e-14, "-700 to inf"),
    "digamma": Trusted(special.digamma, lambda x: mp.digamma(mp.mpf(x)), each(between(2.0, 1e12, log=True)), ((1e-9,), (0.5,)), 1e-14, "(0, 1] and from 2 on; 1e-15 absolute at its zero 1.46"),
    "polygamma": Trusted(lambda n, x: special.polygamma(int(n), x), lambda n, x: mp.polygamma(int(n), mp.mpf(x)), each(lambda rng: float(rng.integers(1, 4)), between(0.1, 1e6, log=True)), ((1.0, 1e-3), (3.0, 1e6)), 1e-13, "orders 1 to 3, x from 1e-3 to 1e6"),
    "zeta": Trusted(special.zeta, lambda s, q: mp.zeta(mp.mpf(s), mp.mpf(q)), each(between(1.5, 40.0), between(0.1, 100.0, log=True)), ((2.0, 1.0), (40.0, 0.5)), 1e-12, "s from 1.5 to 40, q from 0.1 to 100"),
    "kve": Trusted(special.kve, lambda v, z: mp.besselk(mp.mpf(v), mp.mpf(z)) * mp.exp(mp.mpf(z)), each(between(0.5, 20.0), between(0.1, 700.0, log=True)), ((0.5, 1e-3), (20.0, 1e3)), 1e-12, "orders 0.5 to 20, z from 1e-3 to 1e3"),
    "logsumexp": Trusted(lambda *x: special.logsumexp(x), lambda *x: mp.log(sum(mp.exp(mp.mpf(item)) for item in x)), each(between(1.0, 700.0), between(1.0, 700.0)), ((1e4, 1e4), (5.0, -1e4)), 1e-14, "everywhere"),
    "erf": Trusted(special.erf, lambda x: mp.erf(mp.mpf(x)), each(between(-6.0, 6.0)), ((1e-300,), (30.0,)), 1e-14, "everywhere"),
    "erfc": Trusted(special.erfc, lambda x: mp.erfc(mp.mpf(x)), each(between(-6.0, 26.0)), ((-30.0,), (0.0,), (26.5,)), 5e-13, "-inf to 26.5"),
    "erfcx": Trusted(special.erfcx, lambda x: mp.erfc(mp.mpf(x)) * mp.exp(mp.mpf(x) ** 2), each(between(-20.0, 1e3)), ((-26.0,), (0.0,), (1e6,)), 5e-13, "-26 to inf"),
    "exp1": Trusted(special.exp1, lambda x: mp.e1(mp.mpf(x)), each(between(1e-9, 700.0, log=True)), ((1e-300,), (700.0,)), 1e-13, "1e-300 to 700"),
    "betaln": Trusted(special.betaln, lambda a, b: mp.log(mp.beta(mp.mpf(a), mp.mpf(b))), each(lambda rng: 0.5, between(4.0, 1e6, log=True)), ((0.5, 0.5), (0.5, 1e7)), 1e-9, "first shape 0.5, second from 4 to 1e7"),
    "poch": Trusted(special.poch, lambda a, m: mp.rf(mp.mpf(a), mp.mpf(m)), each(between(0.1, 1e4, log=True), between(0.05, 1.0)), ((0.5, 1.0), (1e5, 1.0)), 1e-10, "first argument 0.1 to 1e5, second 0.05 to 1"),
    "comb": Trusted(special.comb, lambda n, k: mp.binomial(int(n), int(k)), lambda rng: trials(1e3)(rng)[1::-1], ((10.0, 0.0), (1000.0, 500.0)), 1e-12, "up to 1e3 in all"),
    "stats.norm.cdf": Trusted(stats.norm.cdf, lambda z: mp.erfc(-mp.mpf(z) / mp.sqrt(2)) / 2, each(ANY), ((-37.5,), (0.0,)), 5e-13, "-37.5 to inf"),
    "stats.gamma.cdf": Trusted(stats.gamma.cdf, lambda x, a: gamma_integral(a, x), lambda rng: near_shape(0.1, 1e3)(rng)[::-1], ((1e-300, 0.5), (1e-10, 1.0)), 1e-11, "shapes 0.1 to 1e4"),
    "stats.binom.pmf": Trusted(stats.binom.pmf, binomial, trials(1e5), ((0.0, 10.0, 1e-9), (5.0, 10.0, 0.5)), 1e-10, "trials up to 1e5"),
    "stats.t.isf": Trusted(stats.t.isf, lambda a, df: student(float(stats.t.isf(a, df)), df), each(between(1e-6, 0.5, log=True), lambda rng: float(rng.integers(1, 4096))), ((5e-7, 1.0), (1e-4, 4095.0)), 1e-9, "probabilities 5e-7 to 0.5, df 1 to 4096; error of the probability"),
    "noncentral_t.cdf": Trusted(noncentral_t.cdf, lambda t, df, d: noncentral(t, df, d, 1.0), each(between(-20.0, 20.0), lambda rng: float(rng.integers(1, 1024)), between(-8.0, 8.0)), ((-5.0, 1023.0, 6.9), (-1e5, 2.0, 1.0)), 1e-11, "ours: df 1 to 1e4, |delta| to 40, tails to 1e-280"),
    "noncentral_t.sf": Trusted(noncentral_t.sf, lambda t, df, d: noncentral(t, df, d, -1.0), each(between(-20.0, 20.0), lambda rng: float(rng.integers(1, 1024)), between(-8.0, 8.0)), ((5.0, 1023.0, -6.9), (1e5, 2.0, 1.0)), 1e-11, "ours: df 1 to 1e4, |delta| to 40, tails to 1e-280"),
}  # fmt: skip

NOT_TRUSTED = {
    "stats.nct": "NaN in places and off by factors in tails below 1e-14; replaced by verify.kaissis.laws.noncentral_t",
    "stats.ncx2": "off in far tails; replaced by mipsim.special.noncentral_chi_square, and used in benchmarks only",
    "stats.qmc": "points of a search; no distribution",
}
QUANTILES = {
    name for name, row in TABLE.items() if "inv" in name or name in ("ndtri", "ndtri_exp", "stats.t.isf")
}


def off(name: str, given: tuple[float, ...]) -> float:
    """The relative error of a function; of the probability, for a quantile."""
    row = TABLE[name]
    truth = row.truth(*given)
    if name in QUANTILES:
        requested = given[0] if name.startswith("stats") else given[-1]
        return float(abs(mp.mpf(requested) / truth - 1))
    result = mp.mpf(float(row.function(*given)))
    return float(abs(result - truth) / abs(truth)) if truth else float(abs(result))


@pytest.mark.parametrize(
    ("points", "seed"),
    [pytest.param(8, 0, marks=pytest.mark.evidence), pytest.param(100, 1, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("name", TABLE)
def test_a_function_is_right_where_it_is_trusted(name: str, points: int, seed: int) -> None:
    row, rng = TABLE[name], np.random.default_rng(seed)
    for given in [*row.extremes, *(row.draw(rng) for _ in range(points))]:
        error = off(name, given)
        assert error <= row.error, f"{name}{given} is off by {error:.2g}"


def test_scipys_noncentral_t_is_off() -> None:
    """The control: the same test refuses what was replaced."""
    given = -5.0, 1023.0, 6.9
    assert off("noncentral_t.cdf", given) < 1e-11
    truth = noncentral(*given, 1.0)
    assert abs(float(mp.mpf(float(stats.nct.cdf(*given))) / truth - 1)) > 1e3


def test_the_page_says_what_is_tested() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| (.*?) \| (\S+) \|$", PAGE.read_text(), re.M)
    assert {name: (where, float(error)) for name, where, error in rows} == {
        name: (row.where, row.error) for name, row in TABLE.items()
    }
    text = PAGE.read_text()
    assert all(f"`{name}`" in text for name in NOT_TRUSTED)


def test_no_other_function_is_used() -> None:
    """What the package imports from scipy.special, or takes from scipy.stats, has a row."""
    harmless = {"roots_legendre", "factorial"}
    used: set[str] = set()
    for file in (ROOT / "mipsim").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module in ("scipy.special", "scipy.stats"):
                kind = "" if node.module == "scipy.special" else "stats."
                used |= {kind + name.name for name in node.names}
            if isinstance(node, ast.Attribute):
                owner = getattr(
                    node.value, "id", getattr(node.value, "attr", "")
                )  # special, or scipy.special
                used |= {"special": {node.attr}, "stats": {f"stats.{node.attr}"}}.get(owner, set())
    known = {
        name.split(".")[0] if not name.startswith("stats") else ".".join(name.split(".")[:2])
        for name in TABLE
    }
    assert used - harmless - known - set(NOT_TRUSTED) == set()
