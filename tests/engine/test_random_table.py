"""The table kernel of random targets against the exact law of the score, enumerated over targets and counts."""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.engine.fidelity import build_sampler
from mipsim.engine.samplers.table import pair_law
from tests.engine.test_table_kernel import edges_between, expected
from tests.law_agreement import has_frequencies

P = np.array([0.3, 0.55, 0.7])
DATA, MEAN, GAMES = mi.Bernoulli(P), mi.EmpiricalMean(), 200_000


def build(attack: str, mechanism: mi.AbstractMechanism, n: int) -> mi.AbstractAttack:
    if attack == "ratio":
        return mi.LikelihoodRatio(mechanism, DATA, n=n)
    return mi.CovarianceScore(DATA, n=n) if attack == "covariance" else mi.ScalarProduct([0.5, -1.0, 2.0])


def random_law(
    attack: mi.AbstractAttack, rows: int, member: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every possible (target, counts) with its score, its probability, and the target."""
    scores, masses, targets = [], [], []
    sample = rows - 1 if member else rows
    with exact_scope():
        score = jax.jit(jax.vmap(attack.score, (None, 0)))
        for target in product((0.0, 1.0), repeat=P.size):
            bits = np.array(target)
            counts = np.array(list(product(range(sample + 1), repeat=P.size)))
            scores.append(np.asarray(score(jnp.asarray(bits), jnp.asarray((counts + member * bits) / rows))))
            of_target = np.prod(np.where(bits == 1, P, 1 - P))
            masses.append(of_target * stats.binom.pmf(counts, sample, P).prod(axis=1))
            targets.append(np.broadcast_to(bits, counts.shape))
    return np.concatenate(scores), np.concatenate(masses), np.concatenate(targets)


@pytest.mark.evidence
@pytest.mark.parametrize("attack", ["covariance", "ratio", "product"])
@pytest.mark.parametrize("n", [2, 5])
def test_it_draws_the_exact_law(n, attack):
    known = build(attack, MEAN, n)
    out, inside = (random_law(known, n, member)[:2] for member in (False, True))
    edges = edges_between(np.concatenate([out[0], inside[0]]))
    result = mi.play(mi.RandomTarget(MEAN, DATA, n=n), known, GAMES, edges=edges, progress=False)
    assert (result.manifest["sampler"], result.manifest["fidelity"]) == ("table", "sufficient")
    laws = expected(*out, edges), expected(*inside, edges)
    assert has_frequencies(result.out, laws[0])
    assert has_frequencies(result.inside, laws[1])
    assert not has_frequencies(result.inside, laws[0])
    assert not has_frequencies(result.out, laws[1])


@pytest.mark.evidence
@pytest.mark.parametrize("kind", ["coin", "coin and ratio", "noise", "noise after coin"])
def test_sub_sampling_and_noise(kind):
    n, rho, gamma = 4, 0.5, np.array([0.4, 0.0, 1.0])
    half = mi.Subsampled(MEAN, rho)
    mechanism = {
        "coin": half,
        "coin and ratio": half,
        "noise": mi.GaussianNoise(MEAN, gamma),
        "noise after coin": mi.GaussianNoise(half, gamma),
    }[kind]
    rows, sample = (2, rho) if "coin" in kind else (4, 1.0)
    attack = build("ratio" if "ratio" in kind else "covariance", mechanism, n)
    out, inside = (random_law(attack, rows, member) for member in (False, True))
    if "noise" not in kind:
        edges = edges_between(np.concatenate([out[0], inside[0]]))
        laws = [expected(*law[:2], edges) for law in (out, inside)]
        fixed_noise = None
    else:
        edges = np.linspace(out[0].min() - 2.0, inside[0].max() + 2.0, 200)

        def noisy(law, deviation):
            cdf = (stats.norm.cdf((edges[:, None] - law[0]) / deviation) * law[1]).sum(axis=1)
            return np.diff(np.concatenate([[0.0], cdf, [1.0]]))

        # The noise in the score is that of the target's own weights, which differ from target to target.
        sds = [
            np.sqrt((((law[2] - P) / (P * (1 - P)) * gamma) ** 2).sum(axis=1) / n) for law in (out, inside)
        ]
        laws = [noisy(law, sd) for law, sd in zip((out, inside), sds, strict=True)]
        fixed_noise = noisy(out, np.sqrt(out[1] @ sds[0] ** 2))
    result = mi.play(mi.RandomTarget(mechanism, DATA, n=n), attack, GAMES, edges=edges, progress=False)
    assert result.manifest["sampler"] == "table"
    assert has_frequencies(result.out, laws[0])
    assert has_frequencies(result.inside, (1 - sample) * laws[0] + sample * laws[1])
    if sample < 1:
        assert not has_frequencies(result.inside, laws[1])
    if fixed_noise is not None:
        assert not has_frequencies(result.out, fixed_noise)


def test_ties_stay_ties():
    # The score is the number of ones in the columns of the target's ones, over n: it may only take whole multiples of 1/n.
    n, data = 6, mi.Bernoulli(0.4, d=9)
    lattice = np.arange(9 * n + 1) / n
    edges = np.sort(np.concatenate([lattice - 1e-9, lattice + 1e-9]))
    game = mi.RandomTarget(MEAN, data, n=n)
    result = mi.play(game, mi.ScalarProduct(np.zeros(9)), 50_000, edges=edges, progress=False)
    assert result.manifest["sampler"] == "table"
    assert result.out[::2].sum() == result.inside[::2].sum() == 0


def test_counts_do_not_depend_on_the_chunk():
    game, attack = mi.RandomTarget(mi.Subsampled(MEAN, 0.5), DATA, n=10), mi.CovarianceScore(DATA, n=5)
    edges = np.linspace(-3.0, 3.0, 50)
    whole = mi.play(game, attack, 40_000, seed=3, edges=edges, workers=1, progress=False)
    parts = [
        mi.play(game, attack, part, seed=3, edges=edges, chunk=1, workers=2, progress=False)
        for part in (range(777), range(777, 40_000))
    ]
    assert np.array_equal(whole.out, (parts[0] + parts[1]).out)
    assert np.array_equal(whole.inside, (parts[0] + parts[1]).inside)


def test_pairs_have_their_law_at_any_size():
    """Each side against SciPy's binomials, to the units 2^-32 in which the tables store masses."""
    for rows, p in ((2, [0.5]), (7, [0.01, 0.99]), (1000, [0.25, 0.4, 0.75]), (100_000, [1e-4, 0.3])):
        low, law = pair_law(rows, np.array(p))
        assert np.allclose(law.sum(axis=(2, 3)), 1.0, rtol=0, atol=1e-12)
        for j, q in enumerate(p):
            sums = low[j] + np.arange(law.shape[3])
            for bit, of_bit in ((0, 1 - q), (1, q)):
                out, inside = stats.binom.pmf(sums, rows, q), stats.binom.pmf(sums - bit, rows - 1, q)
                assert np.abs(law[j, 0, bit] - of_bit * out).max() < 1e-9
                assert np.abs(law[j, 1, bit] - of_bit * inside).max() < 1e-9


def test_scores_that_mix_coordinates_are_left_to_the_columns():
    full = mi.CovarianceScore(mi.Gaussian(P, np.eye(3) + 0.5), n=10)

    class Own(mi.AbstractLinearAttack):
        def weights(self, target):
            return target[::-1]

        def offset(self, target):
            return jnp.zeros(())

    game = mi.RandomTarget(MEAN, DATA, n=10)
    noisy, ratio = mi.RandomTarget(mi.GaussianNoise(MEAN, 0.5), DATA, n=10), build("ratio", MEAN, 10)
    with exact_scope():
        assert build_sampler(game, build("product", MEAN, 10), "sufficient").name == "table"
        for played, attack in ((game, full), (game, Own()), (noisy, ratio)):
            assert build_sampler(played, attack, "sufficient").name == "columns"
