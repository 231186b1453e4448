"""Azize & Basu (2025), figure 1: the angle between the target and the point that an attack is aimed at."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from figures import style, write
from figures.study_counts import Request

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DESCRIPTION = "sketch: the angle between target and aim, before and after correction by the covariance"
COVARIANCE = np.array([[1.6, 0.9], [0.9, 0.9]])
TARGET, AIM = np.array([2.2, 0.8]), np.array([1.2, 1.4])
HEADER = ("panel", "vector", "x", "y")
CAPTION_INCHES = 0.62


def draw(request: Request) -> tuple[Path, ...]:
    """Draw the sketch in both geometries, write the files; no game is played, so that scale and seed change nothing."""
    root = np.linalg.cholesky(COVARIANCE)
    whitened = np.linalg.inv(root)
    with style.journal():
        figure = style.blank(style.PAGE_INCHES * 0.82, 2.3 + CAPTION_INCHES)
        axes = figure.subplots(1, 2)
        bottom = (CAPTION_INCHES + 0.06) / figure.get_size_inches()[1]
        figure.subplots_adjust(left=0.01, right=0.99, top=0.92, bottom=bottom, wspace=0.05)
        rows = _panel(axes[0], "a", np.eye(2), root) + _panel(axes[1], "b", whitened, np.eye(2))
        style.letter(axes[0], "a", "the data's own units")
        style.letter(axes[1], "b", r"after $C_\sigma^{-1/2}$: the angle that counts")
        words = _caption(whitened)
        style.caption(figure, words, bottom_inches=CAPTION_INCHES, characters=130)
        return write.save(figure, request, "azize_fig1", caption=words, header=HEADER, rows=rows)


def _panel(axes: "Axes", tag: str, change: np.ndarray, root: np.ndarray) -> list[write.Row]:
    turn = np.linspace(0.0, 2 * np.pi, 200)
    circle = np.stack([np.cos(turn), np.sin(turn)])
    for radius in (0.6, 1.2, 1.8):
        axes.plot(*(radius * root @ circle), color=style.FAINT, linewidth=0.6, alpha=1.15 - radius / 2.2)
    rows: list[write.Row] = []
    result = []
    for name, vector, label, colour in (
        ("target", TARGET, r"$z^{\star}-\mu$", style.EASY),
        ("aim", AIM, r"$z^{\mathrm{targ}}-\mu$", style.HARD),
    ):
        tip = change @ vector
        result.append(np.arctan2(tip[1], tip[0]))
        arrow = {
            "arrowstyle": "-|>",
            "color": colour,
            "lw": 1.6,
            "shrinkA": 0,
            "shrinkB": 0,
            "mutation_scale": 11,
        }
        axes.annotate("", (tip[0], tip[1]), (0.0, 0.0), arrowprops=arrow)
        away = tip / np.linalg.norm(tip)
        axes.text(
            tip[0] + 0.1 * away[0],
            tip[1] + 0.1 * away[1],
            label,
            color=colour,
            ha="left",
            va="center",
            fontsize=10,
            bbox=style.CLEAR,
        )
        rows.append((tag, name, float(tip[0]), float(tip[1])))
    bend = np.linspace(result[0], result[1], 60)
    axes.plot(0.42 * np.cos(bend), 0.42 * np.sin(bend), color=style.INK, linewidth=0.9)
    middle = bend.mean()
    # Between two of the plotted contours, so that no box has to hide a line.
    place = 0.76 if tag == "b" else 1.38
    axes.text(
        place * np.cos(middle), place * np.sin(middle), r"$\theta$", ha="center", va="center", fontsize=11
    )
    axes.plot(0, 0, "o", color=style.INK, markersize=3)
    axes.text(-0.08, -0.12, r"$\mu$", ha="right", va="top", fontsize=10)
    axes.set_xlim(-2.6, 3.5)
    axes.set_ylim(-2.15, 2.35)
    axes.set_aspect("equal")
    axes.set_axis_off()
    return rows


def _caption(whitened: np.ndarray) -> str:
    left, right = whitened @ TARGET, whitened @ AIM
    cosine = float(left @ right / (np.linalg.norm(left) * np.linalg.norm(right)))
    plain = float(TARGET @ AIM / (np.linalg.norm(TARGET) * np.linalg.norm(AIM)))
    return (
        "After Azize & Basu (2025), Fig. 1, a sketch; no games. An attack aimed at z_targ keeps the share |cos θ| of the optimal "
        "√m*, with θ the angle between z* − μ and z_targ − μ after correction by the covariance: "
        f"cos θ = {cosine:.2f} in (b), where the same two vectors as shown in (a) have cosine {plain:.2f}. "
        "Ellipses: points of equal leakage score."
    )
