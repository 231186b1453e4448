"""Attacks: scores of an output for a target, higher = "in"."""

from mipsim.attacks.base import AbstractAdditiveAttack, AbstractAttack, AbstractLinearAttack
from mipsim.attacks.covariance import CovarianceScore
from mipsim.attacks.function import FunctionAttack
from mipsim.attacks.glir import GLiR
from mipsim.attacks.likelihood_ratio import GaussianLikelihoodRatio, LikelihoodRatio
from mipsim.attacks.quadratic import AbstractQuadraticAttack
from mipsim.attacks.reference import EstimatedMoments
from mipsim.attacks.scalar_product import ScalarProduct

__all__ = [
    "AbstractAdditiveAttack",
    "AbstractAttack",
    "AbstractLinearAttack",
    "AbstractQuadraticAttack",
    "CovarianceScore",
    "EstimatedMoments",
    "FunctionAttack",
    "GLiR",
    "GaussianLikelihoodRatio",
    "LikelihoodRatio",
    "ScalarProduct",
]
