"""Laws whose coordinates are independent."""

from mipsim.distributions.base import AbstractDistribution, Vector


class AbstractProduct(AbstractDistribution):
    """The law of a record whose d coordinates are independent; its covariance is the vector of variances.

    A member gives everything else that `AbstractDistribution` asks for.

    Source: standard.

    Examples:
        >>> import mipsim as mi
        >>> data = mi.Uniform(0.0, [1.0, 2.0])
        >>> isinstance(data, AbstractProduct), data.is_product, data.covariance.shape
        (True, True, (2,))
    """

    @property
    def is_product(self) -> bool:
        return True

    @property
    def covariance(self) -> Vector:
        return self.variance
