"""Azize & Basu (2025), figure 7: histograms of the Mahalanobis scores of the gradients at real images."""

from pathlib import Path

import numpy as np

from figures import style, write
from figures.study_counts import Request, as_counts_error
from sims.gradients import REFERENCES, TARGETS, victims

DESCRIPTION = "histograms of the Mahalanobis scores of gradients at Fashion-MNIST and CIFAR-10"
CAPTION_INCHES = 0.55
BINS = 60
HEADER: write.Row = ("panel", "left", "right", "images")
COLOURS = dict(zip(TARGETS, (style.EASY, style.MEDIUM, style.HARD), strict=True))


def draw(request: Request) -> tuple[Path, ...]:
    """Draw a panel for each data set, write the files.
    Raises DataError where a data set is missing; CountsError if what is stored of the gradients is corrupt, or of others,
    or cannot be written.
    """
    with as_counts_error():
        result = victims(request.counts)
    rows: list[write.Row] = []
    with style.journal():
        figure = style.blank(style.PAGE_INCHES, 2.46 + CAPTION_INCHES)
        axes = figure.subplots(1, 2)
        bottom = (CAPTION_INCHES + 0.48) / figure.get_size_inches()[1]
        figure.subplots_adjust(left=0.08, right=0.985, top=0.92, bottom=bottom, wspace=0.18)
        for place, tag, victim in zip(axes, "ab", result.values(), strict=True):
            scores = victim.mahalanobis
            edges = np.geomspace(scores.min() * 0.999, scores.max() * 1.001, BINS + 1)
            counts = np.histogram(scores, edges)[0]
            place.stairs(counts, edges, fill=True, color=style.OUT, alpha=0.25)
            for target, at, dashes in zip(TARGETS, victim.targets, ("-", "--", "-."), strict=True):
                label = f"{target}: {scores[at]:,.0f}"
                place.axvline(scores[at], color=COLOURS[target], linestyle=dashes, linewidth=1.3, label=label)
            place.set(xscale="log", xlabel=r"Mahalanobis score $\|g - \hat\mu_0\|^2$ in $\hat C_0^{-1}$")
            place.legend(loc="upper left", bbox_to_anchor=(0.06, 1.0), handlelength=1.4, title="target")
            style.letter(place, tag, f"{victim.title}, {len(scores):,} images")
            rows += [
                (tag, float(a), float(b), int(count))
                for a, b, count in zip(edges, edges[1:], counts, strict=False)
            ]
        axes[0].set_ylabel("images")
        words = (
            "After Azize & Basu (2025), Fig. 7: Mahalanobis scores of the gradients of a network at the start of its training at every training "
            f"image but {REFERENCES:,}, which give the mean and the covariance, shrunk as Ledoit and Wolf do; their "
            "size depends on the ridge. No games are played."
        )
        style.caption(figure, words, bottom_inches=CAPTION_INCHES, characters=158)
        return write.save(figure, request, "azize_fig7", caption=words, header=HEADER, rows=rows)
