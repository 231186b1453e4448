"""Laws whose coordinates are independent."""

from mipsim.distributions.base import AbstractDistribution, Vector


class AbstractProduct(AbstractDistribution):
    """The law of a record whose d coordinates are independent; its covariance is the vector of variances."""

    @property
    def is_product(self) -> bool:
        """True."""
        return True

    @property
    def covariance(self) -> Vector:
        """The variances, shape (d,)."""
        return self.variance
