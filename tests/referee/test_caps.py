"""A gap with a single bound says so wherever it is shown: printed, on the page, as JSON, in a hunt and at growing sizes."""

import json
import math
from pathlib import Path

import pytest

import mipsim as mi
from mipsim import referee as rf
from mipsim._printed import floor
from mipsim.referee.reporting.page import report
from mipsim.tradeoff import PiecewiseLinearTradeOff
from tests.referee.test_judge import statement

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
