"""Both routes of each mechanism agree in law, and what is wrong is refused."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mipsim as mi
from tests.law_agreement import same_law
from tests.scope import in_exact_scope  # noqa: F401

MEAN = mi.EmpiricalMean()
RECORDS: Any = np.array([[0.0, 1.0], [2.0, 5.0], [1.0, -3.0], [4.0, 0.5]])
REPEATS = 20_000


def test_noise_of_a_step_is_counted_in_clips_on_the_sum() -> None:
    assert mi.SGDStep(2.0, 3.0).noise_std(4) == 3.0 * 2.0 / 4
    step = mi.SGDStep.with_noise_std(clip=2.0, noise_std=0.05, n=100)
    assert step.noise_std(100) == pytest.approx(0.05, rel=1e-15)
    # n + tau^2 n^2 / C^2, as printed
    assert step.effective_n(100) == pytest.approx(100 + 0.05**2 * 100**2 / 2.0**2, rel=1e-15)
    assert mi.SGDStep(np.inf, 0.0).effective_n(100) == 100.0
    assert mi.SGDStep(np.inf, 0.0).noise_std(100) == 0.0


# The mean and its sub-sample, of Bernoulli data, are held against enumeration in tests/games.
ROUTES = {
    "gaussian noise": mi.GaussianNoise(MEAN, [0.2, 0.3]),
    "laplace noise": mi.LaplaceNoise(MEAN, 0.1),
    "subsample of noise": mi.Subsampled(mi.GaussianNoise(MEAN, 0.3), 0.5),
    "noise on subsample": mi.GaussianNoise(mi.Subsampled(MEAN, 0.5), 0.3),
}


@pytest.mark.evidence
@pytest.mark.parametrize("name", ROUTES)
def test_both_routes_agree_in_law(name: str) -> None:
    mechanism, n, target = ROUTES[name], 6, jnp.array([2.0, -1.0])
    data = mi.Gaussian([0.0, 1.0], [[1.0, 0.7], [0.7, 1.0]])
    draw = mechanism.exact_draw()
    assert draw is not None

    def literal(key: jax.Array, member: jax.Array) -> jax.Array:
        first, second = jax.random.split(key)
        records = data.sample(first, n)
        return mechanism.release(second, jnp.where(member, records.at[0].set(target), records))

    def from_law(key: jax.Array, member: jax.Array) -> jax.Array:
        return draw(key, data, n, target, member)

    keys = jax.random.split(jax.random.key(1), REPEATS)
    projection = np.array([1.0, -0.5])
    sample = {}
    for route, item in (("rows", literal), ("law", from_law)):
        play = jax.jit(jax.vmap(item, in_axes=(0, None)))
        sample |= {(route, member): np.asarray(play(keys, member)) for member in (False, True)}
    for member in (False, True):
        rows, exact, other = sample["rows", member], sample["law", member], sample["law", not member]
        assert same_law(rows @ projection, exact @ projection)
        assert not same_law(rows @ projection, other @ projection)
        assert same_law(rows[:, 0], exact[:, 0])
        assert same_law(rows[:, 1], exact[:, 1])


DATA = mi.Bernoulli([0.3, 0.8])


def test_wrappers_offer_the_exact_route_only_where_their_base_does() -> None:
    own = mi.FunctionMechanism(lambda key, records: records.max(axis=0))
    for wrapped in (mi.GaussianNoise(own, 1.0), mi.LaplaceNoise(own, 1.0), mi.Subsampled(own, 0.5), own):
        assert not wrapped.has_exact_law
        assert mi.FixedTarget(wrapped, DATA, 4, [1.0, 0.0]).exact_round() is None
    assert not mi.PoissonSubsampled(mi.SGDStep(0.5, 1.0), 0.5).has_exact_law  # a clipped step needs its rows


def test_a_law_that_cannot_be_sampled_is_refused_by_name() -> None:
    draw, data = MEAN.exact_draw(), mi.StudentT(5.0)
    assert draw is not None
    with pytest.raises(ValueError, match="StudentT data have no exact law of a sum"):
        draw(jax.random.key(0), data, 4, jnp.ones(1), True)
