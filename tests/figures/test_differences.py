"""Why figures differ from their papers: the experiments' arithmetic, and that `reported.toml` states what their stored tables show."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.linalg import cholesky
from scipy.stats import rankdata

import mipsim as mi
from figures import differences, pages
from figures.azize_fig3 import REPORTED
from figures.check import REPORTED as ROWS
from mipsim import data, nn
from sims import glir_choices
from sims.gradient_spread import area, away, last_layer_of, played_areas
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


def test_areas_of_few_games_are_those_of_ranks() -> None:
    """The same draws, ranked; the control is a shift 3% off."""
    out, inside = np.random.default_rng(4).normal(size=(2, 300, 50))

    def ranked(probit: float) -> np.ndarray:
        shift = np.sqrt(2.0) * probit
        ranks = rankdata(np.concatenate([inside + shift, out], axis=1), axis=1)[:, :50].sum(axis=1)
        return (ranks - 50 * 51 / 2) / 2500

    probit = 0.8
    true = area(np.array([probit]), 1.0)  # Phi(0.8)
    np.testing.assert_allclose(played_areas(true, 50, 300, 4)[0], ranked(probit), atol=1e-12)
    assert np.abs(played_areas(true, 50, 300, 4)[0] - ranked(0.97 * probit)).max() > 0.003


@pytest.mark.parametrize("name", glir_choices.INVERSES)
def test_an_inverse_is_what_it_is_called(name: str) -> None:
    rows = np.random.default_rng(0).normal(size=(40, 6)) @ np.random.default_rng(1).normal(size=(6, 6))
    whitening, degrees = glir_choices.whitener(rows, np.eye(6), name)
    lower = cholesky(np.cov(rows.T, bias=True), lower=True)
    covariance = {
        "shrunk": mi.ShrunkMoments(rows).covariance,
        "sample": lower @ lower.T,
        "triangle": np.tril(lower @ lower.T) @ np.tril(lower @ lower.T).T,
    }
    assert degrees == 6
    for other, matrix in covariance.items():
        assert np.allclose(whitening @ whitening.T @ matrix, np.eye(6), atol=1e-8) == (other == name)


def test_a_log_p_value_ranks_as_glir_does() -> None:
    """SciPy's own distribution function against Sankaran's approximation of `GLiRPValue`, to its stated accuracy; n 3% off is seen."""
    random = np.random.default_rng(2)
    rows = random.normal(size=(2000, 120))
    moments = mi.ShrunkMoments(rows)
    whitening, degrees = glir_choices.whitener(rows, np.eye(120), "shrunk")
    targets, released = random.normal(size=(20, 120)), 0.1 * random.normal(size=120)
    attack = mi.GLiRPValue(moments, 100, logarithm=True)
    expected = [float(attack.score(target, released)) for target in targets]  # pyright: ignore[reportArgumentType]
    result = -glir_choices.log_p(whitening, degrees, rows.mean(axis=0), released, targets, 100)
    np.testing.assert_allclose(result, expected, rtol=2e-3, atol=2e-4)
    off = -glir_choices.log_p(whitening, degrees, rows.mean(axis=0), released, targets, 103)
    assert np.abs(off - expected).max() > 0.01
