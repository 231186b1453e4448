"""Why figures differ from their papers: the experiments' arithmetic, and that `reported.toml` states what their stored tables show."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from figures import differences, pages
from figures.azize_fig3 import REPORTED
from figures.check import REPORTED as ROWS
from sims.gradients import ATTACKS, TARGETS


def stored(name: str) -> list[str]:
    with pages.opened(pages.STORED / f"{name}.csv") as stream:
        return stream.read().splitlines()[1:]


@pytest.fixture(scope="module")
def starts() -> list[str]:
    return stored("azize_fig3_starts")


@pytest.fixture(scope="module", autouse=True)
def the_same_intervals_are_computed_once() -> Iterator[None]:
    plain, known = differences.expected, {}

    def expected(ranks: np.ndarray, n: int, size: int) -> Any:
        key = ranks.tobytes(), n, size
        if key not in known:
            known[key] = plain(ranks, n, size)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(differences, "expected", expected)
        yield


@pytest.mark.evidence
def test_rows_state_what_the_starts_show(starts: list[str]) -> None:
    reasons = differences.azize_reasons(starts)
    rows = [row for row in ROWS if row["figure"] == "azize_fig3"]
    panels = {"b": "fashion", "d": "cifar"}
    assert len(rows) == len(reasons) == 12
    for row in rows:
        target, attack = row["where"]["curve"].split()
        assert row["reason"] == reasons[panels[row["panel"]], target, attack]
        assert row["value"] == REPORTED[panels[row["panel"]]][attack][TARGETS.index(target)]
        assert row["accuracy"] == 0.005


@pytest.mark.evidence
def test_wrong_areas_are_outside_at_any_n(starts: list[str]) -> None:
    """The controls: the areas of the two attacks, or of the easiest and the hardest target, exchanged."""
    for name, ranks in differences.read_starts(starts).items():
        assert ranks.shape == (differences.STARTS, 3, 5, 2)
        reported = np.array([REPORTED[name][attack] for attack in ATTACKS]).T
        targets = differences.of_targets(ranks)
        intervals = [differences.expected(targets, int(n), reported.size) for n in differences.SIZES]
        assert differences.best(reported, intervals)[0]
        assert not differences.best(reported[:, ::-1], intervals)[0]
        assert not differences.best(reported[::-1], intervals)[0]


def test_a_row_states_what_the_choices_show() -> None:
    (row,) = [row for row in ROWS if row["figure"] == "leemann_fig2b" and "Adult" in row["what"]]
    assert row["reason"] == differences.leemann_reason(stored("leemann_fig2b_choices"))
