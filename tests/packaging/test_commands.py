"""What every command answers at once, and what it does when nobody reads on."""

import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

LAZY = ("mipsim", "mipsim.audits", "mipsim.referee")
HELP = (
    ("mipsim", "--help"),
    ("mipsim", "hunt", "--help"),
    ("verify", "--help"),
    ("sims", "--help"),
    ("figures", "--list"),
)


@pytest.mark.parametrize("words", HELP, ids=" ".join)
def test_help_and_lists_do_not_wait_for_jax(root: Path, words: tuple[str, ...]) -> None:
    code = (
        "import runpy, sys\n"
        f"sys.argv = {[words[0], *words[1:]]!r}\n"
        "try:\n"
        f"    runpy.run_module({words[0]!r}, run_name='__main__', alter_sys=True)\n"
        "except SystemExit as stop:\n"
        "    assert not stop.code, stop.code\n"
        "assert 'jax' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 5


@pytest.mark.parametrize("package", LAZY)
def test_no_public_name_is_called_like_a_file_beside_it(package: str) -> None:
    """Importing the file would put it in the name's place."""
    module = import_module(package)
    files = {found.name for found in pkgutil.iter_modules(module.__path__)}
    modules = {
        name for name in module.__all__ if getattr(module, name) is sys.modules.get(f"{package}.{name}")
    }
    assert set(module.__all__) & files <= modules
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nonsense'"):
        module.nonsense  # noqa: B018
    packages = {found.name for found in pkgutil.iter_modules(module.__path__) if found.ispkg}
    assert set(dir(module)) == set(module.__all__) | packages
    if package == "mipsim":
        assert {"referee", "audits", "data", "nn", "theory"} <= packages


@pytest.mark.system
@pytest.mark.parametrize(
    ("words", "statuses"),
    # The list of statements is printed by Rich, which says 1 from its version 14 on.
    [(("figures", "--list"), {141}), (("sims", "list"), {141}), (("verify", "--list"), {1, 141})],
    ids=("figures", "sims", "verify"),
)
def test_a_reader_that_leaves_ends_a_list_without_a_word(
    root: Path, words: tuple[str, ...], statuses: set[int]
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", *words], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()  # before a line is written, as `| head -0`
        said = running.stderr.read()
        assert running.wait(timeout=120) in statuses
        assert said == ""
