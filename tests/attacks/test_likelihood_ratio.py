"""The exact ratio against enumeration of every set of records, and what no target explains; densities are in tests/contracts."""

import itertools
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

import mipsim as mi
from tests.enumeration import literal_sums, random_target_sums
from tests.scope import in_exact_scope  # noqa: F401

stats: Any = scipy.stats  # its stubs type every frozen law as discrete
MEAN, P = mi.EmpiricalMean(), (0.3, 0.6)
HALF = mi.LikelihoodRatio(mi.Subsampled(MEAN, 0.5), mi.Bernoulli(P), n=4)


def score(attack: mi.AbstractAttack, target: Any, output: Any) -> float:
    return float(attack.score(jnp.asarray(target, float), jnp.asarray(output, float)))


def outcomes(name: str) -> tuple[mi.AbstractAttack, list[tuple[Any, Any, float, float]]]:
    """An attack, and (target, output, P in, P out) of every outcome."""
    plain = mi.LikelihoodRatio(MEAN, mi.Bernoulli(P), n=3)
    if name == "random target":  # with the target of each game the same score is the ratio of this game
        laws = [random_target_sums(P, 3, member) for member in (True, False)]
        return plain, [(c[:2], np.array(c[2:]) / 3, laws[0].get(c, 0.0), out) for c, out in laws[1].items()]
    n, chosen, attack = (4, 2, HALF) if name == "sub-sample" else (3, 3, plain)
    target = tuple(map(int, name.split())) if chosen == 3 else (1, 0)
    if name == "0 1":
        attack = mi.LikelihoodRatio(MEAN, mi.Bernoulli(P), n=3, target=target)
    laws = [literal_sums(P, n, point, chosen=chosen) for point in (target, None)]
    assert set(laws[0]) <= set(laws[1])
    return attack, [(target, np.array(c) / chosen, laws[0].get(c, 0.0), out) for c, out in laws[1].items()]


@pytest.mark.parametrize("name", [*(f"{a} {b}" for a, b in itertools.product((0, 1), repeat=2)), "sub-sample", "random target"])  # fmt: skip
def test_bernoulli_data_by_enumeration(name: str) -> None:
    attack, rows = outcomes(name)
    for target, output, inside, out in rows:
        expected = np.log(inside / out) if inside > 0 else -np.inf
        assert score(attack, target, output) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_a_sub_sample_mixes_joint_laws() -> None:
    """Mixing coordinate by coordinate is another number; an impossible output means that the target is not sampled."""
    differs = []
    for target, output, *_ in outcomes("sub-sample")[1]:
        terms = np.asarray(HALF.contributions(jnp.asarray(target, float), jnp.asarray(output)))
        differs.append(score(HALF, target, output) - float(np.log(0.5 + 0.5 * np.exp(terms)).sum()))
    assert np.abs(differs).max() > 0.1
    assert score(HALF, [1.0, 0.0], [0.0, 0.5]) == pytest.approx(np.log(0.5), rel=1e-12)


def test_an_aim_replaces_the_target_of_the_game() -> None:
    aimed, follows = (
        mi.LikelihoodRatio(MEAN, mi.Bernoulli(P), n=3, target=target) for target in ([0, 1], None)
    )
    output = [1 / 3, 2 / 3]
    assert (
        score(aimed, [1.0, 0.0], output)
        == score(follows, [0.0, 1.0], output)
        != score(follows, [1.0, 0.0], output)
    )


def sums(law: mi.AbstractDistribution, totals: Any, target: float) -> list[float]:
    """Ratios of four records of a single coordinate at totals."""
    own: Any = law.sum_ratio()
    return [float(own(jnp.array([t]), 4, jnp.array([target]), jnp.zeros(1))[0]) for t in totals]


def test_outputs_and_targets_that_cannot_be() -> None:
    """The game's target may be another than the attack's: any output must then get a score. A target outside the support gives NaN, which is an error."""
    assert score(mi.LikelihoodRatio(MEAN, mi.Exponential([1.0, 2.0]), 5), [3.0, 0.5], [0.5, 1.0]) == -np.inf
    assert np.isneginf(sums(mi.Bernoulli(0.3), [-1.0], 1.0) + sums(mi.Bernoulli(0.3), [5.5], 0.0)).all()
    assert np.isneginf(sums(mi.Exponential(1.0), [-3.0, 0.0], 1.0)).all()
    for law, target in ((mi.Bernoulli(0.3), 0.5), (mi.Exponential(1.0), -1.0)):
        assert np.isnan(sums(law, [0.0, 2.0], target)).all()
        assert not law.in_support([target])
