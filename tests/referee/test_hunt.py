"""The hunt: it finds what was planted, says the same twice, goes on where it stopped, and refutes nothing by itself."""

import json
import math
import os
import re
import signal
import threading
import time
from dataclasses import replace
from typing import Any

import pytest

import mipsim as mi
from mipsim import referee as rf
from mipsim._files import locked
from mipsim.referee.hunting import hunt as hunting

G = mi.GaussianTradeOff


def statement(damaged: Any = lambda **at: False, kind: Any = None, **more: Any) -> rf.Statement:
    """(s / sigma)-GDP, with 5% more leakage where it is damaged."""
    domain = {
        "s": rf.Real(-2.0, 2.0),
        "sigma": rf.Real(0.1, 10.0, log=True),
        "n": rf.Whole(1, 1_000_000, log=True),
        "side": rf.Choice("add", "remove", "replace"),
    }
    return rf.Statement(
        **{
            "name": "gaussian",
            "says": "A shift by s is (|s| / sigma)-GDP.",
            "source": "folklore",
            "kind": kind or rf.Bound(),
            "domain": domain,
            "claimed": lambda s, sigma: G(abs(s) / sigma),
            "truth": lambda **at: G(abs(at["s"]) / at["sigma"] * (1.05 if damaged(**at) else 1.0)),
        }
        | more
    )


def hunted(statement, budget="400 probes", **settings) -> Any:
    return rf.hunt(statement, budget, progress=False, **settings)


DAMAGE = {
    "small n": lambda n, **_: n < 3,
    "large n": lambda n, **_: n > 500_000,
    "a single side, negative shifts": lambda s, side, **_: side == "remove" and s < 0,
    "an end": lambda sigma, **_: sigma > 9.9,
}


@pytest.mark.evidence
@pytest.mark.parametrize("name", DAMAGE)
def test_it_finds_and_shrinks_what_was_planted(name: str) -> None:
    result = hunted(statement(DAMAGE[name]))
    assert str(result.verdict) == "REFUTED"
    assert DAMAGE[name](**result.point)
    assert result.gap > 0
    low, high = result.interval
    assert 0 < low <= result.gap <= high
    assert result.point["side"] == ("remove" if "side" in name else "add")
    assert 0.5 < result.share <= 1.0
    assert DAMAGE[name](**{**result.point, **{k: v["low"] for k, v in result.frontier.items() if k == "n"}})


@pytest.mark.evidence
@pytest.mark.parametrize("kind", [rf.Bound(), rf.Equality(), rf.Ordering()])
def test_a_true_statement_is_not_refuted(kind) -> None:
    where = {"where": lambda s: abs(s) > 0.05}
    result = hunted(statement(kind=kind, **where), seed=3)
    assert str(result.verdict) == "CONFIRMED"
    assert "which proves nothing" in str(result)
    assert result.frontier == {}
    assert result.share == 1.0
    assert 300 < len(result.probes) <= 400  # what `where` excludes while climbing counts as well


@pytest.mark.evidence
def test_it_says_the_same_twice_and_another_seed_says_other_things() -> None:
    first, again, other = (hunted(statement(DAMAGE["small n"]), seed=seed) for seed in (5, 5, 6))
    assert first.probes == again.probes
    assert (first.point, first.gap, first.frontier) == (again.point, again.gap, again.frontier)
    assert first.probes[0] != other.probes[0]


@pytest.mark.system
def test_it_goes_on_from_its_file(tmp_path) -> None:
    calls = []

    def truth(s, sigma, n, side):
        calls.append(1)
        return G(abs(s) / sigma)

    file = tmp_path / "probes.jsonl"
    whole = hunted(statement(truth=truth), "300 probes")
    hunted(statement(truth=truth), "100 probes", checkpoint=file)
    with file.open("a") as damaged:
        damaged.write('{"at": {"s": 1')  # a killed run
    before = len(calls)
    resumed = hunted(statement(truth=truth), "300 probes", checkpoint=file)
    built = len(calls) - before
    assert resumed.probes == whole.probes
    assert built < 260
    records = [json.loads(line) for line in file.read_text().splitlines()]
    assert records[0]["statement"] == "gaussian"
    with pytest.raises(ValueError, match="belongs to another statement, kind, domain or seed"):
        hunted(statement(), checkpoint=file, seed=1)
    for damage in (b"no\n", b"[]\n", b"{}\n" + b'{"at": 3}\n', b"\xff\n", b"[" * 100_000 + b"\n"):
        file.write_bytes(damage)
        with pytest.raises(ValueError, match=r"checkpoint .*probes\.jsonl is damaged"):
            hunted(statement(), checkpoint=file)


def test_a_single_hunt_writes_a_file_and_none_waits_for_a_pipe(tmp_path) -> None:
    file = tmp_path / "probes.jsonl"
    hunted(statement(), "100 probes", checkpoint=file)
    with (
        locked(tmp_path / ".probes.jsonl.hunt"),
        pytest.raises(ValueError, match="is written by another hunt"),
    ):
        hunted(statement(), "100 probes", checkpoint=file)
    hunted(statement(), "100 probes", checkpoint=file)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="is no regular file"):
        hunted(statement(), checkpoint=tmp_path / "pipe")


EXCESS = 1.05


def raised(mu):
    return G(mu * EXCESS)


CHANGED = {
    "truth": lambda: {"truth": lambda s, sigma: G(abs(s) / sigma * 1.01)},
    "claimed": lambda: {"claimed": lambda s, sigma: G(1.01 * abs(s) / sigma)},
    "where": lambda: {"where": lambda s: s > 0.0},
    "kind": lambda: {"kind": rf.Equality()},
    "a function that it names": lambda: {"claimed": lambda s, sigma: raised(abs(s) / sigma)},
}


@pytest.mark.evidence
@pytest.mark.parametrize("what", CHANGED)
def test_probes_of_another_definition_are_not_gone_on_with(tmp_path, what, monkeypatch) -> None:
    file = tmp_path / "probes.jsonl"
    before = {} if "names" not in what else CHANGED[what]()
    hunted(statement(**before), "40 probes", checkpoint=file)
    text = file.read_text()
    same = hunted(statement(says="In other words.", points=(), **before), "40 probes", checkpoint=file)
    assert (file.read_text(), len(same.probes)) == (text, 40)
    monkeypatch.setitem(globals(), "EXCESS", 1.06)
    with pytest.raises(
        ValueError,
        match=r"(keeps probes of gaussian as it was defined before: .*; delete it|belongs to another)",
    ):
        hunted(statement(**CHANGED[what]()), checkpoint=file)
    assert file.read_text() == text


def test_what_an_earlier_run_took_is_part_of_the_budget(tmp_path) -> None:
    calls, file = [], tmp_path / "probes.jsonl"

    def truth(s, sigma):
        calls.append(1)
        return G(abs(s) / sigma)

    first = hunted(statement(truth=truth), "60 probes", checkpoint=file)
    header, *lines = [json.loads(line) for line in file.read_text().splitlines()]
    slow = [header, *(line | {"seconds": 1e6} for line in lines)]
    file.write_text("".join(json.dumps(line) + "\n" for line in slow))
    calls.clear()
    again = hunted(statement(truth=truth), "10m", checkpoint=file)
    # Two calls say whether the truth repeats, six whether the stored probes come out the same. Its time is used up: no other probe is
    # made again, none is lost, and the same points are judged.
    assert len(calls) - 8 == len(again.judged) == len(first.judged)
    assert {repr(item.at) for item in again.probes} == {repr(single.at) for single in first.probes}
    assert again.seconds >= 1e6 * len(lines)


def test_a_probe_that_takes_longer_than_the_budget_is_made_and_reported() -> None:
    def truth(s, sigma):
        time.sleep(0.2)
        return G(abs(s) / sigma)

    result = hunted(statement(truth=truth), "0.1s")
    assert len(result.probes) == len(result.judged) == 1
    assert re.search(r"; a probe took \S+ s, more than the whole budget$", result.how)
    assert len(hunted(statement(), "0.000001s").probes) == 1


def test_probes_that_fail_are_recorded_and_stop_nothing() -> None:
    def truth(s, sigma, n, side):
        if side == "add":
            raise ArithmeticError("no such side")
        return math.nan if side == "replace" else G(abs(s) / sigma * (1.05 if n < 3 else 1.0))

    result = hunted(statement(truth=truth))
    assert str(result.verdict) == "REFUTED"
    assert {failure.at["side"] for failure in result.failures} == {
        "add"
    }  # a truth that is NaN is INCONCLUSIVE
    assert "ArithmeticError: no such side" in {failure.error for failure in result.failures}
    assert f"{len(result.failures)} points, the first at" in str(result)
    always = hunted(statement(truth=lambda: 1 / 0), "50 probes")
    assert str(always.verdict) == "INCONCLUSIVE"
    assert always.point is None
    assert len(always.failures) == 50
    where = hunted(statement(where=lambda s: 1 / 0), "20 probes")
    assert "where: ZeroDivisionError" in where.failures[0].error


def test_a_limit_is_hunted_without_what_grows() -> None:
    def truth(s, sigma, n, side):
        return 1.0 + abs(s) * n**-0.5 + (0.05 if side == "remove" else 0.0)

    def stronger(side):
        return rf.Ceiling(1.05, below=True, source="its formula") if side == "remove" else None

    for kind, verdict in ((rf.Limit("n"), "INCONCLUSIVE"), (rf.Limit("n", ceiling=stronger), "REFUTED")):
        result = hunted(statement(kind=kind, claimed=lambda: 1.0, truth=truth), "40 probes")
        assert str(result.verdict) == verdict  # without a theorem none is refuted
        assert "n" not in result.probes[0].at
    assert result.point["side"] == "remove"


@pytest.mark.evidence
def test_games_are_judged_afresh() -> None:
    def pair(excess: float):
        return lambda mu: (
            lambda generator, games: generator.standard_normal(games),
            lambda generator, games: (1 + excess) * mu + generator.standard_normal(games),
        )

    def exceeded(excess: float):
        return rf.Statement(
            name="sampler", says="mu-GDP", source="here", kind=rf.Bound(), domain={"mu": rf.Real(0.5, 2.0)},
            claimed=lambda mu: G(mu), truth=pair(excess),
        )  # fmt: skip

    wrong = hunted(exceeded(0.4), "12 probes", games=20_000)
    assert str(wrong.verdict) == "REFUTED"
    assert wrong.worst.random
    again = rf.judge(exceeded(0.4), at=wrong.point, games=20_000)
    assert (str(again.verdict), again.gap) == ("REFUTED", wrong.gap)  # the same games
    right = hunted(exceeded(0.0), "12 probes", games=20_000)
    assert str(right.verdict) == "INCONCLUSIVE"  # games cannot confirm a bound without tolerance


def test_ctrl_c_keeps_counterexamples() -> None:
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("only the main thread is interrupted")
    calls = []

    def truth(s, sigma, n, side):
        calls.append(1)
        if len(calls) == 100:
            os.kill(os.getpid(), signal.SIGINT)
        return G(abs(s) / sigma * (1.05 if side == "remove" else 1.0))

    result = hunted(statement(truth=truth), "10m")
    assert result.interrupted
    assert 90 <= len(result.probes) <= 1000
    assert str(result.verdict) == "REFUTED"


def test_ctrl_c_before_the_first_probe_decides_nothing() -> None:
    def truth(s):
        raise KeyboardInterrupt

    result = hunted(statement(truth=truth))
    assert (result.interrupted, result.probes, result.worst, str(result.verdict)) == (
        True,
        (),
        None,
        "INCONCLUSIVE",
    )


def test_a_finite_domain_is_searched_whole() -> None:
    small = rf.Statement(
        name="small", says="x y <= 12", source="here", kind=rf.Bound(),
        domain={"x": rf.Whole(1, 4), "y": rf.Whole(1, 4)}, claimed=lambda: 15.0, truth=lambda x, y: x * y,
    )  # fmt: skip
    result = hunted(small, "10m")
    assert len({tuple(probe.at.values()) for probe in result.probes}) == 16
    assert result.point == {"x": 4, "y": 4}


def _laplace(name: str, too_small: float) -> rf.Statement:
    """Laplace noise for epsilon; in a hole of the domain its scale is multiplied by `too_small`."""

    def played(epsilon: float) -> Any:
        scale = (too_small if 0.7 < epsilon < 1.0 else 1.0) / epsilon
        return lambda g, n: g.laplace(0.0, scale, n), lambda g, n: 1.0 + g.laplace(0.0, scale, n)

    return rf.Statement(
        name=name,
        says="Laplace noise of scale 1/epsilon hides a record of sensitivity 1.",
        source="a test",
        kind=rf.Bound(),
        domain={"epsilon": rf.Real(0.1, 2.0)},
        claimed=lambda epsilon: mi.ApproxDPTradeOff(epsilon, 0.0),
        truth=played,
    )


@pytest.mark.parametrize(
    ("too_small", "games"),
    [pytest.param(0.5, 20_000, marks=pytest.mark.evidence), pytest.param(0.05, 20_000, marks=pytest.mark.slow), (1e-6, 2_000)],
)  # fmt: skip
def test_a_hole_is_detected_however_little_noise_is_left(too_small, games):
    outcome = rf.hunt(_laplace("hole", too_small), "80 probes", games=games, progress=False)
    assert outcome.verdict is rf.Verdict.REFUTED
    assert 0.7 < outcome.point["epsilon"] < 1.0  # pyright: ignore[reportOptionalSubscript]
    assert outcome.frontier["epsilon"] == pytest.approx({"low": 0.7, "high": 1.0}, abs=0.05)


@pytest.mark.evidence
def test_noise_of_the_probes_does_not_break_a_true_claim():
    # Fewer than 1 of 100 probes by chance: 6 and more of 50 have probability below 2e-5.
    outcome = rf.hunt(_laplace("true", 1.0), "100 probes", progress=False)
    assert outcome.verdict is not rf.Verdict.REFUTED
    stand, total = outcome.spread
    assert total - stand <= 5
    assert "is estimated to fail at" in str(outcome)


def test_a_hunt_of_which_every_probe_fails_alike_ends_early():
    def broken(**at: Any) -> Any:
        raise NameError("name 'jnp' is not defined")

    outcome = rf.hunt(replace(statement(), truth=broken), "20s", progress=False)
    assert outcome.verdict is rf.Verdict.INCONCLUSIVE
    assert len(outcome.failures) == hunting.HOPELESS
    assert "NameError: name 'jnp' is not defined" in str(outcome)
