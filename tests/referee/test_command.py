"""`mipsim judge` and `mipsim hunt`: exit codes, what is printed, what is refused; and the page that teaches a check of a DP claim."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mipsim.referee.command import main

FILE = '''
"""Two statements of mine."""
import mipsim as mi
from mipsim import referee as rf

domain = {"mu": rf.Real(0.1, 1.0), "k": rf.Whole(1, 100), "law": rf.Choice("first", "second")}
right = rf.Statement(
    name="root-k",
    says="k releases that are mu-GDP each are (sqrt(k) mu)-GDP together.",
    source="Dong, Roth and Su (2022), corollary 3.3",
    kind=rf.Bound(),
    domain=domain,
    claimed=lambda mu, k: mi.GaussianTradeOff(k**0.5 * mu),
    truth=lambda mu, k: mi.GaussianTradeOff(k**0.5 * mu),
)
wrong = right.corrected(
    name="half-k", says="They are (k mu / 2)-GDP.", claimed=lambda mu, k: mi.GaussianTradeOff(k * mu / 2)
)
'''


@pytest.fixture
def file(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.py"
    path.write_text(FILE, encoding="utf-8")
    return path


@pytest.mark.system
def test_judging_a_file(file: Path, capsys) -> None:
    assert main(["judge", "mine.py", "--out", "report", "--budget", "200 probes"]) == 0
    text = capsys.readouterr().out
    assert "CONFIRMED (held at 74 points; a search looked at " in text
    assert "REFUTED: half-k" in text
    records = json.loads(Path("report/results.json").read_text(encoding="utf-8"))
    assert [record["verdict"] for record in records] == ["CONFIRMED", "REFUTED"]
    assert Path("report/index.html").is_file()


@pytest.mark.system
def test_hunting_a_single_statement_and_replaying_its_counterexample(file: Path, capsys) -> None:
    hunt = ["hunt", "mine.py:wrong", "--budget", "300 probes", "--seed", "2", "--out", "report"]
    assert main(hunt) == 0
    text = capsys.readouterr().out
    assert "REFUTED: half-k" in text
    assert "root-k" not in text
    assert Path("report/half-k-2.jsonl").is_file()
    (record,) = json.loads(Path("report/results.json").read_text(encoding="utf-8"))
    assert main(shlex.split(record["replay"]["shell"])[1:]) == 0
    assert "REFUTED: half-k" in capsys.readouterr().out
    done = subprocess.run(
        [sys.executable, "-c", record["replay"]["python"]], capture_output=True, text=True, timeout=600,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "REFUTED: half-k" in done.stdout
    assert main(hunt) == 0  # from the stored probes


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["judge", "nowhere.py"], "nowhere.py is no file"),
        (["judge", "empty.py"], "empty.py holds no Statement"),
        (["judge", "broken.py"], "broken.py fails to import at line 1: ZeroDivisionError: division by zero"),
        (["judge", "syntax.py"], "syntax.py fails to import: SyntaxError"),
        (["judge", "twice.py"], "twice.py holds two statements named 'root-k'"),
        (["judge", "mine.py:other"], "NAME of mine.py is 'other'; it must be root-k or half-k\n"),
        (["judge", "mine.py:rihgt"], "it must be root-k or half-k; did you mean right?"),
        (["judge", "mine.py", "--at", "{"], "'--at': '{' is no JSON"),
        (["judge", "mine.py", "--at", '{"nu": 1}'], "at names 'nu', which is no parameter of root-k"),
        (["judge", "mine.py", "--confidence", "2"], "'--confidence': 2.0 is not in the range 0.5<=x<1.0"),
        (["hunt", "mine.py", "--budget", "0"], "budget is '0'; it must be seconds > 0"),
        (["hunt", "mine.py", "--out", "mine.py"], "--out is 'mine.py'"),
        (["hunt", "mine.py", "--seed", "-1"], "'--seed': -1 is not in the range x>=0"),
    ],
)
def test_bad_input_is_a_single_sentence_and_exit_code_2(file: Path, capsys, arguments, says: str) -> None:
    Path("empty.py").write_text("x = 1\n")
    Path("broken.py").write_text("1 / 0\n")
    Path("syntax.py").write_text("def\n")
    Path("twice.py").write_text(
        FILE + "\nfrom dataclasses import replace\nagain = replace(right, says='Again.')\n"
    )
    assert main(arguments) == 2
    text = capsys.readouterr().err
    assert says in text
    assert text.count("\n") == 1


def test_a_statement_that_cannot_be_judged_is_exit_code_1(file: Path, capsys) -> None:
    Path("raises.py").write_text(
        FILE.replace("truth=lambda mu, k: mi.GaussianTradeOff(k**0.5 * mu)", "truth=lambda: 1 / 0")
    )
    assert main(["judge", "raises.py:right", "--budget", "20 probes"]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().out


def test_a_statement_whose_functions_are_written_elsewhere_is_replayed_from_its_own_file(
    tmp_path, capsys, monkeypatch
) -> None:
    """Its functions are imported from a module that holds other statements, or none."""
    (tmp_path / "shared_laws.py").write_text("def square(x):\n    return x * x\n", encoding="utf-8")
    (tmp_path / "my_theorems.py").write_text(
        "from mipsim import referee as rf\nfrom shared_laws import square\n"
        "STATEMENTS = [rf.Statement(name='borrowed', says='x^2 = x^2', source='nobody', kind=rf.Equality(), "
        "domain={'x': rf.Real(1.0, 2.0)}, claimed=square, truth=square)]\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    assert main(["judge", "my_theorems.py", "--at", '{"x": 1.5}', "--out", "out"]) == 0
    (record,) = json.loads(Path("out/results.json").read_text(encoding="utf-8"))
    assert "my_theorems.py:borrowed" in record["replay"]["shell"]
    capsys.readouterr()
    assert main(shlex.split(record["replay"]["shell"])[1:]) == 0
    assert "CONFIRMED (held at 1 point, not searched): borrowed" in capsys.readouterr().out


PAGE = Path(__file__).parents[2] / "docs/check-a-dp-claim.md"
BLOCK = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[0].replace(
    "games=100_000", "games=5_000"
)


def verdict(block: str) -> str:
    space: dict[str, Any] = {}
    exec(block, space)
    return str(space["verdict"].verdict)


@pytest.mark.evidence
def test_the_eight_lines_refute_the_claim() -> None:
    lines = [line for line in BLOCK.splitlines() if line.strip() and not line.startswith("import ")]
    assert len(lines) <= 8
    assert verdict(BLOCK) == "REFUTED"
    enough = BLOCK.replace(" / len(records)", "")
    assert enough != BLOCK
    assert verdict(enough) != "REFUTED"
