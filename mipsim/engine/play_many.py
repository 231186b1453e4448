"""Several attacks, or several targets, on the releases of a single run of games."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mipsim._signals import interruptible
from mipsim._validation import choice, confidence_level, finite_matrix, member, whole, words
from mipsim._words import kind_of
from mipsim.attacks.base import AbstractAttack
from mipsim.bands.empirical_tradeoff import EmpiricalTradeOff
from mipsim.engine.histogram import Histogram
from mipsim.engine.recipe import Recipe
from mipsim.engine.run import Run
from mipsim.engine.settings import Settings
from mipsim.games.base import AbstractGame
from mipsim.games.fixed_target import FixedTarget

Score = AbstractAttack | Callable[..., Any]


@dataclass(frozen=True)
class ManyHistogram:
    """A histogram for each attack or target, all of the same games.

    Within a histogram the games are independent, so that its counts are binomial and its band is honest. Between
    histograms they are not: all score the same releases. Two things follow.

    - A statement about several of them at once needs Bonferroni's correction, which holds under any dependence;
      `tradeoffs` makes it.
    - Their sum is not binomial. A release is a cluster, and m scores of the same release tell less than m releases would
      (with equal targets no more than a single release), so that a band that takes them for independent is too narrow. `pooled`
      counts a single score of each release, that of a target sampled at random by itself: games of the pooled attack
      "a random target", independent again.

    Attributes:
        histograms: a histogram per attack or target, in their order.
        pooled: scores of a random target in each game; None for several attacks, whose scores have no common unit.
        names: of the attacks, where they were given by name, in the order of the histograms.

    Source: Bonferroni (1936); thinning of clusters to independent draws is standard.

    Examples:
        >>> import numpy as np
        >>> single = Histogram(np.array([0.0]), np.array([7, 3]), np.array([2, 8]))
        >>> many = ManyHistogram((single, single))
        >>> len(many), many.games, many[0] is single, many.pooled
        (2, 10, True, None)
        >>> ManyHistogram((single, single), names=("mean", "median"))["median"] is single
        True
    """

    histograms: tuple[Histogram, ...]
    pooled: Histogram | None = None
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        played = member("histograms", self.histograms, (tuple, list), "a sequence of histograms")
        parts = [member("an entry of histograms", part, Histogram, "a Histogram") for part in played]
        if self.pooled is not None:
            parts.append(member("pooled", self.pooled, Histogram, "a Histogram or None"))
        if not self.histograms:
            raise ValueError("histograms is empty; it must hold at least 1 histogram")
        for name in (
            () if self.names is None else member("names", self.names, (tuple, list), "a sequence of names")
        ):
            words("an entry of names", name)
        if self.names is not None and len(self.names) != len(self.histograms):
            raise ValueError(
                f"names has {len(self.names)} entries; it must have a name per histogram, {len(self.histograms)}"
            )
        if len(sizes := {part.games for part in parts}) > 1:
            raise ValueError(f"histograms hold {sorted(sizes)} games; they must be of the same games")

    @property
    def games(self) -> int:
        """Games played in each world: releases, not scores."""
        return self.histograms[0].games

    def __len__(self) -> int:
        return len(self.histograms)

    def __getitem__(self, index: int | str) -> Histogram:
        if isinstance(index, str):
            index = (self.names or ()).index(
                choice("name", index, self.names or ("none, since no attack has a name",))
            )
        return self.histograms[index]

    def __iter__(self) -> Iterator[Histogram]:
        return iter(self.histograms)

    def tradeoffs(
        self, confidence: float = 0.999, thresholds: int = 64, *, family: int | None = None
    ) -> list[EmpiricalTradeOff]:
        """The empirical curves with bands that hold for all attacks or targets at once.

        Args:
            confidence: of all the bands together, in [0.5, 1): each has failure probability (1 - confidence) / family.
            thresholds: as in `Histogram.tradeoff`.
            family: how many bands the confidence is shared by; None = a band for each histogram, the least. Give more where the
                pooled curve or other runs are looked at too.

        Examples:
            >>> import numpy as np
            >>> single = Histogram(np.array([0.0]), np.array([7, 3]), np.array([2, 8]))
            >>> [round(curve.confidence, 6) for curve in ManyHistogram((single, single)).tradeoffs(0.99)]
            [0.995, 0.995]
        """
        level = confidence_level(confidence)
        members = len(self) if family is None else whole("family", family, len(self))
        return [part.tradeoff(1.0 - (1.0 - level) / members, thresholds) for part in self]

    def __repr__(self) -> str:
        pooled = "" if self.pooled is None else ", and pooled"
        named = "" if self.names is None else f", {', '.join(self.names)},"
        return (
            f"ManyHistogram({len(self)} histograms{named} of the same {self.games:,} games per world{pooled})"
        )


@interruptible
def play_many(
    game: AbstractGame,
    attacks: Sequence[Score] | Mapping[str, Score],
    games: int,
    seed: int = 0,
    *,
    edges: object = None,
    fidelity: str = "auto",
    precision: str | None = None,
    chunk: int | None = None,
    progress: bool = True,
    workers: int | None = None,
    executor: Any = None,
) -> ManyHistogram:
    """Play `games` games in each world and count the scores of several attacks on the same releases.

    Each attack's histogram is what `play` would count: its games are independent. The histograms are mutually dependent,
    so that a statement about several needs Bonferroni's correction: `ManyHistogram.tradeoffs`. The scores of all linear
    attacks on a fixed target are a single matrix product.

    Args:
        game: what is played.
        attacks: at least 1; each an `AbstractAttack` or a function `(target, output) -> scalar`. Given as a dict, its keys
            name them: `result["mean"]` is the histogram of the attack "mean".
        games: games in EACH world, >= 1.
        seed: a whole number in [0, 2^64).
        edges: increasing thresholds for all attacks; None fixes them for each by a pilot.
        fidelity: "literal", "sufficient" (the output sampled from its law), or "auto", the cheaper that exists.
        precision: as in `play`.
        chunk: as in `play`; like progress and workers it does not change the counts.
        progress: as in `play`.
        workers: as in `play`.
        executor: as in `play`.

    Raises:
        ValueError: on a NaN score, or a worker of another version.
        OSError: if the executor does not play.

    Examples:
        >>> import mipsim as mi
        >>> data = mi.Bernoulli([0.3, 0.6])
        >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=10, target=[1.0, 0.0])
        >>> play_many(game, [mi.CovarianceScore(data, n=10), mi.ScalarProduct([0.5, 0.5])], games=1000)
        ManyHistogram(2 histograms of the same 1,000 games per world)
    """
    names = tuple(attacks) if isinstance(attacks, Mapping) else None
    for name in names or ():
        if not isinstance(name, str):
            raise ValueError(f"attacks has the name {name!r}; a name must be a string")
    attacks = list(attacks.values()) if isinstance(attacks, Mapping) else attacks
    if isinstance(attacks, (AbstractAttack, str)) or not isinstance(attacks, Sequence) or not attacks:
        given = "empty" if isinstance(attacks, Sequence) and not attacks else kind_of(attacks)
        raise ValueError(
            f"attacks is {given}; it must be a sequence of at least 1 attack, or a dict from names to attacks"
        )
    how = dict[str, Any](edges=edges, chunk=chunk, progress=progress, workers=workers, executor=executor)
    recipe = Recipe.checked(game, attacks, fidelity, precision, stacked=True)
    return ManyHistogram(
        tuple(Run(Settings(whole("games", games, 1), seed, **how), recipe).play()), names=names
    )


@interruptible
def play_targets(
    game: FixedTarget,
    attack: Score,
    targets: object,
    games: int,
    seed: int = 0,
    *,
    edges: object = None,
    fidelity: str = "auto",
    precision: str | None = None,
    chunk: int | None = None,
    progress: bool = True,
    workers: int | None = None,
) -> ManyHistogram:
    """Play the fixed-target games of several targets on the same rows.

    Histogram i is what `play` would count for target i: its games are independent. The rows and the noise of a game are
    the same for all targets: the "out" release is scored once for each, and "in" the target takes the place of a row.
    Between targets the scores are dependent, often strongly; `ManyHistogram` says what that means, and `pooled` is the
    curve of a random target with honest counts.

    From some ten targets on this is faster than playing them separately, tenfold for hundreds; only where `play` draws the
    score itself (Gaussian data and a linear attack, fidelity "projected") it is not.

    Args:
        game: whose mechanism is `EmpiricalMean`, with `GaussianNoise` and `Subsampled` around it if wished; its own target
            is not played.
        attack: aimed at each target in turn, so that it must not name a target itself.
        targets: shape (m, d), m >= 1.
        games: games in EACH world, >= 1.
        seed: a whole number in [0, 2^64).
        edges: increasing thresholds for all targets; None fixes them for each by a pilot.
        fidelity: as in `play_many`.
        precision: as in `play`.
        chunk: as in `play`; like progress and workers it does not change the counts.
        progress: as in `play`.
        workers: as in `play`.

    Raises:
        ValueError: on bad arguments, another mechanism, or a NaN score.

    Examples:
        >>> import mipsim as mi
        >>> data = mi.Bernoulli([0.3, 0.6])
        >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=10, target=[1.0, 0.0])
        >>> play_targets(game, mi.CovarianceScore(data, n=10), [[1.0, 0.0], [0.0, 0.0]], games=1000)
        ManyHistogram(2 histograms of the same 1,000 games per world, and pooled)
    """
    member("game", game, FixedTarget, "a FixedTarget, which plays many targets")
    how = dict[str, Any](edges=edges, chunk=chunk, progress=progress, workers=workers)
    points = finite_matrix("targets", targets, game.data.dimension)
    recipe = Recipe.checked(game, [attack], fidelity, precision, targets=points)
    *each, pooled = Run(Settings(whole("games", games, 1), seed, **how), recipe).play()
    return ManyHistogram(tuple(each), pooled)
