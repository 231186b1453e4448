"""`python -m figures [FIGURE ...]`: draw figures of the papers."""

if __name__ == "__main__":
    from mipsim._signals import begin

    begin()  # before JAX is imported, which takes seconds

import ast
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from mipsim._close_names import no_such
from mipsim._command_line import BAD_ARGUMENTS, DONE, PLACE, VERSION, Command, OneOf, run, whole
from mipsim._extras import MissingPackageError
from mipsim._signals import ending_on_signals
from mipsim._streams import complain, say
from mipsim._words import printable
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
SCALES = ("quick", "paper", "full")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status.

    0 drawn, 1 where a disk is full, 2 bad arguments or stored counts, or figures whose data are missing (the others are drawn), 130 interrupted.
    """
    return run(figures, arguments, "python -m figures", "a figure cannot be written")


def _listed() -> list[str]:
    return [f"{name:<14} {_description(name)}" for name in FIGURES]


@click.command(
    cls=Command,
    examples=[
        "python -m figures azize_fig2 leemann_fig1",
        "python -m figures azize_fig2 --scale full --out drawn",
    ],
)
@click.argument("names", nargs=-1, metavar="[FIGURE]...")
@click.option(
    "--scale",
    type=OneOf(SCALES),
    default="quick",
    help="games in each world, per curve: quick 20,000, paper 500 (the paper's own), full 1,000,000; of trained figures the size of what is trained",
)
@click.option(
    "--out", type=PLACE, default="results/figures", help="folder to write (default results/figures)"
)
@click.option("--seed", type=whole(bits=63), default=0, help="seed of every study (default 0)")
@listing(_listed, "list the figures and exit")
@VERSION
def figures(names: tuple[str, ...], scale: str, out: str, seed: int) -> int:
    """Draw figures of the papers: PNG, SVG, PDF, the caption as text and the plotted numbers as CSV.

    FIGURE is the name of a figure; all are drawn if none is given.
    """
    for name in names:
        if name not in FIGURES:
            raise ValueError(no_such("FIGURE", name, FIGURES, "a name that --list prints"))
    folder = Path(out)

    def interrupted() -> str:
        retained = any(path.is_file() for path in folder.rglob("*"))
        return f"interrupted; {'finished figures and the counts played so far are kept' if retained else 'nothing is stored yet'}"

    with ending_on_signals(interrupted):
        # After the check of the words, so that a wrong word is told at once.
        from figures.study_counts import Request
        from mipsim._files import writable_folder
        from mipsim.data import DataError

        request = Request(scale, seed, writable_folder("--out", folder), sys.stderr.isatty())
        status = DONE
        for name in dict.fromkeys(names or FIGURES):
            try:
                paths = importlib.import_module(f"figures.{name}").draw(request)
            except (DataError, MissingPackageError) as error:
                complain(f"{name} is not drawn: {error}")
                status = BAD_ARGUMENTS
                continue
            say(f"{name}: {', '.join(printable(path, 200) for path in paths)}")
        return status


def _description(name: str) -> str:
    """The `DESCRIPTION` of a figure's file, read and not run: a list need not wait for JAX."""
    file = Path(__file__).with_name(f"{name}.py")
    for line in ast.parse(file.read_text("utf-8")).body:
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "DESCRIPTION":
            return ast.literal_eval(line.value)
    raise AttributeError(f"{file} assigns no DESCRIPTION")


if __name__ == "__main__":
    sys.exit(main())
