"""A stranger installs the wheel and referees a file of 20 lines; there is no checkout."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytestmark = pytest.mark.system

FILE = """import mipsim as mi
from mipsim import referee as rf

statement = rf.Statement(
    name="k-releases",
    says="k releases that are mu-GDP each are (k mu / 2)-GDP together.",
    source="My paper, theorem 1",
    kind=rf.Bound(),
    domain={"mu": rf.Real(0.1, 1.0), "k": rf.Whole(1, 1000, log=True)},
    claimed=lambda mu, k: mi.GaussianTradeOff(k * mu / 2),
    truth=lambda mu, k: mi.GaussianTradeOff(k**0.5 * mu),
    control=rf.Control({"mu": 1.0, "k": 4}, shift=0.03),
)
corrected = statement.corrected(
    says="For k >= 4 they are (k mu / 2)-GDP together.",
    domain={"k": rf.Whole(4, 1000, log=True)},
    derivation="k / 2 >= sqrt(k) for k >= 4; G_mu falls in mu.",
)
"""


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    retained = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run(command, cwd=cwd, env=retained, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_a_file_is_refereed_by_the_installed_wheel(tmp_path: Path) -> None:
    root, user = Path(__file__).parents[2], tmp_path / "user"
    user.mkdir()
    (user / "mine.py").write_text(FILE, encoding="utf-8")
    assert len(FILE.splitlines()) <= 20
    build = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(tmp_path / "wheel"),
        str(root),
    ]
    done = run(*build, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = (tmp_path / "wheel").glob("*.whl")
    environment = tmp_path / "environment"
    assert run(sys.executable, "-m", "venv", str(environment), cwd=tmp_path).returncode == 0
    python = str(environment / "bin" / "python")
    done = run(python, "-m", "pip", "install", "--no-deps", "--no-index", str(wheel), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # The dependencies are those of the tests' own environment: a path in a .pth file brings no editable install along.
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    where = run(python, "-c", "import mipsim; print(mipsim.__file__)", cwd=user)
    assert str(environment) in where.stdout, where.stderr
    for command in ([str(environment / "bin" / "mipsim")], [python, "-m", "mipsim"]):
        judged = run(*command, "judge", "mine.py:k-releases-corrected", "--out", "judged", cwd=user)
        assert judged.returncode == 0, judged.stderr
        assert "CONFIRMED: k-releases-corrected" in judged.stdout
    hunted = run(
        str(environment / "bin" / "mipsim"),
        "hunt",
        "mine.py:statement",
        "--budget",
        "300 probes",
        "--out",
        "out",
        cwd=user,
    )
    assert hunted.returncode == 0, hunted.stderr
    assert "REFUTED: k-releases" in hunted.stdout
    assert (user / "out" / "index.html").is_file()
    bad = run(str(environment / "bin" / "mipsim"), "judge", "nowhere.py", cwd=user)
    assert (bad.returncode, bad.stderr) == (
        2,
        "mipsim: nowhere.py is no file; give FILE.py or FILE.py:NAME\n",
    )
