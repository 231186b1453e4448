"""The report: its data, its page, and that it is never half-written."""

import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from verify.claim import Verdict
from verify.judge import judge
from verify.report.folder import ReportFolder
from verify.report.record import Setting, claim_record, plain
from verify.side_by_side import judge_all

SETTING = Setting("quick", 0.999, 7)
# fmt: off
CLAIM_KEYS = {
    "claim", "paper", "statement", "kind", "verdict", "tolerance", "unit", "smallest_tolerance", "domain",
    "failure_probability", "detectable_gap", "regimes", "holds_on", "fails_on", "counterexample", "corrects",
    "corrected_by", "seconds", "defect", "quote", "restricted_by", "slip", "same_formula", "share", "readings", "gaps",
    "smallest_tolerances", "detectable_gaps",
}
REGIME_KEYS = {
    "name", "parameters", "reading", "route", "games", "seed", "verdict", "gap", "interval", "second_route",
    "smallest_tolerance", "detectable_gap", "games_to_decide", "detail", "seconds",
    "unit", "tolerance", "setting", "sampled", "exact",
}
# fmt: on
VOID = {"meta", "br", "link", "img", "input", "hr"}


class Reader(HTMLParser):
    """Checks that every element is closed in order; gathers attributes, and text but for style and script."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.text.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture
def written(broken, tmp_path):
    folder = ReportFolder(tmp_path / "deep" / "report", SETTING, regimes=8, claims=list(broken.values()))
    for result in judge_all(list(broken.values()), "quick", 1e-3 / 8, 7):
        folder.add(result)
    folder.finish()
    return folder


def test_the_data_has_the_promised_keys(written, broken):
    records = json.loads(written.verdicts.read_text("utf-8"))
    assert [record["claim"] for record in records] == list(broken)
    for record in records:
        assert set(record) == CLAIM_KEYS
        assert record["verdict"] in ("CONFIRMED", "REFUTED", "INCONCLUSIVE", None)
        assert record["regimes"]
        assert all(set(regime) == REGIME_KEYS for regime in record["regimes"])
        assert record["domain"]["n"] == {"low": 2, "high": "inf", "note": "whole"}
        assert record["domain"]["law"]["choices"] == ["Bernoulli", "Gaussian"]


def test_the_data_of_a_refuted_claim(written):
    record = next(r for r in json.loads(written.verdicts.read_text("utf-8")) if r["claim"] == "false-1")
    assert (record["holds_on"], record["fails_on"]) == (["holds"], ["small gap", "large gap"])
    example = record["counterexample"]
    assert set(example) == REGIME_KEYS | {"command"}
    assert example["name"] == "large gap"
    assert example["gap"] == -0.3
    assert example["interval"] == pytest.approx([-0.31, -0.29])
    assert example["parameters"]["shares"] == [0.5, 0.5]
    assert example["games"] == 10
    assert example["command"] == (
        "python -m verify false-1 --regime 'large gap' --scale quick --confidence 0.999 --seed 7"
    )
    assert (record["corrected_by"], record["corrects"]) == ("false-1-corrected", None)
    assert record["smallest_tolerance"] == pytest.approx(0.31)
    assert record["failure_probability"] == pytest.approx(3 * 1e-3 / 8)


def test_what_json_cannot_hold(written):
    text = written.verdicts.read_text("utf-8")
    records = {
        r["claim"]: r for r in json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    }
    (regime,) = records["open-1"]["regimes"]
    assert regime["gap"] is None
    assert regime["interval"] == ["-inf", "inf"]
    assert float(records["open-1"]["smallest_tolerance"]) == math.inf
    assert records["open-1"]["counterexample"] is None


def test_a_claim_that_could_not_be_judged(written):
    record = json.loads(written.verdicts.read_text("utf-8"))[0]
    assert record["claim"] == "broken-1"
    assert record["verdict"] is None
    assert record["smallest_tolerance"] == "inf"
    fine, bad = record["regimes"]
    assert fine["verdict"] == "CONFIRMED"
    assert bad["verdict"] is None
    assert bad["detail"].startswith("RuntimeError: counts are truncated")


def test_the_page_is_well_formed_and_stands_alone(written):
    page = written.page.read_text("utf-8")
    reader = read(page)
    ids = [value for _, name, value in reader.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    for tag, name, value in reader.attributes:
        if name in ("href", "src", "xlink:href"):
            assert value.startswith("#"), (tag, name, value)
            assert value[1:] in ids, (tag, name, value)
        assert not name.startswith("on")
    for target in re.findall(r"url\(([^)]*)\)", page):
        assert target.startswith("#")
        assert target[1:] in ids
    assert "@import" not in page
    assert "http://" not in page
    assert "https://" not in page


def test_the_page_names_every_claim_and_escapes_every_text(written, broken):
    page = written.page.read_text("utf-8")
    assert "<script>alert" not in page
    assert "<b>bold" not in page
    reader = read(page)
    assert reader.tags.count("script") == 1
    text = "".join(reader.text)
    for name, claim in broken.items():
        assert f'<section id="{name}"' in page
        assert claim.statement in text
    assert 'Because <script>alert("x")</script>' in text
    assert "counts are truncated <script>" in text
    assert "--regime 'large gap'" in text
    assert "family-wise failure probability" in text
    for word in (
        "CONFIRMED",
        "REFUTED",
        "INCONCLUSIVE",
        "not judged",
        "quick, seed 7",
        "123M games would decide",
    ):
        assert word in text or word == "123M games would decide"


def test_links_between_twins_and_none_to_what_is_not_there(written):
    page = written.page.read_text("utf-8")
    assert '<p>Corrected by <a href="#false-1-corrected">' in page
    assert '<p>Corrects <a href="#false-1">' in page
    assert "<p>Corrected by not-here.</p>" in page


def test_games_to_decide_are_said(make_claim, make_regime, tmp_path):
    claim = make_claim("c", make_regime("r", Verdict.INCONCLUSIVE))
    folder = ReportFolder(tmp_path, SETTING, regimes=1, claims=[claim])
    folder.add(judge(claim, "quick", 1e-3))
    assert "123M games would decide" in folder.page.read_text("utf-8")


def test_a_page_says_when_it_is_not_whole(broken, tmp_path):
    folder = ReportFolder(tmp_path, SETTING, regimes=8, claims=list(broken.values()))
    folder.add(judge(broken["true-1"], "quick", 1e-4))
    assert "1 of 5 claims finished" in folder.page.read_text("utf-8")
    assert len(json.loads(folder.verdicts.read_text("utf-8"))) == 1
    folder.finish(interrupted=True)
    assert "The run was interrupted: 1 of 5 claims finished" in folder.page.read_text("utf-8")


def test_a_report_without_claims_is_whole(tmp_path):
    folder = ReportFolder(tmp_path, SETTING, regimes=0, claims=[])
    folder.finish(interrupted=True)
    assert json.loads(folder.verdicts.read_text("utf-8")) == []
    read(folder.page.read_text("utf-8"))


def test_at_most_four_plots_and_the_counterexample_first(make_claim, make_regime, sound, tmp_path):
    evidence = judge(sound["true-1"], "quick", 1e-4).regimes[0].evidence
    regimes = [make_regime(f"r{i}", Verdict.CONFIRMED, 0.5 + i, evidence) for i in range(5)]
    regimes.append(make_regime("counter", Verdict.REFUTED, 0.1, evidence))
    claim = make_claim("c", *regimes)
    folder = ReportFolder(tmp_path, SETTING, regimes=6, claims=[claim])
    folder.add(judge(claim, "quick", 1e-4))
    page = folder.page.read_text("utf-8")
    captions = re.findall(r"<figcaption><strong>(.*?)</strong>", page)
    assert captions == ["counter", "r4", "r3", "r2"]
    assert "2 more regimes: in the table only." in page


def test_plain_values():
    assert plain({1: np.float32(0.5), "b": True, "c": Verdict.REFUTED, "d": Path("x")}) == {
        "1": 0.5,
        "b": True,
        "c": "REFUTED",
        "d": "x",
    }
    json.dumps(plain({"x": [np.bool_(True), {1}, (np.inf, -np.inf, np.nan)]}), allow_nan=False)


def test_a_record_is_json(sound):
    for result in judge_all(list(sound.values()), "quick", 1e-4):
        json.dumps(claim_record(result, SETTING), allow_nan=False)
