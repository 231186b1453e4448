"""Planted defects are detected, and true statements are not refuted."""

import pytest

from mipsim import referee as rf
from sims.planted import BASES, DEFECTS, damaged_statement, true_statement


@pytest.mark.evidence
@pytest.mark.parametrize("name", BASES)
def test_a_true_statement_is_confirmed(name: str) -> None:
    result = rf.hunt(true_statement(name), "32 probes", progress=False)
    assert not result.failures
    assert str(result.verdict) == "CONFIRMED", str(result)


@pytest.mark.slow
@pytest.mark.parametrize("name", BASES)
def test_a_true_statement_is_never_refuted(name: str) -> None:
    """100 hunts. Judged by exact laws, a refutation needs no chance: any of 60 probes and four judged points would show it."""
    statement = true_statement(name)
    for seed in range(100):
        assert str(rf.hunt(statement, "60 probes", seed=seed, progress=False).verdict) == "CONFIRMED"


@pytest.mark.slow
def test_defects_are_detected() -> None:
    """At least 90% over ten seeds by 2000 probes, which take seconds."""
    result = [
        str(rf.hunt(damaged_statement(defect), "2000 probes", seed=seed, progress=False).verdict) == "REFUTED"
        for defect in DEFECTS
        for seed in range(10)
    ]
    assert sum(result) >= 0.9 * len(result)
