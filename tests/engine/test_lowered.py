"""Every sampler is lowered for accelerators, so that nothing slips in that they do not support."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.engine.fidelity import build_sampler
from mipsim.engine.random.counter import run_draws
from mipsim.engine.samplers.base import AbstractSampler
from mipsim.engine.samplers.many import many_targets_sampler
from mipsim.rare.linear_score import _Shifted
from mipsim.rare.table_score import term_sampler
from tests.engine.stored_runs import stored_runs


def samplers() -> dict[str, AbstractSampler]:
    """One of each name."""
    with exact_scope():
        runs = stored_runs()
        found = [build_sampler(game, attack, "auto") for game, attack in runs.values()]
        game, attack = runs["covariance"]
        assert isinstance(game, mi.FixedTarget)
        targets = game.target[None, :]
        found += [many_targets_sampler(game, attack, targets, how) for how in ("literal", "sufficient")]
        found.append(_Shifted(base=found[0], shift=jnp.asarray(0.5), block=found[0].block))
        found.append(term_sampler(np.full((3, 4), 0.25), np.arange(12.0).reshape(3, 4)))
    return {sampler.name: sampler for sampler in found}


@pytest.mark.parametrize("sampler", list(samplers().values()), ids=list(samplers()))
def test_it_is_lowered_for_cuda_and_tpu(sampler):
    arrays, static = eqx.partition(sampler, eqx.is_array)
    with exact_scope():
        draws = run_draws(1, stream=0)._replace(games=jnp.arange(sampler.block, dtype=jnp.uint64))
        drawn = jax.jit(lambda arrays, draws: eqx.combine(arrays, static).scores(draws))
        lowered = export.export(drawn, platforms=["cuda", "tpu"])(arrays, draws)
    assert lowered.platforms == ("cuda", "tpu")


def test_every_kind_of_sampler_is_among_them():
    def kinds(family: type) -> set[type]:
        below = {kind for one in family.__subclasses__() for kind in kinds(one)}
        return below | ({family} if not family.__name__.startswith("Abstract") else set())

    ours = {kind for kind in kinds(AbstractSampler) if kind.__module__.startswith("mipsim.")}
    assert ours - {type(sampler) for sampler in samplers().values()} == set()
