"""The command: its arguments, its exit status, what it prints, and an interruption."""

import inspect
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from mipsim import referee as rf
from mipsim.referee.judging.decide import decide
from tests.verify.conftest import NASTY
from verify import session
from verify.command import main
from verify.statement import Statement

ROOT = Path(__file__).parents[2]


def records_of(folder: Path) -> list[dict]:
    return json.loads((folder / "verdicts.json").read_text("utf-8"))


def test_all_judged(sound, tmp_path, capsys):
    (earlier := tmp_path / "certificates" / "izzo-open.json").parent.mkdir()
    earlier.write_text("{}")  # of a run that decided
    assert main(["--scale", "quick", "--out", str(tmp_path)], sound) == 0
    _, *lines, total, risk, left = capsys.readouterr().out.splitlines()
    rows = [line.split()[0] for line in lines if not line[0].isdigit()]  # a slow run says how many are left
    assert sorted(rows) == sorted(["statement", *sound])
    assert total.startswith(
        "Judged 4 statements (2 CONFIRMED, 1 REFUTED: condition, 1 INCONCLUSIVE); 1 correction "
    )
    assert (
        f"probability 0.001 over all {5 + 5 * Statement.samples[-1]:,} points of the register at full scale"
        in risk
    )
    assert left.startswith("Left to --scale full: ")
    assert [record["claim"] for record in records_of(tmp_path)] == list(sound)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "FINDINGS.md",
        "certificates",
        "index.html",
        "verdicts.json",
    ]
    assert not earlier.exists()


@pytest.mark.system
def test_a_verdict_does_not_depend_on_the_selection(sound, tmp_path):
    main(["--out", str(tmp_path / "all"), "--scale", "quick"], sound)
    main(["azize-false", "--out", str(tmp_path / "first"), "--scale", "quick"], sound)
    (item,) = records_of(tmp_path / "first")
    other = records_of(tmp_path / "all")[1]
    for record in (item, other):
        record["seconds"] = 0
    assert item == other


def test_a_failing_statement_exits_1(broken, tmp_path, capsys):
    assert main(["--out", str(tmp_path), "--scale", "quick"], broken) == 1
    out = capsys.readouterr().out
    assert "1 not judged" in out
    assert "Not judged: kaissis-broken at {'x': 0.5" in out
    assert "RuntimeError: counts are truncated" in out
    assert records_of(tmp_path)[0]["verdict"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--confidence", "1"], "'--confidence': 1.0 is not in the range 0.5<=x<1.0"),
        (["--seed", "-1"], "'--seed': -1 is not in the range"),
        (["azize-flase"],
         "CLAIM is 'azize-flase'; it must be a statement of the register or a glob that some match (see --list); did you mean azize-false"),
        (["zzz*"], "CLAIM is 'zzz*'; it must be a statement of the register or a glob that some match (see --list)\n"),
        (["--at", "{}"], "--at is given for 5 statements; it must go with exactly 1 CLAIM"),
        (["azize-false", "--at", "x = 3"], "'--at': 'x = 3' is no JSON"),
        (["azize-false", "--at", '{"x": 0.1}'], "at has no value for law"),
        (["azize-false", "--at", '{"x": 7.0, "law": "Bernoulli"}'], "x is 7.0; azize-false allows [0, 0.8]"),
        (["--budget", "2m"], "--budget is given without --hunt"),
        (["--hunt", "--budget", "0s"], "budget is '0s'; it must be seconds > 0"),
        (["--show"], "--show is given without CLAIM"),
        (["--trace"], "--trace is given with more than 1 CLAIM or point"),
        (["azize-false", "--trace", "--json", "-"], "or beside --json, --out, --hunt or --show"),
        (["--hunt", "--json", "-"], "--hunt is given beside --at or --json"),
    ],
)  # fmt: skip
def test_bad_arguments_exit_2_with_a_single_sentence(sound, tmp_path, capsys, arguments, message):
    assert main([*arguments, "--out", str(tmp_path / "out")], sound) == 2
    error = capsys.readouterr().err
    assert error.startswith("python -m verify: ")
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_an_unwritable_out_is_reported_before_any_work(make, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    register = {"c": make("c", truth=lambda x: pytest.fail("it was judged"))}
    for arguments in (["--out", str(tmp_path / "file")], ["--json", str(tmp_path / "file" / "data.json")]):
        assert main(arguments, register) == 2
        assert "it must be a folder that can be written" in capsys.readouterr().err


def test_list_judges_nothing(broken, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(["--list"], broken) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(broken)
    assert main(["azize-false-corrected", "--list"], broken) == 0
    first, second, *parameters = capsys.readouterr().out.splitlines()
    assert first == "azize-false-corrected: For x at most 0.6."
    assert second.startswith("  theorem 1; bound")
    assert parameters[0] == "  x    [0, 0.6]"
    assert list(tmp_path.iterdir()) == []


def test_a_replay_judges_a_single_point_as_before_and_writes_nothing(sound, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    main(["azize-false", "--seed", "4", "--out", str(tmp_path / "all"), "--scale", "quick"], sound)
    (whole,) = records_of(tmp_path / "all")
    capsys.readouterr()
    at = {"x": 0.75, "law": whole["judged"][1]["parameters"]["law"]}
    assert main(["azize-false", "--at", json.dumps(at), "--seed", "4"], sound) == 0
    out = capsys.readouterr().out
    assert re.search(r"^azize-false +REFUTED +1 of 1 ", out, re.MULTILINE)
    assert "REFUTED. exact law. " in out
    assert [path.name for path in tmp_path.iterdir()] == ["all"]
    main(["azize-false", "--at", json.dumps(at), "--seed", "4", "--out", "replay"], sound)
    (again,) = records_of(tmp_path / "replay")
    assert again["judged"] == [whole["judged"][1]]


def test_data_alone_go_to_standard_output(sound, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(["azize-*", "--json", "-", "--scale", "quick"], sound) == 0
    out, err = capsys.readouterr()
    assert [record["claim"] for record in json.loads(out)] == [
        "azize-true",
        "azize-false",
        "azize-false-corrected",
    ]
    assert "Judged 2 statements" in err
    assert list(tmp_path.iterdir()) == []


def test_an_entry_is_shown_alone(sound, capsys):
    """As FINDINGS.md has it, with the verdict of the correction."""
    assert main(["--show", "azize-false", "azize-true", "--scale", "quick"], sound) == 0
    text = capsys.readouterr().out
    assert text.startswith("### azize-true: CONFIRMED, held at 5 points, not searched\n\nAs judged: ")
    assert "\n### azize-false: condition\n" in text
    assert "**Corrected** (`azize-false-corrected`, CONFIRMED, held at" in text


def test_the_lines_behind_a_verdict_are_those_that_ran_in_their_order(broken, capsys):
    at = json.dumps({"x": 0.7, "law": NASTY})  # results of points that were judged before are stored
    assert main(["azize-false", "--trace", "--at", at], broken) == 0
    title, *rows = capsys.readouterr().out.splitlines()
    lines = re.fullmatch(r"azize-false: REFUTED, by (\d+) lines of (\d+) functions", title)
    assert lines
    seen = [row.split(maxsplit=3) for row in rows]
    assert (sum(int(row[0]) for row in seen), len(seen)) == tuple(map(int, lines.groups()))
    names = [row[2] for row in seen]
    assert len({(file, name) for _, file, name, _ in seen}) == len(seen)
    walk = ["judge", "judge_points", "judge_point", "prepare", "judge_law", "gap_between", "decide"]
    assert [name for name in names if name in walk] == walk
    assert all(file.startswith(("mipsim/", "verify/")) for _, file, _, _ in seen)
    # A branch that did not run is left out.
    source = inspect.getsource(decide).splitlines()
    first = inspect.getsourcelines(decide)[1]
    returns = [first + k for k, line in enumerate(source) if line.strip().startswith("return")]
    places = next(row[3] for row in seen if row[2] == "decide")
    assert places == f"{first}-{returns[0]}"
    assert main(["kaissis-broken", "--trace"], broken) == 1


def test_a_hunt_keeps_its_probes_and_writes_a_report(sound, tmp_path, capsys):
    requested = ["azize-false*", "--hunt", "--budget", "64 probes", "--out", str(tmp_path / "out")]
    assert main(requested, sound) == 0
    assert "2 of 2 statements hunted, 1 broken. Report: " in capsys.readouterr().out
    folder = tmp_path / "out/hunts"
    assert sorted(path.name for path in folder.iterdir()) == [
        "azize-false-0.jsonl", "azize-false-corrected-0.jsonl", "index.html", "results.json",
    ]  # fmt: skip
    result = json.loads((folder / "results.json").read_text())
    assert result[0]["point"]["x"] > 0.6
    probes = sum(len(item["probes"]) for item in result)
    # What was hunted: its date, its revision and the probes.
    assert re.search(
        rf"\d{{4}}-\d\d-\d\d, revision [^<]+, {probes} probes<", (folder / "index.html").read_text("utf-8")
    )
    before = (folder / "azize-false-0.jsonl").read_text()
    assert main(requested, sound) == 0
    assert (
        folder / "azize-false-0.jsonl"
    ).read_text() == before  # it went on where it was: no probe was made again


SLOW = """
import signal, sys, time
# Ignored where `nohup` or a script's background runs the tests; then a command leaves it ignored.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, {tests!r})
from conftest import registered, statement
from verify.command import main

def slow(x):
    print("SLOW", flush=True)
    time.sleep(3600)  # longer than any machine takes to be interrupted

first, second, third = statement("first"), statement("second", truth=slow), statement("third", truth=slow)
sys.exit(main(["--out", sys.argv[1], "--scale", "quick"], registered({names})))
"""


@pytest.mark.system
@pytest.mark.parametrize(
    ("names", "kept", "kind"),
    [("first, second, third", 1, signal.SIGHUP), ("second, third", 0, signal.SIGINT)],
)
def test_ctrl_c_keeps_what_was_finished(tmp_path, names, kept, kind):
    """As other signals that end a command do."""
    script = tmp_path / "run.py"
    script.write_text(SLOW.format(tests=str(Path(__file__).parent), names=names))
    process = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path / "out")],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("SLOW"):
                break
        else:
            pytest.fail(
                f"the slow statement was not reached: {lines} {process.stderr and process.stderr.read()}"
            )
        give_up = time.monotonic() + 300
        while kept and not (tmp_path / "out/verdicts.json").exists():  # the instant statement
            assert process.poll() is None
            assert time.monotonic() < give_up
            time.sleep(0.02)
        process.send_signal(kind)
        out, err = process.communicate(timeout=300)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 128 + kind, err
    assert "Traceback" not in err
    total = kept + 2
    message = [line for line in out.splitlines() if line.startswith("Interrupted")]
    tally = ": 1 statement (1 CONFIRMED)" if kept else ""
    page = tmp_path / "out/index.html"
    assert message == [
        f"Interrupted: {kept} of {total} statements finished and stored{tally}. Report: {page}"
    ]
    assert [record["claim"] for record in records_of(tmp_path / "out")] == ["first"][:kept]
    text = page.read_text("utf-8")
    assert f"The run was interrupted: {kept} of {total} statements finished" in text
    assert "</html>" in text


def test_ctrl_c_in_a_hunt_keeps_its_counterexamples(sound, tmp_path, monkeypatch, capsys):
    def interrupted(statement: rf.Statement, *given, **more):
        outcome = rf.hunt(statement, "32 probes", progress=False)
        return replace(outcome, interrupted=True)

    monkeypatch.setattr(session, "hunt", interrupted)
    assert main(["--hunt", "--out", str(tmp_path)], sound) == 130
    assert "Interrupted: 1 of 5 statements hunted" in capsys.readouterr().out
    assert (tmp_path / "hunts/index.html").exists()
