"""Claims judged at once: the same results, in any order, and an interruption that is heard."""

import pytest

from verify.claim import Budget, Regime, RegimeResult
from verify.judge import judge
from verify.side_by_side import families, judge_all


def test_the_results_are_those_of_one_thread(sound):
    claims = list(sound.values())
    alone = {claim.id: judge(claim, "quick", 1e-4, 3).regimes[0].gap for claim in claims}
    for workers in (1, 3):
        found = judge_all(claims, "quick", 1e-4, 3, None, None, workers)
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
        list(judge_all([make_claim("c", Regime("r", {}, interrupted))], "quick", 1e-4, 0, None, None, 2))


def test_a_full_disk_is_one_sentence(sound, tmp_path, monkeypatch, capsys):
    from verify.command import main
    from verify.report.folder import ReportFolder

    def full(self, state):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ReportFolder, "_write", full)
    assert main(["--out", str(tmp_path)], sound) == 1
    said = capsys.readouterr().err
    assert said.strip() == "python -m verify: the report cannot be written any more: No space left on device"


@pytest.mark.parametrize("seed", ["-1", "1.5", str(2**64)])
def test_a_seed_outside_its_range_is_refused_before_any_work(sound, seed, capsys):
    from verify.command import main

    assert main(["--seed", seed], sound) == 2
    assert f"--seed is {seed}; it must be a whole number in [0, 2^64)" in capsys.readouterr().err
