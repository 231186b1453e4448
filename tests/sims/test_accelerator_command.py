"""`python -m sims accelerator` on the CPU, with nothing installed but what games need."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOT_FOR_GAMES = [
    "latex2mathml",
    "matplotlib",
    "flax",
    "optax",
    "sklearn",
    "nbformat",
    "IPython",
    "distributed",
    "submitit",
]
RUN = """
import sys
sys.modules.update(dict.fromkeys({absent!r}))  # importing them fails
from sims.__main__ import main
sys.exit(main({arguments!r}))
"""


def command(*arguments):
    code = RUN.format(absent=NOT_FOR_GAMES, arguments=["accelerator", *arguments])
    where = os.environ | {"JAX_PLATFORMS": "cpu"}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=where, capture_output=True, text=True, timeout=300
    )


@pytest.mark.system
def test_a_dry_run_writes_every_part(tmp_path):
    done = command("--out", str(tmp_path), "--dry-run", "--minutes", "2")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (tmp_path / "accelerator.jsonl").read_text().splitlines()]
    parts = [row["part"] for row in rows]
    assert (
        ", ".join(dict.fromkeys(parts)) == "versions, ceilings, bits, speed, tests, first answer, long game"
    )
    assert all(row["equal_scores"] for row in rows if row["part"] == "bits")
    assert all(row["games_per_second"] > 0.0 for row in rows if row["part"] == "speed")


@pytest.mark.system
def test_without_an_accelerator_a_single_sentence_says_what_to_do(tmp_path):
    done = command("--out", str(tmp_path))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "JAX finds no accelerator, only cpu; install JAX for it, or use --dry-run" in done.stderr
    assert command("--out", str(tmp_path), "--minutes", "-1").returncode == 2
