"""The pictures of the report: odd evidence is plotted too, the same each time, and inside its box."""

import base64
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from mipsim import referee as rf
from mipsim.referee.reporting.page import page
from mipsim.referee.reporting.pictures import svg
from mipsim.referee.result import CurveEvidence, TrendEvidence, Verdict

NONE, TWO, THREE = np.array([]), np.array([0.0, 1.0]), np.full(3, 0.5)
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
    """Each picture is so narrow that a telephone shows its words: 5 inches of 72 points at most."""
    pictures = svg(evidence, Verdict.CONFIRMED, 'a "title"')
    on = ", on logarithmic axes" if isinstance(evidence, CurveEvidence) else ""
    assert pictures.startswith(f'<img class="plot" alt="a &quot;title&quot;{on}: CONFIRMED"')
    assert len(pictures) < 200_000
    _, *single = pictures.split("base64,")
    assert len(single) == (2 if isinstance(evidence, CurveEvidence) else 1)
    for picture in single:
        well_formed = ElementTree.fromstring(base64.b64decode(picture.partition('"')[0]))
        assert float(well_formed.attrib["width"].removesuffix("pt")) <= 360.0


def test_the_same_evidence_is_plotted_the_same():
    evidence = ODD["exact law"]
    assert svg(evidence, Verdict.CONFIRMED, "t") == svg(evidence, Verdict.CONFIRMED, "t")


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
