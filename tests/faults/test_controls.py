"""Each campaign reports a planted defect, so that what it says held was looked at."""

import re

import pytest

from tests.faults import campaigns, hostile_files, hostile_words, processes
from tests.faults.__main__ import LONG
from tests.faults.controls import CONTROLS


@pytest.mark.parametrize(
    "campaign",
    [
        pytest.param(campaign, id=campaign.__name__, marks=[pytest.mark.system] * control.long)
        for campaign, control in CONTROLS.items()
    ],
)
def test_a_planted_defect_is_reported(campaign, tmp_path, monkeypatch):
    control = CONTROLS[campaign]
    control.plant(monkeypatch)
    result = campaign(tmp_path, *control.arguments)
    assert any(re.search(control.report, text) for text in result.failed), result.failed[:5]


def test_every_campaign_is_run_and_has_a_control():
    defined = {
        item
        for module in (campaigns, processes, hostile_files, hostile_words)
        for item in vars(module).values()
        if getattr(item, "__annotations__", {}).get("return") is campaigns.Figures
    } - {campaigns.in_folder}
    assert defined == {campaign for campaign, _ in LONG} == set(CONTROLS)
