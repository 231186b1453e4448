"""A proven rate decides a limit that sizes leave open, and is refused where it is a few per cent too small."""

from dataclasses import replace
from typing import Any

import mipsim as mi
from mipsim import referee as rf

G = mi.GaussianTradeOff


def slow(rate: Any, claimed: Any = lambda: 1.0, **more: Any) -> rf.Statement:
    """1 + 0.9 n^-0.2: slower than any power that sizes alone can tell from a logarithm."""
    return rf.Statement(
        name="slow",
        says="x tends to 1.",
        source="planted",
        kind=rf.Limit("n", tolerance=0.2, rate=rate, **more),
        domain={"n": rf.Whole(1, 10**6, log=True)},
        claimed=claimed,
        truth=lambda n: 1.0 + 0.9 * n**-0.2,
    )


def exact(constant: float = 0.9) -> rf.Rate:
    return rf.Rate(constant, 0.2, limit=1.0, source="by its formula")


def verdict(statement: rf.Statement, at: Any = None) -> str:
    result = rf.judge(statement, at={} if at is None else at, progress=False)
    assert not result.failures, result.failures
    return str(result.verdict)


def test_a_limit_that_moves_is_a_function_of_the_size() -> None:
    """A tenth power plus what vanishes: both sides grow, and the theorem says how far apart they are."""

    def statement(constant: float, claimed: Any) -> rf.Statement:
        kind = rf.Limit("n", tolerance=0.2, rate=replace(exact(constant), limit=lambda n: n**0.1))
        return replace(slow(None), claimed=claimed, truth=lambda n: n**0.1 + 0.9 * n**-0.2, kind=kind)

    assert verdict(statement(0.9, lambda n: n**0.1)) == "CONFIRMED"
    assert verdict(statement(0.97 * 0.9, lambda n: n**0.1)) == "INCONCLUSIVE"
    assert verdict(statement(0.9, lambda n: n**0.1 + 1e-6)) == "INCONCLUSIVE"


def test_a_rate_of_curves_is_in_error_rates() -> None:
    def statement(rate: Any) -> rf.Statement:
        kind = rf.Limit("n", tolerance=0.02, rate=rate)
        return replace(slow(rate), claimed=lambda: G(1.0), truth=lambda n: G(1.0 + 1 / n), kind=kind)

    right = rf.Rate(
        0.4,
        1.0,
        limit=G(1.0),
        source="mean value theorem: a shift by e moves a rate by at most e / sqrt(2 pi)",
    )
    assert "proven: within" in str(rf.judge(statement(right), at={}))
    assert verdict(statement(replace(right, constant=0.1))) == "INCONCLUSIVE"  # refused
    false = replace(statement(right), claimed=lambda: G(1.03))
    assert verdict(false) == "REFUTED"
    slower = replace(right, power=0.5)  # in probits at FPRs of 1e-4 too wide to be of use
    assert rf.judge(statement(slower), at={}).extent == "up to n = 1,000,000"
