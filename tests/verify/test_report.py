"""The report of a run: its data, its page, its findings."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from mipsim.referee.defect import correction_of
from mipsim.referee.reporting.wording import formula_is_quoted
from verify.judge import Setting, judge
from verify.register import REGISTER
from verify.report.findings import command_of, findings, standing
from verify.report.folder import ReportFolder

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SETTING = Setting("quick", 0.999, 7, 1e-6)
# fmt: off
KEYS = {
    "claim", "paper", "statement", "verdict", "defect", "readings", "corrected_by", "corrects", "point", "gap", "gap_is", "interval", "share", "extent",
    "frontier", "how", "confidence", "seed", "budget", "seconds", "interrupted", "replay", "judged", "probes", "failures", "findings",
    "counterexample", "simple_counterexample",
}
POINT_KEYS = {
    "name", "parameters", "reading", "route", "games", "seed", "verdict", "gap", "interval", "second_route",
    "smallest_tolerance", "detectable_gap", "games_to_decide", "detail", "unit", "tolerance", "setting", "sampled",
    "random", "gap_is", "headline", "up_to", "finding",
}
# fmt: on


@pytest.fixture(scope="module")
def written(broken, tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "deep" / "report"
    folder = ReportFolder(path, None, broken, SETTING, len(broken))
    for item in reversed(broken.values()):
        folder.add(judge(item, SETTING))
    folder.finish()
    return path / "index.html", folder.outcomes


@pytest.fixture
def data(written):
    text = written[0].with_name("verdicts.json").read_text("utf-8")
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_the_data_has_the_promised_keys(data, broken):
    assert [record["claim"] for record in data] == list(broken)
    for record in data:
        assert set(record) == KEYS | {"certificate"}
        assert record["verdict"] in ("CONFIRMED", "REFUTED", "INCONCLUSIVE", None)
        assert all(set(point) == POINT_KEYS for point in record["judged"])
    assert data[1]["statement"]["domain"]["x"]["high"] == 0.8


def test_the_data_of_a_refuted_statement(data, broken):
    record = next(item for item in data if item["claim"] == "azize-false")
    assert (record["paper"], record["defect"], record["verdict"]) == ("azize", "condition", "REFUTED")
    assert [point["verdict"] for point in record["judged"][:2]] == ["CONFIRMED", "REFUTED"]
    assert 0.5 < record["share"] < 1.0
    example = record["counterexample"]
    assert (example["name"], example["gap"]) == (
        "breaks",
        pytest.approx(0.15),
    )  # listed: a sampled point has a larger gap
    assert example["second_route"]["how"] == "by hand"
    assert example["second_route"]["claim"] == 0.6
    assert example["second_route"]["excludes"]
    assert example["command"].startswith("python -m verify azize-false --at '{")
    assert example["command"].endswith("--scale quick --confidence 0.999 --seed 7")
    assert (record["corrected_by"], record["corrects"]) == ("azize-false-corrected", None)


def test_a_finding_has_all_that_is_needed_to_check_it(written, broken):
    page, outcomes = written
    text = page.with_name("FINDINGS.md").read_text("utf-8")
    assert text == findings(outcomes, "quick")
    outcome = next(item for item in outcomes if item.statement.name == "azize-false")
    assert correction_of(outcome.statement, broken.values()) is broken["azize-false-corrected"]
    for message in (
        "### azize-false: condition",
        "> It holds &lt;script>",
        "(p. 4)",
        " evenly spread points of its domain.",
        "**Counterexample**: x: ",  # a symbol, as it is written
        " by the claim, ",
        "Second route: x: ",
        f"    {command_of(outcome, 'quick', outcome.worst)}",
        "**Corrected** (`azize-false-corrected`, CONFIRMED, held at 5 points, not searched): For x at most 0.6.",
        "    Because",
    ):
        assert message in text
    assert text.count("###") == 1  # what stands is no finding
    for way in (text, page.read_text("utf-8")):
        assert re.search(r"Of this, not judged here: .*&lt;script.*its tags are of no matter", way)


def test_a_correction_is_no_statement_of_the_paper(written):
    texts = {item.statement.name: standing(item) for item in written[1]}
    ours = {name for name, text in texts.items() if "No statement of the paper: a correction" in text}
    assert ours == {item.statement.name for item in written[1] if item.statement.corrects}
    assert "    Because" in texts["azize-false-corrected"]


def test_what_stands_says_over_what_it_was_judged(written):
    text = next(standing(item) for item in written[1] if item.statement.name == "azize-false-corrected")
    assert re.search(r"Judged over: .*`x`: .*0\.6\]", text)


@pytest.mark.parametrize(("name", "quoted"), [("izzo-thm-8", True), ("azize-gdp-guarantee", False)])
def test_a_formula_that_is_not_quoted_is_called_ours(name, quoted):
    statement = REGISTER[name]
    assert formula_is_quoted(statement) is quoted
    assert not formula_is_quoted(replace(statement, formula=rf"{statement.formula} < \omega"))


@pytest.mark.system
@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
def test_a_browser_narrows_the_page(written, tmp_path):
    """In a real browser: the table can be searched and narrowed, and the sections follow."""
    script = """
      const form = document.querySelector("form.narrow");
      const stated = [form.querySelector("output").textContent];
      const ask = (name, value) => { form.reset(); form.elements[name].value = value;
        form.elements[name].dispatchEvent(new Event("input")); stated.push(form.querySelector("output").textContent); };
      ask("verdict", "REFUTED"); ask("search", "no such words"); ask("search", "IZZO-CURVE");
      stated.push([...document.querySelectorAll("section")].filter(item => !item.hidden).map(item => item.id).join());
      document.querySelector("th button").click();
      stated.push(document.querySelector("th[aria-sort]").getAttribute("aria-sort"));
      document.title = JSON.stringify(stated);
    """
    message = json.loads(_titled(_with_script(written[0].read_text("utf-8"), script), tmp_path))
    assert message == ["6 of 6", "1 of 6", "0 of 6", "1 of 6", "izzo-curve", "ascending"]


def _with_script(text: str, script: str) -> str:
    """A page that allows a script more, with it."""
    known = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert "script-src &#39;" in text
    text = text.replace("script-src &#39;", f"script-src &#39;sha256-{known}&#39; &#39;", 1)
    return text.replace("</body>", f"<script>{script}</script></body>")


def _titled(text: str, folder: Path) -> str:
    """The title that a browser gives to a page."""
    page = folder / "requested.html"
    page.write_text(text, "utf-8")
    command = [
        BROWSER,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--virtual-time-budget=3000",
        "--dump-dom",
        page.as_uri(),
    ]
    dom = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    return unescape(re.findall("<title>(.*?)</title>", dom)[0])
