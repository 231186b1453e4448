"""A gap with a single bound says so wherever it is shown: printed, on the page, as JSON, in a hunt and at growing sizes."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mipsim as mi
from mipsim import referee as rf
from mipsim._printed import floor
from mipsim.referee.reporting.page import report
from mipsim.tradeoff import PiecewiseLinearTradeOff

NEARLY = mi.BoundedTradeOff(PiecewiseLinearTradeOff([0.0, 1.0], [0.0, 0.0]), mi.GaussianTradeOff(5.0))
"""A curve that is known from above only: the attacker may never err, and errs no more than G_5."""


def planted(truth: Any, claimed: Any) -> rf.Statement:
    return rf.Statement(
        name="planted",
        says="x <= 1",
        source="planted",
        kind=rf.Bound(),
        domain={"x": rf.Real(0.0, 1.0)},
        claimed=claimed,
        truth=truth,
    )


CAPS = {
    "a lower bound": planted(lambda x: rf.Number(7.25 + x, unknown="above"), lambda: 1.0),
    "a curve from above": planted(lambda x: NEARLY, lambda: mi.GaussianTradeOff(1.0)),
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


def test_caps_at_growing_sizes_say_so() -> None:
    statement = rf.Statement(
        name="growing",
        says="x tends to 1.",
        source="planted",
        kind=rf.Limit("n", sizes=tuple(100 * 2**k for k in range(8)), tolerance=0.02),
        domain={"n": rf.Whole(1, 10**6, log=True)},
        claimed=lambda: mi.GaussianTradeOff(1.0),
        truth=lambda n: NEARLY,
    )
    result = rf.judge(statement, at={}, progress=False)
    assert result.verdict is rf.Verdict.INCONCLUSIVE
    assert result.worst is not None
    assert len(result.worst.parameters["n"]) >= 8
    assert "Gaps: at least +3.9 at n = 100 to 12800." in result.worst.detail  # equal gaps are written once


def test_a_printed_number_says_which_end_it_is() -> None:
    assert str(rf.Number(0.5, unknown="above")) == "at least 0.5"
    assert str(rf.Number(0.5, error=0.25, unknown="below")) == "at most 0.75"
    assert str(rf.Number(0.5, error=0.25)) == "0.5 +- 0.25"
    assert np.isinf(rf.Number(0.5, unknown="above").high)
