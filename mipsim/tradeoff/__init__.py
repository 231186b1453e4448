"""Trade-off functions: claimed ones, and the empirical one with its band."""

from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.empirical import EmpiricalTradeOff
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.mixture import MixtureTradeOff
from mipsim.tradeoff.piecewise_linear import PiecewiseLinearTradeOff

__all__ = [
    "AbstractTradeOff",
    "EmpiricalTradeOff",
    "GaussianTradeOff",
    "MixtureTradeOff",
    "PiecewiseLinearTradeOff",
]
