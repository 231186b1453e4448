"""The report: whole, self-contained, and true to its data; odd evidence is plotted, and no link is followed."""

import base64
import json
import math
import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import mipsim as mi
from mipsim import referee as rf
from mipsim._files import replace_file, writable_folder
from mipsim._printed import floor
from mipsim.referee import report_audit
from mipsim.referee.outcome import titled_examples
from mipsim.referee.reporting.page import page, report
from mipsim.referee.reporting.pictures import svg
from mipsim.referee.result import CurveEvidence, TrendEvidence, Verdict
from mipsim.tradeoff import PiecewiseLinearTradeOff
from tests.faults.hostile_files import hidden
from tests.referee.test_hostile_pages import guarded
from tests.referee.test_judge import statement

G = mi.GaussianTradeOff


def outcomes():
    item = rf.Statement(
        name="half-k", says="k releases: <k mu / 2>-GDP & no more", source="nobody", kind=rf.Bound(),
        domain={"mu": rf.Real(0.1, 1.0), "k": rf.Whole(1, 100, log=True), "law": rf.Choice("a", "b"), "idle": rf.Fixed(1)},
        claimed=lambda mu, k: G(k * mu / 2), truth=lambda mu, k, law: G(k**0.5 * mu) if law == "b" else G(0.0),
        quote=rf.Quote("It is so.", "p. 1"), restricted_by=(rf.Quote("For large k.", "p. 2"),),
    )  # fmt: skip
    failing = item.corrected(
        name="failing", truth=lambda mu: 1 / 0 if mu > 0.5 else G(mu / 2), where=lambda k: k > 1
    )
    return [
        rf.hunt(item, "300 probes", progress=False),
        rf.judge(item, samples=16, budget=0),
        rf.hunt(failing, "64 probes", progress=False),
    ]


@pytest.mark.evidence
def test_the_page_is_whole_and_the_data_are_plain(tmp_path: Path) -> None:
    result = outcomes()
    text = rf.report(result, tmp_path / "report").read_text(encoding="utf-8")
    links = guarded(text).links
    assert all(link.startswith(("#", "data:image/svg+xml;base64,")) for link in links)  # nothing is fetched
    ids = re.findall(r'\bid="([^"]*)"', text)
    assert len(ids) == len(set(ids))
    assert "<k mu" not in text
    for words in ("Counterexample", "mipsim judge", "For large k.", "ZeroDivisionError"):  # fmt: skip
        assert words in text
    records = json.loads((tmp_path / "report/results.json").read_text(encoding="utf-8"))
    for record, item in zip(records, result, strict=True):
        assert record["verdict"] == str(item.verdict)
        assert len(record["probes"]) == len(item.probes)
        assert len(record["judged"]) == len(item.judged)
        assert record["gap"] == (item.gap if math.isfinite(item.gap) else record["gap"])


def judged_in_two_units(values: tuple[float, ...]) -> rf.Outcome:
    """x <= 0 in probits, and in ratios a hundred times as large."""
    mixed = rf.Statement(
        name="mixed",
        says="x <= 0",
        source="nobody",
        kind=rf.Bound(),
        domain={"x": rf.Real(0.0, 9.0), "big": rf.Choice(False, True)},
        claimed=lambda big: rf.Number(0.0, unit="ratio" if big else "probit"),
        truth=lambda x, big: rf.Number(100.0 * x if big else x),
        points=[{"x": x, "big": big} for x in values for big in (False, True)],
    )
    return rf.judge(mixed, samples=0, budget=0)


def test_gaps_of_two_units_are_never_compared(tmp_path):
    """A bound in two units: the point that speaks is the largest in the unit of the first; the page says the unit of each gap."""
    outcome = judged_in_two_units((1.0, 3.0))
    assert outcome.worst is not None
    assert (outcome.gap, outcome.worst.unit) == (9.0, "probit")
    text = rf.report(outcome, tmp_path).read_text("utf-8")
    assert "9 probit" in text
    assert "900 ratio" in text


def test_the_title_of_a_counterexample_is_true():
    """The largest gap is called so; where a sampled point has a larger gap, or is compared in tolerances, the title says it."""
    square = rf.Statement(
        name="square", says="x^2 = x", source="nobody", kind=rf.Equality(), domain={"x": rf.Real(0.0, 9.0)},
        claimed=lambda x: x, truth=lambda x: x * x, points=[{"x": 2.0}, {"x": 3.5}],
    )  # fmt: skip
    outcome = rf.judge(square, samples=0, budget=0)

    def titles(judged) -> list[str]:
        return [title for title, _ in titled_examples(replace(outcome, judged=tuple(judged)))]

    assert titles(outcome.judged) == ["A simple counterexample", "The largest gap among the judged points"]
    larger = replace(outcome.judged[0], gap=99.0, sampled=True, parameters={"x": 8.0}, tolerance=0.02)
    assert titles([*outcome.judged, larger])[1] == "The largest gap among the listed points"
    same = replace(larger, tolerance=99.0)
    assert titles([*outcome.judged, same])[1] == "The largest gap in tolerances among the judged points"


TWO, THREE = np.array([0.0, 1.0]), np.full(3, 0.5)
LONG = np.linspace(0, 1, 5000)
ODD = {
    "exact law": CurveEvidence(LONG, 1 - LONG, TWO, 1 - TWO),
    "all at zero": CurveEvidence(0 * TWO, 0 * TWO + 1, TWO, 1 - TWO, (0 * TWO, 0 * TWO, TWO)),
    "all zero": TrendEvidence(10 + TWO, 0 * TWO, 0 * TWO, 0 * TWO, 0.0),
    "a single infinite": TrendEvidence(np.array([5]), np.array([-0.1]), np.array([-np.inf]), np.array([np.inf]), 0.05),
    "negative": TrendEvidence(np.array([1, 10, 100]), np.array([-1, -0.1, -0.01]), -4 * THREE, THREE, 0.05),
    "infinite": TrendEvidence(np.array([1, 10]), np.full(2, np.inf), np.zeros(2), np.full(2, np.inf), 0.05),
    "a single finite": TrendEvidence(np.array([1, 10]), np.array([np.inf, 0.1]), np.zeros(2), np.full(2, np.inf), 0.1),
    "nan": TrendEvidence(np.array([1, 10, 100]), np.array([1, np.nan, 0.01]), 0 * THREE, THREE, 0.05),
}  # fmt: skip


@pytest.mark.parametrize("evidence", ODD.values(), ids=ODD)
def test_odd_evidence_is_plotted_too(evidence):
    """So narrow that a telephone shows its words: 5 inches of 72 points at most."""
    picture = svg(evidence, Verdict.CONFIRMED, 'a "title"')
    assert picture.startswith('<img class="plot" alt="a &quot;title&quot;: CONFIRMED"')
    assert len(picture) < 200_000
    well_formed = ElementTree.fromstring(base64.b64decode(picture.partition("base64,")[2].partition('"')[0]))
    assert float(well_formed.attrib["width"].removesuffix("pt")) <= 360.0


def test_a_picture_that_cannot_be_plotted_costs_no_report():
    unequal = TrendEvidence(np.arange(3), np.arange(2), np.arange(5), np.arange(4), 0.1)
    small = rf.Statement(
        name="small", says="x <= 1", source="p", kind=rf.Bound(), domain={"x": rf.Real(0.0, 1.0)},
        claimed=lambda: 1.0, truth=lambda x: x,
    )  # fmt: skip
    outcome = rf.judge(small, at={"x": 0.5})
    odd = replace(outcome, worst=replace(outcome.judged[0], evidence=unequal))
    text = page([odd])
    assert "Could not be plotted: ValueError" in text
    assert "CONFIRMED" in text


def test_a_folder_that_cannot_be_written_is_a_single_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    for folder, make in product(
        (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/nothing")), (False, True)
    ):
        with pytest.raises(
            ValueError, match=r"^--out is '.*' \(.*\); it must be a folder that can be written$"
        ):
            writable_folder("--out", folder, make=make)
    assert not writable_folder("--out", tmp_path / "a" / "b", make=False).parent.exists()


def test_a_report_replaces_a_link_and_leaves_what_it_names(tmp_path):
    victim, link = tmp_path / "victim", tmp_path / "results.json"
    victim.write_text("mine")
    for name in (victim, tmp_path / "nothing"):
        link.symlink_to(name)
        replace_file(link, "new", follow=False)
        assert (link.read_text(), link.is_symlink(), victim.read_text()) == ("new", False, "mine")
        link.unlink()
    assert not (tmp_path / "nothing").exists()


def test_a_report_of_an_audit_follows_no_link_and_holds_no_control_character(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    for name in ("results.json", "index.html"):
        (tmp_path / name).symlink_to(victim)
    scores = list(range(200))
    result = mi.audit(scores, [0] * 100 + [1] * 100, design="independent", runs=200)
    report_audit(result, tmp_path, {"by": "\x9b31m"})
    assert victim.read_text() == "mine"
    text = (tmp_path / "results.json").read_text("utf-8")
    assert json.loads(text)["about"] == {"by": "\x9b31m"}
    assert not hidden(text)


# A gap with a single bound says so wherever it is shown: printed, on the page, as JSON, in a hunt and at growing sizes.

NEARLY = mi.BoundedTradeOff(PiecewiseLinearTradeOff([0.0, 1.0], [0.0, 0.0]), mi.GaussianTradeOff(5.0))
"""A curve that is known from above only: the attacker may never err, and errs no more than G_5."""


X = {"domain": {"x": rf.Real(0.0, 1.0)}}
CAPS = {
    "a lower bound": statement(rf.Bound(), lambda: 1.0, lambda x: rf.Number(7.25 + x, unknown="above"), **X),
    "a curve from above": statement(rf.Bound(), lambda: mi.GaussianTradeOff(1.0), lambda x: NEARLY, **X),
}


@pytest.mark.parametrize("name", CAPS)
def test_a_cap_says_at_least_wherever_it_is_shown(name: str, tmp_path: Path) -> None:
    result = rf.hunt(CAPS[name], "40 probes", progress=False)
    assert result.verdict is rf.Verdict.REFUTED
    assert result.interval[1] == math.inf
    least = floor(result.interval[0], 4, "+")
    assert f"at least {least} " in str(result)
    assert f"in [{least}" not in str(result)
    assert "gap at least" in repr(result)
    assert "at least" in result._repr_html_()
    report([result], tmp_path)
    page = (tmp_path / "index.html").read_text()
    assert "Gap at least" in page
    data = json.loads((tmp_path / "results.json").read_text())
    text = json.dumps(data)
    assert f'"gap_is": "at least {floor(result.interval[0], 6)}"' in text
    assert '"gap_is": ""' not in text


def test_a_printed_number_says_which_end_it_is() -> None:
    assert str(rf.Number(0.5, unknown="above")) == "at least 0.5"
    assert str(rf.Number(0.5, error=0.25, unknown="below")) == "at most 0.75"
    assert str(rf.Number(0.5, error=0.25)) == "0.5 +- 0.25"
