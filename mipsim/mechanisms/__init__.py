"""Mechanisms: randomised maps from n records to a released output."""

from mipsim.mechanisms.base import AbstractMechanism
from mipsim.mechanisms.function import FunctionMechanism
from mipsim.mechanisms.mean import EmpiricalMean
from mipsim.mechanisms.noise import GaussianNoise, LaplaceNoise
from mipsim.mechanisms.sgd_step import SGDStep
from mipsim.mechanisms.subsample import PoissonSubsampled, Subsampled

__all__ = [
    "AbstractMechanism",
    "EmpiricalMean",
    "FunctionMechanism",
    "GaussianNoise",
    "LaplaceNoise",
    "PoissonSubsampled",
    "SGDStep",
    "Subsampled",
]
