"""Writing a figure: PNG, SVG, PDF, its caption and the plotted numbers as CSV, each whole or not at all."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from figures.style import DPI
from mipsim._files import replace_file as write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = Sequence[str | float | int]


def save(
    figure: "Figure", directory: Path, name: str, *, caption: str, header: Row, rows: Sequence[Row]
) -> tuple[Path, ...]:
    """Write NAME.png (300 dpi), NAME.svg, NAME.pdf, NAME.csv and NAME.txt, which holds the caption; returns their paths.

    The CSV opens with the caption on a line that starts with "# "; numbers keep 10 significant digits.
    """
    svg, pdf = io.BytesIO(), io.BytesIO()
    about = {"Title": name, "Description": " ".join(caption.split())}
    # No date: the same numbers make the same file.
    figure.savefig(svg, format="svg", metadata={**about, "Date": None})
    figure.savefig(
        pdf, format="pdf", metadata={"Title": name, "Subject": about["Description"], "CreationDate": None}
    )
    contents = {
        "png": _png(figure, about),
        "svg": svg.getvalue(),
        "pdf": pdf.getvalue(),
        "csv": table(caption, header, rows),
        "txt": (about["Description"] + "\n").encode(),
    }
    for suffix, content in contents.items():
        write_bytes(directory / f"{name}.{suffix}", content)
    return tuple(directory / f"{name}.{suffix}" for suffix in contents)


def _png(figure: "Figure", about: dict[str, str]) -> bytes:
    """The PNG file's bytes, with 256 colours of its own: a third of the size, and the same to the eye."""
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    sample, small, notes = io.BytesIO(), io.BytesIO(), PngInfo()
    figure.savefig(sample, format="png", dpi=DPI)
    for key, text in about.items():
        notes.add_itxt(key, text)
    colours = Image.open(sample).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    colours.save(small, "PNG", optimize=True, dpi=(DPI, DPI), pnginfo=notes)
    return small.getvalue()


def table(caption: str, header: Row, rows: Sequence[Row]) -> bytes:
    """The CSV file's bytes."""
    text = io.StringIO()
    text.write("# " + " ".join(caption.split()) + "\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([f"{v:.10g}" if isinstance(v, float) else v for v in row] for row in rows)
    return text.getvalue().encode()
