"""What the commands share: click, examples and close names, a sentence for bad input, and the exit statuses."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import click

from mipsim._close_names import no_such
from mipsim._extras import MissingPackageError
from mipsim._files import is_full
from mipsim._signals import INTERRUPTED, LeavingOnCtrlC, last_status
from mipsim._streams import complain, drop_unwritten, reader_gone
from mipsim._version import __version__
from mipsim._words import printable

DONE, FAILED, BAD_ARGUMENTS = 0, 1, 2
"""All is done; something could not be judged or stored; an argument is wrong or data are missing."""

VERSION = click.version_option(__version__, "-V", "--version", message="mipsim %(version)s")


class Command(click.Command):
    """A command whose help ends with examples; `elsewhere` ends refusals with where to find what is often sought here."""

    def __init__(self, *given: Any, examples: Iterable[str] = (), elsewhere: str = "", **named: Any) -> None:
        super().__init__(*given, **named)
        self.examples, self.elsewhere = tuple(examples), elsewhere

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, and what stands below them."""
        if self.examples:
            with formatter.section("Examples"):
                formatter.write("".join(f"  {line}\n" for line in self.examples))  # never broken
        super().format_epilog(ctx, formatter)


class Group(Command, click.Group):
    """Commands under a common name; a mistyped name is answered with those that are spelt alike."""

    command_class = Command

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, subcommand_metavar="COMMAND ...", **named)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words, of which there must be some."""
        if not args:
            raise click.UsageError(f"COMMAND is missing; allowed: {', '.join(self.commands)}", ctx)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the command that the first word names."""
        if args[0] not in self.commands:
            refusal = no_such("COMMAND", args[0], self.commands)
            raise click.UsageError(refusal if refusal.endswith("?") else _also(refusal, self), ctx)
        return super().resolve_command(ctx, args)


class Word(click.ParamType):
    """What an option takes: a word that can be read as something, and else is answered with what is allowed."""

    def __init__(self, name: str, allowed: str, read: Callable[[Any], Any]) -> None:
        self.name, self._allowed, self._read = name, allowed, read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return self._read(value)
        except (_RefusedError, ValueError, OverflowError) as error:
            why = str(error) if isinstance(error, _RefusedError) else ""
            text = printable(value, 80)
            text = text if re.fullmatch(r"[\w.+-]+", text) else f"'{text}'"
            raise click.UsageError(f"{_label(param)} is {text}{why}; it must be {self._allowed}") from None


class _RefusedError(Exception):
    """A word is refused, and this is why."""


def whole(least: int = 0, bits: int | None = None) -> Word:
    """A whole number, which may be written as 1e6."""

    def read(word: Any) -> int:
        result = float(word) if "e" in str(word).lower() else int(word)
        if result != int(result) or result < least or (bits is not None and result >= 2**bits):
            raise ValueError
        return int(result)

    within = f">= {least}" if bits is None else f"in [{least}, 2^{bits})"
    return Word("n", f"a whole number {within}", read)


def number(low: float = -math.inf, high: float = math.inf, allowed: str = "") -> Word:
    """A number, strictly between two ends where they are given; `allowed` says what else its reader asks of it."""

    def read(word: Any) -> float:
        if not low < (result := float(word)) < high:
            raise ValueError
        return result

    return Word("x", allowed or f"a number in ({low:.15g}, {high:.15g})", read)


def confidence_level() -> Word:
    """A confidence; below 0.5 a failure probability was probably given instead."""

    def read(word: Any) -> float:
        if not 0.5 <= (result := float(word)) < 1.0:
            raise ValueError
        return result

    return Word("c", "a number in [0.5, 1), such as 0.95", read)


class OneOf(click.Choice):
    """A word of a list; another word is answered with those that are spelt alike.
    >>> OneOf(["quick", "full"]).convert("ful", None, None)
    Traceback (most recent call last):
        ...
    click.exceptions.UsageError: it is 'ful'; allowed: quick, full; did you mean full?
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value not in self.choices:
            raise click.UsageError(no_such(_label(param), str(value), map(str, self.choices)))
        return value


def _place(word: str) -> str:
    if not word:  # a variable of a shell that is not set
        raise ValueError
    return word


def _json(word: str) -> Any:
    try:
        return json.loads(word, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        why = "too deep" if isinstance(error, RecursionError) else getattr(error, "msg", str(error))
        raise _RefusedError(f", which is no JSON ({printable(why, 60)})") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, which may not give a name twice."""
    names = [name for name, _ in pairs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"{printable(twice[0])} has two values")
    return dict(pairs)


PLACE = Word("path", "the path of a file or a folder", _place)
POINT = Word("json", "a point such as '{\"n\": 10}'", _json)


def run(
    command: click.Command, arguments: Sequence[str] | None, name: str, writing: str = "", obj: Any = None
) -> int:
    """Run a command; whatever goes wrong is reported in a sentence on stderr."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        with (
            LeavingOnCtrlC(),
            command.make_context(
                name, given, obj=obj, help_option_names=["-h", "--help"], max_content_width=100
            ) as context,
        ):
            status = command.invoke(context)
        sys.stdout.flush()  # while a reader that has gone can be distinguished from a full disk
        return last_status() if status == INTERRUPTED else status or DONE
    except click.exceptions.Exit as stop:  # such as after --help
        return stop.exit_code
    except click.ClickException as error:
        complain(f"{name}: {_sentence(error)}")
        return BAD_ARGUMENTS
    except (ValueError, MissingPackageError) as error:
        complain(f"{name}: {error}")
        return FAILED if is_full(error.__cause__) else BAD_ARGUMENTS
    except BrokenPipeError:
        return reader_gone()
    except OSError as error:
        if drop_unwritten():
            writing = "the output cannot be written"
        file = printable(error.filename) if error.filename else ""
        complain(": ".join(filter(None, (name, writing, file, error.strerror or str(error)))))
        return FAILED if is_full(error) else BAD_ARGUMENTS
    except KeyboardInterrupt as stop:
        complain(str(stop) or f"{name}: interrupted")
        return last_status()


def _sentence(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    if isinstance(error, click.NoSuchOption) and context is not None:
        known = [option for item in context.command.get_params(context) for option in item.opts]
        named = [single for single in known if single.startswith("--")]
        allowed = f"an option that {context.command_path} --help lists"
        return _also(no_such("OPTION", error.option_name, named, allowed), context.command)
    if isinstance(error, click.MissingParameter):
        choices = getattr(getattr(error.param, "type", None), "choices", ())
        allowed = f"; allowed: {', '.join(choices)}" if choices else ""
        return _also(f"{_label(error.param)} is missing{allowed}", context and context.command)
    message = error.format_message().rstrip(".")
    if "unexpected extra argument" in message:  # a shell has split a value at its spaces
        message += "; a value that holds spaces needs quotes, such as --columns 'score=my loss,member=in'"
    return message


def _also(refusal: str, command: object) -> str:
    elsewhere = getattr(command, "elsewhere", "")
    return f"{refusal}{' ' if refusal.endswith('?') else '; '}{elsewhere}" if elsewhere else refusal


def _label(param: click.Parameter | None) -> str:
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return "it" if param is None else param.human_readable_name
