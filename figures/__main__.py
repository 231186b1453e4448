"""`python -m figures [FIGURE ...]`: draw figures of the papers."""

if __name__ == "__main__":
    from sims.process import begin

    begin()  # before JAX is imported, which takes seconds

import argparse
import ast
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from mipsim._close_names import close_names
from mipsim._streams import CommandParser, complain, reader_gone, say
from mipsim._words import shown

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
    options = _parser().parse_args(arguments)
    if options.list:
        try:
            for name in FIGURES:
                print(f"{name:<14} {_description(name)}")
            sys.stdout.flush()
        except BrokenPipeError:
            return reader_gone()
        return 0
    problem = _unknown(options.figures)
    if problem:
        complain(problem)
        return 2
    # After the check of the words, so that a wrong word is told at once.
    from figures.played import CountsError, Request
    from figures.write import writable_directory
    from mipsim._extras import MissingPackageError
    from mipsim._files import is_full
    from mipsim.data import DataError
    from sims.process import ending_on_signals

    try:
        request = Request(options.scale, options.seed, writable_directory(options.out), sys.stderr.isatty())
    except ValueError as error:
        complain(str(error))
        return 2
    lacking = 0
    try:
        with ending_on_signals(lambda: _interrupted(options.out)):
            for name in dict.fromkeys(options.figures or FIGURES):
                try:
                    paths = importlib.import_module(f"figures.{name}").draw(request)
                except (DataError, MissingPackageError) as error:
                    complain(f"{name} is not drawn: {error}")
                    lacking = 2
                    continue
                say(f"{name}: {', '.join(shown(path, 200) for path in paths)}")
    except CountsError as error:
        complain(str(error))
        return 1 if is_full(error.__cause__) else 2
    except OSError as error:
        complain(f"a figure cannot be written: {error.strerror or error}")
        return 1
    except KeyboardInterrupt:
        complain(_interrupted(options.out))
        return 130
    return lacking


def _interrupted(folder: Path) -> str:
    kept = any(path.is_file() for path in folder.rglob("*"))
    return f"interrupted; {'finished figures and the counts played so far are kept' if kept else 'nothing is stored yet'}"


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(
        prog="python -m figures",
        description="Draw figures of the papers: PNG, SVG, PDF, the caption as text and the plotted numbers as CSV.",
    )
    parser.add_argument(
        "figures", nargs="*", metavar="FIGURE", help="names of figures; all of them if none is given"
    )
    parser.add_argument(
        "--scale",
        choices=SCALES,
        default="quick",
        help="games in each world, per curve: quick 20,000, paper 500 (the paper's own), full 1,000,000; of trained figures the size of what is trained",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("results/figures"), help="folder to write (default %(default)s)"
    )
    parser.add_argument("--seed", type=_seed, default=0, help="seed of every study (default %(default)s)")
    parser.add_argument("--list", action="store_true", help="list the figures and exit")
    return parser


def _description(name: str) -> str:
    """The `DESCRIPTION` of a figure's file, read and not run: a list need not wait for JAX."""
    file = Path(__file__).with_name(f"{name}.py")
    for line in ast.parse(file.read_text("utf-8")).body:
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "DESCRIPTION":
            return ast.literal_eval(line.value)
    raise AttributeError(f"{file} assigns no DESCRIPTION")


def _seed(word: str) -> int:
    try:
        seed = int(word)
    except ValueError:
        seed = -1
    if not 0 <= seed < 2**63:
        raise argparse.ArgumentTypeError(f"{word!r}; it must be a whole number >= 0")
    return seed


def _unknown(names: Sequence[str]) -> str:
    for name in names:
        if name not in FIGURES:
            close = close_names(name, FIGURES, 3) or FIGURES
            return f"figure is {shown(repr(name))}; did you mean {', '.join(close)}?"
    return ""


if __name__ == "__main__":
    sys.exit(main())
