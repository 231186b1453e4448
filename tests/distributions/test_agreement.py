"""Each thing that a user states of a distribution, a few per cent wrong: it is refused, or nothing depends on it."""

import contextlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mipsim as mi
from mipsim.distributions.base import AbstractProduct, AbstractWithCDF, coordinates


def mine(kind: str = "uniform", **stated: Any) -> mi.AbstractDistribution:
    """A user's own distribution of two coordinates: what its kind states, and what is stated instead or besides."""
    base, law, more = KINDS[kind]

    def __init__(self):
        (self.scale,) = coordinates(2, scale=1.0)

    passed = ("central_moment", "sample", "in_support")
    body = {name: lambda self, *rest, name=name: getattr(self.law, name)(*rest) for name in passed}
    body |= {"mean": property(lambda self: self.law.mean), "law": property(lambda self: law(np.ones(2)))}
    body |= {"hardest_target": lambda self: self.mean, "easiest_target": lambda self: self.mean}
    frame = {"__init__": __init__, "__annotations__": {"scale": np.ndarray}, "__module__": __name__}
    return type("Mine", (base,), {**body, **frame, **more, **stated})()


def sums(self: Any, factor: float = 1.0) -> Any:
    def draw(key: Any, n: Any) -> Any:
        rows = jnp.where(jnp.arange(4)[:, None] < n, jax.random.uniform(key, (4, 2)) - 0.5, 0.0)
        return n * 0.5 + factor * rows.sum(axis=0)

    return draw


def ratio(factor: float) -> Any:
    return lambda self: lambda *rest: factor * mi.Gaussian(0.0, 1.0, 2).sum_ratio()(*rest)  # type: ignore[misc]


def form(scale: float, sd: float, law: mi.AbstractDistribution) -> Any:
    return lambda self: (np.full(2, scale), np.full(2, sd), law)


def wave(factor: float) -> Any:
    return lambda self: lambda u: mi.Uniform(0.0, factor, 2).characteristic()(u)


def moment(order: int, factor: float) -> Any:
    return lambda self, r: self.law.central_moment(r) * (factor if r == order else 1.0)


def known_ratio(law: mi.AbstractDistribution, factor: float) -> dict[str, Any]:
    """A law's own ratio times a factor, beside what gives its waves."""
    own: Any = law.sum_ratio()
    stated = {"characteristic": law.characteristic, "lattice": law.lattice}
    stated = {name: lambda self, of=of: of() for name, of in stated.items() if of() is not None}
    return {"sum_ratio": lambda self: lambda *rest: factor * own(*rest), **stated}


SD = np.sqrt(1 / 12)
PAIR = mi.Gaussian(0.0, [[1.0, 0.5], [0.5, 1.0]])
UNIFORM, NORMAL = mi.Uniform(-0.5, 0.5, 2), mi.Gaussian(0.0, 1 / 12, 2)
KINDS: dict[str, Any] = {
    "uniform": (
        AbstractWithCDF,
        lambda s: mi.Uniform(0 * s, s),
        {"cdf": lambda self, x: np.clip(x, 0.0, 1.0)},
    ),
    "waves": (AbstractProduct, lambda s: mi.Uniform(0 * s, s), {"characteristic": wave(1.0)}),
    "records": (AbstractProduct, lambda s: mi.Uniform(0 * s, s), {}),
    "normal": (AbstractProduct, lambda s: mi.Gaussian(0 * s, s), {"sum_ratio": ratio(1.0)}),
    "coin": (AbstractProduct, lambda s: mi.Bernoulli(0.3 * s), {}),
    "pair": (
        mi.AbstractDistribution,
        lambda s: PAIR,
        {"is_product": False, "covariance": property(lambda self: self.law.covariance)},
    ),
}
TRUE: dict[str, tuple[str, dict[str, Any]]] = {
    **{kind: (kind, {}) for kind in KINDS},
    "sums": ("uniform", {"sum_sampler": sums}),
    "location and scale": ("uniform", {"location_scale": form(1.0, SD, UNIFORM)}),
    "lattice": ("coin", {"lattice": lambda self: mi.Bernoulli(0.3, 2).lattice()}),
    "ratio of densities": ("normal", known_ratio(mi.Gaussian(0.0, 1.0, 2), 1.0)),
    "ratio on a lattice": ("coin", known_ratio(mi.Bernoulli(0.3, 2), 1.0)),
}
WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "standard deviation for the variance": (
        "uniform", {"central_moment": lambda self, r: self.law.central_moment(r) ** (0.5 if r == 2 else 1.0)}, "0.288675, but by its cdf"
    ),
    **{f"moment {r}": ("uniform", {"central_moment": moment(r, 1.03)}, rf"central_moment\({r}\) is") for r in (2, 4)},
    "moment 3": ("uniform", {"central_moment": lambda self, r: self.law.central_moment(r) + (r == 3) * 0.03 * SD**3}, r"central_moment\(3\)"),
    "mean": ("uniform", {"mean": property(lambda self: 1.03 * self.law.mean)}, r"Mine\.mean is 0.515, but by its cdf it is 0.5"),
    "mean of few": ("uniform", {"mean": property(lambda self: self.law.mean + 1e-5)}, r"Mine\.mean is"),
    "covariance": ("records", {"covariance": property(lambda self: 1.03 * self.law.variance)}, "overrides covariance"),
    "cdf": ("uniform", {"cdf": lambda self, x: np.clip(0.5 + (x - 0.5) / 1.03, 0.0, 1.0)}, "by its cdf"),
    "moved cdf": ("uniform", {"cdf": lambda self, x: np.clip(x - 0.03, 0.0, 1.0)}, "by its cdf"),
    "sampler": ("uniform", {"sample": lambda self, k, n: 0.5 + 1.03 * (self.law.sample(k, n) - 0.5)}, "sample's E"),
    "sampler, by waves": ("waves", {"sample": lambda self, k, n: 0.5 + 1.03 * (self.law.sample(k, n) - 0.5)}, "sample's E"),
    "sampler, by moments": ("records", {"sample": lambda self, k, n: 0.5 + 1.03 * (self.law.sample(k, n) - 0.5)}, "by its sample"),
    "moved sampler": ("records", {"sample": lambda self, k, n: self.law.sample(k, n) + 0.03}, "by its sample"),
    "moment of records": ("records", {"central_moment": moment(2, 1.03)}, "by its sample"),
    "characteristic": ("uniform", {"characteristic": wave(1.03)}, "by its characteristic"),
    "characteristic alone": ("waves", {"characteristic": wave(1.03)}, "by its characteristic"),
    "characteristic that is not centred": (
        "waves", {"characteristic": lambda self: lambda u: np.exp(0.03j * u) * wave(1.0)(self)(u)}, "mean is"
    ),
    "sums": ("uniform", {"sum_sampler": lambda self: sums(self, 1.03)}, "sum_sampler's E"),
    "sums of nothing": ("uniform", {"sum_sampler": lambda self: lambda k, n: sums(self)(k, n) + 0.03}, "not 0 for n = 0"),
    "scale": ("uniform", {"location_scale": form(1.03, SD, UNIFORM)}, "scale times sd"),
    "deviation": ("uniform", {"location_scale": form(1 / 1.03, 1.03 * SD, UNIFORM)}, "location_scale's sd"),
    "family": ("uniform", {"location_scale": form(1.0, SD, NORMAL)}, "by its location_scale's characteristic"),
    "lattice": ("coin", {"lattice": lambda self: mi.Bernoulli(0.309, 2).lattice()}, "by its lattice"),
    "ratio": ("normal", {"sum_ratio": ratio(1.1)}, "sum_ratio's E"),
    "ratio of densities": ("normal", known_ratio(mi.Gaussian(0.0, 1.0, 2), 1.03), "sum_ratio at .* by its characteristic"),
    "ratio on a lattice": ("coin", known_ratio(mi.Bernoulli(0.3, 2), 1.03), "sum_ratio at .* by its lattice"),
    "fourth moment of records": ("records", {"central_moment": moment(4, 1.03)}, "by its sample"),
    "covariance of a pair": (
        "pair", {"covariance": property(lambda self: np.array([[1.0, 0.55], [0.55, 1.0]]))}, r"covariance\[0, 1\]"
    ),
    "independence": (
        "records", {"sample": lambda self, k, n: jnp.tile(jax.random.uniform(k, (n, 1)), 2)}, "together"
    ),
    "support": ("uniform", {"in_support": lambda self, point: False}, "in_support is False"),
}  # fmt: skip
UNUSED: dict[str, Any] = {
    "central_moment": moment(6, 1.03), "location_scale": form(1.0, SD, mi.Uniform(-0.47, 0.53, 2)), "quantile": lambda self, p: 1.03 * p,
    "density": lambda self, x: np.full(x.shape, 1.03), "std": property(lambda self: 1.03 * SD * self.scale),
}  # fmt: skip
"""Moment 6, the location of the family, and what nothing reads."""


@pytest.mark.parametrize("name", TRUE)
def test_what_agrees_is_taken(name: str) -> None:
    kind, stated = TRUE[name]
    assert mine(kind, **stated).dimension == 2


@pytest.mark.parametrize("name", WRONG)
def test_what_disagrees_is_refused(name: str) -> None:
    kind, stated, words = WRONG[name]
    with pytest.raises((ValueError, TypeError), match=words) as caught:
        mine(kind, **stated)
    assert "\n" not in str(caught.value)


def test_a_transformed_record_has_the_stated_distribution() -> None:
    for p, wrong in ((0.3, False), (0.309, True)):
        data = mine(
            "coin", transformed=lambda self, transform, p=p: mi.Bernoulli(p, 2).transformed(transform)
        )
        game = mi.FixedTarget(mi.SGDStep(1.5, 0.4), data, n=20, target=[1.0, 1.0])
        refused = pytest.raises(ValueError, match=r"Mine\.transformed's sample's E")
        with refused if wrong else contextlib.nullcontext():
            game.exact(mi.ScalarProduct([0.3, 0.3]))


def played(data: mi.AbstractDistribution) -> list[float]:
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=150, target=[1.0, 0.7])
    attack = mi.ScalarProduct([0.25, 0.5])
    counts = mi.play(game, attack, 500, progress=False)
    return [*counts.out.tolist(), *counts.inside.tolist(), *game.exact(attack).tpr_bounds(0.1)]


def test_what_is_not_refused_changes_no_bit() -> None:
    assert played(mine("uniform", **UNUSED)) == played(mine("uniform", location_scale=form(1.0, SD, UNIFORM)))


def test_the_tables_name_everything_that_may_be_stated() -> None:
    may = set(mi.AbstractDistribution.OPTIONAL) | mi.AbstractDistribution.__abstractmethods__ | {"cdf"}
    stated = {name for _, body, _ in WRONG.values() for name in body}
    # Targets are points; what is transformed has a test of its own.
    assert may - stated == {"is_product", "easiest_target", "hardest_target", "transformed"}
