"""What matplotlib draws for a report, an SVG of its own inside the page: truth and claim, or a trend; and what a parameter matters.

The process that judged a statement draws its picture, which is stored with its outcome.
"""

from __future__ import annotations

import base64
import io
import math
from bisect import bisect_left
from collections.abc import Callable
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy.special import ndtri

from mipsim._extras import optional
from mipsim._words import visible
from mipsim.bands.drawing import probit_axes
from mipsim.referee.domain import Choice, Fixed
from mipsim.referee.outcome import Outcome, titled_examples
from mipsim.referee.reporting.wording import count
from mipsim.referee.result import CurveEvidence, TrendEvidence, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROLES = {
    "ink": "#1b1d21",
    "grid": "#e6e8ec",
    "measured": "#1f5fbf",
    "band": "#bcd3f5",
    "claimed": "#c2410c",
    "chance": "#9aa1ad",
    "tolerance": "#eef1f5",
}
"""On white, in a dark page too."""
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "verify",
    "font.size": 9,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "text.parse_math": False,  # a dollar sign in a name or a choice is a dollar sign
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": ROLES["grid"],
    "grid.linewidth": 0.5,
} | dict.fromkeys(
    ("axes.edgecolor", "axes.labelcolor", "text.color", "xtick.color", "ytick.color"), ROLES["ink"]
)
POINTS = 120
"""Of a curve that are plotted, evenly spaced on their axis."""
CELLS = 6
"""Cells of a numeric parameter's range in which means are compared."""
_PICTURES: WeakKeyDictionary[Outcome, str] = WeakKeyDictionary()


def keep(outcome: Outcome, picture: str | None = None) -> str:
    """Draw truth and claim, or the trend, at the first of an outcome's shown points that has any, once; or use what another process drew."""
    if outcome not in _PICTURES:
        _PICTURES[outcome] = _curve(outcome) if picture is None else picture
    return _PICTURES[outcome]


def stored(outcome: Outcome) -> str | None:
    """The picture of an outcome, if it has one yet."""
    return _PICTURES.get(outcome)


def _curve(outcome: Outcome) -> str:
    for title, point in titled_examples(outcome):
        evidence = point.evidence
        # A trend that is infinite at every size leaves an empty frame.
        if evidence is not None and np.isfinite(getattr(evidence, "gap", 0.0)).any():
            words = f"{outcome.statement.name}, truth and claim: {title[:1].lower()}{title[1:]}"
            try:
                return (
                    svg(evidence, point.verdict, words)
                    + f'<figcaption class="meta">{escape(title)}</figcaption>'
                )
            except Exception as error:  # a verdict must not be lost for its picture
                why = escape(f"{type(error).__name__}: {error}")
                return f'<p class="meta">Could not be plotted: {why}</p>'
    return ""


def to_svg(draw: Callable[[Figure], None], description: str, size: tuple[float, float] = (5.0, 3.1)) -> str:
    """Return what `draw` puts on an empty figure as an `<img>` element, which holds it: no external reference.
    `draw`: draws on a matplotlib figure, so narrow that its words can be read at 400 points of a screen; `description`: what a screen
    reader reads; `size`: in inches.
    """
    matplotlib, module = (optional(name, "pictures", "plot") for name in ("matplotlib", "matplotlib.figure"))
    with matplotlib.rc_context(STYLE):
        figure = module.Figure(figsize=size, layout="constrained")
        draw(figure)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    code = base64.b64encode(buffer.getvalue()).decode()
    return f'<img class="plot" alt="{escape(description)}" src="data:image/svg+xml;base64,{code}">'


def svg(evidence: CurveEvidence | TrendEvidence, verdict: Verdict, title: str) -> str:
    """Draw a single piece of evidence: a curve or a trend.
    `verdict`: of the point, stated in the description that a screen reader reads; `title`: what the picture shows, for that
    description.
    """
    if isinstance(evidence, TrendEvidence):
        return to_svg(partial(_draw_trend, evidence), f"{title}: {verdict}")
    return to_svg(partial(_draw_curve, evidence), f"{title}: {verdict}")


def _draw_curve(evidence: CurveEvidence, figure: Figure) -> None:
    """FNR on FPR in probits, where a gap at a low FPR is seen as one in the middle is."""
    axes, band = figure.subplots(), evidence.band
    positive = evidence.alpha[(evidence.alpha > 0) & np.isfinite(evidence.alpha)]
    least = float(np.clip(positive.min(initial=1e-3), 1e-12, 0.1))

    def line(*rates: np.ndarray) -> list[np.ndarray]:
        probits = [ndtri(np.clip(np.asarray(item, np.float64), least, 1.0 - least)) for item in rates]
        order = np.argsort(rates[0], kind="stable")
        order = order[(rates[0][order] > 0.0) & (rates[0][order] < 1.0)]  # whose probits are finite
        if order.size > POINTS:
            place = probits[0][order]
            wanted = np.linspace(place[0], place[-1], POINTS)
            order = order[np.unique(np.searchsorted(place, wanted).clip(0, order.size - 1))]
        return [item[order] for item in probits]

    edges = np.array([least, 1.0 - least])
    axes.plot(*line(edges, 1.0 - edges), color=ROLES["chance"], linewidth=0.8, dashes=(2, 2), label="chance")
    if band is not None:
        alpha, low, high = line(*band)
        axes.fill_between(alpha, low, high, color=ROLES["band"], linewidth=0, label="band")
    seen, label = line(evidence.alpha, evidence.beta), "exact law" if band is None else "measured"
    marker = "" if band is None or seen[0].size > 80 else "."
    axes.plot(*seen, color=ROLES["measured"], linewidth=1.3, marker=marker, markersize=3.5, label=label)
    claimed = line(evidence.claimed_alpha, evidence.claimed_beta)
    axes.plot(*claimed, color=ROLES["claimed"], linewidth=1.3, dashes=(5, 2), label="claimed")
    axes.grid(True)
    axes.set(xlabel="FPR α", ylabel="FNR β")
    probit_axes(axes, least, least)
    figure.legend(loc="outside upper center", ncol=4)


def _draw_trend(evidence: TrendEvidence, figure: Figure) -> None:
    """Gaps inside the tolerance on a linear axis, larger ones on a logarithmic axis."""
    axes, tolerance = figure.subplots(), evidence.tolerance
    sizes, gap, low, high = (
        np.where(np.isfinite(x), x, np.nan)
        for x in map(np.float64, (evidence.sizes, evidence.gap, evidence.low, evidence.high))
    )
    reach = np.nan_to_num(np.maximum([gap - low, high - gap], 0))
    axes.set_yscale("symlog", linthresh=tolerance or 1.0)
    axes.axhspan(-tolerance, tolerance, color=ROLES["tolerance"], linewidth=0, zorder=0, label="tolerance")
    axes.axhline(0, color=ROLES["claimed"], linewidth=1, dashes=(5, 2), label="claimed")
    # A curve has a gap at each rate; a number has one, with an interval.
    several = "largest gap, and all others" if "probit" in evidence.gap_name else "gap and interval"
    label = several if reach.any() else "gap (exact)"
    axes.errorbar(
        sizes, gap, reach, color=ROLES["measured"], linewidth=1.1, marker="o", markersize=4, capsize=3, label=label
    )  # fmt: skip
    if missing := int(np.isnan(gap).sum()):
        text = f"not finite at {missing} of {gap.size} sizes"
        axes.text(0.5, 0.9, text, transform=axes.transAxes, ha="center")
    if sizes.min() > 0:
        axes.set_xscale("log")
    plain_ticks(axes)
    low_end, high_end = axes.get_ylim()
    apart = [t for t in axes.get_yticks() if low_end <= t <= high_end and not 0.0 < abs(t) < tolerance / 2]
    axes.set_yticks(apart)  # labels nearer to that of 0 would lie on it
    axes.set(xlabel=evidence.size_name, ylabel=visible(evidence.gap_name, single_line=True))
    axes.grid(True)
    figure.legend(loc="outside upper center", ncol=3)


def plain_ticks(axes: Axes) -> None:
    """Numbers as they are: laying out formulas is slow."""
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: count(value) if abs(value) >= 1e3 else f"{value:g}")
        axis.set_minor_formatter(lambda *_: "")


Seen = list[tuple[dict[str, Any], float, str]]


def seen(outcome: Outcome) -> Seen:
    """(point, strain, "yes", "no" or "open") of every probe; of every judged point where nothing was probed.

    "no" is where the statement is, or seems to be, broken.
    """
    judged = outcome.judged
    if outcome.probes:
        return [(probe.at, probe.strain, "no" if probe.strain > 0 else "yes") for probe in outcome.probes]
    words = {Verdict.CONFIRMED: "yes", Verdict.REFUTED: "no", Verdict.INCONCLUSIVE: "open"}
    strains = [item.gap if outcome.statement.kind.one_sided else item.relative_gap for item in judged]
    if outcome.statement.kind.one_sided and len({item.unit for item in judged}) > 1:
        # Gaps of several units: each as its rank among those of its own, in [0, 1].
        known = [(item.gap, item.unit) for item in judged if not math.isnan(item.gap)]
        kin = {unit: sorted(gap for gap, other in known if other == unit) for _, unit in known}
        strains = [
            math.nan if math.isnan(item.gap)
            else bisect_left(kin[item.unit], item.gap) / max(1, len(kin[item.unit]) - 1)
            for item in judged
        ]  # fmt: skip
    return [(item.parameters, at, words[item.verdict]) for item, at in zip(judged, strains, strict=True)]


def importance(outcome: Outcome) -> dict[str, float]:
    """What share of the variance of the strain's ranks each parameter explains alone, largest first.

    Source: Pearson's correlation ratio, over cells of each parameter's range; ranks, as a strain may be infinite.
    """
    domain = outcome.statement.domain
    rows = [row for row in seen(outcome) if not math.isnan(row[1])]
    names = [name for name in outcome.statement.free if not isinstance(domain[name], Fixed)]
    if len(rows) < 2:
        return dict.fromkeys(names, 0.0)
    _, rank = np.unique([row[1] for row in rows], return_inverse=True)
    # What is broken counts as much as the strain: a defect may hide in a small part of the domain.
    broken = np.array([row[2] == "no" for row in rows], float)
    result = {}
    for name in names:
        parameter = domain[name]
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
