"""Laws of a record."""

from mipsim.distributions.base import AbstractDistribution, AbstractProduct
from mipsim.distributions.bernoulli import Bernoulli
from mipsim.distributions.discrete import Discrete
from mipsim.distributions.empirical import Empirical
from mipsim.distributions.exponential import Exponential
from mipsim.distributions.gaussian import Gaussian
from mipsim.distributions.laplace import Laplace
from mipsim.distributions.student_t import StudentT
from mipsim.distributions.uniform import Uniform

__all__ = [
    "AbstractDistribution",
    "AbstractProduct",
    "Bernoulli",
    "Discrete",
    "Empirical",
    "Exponential",
    "Gaussian",
    "Laplace",
    "StudentT",
    "Uniform",
]
