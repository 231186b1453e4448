"""Counts of games as trade-off curves with simultaneous bands, and their comparison with claims."""

from mipsim._verdict import Verdict
from mipsim.bands.binomial_deviance import deviance
from mipsim.bands.clopper_pearson import clopper_pearson
from mipsim.bands.compare import Comparison, compare_counts, compare_rates
from mipsim.bands.curve_band import CurveBand
from mipsim.bands.duembgen_wellner import duembgen_wellner
from mipsim.bands.empirical_tradeoff import EmpiricalTradeOff
from mipsim.bands.equality_tolerance import equality_tolerance
from mipsim.bands.family_bound import approximate_dp, family_lower_bound, gdp, probit_gap, total_variation
from mipsim.bands.law_of_score import LawComparison, law_of_score
from mipsim.bands.ordering import OrderingComparison, compare_curves
from mipsim.bands.rare_tradeoff import RareTradeOff
from mipsim.bands.roc_curve import roc
from mipsim.bands.scaled_rates import ScaledRates, rates_band

__all__ = [
    "Comparison",
    "CurveBand",
    "EmpiricalTradeOff",
    "LawComparison",
    "OrderingComparison",
    "RareTradeOff",
    "ScaledRates",
    "Verdict",
    "approximate_dp",
    "clopper_pearson",
    "compare_counts",
    "compare_curves",
    "compare_rates",
    "deviance",
    "duembgen_wellner",
    "equality_tolerance",
    "family_lower_bound",
    "gdp",
    "law_of_score",
    "probit_gap",
    "rates_band",
    "roc",
    "total_variation",
]
