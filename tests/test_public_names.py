"""The curated names of `import mipsim as mi`."""

import tomllib
from pathlib import Path

import mipsim as mi
from mipsim import attacks, distributions, games, mechanisms, tradeoff


def test_the_list_is_complete_sorted_and_true() -> None:
    assert list(mi.__all__) == sorted(mi.__all__)
    for name in mi.__all__:
        assert hasattr(mi, name), name
    for family in (distributions, mechanisms, games, attacks, tradeoff):
        assert set(family.__all__) <= set(mi.__all__)
    assert {"play", "Histogram", "EmpiricalTradeOff", "GaussianTradeOff", "theory"} <= set(mi.__all__)


def test_theory_is_at_hand() -> None:
    assert callable(mi.theory.azize.leakage_score)


def test_version_is_the_projects() -> None:
    project = tomllib.loads((Path(mi.__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    assert mi.__version__ == project["project"]["version"]
