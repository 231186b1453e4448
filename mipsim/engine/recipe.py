"""What is played: the game and its attacks, checked once, from which this process and every worker build the same sampler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mipsim._precision import exact_scope, fixed_key, users_precision
from mipsim._pure import ImpureFunctionError
from mipsim._validation import choice, member
from mipsim._words import kind_of
from mipsim.attacks.base import AbstractAttack, AbstractLinearAttack
from mipsim.attacks.function import as_attack
from mipsim.distributions.base import AbstractDistribution
from mipsim.engine.counting import on_device
from mipsim.engine.describe import array_digest, describe, versions
from mipsim.engine.route import FIDELITIES, Route, build_sampler, choose
from mipsim.engine.samplers.base import AbstractSampler
from mipsim.engine.samplers.multi_score import StackedAttacks, many_targets_sampler
from mipsim.forms.aim import check_aim
from mipsim.forms.score import name_of
from mipsim.games.base import AbstractGame, AbstractMembershipGame, check_size
from mipsim.games.fixed_target import FixedTarget


@dataclass(frozen=True)
class Column:
    """What a single score of every game is: the game as this score sees it, the attack, and what else its manifest says."""

    game: AbstractGame
    attack: AbstractAttack
    also: Mapping[str, Any] = field(default_factory=dict)
    # the file of its counts, or None; those of a run hold the same number of games
    checkpoint: Path | None = None


@dataclass(frozen=True)
class Recipe:
    """All that decides the scores but the seed: plain Python that pickles, while samplers hold arrays of a device."""

    game: AbstractGame  # what is played
    attacks: tuple[AbstractAttack, ...]  # whose scores are counted, in the order of the columns
    fidelity: str  # as in `play`
    precision: str  # of the user's functions, whatever a worker's own is
    stacked: bool = False  # whether all attacks score each release, as in `play_many`
    # those of `play_targets`, at each of which the attack is aimed, shape (m, d); else None
    targets: np.ndarray | None = None

    @classmethod
    def checked(
        cls,
        game: object,
        attacks: Sequence[Any],
        fidelity: str,
        precision: str | None,
        stacked: bool = False,
        targets: np.ndarray | None = None,
    ) -> Recipe:
        """Check what `play` is given, before any work is done.
        Raises ValueError if an argument is no game, attack, fidelity or precision, or they do not suit each other.
        """
        several = stacked or targets is not None
        chosen = choice("fidelity", fidelity, FIDELITIES[:3] if several else FIDELITIES)
        if chosen == "exact":
            raise ValueError(
                "fidelity is 'exact', which plays no games; for the exact trade-off curve call game.exact(attack)"
            )
        known, each = check_game(game), tuple(as_attack(attack) for attack in attacks)
        recipe = cls(known, each, chosen, users_precision(precision), stacked, targets)
        with exact_scope(recipe.precision):
            for attack in each:
                check_shapes(known, attack, chosen)
        return recipe

    def sampler(self) -> AbstractSampler:
        """The sampler, the same in every process of the same versions."""
        game, attack = self.game, self.attacks[0]
        with exact_scope(self.precision):
            if self.targets is not None:
                assert isinstance(game, FixedTarget)
                return on_device(many_targets_sampler(game, attack, self.targets, self.fidelity))
            attack = StackedAttacks.of(game, self.attacks) if self.stacked else attack
            return on_device(build_sampler(game, attack, self.fidelity))

    def route(self) -> Route:
        """Which sampler plays a single attack, and what cheaper samplers lack."""
        with exact_scope(self.precision):
            return choose(self.game, self.attacks[0], self.fidelity)[1]

    def columns(self, checkpoint: Path | None) -> list[Column]:
        """What the scores of a game are, in the order of the sampler's columns; counts of a single attack may be in a file."""
        game = self.game
        if self.targets is None:
            return [Column(game, attack, checkpoint=checkpoint) for attack in self.attacks]
        assert isinstance(game, FixedTarget)
        games = [FixedTarget(game.mechanism, game.data, game.n, z) for z in self.targets]
        pooled = Column(game, self.attacks[0], {"random target among": array_digest(self.targets)})
        return [*(Column(item, self.attacks[0]) for item in games), pooled]

    def identity(self, sampler: AbstractSampler) -> dict[str, Any]:
        """What decides the counts, as manifests say it."""
        return {
            "versions": versions(),
            "game": describe(self.game),
            "attack": [describe(attack) for attack in self.attacks],
            "fidelity": sampler.fidelity,
            "precision": self.precision,
            "sampler": sampler.name,
        }


def check_game(game: object) -> AbstractGame:
    """Return `game` if it is a game."""
    check_size(member("game", game, AbstractGame, "a game such as FixedTarget"))
    return game  # pyright: ignore[reportReturnType]


def check_shapes(game: AbstractGame, attack: AbstractAttack, fidelity: str) -> None:
    """Trace a single round abstractly and check that the attack gives a real scalar for it.

    Must be called inside `exact_scope`.

    Raises ValueError if the mechanism or the attack cannot be traced, dimensions differ, or the score is no real scalar.
    """
    key = fixed_key(0)
    play = (None if fidelity == "literal" else game.exact_round()) or game.play
    try:
        target, output = jax.eval_shape(play, key, jnp.asarray(True))
    except ImpureFunctionError:
        raise
    except _MISFITS as error:
        raise ValueError(
            f"mechanism {name_of(game.mechanism)} cannot be played: {_first_line(error)}"
        ) from error
    if not jax.tree.leaves(output):
        raise ValueError(
            f"mechanism {name_of(game.mechanism)} returns {_spell(output)}; it must return its output"
        )
    check_aim(game, attack, stacklevel=6)
    name = name_of(attack)
    known = getattr(attack, "data", None)
    membership = isinstance(game, AbstractMembershipGame)
    if membership and isinstance(known, AbstractDistribution) and known.dimension != game.data.dimension:
        raise ValueError(
            f"attack {name} knows data of dimension {known.dimension}; the game's is {game.data.dimension}"
        )
    try:
        if isinstance(attack, AbstractLinearAttack):
            weights = jax.eval_shape(attack.weights, target)
            if weights.shape != output.shape:
                raise ValueError(f"its weights have shape {weights.shape}")
        score = jax.eval_shape(attack.score, target, output)
    except ImpureFunctionError:
        raise
    except _MISFITS as error:
        raise ValueError(
            f"attack {name} does not fit the game, whose target has shape {target.shape} and output "
            f"{_spell(output)}: {_first_line(error)}"
        ) from error
    if getattr(score, "shape", None) != () or jnp.issubdtype(score.dtype, jnp.complexfloating):
        raise ValueError(f"attack {name} returns {_spell(score)}; the score must be a real scalar")


def _spell(value: object) -> str:
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None:
        return f"an array of shape {shape} and dtype {dtype}"
    return "several arrays" if jax.tree.leaves(value) else "nothing"


def _first_line(error: Exception) -> str:
    """What went wrong; of a key that is missing, Python says the key alone."""
    lines = str(error).strip().splitlines()
    if isinstance(error, KeyError) or not lines:
        return " ".join([kind_of(error), *lines[:1]])
    return lines[0]


_MISFITS = (TypeError, ValueError, LookupError, AttributeError)
"""What Python and JAX raise where a function is called with other arguments than it takes, or takes them for something else."""
