"""The choice of the cheapest faithful way to play a game."""

import jax
import jax.numpy as jnp

from mipsim.attacks.base import AbstractAttack, AbstractLinearAttack
from mipsim.attacks.function import FunctionAttack
from mipsim.distributions.base import AbstractDistribution
from mipsim.engine.sampler import AbstractSampler, LawSampler, LiteralSampler, block_games
from mipsim.engine.tabulate import table_sampler
from mipsim.games.base import AbstractGame

ROUTES = ("auto", "literal", "sufficient")


def name_of(attack: AbstractAttack) -> str:
    """The attack's name in messages: its class, or the user's function."""
    if isinstance(attack, FunctionAttack):
        return str(getattr(attack.function, "__qualname__", type(attack.function).__name__))
    return type(attack).__name__


def choose_route(game: AbstractGame, route: str) -> str:
    """Return "literal" or "sufficient".

    Raises:
        ValueError: if the exact law is asked for where there is none.

    Examples:
        >>> import mipsim as mi
        >>> choose_route(mi.RandomTarget(mi.EmpiricalMean(), mi.Bernoulli([0.3]), n=4), "auto")
        'sufficient'
    """
    if route == "sufficient" and not game.has_exact_law:
        raise ValueError(
            f"route is 'sufficient', but {type(game.mechanism).__name__} of {type(game.data).__name__} data has no exact "
            "law here; use 'literal' or 'auto'"
        )
    if route == "auto":
        return "sufficient" if game.has_exact_law else "literal"
    return route


def check_shapes(game: AbstractGame, attack: AbstractAttack, route: str) -> None:
    """Trace one round abstractly and check that the attack gives a real scalar for it.

    Must be called inside `exact_scope`.

    Raises:
        ValueError: if the mechanism or the attack cannot be traced, dimensions differ, or the score is no real scalar.
    """
    key = jax.random.key(0, impl="threefry2x32")
    play = game.play if route == "literal" else game.play_from_law
    try:
        target, output = jax.eval_shape(play, key, jnp.asarray(True))
    except (TypeError, ValueError, IndexError) as error:
        raise ValueError(
            f"mechanism {type(game.mechanism).__name__} cannot be played: {_first_line(error)}"
        ) from error
    name = name_of(attack)
    known = getattr(attack, "data", None)
    if isinstance(known, AbstractDistribution) and known.dimension != game.data.dimension:
        raise ValueError(
            f"attack {name} knows data of dimension {known.dimension}; the game's is {game.data.dimension}"
        )
    try:
        if isinstance(attack, AbstractLinearAttack):
            weights = jax.eval_shape(attack.weights, target)
            if weights.shape != output.shape:
                raise ValueError(f"its weights have shape {weights.shape}")
        score = jax.eval_shape(attack.score, target, output)
    except (TypeError, ValueError, IndexError) as error:
        raise ValueError(
            f"attack {name} does not fit the game, whose target has shape {target.shape} and output "
            f"{_spell(output)}: {_first_line(error)}"
        ) from error
    if getattr(score, "shape", None) != () or jnp.issubdtype(score.dtype, jnp.complexfloating):
        raise ValueError(f"attack {name} returns {_spell(score)}; the score must be a real scalar")


def build_sampler(game: AbstractGame, attack: AbstractAttack, route: str) -> AbstractSampler:
    """The sampler of a route: literal, or the cheapest one that draws from the exact law."""
    d = game.data.dimension
    if route == "literal":
        return LiteralSampler(
            game=game, attack=attack, block=block_games(game.n * d, budget=2**21, most=1024)
        )
    table = table_sampler(game, attack)
    return table or LawSampler(game=game, attack=attack, block=block_games(d, budget=2**18, most=4096))


def pilot_games(game: AbstractGame, sampler: AbstractSampler) -> int:
    """How many games per world the pilot plays: a fixed function of the problem, fewer where games are slow.

    Examples:
        >>> import mipsim as mi
        >>> game = mi.RandomTarget(mi.EmpiricalMean(), mi.Bernoulli([0.3]), n=4)
        >>> pilot_games(game, build_sampler(game, mi.ScalarProduct([0.0]), "literal"))
        4096
    """
    d = game.data.dimension
    if sampler.name == "literal":
        return min(4096, max(32, 2**28 // (game.n * d)))
    if sampler.name == "law":
        return min(4096, max(256, 2**22 // d))
    return 4096


def _spell(value: object) -> str:
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    return f"an array of shape {shape} and dtype {dtype}" if shape is not None else "several arrays"


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
