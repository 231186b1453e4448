"""What a family computes, no member computes again: a subclass that would be misread in silence is refused."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mipsim as mi
from mipsim.mechanisms.expansion import Expansion


@pytest.mark.parametrize(
    "member",
    [mi.EmpiricalMean, mi.GaussianNoise, mi.Bernoulli, mi.Gaussian, mi.FixedTarget, mi.CovarianceScore, mi.LikelihoodRatio],
)  # fmt: skip
def test_a_final_member_is_not_subclassed(member):
    """The engine read an overridden empirical mean as the mean itself."""
    with pytest.raises(
        TypeError, match=f"^Mine subclasses {member.__name__}, which is final; subclass Abstract"
    ) as caught:
        type(
            "Mine",
            (member,),
            {"release": lambda self, key, records: 2 * records.mean(axis=0), "__module__": __name__},
        )
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("base", "name"),
    [
        (mi.AbstractLinearAttack, "score"),
        (mi.AbstractLinearAttack, "contributions"),
        (mi.AbstractLinearAttack, "link"),
        (mi.AbstractAdditiveAttack, "score"),
        (mi.AbstractQuadraticAttack, "score"),
        (mi.AbstractDistribution, "variance"),
        (mi.AbstractGame, "exact"),
        (mi.AbstractZEstimator, "release"),
    ],
)
def test_what_a_base_computes_is_not_overridden(base, name):
    with pytest.raises(TypeError, match=rf"^Bent overrides {name} of Abstract\w+, which follows from"):
        type("Bent", (base,), {name: lambda self, *rest: None, "__module__": __name__})


def test_members_give_the_abstract_parts_and_helpers_of_their_own():
    class Scaled(mi.AbstractLinearAttack):
        factor: float = eqx.field(static=True)

        def weights(self, target):
            return self.twice(target)

        def offset(self, target):
            return jnp.zeros(())

        def twice(self, target):
            return 2 * self.factor * target

    assert float(Scaled(1.5).score(jnp.ones(2), jnp.ones(2))) == 6.0


@pytest.mark.parametrize("attack", ["covariance", "ratio"])
def test_a_score_outside_the_engine_is_float64(attack: str) -> None:
    data = mi.Bernoulli([0.3, 0.6])

    members = {
        "covariance": mi.CovarianceScore(data, n=10),
        "ratio": mi.LikelihoodRatio(mi.EmpiricalMean(), data, 10),
    }
    result = members[attack].score(np.array([1.0, 0.0]), np.array([0.3, 0.5]))
    with jax.enable_x64(True):
        inside = members[attack].score(np.array([1.0, 0.0]), np.array([0.3, 0.5]))
    assert np.asarray(result).dtype == np.float64
    assert float(result) == float(inside)


@pytest.mark.evidence
def test_records_and_outputs_outside_the_engine_are_float64() -> None:
    data = mi.Gaussian(0.0, 1.0, d=2)
    game = mi.FixedTarget(mi.GaussianNoise(mi.EmpiricalMean(), 0.5), data, n=4, target=np.ones(2))
    key = jax.random.key(0)
    item: Any = np.ones(2)
    result: Any = (
        data.sum_sampler(),
        data.sum_ratio(),
        game.mechanism.exact_draw(),
        game.exact_round(),
        mi.LikelihoodRatio(mi.EmpiricalMean(), data, 4).as_quadratic(),
    )
    draw_sum, ratio, law, play, quadratic = result
    for sample in (
        data.sample(key, 3),
        game.play(key, True)[1],
        game.mechanism.release(key, jnp.ones((4, 2))),
        draw_sum(key, 4),
        ratio(item, 4, item, item),
        law(key, data, 4, item, True),
        play(key, True)[1],
        quadratic.metric(item),
        Expansion(data.mean, -np.eye(2), np.diag(data.covariance), jnp.sign).influence(item),
    ):
        assert np.asarray(sample).dtype == np.float64
