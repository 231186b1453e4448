"""The register of tools: its judge can refute and confirm, its page shows what is stored, its programs show what they say."""

import ast
import json
import re
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from scipy.stats import binom

from verify.command import main
from verify.tools.estimators import CONTROLS, MIPSIM, WRONG_USES
from verify.tools.trial import ALPHA, TOLERANCE, Trial, installed, judge
from verify.tools.trials import PAGE, PROGRAMS, TRIALS, line, lines_of, quotes

LINES = lines_of(PAGE.read_text("utf-8"))
VERDICTS = {name: re.split(r" \| ", text)[2] for name, text in LINES.items()}
RUNS = 300
"""Enough for the controls: the valid bound is wrong in 1%, the other in 90% of its uses."""


def test_a_valid_bound_is_confirmed_and_a_bound_5_percent_higher_is_refuted() -> None:
    rows = judge([replace(trial, runs=RUNS) for trial in CONTROLS])
    assert [row.verdict for row in rows] == ["CONFIRMED", "REFUTED"]


def _slow(trial: Trial) -> Any:
    """Calibrated bounds take a tenth of a second each."""
    slow = trial.name.endswith(("independent", "clustered", "high", "-runs"))
    return pytest.param(trial, 20 if slow else 40, id=trial.name, marks=[pytest.mark.evidence] * slow)


@pytest.mark.parametrize(("trial", "uses"), [_slow(trial) for trial in (*MIPSIM, *WRONG_USES)])
def test_each_design_of_an_audit_holds_and_its_wrong_use_is_refuted(trial: Trial, uses: int) -> None:
    """Counts of 40 uses, or 20, are within the quantiles of 1e-9 of the rates that the page shows; all 19 leave them with 4e-8 together."""
    (row,) = judge([replace(trial, runs=uses)])
    low, high = map(float, re.findall(r"rate in \[(.*?), (.*?)\]", LINES[trial.name])[0])
    for now in row.outcomes:
        least, most = (low, high) if trial.planted else (0.0, ALPHA + TOLERANCE)
        assert binom.ppf(1e-9, uses, least) <= now.wrong <= binom.isf(1e-9, uses, most)
    assert VERDICTS[trial.name] == ("REFUTED" if trial.planted else "CONFIRMED")
    assert trial.planted or trial.runs >= 2000


def test_an_estimate_that_promises_nothing_has_no_verdict() -> None:
    (trial,) = (trial for trial in TRIALS if not trial.promises)
    (row,) = judge([replace(trial, runs=20)])
    assert (row.verdict, row.outcomes[0].runs) == ("", 20)
    assert judge([replace(trial, runs=RUNS, promises=True)])[0].verdict == "REFUTED"


@pytest.mark.parametrize(
    ("side", "share", "verdict"),
    [
        ("upper", 1.0, "CONFIRMED"),
        ("upper", 0.97, "REFUTED"),
        ("lower", 1.0, "CONFIRMED"),
        ("lower", 1.03, "REFUTED"),
    ],
)
def test_a_number_3_percent_beyond_the_truth_is_refuted(side, share, verdict) -> None:
    trial = Trial("x", "", "", "", {"single": lambda _: (2.0 * share, 1.99999, 2.00001)}, side)
    assert judge([trial])[0].verdict == verdict


def test_a_missing_package_is_reported_and_not_judged() -> None:
    (row,) = judge(
        [
            Trial(
                "x",
                "",
                "",
                "",
                {"single": lambda _: pytest.fail("called")},
                "upper",
                package="no-such-package==1.*",
            )
        ]
    )
    assert (row.verdict, row.skipped) == ("", "no-such-package is not installed")


def test_the_page_shows_the_register() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert quotes(TRIALS) in page
    assert list(LINES) == [trial.name for trial in TRIALS]
    verdicts = [VERDICTS[trial.name] for trial in TRIALS if not trial.planted]
    assert all(
        f"{verdicts.count(name)} are {name}" in page.replace(" is ", " are ")
        for name in ("CONFIRMED", "REFUTED", "INCONCLUSIVE", "not judged")
    )
    for trial in TRIALS:
        assert f"`{trial.name}`: ``{trial.call}``" in LINES[trial.name]
        assert VERDICTS[trial.name] == "not judged" or any(
            f"`{case}`" in LINES[trial.name] for case in trial.cases
        )
    tried = [trial for trial in TRIALS if not trial.planted]
    assert len(tried) >= 25
    assert len({trial.tool for trial in tried}) >= 12


def test_each_refutation_has_a_program_and_each_program_a_refutation() -> None:
    refuted = {item.name for item in TRIALS if VERDICTS[item.name] == "REFUTED" and not item.planted}
    assert refuted == {path.stem.replace("_", "-") for path in PROGRAMS.glob("*.py")}


@pytest.mark.parametrize("path", sorted(PROGRAMS.glob("*.py")), ids=lambda path: path.stem)
def test_a_program_is_short_asserts_and_needs_no_mipsim(path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    names = {
        word for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)
        for word in ([item.name for item in node.names] if isinstance(node, ast.Import) else [node.module or ""])
    }  # fmt: skip
    assert ast.get_docstring(tree)
    assert any(isinstance(node, ast.Assert) for node in ast.walk(tree))
    assert len(text.splitlines()) <= 45
    assert not {name.partition(".")[0] for name in names} & {"mipsim", "verify", "sims", "figures"}


@pytest.mark.evidence
@pytest.mark.parametrize("path", sorted(PROGRAMS.glob("*.py")), ids=lambda path: path.stem)
def test_a_program_shows_the_refutation(path) -> None:
    (trial,) = (trial for trial in TRIALS if trial.name == path.stem.replace("_", "-"))
    if missing := installed(trial.package)[1]:
        pytest.skip(missing)
    done = subprocess.run([sys.executable, "-I", str(path)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.evidence
@pytest.mark.parametrize(
    "trial", [trial for trial in TRIALS if trial.runs == 1], ids=lambda trial: trial.name
)
@pytest.mark.filterwarnings("ignore")
def test_an_accountant_has_the_line_of_the_page(trial) -> None:
    (row,) = judge([trial])
    if row.skipped:
        pytest.skip(row.skipped)
    assert line(row) == LINES[trial.name]


def test_the_command_prints_and_stores_the_rows(capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("verify.tools.trials.TRIALS", [replace(trial, runs=RUNS) for trial in CONTROLS])
    path = tmp_path / "rows.json"
    assert main(["--suite", "tools", "--json", str(path)]) == 0
    assert "control-5-percent-too-high        REFUTED" in capsys.readouterr().out
    assert [row["verdict"] for row in json.loads(path.read_text())] == ["CONFIRMED", "REFUTED"]
