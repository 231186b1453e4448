"""The register of tools: its judge can refute and confirm, its page shows what is stored, its programs show what they say."""

import ast
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binom

from verify.command import main
from verify.tools.estimators import CONTROLS, MIPSIM, WRONG_USES
from verify.tools.trial import Enclosed, Simulated, Trial, installed, judge
from verify.tools.trials import PROGRAMS, TRIALS, quotes, read_rows, table

RUNS = 300
"""Enough for the controls: the valid bound is wrong in 1%, the other in 90% of its uses."""


def quick(trial: Trial, runs: int = RUNS) -> Trial:
    assert isinstance(trial.evidence, Simulated)
    return replace(trial, evidence=replace(trial.evidence, runs=runs))


def test_a_valid_bound_is_confirmed_and_a_bound_5_percent_higher_is_refuted() -> None:
    rows = judge([quick(trial) for trial in CONTROLS])
    assert [row.verdict for row in rows] == ["CONFIRMED", "REFUTED"]


def _slow(trial: Trial) -> Any:
    """Calibrated bounds take a tenth of a second each."""
    slow = trial.name.endswith(("independent", "clustered", "high", "-runs"))
    return pytest.param(trial, id=trial.name, marks=[pytest.mark.evidence] if slow else [])


@pytest.mark.parametrize("trial", [_slow(trial) for trial in (*MIPSIM, *WRONG_USES)])
def test_each_design_of_an_audit_holds_and_its_wrong_use_is_refuted(trial: Trial) -> None:
    """Counts of 40 uses are within the quantiles of 1e-9 of the stored rate's interval; all 19 leave them with 4e-8 together."""
    (row,), (earlier,) = (
        judge([quick(trial, 40)]),
        [row for row in read_rows() if row.trial.name == trial.name],
    )
    assert (earlier.verdict == "REFUTED") == trial.planted
    for now, then in zip(row.outcomes, earlier.outcomes, strict=True):
        low, high = then.rate
        assert binom.ppf(1e-9, 40, low) <= now.wrong <= binom.isf(1e-9, 40, high)
    if not trial.planted:
        assert isinstance(trial.evidence, Simulated)
        assert all(item.runs == trial.evidence.runs >= 2000 for item in earlier.outcomes)


def test_an_estimate_that_promises_nothing_has_no_verdict() -> None:
    (trial,) = (trial for trial in TRIALS if not trial.promises)
    (row,) = judge([quick(trial, 20)])
    assert (row.verdict, row.outcomes[0].runs) == ("", 20)
    assert judge([quick(replace(trial, promises=True))])[0].verdict == "REFUTED"


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
    evidence = Enclosed({"single": (lambda: 2.0 * share, lambda: (1.99999, 2.00001))}, side)
    trial = Trial(name="x", tool="x", package="", call="", claim="", place="", evidence=evidence)
    assert judge([trial])[0].verdict == verdict


def test_a_missing_package_is_reported_and_not_judged() -> None:
    evidence = Enclosed({"single": (lambda: pytest.fail("called"), lambda: (1.0, 1.0))})
    trial = Trial(
        name="x", tool="x", package="no-such-package==1.*", call="", claim="", place="", evidence=evidence
    )
    (row,) = judge([trial])
    assert (row.verdict, row.skipped) == ("", "no-such-package is not installed")


def test_the_page_shows_what_is_stored() -> None:
    page = (Path(__file__).parents[2] / "docs" / "tools.md").read_text(encoding="utf-8")
    assert table(read_rows()) in page
    assert quotes(TRIALS) in page
    verdicts = [row.verdict for row in read_rows() if not row.trial.planted]
    assert all(
        f"{verdicts.count(name)} are {name or 'not judged'}" in page.replace(" is ", " are ")
        for name in ("CONFIRMED", "REFUTED", "INCONCLUSIVE", "")
    )


def test_the_stored_rows_are_of_the_register() -> None:
    assert tuple(row.trial for row in read_rows()) == TRIALS
    for row in read_rows():
        assert [item.case for item in row.outcomes] == list(row.trial.evidence.cases)
    tried = [trial for trial in TRIALS if not trial.planted]
    assert len(tried) >= 25
    assert len({trial.tool for trial in tried}) >= 12


def test_each_refutation_has_a_program_and_each_program_a_refutation() -> None:
    refuted = {row.trial.name for row in read_rows() if row.verdict == "REFUTED" and not row.trial.planted}
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
    "trial", [t for t in TRIALS if isinstance(t.evidence, Enclosed)], ids=lambda t: t.name
)
@pytest.mark.filterwarnings("ignore")
def test_an_accountant_has_its_stored_verdict(trial) -> None:
    (row,) = judge([trial])
    if row.skipped:
        pytest.skip(row.skipped)
    assert row.verdict == next(item.verdict for item in read_rows() if item.trial == trial)


def test_the_command_prints_and_stores_the_rows(capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("verify.tools.trials.TRIALS", [quick(trial) for trial in CONTROLS])
    path = tmp_path / "rows.json"
    assert main(["--suite", "tools", "--json", str(path)]) == 0
    assert "control-5-percent-too-high        REFUTED" in capsys.readouterr().out
    assert [row["verdict"] for row in json.loads(path.read_text())["rows"]] == ["CONFIRMED", "REFUTED"]
