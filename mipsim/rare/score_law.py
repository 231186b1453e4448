"""What rare events need to know of a score: its cumulants in both worlds, and how to draw its tilted laws."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from mipsim.engine.samplers.base import AbstractSampler

OUT, IN = 0, 1


class Cumulant(NamedTuple):
    """K(theta) = log E exp(theta S), and the mean K'(theta) and variance K''(theta) of S under the tilted law."""

    value: float
    mean: float
    variance: float


class AbstractTiltedScore(ABC):
    """A score S whose tilted laws dP_theta = exp(theta S - K(theta)) dP are known exactly and can be drawn.

    The likelihood ratio dP / dP_theta = exp(K(theta) - theta S) depends on the score alone, so it is at most
    exp(K(theta) - theta t) on {S > t} for theta >= 0, and on {S <= t} for theta <= 0.

    Source: Asmussen & Glynn (2007), chapter VI.2.
    """

    name: str

    @abstractmethod
    def cumulant(self, theta: float, world: int) -> Cumulant:
        """K, K' and K'' at theta in the world OUT or IN; theta inside `reach(world)`."""

    @abstractmethod
    def reach(self, world: int) -> tuple[float, float]:
        """The open interval of theta in which K is finite; it holds 0, or begins there."""

    @abstractmethod
    def sampler(self, theta: float, world: int) -> tuple[AbstractSampler, int]:
        """What draws S under P_theta, and the world it must be asked for. Called inside `exact_scope`."""

    @abstractmethod
    def link(self, score: np.ndarray) -> np.ndarray:
        """The attack's own score at the values `score` of S, increasing; shape kept."""

    @property
    @abstractmethod
    def plain_inside(self) -> bool:
        """Whether the "in" world is a mixture (of a release with and without the target), which is played untilted."""

    @property
    @abstractmethod
    def lattice(self) -> tuple[float, float] | None:
        """(a, h) if S takes the values a + h k only, k whole; None if it is not known to."""

    @property
    @abstractmethod
    def is_log_ratio(self) -> bool:
        """Whether S is the exact log-likelihood ratio of the two worlds of this game."""
