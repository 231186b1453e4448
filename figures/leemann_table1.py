"""Leemann et al. (2023), table 1: the threat models underlying f-DP and f-MIP, side by side, with numbers."""

from pathlib import Path

from figures import text_table
from figures.study_counts import Request
from mipsim.theory import leemann

DESCRIPTION = (
    "the threat models of f-DP and f-MIP side by side, as text, with numbers behind entries (no games)"
)
D, N, CLIP = 650, 500, 500.0
"""CIFAR-10: the sizes of figure 2, and the clip of figure 3."""
LOW, HIGH = 0.4, 1.2
"""mu: the least of figure 3, and a mu above mu_step."""
HEADER = ("", "f-DP threat model", "f-MIP threat model")


def draw(request: Request) -> tuple[Path, ...]:
    """Write the table as text and as CSV; no game is played, so that scale and seed change nothing."""
    return text_table.save(request.out, "leemann_table1", _caption(), HEADER, _rows())


def _rows() -> list[tuple[str, str, str]]:
    return [
        (
            "Goal",
            "Distinguish S from S', for any S, S' that differ in at most one instance",
            "Distinguish whether x' is in the training set S or not",
        ),
        (
            "Dataset access",
            "Full: may poison or construct data sets, e.g. S = {} and S' = {10^6}",
            "None: the owner trains privately, free of poisoned samples",
        ),
        (
            "Protected instances",
            "Arbitrary: outliers and out-of-distribution samples too",
            "x' drawn from the data distribution: typical samples",
        ),
        (
            "Best used",
            "Attack model unknown; a general protection",
            "Injection of data can be ruled out; membership inference and reconstruction",
        ),
        ("Model knowledge", "Architecture, parameters, hyperparameters, outputs", "the same"),
        (
            "  one step without noise",
            "none: no finite mu",
            f"mu_step = {leemann.step_mu(D, N, float(D)):.4f}",
        ),
        (
            f"  noise for mu = {LOW:g}",
            f"tau = {leemann.noise_for_dp(LOW, N, CLIP):.4g}",
            f"tau = {_mip(LOW):.4g} by equation 9; that of f-DP suffices (theorem 4.2)",
        ),
        (
            f"  noise for mu = {HIGH:g}",
            f"tau = {leemann.noise_for_dp(HIGH, N, CLIP):.4g}",
            f"tau = {_mip(HIGH):.4g} by equation 9",
        ),
    ]


def _mip(mu: float) -> float:
    return leemann.noise_for_step_mu(mu, D, N, float(D), CLIP)


def _caption() -> str:
    return (
        "After Leemann et al. (2023), Table 1, in fewer words; the indented lines are numbers of this project, by formulas, without games: one step "
        f"on n = {N} gradients of d = {D} with K = d by equation 9, tau the standard deviation of the noise on the mean, C = {CLIP:g} (replacing one record "
        "moves the mean by 2C/n at most). Equation 9 itself is no guarantee for every law of the gradients: see leemann-thm-5.1-guarantee."
    )
