"""An attack that was learned: a classifier of outputs whose law is not known."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mipsim._extras import optional
from mipsim._memory import fits_memory, on_a_device
from mipsim._precision import exact_scope, users_precision
from mipsim._validation import refuse_class, sizes, whole
from mipsim._words import kind_of
from mipsim.attacks.base import AbstractAttack
from mipsim.distributions.base import AbstractDistribution

BATCH, STEPS = 1024, 1500
"""Games of a step of the optimiser, and steps: enough for a loss that no longer falls on outputs of up to a hundred numbers."""
RATE = 3e-3
"""Step size of Adam at the start; it falls to zero along a cosine."""
LEARNING = 0x4C454152
"""Sets the random numbers of training apart from those of every run."""


class _Played(Protocol):
    """What is required of a game."""

    def play(self, key: Any, member: Any) -> tuple[Array, Array]: ...


class TrainedClassifier(AbstractAttack):
    """The log odds of "in" that a network learned from games of its own; made by `trained_attack`.

    Args:
        layers: matrix and offset of each layer, of shapes (inputs, outputs) and (outputs,); tanh between the layers.
        centre: what is taken off the output's numbers, shape (inputs,).
        scale: what they are divided by then, shape (inputs,).

    Source: Bichsel, Steffen, Bogunovic, Vechev (2021), "DP-Sniper", for classifiers as attacks on a mechanism.

    Examples:
        >>> attack = TrainedClassifier(((np.array([[2.0]]), np.array([1.0])),), np.array([3.0]), np.array([0.5]))
        >>> print(attack.score(np.zeros(1), np.array([4.0])))
        5.0
    """

    layers: tuple[tuple[np.ndarray, np.ndarray], ...]
    centre: np.ndarray
    scale: np.ndarray

    def score(self, target: Float[Array, " d"], output: Array) -> Float[Array, ""]:
        """The only number of the last layer."""
        now = (jnp.ravel(jnp.asarray(output)) - self.centre) / self.scale
        for place, (matrix, offset) in enumerate(self.layers):
            now = jnp.tanh(now) if place else now
            now = now @ matrix + offset
        return now[0]


def trained_attack(
    game: _Played,
    games: int = 20_000,
    seed: int = 0,
    hidden: tuple[int, ...] = (),
    *,
    precision: str | None = None,
) -> TrainedClassifier:
    """Train a classifier of a game's outputs: logistic regression, or with `hidden` a small network.

    It learns from games of its own. A run that judges it plays others: its pilot fixes the thresholds, and the games that are
    counted are a third set. What it reaches is a lower bound on the best attacker's power.

    Args:
        game: of which the output is attacked; the target must be the same in every round.
        games: in each world, to learn from, from 100 to 1,536,000, the number that training looks at.
        seed: of these games and of the network's start, a whole number in [0, 2^63).
        hidden: width of each hidden layer, >= 1; (32, 32) is a small network.
        precision: in which your own functions play these games, as in `play`; the network is trained in float32 and scores in float64.

    Raises:
        ValueError: naming the argument; or if an output is not finite.
        ImportError: if Flax or Optax is not installed, which `mipsim[nn]` brings.

    Source: Kingma & Ba (2015), "Adam"; Bichsel et al. (2021), "DP-Sniper".

    Examples:
        >>> import mipsim as mi
        >>> game = mi.TwoInputs(lambda key, x: x + jax.random.normal(key, x.shape), [0.0, 0.0], [1.0, 1.0])
        >>> attack = mi.trained_attack(game, 2000)
        >>> direction = attack.layers[0][0][:, 0] / attack.scale  # the likelihood ratio grows as (1, 1)
        >>> bool(abs(direction[0] / direction[1] - 1.0) < 0.3)
        True
    """
    optax, linen = (optional(module, "trained attacks") for module in ("optax", "flax.linen"))
    games, seed = whole("games", games, 100), whole("seed", seed, 0)
    if games > BATCH * STEPS:
        raise ValueError(
            f"games is {games:.15g}; training looks at {BATCH * STEPS:,} games, so that more are of no use"
        )
    precision = users_precision(precision)
    widths = () if isinstance(hidden, (list, tuple)) and not hidden else sizes("hidden", hidden)
    fits_memory(sum(map(math.prod, pairwise((1, *widths, 1)))), 32, hidden=hidden)
    refuse_class("game", game, "a game")
    if not callable(getattr(game, "play", None)):
        raise ValueError(f"game is {kind_of(game)}; it must be a game")
    key = jax.random.fold_in(jax.random.key(seed), LEARNING)
    outputs, inside = _played(game, games, key, precision)
    centre, scale = outputs.mean(axis=0), outputs.std(axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    x, y = (jnp.asarray(a, jnp.float32) for a in ((outputs - centre) / scale, inside))

    class Network(linen.Module):
        @linen.compact
        def __call__(self, now: Array) -> Array:
            for width in widths:
                now = jnp.tanh(linen.Dense(width)(now))
            return linen.Dense(1)(now)[..., 0]

    network = Network()
    start: Any = network.init(jax.random.fold_in(key, 1), x[:1])
    optimiser = optax.adam(optax.cosine_decay_schedule(RATE if widths else 10 * RATE, STEPS))

    def loss(parameters: Any, rows: Array) -> Array:
        return optax.sigmoid_binary_cross_entropy(network.apply(parameters, x[rows]), y[rows]).mean()

    def step(i: Array, state: tuple[Any, Any]) -> tuple[Any, Any]:
        parameters, moments = state
        rows = jax.random.randint(jax.random.fold_in(key, 2 + i), (BATCH,), 0, x.shape[0])
        change, moments = optimiser.update(jax.grad(loss)(parameters, rows), moments, parameters)
        return optax.apply_updates(parameters, change), moments

    train = jax.jit(lambda state: jax.lax.fori_loop(0, STEPS, step, state))
    learned, _ = train((start, optimiser.init(start)))
    result = [learned["params"][f"Dense_{place}"] for place in range(len(widths) + 1)]
    layers = tuple((np.asarray(item["kernel"], float), np.asarray(item["bias"], float)) for item in result)
    return TrainedClassifier(layers, centre, scale)


def _played(game: _Played, games: int, key: Array, precision: str) -> tuple[np.ndarray, np.ndarray]:
    """(outputs of shape (2 games, numbers), 1 where the world is "in"), of literal rounds."""
    data, n = getattr(game, "data", None), getattr(game, "n", 0)
    if isinstance(data, AbstractDistribution):
        fits_memory(n * data.dimension, n=n)
    keys = jax.random.split(jax.random.fold_in(key, 0), 2 * games)
    inside = np.arange(2 * games) % 2

    def output(key: Array, member: Array) -> Array:
        return jnp.ravel(jnp.asarray(game.play(key, member == 1)[1], float))

    with exact_scope(precision), on_a_device(f"game: a block of {2 * games:,} rounds"):
        result = np.asarray(eqx.filter_jit(jax.vmap(output))(keys, jnp.asarray(inside)), float)
    if not np.isfinite(result).all():
        raise ValueError("game has outputs that are not finite; a classifier is trained on finite ones")
    return result, inside
