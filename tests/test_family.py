"""What a family computes, no member computes again: a subclass that would be misread in silence is refused."""

import equinox as eqx
import jax.numpy as jnp
import pytest

import mipsim as mi

FINAL = [
    mi.EmpiricalMean,
    mi.GaussianNoise,
    mi.Bernoulli,
    mi.Gaussian,
    mi.FixedTarget,
    mi.CovarianceScore,
    mi.LikelihoodRatio,
]


@pytest.mark.parametrize("member", FINAL)
def test_a_final_member_is_not_subclassed(member):
    with pytest.raises(
        TypeError, match=f"^Mine subclasses {member.__name__}, which is final; subclass Abstract"
    ) as caught:
        type("Mine", (member,), {"__module__": __name__})
    assert "\n" not in str(caught.value)


def bent_release(self, key, records):
    return 2 * records.mean(axis=0)


def test_an_overridden_release_is_not_ignored():
    """It was: the engine read an overridden empirical mean as the mean itself."""
    with pytest.raises(TypeError, match="which is final"):
        type("Twice", (mi.EmpiricalMean,), {"release": bent_release, "__module__": __name__})


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
