"""Writing a figure: PNG, SVG, PDF, its caption and the plotted numbers as CSV, each whole or not at all."""

import csv
import io
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from figures.style import DPI, SETTINGS, without_caption
from mipsim._files import replace_file as write_bytes
from verify.report.versions import versions

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox
    from PIL import Image

    from figures.study_counts import Request

Row = Sequence[str | float | int]


def save(
    figure: "Figure", request: "Request", name: str, *, caption: str, header: Row, rows: Sequence[Row]
) -> tuple[Path, ...]:
    """Write NAME.png (300 dpi), NAME.svg, NAME.pdf, NAME.csv and NAME.txt, which holds the caption; returns their paths.

    The CSV opens with the caption and mipsim's version, on lines that start with "# "; numbers keep 10 significant digits. For a camera-ready
    version the pictures have no caption, and NAME.tex includes the PDF with it.
    """
    area = without_caption(figure) if request.camera_ready else None
    svg, pdf = io.BytesIO(), io.BytesIO()
    about = {"Title": name, "Description": " ".join(caption.split())}
    # No date: the same numbers make the same file.
    figure.savefig(svg, format="svg", bbox_inches=area, metadata={**about, "Date": None})
    described = {"Title": name, "Subject": about["Description"], "CreationDate": None}
    figure.savefig(pdf, format="pdf", bbox_inches=area, metadata=described)
    contents = {
        "png": _png(figure, about, area),
        "svg": svg.getvalue(),
        "pdf": pdf.getvalue(),
        "csv": table(caption, header, rows, request),
        "txt": (about["Description"] + "\n").encode(),
    }
    if area is not None:
        contents["tex"] = _latex(name, about["Description"].partition(SETTINGS)[0]).encode()
    for suffix, content in contents.items():
        write_bytes(request.out / f"{name}.{suffix}", content)
    return tuple(request.out / f"{name}.{suffix}" for suffix in contents)


@cache
def _made_by() -> str:
    """The version and, in a checkout, the commit."""
    made = versions()
    return f"mipsim {made['mipsim']}" + (f", commit {made['revision']}" if "revision" in made else "")


def _latex(name: str, caption: str) -> str:
    """A LaTeX figure of the PDF with its caption; symbols stay as they are, which LuaLaTeX and XeLaTeX read."""
    words = re.sub(r"([&%$#_{}])", r"\\\1", caption)
    return (
        "% \\usepackage{graphicx}; compile with lualatex or xelatex\n\\begin{figure}\n  \\centering\n"
        f"  \\includegraphics[width=\\textwidth]{{{name}.pdf}}\n  \\caption{{{words}}}\n  \\label{{fig:{name}}}\n\\end{{figure}}\n"
    )


def _png(figure: "Figure", about: dict[str, str], area: "Bbox | None") -> bytes:
    """The PNG file's bytes."""
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    sample, small, notes = io.BytesIO(), io.BytesIO(), PngInfo()
    figure.savefig(sample, format="png", dpi=DPI, bbox_inches=area)
    for key, text in about.items():
        notes.add_itxt(key, text)
    fewer_colours(Image.open(sample)).save(small, "PNG", optimize=True, dpi=(DPI, DPI), pnginfo=notes)
    return small.getvalue()


def fewer_colours(image: "Image.Image") -> "Image.Image":
    """The picture in 256 colours of its own, a third of the size. They are the farthest apart, then moved to the means of what they stand for: the most frequent would leave out those of thin lines."""
    from PIL import Image

    return image.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)


def table(caption: str, header: Row, rows: Sequence[Row], request: "Request | None" = None) -> bytes:
    """The CSV file's bytes; its first line names the version, the commit and, of a request, the scale and the seed."""
    text = io.StringIO()
    of = f", scale {request.scale}, seed {request.seed}" if request else ""
    text.write("# " + " ".join(caption.split()) + f" [{_made_by()}{of}]\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([f"{v:.10g}" if isinstance(v, float) else v for v in row] for row in rows)
    return text.getvalue().encode()
