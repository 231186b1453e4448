"""Literal epochs of the networks of Azize & Basu (2025), figure 3: every game trains the network on its records, step by step, and every update is attacked."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, partial
from typing import Any, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

import mipsim as mi
from mipsim import data
from mipsim.engine.checkpoint import write_counts
from mipsim.engine.executors import Recipe
from mipsim.engine.options import Options
from mipsim.engine.run import Column, Run
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
    """Games that differ in their targets alone, with the same draws: "out" they have the same release, which is made once."""

    mechanism: mi.AbstractMechanism
    game: mi.FixedTarget  # any of them
    targets: np.ndarray  # of all, shape (m, 1)

    @property
    def numbers(self) -> int:
        return self.game.numbers

    def play(self, key: Array, member: Any) -> tuple[Array, Any]:
        targets = jnp.asarray(self.targets)

        def release(target: Array) -> Any:
            return eqx.tree_at(lambda game: game.target, self.game, target).play(key, member)[1]

        def add(i: Array, made: Any) -> Any:
            return jax.tree.map(lambda all, own: all.at[i].set(own), made, release(targets[i]))

        blank = jax.tree.map(
            lambda leaf: jnp.zeros((len(targets), *leaf.shape), leaf.dtype),
            jax.eval_shape(release, targets[0]),
        )
        made = jax.lax.fori_loop(0, jnp.where(member, len(targets), 1), add, blank)
        which = jnp.where(member, jnp.arange(len(targets)), 0)
        return targets, jax.tree.map(lambda all: all[which], made)


class OfTarget(mi.AbstractAttack):
    """An attack on a single target of `SameDraws`, that of the given place."""

    attack: mi.AbstractAttack
    place: int = eqx.field(static=True)

    def score(self, target: Array, output: Any) -> Array:
        own = jax.tree.map(lambda leaf: leaf[self.place], output)
        return self.attack.score(target[self.place], own)


def counts_together(
    built: list[tuple[mi.FixedTarget, mi.AbstractAttack]], games: int, seed: int, progress: bool = False
) -> list[mi.Histogram]:
    """What `mi.play` counts for each of the games and attacks, which differ in target and attack alone: each release is made once.
    `built`: the games with their attacks; `games`: in each world; `seed`: of all of them, whose draws are the same in any
    case; `progress`: show a bar.
    """
    targets = np.unique([game.target for game, _ in built], axis=0)
    places = [int(np.flatnonzero((targets == game.target).all(axis=1))[0]) for game, _ in built]
    attacks = tuple(OfTarget(attack, place) for (_, attack), place in zip(built, places, strict=True))
    some = built[0][0]
    recipe = Recipe(SameDraws(some.mechanism, some, targets), attacks, "literal", stacked=True)  # pyright: ignore[reportArgumentType]
    columns = [Column(game, attack) for game, attack in built]
    return Run(Options.checked(games, seed, progress=progress), recipe.sampler(), columns, recipe).play()


def play_together(
    victim: str, games: int, seed: int, folder: str | os.PathLike[str], progress: bool = False
) -> None:
    """Store the counts of the epoch studies of a victim as `sims.runner.run` would, of those that have none yet.
    `victim`: its name; `games`: in each world; `progress`: show a bar. They are stored at the end: what is interrupted begins
    anew. Raises DataError where its data are missing; OSError if they cannot be written.
    """
    names = {name_of(victim, target, attack, "epoch") for target in TARGETS for attack in ATTACKS}
    studies = [study for study in EPOCH_STUDIES if study.name in names]
    # What is stored is never written over: it may hold more games.
    paths = {study.name: store_path(study, seed, folder) for study in studies}
    missing = [study for study in studies if not paths[study.name].exists()]
    if not missing:
        return
    with storing_in(folder):
        built = [cast("tuple[mi.FixedTarget, mi.AbstractAttack]", study.build()) for study in missing]
    together = counts_together(built, games, seed, progress)
    for study, counts in zip(missing, together, strict=True):
        path = paths[study.name]
        path.parent.mkdir(parents=True, exist_ok=True)
        write_counts(path, **vars(counts))
