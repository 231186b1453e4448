"""What every mechanism provides: a release from n records."""

from abc import abstractmethod
from typing import ClassVar, Protocol

import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim._family import AbstractMember
from mipsim.distributions.base import AbstractDistribution, Member, Row
from mipsim.mechanisms.release import Release


class AbstractMechanism(AbstractMember):
    """A randomised map from n records to an output.

    Source: Dwork, McSherry, Nissim, Smith (2006).

    Examples:
        >>> import jax, mipsim as mi, numpy as np
        >>> mechanism = mi.EmpiricalMean()
        >>> isinstance(mechanism, AbstractMechanism), mechanism.rows(10)
        (True, 10)
        >>> print(mechanism.release(jax.random.key(0), np.array([[0.0, 1.0], [1.0, 1.0]])))
        [0.5 1. ]
    """

    FLOAT64: ClassVar[tuple[str, ...]] = ("release",)
    FLOAT64_FUNCTIONS: ClassVar[tuple[str, ...]] = ("exact_draw",)
    OPTIONAL: ClassVar[tuple[str, ...]] = (
        "mean_of_rows",
        "exact_draw",
        "numbers_handled",
        "numbers_retained",
        "check_records",
        "check_law",
    )

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

    def mean_of_rows(self, n: int) -> Release | None:
        """What is released of n records, where that is a mean of rows with independent noise; None where it is none.

        Examples:
            >>> import mipsim as mi
            >>> mi.Subsampled(mi.EmpiricalMean(), 0.1).mean_of_rows(1000)
            Release(rows=100, inclusion=0.1, variance=array(0.), noises=(), rate=1.0, transform=None)
            >>> mi.Subsampled(mi.SGDStep(1.0, 10.0), 0.1).mean_of_rows(1000).variance
            array(0.01)
        """
        return None

    def exact_draw(self) -> "ExactDraw | None":
        """What draws the output from its exact distribution, for all data whose column sums have an exact distribution (`sum_sampler`).

        None where there is none: such a mechanism is played literally.

        Examples:
            >>> import mipsim as mi
            >>> mi.EmpiricalMean().exact_draw() is None, mi.Median().exact_draw() is None
            (False, True)
        """
        return None

    def numbers_handled(self, n: int, dimension: int) -> int:
        """How many numbers a release of n records of that dimension handles: how many games are played at once follows from it.

        n x dimension, unless the mechanism or the mechanism below its wrapper states something else.

        Examples:
            >>> import mipsim as mi
            >>> mi.Subsampled(mi.EmpiricalMean(), 0.5).numbers_handled(10, 3)
            30
        """
        base = getattr(self, "base", None)
        return base.numbers_handled(n, dimension) if isinstance(base, AbstractMechanism) else n * dimension

    def numbers_retained(self, n: int) -> int | None:
        """How many numbers a CPU retains of each of several games that are played at once, under `jax.vmap`; None = all of `numbers_handled`.

        They are fewer where the mechanism itself handles a game after the other. Then the games are scored together, though there is no
        memory for the records of all of them.

        Examples:
            >>> import mipsim as mi
            >>> mi.EmpiricalMean().numbers_retained(10) is None
            True
        """
        return None

    def check_records(self, name: str, records: np.ndarray) -> None:
        """Raise ValueError if there are records, shape (N, d), that the mechanism cannot take; `name` is the argument that they are from.

        Most mechanisms take any point. A mechanism whose records stand for something else, such as row numbers of a data set,
        has a check.

        Examples:
            >>> import mipsim as mi
            >>> mi.EmpiricalMean().check_records("target", np.zeros((1, 3)))
        """
        base = getattr(self, "base", None)
        if isinstance(base, AbstractMechanism):
            base.check_records(name, records)

    def check_law(self, data: AbstractDistribution) -> None:
        """Raise ValueError if the mechanism cannot take records of that distribution, whatever they are; as `check_records`.

        Examples:
            >>> import mipsim as mi
            >>> mi.EmpiricalMean().check_law(mi.Gaussian(0.0, 1.0))
        """
        base = getattr(self, "base", None)
        if isinstance(base, AbstractMechanism):
            base.check_law(data)


class ExactDraw(Protocol):
    """Draws the output of a mechanism from its exact distribution, without drawing the records."""

    def __call__(
        self, key: PRNGKeyArray, data: AbstractDistribution, n: int, target: Row, member: Member
    ) -> Array:
        """Draw an output of n independent records of `data`; if `member`, `target` takes the place of a record."""
        ...
