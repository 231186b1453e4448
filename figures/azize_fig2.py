"""Azize & Basu (2025), figure 2 (and 5d-f): the target, the noise and sub-sampling against the ROC curve."""

from pathlib import Path

from figures import roc, style, write
from figures.study_counts import Request, play
from mipsim.theory import azize

DESCRIPTION = "effect of the leakage score, of Gaussian noise and of sub-sampling on the ROC curve"
NOISE = (0.1, 0.5, 1.0)
RATES = (0.1, 0.5, 1.0)
FAMILY = 9
CAPTION_INCHES = 0.55


def draw(request: Request) -> tuple[Path, ...]:
    """Play or read the nine studies, draw the three panels, write the files."""
    panels = (
        ("a", "target", [_target(*kind, request) for kind in _TARGETS]),
        (
            "b",
            r"noise $\gamma$, easiest target",
            [_noisy(g, c, request) for g, c in zip(NOISE, style.ORDERED, strict=True)],
        ),
        (
            "c",
            r"sub-sampling $\rho$, easiest target",
            [_sampled(r, c, request) for r, c in zip(RATES, reversed(style.ORDERED), strict=True)],
        ),
    )
    with style.journal():
        figure = style.blank(style.PAGE_INCHES, 2.35 + CAPTION_INCHES)
        axes = figure.subplots(1, 3, sharey=True)
        bottom = (CAPTION_INCHES + 0.42) / figure.get_size_inches()[1]
        figure.subplots_adjust(left=0.066, right=0.982, top=0.92, bottom=bottom, wspace=0.14)
        rows: list[write.Row] = []
        for place, (tag, title, curves) in zip(axes, panels, strict=True):
            rows += roc.draw(place, curves, panel=tag, family=FAMILY)
            style.letter(place, tag, title)
            # Beside the curves there is little room: short lines, close to each other.
            corner = "lower right" if tag == "b" else "upper left"
            lines = place.get_legend_handles_labels()[0] + roc.marks(
                **({"printed": "as printed"} if tag == "c" else {})
            )
            place.add_artist(place.legend(handles=lines, loc=corner, handlelength=1.0, labelspacing=0.12))
        shown = roc.marks(games="games", band=f"{roc.CONFIDENCE:.0%} bands", theory="theory")
        axes[1].legend(handles=shown, loc="upper left", labelspacing=0.12)
        axes[0].set_ylabel("true positive rate")
        words = _caption(request)
        style.caption(figure, words, bottom_inches=CAPTION_INCHES, characters=158)
        return write.save(figure, request, "azize_fig2", caption=words, header=roc.HEADER, rows=rows)


_TARGETS = (("easy", style.EASY), ("medium", style.MEDIUM), ("hard", style.HARD))


def _target(kind: str, colour: str, request: Request) -> roc.Curve:
    played = play(f"azize_fig2_{kind}", request)
    score = played.leakage()
    label = rf"{kind}, $m^{{\star}} = {score:.2f}$"
    return roc.Curve(label, kind, colour, played, {roc.THEORY: azize.mean_tradeoff(score)})


def _noisy(gamma: float, colour: str, request: Request) -> roc.Curve:
    played = play(f"azize_fig2_noise_{gamma:g}", request)
    predicted = {roc.THEORY: azize.mean_tradeoff(played.leakage(gamma))}
    return roc.Curve(rf"$\gamma = {gamma:g}$", f"gamma={gamma:g}", colour, played, predicted)


def _sampled(rho: float, colour: str, request: Request) -> roc.Curve:
    played = play(f"azize_fig2_rho_{rho:g}", request)
    score = played.leakage()
    predicted = {
        roc.THEORY: azize.subsampled_tradeoff_corrected(score, rho),
        roc.PRINTED: azize.subsampled_tradeoff_printed(score, rho),
    }
    return roc.Curve(rf"$\rho = {rho:g}$", f"rho={rho:g}", colour, played, predicted)


def _caption(request: Request) -> str:
    mixture = style.unbroken("TPR = ρ Φ(Φ⁻¹(α) + √(m*/ρ)) + (1 − ρ) α")
    printed = style.unbroken("Φ(Φ⁻¹(α) + √(ρ m*))")
    return (
        f"After Azize & Basu (2025), Fig. 2. Solid: {request.games:,} games in each world per curve, seed {request.seed}; "
        f"shaded: {roc.CONFIDENCE:.0%} confidence bands, simultaneous over all FPRs and all nine curves. "
        f"Dashed: (a) theorem 3.1, (b) theorem 4.1, (c) the mixture {mixture}, as the target is "
        f"sampled with probability ρ. Dotted in (c): theorem 4.2 as printed, {printed}. "
        f"The two agree only at ρ = 1.{style.SETTINGS}"
        "Bernoulli data, n = 1000, d = 5000; covariance score, in (c) the exact likelihood ratio."
    )
