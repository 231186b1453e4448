"""mipsim: membership-inference games by the million, and honest verdicts on privacy theorems.

Examples:
    >>> import mipsim as mi
    >>> data = mi.Bernoulli([0.3, 0.6])
    >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=10, target=data.easiest_target())
    >>> attack = mi.CovarianceScore(data, n=10, target=game.target)
    >>> mi.play(game, attack, games=1000, progress=False).out.sum().item()
    1000
"""

from mipsim import theory
from mipsim.attacks import (
    AbstractAdditiveAttack,
    AbstractAttack,
    AbstractLinearAttack,
    CovarianceScore,
    EstimatedMoments,
    FunctionAttack,
    GaussianLikelihoodRatio,
    LikelihoodRatio,
    ScalarProduct,
)
from mipsim.bands.compare import Comparison
from mipsim.distributions import (
    AbstractDistribution,
    AbstractProduct,
    Bernoulli,
    Discrete,
    Empirical,
    Exponential,
    Gaussian,
    Laplace,
    StudentT,
    Uniform,
)
from mipsim.engine.histogram import Histogram
from mipsim.engine.play import play
from mipsim.games import AbstractGame, FixedTarget, RandomTarget, Subset
from mipsim.mechanisms import (
    AbstractMechanism,
    EmpiricalMean,
    Fingerprint,
    FunctionMechanism,
    GaussianNoise,
    LaplaceNoise,
    MomentNoise,
    NormNoise,
    PoissonSubsampled,
    RandomizedResponse,
    SGDStep,
    Subsampled,
)
from mipsim.rare import RareTradeOff, play_rare
from mipsim.tradeoff import (
    AbstractTradeOff,
    EmpiricalTradeOff,
    GaussianTradeOff,
    MixtureTradeOff,
    PiecewiseLinearTradeOff,
)

__version__ = "0.1.0"

__all__ = [
    "AbstractAdditiveAttack",
    "AbstractAttack",
    "AbstractDistribution",
    "AbstractGame",
    "AbstractLinearAttack",
    "AbstractMechanism",
    "AbstractProduct",
    "AbstractTradeOff",
    "Bernoulli",
    "Comparison",
    "CovarianceScore",
    "Discrete",
    "Empirical",
    "EmpiricalMean",
    "EmpiricalTradeOff",
    "EstimatedMoments",
    "Exponential",
    "Fingerprint",
    "FixedTarget",
    "FunctionAttack",
    "FunctionMechanism",
    "Gaussian",
    "GaussianLikelihoodRatio",
    "GaussianNoise",
    "GaussianTradeOff",
    "Histogram",
    "Laplace",
    "LaplaceNoise",
    "LikelihoodRatio",
    "MixtureTradeOff",
    "MomentNoise",
    "NormNoise",
    "PiecewiseLinearTradeOff",
    "PoissonSubsampled",
    "RandomTarget",
    "RandomizedResponse",
    "RareTradeOff",
    "SGDStep",
    "ScalarProduct",
    "StudentT",
    "Subsampled",
    "Subset",
    "Uniform",
    "__version__",
    "play",
    "play_rare",
    "theory",
]
