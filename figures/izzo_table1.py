"""Izzo et al. (2024), table 1: differential privacy and membership-inference privacy side by side, with numbers."""

from math import comb
from pathlib import Path

from figures import write
from figures.study_counts import Request
from mipsim.theory import izzo, izzo_example

DESCRIPTION = "DP and MIP side by side, as text, with numbers behind each entry (no games)"
ETA = 0.1
SIZE = 48
HEADER = ("", "DP", "MIP")


def draw(request: Request) -> tuple[Path, ...]:
    """Write the table as text and as CSV; no game is played, so that scale and seed change nothing."""
    rows = _rows()
    widths = [max(len(row[i]) for row in (HEADER, *rows)) for i in range(3)]
    line = "  ".join("-" * w for w in widths)
    lines = [
        "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in (HEADER, *rows)
    ]
    caption = _caption()
    text = "\n".join([caption, "", lines[0], line, *lines[1:], ""])
    paths = request.out / "izzo_table1.txt", request.out / "izzo_table1.csv"
    write.write_bytes(paths[0], text.encode())
    write.write_bytes(paths[1], write.table(caption, ("entry", *HEADER[1:]), rows))
    return paths


def _rows() -> list[tuple[str, str, str]]:
    epsilon = izzo.epsilon_from_eta(ETA)
    dp = izzo.dp_noise_scale(ETA, izzo_example.sensitivity(SIZE))
    mip = izzo.mip_noise_scale(ETA, izzo_example.moments(SIZE).variance[1] ** 0.5)
    return [
        ("Privacy guarantees", "Stronger", "Weaker"),
        (f"  at η = {ETA:g}", f"ε = {epsilon:.4f} implies it", "is the guarantee itself"),
        (
            f"  of 1{{D_train = D*}}, n = {SIZE}",
            "none: δ = 1 at every ε",
            f"η = {1 / comb(SIZE, SIZE // 2):.2g}",
        ),
        ("Noise required", "Sometimes higher", "Sometimes lower"),
        (f"  proposition 11, n = {SIZE}", f"Laplace scale {dp:.4g}", f"Laplace scale {mip:.4g}"),
        ("  the same, n = 12", *_small()),
        (
            "Relevant quantities",
            "Probability laws/hypothesis testing",
            "Subsampling and attacker performance",
        ),
    ]


def _small() -> tuple[str, str]:
    dp = izzo.dp_noise_scale(ETA, izzo_example.sensitivity(12))
    mip = izzo.mip_noise_scale(ETA, izzo_example.moments(12).variance[1] ** 0.5)
    return f"Laplace scale {dp:.4g}", f"Laplace scale {mip:.4g}"


def _caption() -> str:
    return (
        "After Izzo et al. (2024), table 1, whose entries are the lines without indent; the indented lines are numbers of this "
        f"project, exact and without games (M = 2, constant {izzo.CONSTANT_FROM_2:g}, η = {ETA:g})."
    )
