"""What matplotlib draws for a report, an SVG of its own inside the page: truth and claim, or a trend.

The process that judged a statement draws its picture, which is stored with its outcome.
"""

from __future__ import annotations

import base64
import io
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
_PICTURES: WeakKeyDictionary[Outcome, str] = WeakKeyDictionary()


def keep(outcome: Outcome, picture: str | None = None) -> str:
    """Draw truth and claim, or the trend, at the first of an outcome's shown points that has any, once; or use what another process drew."""
    if outcome not in _PICTURES:
        _PICTURES[outcome] = _curve(outcome) if picture is None else picture
    return _PICTURES[outcome]


def stored(outcome: Outcome) -> str | None:
    """The picture of an outcome, if it has any yet."""
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
    """FNR on FPR in probits, where a gap at a low FPR is seen as in the middle."""
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
