"""Whether an attack was made for the game that it plays."""

import warnings

from mipsim.attacks.base import AbstractAttack
from mipsim.attacks.likelihood_ratio import GaussianLikelihoodRatio, LikelihoodRatio, QuadraticRatio
from mipsim.forms.score import name_of
from mipsim.games.base import AbstractGame, AbstractMembershipGame
from mipsim.games.random_target import RandomTarget


def check_aim(game: AbstractGame, attack: AbstractAttack, stacklevel: int = 4) -> None:
    """Refuse an attack that is aimed at a fixed record where every game has another, and warn of an attack made for another n.

    An attack that is aimed at another record than the game's target is weaker, and may be meant so. An attack that was made for another
    number of rows is most often a slip.

    `stacklevel`: how many calls up the warning appears to come from: the user's. Raises ValueError naming the attack and
    the game.

    >>> import mipsim as mi
    >>> data = mi.Gaussian(0.0, 1.0)
    >>> game = mi.RandomTarget(mi.EmpiricalMean(), data, n=10)
    >>> check_aim(game, mi.CovarianceScore(data, n=10, target=[1.0]))
    Traceback (most recent call last):
    ...
    ValueError: attack CovarianceScore is aimed at a fixed record, but RandomTarget draws another target in each game; leave
        out its target
    """
    if isinstance(game, RandomTarget) and getattr(attack, "aim", None) is not None:
        raise ValueError(
            f"attack {name_of(attack)} is aimed at a fixed record, but RandomTarget draws another target in each game; leave out its "
            "target"
        )
    release = game.mechanism.mean_of_rows(game.n) if isinstance(game, AbstractMembershipGame) else None
    if not isinstance(game, AbstractMembershipGame) or release is None or not release.is_plain:
        return
    ratio = isinstance(attack, (LikelihoodRatio, GaussianLikelihoodRatio, QuadraticRatio))
    rows = attack.rows if isinstance(attack, LikelihoodRatio) else getattr(attack, "n", release.rows)
    if rows not in {release.rows, *(() if ratio else (game.n,))}:
        remedy = (
            ": it is not the optimal attack; make it from the game's mechanism, data and n by LikelihoodRatio"
            if ratio
            else ""
        )
        warnings.warn(
            f"attack {name_of(attack)} is made for a mean of {rows} rows, but the game's mechanism averages {release.rows}{remedy}",
            stacklevel=stacklevel,
        )
