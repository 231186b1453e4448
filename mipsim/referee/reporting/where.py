"""Where a statement holds: the two parameters that matter most, and a map over them."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from mipsim._words import visible
from mipsim.referee.domain import Choice, Fixed
from mipsim.referee.kinds import Exists
from mipsim.referee.outcome import Outcome
from mipsim.referee.reporting.plots import ROLES, to_svg
from mipsim.referee.result import Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CELLS = 6
"""Cells of a numeric parameter's range in which means are compared."""
COLOURS = ROLES | {"yes": "#12703c", "no": "#b01c2e", "open": "#7a5200"}
MOST = 600
"""Points that are plotted: of those that stand, and of those that are broken; of more, every so manieth."""

LONGEST, MOST_WORDS = 34, 50
"""Letters of a single choice beside its tick, and of all choices below the level axis, that have room."""

JudgedPoints = list[tuple[dict[str, Any], float, str]]


def seen(outcome: Outcome) -> JudgedPoints:
    """(point, strain, "yes", "no" or "open") of every probe; of every judged point where nothing was probed.

    "no" is where the statement is, or seems to be, broken; for `Exists`, where it is not satisfied.
    """
    exists = isinstance(outcome.statement.kind, Exists)
    if outcome.probes:
        return [
            (probe.at, probe.strain, "no" if (probe.strain < 0 if exists else probe.strain > 0) else "yes")
            for probe in outcome.probes
        ]
    words = {Verdict.CONFIRMED: "yes", Verdict.REFUTED: "no", Verdict.INCONCLUSIVE: "open"}
    strains = _strains(outcome)
    return [
        (item.parameters, strain, words[item.verdict])
        for item, strain in zip(outcome.judged, strains, strict=True)
    ]


def _strains(outcome: Outcome) -> list[float]:
    """The gaps of judged points, in tolerances for equalities; of several units, each as its rank among those of its own, in [0, 1]."""
    judged = outcome.judged
    if not outcome.statement.kind.one_sided:
        return [item.relative_gap for item in judged]
    gaps, units = [single.gap for single in judged], [single.unit for single in judged]
    if len(set(units)) < 2:
        return gaps
    known = [(gap, unit) for gap, unit in zip(gaps, units, strict=True) if not math.isnan(gap)]
    alike = [sorted(gap for gap, other in known if other == unit) for unit in units]
    return [
        math.nan if math.isnan(gap) else bisect_left(kin, gap) / max(1, len(kin) - 1)
        for gap, kin in zip(gaps, alike, strict=True)
    ]


_WEIGHED: WeakKeyDictionary[Outcome, dict[str, float]] = WeakKeyDictionary()
"""Of outcomes that are still in use: the page, its table and its data all ask."""


def importance(outcome: Outcome) -> dict[str, float]:
    """What share of the variance of the strain's ranks each parameter explains alone, largest first.

    Source: Pearson's correlation ratio, over cells of each parameter's range; ranks, as a strain may be infinite.
    """
    if outcome not in _WEIGHED:
        _WEIGHED[outcome] = _weighed(outcome)
    return dict(_WEIGHED[outcome])


def _weighed(outcome: Outcome) -> dict[str, float]:
    rows = [row for row in seen(outcome) if not math.isnan(row[1])]
    names = [n for n in outcome.statement.free if not isinstance(outcome.statement.domain[n], Fixed)]
    if len(rows) < 2:
        return dict.fromkeys(names, 0.0)
    _, rank = np.unique([row[1] for row in rows], return_inverse=True)
    # What is broken counts as much as the strain: a defect may hide in a small part of the domain.
    broken = np.array([row[2] == "no" for row in rows], float)
    result = {}
    for name in names:
        parameter = outcome.statement.domain[name]
        cells = len(parameter.values) if isinstance(parameter, Choice) else CELLS
        cell = np.array([min(int(parameter.place(row[0][name]) * cells), cells - 1) for row in rows])
        result[name] = _explained(rank.astype(float), cell) + _explained(broken, cell)
    return dict(sorted(result.items(), key=lambda item: -item[1]))


def _explained(values: np.ndarray, cell: np.ndarray) -> float:
    spread = float(((values - values.mean()) ** 2).sum())
    if spread == 0.0:
        return 0.0
    groups = [values[cell == item] for item in np.unique(cell)]
    return float(sum(g.size * (g.mean() - values.mean()) ** 2 for g in groups)) / spread


def where_map(outcome: Outcome) -> str:
    """Return the map as an `<img>` element; empty where there is nothing to draw.
    `outcome`: a statement with its probes or judged points.
    """
    axes_names = list(importance(outcome))[:2]
    rows = seen(outcome)
    if not axes_names or not rows:
        return ""
    retained = _thinned(rows)
    domain = outcome.statement.domain
    # Words stand beside the upright axis, where they do not run into each other.
    axes_names.sort(key=lambda name: len("".join(_words(domain[name]))))
    worded = len(axes_names) > 1 and bool(_words(domain[axes_names[1]]))
    left = max(0.15, 0.06 + 0.0125 * max(map(len, _words(domain[axes_names[1]])))) if worded else 0.15
    tilted = len("".join(_words(domain[axes_names[0]]))) > MOST_WORDS
    low = 0.42 if tilted else 0.17

    def draw(figure: Figure) -> None:
        axes = figure.add_axes((left, low, 0.97 - left, 0.87 - low))
        marks = {"yes": ("o", "holds", 9), "open": ("s", "open", 12), "no": ("X", "fails", 26)}
        for word, (mark, label, size) in marks.items():
            chosen = [row[0] for row in retained if row[2] == word]
            if not chosen:
                continue
            spots = [_coordinates(chosen, n, domain[n]) for n in axes_names]
            y = spots[1] if len(spots) > 1 else np.zeros(len(chosen))
            alpha = 0.55 if word == "yes" else 0.9
            axes.scatter(
                spots[0], y, s=size, marker=mark, color=COLOURS[word], alpha=alpha, linewidths=0, label=label
            )
        if outcome.point is not None and outcome.verdict is Verdict.REFUTED:
            at = [_coordinates([outcome.point], n, domain[n])[0] for n in axes_names]
            axes.scatter(
                at[0], at[1] if len(at) > 1 else 0.0, s=130, facecolors="none", edgecolors=COLOURS["ink"],
                linewidths=1.2, label="counterexample",
            )  # fmt: skip
        for n, axis, setter in zip(
            axes_names, (axes.xaxis, axes.yaxis), (axes.set_xlabel, axes.set_ylabel), strict=False
        ):
            setter(n)
            _ticks(axis, domain[n])
        if tilted:
            axes.tick_params(axis="x", rotation=25)
            for label in axes.get_xticklabels():
                label.set_horizontalalignment("right")
            # The words reach down to the edge, but for the corner that they lean away from.
            axes.xaxis.label.set_horizontalalignment("right")
            axes.xaxis.set_label_coords(0.97, 0.1, transform=figure.transFigure)
        if worded:  # the words reach to the edge: the name stands above them
            axes.yaxis.label.set(rotation=0, horizontalalignment="right", verticalalignment="bottom")
            axes.yaxis.set_label_coords(left - 0.01, 0.895, transform=figure.transFigure)
        if len(axes_names) == 1:
            axes.set_yticks([])
        axes.grid(True)
        axes.set_axisbelow(True)
        figure.legend(loc="upper right", ncol=4, columnspacing=1.0)

    word = "fails" if outcome.verdict is Verdict.REFUTED else "holds"
    title = f"Where {outcome.statement.name} {word}, over {' and '.join(axes_names)}"
    return to_svg(draw, title)


def _thinned(rows: JudgedPoints) -> JudgedPoints:
    broken = [row for row in rows if row[2] != "yes"]
    others = [row for row in rows if row[2] == "yes"]
    return others[:: max(1, len(others) // MOST)] + broken[:: max(1, len(broken) // MOST)]


def _coordinates(points: Sequence[dict[str, Any]], name: str, parameter: Any) -> np.ndarray:
    if isinstance(parameter, Choice):
        # Points of the same choice lie on a line: apart from each other they are seen.
        apart = np.random.default_rng(0).uniform(-0.25, 0.25, len(points)) if len(points) > 1 else np.zeros(1)
        return np.array([parameter.index(at[name]) for at in points]) + apart
    values = np.array([float(at[name]) for at in points])
    return np.log10(values) if parameter.log else values


def _words(parameter: Any) -> list[str]:
    """What stands beside the ticks of a choice; nothing for numbers."""
    if not isinstance(parameter, Choice):
        return []
    # What a font cannot draw would be named, as it is, in a warning.
    words = [visible(str(value), single_line=True) for value in parameter.values]
    return [word if len(word) <= LONGEST else f"{word[: LONGEST - 1]}…" for word in words]


def _ticks(axis: Any, parameter: Any) -> None:
    if isinstance(parameter, Choice):
        axis.set_ticks(range(len(parameter.values)), _words(parameter))
    elif parameter.log:
        low, high = (math.log10(end) for end in parameter.ends)
        ticks = list(range(math.ceil(low), math.floor(high) + 1))[:: max(1, int((high - low) // 5))]
        axis.set_ticks(ticks, [f"{10.0**t:g}" for t in ticks])
