"""The gradient of the loss of every example, and what its last layer sees of it, in micro-batches."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mipsim._compiled import prepare
from mipsim._files import writable_folder
from mipsim._precision import exact_scope
from mipsim._signals import interruptible
from mipsim._validation import choice, file_path, member, real_array, whole
from mipsim.nn.batch_files import StoredBatches, identity_of
from mipsim.nn.network import PARTS, Network, Parameters

MEMORY = 2**29
"""Bytes that a micro-batch takes at most, by default: half a gibibyte."""
_CACHED = 2**26
"""Bytes, counted as for a gradient, of a micro-batch whose features a CPU computes without leaving its cache."""


def device_memory() -> int:
    """Bytes that a micro-batch may take where training has the device to itself: `MEMORY`, or three quarters of what JAX may use of an
    accelerator's memory.
    >>> device_memory() >= MEMORY
    True
    """
    device = jax.devices()[0]
    limit = (device.memory_stats() or {}).get("bytes_limit") if device.platform != "cpu" else None
    return max(MEMORY, 3 * (limit or 0) // 4)


@interruptible
def per_example_gradients(
    network: Network,
    parameters: Parameters,
    x: np.ndarray,
    y: np.ndarray,
    *,
    part: str = "trained",
    reduce: Callable[[np.ndarray], np.ndarray] | None = None,
    memory: int = MEMORY,
    checkpoint: str | os.PathLike[str] | None = None,
) -> np.ndarray:
    """Gradients of the loss at fixed parameters, a row for each example; or what `reduce` makes of them.

    Args:
        network: the network.
        parameters: its parameters.
        x: inputs, shape (N, ...).
        y: labels, shape (N,).
        part: "trained" for all parameters that training changes, "last" for those of the last layer.
        reduce: maps gradients of some examples, float32 (b, d), to what is stored of them, first axis b, so that not all (N, d) are
            held at once: `lambda g: g @ direction` projects every gradient to a number. None keeps them.
        memory: bytes that a micro-batch may take: what the passes through the network keep, and the gradients.
        checkpoint: a folder that stores each micro-batch, reduced. If it holds some of the same gradients, the others are computed; the
            first is always computed anew, since nothing else shows whether `reduce` is the same. A function that agrees there
            and differs later is not distinguished: give it a folder of its own.

    Returns:
        Float32 of shape (N, d), or what `reduce` returns for all N.

    Raises:
        ValueError: if x and y do not fit the network or each other; if the checkpoint is corrupt or of other gradients.
        OSError: if the checkpoint cannot be written; what it held stays intact.

    Source: Goodfellow (2015), "Efficient per-example gradient computations", for the task; `vmap` of `grad` for the way.

    Examples:
        >>> from mipsim.nn import linear
        >>> network, x, y = linear((2,), 3), np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([0, 2])
        >>> gradients = per_example_gradients(network, network.start(0), x, y)
        >>> gradients.shape, bool(abs(gradients[:, :3].sum()) < 1e-6)  # offsets come first; those of the classes add up to zero
        ((2, 9), True)
    """
    inputs, labels = checked_examples(network, x, y)
    choice("part", part, PARTS)
    parameters = network.checked("parameters", parameters)

    def of(rows: np.ndarray) -> np.ndarray:
        result = _gradients(network, part, parameters, jnp.asarray(inputs[rows]), jnp.asarray(labels[rows]))
        return np.asarray(result)

    size = micro_batch(len(labels), whole("memory", memory, 1), network, part)
    if checkpoint is None:
        return _in_micro_batches(of, len(labels), size, reduce)
    retained = StoredBatches(
        writable_folder("checkpoint", file_path("checkpoint", checkpoint)),
        identity_of(network, inputs, labels, parameters, ["gradients", part, size]),
    )
    return _in_micro_batches(of, len(labels), size, reduce, retained.get)


@interruptible
def features(
    network: Network, parameters: Parameters, x: np.ndarray, *, memory: int | None = None
) -> np.ndarray:
    """The inputs of a network's last layer: on them, a training of the last layer alone is a training of `linear((width,), outputs)`.

    Args:
        network: the network.
        parameters: its parameters.
        x: inputs, shape (N, ...).
        memory: bytes that a micro-batch may take; None = 64 MiB, or three quarters of what JAX may use of an accelerator's memory.

    Returns:
        Float32 of shape (N, width).

    Raises:
        ValueError: if x does not fit the network.

    Examples:
        >>> from mipsim.nn import layered, linear
        >>> network, x = layered((2,), (5,), 3), np.array([[1.0, 2.0], [0.0, 1.0]])
        >>> start = network.start(0)
        >>> seen, head = features(network, start, x), linear((5,), 3)
        >>> parameters = head.with_flat(head.start(0), network.flat(start, "last"))
        >>> seen.shape, bool(abs(head.apply(parameters, seen) - network.apply(start, x)).max() < 1e-6)
        ((2, 5), True)
    """
    inputs, _ = checked_examples(network, x, np.zeros(real_array("x", x, finite=False, coins=True).shape[:1]))
    parameters = network.checked("parameters", parameters)
    if memory is None:
        memory = _CACHED if jax.default_backend() == "cpu" else device_memory()
    return _in_micro_batches(
        lambda rows: np.asarray(_features(network, parameters, jnp.asarray(inputs[rows]))),
        len(inputs),
        micro_batch(len(inputs), whole("memory", memory, 1), network),
    )


def micro_batch(count: int, memory: int, network: Network, part: str = "trained") -> int:
    """How many of `count` examples are passed through a network at once.
    >>> from mipsim.nn import linear
    >>> micro_batch(100, 2**29, linear((2,), 3)), micro_batch(100, 1, linear((2,), 3))
    (100, 1)
    """
    return max(1, min(count, memory // example_bytes(network, part)))


def _in_micro_batches(
    of: Callable[[np.ndarray], np.ndarray],
    count: int,
    size: int,
    reduce: Callable[[np.ndarray], np.ndarray] | None = None,
    get: Callable[[int, Callable[[], np.ndarray]], np.ndarray] = lambda _, make: make(),
) -> np.ndarray:
    """What `of` makes of the rows 0 to count - 1, so many of them at once, then reduced; `get` may know some of it."""

    def made(first: int) -> np.ndarray:
        # The last is filled up: all have the same shape.
        result = of(np.arange(first, first + size).clip(max=count - 1))[: count - first]
        return result if reduce is None else np.asarray(reduce(result))

    prepare()
    with exact_scope():
        return np.concatenate(
            [get(place, partial(made, first)) for place, first in enumerate(range(0, count, size))]
        )


@partial(jax.jit, static_argnums=0)
def _features(network: Network, parameters: Parameters, x: jax.Array) -> jax.Array:
    return network.features(parameters, x)


@cache
def example_bytes(network: Network, part: str = "trained") -> int:
    """At most so many bytes are held at once for the gradient of an example: every intermediate result, as if none were let go."""

    def gradient(parameters: Parameters, vector: jax.Array, x: jax.Array, y: jax.Array) -> jax.Array:
        return jax.grad(lambda v: network.losses(network.with_flat(parameters, v, part), x, y)[0])(vector)

    vector, x = (
        jax.ShapeDtypeStruct(shape, np.float32)
        for shape in ((network.dimension(part),), (1, *network.inputs))
    )
    label = jax.ShapeDtypeStruct((1,), np.int32)
    with exact_scope():
        return 4 * _numbers(jax.make_jaxpr(gradient)(network.shapes, vector, x, label).jaxpr)


def _numbers(program: Any) -> int:
    """How many numbers the steps of a program make, those of its inner programs included."""
    built = 0
    for step in program.eqns:
        inner = [
            result for value in step.params.values() if (result := getattr(value, "jaxpr", None)) is not None
        ]
        if inner:
            built += sum(map(_numbers, inner))
        else:
            built += sum(math.prod(out.aval.shape) for out in step.outvars)
    return built


@partial(jax.jit, static_argnums=(0, 1))
def _gradients(network: Network, part: str, parameters: Parameters, x: jax.Array, y: jax.Array) -> jax.Array:
    def loss(vector: jax.Array, single: jax.Array, label: jax.Array) -> jax.Array:
        return network.losses(network.with_flat(parameters, vector, part), single[None], label[None])[0]

    return jax.vmap(jax.grad(loss), (None, 0, 0))(network.flat(parameters, part), x, y)


def checked_examples(network: Network, x: object, y: object) -> tuple[np.ndarray, np.ndarray]:
    """Inputs as float32 and labels of a network's kind, or say what does not fit.
    >>> from mipsim.nn import linear
    >>> checked_examples(linear((2,), 3), np.zeros((4, 2)), np.array([0, 1, 2, 3]))
    Traceback (most recent call last):
    ...
    ValueError: y holds 3 at index 3; the network has classes 0 to 2
    """
    member("network", network, Network, "a network, as mipsim.nn.linear gives")
    inputs = real_array("x", x, finite=False, coins=True).astype(np.float32)
    labels = real_array("y", y, finite=False, coins=True)
    if inputs.shape[1:] != network.inputs or not inputs.shape[0]:
        raise ValueError(
            f"x has shape {inputs.shape}; the network takes (N, {', '.join(map(str, network.inputs))}), N >= 1"
        )
    if labels.shape != inputs.shape[:1]:
        raise ValueError(
            f"y has shape {labels.shape}; it must be ({len(inputs)},), a label for each row of x"
        )
    if not np.isfinite(inputs).all():
        raise ValueError(
            f"x holds a number that is not finite in row {int(np.argwhere(~np.isfinite(inputs))[0][0])}"
        )
    if not np.isfinite(labels.astype(np.float64)).all():
        raise ValueError(f"y holds a number that is not finite in row {int(np.argmin(np.isfinite(labels)))}")
    if network.outputs == 1:
        return inputs, labels.astype(np.float32)
    wrong = (labels < 0) | (labels >= network.outputs) | (labels != np.floor(labels))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(
            f"y holds {labels[at]:g} at index {at}; the network has classes 0 to {network.outputs - 1}"
        )
    return inputs, labels.astype(np.int32)
