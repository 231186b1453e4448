"""Counts of games as trade-off curves with simultaneous bands, and their comparison with claims."""

from mipsim.bands.clopper_pearson import clopper_pearson
from mipsim.bands.comparison import Comparison, OrderingComparison
from mipsim.bands.counted_rates import CountedRates
from mipsim.bands.curve_band import CurveBand
from mipsim.bands.duembgen_wellner import duembgen_wellner
from mipsim.bands.empirical_tradeoff import EmpiricalTradeOff
from mipsim.bands.family_bound import approximate_dp, family_lower_bound, gdp, total_variation
from mipsim.bands.ordering import compare_curves

__all__ = [
    "Comparison",
    "CountedRates",
    "CurveBand",
    "EmpiricalTradeOff",
    "OrderingComparison",
    "approximate_dp",
    "clopper_pearson",
    "compare_curves",
    "duembgen_wellner",
    "family_lower_bound",
    "gdp",
    "total_variation",
]
