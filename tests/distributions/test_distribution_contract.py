"""What every law owes: shapes, types, determinism, jit and vmap, moments, targets."""

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

import mipsim as mi
from mipsim import distributions
from tests.distributions.members import MEMBERS, Member
from tests.scope import in_exact_scope  # noqa: F401


@pytest.fixture(params=MEMBERS, ids=str)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def member(name: str) -> Member:
    return MEMBERS[name]


@pytest.fixture
def law(member: Member) -> mi.AbstractDistribution:
    return member.law


def test_every_public_law_is_here() -> None:
    public = {n for n in distributions.__all__ if not n.startswith("Abstract")}
    assert public == {type(m.law).__name__ for m in MEMBERS.values()}


@pytest.mark.evidence
def test_shapes_types_and_keys(law: mi.AbstractDistribution) -> None:
    """The same records of the same key, in jit and vmap too; a single trace for all keys and parameters."""
    d = law.dimension
    records = law.sample(jax.random.key(0), 7)
    assert (records.shape, records.dtype) == ((7, d), jnp.float64)
    for vector in (law.mean, law.variance, law.central_moment(4), law.hardest_target()):
        assert isinstance(vector, np.ndarray)
        assert (vector.shape, vector.dtype) == ((d,), np.float64)
    assert law.covariance.shape == ((d,) if law.is_product else (d, d))
    assert all(leaf.dtype == np.float64 for leaf in jax.tree.leaves(law))
    assert "standard deviation" in law._repr_html_()
    keys, traces = jax.random.split(jax.random.key(3), 4), []

    @jax.jit
    def draw(law: mi.AbstractDistribution, key: jax.Array) -> jax.Array:
        traces.append(1)
        return law.sample(key, 7)

    plain, again = (np.stack([law.sample(key, 7) for key in keys]) for _ in range(2))
    assert (plain == again).all()
    assert (plain[0] != plain[1]).any()
    # XLA may fuse a multiplication and an addition: the last bit may differ, no more.
    as_argument, together = (
        np.stack([draw(law, key) for key in keys]),
        jax.vmap(lambda key: law.sample(key, 7))(keys),
    )
    np.testing.assert_allclose(as_argument, plain, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(together, plain, rtol=1e-14, atol=1e-14)
    draw(jax.tree.map(lambda leaf: leaf * (1 - 1e-9), law), jax.random.key(1))
    assert len(traces) == 1


@pytest.mark.evidence
def test_moments_by_quadrature(member: Member) -> None:
    values = np.array([member.law.central_moment(order) for order in range(9)])
    with mpmath.workdps(20):
        for j, (density, points) in enumerate(member.density):
            mean = mpmath.quad(lambda x, f=density: x * f(x), points)
            for order, value in enumerate(values[:, j]):
                exact: Any = mpmath.quad(lambda x, f=density, m=mean, k=order: (x - m) ** k * f(x), points)
                exact = float(exact)
                assert abs(value - exact) <= 1e-9 * max(1.0, abs(exact))
    for j, (points, weights) in enumerate(member.atoms):
        off = points - np.sum(points * weights)
        exact = [np.sum(off**order * weights) for order in range(9)]
        np.testing.assert_allclose(values[:, j], exact, rtol=1e-12, atol=1e-14)
    assert member.density or member.atoms


def test_first_moment_and_orders_that_are_none(law: mi.AbstractDistribution) -> None:
    assert (law.central_moment(1) == 0).all() or np.abs(law.central_moment(1)).max() < 1e-15
    with pytest.raises(ValueError, match="order is -1"):
        law.central_moment(-1)


def test_easiest_and_hardest(member: Member) -> None:
    law = member.law
    hardest = law.mahalanobis_squared(law.hardest_target())
    typical = law.typical_target(seed=5)
    assert (typical == law.typical_target(seed=5)).all()
    assert law.in_support(typical)
    assert hardest <= law.mahalanobis_squared(typical)
    if member.unbounded:
        assert hardest == 0.0
        with pytest.raises(ValueError, match="unbounded support"):
            law.easiest_target()
        return
    assert law.in_support(law.easiest_target())
    assert law.in_support(law.hardest_target())
    points = itertools.product(*member.points)
    distances = [law.mahalanobis_squared(point) for point in points if law.in_support(point)]
    assert law.mahalanobis_squared(law.easiest_target()) == pytest.approx(max(distances), rel=1e-12)
    assert hardest <= min(distances) * (1 + 1e-12)


def test_support(member: Member) -> None:
    law, far = member.law, np.full(member.law.dimension, -7.25)
    assert law.in_support(far) is bool(np.isneginf([min(values) for values in member.points]).all())
    with pytest.raises(ValueError, match="point has shape"):
        law.in_support(np.zeros(law.dimension + 1))


@pytest.mark.evidence
def test_no_route_is_promised_in_vain(law: mi.AbstractDistribution) -> None:
    d = law.dimension
    draw_sum, ratio = law.sum_sampler(), law.sum_ratio()
    if draw_sum is not None:
        assert draw_sum(jax.random.key(0), 5).shape == (d,)
    else:
        game = mi.FixedTarget(mi.EmpiricalMean(), law, n=4, target=law.hardest_target())
        assert game.exact_round() is None
    if ratio is not None:
        target = jnp.asarray(law.hardest_target())
        assert ratio(5 * target, 5, target, jnp.zeros(d)).shape == (d,)
    else:
        with pytest.raises(
            ValueError, match=r"the likelihood ratio of EmpiricalMean on .* data is intractable"
        ):
            mi.LikelihoodRatio(mi.EmpiricalMean(), law, 5)


def test_empirical_targets_use_the_chosen_covariance() -> None:
    records = np.array([[0.0, 0.0], [1.0, 1.1], [2.0, 1.9], [3.0, 3.2], [2.0, 1.0]])
    full, diagonal = mi.Empirical(records), mi.Empirical(records, "diagonal")
    assert full.covariance.shape == (2, 2)
    np.testing.assert_allclose(full.covariance, np.cov(records.T, bias=True))
    np.testing.assert_allclose(diagonal.covariance, records.var(axis=0))
    assert full.easiest_target().tolist() == [2.0, 1.0]  # off the line on which the others lie
    assert diagonal.easiest_target().tolist() == [3.0, 3.2]


def test_student_moments_that_do_not_exist() -> None:
    law = mi.StudentT([3.0, 4.0, 4.5])
    assert np.isfinite(law.variance).all()
    assert np.isinf(law.central_moment(3)).tolist() == [True, False, False]
    assert np.isinf(law.central_moment(4)).tolist() == [True, True, False]
