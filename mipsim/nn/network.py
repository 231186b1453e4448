"""Networks as plain values: a kind and its sizes, from which Flax makes the module."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from mipsim._compiled import prepare
from mipsim._extras import optional
from mipsim._memory import fits_memory
from mipsim._precision import exact_scope, fixed_key
from mipsim._validation import choice, sizes, whole
from mipsim._words import quoted
from mipsim.nn.convolution import convolution, halved, quick_convolved, quick_halved

Parameters = dict[str, dict[str, Any]]
"""Layer -> name -> array, float32, or the same of the layers within it: Flax's own tree."""

KINDS = ("linear", "convolutional", "residual", "layered", "random features")
PARTS = ("trained", "last")
"""Of the parameters: all that training changes, or those of the last layer."""
GROUP = 16
"""Channels that are normalised together at most: what was best in Wu & He (2018)."""


@dataclass(frozen=True)
class Network:
    """A network whose parameters are a plain tree; see `linear`, `convolutional`, `residual`, `layered` or `random_features`.

    Attributes:
        kind: an entry of `KINDS`.
        inputs: shape of an input.
        widths: of the hidden layers: units, or channels of convolutions.
        outputs: numbers of classes; 1 = a real value, with the squared error as the loss.

    Examples:
        >>> network = linear((28, 28, 1), 10)
        >>> network.dimension(), len(network.start(seed=0))
        (7850, 1)
    """

    kind: str
    inputs: tuple[int, ...]
    widths: tuple[int, ...]
    outputs: int

    @cached_property
    def module(self) -> Any:
        """The Flax module.

        Raises:
            ImportError: if Flax is not installed.
        """
        linen = optional("flax.linen", "networks")
        layers: list[Any] = []
        if self.kind == "convolutional":
            for channels in self.widths:
                layers += [convolution(channels, quick_convolved), linen.relu, quick_halved]
            layers.append(_flat)
        elif self.kind == "residual":
            layers += residual_layers(self.widths)
        else:
            layers.append(_flat)
            for width in self.widths:
                layers += [linen.Dense(width), linen.tanh]
        return linen.Sequential([*layers, linen.Dense(self.outputs)])

    def start(self, seed: int) -> Parameters:
        """Parameters as before training, float32: Flax's own draw (LeCun normal, offsets zero) from the seed."""
        numbers = sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(self.shapes))
        fits_memory(numbers, 12, inputs=self.inputs, widths=self.widths, outputs=self.outputs)
        prepare()
        with exact_scope():
            key = fixed_key(whole("seed", seed, 0))
            return _draw(self)(key)

    def apply(self, parameters: Parameters, x: Float[Array, "n ..."]) -> Float[Array, "n outputs"]:
        """The outputs: a number for each class (logits), or the value."""
        return self.module.apply({"params": parameters}, x)

    def features(self, parameters: Parameters, x: Float[Array, "n ..."]) -> Float[Array, "n width"]:
        """The inputs of the last layer. Traceable; `mipsim.nn.features` is in micro-batches."""
        linen = optional("flax.linen", "networks")
        return linen.Sequential(self.module.layers[:-1]).apply({"params": parameters}, x)

    def losses(self, parameters: Parameters, x: Float[Array, "n ..."], y: Array) -> Float[Array, " n"]:
        """The loss of each example: cross-entropy, or half the squared error where outputs = 1."""
        result = self.apply(parameters, x)
        if self.outputs == 1:
            return 0.5 * (result[:, 0] - y.astype(result.dtype)) ** 2
        logits = jax.nn.log_softmax(result)
        return -jnp.take_along_axis(logits, y[:, None].astype(jnp.int32), axis=1)[:, 0]

    def layers(self, part: str = "trained") -> tuple[str, ...]:
        """The names of the layers of a part of the network; frozen ones are of none."""
        choice("part", part, PARTS)
        names = sorted(self.shapes, key=lambda name: int(name.rpartition("_")[2]))
        return tuple(names[-1:] if part == "last" or self.kind == "random features" else names)

    def dimension(self, part: str = "trained") -> int:
        """How many parameters that part has: d of its gradients."""
        leaves = jax.tree.leaves([self.shapes[name] for name in self.layers(part)])
        return sum(int(np.prod(leaf.shape)) for leaf in leaves)

    def flat(self, parameters: Parameters, part: str = "trained") -> Float[Array, " d"]:
        """The parameters of a part as a single vector."""
        return ravel_pytree({name: parameters[name] for name in self.layers(part)})[0]

    def with_flat(
        self, parameters: Parameters, vector: Float[Array, " d"], part: str = "trained"
    ) -> Parameters:
        """The parameters with a part of them replaced by a vector."""
        return {**parameters, **self.unflatten(parameters, part)(vector)}

    def unflatten(
        self, parameters: Parameters, part: str = "trained"
    ) -> Callable[[Float[Array, " d"]], Parameters]:
        """What makes the layers of a part of such parameters from a single vector."""
        return ravel_pytree({name: parameters[name] for name in self.layers(part)})[1]

    def checked(self, name: str, parameters: Any) -> Parameters:
        """Parameters of such a network as float32, or a ValueError that names the argument."""
        shapes = self.shapes
        fits = jax.tree.structure(parameters) == jax.tree.structure(shapes)
        if not fits or jax.tree.map(np.shape, parameters) != jax.tree.map(lambda leaf: leaf.shape, shapes):
            raise ValueError(
                f"{name} is {quoted(type(parameters))}; it must be parameters of the network, as network.start(0)"
            )
        leaves = jax.tree.map(lambda leaf: np.asarray(leaf, np.float32), parameters)
        if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(leaves)):
            raise ValueError(f"{name} holds parameters that are not finite")
        return leaves

    @cached_property
    def shapes(self) -> Any:
        """The tree of the parameters, with the shape and dtype of each in its place."""
        return jax.eval_shape(
            lambda: self.module.init(jax.random.key(0), jnp.zeros((1, *self.inputs), jnp.float32))["params"]
        )


@lru_cache(maxsize=64)
def _draw(network: Network) -> Callable[[Array], Parameters]:
    """Flax's draw as a single program: by itself it compiles each of some 30 operations."""
    blank = jnp.zeros((1, *network.inputs), jnp.float32)
    return jax.jit(lambda key: network.module.init(key, blank)["params"])


def linear(inputs: Sequence[int], outputs: int) -> Network:
    """A single linear layer.

    Args:
        inputs: shape of an input, as (28, 28, 1).
        outputs: classes, or 1 for a real value.

    Examples:
        >>> linear((28, 28, 1), 10).dimension()
        7850
    """
    return _checked("linear", inputs, (), outputs)


def convolutional(
    inputs: Sequence[int] = (32, 32, 3), channels: Sequence[int] = (16, 32, 25), outputs: int = 10
) -> Network:
    """Convolutions of 3 x 3 with ReLU, each followed by the maximum over 2 x 2, and a linear layer.

    Their gradients are written out for reverse mode: `jax.jvp` and `jax.hessian` raise TypeError.

    Args:
        inputs: (height, width, channels), divisible by 2 for each convolution.
        channels: of each convolution.
        outputs: classes, or 1 for a real value.

    Examples:
        >>> network = convolutional()
        >>> network.dimension(), network.dimension("last")
        (16323, 4010)
    """
    network = _checked("convolutional", inputs, channels, outputs, "channels")
    return _halved_evenly(network, len(network.widths))


def residual(
    inputs: Sequence[int] = (32, 32, 3), widths: Sequence[int] = (64, 128, 256, 512), outputs: int = 10
) -> Network:
    """ResNet-9: eight convolutions of 3 x 3, each with group normalisation and ReLU, four of them in two residual blocks; three times
    the maximum over 2 x 2, at the end the maximum over the image, and a linear layer.

    Groups have 16 channels, or as many as divide both 16 and the width. Normalisation by batches is no choice: the gradient of an
    example would depend on the others, and its clipping would bound nothing.

    Args:
        inputs: (height, width, channels), divisible by 8.
        widths: channels of the first convolution and after each halving, four numbers.
        outputs: classes, or 1 for a real value.

    Source: Page (2018), "How to train your ResNet", with the normalisation of Wu & He (2018), "Group normalization"; Kaissis et al. (2023),
        section 5, the network on CIFAR-10.

    Examples:
        >>> residual().dimension(), residual(widths=(8, 16, 32, 64)).dimension("last")
        (6575370, 650)
    """
    network = _checked("residual", inputs, widths, outputs)
    if len(network.widths) != 4:
        raise ValueError(f"widths is {network.widths}; it must have four numbers")
    return _halved_evenly(network, 3)


def _halved_evenly(network: Network, times: int) -> Network:
    if len(network.inputs) != 3 or any(size % 2**times for size in network.inputs[:2]):
        raise ValueError(
            f"inputs is {network.inputs}; it must be (height, width, channels) with both sizes divisible by {2**times}"
        )
    return network


def layered(inputs: Sequence[int], widths: Sequence[int], outputs: int) -> Network:
    """Linear layers with tanh between them.

    Args:
        inputs: shape of an input.
        widths: of the hidden layers.
        outputs: classes, or 1 for a real value.

    Examples:
        >>> layered((446,), (128, 64), 10).dimension("last")
        650
    """
    return _checked("layered", inputs, widths, outputs)


def random_features(inputs: Sequence[int], features: int = 512, outputs: int = 2) -> Network:
    """A hidden tanh layer that stays as it was sampled, and a linear layer, the only layer that is trained.

    Args:
        inputs: shape of an input.
        features: width of the hidden layer.
        outputs: classes, or 1 for a real value.

    Source: Leemann et al. (2023), section 6, the network on Adult.

    Examples:
        >>> random_features((12,)).dimension()
        1026
    """
    return _checked("random features", inputs, (whole("features", features, 1),), outputs)


def _checked(
    kind: str, inputs: Sequence[int], widths: Sequence[int], outputs: int, name: str = "widths"
) -> Network:
    own = {
        "inputs": sizes("inputs", inputs),
        name: sizes(name, widths),
        "outputs": whole("outputs", outputs, 1),
    }
    result = Network(kind, *own.values())
    images = kind in ("convolutional", "residual")
    sides = math.prod(result.inputs[-1:] if images else result.inputs), *result.widths, result.outputs
    # At least: a convolution has nine times as many, and its shapes in full are known to JAX alone, which takes none so large.
    fits_memory(math.prod(result.inputs) + sum(map(math.prod, pairwise(sides))), 4, **own)
    return result


def _flat(x: Array) -> Array:
    return x.reshape(x.shape[0], -1)


def residual_layers(widths: tuple[int, ...]) -> list[Any]:
    """All but the linear layer, for four widths: convolution, halving with a residual block, halving, halving with a residual
    block, maximum.

    >>> len(residual_layers((8, 8, 8, 8)))  # four times a convolution with its norm and ReLU; three halvings, two blocks, the maximum
    18
    """
    first, second, third, fourth = widths
    return [
        *_normalised(first),
        *(*_normalised(second), halved, _block()(second)),
        *(*_normalised(third), halved),
        *(*_normalised(fourth), halved, _block()(fourth)),
        largest,
    ]


def largest(x: Float[Array, "n height width c"]) -> Float[Array, "n c"]:
    """The maximum over the image.
    >>> import numpy as np
    >>> print(largest(np.arange(8.0).reshape(1, 2, 2, 2)))
    [[6. 7.]]
    """
    return jax.numpy.max(x, axis=(1, 2))


def _normalised(channels: int) -> list[Any]:
    """Convolution, group norm, ReLU."""
    linen = optional("flax.linen", "networks")
    norm = linen.GroupNorm(num_groups=None, group_size=math.gcd(channels, GROUP), use_fast_variance=False)
    return [convolution(channels), norm, linen.relu]


@cache
def _block() -> Any:
    linen = optional("flax.linen", "networks")

    class Residual(linen.Module):
        channels: int

        @linen.compact
        def __call__(self, x: Array) -> Array:
            return x + linen.Sequential([*_normalised(self.channels), *_normalised(self.channels)])(x)

    return Residual
