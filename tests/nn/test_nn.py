"""Networks, the gradient of every example, and training that goes on where it was killed."""

import importlib
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mipsim import nn
from mipsim._precision import exact_scope, fixed_key
from mipsim.nn import convolution, training
from mipsim.nn.gradients import example_bytes

RNG = np.random.default_rng(20_230_601)
IMAGES, KINDS = RNG.normal(size=(13, 8, 8, 3)).astype(np.float32), RNG.integers(0, 4, 13)
NETWORKS = {
    "linear": nn.linear((8, 8, 3), 4),
    "convolutional": nn.convolutional((8, 8, 3), (3, 4, 5), 4),
    "residual": nn.residual((8, 8, 3), (3, 4, 5, 8), 4),
    "layered": nn.layered((8, 8, 3), (6, 5), 4),
    "random features": nn.random_features((8, 8, 3), 7, 4),
}


# Compiling the passes of the deep network takes half a minute: a default run has what its last layer sees.
SHALLOW_FIRST = [
    pytest.param(name, marks=pytest.mark.slow) if name == "residual" else name for name in NETWORKS
]


@pytest.mark.evidence
@pytest.mark.parametrize("part", ["trained", "last"])
@pytest.mark.parametrize("name", SHALLOW_FIRST)
def test_gradients_are_those_of_a_single_example_at_a_time(name: str, part: str) -> None:
    """By finite differences of float64 losses: their error is h^2 and rounding / h, below 1e-6 here; gradients are float32."""
    network = NETWORKS[name]
    start = network.start(3)
    result = nn.per_example_gradients(
        network, start, IMAGES, KINDS, part=part, memory=5 * example_bytes(network, part)
    )
    assert result.shape == (13, network.dimension(part))
    direction = RNG.normal(size=result.shape[1])
    with jax.enable_x64(True):
        exact = jax.tree.map(lambda a: np.asarray(a, np.float64), start)
        here = np.asarray(network.flat(exact, part))

        def losses(step: float) -> np.ndarray:
            moved = network.with_flat(exact, here + step * direction, part)
            return np.asarray(network.losses(moved, jnp.asarray(IMAGES, float), jnp.asarray(KINDS)))

        slopes = (losses(1e-5) - losses(-1e-5)) / 2e-5
    scale = np.linalg.norm(result, axis=1) * np.linalg.norm(direction)
    # ReLU and the maximum have kinks: none lies within 1e-5 of these random inputs.
    assert (np.abs(result @ direction - slopes) < 1e-5 * scale).all()
    assert (np.abs(1.01 * result @ direction - slopes) > 1e-5 * scale).any()


@pytest.mark.evidence
@pytest.mark.parametrize("name", SHALLOW_FIRST)
def test_features_are_what_the_last_layer_sees(name: str) -> None:
    """The last layer on them is the network, and has its gradients, to float32."""
    network = NETWORKS[name]
    start = network.start(2)
    seen = nn.features(network, start, IMAGES, memory=5 * example_bytes(network))
    head = nn.linear(seen.shape[1:], 4)
    parameters = head.with_flat(head.start(0), network.flat(start, "last"))
    outputs, apply = head.apply(parameters, jnp.asarray(seen)), jax.jit(network.apply)
    assert np.allclose(outputs, apply(start, jnp.asarray(IMAGES)), rtol=1e-5, atol=1e-5)
    assert not np.allclose(outputs, apply(start, jnp.asarray(IMAGES[::-1])), rtol=1e-2)
    with pytest.raises(ValueError, match=r"x has shape \(13, 8, 8, 2\)"):
        nn.features(network, start, IMAGES[..., :2])
    whole = nn.per_example_gradients(network, start, IMAGES, KINDS, part="last")
    own = nn.per_example_gradients(head, parameters, seen, KINDS)
    assert np.allclose(own, whole, rtol=1e-5, atol=1e-5)
    assert not np.allclose(own, 1.01 * whole, rtol=1e-5)


@pytest.mark.evidence
def test_plain_sgd_is_the_mean_of_the_gradients() -> None:
    """A single step on the whole data moves by -rate times the mean gradient, to float32; frozen features stay."""
    network = NETWORKS["layered"]
    start = network.start(0)
    after = nn.train(network, IMAGES, KINDS, epochs=1, rate=0.5, batch=13, optimiser="sgd")
    mean = nn.per_example_gradients(network, start, IMAGES, KINDS).mean(axis=0)
    moved = np.asarray(network.flat(after) - network.flat(start))
    assert np.allclose(moved, -0.5 * mean, rtol=0, atol=2e-6)
    network = NETWORKS["random features"]
    start = network.start(1)
    learned = nn.train(network, IMAGES, KINDS, epochs=3, rate=0.1, batch=4, seed=1)
    assert sorted(bool((start[name]["kernel"] != learned[name]["kernel"]).any()) for name in start) == [
        False,
        True,
    ]
    assert network.dimension() == network.dimension("last") == 4 * 7 + 4


def test_a_training_that_overflows_stops_and_keeps_its_last_good_state(tmp_path: Path) -> None:
    network, path = NETWORKS["linear"], tmp_path / "state.npz"
    arguments = {"network": network, "x": IMAGES, "y": KINDS, "batch": 4, "optimiser": "sgd"}
    with pytest.raises(ValueError, match=r"rate is 1e\+38; the parameters are not finite in epoch 1: give"):
        nn.train(**arguments, epochs=3, rate=1e38, checkpoint=path)
    assert not path.exists()
    nn.train(**arguments, epochs=2, rate=0.1, checkpoint=path)
    retained = path.read_bytes()
    held = network.flat(network.start(0)).at[0].set(np.inf)
    with pytest.raises(ValueError, match="start holds parameters that are not finite"):
        nn.train(**arguments, epochs=3, rate=0.1, start=network.with_flat(network.start(0), held))
    plain = training._epoch
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "_epoch", lambda *args: (plain(*args)[0] * np.nan, plain(*args)[1]))
        with pytest.raises(
            ValueError, match=rf"not finite in epoch 3; checkpoint {path} keeps those of epoch 2"
        ):
            nn.train(**arguments, epochs=4, rate=0.1, checkpoint=path)
    assert path.read_bytes() == retained
    assert np.isfinite(network.flat(nn.train(**arguments, epochs=4, rate=0.1, checkpoint=path))).all()


def test_a_training_goes_on_to_the_bits_of_one_run_and_no_other_training_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With batches of other random numbers it would be neither the training that was begun nor that of a whole run."""
    network, path = NETWORKS["linear"], tmp_path / "state.npz"
    arguments: dict[str, Any] = {
        "network": network,
        "x": IMAGES,
        "y": KINDS,
        "rate": 0.1,
        "batch": 4,
        "seed": 5,
    }
    whole = nn.train(**arguments, epochs=4)
    nn.train(**arguments, epochs=2, checkpoint=path)
    retained = path.read_bytes()
    for change, words in (
        ({"rate": 0.2}, "belongs to another training"),
        ({"epochs": 1}, "holds 2 epochs, more than the 1"),
    ):
        with pytest.raises(ValueError, match=words):
            nn.train(**{**arguments, "epochs": 3, "checkpoint": path, **change})
    with monkeypatch.context() as patch:
        patch.setattr("mipsim.nn.training._BATCHES", 1)
        with pytest.raises(ValueError, match="belongs to another training"):
            nn.train(**arguments, epochs=3, checkpoint=path)
    assert path.read_bytes() == retained
    resumed = nn.train(**arguments, epochs=4, checkpoint=path)
    assert (network.flat(whole) == network.flat(resumed)).all()
    path.write_bytes(retained[:100])
    with pytest.raises(ValueError, match="no whole checkpoint"):
        nn.train(**arguments, epochs=3, checkpoint=path)


@pytest.mark.evidence
def test_quick_convolutions_have_the_gradients_of_automatic_differentiation() -> None:
    """Images with many equal pixels, all together and by themselves; largest pixels that do not share a gradient are seen, or a kernel 3% off."""
    images = jnp.round(IMAGES)
    kernel = jnp.asarray(RNG.normal(size=(3, 3, 3, 2)), jnp.float32)

    def gradients(product: Any, half: Any, off: float = 1.0) -> list[np.ndarray]:
        def total(image: Any, kernel: Any) -> Any:
            halves = half(image)
            return jnp.sum(product(halves, kernel) ** 2) + jnp.sum(halves**3)

        by_both = jax.jit(jax.grad(total, (0, 1)))
        single = jax.jit(jax.vmap(lambda image: by_both(image[None], off * kernel)))
        return [np.asarray(leaf) for leaf in (*by_both(images, off * kernel), *single(images))]

    expected = gradients(convolution.convolved, convolution.halved)
    quick = gradients(convolution.quick_convolved, convolution.quick_halved)
    alone = jax.custom_vjp(convolution.halved)
    alone.defvjp(
        lambda x: (convolution.halved(x), x),
        lambda x, g: ((x == (up := lambda a: a.repeat(2, 1).repeat(2, 2))(convolution.halved(x))) * up(g),),
    )
    controls = (
        gradients(convolution.convolved, alone),
        gradients(convolution.convolved, convolution.halved, 1.03),
    )
    for i, (own, right) in enumerate(zip(quick, expected, strict=True)):
        scale = np.abs(right).max()
        np.testing.assert_allclose(own, right, atol=2e-6 * scale)
        assert np.abs(controls[1][i] - right).max() > 1e-3 * scale
    assert np.abs(controls[0][0] - expected[0]).max() > 0.1 * np.abs(expected[0]).max()
    unknown = jnp.asarray([jnp.nan, 1.0, 2.0, 3.0]).reshape(1, 2, 2, 1)
    assert np.isnan(jax.grad(lambda x: convolution.quick_halved(x).sum())(unknown)).all()


@pytest.mark.parametrize("package", ["flax", "optax"])
def test_without_the_packages_the_sentence_says_what_brings_them(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = importlib.import_module

    def absent(name: str, *rest):
        if name.partition(".")[0] == package:
            raise ModuleNotFoundError(f"No module named '{package}'", name=package)
        return plain(name, *rest)

    monkeypatch.setattr(importlib, "import_module", absent)
    fresh = nn.linear((8, 8, 3), 4)
    with pytest.raises(ImportError, match=rf'need the package {package}, .*"mipsim\[nn\]" brings it'):
        nn.train(fresh, IMAGES, KINDS, epochs=1, rate=0.1, batch=4)


TRAINING = """
import sys, numpy as np
from mipsim import nn
rng = np.random.default_rng(0)
x, y = rng.normal(size=(500, 8, 8, 1)), rng.integers(0, 3, 500)
network = nn.convolutional((8, 8, 1), (4, 4), 3)
private = {"sampling": "poisson", "clip": 1.0, "noise_multiplier": 0.5} if sys.argv[2] else {}
learned = nn.train(network, x, y, epochs=60, rate=1e-2, batch=50, seed=5, checkpoint=sys.argv[1] or None, **private)
print(np.asarray(network.flat(learned)).tobytes().hex())
"""


@pytest.mark.system
@pytest.mark.parametrize("private", ["", "private"])
def test_a_killed_training_goes_on_to_the_same_bits(private: str, tmp_path: Path) -> None:
    def process(checkpoint: Path | str) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-c", TRAINING, str(checkpoint), private]
        return subprocess.Popen(words, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE)

    state = tmp_path / "state.npz"
    killed = process(state)
    while not state.exists() and killed.poll() is None:
        time.sleep(0.01)
    killed.kill()
    assert not killed.communicate()[0], "it was killed before its end"
    whole, resumed = (process(where).communicate()[0] for where in ("", state))
    assert whole == resumed != b""


@pytest.mark.evidence
def test_convolutions_are_those_of_flax() -> None:
    """The same parameters at the same start, and the same outputs and gradients to float32."""
    from flax import linen

    network = nn.convolutional((8, 8, 3), (3, 4), 4)
    pool = partial(linen.max_pool, window_shape=(2, 2), strides=(2, 2))
    layers = [part for channels in (3, 4) for part in (linen.Conv(channels, (3, 3)), linen.relu, pool)]
    plain = linen.Sequential([*layers, lambda x: x.reshape(x.shape[0], -1), linen.Dense(4)])
    with exact_scope():
        theirs = plain.init(fixed_key(5), IMAGES[:1])["params"]
        ours = network.start(5)
        assert jax.tree.all(jax.tree.map(lambda a, b: bool((a == b).all()), ours, theirs))
        images = jnp.asarray(IMAGES)

        def squares(apply: Any, parameters: Any) -> jax.Array:
            return jnp.sum(apply(parameters, images) ** 2)

        def both(apply: Any) -> Any:
            return jax.tree.leaves(
                jax.jit(lambda p: (apply(p, images), jax.grad(partial(squares, apply))(p)))(ours)
            )

        for a, b in zip(both(network.apply), both(lambda p, x: plain.apply({"params": p}, x)), strict=True):
            assert np.allclose(a, b, rtol=1e-4, atol=1e-5 * float(np.abs(b).max()))
