from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mipsim._precision import exact_scope
from mipsim.engine.random.philox import philox
from mipsim.engine.samplers.table import _normal

ONES = 0xFFFFFFFF
# The known answers that Salmon et al. publish with Random123 for philox4x32-10.
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((ONES,) * 4, (ONES,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0), (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
]  # fmt: skip


def words(values) -> Any:
    return tuple(jnp.asarray(v, jnp.uint32) for v in values)


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
def test_known_answers(counter, key, expected):
    with exact_scope():
        for call in (philox, jax.jit(philox)):
            assert tuple(int(w) for w in call(words(counter), words(key))) == expected


def test_known_answers_as_a_column():
    with exact_scope():
        counters = tuple(jnp.asarray([k[0][i] for k in KNOWN[:1]] * 5, jnp.uint32) for i in range(4))
        sample = jax.jit(philox)(counters, words((0, 0)))
    assert [set(np.asarray(w).tolist()) for w in sample] == [{w} for w in KNOWN[0][2]]


def test_the_normal_is_finite_at_both_ends():
    with exact_scope():
        ends = np.asarray(_normal(words([[0, ONES]] * 4)))
    assert np.isfinite(ends).all()
    assert 8.5 < ends[0] < 8.6
