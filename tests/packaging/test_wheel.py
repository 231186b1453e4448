"""The wheel holds mipsim and nothing else, and the README's quickstart runs from it outside the checkout."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(root)]
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    uv = os.environ.get("UV") or shutil.which("uv")
    pip = [uv, "pip"] if uv else [sys.executable, "-m", "pip"]
    command = [*pip, "install", "--no-deps", "--target", str(folder), str(wheel)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_wheel_holds_only_mipsim(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    metadata = f"mipsim-{wheel.name.split('-')[1]}.dist-info"
    assert {name.split("/")[0] for name in names} == {"mipsim", metadata}
    assert "mipsim/__init__.py" in names
    assert any(name.endswith("LICENSE") for name in names)
    for name in ("document.html", "report.html", "section.html", "page.css", "table.js"):
        assert f"mipsim/referee/reporting/templates/{name}" in names


def test_the_quickstart_runs_outside_the_checkout(
    root: Path, installed: Path, tmp_path: Path, readme_blocks: list[str]
) -> None:
    # The test environment may know the checkout (an editable install): the preamble forgets it, so that
    # only the wheel is left.
    preamble = f"""
import sys
sys.path[:] = [p for p in sys.path if p not in ({str(root)!r}, "")]
sys.meta_path[:] = [f for f in sys.meta_path if "editable" not in repr(f).lower()]
import importlib.util
import matplotlib
matplotlib.use("agg")
import mipsim
assert mipsim.__file__.startswith({str(installed)!r}), mipsim.__file__
for name in ("sims", "verify", "figures"):
    assert importlib.util.find_spec(name) is None, name
"""
    script = tmp_path / "quickstart.py"
    script.write_text(preamble + "\n".join(readme_blocks[:2]), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert any(word in done.stdout for word in ("CONFIRMED", "REFUTED", "INCONCLUSIVE"))
