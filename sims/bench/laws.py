"""Exact laws and counting: the curve without games, the non-central chi-square, histograms."""

import jax
import jax.numpy as jnp
import numpy as np

from mipsim._precision import exact_scope
from mipsim.engine.devices import cores
from mipsim.engine.edge_grid import EdgeGrid
from mipsim.special import noncentral_chi_square
from sims.bench.contest import Contest, Way, in_turn
from sims.bench.reference_game import counter, playing
from sims.studies import STUDIES


def exact_curve(quick: bool) -> Contest:
    """The whole curve of the reference game, by 10^6 games in each world (a share of them is timed) and by the exact law."""
    game, attack = STUDIES["azize_fig2_easy"].build()
    fast = counter(game, attack, "sufficient")
    share = 100 if quick else 10
    alpha = np.concatenate([np.geomspace(1e-100, 0.01, 150), np.linspace(0.01, 1 - 1e-6, 150)])
    play = playing(fast, cores())

    def games(curves: int) -> float:
        for _ in range(curves):
            play(2 * 10**6 // share)
        return curves / share

    return Contest(
        "exact curve (d = 5000, 300 rates from 1e-100)",
        "curves",
        [
            Way("10^6 games a world", games, 1, all_cores=True),
            Way(
                "game.exact",
                in_turn(lambda: game.exact(attack).beta(alpha)),
                3 if quick else 10,
                all_cores=True,
            ),
        ],
    )


def noncentral_cdf(quick: bool) -> Contest:
    """The CDF of the non-central chi-square at a noncentrality of 10^7, around its mean."""
    from scipy.stats import ncx2

    d, noncentrality = 5000.0, 1e7
    spread = np.sqrt(2 * (d + 2 * noncentrality))
    x = d + noncentrality + spread * np.linspace(-6, 6, 20_000)
    few = 200 if quick else 1000

    def scipy(values: int) -> int:
        _ = ncx2.cdf(x[:: x.size // min(values, x.size)], d, noncentrality)
        return len(x[:: x.size // min(values, x.size)])

    def mipsim(values: int) -> int:
        for _ in range(-(-values // x.size)):
            _ = noncentral_chi_square.cdf(x, d, noncentrality)
        return x.size * -(-values // x.size)

    return Contest(
        "non-central chi-square CDF (d = 5000, noncentrality 1e7)",
        "values",
        [Way("SciPy", scipy, few, library="scipy"), Way("mipsim", mipsim, 100_000 if quick else 400_000)],
    )


def histogram(quick: bool) -> Contest:
    """Counting 2^20 scores in 2^16 bins of equal width, by the engine's own binning."""
    scores = np.random.default_rng(0).normal(size=2**20)
    edges = np.linspace(-8, 8, 2**16)
    with exact_scope():
        on_device, grid = jnp.asarray(scores), jax.tree.map(jnp.asarray, EdgeGrid([edges]))

    def numpy(count: int) -> int:
        _ = np.histogram(scores[: min(count, scores.size)], edges)
        return min(count, scores.size)

    ends, single = jnp.asarray(edges, jnp.float32), jnp.asarray(scores, jnp.float32)

    def plain(count: int) -> int:
        del count
        _histogram(single, ends).block_until_ready()
        return scores.size

    def scatter(count: int) -> int:
        for _ in range(-(-count // scores.size)):
            with exact_scope():
                _scatter(on_device, grid).block_until_ready()
        return scores.size * -(-count // scores.size)

    return Contest(
        "histogram (2^16 bins)",
        "scores",
        [
            Way("numpy.histogram", numpy, scores.size, library="numpy"),
            Way("jax.numpy.histogram, float32", plain, scores.size),
            Way("mipsim buckets and scatter-add", scatter, scores.size * (1 if quick else 4)),
        ],
    )


@jax.jit
def _histogram(scores: jax.Array, edges: jax.Array) -> jax.Array:
    return jnp.histogram(scores, edges)[0]


@jax.jit
def _scatter(scores: jax.Array, grid: EdgeGrid) -> jax.Array:
    return jnp.zeros(grid.cells, jnp.int64).at[grid.bins(scores[None])].add(1)
