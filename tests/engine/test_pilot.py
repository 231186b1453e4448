"""Thresholds of a pilot, and the bin of every score among thresholds of any spacing."""

import jax
import numpy as np
import pytest

from mipsim._precision import exact_scope
from mipsim.bands.curve_band import are_single
from mipsim.engine.edge_grid import EdgeGrid
from mipsim.engine.pilot import THRESHOLDS, pilot_edges, pilot_shares, spread_evenly

RNG = np.random.default_rng(0)


def sound(edges):
    return edges.ndim == 1 and edges.size >= 1 and np.isfinite(edges).all() and (np.diff(edges) > 0).all()


def test_gaussian_scores_get_even_thresholds_over_both_worlds():
    rng = np.random.default_rng(2)
    edges = pilot_edges(np.stack([rng.normal(-2, 1, 4096), rng.normal(2, 3, 4096)]))
    assert sound(edges)
    assert 900 < edges.size <= THRESHOLDS
    # Six standard deviations either way; the pilot's quantiles fix the straight tails to a few per cent.
    assert edges[0] == pytest.approx(2 - 18, rel=0.15)
    assert edges[-1] == pytest.approx(2 + 18, rel=0.15)
    assert np.diff(edges[(edges > -4) & (edges < 0)]).max() < 0.2


LAWS = [
    RNG.standard_cauchy((2, 4096)),
    RNG.exponential(size=(2, 4096)) ** 3,
    np.log1p(RNG.random((2, 4096)) * 1e-12),
    1e300 * RNG.normal(size=(2, 500)),
    1e-300 * RNG.normal(size=(2, 500)),
    1e9 + RNG.normal(size=(2, 4096)),
    RNG.binomial(3, 0.5, (2, 4096)).astype(float),
    RNG.integers(0, 2, (2, 32)).astype(float),
    np.zeros((2, 64)),
    np.full((2, 64), -7.25),
    np.stack([np.zeros(64), np.ones(64)]),
    np.full((2, 64), np.inf),
    np.stack([np.full(64, -np.inf), RNG.normal(size=64)]),
    np.where(RNG.random((2, 512)) < 0.5, -np.inf, RNG.normal(size=(2, 512))),
    RNG.normal(size=(2, 1)),
    RNG.normal(size=(2, 2)),
]


@pytest.mark.parametrize("scores", LAWS)
def test_any_law_gets_increasing_finite_thresholds(scores):
    edges = pilot_edges(scores)
    assert sound(edges)
    assert edges.size <= THRESHOLDS
    if np.unique(scores).size == 1 and np.isfinite(scores).all():  # a shifted score differs
        assert edges[0] < scores[0, 0] < edges[-1]


LARGEST = np.finfo(float).max
FLOAT32 = float(np.float32(0.1))


def cells_of(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Whether each value lies in a cell that holds a single float64."""
    return are_single(edges)[np.searchsorted(edges, values)]


@pytest.mark.parametrize(
    "values",
    [
        [0.0, 1.0],
        [-1.0, -0.0, 0.0],
        [0.0, 0.3],
        [-0.3, 0.1, 0.7],
        [FLOAT32, 0.7],
        [5.0],
        [0.0, 2.0**50],
        [-np.inf, np.inf],
        [-np.inf, -1e300, 0.2, np.inf],
        np.arange(24) / 10,
        (np.arange(24, dtype=np.float32) / np.float32(10)).astype(float),
        np.sqrt(np.arange(4)),
    ],
)
def test_few_values_lie_in_cells_of_their_own(values) -> None:
    edges = pilot_edges(np.tile(values, (2, 64)))
    assert sound(edges)
    assert cells_of(np.array(values), edges).all()
    places = np.searchsorted(edges, values)
    assert np.unique(places).size == np.unique(values).size
    assert not are_single(edges)[np.setdiff1d(np.arange(edges.size + 1), places)].any()
    # The control: the neighbours of a value lie in cells that hold other values too.
    with np.errstate(over="ignore"):
        beside = np.concatenate([np.nextafter(values, -np.inf), np.nextafter(values, np.inf)])
    beside = beside[np.isfinite(beside) & (np.abs(beside) < LARGEST) & (np.abs(beside) > 1e-300)]
    assert not cells_of(beside, edges).any()


def test_two_values_have_thresholds_at_them_just_below_and_between() -> None:
    """Subnormal values have no cells: compiled code takes them for zero."""
    assert not cells_of(np.array([1e-310]), pilot_edges(np.tile([1e-310, 0.0], (2, 64)))).any()
    edges = pilot_edges(np.tile([-1.0, 0.0, 0.0], (2, 16)))
    assert edges.tolist() == [np.nextafter(-1.0, -2.0), -1.0, -0.5, -np.finfo(float).tiny, 0.0]
    assert are_single(edges).tolist() == [False, True, False, False, True, False]


def test_of_a_mixture_the_frequent_values_have_cells_and_the_rest_even_thresholds() -> None:
    """A clipped score, float32 and float64, and a value too rare for a cell; the control has no value twice."""
    rng = np.random.default_rng(8)
    for dtype in (np.float64, np.float32):
        smooth = rng.normal(size=(2, 4096)).astype(dtype).astype(float)
        clipped = np.clip(smooth, -0.7, 1.1)
        clipped[:, :20] = 0.3
        edges = pilot_edges(clipped)
        assert cells_of(np.array([-0.7, 0.3, 1.1]), edges).tolist() == [True, False, True]
        assert are_single(edges).sum() == 2
        assert 100 < edges.size <= THRESHOLDS
        assert not are_single(pilot_edges(smooth)).any()


def test_of_many_values_the_most_frequent_have_cells() -> None:
    values = np.arange(40.0) / 10
    scores = np.repeat(values, np.where(np.arange(40) < 30, 100, 20))
    edges = pilot_edges(np.stack([scores, scores]))
    assert cells_of(values, edges).sum() == 24
    assert not cells_of(values[30:], edges).any()


@pytest.mark.parametrize("scores", LAWS[:5] + LAWS[6:])
def test_thresholds_do_not_depend_on_rounding(scores):
    """Rounding of 1e-15 moves any of 1,024 thresholds, the closest of them 1e-6 from a score, in 20 trials with a probability below 1e-3.

    The sixth is left out: where scores are 1e9 and differ by 1, rounding is 1e-7. So are thresholds at single values.
    """
    # Values that differ by rounding have no cells of their own.
    scores = scores * (1.0 + 2.0**-52 * np.random.default_rng(2).integers(-2, 3, scores.shape))
    rng, edges = np.random.default_rng(1), pilot_edges(scores)
    for _ in range(20):
        jitter = 1.0 + 2.0**-52 * rng.integers(-2, 3, scores.shape)
        np.testing.assert_array_equal(pilot_edges(scores * jitter), edges)


def test_no_heavy_value_is_missed_among_many_rare_ones():
    """Three values of probability 1/3 and 500 of 1e-6: even choices by number would skip the three."""
    values = np.concatenate([[0.0, 1.0, 2.0], 3.0 + np.arange(500)])
    scores = np.concatenate([np.repeat(values[:3], 10_000), values[3:]])
    pilot = np.stack([scores, scores]) + 1e-12 * np.random.default_rng(9).normal(size=scores.size)
    edges = pilot_edges(pilot)
    shares = pilot_shares(pilot, edges)
    picked = edges[spread_evenly(shares, edges.size, 64)]
    assert picked.size <= 64 < edges.size
    assert set(np.searchsorted(values, picked)) >= {1, 2, 3}
    by_number = edges[spread_evenly(None, edges.size, 64)]
    assert not set(np.searchsorted(values, by_number)) >= {1, 2, 3}


def test_a_score_without_atoms_has_no_shares():
    pilot = np.random.default_rng(7).normal(size=(2, 4096))
    assert pilot_shares(pilot, pilot_edges(pilot)) is None


TENTHS = np.arange(10) / 10


@pytest.mark.parametrize("values", [np.sqrt(np.arange(10)), np.where(TENTHS == 0.3, 0.1 + 0.2, TENTHS)])
def test_values_that_may_be_sums_have_no_cells(values) -> None:
    """Sums of tenths differ from tenths in the last digit, here in a tenth of them."""
    assert not are_single(pilot_edges(np.tile(values, (2, 64)))).any()


@pytest.mark.parametrize(
    ("values", "jitter", "infinite"),
    [
        *((TENTHS, *row) for row in ((1e-9, False), (1e-15, False), (1e-9, True))),
        *((values, 1e-12, False) for values in (np.array([0.0, 0.3]), np.arange(40.0))),
    ],
)
def test_values_that_differ_by_rounding_are_a_single_atom(values, jitter, infinite):
    """Few thresholds lie beyond them, where 286 of 289 were; those between lie in the middle."""
    rng = np.random.default_rng(4)
    scores = rng.choice(values, (2, 4096))
    scores = scores + jitter * rng.normal(size=scores.shape)
    edges = pilot_edges(np.where(rng.random(scores.shape) < 0.5, np.inf, scores) if infinite else scores)
    inner = edges[(edges > values[0] + 1e-7) & (edges < values[-1] - 1e-7)]
    assert inner.size == values.size - 1
    assert np.abs(inner[:, None] - values).min() > 0.48 * np.diff(values).min()
    assert 2 <= edges.size - inner.size <= max(2, values.size - 1) + 2 * infinite
    assert are_single(edges).sum() == infinite


EDGES = {
    "normal": np.sort(np.random.default_rng(0).normal(size=1024)),
    "single": np.array([1.0]),
    "heavy tails": np.sort(np.random.default_rng(1).standard_cauchy(size=5000)),
    "all in the same bucket except the last": np.array([*np.linspace(1.0, 1.0 + 1e-9, 3000), 1e6]),
    "greatest numbers": np.array([-1.7e308, 1.0, 1.7e308]),
    "narrow": 1.0 + np.arange(1, 50) * 2.0**-52,
    "even": np.linspace(-3.0, 3.0, 2048),
}


@pytest.mark.evidence
@pytest.mark.parametrize("name", EDGES)
def test_bins_are_those_of_a_search(name):
    """Beside another column, whose thresholds must not matter to this column."""
    edges, rng = EDGES[name], np.random.default_rng(1)
    near = [edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf), [np.inf, -np.inf, 0.0]]
    scores = np.concatenate([rng.normal(size=20_000), 10 * rng.standard_cauchy(20_000), *near])
    with exact_scope():
        grid, both = EdgeGrid([EDGES["even"], edges]), np.stack([scores[::-1], scores])
        result = jax.jit(lambda grid, x: grid.bins(x))(grid, both)
    for bins, own, x in zip(result, (EDGES["even"], edges), both, strict=True):
        np.testing.assert_array_equal(bins, np.searchsorted(own, x, side="left"))
