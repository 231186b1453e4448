"""Training as a mechanism: stochastic gradient descent of a network on n records, plain or private, with what it releases on the way."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.custom_batching import sequential_vmap
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim._memory import fits_memory
from mipsim._validation import choice, number, real_array, sample_size, whole
from mipsim._words import kind_of
from mipsim.distributions.base import AbstractDistribution
from mipsim.distributions.empirical import Empirical
from mipsim.mechanisms.base import AbstractMechanism
from mipsim.nn.gradients import checked_examples
from mipsim.nn.network import PARTS, Network, Parameters
from mipsim.nn.private import SAMPLING, checked_clipping, longest_batch, mean_gradient, noisy

RELEASES = ("steps", "parameters")
_TOGETHER = 1
"""Images that pass through convolutions at once on a CPU: XLA splits the work of a single image into fewer pieces for several
threads, whose coordination took a quarter of the processor time in parts of 8."""


class Steps(NamedTuple):
    """What an observer of every update sees.

    Attributes:
        parameters: of the part that is trained, before each step, shape (steps, D).
        gradients: the mean gradient that each step releases, shape (steps, D); the parameters then move by -rate times it.
    """

    parameters: Float[Array, "steps D"]
    gradients: Float[Array, "steps D"]


class Descent(AbstractMechanism):
    """`steps` steps of SGD or DP-SGD on n records: theta <- theta - rate x (mean of the batch's clipped gradients + noise).

    The records of a game are row numbers of a data set, so that what is sampled n times is a number a record: `records(rows)` is
    their law. Membership is in what the n records are: a single batch (steps = 1, n = batch), an epoch ("shuffled", n = steps x batch)
    or a training set from which batches are sampled.

    Args:
        network: what is trained.
        start: its parameters before the first step.
        x: inputs of the data set, shape (N, ...); canaries are further rows.
        y: labels, shape (N,).
        batch: records of a step, >= 1; of a Poisson batch the expected number.
        steps: >= 1.
        rate: the learning rate, > 0.
        sampling: how a step's batch is sampled from the n records: "shuffled" (each pass takes them in a new random order, batch by
            batch; what fills no whole batch is left out of a pass), "fixed" (batch of them without replacement, anew in each step) or
            "poisson" (each of them with probability batch / n, anew in each step; the sum is divided by the expected number).
        clip: the largest Euclidean norm of a gradient, > 0; `inf` does not clip.
        noise_multiplier: standard deviation of the noise on the sum over `clip`, >= 0; 0 where clip is `inf`.
        part: what is trained: "trained", all but frozen layers, or "last", the last layer.
        releases: "steps", a `Steps`; or "parameters", those of the part after the last step, shape (D,).

    Raises:
        ValueError: naming the argument; for a game, if its records or target are no row numbers, or n is below the batch.

    Source: Abadi et al. (2016), algorithm 1; Azize & Basu (2025), appendix D, for the release of every step.

    Examples:
        >>> import mipsim as mi
        >>> from mipsim.nn import linear
        >>> network, x, y = linear((1,), 1), np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([1.0, 2.0, 3.0, 4.0])
        >>> descent = Descent(network, network.start(0), x, y, batch=2, steps=4, rate=0.1)
        >>> game = mi.FixedTarget(descent, descent.records(range(3)), n=4, target=[3])
        >>> released = game.play(jax.random.key(0), True)[1]
        >>> released.parameters.shape, released.gradients.shape
        ((4, 2), (4, 2))
        >>> mi.FixedTarget(descent, descent.records(range(3)), n=4, target=[4])
        Traceback (most recent call last):
        ...
        ValueError: target holds 4; records of Descent are row numbers of its data set, 0 to 3
    """

    network: Network = eqx.field(static=True)
    start: dict[str, dict[str, np.ndarray]]
    x: np.ndarray
    y: np.ndarray
    batch: int = eqx.field(static=True)
    steps: int = eqx.field(static=True)
    rate: float = eqx.field(static=True)
    sampling: str = eqx.field(static=True)
    clip: float = eqx.field(static=True)
    noise_multiplier: float = eqx.field(static=True)
    part: str = eqx.field(static=True)
    releases: str = eqx.field(static=True)

    def __init__(
        self,
        network: Network,
        start: Parameters,
        x: np.ndarray,
        y: np.ndarray,
        *,
        batch: int,
        steps: int,
        rate: float,
        sampling: Literal["shuffled", "fixed", "poisson"] = "shuffled",
        clip: float = math.inf,
        noise_multiplier: float = 0.0,
        part: Literal["trained", "last"] = "trained",
        releases: Literal["steps", "parameters"] = "steps",
    ) -> None:
        self.network = network
        self.x, self.y = checked_examples(network, x, y)
        self.start = network.checked("start", start)
        self.batch, self.steps = whole("batch", batch, 1), whole("steps", steps, 1)
        self.rate = number("rate", rate, 0.0, low_open=True)
        self.sampling = choice("sampling", sampling, SAMPLING)
        self.clip, self.noise_multiplier = checked_clipping(clip, noise_multiplier)
        self.part, self.releases = choice("part", part, PARTS), choice("releases", releases, RELEASES)
        if self.releases == "steps":
            self._check_room()

    def _check_room(self) -> None:
        """Refuse more steps than memory holds: of each the parameters and the gradient are made."""
        fits_memory(2 * self.steps * self.network.dimension(self.part), 4, steps=self.steps)

    def records(self, rows: object = None) -> Empirical:
        """The law of a uniformly chosen row of the data set, or of those rows of it: the `data` of a game.

        Args:
            rows: row numbers, shape (m,), m >= 2; None = all.
        """
        numbers = np.arange(len(self.y)) if rows is None else real_array("rows", rows)
        result = Empirical(numbers.astype(np.float64)[:, None])
        self.check_records("rows", result.records)
        return result

    def release(self, key: PRNGKeyArray, records: Float[Array, "n 1"]) -> Any:
        rows = jnp.asarray(records)[:, 0].astype(jnp.int32)
        # With smaller batches automatic differentiation takes less time.
        if self.numbers_retained(rows.shape[0]) is not None:
            if not isinstance(rows, Tracer):  # compiled code makes nothing that is not released
                self._check_room()
            first = self.network.flat(jax.tree.map(jnp.asarray, self.start))
            x, y = jnp.asarray(self.x).reshape(len(self.x), -1), jnp.asarray(self.y)
            play = partial(_linear_steps, self.steps, self.rate)
            if self._takes_all(rows.shape[0]):
                last, seen = play(first, x, y, jnp.zeros(len(x), x.dtype).at[rows].add(1.0))
            else:

                def gathered(rows: Array, first: Array, x: Array, y: Array) -> tuple[Array, Steps]:
                    return play(first, jax.lax.optimization_barrier(x[rows]), y[rows])

                # One game after the other, since the features of a game fit the processor's cache and those of many do not.
                if jax.default_backend() == "cpu":
                    gathered = sequential_vmap(gathered)
                last, seen = gathered(rows, first, x, y)
            return seen if self.releases == "steps" else last
        return self._steps(key, rows.shape[0], partial(self._step, rows))

    def releases_of(self, key: PRNGKeyArray, records: Float[Array, "m n 1"]) -> Any:
        """What `release` makes of each of m sets of records with the same key, first axis m: a step that is the same for all is
        taken once. Without noise the bits are those of `release`; with noise the last bit may differ.

        Args:
            key: of every release.
            records: the sets.

        Examples:
            >>> from mipsim.nn import linear
            >>> network, x, y = linear((1,), 1), np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 3.0])
            >>> descent = Descent(network, network.start(0), x, y, batch=1, steps=2, rate=0.1)
            >>> records = jnp.array([[[0.0], [1.0]], [[0.0], [2.0]]])  # the second differs
            >>> both = descent.releases_of(jax.random.key(0), records)
            >>> bool((both.gradients[1] == descent.release(jax.random.key(0), records[1]).gradients).all())
            True
        """
        rows = jnp.asarray(records)[:, :, 0].astype(jnp.int32)
        m, n = rows.shape
        if self.numbers_retained(n) is not None:
            return jax.lax.map(partial(self.release, key), records)

        def step(key_noise: PRNGKeyArray, vectors: Array, now: tuple[Array, Array]) -> Any:
            def add(i: Array, made: Any) -> Any:
                own = self._step(rows[i], key_noise, vectors[i], now)
                return jax.tree.map(lambda all, leaf: all.at[i].set(leaf), made, own)

            taken = rows[:, self._places(now[1], n)[0]]
            same = jnp.all(taken == taken[0]) & jnp.all(vectors == vectors[0])
            shapes = jax.eval_shape(self._step, rows[0], key_noise, vectors[0], now)
            blank = jax.tree.map(lambda leaf: jnp.zeros((m, *leaf.shape), leaf.dtype), shapes)
            made = jax.lax.fori_loop(0, jnp.where(same, 1, m), add, blank)
            which = jnp.where(same, 0, jnp.arange(m))
            return jax.tree.map(lambda leaf: leaf[which], made)

        seen = self._steps(key, n, step, m)
        return jax.tree.map(lambda leaf: jnp.moveaxis(leaf, 1, 0), seen) if self.releases == "steps" else seen

    def _steps(self, key: PRNGKeyArray, n: int, step: Callable[..., Any], copies: int | None = None) -> Any:
        """What a training on n records releases; `copies` of it step together."""
        fits_memory(self.steps * (2 if self.sampling == "poisson" else self.batch), 4, steps=self.steps)
        key_batches, key_noise = jax.random.split(key)
        first = self.network.flat(jax.tree.map(jnp.asarray, self.start), self.part)
        if copies is not None:
            first = jnp.broadcast_to(first, (copies, first.size))
        batches = jnp.arange(self.steps), self._batches(key_batches, n)
        last, seen = jax.lax.scan(partial(step, key_noise), first, batches)
        return last if seen is None else seen

    def _step(
        self, rows: Array, key_noise: PRNGKeyArray, vector: Array, now: tuple[Array, Array]
    ) -> tuple[Array, Steps | None]:
        """The parameters after a step on a batch of these rows of the data set, and what is seen of it."""
        at, batch = now
        places, retained = self._places(batch, rows.shape[0])
        chosen, size = rows[places], float(self.batch)
        images = self.network.kind == "convolutional" and jax.default_backend() == "cpu"
        mean = mean_gradient(
            self.network,
            jax.tree.map(jnp.asarray, self.start),
            vector,
            jnp.asarray(self.x)[chosen],
            jnp.asarray(self.y)[chosen],
            included=retained,
            size=size,
            clip=self.clip,
            part=self.part,
            together=_TOGETHER if images else None,
        )
        deviation = self.noise_multiplier * self.clip / size if self.noise_multiplier else 0.0
        mean = noisy(jax.random.fold_in(key_noise, at), mean, deviation)
        seen = Steps(vector, mean) if self.releases == "steps" else None
        return vector - jnp.asarray(self.rate, vector.dtype) * mean, seen

    @property
    def _is_plain_linear(self) -> bool:
        """Whether a step is a product of features and residuals: a linear classifier, whose gradients are neither clipped nor noisy."""
        return (
            self.network.kind == "linear"
            and self.network.outputs > 1
            and self.clip == math.inf
            and self.sampling != "poisson"
        )

    def _batches(self, key: PRNGKeyArray, n: int) -> Array:
        """For each step the places of its batch among the n records, shape (steps, batch); for Poisson batches a key."""
        if self.sampling == "poisson":
            return jax.random.split(key, self.steps)
        if self.sampling == "fixed":
            keys = jax.random.split(key, self.steps)
            return jax.lax.map(lambda single: jax.random.permutation(single, n)[: self.batch], keys)
        each = n // self.batch
        keys = jax.random.split(key, -(-self.steps // each))
        passes = jax.lax.map(lambda single: jax.random.permutation(single, n)[: each * self.batch], keys)
        return passes.reshape(-1, self.batch)[: self.steps]

    def _places(self, batch: Array, n: int) -> tuple[Array, Array | None]:
        """(places of the records of a step's batch, then others; which are included, None = all)."""
        if self.sampling != "poisson":
            return batch, None
        coins = jax.random.uniform(batch, (n,)) < self.batch / n
        places = jnp.nonzero(coins, size=longest_batch(n, self.batch), fill_value=0)[0]
        return places, jnp.arange(places.size) < coins.sum()

    def example(self, record: Float[Array, " 1"]) -> tuple[Array, Array]:
        """The input and label that a record stands for, as a batch of size 1: shapes (1, ...) and (1,)."""
        row = jnp.asarray(record).astype(jnp.int32)
        return jnp.asarray(self.x)[row], jnp.asarray(self.y)[row]

    def rows(self, n: int) -> int:
        if sample_size(n) < self.batch:
            raise ValueError(f"n is {n}; it must be at least the batch of {self.batch} records")
        return n

    def output_shape(self, dimension: int) -> tuple[int, ...] | None:
        if dimension != 1:
            raise ValueError(
                f"data has {dimension} coordinates; records of Descent are row numbers: take the law from its `records(rows)`"
            )
        return None

    def check_records(self, name: str, records: np.ndarray) -> None:
        rows, count = records[:, 0], len(self.y)
        wrong = (rows < 0) | (rows >= count) | (rows != np.floor(rows))
        if wrong.any():
            raise ValueError(
                f"{name} holds {rows[np.argmax(wrong)]:g}; records of Descent are row numbers of its data set, 0 to {count - 1}"
            )

    def check_law(self, data: AbstractDistribution) -> None:
        if not isinstance(data, Empirical):
            raise ValueError(
                f"data is {kind_of(data)}; records of Descent are row numbers of its data set: take the law from its `records(rows)`"
            )

    def numbers_retained(self, n: int) -> int | None:
        if not (self._is_plain_linear and self.batch == n):
            return None
        handled = n * self.network.outputs if self._takes_all(n) else n
        return handled + 2 * self.steps * self.network.dimension(self.part)

    def _takes_all(self, n: int) -> bool:
        """Whether a batch of n records is the whole data set, each record as often as it was sampled: no features are copied, and a product
        serves all games that are played at once.
        """
        return len(self.y) <= n

    def numbers_handled(self, n: int, dimension: int) -> int:
        # The inputs of every batch, and vectors of parameters: those of single examples too where they are clipped.
        d = self.network.dimension(self.part)
        example = math.prod(self.network.inputs) + (d if self.clip < math.inf else 0)
        return n + self.steps * (self.batch * example + 2 * d)


def linear_gradient(vector: Array, seen: Array, labels: Array) -> Array:
    """The mean gradient at `vector` of a linear classifier, whose parameters are the offsets, then the weights of each feature.

    `seen`: features, shape (n, p); `labels`: shape (n,).
    """
    by_class = _by_class(vector, seen)
    return _mean_gradient(by_class, seen, _member(labels, by_class)).T.ravel()


def _by_class(vector: Array, seen: Array) -> Array:
    """The parameters of each class, the offset first, shape (outputs, p + 1)."""
    return vector.reshape(seen.shape[1] + 1, -1).T


def _member(labels: Array, by_class: Array) -> Array:
    """1 where an example is of a class, shape (outputs - 1, n); the last class follows from the others."""
    return jax.nn.one_hot(labels, len(by_class) - 1, axis=0, dtype=by_class.dtype)


def _mean_gradient(by_class: Array, seen: Array, member: Array, times: Array | None = None) -> Array:
    """`linear_gradient` class by class, shape (outputs, p + 1).

    Logits are those less that of the last class, whose residual, softmax less label, is minus the sum of the others: of two classes a
    product serves both. `times`: how often each example counts, shape (n,); None = once.
    """
    against = by_class[:-1] - by_class[-1:]
    logits = _product(seen, against[:, 1:].T).T if len(against) == 1 else _product(against[:, 1:], seen.T)
    logits += against[:, :1]
    most = jnp.maximum(logits.max(axis=0), 0.0)
    odds = jnp.exp(logits - most)
    residuals = odds / (odds.sum(axis=0) + jnp.exp(-most)) - member
    if times is not None:
        residuals *= times
    total = jnp.concatenate([residuals.sum(axis=1)[:, None], _product(residuals, seen)], axis=1)
    mean = total / jnp.asarray(len(seen) if times is None else times.sum(), total.dtype)
    return jnp.concatenate([mean, -mean.sum(axis=0, keepdims=True)])


def _product(a: Array, b: Array) -> Array:
    """A matrix product by itself: XLA writes a slow loop for a product that it fuses with what is done to its factors or its result."""
    return jax.lax.optimization_barrier(jax.lax.optimization_barrier(a) @ b)


def _linear_steps(
    steps: int, rate: float, first: Array, seen: Array, labels: Array, times: Array | None = None
) -> tuple[Array, Steps]:
    """(parameters after the last step, `Steps`) of a linear classifier without clipping, each of whose batches is all examples.

    `steps`, `rate`: as in `Descent`; `first`: the parameters before the first step; `seen`, `labels`, `times`: as in `_mean_gradient`.
    """
    start = _by_class(first, seen)
    member = jax.lax.optimization_barrier(_member(labels, start))

    def step(by_class: Array, _: None) -> tuple[Array, Steps]:
        mean = _mean_gradient(by_class, seen, member, times)
        return by_class - jnp.asarray(rate, by_class.dtype) * mean, Steps(by_class, mean)

    # The first step by itself: of trainings on the same features its residuals are the same, and computed once.
    now, earlier = step(start, None)
    last, later = jax.lax.scan(step, now, None, length=steps - 1)
    passed = jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), earlier, later)
    return last.T.ravel(), jax.tree.map(lambda leaf: jnp.swapaxes(leaf, 1, 2).reshape(steps, -1), passed)
