"""Azize & Basu (2025), table 1: the target-dependent leakage scores, as printed and as the evidence has them."""

from pathlib import Path

from figures import text_table
from figures.study_counts import Request
from mipsim.theory import azize
from sims.azize_paper import N, paper_target, reference_data

DESCRIPTION = "leakage scores of the mean, with noise, sub-sampling and a similar point, as text (no games)"
GAMMA, RHO = 0.5, 0.1
HEADER = ("Setting", "Leakage score", "As printed", "Corrected sqrt(score)")


def draw(request: Request) -> tuple[Path, ...]:
    """Write the table as text and as CSV; no game is played, so that scale and seed change nothing."""
    return text_table.save(request.out, "azize_table1", _caption(), HEADER, _rows())


def _rows() -> list[tuple[str, str, str, str]]:
    data, target, aim = reference_data(), paper_target("easy"), paper_target("medium")
    m = azize.leakage_score(data, target, N)
    noisy = azize.leakage_score(data, target, N, GAMMA)
    scalar, aimed = azize.scalar_leakage(data, aim, target, N), azize.leakage_score(data, aim, N)
    mixture = f"none: TPR = {RHO:g} Φ(Φ^-1(α) + {(m / RHO) ** 0.5:.3f}) + {1 - RHO:g} α"
    return [
        ("Empirical mean", "(1/n) ||z* - μ||^2 in Σ^-1", f"{m:.4f}", f"{m**0.5:.4f}"),
        (
            f"Gaussian noise, γ = {GAMMA:g}",
            "(1/n) ||z* - μ||^2 in (Σ + Σ_γ)^-1",
            f"{noisy:.4f}",
            f"{noisy**0.5:.4f}",
        ),
        (f"Sub-sampling, ρ = {RHO:g}", "(ρ/n) ||z* - μ||^2 in Σ^-1", f"{RHO * m:.4f}", mixture),
        (
            "Similar point, z_targ typical",
            "(1/n) (z_targ - μ)' Σ^-1 (z* - μ)",
            f"{scalar:.4f}",
            f"{abs(scalar) / aimed**0.5:.4f}, |score| / sqrt(m_targ)",
        ),
    ]


def _caption() -> str:
    return (
        f"After Azize & Basu (2025), Table 1, with numbers for the data of their Fig. 2 (Bernoulli, n = {N}, d = 5000, easiest target); "
        "formulas, no games. The last column is mu in the curve g_mu of the optimal attack, for a similar point that of the attack "
        "aimed at it; with sub-sampling the curve is a mixture and no score describes it (theorem 4.2 is refuted)."
    )
