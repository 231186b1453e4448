"""Why figures differ from their papers: the experiments' arithmetic, and that `reported.toml` states what their stored tables show."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from figures import differences, pages
from figures.azize_fig3 import REPORTED
from figures.check import REPORTED as ROWS
from mipsim import data, nn
from sims.gradient_spread import away, last_layer_of
from sims.gradients import ATTACKS, SEED, TARGETS, victim


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


def test_inner_products_give_the_scores_of_gradients_written_out() -> None:
    some = data.digits()
    literal = victim("digits", some, convolutions=False, part="trained", references=200)
    order = np.random.default_rng(SEED).permutation(len(some))
    known, pool = np.sort(order[:200]), np.sort(order[200:])
    network = nn.linear((8, 8, 1), 10)

    def by_products(seed: int) -> np.ndarray:
        weights = np.asarray(network.flat(network.start(seed))).reshape(-1, 10)
        seen = last_layer_of(some.x.reshape(len(some), -1), some.y, weights)
        return away(seen[known], seen[pool], neighbours=1)

    own = np.stack([literal.scores[at, place] for place, at in enumerate(literal.targets)])
    expected = (own - literal.scores.mean(axis=0)) / literal.scores.std(axis=0)
    result = by_products(SEED)
    assert result.shape == (3, 3, 2)
    np.testing.assert_allclose(result[np.arange(3), [0, 1, 0]], expected, rtol=1e-4)
    assert np.abs(by_products(1)[np.arange(3), [0, 1, 0]] / expected - 1.0).max() > 0.03  # the control


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
