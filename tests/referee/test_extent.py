"""Judged is not searched: what stands beside a verdict says at how many points it holds, and whether anybody looked between them."""

import re
import time
from typing import Any

import numpy as np
import pytest

import mipsim as mi
from mipsim import referee as rf
from mipsim.referee.command import main
from mipsim.referee.judging.games import LEAST_GAMES, affordable_games
from mipsim.referee.point_sampling import covered
from mipsim.referee.reporting.page import page
from mipsim.referee.settings import GAMES
from mipsim.referee.values import Samplers

POCKET = """
from mipsim import referee as rf
pocket = rf.Statement(
    name="pocket", says="y is at most 1.", source="planted", kind=rf.Bound(), domain={"x": rf.Real(0.0, 1.0), "z": rf.Real(0.0, 1.0)},
    claimed=lambda: 1.0, truth=lambda x, z: 0.9 * x * x + (0.8 if 0.611 < x < 0.615 else 0.0),
)
"""


def statement(domain: dict[str, Any], truth: Any, **more: Any) -> rf.Statement:
    fields: dict[str, Any] = {"name": "x", "says": "x is at most 1.", "source": "planted", "kind": rf.Bound()}
    return rf.Statement(**fields | {"domain": domain, "claimed": lambda: 1.0, "truth": truth} | more)


@pytest.fixture
def pocket() -> rf.Statement:
    space: dict[str, Any] = {}
    exec(POCKET, space)
    return space["pocket"]


def test_a_pocket_that_no_point_meets_is_hunted_for_or_not_plainly_confirmed(pocket: rf.Statement) -> None:
    searched = rf.judge(pocket, progress=False)  # in some hundred probes, not in all of its seconds
    assert searched.verdict is rf.Verdict.REFUTED
    result = rf.judge(pocket, budget=0)
    assert (str(result.verdict), result.extent) == ("CONFIRMED", "held at 68 points, not searched")
    for shown in (str(result).partition("\n")[0], result._repr_html_(), page([result])):
        assert result.extent in shown
    assert "failure probability" not in str(result)  # no game was played
    assert result.replay.shell.endswith(" --confidence 0.999")  # neither games nor their seed


def test_the_command_hunts_what_it_has_judged(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(POCKET, encoding="utf-8")
    for options, says in (
        (["--budget", "1500 probes"], "REFUTED: pocket"),
        (["--budget", "0"], "CONFIRMED (held at 68 points, not searched): pocket"),
        (["--at", '{"x": 0.5, "z": 0.5}'], "CONFIRMED (held at 1 point, not searched): pocket"),
    ):
        assert main(["judge", "mine.py", *options]) == 0
        assert capsys.readouterr().out.startswith(says)


@pytest.mark.parametrize(
    ("domain", "says"),
    [
        ({"x": rf.Whole(-4, 1)}, "held at each of the 6 points of its domain"),
        ({"x": rf.Choice(0, 1), "y": rf.Fixed(2)}, "held at each of the 2 points of its domain"),
        ({"x": rf.Whole(-(10**6), 1)}, "held at 66 points, not searched"),
        (
            {"x": rf.Whole(-float("inf"), 1, hunt_to=3)},
            "held at 3 points, not searched",
        ),  # what is searched is not all
    ],
)
def test_a_finite_domain_that_is_judged_whole_is_confirmed(domain, says) -> None:
    assert rf.judge(statement(domain, lambda x: float(x)), budget=0).extent == says


def test_a_point_that_assumptions_exclude_is_no_hole() -> None:
    whole = statement({"x": rf.Whole(0, 3)}, lambda x: float(x), where=lambda x: x < 2)
    assert rf.judge(whole, budget=0).extent == "held at each of the 2 points of its domain"
    assert not covered(whole, [{"x": 0}])
    assert covered(whole, [{"x": 1}, {"x": 0}])


@pytest.mark.parametrize(
    ("parameter", "probes", "warns"),
    [(rf.Real(0.0, 1.0), 20, True), (rf.Real(0.0, 1.0), 100, False), (rf.Real(0.0, 2.0), 20, False), (rf.Choice(0, 1), 20, False)],
    ids=["few", "enough", "refuted", "the whole domain"],
)  # fmt: skip
def test_a_budget_that_bought_few_probes_is_warned_of(parameter: Any, probes: int, warns: bool) -> None:
    result = rf.hunt(statement({"x": parameter}, lambda x: x), f"{probes} probes", progress=False)
    assert bool(result.warning) == ("bought 20 probes" in str(result)) == warns


def noisy(s: float) -> tuple[Any, Any]:
    return lambda g, n: g.laplace(0.0, 1.0, n), lambda g, n: g.laplace(s, 1.0, n)


def test_games_say_what_they_did_not_refute() -> None:
    """A weak attack at two points: nothing "stands at 100%", since a stronger attack may exist."""
    weak = statement({"s": rf.Choice(0.4, 0.8)}, noisy, claimed=lambda s: mi.LaplaceTradeOff(s))
    lines: list[str] = []
    result = rf.judge(weak, games=5_000, progress=lines.append, budget=0)
    assert not lines or lines[-1] == "x: 2 points judged"
    assert str(result.verdict) == "INCONCLUSIVE"
    assert "not refuted by this attack at 2 of 2 judged points" in str(result)
    assert "0.001 over these points, 0.0005 for each" in result.how
    assert "%" not in str(dict(result.lines)["points"])


def test_slow_games_are_as_many_as_their_time_allows() -> None:
    def slow(generator: np.random.Generator, games: int) -> np.ndarray:
        time.sleep(games * 1e-5)
        return generator.standard_normal(games)

    value = Samplers(slow, slow)
    number = affordable_games(value, 6, 3.0)
    assert LEAST_GAMES < number < GAMES / 5  # 20 us a game in both worlds, 0.5 s for each point
    assert affordable_games(value, 6, 1e-9) == LEAST_GAMES
    assert affordable_games(Samplers(lambda g, n: g.random(n), lambda g, n: g.random(n)), 1, 1e9) == GAMES


def test_a_number_of_games_that_the_clock_picked_is_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the replay would play other games than those that decided. Judge and hunt pick each their own number."""
    monkeypatch.setattr("mipsim.referee.judging.judge.affordable_games", lambda *_: 5_000)
    monkeypatch.setattr("mipsim.referee.hunting.hunt.affordable_games", lambda *_: 7_000)
    noise = statement({"s": rf.Choice(0.4, 0.8)}, noisy, claimed=lambda s: mi.LaplaceTradeOff(s))
    judged = rf.judge(noise, progress=False, budget=0)
    assert "5,000 games in each world" in judged.how
    assert judged.replay.shell.endswith(" --games 5000")
    assert "games=5000" in judged.replay.python
    both = rf.judge(noise, budget="4 probes", progress=False)
    assert both.worst is not None
    assert both.worst.games in (5_000, 7_000)
    assert both.replay.shell.endswith(f" --games {both.worst.games}")
    again = rf.judge(noise, at=both.point, games=both.worst.games, confidence=1 - 0.5e-3, progress=False)
    assert again.gap == both.gap


CURVES = """
import mipsim as mi
from mipsim import referee as rf
curves = rf.Statement(
    name="curves", says="mu is 1.", source="planted", kind=rf.Bound(), domain={"mu": rf.Real(0.5, 2.0)},
    claimed=lambda: mi.GaussianTradeOff(1.0), truth=lambda mu: mi.GaussianTradeOff(mu),
)
"""


@pytest.mark.parametrize(("unit", "number"), [
    ("advantage", lambda curve: curve.advantage()), ("epsilon=1e-5", lambda curve: curve.epsilon(1e-5)), ("tpr=0.01", lambda curve: curve.tpr_at(0.01)),
])  # fmt: skip
def test_a_gap_is_stated_in_the_requested_unit(tmp_path, monkeypatch, capsys, unit: str, number: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(CURVES, encoding="utf-8")
    assert main(["judge", "mine.py", "--at", '{"mu": 2.0}', "--gap", unit]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.strip().startswith(f"{unit}: "))
    claimed, true = number(mi.GaussianTradeOff(1.0)), number(mi.GaussianTradeOff(2.0))
    assert [
        float(part) for part in re.findall(r"[-+]?[0-9.]+(?:e-?[0-9]+)?", line.partition(": ")[2])
    ] == pytest.approx([claimed, true, true - claimed], rel=1e-4)


def test_a_point_that_the_search_judged_again_counts_as_a_single_point() -> None:
    """The line "points" and the words beside the verdict name the same number."""
    whole = statement({"x": rf.Whole(1, 1000)}, lambda x: float(x), claimed=lambda: 1000.0)
    outcome = rf.judge(whole, budget="100 probes")
    places = {item.parameters["x"] for item in outcome.judged}
    assert len(places) < len(outcome.judged)
    assert outcome.extent.startswith(f"held at {len(places)} points; a search looked at ")
    assert f"held at {len(places)} of {len(places)} judged points" in str(outcome)


def test_what_fails_at_every_point_alike_is_not_hunted() -> None:
    result = rf.judge(statement({"x": rf.Real(0.0, 1.0)}, lambda x: 1 / 0), progress=False)
    assert (result.how, result.probes) == ("66 points, none judged: all failed", ())
    assert str(result.verdict) == "INCONCLUSIVE"
