"""What the packaging tests share: the checkout, its tracked files, and the README's code."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def tracked_files() -> list[Path]:
    """Every file that is, or by an add of everything would be, under version control."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in names.split("\0") if name and (ROOT / name).is_file()]


@pytest.fixture(scope="session")
def readme_blocks() -> list[str]:
    """The README's Python blocks, with 1000 games each; a block continues where the block before ended."""
    return python_blocks(ROOT / "README.md")


def python_blocks(page: Path) -> list[str]:
    """The Python of a page in Markdown, with 1000 games a block."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    return [re.sub(r"\bgames=[\d_]+", "games=1_000", block) for block in blocks]
