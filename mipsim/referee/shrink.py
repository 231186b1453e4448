"""From what a hunt found to a counterexample that a reader remembers, and how far it reaches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mipsim.referee.domain import Choice, Fixed, Whole
from mipsim.referee.outcome import Probe
from mipsim.referee.search import Search

KEPT = 0.1
"""A simpler counterexample keeps at least this share of the strain: one that nobody can see helps nobody."""
PASSES = 3
"""Rounds over all parameters: a simpler value of one may allow a simpler value of another."""
STEPS = 30
"""Halvings that find where a statement ceases to be broken."""


def shrink(search: Search, found: Probe, patience: Callable[[], bool]) -> Probe:
    """Return the simplest point that was met on the way from `found` and that still breaks the statement.

    Args:
        search: makes the probes.
        found: where it is broken.
        patience: asked before each probe whether to go on.
    """
    least, best = KEPT * found.strain, found
    for _ in range(PASSES):
        before = best
        for name in sorted(
            search.statement.free, key=lambda n: not isinstance(search.statement.domain[n], Choice)
        ):
            for value in search.statement.domain[name].simpler(best.at[name]):
                if not patience():
                    return best
                probe = _probe(search, best.at | {name: value})
                if probe is not None and probe.strain >= least and _breaks(search, probe, found):
                    best = probe
                    break
        if best is before:
            break
    return best


def frontier(search: Search, found: Probe, patience: Callable[[], bool]) -> dict[str, Any]:
    """From a counterexample, how far each parameter alone can move with the statement still broken.

    Returns:
        For each parameter that can move: {"low": ..., "high": ...}, both broken, or the list of broken choices. Between the
        ends it may stand again.
    """
    reach: dict[str, Any] = {}
    for name in search.statement.free:
        parameter = search.statement.domain[name]
        if isinstance(parameter, Fixed) or not patience():
            continue

        def broken(value: Any, name: str = name) -> bool:
            probe = _probe(search, found.at | {name: value})
            return probe is not None and _breaks(search, probe, found)

        if isinstance(parameter, Choice):
            reach[name] = [v for v in parameter.values if v == found.at[name] or broken(v)]
            continue
        ends = {}
        for side, end in zip(("low", "high"), parameter.ends, strict=True):
            good, bad = found.at[name], end
            if good != end and not broken(end):
                inside, outside = parameter.place(good), parameter.place(bad)
                for _ in range(STEPS):
                    middle = parameter.value((inside + outside) / 2)
                    done = isinstance(parameter, Whole) and middle in (good, bad)
                    if done or abs(inside - outside) < 1e-3 or not patience():
                        break
                    if broken(middle):
                        good, inside = middle, (inside + outside) / 2
                    else:
                        bad, outside = middle, (inside + outside) / 2
            else:
                good = end
            ends[side] = good
        reach[name] = ends
    return reach


def _probe(search: Search, at: Mapping[str, Any]) -> Probe | None:
    try:
        if not search.statement.stands(at):
            return None
    except Exception as error:
        search.fail(at, f"where: {type(error).__name__}: {error}")
        return None
    return search.probe(at, "shrink")


def _breaks(search: Search, probe: Probe, found: Probe) -> bool:
    # What games suggested is followed by games: what is left is judged by fresh ones.
    return search.breaks(probe) if found.definite else probe.strain > 0.0
