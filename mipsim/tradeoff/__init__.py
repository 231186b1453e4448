"""Trade-off functions: claimed ones, their algebra, and the empirical one with its band."""

from mipsim.tradeoff.approx_dp import ApproxDPTradeOff, DeltaProfileTradeOff
from mipsim.tradeoff.averaged import AveragedTradeOff, mix
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounded import BoundedTradeOff
from mipsim.tradeoff.compose import compose
from mipsim.tradeoff.convex_hull import ConvexHullTradeOff, convex_hull, convexified, symmetrized
from mipsim.tradeoff.empirical import EmpiricalTradeOff
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.inverse import InverseTradeOff, inverse
from mipsim.tradeoff.laplace import FoldedLaplaceTradeOff, InverseFoldedLaplaceTradeOff, LaplaceTradeOff
from mipsim.tradeoff.mixture import MixtureTradeOff
from mipsim.tradeoff.noncentral_chi_square import NoncentralChiSquareTradeOff
from mipsim.tradeoff.piecewise_linear import PiecewiseLinearTradeOff
from mipsim.tradeoff.privacy_loss import PrivacyLossDistribution
from mipsim.tradeoff.sampled import SampledTradeOff, sample
from mipsim.tradeoff.stochastic_composition import stochastic_composition
from mipsim.tradeoff.subsample import subsampled

__all__ = [
    "AbstractTradeOff",
    "ApproxDPTradeOff",
    "AveragedTradeOff",
    "BoundedTradeOff",
    "ConvexHullTradeOff",
    "DeltaProfileTradeOff",
    "EmpiricalTradeOff",
    "FoldedLaplaceTradeOff",
    "GaussianTradeOff",
    "InverseFoldedLaplaceTradeOff",
    "InverseTradeOff",
    "LaplaceTradeOff",
    "MixtureTradeOff",
    "NoncentralChiSquareTradeOff",
    "PiecewiseLinearTradeOff",
    "PrivacyLossDistribution",
    "SampledTradeOff",
    "compose",
    "convex_hull",
    "convexified",
    "inverse",
    "mix",
    "sample",
    "stochastic_composition",
    "subsampled",
    "symmetrized",
]
