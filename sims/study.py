"""What a study is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mipsim.attacks import AbstractAttack
    from mipsim.games import AbstractMembershipGame
    from mipsim.tradeoff import AbstractTradeOff

SCALES = ("quick", "standard", "full")


@dataclass(frozen=True)
class Study:
    """A game and an attack with all their numbers fixed, under a name.
    Raises ValueError if a scale is missing or has no game, or the name does not suit a file.

    >>> from sims.studies import STUDIES
    >>> STUDIES["azize_fig2_easy"].games["quick"]
    100000
    """

    name: str  # what it is called on the command line and on disk
    description: str  # a line for a reader
    # makes the game and the attack; deterministic
    build: Callable[[], tuple[AbstractMembershipGame, AbstractAttack]]
    games: Mapping[str, int]  # games per world at each scale: "quick", "standard", "full"
    seed: int = 0  # the default seed of its games
    # what a theorem says of the curve, of the game and the attack; None where there is none
    claim: Callable[[Any, Any], AbstractTradeOff] | None = None
    # a study of like scores, whose thresholds serve this study too, so that games of a pilot are spared; None = a pilot
    # of its own
    thresholds: Study | None = None

    def __post_init__(self) -> None:
        if not self.name or not all(c.isalnum() or c in "._-" for c in self.name):
            raise ValueError(
                f"name is {self.name!r}; it must be made of letters, digits, dots, hyphens and underscores"
            )
        if set(self.games) != set(SCALES) or min(self.games.values()) < 1:
            raise ValueError(
                f"games is {dict(self.games)}; it must give a number >= 1 for {', '.join(SCALES)}"
            )
