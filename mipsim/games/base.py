"""What every membership-inference game provides."""

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim._family import AbstractMember
from mipsim._validation import member
from mipsim._words import quoted
from mipsim.attacks.base import AbstractAttack
from mipsim.distributions.base import AbstractDistribution, Member
from mipsim.distributions.empirical import Empirical
from mipsim.mechanisms.base import AbstractMechanism
from mipsim.tradeoff.exact_tradeoff import ExactTradeOff

if TYPE_CHECKING:
    from mipsim.engine.route import Route


def as_law(data: AbstractDistribution) -> AbstractDistribution:
    """Return `data` if it is a distribution, or say that it is not."""
    return member("data", data, AbstractDistribution, "a distribution, such as Empirical(records)")


def check_game_records(
    mechanism: AbstractMechanism, data: AbstractDistribution, target: np.ndarray | None = None
) -> None:
    """Raise ValueError if the law, its dimension, its listed records or the target do not suit the mechanism."""
    mechanism.output_shape(data.dimension)
    mechanism.check_law(data)
    if isinstance(data, Empirical):
        mechanism.check_records("data", data.records)
    if target is not None:
        mechanism.check_records("target", target[None])


def check_size(game: "AbstractGame") -> None:
    """Raise ValueError if a game has more records than float64 counts: it can be neither played nor computed."""
    if isinstance(game, AbstractMembershipGame) and game.n > 2**53:
        raise ValueError(f"n is {quoted(game.n)}; it must be at most {2**53}, as far as float64 counts")


class AbstractGame(AbstractMember):
    """A round: a world ("out" or "in") goes in, a target and an output come out.

    Attributes:
        mechanism: what is released.

    Examples:
        >>> import jax, mipsim as mi
        >>> game = mi.FixedTarget(mi.EmpiricalMean(), mi.Bernoulli([0.3, 0.6]), n=10, target=[1.0, 0.0])
        >>> target, output = game.play(jax.random.key(0), True)
        >>> isinstance(game, AbstractGame), target.shape, output.shape, game.numbers
        (True, (2,), (2,), 20)
    """

    FLOAT64: ClassVar[tuple[str, ...]] = ("play",)
    FLOAT64_FUNCTIONS: ClassVar[tuple[str, ...]] = ("exact_round",)
    OPTIONAL: ClassVar[tuple[str, ...]] = ("exact_round",)

    mechanism: eqx.AbstractVar[AbstractMechanism]

    @abstractmethod
    def play(self, key: PRNGKeyArray, member: Member) -> tuple[Array, Array]:
        """Play a literal round; returns (target, output)."""

    @property
    @abstractmethod
    def numbers(self) -> int:
        """How many numbers a literal round handles: how many rounds are played at once follows from it."""

    def exact_round(self) -> "Round | None":
        """What plays a round by sampling the output from its exact distribution; None where there is none.

        Examples:
            >>> import mipsim as mi
            >>> mi.FixedTarget(mi.Median(), mi.Gaussian(0.0, 1.0), n=10, target=[1.0]).exact_round() is None
            True
        """
        return None

    def exact(self, attack: AbstractAttack | Callable[..., Any] | None = None) -> ExactTradeOff:
        """The exact trade-off curve of an attack, without games; `curve.law` is the distribution of its score.

        The distribution is known for a fixed target and a mean, with or without noise or sub-sampling, of

        - a linear score of independent or empirical data;
        - a score quadratic in a Gaussian output;
        - an additive score, without noise, of Bernoulli data or of Discrete data on a lattice;

        and for linear and quadratic scores of a `RelaxedThreat` in Gaussian noise.

        Raises:
            TypeError: if the attack is left out.
            ValueError: if the distribution of the score is not known, or needs tables that are too large.

        Examples:
            >>> import mipsim as mi, numpy as np
            >>> data = mi.Gaussian(0.0, 1.0, d=100)
            >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=100, target=np.ones(100))
            >>> print(round(game.exact(mi.CovarianceScore(data, n=100)).beta(0.1), 6))
            0.6114
        """
        if attack is None:
            raise TypeError(
                "attack is missing; exact needs the score whose curve it computes, such as "
                "game.exact(mi.CovarianceScore(game.data, n=game.n))"
            )
        from mipsim.exact.dispatch import exact_law, exact_tails
        from mipsim.tradeoff.exact_tradeoff import ExactTradeOff

        return ExactTradeOff(exact_law(self, attack), partial(exact_tails, self, attack))

    def route(self, attack: AbstractAttack | Callable[..., Any], fidelity: str = "auto") -> "Route":
        """Which sampler `mipsim.play` takes for an attack, and what this game and attack lack of what each cheaper sampler needs.

        Args:
            attack: as in `mipsim.play`.
            fidelity: as in `mipsim.play`.

        Raises:
            ValueError: as `mipsim.play`: if the fidelity does not exist here, or the attack does not fit the game.

        Examples:
            >>> import mipsim as mi
            >>> game = mi.FixedTarget(mi.EmpiricalMean(), mi.Bernoulli([0.3, 0.6]), n=10, target=[1.0, 0.0])
            >>> route = game.route(mi.ScalarProduct([0.5, 0.5]))
            >>> route.fidelity, route.sampler, route.draws
            ('sufficient', 'table', 'the score, from tables of the counts of coordinates')
            >>> print(game.route(lambda target, output: output.max()).passed[-1])
            ('the score, from tables of the counts of coordinates', 'an additive score, or under noise a linear score')
        """
        from mipsim.engine.recipe import Recipe

        return Recipe.checked(self, [attack], fidelity, None).route()


class AbstractMembershipGame(AbstractGame):
    """A game about a record among n: was the target among those that the output was released from?

    Attributes:
        data: the law of a record in R^d.
        n: the number of records, >= 2.

    Source: Yeom et al. (2018), experiment 1; Azize & Basu (2025), section 2.
    """

    data: eqx.AbstractVar[AbstractDistribution]
    n: eqx.AbstractVar[int]

    @property
    def numbers(self) -> int:
        return self.mechanism.numbers_handled(self.n, self.data.dimension)


class Round(Protocol):
    """A round of a game."""

    def __call__(self, key: PRNGKeyArray, member: Member) -> tuple[Float[Array, " d"], Array]:
        """Play it; returns (target, output)."""
        ...
