"""The result of a run that scores every release many times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mipsim._validation import number, whole
from mipsim.engine.histogram import Histogram

if TYPE_CHECKING:
    from mipsim.tradeoff.empirical import EmpiricalTradeOff


@dataclass(frozen=True)
class ManyHistogram:
    """One histogram for each attack or target, all of the same games.

    Within one histogram the games are independent, so that its counts are binomial and its band is honest. Between
    histograms they are not: all score the same releases. Two things follow.

    - A statement about several of them at once needs Bonferroni's correction, which holds under any dependence;
      `tradeoffs` makes it.
    - Their sum is not binomial. A release is a cluster, and m scores of one release tell less than m releases would
      (with equal targets no more than one), so that a band that takes them for independent is too narrow. `pooled`
      counts one score of each release, that of a target drawn at random by itself: games of the pooled attack
      "a random one of the targets", independent again.

    Attributes:
        histograms: one per attack or target, in their order.
        pooled: scores of a random target in each game; None for several attacks, whose scores have no common unit.

    Raises:
        ValueError: if there is no histogram, or they differ in their games.

    Source: Bonferroni (1936); thinning of clusters to independent draws is standard.

    Examples:
        >>> import numpy as np
        >>> one = Histogram(np.array([0.0]), np.array([7, 3]), np.array([2, 8]))
        >>> many = ManyHistogram((one, one))
        >>> len(many), many.games, many[0] is one, many.pooled
        (2, 10, True, None)
    """

    histograms: tuple[Histogram, ...]
    pooled: Histogram | None = None

    def __post_init__(self) -> None:
        parts = (*self.histograms, *(() if self.pooled is None else (self.pooled,)))
        if not self.histograms:
            raise ValueError("histograms is empty; it must hold at least one histogram")
        if len(sizes := {part.games for part in parts}) > 1:
            raise ValueError(f"histograms hold {sorted(sizes)} games; they must be of the same games")

    @property
    def games(self) -> int:
        """Games played in each world: releases, not scores."""
        return self.histograms[0].games

    def __len__(self) -> int:
        return len(self.histograms)

    def __getitem__(self, index: int) -> Histogram:
        return self.histograms[index]

    def __iter__(self) -> Iterator[Histogram]:
        return iter(self.histograms)

    def tradeoffs(
        self, confidence: float = 0.999, thresholds: int = 64, *, family: int | None = None
    ) -> list[EmpiricalTradeOff]:
        """The empirical curves with bands that hold for all attacks or targets at once.

        Args:
            confidence: of all the bands together, in (0, 1): each has failure probability (1 - confidence) / family.
            thresholds: as in `Histogram.tradeoff`.
            family: how many bands the confidence is shared by; None = one for each histogram. Give more where the
                pooled curve or other runs are looked at too.

        Raises:
            ValueError: if the confidence is outside (0, 1), or the family is smaller than this.

        Examples:
            >>> import numpy as np
            >>> one = Histogram(np.array([0.0]), np.array([7, 3]), np.array([2, 8]))
            >>> [round(curve.confidence, 6) for curve in ManyHistogram((one, one)).tradeoffs(0.99)]
            [0.995, 0.995]
        """
        level = number("confidence", confidence, 0.0, 1.0, low_open=True, high_open=True)
        members = len(self) if family is None else whole("family", family, len(self))
        return [part.tradeoff(1.0 - (1.0 - level) / members, thresholds) for part in self]

    def __repr__(self) -> str:
        pooled = "" if self.pooled is None else ", and pooled"
        return f"ManyHistogram({len(self)} histograms of the same {self.games:,} games per world{pooled})"
