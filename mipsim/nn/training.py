"""Training by Optax, plain or private, which resumes after an interruption."""

from __future__ import annotations

import io
import math
import os
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mipsim._archives import arrays_of, read_bytes
from mipsim._compiled import prepare
from mipsim._extras import optional
from mipsim._files import replace_file
from mipsim._memory import fits_memory, on_a_device
from mipsim._precision import exact_scope, fixed_key
from mipsim._signals import interruptible
from mipsim._validation import choice, file_path, number, whole
from mipsim._words import printable, quoted
from mipsim.nn.batch_files import identity_of
from mipsim.nn.gradients import checked_examples, device_memory
from mipsim.nn.network import Network, Parameters
from mipsim.nn.private import SAMPLING, augmented, checked_clipping, longest_batch, mean_gradient, noisy

OPTIMISERS = ("sgd", "adam")
MOST_EPOCHS = 2**32
"""Each has random numbers of its own, which are counted by 32 bits."""
_NOISE, _VIEWS, _BATCHES = 0x4E4F, 0x5649, 0x4241
"""Set the noise, the views and the batches apart from each other, and from other random numbers of the same seed."""


@interruptible
def train(
    network: Network,
    x: np.ndarray,
    y: np.ndarray,
    *,
    epochs: int,
    rate: float,
    batch: int = 64,
    optimiser: Literal["sgd", "adam"] = "adam",
    sampling: Literal["shuffled", "fixed", "poisson"] = "shuffled",
    clip: float = math.inf,
    noise_multiplier: float = 0.0,
    views: int = 0,
    seed: int = 0,
    start: Parameters | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Parameters:
    """Train a network; with `clip` and `noise_multiplier` by DP-SGD.

    The batches and the noise of each epoch depend on the seed and the epoch only, and the arithmetic is float32: on the same kind of
    device, with as many cores, the same arguments give the same bits, whether or not the training was interrupted. On another number
    of cores XLA may sum the gradients of a batch in another order.

    Args:
        network: what is trained.
        x: inputs, shape (N, ...).
        y: labels, shape (N,).
        epochs: of N // batch steps each, from 0 to 2^32: random numbers of epochs are counted by 32 bits. Ctrl-C ends a training.
        rate: the step size, > 0.
        batch: examples of a step, in [1, N]; of a Poisson batch the expected number.
        optimiser: "sgd" (plain) or "adam", of which each sees the released gradients only.
        sampling: how batches are sampled: "shuffled" (an epoch takes the examples in a new random order; those that fill no whole batch
            are left out), "fixed" (batch of them without replacement, anew in each step) or "poisson" (each of them with probability
            batch / N, anew in each step; the sum is divided by the expected number): `tradeoff.dpsgd` knows what the last kind gives away.
        clip: the largest Euclidean norm of an example's gradient, > 0; `inf` does not clip.
        noise_multiplier: standard deviation of the Gaussian noise on the sum of a step over `clip`, >= 0; 0 where clip is `inf`.
        views: where it is positive, a step takes so many random views of each image (mirrored, and shifted by up to an eighth of its sides), and the
            gradient of an example, before clipping, is that of their mean loss; 0 = the image as it is.
        seed: of the start, the batches, the views and the noise, a whole number in [0, 2^63).
        start: parameters to begin with; None = `network.start(seed)`.
        checkpoint: a file that keeps the state after each epoch. If it exists and holds the same training, training resumes from there.

    Returns:
        The parameters, those of frozen layers as they were.

    Raises:
        ValueError: on bad arguments, or a checkpoint that is corrupt or of another training; where parameters overflow, which then
            are not stored.
        OSError: if the checkpoint cannot be written; an old file stays intact.
        ImportError: if Flax or Optax is not installed.

    Source: Kingma & Ba (2015), "Adam"; Abadi et al. (2016), "Deep learning with differential privacy", algorithm 1; De et al. (2022),
        "Unlocking high-accuracy differentially private image classification through scale", section 3.2, for views.

    Examples:
        >>> from mipsim.nn import linear
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=(256, 2))
        >>> y = (x[:, 0] > x[:, 1]).astype(int)
        >>> network = linear((2,), 2)
        >>> learned = train(network, x, y, epochs=20, rate=0.05, batch=32)
        >>> bool((network.apply(learned, x).argmax(axis=1) == y).mean() > 0.95)
        True
        >>> private = train(network, x, y, epochs=2, rate=0.05, batch=32, sampling="poisson", clip=1.0, noise_multiplier=0.7)
        >>> bool((private["layers_1"]["kernel"] == learned["layers_1"]["kernel"]).any())
        False
    """
    inputs, labels = checked_examples(network, x, y)
    epochs, seed, views = (
        whole("epochs", epochs, 0, MOST_EPOCHS),
        whole("seed", seed, 0),
        whole("views", views, 0),
    )
    if views and len(network.inputs) != 3:
        raise ValueError(
            f"views is {quoted(views)}; inputs of shape {network.inputs} are no images, so it must be 0"
        )
    rate, batch = number("rate", rate, 0.0, low_open=True), whole("batch", batch, 1)
    if batch > len(labels):
        raise ValueError(f"batch is {quoted(batch)}; there are {len(labels)} examples")
    fits_memory(views * batch * math.prod(network.inputs), 4, views=views)
    choice("sampling", sampling, SAMPLING)
    clip, noise_multiplier = checked_clipping(clip, noise_multiplier)
    optax = optional("optax", "trained networks")
    chosen = _optimiser(optax, choice("optimiser", optimiser, OPTIMISERS), rate)
    path = None if checkpoint is None else file_path("checkpoint", checkpoint)
    prepare()
    with exact_scope(), on_a_device(f"batch is {batch}; a step of it"):
        parameters = (
            network.start(seed)
            if start is None
            else jax.tree.map(jnp.asarray, network.checked("start", start))
        )
        state = network.flat(parameters), chosen.init(network.flat(parameters))
        done = 0
        identity = identity_of(
            network,
            inputs,
            labels,
            parameters,
            # the last for the random numbers of its batches: with others it is another training
            [rate, batch, optimiser, sampling, clip, noise_multiplier, views, seed, _BATCHES],
        )
        if path is not None and path.exists():
            done, state = _restored(path, identity, state)
            if done > epochs:
                raise ValueError(
                    f"checkpoint {path} holds {done} epochs, more than the {epochs} requested; name another file"
                )
        placed = jnp.asarray(inputs), jnp.asarray(labels)
        deviation = noise_multiplier * clip / batch if noise_multiplier else 0.0
        step = _Step(network, chosen.update, clip, batch, device_memory(), views)
        for epoch in range(done, epochs):
            rows, retained = _batches(_numbers(seed, epoch), len(labels), batch, sampling)
            noise = (_key(seed, _NOISE, epoch), deviation) if deviation else None
            looks = _key(seed, _VIEWS, epoch) if views else None
            state = _epoch(step, parameters, state, *placed, rows, retained, noise, looks)
            if not jnp.isfinite(state[0]).all():
                retained = (
                    f"; checkpoint {path} keeps those of epoch {epoch}" if path is not None and epoch else ""
                )
                raise ValueError(
                    f"rate is {rate:g}; the parameters are not finite in epoch {epoch + 1}{retained}: give a smaller rate, or scale x"
                )
            if path is not None:
                _store(path, identity, epoch + 1, state)
        return network.with_flat(parameters, state[0])


def _numbers(seed: int, epoch: int) -> np.random.Generator:
    """The random numbers of an epoch's batches.

    Not `default_rng([seed, epoch])`: that of epoch 0 is `default_rng(seed)`, with which an auditor may have tossed the coins of
    membership, and batches that depend on these coins leak more than is promised.
    """
    return np.random.default_rng([_BATCHES, seed, epoch])


def _key(seed: int, purpose: int, epoch: int) -> jax.Array:
    return jax.random.fold_in(jax.random.fold_in(fixed_key(seed), purpose), epoch)


@lru_cache(maxsize=64)
def _optimiser(optax: Any, name: str, rate: float) -> Any:
    """The same object for the same words, so that trainings of several seeds are compiled once."""
    return getattr(optax, name)(rate)


class _Step(NamedTuple):
    """What the compiled code of an epoch depends on."""

    network: Network
    update: Any
    clip: float
    size: int
    memory: int
    views: int


@partial(jax.jit, static_argnums=0)
def _epoch(
    of: _Step,
    parameters: Parameters,
    state: Any,
    x: Any,
    y: Any,
    rows: Any,
    included: Any,
    noise: Any,
    looks: Any,
) -> Any:
    """The state after a step for each row of `rows`; `noise` is (key, standard deviation) or None, `looks` the key of the views or None."""

    def step(now: tuple[jax.Array, Any], batch: Any) -> tuple[tuple[jax.Array, Any], None]:
        (vector, memory), (at, chosen, own) = now, batch
        seen = x[chosen]
        if looks is not None:
            seen = augmented(jax.random.fold_in(looks, at), seen, of.views)
        mean = mean_gradient(
            of.network,
            parameters,
            vector,
            seen,
            y[chosen],
            included=own,
            size=of.size,
            clip=of.clip,
            memory=of.memory,
            views=of.views,
        )
        if noise is not None:
            mean = noisy(jax.random.fold_in(noise[0], at), mean, noise[1])
        change, memory = of.update(mean, memory, vector)
        return (vector + change, memory), None

    return jax.lax.scan(step, state, (jnp.arange(len(rows)), rows, included))[0]


def _batches(
    rng: np.random.Generator, count: int, batch: int, sampling: str
) -> tuple[np.ndarray, np.ndarray | None]:
    """(the rows of each step's batch, which of them count; None = all), for an epoch of count // batch steps."""
    steps = count // batch
    if sampling == "shuffled":
        return rng.permutation(count)[: steps * batch].reshape(steps, batch), None
    if sampling == "fixed":
        return np.stack([rng.choice(count, batch, replace=False) for _ in range(steps)]), None
    rows = np.zeros((steps, longest_batch(count, batch)), np.int64)
    retained = np.zeros(rows.shape, bool)
    for step in range(steps):
        sample = np.flatnonzero(rng.random(count) < batch / count)[: rows.shape[1]]
        rows[step, : len(sample)], retained[step, : len(sample)] = sample, True
    return rows, retained


def _store(path: Path, identity: str, epochs: int, state: Any) -> None:
    held: dict[str, Any] = {f"leaf{i}": np.asarray(leaf) for i, leaf in enumerate(jax.tree.leaves(state))}
    out = io.BytesIO()
    np.savez(out, identity=np.array(identity), epochs=np.array(epochs), **held)
    replace_file(path, out.getvalue())


def _restored(path: Path, identity: str, like: Any) -> tuple[int, Any]:
    leaves, tree = jax.tree.flatten(like)
    names = [f"leaf{i}" for i in range(len(leaves))]
    try:
        content = read_bytes(path)
        result = arrays_of(content, ["identity", "epochs"], compressed=False)
        text, epochs = str(result["identity"]), int(result["epochs"])
        # another network has other arrays
        retained = arrays_of(content, names, compressed=False) if text == identity else {}
        if epochs < 0 or any(
            (retained[name].shape, retained[name].dtype) != (np.shape(leaf), np.asarray(leaf).dtype)
            for name, leaf in zip(names, leaves, strict=True)
            if retained
        ):
            raise ValueError("it holds what no training has stored")
    except (OSError, TypeError, ValueError) as error:
        raise ValueError(
            f"checkpoint {printable(path)} is no whole checkpoint of a training ({error}); remove it or name another file"
        ) from error
    if text != identity:
        raise ValueError(
            f"checkpoint {printable(path)} belongs to another training: other data, network or settings; name another file"
        )
    return epochs, jax.tree.unflatten(
        tree, [jnp.asarray(leaf) for leaf in (retained[name] for name in names)]
    )
