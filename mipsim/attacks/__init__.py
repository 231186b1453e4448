"""Attacks: scores of an output for a target, higher = "in"."""

from mipsim.attacks.base import AbstractAdditiveAttack, AbstractAttack, AbstractLinearAttack
from mipsim.attacks.covariance import CovarianceScore
from mipsim.attacks.function import FunctionAttack
from mipsim.attacks.glir import GLiR, GLiRPValue
from mipsim.attacks.influence import InfluenceScore
from mipsim.attacks.likelihood_ratio import GaussianLikelihoodRatio, LikelihoodRatio
from mipsim.attacks.magnitude import Magnitude, OfflineLiRA
from mipsim.attacks.quadratic import AbstractQuadraticAttack
from mipsim.attacks.reference import EstimatedMoments
from mipsim.attacks.scalar_product import ScalarProduct
from mipsim.attacks.shrunk import ShrunkMoments
from mipsim.attacks.trained import TrainedClassifier, trained_attack

__all__ = [
    "AbstractAdditiveAttack",
    "AbstractAttack",
    "AbstractLinearAttack",
    "AbstractQuadraticAttack",
    "CovarianceScore",
    "EstimatedMoments",
    "FunctionAttack",
    "GLiR",
    "GLiRPValue",
    "GaussianLikelihoodRatio",
    "InfluenceScore",
    "LikelihoodRatio",
    "Magnitude",
    "OfflineLiRA",
    "ScalarProduct",
    "ShrunkMoments",
    "TrainedClassifier",
    "trained_attack",
]
