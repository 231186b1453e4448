from typing import Any

import numpy as np
import pytest

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.engine.fidelity import build_sampler, check_shapes
from sims.studies import STUDIES, D, N, reference_data

NAMES = [
    *(f"azize_fig2_{kind}" for kind in ("easy", "medium", "hard")),
    *(f"azize_fig2_noise_{gamma}" for gamma in ("0.1", "0.5", "1")),
    *(f"azize_fig2_rho_{rho}" for rho in ("0.1", "0.5", "1")),
    *(f"azize_fig6_n0_{n0}" for n0 in (1, 2, 5, 10, 100, 1000)),
]


def test_all_studies_are_there():
    assert set(NAMES) <= set(STUDIES)
    assert all(name == study.name and study.description for name, study in STUDIES.items())


def built(name) -> Any:
    """(game, attack) of a study, whatever their classes."""
    return STUDIES[name].build()


@pytest.mark.evidence
@pytest.mark.parametrize("name", NAMES)
def test_a_study_is_the_same_each_time_and_fast(name):
    (game, attack), (again, _) = built(name), built(name)
    assert (game.n, game.data.dimension) == (N, D)
    np.testing.assert_array_equal(game.target, again.target)
    with exact_scope():
        check_shapes(game, attack, "auto")
        sampler = build_sampler(game, attack, "auto")
        assert (sampler.fidelity, sampler.name) == ("sufficient", "table")


def test_targets_are_ordered():
    data = reference_data()
    scores = [
        data.mahalanobis_squared(built(f"azize_fig2_{k}")[0].target) for k in ("easy", "medium", "hard")
    ]
    assert scores[0] > scores[1] > scores[2]


def test_reference_points_are_nested():
    item, two = (built(f"azize_fig6_n0_{n0}")[1].mean for n0 in (1, 2))
    assert set(np.unique(item)) == {0.0, 1.0}
    assert np.isin(2 * two - item, (0.0, 1.0)).all()


@pytest.mark.evidence
def test_the_covariance_score_has_its_theoretical_mean():
    # E1 - E0 of the covariance score is m* = |z - mu|^2 / n, exactly; its variance is m* under "out".
    game, attack = built("azize_fig2_medium")
    m = game.data.mahalanobis_squared(game.target) / N
    games = 8_000
    edges = np.linspace(-8 * np.sqrt(m), 8 * np.sqrt(m), 4001)
    histogram = mi.play(game, attack, games, edges=edges, progress=False)
    middles = np.concatenate([[edges[0]], (edges[1:] + edges[:-1]) / 2, [edges[-1]]])
    gap = (histogram.inside - histogram.out) @ middles / games
    # 6.2 standard errors: a failure probability of 1e-9; bins are 250 times narrower than a standard deviation.
    error = 6.2 * np.sqrt(2 * m / games)
    assert abs(gap - m) < error
    assert abs(gap - 1.3 * m) > error
