"""Pictures of trade-off curves: played ones with their bands, exact and claimed ones as lines."""

from __future__ import annotations

import base64
import io
import itertools
from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from textwrap import fill as fill_text
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from mipsim._extras import MissingPackageError, optional
from mipsim._validation import choice, flag
from mipsim._words import kind_of, visible
from mipsim.bands.empirical_tradeoff import EmpiricalTradeOff
from mipsim.tradeoff.base import AbstractTradeOff

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Curve = EmpiricalTradeOff | AbstractTradeOff

SCALES = ("linear", "log", "probit")
"""FNR on FPR; TPR on FPR, both logarithmic; FNR on FPR, both in probits, where a Gaussian curve is a straight line."""

_INK = "#222222"
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Of Okabe and Ito: readers who are colour-blind tell them apart."""
_DASHES = ("-", "--", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
_LEAST_RATE = 1e-6
"""Where a logarithmic or probit axis starts if no counts say where; with counts, below the rarest that carries information."""
_TICKS = (1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1 - 1e-4, 1 - 1e-6)
_LETTERS = 17
"""Of a caption, in an inch."""
_APART = 0.09
"""Of a probit axis: ticks that are closer would write over each other."""
_MARKED = 256
"""Thresholds of a played curve that are marked; of more only the line is plotted."""
_SHOWN_BY = "_ipython_display_"
"""The method by which IPython lets an object show itself."""
_STRONG = 0.7
"""The advantage (mu = 2.07) beyond which FNR on FPR hugs its axes, so that a figure takes probits instead."""
_JOURNAL: Any = {
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 9,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "legend.frameon": False,
    "legend.fontsize": 7.5,
    "legend.labelspacing": 0.3,
    "legend.handlelength": 1.7,
    "legend.borderaxespad": 0.2,  # in the corner that curves leave free, which is half of the panel at most
    "savefig.dpi": 300,
}


def plot(curves: object, *, log: bool | None = None, scale: str | None = None, ax: Axes | None = None) -> Any:
    """Lay trade-off curves over each other: played ones as points with their bands, all others as lines.

    Args:
        curves: a curve, a sequence of curves, or a mapping from labels to curves.
        log: whether to draw TPR against FPR with logarithmic axes, or FNR against FPR; by default a panel of each.
        scale: an entry of `SCALES` for a single panel, instead of `log`.
        ax: matplotlib axes to draw on, a single panel; by default a new figure.

    Returns:
        The new figure, or `ax`. A notebook shows the figure once, be it a cell's last line or not.

    Raises:
        ValueError: if `curves` holds none, or something that is no curve, or `log` and `scale` are both given.

    Examples:
        >>> import mipsim as mi
        >>> figure = mi.plot({"Gaussian": mi.GaussianTradeOff(1.0), "Laplace": mi.LaplaceTradeOff(1.0)}, log=True)
        >>> len(figure.axes)
        1
    """
    named = _named(curves)
    if log is not None and scale is not None:
        raise ValueError(f"log is {log} and scale is {scale!r}; give either")
    if scale is not None:
        choice("scale", scale, SCALES)
    elif log is not None or ax is not None:
        scale = "log" if log is not None and flag("log", log) else "linear"
    if ax is not None:
        draw(ax, named, scale or "linear")
        return ax
    mpl, pyplot = (optional(name, "pictures", "plot") for name in ("matplotlib", "matplotlib.pyplot"))
    figure = pyplot.figure()
    fill(figure, named, scale)
    if "inline" in mpl.get_backend().lower():
        # A notebook shows what a cell returns, and at its end what pyplot still holds open: the first closes the second.
        setattr(figure, _SHOWN_BY, partial(_show_once, figure))
    return figure


def _show_once(figure: Figure) -> None:
    """Show a figure in a notebook, and take it from what pyplot shows at the end of the cell."""
    from IPython.display import display  # pyright: ignore[reportMissingImports] - a notebook calls this
    from matplotlib import pyplot

    delattr(figure, _SHOWN_BY)
    pyplot.close(figure)
    display(figure)


def fill(figure: Figure, named: dict[str, Curve], scale: str | None = None) -> None:
    """Fill an empty figure with a single panel, or with two: FNR on FPR, and TPR on FPR with log axes."""
    import matplotlib as mpl

    panels = (scale,) if scale else (("probit" if _strong(named) else "linear"), "log")
    width = 6.9 if len(panels) == 2 else 4.2
    figure.set_size_inches(width, 3.3)
    figure.set_layout_engine("constrained")
    with mpl.rc_context(_JOURNAL):
        axes = np.atleast_1d(figure.subplots(1, len(panels)))
        for ax, panel in zip(axes, panels, strict=True):
            draw(ax, named, panel)
        for ax in axes[1:]:
            ax.get_legend().remove()
        if caption := _caption(named):
            lines = (fill_text(line, int(_LETTERS * width)) for line in caption.splitlines())
            figure.supxlabel("\n".join(lines), fontsize=8, color=_INK)


def draw(ax: Axes, named: dict[str, Curve], scale: str) -> None:
    """Draw curves on `ax`, by label, in a scale of `SCALES`."""
    import matplotlib as mpl

    played = [curve for curve in named.values() if isinstance(curve, EmpiricalTradeOff)]
    least = min((max(0.5 / curve.out_games, 1e-12) for curve in played), default=_LEAST_RATE)
    rare = np.geomspace(least, 1.0, 400)
    fine = np.unique(np.concatenate([rare, np.linspace(least, 1.0, 400), 1.0 - rare[rare < 0.5]]))
    colours, dashes = itertools.cycle(_COLOURS), itertools.cycle(_DASHES)
    if played:
        next(dashes)  # a solid line is what was played
    with mpl.rc_context(_JOURNAL):
        for label, curve in named.items():
            colour = next(colours)
            if isinstance(curve, EmpiricalTradeOff):
                _draw_played(ax, curve, label, colour, scale)
            else:
                sample = curve.tpr_at(fine) if scale == "log" else curve.beta(fine)
                style: Any = next(dashes)
                ax.plot(
                    _place(fine, scale),
                    _place(sample, scale),
                    linestyle=style,
                    color=colour,
                    lw=1.1,
                    label=label,
                )
        blind = fine if scale == "log" else 1.0 - fine
        ax.plot(_place(fine, scale), _place(blind, scale), ":", color="0.55", lw=0.8, label="blind guess")
        ax.set_xlabel(r"false-positive rate $\alpha$")
        ax.set_ylabel(r"true-positive rate $1-\beta$" if scale == "log" else r"false-negative rate $\beta$")
        # From a quarter of a decade below the first point that carries information.
        starts = [
            max(0.5 / curve.out_games, 1e-12, float(curve.curve_band.alpha_high.min()) / 2)
            for curve in played
        ]
        start = min(starts, default=least)
        floor = max(start, min((0.5 / curve.in_games for curve in played), default=start))
        if scale == "log":
            ax.set(xscale="log", yscale="log", xlim=(start, 1.0), ylim=(floor, 1.1))
        elif scale == "probit":
            probit_axes(ax, start, floor)
        else:
            ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.legend(loc="lower right" if scale == "log" else "upper right")


def _draw_played(ax: Axes, curve: EmpiricalTradeOff, label: str, colour: str, scale: str) -> None:
    least = max(0.5 / curve.out_games, 1e-12)
    band = curve.curve_band
    # Both bounds are linear between these rates and jump there, so that they and their neighbours draw the band exactly.
    ends = np.concatenate([[0.0 if scale == "linear" else least, 1.0], band.alpha_low, band.alpha_high])
    grid = np.unique(np.concatenate([ends, np.nextafter(ends, 0.0)]))
    grid = grid if scale == "linear" else grid[grid >= least]
    lower, upper = band.at(grid)
    alpha, beta = curve.alpha, curve.beta
    if scale == "log":
        floor = 0.5 / curve.in_games
        lower, upper = (np.maximum(1.0 - value, floor) for value in (upper, lower))
        beta = np.where(1.0 - beta > 0, np.maximum(1.0 - beta, floor), np.nan)
        alpha = np.where(alpha > 0, alpha, np.nan)
    if scale == "probit":
        lower, upper = (np.clip(value, 1e-15, 1.0 - 1e-15) for value in (lower, upper))
    shade: Any = {"color": colour, "alpha": 0.2, "lw": 0}
    ax.fill_between(
        _place(grid, scale), _place(lower, scale), _place(upper, scale), label=_band_label(curve), **shade
    )
    marks = "o-" if curve.thresholds.size <= _MARKED else "-"  # thousands of marks would hide the band
    ax.plot(_place(alpha, scale), _place(beta, scale), marks, color=colour, ms=1.8, lw=0.7, label=label)


def _place(rates: np.ndarray, scale: str) -> np.ndarray:
    """Where rates are plotted: in probits for probit axes, with what is 0 or 1 left out."""
    if scale != "probit":
        return rates
    return np.where((rates > 0.0) & (rates < 1.0), ndtri(rates), np.nan)


def probit_axes(ax: Axes, start: float, floor: float) -> None:
    """Ticks at rates and ends of axes in probits; `start`, `floor`: the least FPR and FNR."""
    ticks = [t for t in _TICKS if min(start, floor) <= t <= 1.0 - min(start, floor)]
    names = [f"{t:g}" if t <= 0.5 else f"{1.0 - (1.0 - t):.9g}" for t in ticks]
    for axis, first in (("x", start), ("y", floor)):
        ends = float(ndtri(first)), float(ndtri(1.0 - min(start, floor)))
        retained: list[tuple[float, str]] = []
        for t, name in sorted(zip(ticks, names, strict=True), key=lambda tick: abs(tick[0] - 0.5)):
            at = float(ndtri(t))  # the middle first
            if t >= first and all(abs(at - other) > _APART * (ends[1] - ends[0]) for other, _ in retained):
                retained.append((at, name))
        getattr(ax, f"set_{axis}ticks")([at for at, _ in retained], [name for _, name in retained])
        getattr(ax, f"set_{axis}lim")(*ends)
    ax.tick_params(axis="x", labelrotation=45)


def picture(curves: object, alt: str) -> str:
    """The figure of `plot` as an `<img>` element of some tens of kilobytes, made without touching pyplot's state; where matplotlib is
    not installed, a sentence that says what installs it.
    >>> from mipsim.tradeoff import GaussianTradeOff
    >>> picture(GaussianTradeOff(1.0), "a curve")[:49]
    '<img alt="a curve" src="data:image/png;base64,iVB'
    """
    try:
        agg, module = (
            optional(f"matplotlib.{name}", "pictures", "plot") for name in ("backends.backend_agg", "figure")
        )
    except MissingPackageError as error:
        return f"<p>{escape(str(error), quote=False)}</p>"
    figure, buffer = module.Figure(), io.BytesIO()
    agg.FigureCanvasAgg(figure)
    fill(figure, _named(curves))
    figure.savefig(buffer, format="png", dpi=100)
    png = base64.b64encode(buffer.getvalue()).decode("ascii")
    return f'<img alt="{escape(alt)}" src="data:image/png;base64,{png}">'


def with_claim(curve: Curve, claim: AbstractTradeOff | None) -> dict[str, Curve]:
    """A curve and what is claimed of it, by their labels."""
    first = "played" if isinstance(curve, EmpiricalTradeOff) else "exact"
    return {first: curve} if claim is None else {first: curve, "claimed": claim}


def _named(curves: object) -> dict[str, Any]:
    """The curves by label."""
    if isinstance(curves, (EmpiricalTradeOff, AbstractTradeOff)):
        curves = [curves]
    if isinstance(curves, Mapping):
        named = {str(label): curve for label, curve in curves.items()}
    elif isinstance(curves, Sequence):
        named = {}
        for curve in curves:
            label = "played" if isinstance(curve, EmpiricalTradeOff) else _printed(curve, 40)
            named[label if label not in named else f"{label} ({len(named) + 1})"] = curve
    else:
        raise ValueError(
            f"curves is {kind_of(curves)}; it must be a trade-off curve, a list of them, or a dictionary from labels to them"
        )
    if not named:
        raise ValueError("curves is empty; it must hold at least 1 trade-off curve")
    for label, curve in named.items():
        if not isinstance(curve, (EmpiricalTradeOff, AbstractTradeOff)):
            raise ValueError(
                f"curves holds {kind_of(curve)} as {label!r}; every entry must be a trade-off curve"
            )
    return named


def _printed(curve: object, most: int) -> str:
    """The printed form of a curve, which matplotlib is not to take for a formula; of a long form the name of its type."""
    words = repr(curve)
    return visible(words if len(words) <= most else kind_of(curve), single_line=True).replace("$", r"\$")


def _strong(named: dict[str, Curve]) -> bool:
    """Whether the first curve hugs the axes of FNR on FPR."""
    first = next(iter(named.values()))
    if isinstance(first, EmpiricalTradeOff):
        return float(np.max(1.0 - first.alpha - first.beta, initial=0.0)) > _STRONG
    return first.advantage() > _STRONG


def _band_label(curve: EmpiricalTradeOff) -> str:
    return f"{100 * curve.confidence:.9g}% simultaneous band"


def _caption(named: dict[str, Curve]) -> str:
    """Games and bands of the played curves, and what is claimed; empty where nothing was played."""
    parts = []
    for label, curve in named.items():
        if isinstance(curve, EmpiricalTradeOff):
            games = f"{curve.out_games:,} out and {curve.in_games:,} in games"
            if curve.out_games == curve.in_games:
                games = f"{curve.out_games:,} games in each world"
            shaded = f"shaded: {_band_label(curve)} over {curve.thresholds.size} thresholds"
            parts.append(f"{games}; {shaded}" if len(named) <= 2 else f"{label}: {games}; {shaded}")
        elif label == "claimed":
            parts.append(f"dashed: {_printed(curve, 80)}")
    separator = "; " if len(parts) <= 2 else "\n"
    return separator.join(parts)
