"""Evidence as pictures by matplotlib, each an SVG of its own inside the page."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Callable
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from mipsim._extras import optional
from mipsim._words import visible
from mipsim.referee.reporting.wording import count
from mipsim.referee.result import CurveEvidence, TrendEvidence, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
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
POINTS = 120
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "verify",
    "font.size": 9,
    "axes.edgecolor": ROLES["ink"],
    "axes.labelcolor": ROLES["ink"],
    "axes.titlecolor": ROLES["ink"],
    "axes.titlesize": 9,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": ROLES["ink"],
    "text.parse_math": False,  # a dollar sign in a name or a choice is a dollar sign
    "xtick.color": ROLES["ink"],
    "ytick.color": ROLES["ink"],
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "grid.color": ROLES["grid"],
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "path.simplify": True,
}


def svg(evidence: CurveEvidence | TrendEvidence, verdict: Verdict, title: str) -> str:
    """Draw a single piece of evidence.
    `evidence`: the curve, plotted on logarithmic and on linear axes, or the trend; `verdict`: of the point;
    stated in the description that a screen reader reads; `title`: what the picture shows, for that description. Returns an `<img>`
    element for each picture, which holds it: no external reference.
    """
    if isinstance(evidence, TrendEvidence):
        return to_svg(partial(_draw_trend, evidence), f"{title}: {verdict}")
    # A gap at a low FPR is seen on logarithmic axes alone.
    axes = {", on logarithmic axes": True, "": False}
    return "".join(
        to_svg(partial(_draw_curve, evidence, power), f"{title}{on}: {verdict}", 3.6)
        for on, power in axes.items()
    )


def to_svg(draw: Callable[[Figure], None], description: str, width: float = 5.0) -> str:
    """Return what `draw` puts on an empty figure as an `<img>` element.
    `draw`: draws on a matplotlib figure, `width` by 3.1 inches: so narrow that its words can be read at 400 points of a screen;
    `description`: what a screen reader reads.
    """
    matplotlib, module = (optional(name, "pictures", "plot") for name in ("matplotlib", "matplotlib.figure"))
    with matplotlib.rc_context(STYLE):
        figure = module.Figure(figsize=(width, 3.1))
        draw(figure)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    code = base64.b64encode(buffer.getvalue()).decode()
    return f'<img class="plot" alt="{escape(description)}" src="data:image/svg+xml;base64,{code}">'


def drawable(evidence: CurveEvidence | TrendEvidence | None) -> bool:
    """Return whether there is anything to draw: a trend that is infinite at every size leaves an empty frame.
    >>> none = np.full(2, np.inf)
    >>> drawable(None), drawable(TrendEvidence(np.array([10, 100]), none, none, none, 0.1))
    (False, False)
    """
    if isinstance(evidence, TrendEvidence):
        return bool(np.isfinite(evidence.gap).any())
    return evidence is not None


def _draw_curve(evidence: CurveEvidence, power: bool, figure: Figure) -> None:
    axes = figure.subplots()
    figure.subplots_adjust(left=0.15, right=0.97, top=0.8, bottom=0.165)
    low = _least_alpha(evidence)
    diagonal = np.geomspace(low, 1.0, 50)
    chance = diagonal if power else 1.0 - diagonal
    axes.plot(diagonal, chance, color=ROLES["chance"], linewidth=0.8, dashes=(2, 2), label="chance")
    _curve_on(axes, evidence, power, low)
    axes.grid(True)
    axes.set_axisbelow(True)
    if power:
        axes.set(
            xscale="log",
            yscale="log",
            xlim=(low, 1),
            ylim=(low, 1.15),
            xlabel="FPR α (log)",
            ylabel="TPR 1 − β (log)",
        )
        _plain_log(axes.xaxis)
        _plain_log(axes.yaxis)
    else:
        axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="FPR α", ylabel="FNR β")
    _legend(figure, axes, 2)


def _curve_on(axes: Axes, evidence: CurveEvidence, power: bool, low: float) -> None:
    def seen(beta: np.ndarray) -> np.ndarray:
        return np.clip(1 - beta, low * 1e-2, 1) if power else beta

    played = evidence.band is not None
    if evidence.band is not None:
        alpha, (down, up) = _thin(evidence.band[0], [*evidence.band[1:]], power)
        axes.fill_between(alpha, seen(down), seen(up), color=ROLES["band"], linewidth=0, label="band")
    alpha, (beta,) = _thin(evidence.alpha, [evidence.beta], power)
    marker = "." if 0 < alpha.size <= 80 and played else ""
    label = "measured" if played else "exact law"
    axes.plot(
        alpha, seen(beta), color=ROLES["measured"], linewidth=1.3, marker=marker, markersize=3.5, label=label
    )
    alpha, (beta,) = _thin(evidence.claimed_alpha, [evidence.claimed_beta], power)
    axes.plot(alpha, seen(beta), color=ROLES["claimed"], linewidth=1.3, dashes=(5, 2), label="claimed")


def _least_alpha(evidence: CurveEvidence) -> float:
    """The left end of the logarithmic axis: the decade below the least positive FPR that was measured."""
    positive = evidence.alpha[(evidence.alpha > 0) & np.isfinite(evidence.alpha)]
    least = float(positive.min()) if positive.size else 1e-3
    return float(10.0 ** np.clip(np.floor(np.log10(least)), -12, -1))


def _thin(alpha: np.ndarray, values: list[np.ndarray], power: bool) -> tuple[np.ndarray, list[np.ndarray]]:
    """Sort by alpha and keep at most `POINTS` points, evenly spaced on the axis that they are plotted on."""
    alpha = np.asarray(alpha, dtype=np.float64)
    order = np.argsort(alpha, kind="stable")
    keep = order[(alpha[order] > 0) if power else np.ones(order.size, bool)]
    if keep.size > POINTS:
        place = np.log(alpha[keep]) if power else alpha[keep]
        wanted = np.linspace(place[0], place[-1], POINTS)
        keep = keep[np.unique(np.clip(np.searchsorted(place, wanted), 0, keep.size - 1))]
    return alpha[keep], [np.asarray(value, dtype=np.float64)[keep] for value in values]


def _draw_trend(evidence: TrendEvidence, figure: Figure) -> None:
    axes = figure.subplots()
    figure.subplots_adjust(left=0.15, right=0.97, top=0.8, bottom=0.165)
    sizes = np.asarray(evidence.sizes, dtype=np.float64)
    gap, low, high = (_finite(x) for x in (evidence.gap, evidence.low, evidence.high))
    seen = gap[~np.isnan(gap)]
    # A gap that keeps its sign and shrinks by much is read best as a power law; any other on a plain axis.
    same_sign = seen.size > 1 and bool((seen > 0).all() or (seen < 0).all())
    magnitudes = same_sign and np.ptp(np.log10(np.abs(seen))) > 0.5
    name = evidence.gap_name
    if magnitudes:
        if seen[0] < 0:
            gap, low, high = -gap, -high, -low
        name = f"|{name}|"
        # What lies far below the tolerance is as good as zero, and would flatten all the rest.
        floor = max(float(np.abs(seen).min()) / 3, 1e-4 * evidence.tolerance, 1e-16)
        low, high = np.maximum(low, floor), np.maximum(high, floor)
        axes.set_yscale("log")
        _tolerance(axes, floor, max(evidence.tolerance, floor))
        axes.set_ylim(floor, 2 * max(evidence.tolerance, float(np.abs(seen).max()), float(np.nanmax(high))))
    else:
        _tolerance(axes, -evidence.tolerance, evidence.tolerance)
        axes.axhline(0, color=ROLES["claimed"], linewidth=1, dashes=(5, 2), label="claimed")
    reach = np.nan_to_num(np.maximum([gap - low, high - gap], 0))
    axes.errorbar(
        sizes,
        gap,
        yerr=reach,
        color=ROLES["measured"],
        linewidth=1.1,
        marker="o",
        markersize=4,
        capsize=3,
        label="gap and interval" if reach.any() else "gap (exact)",
    )
    if seen.size < gap.size:
        missing = gap.size - seen.size
        text = f"not finite at {missing} of {gap.size} sizes"
        axes.text(0.5, 0.9, text, transform=axes.transAxes, ha="center")
    if sizes.size > 1 and (sizes > 0).all() and sizes.max() / sizes.min() > 5:
        axes.set_xscale("log")
        _sizes(axes, sizes)
    if magnitudes:
        _plain_log(axes.yaxis)
    axes.set(xlabel=evidence.size_name, ylabel=visible(name, single_line=True))
    axes.grid(True)
    axes.set_axisbelow(True)
    _legend(figure, axes, 3)


def _finite(values: np.ndarray) -> np.ndarray:
    """Return float64 with NaN, which is not plotted, in place of the infinities, which cannot be."""
    floats = np.asarray(values, dtype=np.float64)
    return np.where(np.isfinite(floats), floats, np.nan)


def _legend(figure: Figure, axes: Axes, columns: int) -> None:
    order = (
        "measured",
        "exact law",
        "gap and interval",
        "gap (exact)",
        "band",
        "claimed",
        "tolerance",
        "chance",
    )
    named = dict(zip(*axes.get_legend_handles_labels()[::-1], strict=True))
    labels = [name for name in order if name in named]
    place = {"loc": "upper center", "bbox_to_anchor": (0.53, 1.0)}
    figure.legend([named[name] for name in labels], labels, ncol=columns, **place)


def _power_of_ten(value: float, position: object = None) -> str:
    """Write a tick of a logarithmic axis in plain characters: laying out formulas is slow."""
    exponent = math.log10(value)
    if abs(exponent - round(exponent)) > 1e-9:
        return ""
    whole = round(exponent)
    if abs(whole) <= 3:
        return f"{value:g}" if whole < 3 else f"{value:,.0f}"
    return "10" + str(whole).translate(SUPERSCRIPT)


def _tolerance(axes: Axes, low: float, high: float) -> None:
    # Below the grid, so that the grid is seen through it.
    axes.axhspan(low, high, color=ROLES["tolerance"], linewidth=0, zorder=0, label="tolerance")
    axes.axhline(high, color=ROLES["chance"], linewidth=0.8)
    if low < 0:
        axes.axhline(low, color=ROLES["chance"], linewidth=0.8)


def _size(value: float, position: object = None) -> str:
    return count(value) if value == int(value) else f"{value:g}"


def _sizes(axes: Axes, sizes: np.ndarray) -> None:
    """Name the sizes that were played rather than powers of ten, where there is room between their names."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    *others, last = sorted(sizes.tolist())
    named, room = [last], (last / others[0]) ** (1.0 / 8.0)
    for size in reversed(others):
        if named[-1] / size >= room:
            named.append(size)
    axes.xaxis.set_major_locator(FixedLocator(named))
    axes.xaxis.set_major_formatter(FuncFormatter(_size))
    axes.xaxis.set_minor_locator(NullLocator())


def _plain_log(axis: Axis) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.set_major_locator(LogLocator(numticks=8))
    axis.set_major_formatter(FuncFormatter(_power_of_ten))
    axis.set_minor_locator(NullLocator())
