"""Amplification by shuffling: the closed form."""

import math

from mipsim.referee import Bound, Control, Real, Whole
from verify.field.laws.shuffled_laws import shuffled_delta
from verify.statement import Statement

SHUFFLING = Statement(
    name="field-shuffling",
    says="Shuffled reports of $n$ users, each $\\varepsilon_0$-DP with $\\varepsilon_0 \\le \\log(n / (16 \\log(2/\\delta)))$, are "
    "$(\\varepsilon, \\delta)$-DP with $\\varepsilon = \\log(1 + \\frac{e^{\\varepsilon_0} - 1}{e^{\\varepsilon_0} + 1}"
    "(8 \\sqrt{e^{\\varepsilon_0} \\log(4/\\delta) / n} + 8 e^{\\varepsilon_0} / n))$. (Judged by the pair of theorem 3.2 of the same paper, which is taken as proved.)",
    source="Feldman, McMillan, Talwar (2021), theorem 3.1, as others report it; the paper itself was not read",
    kind=Bound(unit="log10 delta"),
    domain={
        "n": Whole(20, math.inf, log=True, hunt_to=5000, meaning="users"),
        "local": Real(0.01, math.inf, log=True, hunt_to=6.0, meaning="epsilon of a user's report"),
        "log10_delta": Real(-10.0, -0.5, meaning="log10 of delta"),
    },
    where=lambda n, local, log10_delta: (
        16.0 * (math.log(2.0) - log10_delta * math.log(10.0)) * math.exp(local) <= n
    ),
    claimed=lambda log10_delta: log10_delta,
    truth=shuffled_delta,
    points=(
        {"n": 1000, "local": 1.0, "log10_delta": -5.0},
        # Where the exact delta is far enough above rounding to be resolved.
        {"n": 100, "local": 1.0, "log10_delta": -0.5},
    ),
    control=Control({"n": 1000, "local": 1.0, "log10_delta": -5.0}, attained=True),
    needs={
        r"each $\varepsilon_0$-DP with $\varepsilon_0 \le \log(n / (16 \log(2/\delta)))$": {
            "held": {"n": 20, "local": 6.0}
        }
    },
)

STATEMENTS = (SHUFFLING,)
