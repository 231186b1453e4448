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


def test_mean() -> None:
    key = jax.random.key(0)
    assert MEAN.release(key, RECORDS).tolist() == RECORDS.mean(axis=0).tolist()
    assert MEAN.release(key, RECORDS).dtype == np.float64
    assert (MEAN.has_exact_law, MEAN.rows(7)) == (True, 7)


def test_no_noise_is_no_noise() -> None:
    for silent in (mi.GaussianNoise(MEAN, 0.0), mi.LaplaceNoise(MEAN, 0.0)):
        assert silent.release(jax.random.key(0), RECORDS).tolist() == RECORDS.mean(axis=0).tolist()


def test_a_function_is_subsampled() -> None:
    assert mi.Subsampled(lambda key, records: records.sum(axis=0), 0.5).rows(8) == 4


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


def _release(mechanism: mi.AbstractMechanism) -> Any:
    return mechanism.release(jax.random.key(0), RECORDS)
