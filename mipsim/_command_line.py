"""What the commands share: types of arguments, output that steers no terminal, a sentence for bad input, and the exit statuses."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import click

from mipsim._extras import MissingPackageError
from mipsim._files import is_full
from mipsim._signals import INTERRUPTED, last_status
from mipsim._version import __version__
from mipsim._words import printable, shortened, visible

DONE, FAILED, BAD_ARGUMENTS = 0, 1, 2
"""All is done; something could not be judged or stored; an argument is wrong or data are missing."""
READER_GONE = 141
"""128 + the number of SIGPIPE, which is how a shell tells it of other programs."""
MOST = 400
"""Characters of a sentence on stderr; of a longer sentence the middle is left out."""

VERSION = click.version_option(__version__, "-V", "--version", message="mipsim %(version)s")


def examples(*lines: str, after: str = "") -> str:
    """The end of a command's help: examples, none of which is broken, and what stands below them."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines), "", after])


class Whole(click.IntRange):
    """A whole number, which may be written as 1e6."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number: Any = value
        with suppress(ValueError, OverflowError):
            if isinstance(value, str) and "e" in value.lower() and float(value).is_integer():
                number = int(float(value))
        return super().convert(number, param, ctx)


class Number(click.FloatRange):
    """A number within a range, which NaN is not."""

    def _describe_range(self) -> str:
        return "" if self.min is None and self.max is None else super()._describe_range()

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        result = super().convert(value, param, ctx)
        return result if result == result else self.fail("it is NaN; it must be a number", param, ctx)


CONFIDENCE_LEVEL = Number(0.5, 1.0, max_open=True)
"""Below 0.5 a failure probability was probably given instead."""


def _place(word: str) -> str:
    """The path of a file or a folder."""
    if not word:
        raise click.BadParameter("it is empty, as a variable of a shell that is not set; it must be a path")
    return word


def _point(word: str) -> Any:
    """A point such as '{"n": 10}'."""
    try:
        return json.loads(word, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        why = "too deep" if isinstance(error, RecursionError) else getattr(error, "msg", str(error))
        raise click.BadParameter(
            f"{printable(repr(word), 80)} is no JSON ({printable(why, 60)}); it must be a point such as '{{\"n\": 10}}'"
        ) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, which may not give a name twice."""
    names = [name for name, _ in pairs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"{printable(twice[0])} has two values")
    return dict(pairs)


PLACE, POINT = click.types.FuncParamType(_place), click.types.FuncParamType(_point)


def say(text: str) -> None:
    """Print a result, which may hold names of files and words of statements, on stdout."""
    print(visible(text), flush=True)


def complain(sentence: str) -> None:
    """Print what is wrong on a single line of stderr, if anybody listens there."""
    with suppress(OSError, ValueError):
        print(shortened(visible(sentence, single_line=True), MOST), file=sys.stderr, flush=True)


def _by_options(sentence: str, command: click.Command, given: Sequence[str]) -> str:
    """A sentence about a function's argument, named as the option is."""
    for option in getattr(command, "commands", {}).get(next(iter(given), ""), command).params:
        if isinstance(option, click.Option) and sentence.startswith(f"{option.name} "):
            return f"{max(option.opts, key=len)}{sentence[len(option.name or '') :]}"
    return sentence


def run(
    command: click.Command, arguments: Sequence[str] | None, name: str, writing: str = "", obj: Any = None
) -> int:
    """Run a command; whatever goes wrong is reported in a sentence on stderr."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    out: Any = sys.stdout
    with suppress(AttributeError):
        out.reconfigure(errors="backslashreplace")  # a terminal may know fewer characters
    how: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
    try:
        with command.make_context(name, given, obj=obj, **how) as context:
            status = command.invoke(context)
        sys.stdout.flush()  # while a reader that has gone can be distinguished from a full disk
        return last_status() if status == INTERRUPTED else status or DONE
    except click.exceptions.Exit as stop:  # such as after --help
        return stop.exit_code
    except click.ClickException as error:
        complain(f"{name}: {error.format_message()}")
        return BAD_ARGUMENTS
    except (ValueError, MissingPackageError) as error:
        complain(f"{name}: {_by_options(str(error), command, given)}")
        return FAILED if is_full(error.__cause__) else BAD_ARGUMENTS
    except OSError as error:
        try:
            sys.stdout.flush()
        except OSError:  # the reader is gone, or the disk is full: what is left goes nowhere, else Python complains when it ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            writing = "the output cannot be written"
        if isinstance(error, BrokenPipeError):
            return READER_GONE
        file = printable(error.filename) if error.filename else ""
        complain(": ".join(filter(None, (name, writing, file, error.strerror or str(error)))))
        return FAILED if is_full(error) else BAD_ARGUMENTS
    except MemoryError:
        complain(f"{name}: there is not enough memory")
        return FAILED
    except KeyboardInterrupt as stop:
        complain(str(stop) or f"{name}: interrupted")
        return last_status()
