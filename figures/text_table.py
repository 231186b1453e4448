"""A table of a paper as aligned text and as CSV."""

from collections.abc import Sequence
from pathlib import Path

from figures import write


def save(
    directory: Path, name: str, caption: str, header: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[Path, ...]:
    """Write NAME.txt and NAME.csv; returns their paths."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()

    text = "\n".join([caption, "", line(header), line(["-" * w for w in widths]), *map(line, rows), ""])
    paths = directory / f"{name}.txt", directory / f"{name}.csv"
    write.write_bytes(paths[0], text.encode())
    write.write_bytes(paths[1], write.table(caption, header, rows))
    return paths
