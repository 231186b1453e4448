"""The released mean for families of data and targets, with laws between proven bounds: what its theory is judged on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import ndtr

from mipsim.exact.rounding import EPS
from mipsim.tradeoff import AbstractTradeOff
from verify.azize.laws.coordinate_tables import (
    CELLS,
    BracketedTerms,
    bracketed_terms,
    gamma_pair,
    gaussian_pair,
    noisy_bernoulli_pair,
)
from verify.azize.laws.products import product_tradeoff
from verify.azize.laws.terms import Terms, binomial_terms

DATA = ("Bernoulli", "Gaussian", "gamma", "mixed", "rarer Bernoulli", "three atoms", "Cantor")
"""One-coordinate laws, the same up to p: Bernoulli; N(0, 1); Gamma with scale 1; Bernoulli and gamma in equal parts;
Bernoulli(n^-1/2); the atoms 0, 1, sqrt 2 with probabilities .6, .3, .1; the Cantor law."""
TARGETS = ("typical", "easiest", "hardest", "off the support")
"""Of Bernoulli data: sampled from them; the less likely value; the likelier value; t and u standard deviations from the mean. Other data have
targets at t and u in equal parts of the coordinates, sqrt 2 for the atoms, a typical target for the Cantor law."""
FAINT = 0.03
"""The rate of the parity under faint noise."""
EXTRAS = {
    "none": "",
    "spike": "Exponential(1)",
    "parity": "for j = 1, 2, 4, 8, ... up to n a further coordinate has the values 0, 1, 2, with P(1) = rate / j and P(0) = P(2), and the target 1, its mean: the sum's parity tells",
    "faint noise": f"for j = 1, 2, 4, 8, ... up to n a further coordinate has the values 0, 1, 2, with P(1) = {FAINT:g} / j and P(0) = P(2), the target 1, its mean, and noise of deviation 1 / j in the place of gamma: the parity of the whole number nearest to the sum tells",
}
"""A spike is an extra coordinate with a target sqrt(rate n) standard deviations away. The others are a single law of the data for all n, whose extra
coordinates have their targets at the mean and add nothing to m*. Of them that of the largest j <= n is looked at alone: whether its sum, or the whole number
nearest to it, is odd. What the others show makes the attacker stronger yet."""
ROOT_2_MEAN = 0.3 + 0.1 * np.sqrt(2.0)
ROOT_2 = float((np.sqrt(2.0) - ROOT_2_MEAN) / np.sqrt(0.5 - ROOT_2_MEAN**2))
"""The target of the three atoms, standardised."""
KEPT = 768
"""Laws that are stored: statements about the mean use the same laws; each holds 0.2 MB."""


@dataclass(frozen=True)
class MeanProblem:
    """A data law with a target for every n."""

    # data, target, extra: of `DATA`, `TARGETS`, `EXTRAS`
    data: str
    target: str = "typical"
    # p, width: Bernoulli(p), or three equal parts with means evenly over [p - width, p + width]
    p: float = 0.3
    width: float = 0.0
    shape: float = 1.0  # of gamma data; 1 is the exponential law
    # t, u: targets, standardised
    t: float = 1.0
    u: float = 1.0
    tau: float = 1.0  # d / n; for rarer Bernoulli data the leakage, for which d is about tau sqrt n
    extra: str = "none"
    rate: float = 1.0  # of the extra coordinate
    gamma: float = 0.0  # standard deviation of Gaussian noise a record

    @classmethod
    def of(cls, at: Mapping[str, Any]) -> MeanProblem:
        """The problem at a point of a statement's domain, which may have more parameters or fewer.
        >>> MeanProblem.of({"data": "gamma", "rho": 0.5}).data
        'gamma'
        """
        return cls(**{item.name: at[item.name] for item in fields(cls) if item.name in at})

    @property
    def means(self) -> tuple[float, ...]:
        """The Bernoulli means: midpoints of three equal parts, or a single value."""
        return (self.p - 2 * self.width / 3, self.p, self.p + 2 * self.width / 3) if self.width else (self.p,)

    @property
    def targets(self) -> tuple[float, ...]:
        """Standardised targets at t and u."""
        return (self.t,) if self.t == self.u else (self.t, self.u)

    @property
    def meets_the_lattice(self) -> bool:
        """Whether targets off the support of Bernoulli data without noise are whole numbers all the same, as for p = 1/2 and t = 3."""
        if self.data != "Bernoulli" or self.target != "off the support" or self.gamma:
            return False
        return all(
            round(q + t * (q * (1 - q)) ** 0.5, 9).is_integer() for q in self.means for t in self.targets
        )

    @property
    def leakage(self) -> float:
        """The limit of m at this d / n."""
        square = sum(t**2 for t in self.targets) / len(self.targets)
        if self.data == "Bernoulli" and self.target != "off the support":
            share = {"typical": 0, "easiest": 1, "hardest": -1}[self.target]
            rarer = [min(q, 1 - q) for q in self.means]
            square = sum(((1 - q) / q) ** share for q in rarer) / len(rarer)
        elif self.data == "mixed":
            square = ((1 - self.p) / self.p + self.t**2) / 2
        elif self.data in ("rarer Bernoulli", "three atoms", "Cantor"):
            square = {"three atoms": ROOT_2**2}.get(self.data, 1.0)
        variance = {"Bernoulli": self.p * (1 - self.p)}.get(self.data, 1.0)
        spike = self.rate if self.extra == "spike" else 0.0
        return self.tau * square / (1 + self.gamma**2 / variance) + spike

    @property
    def is_regular(self) -> bool:
        """Whether it is inside the conditions under which the expansion of the ratio is proven."""
        discrete = self.data == "Bernoulli" and self.target == "off the support" and not self.gamma
        return not discrete and self.data not in ("three atoms", "Cantor") and self.extra in ("none", "spike")

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows at which a limit is judged: from where rare values and far targets are met; each is twice the number before."""
        if self.extra == "spike":
            return tuple(1600 * 4**k for k in range(9))
        if self.data == "rarer Bernoulli":
            return tuple(400 * 4**k for k in range(8))
        far = max(t**2 for t in self.targets) / 12
        rare = 0.1 / min(min(q, 1 - q) for q in self.means)
        slow = {
            "Bernoulli": max(rare, far if self.target == "off the support" else 0.0),
            "Gaussian": far,
            "gamma": 2 * max(far, 0.5 / self.shape, 1.0),
            "mixed": 2 * max(far, rare, 1.0),
        }
        # The table of noisy counts is large, and the approach faster.
        first, steps = (20, 8) if self.gamma and self.data == "Bernoulli" else (50, 10)
        if self.extra == "faint noise":  # the noise moves no sum by a half from a thousand rows on
            first, steps = 1600, 8
        return tuple(first * int(np.ceil(max(1.0, slow.get(self.data, 1.0)))) * 2**k for k in range(steps))


@lru_cache(maxsize=32)
def coordinates(problem: MeanProblem, rows: int, n: int) -> tuple[BracketedTerms, ...]:
    """The kinds of coordinates, and how many there are, when `rows` rows are released and d = tau n."""
    d, result = max(1, round(problem.tau * n)), []

    def add(kind: str, share: float, target: float, parameter: float = 1.0) -> None:
        count = max(1, round(share * d))
        result.append(_coordinate(kind, target, parameter, problem.gamma, rows, count))

    if problem.data == "Bernoulli":
        means = problem.means
        for q in means:
            sd = np.sqrt(q * (1 - q))
            likely = float(q > 0.5)
            shares = {
                "typical": {1.0: q, 0.0: 1 - q},
                "easiest": {1 - likely: 1.0},
                "hardest": {likely: 1.0},
                # Rounded, so that a target on the support is met exactly.
                "off the support": {round(q + t * sd, 9): 1 / len(problem.targets) for t in problem.targets},
            }[problem.target]
            for z, share in shares.items():
                add("Bernoulli", share / len(means), z, q)
    elif problem.data in ("Gaussian", "gamma"):
        for t in problem.targets:
            add(problem.data, 1 / len(problem.targets), t, problem.shape)
    elif problem.data == "mixed":
        add("Bernoulli", 0.5, 1.0, problem.p)
        add("gamma", 0.5, problem.t, problem.shape)
    elif problem.data == "rarer Bernoulli":
        p = n**-0.5
        result.append(_counted(rows, p, max(1, round(problem.tau * n / (1 / p - 1)))))
    elif problem.data == "three atoms":
        # Rationally independent atoms: the ratio is that of a Binomial count of the target's own.
        atom = _counted(rows, 0.1, d).weaker
        result.append(BracketedTerms.exactly(replace(atom, count=d, t=ROOT_2)))
    else:
        # Shown in the derivation of the corrections: mutually singular worlds.
        result.append(disjoint(rows, d, 1.0))
    if problem.extra != "none":
        result.append(_extra(problem.extra, problem.rate, rows, n))
    return tuple(result)


def _coordinate(
    kind: str, target: float, parameter: float, gamma: float, rows: int, count: int
) -> BracketedTerms:
    if kind == "Gaussian":
        return bracketed_terms(gaussian_pair(rows, target / np.sqrt(1 + gamma**2), gamma**2), rows, count)
    if kind == "gamma":
        if gamma:
            raise ValueError(f"gamma is {gamma:g} for gamma data; it must be 0 there")
        return bracketed_terms(gamma_pair(rows, parameter, target), rows, count)
    if gamma:
        # Weak noise lets the ratio vary within a cell, where it is bounded by convexity: cells of a tenth of the noise.
        pair = noisy_bernoulli_pair(rows, parameter, target, gamma)
        return bracketed_terms(pair, rows, count, int(CELLS * max(1.0, 1.0 / gamma)))
    if target not in (0.0, 1.0):
        return disjoint(rows, count, (target - parameter) / float(np.sqrt(parameter * (1 - parameter))))
    return _counted(rows, parameter, count, int(target))


def _counted(rows: int, p: float, count: int, target: int = 1) -> BracketedTerms:
    return BracketedTerms.exactly(binomial_terms(rows, p, target, count))


def _extra(kind: str, rate: float, rows: int, n: int) -> BracketedTerms:
    if kind == "spike":
        return bracketed_terms(gamma_pair(rows, 1.0, float(np.sqrt(rate * n))), rows, 1)
    j = 1 << (n.bit_length() - 1)  # the largest power of 2 up to n
    faint = kind == "faint noise"
    odd = (1 - 2 * (FAINT if faint else rate) / j) ** np.array([rows, rows - 1.0])
    if faint:
        odd *= 1 - 4 * float(ndtr(-0.5 * j / np.sqrt(n)))  # noise of variance n / j^2 moves the sum by a half
    even = np.array([0.5 * (1 + odd[0]), 0.5 * (1 - odd[1])])
    out, inside = np.array([even[0], 1 - even[0]]), np.array([even[1], 1 - even[1]])
    with np.errstate(divide="ignore"):
        terms = Terms(out, inside, np.log(inside) - np.log(out), 1, 0.0, np.zeros(2), rows, 4 * EPS)
    return BracketedTerms.exactly(terms)


def disjoint(rows: int, count: int, t: float) -> BracketedTerms:
    """Two worlds that share no output."""
    item = np.array([1.0, 0.0])
    return BracketedTerms.exactly(
        Terms(item, item[::-1], np.array([-np.inf, np.inf]), count, t, np.zeros(2), rows, 0.0)
    )


@lru_cache(maxsize=8 * KEPT)
def leakage(problem: MeanProblem, rows: int, n: int) -> float:
    """The leakage m of these coordinates with the rows that are released."""
    return sum(g.count * g.leakage for g in coordinates(problem, rows, n)) / rows


@lru_cache(maxsize=KEPT)
def mean_tradeoff(problem: MeanProblem, rows: int, n: int) -> AbstractTradeOff:
    """The optimal curve when `rows` rows are released and d = tau n."""
    return product_tradeoff(coordinates(problem, rows, n))
