"""What every mechanism provides: a release from n records."""

from abc import abstractmethod
from functools import singledispatch
from typing import ClassVar, Protocol

import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim._family import AbstractMember
from mipsim._precision import of_float64
from mipsim.distributions.base import AbstractDistribution, Member, Row


class AbstractMechanism(AbstractMember):
    """A randomised map from n records to an output.

    Source: Dwork, McSherry, Nissim, Smith (2006).

    Examples:
        >>> import jax, mipsim as mi, numpy as np
        >>> mechanism = mi.EmpiricalMean()
        >>> isinstance(mechanism, AbstractMechanism), mechanism.rows(10), mechanism.has_exact_law
        (True, 10, True)
        >>> print(mechanism.release(jax.random.key(0), np.array([[0.0, 1.0], [1.0, 1.0]])))
        [0.5 1. ]
    """

    FLOAT64: ClassVar[tuple[str, ...]] = ("release",)

    @abstractmethod
    def release(self, key: PRNGKeyArray, records: Float[Array, "n d"]) -> Array:
        """Release an output from the records: the literal meaning of the mechanism."""

    @abstractmethod
    def rows(self, n: int) -> int:
        """How many of the n records enter an output; checks that n suits (sampling_rate n whole, n >= 2)."""

    @abstractmethod
    def output_shape(self, dimension: int) -> tuple[int, ...] | None:
        """Shape of the output for records of shape (n, dimension), or None where only playing can tell.

        Raises:
            ValueError: if a parameter of the mechanism does not fit that shape.
        """

    @property
    def has_exact_law(self) -> bool:
        """Whether the output can be drawn without its records, for every data law with an exact sum: see `output_law`."""
        return output_law(self) is not None


class OutputLaw(Protocol):
    """Draws the output of a mechanism from its exact law, without drawing the records."""

    def __call__(
        self, key: PRNGKeyArray, data: AbstractDistribution, n: int, target: Row, member: Member
    ) -> Array:
        """Draw an output of n independent records of `data`; if `member`, one of them is `target` instead."""
        ...


@of_float64
@singledispatch
def output_law(mechanism: AbstractMechanism) -> OutputLaw | None:
    """What draws the output from its exact law, for every data law with an exact sum (`sum_sampler`).

    None where there is none: such a mechanism is played literally. A mechanism registers its own beside its class.

    Examples:
        >>> import mipsim as mi
        >>> output_law(mi.EmpiricalMean()) is None, output_law(mi.Median()) is None
        (False, True)
    """
    return None


@singledispatch
def numbers_handled(mechanism: AbstractMechanism, n: int, dimension: int) -> int:
    """How many numbers a release of n records of that dimension handles: how many games are played at once follows from it.

    n x dimension where the mechanism, or the one below its wrapper, registers nothing else.

    Examples:
        >>> import mipsim as mi
        >>> numbers_handled(mi.Subsampled(mi.EmpiricalMean(), 0.5), 10, 3)
        30
    """
    base = getattr(mechanism, "base", None)
    return numbers_handled(base, n, dimension) if isinstance(base, AbstractMechanism) else n * dimension


@singledispatch
def check_records(mechanism: AbstractMechanism, name: str, records: np.ndarray) -> None:
    """Raise ValueError if there are records, shape (N, d), that the mechanism cannot take; `name` is the argument that they are from.

    Most mechanisms take any point. One whose records stand for something else, such as row numbers of a data set, registers a check.

    Examples:
        >>> import mipsim as mi
        >>> check_records(mi.EmpiricalMean(), "target", np.zeros((1, 3)))
    """
    base = getattr(mechanism, "base", None)
    if isinstance(base, AbstractMechanism):
        check_records(base, name, records)


@singledispatch
def check_law(mechanism: AbstractMechanism, data: AbstractDistribution) -> None:
    """Raise ValueError if the mechanism cannot take records of that law, whatever they are; as `check_records`.

    Examples:
        >>> import mipsim as mi
        >>> check_law(mi.EmpiricalMean(), mi.Gaussian(0.0, 1.0))
    """
    base = getattr(mechanism, "base", None)
    if isinstance(base, AbstractMechanism):
        check_law(base, data)
