"""The page index.html of a folder of figures: each with its caption and its files."""

import html
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from figures.style import SETTINGS
from mipsim._files import replace_file

if TYPE_CHECKING:
    from figures.check import Checked

SUFFIXES = ("svg", "pdf", "csv", "txt", "tex")
_HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self'; style-src 'unsafe-inline'">
<title>mipsim figures</title><style>
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
figure { margin: 0 0 3rem } img { max-width: 100%; background: white } figcaption { font-size: 0.9rem }
div { overflow-x: auto } table { border-collapse: collapse } td, th { padding: 0.2rem 0.6rem 0.2rem 0; text-align: left; vertical-align: top }
pre { overflow-x: auto; font-size: 0.85rem }
</style></head><body><h1>Figures</h1>
"""


def write(folder: Path, names: Sequence[str], checks: Sequence["Checked"]) -> Path:
    """Write the page from the files of these figures; returns its path.
    `folder`: where the figures are, and where the page goes; `names`: of figures that have been plotted there; `checks`:
    how they compare with the papers.
    """
    page = folder / "index.html"
    replace_file(
        page,
        (
            _HEAD
            + "".join(_figure(folder, name, [row for row in checks if row.figure == name]) for name in names)
            + "</body></html>\n"
        ).encode(),
    )
    return page


def _figure(folder: Path, name: str, checks: Sequence["Checked"]) -> str:
    words = (folder / f"{name}.txt").read_text("utf-8")
    picture = (folder / f"{name}.png").exists()
    files = " ".join(
        f'<a href="{name}.{suffix}">{suffix.upper()}</a>'
        for suffix in SUFFIXES
        if (folder / f"{name}.{suffix}").exists()
    )
    shown = f'<img src="{name}.png" alt="{name}">' if picture else f"<pre>{html.escape(words)}</pre>"
    says, _, settings = map(html.escape, words.partition(SETTINGS))
    folded = f"<details><summary>Settings</summary><p>{settings}</p></details>" if settings else ""
    caption = f"<p>{says}</p>{folded}" if picture else ""
    compared = "".join(
        f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in _cells(row))}</tr>" for row in checks
    )
    table = (
        f"<div><table><tr><th>panel<th>verdict<th>against<th>what<th>numbers<th>source</tr>{compared}</table></div>"
        if checks
        else ""
    )
    return f'<figure id="{name}"><h2>{name}</h2>{shown}<figcaption>{caption}{table}{files}</figcaption></figure>\n'


def _cells(row: "Checked") -> tuple[str, ...]:
    return (
        row.panel,
        row.verdict,
        row.against if row.compares else "",
        row.what,
        f"{row.says}. {row.reason}" if row.reason else row.says,
        row.source,
    )
