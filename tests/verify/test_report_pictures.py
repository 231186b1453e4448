"""The pictures of the report: odd evidence is drawn too, the same each time, and inside its box."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from mipsim.referee.reporting.plots import svg
from verify.claim import CurveEvidence, TrendEvidence, Verdict
from verify.judge import judge
from verify.report.record import Setting
from verify.report.section import section
from verify.report.whisker import whisker

NONE, TWO, THREE = np.array([]), np.array([0.0, 1.0]), np.full(3, 0.5)
LONG = np.linspace(0, 1, 5000)
ODD = {
    "exact law": CurveEvidence(LONG, 1 - LONG, NONE, NONE, NONE, TWO, 1 - TWO, "exact law"),
    "all at zero": CurveEvidence(
        0 * TWO, 0 * TWO + 1, 0 * TWO, 0 * TWO, TWO, TWO, 1 - TWO, "nothing above zero"
    ),
    "all zero": TrendEvidence(10 + TWO, 0 * TWO, 0 * TWO, 0 * TWO, 0.0),
    "one infinite": TrendEvidence(
        np.array([5]), np.array([-0.1]), np.array([-np.inf]), np.array([np.inf]), 0.05
    ),
    "negative": TrendEvidence(np.array([1, 10, 100]), np.array([-1, -0.1, -0.01]), -4 * THREE, THREE, 0.05),
    "infinite": TrendEvidence(np.array([1, 10]), np.full(2, np.inf), np.zeros(2), np.full(2, np.inf), 0.05),
    "one finite": TrendEvidence(
        np.array([1, 10]), np.array([np.inf, 0.1]), np.zeros(2), np.full(2, np.inf), 0.1
    ),
    "nan": TrendEvidence(np.array([1, 10, 100]), np.array([1, np.nan, 0.01]), 0 * THREE, THREE, 0.05),
}


@pytest.mark.parametrize("evidence", ODD.values(), ids=ODD)
def test_odd_evidence_is_drawn_too(evidence):
    picture = svg(evidence, Verdict.CONFIRMED, 'a "title"', "p")
    assert picture.startswith("<svg viewBox=")
    assert len(picture) < 60_000
    assert "#0" not in picture.replace("#0p", "")  # every colour is the page's
    ElementTree.fromstring(picture)  # well-formed


def test_the_same_evidence_is_drawn_the_same(sound):
    evidence = judge(sound["true-1"], "quick", 1e-4).regimes[0].evidence
    assert evidence is not None
    assert svg(evidence, Verdict.CONFIRMED, "t", "p") == svg(evidence, Verdict.CONFIRMED, "t", "p")


def test_a_whisker_stays_in_its_box(sound):
    regime = judge(sound["true-1"], "quick", 1e-4).regimes[0]
    far = replace(regime, gap=9.0, interval=(-np.inf, 1e9))
    for picture in (whisker(regime), whisker(far)):
        places = [float(x) for x in re.findall(r'(?:x|x1|x2|cx)="(-?[\d.]+)"', picture)]
        assert places
        assert all(0 <= x <= 132 for x in places)
    assert whisker(replace(regime, gap=np.nan)) == ""


def test_a_picture_that_cannot_be_drawn_costs_no_verdict(make_claim, make_regime):
    unequal = TrendEvidence(np.arange(3), np.arange(2), np.arange(5), np.arange(4), 0.1)
    result = judge(make_claim("c", make_regime("r", Verdict.CONFIRMED, evidence=unequal)), "quick", 1e-4)
    page = section(result, Setting("quick", 0.999, 0))
    assert "Could not be drawn: ValueError" in page
    assert "CONFIRMED" in page
