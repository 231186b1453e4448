"""Limits, false and true, through the judge: none is refuted without a theorem, and what is confirmed without a theorem says up to which size.

A proven rate decides a limit that sizes leave open, and is refused where it is a few per cent too small.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import mipsim as mi
from mipsim import referee as rf
from mipsim.referee import limit_verdict
from mipsim.referee.kinds import companions

SIZES = tuple(100 * 2**k for k in range(10))
G = mi.GaussianTradeOff
Gap = Callable[[float], float]
SEEN: dict[str, Gap] = {
    "0": lambda n: 0.0,
    "1/n": lambda n: 1 / n,
    "n^-1/2 + 3/n": lambda n: n**-0.5 + 3 / n,
    "log n / n": lambda n: math.log(n) / n,
    "lattice, 30%": lambda n: n**-0.5 * (1 + 0.3 * math.cos(37 * n**0.5)),
    "n mod 5 over n": lambda n: (n % 5) / n,
    "n^-1/2 where n mod 3 = 1": lambda n: (n % 3 == 1) * n**-0.5,
}
"""True, and shown by sizes up to 51,200."""
UNSEEN: dict[str, Gap] = {
    "n^-0.07": lambda n: n**-0.07,
    "n^-1/2 - 20/n, crossing zero": lambda n: n**-0.5 - 20 / n,
    "1/log log n": lambda n: 1 / math.log(math.log(n)),
    "log-periodic n^-1/2, in doublings": lambda n: n**-0.5 * math.cos(2 * math.pi * math.log2(n)),
    "plateau that has not ended": lambda n: 1.5 * math.exp(-n / 1e12),
    "rises for long": lambda n: 1e-5 * n * math.exp(-n / 1e5),
    "0.5 at odd n up to 10^5": lambda n: 0.5 * (n % 2) * (n < 1e5),
    "0.5 from a million on, n^-1/2 before: false": lambda n: 0.5 if n > 1e6 else n**-0.5,
    "0.5 where n mod 101 = 7: false": lambda n: 0.5 * (n % 101 == 7),
}
"""Of which these sizes need not show whether they are true."""
FALSE: dict[str, Gap] = {
    **{f"{g:g} + {c:g} n^-{q:g}": (lambda n, g=g, c=c, q=q: g + c * n**-q) for g, c in ((0.03, 1.0), (-0.03, 1.0), (0.08, -1.0)) for q in (0.25, 0.5, 1.0, 2.0)},
    "0.08": lambda n: 0.08,
    "0.019, inside the tolerance": lambda n: 0.019,
    "0.05 + 40/n": lambda n: 0.05 + 40 / n,
    "0.02 + 0.35/log n": lambda n: 0.02 + 0.35 / math.log(n),
    "-0.1 + 1/log log n": lambda n: -0.1 + 1 / math.log(math.log(n)),
    "-0.3 + n^-0.07": lambda n: -0.3 + n**-0.07,
    "0.03 + log n / n": lambda n: 0.03 + math.log(n) / n,
    "0.03 with a lattice": lambda n: 0.03 + n**-0.5 * (1 + 0.3 * math.cos(37 * n**0.5)),
    "0.03 alternating": lambda n: 0.03 * (-1.0) ** n,
    "0.03 cos(log n)": lambda n: 0.03 * math.cos(math.log(n)),
    "log-periodic, 0 at 100 * 2^k": lambda n: 0.5 * math.sin(math.pi * math.log2(n / 100)) ** 2,
    "log-periodic, 0 at 100 * 2^k, with n^-1/2": lambda n: 0.1 * abs(math.sin(2 * math.pi * math.log2(n / 100))) + n**-0.5,
    "1 but at 100 * 2^k": lambda n: float(math.log2(n / 100) % 1 != 0),
    "sqrt(n) P(S_n = 0) of a walk, less its even limit": lambda n: -((2 / math.pi) ** 0.5) * (n % 2),
    **{f"0.5 where n mod 2 = {r}": (lambda n, r=r: 0.5 * (n % 2 == r)) for r in (0, 1)},
    **{f"0.5 where n mod 3 = {r}": (lambda n, r=r: 0.5 * (n % 3 == r)) for r in (0, 1, 2)},
    **{f"0.5 where n mod 4 = {r}": (lambda n, r=r: 0.5 * (n % 4 == r)) for r in (0, 1, 2)},
    **{f"0.5 where n mod 5 is {'' if yes else 'not '}0": (lambda n, yes=yes: 0.5 * ((n % 5 == 0) == yes)) for yes in (True, False)},
    "0.5 where n mod 6 = 0": lambda n: 0.5 * (n % 6 == 0),
    "0.5 where n mod 15 = 0": lambda n: 0.5 * (n % 15 == 0),
    "0.5 where n is prime to 30": lambda n: 0.5 * (math.gcd(int(n), 30) == 1),
    "0.05 where n is odd, 1/n else": lambda n: 0.05 if n % 2 else 1 / n,
    "growing as log n": lambda n: 0.01 * math.log(n),
    "growing as log log n": lambda n: 0.03 * math.log(math.log(n)),
    "growing as sqrt n": lambda n: 1e-4 * n**0.5,
    "growing, after a fall": lambda n: 3 / n**0.5 + 1e-4 * n**0.5,
    "growing as log2(n/3600)": lambda n: 0.085 * math.log2(n / 3600),
    "growing as n, small": lambda n: 2.5e-8 * n,
    "0.03, from below": lambda n: 0.03 - 0.03 / (n / 100) ** 0.5,
    "0.03, plateau first": lambda n: 0.03 + 0.1 / (1 + n / 1000) ** 0.5,
    "infinite at every size": lambda n: math.inf,
    "infinite at odd sizes": lambda n: math.inf if n % 2 else 0.0,
    "0.5 from 20,000 on": lambda n: 0.5 * (n > 2e4),
    "0.1 from 40,000 on, n^-1/2 before": lambda n: 0.1 if n > 4e4 else n**-0.5,
}  # fmt: skip


def statement(gap: Gap, **kind: Any) -> rf.Statement:
    return rf.Statement(
        name="planted",
        says="It tends to 1.",
        source="planted",
        kind=rf.Limit("n", **{"sizes": SIZES, "tolerance": 0.02} | kind),
        domain={"n": rf.Whole(1, 10**12, log=True)},
        claimed=lambda: 1.0,
        truth=lambda n: 1.0 + gap(n),
    )


def judged(gap: Gap, seed: int = 0, **kind: Any) -> rf.Outcome:
    result = rf.judge(statement(gap, **kind), at={}, seed=seed, progress=False)
    assert not result.failures, result.failures
    return result


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=(pytest.mark.evidence, pytest.mark.slow))])
@pytest.mark.parametrize("name", [*SEEN, *UNSEEN, *FALSE])
def test_sizes_alone_confirm_up_to_the_largest_and_refute_nothing(name: str, seed: int):
    gap = (SEEN | UNSEEN | FALSE)[name]
    result = judged(gap, seed)
    if name in FALSE:
        assert str(result.verdict) == "INCONCLUSIVE", result
        assert "51,200" in result.extent
    elif name in SEEN:
        assert str(result.verdict) == "CONFIRMED", result
    if str(result.verdict) == "CONFIRMED":
        assert result.extent == "up to n = 51,200"
    assert str(result.verdict) != "REFUTED"
    for shift in (-0.03, 0.03) if name in SEEN else ():  # the control
        control = judged(lambda n, s=shift: gap(n) + s, seed)
        assert (str(control.verdict), control.extent[:2] in ("no", "")) == ("INCONCLUSIVE", True)


SLOW = [0.9, 0.2]
"""1 + 0.9 n^-0.2, slower than sizes can show: what its theorem is."""


@pytest.mark.parametrize(
    ("theorem", "limit", "verdict", "says"),
    [
        ({}, 0.0, "INCONCLUSIVE", "not yet within the tolerance up to n = 51,200"),
        ({"rate": rf.Rate(*SLOW, limit=1.0, source="its formula")}, 0.0, "INCONCLUSIVE", "It decides nothing: 0.02 is required"),
        ({"rate": rf.Rate(*SLOW, limit=1.0, source="its formula"), "tolerance": 0.2}, 0.0, "CONFIRMED", "proven: within at most 0.11 number at n = 51,200 and beyond"),
        ({"rate": rf.Rate(*SLOW, limit=1.0, source="its formula", start=1e9), "tolerance": 0.2}, 0.0, "CONFIRMED", "up to n = 51,200"),
        ({"rate": rf.Rate(1e9, 0.01, limit=1.0, source="vain")}, 0.0, "INCONCLUSIVE", "not yet within the tolerance up to n = 51,200"),
        ({"rate": rf.Rate(0.97 * 0.9, 0.2, limit=1.0, source="3% too small"), "tolerance": 0.2}, 0.0, "INCONCLUSIVE", "It is refused: at n = 100 truth is farther"),
        ({"rate": rf.Rate(*SLOW, limit=1.1, source="its formula"), "tolerance": 0.2}, 0.1, "REFUTED", "Its limit and the claim are 0.1 apart"),
        ({"rate": rf.Rate(*SLOW, limit=1.0, source="its formula"), "tolerance": 0.2, "bound": True}, 0.0, "CONFIRMED", "proven: within"),
        ({"rate": rf.Rate(*SLOW, limit=1.1, source="its formula"), "tolerance": 0.2, "bound": True}, 0.1, "REFUTED", "0.1 apart"),
        ({"rate": rf.Rate(*SLOW, limit=1.001, source="its formula"), "tolerance": 0.2}, 0.001, "REFUTED", "0.001 apart"),
        ({"rate": lambda: None, "ceiling": lambda: None, "tolerance": 0.2}, 0.0, "CONFIRMED", "up to n = 51,200"),
        ({"ceiling": rf.Ceiling(1.03, below=True, source="its formula")}, 0.03, "REFUTED", "The claim is 0.03 beyond it at least"),
        ({"ceiling": rf.Ceiling(1.14, below=True, source="too high")}, 0.03, "INCONCLUSIVE", "It is refused: at n = 51200 truth passes it"),
        ({"ceiling": rf.Ceiling(0.95, source="its formula", start=1000)}, -0.3, "REFUTED", "from n = 1,000 on truth is never more"),
        ({"ceiling": rf.Ceiling(0.95, source="its formula", start=1e6)}, -0.3, "INCONCLUSIVE", "no sign of it"),
        ({"ceiling": rf.Ceiling(1.5, source="its formula")}, 0.0, "INCONCLUSIVE", "The claim is on its side"),
        ({"ceiling": rf.Ceiling(0.9999, source="its formula", start=1000)}, -0.3, "REFUTED", "from n = 1,000 on truth is never more"),
        ({"ceiling": rf.Ceiling(1.0001, source="its formula", start=1e4), "bound": True}, -0.3, "CONFIRMED", "up to n = 51,200"),
        ({"ceiling": rf.Ceiling(1.0, source="its formula", start=1e4), "bound": True}, -0.3, "CONFIRMED", "proven at every n from 10,000 on"),
        ({"ceiling": rf.Ceiling(0.95, source="its formula", start=1000, claimed=0.9)}, -0.3, "INCONCLUSIVE", "The claim is on its side"),
    ],
)  # fmt: skip
def test_a_theorem_decides_where_it_reaches(theorem: dict[str, Any], limit: float, verdict: str, says: str):
    result = judged(lambda n: limit + SLOW[0] * n ** -SLOW[1], **theorem)
    assert str(result.verdict) == verdict, result
    assert says in str(result), result


@pytest.mark.parametrize(
    ("share", "beyond", "verdict"), [(1.0, 0.0, "CONFIRMED"), (0.97, 0.0, "INCONCLUSIVE"), (1.0, 1e-6, "INCONCLUSIVE")]
)  # fmt: skip
def test_a_limit_that_moves_is_a_function_of_the_size(share: float, beyond: float, verdict: str):
    """A tenth power plus what vanishes: both sides grow, and the theorem says how far apart they are."""
    rate = rf.Rate(share * SLOW[0], SLOW[1], limit=lambda n: n**0.1, source="its formula")
    item = statement(lambda n: n**0.1 + SLOW[0] * n ** -SLOW[1] - 1.0, tolerance=0.2, rate=rate)
    item = replace(item, claimed=lambda n: n**0.1 + beyond)
    assert str(rf.judge(item, at={}, progress=False).verdict) == verdict


@pytest.mark.parametrize(
    ("constant", "power", "claim", "verdict", "says"),
    [
        (0.4, 1.0, 1.0, "CONFIRMED", "proven: within"),
        (0.1, 1.0, 1.0, "INCONCLUSIVE", "It is refused"),
        (0.4, 1.0, 1.03, "REFUTED", ""),
        (0.4, 0.5, 1.0, "CONFIRMED", "up to n = 51,200"),  # in probits at FPRs of 1e-4 too wide to be of use
    ],
)
def test_a_rate_of_curves_is_in_error_rates(
    constant: float, power: float, claim: float, verdict: str, says: str
):
    """By the mean value theorem a shift by e moves a rate by at most e / sqrt(2 pi)."""
    rate = rf.Rate(constant, power, limit=G(1.0), source="mean value theorem")
    item = replace(
        statement(lambda n: 0.0, rate=rate, tolerance=0.05),
        claimed=lambda: G(claim),
        truth=lambda n: G(1.0 + 1 / n),
    )
    result = rf.judge(item, at={}, progress=False)
    assert str(result.verdict) == verdict, result
    assert says in str(result)


@pytest.mark.parametrize(
    ("goal", "verdict"), [(1.0, "CONFIRMED"), (0.5, "INCONCLUSIVE"), (0.97, "INCONCLUSIVE")]
)
def test_a_ceiling_that_mistakes_what_the_claim_tends_to_decides_nothing(goal: float, verdict: str):
    """The claim 1 - n^-1/2 and the truth 1 meet in the limit; the floor 1 of truth is right, and beyond the claim at each size."""
    kind = rf.Limit(
        "n",
        sizes=SIZES,
        tolerance=0.02,
        ceiling=rf.Ceiling(1.0, below=True, source="its formula", claimed=goal),
    )
    item = replace(statement(lambda n: 0.0), kind=kind, claimed=lambda n: 1.0 - n**-0.5)
    result = rf.judge(item, at={}, progress=False)
    assert str(result.verdict) == verdict, result
    assert ("It is refused: the claim does not tend to" in str(result)) == (goal != 1.0)


def test_a_walk_of_even_and_odd_steps_and_a_curve_of_two():
    """P(S_n = 0) sqrt(n) is 0 at odd n; G_1 at even n and G_2 at odd n."""

    def walk(n: int) -> float:
        if n % 2:
            return 0.0
        return n**0.5 * math.exp(math.lgamma(n + 1) - 2 * math.lgamma(n / 2 + 1) - n * math.log(2))

    false = replace(statement(lambda n: 0.0), claimed=lambda: (2 / math.pi) ** 0.5, truth=walk)
    curve = replace(statement(lambda n: 0.0), claimed=lambda: G(1.0), truth=lambda n: G(1.0 + n % 2))
    for item in (false, curve):
        assert str(rf.judge(item, at={}, progress=False).verdict) == "INCONCLUSIVE"
    even = replace(false, kind=rf.Limit("n", sizes=SIZES, along="even n"))
    assert rf.judge(even, at={}, progress=False).extent == "along even n up to n = 51,200"


@pytest.mark.parametrize(
    "sizes", [SIZES, tuple(1000 * 4**k for k in range(10)), tuple(10**7 * 8**k for k in range(6))]
)
def test_companions_have_other_residues(sizes: tuple[int, ...]):
    for seed in range(5):
        found = companions(sizes, seed)
        added = set(found) - set(sizes)
        late = [n for n in added if n >= sizes[-1] * (sizes[0] / sizes[-1]) ** (1 / 3)]
        assert set(sizes) <= set(found)
        assert sizes[0] == found[0]
        assert sizes[-1] == found[-1]
        assert any(math.gcd(n, 30) == 1 for n in late)
        assert any(n % 60 == 30 for n in late)
        assert len(added) <= 3
        assert max(added) < sizes[-1]
    assert companions(sizes, 0) != companions(sizes, 1)


def test_errors_count_against_the_limit():
    """What lies within proven errors need not shrink; where the errors do not cover it, or are themselves not small, it must."""
    tiny = [4e-7 * (n > 4000) for n in SIZES]  # of 0.0004: a thousandth
    for error, verdict in (
        (0.0, "INCONCLUSIVE"),
        (1e-7, "INCONCLUSIVE"),
        (4e-7, "CONFIRMED"),
        (9e-6, "INCONCLUSIVE"),
    ):
        assert limit_verdict(SIZES, tiny, 0.0004, errors=error).verdict == verdict
    gaps = [n**-1.0 for n in SIZES]
    assert limit_verdict(SIZES, gaps, 0.02, errors=0.01).verdict == "CONFIRMED"
    wide = limit_verdict(SIZES, gaps, 0.02, errors=0.03)
    assert (wide.verdict, wide.sign, wide.since) == ("INCONCLUSIVE", None, math.inf)
