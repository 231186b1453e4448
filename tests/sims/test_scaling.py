"""`sims bench scaling`: that its slopes, its table and its picture say what was measured. How fast things are is no test."""

import json

import pytest

from sims.__main__ import main
from sims.bench import scaling
from sims.bench.scaling import Case, Cost


def model(case: Case, repeats: int) -> Cost:
    """A machine of the test's own: proportional to games and coordinates, the same for any number of records."""
    return Cost(case, 1e-9 * case.games * case.d / case.devices, 0.5, 1.5, 2**28 + 1000 * case.d)


@pytest.mark.evidence
def test_the_slopes_of_a_known_machine(monkeypatch, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(scaling, "cost_of", model)
    paths = ["--json", str(tmp_path / "c.json"), "--figure", str(tmp_path / "c.svg")]
    assert main(["bench", "scaling", *paths]) == 0
    text = capsys.readouterr().out
    for what, slope in (
        ("n", "+0.00, memory +0.00"),
        ("d", "+1.00"),
        ("games", "+1.00"),
        ("devices", "-1.00"),
    ):
        assert f"reference game, {what}   (slopes in logarithms: time {slope}" in text
    assert "10^9 reference games a world: 1.4 hours here, " in text  # 5e-6 s a game: 5,000 s
    rows = json.loads((tmp_path / "c.json").read_text())
    assert [Case(**row["case"]) for row in rows] == scaling.cases(quick=False)
    picture = (tmp_path / "c.svg").read_text()
    assert picture.startswith("<?xml")
    assert max(case.games for case in scaling.cases(quick=False) if case.fidelity == "projected") == 10**9


def test_a_picture_of_something_else_is_refused(capsys):
    assert main(["bench", "hunt", "--figure", "x.svg"]) == 2
    assert "--figure is given with hunt; it is plotted by `bench scaling` alone" in capsys.readouterr().err
