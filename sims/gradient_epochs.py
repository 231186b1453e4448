"""Literal epochs of the networks of Azize & Basu (2025), figure 3: every game trains the network on its records, step by step, and every update is attacked."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np

import mipsim as mi
from mipsim import data
from sims.gradients import ATTACKS, BATCH, EPOCH, NETWORKS, TARGETS, VICTIMS, Attacked, attacked, name_of
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
