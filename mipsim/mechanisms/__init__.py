"""Mechanisms: randomised maps from n records to a released output."""

from mipsim.mechanisms.base import AbstractMechanism
from mipsim.mechanisms.discrete_gaussian_noise import DiscreteGaussianNoise
from mipsim.mechanisms.function import FunctionMechanism
from mipsim.mechanisms.mean import EmpiricalMean
from mipsim.mechanisms.noise import GaussianNoise, LaplaceNoise
from mipsim.mechanisms.norm_noise import NormNoise
from mipsim.mechanisms.sgd_step import SGDStep
from mipsim.mechanisms.subsample import PoissonSubsampled, Subsampled
from mipsim.mechanisms.z_estimator import AbstractZEstimator, LeastSquares, LogisticRegression, Median

__all__ = [
    "AbstractMechanism",
    "AbstractZEstimator",
    "DiscreteGaussianNoise",
    "EmpiricalMean",
    "FunctionMechanism",
    "GaussianNoise",
    "LaplaceNoise",
    "LeastSquares",
    "LogisticRegression",
    "Median",
    "NormNoise",
    "PoissonSubsampled",
    "SGDStep",
    "Subsampled",
]
