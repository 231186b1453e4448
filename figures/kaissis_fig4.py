"""Kaissis et al. (2023), figure 4: test accuracy of trained networks, the noise calibrated to two threat models."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from figures import style, write
from figures.study_counts import Request, Trainings, as_counts_error
from sims.kaissis_utility import ARMS, SEEDS, TASKS, Task, accuracy, needed, promised_epsilon

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DESCRIPTION = "accuracy on CIFAR-10, and on SNLI and ImageNet where they are, with noise for the relaxed threat model and for the DPTM (trained, no games)"
HEADER: write.Row = ("panel", "data", "threat_model", "noise_multiplier", "seed", "accuracy")
COLOURS = {"DPTM": style.EASY, "RTM": style.HARD}
CHANGES = {
    "standard": "nothing",
    "longer": "twice the steps",
    "wider": "twice the widths",
    "sharper": "images of 32 x 32",
    "augmented": "gradients over four mirrored and shifted views of each image",
}
"""Scale of panel a -> what differs from scale standard."""
DELTAS = {1e-5: "10⁻⁵", 1.8e-6: "1.8 10⁻⁶", 1e-6: "10⁻⁶"}


@dataclass(frozen=True)
class Job:
    """A training."""

    tag: str  # of its panel
    scale: str  # the name of its scale
    arm: str  # whose noise it has: of `ARMS`, or "no noise"
    seed: int

    @property
    def noise(self) -> float:
        """The noise multiplier."""
        return {**needed(TASKS[self.tag], self.scale), "no noise": 0.0}[self.arm]


@dataclass(frozen=True)
class Panel:
    """The results for a task."""

    tag: str  # its letter
    task: Task  # what was trained
    noises: dict[str, float]  # of each arm
    accuracies: dict[str, np.ndarray]  # of each arm, an accuracy for each seed


def draw(request: Request) -> tuple[Path, ...]:
    """Train the networks or read what is stored of them, draw the bars of each data set that is there, write the files.
    Raises DataError where CIFAR-10 is missing, or a file is not that published. Without SNLI or ImageNet their panels are
    left out; MissingPackageError without Flax or Optax; CountsError if a stored state belongs to another training, or
    cannot be written.
    """
    missing = {tag: task.lacking() for tag, task in TASKS.items()}
    compares, there = request.scale == "standard", [tag for tag in TASKS if not missing[tag]]
    seeds = range(request.seed, request.seed + SEEDS)
    jobs = [Job(tag, request.scale, arm, seed) for tag in there for arm in ARMS for seed in seeds]
    changed = [
        Job("a", name, arm, request.seed) for name in CHANGES for arm in (*ARMS, "no noise") if compares
    ]
    values = _trained(list(dict.fromkeys(jobs + changed)), request)
    panels = [
        Panel(
            tag,
            TASKS[tag],
            needed(TASKS[tag], request.scale),
            {arm: np.array([values[Job(tag, request.scale, arm, seed)] for seed in seeds]) for arm in ARMS},
        )
        for tag in there
    ]
    changes: list[write.Row] = [
        (job.scale, TASKS["a"].title, job.arm, job.noise, job.seed, values[job]) for job in changed
    ]
    words = _caption(request, panels, missing, changes)
    wide = len(panels) > 1
    inches = 0.6 if wide else 0.85
    rows = list(changes)
    with style.journal():
        figure = style.blank(style.PAGE_INCHES if wide else style.COLUMN_INCHES + 0.6, 2.4 + inches)
        axes = np.atleast_1d(figure.subplots(1, len(panels)))
        bottom = (inches + 0.26) / figure.get_size_inches()[1]
        figure.subplots_adjust(
            left=0.075 if wide else 0.13, right=0.985, top=0.93 if wide else 0.97, bottom=bottom, wspace=0.24
        )
        for place, panel in zip(axes, panels, strict=True):
            rows += _bars(place, panel, request.seed)
            if wide:
                style.letter(place, panel.tag, panel.task.title)
        axes[0].set_ylabel("test accuracy")
        axes[0].legend(loc="upper left")
        style.caption(figure, words, bottom_inches=inches, characters=158 if wide else 91)
        return write.save(figure, request, "kaissis_fig4", caption=words, header=HEADER, rows=rows)


def _trained(jobs: list[Job], request: Request) -> dict[Job, float]:
    """The accuracy of each; on a CPU two at once, since a training leaves much of the second core idle."""
    import jax

    trainings = Trainings("kaissis_fig4", len(jobs))
    noises = {job: job.noise for job in jobs}  # here, since filters of warnings are not of a thread alone

    def trained(job: Job) -> float:
        task = TASKS[job.tag]
        with trainings.counted(f"{task.title}, {job.scale}, {job.arm}, seed {job.seed}"):
            return accuracy(task, job.scale, noises[job], job.seed, request.counts)

    with as_counts_error(), ThreadPoolExecutor(2 if jax.default_backend() == "cpu" else 1) as pool:
        return dict(zip(jobs, pool.map(trained, jobs), strict=True))


def _bars(axes: "Axes", panel: Panel, first: int) -> list[write.Row]:
    rows: list[write.Row] = []
    for place, arm in enumerate(ARMS):
        values, noise = panel.accuracies[arm], panel.noises[arm]
        axes.bar(place, values.mean(), 0.55, color=COLOURS[arm], alpha=0.35)
        hidden = "_" * bool(place)  # of the legend, which names each mark a single time
        axes.errorbar(
            place,
            values.mean(),
            values.std(ddof=1),
            color=style.INK,
            capsize=3,
            linewidth=1.0,
            label=f"{hidden}mean and standard deviation",
        )
        reported = panel.task.reported[place]
        axes.hlines(reported, place - 0.275, place + 0.275, color=style.INK, linestyle=":")
        axes.text(place, reported + 0.02, f"paper, {reported:.2f}", ha="center", fontsize=7.5)
        axes.plot(
            place + np.linspace(-0.12, 0.12, len(values)),
            values,
            "o",
            color=COLOURS[arm],
            markersize=2.6,
            label=f"{hidden}a seed",
        )
        rows += [
            (panel.tag, panel.task.title, arm, noise, seed, float(value))
            for seed, value in enumerate(values, first)
        ]
    axes.set_xticks(range(len(ARMS)), [rf"{arm}, $\sigma = {panel.noises[arm]:.2f}$" for arm in ARMS])
    axes.set_xlim(-0.6, len(ARMS) - 0.4)
    axes.set_ylim(0.0, 1.0)
    return rows


def _caption(
    request: Request, panels: list[Panel], missing: dict[str, tuple[str, ...]], changes: list[write.Row]
) -> str:
    smaller = (
        ""
        if request.scale == "full"
        else " The networks and pictures are smaller than the paper's, which does not state its steps; scale full, for a GPU, has ResNet-9 with its own widths."
    )
    if changes:
        smaller += f" With a single change to panel a, seed {request.seed} alone, noise of the DPTM, of the RTM and none: {_compared(changes)}."
    return (
        f"After Kaissis et al. (2023), Fig. 4{''.join(panel.tag for panel in panels)}: test accuracy by DP-SGD, with noise for the promise in the DPTM and in the "
        f"relaxed threat model (RTM). Bars: mean of {SEEDS} seeds from {request.seed}, with the standard deviation; dotted: the paper's"
        f"{'' if request.scale == 'full' else ', of larger networks'}.{style.SETTINGS}Poisson batches and steps of Adam; in the relaxed threat model d = 1, and magnitudes are composed step by step. "
        f"{' '.join(_results(panel, request.scale) for panel in panels)}{smaller} "
        "Adam and its rate were chosen with a single seed of CIFAR-10's smallest scale and 2,000 of its test images, where plain SGD gave the RTM no more accuracy than the DPTM. "
        f"Against an attacker of the DPTM, or one who knows to which side the record moves the gradients, the noise of the RTM keeps ε = "
        f"{'; '.join(_guarantee(panel, request.scale) for panel in panels)}.{_left_out(missing)}"
    )


def _results(panel: Panel, name: str) -> str:
    task, scale = panel.task, panel.task.scales[name]
    text = ", ".join(
        f"{panel.accuracies[arm].mean():.3f} ± {panel.accuracies[arm].std(ddof=1):.3f} ({arm})"
        for arm in ARMS
    )
    side = 32 >> scale.halvings
    widths = ", ".join(map(str, scale.widths))
    if task.network == "residual":
        network, shape = f"ResNet-9 (widths {widths}; group norm)", f"images of {side} x {side}"
    else:
        network, shape = f"tanh layers (widths {widths}) on hashed words", "pairs of sentences"
    ours = "" if network.startswith(task.papers) else f" in the place of {task.papers}"
    return (
        f"{task.title}, ({task.epsilon:g}, {DELTAS[task.delta]}): {network}{ours}, {scale.records:,} {shape}, batches of {scale.batch:,}, {scale.steps:,} steps, "
        f"clip {scale.clip:g}, rate {scale.rate:g}: {text}; the paper has {_reported(task)}."
    )


def _compared(changes: list[write.Row]) -> str:
    return "; ".join(
        f"{words} {', '.join(f'{float(row[-1]):.3f}' for row in changes if row[0] == name)}"
        for name, words in CHANGES.items()
    )


def _guarantee(panel: Panel, name: str) -> str:
    scale, task = panel.task.scales[name], panel.task
    epsilon = promised_epsilon(panel.noises["RTM"], scale.sampling_rate, scale.steps, task.delta)
    return f"{epsilon:.2f}, not {task.epsilon:g} ({task.title})"


def _left_out(missing: dict[str, tuple[str, ...]]) -> str:
    text = [
        f"{tag} ({task.title}, {task.papers}; the paper has {_reported(task)}), since the data directory lacks {' and '.join(missing[tag])}"
        for tag, task in TASKS.items()
        if missing[tag]
    ]
    if not text:
        return ""
    return f" Not plotted: {'; '.join(text)}. What is not plotted has the code of panel a, tested on small stand-ins."


def _reported(task: Task) -> str:
    return " and ".join(f"{value:.2f} ({arm})" for arm, value in zip(ARMS, task.reported, strict=True))
