"""Leemann et al. (2023), table 5: the noise tau that training needs for each mu, by GMIP and by GDP."""

from math import sqrt
from pathlib import Path

import numpy as np

from figures import text_table
from figures.played import Request
from mipsim.theory import leemann

DESCRIPTION = "noise tau for each mu of a training run, by GMIP and by GDP, as text (no games)"
MUS = np.geomspace(0.4, 50.0, 20)
DATA = {
    "CIFAR-10": (650, 500.0, 400, 48_000, 10),
    "Purchase": (2580, 2000.0, 795, 54_855, 3),
    "Adult": (1026, 800.0, 1000, 43_000, 20),
}
"""Name -> (d, clip C, batch n, records N, epochs)."""
HEADER = ("mu", *(f"{name} {notion}" for name in DATA for notion in ("GMIP", "GDP")))


def draw(request: Request) -> tuple[Path, ...]:
    """Write the table as text and as CSV; no game is played, so that scale and seed change nothing."""
    rows = [(f"{mu:.3g}", *(cell for name in DATA for cell in _cells(name, float(mu)))) for mu in MUS]
    return text_table.save(request.out, "leemann_table5", _caption(), HEADER, rows)


def noises(name: str, mu: float) -> tuple[float, float]:
    """(tau of mu-GMIP at K = d, tau of mu-GDP with replaced records) for the whole run of that data set."""
    d, clip, n, records, epochs = DATA[name]
    step = step_mu(mu, n, records, epochs)
    return leemann.noise_for_step_mu(step, d, n, float(d), clip), leemann.noise_for_dp(step, n, clip)


def step_mu(mu: float, n: int, records: int, epochs: int) -> float:
    """The mu_step at which equation 10 promises mu for the run, c = n sqrt(T) / N, T = epochs N / n steps."""
    c = n * sqrt(epochs * records / n) / records
    return leemann.step_for_long_run_mu(mu, c)


def _cells(name: str, mu: float) -> tuple[str, str]:
    gmip, gdp = noises(name, mu)
    return f"{gmip:.4g}", f"{gdp:.4g}"


def _caption() -> str:
    settings = "; ".join(
        f"{name} d = {d}, C = {clip:g}, n = {n}, N = {records:,}, {epochs} epochs"
        for name, (d, clip, n, records, epochs) in DATA.items()
    )
    return (
        "After Leemann et al. (2023), Table 5: tau, the standard deviation of the noise on the mean clipped gradient, for mu of the whole run; "
        "formulas, no games. Equation 10 with c = n sqrt(T) / N gives mu_step; GMIP is equation 9 at K = d, GDP is 2 C / (n mu_step), "
        f"one record replaced. 0: no noise is needed. {settings}."
    )
