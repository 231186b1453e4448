"""Audits in a single training run: how often their lower bound on epsilon is above the truth."""

import math

from mipsim.referee import Bound, Choice, Control, Fixed, Real, Whole
from verify.field.laws.shuffled_laws import APPROXIMATE, FUNCTIONAL, false_alarms
from verify.statement import Statement

_POINTS = tuple(
    {"mu": mu, "canaries": 10_000, "threshold": 2.0, "delta": 1e-6, "significance": 0.05, "bound": bound}
    for mu in (1.0, 2.0, 4.0)
    for bound in (APPROXIMATE, FUNCTIONAL)
)
# Where false alarms are not rare.
_CLOSE = (
    _POINTS[0] | {"mu": 0.1, "canaries": 30, "threshold": 0.2, "delta": 2e-4},
    _POINTS[1] | {"mu": 0.2, "canaries": 100, "threshold": 1.6},
)
ONE_RUN = Statement(
    name="field-one-run",
    says="The lower bounds on $\\varepsilon$ of audits in a single run are above the truth with probability at most the significance level: "
    "judged for Gaussian mechanisms, whose canaries do not disturb each other, and for an auditor who guesses 'in' above a fixed threshold, at the expected number of guesses (that this number is random for a fixed threshold is left out).",
    source="Steinke, Nasr, Jagielski (2023), theorem 5.2; Mahloujifar, Melis, Chaudhuri (2025), as others report them; the papers themselves were not read",
    kind=Bound(unit="probability"),
    domain={
        "mu": Real(0.1, 5.0, log=True, meaning="mu of the Gaussian mechanism"),
        "canaries": Whole(10, math.inf, log=True, hunt_to=10_000, meaning="canaries"),
        "threshold": Real(
            -1.0, 4.0, meaning="score from which a canary is guessed a member, in deviations of the noise"
        ),
        "delta": Real(1e-8, 0.01, log=True, meaning="delta at which epsilon is bounded"),
        "significance": Fixed(0.05, meaning="chance of a false alarm that is promised"),
        "bound": Choice(APPROXIMATE, FUNCTIONAL, meaning="which of the two lower bounds"),
    },
    claimed=lambda significance: significance,
    truth=false_alarms,
    points=_POINTS + _CLOSE,
    control=Control(_POINTS[0], attained=True),
)

STATEMENTS = (ONE_RUN,)
