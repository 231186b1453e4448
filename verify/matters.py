"""Where a parameter matters: of statements that judge several mechanisms, laws or readings, each with parameters of its own."""

from collections.abc import Callable, Mapping
from typing import Any

from mipsim.referee import Statement
from mipsim.special import noncentral_chi_square as ncx2
from verify.azize.laws import pooled_scores
from verify.azize.laws.enumerated import MECHANISMS
from verify.azize.laws.mean_families import DATA
from verify.azize.statements import (
    canaries,
    estimated_steps,
    gdp,
    lemmas,
    onion,
    random_target,
    reference_points,
    z_estimators,
)
from verify.izzo.laws import algorithms
from verify.izzo.statements import noise as izzo_noise
from verify.izzo.statements import wrapper as izzo_wrapper
from verify.kaissis.laws.relaxed_attackers import FINITE as FINITE_LAWS
from verify.kaissis.laws.relaxed_steps import N
from verify.leemann.laws.problems import BERNOULLI, FINITE, MIXTURE
from verify.leemann.statements import guarantee, mip, noise, real_gradients, stochastic, susceptibility

Where = Callable[..., bool]


def where_in(name: str, *values: object) -> Where:
    """Where another parameter has any of these values."""
    return lambda **at: at[name] in values


def nowhere(**_: object) -> bool:
    """For a parameter that the words leave free and that changes neither claim nor truth."""
    return False


def _off_the_support(**at: object) -> bool:
    return at["data"] == "Bernoulli" and at.get("target") == "off the support"


def _shaped(*data: str) -> Where:
    return lambda **at: at["data"] in data or _off_the_support(**at)


_WORLDS: dict[str, Where] = {
    "n": lambda mechanism: mechanism.startswith("mean"),
    "p": lambda mechanism: mechanism.startswith("mean"),
    "z": lambda mechanism: mechanism.startswith("mean"),
    "q": where_in("mechanism", MECHANISMS[1]),
    "y": where_in("mechanism", MECHANISMS[1]),
    "kept": where_in("mechanism", MECHANISMS[2]),
    "epsilon": where_in("mechanism", MECHANISMS[3]),
    **dict.fromkeys(("outputs", "spread", "draw"), where_in("mechanism", MECHANISMS[4])),
}
_MEAN: dict[str, Where] = {
    "target": where_in("data", "Bernoulli"),
    "p": where_in("data", "Bernoulli", "mixed"),
    "width": where_in("data", "Bernoulli", "mixed"),
    "shape": where_in("data", "gamma", "mixed"),
    "t": _shaped("Gaussian", "gamma", "mixed"),
    "u": _shaped("Gaussian", "gamma", "mixed"),
    "rate": lambda extra: extra != "none",
}
assert {"Bernoulli", "Gaussian", "gamma", "mixed"} <= set(DATA)
_RANDOM_PROBLEM = dict.fromkeys(("kinds", "root", "spread", "draw"), where_in("data", "random"))
_ALG_3_EASIEST = where_in("reading", canaries.EASIEST)
_ALG_4 = (estimated_steps.KNOWN, estimated_steps.UNCENTRED, estimated_steps.FEW)
_AIMED: dict[str, Where] = {
    **dict.fromkeys(("p", "share"), where_in("data", "Bernoulli", pooled_scores.OFF)),
    **dict.fromkeys(("aimed", "truth"), where_in("data", "Gaussian", "exponential")),
}
_ANY_LAW = dict.fromkeys(("outputs", "concentration", "draw"), where_in("algorithm", algorithms.RANDOM))
_OUTPUTS: dict[str, Where] = {
    "n": lambda algorithm: algorithm in (*algorithms.OUTPUTS, algorithms.RANDOM),
    **dict.fromkeys(("tail", "draw"), where_in("algorithm", algorithms.RANDOM)),
}

MATTERS: dict[str, Mapping[Any, Where]] = {
    "azize-thm-2.1": _WORLDS,
    **dict.fromkeys(("azize-thm-4.1", "azize-thm-4.2"), _MEAN),
    # Whatever p: a target off the lattice shows itself by the sum alone.
    **dict.fromkeys(
        ("azize-thm-3.1-power", "azize-thm-3.1-advantage", "azize-lemma-C.6"),
        _MEAN | {"p": lambda **at: _MEAN["p"](**at) and not _off_the_support(**at)},
    ),
    # Both worlds are alike at epsilon = 0, and apart where the target is in none but its own.
    "azize-gdp": _MEAN | {"direction": lambda **at: at["epsilon"] > 0.0 and not _off_the_support(**at)},
    "azize-thm-4.2-threshold": {},
    "azize-eq-5": _MEAN | {"tau": lambda data: data != "Cantor", "target": lambda data, extra: data == "Bernoulli" and extra != "parity"},
    "azize-gdp-guarantee": {
        "distance": nowhere,
        # A typical target's leakage is tau.
        "p": lambda reading, target: reading == gdp.CONCLUSION or target != "typical",
    },
    "azize-gdp-guarantee-corrected": {"n": nowhere},
    **dict.fromkeys(("azize-thm-4.3", "azize-table-1-similar"), _AIMED),
    # A score's curve does not change with its scale, and on its better side not with its sign.
    **{key: {"aimed": nowhere} for key in ("azize-thm-4.3-curve", "azize-thm-4.3-corrected", "azize-table-1-similar-corrected")},
    "azize-lemma-C": {
        "p": where_in("data", "Bernoulli"),
        "df": where_in("data", "Student t"),
        "q": where_in("reading", lemmas.GROWING),
    },
    # Without an 8th moment the variance is infinite.
    "azize-lemma-C.12": {"rho": lambda data, df: data != "Student t" or df > 8.0},
    "azize-mean-leakage": {
        "p": where_in("data", "Bernoulli"),
        "df": where_in("data", "Student t"),
        "scale": lambda data: data not in ("Bernoulli", random_target.RARER),
    },
    "azize-scalar-product": _RANDOM_PROBLEM | {"tau": lambda data: data != "two rare coordinates"},
    "azize-alg-4-limit": _RANDOM_PROBLEM,
    "azize-reference-points": {
        "draw": lambda **at: at.get("reading") != reference_points.OF["redrawn"],
    },
    "azize-onion": {
        "shape": where_in("data", "student", "gamma", "beta", onion.VALUES),
        "other": where_in("data", "beta"),
        "keep": lambda data: data != onion.VALUES,
        "d": where_in("data", onion.BALL, onion.VALUES, onion.POINTS),
        "draw": where_in("data", onion.POINTS),
    },
    "azize-z-estimators": dict.fromkeys(("kinds", "root", "draw"), where_in("problem", "random"))
    | {"reading": lambda reading, problem: reading not in z_estimators.READINGS or problem in z_estimators.SIGNED},
    # At slope 0 an answer does not tell x.
    "azize-z-estimators-logistic": {
        "reading": lambda **_: True,
        "agrees_1": lambda theta_1: theta_1 != 0.0,
        "agrees_2": lambda theta_2: theta_2 != 0.0,
    },
    "azize-alg-3": {
        "rare": where_in("reading", canaries.ATTACKED),
        "value": nowhere,
        **dict.fromkeys(("C0", "law", "d", "mean"), _ALG_3_EASIEST),
        **dict.fromkeys(("count", "references", "draw", "batch"), lambda reading: reading != canaries.ATTACKED),
        **dict.fromkeys(("records", "alpha"), where_in("reading", canaries.REAL)),
        "references": lambda reading, C0: reading == canaries.REAL or (reading == canaries.EASIEST and C0 != canaries.EXACT),
    },
    # Centred moments and candidates move with the mean.
    "azize-alg-3-corrected": {"C0": lambda **_: True, "mean": nowhere, **dict.fromkeys(("law", "d", "count", "references", "draw", "batch"), lambda **_: True)},
    # Of equal variances only the plane of the two gradients is seen.
    "azize-alg-4": {"d": lambda spread: spread != 1.0},
    "azize-alg-4-estimated": {
        **dict.fromkeys(("records", "rank", "alpha"), where_in("reading", estimated_steps.REAL)),
        **dict.fromkeys(("mean", "angle"), where_in("reading", *_ALG_4)),
        "d": lambda reading, spread: reading == estimated_steps.FEW or (reading in _ALG_4 and spread != 1.0),
        **dict.fromkeys(("spread", "size"), lambda reading: reading != estimated_steps.REAL),
        **dict.fromkeys(("references", "draw"), where_in("reading", estimated_steps.FEW, estimated_steps.REAL)),
        "ridge": where_in("reading", estimated_steps.FEW),
    },
    "azize-alg-4-estimated-": {},
    "leemann-thm-4.2": {
        **dict.fromkeys(("values", "epsilon"), where_in("mechanism", mip.RESPONSE)),
        **dict.fromkeys(("mu", "own", "reading"), where_in("mechanism", mip.SUM)),
        # Records that are all alike add a constant.
        "n": lambda mechanism, own: mechanism == mip.SUM and 0.0 < own < 1.0,
        **dict.fromkeys(("skew", "draw"), where_in("mechanism", *FINITE)),
    },
    "leemann-thm-5.1": {
        "spare": lambda target: target != 0.0,
        **dict.fromkeys(("spread", "evenness"), lambda tau: tau > 0.0),
    },
    "leemann-thm-5.1-corrected": {"spare": lambda target, mean: target != mean},
    "leemann-cor-5.1": {"of": lambda ratio, power: (ratio, power) != (1.0, 1.0), "spare": lambda target: target != 0.0},
    "leemann-cor-5.1-corrected": {"spare": lambda target, mean: target != mean},
    "leemann-thm-5.1-guarantee": {
        "leakage": lambda gradients: gradients not in (guarantee.ATOMS, guarantee.INDEPENDENT),
        **dict.fromkeys(("values", "rare", "draw"), where_in("gradients", guarantee.DISCRETE)),
    },
    "leemann-rem-5.1": {
        "p": where_in("components", BERNOULLI, MIXTURE),
        "deviation": where_in("components", MIXTURE),
        "d": nowhere,
    },
    "leemann-rem-5.1-corrected": {"d": lambda **_: True},
    # That they change nothing is what the statement says.
    "leemann-rem-5.1-mean": {"d": nowhere, "draw": nowhere, "at": where_in("part", susceptibility.TRANSFORM)},
    "leemann-alg-1-corrected": dict.fromkeys(("d", "n", "k"), nowhere),
    # Where F^-1 has no value even in a single dimension, it has none in any.
    "leemann-alg-1": {
        "level": where_in("reading", susceptibility.MEANT),
        "d": lambda reading, n, k: reading == susceptibility.MEANT or ncx2.sf(n / (n - 1.0), 1, n * k) < 1.0 - 1e-10,
    },
    "leemann-alg-1-real": dict.fromkeys(("references", "draw"), where_in("reading", real_gradients.ESTIMATED)),
    "leemann-thm-4.1": dict.fromkeys(("targets", "draw"), where_in("curves", stochastic.RANDOM, stochastic.WHOLE)),
    "leemann-less-noise": {
        "own": lambda reading: reading != noise.BY_EQUATION,
        **dict.fromkeys(("d", "k_over_d"), where_in("reading", noise.BY_EQUATION)),
    },
    "kaissis-lemma-1": dict.fromkeys(("noise", "delta", "alpha"), lambda second: second < 0.0),
    "kaissis-lemma-3": {"rate": lambda mechanism: mechanism.startswith("sub-sampled")},
    "kaissis-lemma-9": {"draw": where_in("laws", FINITE_LAWS), "mu": lambda **at: at.get("laws") != FINITE_LAWS},
    "kaissis-thm-3": {"q": lambda what: what != "d", "d": where_in("what", N)},
    "izzo-lemma-13-corrected": {"sigma": nowhere},
    "izzo-prop-2": _ANY_LAW | {"attack": nowhere, "scale": where_in("algorithm", "sum of 2^0, ..., 2^(n-1) plus Laplace noise")},
    "izzo-thm-3": _ANY_LAW
    | {
        "draw": lambda algorithm, f: algorithm == algorithms.RANDOM or f != algorithms.ITSELF,
        "labels": lambda f: f != algorithms.ITSELF,
        "spread": where_in("f", algorithms.CHANNEL),
    },
    "izzo-thm-5": {"epsilon": nowhere},
    "izzo-alg-1": {
        **dict.fromkeys(("spread", "draw"), where_in("records", izzo_wrapper.RANDOM)),
        # Without the target there is no noise: it is distinguished whatever the other records are.
        **dict.fromkeys(
            ("records", "n", "M"), lambda statistic, reading: statistic != izzo_wrapper.MEMBER or reading == izzo_wrapper.WHOLE
        ),
    },
    "izzo-thm-8": _ANY_LAW | {"keep": where_in("algorithm", algorithms.NAMED)},
    **dict.fromkeys(("izzo-thm-9", "izzo-cor-14", "izzo-cor-10-corrected"), _OUTPUTS),
    "izzo-cor-10": _OUTPUTS | {"d": where_in("algorithm", izzo_noise.SIDES, izzo_noise.PLAYED)},
    "izzo-noise": {"eta": lambda part: "share" not in part},
}  # fmt: skip
"""The beginning of a name -> parameter -> where it matters; of several beginnings the longest that names the parameter decides."""


def matters_of(statement: Statement) -> dict[str, Where]:
    """Where the parameters of a statement matter, of those that it varies.
    >>> from verify.register import REGISTER
    >>> sorted(matters_of(REGISTER["leemann-less-noise"]))
    ['d', 'k_over_d', 'own']
    """
    result: dict[str, Where] = {}
    for title in sorted(MATTERS, key=len):
        if (
            statement.name == title
            or (statement.name.startswith(title) and statement.name[len(title)] in "-abc.")
            or (title.endswith("-") and statement.name.startswith(title))
        ):
            result = {} if not MATTERS[title] else result | dict(MATTERS[title])
    return {name: where for name, where in result.items() if name in statement.domain}
