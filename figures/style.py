"""The same look for every figure: what a journal prints, readable in grey and by colour-blind readers."""

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

COLUMN_INCHES = 3.35
PAGE_INCHES = 6.9
DPI = 300

# The paper's red, green and blue for the targets, as far apart in lightness (54, 70, 25) as grey print needs.
EASY, MEDIUM, HARD = "#D55E00", "#52BE9B", "#0B3C6F"
# The easiest target again, from dark to light, for panels whose curves are ordered by a parameter.
ORDERED = ("#6E2F00", EASY, "#F2AE7F")
OUT, INSIDE = "#5B6770", "#D55E00"
INK, FAINT = "#222222", "#8A8F94"
DASH_DOT: Any = (0, (5, 1.4, 1, 1.4))
"""Dashes of a curve that is as dark as a solid curve of its panel in grey print."""
CLEAR: Any = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
"""The box of a label that lines pass: they stop beside it."""

_JOURNAL: dict[Any, Any] = {
    "figure.dpi": 100,
    "savefig.dpi": DPI,
    "font.family": "STIXGeneral",  # ships with matplotlib, so that every machine draws the same letters
    "mathtext.fontset": "stix",
    "font.size": 8.5,
    "axes.labelsize": 9,
    "axes.titlesize": 9,
    "axes.titlepad": 4,
    "axes.labelpad": 2.5,
    "axes.linewidth": 0.6,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "xtick.major.size": 2.8,
    "ytick.major.size": 2.8,
    "xtick.minor.size": 1.5,
    "ytick.minor.size": 1.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "legend.handlelength": 1.7,
    "legend.labelspacing": 0.3,
    "legend.borderaxespad": 0.2,
    "lines.linewidth": 1.1,
    "pdf.fonttype": 42,  # journals refuse Type 3 fonts
    "svg.fonttype": "path",  # letters as outlines: the SVG looks the same where the fonts are missing
    "svg.hashsalt": "mipsim",  # the same figure is the same file
}


SETTINGS = " Settings: "
"""Parts what a caption says from the settings, which pages fold and pictures leave out."""
CAPTION = "caption-inches-"
"""Opens the identifier of a caption in its figure; its height in inches follows."""
# What a caption's plain text (as in the CSV) becomes in print.
_TYPESET = {
    "Φ⁻¹": r"Φ$^{-1}$",
    "F⁻¹": r"F$^{-1}$",
    "n₀": r"$n_0$",
    "m*": r"$m^{\star}$",
    "z*": r"$z^{\star}$",
    "z_targ": r"$z^{\mathrm{targ}}$",
    "j⁻¹": r"$j^{-1}$",
    "10⁻⁵": r"$10^{-5}$",
    "10⁻⁶": r"$10^{-6}$",
}


@contextmanager
def journal() -> Iterator[None]:
    """The style's settings, in this scope only."""
    import matplotlib

    with matplotlib.rc_context(_JOURNAL):
        yield


def blank(width: float, height: float) -> "Figure":
    """An empty figure of that many inches; it belongs to no window and no global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def unbroken(formula: str) -> str:
    """The formula with spaces at which a caption does not break the line."""
    return formula.replace(" ", "\u00a0")


def caption(figure: "Figure", text: str, *, bottom_inches: float, characters: int) -> None:
    """Set the caption without its settings below the panels, wrapped, in the `bottom_inches` that the layout left free."""
    height = figure.get_size_inches()[1]
    lines = textwrap.fill(text.partition(SETTINGS)[0], characters)
    for plain, typeset in _TYPESET.items():
        lines = lines.replace(plain, typeset)
    figure.text(
        0.012,
        (bottom_inches - 0.06) / height,
        lines,
        va="top",
        ha="left",
        fontsize=7,
        linespacing=1.25,
        gid=f"{CAPTION}{bottom_inches}",
    )


def letter(axes: "Axes", tag: str, title: str) -> None:
    """Head a panel: its letter, then what it shows."""
    axes.set_title(f"({tag}) {title}", loc="left")


def without_caption(figure: "Figure") -> "Bbox":
    """Hide the caption; returns the part of the figure above it, in inches."""
    from matplotlib.transforms import Bbox

    width, height = figure.get_size_inches()
    bottom = 0.0
    for text in figure.texts:
        if str(text.get_gid()).startswith(CAPTION):
            text.set_visible(False)
            bottom = float(str(text.get_gid()).removeprefix(CAPTION))
    return Bbox.from_extents(0.0, bottom, width, height)
