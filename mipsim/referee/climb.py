"""Climbing from the best probes of each categorical cell."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy

from mipsim.referee.domain import Choice, Fixed, Whole
from mipsim.referee.search import Search

CELLS = 6
"""Cells that are climbed in, those with the worst probes first."""
POPULATION = 24
"""Members of a population: the best probes of the cell, and points near the very best."""
NEAR = 0.05
"""Standard deviation of the points near the best probe, as a share of each range."""


class _Done(Exception):
    pass


def climb(search: Search, until: float) -> None:
    """Look for larger gaps until the share `until` of the budget is used, or the statement is broken.

    Differential evolution, in each cell of the categorical parameters, over the places of the numeric ones; whole numbers
    on a linear scale are whole for it too.

    Source: Storn and Price (1997), "Differential evolution".
    """
    statement = search.statement
    numeric = [n for n in statement.free if not isinstance(statement.domain[n], (Choice, Fixed))]
    cells: dict[tuple[Any, ...], list[Any]] = {}
    for probe in sorted(search.probes, key=lambda one: -one.strain):
        cell = tuple(value for name, value in probe.at.items() if name not in numeric)
        cells.setdefault(cell, []).append(probe)
    chosen = list(cells.values())[:CELLS]
    if not numeric:
        return
    for number, probes in enumerate(chosen):
        start = search.budget.used_up
        end = start + (until - start) / (len(chosen) - number)
        if start >= until or _climb_cell(search, numeric, [one.at for one in probes], number, end):
            return


def _climb_cell(
    search: Search, numeric: list[str], best: list[dict[str, Any]], number: int, end: float
) -> bool:
    domain = search.statement.domain
    whole = np.array([isinstance(domain[n], Whole) and not domain[n].log for n in numeric])  # type: ignore[attr-defined]
    bounds = [domain[n].ends if is_whole else (0.0, 1.0) for n, is_whole in zip(numeric, whole, strict=True)]
    bounds = [(float(low), float(high)) for low, high in bounds]
    generator = np.random.default_rng([search.seed, 3, number])

    def encoded(at: Mapping[str, Any]) -> np.ndarray:
        pairs = zip(numeric, whole, strict=True)
        return np.array([float(at[n]) if is_whole else domain[n].place(at[n]) for n, is_whole in pairs])

    def point(x: np.ndarray) -> dict[str, Any]:
        values = {
            n: round(v) if is_whole else domain[n].value(float(v))
            for n, v, is_whole in zip(numeric, x, whole, strict=True)
        }
        return best[0] | values

    broken = False

    def height(x: np.ndarray) -> float:
        nonlocal broken
        if search.budget.used_up >= end:
            raise _Done
        at = point(x)
        try:
            if not search.statement.stands(at):
                search.budget.used += 1  # else a domain that is nearly empty would be climbed in for ever
                return math.inf
        except Exception as error:
            search.fail(at, f"where: {type(error).__name__}: {error}")
            return math.inf
        found = search.probe(at, "climb")
        if search.breaks(found):
            broken = True
            raise _Done
        return math.inf if found is None else -found.strain

    low, high = np.array(bounds).T
    members = [encoded(at) for at in best[: POPULATION // 2]]
    while len(members) < POPULATION:
        members.append(members[0] + NEAR * (high - low) * generator.standard_normal(len(numeric)))
    try:
        with np.errstate(all="ignore"):
            scipy.optimize.differential_evolution(
                height,
                bounds,
                init=np.clip(members, low, high),
                integrality=whole,
                polish=False,
                maxiter=10**6,
                tol=0.0,
                atol=0.0,
                seed=generator,  # pyright: ignore[reportCallIssue]  # SciPy 1.14 has no rng
            )
    except _Done:
        pass
    return broken
