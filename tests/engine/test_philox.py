from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mipsim.engine.philox import philox
from mipsim.engine.precision import exact_scope
from mipsim.engine.table import _normal, _pack, _unpack

ONES = 0xFFFFFFFF
# The known answers that Salmon et al. publish with Random123 for philox4x32-10.
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((ONES,) * 4, (ONES,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


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
        drawn = jax.jit(philox)(counters, words((0, 0)))
    assert [set(np.asarray(w).tolist()) for w in drawn] == [{w} for w in KNOWN[0][2]]


def test_packing_keeps_every_bit():
    # Packed words are floats in name only: the bits of NaN, infinity and subnormal numbers must survive.
    patterns = np.array(
        [0, 1, ONES, 0x7FF00000, 0x7FF00001, 0xFFF7FFFF, 0x80000000, 0x7FF80000], dtype=np.uint32
    )
    grid = [g.ravel() for g in np.meshgrid(patterns, patterns, patterns, patterns)]
    with exact_scope():
        there = jax.jit(lambda *w: _pack(w))(*map(jnp.asarray, grid))
        back = jax.jit(_unpack)(there)
    for sent, got in zip(grid, back, strict=True):
        np.testing.assert_array_equal(sent, np.asarray(got))


def test_the_normal_is_finite_at_both_ends():
    with exact_scope():
        ends = np.asarray(_normal(words([[0, ONES]] * 4)))
    assert np.isfinite(ends).all()
    assert 8.5 < ends[0] < 8.6
