"""The bin of every score is NumPy's, for thresholds of any spacing."""

import jax
import numpy as np
import pytest

from mipsim._precision import exact_scope
from mipsim.engine.edge_grid import EdgeGrid

RNG = np.random.default_rng(0)
EDGES = {
    "normal": np.sort(RNG.normal(size=1024)),
    "single": np.array([1.0]),
    "heavy tails": np.sort(RNG.standard_cauchy(size=5000)),
    "all in the same bucket except the last": np.array([*np.linspace(1.0, 1.0 + 1e-9, 3000), 1e6]),
    "greatest numbers": np.array([-1.7e308, 1.0, 1.7e308]),
    "narrow": 1.0 + np.arange(1, 50) * 2.0**-52,
    "even": np.linspace(-3.0, 3.0, 2048),
}


@pytest.mark.evidence
@pytest.mark.parametrize("name", EDGES)
def test_bins_are_those_of_a_search(name):
    edges, rng = EDGES[name], np.random.default_rng(1)
    near = [edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf), [np.inf, -np.inf, 0.0]]
    scores = np.concatenate([rng.normal(size=20_000), 10 * rng.standard_cauchy(20_000), *near])
    with exact_scope():
        # Beside another column, whose thresholds must not matter to this column.
        grid, both = EdgeGrid([EDGES["even"], edges]), np.stack([scores[::-1], scores])
        result = jax.jit(lambda grid, x: grid.bins(x))(grid, both)
    np.testing.assert_array_equal(result[0], np.searchsorted(EDGES["even"], scores[::-1], side="left"))
    np.testing.assert_array_equal(result[1], np.searchsorted(edges, scores, side="left"))


def test_spacings_share_shapes():
    first, second = EdgeGrid([EDGES["normal"]]), EdgeGrid([EDGES["single"]])
    assert jax.tree.map(np.shape, first) == jax.tree.map(np.shape, second)
