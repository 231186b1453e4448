"""The verdicts on Azize & Basu: by statement and point, with the counterexamples that decide."""

from pathlib import Path

import pytest

import mipsim as mi
from mipsim import referee as rf
from mipsim.referee import Verdict
from mipsim.referee.gap_words import lone_gap
from mipsim.referee.reporting.page import report
from verify.azize.statements import MODULES, gdp, optimality
from verify.session import row

STATEMENTS = {item.name: item for module in MODULES for item in module.STATEMENTS}


@pytest.mark.parametrize("name", ["azize-thm-3.1-power", "azize-lemma-C.6"])
def test_where_worlds_are_singular_the_gap_is_at_least_what_is_printed(name: str, tmp_path: Path):
    """The worlds of Cantor's data are mutually singular, so that the gap is infinite: its interval has no upper end."""
    point = next(item for item in STATEMENTS[name].points if item.name == "cantor")
    outcome = rf.judge(STATEMENTS[name], at=[point])
    result = outcome.judged[0]
    assert result.verdict is Verdict.REFUTED
    assert lone_gap(result.gap, result.interval) == "at least 6.98"
    # A log's row, the page's table and its sections say it too, not the number alone.
    assert "at least 6.98 probit" in row(outcome)
    assert "Gap at least 6.98 probit" in report(outcome, tmp_path).read_text("utf-8")


def test_a_coin_that_tells_nothing_refutes_thresholds_without_ties():
    """Computed by a search: all outputs are tied, so that thresholds have power 0 at alpha = 1/2, where half of the outputs have 1/2."""
    at = dict(optimality.POWER.points[5].at) | {"epsilon": 0.0, "alpha": 0.5}
    assert at["mechanism"] == "randomised response"
    result = rf.judge(optimality.POWER, at=[at]).judged[0]
    assert (result.verdict, result.gap) == (Verdict.REFUTED, pytest.approx(0.5))


def test_neighbouring_data_sets_are_distinguished_by_what_is_released():
    """By releases, so that noise, or equal data sets, give no advantage."""
    assert gdp.best_advantage(10, 1.0) == gdp.best_advantage(1000, 1e-6) == 1.0
    assert gdp.best_advantage(10, 0.0) == 0.0
    assert gdp.best_advantage(10, 1.0, mi.GaussianNoise(mi.EmpiricalMean(), 0.1)) == 0.0
