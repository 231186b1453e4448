"""Literal records, exact laws and tables: one law, seen at a million games; and a wrong law, rejected."""

import numpy as np
import pytest
from scipy import stats

import mipsim as mi
from tests.engine.two_sample import FAILURE, two_sample_p

N, D, GAMES = 24, 10, 1_000_000
P = np.random.default_rng(0).uniform(0.25, 0.75, D)
DATA = mi.Bernoulli(P)
TARGET = DATA.easiest_target()
ATTACK = mi.CovarianceScore(DATA, n=N, target=TARGET)


def fixed(data):
    return mi.FixedTarget(mi.EmpiricalMean(), data, n=N, target=TARGET)


@pytest.fixture(scope="module")
def literal():
    return mi.play(fixed(DATA), ATTACK, GAMES, seed=1, fidelity="literal", progress=False)


def test_literal_and_table_agree(literal):
    table = mi.play(fixed(DATA), ATTACK, GAMES, seed=2, edges=literal.edges, progress=False)
    assert (literal.manifest["sampler"], table.manifest["sampler"]) == ("literal", "table")
    for a, b in ((literal.out, table.out), (literal.inside, table.inside)):
        bins, p = two_sample_p(a, b)
        assert bins >= 500
        assert p >= FAILURE
    assert two_sample_p(literal.out, table.inside)[1] < FAILURE


def test_a_sampler_with_p_off_by_a_thousandth_is_rejected(literal):
    toward = np.sign((TARGET - P) / (P * (1 - P)))
    wrong = mi.play(
        fixed(mi.Bernoulli(P + 1e-3 * toward)), ATTACK, GAMES, seed=3, edges=literal.edges, progress=False
    )
    bins, p = two_sample_p(literal.out, wrong.out)
    # The score moves by `shift` standard deviations, which gives the chi-square its non-centrality: N shift^2 / 2.
    weights = (TARGET - P) / (P * (1 - P))
    shift = 1e-3 * np.abs(weights).sum() / np.sqrt(np.sum(weights**2 * P * (1 - P)) / N)
    critical = stats.chi2.isf(FAILURE, bins - 1)
    power = stats.ncx2.sf(critical, bins - 1, 0.9 * GAMES * shift**2 / 2)  # 0.9: what binning may lose
    assert power > 1 - 1e-4
    assert p < FAILURE


def test_law_sampler_agrees(literal):
    # A plain function hides that the score is additive, so that the outputs are drawn from their law.
    weights = (TARGET - P) / (P * (1 - P))
    offset = -np.sum(weights * P) - np.sum(weights * (TARGET - P)) / (2 * N)
    law = mi.play(
        fixed(DATA),
        lambda target, output: output @ weights + offset,
        200_000,
        edges=literal.edges,
        progress=False,
    )
    assert law.manifest["sampler"] == "law"
    for a, b in ((literal.out, law.out), (literal.inside, law.inside)):
        assert two_sample_p(a, b)[1] >= FAILURE


@pytest.mark.parametrize(
    "game",
    [
        mi.RandomTarget(mi.Subsampled(mi.EmpiricalMean(), 0.5), DATA, n=N),
        mi.FixedTarget(mi.GaussianNoise(mi.EmpiricalMean(), 0.5), mi.Gaussian(P, P), n=N, target=TARGET),
    ],
    ids=["random target, sub-sampled", "Gaussian, noisy"],
)
def test_other_games_agree(game):
    attack = mi.CovarianceScore(DATA, n=N)
    first = mi.play(game, attack, 20_000, seed=1, fidelity="literal", progress=False)
    second = mi.play(game, attack, 20_000, seed=2, fidelity="sufficient", edges=first.edges, progress=False)
    for a, b in ((first.out, second.out), (first.inside, second.inside)):
        assert two_sample_p(a, b)[1] >= FAILURE
