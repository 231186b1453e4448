"""What every membership-inference game provides."""

from abc import abstractmethod

import equinox as eqx
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim.distributions.base import AbstractDistribution, Member
from mipsim.mechanisms.base import AbstractMechanism


class AbstractGame(eqx.Module):
    """One round: a world ("out" or "in") goes in, a target and an output come out."""

    mechanism: eqx.AbstractVar[AbstractMechanism]
    data: eqx.AbstractVar[AbstractDistribution]
    n: eqx.AbstractVar[int]

    @property
    @abstractmethod
    def has_exact_law(self) -> bool:
        """Whether `play_from_law` may be called."""

    @abstractmethod
    def play(self, key: PRNGKeyArray, member: Member) -> tuple[Float[Array, " d"], Array]:
        """Play one literal round with n drawn records; returns (target, output)."""

    @abstractmethod
    def play_from_law(self, key: PRNGKeyArray, member: Member) -> tuple[Float[Array, " d"], Array]:
        """Play one round, drawing the output from its exact law; returns (target, output)."""
