"""Every sampler is lowered for accelerators, so that nothing slips in that they do not support."""

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from jax import export

from mipsim._precision import exact_scope
from mipsim.engine.random.counter import run_draws
from mipsim.engine.samplers.base import AbstractSampler
from sims.every_sampler import every_sampler


@pytest.fixture(scope="module")
def samplers() -> dict[str, AbstractSampler]:
    """A sampler of each class, and of each of the parts that it may draw from."""

    def kind(sampler: AbstractSampler) -> str:
        parts = [getattr(sampler, part, None) for part in ("columns", "tables", "terms", "spread")]
        return ", ".join(type(part).__name__ for part in (sampler, *parts) if part is not None)

    return {kind(sampler): sampler for sampler in every_sampler().values()}


@pytest.mark.evidence
def test_each_is_lowered_for_cuda_and_tpu(samplers):
    for name, sampler in samplers.items():
        arrays, static = eqx.partition(sampler, eqx.is_array)
        with exact_scope():
            draws = run_draws(1, stream=0)._replace(games=jnp.arange(sampler.block, dtype=jnp.uint64))
            sample = jax.jit(lambda arrays, draws, static=static: eqx.combine(arrays, static).scores(draws))
            lowered = export.export(sample, platforms=["cuda", "tpu"])(arrays, draws)
        assert lowered.platforms == ("cuda", "tpu"), name


@pytest.mark.evidence
def test_every_kind_of_sampler_is_among_them(samplers):
    def kinds(family: type) -> set[type]:
        below = {kind for item in family.__subclasses__() for kind in kinds(item)}
        return below | ({family} if not family.__name__.startswith("Abstract") else set())

    ours = {kind for kind in kinds(AbstractSampler) if kind.__module__.startswith("mipsim.")}
    assert ours - {type(sampler) for sampler in samplers.values()} == set()
