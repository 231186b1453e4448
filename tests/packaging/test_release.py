"""What a release consists of: the wheel, the sdist, and the files that a hosting site and an archive look for."""

import json
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from mipsim import __version__


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
