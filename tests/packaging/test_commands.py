"""What every command answers at once, and what it does when nobody reads on."""

import os
import pkgutil
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest

from mipsim import __version__

LAZY = ("mipsim", "mipsim.audits", "mipsim.referee")
HELP = (
    "mipsim --help",
    "mipsim --version",
    "verify --help",
    "sims --help",
    "figures --list",
)
ROOTS = {
    "mipsim": ("mipsim.referee.command", "mipsim"),
    "python -m sims": ("sims.__main__", "sims"),
    "python -m verify": ("verify.command", "verify"),
    "python -m figures": ("figures.__main__", "figures"),
}
"""What is typed -> the file of the command, and its name there."""


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command of the four, and each of their subcommands, with what is typed for it."""
    for name, (file, inside) in ROOTS.items():
        root = getattr(import_module(file), inside)
        yield name, root
        for word, item in getattr(root, "commands", {}).items():
            yield f"{name} {word}", item


@pytest.mark.parametrize(("name", "command"), [pytest.param(*pair, id=pair[0]) for pair in commands()])
def test_every_help_has_examples_that_are_right(name: str, command: click.Command) -> None:
    _, _, below = command.get_help(click.Context(command, info_name=name)).partition("Examples:\n")
    examples = [line.strip() for line in below.partition("\n\n")[0].splitlines()]
    assert examples
    known = dict(commands())
    for line in examples:
        assert line.startswith(name)
        typed = max((typed for typed in known if line.startswith(typed)), key=len)
        known[typed].make_context(typed, shlex.split(line.removeprefix(typed)))  # raises for a wrong word


@pytest.mark.parametrize("name", ROOTS)
@pytest.mark.parametrize("option", ["-V", "--version"])
def test_every_command_tells_its_version(name: str, option: str, capsys) -> None:
    assert import_module(ROOTS[name][0]).main([option]) == 0
    assert capsys.readouterr().out == f"mipsim {__version__}\n"


PROGRAM = """
import runpy, sys
sys.argv = {words!r}
try:
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
except SystemExit as stop:
    assert not stop.code, stop.code
assert "jax" not in sys.modules
"""


@pytest.mark.parametrize("words", HELP)
def test_help_and_lists_do_not_wait_for_jax(root: Path, words: str) -> None:
    code = PROGRAM.format(words=words.split())
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines == ["mipsim " + __version__] if "--version" in words else len(lines) > 5


@pytest.mark.parametrize("package", LAZY)
def test_no_public_name_is_called_like_a_file_beside_it(package: str) -> None:
    """Importing the file would put it in the name's place."""
    module = import_module(package)
    files = {result.name for result in pkgutil.iter_modules(module.__path__)}
    modules = {
        name for name in module.__all__ if getattr(module, name) is sys.modules.get(f"{package}.{name}")
    }
    assert set(module.__all__) & files <= modules
    with pytest.raises(AttributeError, match=r"attribute '?nonsense"):
        module.nonsense  # noqa: B018
    packages = {value.name for value in pkgutil.iter_modules(module.__path__) if value.ispkg}
    assert set(dir(module)) == set(module.__all__) | (packages if package == "mipsim" else set())
    if package == "mipsim":
        assert {"referee", "audits", "data", "nn", "theory"} <= packages


@pytest.mark.system
@pytest.mark.parametrize("words", ["figures --list", "sims list", "verify --list"])
def test_a_reader_that_leaves_ends_a_list_without_a_word(root: Path, words: str) -> None:
    command, pipe = [sys.executable, "-m", *words.split()], subprocess.PIPE
    with subprocess.Popen(command, cwd=root, stdout=pipe, stderr=pipe, text=True) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()  # before a line is written, as `| head -0`
        text = running.stderr.read()
        assert running.wait(timeout=120) == 141
        assert text == ""


@pytest.mark.system
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full")
@pytest.mark.parametrize("words", ["mipsim --version", "sims --help", "sims list", "figures --list"])
def test_output_to_a_full_disk_is_a_single_sentence_and_status_1(root: Path, words: str) -> None:
    buffered = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-m", *words.split()]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, cwd=root, env=buffered, stdout=full, stderr=subprocess.PIPE, text=True)
    name = "mipsim" if "mipsim" in words else f"python -m {words.split()[0]}"
    assert done.returncode == 1
    assert done.stderr.startswith(f"{name}: ")
    assert done.stderr.endswith(": No space left on device\n")
    assert done.stderr.count("\n") == 1
