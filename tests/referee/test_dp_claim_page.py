"""The guide page on DP claims: its eight lines refute, and the same with noise that is enough do not."""

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs/check-a-dp-claim.md"
BLOCK = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[0].replace(
    "games=100_000", "games=5_000"
)


def verdict(block: str) -> str:
    space: dict[str, Any] = {}
    exec(block, space)
    return str(space["verdict"].verdict)


def test_the_eight_lines_refute_the_claim() -> None:
    lines = [line for line in BLOCK.splitlines() if line.strip() and not line.startswith("import ")]
    assert len(lines) <= 8
    assert verdict(BLOCK) == "REFUTED"
    enough = BLOCK.replace(" / len(records)", "")
    assert enough != BLOCK
    assert verdict(enough) != "REFUTED"
