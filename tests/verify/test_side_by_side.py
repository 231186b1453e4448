"""Claims judged at once: the same results, in any order, and an interruption that is heard."""

import pytest

from verify.claim import Budget, Regime, RegimeResult
from verify.judge import judge_all
from verify.side_by_side import families, judge_side_by_side


def test_the_results_are_those_of_one_thread(sound):
    claims = list(sound.values())
    alone = {result.claim.id: result.regimes[0].gap for result in judge_all(claims, "quick", 1e-4, 3)}
    for workers in (1, 3):
        found = judge_side_by_side(claims, "quick", 1e-4, 3, None, None, workers)
        assert {result.claim.id: result.regimes[0].gap for result in found} == alone


def test_a_correction_is_judged_by_the_thread_of_its_claim(sound):
    claims = list(sound.values())
    grouped = families(claims)
    assert sorted(claim.id for family in grouped for claim in family) == sorted(sound)
    for family in grouped:
        assert all(claim.corrects in (None, family[0].id, family[0].corrects) for claim in family)


def test_an_interruption_inside_a_judge_reaches_the_reader(make_claim):
    def interrupted(budget: Budget) -> RegimeResult:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(
            judge_side_by_side(
                [make_claim("c", Regime("r", {}, interrupted))], "quick", 1e-4, 0, None, None, 2
            )
        )
