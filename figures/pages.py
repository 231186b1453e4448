"""The gallery of the documentation: `python -m figures.pages [FOLDER]` writes `docs/figures` and a table of `docs/findings.md` from stored results.

FOLDER was written by `python -m figures`, best with `--camera-ready`: its pictures (smaller), captions and numbers (compressed) are
stored first, in the place of those of the same figures. Without it nothing is stored. The pages, and the strip of README, follow from
what is stored alone: `figures.check` compares it anew with the papers.
"""

import gzip
import io
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from figures.__main__ import DATA, FIGURES, SCALES, SECONDS, description
from figures.check import NUMBER, OWN, SENTENCE, Checked, check, opened
from figures.style import SETTINGS
from figures.write import fewer_colours
from mipsim._files import replace_file
from mipsim.referee.reporting.wording import duration
from sims.process import between

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "figures"
STORED = FOLDER / "results"
WIDTH = 900
"""Of a stored picture, in pixels."""
PAPERS = {
    "azize": "Azize & Basu (2025)",
    "leemann": "Leemann et al. (2023)",
    "kaissis": "Kaissis et al. (2023)",
    "izzo": "Izzo et al. (2024)",
}
STRIP = ("azize_fig2", "leemann_fig1", "kaissis_fig3", "izzo_fig1")
"""What README shows."""
AGAINST_TITLES = {
    "Numbers that the authors report": (NUMBER,),
    "Sentences of theirs that a figure shows": (SENTENCE,),
    "Plots against a second computation of ours": (OWN,),
}
EXPERIMENTS = {"azize_fig3": "azize_fig3_starts", "leemann_fig2b": "leemann_fig2b_choices"}
"""Figure -> the stored table of `figures.differences` that its reasons quote."""
TRAINED = ("azize_fig3", "leemann_fig2b", "leemann_fig2c", "kaissis_fig4")
"""Figures of trained models whose numbers `findings.md` has."""
FINDINGS = ROOT / "docs" / "findings.md"
_MARKS = "<!-- gallery -->\n", "<!-- end of gallery -->\n"
_TRAINED_MARKS = (
    "<!-- trained figures: written by `python -m figures.pages` -->\n",
    "<!-- end of trained figures -->\n",
)
_NOTE = "<!-- written by `python -m figures.pages`: change that file, not this page -->\n"


def store(folder: Path) -> None:
    """Store the figures of a folder: of each the table of numbers, the caption and the picture."""
    STORED.mkdir(parents=True, exist_ok=True)
    for table in sorted(folder.glob("*.csv")):
        # No time and no name: the same numbers are the same file.
        replace_file(STORED / f"{table.name}.gz", gzip.compress(table.read_bytes(), mtime=0))
        for file in (table.with_suffix(".txt"), table.with_suffix(".png")):
            if file.exists():
                content = _smaller(file) if file.suffix == ".png" else file.read_bytes()
                replace_file(STORED / file.name, content)


def _smaller(picture: Path) -> bytes:
    from PIL import Image

    image, small = Image.open(picture).convert("RGB"), io.BytesIO()
    height = round(image.height * WIDTH / image.width)
    fewer_colours(image.resize((WIDTH, height), Image.Resampling.LANCZOS)).save(small, "PNG", optimize=True)
    return small.getvalue()


def texts(stored: Path = STORED) -> dict[Path, str]:
    """The pages, README with its strip and the findings with their table, by their paths: what the stored results give."""
    rows = check(stored, FIGURES)
    pages = {FOLDER / f"{paper}.md": _page(stored, paper, rows) for paper in PAPERS}
    return pages | {
        FOLDER / "index.md": _index(rows),
        ROOT / "README.md": between(
            (ROOT / "README.md").read_text("utf-8"), _MARKS[0], _strip(rows), _MARKS[1]
        ),
        FINDINGS: between(FINDINGS.read_text("utf-8"), _TRAINED_MARKS[0], _trained(rows), _TRAINED_MARKS[1]),
    }


def _trained(rows: Sequence[Checked]) -> str:
    lines = ["| figure | compared | numbers | verdict |", "|---|---|---|---|"]
    lines += [
        f"| [{row.figure}{f' ({row.panel})' * bool(row.panel)}](figures/{_paper(row.figure)}.md) | {_escaped(row.what)} | {_escaped(row.says)} | {row.verdict} |"
        for row in rows
        if row.figure in TRAINED and row.compares
    ]
    return "\n".join(lines) + "\n"


def counted(rows: Sequence[Checked]) -> str:
    """How many comparisons agree and what becomes of the others: those with what the authors report, and those with our own."""
    compared = [row for row in rows if row.compares]
    sentences = [
        f"{title}: {_counted(some)}"
        for title, kinds in AGAINST_TITLES.items()
        if (some := [row for row in compared if row.against in kinds])
    ]
    return ". ".join(sentences)


def _counted(rows: Sequence[Checked]) -> str:
    counts = Counter(row.verdict for row in rows)
    words = {
        "DIFFERS": ("differs", "differ"),
        "STAND-IN": ("uses other data or a smaller network", "use other data or a smaller network"),
        "NO RESULT": ("has no stored result", "have no stored result"),
    }
    rest = [f"{n} {words[verdict][n > 1]}" for verdict in words if (n := counts[verdict])]
    return f"{counts['AGREES']} of {counts.total()} {'agrees' if counts.total() == 1 else 'agree'}" + "".join(
        f"{', ' if text is not rest[-1] or len(rest) == 1 else ' and '}{text}" for text in rest
    )


def _strip(rows: Sequence[Checked]) -> str:
    pictures = "\n".join(
        f'<a href="docs/figures/{_paper(name)}.md#{name}">'
        f'<img src="docs/figures/results/{name}.png" alt="{description(name)}" width="{97 // len(STRIP)}%"></a>'
        for name in STRIP
    )
    return f"{pictures}\n\n`python -m figures` draws {len(FIGURES)} figures and tables. {counted(rows)}: [gallery](docs/figures/index.md).\n"


def _index(rows: Sequence[Checked]) -> str:
    kinds = (NUMBER, SENTENCE, OWN)
    table = [f"| paper | {' | '.join(kinds)} | no number to compare |", f"|{'---|' * (len(kinds) + 2)}"]
    for paper, title in PAPERS.items():
        own = [row for row in rows if _paper(row.figure) == paper]
        cells = [_counted(some) if (some := _of(own, kind)) else "-" for kind in kinds]
        table.append(
            f"| [{title}]({paper}.md) | {' | '.join(cells)} | {sum(not row.compares for row in own)} |"
        )
    return (
        f"{_NOTE}# Figures of the papers\n\n`python -m figures` draws {len(FIGURES)} figures and tables of the four papers. "
        f"Each panel is compared with what the paper reports, where it reports a number, and with a second computation of ours. Where a page says so, a corrected statement takes the place of the paper's. {counted(rows)}.\n\n"
        + "\n".join(table)
        + "\n\n"
        "- AGREES: within the simultaneous interval of the games, within the accuracy of a printed number, or, for a formula, within 1e-6 of a "
        "second computation with SciPy.\n"
        "- DIFFERS: outside it. The page states the distance, and the reason or that it is unsettled.\n"
        "- STAND-IN: with other data or at a smaller size than in the paper, so that nothing is judged.\n"
        "- NO RESULT: no result is stored. The page has the command.\n"
        "- DRAWING: the paper has a sketch, words or an illustration without numbers.\n\n"
        "`python -m figures all --camera-ready` draws all figures to `results/figures`, and `python -m figures --check` compares them. "
        "`python -m figures.pages results/figures` stores the results and writes these pages.\n\n"
        "Times are processor seconds (user and system), measured at the scales that a page names.\n\n"
        "```{toctree}\n:maxdepth: 1\n\n" + "\n".join(PAPERS) + "\n```\n"
    )


def _of(rows: Sequence[Checked], against: str) -> list[Checked]:
    return [row for row in rows if row.compares and row.against == against]


def _page(stored: Path, paper: str, rows: Sequence[Checked]) -> str:
    names = [name for name in FIGURES if _paper(name) == paper]
    own = [row for row in rows if row.figure in names]
    return (
        f"{_NOTE}# Figures of {PAPERS[paper]}\n\n{counted(own)}. [The words](index.md) AGREES, DIFFERS and STAND-IN are explained with the "
        "gallery.\n\n"
        + "\n".join(_figure(stored, name, [row for row in own if row.figure == name]) for name in names)
    )


def _figure(stored: Path, name: str, rows: Sequence[Checked]) -> str:
    parts = [f"## {name}", f"{_sentence(description(name))}."]
    table, made = stored / f"{name}.csv.gz", ""
    if table.exists():
        words = (stored / f"{name}.txt").read_text("utf-8").strip()
        with opened(stored / f"{name}.csv") as stream:
            made = stream.readline().rpartition("[")[2].strip(" ]\n")
        if (stored / f"{name}.png").exists():
            says, _, settings = map(_escaped, words.partition(SETTINGS))
            parts += [f"![{_escaped(description(name))}](results/{name}.png)", f"> {says}"]
            parts += (
                [f"<details><summary>Settings</summary>\n\n> {settings}\n\n</details>"] if settings else []
            )
        else:
            parts.append(f"```text\n{words}\n```")
    else:
        parts.append("No result of this figure is stored, since it trains networks; the command draws it.")
    lines = [
        "| panel | compared | against | numbers | verdict | in the paper |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.panel} | {_escaped(row.what)} | {row.against if row.compares else ''} | {_escaped(row.says)} | {row.verdict}{': ' if row.reason else ''}{_escaped(row.reason)} "
        f"| {_escaped(row.source)} |"
        for row in rows
    ]
    parts.append("\n".join(lines))
    times = [
        f"{scale} {duration(seconds)}" for scale in SCALES if (seconds := SECONDS.get(name, {}).get(scale))
    ]
    facts = [
        f"- command: `python -m figures {name}{_scale(made)}`"
        + (", with `MIPSIM_DATA` or `--fetch`" if name in DATA else ""),
        f"- processor time: {', '.join(times) or 'not measured'}",
        f"- code: [figures/{name}.py](../../figures/{name}.py)"
        + (f"; [plotted numbers](results/{name}.csv.gz), made by {made}" if made else ""),
    ]
    if experiment := EXPERIMENTS.get(name):
        facts.append(
            f"- experiment: [{experiment}](results/{experiment}.csv.gz), by `python -m figures.differences`"
        )
    return "\n\n".join([*parts, "\n".join(facts)]) + "\n"


def _scale(made: str) -> str:
    scale = re.search(r"scale (\w+)", made)
    return f" --scale {scale[1]}" if scale else ""


def _sentence(text: str) -> str:
    return _escaped(text[0].upper() + text[1:])


def _paper(name: str) -> str:
    return name.partition("_")[0] if "_" in name else "azize"


def _escaped(text: str) -> str:
    """Plain words as Markdown: nothing in them is emphasis, a formula, a link or a cell."""
    return re.sub(r"([\\`*_$\[\]|<>])", r"\\\1", text)


def main(arguments: Sequence[str]) -> None:
    """Store the results of the folders that are named, then write the pages and README."""
    for folder in arguments:
        store(Path(folder))
    for path, text in texts().items():
        replace_file(path, text.encode())


if __name__ == "__main__":
    main(sys.argv[1:])
