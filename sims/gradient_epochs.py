"""Literal epochs of the networks of Azize & Basu (2025), figure 3: every game trains the network on its records, step by step, and every update is attacked."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

import mipsim as mi
from mipsim import data
from mipsim.engine.recipe import Column, Recipe
from mipsim.engine.run import Run
from mipsim.engine.settings import Settings
from sims.gradients import (
    ATTACKS,
    BATCH,
    EPOCH,
    NETWORKS,
    TARGETS,
    VICTIMS,
    Attacked,
    attacked,
    name_of,
    single_threaded,
)
from sims.runner import store_path
from sims.stored_values import storing_in
from sims.study import Study

RATE = 1e-3
"""The paper's learning rate."""
GAMES = {"quick": 100, "standard": 1_000, "full": 10_000}
"""The paper plays 100."""
RECORDS: dict[str, Callable[[], data.DataSet]] = {"fashion": data.fashion_mnist, "cifar": data.cifar10}


@cache
def of(victim: str) -> Attacked:
    """The network of a victim. Raises `DataError` where its data are missing."""
    return attacked(RECORDS[victim](), *NETWORKS[victim])


class AtRecord(mi.AbstractAttack):
    """`SummedOverSteps` at a fixed record of a linear network, with what the record decides computed once for all games and steps.

    The record's gradient at any parameters is sum_c r_c b_c, r the probabilities of the classes less its label, b_c its features in the
    place of class c. The weights of the attack are thus a sum of classes + 1 known vectors too, of which a step needs the products with
    the mean gradient.
    """

    features: np.ndarray  # of the record, 1 for the offset first, shape (f,)
    label: np.ndarray  # 1 at the record's class, shape (classes,)
    # the weights at a gradient of zero, and what each b_c adds to them, shape (classes + 1, d)
    lines: np.ndarray
    offsets: np.ndarray  # what is taken off their products with a mean gradient, shape (classes + 1,)
    own: np.ndarray  # and off that for each entry of r, shape (classes + 1, classes)

    def score(self, target: Array, output: Any) -> Array:
        weights = output.parameters.reshape(len(output.parameters), self.features.size, self.label.size)
        residual = jax.nn.softmax(jnp.asarray(self.features, weights.dtype) @ weights) - self.label
        terms = output.gradients.astype(float) @ self.lines.T - self.offsets - residual @ self.own.T
        return jnp.sum(terms[:, 0]) + jnp.sum(residual * terms[:, 1:])


@single_threaded
def at_record(descent: Any, attack: mi.CovarianceScore | mi.ScalarProduct, row: int) -> AtRecord:
    """The scores of `SummedOverSteps(descent, attack)` at a row of the data, for a linear network that is trained whole."""
    label = np.eye(descent.network.outputs)[descent.y[row]]
    features = np.append(1.0, descent.x[row].ravel()).astype(np.float64)
    gradients = np.kron(features, np.eye(label.size))
    lines = np.stack([np.asarray(attack.weights(each)) for each in (np.zeros_like(gradients[0]), *gradients)])  # pyright: ignore[reportArgumentType]
    lines[1:] -= lines[0]
    mean, share = (
        (attack.mean, 0.5 / attack.n) if isinstance(attack, mi.CovarianceScore) else (0.0 * lines[0], 0.0)
    )
    return AtRecord(features, label, lines, (1.0 - share) * (lines @ mean), share * (lines @ gradients.T))


def epoch_game(
    trained: Attacked, target: int, attack: str, steps: int, batch: int = BATCH
) -> tuple[mi.FixedTarget, mi.AbstractAttack]:
    """A single pass over steps x batch records, in shuffled batches; the scores of algorithm 4, with the sign of descent, are added over its steps.
    `trained`: the network; `target`: its place in the pool; `attack`: a name of `ATTACKS`.
    """
    from mipsim import nn

    descent = nn.Descent(
        trained.network,
        trained.parameters,
        trained.records.x,
        trained.records.y,
        batch=batch,
        steps=steps,
        rate=RATE,
    )
    d = trained.network.dimension(trained.part)
    known = (
        mi.CovarianceScore(trained.moments, n=batch)
        if attack == ATTACKS[0]
        else mi.ScalarProduct(np.zeros(d))
    )
    game = mi.FixedTarget(descent, descent.records(trained.pool), steps * batch, [trained.pool[target]])
    if trained.network.kind == "linear":
        return game, at_record(descent, known, int(trained.pool[target]))
    return game, nn.SummedOverSteps(descent, known, part=trained.part)


def _build(victim: str, target: str, attack: str) -> tuple[mi.FixedTarget, mi.AbstractAttack]:
    place = VICTIMS[victim]().targets[TARGETS.index(target)]
    return epoch_game(of(victim), place, attack, EPOCH // BATCH)


EPOCH_STUDIES = tuple(
    Study(
        name_of(victim, target, attack, "epoch"),
        f"{attack} attack on the {target} target, every step of an epoch of {EPOCH} records of a network on {victim}",
        partial(_build, victim, target, attack),
        GAMES,
    )
    for victim in VICTIMS
    for target in TARGETS
    for attack in ATTACKS
)
"""Studies of literal epochs; they need a data directory."""


class SameDraws(mi.AbstractGame):
    """Trainings that differ in their targets alone, with the same draws: they are the same until the target's batch, and "out" to the end."""

    mechanism: Any  # a `Descent`
    game: mi.FixedTarget  # any of them
    targets: np.ndarray  # of all, shape (m, 1)

    @property
    def numbers(self) -> int:
        return self.game.numbers

    def play(self, key: Array, member: Any) -> tuple[Array, Any]:
        targets = jnp.asarray(self.targets)

        def records(target: Array) -> tuple[Array, Array]:
            return eqx.tree_at(lambda game: game.target, self.game, target).records(key, member)

        key_release, made = jax.vmap(records, out_axes=(None, 0))(targets)
        return targets, self.mechanism.releases_of(key_release, made)


class OfTarget(mi.AbstractAttack):
    """An attack on a single target of `SameDraws`, that of the given place."""

    attack: mi.AbstractAttack
    place: int = eqx.field(static=True)

    def score(self, target: Array, output: Any) -> Array:
        own = jax.tree.map(lambda leaf: leaf[self.place], output)
        return self.attack.score(target[self.place], own)


def play_together(
    victim: str, games: int, seed: int, folder: str | os.PathLike[str], progress: bool = False
) -> None:
    """Store the counts of the epoch studies of a victim as `sims.runner.run` would, chunk by chunk: what is interrupted goes on from them.
    `victim`: its name; `games`: in each world, where fewer are stored; `progress`: show a bar. Raises DataError where its
    data are missing; ValueError if what is stored is corrupt or of another run; OSError if they cannot be written.
    """
    names = {name_of(victim, target, attack, "epoch") for target in TARGETS for attack in ATTACKS}
    studies = [study for study in EPOCH_STUDIES if study.name in names]
    stored = [(study, store_path(study, seed, folder)) for study in studies]
    held = [mi.Histogram.load(path).games if path.exists() else 0 for _, path in stored]
    behind = [(*own, done) for own, done in zip(stored, held, strict=True) if done < games]
    if not behind:
        return
    Path(folder).mkdir(parents=True, exist_ok=True)
    with storing_in(folder):
        columns = [(Column(*study.build(), checkpoint=path), held) for study, path, held in behind]
    # An interruption between two files leaves some of them a chunk behind: they catch up first.
    for level in sorted({*(held for _, held in columns), games})[1:]:
        _play([column for column, held in columns if held < level], Settings(level, seed, progress=progress))


def _play(columns: list[Column], settings: Settings) -> None:
    """What `mi.play` counts for each of the games and attacks, which differ in target and attack alone, with the same draws."""
    games = [cast(mi.FixedTarget, column.game) for column in columns]
    targets = np.unique([game.target for game in games], axis=0)
    places = [int(np.flatnonzero((targets == game.target).all(axis=1))[0]) for game in games]
    attacks = tuple(OfTarget(column.attack, place) for column, place in zip(columns, places, strict=True))
    game = SameDraws(games[0].mechanism, games[0], targets)
    Run(settings, Recipe(game, attacks, "literal", "float64", stacked=True), columns).play()
