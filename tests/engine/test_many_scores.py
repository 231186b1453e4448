"""Many scores of a release: each histogram is that of its own games, and clusters are counted as clusters."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import mipsim as mi
from mipsim.bands.clopper_pearson import clopper_pearson
from mipsim.engine.play_many import play_many, play_targets
from tests.law_agreement import FAILURE
from tests.sampler_laws import exchanged, has_law, same

N, D = 8, 6
P = np.linspace(0.25, 0.75, D)
DATA = mi.Bernoulli(P)
TARGETS = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 1], [1, 0, 1, 0, 1, 0.0]])
ATTACK = mi.CovarianceScore(DATA, n=N)


def game(target=TARGETS[0], mechanism: Any = None):
    return mi.FixedTarget(mi.EmpiricalMean() if mechanism is None else mechanism, DATA, n=N, target=target)


def negative_distance(target, output):
    return -jnp.sum((output - target) ** 2)


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("played", "fidelity"),
    [
        (game(), "auto"),
        *((mi.RandomTarget(mi.EmpiricalMean(), DATA, n=N), kind) for kind in ("literal", "sufficient")),
    ],
)
def test_attacks_score_the_very_releases_of_play(played, fidelity):
    """A plain function is played by the same sampler, with the same words."""
    attacks: list[Any] = [negative_distance, mi.ScalarProduct(np.zeros(D)), ATTACK]
    how: Any = {
        "seed": 5,
        "edges": np.linspace(-6.0, 6.0, 121) + 1e-3,
        "fidelity": fidelity,
        "progress": False,
    }
    many = play_many(played, attacks, 1_000, **how)
    for mine, attack in zip(many, attacks, strict=True):
        function = getattr(attack, "score", attack)
        alone = mi.play(played, lambda t, o, f=function: f(t, o), 1_000, **how)
        assert same(mine, alone)
        assert mine.manifest["sampler"] == alone.manifest["sampler"]
        assert fidelity in ("auto", mine.manifest["fidelity"])
    assert many.pooled is None


MECHANISMS = {
    "mean": mi.EmpiricalMean(),
    "noise": mi.GaussianNoise(mi.EmpiricalMean(), 0.4),
    "noise of a sub-sample": mi.Subsampled(mi.GaussianNoise(mi.EmpiricalMean(), np.full(D, 0.2)), 0.5),
}


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("name", "attack"),
    [
        pytest.param("mean", ATTACK, marks=pytest.mark.slow),
        pytest.param("noise", ATTACK, marks=pytest.mark.slow),  # which a sub-sample has too
        ("noise of a sub-sample", ATTACK),
        ("noise of a sub-sample", negative_distance),
    ],
    ids=[*MECHANISMS, "one_by_one"],
)
def test_each_target_has_the_law_of_its_own_games(name, attack):
    games = 20_000
    many = play_targets(game(mechanism=MECHANISMS[name]), attack, TARGETS, games, seed=1, progress=False)
    alone = [
        mi.play(game(z, MECHANISMS[name]), attack, games, 2, edges=mine, fidelity="literal", progress=False)
        for z, mine in zip(TARGETS, many, strict=True)
    ]
    for mine, other in zip(many, alone, strict=True):
        has_law(mine, other, exchanged(other))
    assert many.pooled is not None
    assert many.pooled.games == games


@pytest.mark.evidence
def test_the_pooled_curve_is_that_of_a_random_target():
    edges = np.linspace(-3.0, 3.0, 41) + 1e-3
    many = play_targets(game(), ATTACK, TARGETS, 60_000, seed=3, edges=edges, progress=False)
    # Other games, so that the two samples are independent; each target's share of them is its own.
    fresh = play_targets(game(), ATTACK, TARGETS, 60_000, seed=4, edges=edges, progress=False)
    rng, mixed = np.random.default_rng(0), []
    for world in ("out", "inside"):
        picks = rng.multinomial(60_000, np.full(3, 1 / 3)).tolist()
        parts = zip(fresh, picks, strict=True)
        mixed.append(sum(rng.multivariate_hypergeometric(getattr(part, world), k) for part, k in parts))
    assert many.pooled is not None
    has_law(many.pooled, mi.Histogram(edges, *mixed), fresh[0])


@pytest.mark.evidence
def test_clusters_are_counted_as_clusters():
    """Near-equal targets: naive pooling must under-cover, the pooled histogram and each target's must not."""
    m, games, repeats, confidence = 20, 200, 60, 0.99
    data = mi.Gaussian(np.zeros(4), 1.0)
    base = mi.FixedTarget(mi.EmpiricalMean(), data, n=5, target=np.ones(4))
    targets = 1.0 + 1e-6 * np.random.default_rng(0).normal(size=(m, 4))
    attack = mi.ScalarProduct(np.zeros(4))
    truth = stats.norm(0.0, 2.0 / np.sqrt(5)).sf(0.5)
    covered = {"naive": 0, "pooled": 0, "a single target": 0}
    for seed in range(repeats):
        many = play_targets(
            base, attack, targets, games, seed, edges=[0.5], fidelity="literal", progress=False
        )
        assert many.pooled is not None
        counts = {
            "naive": (sum(int(part.out[1]) for part in many), m * games),
            "pooled": (int(many.pooled.out[1]), games),
            "a single target": (int(many[0].out[1]), games),
        }
        for name, (hits, trials) in counts.items():
            low, high = clopper_pearson([hits], trials, 1 - confidence, thresholds=1)
            covered[name] += bool(low[0] <= truth <= high[0])
    # Clopper-Pearson covers with probability >= 0.99, so that fewer than this have probability <= 1e-9. Naive pooling
    # takes 20 copies of a count for 20 counts, and covers some 0.44 of the time.
    least = stats.binom.ppf(FAILURE, repeats, confidence)
    assert covered["pooled"] >= least
    assert covered["a single target"] >= least
    assert covered["naive"] < least


@pytest.fixture(scope="module")
def named():
    attacks = {"first": ATTACK, "second": negative_distance}
    return play_many(game(), attacks, 1_000, edges=np.linspace(-6.0, 6.0, 121), progress=False)


def test_bands_share_their_confidence(named):
    assert [curve.confidence for curve in named.tradeoffs(0.99)] == pytest.approx([0.995, 0.995])
    assert [curve.confidence for curve in named.tradeoffs(0.99, family=10)] == pytest.approx([0.999, 0.999])
    with pytest.raises(ValueError, match="family is 1; it must be a whole number >= 2"):
        named.tradeoffs(0.99, family=1)
    with pytest.raises(ValueError, match=r"confidence is 1\.0; it must be"):
        named.tradeoffs(1.0)


def test_attacks_may_have_names(named):
    assert named.names == ("first", "second")
    assert named["second"] is named[1]
    with pytest.raises(ValueError, match="name is 'third'; allowed: "):
        named["third"]


def test_counts_do_not_depend_on_chunks_and_workers():
    edges = np.linspace(-3.0, 3.0, 20) + 1e-3
    item, two = (
        play_targets(game(), ATTACK, TARGETS, 5_000, 7, edges=edges, chunk=c, workers=w, progress=False)
        for c, w in ((1, 1), (3_000, 2))
    )
    assert item.pooled is not None
    assert two.pooled is not None
    assert all(map(same, (*item, item.pooled), (*two, two.pooled)))
    other = play_targets(game(), ATTACK, TARGETS, 5_000, 8, edges=edges, progress=False)
    assert (other[0].out != item[0].out).any()
