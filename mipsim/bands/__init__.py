"""Simultaneous bands, and the comparison of counts with claims."""

from mipsim.bands.binomial_deviance import deviance, deviance_bounds, divergence
from mipsim.bands.clopper_pearson import clopper_pearson
from mipsim.bands.compare import Comparison, compare_counts
from mipsim.bands.curve_band import CurveBand
from mipsim.bands.duembgen_wellner import duembgen_wellner
from mipsim.bands.law_of_score import LawComparison, law_of_score
from mipsim.bands.ordering import OrderingComparison, compare_curves
from mipsim.bands.scaled_rates import ScaledRates, compare_rates, rates_band

__all__ = [
    "Comparison",
    "CurveBand",
    "LawComparison",
    "OrderingComparison",
    "ScaledRates",
    "clopper_pearson",
    "compare_counts",
    "compare_curves",
    "compare_rates",
    "deviance",
    "deviance_bounds",
    "divergence",
    "duembgen_wellner",
    "law_of_score",
    "rates_band",
]
