"""The command: its arguments, its exit status, what it prints, and an interruption."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from verify.command import main

ROOT = Path(__file__).parents[2]


def test_all_judged(sound, tmp_path, capsys):
    assert main(["--scale", "quick", "--out", str(tmp_path)], sound) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:-1]] == ["claim", *sound]
    assert lines[-1] == (
        "Judged 4 claims: 3 printed statements (1 CONFIRMED, 1 REFUTED: no class, 1 INCONCLUSIVE); 1 correction "
        "(1 CONFIRMED). Family-wise failure probability 0.001 over "
        f"all 6 regimes of the register that play games. Report: {tmp_path / 'index.html'}"
    )
    assert len(json.loads((tmp_path / "verdicts.json").read_text("utf-8"))) == 4
    assert (tmp_path / "index.html").exists()


def test_the_share_does_not_depend_on_the_selection(sound, tmp_path):
    main(["--out", str(tmp_path / "all")], sound)
    main(["false-1", "--out", str(tmp_path / "one")], sound)
    every = json.loads((tmp_path / "all/verdicts.json").read_text("utf-8"))
    (one,) = json.loads((tmp_path / "one/verdicts.json").read_text("utf-8"))
    other = every[1]
    for record in (one, other):
        record["seconds"] = record["counterexample"]["seconds"] = 0
        for regime in record["regimes"]:
            regime["seconds"] = 0
    assert one == other


def test_confidence_scale_and_seed_reach_the_report(sound, tmp_path):
    main(["true-1", "--scale", "full", "--confidence", "0.94", "--seed", "3", "--out", str(tmp_path)], sound)
    (record,) = json.loads((tmp_path / "verdicts.json").read_text("utf-8"))
    assert record["failure_probability"] == pytest.approx(0.01)
    assert record["regimes"][0]["games"] == 100_000
    assert "full, seed 3" in (tmp_path / "index.html").read_text("utf-8")


def test_globs_keep_the_order_of_the_register(sound, tmp_path):
    assert main(["false*", "true-1", "false-1", "--out", str(tmp_path)], sound) == 0
    records = json.loads((tmp_path / "verdicts.json").read_text("utf-8"))
    assert [record["claim"] for record in records] == ["true-1", "false-1", "false-1-corrected"]


def test_a_failing_judge_exits_1(broken, tmp_path, capsys):
    assert main(["--out", str(tmp_path)], broken) == 1
    out = capsys.readouterr().out
    assert "1 not judged" in out
    assert "Not judged: broken-1, regime bad: RuntimeError: counts are truncated" in out
    assert len(json.loads((tmp_path / "verdicts.json").read_text("utf-8"))) == 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--confidence", "1"], "--confidence is 1; it must be a number in (0, 1)"),
        (["--confidence", "0"], "--confidence is 0; it must be a number in (0, 1)"),
        (["--confidence", "nan"], "--confidence is nan; it must be a number in (0, 1)"),
        (["--confidence", "high"], "--confidence is high; it must be a number in (0, 1)"),
        (["--seed", "1.5"], "--seed is 1.5; it must be a whole number"),
        (
            ["flase-1"],
            "CLAIM is 'flase-1'; it must match a claim of the register (see --list); close names: false-1",
        ),
        (["corrected"], "close names: false-1-corrected"),
        (["zzz*"], "CLAIM is 'zzz*'; it must match a claim of the register (see --list)\n"),
        (["--regime", "a"], "--regime is 'a' for 4 claims; it must go with exactly one CLAIM"),
        (
            ["false-1", "--regime", "large gab"],
            "--regime is 'large gab'; it must match a regime of false-1; close names: large gap",
        ),
    ],
)
def test_bad_arguments_exit_2_with_one_sentence(sound, tmp_path, capsys, arguments, message):
    assert main([*arguments, "--out", str(tmp_path / "out")], sound) == 2
    error = capsys.readouterr().err
    assert error.startswith("python -m verify: ")
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_argparse_errors_exit_2(sound, capsys):
    assert main(["--scale", "huge"], sound) == 2
    assert "invalid choice: 'huge'" in capsys.readouterr().err
    assert main(["--help"], sound) == 0


def test_an_unwritable_out_is_found_before_any_work(make_claim, tmp_path, capsys):
    from verify.claim import Budget, Regime, RegimeResult

    def never(budget: Budget) -> RegimeResult:
        pytest.fail("the judge was called")

    (tmp_path / "file").write_text("")
    register = {"c": make_claim("c", Regime("r", {}, never))}
    assert main(["--out", str(tmp_path / "file")], register) == 2
    assert "it must be a folder that can be written" in capsys.readouterr().err


def test_list_judges_nothing(broken, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(["--list"], broken) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(broken)
    assert main(["false*", "--list"], broken) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert list(tmp_path.iterdir()) == []


def test_a_replay_judges_one_regime_as_before_and_writes_nothing(sound, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    main(["false-1", "--seed", "4", "--out", str(tmp_path / "all")], sound)
    (whole,) = json.loads((tmp_path / "all/verdicts.json").read_text("utf-8"))
    capsys.readouterr()
    assert main(["false-1", "--regime", "large gap", "--seed", "4"], sound) == 0
    assert "false-1, regime large gap: REFUTED. games: sufficient" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["all"]
    main(["false-1", "--regime", "large gap", "--seed", "4", "--out", "replay"], sound)
    (again,) = json.loads((tmp_path / "replay/verdicts.json").read_text("utf-8"))
    (regime,) = again["regimes"]
    first = next(r for r in whole["regimes"] if r["name"] == "large gap")
    assert regime | {"seconds": 0} == first | {"seconds": 0}
    assert again["failure_probability"] == pytest.approx(whole["failure_probability"] / 3)


def test_the_live_table_holds_every_claim(sound, tmp_path, monkeypatch):
    from io import StringIO

    from rich.console import Console

    from verify.side_by_side import judge_all
    from verify.table import VerdictTable

    for width in (60, 80, 140):
        console = Console(file=StringIO(), force_terminal=True, width=width, height=12)
        with VerdictTable(console, len(sound)) as table:
            for result in judge_all(list(sound.values()), "quick", 1e-4, on_regime=table.start):
                table.add(result)
        assert isinstance(console.file, StringIO)
        shown = console.file.getvalue()
        for word in (*sound, "CONFIRMED", "REFUTED", "INCONCLUSIVE", "detectable" if width == 140 else "gap"):
            assert word in shown
        assert "…" not in shown


SLOW = """
import sys, time
sys.path.insert(0, {tests!r})
from conftest import claim, regime
from verify.claim import Regime, Verdict
from verify.command import main

def slow(budget):
    print("SLOW", flush=True)
    time.sleep(60)

first = claim("first", regime("a", Verdict.CONFIRMED))
second = claim("second", regime("a", Verdict.REFUTED), Regime("slow", {{}}, slow))
third = claim("third", Regime("slow", {{}}, slow))
register = {{c.id: c for c in {claims}}}
sys.exit(main(["--out", sys.argv[1]], register))
"""


@pytest.mark.parametrize(("claims", "kept"), [("(first, second, third)", 1), ("(second, third)", 0)])
def test_ctrl_c_keeps_what_was_finished(tmp_path, claims, kept):
    script = tmp_path / "run.py"
    script.write_text(SLOW.format(tests=str(Path(__file__).parent), claims=claims))
    process = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path / "out")],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith("SLOW"):
            break
    else:
        pytest.fail(f"the slow claim was not reached: {lines} {process.stderr and process.stderr.read()}")
    time.sleep(0.5)  # the other thread, if any, has long put its instant claim
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    total = kept + 2
    said = [line for line in out.splitlines() if line.startswith("Interrupted")]
    tally = ": 1 printed statement (1 CONFIRMED)" if kept else ""
    page = tmp_path / "out/index.html"
    assert said == [f"Interrupted: {kept} of {total} claims finished and kept{tally}. Report: {page}"]
    records = json.loads((tmp_path / "out/verdicts.json").read_text("utf-8"))
    assert [record["claim"] for record in records] == ["first"][:kept]
    text = page.read_text("utf-8")
    assert f"The run was interrupted: {kept} of {total} claims finished" in text
    assert "</html>" in text
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "FINDINGS.md",
        "index.html",
        "verdicts.json",
    ]


def test_python_dash_m_verify_answers():
    done = subprocess.run(
        [sys.executable, "-m", "verify", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "--confidence C" in done.stdout
