"""Training by Optax, which goes on where it was killed."""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from functools import partial
from pathlib import Path
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

from mipsim._extras import optional
from mipsim._files import replace_file
from mipsim._precision import exact_scope
from mipsim._validation import file_path, number, one_of, whole
from mipsim.nn.gradients import checked_examples
from mipsim.nn.network import Network, Parameters

OPTIMISERS = ("sgd", "adam")


def train(
    network: Network,
    x: np.ndarray,
    y: np.ndarray,
    *,
    epochs: int,
    rate: float,
    batch: int = 64,
    optimiser: Literal["sgd", "adam"] = "adam",
    seed: int = 0,
    start: Parameters | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Parameters:
    """Train a network on shuffled batches.

    The order of the examples in each epoch depends on the seed and the epoch only, and the arithmetic is float32: on one kind of
    device, with as many cores, the same arguments give the same bits, whether or not the training was interrupted. On another number
    of cores XLA may sum the gradients of a batch in another order.

    Args:
        network: what is trained.
        x: inputs, shape (N, ...).
        y: labels, shape (N,).
        epochs: passes over the data, >= 0; the examples that fill no whole batch are left out of a pass.
        rate: the step size, > 0.
        batch: examples of a step, in [1, N].
        optimiser: "sgd" (plain) or "adam".
        seed: of the start and the order, a whole number in [0, 2^63).
        start: parameters to begin with; None = `network.start(seed)`.
        checkpoint: a file that keeps the state after each epoch. If it exists and holds the same training, that goes on from there.

    Returns:
        The parameters, those of frozen layers as they were.

    Raises:
        ValueError: on bad arguments, or a checkpoint that is corrupt or of another training; where parameters overflow, which then
            are not kept.
        OSError: if the checkpoint cannot be written; an old one stays intact.
        ImportError: if Flax or Optax is not installed.

    Source: Kingma & Ba (2015), "Adam".

    Examples:
        >>> from mipsim.nn import linear
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=(256, 2))
        >>> y = (x[:, 0] > x[:, 1]).astype(int)
        >>> network = linear((2,), 2)
        >>> learned = train(network, x, y, epochs=20, rate=0.05, batch=32)
        >>> bool((network.apply(learned, x).argmax(axis=1) == y).mean() > 0.95)
        True
    """
    inputs, labels = checked_examples(network, x, y)
    epochs, seed = whole("epochs", epochs, 0), whole("seed", seed, 0)
    rate, batch = number("rate", rate, 0.0, low_open=True), whole("batch", batch, 1)
    if batch > len(labels):
        raise ValueError(f"batch is {batch}; there are {len(labels)} examples")
    optax = optional("optax", "trained networks")
    chosen: Any = getattr(optax, one_of("optimiser", optimiser, OPTIMISERS))(rate)
    path = None if checkpoint is None else file_path("checkpoint", checkpoint)
    with exact_scope():
        parameters = (
            network.start(seed)
            if start is None
            else jax.tree.map(lambda a: jnp.asarray(a, jnp.float32), start)
        )
        state = network.flat(parameters), chosen.init(network.flat(parameters))
        if not jnp.isfinite(state[0]).all():
            raise ValueError("start holds parameters that are not finite")
        done = 0
        identity = _identity(network, inputs, labels, parameters, [rate, batch, optimiser, seed])
        if path is not None and path.exists():
            done, state = _restored(path, identity, state)
            if done > epochs:
                raise ValueError(
                    f"checkpoint {path} holds {done} epochs, more than the {epochs} asked for; name another file"
                )
        placed = jnp.asarray(inputs), jnp.asarray(labels)
        for epoch in range(done, epochs):
            order = np.random.default_rng([seed, epoch]).permutation(len(labels))
            rows = order[: len(labels) // batch * batch].reshape(-1, batch)
            state = _epoch(network, chosen.update, parameters, state, *placed, jnp.asarray(rows))
            if not jnp.isfinite(state[0]).all():
                kept = (
                    f"; checkpoint {path} keeps those of epoch {epoch}" if path is not None and epoch else ""
                )
                raise ValueError(
                    f"rate is {rate:g}; the parameters are not finite in epoch {epoch + 1}{kept}: give a smaller rate, or scale x"
                )
            if path is not None:
                _store(path, identity, epoch + 1, state)
        return network.with_flat(parameters, state[0])


@partial(jax.jit, static_argnums=(0, 1))
def _epoch(
    network: Network, update: Any, parameters: Parameters, state: Any, x: Any, y: Any, rows: Any
) -> Any:
    def loss(vector: jax.Array, chosen: jax.Array) -> jax.Array:
        return network.losses(network.with_flat(parameters, vector), x[chosen], y[chosen]).mean()

    def step(now: tuple[jax.Array, Any], chosen: jax.Array) -> tuple[tuple[jax.Array, Any], None]:
        vector, memory = now
        change, memory = update(jax.grad(loss)(vector, chosen), memory, vector)
        return (vector + change, memory), None

    return jax.lax.scan(step, state, rows)[0]


def _identity(network: Network, x: np.ndarray, y: np.ndarray, parameters: Parameters, rest: list[Any]) -> str:
    """What decides the result, but for the number of epochs, as one digest."""
    digest = hashlib.sha256(json.dumps([repr(network), rest, jax.__version__]).encode())
    for array in (x, y, *map(np.asarray, jax.tree.leaves(parameters))):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _store(path: Path, identity: str, epochs: int, state: Any) -> None:
    held: dict[str, Any] = {f"leaf{i}": np.asarray(leaf) for i, leaf in enumerate(jax.tree.leaves(state))}
    out = io.BytesIO()
    np.savez(out, identity=np.array(identity), epochs=np.array(epochs), **held)
    replace_file(path, out.getvalue())


def _restored(path: Path, identity: str, like: Any) -> tuple[int, Any]:
    leaves, tree = jax.tree.flatten(like)
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as held:
            found = {name: held[name] for name in held.files}
        kept = [found[f"leaf{i}"] for i in range(len(leaves))]
        said, epochs = str(found["identity"]), int(found["epochs"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"checkpoint {path} is no whole checkpoint of a training ({error}); remove it or name another file"
        ) from error
    if said != identity:
        raise ValueError(
            f"checkpoint {path} belongs to another training: other data, network or settings; name another file"
        )
    return epochs, jax.tree.unflatten(tree, [jnp.asarray(leaf) for leaf in kept])
