"""The lists that commands print, and the counts on pages."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from verify import counterexamples
from verify.register import REGISTER

CHECKOUT = Path(__file__).parents[2]
ASK = """
import runpy, sys
sys.argv = {argv!r}
try:
    runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)
except SystemExit as stop:
    print('status', stop.code or 0, file=sys.stderr)
"""


def output_of(*argv: str) -> tuple[list[str], list[str]]:
    """The lines on stdout and stderr; the last of these has the status."""
    done = subprocess.run(
        [sys.executable, "-c", ASK.format(argv=list(argv))], cwd=CHECKOUT, capture_output=True, text=True
    )
    return done.stdout.splitlines(), done.stderr.splitlines()


def test_the_tables_are_what_the_stored_results_give() -> None:
    stored = counterexamples.rows()
    assert set(stored) == {name for name, item in REGISTER.items() if item.fails}
    for path, text in counterexamples.texts(stored).items():
        assert path.read_text("utf-8") == text, "run `python -m verify.counterexamples`"


@pytest.mark.parametrize(
    ("column", "value", "changed"),
    [("true", "0.4321", {"findings.md"}), ("class", "wording", {"findings.md", "README.md"})],
)
def test_a_changed_result_changes_the_pages(
    column: str, value: str, changed: set[str], tmp_path: Path
) -> None:
    """The control: a verdict of another class, or a counterexample of another size, is seen wherever a page has it."""
    file = tmp_path / "rows.csv"
    file.write_text(counterexamples.STORED.read_text("utf-8"), "utf-8")
    entry = {"claim": "izzo-thm-8", "defect": "formula", "corrects": None, "counterexample": None}
    second = {
        "what": "TPR - FPR",
        "how": "by hand",
        "claim": 0.5,
        "value": 1.0,
        "low": 0.9,
        "high": "inf",
        "size": None,
        "one_sided": True,
    }
    second |= dict.fromkeys(("value", "low", "high"), float(value)) if column == "true" else {}
    entry |= {"defect": value} if column == "class" else {}
    at = REGISTER["izzo-thm-8"].points[0].at
    verdicts = [entry | {"simple_counterexample": {"second_route": second, "parameters": at}}]
    (tmp_path / "verdicts.json").write_text(json.dumps(verdicts), "utf-8")
    counterexamples.store(tmp_path, file)
    before, stored = counterexamples.rows(), counterexamples.rows(file)
    assert stored["izzo-thm-8"][column] == value
    assert len(stored) == len(before)
    least = second | {"what": "minus the loss", "claim": -0.5, "value": -1e-16, "low": -1e-9, "high": 1e-9}
    row = counterexamples.row_of(entry | {"simple_counterexample": {"second_route": least, "parameters": at}})
    assert row is not None
    assert [row[key] for key in ("what", "stated", "true")] == ["the loss", "at least 0.5", "0"]
    assert {
        path.name for path, text in counterexamples.texts(stored).items() if path.read_text("utf-8") != text
    } == changed
    (tmp_path / "verdicts.json").write_text(
        json.dumps([entry | {"corrects": "izzo-thm-8", "verdict": "INCONCLUSIVE"}]), "utf-8"
    )
    with pytest.raises(ValueError, match="is INCONCLUSIVE; it must be CONFIRMED"):
        counterexamples.store(tmp_path, file)


@pytest.mark.system
def test_every_statement_is_listed_with_its_kind_and_words() -> None:
    lines, text = output_of("verify", "--list")
    assert text[-1].startswith("status 0")
    assert [line.split()[0] for line in lines] == list(REGISTER)
    assert all(
        " ".join(item.says.split()) in line for item, line in zip(REGISTER.values(), lines, strict=True)
    )


def test_every_listed_point_has_all_parameters():
    """A recorded counterexample leaves out what does not matter there; the register restores it."""
    lacking = [
        (item.name, point.at)
        for item in REGISTER.values()
        for point in item.points
        if {*item.free} - {*point.at}
    ]
    assert not lacking
