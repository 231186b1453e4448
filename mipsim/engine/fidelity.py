"""Fidelity: the choice of the cheapest faithful way to play a game."""

from mipsim._words import kind_of
from mipsim.attacks.base import AbstractAttack
from mipsim.engine.samplers.base import AbstractSampler
from mipsim.engine.samplers.clipped import clipped_law_sampler, clipped_sampler
from mipsim.engine.samplers.columns import column_sampler
from mipsim.engine.samplers.literal import law_sampler, literal_sampler
from mipsim.engine.samplers.normal import normal_sampler, quadratic_sampler
from mipsim.engine.samplers.records import records_sampler
from mipsim.engine.samplers.table import table_sampler
from mipsim.forms.problem import problem_of
from mipsim.forms.score import name_of
from mipsim.games.base import AbstractGame, AbstractMembershipGame

FIDELITIES = ("auto", "literal", "sufficient", "projected", "exact")
"""From every sampled record to no game at all; "auto" takes the cheapest faithful fidelity that plays."""

# Builders of samplers that draw the score itself, in the order in which they are tried.
_PROJECTED = (normal_sampler, quadratic_sampler, clipped_law_sampler)

# And of those that draw what the score is made of, coordinate by coordinate.
_TABLES = (table_sampler, column_sampler)


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
