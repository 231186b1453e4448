"""Data laws and targets with certified laws, over which the statements about the mean are judged, and the irregular ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from mipsim.exact import Terms, binomial_terms
from verify.azize.lattice_pair import PairLaw, pair_law
from verify.azize.tables import CELLS, EPS, Bracket, bracket, gamma_pair, gaussian_pair, noisy_bernoulli_pair

SIZES = tuple(50 * 2**k for k in range(10))
"""Rows at which a limit is judged, unless a case says otherwise; the coordinates grow with them."""

Build = Callable[[int, int, float], list[Bracket]]


@dataclass(frozen=True)
class Group:
    """Coordinates of one kind.

    Attributes:
        law: "bernoulli", "gaussian" (variance 1) or "gamma" (scale 1; shape 1 is the exponential law).
        target: z itself for Bernoulli; else (z - mean) / sd, so that the case is one up to location and scale.
        share: of the d coordinates.
        parameter: p, or the shape.
    """

    law: str
    target: float
    share: float
    parameter: float = 1.0


@dataclass(frozen=True, eq=False)
class MeanCase:
    """A data law with a target, for every n; two cases are the same only if they are one object.

    Attributes:
        name: short.
        words: for the reader.
        tau: d / n.
        build: (rows released, n, gamma) -> the coordinates at that size, with Gaussian noise gamma.
        sizes: rows at which a limit is judged.
        regular: whether the conditions of the corrections hold.
        law: "bernoulli" or "gaussian" where all coordinates are of that kind: then the law of the ratio itself is known.
    """

    name: str
    words: str
    tau: float
    build: Build
    sizes: tuple[int, ...] = SIZES
    regular: bool = True
    law: str = ""

    @property
    def parameters(self) -> dict[str, object]:
        """What the report prints."""
        return {"data and target": self.words, "d/n": self.tau}


@dataclass(frozen=True, eq=False)
class MeanLaw:
    """The certified law of a case at one size: the true optimal curve is between those of two finite experiments.

    Attributes:
        leakage: m of these coordinates.
        weaker, stronger: the two.
    """

    leakage: float
    weaker: PairLaw
    stronger: PairLaw

    def beta(self, alpha: np.ndarray) -> np.ndarray:
        """FNR in the middle of the bracket; shape of alpha."""
        low, high = self.beta_bracket(alpha)
        return (low + high) / 2

    def beta_bracket(self, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Proven bounds of the FNR."""
        return self.stronger.beta(alpha, -1.0), self.weaker.beta(alpha, 1.0)

    def advantage_bracket(self) -> tuple[float, float]:
        """Proven bounds of the optimal advantage."""
        return (
            self.weaker.advantage() - 2 * self.weaker.doubt,
            self.stronger.advantage() + 2 * self.stronger.doubt,
        )

    def delta_brackets(self, epsilon: float) -> list[tuple[float, float]]:
        """Proven bounds of the hockey-stick divergences at e^epsilon, of in against out and of out against in."""
        e = 1 + np.exp(epsilon)
        pairs = zip(self.weaker.delta(epsilon), self.stronger.delta(epsilon), strict=True)
        return [(low - e * self.weaker.doubt, high + e * self.stronger.doubt) for low, high in pairs]


@lru_cache(maxsize=256)
def brackets(case: MeanCase, rows: int, n: int, gamma: float = 0.0) -> tuple[Bracket, ...]:
    """The coordinates of a case; kept, since several statements ask for them."""
    return tuple(case.build(rows, n, gamma))


# A law holds up to 80 MiB: what several statements ask of it is kept by `mean_gaps`, not the law.
@lru_cache(maxsize=4)
def mean_law(case: MeanCase, rows: int, n: int, gamma: float = 0.0) -> MeanLaw:
    """The certified law of the likelihood ratio of a case when `rows` rows are released and d = tau n."""
    groups = brackets(case, rows, n, gamma)
    errors, relatives = [g.error for g in groups], [g.relative for g in groups]
    weaker = pair_law([g.weaker for g in groups], errors, strong=False, relatives=relatives)
    stronger = pair_law([g.stronger for g in groups], errors, strong=True, relatives=relatives)
    return MeanLaw(leakage(groups), weaker, stronger)


def leakage(groups: Sequence[Bracket]) -> float:
    """M of these coordinates with the rows that they were built for."""
    return sum(g.count * g.leakage for g in groups) / groups[0].weaker.n


def counts(shares: Sequence[float], tau: float, n: int) -> list[int]:
    """How many coordinates each kind has at n: at least one.

    Examples:
        >>> counts([0.5, 0.5], 0.5, 100)
        [25, 25]
    """
    d = max(1, round(tau * n))
    return [max(1, round(share * d)) for share in shares]


def coordinate(group: Group, rows: int, count: int, gamma: float) -> Bracket:
    """The certified tables of one kind of coordinate.

    Raises:
        ValueError: for noise on gamma data, whose law is not at hand.
    """
    if group.law == "bernoulli":
        if gamma:
            pair = noisy_bernoulli_pair(rows, group.parameter, group.target, gamma)
            # Weak noise lets the ratio vary within a cell, where it is bounded by convexity: cells of a tenth of the noise.
            cells = int(CELLS * max(1.0, 1.0 / gamma))
            return bracket(pair, rows, count, cells)
        if group.target not in (0.0, 1.0):
            return disjoint(rows, count, (group.target - group.parameter) / _sd(group.parameter))
        terms = binomial_terms(rows, group.parameter, int(group.target), count)
        return Bracket(terms, terms, terms.error)
    if group.law == "gaussian":
        return bracket(gaussian_pair(rows, group.target / np.sqrt(1 + gamma**2), gamma**2), rows, count)
    if gamma:
        raise ValueError(f"gamma is {gamma:g} for {group.law} data; it must be 0 there")
    return bracket(gamma_pair(rows, group.parameter, group.target), rows, count)


def disjoint(rows: int, count: int, t: float) -> Bracket:
    """Two worlds that share no output."""
    one = np.array([1.0, 0.0])
    terms = Terms(
        np.array([0.0, 1.0]), one, one[::-1], np.array([-np.inf, np.inf]), count, t, np.zeros(2), rows
    )
    return Bracket(terms, terms, 0.0)


def _sd(p: float) -> float:
    return float(np.sqrt(p * (1 - p)))


def case(
    name: str,
    words: str,
    tau: float,
    groups: Sequence[Group],
    *,
    sizes: tuple[int, ...] = SIZES,
    special: Callable[[int, int], Bracket] | None = None,
    regular: bool = True,
) -> MeanCase:
    """A case of fixed kinds of coordinates, and perhaps one more that depends on n."""

    def build(rows: int, n: int, gamma: float) -> list[Bracket]:
        many = counts([g.share for g in groups], tau, n)
        found = [coordinate(g, rows, count, gamma) for g, count in zip(groups, many, strict=True)]
        return [*found, special(rows, n)] if special else found

    laws = {g.law for g in groups}
    return MeanCase(
        name, words, tau, build, sizes, regular, laws.pop() if len(laws) == 1 and not special else ""
    )


def bernoulli(p: Sequence[float], kind: str) -> list[Group]:
    """Bernoulli(p) coordinates, equally many of each p, with the easiest, the hardest or a typical target."""
    share = 1.0 / len(p)
    if kind == "typical":
        return [Group("bernoulli", z, share * (q if z else 1 - q), q) for q in p for z in (1.0, 0.0)]
    return [Group("bernoulli", float((q <= 0.5) == (kind == "easiest")), share, q) for q in p]


def spread(law: str, targets: Sequence[float], parameter: float = 1.0) -> list[Group]:
    """Equally many coordinates at each standardised target."""
    return [Group(law, t, 1.0 / len(targets), parameter) for t in targets]


def _spike(rows: int, n: int) -> Bracket:
    return bracket(gamma_pair(rows, 1.0, float(np.sqrt(2.0 * n))), rows, 1)


def _rarer(rows: int, n: int, gamma: float) -> list[Bracket]:
    p = n**-0.5
    terms = binomial_terms(rows, p, 1, max(1, round(n / (1 / p - 1))))
    return [Bracket(terms, terms, terms.error)]


def _rare(rows: int, n: int) -> Bracket:
    terms = binomial_terms(rows, 0.1 / n, 1, 1)
    return Bracket(terms, terms, terms.error)


def _atoms(rows: int, n: int, gamma: float) -> list[Bracket]:
    # Only t is the data's own: the ratio is that of a Binomial count of the target's atom.
    atom = binomial_terms(rows, 0.1, 1, max(1, n // 2))
    mean = 0.3 + 0.1 * np.sqrt(2)
    t = float((np.sqrt(2) - mean) / np.sqrt(0.5 - mean**2))
    terms = Terms(atom.total, atom.out, atom.inside, atom.ratio, atom.count, t, atom.deviation, rows)
    return [Bracket(terms, terms, atom.error)]


def _parity(rows: int, n: int, gamma: float) -> list[Bracket]:
    odd = 1.0 / (8.0 * n)
    even = 0.5 * (1 + (1 - 2 * odd) ** rows), 0.5 * (1 - (1 - 2 * odd) ** (rows - 1))
    out, inside = np.array([even[0], 1 - even[0]]), np.array([even[1], 1 - even[1]])
    terms = Terms(np.arange(2.0), out, inside, np.log(inside / out), 1, 0.0, np.zeros(2), rows)
    return [Bracket(terms, terms, 4 * EPS)]


PAPER_P = (0.25 + 0.25 / 6, 0.375, 0.5 - 0.25 / 6)
"""Midpoints of three equal parts of [.25, .5]; by symmetry 1 - p with the other target value is the same coordinate, so
this is p evenly over [.25, .75], where the paper draws it uniformly (without telling the seed)."""

PAPER = {
    kind: case(
        f"paper-{name}", f"Bernoulli(p), p evenly over [.25, .75], {kind} target; the paper's own point is n = 1000", 5.0,
        bernoulli(PAPER_P, kind),
    )
    for kind, name in (("easiest", "easy"), ("typical", "medium"), ("hardest", "hard"))
}  # fmt: skip

REGULAR = (
    case("bernoulli-narrow", "Bernoulli(.3), typical target, few coordinates", 0.5, bernoulli((0.3,), "typical")),
    case("bernoulli-wide", "Bernoulli(.3), typical target, many coordinates", 20.0, bernoulli((0.3,), "typical")),
    case("bernoulli-skewed", "Bernoulli(.05), typical target", 1.0, bernoulli((0.05,), "typical"),
         sizes=tuple(200 * 2**k for k in range(9))),
    MeanCase("bernoulli-rarer", "Bernoulli(n^-1/2), target all ones, d about sqrt n so that m* = 1", 0.0, _rarer,
             tuple(400 * 4**k for k in range(10)), law="bernoulli"),
    case("gaussian", "N(0, 1), targets at .5 and -1.5 sd", 0.4, spread("gaussian", (0.5, -1.5)), sizes=tuple(100 * 2**k for k in range(8))),
    case("exponential", "Exponential(1), targets at -.9 and 1.5 sd (skewness 2)", 1.0, spread("gamma", (-0.9, 1.5))),
    case("exponential-far", "Exponential(1), targets at -3 (off the support) and 6 sd", 0.1, spread("gamma", (-3.0, 6.0)),
         sizes=tuple(200 * 2**k for k in range(9))),
    case("gamma", "Gamma(.25), unbounded density, skewness 4, targets at -.5 (the support's end) and 1 sd", 1.0,
         spread("gamma", (-0.5, 1.0), 0.25), sizes=tuple(200 * 2**k for k in range(10))),
    case("mixed", "half Bernoulli(.2), half Exponential(1); targets at 1 and at 1 sd", 1.0,
         [Group("bernoulli", 1.0, 0.5, 0.2), Group("gamma", 1.0, 0.5)]),
    case("spike", "N(0, 1), target at the mean but in one exponential coordinate at sqrt(2n) sd", 1e-6,
         spread("gaussian", (0.0,)), special=_spike, sizes=tuple(1600 * 4**k for k in range(9))),
)  # fmt: skip
"""Inside the conditions of the corrections; beside them the paper's own point."""

OFF_SUPPORT = case(
    "bernoulli-off-support", "Bernoulli(.4, .5, .7), target (1/2, ...)", 1.0,
    [Group("bernoulli", 0.5, 1 / 3, p) for p in (0.4, 0.5, 0.7)], regular=False,
)  # fmt: skip
THREE_ATOMS = MeanCase(
    "three-atoms", "atoms 0, 1, sqrt 2 (.6, .3, .1), target sqrt 2", 0.5, _atoms, regular=False
)
RARE = case(
    "rare-coordinate",
    "Bernoulli(1/2) but D_j = Bernoulli(.1/j) at j = 100, 200, 400, ...; target all ones at d",
    1.0, [Group("bernoulli", 1.0, 1.0, 0.5)], special=_rare, regular=False, sizes=tuple(1600 * 2**k for k in range(8)),
)  # fmt: skip
PARITY = MeanCase(
    "parity",
    "values 0, 1, 2 with P(1) = 1/(8j) and P(0) = P(2), target 1 = the mean; an attacker who sees the parity of coordinate "
    "n alone",
    1.0, _parity, regular=False,
)  # fmt: skip
CANTOR = MeanCase(
    "cantor", "the Cantor law, a typical target: the worlds are mutually singular at every n (shown in the derivation)", 1.0,
    lambda rows, n, gamma: [disjoint(rows, n, 1.0)], regular=False,
)  # fmt: skip
IRREGULAR = (OFF_SUPPORT, THREE_ATOMS, RARE, PARITY, CANTOR)
"""Product laws with all moments for which theorem 3.1 fails; what the parity shows is a lower bound of the leakage."""


AT_THE_MEAN = case("at-the-mean", "N(0, 1), target at the mean: m* = 0", 2.0, spread("gaussian", (0.0,)))
"""Inside the conditions, but no threshold serves all levels."""


def drawn(
    rng: np.random.Generator, laws: Sequence[str] = ("bernoulli", "gaussian", "gamma"), *, lattice: bool
) -> MeanCase:
    """A random case: data law, its parameter, one target value for all coordinates, and d/n.

    Bernoulli(p), p uniform in [.2, .8]; N(0, 1); Gamma with shape log-uniform in [1/2, 8]; d/n such that m* is uniform in [1/2, 6].
    The target is drawn from the data or, as often, uniformly within three standard deviations of their mean.

    Args:
        rng: the generator.
        laws: those to draw from.
        lattice: whether targets of Bernoulli data are always drawn from the data.
    """
    law = str(rng.choice(list(laws)))
    anywhere = bool(rng.random() < 0.5) and not (lattice and law == "bernoulli")
    m = float(rng.uniform(0.5, 6.0))
    p, shape = float(rng.uniform(0.2, 0.8)), float(np.exp(rng.uniform(np.log(0.5), np.log(8.0))))
    mean, sd = {"bernoulli": (p, _sd(p)), "gaussian": (0.0, 1.0), "gamma": (shape, np.sqrt(shape))}[law]
    z = {
        "bernoulli": float(rng.random() < p),
        "gaussian": float(rng.normal()),
        "gamma": float(rng.gamma(shape)),
    }[law]
    if anywhere:
        z = mean + sd * float(rng.uniform(-3.0, 3.0))
    t = (z - mean) / sd
    # A target near the mean would need a huge d for any leakage: it is moved to half a standard deviation.
    if abs(t) < 0.5:
        t = float(np.copysign(0.5, t))
        z = mean + sd * t
    parameter = p if law == "bernoulli" else shape
    name = {"bernoulli": f"Bernoulli({p:.3f})", "gaussian": "N(0, 1)", "gamma": f"Gamma({shape:.3f})"}[law]
    target, words = (
        (z, f"{name}, target at {z:.4f}")  # z itself: rounding would take 0 and 1 off the lattice
        if law == "bernoulli"
        else (t, f"{name}, target at {t:.4f} sd")
    )
    regular = law != "bernoulli" or not anywhere
    return of_one_kind(words, float(round(m / t**2, 4)), Group(law, target, 1.0, parameter), regular=regular)


@cache
def of_one_kind(
    words: str, tau: float, group: Group, *, sizes: tuple[int, ...] = SIZES, regular: bool = True
) -> MeanCase:
    """The drawn case of one kind of coordinates; one object for all claims that draw it, which thus share its laws."""
    return case("sampled", words, tau, [group], sizes=sizes, regular=regular)
