"""Azize & Basu (2025), figure 8: the images that are easiest, medium and hardest to attack."""

from pathlib import Path

from figures import style, write
from figures.study_counts import Request, as_counts_error
from sims.gradients import TARGETS, victims

DESCRIPTION = "the easiest, medium and hardest target among the images of Fashion-MNIST and CIFAR-10"
CAPTION_INCHES = 0.55
HEADER: write.Row = ("data", "target", "image", "class", "mahalanobis")


def draw(request: Request) -> tuple[Path, ...]:
    """Draw a line of images for each data set, write the files.
    Raises DataError where a data set is missing; CountsError if what is stored of the gradients is corrupt, or of others,
    or cannot be written.
    """
    with as_counts_error():
        result = victims(request.counts)
    rows: list[write.Row] = []
    with style.journal():
        figure = style.blank(4.4, 3.3 + CAPTION_INCHES)
        axes = figure.subplots(2, 3)
        bottom = (CAPTION_INCHES + 0.1) / figure.get_size_inches()[1]
        figure.subplots_adjust(left=0.03, right=0.97, top=0.93, bottom=bottom, wspace=0.1, hspace=0.28)
        for line, victim in zip(axes, result.values(), strict=True):
            for axis, target, at, image, label in zip(
                line, TARGETS, victim.targets, victim.images, victim.labels, strict=True
            ):
                grey = image.shape[-1] == 1
                axis.imshow(
                    image[..., 0] if grey else image, cmap="gray_r" if grey else None, interpolation="nearest"
                )
                axis.set_title(f"{target}: {label}", fontsize=8)
                axis.set_axis_off()
                score = float(victim.mahalanobis[at])
                rows.append((victim.title, target, int(victim.pool[at]), label, score))
        words = (
            "After Azize & Basu (2025), Fig. 8: the training images of Fashion-MNIST (above) and CIFAR-10 (below) whose gradients have the largest, "
            "the middle and the least Mahalanobis score, at the start of training, with the moments of Fig. 7. No games are played."
        )
        style.caption(figure, words, bottom_inches=CAPTION_INCHES, characters=102)
        return write.save(figure, request, "azize_fig8", caption=words, header=HEADER, rows=rows)
