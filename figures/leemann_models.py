"""What figures 2b and 2c of Leemann et al. (2023) have in common: all data sets as the authors draw them, and a panel for each with a curve for each model."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import mipsim as mi
from figures import roc, style, write
from figures.study_counts import Request, play
from mipsim.theory import leemann
from sims import last_layers
from sims.last_layers import MODELS, PROBLEMS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MU = 1.14
"""mu_step of all three data sets, at K = d."""
CAPTION_INCHES = 0.62
OF_SETS = dict(zip(PROBLEMS, (style.MEDIUM, style.HARD, style.EASY), strict=True))
LINEAR = np.linspace(0.0, 1.0, 101)
COLOURS = ("#2D1160", "#7B2382", "#B5367A", "#E75263", "#F98C5A")


@dataclass(frozen=True)
class Panel:
    """A data set of a figure, as its caption tells it."""

    title: str
    # dimension, rank, batch: d, the axes along which gradients vary, and n
    dimension: int
    rank: int
    batch: int
    # background, pool: records that the moments are estimated from, and that games draw from
    background: int
    pool: int


def draw(
    request: Request,  # where to, and of which seed
    name: str,
    steps: int,  # whose scores are added
    games: dict[str, int],  # data set -> games in each world, for each model
    words: Callable[[list[Panel]], str],  # the caption of the panels
) -> tuple[Path, ...]:
    """Play or read the studies, draw a panel of all data sets and a panel for each, write the files.
    Raises DataError where a data set is missing.
    """
    mu = MU * steps**0.5
    root = "" if steps == 1 else rf"\sqrt{{{steps}}}"
    label, key = rf"analytic, $\mu = {MU}{root}$", f"mu={mu:.4g}"
    rows: list[write.Row] = []
    panels: list[Panel] = []
    with style.journal():
        figure = style.blank(style.PAGE_INCHES, 5.3 + CAPTION_INCHES)
        together, *axes = figure.subplots(2, 2).flat
        height = figure.get_size_inches()[1]
        figure.subplots_adjust(
            left=0.065,
            right=0.985,
            top=0.97,
            bottom=(CAPTION_INCHES + 0.7) / height,
            wspace=0.17,
            hspace=0.33,
        )
        power = 1.0 - mi.GaussianTradeOff(mu).beta(LINEAR)
        together.plot(LINEAR, LINEAR, color=style.FAINT, linewidth=0.5, label="guessing")
        together.plot(
            LINEAR, power, color="black", linewidth=0.9, linestyle=roc.DASHES[roc.PRINTED], label=label
        )
        rows += [("a", key, float(x), "", "", "", "", float(y)) for x, y in zip(LINEAR, power, strict=True)]
        for place, (which, problem) in enumerate(PROBLEMS.items()):
            requested, letter = replace(request, fewer=games[which]), "bcd"[place]
            curves = [
                roc.Curve(
                    f"model {model}",
                    f"model={model}",
                    colour,
                    play(last_layers.name_of(which, model, steps), requested),
                )
                for model, colour in zip(range(MODELS), COLOURS, strict=True)
            ]
            rows += _mean(together, which, np.stack([item.played.power_at(LINEAR) for item in curves]))
            of = last_layers.attacked(which, 0)
            rank = of.features.rank
            bound = leemann.step_tradeoff(rank, problem.batch, float(rank))
            here = axes[place]
            rows += roc.draw(here, curves, panel=letter, family=MODELS * len(PROBLEMS), together=True)
            mean = float(np.mean([item.played.area for item in curves]))
            rows.append((letter, "mean area", "", mean, "", "", bound.auc(), ""))
            alpha = roc.grid(roc.lowest_fpr(requested.games))
            known = {
                (key, label, roc.PRINTED): mi.GaussianTradeOff(mu),
                (f"theorem 5.1, rank {rank}", "theorem 5.1", roc.THEORY): bound,
            }
            for (text, shown, dashes), law in known.items():
                power = 1.0 - law.beta(alpha)
                here.plot(
                    alpha,
                    power,
                    color="black",
                    linewidth=0.9,
                    linestyle=roc.DASHES[dashes],
                    label=shown,
                )
                rows += [
                    (letter, text, float(a), "", "", "", *_column(dashes, float(p)))
                    for a, p in zip(alpha, power, strict=True)
                ]
            style.letter(
                here, letter, f"{problem.title}, d = {of.features.dimension:,}, n = {problem.batch:,}"
            )
            panels.append(
                Panel(
                    problem.title,
                    of.features.dimension,
                    rank,
                    problem.batch,
                    len(of.background),
                    len(of.pool),
                )
            )
        style.letter(together, "a", f"mean and standard deviation of {MODELS} models")
        together.set(
            xlim=(0.0, 1.0), ylim=(0.0, 1.0), xlabel="false positive rate", ylabel="true positive rate"
        )
        together.legend(loc="lower right")
        axes[1].set_ylabel("true positive rate")
        # Below the panels, where no curve lies.
        known = axes[0].get_legend_handles_labels()[0] + roc.marks(band=f"{roc.CONFIDENCE:.0%} bands")
        figure.legend(
            handles=known,
            loc="lower center",
            ncols=len(known),
            bbox_to_anchor=(0.52, (CAPTION_INCHES + 0.02) / height),
            columnspacing=1.0,
        )
        caption = words(panels)
        style.caption(figure, caption, bottom_inches=CAPTION_INCHES, characters=158)
        return write.save(figure, request, name, caption=caption, header=roc.HEADER, rows=rows)


def _mean(axes: "Axes", which: str, power: np.ndarray) -> list[write.Row]:
    """A data set as the authors draw it: the mean TPR of its models at each FPR, shaded to a standard deviation on both sides."""
    mean, spread, title = power.mean(axis=0), power.std(axis=0), PROBLEMS[which].title
    low, high = mean - spread, mean + spread
    axes.fill_between(LINEAR, low, high, color=OF_SETS[which], alpha=0.2, linewidth=0)
    axes.plot(LINEAR, mean, color=OF_SETS[which], label=title)
    series = zip(LINEAR, mean, low, high, strict=True)
    return [("a", f"{title}, mean and standard deviation", *map(float, four), "", "") for four in series]


def _column(dashes: str, power: float) -> tuple[str | float, str | float]:
    """The last two cells of a row of the CSV: theory and printed."""
    return (power, "") if dashes == roc.THEORY else ("", power)


def panels_of(games: int, seed: int) -> str:
    """What the panels show."""
    return (
        f"{games:,} games in each world per model, seed {seed}. (a) mean and standard deviation of five models, as the authors draw it; (b) to (d) each model. "
        f"Grey: what their {roc.CONFIDENCE:.0%} confidence bands cover, simultaneous over all FPRs and models. "
    )


def models(panels: list[Panel]) -> str:
    """What the networks are, and what the attacker knows of them."""
    cifar, location, adult = panels
    return (
        f"CIFAR-10: 64 features of four convolutions that were trained for {last_layers.EPOCHS} epochs on {last_layers.PRETRAINED:,} other images of it, since "
        f"CIFAR-100 is not at hand; Location-30 in the place of Purchase: 128 features of two tanh layers, trained on its ten smallest classes, the last layer is "
        f"for the {last_layers.LAST_CLASSES} others; Adult: 512 frozen random tanh features. The five models differ in the last layer, the background and the "
        f"features; those of CIFAR-10 share a single trained network, as those of the authors' public code do. Mean and covariance from {cifar.background:,}, {location.background:,} and {adult.background:,} background gradients at the start, "
        f"shrunk as Ledoit and Wolf do; games draw their records, with replacement, from the {cifar.pool:,}, {location.pool:,} and {adult.pool:,} others. "
    )


def bounds(panels: list[Panel]) -> str:
    """Why the curves lie where they do."""
    ranks = ", ".join(f"{item.rank:,}" for item in panels)
    location = panels[1]
    met = 1.0 - (1.0 - 1.0 / location.pool) ** location.batch
    return (
        f"The outputs' gradients add up to zero, so that gradients vary along {ranks} axes, not d: p-values are those of as many degrees of freedom, and theorem 5.1 has d = K = that rank. Location-30 has fewer background gradients ({location.background:,}) than axes: "
        f"along the others the covariance is what the shrinkage adds; and of so few records a target that is sampled anew is among the n by chance in {met:.0%} of the games."
    )
