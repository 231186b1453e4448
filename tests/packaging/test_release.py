"""What a release consists of: the wheel, the sdist, and the files that a hosting site and an archive look for."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import mipsim as mi
from mipsim import __version__
from mipsim._extras import MissingPackageError


@pytest.mark.system
def test_the_release_script_builds_checks_and_lists_dependencies(root: Path, tmp_path: Path) -> None:
    if not (shutil.which("uv") and shutil.which("uvx")):
        pytest.skip("uv and uvx are not on the path")
    findings = tmp_path / "written.md"
    findings.write_text("# Findings")
    command = ["bash", ".ci/release", str(tmp_path), str(findings)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if done.returncode and "error sending request" in done.stderr:
        pytest.skip("no package registry can be reached")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("PASSED") == 2
    with tarfile.open(tmp_path / f"mipsim-{__version__}.tar.gz") as archive:
        sdist = archive.getnames()
    held = {name.partition("/")[2] for name in sdist}
    assert {"LICENSE", "CITATION.cff", "mipsim/py.typed"} <= held
    assert not any(name.startswith(("tests/", "verify/")) for name in held)
    listed = json.loads((tmp_path / "mipsim.cdx.json").read_text("utf-8"))
    assert listed["bomFormat"] == "CycloneDX"
    assert {"jax", "numpy", "scipy", "equinox"} <= {item["name"] for item in listed["components"]}
    digests = (tmp_path / "SHA256SUMS").read_text("utf-8").splitlines()
    built = [f"mipsim-{__version__}-py3-none-any.whl", f"mipsim-{__version__}.tar.gz"]
    assert [line.split()[1] for line in digests] == [*built, "mipsim.cdx.json", "FINDINGS.md"]


def test_the_versions_agree(root: Path) -> None:
    texts = {
        name: (root / name).read_text("utf-8") for name in ("pyproject.toml", "CITATION.cff", "CHANGELOG.md")
    }
    assert f'version = "{__version__}"' in texts["pyproject.toml"]
    assert f"version: {__version__}" in texts["CITATION.cff"]
    assert f"## {__version__}" in texts["CHANGELOG.md"]


def test_the_paper_cites_only_what_its_bibliography_has(root: Path) -> None:
    known = set(re.findall(r"^@\w+\{(\w+),", (root / "docs/paper/paper.bib").read_text("utf-8"), re.M))
    cited = set(re.findall(r"@(\w+)", (root / "docs/paper/paper.md").read_text("utf-8")))
    assert cited == known


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/versions.md", "CONTRIBUTING.md"])
def test_no_page_promises_an_upload_that_has_not_happened(root: Path, page: str) -> None:
    assert not re.search(r"pip install [\"']?mipsim", (root / page).read_text("utf-8"))


# What an installation brings: the core what it imports, the extras the rest, and the versions of the published results.

WITHOUT_PLOT = """
import sys
sys.modules["matplotlib"] = None  # an import of it raises
import mipsim as mi
from mipsim import referee as rf
data = mi.Bernoulli([0.3, 0.6])
game = mi.FixedTarget(mi.EmpiricalMean(), data, n=10, target=[1.0, 0.0])
attack = mi.CovarianceScore(data, n=10)
curve = mi.play(game, attack, games=500, progress=False).tradeoff()
print(curve.compare(game.exact(attack)).verdict)
shown = curve._repr_html_() + game.exact(attack)._repr_html_()
assert shown.count("pictures need the package matplotlib") == 2 and "mipsim[plot]" in shown, shown
statement = rf.Statement(
    name="releases", says="k releases.", source="none", kind=rf.Bound(), domain={"k": rf.Whole(1, 9)},
    claimed=lambda k: mi.GaussianTradeOff(k), truth=lambda k: mi.GaussianTradeOff(k**0.5),
    control=rf.Control({"k": 1}, shift=0.03),
)
result = rf.judge(statement, [{"k": 4}])
page = rf.report(result, sys.argv[1]).read_text()
assert "mipsim[plot]" in page
print(result.verdict)
curve.plot()
"""


@pytest.fixture(scope="module")
def project(root: Path) -> dict:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.system
def test_games_and_verdicts_need_no_matplotlib_and_a_picture_says_what_brings_it(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PLOT, str(tmp_path)], capture_output=True, text=True, timeout=300
    )
    assert done.stdout.split()[-1:] == ["CONFIRMED"], done.stderr
    sentence = 'pictures need the package matplotlib, which is not installed: python3 -m pip install "mipsim[plot]" brings it'
    assert done.stderr.strip().endswith(sentence), done.stderr


def test_a_requested_picture_that_fails_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match=r'need the package matplotlib, .*"mipsim\[plot\]"'):
        mi.plot(mi.GaussianTradeOff(1.0))


def test_constraints_hold_every_package_within_the_ranges(root: Path, project: dict) -> None:
    lines = (root / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {}
    for line in lines:
        if line.startswith("#"):
            continue
        item = Requirement(line)
        (pin,) = item.specifier
        assert line == f"{item.name}=={pin.version}", line  # no host, no hash, no marker
        pinned[canonicalize_name(item.name)] = pin.version
    extras = project["optional-dependencies"]
    assert set(extras) == {"nn", "plot", "clusters", "notebook", "check", "cuda12", "all"}
    for wanted in [*project["dependencies"], *(single for extra in extras.values() for single in extra)]:
        item = Requirement(wanted)
        if item.name == "mipsim":
            assert item.extras <= set(extras), wanted
        else:
            assert item.specifier.contains(pinned[canonicalize_name(item.name)]), wanted


# What holds for every file: its words, and where it may not point.

PACKAGES = ("mipsim", "sims", "verify", "figures", "tests")

# Spelt in pieces, so that this file passes its own test.
REGISTRIES = [
    "py" + "pi.org", "python" + "hosted.org", "ana" + "conda.org", "npm" + "js.org", "npm" + "js.com",
    "index" + "-url", "extra" + "-index", "find" + "-links", "trusted" + "-host",
]  # fmt: skip
PLACES = [
    "shared" + "/design",
    "shared" + "/spec",
    "shared" + "/papers",
    "/work" + "/",
    "/tmp" + "/venv",
    "/opt" + "/wheels",
]
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX)\b")


def text_of(file: Path) -> str:
    content = file.read_bytes()
    return "" if b"\0" in content else content.decode("utf-8")


@pytest.mark.parametrize("words", [REGISTRIES, PLACES], ids=["registry hosts", "places outside the project"])
def test_no_file_names(tracked_files: list[Path], words: list[str]) -> None:
    assert len(tracked_files) > 20
    wrong = {str(f): w for f in tracked_files for w in words if w in text_of(f)}
    assert wrong == {}


def test_nothing_is_left_unfinished(tracked_files: list[Path]) -> None:
    assert [str(f) for f in tracked_files if UNFINISHED.search(text_of(f))] == []


def test_the_lock_and_the_results_are_not_tracked(root: Path, tracked_files: list[Path]) -> None:
    names = {str(f.relative_to(root)) for f in tracked_files}
    assert "uv.lock" not in names
    assert not any(name.startswith("results/") for name in names)
    ignored = (root / ".gitignore").read_text("utf-8").split()
    assert {"uv.lock", "results/"} <= set(ignored)


def test_pictures_are_small(root: Path, tracked_files: list[Path]) -> None:
    heavy = {f.name: f.stat().st_size for f in tracked_files if f.stat().st_size > 400_000}
    assert heavy == {}
    assert (root / "figures/images/verdict.png").stat().st_size < 200_000


def test_ci_runs_the_readme_commands(root: Path) -> None:
    readme, script = (root / "README.md").read_text("utf-8"), (root / ".ci/run").read_text("utf-8")
    run_tests = "python3 -m pip install uv && uv run pytest"
    assert run_tests in readme
    assert run_tests in script
    assert "python3 -m pip install uv && uv run python -m verify" in readme
    assert script.startswith("#!/usr/bin/env bash")
    assert "set -euo pipefail" in script
    for check in ("uv run ruff check", "uv run ruff format --check", "uv run pyright"):
        assert check in script.splitlines()
    assert os.access(root / ".ci/run", os.X_OK)
