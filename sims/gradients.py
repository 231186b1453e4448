"""Gradients of a network at real records: the data of the games of Azize & Basu (2025), figures 3, 7 and 8.

The records of a game are gradients at fixed parameters, sampled from a pool. A linear score reduces each to a number once, so that
what is stored of 60,000 gradients of 7,850 coordinates is a single number for each target and attack.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

import mipsim as mi
from mipsim import data
from mipsim._extras import optional
from sims.stored_values import stored_folder, storing_in
from sims.study import Study

SEED = 20_250_905
REFERENCES = 1000
"""n_r, the paper's number of reference points."""
BATCH = 64
"""The paper's batch: a single step of SGD."""
EPOCH = 16 * BATCH
"""Records of an epoch of 16 steps."""
MEANS = (BATCH, 4 * BATCH, EPOCH)
"""Records of the means that are attacked: a batch, an epoch, and half-way between them on a logarithmic axis."""
TARGETS, ATTACKS = ("easy", "medium", "hard"), ("covariance", "scalar")
GAMES = {"quick": 100_000, "standard": 1_000_000, "full": 10_000_000}


Arguments = ParamSpec("Arguments")
Output = TypeVar("Output")


def single_threaded(make: Callable[Arguments, Output]) -> Callable[Arguments, Output]:
    """A function whose matrix products and eigenvectors are computed by a single thread of BLAS.

    Their last bits depend on the number of threads, and a run is known by the bits of its data: on another number of cores its
    stored counts would belong to another run.
    """

    @wraps(make)
    def wrapped(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Output:
        limits = optional("threadpoolctl", "studies of gradients").threadpool_limits
        with limits(1, user_api="blas"):
            return make(*args, **kwargs)

    return wrapped


@dataclass(frozen=True)
class Victim:
    """A network at fixed parameters, with what an attacker of its gradients knows."""

    title: str  # the data set, for readers
    dimension: int  # d of a gradient
    # places in the training set of the records that games draw, shape (N,): all but the reference
    pool: np.ndarray
    # the score of each record of the pool, by the moments of the reference, shape (N,)
    mahalanobis: np.ndarray
    # places in the pool of the records with the largest, the middle and the least score
    targets: tuple[int, int, int]
    scores: np.ndarray  # what each record of the pool adds to a score, shape (N, targets, attacks)
    ridge: tuple[float, float]  # of Ledoit and Wolf's estimate, with its weight
    # images, labels: of the three targets, with the names of the classes
    images: np.ndarray
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Attacked:
    """A network at the start of its training, and what an attacker of its gradients knows of them."""

    records: data.DataSet
    network: Any
    parameters: Any
    part: str  # of the parameters, as in `per_example_gradients`
    pool: np.ndarray  # places in the training set of the records that games draw: all but the reference
    moments: mi.ShrunkMoments  # of the reference gradients


@single_threaded
def attacked(records: data.DataSet, convolutions: bool, part: str, references: int = REFERENCES) -> Attacked:
    """Estimate the moments of gradients at the start of training, as algorithm 3 has it.

    The covariance is that of Ledoit and Wolf, since with references <= d the printed covariance is singular.

    `convolutions`: a network with three of them, or a linear network; `part`: of the parameters, as in
    `per_example_gradients`; `references`: n_r.
    """
    from mipsim import nn

    shape = records.x.shape[1:]
    classes = len(records.classes)
    network = nn.convolutional(shape, outputs=classes) if convolutions else nn.linear(shape, classes)
    parameters = network.start(SEED)
    order = np.random.default_rng(SEED).permutation(len(records))
    known, pool = np.sort(order[:references]), np.sort(order[references:])
    rows = nn.per_example_gradients(network, parameters, records.x[known], records.y[known], part=part)
    return Attacked(records, network, parameters, part, pool, mi.ShrunkMoments(rows))


@single_threaded
def victim(
    title: str,  # for readers
    records: data.DataSet,  # the training set
    convolutions: bool,  # a network with three of them, or a linear network
    part: str,  # of the parameters, as in `per_example_gradients`
    references: int = REFERENCES,  # n_r
    # a folder that keeps what gradients are reduced to, micro-batch by micro-batch; None keeps nothing
    store: Path | None = None,
) -> Victim:
    """Choose targets by algorithm 3, and reduce every gradient to its scores.
    Raises ValueError if the folder holds something else; OSError if it cannot be written.
    """
    from mipsim import nn

    of = attacked(records, convolutions, part, references)
    network, pool, moments = of.network, of.pool, of.moments
    gradients = partial(nn.per_example_gradients, network, of.parameters, part=part)
    distances = gradients(
        records.x[pool],
        records.y[pool],
        reduce=_distances(moments),
        checkpoint=store and store / "distances",
    )
    by_distance = np.argsort(distances, kind="stable")
    targets = tuple(int(by_distance[place]) for place in (-1, len(pool) // 2, 0))
    chosen = pool[list(targets)]
    aims = gradients(records.x[chosen], records.y[chosen]).astype(np.float64)
    covariance = mi.CovarianceScore(moments, n=BATCH)
    weights = np.stack([np.stack([np.asarray(covariance.weights(aim)), aim]) for aim in aims])  # pyright: ignore[reportArgumentType]
    lines = weights.reshape(-1, weights.shape[-1]).T
    scores = gradients(
        records.x[pool],
        records.y[pool],
        reduce=lambda rows: rows.astype(np.float64) @ lines,
        checkpoint=store and store / "scores",
    )
    return Victim(
        title,
        network.dimension(part),
        pool,
        distances,
        targets,  # pyright: ignore[reportArgumentType]
        scores.reshape(len(pool), len(TARGETS), len(ATTACKS)),
        (moments.ridge, moments.weight),
        records.x[chosen],
        tuple(records.classes[label] for label in records.y[chosen]),
    )


def _distances(moments: mi.ShrunkMoments) -> Callable[[np.ndarray], np.ndarray]:
    """Mahalanobis scores in float32, which ranks 60,000 records in half of the time; the attacks' weights are float64."""
    axes, mean = moments.axes.astype(np.float32), moments.mean.astype(np.float32)
    inner = (1.0 / (moments.weight * moments.spread + moments.ridge) - 1.0 / moments.ridge).astype(np.float32)

    def distances(rows: np.ndarray) -> np.ndarray:
        shifted = rows - mean
        along = shifted @ axes.T
        return (shifted**2).sum(axis=1) / np.float32(moments.ridge) + (along**2) @ inner

    return distances


NETWORKS: dict[str, tuple[bool, str]] = {"fashion": (False, "trained"), "cifar": (True, "last")}
"""Victim -> whether its network has three convolutions, and the part whose gradients are attacked."""


def _stored_victim(name: str, title: str, records: data.DataSet) -> Victim:
    return victim(title, records, *NETWORKS[name], store=stored_folder(f"gradients-{name}"))


@cache
def fashion() -> Victim:
    """A linear network on Fashion-MNIST, all of its 7,850 parameters. Raises `DataError` where the data are missing."""
    return _stored_victim("fashion", "Fashion-MNIST", data.fashion_mnist())


@cache
def cifar() -> Victim:
    """Three convolutions and a linear layer on CIFAR-10, the 4,010 parameters of the last. Raises `DataError` where the data are missing."""
    return _stored_victim("cifar", "CIFAR-10", data.cifar10())


VICTIMS: dict[str, Callable[[], Victim]] = {"fashion": fashion, "cifar": cifar}


def victims(folder: Path) -> dict[str, Victim]:
    """All of them by name; what their gradients are reduced to is stored in the folder, that of the counts of their games.
    Raises DataError where a data set is missing; ValueError if the folder holds something else; OSError if it cannot be
    written.
    """
    with storing_in(folder):
        return {which: build() for which, build in VICTIMS.items()}


def projected_game(of: Victim, target: str, attack: str, n: int) -> tuple[mi.FixedTarget, mi.ScalarProduct]:
    """The game on the mean of n gradients as a game on the mean of their scores: the score is that mean."""
    place, which = TARGETS.index(target), ATTACKS.index(attack)
    scores = of.scores[:, place, which][:, None]
    game = mi.FixedTarget(mi.EmpiricalMean(), mi.Empirical(scores), n, scores[of.targets[place]])
    return game, mi.ScalarProduct([0.0], target=[1.0])


def name_of(victim: str, target: str, attack: str, n: int | str) -> str:
    """The study of a curve of figure 3: on the mean of n gradients, or on the steps of an "epoch"."""
    return f"azize_fig3_{victim}_{target}_{attack}_{n}"


def _build(victim: str, target: str, attack: str, n: int) -> tuple[mi.FixedTarget, mi.ScalarProduct]:
    return projected_game(VICTIMS[victim](), target, attack, n)


GRADIENT_STUDIES = tuple(
    Study(
        name_of(which, target, attack, n),
        f"{attack} attack on the {target} target, mean of {n} gradients of a network at its start on {which}",
        partial(_build, which, target, attack, n),
        GAMES,
    )
    for which in VICTIMS
    for n in MEANS
    for target in TARGETS
    for attack in ATTACKS
)
"""Studies of gradients at real records; they need a data directory."""
