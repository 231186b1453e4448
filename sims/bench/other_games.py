"""Games beside the reference game: Gaussian data and real gradients projected on the score, the clipped step, and many targets at once."""

import jax
import jax.numpy as jnp
import numpy as np

import mipsim as mi
from sims.bench.contest import Contest, Way, in_turn
from sims.bench.plain_jax import jax_rows
from sims.bench.reference_game import counter, playing

_CLIPPED_N, _CLIPPED_D = 1000, 1000


def gaussian_game(quick: bool) -> Contest:
    """The mean of n = 1000 Gaussian records of d = 5000 coordinates: its score is a single normal number."""
    n, d = 1000, 5000
    rng = np.random.default_rng(0)
    data = mi.Gaussian(np.zeros(d), np.ones(d))
    target = rng.normal(size=d)
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=n, target=target)
    attack = mi.CovarianceScore(data, n=n)

    def numpy_rows() -> float:
        return float(target @ rng.standard_normal((n, d)).mean(0))

    def numpy_scores(games: int) -> int:
        # As who knows the law of the score would: a single number a game, counted.
        _ = np.histogram(rng.standard_normal(games), np.linspace(-8.0, 8.0, 1024))
        return games

    w = jnp.asarray(target, jnp.float32)
    projected = counter(game, attack, "projected")
    return Contest(
        f"Gaussian mean (n = {n}, d = {d})",
        "games",
        [
            Way("NumPy literal rows", in_turn(numpy_rows), 2, library="numpy"),
            jax_rows(lambda key: w @ jax.random.normal(key, (n, d)).mean(axis=0), 2),
            Way("NumPy, a score a game, counted", numpy_scores, 1_000_000, library="numpy"),
            Way("mipsim literal, single core", playing(counter(game, attack, "literal"), 1), 4),
            Way("mipsim sufficient, single core", playing(counter(game, attack, "sufficient"), 1), 2_000),
            Way("mipsim projected, single core", playing(projected, 1), 1_000_000 if quick else 10_000_000),
        ],
    )


def clipped_step(quick: bool) -> Contest:
    """A single clipped, noisy gradient step on n = 1000 isotropic Gaussian gradients of d = 1000 coordinates."""
    n, d = _CLIPPED_N, _CLIPPED_D
    clip = float(np.sqrt(d))
    rng = np.random.default_rng(0)
    data = mi.Gaussian(np.zeros(d), np.ones(d))
    target = rng.normal(size=d)
    game = mi.FixedTarget(mi.SGDStep(clip=clip, noise_multiplier=0.1), data, n=n, target=target)
    attack = mi.ScalarProduct(np.zeros(d))

    rows = np.empty((n, d), np.float32)

    def numpy_rows() -> float:
        # As frugal as NumPy goes: float32 numbers in a single array that stays, and no clipped copy of them.
        rng.standard_normal(dtype=np.float32, out=rows)
        norm = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        mean = np.minimum(1.0, clip / norm).astype(np.float32) @ rows / n
        return float(target @ (mean + 0.1 * clip / n * rng.standard_normal(d)))

    def keyed(key: jax.Array) -> jax.Array:
        key_rows, key_noise = jax.random.split(key)
        own = jax.random.normal(key_rows, (n, d))
        mean = jnp.minimum(1.0, clip / jnp.linalg.norm(own, axis=1)) @ own / n
        return w @ (mean + 0.1 * clip / n * jax.random.normal(key_noise, (d,)))

    w = jnp.asarray(target, jnp.float32)
    few = 8 if quick else 32
    return Contest(
        f"clipped step (n = {n}, d = {d})",
        "games",
        [
            Way("NumPy literal rows, float32", in_turn(numpy_rows), few, library="numpy"),
            jax_rows(keyed, few),
            Way("mipsim literal, single core", playing(counter(game, attack, "literal"), 1), 4 * few),
            Way("mipsim reduced, single core", playing(counter(game, attack, "auto"), 1), 100 * few),
        ],
    )


def many_targets(quick: bool) -> Contest:
    """Games of n = 200 records of d = 1000 Bernoulli coordinates against 64 targets, separately and on the same rows."""
    n, d, m = 200, 1000, 64
    rng = np.random.default_rng(0)
    data = mi.Bernoulli(rng.uniform(0.25, 0.75, d))
    targets = (rng.random((m, d)) < 0.5).astype(np.float64)
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=n, target=targets[0])
    attack = mi.CovarianceScore(data, n=n)
    edges = np.linspace(-20.0, 20.0, 1024)

    def separately(games: int) -> float:
        # Eight of them: their games cost the same.
        for target in targets[:8]:
            aimed = mi.FixedTarget(game.mechanism, data, n=n, target=target)
            mi.play(aimed, attack, games, edges=edges, progress=False, workers=1)
        return 2 * games * 8 / m

    def side_by_side(games: int) -> float:
        mi.play_targets(game, attack, targets, games, edges=edges, progress=False, workers=1)
        return 2 * games

    weights = (targets - data.mean) / data.variance
    w, p = jnp.asarray(weights, jnp.float32), jnp.asarray(data.p, jnp.float32)

    def numpy_rows() -> np.ndarray:
        # Half of what mipsim does: the same output for every target, as in the world without them.
        return weights @ (rng.random((n, d)) < data.p).mean(axis=0)

    few = 5_000 if quick else 40_000
    return Contest(
        f"{m} targets (n = {n}, d = {d})",
        "games with all targets",
        [
            Way("NumPy literal rows", in_turn(numpy_rows), few // 50, library="numpy"),
            jax_rows(lambda key: w @ jax.random.bernoulli(key, p, (n, d)).mean(axis=0), few // 50),
            Way("play, separately", separately, few),
            Way("play_targets", side_by_side, few),
        ],
    )


def gradient_game(quick: bool) -> Contest:
    """A single step of SGD on n = 500 gradients of d = 650 coordinates: those of a network's last layer.

    At 10,000 images of Fashion-MNIST where a data directory is named, else at 1,797 digits, which a cache holds: NumPy is then faster.
    """
    from mipsim import data, nn

    try:
        title, images = "Fashion-MNIST", data.fashion_mnist("test")
    except data.DataError:
        title, images = "digits", data.digits()
    network = nn.layered(images.x.shape[1:], (64,), 10)
    rows = nn.per_example_gradients(network, network.start(0), images.x, images.y, part="last").astype(
        np.float64
    )
    n, pool, rng = 500, mi.Empirical(rows, covariance="diagonal"), np.random.default_rng(0)
    game = mi.FixedTarget(mi.EmpiricalMean(), pool, n=n, target=rows[0])
    attack = mi.CovarianceScore(mi.ShrunkMoments(rows[:1000]), n=n)
    weights = np.asarray(attack.weights(rows[0]))  # pyright: ignore[reportArgumentType]

    def numpy_rows() -> float:
        return float(weights @ rows[rng.integers(0, len(rows), n)].mean(axis=0))

    def keyed(key: jax.Array) -> jax.Array:
        return w @ listed[jax.random.randint(key, (n,), 0, len(rows))].mean(axis=0)

    w, listed = jnp.asarray(weights, jnp.float32), jnp.asarray(rows, jnp.float32)
    literal, projected = counter(game, attack, "literal"), counter(game, attack, "projected")
    return Contest(
        f"SGD step on gradients at {title} (n = {n}, d = {rows.shape[1]})",
        "games",
        [
            Way("NumPy literal rows", in_turn(numpy_rows), 200 if quick else 1000, library="numpy"),
            jax_rows(keyed, 200 if quick else 1000),
            Way("mipsim literal, single core", playing(literal, 1), 200 if quick else 1000),
            Way("mipsim projected, single core", playing(projected, 1), 200_000 if quick else 2_000_000),
        ],
    )
