"""Attacks of the relaxed threat model: they know the output without the record, and the noise.

The first argument of their score is that known output, query(D), as `RelaxedThreat` hands it over.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from mipsim._validation import choice, member
from mipsim.attacks.base import AbstractAttack
from mipsim.attacks.quadratic import AbstractQuadraticAttack


class Magnitude(AbstractQuadraticAttack):
    """||output - query(D)||^2: the test of the magnitude.

    Source: Kaissis et al. (2023), lemma 4 and theorem 2.

    Examples:
        >>> print(Magnitude().score(jnp.array([1.0, 0.0]), jnp.array([4.0, 4.0])))
        25.0
    """

    def centre(self, target: Float[Array, " k"]) -> Float[Array, " k"]:
        return target

    def metric(self, target: Float[Array, " k"]) -> Float[Array, " k"]:
        return jnp.ones_like(target)

    def value(self, target: Float[Array, " k"], square: Float[Array, ""]) -> Float[Array, ""]:
        return square


class OfflineLiRA(AbstractAttack):
    """Offline LiRA: how a model's statistic lies in a Gaussian fitted to shadow models trained without the record.

    With phi the statistic of the model, and m and s the mean and the standard deviation over the shadow models, z = (phi - m) / s.
    The shadow models are the rows after the first of the output of a `RelaxedThreat` with at least 2 shadows.

    Args:
        statistic: a function of a release, shape (k,), such as the logit of the confidence in a record's label; it should be
            larger for members, as the one-sided score only looks up.
        score: "one_sided" is the paper's: z, which orders outputs as its 1 - P(Z > phi) and does not saturate. "two_sided": abs(z).
            "reference_code" is what the authors' program computes: minus the Gaussian log-density of phi, with the median for m
            and s + 1e-30 for s, which is two-sided and adds log s.

    Source: Carlini et al. (2022), equation 4 in section V.C, and their program `mi_lira_2021/plot.py`; Kaissis et al. (2023),
    section 5, for the two-sided score.

    Examples:
        >>> statistic = lambda release: 2.0 * release[0]
        >>> output = jnp.array([[-5.0], [-1.0], [1.0]])
        >>> for score in ("one_sided", "two_sided", "reference_code"):
        ...     print(round(float(OfflineLiRA(statistic, score=score).score(jnp.zeros(1), output)), 4))
        -5.0
        5.0
        14.1121
    """

    statistic: Callable[[Array], Array] = eqx.field(static=True)
    kind: str = eqx.field(static=True)

    def __init__(self, statistic: Callable[[Array], Array], *, score: str = "one_sided") -> None:
        member("statistic", statistic, Callable, "callable(release) -> scalar")
        self.statistic = statistic
        self.kind = choice("score", score, ("one_sided", "two_sided", "reference_code"))

    def score(self, target: Float[Array, " k"], output: Float[Array, "m k"]) -> Float[Array, ""]:
        values = jax.vmap(self.statistic)(jnp.asarray(output))
        own, shadows = values[0], values[1:]
        if self.kind == "reference_code":
            s = shadows.std() + 1e-30
            return (
                0.5 * jnp.square((own - jnp.median(shadows)) / s) + jnp.log(s) + 0.5 * jnp.log(2.0 * jnp.pi)
            )
        z = (own - shadows.mean()) / shadows.std()
        return jnp.abs(z) if self.kind == "two_sided" else z
