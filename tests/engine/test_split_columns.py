"""Sums of records whose values are on no lattice, against their exact law and against literal records."""

import numpy as np
import pytest
from scipy import stats

import mipsim as mi
from tests.engine.kinds import kind_of
from tests.engine.two_sample import FAILURE, two_sample_p

VALUES = np.array([0.0, 1.0, np.sqrt(2.0)])
N, GAMES = 40, 200_000
MEAN = mi.EmpiricalMean()
LAW = np.array([0.5, 0.3, 0.2])


def exact(law: np.ndarray, member: bool) -> tuple[np.ndarray, np.ndarray]:
    """All means of N records, beside the last value as the target if it is a member, and their probabilities."""
    sample = N - member
    ones, roots = (x.ravel() for x in np.meshgrid(np.arange(sample + 1), np.arange(sample + 1)))
    possible = ones + roots <= sample
    ones, roots = ones[possible], roots[possible]
    masses = stats.multinomial.pmf(np.stack([sample - ones - roots, ones, roots], axis=1), sample, law)
    return (VALUES[1] * ones + VALUES[2] * (roots + member)) / N, masses


def p_value(counts: np.ndarray, edges: np.ndarray, law: np.ndarray, member: bool) -> float:
    scores, masses = exact(law, member)
    expected = GAMES * np.bincount(np.searchsorted(edges, scores), masses, edges.size + 1)
    used = expected >= 20
    result, wanted = (np.append(x[used], x[~used].sum()) for x in (counts, expected))
    return float(stats.chi2.sf(((result - wanted) ** 2 / wanted).sum(), used.sum()))


def test_sums_have_the_law_of_their_multinomial_counts():
    game = mi.FixedTarget(MEAN, mi.Discrete(VALUES, LAW), n=N, target=VALUES[-1:])
    # Between the sums of either world: these are on the same points.
    points = np.unique(np.concatenate([exact(LAW, member)[0] for member in (False, True)]))
    edges = points[:-1][np.diff(points) > 1e-9] + 1e-10
    result = mi.play(
        game,
        lambda target, output: output[0],
        GAMES,
        seed=1,
        edges=edges,
        fidelity="sufficient",
        precision="float64",
        progress=False,
    )
    assert result.manifest["sampler"] == "columns"
    assert kind_of(game, lambda target, output: output[0]) == "SplitColumns"
    for member, counts in ((False, result.out), (True, result.inside)):
        assert p_value(counts, edges, LAW, member) >= FAILURE
        # The controls: a share three per cent off, taken from the value before or given to it, and the other world.
        for change in (0.009, -0.009):
            assert p_value(counts, edges, np.add(LAW, [change, -change, 0.0]), member) < FAILURE
        assert p_value(counts, edges, LAW, not member) < FAILURE


RARE = np.array([[0.5, 0.3, 0.2], [0.0, 0.7, 0.3], [0.4, 0.6, 0.0], [0.9, 0.0, 0.1]])
"""The share of a value, of the records that have none of those before, is 0, 1 or between."""
DATA = mi.Discrete(VALUES, RARE)
ANY = mi.ScalarProduct(np.linspace(-0.5, 0.5, 4))
MANY = 160


@pytest.mark.evidence
@pytest.mark.parametrize(
    "game",
    [
        mi.FixedTarget(
            mi.GaussianNoise(mi.Subsampled(MEAN, 0.5), 0.2), DATA, n=MANY, target=DATA.easiest_target()
        ),
        mi.RandomTarget(mi.PoissonSubsampled(MEAN, 0.4), DATA, n=MANY),
    ],
    ids=["a noisy half, fixed target", "a Poisson sample, random target"],
)
def test_they_agree_with_literal_records(game):
    first = mi.play(game, ANY, 20_000, seed=1, fidelity="literal", progress=False)
    second = mi.play(game, ANY, 100_000, seed=2, edges=first.edges, progress=False)
    assert kind_of(game, ANY) == "SplitColumns"
    for a, b in ((first.out, second.out), (first.inside, second.inside)):
        assert two_sample_p(a, b)[1] >= FAILURE
    # The control: shifted by forty thresholds, a quarter of a standard deviation or more.
    assert two_sample_p(first.out, np.roll(second.out, 40))[1] < FAILURE


def test_few_records_are_sampled_literally():
    game = mi.FixedTarget(MEAN, DATA, n=20, target=DATA.easiest_target())
    assert mi.play(game, ANY, 100, progress=False).manifest["fidelity"] == "literal"
    with pytest.raises(ValueError, match="fidelity is 'sufficient'"):
        mi.play(game, ANY, 100, fidelity="sufficient", progress=False)
