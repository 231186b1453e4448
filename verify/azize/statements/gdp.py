"""What a fixed-target audit of the mean concludes: the formula delta(epsilon), and what it guarantees."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import log_ndtr, ndtr

import mipsim as mi
from mipsim import referee as rf
from mipsim._precision import exact_scope
from mipsim.theory import azize
from verify.azize.checks.second_routes import by_release
from verify.azize.laws.mean_families import MeanProblem, leakage
from verify.azize.statements.conditions import MEAN
from verify.azize.statements.mean import (
    BY_DENSITY,
    DOMAIN,
    EVEN,
    EXPENSIVE,
    HOLDS,
    MEAN_MATTERS,
    NOT_SAMPLED,
    OTHERS,
    PAPER,
    PARITIES,
    POINTS,
    POWER,
    corrected,
    law,
    least_number,
    number,
    off_the_support,
    searched,
    sizes,
)
from verify.statement import Statement, nowhere

READING = "a guarantee: the mean is sqrt(m*)-GDP for all neighbouring data sets"
CONCLUSION = "a conclusion about the audited target's game"
QUOTE = rf.Quote(
    "Under our specific threat model of MI games, the empirical mean already imposes a trade-off between the Type-I and Type-II errors for any "
    "adversary. This means that, if an auditor uses the fixed-target MI game with some target z* to audit the privacy of the empirical mean, "
    "the auditor would conclude that the empirical mean is sqrt(m*)-Gaussian DP (Dong et al., 2019), or equivalently (epsilon, delta)-DP where for "
    "all epsilon >= 0, delta(epsilon) = Phi(-epsilon/sqrt(m*) + sqrt(m*)/2) - e^epsilon Phi(-epsilon/sqrt(m*) - sqrt(m*)/2).",
    "section 3, inherent privacy of the empirical mean",
)
STATEMENT = (
    "A fixed-target audit of the mean would conclude sqrt(m*)-GDP, i.e. delta(eps) = Phi(-eps/s + s/2) - "
    "e^eps Phi(-eps/s - s/2), s = sqrt(m*)."
)


def delta(n: int, epsilon: float, direction: str, **at: Any) -> rf.Number:
    """The exact hockey-stick divergence of the two worlds."""
    curve = law(n, at)
    ends = (curve if direction == _WAYS[0] else curve.inverse()).delta_bounds(epsilon)
    return number(ends, detail=f"m* = {MeanProblem.of(at).leakage:.4g}.")


def delta_epsilon(leakage: float, epsilon: float) -> float:
    """Phi(-epsilon/s + s/2) - e^epsilon Phi(-epsilon/s - s/2), s = sqrt(m), at a leakage m > 0: section 3."""
    s = np.sqrt(leakage)
    return float(ndtr(s / 2 - epsilon / s) - np.exp(epsilon + log_ndtr(-epsilon / s - s / 2)))


_EPSILONS = (0.0, 0.1, 0.5, 1.0, 2.0, 4.0)
_WAYS = ("in against out", "out against in")
AUDIT = Statement(
    name="azize-gdp", formula=r"\delta(\varepsilon) = \Phi\left(-\frac{\varepsilon}{s} + \frac{s}{2}\right) - e^\varepsilon \Phi\left(-\frac{\varepsilon}{s} - \frac{s}{2}\right), \quad s = \sqrt{m^*}",
    uses=("azize-thm-3.1-power",),
    says=STATEMENT,
    fails=EVEN + OTHERS,
    instead=HOLDS,
    source="Azize & Basu, section 3",
    # Absolute, 2% of .1: at large epsilon the claimed delta itself is near 0.
    kind=rf.Limit(
        "n",
        sizes=sizes,
        tolerance=0.002,
        unit="delta",
        ceiling=lambda epsilon, **at: least_number(
            lambda m: delta_epsilon(m, epsilon), epsilon, **at
        ),
    ),
    domain=DOMAIN | {"epsilon": rf.Real(0.0, np.inf, hunt_to=4.0, meaning="privacy parameter"), "direction": rf.Choice(*_WAYS, meaning="which world is the first of delta(epsilon)")},
    where=searched,
    claimed=lambda n, epsilon, **at: delta_epsilon(leakage(MeanProblem.of(at), n, n), epsilon),
    truth=delta,
    points=[
        rf.Point(PARITIES | {"epsilon": 1.0, "direction": _WAYS[0]}, "parity, rarer", "lead"),
        *(rf.Point(dict(item.at) | {"epsilon": e, "direction": w}, f"{item.name}, epsilon = {e:g}, {w}", item.setting) for item in PAPER for e in _EPSILONS for w in _WAYS),
        *(
            rf.Point(dict(single.at) | {"epsilon": _EPSILONS[k % 6], "direction": _WAYS[k // 6 % 2]}, single.name)
            for k, single in enumerate(POINTS[len(PAPER) :], 1)
        ),
        # From hunts.
        {"data": "three atoms", "target": "typical", "p": 0.5, "width": 0.0, "shape": 1.0, "t": 0.0, "u": 0.0, "tau": 1.0, "extra": "none", "rate": 1.0, "epsilon": 0.0, "direction": "in against out"},
    ],
    control=rf.Control(dict(PAPER[2].at) | {"epsilon": 0.5, "direction": _WAYS[0]}, 0.05),
    quote=QUOTE,
    restricted_by=BY_DENSITY,
    second_route=POWER.second_route,
    samples=NOT_SAMPLED,
    expensive=EXPENSIVE,
    matters_when=MEAN_MATTERS | {"direction": lambda **at: at["epsilon"] > 0.0 and not off_the_support(**at)},
)  # fmt: skip

RELEASES = 16
"""Releases of each data set: a mechanism that draws anything shows more than a single output."""


def best_advantage(n: int, distance: float, mechanism: mi.AbstractMechanism | None = None) -> float:
    """The advantage of the best test of the released outputs, of two data sets of zeros and ones but for a 0 that is `distance` in the other.

    Of a mechanism that draws nothing every release of a single data set is the same, and the law of its output is that point. Where the
    releases differ, nothing is known of the advantage, and 0 is returned.
    """
    mean = mi.EmpiricalMean() if mechanism is None else mechanism
    rows = (np.random.default_rng(21).random((n, 1)) < 0.5).astype(float)
    rows[0], other = 0.0, rows.copy()
    other[0] = distance
    with exact_scope():
        seen = [
            {float(mean.release(jax.random.key(k), jnp.asarray(data))[0]) for k in range(RELEASES)}
            for data in (rows, other)
        ]
    return float(seen[0] != seen[1]) if max(map(len, seen)) == 1 else 0.0


def found(n: int, reading: str, distance: float, **at: Any) -> rf.Number | float:
    """The advantage of telling two neighbouring data sets apart by their means, or the two worlds of the audited game."""
    if reading == READING:
        return best_advantage(n, distance)
    return number(law(n, at).advantage_bounds())


def certain(reading: str) -> rf.Ceiling | None:
    """The two outputs are two points."""
    source = (
        "the means of two data sets that differ in a single row are two different numbers, without randomness"
    )
    return rf.Ceiling(1.0, below=True, source=source) if reading == READING else None


_TARGETS = {
    name: rf.Fixed(PAPER[0].at[name], meaning=item.meaning)
    for name, item in DOMAIN.items()
    if name not in ("target", "p", "tau", "n")
}
_ROWS = [1.0, 1e-6]
GUARANTEE = Statement(
    name="azize-gdp-guarantee", formula=r"T(M(D), M(D')) \ge G_{\sqrt{m^*}}",
    uses=("azize-gdp",),
    says="The empirical mean is sqrt(m*)-Gaussian DP: taken as a guarantee of the mechanism.",
    fails="As the conclusion of an audit, within the threat model that the paper names, it stands for the Bernoulli data judged here; in general it needs the condition of azize-gdp. Section 1 says itself that an audit gives lower bounds; only who takes 'is sqrt(m*)-GDP' out of that, as a guarantee of the mechanism, is misled: exact means of two data sets that differ in a record differ, and the audit's mu is of sampled data and a single target.",
    instead="the audit gives a lower bound of mu, as section 1 says, for a single target",
    source="Azize & Basu, section 3",
    kind=rf.Limit("n", sizes=lambda reading, **at: sizes(**at) if reading == CONCLUSION else [2 * 4**k for k in range(6)], bound=True, unit="advantage", ceiling=certain),
    domain={
        "reading": rf.Choice(READING, CONCLUSION),
        "target": rf.Choice("typical", "easiest", "hardest", meaning="which target: for Bernoulli data sampled (typical), the rarer values (easiest), the likelier values (hardest), or t and u"),
        "p": DOMAIN["p"],
        "tau": DOMAIN["tau"],
        "distance": rf.Real(1e-6, np.inf, log=True, hunt_to=1e3, meaning="how far the data sets, of zeros and ones, differ in a single coordinate of a single record: 1 is a bit"),
        "n": DOMAIN["n"],
    } | _TARGETS,
    where=lambda p, **at: 0.14 <= p <= 0.86 and searched(p=p, **at),
    # g_mu promises the sum of the two errors of any test at least 1 - advantage.
    claimed=lambda n, reading, **at: azize.advantage(
        MeanProblem.of(at).leakage if reading == READING else leakage(MeanProblem.of(at), n, n)
    ),
    truth=found,
    points=[
        *({"reading": CONCLUSION, "distance": 1.0} | dict(point.at) for point in PAPER),
        *({"reading": READING, "distance": distance} | dict(PAPER[0].at) | {"tau": tau} for distance in _ROWS for tau in (0.05, 0.57, 5.0)),
        # From hunts.
        {"reading": READING, "target": "typical", "p": 0.5, "tau": 1.0, "distance": 1.0, "data": "Bernoulli", "width": 0.125, "shape": 1.0, "t": 1.0, "u": 1.0, "extra": "none", "rate": 1.0},
    ],
    control=rf.Control({"reading": CONCLUSION, "distance": 1.0} | dict(PAPER[2].at), 0.05),
    quote=QUOTE,
    not_judged={'or equivalently (epsilon, delta)-DP where for all epsilon >= 0, delta(epsilon) = Phi(-epsilon/sqrt(m*) + sqrt(m*)/2) - e^epsilon Phi(-epsilon/sqrt(m*) - sqrt(m*)/2)': 'by azize-gdp'},
    restricted_by=(
        rf.Quote(
            "On the other hand, a privacy audit tries to empirically estimate the privacy parameters, by providing lower bounds on the parameters.",
            "section 1",
        ),
    ),
    second_route=lambda distance: by_release(32, distance),
    samples=NOT_SAMPLED,
    # A typical target's leakage is tau.
    matters_when=MEAN_MATTERS | {"distance": nowhere, "p": lambda reading, target: reading == CONCLUSION or target != "typical"},
)  # fmt: skip

STATEMENTS = (
    AUDIT,
    corrected(
        AUDIT,
        MEAN
        + "Where the curve tends to g_s uniformly, so does its convex conjugate, and delta(eps) = sup_alpha (1 - beta(alpha) - "
        "e^eps alpha) is read off it (Dong, Roth, Su 2022, corollary 2.13); g_s is symmetric, so both directions agree. At m* = 0 the formula "
        "is read as its limit: delta = 0.",
    ),
    GUARANTEE,
    GUARANTEE.corrected(
        says="The mean itself is mu-GDP for no finite mu: two data sets that differ in a single row have different means, and the test that "
        "compares the output with either mean never errs. What the audit computes is a lower bound of mu, for a single target and a single "
        "data distribution.", formula=r"T(M(D), M(D')) = 0",
        kind=rf.Equality(1e-9, unit="advantage"),
        # No target and no law of the data has a part in it.
        domain={name: rf.Fixed(PAPER[0].at[name]) for name in ("target", "p", "tau")}
        | {"reading": rf.Fixed(READING), "n": rf.Whole(2, np.inf, log=True, hunt_to=1e4)},
        claimed=lambda: 1.0,
        points=[{"reading": READING, "distance": distance} | dict(PAPER[0].at) | {"n": n} for distance in _ROWS for n in (2, 10, 1000)],
        control=rf.Control({"reading": READING, "distance": 1.0} | dict(PAPER[0].at) | {"n": 10}),
        derivation=(
            "f-DP bounds the errors of every test between every two neighbouring data sets (Dong, Roth, Su 2022, definition 2.3). If "
            "row i differs, so does the sum, and the mechanism adds no noise: the two outputs are two different points, total "
            "variation 1, while g_mu allows at most 2 Phi(mu/2) - 1 < 1. An audit plays a single pair of worlds, in which all other rows "
            "are random; its curve bounds the mechanism's from a single side only."
        ),
        samples=NOT_SAMPLED,
        matters_when={**GUARANTEE.matters_when, "n": nowhere},
    ),
)  # fmt: skip
"""The audit's conclusion, and the guarantee that it is not."""
