"""Fidelity: the choice of the cheapest faithful way to play a game."""

import jax
import jax.numpy as jnp

from mipsim._precision import fixed_key
from mipsim._pure import ImpureFunctionError
from mipsim._validation import choice, member
from mipsim._words import kind_of
from mipsim.attacks.base import AbstractAttack, AbstractLinearAttack
from mipsim.distributions.base import AbstractDistribution
from mipsim.engine.samplers.base import AbstractSampler
from mipsim.engine.samplers.clipped import clipped_law_sampler, clipped_sampler
from mipsim.engine.samplers.columns import column_sampler
from mipsim.engine.samplers.literal import law_sampler, literal_sampler
from mipsim.engine.samplers.normal import normal_sampler, quadratic_sampler
from mipsim.engine.samplers.records import records_sampler
from mipsim.engine.samplers.table import table_sampler
from mipsim.forms.aim import check_aim
from mipsim.forms.problem import problem_of
from mipsim.forms.score import name_of
from mipsim.games.base import AbstractGame, AbstractMembershipGame, check_size

FIDELITIES = ("auto", "literal", "sufficient", "projected", "exact")
"""From every sampled record to no game at all; "auto" takes the cheapest faithful fidelity that plays."""

# Builders of samplers that draw the score itself, in the order in which they are tried.
_PROJECTED = (normal_sampler, quadratic_sampler, clipped_law_sampler)

# And of those that draw what the score is made of, coordinate by coordinate.
_TABLES = (table_sampler, column_sampler)


def check_fidelity(fidelity: object) -> str:
    """Return `fidelity` if it is a fidelity that plays games.
    >>> check_fidelity("auto")
    'auto'
    """
    chosen = choice("fidelity", fidelity, FIDELITIES)
    if chosen == "exact":
        raise ValueError(
            "fidelity is 'exact', which plays no games; for the exact trade-off curve call game.exact(attack)"
        )
    return chosen


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
    check_aim(game, attack)
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


def build_sampler(game: AbstractGame, attack: AbstractAttack, fidelity: str) -> AbstractSampler:
    """The sampler of a fidelity; of "auto", the cheapest faithful sampler: projected, else sufficient, else literal.

    Must be called inside `exact_scope`.

    `game`: what is played; `fidelity`: an entry of `FIDELITIES` but "exact". Raises ValueError if the requested fidelity
    does not exist for this game and attack.
    """
    literal = literal_sampler(game, attack)
    if not isinstance(game, AbstractMembershipGame):
        if fidelity in ("auto", "literal"):
            return literal
        raise ValueError(
            f"fidelity is {fidelity!r}, but {kind_of(game)} is always played literally; use 'auto'"
        )
    # As the mechanism says, and where it is known with the distribution of a transformed record in the place of the transform.
    raw, problem = (problem_of(game, attack, transform) for transform in (False, True))
    if fidelity in ("auto", "projected") and raw is not None and problem is not None:
        if (sampler := records_sampler(raw)) is not None:
            return sampler
        for build in _PROJECTED:
            if (sampler := build(problem)) is not None:
                return sampler
    if fidelity == "projected":
        raise ValueError(
            f"fidelity is 'projected', but the score of {name_of(attack)} has no law of 1 or 2 dimensions in this "
            "game; use 'auto'"
        )
    if fidelity != "literal" and problem is not None:
        for build in _TABLES:
            if (sampler := build(problem)) is not None:
                return sampler
    if fidelity == "sufficient" and not game.has_exact_law:
        raise ValueError(
            f"fidelity is 'sufficient', but {kind_of(game.mechanism)} of {kind_of(game.data)} data has no "
            "exact law here; use 'literal' or 'auto'"
        )
    if fidelity == "literal" or not game.has_exact_law:
        clipped = None if raw is None else clipped_sampler(raw)
        return literal if clipped is None else clipped
    return law_sampler(game, attack)


def pilot_games(game: AbstractGame, sampler: AbstractSampler) -> int:
    """How many games per world the pilot plays: a fixed function of the problem, fewer where games are slow."""
    if sampler.fidelity == "literal":
        return min(4096, max(32, 2**28 // game.numbers))
    if isinstance(game, AbstractMembershipGame) and sampler.draws_outputs:
        return min(4096, max(256, 2**22 // game.data.dimension))
    return 4096


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
