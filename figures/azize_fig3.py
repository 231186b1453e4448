"""Azize & Basu (2025), figure 3: the covariance attack and the scalar product on gradients of networks at real images."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from figures import roc, style, write
from figures.study_counts import Played, Request, as_counts_error, play
from sims import gradient_epochs
from sims.gradient_epochs import RATE
from sims.gradient_spread import area as area_of
from sims.gradients import ATTACKS, BATCH, EPOCH, MEANS, TARGETS, VICTIMS, Victim, name_of, victims

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DESCRIPTION = "covariance attack and scalar product on gradients at Fashion-MNIST and CIFAR-10, three targets"
CAPTION_INCHES = 0.6
HEADER: write.Row = ("panel", "curve", "x", "y", "band_low", "band_high", "normal_approximation", "reported")
COLOURS = dict(zip(TARGETS, (style.EASY, style.MEDIUM, style.HARD), strict=True))
LINES = {"covariance": "-", "scalar": (0, (3, 1.2))}
WORDS = {"covariance": "covariance", "scalar": "scalar product"}
REPORTED = {
    "fashion": {"covariance": (1.00, 0.99, 0.76), "scalar": (0.71, 0.61, 0.57)},
    "cifar": {"covariance": (0.94, 0.77, 0.65), "scalar": (0.65, 0.64, 0.53)},
}
"""AUCs of the figure as the first author's thesis gives them, in the order of `TARGETS`."""
SIZES = np.unique(np.geomspace(16, 60_000, 120).astype(int))
BANDS = len(VICTIMS) * len(TARGETS) * len(ATTACKS) * (len(MEANS) + 1)
"""Of means, and of literal epochs."""
EPOCHS = {"quick": ("fashion",), "standard": ("fashion", "cifar"), "full": ("fashion", "cifar")}
"""Whose literal epochs are played: an epoch of CIFAR-10 takes a hundred times as long as of Fashion-MNIST."""
EPOCH_GAMES = {"quick": 300, "standard": 100, "full": 10_000}
"""Of literal epochs in each world, per curve; the paper plays 100."""


def draw(request: Request) -> tuple[Path, ...]:
    """Play or read the studies, draw two panels for each data set, write the files.
    Raises DataError where a data set is missing; CountsError if what is stored of the gradients or the games is corrupt,
    or of others, or cannot be written.
    """
    with as_counts_error():
        result = victims(request.counts)
        for which in EPOCHS[request.scale]:
            games = EPOCH_GAMES[request.scale]
            gradient_epochs.play_together(which, games, request.seed, request.counts, request.progress)
    rows: list[write.Row] = []
    with style.journal():
        figure = style.blank(style.PAGE_INCHES, 5.65 + CAPTION_INCHES)
        axes = figure.subplots(2, 2)
        bottom = (CAPTION_INCHES + 0.67) / figure.get_size_inches()[1]
        figure.subplots_adjust(left=0.075, right=0.955, top=0.965, bottom=bottom, wspace=0.2, hspace=0.36)
        for line, (which, victim) in enumerate(result.items()):
            left, right = axes[line]
            rows += _rocs(left, "ac"[line], which, request)
            rows += _areas(right, "bd"[line], which, victim, request)
            style.letter(left, "ac"[line], f"{victim.title}, d = {victim.dimension:,}, n = {BATCH}")
            style.letter(right, "bd"[line], f"{victim.title}, any n")
        axes[0, 0].legend(loc="lower right", labelspacing=0.12)
        shown = roc.marks(band=f"{roc.CONFIDENCE:.0%} bands", guessing="guessing")
        axes[1, 0].legend(handles=shown, loc="lower right")
        _marks(figure)
        words = _caption(request, result)
        style.caption(figure, words, bottom_inches=CAPTION_INCHES, characters=158)
        return write.save(figure, request, "azize_fig3", caption=words, header=HEADER, rows=rows)


def _rocs(axes: "Axes", panel: str, which: str, request: Request) -> list[write.Row]:
    """ROC curves of a single step on a batch, both axes logarithmic."""
    rows: list[write.Row] = []
    alpha = roc.grid(roc.lowest_fpr(request.games))
    for attack in ATTACKS:
        for target in TARGETS:
            played = play(name_of(which, target, attack, BATCH), request)
            low, high = _band(played, alpha)
            tpr, colour = played.power_at(alpha), COLOURS[target]
            axes.fill_between(alpha, low, high, color=colour, alpha=0.18, linewidth=0)
            axes.plot(alpha, tpr, color=colour, linestyle=LINES[attack], label=f"{target}, {WORDS[attack]}")
            series = zip(alpha, tpr, low, high, strict=True)
            rows += [(panel, f"{target} {attack}", *map(float, four), "", "") for four in series]
    axes.plot(alpha, alpha, color=style.FAINT, linewidth=0.5)
    roc.frame(axes, alpha[0])
    axes.set_yscale("log")
    axes.set_ylim(alpha[0], 1.15)
    axes.set_ylabel("true positive rate")
    return rows


def _areas(axes: "Axes", panel: str, which: str, victim: Victim, request: Request) -> list[write.Row]:
    """Areas under the curves against the number of gradients of the mean: played ones, their normal approximation, and those reported."""
    rows: list[write.Row] = []
    for line, attack in enumerate(ATTACKS):
        for place, target in enumerate(TARGETS):
            colour, name = COLOURS[target], f"{target} {attack}"
            # the intervals of literal epochs lie side by side
            beside = 1.25 * 1.15 ** (place + line * len(TARGETS))
            scores = victim.scores[:, place, ATTACKS.index(attack)]
            away = float((scores[victim.targets[place]] - scores.mean()) / scores.std())
            expected = area_of(away, SIZES)
            axes.plot(SIZES, expected, color=colour, linestyle=LINES[attack], linewidth=0.9)
            rows += [
                (panel, name, int(n), "", "", "", float(area), "")
                for n, area in zip(SIZES, expected, strict=True)
            ]
            for size, literal, played in _played(which, target, attack, request):
                area = played.area
                low, high = played.histogram.tradeoff(_level(), roc.THRESHOLDS).auc_interval()
                marker = "o" if attack == "covariance" else "s"
                axes.errorbar(
                    [size * (beside if literal else 1.0)],
                    [area],
                    [[max(area - low, 0)], [max(high - area, 0)]],
                    color=colour,
                    fmt=marker,
                    markersize=3,
                    markerfacecolor="white" if literal else colour,
                    elinewidth=0.5 if literal else None,
                )
                text = f"{name} literal epoch" if literal else name
                rows.append((panel, text, size, area, low, high, "", ""))
            reported = REPORTED[which][attack][place] if which in REPORTED else np.nan
            face = colour if attack == "covariance" else "white"
            # A column for each target, since areas of two targets are equal.
            axes.plot(
                [1.0 + 0.027 * place],
                [reported],
                "<",
                color=colour,
                markerfacecolor=face,
                markersize=4,
                clip_on=False,
                transform=axes.get_yaxis_transform(),
            )
            rows.append((panel, name, "", "", "", "", "", float(reported)))
    axes.set_xscale("log")
    axes.set_xlim(SIZES[0], SIZES[-1])
    axes.set_ylim(0.48, 1.02)
    axes.set_xlabel("gradients in the released mean, n")
    axes.set_ylabel("area under the ROC curve")
    return rows


def _marks(figure: "Figure") -> None:
    """Name every mark of the panels of areas."""
    from matplotlib.lines import Line2D

    marks = {
        "(b), (d): covariance": {"marker": "o", "linestyle": LINES["covariance"]},
        "scalar product": {"marker": "s", "linestyle": LINES["scalar"]},
        "literal epoch": {"marker": "o", "linestyle": "", "markerfacecolor": "white"},
        "thesis, n unknown": {"marker": "<", "linestyle": ""},
        "thesis, scalar product": {"marker": "<", "linestyle": "", "markerfacecolor": "white"},
    }
    handles = [
        Line2D([], [], color=style.INK, markersize=3.5, linewidth=0.9, **way) for way in marks.values()
    ]
    place = (0.5, (CAPTION_INCHES + 0.02) / figure.get_size_inches()[1])
    figure.legend(
        handles, marks, loc="lower center", ncols=len(marks), bbox_to_anchor=place, handlelength=2.4
    )


def _played(which: str, target: str, attack: str, request: Request) -> Iterator[tuple[int, bool, Played]]:
    """(records, whether the network is trained on them, counts): means of n gradients, and literal epochs where the scale has them."""
    for n in MEANS:
        yield n, False, play(name_of(which, target, attack, n), request)
    if which in EPOCHS[request.scale]:
        fewer = replace(request, fewer=EPOCH_GAMES[request.scale])
        yield EPOCH, True, play(name_of(which, target, attack, "epoch"), fewer)


def _most(victims: dict[str, Victim]) -> float:
    """The largest such area at the largest n."""
    return max(
        float(area_of((own - rest.mean()) / rest.std(), SIZES[-1]))
        for victim in victims.values()
        for place, at in enumerate(victim.targets)
        for own, rest in zip(victim.scores[at, place], victim.scores[:, place].T, strict=True)
    )


def _apart(victim: Victim) -> tuple[int, int]:
    """From which to which n the area of the covariance attack on the easiest target is at least .95 and that of the scalar product at most .8, by that approximation."""
    own, rest = victim.scores[victim.targets[0], 0], victim.scores[:, 0]
    strong, weak = (
        area_of(away, np.arange(2, SIZES[-1])) for away in (own - rest.mean(axis=0)) / rest.std(axis=0)
    )
    result = np.flatnonzero((strong >= 0.95) & (weak <= 0.8)) + 2
    return int(result[0]), int(result[-1])


def _level() -> float:
    return 1.0 - (1.0 - roc.CONFIDENCE) / BANDS


def _band(played: Played, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = played.histogram.tradeoff(_level(), roc.THRESHOLDS).band(alpha)
    return 1.0 - high, 1.0 - low


def _caption(request: Request, victims: dict[str, Victim]) -> str:
    apart = ", ".join("n = {:,} to {:,} ({})".format(*_apart(v), v.title) for v in victims.values())
    ridges = ", ".join(f"{v.ridge[0]:.2g} (weight {v.ridge[1]:.3f})" for v in victims.values())
    return (
        f"After Azize & Basu (2025), Fig. 3: attacks on the mean of n gradients of a network. (a), (c): a single step on a batch of {BATCH}; {request.games:,} games "
        f"in each world per curve, seed {request.seed}. (b), (d): area against n, played (filled marks), by the normal approximation (lines), by literal epochs "
        f"(hollow), and as the first author's thesis reports it for an epoch (triangles). Bands and intervals: {roc.CONFIDENCE:.0%} confidence, simultaneous over all "
        f"rates and all {BANDS} curves.{style.SETTINGS}"
        "networks at the start of their training (linear; three "
        "convolutions, of which the last layer is attacked), records sampled with replacement from the training images. Targets: largest, middle and "
        "least Mahalanobis score of algorithm 3. Mean and covariance from 1,000 other images, shrunk as Ledoit and Wolf do since 1,000 < d: "
        f"ridge {ridges}. Means are played at n = {', '.join(f'{n:,}' for n in MEANS)}. In a literal epoch {EPOCH // BATCH} steps "
        f"at rate {RATE:g} train the network on {EPOCH:,} records and scores are added over the steps, {EPOCH_GAMES[request.scale]:,} games in each world "
        f"({' and '.join(victims[which].title for which in EPOCHS[request.scale])}): they are where the means are. On the easiest target the covariance "
        f"attack's area is at least 0.95 and the scalar product's at most 0.8 for {apart}, by the normal approximation. The paper does not state the number of "
        f"training records: at a fixed model the areas fall as n grows, and by the normal approximation none is above {_most(victims):.2f} at "
        f"n = {SIZES[-1]:,}."
    )
