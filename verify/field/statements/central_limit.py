"""The central limit theorem used as an accountant."""

import math

from mipsim.referee import Bound, Control, Limit, Number, Point, Real, Whole
from verify.field.laws.gaussian_accounting import by_transform, composed_epsilon, limit_epsilon
from verify.statement import Statement


def of_steps(sigma: float, nu: float, steps: int, log10_delta: float) -> Number:
    """The true epsilon, of both directions."""
    return composed_epsilon(sigma, nu / math.sqrt(steps), steps, log10_delta)


_POINT = {"sigma": 0.5, "nu": 0.1, "steps": 10_000, "log10_delta": -5.0}
CENTRAL_LIMIT = Statement(
    name="field-central-limit",
    formula=r"\mu = \nu \sqrt{e^{1 / \sigma^2} - 1}, \quad \nu = q \sqrt{T}",
    says="$T$ steps of the Gaussian mechanism on Poisson samples of rate $q = \\nu / \\sqrt{T}$ have at most the $\\varepsilon$ of $G_\\mu$ with "
    "$\\mu = \\nu \\sqrt{e^{1/\\sigma^2} - 1}$: the limit as $T$ grows and $\\nu$ is held, used at a finite $T$.",
    fails="The limit is right. At finitely many steps the sum is skewed, and at small $\\delta$ its tail is mostly heavier than that of the limit.",
    instead=r"as T grows and $q \sqrt T$ is held",
    source="no author's claim: a limit taken as an accountant; Bu, Dong, Long and Su (2020), section 3, have it as a limit, as others report; of the paper the abstract was at hand",
    kind=Bound(unit="epsilon"),
    domain={
        "sigma": Real(0.4, 4.0, log=True, meaning="deviation of the noise, in sensitivities"),
        "nu": Real(0.003, 5.0, log=True, meaning="q sqrt(T), q the sampling rate"),
        "steps": Whole(10, 10_000, log=True, meaning="steps T"),
        "log10_delta": Real(-7.0, -3.0, meaning="log10 of delta"),
    },
    where=lambda nu, steps: 1e-3 <= nu / math.sqrt(steps) <= 0.05,
    claimed=limit_epsilon,
    truth=of_steps,
    second_route=by_transform,
    points=[
        Point(_POINT, "sigma .5, q .001, T 1e4", setting="lead"),
        # From hunts.
        {"sigma": 0.5, "nu": 0.016, "steps": 10, "log10_delta": -6.0},
        {"sigma": 0.5, "nu": 0.004, "steps": 10, "log10_delta": -7.0},
    ],
    control=Control(_POINT, attained=True),
)

CENTRAL_LIMIT_CORRECTED = CENTRAL_LIMIT.corrected(
    says="For every $\\sigma$, $\\nu > 0$ and $\\delta$ in $(0, 1)$, the $\\varepsilon$ of $T$ steps of the Gaussian mechanism on Poisson samples of rate "
    "$\\nu / \\sqrt{T}$, the record added or removed, tends to that of $G_\\mu$ with $\\mu = \\nu \\sqrt{e^{1/\\sigma^2} - 1}$ as $T$ grows and $\\nu$ is held. "
    "Judged from $\\sigma = 1.5$ on, where the approach is seen below a million steps.",
    kind=Limit("steps", sizes=tuple(500 * 3**k for k in range(6)), unit="epsilon"),
    domain={
        "sigma": Real(1.5, 4.0, log=True),
        "nu": Real(0.1, 1.0, log=True),
        "steps": Whole(10, math.inf, log=True, hunt_to=121_500),
    },
    where=None,
    second_route=None,
    points=[{"sigma": sigma, "nu": nu, "log10_delta": -5.0} for sigma, nu in ((1.5, 0.3), (2.0, 1.0))],
    control=Control({"sigma": 2.0, "nu": 1.0, "log10_delta": -5.0}),
    derivation="With $h = e^{(2x - 1)/(2\\sigma^2)} - 1$, of mean 0, variance $\\chi = e^{1/\\sigma^2} - 1$ and all moments under $N(0, \\sigma^2)$, the log "
    "ratio of a step is $\\log(1 + q h) = q h - q^2 h^2/2 + O(q^3 |h|^3)$ as $h > -1$. Without the record the sum over $T = \\nu^2/q^2$ "
    "independent steps has a first part of variance $\\nu^2 \\chi = \\mu^2$, which is normal in the limit (Lindeberg), a second that tends to "
    "$-\\nu^2 \\chi / 2$ (law of large numbers) and a third of order $q$: it tends to $N(-\\mu^2/2, \\mu^2)$. By Le Cam's first and third lemmas (van der Vaart 1998, "
    "lemma 6.4 and theorem 6.6) it tends to $N(\\mu^2/2, \\mu^2)$ with the record. Both directions' $\\delta$ are means of bounded "
    "continuous functions of it, so that they tend to that of $G_\\mu$ at each $\\varepsilon$, and, that falling strictly in $\\varepsilon$, the $\\varepsilon$ at $\\delta$ too. At a finite $T$ "
    "the sum is skewed, as $h$ is: by $(e^{3/\\sigma^2} - 3 e^{1/\\sigma^2} + 2) / (\\chi^{3/2} \\sqrt{T})$, which is 0.41 at $\\sigma = 1/2$ "
    "and a million steps.",
    samples=(0, 2, 12),
)

STATEMENTS = (CENTRAL_LIMIT, CENTRAL_LIMIT_CORRECTED)
