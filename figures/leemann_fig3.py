"""Leemann et al. (2023), figure 3: test accuracy against mu, noise calibrated by GMIP and by GDP."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from figures import roc, style, write
from figures.study_counts import Request, Trainings, as_counts_error
from sims.leemann_utility import ARMS, CIFAR_KNOWN, MUS, SEEDS, SMALL_CLIP, SPREAD, TASKS, Task, sweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DESCRIPTION = "test accuracy against mu with noise calibrated by GMIP and by GDP (trained, no games)"
DATA = {"quick": ("Adult",), "standard": tuple(TASKS), "full": tuple(TASKS)}
"""What each scale draws: the features of CIFAR-10 take minutes."""
HEADER: write.Row = ("panel", "data", "curve", "mu", "accuracy", "standard_deviation")
LINES = dict(
    zip(
        ARMS,
        (
            {"color": style.HARD, "linewidth": 1.5},
            {"color": style.HARD, "linewidth": 1.0, "linestyle": (0, (3, 1.2))},
            {"color": style.EASY, "linewidth": 1.5},
            {"color": style.EASY, "linewidth": 1.0, "linestyle": (0, (3, 1.2))},
            {"color": style.FAINT, "linewidth": 0.8, "linestyle": ":"},
        ),
        strict=True,
    )
)


def draw(request: Request) -> tuple[Path, ...]:
    """Train the layers or read what is stored of them, draw a panel for each data set, write the files.
    Raises DataError where a data set is missing; MissingPackageError without Flax or Optax; CountsError if the state of a
    network belongs to another training, or a file cannot be written.
    """
    names = DATA[request.scale]
    trainings = Trainings("leemann_fig3", len(names) * SEEDS)
    result = {name: _accuracies(name, request, trainings) for name in names}
    rows: list[write.Row] = []
    wide = len(names) > 1
    caption_inches = 0.62 if wide else 0.95
    with style.journal():
        figure = style.blank(style.PAGE_INCHES if wide else 4.4, 2.5 + caption_inches)
        axes = np.atleast_1d(figure.subplots(1, len(names), sharey=True))
        bottom = (caption_inches + 0.42) / figure.get_size_inches()[1]
        figure.subplots_adjust(
            left=0.072 if wide else 0.115, right=0.985, top=0.94, bottom=bottom, wspace=0.2
        )
        for tag, place, (name, values) in zip("abc", axes, result.items(), strict=False):
            rows += _panel(place, tag, name, values)
            style.letter(place, tag, f"{name}, d = {TASKS[name].run.d:,}")
        axes[0].set(ylabel="test accuracy", ylim=(0.0, 0.9))
        known = axes[0].get_legend_handles_labels()[0] + roc.marks(band="standard deviation")
        axes[0].legend(handles=known, loc="lower right")
        words = _caption(request, result)
        style.caption(figure, words, bottom_inches=caption_inches, characters=158 if wide else 102)
        return write.save(figure, request, "leemann_fig3", caption=words, header=HEADER, rows=rows)


def _accuracies(name: str, request: Request, trainings: Trainings) -> np.ndarray:
    """Shape (seeds, arms, mus)."""
    result: list[np.ndarray] = []
    for seed in range(request.seed, request.seed + SEEDS):
        with as_counts_error(), trainings.counted(f"{name}, seed {seed}"):
            result.append(sweep(name, seed, request.counts))
    return np.stack(result)


def _panel(axes: "Axes", tag: str, name: str, values: np.ndarray) -> list[write.Row]:
    rows: list[write.Row] = []
    mean, spread = values.mean(axis=0), values.std(axis=0, ddof=1)
    for arm, middle, deviation in zip(ARMS, mean, spread, strict=True):
        axes.plot(MUS, middle, label=arm, **LINES[arm])
        if arm in ("GMIP", "GDP"):
            low, high = middle - deviation, middle + deviation
            axes.fill_between(MUS, low, high, color=LINES[arm]["color"], alpha=0.2, linewidth=0)
        numbers = zip(MUS, middle, deviation, strict=True)
        rows += [(tag, name, arm, *map(float, three)) for three in numbers]
    axes.set_xscale("log")
    axes.set_xlim(MUS[0], MUS[-1])
    axes.set_xlabel(r"privacy level $\mu$")
    return rows


def _caption(request: Request, trained: dict[str, np.ndarray]) -> str:
    gaps = []
    for name, values in trained.items():
        gmip, _, gdp, _, plain = values.mean(axis=0)
        at = int(np.argmax(gmip - gdp))
        gaps.append(
            f"{gmip[at] - gdp[at]:.3f} at μ = {MUS[at]:.2g} for {name}, where no noise gives {plain[0]:.3f}"
        )
    missing = [name for name in TASKS if name not in trained]
    left = (
        f" {' and '.join(missing)}, whose features take minutes, are left to scales standard and full."
        if missing
        else ""
    )
    return (
        "After Leemann et al. (2023), Fig. 3: test accuracy of a last layer trained by SGD whose noise makes it μ-GMIP at K = d or μ-GDP by equation 10; "
        f"mean and standard deviation of {SEEDS} seeds from {request.seed}. GMIP takes the lesser of the noises of GDP and of equation 9, which at small μ "
        f"asks for more (dashed blue). The printed C clips nothing, and GDP's noise grows with it; dashed red: GDP with C = {SMALL_CLIP:g}.{style.SETTINGS}"
        f"20 μ. {'; '.join(_settings(name, TASKS[name]) for name in trained)}. {_stand_ins(trained)}"
        f"That the lesser noise is enough is theorem 4.2. Largest gap of GMIP over GDP: {'; '.join(gaps)}. "
        f"{_small_clip(trained)} K = d is that of a typical record, not of the worst.{left}"
    )


def _settings(name: str, task: Task) -> str:
    run = task.run
    return f"{name}: C = {run.clip:g}, n = {run.batch:,}, N = {run.records:,}, {run.steps:,} steps ({run.epochs:.3g} epochs) at rate {task.rate:g}"


def _stand_ins(trained: dict[str, np.ndarray]) -> str:
    text = [
        f"Adult: 12 ordinal columns scaled to deviation {SPREAD:g}, before 512 frozen random tanh features; both published halves are pooled, 5,842 rows are for test; "
        "rate and deviation are the best of a few on these rows. "
    ]
    if "Location-30" in trained:
        text.append(
            "Location-30 stands in for Purchase, with its batch and steps: three layers, trained on the 10 rarest of 30 classes, the last anew on the "
            "20 others. "
        )
    if "CIFAR-10" in trained:
        text.append(
            "CIFAR-10: no CIFAR-100 and no ResNet-56 here; a narrow ResNet-9 on images of 16 x 16, trained on "
            f"{CIFAR_KNOWN:,} other records of CIFAR-10. "
        )
    return "".join(text)


def _small_clip(trained: dict[str, np.ndarray]) -> str:
    lost = []
    for name, values in trained.items():
        _, _, _, small, plain = values.mean(axis=0)
        place = int(np.searchsorted(MUS, 2.0))
        lost.append(f"{plain[place] - small[place]:.3f} ({name})")
    at = MUS[int(np.searchsorted(MUS, 2.0))]
    return (
        f"Dashed red: GDP with C = {SMALL_CLIP:g}, which at μ = {at:.2g} is {', '.join(lost)} below no noise."
    )
