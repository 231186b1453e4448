"""Attacks on a trained model by what it says of the target: its loss, or the confidence in its label."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mipsim._validation import finite_matrix, flag, number, real_array
from mipsim.attacks.base import AbstractAttack
from mipsim.nn.descent import Descent
from mipsim.nn.shadows import checked_descent


class LossThreshold(AbstractAttack):
    """-loss of the target: a model fits the examples that it was trained on.

    Args:
        descent: the training that is attacked; it releases "parameters".

    Source: Yeom et al. (2018), adversary 2.

    Examples:
        >>> from mipsim.nn import Descent, linear
        >>> x, y = np.array([[1.0], [2.0]]), np.array([1.0, 0.0])
        >>> network = linear((1,), 1)
        >>> descent = Descent(network, network.start(0), x, y, batch=2, steps=1, rate=0.1, releases="parameters")
        >>> print(LossThreshold(descent).score(np.array([1.0]), np.array([1.0, 0.5])))  # offset 1, slope .5: it says 2
        -2.0
    """

    descent: Descent

    def __init__(self, descent: Descent) -> None:
        self.descent = checked_descent(descent)

    def score(self, target: Float[Array, " 1"], output: Float[Array, " D"]) -> Float[Array, ""]:
        x, y = self.descent.example(target)
        return -self.descent.network.losses(_parameters(self.descent, output), x, y)[0].astype(float)


class LiRA(AbstractAttack):
    """The likelihood ratio attack: the target's logit under normal laws fitted to shadow models.

    phi = log p - log(1 - p), p the model's confidence in the target's label. Online: log N(phi; of models with the target) -
    log N(phi; of models without). Offline, where there are none with it: (phi - mean) / sd of those without.

    Args:
        descent: the training that is attacked; it releases "parameters"; the network has two classes or more.
        outside: models trained without the target, shape (S, D), S >= 2: `shadow_models(game, S)`.
        inside: models trained with it, shape (S', D), S' >= 2: `shadow_models(game, S', member=True)`; None = offline.
        shared_variance: estimate a single variance for all models, which few shadow models make better.

    Source: Carlini et al. (2022), "Membership inference attacks from first principles", algorithm 1 and section VI.

    Examples:
        >>> from mipsim.nn import Descent, linear
        >>> network, x, y = linear((1,), 2), np.array([[1.0], [2.0]]), np.array([0, 1])
        >>> descent = Descent(network, network.start(0), x, y, batch=2, steps=1, rate=0.1, releases="parameters")
        >>> outside = np.array([[1.0, 0, 0, 0], [-1.0, 0, 0, 0]])  # offsets, then slopes: logits of class 0 are 1 and -1
        >>> print(LiRA(descent, outside).score(np.array([0.0]), np.array([3.0, 0, 0, 0])).round(6))
        3.0
    """

    descent: Descent
    outside: np.ndarray
    inside: np.ndarray | None
    shared_variance: bool = eqx.field(static=True)

    def __init__(
        self, descent: Descent, outside: object, inside: object | None = None, shared_variance: bool = False
    ) -> None:
        self.descent = _classifier(descent)
        self.outside = _models("outside", outside, descent)
        self.inside = None if inside is None else _models("inside", inside, descent)
        self.shared_variance = flag("shared_variance", shared_variance)

    def score(self, target: Float[Array, " 1"], output: Float[Array, " D"]) -> Float[Array, ""]:
        phi = _logit(self.descent, output, target)
        without = self._logits(self.outside, target)
        if self.inside is None:
            return (phi - without.mean()) / _spread(without)
        within = self._logits(self.inside, target)
        spreads = _spread(within), _spread(without)
        if self.shared_variance:
            counts = jnp.asarray([within.size, without.size], float)
            spreads = (jnp.sqrt(counts @ jnp.square(jnp.stack(spreads)) / counts.sum()),) * 2
        return _log_density(phi, within.mean(), spreads[0]) - _log_density(phi, without.mean(), spreads[1])

    def _logits(self, models: np.ndarray, target: Array) -> Array:
        return jax.lax.map(lambda own: _logit(self.descent, own, target), jnp.asarray(models), batch_size=64)


class RMIA(AbstractAttack):
    """The share of population records z with (p(x | model) / p(x)) >= gamma (p(z | model) / p(z)), p the confidence in the label.

    p(x) is the mean confidence over shadow models: those with and those without the target, half each; offline
    ((1 + a) mean over those without + (1 - a)) / 2, which is also taken for the population, of which no model is known to have it.

    Args:
        descent: the training that is attacked; it releases "parameters"; the network has two classes or more.
        population: row numbers of the data set, shape (m,): records that are compared with, not those of the games.
        outside: models trained without the target, shape (S, D), S >= 2.
        inside: models trained with it; None = offline.
        gamma: >= 1.
        offline_a: a of the offline approximation, in [0, 1].

    Source: Zarifzadeh, Liu, Shokri (2024), "Low-cost high-power membership inference attacks", algorithm 1 and appendix B.2.

    Examples:
        >>> from mipsim.nn import Descent, linear
        >>> network, x, y = linear((1,), 2), np.array([[1.0], [1.0]]), np.array([0, 1])
        >>> descent = Descent(network, network.start(0), x, y, batch=2, steps=1, rate=0.1, releases="parameters")
        >>> attack = RMIA(descent, [1], np.zeros((2, 4)))
        >>> print(attack.score(np.array([0.0]), np.array([3.0, 0, 0, 0])), attack.score(np.array([0.0]), np.array([0, 3.0, 0, 0])))
        1.0 0.0
    """

    descent: Descent
    population: np.ndarray
    outside: np.ndarray
    inside: np.ndarray | None
    gamma: float = eqx.field(static=True)
    offline_a: float = eqx.field(static=True)

    def __init__(
        self,
        descent: Descent,
        population: object,
        outside: object,
        inside: object | None = None,
        gamma: float = 2.0,
        offline_a: float = 0.3,
    ) -> None:
        self.descent = _classifier(descent)
        rows = finite_matrix("population", real_array("population", population)[..., None])
        descent.check_records("population", rows)
        self.population = rows
        self.outside = _models("outside", outside, descent)
        self.inside = None if inside is None else _models("inside", inside, descent)
        self.gamma = number("gamma", gamma, 1.0)
        self.offline_a = number("offline_a", offline_a, 0.0, 1.0)

    def score(self, target: Float[Array, " 1"], output: Float[Array, " D"]) -> Float[Array, ""]:
        records = jnp.concatenate([jnp.asarray(target)[None], jnp.asarray(self.population)])
        own = _confidence(self.descent, output, records)
        usual = 0.5 * (1.0 + self.offline_a) * self._mean(self.outside, records) + 0.5 * (
            1.0 - self.offline_a
        )
        if self.inside is not None:
            online = self._mean(self.inside, records[:1]) + self._mean(self.outside, records[:1])
            usual = usual.at[0].set(0.5 * online[0])
        ratio = own / usual
        return jnp.mean((ratio[0] >= self.gamma * ratio[1:]).astype(float))

    def _mean(self, models: np.ndarray, records: Array) -> Array:
        result = jax.lax.map(
            lambda own: _confidence(self.descent, own, records), jnp.asarray(models), batch_size=8
        )
        return result.mean(axis=0)


def _classifier(descent: object) -> Descent:
    result = checked_descent(descent)
    if result.network.outputs < 2:
        raise ValueError(
            "descent trains a network with a single real output; an attack on confidences needs classes"
        )
    return result


def _models(name: str, models: object, descent: Descent) -> np.ndarray:
    result = finite_matrix(name, models, descent.network.dimension(descent.part))
    if len(result) < 2:
        raise ValueError(f"{name} has {len(result)} model; a law is fitted to at least 2")
    return result.astype(np.float32)


def _parameters(descent: Descent, vector: Array) -> dict[str, dict[str, Array]]:
    start = jax.tree.map(jnp.asarray, descent.start)
    return descent.network.with_flat(start, jnp.asarray(vector).astype(jnp.float32), descent.part)


def _log_odds(descent: Descent, vector: Array, records: Array) -> Array:
    """Log-odds log p - log(1 - p) of the confidence p in the label of each record, float64: from the logits, so that none is lost near 1."""
    rows = records[:, 0].astype(jnp.int32)
    x, y = jnp.asarray(descent.x)[rows], jnp.asarray(descent.y)[rows].astype(jnp.int32)
    logits = descent.network.apply(_parameters(descent, vector), x).astype(float)
    label = jnp.arange(logits.shape[1]) == y[:, None]
    others = jax.scipy.special.logsumexp(jnp.where(label, -jnp.inf, logits), axis=1)
    return jnp.sum(jnp.where(label, logits, 0.0), axis=1) - others


def _logit(descent: Descent, vector: Array, target: Array) -> Array:
    return _log_odds(descent, vector, jnp.asarray(target)[None])[0]


def _confidence(descent: Descent, vector: Array, records: Array) -> Array:
    return jax.nn.sigmoid(_log_odds(descent, vector, records))


def _spread(values: Array) -> Array:
    """The standard deviation; the smallest positive number where all are equal, so that a ratio stays a number."""
    return jnp.maximum(values.std(), jnp.finfo(values.dtype).tiny ** 0.25)


def _log_density(value: Array, mean: Array, deviation: Array) -> Array:
    return -0.5 * ((value - mean) / deviation) ** 2 - jnp.log(deviation)
