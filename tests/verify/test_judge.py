"""Judging the register: shares, points that are sampled, processes, an interruption."""

import os
from dataclasses import replace
from functools import partial

import pytest

import mipsim as mi
from mipsim import referee as rf
from mipsim.referee.outcome import Failure, is_judged, shown_counterexamples
from mipsim.referee.reporting import pictures
from tests.verify.conftest import NASTY
from verify import parallel
from verify.judge import SCALES, Setting, judge, left_to_full, listed, points_of, risk_of, unseen
from verify.register import REGISTER, statement_of
from verify.statement import Statement

SAMPLES = Statement.samples
SETTING = Setting("quick", 0.999, 3, 1e-6)


def test_the_share_is_that_of_the_whole_register_at_full_scale(sound):
    total = sum(len(item.points) for item in sound.values()) + 5 * SAMPLES[-1]
    assert points_of(sound.values()) == total
    assert risk_of(0.999, sound.values()) == pytest.approx(1e-3 / total)
    for place, scale in enumerate(SCALES):
        outcome = judge(sound["azize-false"], Setting(scale, 0.999, 0, 1e-6))
        assert len(outcome.judged) == 2 + SAMPLES[place]  # never more points than the share pays for
    fewer = replace(sound["azize-true"], samples=(1, 2, 3))
    assert points_of([*(sound | {"azize-true": fewer}).values()]) == total - SAMPLES[-1] + 3
    assert points_of([fewer], "standard") == 3


def test_a_larger_scale_extends_a_smaller_scale(sound):
    def sampled(name: str, count: int, seed: int) -> list[dict]:
        statement, setting = replace(sound[name], samples=(count,) * 3), Setting("quick", 0.999, seed, 1e-6)
        return [item.parameters for item in judge(statement, setting).judged if item.sampled]

    few, many = (sampled("azize-false", count, 5) for count in (4, 9))
    assert len(few) == 4
    assert many[:4] == few
    assert sampled("azize-true", 4, 5) == few
    assert sampled("azize-true", 4, 6) != few


def test_an_outcome_says_which_points_were_sampled(sound):
    outcome = judge(sound["azize-false"], SETTING)
    assert [item.sampled for item in outcome.judged] == [False, False] + [True] * SAMPLES[0]
    assert [single.name for single in outcome.judged][:3] == ["holds", "breaks", "sampled 1"]
    alone = judge(sound["azize-false"], SETTING, [rf.Point({"x": 0.2, "law": "Bernoulli"})])
    assert [point.verdict for point in alone.judged] == ["CONFIRMED"]


def test_the_second_route_runs_at_the_counterexample_that_is_shown_alone(sound):
    quick = judge(sound["azize-false"], SETTING)
    requested = [point for point in quick.judged if point.second_route]
    assert len(requested) == 1 < sum(item.verdict is rf.Verdict.REFUTED for item in quick.judged)
    assert requested[0] is quick.worst


def test_a_sampled_point_whose_assumptions_fail_is_reported(make):
    def where(x: float) -> bool:
        if x > 0.4:
            raise RuntimeError("no such law")
        return True

    outcome = judge(make("c", where=where, points=()), SETTING)
    assert len(outcome.judged) + len(outcome.failures) == SAMPLES[0]
    assert "no such law" in outcome.failures[0].error
    assert outcome.verdict == "INCONCLUSIVE"


def test_a_deferred_assumption_is_evaluated_at_listed_points(make):
    defer_where = make(
        "c",
        where=lambda x: x < 0.4,
        defer_where=True,
        points=tuple({"x": x, "law": "Bernoulli"} for x in (0.3, 0.5)),
    )
    outcome = judge(defer_where, SETTING)
    assert [item.at["x"] for item in outcome.failures] == [0.5]
    assert "where of c excludes" in outcome.failures[0].error


def test_the_scale_names_the_statements_that_have_fewer_games(make):
    fewer = [make(name, games=(1000, usual, 5_000_000)) for name, usual in (("a", 2000), ("b", 500_000))]
    report = [left_to_full(fewer, scale) for scale in SCALES]
    assert report[1] == (
        "Left to --scale full: 5,000,000 games a world instead of 500,000 (2,000 of a), most sampled points."
    )
    assert "(1,000 of a, 1,000 of b)" in report[0]
    assert report[2] == ""
    coin = make(
        "a",
        truth=lambda x, law: (lambda g, n: g.standard_normal(n),) * 2,
        claimed=lambda x: mi.GaussianTradeOff(1.0),
        games=fewer[0].games,
    )
    assert [item.games for item in judge(coin, SETTING, coin.points).judged] == [1000]


def test_dear_points_are_left_to_full_scale_and_the_run_says_which(make):
    points = tuple({"x": x, "law": law} for x in (0.1, 0.2) for law in ("Bernoulli", NASTY))
    item = make("a", points=points, expensive=({"x": 0.2, "law": NASTY},), samples=(0, 0, 0))
    for scale in SCALES:
        setting = Setting(scale, 0.999, 0, 1e-6)
        outcome = judge(item, setting)
        if scale == "full":
            assert len(outcome.judged) == 4
            assert left_to_full([item], scale) == ""
        else:
            assert [point.parameters["law"] for point in outcome.judged] == ["Bernoulli", NASTY, "Bernoulli"]
            assert "3 points judged, 3 of its own; 1 more of its own at --scale full; " in outcome.how
            left = left_to_full([item], scale)
            assert "Left to --scale full: 1 expensive point of 1 statement (a 1), " in left
        assert len(judge(item, setting, item.points).judged) == 4  # requested by --at


def test_every_part_of_a_dear_point_chooses_some_points_and_leaves_others():
    for item in REGISTER.values():
        points = item.points
        for part in item.expensive:
            left = listed(replace(item, expensive=(part,)), "standard")
            assert len(points) / 2 <= len(left) < len(points), (item.name, part)
        assert not item.expensive or len(listed(item, "standard")) > len(points) / 2


def failed(statement: Statement, why: str) -> rf.Outcome:
    outcome = judge(statement, SETTING, [])
    return replace(outcome, failures=(Failure({}, why),))


@pytest.mark.evidence
def test_the_outcomes_of_processes_are_those_of_this_process():
    """So is the picture. A lost process costs the statement that it judged, which is reported, and no other."""
    names = ["kaissis-lemma-9", "leemann-rem-5.1-mean"]
    act = partial(judge, setting=SETTING, draw=True)
    for find in (statement_of, lose_lemma_9):
        result = parallel.outcomes([[REGISTER[name]] for name in names], act, failed, find)
        by_name = {outcome.statement.name: outcome for outcome in result}
        assert set(by_name) == set(names)
        for name in names:
            if find is lose_lemma_9 and name == names[0]:
                assert by_name[name].failures[0].error == parallel.LOST
                assert not is_judged(by_name[name])
            else:
                here = judge(REGISTER[name], SETTING)
                assert by_name[name].gap == here.gap
                assert pictures.stored(by_name[name]) == pictures.keep(here)


def lose_lemma_9(name: str) -> Statement:
    """Look up a statement, except for a statement at which the process ends as if killed by the system."""
    if name == "kaissis-lemma-9":
        os._exit(9)
    return REGISTER[name]


def test_an_interruption_inside_a_statement_reaches_the_reader(make):
    def interrupted(x: float) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(parallel.outcomes([[make("c", truth=interrupted)]], partial(judge, setting=SETTING), failed))


@pytest.mark.evidence
def test_games_have_the_seed_of_the_run_and_the_share_of_a_single_point(make):
    coin = make(
        "coin",
        kind=rf.Bound(),
        domain={"shift": rf.Real(0.0, 1.0)},
        points=({"shift": 0.5},),
        claimed=lambda shift: __import__("mipsim").GaussianTradeOff(shift + 1.0),
        truth=lambda shift: (lambda g, n: g.standard_normal(n), lambda g, n: shift + g.standard_normal(n)),
    )
    at = coin.points
    first, again, other = (judge(coin, Setting("quick", 0.999, seed, 1e-6), at) for seed in (1, 1, 2))
    assert first.judged[0].games == 100_000
    assert first.gap == again.gap != other.gap
    wide = judge(coin, Setting("quick", 0.999, 1, 1e-12), at)
    assert wide.interval[1] > first.interval[1]


def test_a_refutation_that_no_second_route_sees_fails_the_register(sound):
    """The planted route measures the same number with an interval that holds the claim, or raises, or is not there."""
    false = sound["azize-false"]
    assert unseen(judge(false, SETTING)) == []
    for blind in (lambda x: rf.Replication(x, 0.0, 1.0, "x", "by hand"), lambda x: 1 / 0, None):
        outcome = judge(replace(false, second_route=blind), SETTING)
        assert outcome.verdict is rf.Verdict.REFUTED
        assert unseen(outcome) == shown_counterexamples(false, outcome.judged)
        assert unseen(replace(outcome, statement=replace(false, corrects="another"))) == []
