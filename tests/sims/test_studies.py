from typing import Any

import numpy as np
import pytest

from mipsim._precision import exact_scope
from mipsim.engine.recipe import check_shapes
from mipsim.engine.route import build_sampler
from sims.__main__ import main
from sims.studies import STUDIES, D, N, reference_data

NAMES = [
    *(f"azize_fig2_{kind}" for kind in ("easy", "medium", "hard")),
    *(f"azize_fig2_noise_{gamma}" for gamma in ("0.1", "0.5", "1")),
    *(f"azize_fig2_rho_{rho}" for rho in ("0.1", "0.5", "1")),
    *(f"azize_fig6_n0_{n0}" for n0 in (1, 2, 5, 10, 100, 1000)),
]


def test_all_studies_are_there_and_in_order(capsys):
    assert set(NAMES) <= set(STUDIES)
    assert all(name == study.name and study.description for name, study in STUDIES.items())
    assert main(["list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in STUDIES)
    data, targets = reference_data(), [built(f"azize_fig2_{k}")[0].target for k in ("easy", "medium", "hard")]
    scores = [data.mahalanobis_squared(target) for target in targets]
    assert scores == sorted(scores, reverse=True)
    item, two = (built(f"azize_fig6_n0_{n0}")[1].mean for n0 in (1, 2))  # reference points are nested
    assert set(np.unique(item)) == {0.0, 1.0}
    assert np.isin(2 * two - item, (0.0, 1.0)).all()


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
