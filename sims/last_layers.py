"""Training of the last layer of a network on the features before it: the games of Leemann et al. (2023), figures 2b and 2c.

Nothing but the last layer is trained, so that the features of a record stay as they are: they are computed once, and a game is the
training of a linear network on them, step by step, on sampled records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

import mipsim as mi
from mipsim import data
from mipsim.attacks.glir import along
from mipsim.data.images import cifar_pixels, scaled
from sims.gradients import SEED, single_threaded
from sims.stored_values import stored_folder
from sims.study import Study

MODELS, STEPS, RATE = 5, 5, 0.01
"""The paper's numbers of models and of steps; it does not state a learning rate."""
BACKGROUND = 10_000
"""The paper's number of gradients that the moments are estimated from; half of the records where there are fewer than twice as many."""
FOLLOWED = 1000
"""Of the background: records that tell by how much the mean gradient changes from step to step, a change that varies little among records."""
PRETRAINED, EPOCHS = 10_000, 3
"""Images of CIFAR-10 on which the convolutions are trained before, and passes over them."""
CHANNELS = (16, 32, 32, 16)
"""Of the four convolutions, which leave 2 x 2 x 16 = 64 features."""
WIDTHS, LOCATION_EPOCHS, LAST_CLASSES = (256, 128), 30, 20
"""Of the three layers on Location-30; the last layer is for the classes with the most records, as in the paper."""


@dataclass(frozen=True)
class Features:
    """What the last layer of a model sees."""

    x: np.ndarray  # the features of each record, float32, shape (N, width)
    y: np.ndarray  # the labels, shape (N,)
    outputs: int  # classes
    # the parameters of the last layer before the first step, shape ((width + 1) x outputs,)
    start: np.ndarray

    @property
    def dimension(self) -> int:
        """Parameters of the last layer."""
        return (self.x.shape[1] + 1) * self.outputs

    @property
    def rank(self) -> int:
        """Axes along which its gradients vary: those of the outputs add up to zero at every record."""
        return (self.x.shape[1] + 1) * (self.outputs - 1)

    @property
    def basis(self) -> np.ndarray:
        """Orthonormal columns of outputs that add up to zero, shape (outputs, outputs - 1)."""
        return np.linalg.qr(np.c_[np.ones(self.outputs), np.eye(self.outputs)[:, 1:]])[0][:, 1:]

    @property
    def axes(self) -> np.ndarray:
        """Those axes, orthonormal columns, shape (dimension, rank): offsets come first, the outputs side by side."""
        return np.kron(np.eye(self.x.shape[1] + 1), self.basis)


@dataclass(frozen=True)
class Problem:
    """A data set with the sizes of its games."""

    title: str  # for readers
    batch: int  # n, the paper's for its d
    network: str  # in words
    features: Callable[[int], Features]  # model -> what its last layer sees


_read = cache(lambda load: load())
"""A data set, read once for all models."""


def _adult(model: int) -> Features:
    """512 frozen random tanh features, another draw for each model."""
    from mipsim import nn

    people = _read(data.adult)
    x = (people.x - people.x.mean(axis=0)) / people.x.std(axis=0)
    network = nn.random_features((x.shape[1],))
    start = network.start(model)
    return Features(nn.features(network, start, x), people.y, 2, np.asarray(network.flat(start)))


@cache
def _convolved() -> tuple[np.ndarray, np.ndarray]:
    """(features, labels) of the images on which the convolutions were not trained."""
    from mipsim import nn

    pixels, labels = cifar_pixels()
    order = np.random.default_rng(SEED).permutation(len(labels))
    seen, rest = order[:PRETRAINED], np.sort(order[PRETRAINED:])
    network = nn.convolutional(pixels.shape[1:], CHANNELS)
    trained = nn.train(
        network,
        scaled(pixels[seen]),
        labels[seen],
        epochs=EPOCHS,
        rate=1e-3,
        seed=SEED,
        checkpoint=_stored_network("cifar"),
    )
    # In parts: to scale all at once takes half a gigabyte, and a second for the memory.
    parts = [nn.features(network, trained, scaled(pixels[some])) for some in np.array_split(rest, 40)]
    return np.concatenate(parts), labels[rest]


def _cifar(model: int) -> Features:
    """64 features of convolutions that were trained on other images; another last layer for each model."""
    return _fresh(*_convolved(), 10, model)


def _location(model: int) -> Features:
    """128 features of two layers that were trained on the other ten classes, anew for each model; and another last layer."""
    from mipsim import nn

    people = _read(data.location30)
    by_records = np.argsort(-np.bincount(people.y), kind="stable")
    place = np.argsort(by_records, kind="stable")[people.y]  # 0 is the class with the most records
    other = place >= LAST_CLASSES
    network = nn.layered(people.x.shape[1:], WIDTHS, len(people.classes) - LAST_CLASSES)
    trained = nn.train(
        network,
        people.x[other],
        place[other] - LAST_CLASSES,
        epochs=LOCATION_EPOCHS,
        rate=1e-3,
        seed=model,
        checkpoint=_stored_network(f"location-{model}"),
    )
    return _fresh(nn.features(network, trained, people.x[~other]), place[~other], LAST_CLASSES, model)


def _stored_network(name: str) -> Path | None:
    """The file of a trained network beside the counts of its games, which names the training; None where nothing is stored."""
    folder = stored_folder("networks")
    if folder is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name}.npz"


def _fresh(x: np.ndarray, y: np.ndarray, outputs: int, model: int) -> Features:
    """The features with a last layer as before training."""
    from mipsim import nn

    head = nn.linear(x.shape[1:], outputs)
    return Features(x, y, outputs, np.asarray(head.flat(head.start(model))))


PROBLEMS = {
    "cifar": Problem("CIFAR-10", 500, "four convolutions", _cifar),
    "location": Problem("Location-30", 1970, "three layers", _location),
    "adult": Problem("Adult", 790, "random features", _adult),
}


@dataclass(frozen=True)
class Attacked:
    """A model, what the attacker knows of its gradients, and what games draw from."""

    features: Features  # of all records
    background: np.ndarray  # places of the records that the attacker has gradients of
    pool: np.ndarray  # those of the others, which games draw
    # of the background's gradients in the coordinates of `Features.axes`, shrunk as Ledoit and Wolf do
    moments: mi.ShrunkMoments


@cache
@single_threaded
def attacked(which: str, model: int) -> Attacked:
    """Estimate the moments at the start of the training. Raises `DataError` where the data are missing."""
    return attack_on(PROBLEMS[which].features(model), model)


def attack_on(features: Features, model: int) -> Attacked:
    """The same of features at hand; `model` chooses the background."""
    from mipsim import nn

    network, parameters = _head(features)
    order = np.random.default_rng([SEED, model]).permutation(len(features.y))
    background, pool = np.split(order, [min(BACKGROUND, len(order) // 2)])
    rows = nn.per_example_gradients(network, parameters, features.x[background], features.y[background])
    moments = mi.ShrunkMoments(along(rows.astype(np.float64), features.basis))
    return Attacked(features, background, pool, moments)


def _head(features: Features) -> tuple[Any, Any]:
    """(the last layer as a network of its own, its parameters)."""
    from mipsim import nn

    network = nn.linear(features.x.shape[1:], features.outputs)
    return network, network.with_flat(network.start(0), jnp.asarray(features.start))


@single_threaded
def steps_game(of: Attacked, n: int, steps: int) -> tuple[mi.RandomTarget, mi.AbstractAttack]:
    """Steps on all of the n sampled records; log p-values of GLiR, with F and n where F^-1 and n - 1 are printed, added over the steps.

    The target is among the records, or another draw. The mean of the gradients is estimated anew at the parameters of each step, as
    the algorithm says; the covariance, of up to 2,451 coordinates, once at the start.
    """
    from mipsim import nn

    network, parameters = _head(of.features)
    x, y = of.features.x[of.pool], of.features.y[of.pool]
    descent = nn.Descent(network, parameters, x, y, batch=n, steps=steps, rate=RATE)
    attack = mi.GLiRPValue(of.moments, n, of.features.basis, logarithm=True)
    some = of.background[:FOLLOWED]
    known = (of.features.x[some], of.features.y[some]) if steps > 1 else None
    summed = nn.SummedOverSteps(descent, attack, background=known)
    return mi.RandomTarget(descent, descent.records(), n), summed


def name_of(which: str, model: int, steps: int) -> str:
    """The study of a curve of figure 2b (a single step) or 2c."""
    return f"leemann_fig2{'b' if steps == 1 else 'c'}_{which}_{model}"


# a study is built by its run, by the next model's and by its figure, which takes seconds each time
@lru_cache(maxsize=2)
def _build(which: str, model: int, steps: int) -> tuple[mi.RandomTarget, mi.AbstractAttack]:
    return steps_game(attacked(which, model), PROBLEMS[which].batch, steps)


def _studies(which: str, steps: int) -> Iterator[Study]:
    """A study of each model; the pilot of the first places the thresholds of all, whose scores are alike."""
    problem, first = PROBLEMS[which], None
    for model in range(MODELS):
        study = Study(
            name_of(which, model, steps),
            f"GLiR on {'one step' if steps == 1 else f'{steps} steps'} of the last layer, {problem.network} on {problem.title}, n = {problem.batch}, "
            f"model {model}, random target",
            partial(_build, which, model, steps),
            {"quick": 500, "standard": 5_000, "full": 50_000},
            thresholds=first,
        )
        first = first or study
        yield study


LAST_LAYER_STUDIES = tuple(
    study for steps in (1, STEPS) for which in PROBLEMS for study in _studies(which, steps)
)
"""Studies of the training of last layers; they need a data directory."""
