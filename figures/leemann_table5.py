"""Leemann et al. (2023), table 5: the noise tau that training needs for each mu, by GMIP and by GDP."""

from pathlib import Path

from figures import text_table
from figures.study_counts import Request
from sims.leemann_utility import MUS, RUNS, noises

DESCRIPTION = "noise tau for each mu of a training run, by GMIP and by GDP, as text (no games)"
HEADER = ("mu", *(f"{name} {notion}" for name in RUNS for notion in ("equation 9", "GMIP", "GDP")))


def draw(request: Request) -> tuple[Path, ...]:
    """Write the table as text and as CSV; no game is played, so that scale and seed change nothing."""
    rows = [(f"{mu:.3g}", *(cell for name in RUNS for cell in _cells(name, float(mu)))) for mu in MUS]
    return text_table.save(request.out, "leemann_table5", _caption(), HEADER, rows)


def _cells(name: str, mu: float) -> tuple[str, str, str]:
    gmip, gdp = noises(RUNS[name], mu)
    return f"{gmip:.4g}", f"{min(gmip, gdp):.4g}", f"{gdp:.4g}"


def _caption() -> str:
    settings = "; ".join(
        f"{name} d = {d}, C = {clip:g}, n = {n}, N = {records:,}, {epochs} epochs"
        for name, (d, clip, n, records, epochs) in RUNS.items()
    )
    return (
        "After Leemann et al. (2023), Table 5: tau, the standard deviation of the noise on the mean clipped gradient, for mu of the whole run; "
        "formulas, no games. Equation 10 with c = n sqrt(T) / N gives mu_step; equation 9 is at K = d, and GDP is 2 C / (n mu_step), "
        "one record replaced. GMIP takes the lesser of both, since mu-GDP implies mu-GMIP (theorem 4.2), as the authors' public code does. "
        f"0: no noise is needed. {settings}."
    )
