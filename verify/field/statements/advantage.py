"""Bounds of the membership advantage by differential privacy."""

import math

import mipsim as mi
from mipsim.referee import Bound, Control, Equality, Fixed, Real
from verify.statement import Statement


def largest_advantage(epsilon: float, delta: float = 0.0) -> float:
    """The advantage of the best attacker against the least private (epsilon, delta)-DP mechanism.

    It grows with epsilon, and from 700 on it is 1 but for 1e-303, which no float64 near 1 tells.
    """
    return float(mi.ApproxDPTradeOff(min(epsilon, 700.0), delta).advantage())


YEOM = Statement(
    name="field-yeom",
    formula=r"\mathrm{Adv} \le e^\varepsilon - 1",
    says="Under $\\varepsilon$-DP the membership advantage is at most $e^\\varepsilon - 1$.",
    source="Yeom, Giacomelli, Fredrikson, Jha (2018), theorem 1, as others report it; the paper itself was not read",
    kind=Bound(unit="advantage"),
    domain={"epsilon": Real(1e-3, math.inf, log=True, hunt_to=20.0, meaning="epsilon")},
    # Above 1 it says nothing of an advantage; e^800 is no float64.
    claimed=lambda epsilon: math.expm1(min(epsilon, 700.0)),
    truth=largest_advantage,
    points=({"epsilon": 1.0}, {"epsilon": 800.0}),
    control=Control({"epsilon": 1.0}, attained=True),
)

REPLACED, INDEPENDENT = "one record replaced", "independent of the others"
_PREMISES = {"neighbours": REPLACED, "records": INDEPENDENT}
HUMPHRIES = Statement(
    name="field-humphries",
    formula=r"\mathrm{Adv} \le \frac{e^\varepsilon - 1 + 2 \delta}{e^\varepsilon + 1}",
    says="Under $(\\varepsilon, \\delta)$-DP for data sets that differ by a replaced record, the target and the record in its place sampled "
    "independently of the others, the membership advantage is at most "
    "$(e^\\varepsilon - 1 + 2\\delta)/(e^\\varepsilon + 1)$, which randomised response attains where the target and the record in its place are two fixed "
    "records. (Where both have the same distribution, independent of each other, it is not attained: at $\\delta = 0$ the advantage is at most $\\tanh(\\varepsilon/4)$.)",
    source="Humphries, Oya, Tulloch, Rafuse, Goldberg, Hengartner, Kerschbaum (2023), theorem 3.4, as others report it; the paper itself was not read",
    kind=Equality(unit="advantage"),
    domain={
        "epsilon": Real(1e-3, math.inf, log=True, hunt_to=20.0, meaning="epsilon"),
        "delta": Real(0.0, 0.9, meaning="delta"),
        "neighbours": Fixed(REPLACED, meaning="which data sets are neighbours"),
        "records": Fixed(INDEPENDENT, meaning="how the target and the record in its place are sampled"),
    },
    claimed=lambda epsilon, delta: (
        (2.0 * delta * math.exp(-epsilon) - math.expm1(-epsilon)) / (1.0 + math.exp(-epsilon))
    ),
    truth=lambda epsilon, delta: largest_advantage(epsilon, delta),
    points=({"epsilon": 1.0, "delta": 0.01} | _PREMISES, {"epsilon": 800.0, "delta": 0.01} | _PREMISES),
    control=Control({"epsilon": 1.0, "delta": 0.01} | _PREMISES, shift=0.03),
)

STATEMENTS = (YEOM, HUMPHRIES)
