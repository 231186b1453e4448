"""The classical calibration of the Gaussian mechanism, beyond the epsilon that it is stated for."""

import math

import numpy as np

from mipsim.referee import Bound, Control, Point, Quote, Real
from verify.field.laws.gaussian_accounting import calibrated_by_quadrature, log_delta
from verify.statement import Statement

CLASSICAL_GAUSSIAN = Statement(
    name="field-gaussian",
    formula=r"\sigma = \sqrt{2 \ln(1.25 / \delta)} \, \frac{\Delta}{\varepsilon}",
    says="The Gaussian mechanism with $\\sigma = \\sqrt{2 \\ln(1.25/\\delta)}\\,\\Delta/\\varepsilon$ is "
    "$(\\varepsilon, \\delta)$-DP at every $\\varepsilon$: the theorem's formula, taken beyond the theorem.",
    fails=r"The theorem, as others quote it, is for $\varepsilon < 1$. At a large $\varepsilon$ the noise is too little: at $\delta = 10^{-5}$ it is enough at 8.3 and is not at 8.5.",
    instead="epsilon < 1, as the theorem says",
    source="no author's claim: a practice that Zhao et al. (2019) report, of whose paper two copies of the abstract were at hand (deepai.com, which names no version, and arXiv's HTML, in other words); Dwork and Roth (2014), theorem A.1, which was not at hand, is about epsilon in (0, 1) as others quote it",
    kind=Bound(unit="log10 delta"),
    domain={
        "epsilon": Real(0.01, math.inf, log=True, hunt_to=50.0, meaning="epsilon"),
        "log10_delta": Real(-12.0, -0.5, meaning="log10 of delta"),
    },
    claimed=lambda log10_delta: log10_delta,
    truth=lambda epsilon, log10_delta: log_delta(
        epsilon, epsilon / np.sqrt(2.0 * (math.log(1.25) - log10_delta * math.log(10.0)))
    ),
    points=[
        Point({"epsilon": 1.0, "log10_delta": -5.0}, "epsilon 1"),
        Point({"epsilon": 8.3, "log10_delta": -5.0}, "epsilon 8.3"),
        Point({"epsilon": 8.5, "log10_delta": -5.0}, "epsilon 8.5", setting="lead"),
        Point({"epsilon": 10.0, "log10_delta": -5.0}, "epsilon 10"),
        # From hunts.
        {"epsilon": 50.0, "log10_delta": -1.0},
    ],
    control=Control({"epsilon": 1.0, "log10_delta": -5.0}, attained=True),
    quote=Quote(
        "Although both classical Gaussian mechanisms [1, 2] assume 0 < epsilon <= 1, our review finds that many studies in the literature have "
        "used the classical Gaussian mechanisms under values of epsilon and delta where the added noise amounts of [1, 2] do not achieve "
        "(epsilon, delta)-DP.",
        "Zhao et al. (2019), arXiv 1911.12060, abstract as deepai.com has it, which names no version; [2] is Dwork and Roth",
        reported=True,
    ),
    restricted_by=(
        Quote(
            "Our mechanisms achieve (epsilon, delta)-DP for any epsilon, while the classical mechanisms [1, 2] do not achieve (epsilon, delta)-DP for "
            "large epsilon given delta.",
            "Zhao et al. (2019), the same abstract",
            reported=True,
        ),
    ),
    second_route=calibrated_by_quadrature,
)

CLASSICAL_GAUSSIAN_CORRECTED = CLASSICAL_GAUSSIAN.corrected(
    says="The Gaussian mechanism with $\\sigma = \\sqrt{2 \\ln(1.25/\\delta)}\\,\\Delta/\\varepsilon$ is "
    "$(\\varepsilon, \\delta)$-DP for $0 < \\varepsilon \\le 1$ and $0 < \\delta \\le 1$.",
    domain={"epsilon": Real(1e-3, 1.0, log=True), "log10_delta": Real(-12.0, 0.0)},
    control=Control({"epsilon": 1.0, "log10_delta": -5.0}, attained=True),
    derivation="Let $c = \\sqrt{2 \\ln(1.25/\\delta)}$. The exact delta (Balle and Wang 2018, theorem 8) is $g(\\varepsilon) = \\Phi(\\varepsilon/2c - c) - e^\\varepsilon "
    "\\Phi(-\\varepsilon/2c - c)$. It rises: $g' = e^\\varepsilon (\\varphi(x)/c - \\Phi(-x))$ at $x = \\varepsilon/2c + c$, and $\\Phi(-x) < "
    "\\varphi(x)/x < \\varphi(x)/c$. So $\\varepsilon = 1$ is the worst. For $c \\ge 3/2$ let $y = c - 1/2c \\ge 7/6$: $g(1) < \\Phi(-y) < "
    "\\varphi(y)/y < 0.57 e^{-c^2/2} < 1.25 e^{-c^2/2} = \\delta$. For $c < 3/2$, so $\\delta > .405$: $\\delta \\le 1$ is $c \\ge .668$, and "
    "$g(1)$, which falls with $c$ (less shift), is .3192 there.",
)

STATEMENTS = (CLASSICAL_GAUSSIAN, CLASSICAL_GAUSSIAN_CORRECTED)
