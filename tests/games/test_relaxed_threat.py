"""The relaxed threat model: what the attacker sees, and its scores against laws known otherwise."""

import jax
import numpy as np
import pytest
from scipy.stats import norm

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.theory import kaissis
from tests.contracts.family import compiled
from verify.kaissis.laws.relaxed_laws import lira


def summed(rows):
    return rows.sum(axis=0)


def game(**options):
    return mi.RelaxedThreat(summed, [[0.0], [1.0]], [2.0], mi.Gaussian(0.0, 1.0, d=1), **options)


def test_shadows_are_releases_without_the_record():
    """And the attacker is handed the known answer only."""
    played, keys = game(shadows=3), jax.random.split(jax.random.key(0), 4000)
    with exact_scope():
        known, sample = map(np.asarray, compiled(jax.vmap(lambda key: played.play(key, True)))(keys))
    assert (known == 1.0).all()
    assert sample.shape == (4000, 4, 1)
    assert np.all(np.abs(sample.mean(axis=0)[:, 0] - [3.0, 1.0, 1.0, 1.0]) < 6.2 / np.sqrt(4000))


@pytest.mark.evidence
def test_lira_follows_students_law():
    built = mi.RelaxedThreat(summed, [[0.0], [1.0]], [1.0], mi.Gaussian(0.0, 1.0, d=1), shadows=8)
    alpha = np.array([0.05, 0.2, 0.5, 0.8])
    for sides, score in ((1, "one_sided"), (2, "two_sided")):
        played = mi.play(built, mi.OfflineLiRA(first, score=score), games=20_000, seed=1, progress=False)
        low, high = played.tradeoff(confidence=1 - 1e-9).band(alpha)
        assert np.all(low <= lira(8, 1.0, sides=sides).beta(alpha))
        assert np.all(lira(8, 1.0, sides=sides).beta(alpha) <= high)
        wrong = lira(8, 1.0, sides=3 - sides).beta(alpha)
        assert ((wrong < low) | (wrong > high)).any()
    assert np.any(kaissis.gaussian_tradeoff(2.0).beta(alpha) < low)


def test_lira_orders_outputs_as_the_paper_and_its_program_do():
    """By SciPy's normal law: 1 - P(Z > phi) of the paper, and minus the log-density of the reference code."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 9, 1)) * rng.uniform(0.1, 3.0, size=(50, 1, 1))
    phi, shadows = rows[:, 0, 0], rows[:, 1:, 0]
    paper = norm.cdf(phi, shadows.mean(axis=1), shadows.std(axis=1))
    program = -norm.logpdf(phi, np.median(shadows, axis=1), shadows.std(axis=1) + 1e-30)

    def scored(score):
        attack = mi.OfflineLiRA(first, score=score)
        return np.array([float(attack.score(np.zeros(1), row)) for row in rows])  # pyright: ignore[reportArgumentType]

    np.testing.assert_allclose(norm.cdf(scored("one_sided")), paper, rtol=1e-12)
    np.testing.assert_allclose(scored("reference_code"), program, rtol=1e-12)
    np.testing.assert_allclose(scored("two_sided"), np.abs(scored("one_sided")), rtol=0)
    assert mi.OfflineLiRA(first).kind == "one_sided"
    with pytest.raises(ValueError, match="score is 'both'; allowed: one_sided, two_sided, reference_code"):
        mi.OfflineLiRA(first, score="both")


def first(release):
    return release[0]


def test_the_exact_law_is_theorem_2_and_none_is_invented():
    alpha = np.array([0.01, 0.3, 0.9])
    low, high = game().exact(mi.Magnitude()).beta_bounds(alpha)
    known = kaissis.gaussian_tradeoff(2.0)
    assert (low <= known.beta_bounds(alpha)[1]).all()
    assert (known.beta_bounds(alpha)[0] <= high).all()
    assert (high - low < 5e-5).all()
    other = kaissis.gaussian_tradeoff(2.01).beta_bounds(alpha)  # half a per cent off lies outside
    assert (other[1] < low).any()
    with pytest.raises(ValueError, match="RelaxedThreat"):
        game(shadows=3).exact(mi.OfflineLiRA(first))
    assert game().exact_round() is None
