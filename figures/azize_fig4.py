"""Azize & Basu (2025), figure 4: the white-box federated learning threat model."""

from pathlib import Path
from typing import TYPE_CHECKING

from figures import style, write
from figures.study_counts import Request

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DESCRIPTION = "sketch: the white-box federated learning threat model"
HEADER = ("from", "to", "message")
MESSAGES: tuple[write.Row, ...] = (
    ("server", "client 1", "theta_t"),
    ("server", "client 2", "theta_t"),
    ("server", "client K", "theta_t"),
    ("server", "adversary", "theta_t, then theta_{t+1}"),
    ("client 1", "server", "g_{1,t}"),
    ("client 2", "server", "g_{2,t}"),
    ("client K", "server", "g_{K,t}"),
    ("adversary", "server", "g* with probability 1/2"),
)
CAPTION_INCHES = 0.62


def draw(request: Request) -> tuple[Path, ...]:
    """Draw the sketch, write the files; no game is played, so that scale and seed change nothing."""
    with style.journal():
        figure = style.blank(style.PAGE_INCHES * 0.82, 2.7 + CAPTION_INCHES)
        axes = figure.subplots()
        bottom = CAPTION_INCHES / figure.get_size_inches()[1]
        figure.subplots_adjust(left=0.0, right=1.0, top=1.0, bottom=bottom)
        axes.set_xlim(0.0, 10.0)
        axes.set_ylim(0.0, 4.8)
        axes.set_axis_off()
        _sketch(axes)
        words = _caption()
        style.caption(figure, words, bottom_inches=CAPTION_INCHES, characters=130)
        return write.save(figure, request, "azize_fig4", caption=words, header=HEADER, rows=MESSAGES)


def _sketch(axes: "Axes") -> None:
    average = r"$\theta_{t+1}=\theta_t-\eta\cdot$mean of the updates received"
    _box(axes, 5.0, 4.1, 5.6, 0.95, f"Server\n{average}", style.INK)
    places = (1.2, 3.5, 6.1)
    names = ("1", "2", "K")
    for x, name in zip(places, names, strict=True):
        _box(axes, x, 0.85, 1.7, 0.95, f"Client {name}\nlocal data", style.HARD)
        up = 3.1 + (x - 1.2) * 0.56
        _arrow(axes, (up - 0.14, 3.6), (x - 0.14, 1.36), style.FAINT)
        _arrow(axes, (x + 0.14, 1.36), (up + 0.14, 3.6), style.HARD)
        middle = (up + x) / 2
        axes.text(middle - 0.3, 2.5, r"$\theta_t$", ha="right", va="center", color=style.FAINT)
        axes.text(middle + 0.3, 2.5, rf"$g_{{{name},t}}$", ha="left", va="center", color=style.HARD)
    axes.text(4.8, 0.85, "…", ha="center", va="center", fontsize=13)
    _box(axes, 8.7, 0.85, 2.3, 0.95, "Adversary, a client too\n" r"canary $z^{\star}$", style.EASY)
    _arrow(axes, (7.32, 3.6), (8.42, 1.36), style.FAINT)
    _arrow(axes, (8.72, 1.36), (7.62, 3.6), style.EASY, dashed=True)
    axes.text(7.66, 2.38, r"$\theta_t,\ \theta_{t+1}$", ha="right", va="center", color=style.FAINT)
    axes.text(8.42, 2.6, "$g^{\\star}$ with\nprobability ½", ha="left", va="center", color=style.EASY)
    axes.text(
        8.7,
        0.16,
        r"sent or not, from $\theta_t,\ \theta_{t+1},\ g^{\star}$?",
        ha="center",
        va="center",
        fontsize=8,
    )


def _box(axes: "Axes", x: float, y: float, width: float, height: float, text: str, colour: str) -> None:
    from matplotlib.patches import FancyBboxPatch

    corner = (x - width / 2, y - height / 2)
    patch = FancyBboxPatch(
        corner, width, height, boxstyle="round,pad=0.02,rounding_size=0.12", fill=False, ec=colour, lw=1.1
    )
    axes.add_patch(patch)
    axes.text(x, y, text, ha="center", va="center", color=colour, linespacing=1.5)


def _arrow(
    axes: "Axes", tail: tuple[float, float], head: tuple[float, float], colour: str, dashed: bool = False
) -> None:
    look = {
        "arrowstyle": "-|>",
        "color": colour,
        "lw": 1.1,
        "ls": "--" if dashed else "-",
        "mutation_scale": 9,
    }
    axes.annotate("", head, tail, arrowprops=look | {"shrinkA": 0, "shrinkB": 0})


def _caption() -> str:
    return (
        "After Azize & Basu (2025), Fig. 4, a sketch; no games. At each step the server sends its model to every client and averages the "
        "updates. The adversary is a client: it computes the update of a canary, sends it with probability 1/2, and its "
        "attack must tell from the next model whether it was sent. This is the fixed-target game of a mean of gradients."
    )
