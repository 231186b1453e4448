"""The central limit theorem used as an accountant."""

from mipsim.referee import Bound, Control, Point, Real, Statement, Whole
from verify.field.laws.gaussian_accounting import by_transform, composed_epsilon, limit_epsilon

CENTRAL_LIMIT = Statement(
    name="field-central-limit",
    formula=r"\mu = q \sqrt{T (e^{1 / \sigma^2} - 1)}",
    says="$T$ steps of the Gaussian mechanism on Poisson samples of rate $q$ have at most the $\\varepsilon$ of $G_\\mu$ with "
    "$\\mu = q \\sqrt{T (e^{1/\\sigma^2} - 1)}$: the limit for $q \\sqrt{T}$ fixed, used at finite $T$.",
    source="Bu, Dong, Long and Su (2020), section 3, where it is a limit",
    kind=Bound(unit="epsilon"),
    domain={
        "sigma": Real(0.4, 4.0, log=True, meaning="deviation of the noise, in sensitivities"),
        "rate": Real(1e-3, 0.05, log=True, meaning="sampling rate q"),
        "steps": Whole(10, 10_000, log=True, meaning="steps"),
        "log10_delta": Real(-7.0, -3.0, meaning="log10 of delta"),
    },
    claimed=limit_epsilon,
    truth=composed_epsilon,
    second_route=by_transform,
    points=[
        Point({"sigma": 0.5, "rate": 0.001, "steps": 10_000, "log10_delta": -5.0}, "sigma .5, q .001, T 1e4"),
        # From hunts.
        {"sigma": 0.5, "rate": 0.005, "steps": 10, "log10_delta": -6.0},
        {"sigma": 0.5, "rate": 0.001, "steps": 10, "log10_delta": -7.0},
    ],
    control=Control({"sigma": 0.5, "rate": 0.001, "steps": 10_000, "log10_delta": -5.0}, attained=True),
)

STATEMENTS = (CENTRAL_LIMIT,)
