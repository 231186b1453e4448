"""The second route of theorem 5.1: small games, in which only an attacker above the bound speaks against it."""

from mipsim.theory import leemann
from sims.studies import STUDIES
from verify.azize.second import compare_by_small_games


def mean_by_games() -> str:
    """Two-dimensional gradients of mean 3 and a target at 0, whose printed K is 0."""
    claimed = leemann.step_tradeoff(2, 10, 0.0)
    return compare_by_small_games(STUDIES["leemann_counterexample_mean"], claimed, bound=True)


def case_by_games(case: str) -> str:
    """The irregular cases of the mean, against the curve of the target's own K."""
    study = STUDIES[f"azize_counterexample_{case}"]
    game, _ = study.build()
    d, n = len(game.target), game.n  # pyright: ignore[reportAttributeAccessIssue]
    k = leemann.gradient_susceptibility(game.data, game.target)  # pyright: ignore[reportAttributeAccessIssue]
    return compare_by_small_games(study, leemann.step_tradeoff(d, n, k), bound=True)
