"""What an installation brings: the core what it imports, the extras the rest, and the versions of the published results."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import mipsim as mi
from mipsim._extras import MissingPackageError

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
    assert set(extras) == {"nn", "plot", "clusters", "notebook", "parquet", "cuda12", "all"}
    for wanted in [*project["dependencies"], *(single for extra in extras.values() for single in extra)]:
        item = Requirement(wanted)
        if item.name == "mipsim":
            assert item.extras <= set(extras), wanted
        else:
            assert item.specifier.contains(pinned[canonicalize_name(item.name)]), wanted
