"""Experiments on why a figure differs from its paper: `python -m figures.differences [OUT]`; `reported.toml` states what they show.

- `azize_fig3_starts.csv`: figure 3 of Azize & Basu (2025) again, with other starts of the networks and other references. The paper states
  neither, nor the number of training records, and its areas are those of 100 runs of an attack.
- `leemann_fig2b_choices.csv`: figure 2b of Leemann et al. (2023) with the inverse covariance and the features of the authors' public code.
"""

import csv
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from figures.azize_fig3 import REPORTED
from figures.write import Row, table
from mipsim._files import replace_file
from sims import glir_choices, last_layers
from sims.gradient_epochs import RECORDS
from sims.gradient_spread import area, played_areas, start
from sims.gradients import ATTACKS, TARGETS
from sims.stored_values import storing_in

STARTS, NEIGHBOURS = 50, 2
RUNS = 100
"""Of an attack in Azize & Basu (2025), half of them with the target."""
SIZES = np.geomspace(20, 20_000, 61).round().astype(int)
CONFIDENCE = 0.95
BATCHES = 4
"""Of each of five models; the paper plays one."""


def azize_fig3(folder: Path) -> None:
    """Write the standard deviations that each target lies above the mean score, start by start; a killed run goes on."""
    rows: list[Row] = []
    for victim, records in RECORDS.items():
        images = records()
        for seed in range(STARTS):
            held = folder / "counts" / f"starts-{victim}-{seed}.npy"
            if not held.exists():
                held.parent.mkdir(parents=True, exist_ok=True)
                np.save(held, start(images, victim, seed, NEIGHBOURS))
            rows += [
                (victim, seed, target, rank, *map(float, pair))
                for target, ranks in zip(TARGETS, np.load(held).round(3), strict=True)
                for rank, pair in enumerate(ranks)
            ]
    words = (
        f"Figure 3 of Azize & Basu (2025) with {STARTS} starts of the network and as many references: standard deviations that a target's own score lies above "
        "the mean, the numbers from which areas at any n follow. The target of algorithm 3 is rank 0 for easy and hard, and rank "
        f"{NEIGHBOURS} for medium; other ranks are the images beside it."
    )
    header = ("victim", "seed", "target", "rank", *ATTACKS)
    replace_file(folder / "azize_fig3_starts.csv", table(words, header, rows))


def read_starts(lines: Sequence[str]) -> dict[str, np.ndarray]:
    """Victim -> what `azize_fig3` wrote, shape (starts, targets, ranks, attacks), from the lines of its table below the caption."""
    cells = list(csv.DictReader(lines))
    shape = (-1, len(TARGETS), 2 * NEIGHBOURS + 1, len(ATTACKS))
    return {
        victim: np.array(
            [[float(cell[name]) for name in ATTACKS] for cell in cells if cell["victim"] == victim]
        ).reshape(shape)
        for victim in RECORDS
    }


def of_targets(away: np.ndarray) -> np.ndarray:
    """The algorithm's own targets among ranks: shape (starts, targets, ranks, attacks) -> (starts, targets, attacks)."""
    return away[:, np.arange(len(TARGETS)), [0, NEIGHBOURS, 0]]


def expected(away: np.ndarray, n: int, comparisons: int, draws: int = 2000) -> np.ndarray:
    """Intervals of the areas that RUNS runs at a random start show, all of them at once at CONFIDENCE: shape (targets, attacks, 2).
    `away`: as `of_targets` has it; `n`: training records; `comparisons`: intervals that hold at once.
    """
    areas = area(away, n)
    played = played_areas(areas.reshape(-1), RUNS // 2, draws, seed=0).reshape(*areas.shape, draws)
    tail = (1.0 - CONFIDENCE) / (2 * comparisons)
    return np.quantile(
        np.moveaxis(played, 0, -1).reshape(*areas.shape[1:], -1), [tail, 1.0 - tail], axis=-1
    ).transpose(1, 2, 0)


def outside(reported: np.ndarray, intervals: np.ndarray, accuracy: float = 0.005) -> np.ndarray:
    """How far reported areas, known to that accuracy, lie outside their intervals: shape (targets, attacks), 0 inside."""
    return np.maximum(np.maximum(intervals[..., 0] - reported, reported - intervals[..., 1]) - accuracy, 0.0)


def best(reported: np.ndarray, intervals: list[np.ndarray]) -> tuple[list[int], int, np.ndarray]:
    """(the n of `SIZES` at which no reported area is outside, the n at which the farthest is the least far, intervals there).
    `intervals`: as `expected` has them, at each n.
    """
    off = [float(outside(reported, some).max()) for some in intervals]
    inside = [place for place, far in enumerate(off) if far == 0.0]
    at = inside[len(inside) // 2] if inside else int(np.argmin(off))
    return [int(SIZES[place]) for place in inside], int(SIZES[at]), intervals[at]


def azize_reasons(lines: Sequence[str]) -> dict[tuple[str, str, str], str]:
    """(victim, target, attack) -> what the experiment says of the reported area, from the lines of its table below the caption."""
    result: dict[tuple[str, str, str], str] = {}
    for victim, ranks in read_starts(lines).items():
        reported, away = np.array([REPORTED[victim][attack] for attack in ATTACKS]).T, of_targets(ranks)
        inside, n, intervals = best(reported, [expected(away, int(size), reported.size) for size in SIZES])
        areas, far = area(away, n), outside(reported, intervals)
        others = f"; so are all six of the panel from n = {inside[0]:,} to {inside[-1]:,}" if inside else ""
        for (row, column), value in np.ndenumerate(reported):
            (low, high), some = intervals[row, column], areas[:, row, column]
            alone = (
                ""
                if some.min() - 0.005 <= value <= some.max() + 0.005
                else " by the error of these runs alone"
            )
            where = f"inside{alone}{others}" if far[row, column] == 0.0 else "outside, unexplained"
            layer = (
                "; the paper's last layer has 4,080 parameters and ours 4,010" if victim == "cifar" else ""
            )
            result[victim, TARGETS[row], ATTACKS[column]] = (
                f"neither n nor the start of the network is stated, and the paper plays {RUNS} runs. At n = {n:,}, {STARTS} starts have areas of {some.min():.3f} to "
                f"{some.max():.3f}, and {RUNS} runs of them show {low:.3f} to {high:.3f} ({CONFIDENCE:.0%}, six areas at once): {value:.2f} is {where}. This n was picked of {SIZES.size} to fit{layer}"
            )
    return result


def leemann_fig2b(folder: Path) -> None:
    """Write the areas of five models by each choice of the inverse covariance, and of the features of Adult."""
    ways = {
        ("cifar", "ours"): last_layers.PROBLEMS["cifar"].features,
        ("adult", "ours"): last_layers.PROBLEMS["adult"].features,
        ("adult", "uniform"): glir_choices.uniform_features,
    }

    def rows() -> Iterator[Row]:
        for (which, features), build in ways.items():
            for model in range(last_layers.MODELS):
                areas = glir_choices.areas(build(model), model, last_layers.PROBLEMS[which].batch, BATCHES)
                yield which, features, model, *(areas[name] for name in glir_choices.INVERSES)

    words = (
        f"Areas of GLiR in figure 2b of Leemann et al. (2023), {last_layers.MODELS} models, the mean of {BATCHES} batches each: by Ledoit and Wolf's covariance, by "
        "the sample covariance, and by what the authors' public code inverts, L L' with L the lower triangle of the sample covariance."
    )
    with storing_in(folder / "counts"):
        found = list(rows())
    header = ("problem", "features", "model", *glir_choices.INVERSES)
    replace_file(folder / "leemann_fig2b_choices.csv", table(words, header, found))


def leemann_reason(lines: Sequence[str]) -> str:
    """By how much choices change the area on Adult, from the lines of its table below the caption: the figure itself has the area."""
    cells = [cell for cell in csv.DictReader(lines) if cell["problem"] == "adult"]

    def of(features: str, inverse: str) -> np.ndarray:
        return np.array([float(cell[inverse]) for cell in cells if cell["features"] == features])

    def less(features: str, inverse: str) -> str:
        lost = of("ours", "shrunk") - of(features, inverse)
        return f"{lost.mean():.3f} (SD {lost.std(ddof=1):.3f})"

    return (
        f"the authors' public code inverts L L', L the lower triangle of the covariance, where algorithm 1 inverts the covariance. On the same five models that inverse "
        f"takes {less('ours', 'triangle')} off the area, and {less('uniform', 'triangle')} with the code's uniform random features; those features alone take {less('uniform', 'shrunk')}, "
        f"and a covariance that is not shrunk {less('ours', 'sample')}"
    )


if __name__ == "__main__":
    out = Path(sys.argv[1] if len(sys.argv) > 1 else os.path.join("results", "figures"))
    out.mkdir(parents=True, exist_ok=True)
    leemann_fig2b(out)
    azize_fig3(out)
