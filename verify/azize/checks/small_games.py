"""The second, independent route of a refutation: games of a small related setting, by whatever route is exact."""

import threading
from functools import lru_cache

import numpy as np

from mipsim.engine import Histogram
from mipsim.tradeoff import AbstractTradeOff
from sims.runner import run
from sims.studies import STUDIES
from sims.study import Study

GAMES = 20_000
SEED = 20_250_707
CONFIDENCE = 1 - 1e-6

_ONE_AT_A_TIME = threading.Lock()
"""One study uses every core."""


@lru_cache(maxsize=64)
def _played(name: str, games: int) -> Histogram:
    with _ONE_AT_A_TIME:
        return run(STUDIES[name], games, SEED)


def compare_by_small_games(
    study: Study, claimed: AbstractTradeOff, games: int = GAMES, *, bound: bool = False
) -> str:
    """Play the study and say how far its band lies from the claimed curve, where it is farthest.

    `bound`: only an attacker above the claimed curve speaks against the statement.
    """
    histogram = _played(study.name, games)
    curve = histogram.tradeoff(confidence=CONFIDENCE)
    alpha = np.array([1e-3, 1e-2, 0.05, 0.1, 0.15, 0.3, 0.5, 0.7, 0.9])
    low, high = curve.band(alpha)
    promised = claimed.beta(alpha)
    excess = promised - high if bound else np.maximum(promised - high, low - promised)
    k = int(np.argmax(excess))
    fidelity = histogram.manifest.get("fidelity", "literal")
    outcome = (
        "outside the band" if excess[k] > 0 else "inside the band: this route does not see the refutation"
    )
    return (
        f"a small related game, {games:,} times per world ({fidelity} fidelity, seed {SEED}, study {study.name}: {study.description}): at FPR {alpha[k]:g} the attacker's power is in "
        f"[{1 - high[k]:.4f}, {1 - low[k]:.4f}] (failure probability 1e-6), the statement says {1 - promised[k]:.4f}: {outcome}"
    )


def by_small_games(case: str) -> str:
    """The irregular cases of the mean, as literal games at a small size."""
    from mipsim.theory import azize

    study = STUDIES[f"azize_counterexample_{case}"]
    game, _ = study.build()
    m = azize.leakage_score(game.data, game.target, game.n)  # pyright: ignore[reportAttributeAccessIssue]
    return compare_by_small_games(study, azize.mean_tradeoff(m))
