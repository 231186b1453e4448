"""`python -m figures [FIGURE ...]`: draw figures of the papers."""

if __name__ == "__main__":
    from mipsim._signals import begin

    begin()  # before JAX is imported, which takes seconds

import ast
import importlib
import json
import os
import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from figures import gallery
from mipsim._command_line import (
    BAD_ARGUMENTS,
    DONE,
    FAILED,
    PLACE,
    VERSION,
    Whole,
    complain,
    examples,
    run,
    say,
)
from mipsim._extras import MissingPackageError
from mipsim._signals import ended, ending_on_signals
from mipsim._words import no_such, plural, printable
from mipsim.referee.reporting.wording import duration
from sims.process import listing

FIGURES = (
    "azize_fig1",
    "azize_fig2",
    "azize_fig3",
    "azize_fig4",
    "azize_fig5",
    "azize_fig6",
    "azize_fig7",
    "azize_fig8",
    "azize_table1",
    "izzo_fig1",
    "izzo_table1",
    "kaissis_fig1",
    "kaissis_fig2",
    "kaissis_fig3",
    "kaissis_fig4",
    "leemann_fig1",
    "leemann_fig2a",
    "leemann_fig2b",
    "leemann_fig2c",
    "leemann_fig3",
    "leemann_table1",
    "leemann_table5",
    "verdict",
)
SCALES = ("quick", "standard", "full")
IMAGES, RECORDS = ("fashion-mnist", "cifar10"), ("cifar10", "location30", "adult")
DATA = {
    **dict.fromkeys(("azize_fig3", "azize_fig7", "azize_fig8"), IMAGES),
    **dict.fromkeys(("leemann_fig2b", "leemann_fig2c", "leemann_fig3"), RECORDS),
    "kaissis_fig4": ("cifar10",),
}
"""Figure -> the data sets that it reads from the data directory."""
PAPERS = tuple(dict.fromkeys(name.partition("_")[0] for name in FIGURES if "_" in name))
SECONDS = tomllib.loads(Path(__file__).with_name("seconds.toml").read_text("utf-8"))
"""Figure -> scale -> processor seconds, measured."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status.

    0 plotted, 1 where a disk is full, 2 bad arguments or stored counts, or figures whose data are missing (the others are plotted), 130 interrupted.
    """
    return run(figures, arguments, "python -m figures", "a figure cannot be written")


def _listed() -> list[str]:
    return [f"{name:<14} {description(name)}" for name in FIGURES]


@click.command(
    epilog=examples(
        "python -m figures azize",
        "python -m figures azize_fig2 leemann_fig1 --camera-ready",
        "python -m figures all --scale full --out plots",
        "python -m figures --check azize",
    ),
)
@click.argument("names", nargs=-1, metavar="[FIGURE|PAPER|all]...")
@click.option(
    "--scale",
    type=click.Choice(SCALES),
    default="quick",
    help="games in each world, per curve: quick 20,000, standard 200,000, full 1,000,000; of trained figures the size of what is trained",
)
@click.option(
    "--out",
    type=PLACE,
    metavar="DIR",
    default="results/figures",
    help="folder to write (default results/figures)",
)
@click.option("--seed", type=Whole(0, 2**63 - 1), default=0, help="seed of every study (default 0)")
@click.option(
    "--camera-ready", is_flag=True, help="pictures without captions, and a LaTeX snippet that includes them"
)
@click.option(
    "--fetch",
    "fetches",
    is_flag=True,
    help="download missing data sets first, to the folder that MIPSIM_DATA names, else to OUT/data",
)
@click.option(
    "--check",
    "checks",
    is_flag=True,
    help="plot nothing: compare the figures that an earlier run left in --out with the papers' numbers, and write check.json there",
)
@listing(_listed, "list the figures and exit")
@VERSION
def figures(
    names: tuple[str, ...],
    scale: str,
    out: str,
    seed: int,
    camera_ready: bool,
    fetches: bool,
    checks: bool,
) -> int:
    """Draw figures of the papers: PNG, SVG, PDF, the caption as text and the plotted numbers as CSV, and a page index.html with all of them.

    FIGURE is the name of a figure, PAPER is azize, leemann, kaissis or izzo. All figures are plotted if none is given.
    """
    chosen = _chosen(names)
    folder = Path(out)

    def interrupted() -> str:
        retained = any(path.is_file() for path in folder.rglob("*"))
        return f"interrupted; {'finished figures and all stored counts are whole' if retained else 'nothing is stored yet'}"

    with ending_on_signals(interrupted):
        # After the check of the words, so that a wrong word is reported at once.
        from figures.study_counts import Request
        from mipsim._files import writable_folder
        from mipsim.data import DataError

        if checks:
            return _check(writable_folder("--out", folder), chosen)
        request = Request(scale, seed, writable_folder("--out", folder), sys.stderr.isatty(), camera_ready)
        if fetches:
            _fetch(request.out, chosen)
        status = DONE
        time = _about(chosen, scale)
        say(f"{plural(len(chosen), 'figure')} at {scale}{f', {time} of processor time' if time else ''}.")
        for place, name in enumerate(chosen, 1):
            try:
                paths = importlib.import_module(f"figures.{name}").draw(request)
            except DataError as error:
                complain(
                    f"{name} is not plotted: {error}{'' if fetches else '; --fetch downloads what can be had'}"
                )
                status = BAD_ARGUMENTS
            except MissingPackageError as error:
                complain(f"{name} is not plotted: {error}")
                status = BAD_ARGUMENTS
            else:
                time = _about(chosen[place:], scale)
                rest = f"; {time} left" if time else ""
                files = f"{paths[0].stem}.{{{','.join(path.suffix[1:] for path in paths if path.stem == paths[0].stem)}}}"
                say(f"{name} ({place} of {len(chosen)}{rest}): {printable(request.out / files, 200)}")
        if any((request.out / f"{name}.csv").exists() for name in FIGURES):
            from figures.check import check

            plotted = _listed_names(request.out)
            page = gallery.write(request.out, plotted, check(request.out, plotted))
            say(f"page: {printable(page, 200)}")
        return status


def _fetch(out: Path, chosen: Sequence[str]) -> None:
    """Download the missing files of the data sets of these figures; what cannot be had is reported, and again by its figure."""
    from mipsim.data import DataError, fetch
    from mipsim.data.files import DIRECTORY

    folder = Path(os.environ.setdefault(DIRECTORY, str(out / "data")))
    folder.mkdir(parents=True, exist_ok=True)
    for dataset in dict.fromkeys(name for figure in chosen for name in DATA.get(figure, ())):
        say(f"fetching what is missing of {dataset} to {printable(folder)}")
        try:
            fetch(dataset, folder)
        except DataError as error:
            complain(str(error))


def _check(folder: Path, chosen: Sequence[str]) -> int:
    """Say of each panel whether it agrees with the paper; returns 1 if a panel differs and no reason is stated."""
    from figures.check import check
    from mipsim._files import replace_file

    rows = check(folder, chosen)
    if all(row.verdict == "NO RESULT" for row in rows):
        named = "" if len(chosen) == len(FIGURES) else f" {' '.join(chosen)}"
        complain(
            f"{printable(folder)} has none of these figures; plot them first: python -m figures{named} --out {folder}"
        )
        return BAD_ARGUMENTS
    for row in rows:
        panel = f"{row.figure}{f' ({row.panel})' if row.panel else ''}"
        against = f" (against {row.against})" if row.compares else ""
        say(f"{row.verdict:<9} {panel:<18} {row.what}{f': {row.says}' if row.says else ''}{against}")
        if row.reason:
            say(f"{'':<28} {row.reason}")
    for against in dict.fromkeys(row.against for row in rows if row.compares):
        counts = Counter(row.verdict for row in rows if row.compares and row.against == against)
        total = counts.total()
        text = f"{counts['AGREES']} of {plural(total, 'comparison')} agree{'s' * (total == 1)}"
        for verdict, words in (
            ("DIFFERS", "not"),
            ("STAND-IN", "by a stand-in"),
            ("NO RESULT", f"not plotted in {printable(folder)}"),
        ):
            text += f", {counts[verdict]} {words}" if counts[verdict] else ""
        say(f"against {against}: {text}")
    if rest := sum(not row.compares for row in rows):
        say(f"without a number to compare: {plural(rest, 'row')}")
    replace_file(
        folder / "check.json", (json.dumps([row.record() for row in rows], indent=1) + "\n").encode()
    )
    gallery.write(folder, _listed_names(folder), rows)
    return FAILED if any(row.unexplained for row in rows) else DONE


def _chosen(words: Sequence[str]) -> list[str]:
    """The figures that are named: each by itself, by its paper, or by "all"; all of them if none is."""
    chosen: list[str] = []
    for word in words or ("all",):
        known = [name for name in FIGURES if word in ("all", name, name.partition("_")[0])]
        if not known:
            raise ValueError(
                no_such(
                    "FIGURE", word, (*FIGURES, *PAPERS, "all"), "a paper, all, or a name that --list prints"
                )
            )
        chosen += known
    return list(dict.fromkeys(chosen))


def _about(names: Sequence[str], scale: str) -> str:
    """How long these figures take: more than the sum where some are not measured; "" where none is."""
    seconds = [SECONDS.get(name, {}).get(scale, 0) for name in names]
    return f"{'more than' if 0 in seconds else 'about'} {duration(sum(seconds))}" if any(seconds) else ""


def _listed_names(folder: Path) -> list[str]:
    return [name for name in FIGURES if (folder / f"{name}.csv").exists()]


def description(name: str) -> str:
    """The `DESCRIPTION` of a figure's file, read and not run: a list need not wait for JAX."""
    file = Path(__file__).with_name(f"{name}.py")
    for line in ast.parse(file.read_text("utf-8")).body:
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "DESCRIPTION":
            return ast.literal_eval(line.value)
    raise AttributeError(f"{file} assigns no DESCRIPTION")


if __name__ == "__main__":
    sys.exit(ended(main()))
