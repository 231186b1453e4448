"""Laws of one record."""
from mipsim.distributions.base import AbstractDistribution
from mipsim.distributions.bernoulli import Bernoulli
from mipsim.distributions.gaussian import Gaussian
__all__ = ["AbstractDistribution", "Bernoulli", "Gaussian"]
