"""Judging: shares and seeds, one failing judge, an interruption."""

import math
from dataclasses import replace

import pytest

from verify.claim import Budget, Regime, RegimeResult, Verdict
from verify.judge import failure_share, headline, judge, regime_seed
from verify.side_by_side import judge_all


def test_the_share_is_that_of_the_whole_register(sound):
    assert sum(len(claim.regimes) for claim in sound.values()) == 6
    assert failure_share(0.999, sound) == pytest.approx(1e-3 / 6)
    result = judge(sound["false-1"], "quick", failure_share(0.999, sound))
    assert result.failure_probability == pytest.approx(3 * 1e-3 / 6)


def test_only_chance_needs_a_share(sound, make_claim):
    exact = [replace(regime, random=False) for regime in sound["false-1"].regimes]
    register = {**sound, "exact": make_claim("exact", *exact)}
    assert failure_share(0.999, register) == failure_share(0.999, sound)
    assert judge(register["exact"], "quick", 1e-4).failure_probability == 0


def test_every_share_together_is_the_family_wise_probability(sound):
    total = sum(
        result.failure_probability
        for result in judge_all(list(sound.values()), "quick", failure_share(0.95, sound))
    )
    assert total == pytest.approx(0.05)


def test_the_judge_gets_the_budget(make_claim, tmp_path):
    seen: list[Budget] = []

    def spy(budget: Budget) -> RegimeResult:
        seen.append(budget)
        return RegimeResult({}, Verdict.CONFIRMED, 7, 0.0, (-0.1, 0.1), 0.0, 0.1)

    result = judge(make_claim("c", Regime("r", {"n": 9}, spy, "the reading")), "full", 1e-5, 3, tmp_path)
    assert seen == [Budget("full", 1e-5, regime_seed(3, "c", "r"), tmp_path, 3)]
    (regime,) = result.regimes
    assert (regime.seed, regime.parameters, regime.reading) == (seen[0].seed, {"n": 9}, "the reading")
    assert 0 <= regime.seconds <= result.seconds


def test_seeds_are_stable_and_distinct():
    # Fixed for ever (half of the first 4 bytes of the SHA-256): else no stored verdict could be repeated.
    assert regime_seed(0, "azize-thm-4.2", "n = 1000") == 700226506
    seeds = {regime_seed(s, c, r) for s in range(10) for c in ("a", "b") for r in ("x", "y", "x y")}
    assert len(seeds) == 60
    assert all(0 <= seed < 2**31 for seed in seeds)
    # The parts do not run together.
    assert regime_seed(0, "ab", "c") != regime_seed(0, "a", "bc")


def test_a_seed_does_not_depend_on_the_claims_beside_it(sound):
    alone = judge(sound["false-1"], "quick", 1e-4, seed=5)
    among = {result.claim.id: result for result in judge_all(list(sound.values()), "quick", 1e-4, seed=5)}
    assert [r.seed for r in alone.regimes] == [r.seed for r in among["false-1"].regimes]


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("true-1", "CONFIRMED"),
        ("false-1", "REFUTED"),
        ("false-1-corrected", "CONFIRMED"),
        ("open-1", "INCONCLUSIVE"),
    ],
)
def test_verdicts(sound, name, verdict):
    result = judge(sound[name], "quick", 1e-4)
    assert result.verdict == verdict
    assert result.judged


def test_the_counterexample_speaks_for_a_refuted_claim(sound):
    result = judge(sound["false-1"], "quick", 1e-4)
    assert result.names[headline(result) or 0] == "large gap"
    assert headline(judge(sound["open-1"], "quick", 1e-4)) == 0


def test_a_failing_judge_stops_nothing_else(broken):
    results = list(judge_all(list(broken.values()), "quick", 1e-4))
    assert [result.judged for result in results] == [False, True, True, True, True]
    bad = results[0]
    assert bad.verdict is Verdict.INCONCLUSIVE  # never CONFIRMED on part of its regimes
    assert bad.names == ("fine",)
    ((name, error),) = bad.errors
    assert name == "bad"
    assert error.startswith("RuntimeError: counts are truncated")


def test_a_refutation_outlives_a_failing_judge(broken, make_claim, make_regime):
    bad = broken["broken-1"].regimes[1]
    result = judge(make_claim("c", bad, make_regime("r", Verdict.REFUTED, 0.2)), "quick", 1e-4)
    assert result.judged
    assert result.verdict is Verdict.REFUTED
    assert len(result.errors) == 1


def test_a_judge_that_returns_no_result_has_failed(make_claim):
    result = judge(make_claim("c", Regime("r", {}, lambda budget: None)), "quick", 1e-4)  # type: ignore[arg-type]
    assert not result.judged
    assert "must return a RegimeResult" in result.errors[0][1]


def test_an_interruption_propagates_after_the_finished_claims(sound, make_claim):
    def interrupted(budget: Budget) -> RegimeResult:
        raise KeyboardInterrupt

    claims = [sound["true-1"], make_claim("c", Regime("r", {}, interrupted)), sound["false-1"]]
    results = judge_all(claims, "quick", 1e-4)
    assert next(results).claim.id == "true-1"
    with pytest.raises(KeyboardInterrupt):
        next(results)


def test_on_regime_is_called_before_each(sound):
    seen = []
    judge(
        sound["false-1"],
        "quick",
        1e-4,
        on_regime=lambda claim, regime, index: seen.append((regime.name, index)),
    )
    assert seen == [("holds", 0), ("small gap", 1), ("large gap", 2)]


def test_a_nan_gap_never_speaks_before_a_number(sound):
    result = judge(sound["false-1"], "quick", 1e-4)
    regimes = tuple(replace(r, verdict=Verdict.INCONCLUSIVE) for r in result.regimes)
    changed = replace(result, regimes=(replace(regimes[0], gap=math.nan), *regimes[1:]))
    assert headline(changed) == 2
