"""Gaussian records drawn a few coordinates at a time, in float32."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt32, UInt64

from mipsim.distributions.gaussian import Gaussian
from mipsim.engine.random.float32_normals import four_normals
from mipsim.engine.random.splitmix import splitmix64

_LEAST_DIMENSION = 16  # four groups of four coordinates: fewer are not worth the packing
_FARTHEST = 64.0  # in standard deviations: beyond it float32 records lose more than 6 of their 24 bits


class GaussianRows(eqx.Module):
    """The law of the records in units of its largest standard deviation, as float32, with what that rounds away.

    Coordinates stand in groups of four, padded with zeros: group g holds 2g, 2g + 1, half + 2g and half + 2g + 1, half
    being half of the padded dimension. Then two halves of a 128-bit number are two contiguous stretches of a record.

    Attributes:
        location, factor: means and standard deviations of the groups, float32, shape (4, groups).
        lost: means minus their float32 values, in the order of the coordinates, shape (d,).
        lost_square: sum of mean^2 minus that of its float32 values.
        unit: the largest standard deviation.
        dimension: d.
        groups: d / 4, rounded up.
    """

    location: Float[Array, "4 groups"]
    factor: Float[Array, "4 groups"]
    lost: Float[Array, " d"]
    lost_square: Float[Array, ""]
    unit: Float[Array, ""]
    dimension: int = eqx.field(static=True)
    groups: int = eqx.field(static=True)

    def draw(self, group: UInt32[Array, "..."], start: UInt64[Array, "..."]) -> tuple[Array, ...]:
        """Four float32 coordinates of each record; `start` is that of the record, and the two broadcast."""
        index = 2 * group.astype(jnp.uint64)
        normals = four_normals(splitmix64(start, index), splitmix64(start, index + jnp.uint64(1)))
        return tuple(self.location[i][group] + self.factor[i][group] * z for i, z in enumerate(normals))

    def grouped(self, vector: Float[Array, " d"]) -> Float[Array, "4 groups"]:
        """A vector's entries as the groups hold them."""
        first, second = jnp.split(jnp.pad(vector, (0, 4 * self.groups - self.dimension)), 2)
        return jnp.stack([first[0::2], first[1::2], second[0::2], second[1::2]])

    def joined(self, halves: tuple[Array, Array]) -> Float[Array, " d"]:
        """Two stretches of coordinates as one vector, float64."""
        return jnp.concatenate(halves).astype(jnp.float64)[: self.dimension]


def gaussian_rows(data: object) -> GaussianRows | None:
    """The float32 rows of a law, or None where it is not a Gaussian that they suit.

    That is one with independent coordinates, d >= 16 (a draw of few dimensions needs its own tail), and means within 64
    of the largest standard deviations (else the clipped norm would lose digits). Must be called inside `exact_scope`.

    Examples:
        >>> from mipsim._precision import exact_scope
        >>> with exact_scope():
        ...     print(gaussian_rows(Gaussian(0.0, 1.0, d=8)), gaussian_rows(Gaussian(0.0, 1.0, d=18)).groups)
        None 5
    """
    if type(data) is not Gaussian or not data.is_product or data.dimension < _LEAST_DIMENSION:
        return None
    unit = float(np.sqrt(data.cov.max()))
    location, factor = data.location / unit, np.sqrt(data.cov) / unit
    if np.abs(location).max() > _FARTHEST:
        return None
    d, short = location.size, location.astype(np.float32).astype(np.float64)
    law = GaussianRows(
        location=jnp.zeros((4, 0)),
        factor=jnp.zeros((4, 0)),
        lost=jnp.asarray(location - short),
        lost_square=jnp.asarray(np.sum(location**2) - np.sum(short**2)),
        unit=jnp.asarray(unit),
        dimension=d,
        groups=-(-d // 4),
    )
    grouped = [law.grouped(jnp.asarray(x)).astype(jnp.float32) for x in (short, factor)]
    return eqx.tree_at(lambda rows: (rows.location, rows.factor), law, tuple(grouped))
