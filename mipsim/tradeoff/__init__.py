"""Trade-off functions and their algebra."""

from mipsim.tradeoff.account import Account, AccountComparison, account
from mipsim.tradeoff.accountant import Accountant
from mipsim.tradeoff.approx_dp import ApproxDPTradeOff
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounded import BoundedTradeOff
from mipsim.tradeoff.bounds import CurveBounds, Vertices, bounds_from_rates
from mipsim.tradeoff.calibration import calibrate
from mipsim.tradeoff.compose import ComposedTradeOff, compose
from mipsim.tradeoff.convex_hull import ConvexHullTradeOff, convex_hull
from mipsim.tradeoff.convex_hull import convexified as convexified
from mipsim.tradeoff.convex_hull import subsampled as subsampled
from mipsim.tradeoff.convex_hull import symmetrized as symmetrized
from mipsim.tradeoff.discrete_gaussian import discrete_gaussian
from mipsim.tradeoff.discrete_laplace import discrete_laplace
from mipsim.tradeoff.fixed_samples import fixed_samples
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.gaussian_mixture import GaussianMixtureTradeOff
from mipsim.tradeoff.inverse import InverseTradeOff
from mipsim.tradeoff.laplace import FoldedLaplaceTradeOff, InverseFoldedLaplaceTradeOff, LaplaceTradeOff
from mipsim.tradeoff.matrices import matrix_mechanism
from mipsim.tradeoff.mixture import MixtureTradeOff
from mipsim.tradeoff.noise_multiplier import (
    dpsgd,
    find_noise_multiplier_for_advantage,
    find_noise_multiplier_for_epsilon_delta,
    find_noise_multiplier_for_err_rates,
    find_noise_multiplier_for_mu,
    find_noise_multiplier_for_tpr_at_fpr,
)
from mipsim.tradeoff.noisy_maximum import LogisticTradeOff, exponential_mechanism, permute_and_flip
from mipsim.tradeoff.noncentral_chi_square import NoncentralChiSquareTradeOff
from mipsim.tradeoff.piecewise_linear import PiecewiseLinearTradeOff
from mipsim.tradeoff.privacy_filter import PrivacyFilter
from mipsim.tradeoff.privacy_loss import PrivacyLossDistribution
from mipsim.tradeoff.random_allocation import random_allocation
from mipsim.tradeoff.sampled import SampledTradeOff
from mipsim.tradeoff.selection import best_of_runs
from mipsim.tradeoff.skellam import skellam
from mipsim.tradeoff.truncated_poisson import truncated_poisson

__all__ = [
    "AbstractTradeOff",
    "Account",
    "AccountComparison",
    "Accountant",
    "ApproxDPTradeOff",
    "BoundedTradeOff",
    "ComposedTradeOff",
    "ConvexHullTradeOff",
    "CurveBounds",
    "FoldedLaplaceTradeOff",
    "GaussianMixtureTradeOff",
    "GaussianTradeOff",
    "InverseFoldedLaplaceTradeOff",
    "InverseTradeOff",
    "LaplaceTradeOff",
    "LogisticTradeOff",
    "MixtureTradeOff",
    "NoncentralChiSquareTradeOff",
    "PiecewiseLinearTradeOff",
    "PrivacyFilter",
    "PrivacyLossDistribution",
    "SampledTradeOff",
    "Vertices",
    "account",
    "best_of_runs",
    "bounds_from_rates",
    "calibrate",
    "compose",
    "convex_hull",
    "discrete_gaussian",
    "discrete_laplace",
    "dpsgd",
    "exponential_mechanism",
    "find_noise_multiplier_for_advantage",
    "find_noise_multiplier_for_epsilon_delta",
    "find_noise_multiplier_for_err_rates",
    "find_noise_multiplier_for_mu",
    "find_noise_multiplier_for_tpr_at_fpr",
    "fixed_samples",
    "matrix_mechanism",
    "permute_and_flip",
    "random_allocation",
    "skellam",
    "truncated_poisson",
]
