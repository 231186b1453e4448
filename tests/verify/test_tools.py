"""The register of tools: its judge can refute and confirm, its page shows what is stored, its programs show what they say."""

import json
from dataclasses import replace

import pytest

from verify.command import main
from verify.tools.estimators import CONTROLS
from verify.tools.trial import Enclosed, Simulated, Trial, judge
from verify.tools.trials import TRIALS

RUNS = 300
"""Enough for the controls: the valid bound is wrong in 1%, the other in 90% of its uses."""


def quick(trial: Trial) -> Trial:
    assert isinstance(trial.evidence, Simulated)
    return replace(trial, evidence=replace(trial.evidence, runs=RUNS))


def test_a_valid_bound_is_confirmed_and_one_5_percent_higher_is_refuted() -> None:
    rows = judge([quick(trial) for trial in CONTROLS])
    assert [row.verdict for row in rows] == ["CONFIRMED", "REFUTED"]


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
    evidence = Enclosed({"one": (lambda: 2.0 * share, lambda: (1.99999, 2.00001))}, side)
    trial = Trial(name="x", tool="x", package="", call="", claim="", place="", evidence=evidence)
    assert judge([trial])[0].verdict == verdict


def test_nan_is_no_valid_bound() -> None:
    evidence = Enclosed({"one": (lambda: float("nan"), lambda: (1.0, 1.0))})
    trial = Trial(name="x", tool="x", package="", call="", claim="", place="", evidence=evidence)
    assert judge([trial])[0].verdict == "REFUTED"


def test_a_missing_package_is_said_and_not_judged() -> None:
    evidence = Enclosed({"one": (lambda: pytest.fail("called"), lambda: (1.0, 1.0))})
    trial = Trial(
        name="x", tool="x", package="no-such-package==1.*", call="", claim="", place="", evidence=evidence
    )
    (row,) = judge([trial])
    assert (row.verdict, row.skipped) == ("", "no-such-package is not installed")


def test_the_command_prints_and_stores_the_rows(capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("verify.tools.trials.TRIALS", [quick(trial) for trial in CONTROLS])
    path = tmp_path / "rows.json"
    assert main(["--suite", "tools", "--json", str(path)]) == 0
    assert "control-5-percent-too-high        REFUTED" in capsys.readouterr().out
    assert [row["verdict"] for row in json.loads(path.read_text())["rows"]] == ["CONFIRMED", "REFUTED"]


def test_names_are_unique() -> None:
    assert len({trial.name for trial in TRIALS}) == len(TRIALS)
