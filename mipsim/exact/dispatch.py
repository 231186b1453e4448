"""From a game and an attack to the exact law of the score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mipsim.attacks.base import AbstractAttack
from mipsim.engine.precision import exact_scope
from mipsim.exact.law import AbstractScoreLaw
from mipsim.exact.linear import linear_law
from mipsim.exact.problem import Problem, Rule
from mipsim.exact.quadratic import quadratic_attack_law
from mipsim.exact.relaxed import relaxed_law
from mipsim.exact.released import released
from mipsim.exact.tables import table_law
from mipsim.games.relaxed_threat import RelaxedThreat

if TYPE_CHECKING:
    from mipsim.games.base import AbstractGame

RULES: tuple[Rule, ...] = (linear_law, quadratic_attack_law, table_law)
"""Asked in order; the first law found is taken. A new kind of exact law is one file and one name here."""

LARGEST_ERROR = 1e-3
"""A law known less well than this is refused."""


def exact_law(game: AbstractGame, attack: AbstractAttack) -> AbstractScoreLaw:
    """The exact law of the attack's score in both worlds, without games.

    The law's `cdf(thresholds, inside=...)` and `sf` are right at any thresholds, such as the edges of a histogram, to
    `error_bound`. That is proven; for a discrete score of few unlike coordinates, and for tables of terms, the proof is
    weak, and `error_estimate` says what the error is likely to be.

    It exists for a fixed target and a (sub-sampled) mean with Gaussian or Laplace noise or none, where the score is:
    linear in the output, for data of every product law but Student's and for the user's own records; a polynomial of
    degree two in a Gaussian output; or a sum of one term per coordinate, for Bernoulli data without noise. In the relaxed
    threat model with Gaussian noise it exists for linear and quadratic scores.

    Args:
        game: the game.
        attack: the attack.

    Raises:
        ValueError: where no exact law is known, or it is known to less than 1e-3.

    Examples:
        >>> import mipsim as mi
        >>> data = mi.Bernoulli([0.3, 0.6])
        >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=10, target=[1.0, 0.0])
        >>> law = exact_law(game, mi.LikelihoodRatio(game.mechanism, data, 10))
        >>> print(law.cdf(0.0, inside=False).round(6), law.cdf(0.0, inside=True).round(6))
        0.639287 0.388701
        >>> exact_law(game, mi.FunctionAttack(lambda target, output: output.max()))
        Traceback (most recent call last):
        ...
        ValueError: ...
    """
    with exact_scope():
        law = (
            relaxed_law(game, attack) if isinstance(game, RelaxedThreat) else _fixed_target_law(game, attack)
        )
    if law is None:
        raise ValueError(_refusal(game, attack))
    if not (law.error_bound <= LARGEST_ERROR or law.error_estimate <= LARGEST_ERROR):
        raise ValueError(
            f"the law of {_name(attack)} with {type(game.data).__name__} data is known to {law.error_estimate:.1g} only: too "
            f"few rows or coordinates for inversion, too many for enumeration; the error must be at most {LARGEST_ERROR:g}"
        )
    return law


def _fixed_target_law(game: AbstractGame, attack: AbstractAttack) -> AbstractScoreLaw | None:
    target: Any = getattr(game, "target", None)
    mean = released(game.mechanism, game.n)
    if target is None or mean is None:
        return None
    problem = Problem(game.data, mean, np.asarray(target, np.float64), attack)
    return next((found for rule in RULES if (found := rule(problem)) is not None), None)


def _refusal(game: AbstractGame, attack: AbstractAttack) -> str:
    mechanism = type(game.mechanism).__name__
    return (
        f"the score of {_name(attack)} has no known exact law in {type(game).__name__} with {mechanism} of "
        f"{type(game.data).__name__} data; allowed are, with a fixed target and a mean with or without noise or "
        "sub-sampling: a linear score of independent or empirical data, a score quadratic in a Gaussian output, and an "
        "additive score of Bernoulli data without noise; and linear and quadratic scores of a RelaxedThreat in Gaussian noise"
    )


def _name(attack: AbstractAttack) -> str:
    function = getattr(attack, "function", None)
    return type(attack).__name__ if function is None else str(getattr(function, "__qualname__", function))
