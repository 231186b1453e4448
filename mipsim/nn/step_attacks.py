"""Attacks on the sequence of updates: the score of a mean gradient, added over the steps."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mipsim._validation import choice, member
from mipsim._words import quoted
from mipsim.attacks.base import AbstractAttack
from mipsim.nn.descent import Descent, Steps, linear_gradient
from mipsim.nn.gradients import checked_examples
from mipsim.nn.network import PARTS, Parameters
from mipsim.nn.private import mean_gradient
from mipsim.nn.shadows import checked_descent

_TOGETHER = 32  # steps: their gradients stay far below the size of a covariance's axes


class SummedOverSteps(AbstractAttack):
    """sum_t attack.score(g*_t, m_t): g*_t the target's gradient at the parameters before step t, m_t the mean gradient that step t releases.

    With a covariance score it is the covariance attack on SGD, with GLiR's log p-values algorithm 1 of Leemann et al. (2023), with a
    scalar product the attack that both are compared with. What the attack knows of the law of gradients is estimated once and
    serves all steps; with `background`, the mean is estimated anew at the parameters of each step: by how much the mean gradient of
    the background differs there from that at the start is taken off the target's gradient and off m_t.

    Args:
        descent: the training that is attacked; it releases "steps", the first of them at its start.
        attack: scores a mean gradient of `part` against the target's.
        part: of the gradients that is scored: "trained" or "last"; None = what the descent trains.
        background: (inputs, labels) of the records from whose gradients at the start the attack's mean was estimated; None = the
            mean of the start serves all steps, which is far off after the first where the parameters move.

    Source: Azize & Basu (2025), algorithm 4; Leemann et al. (2023), algorithm 1.

    Examples:
        >>> import mipsim as mi, numpy as np
        >>> from mipsim.nn import Descent, linear
        >>> network, x, y = linear((1,), 1), np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([1.0, 2.0, 3.0, 4.0])
        >>> descent = Descent(network, network.start(0), x, y, batch=2, steps=4, rate=0.1)
        >>> attack = SummedOverSteps(descent, mi.ScalarProduct(np.zeros(2)))
        >>> print(attack.score(np.array([0.0]), Steps(np.zeros((4, 2)), np.ones((4, 2)))))  # each gradient is (-1, -1)
        -8.0
    """

    descent: Descent
    attack: AbstractAttack
    part: str = eqx.field(static=True)
    background: tuple[np.ndarray, np.ndarray] | None

    def __init__(
        self,
        descent: Descent,
        attack: AbstractAttack,
        part: str | None = None,
        background: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        self.descent = checked_descent(descent, "steps")
        self.attack = member(
            "attack", attack, AbstractAttack, "an attack on a mean, such as a CovarianceScore"
        )
        self.part = choice("part", descent.part if part is None else part, PARTS)
        if background is not None:
            if not isinstance(background, (tuple, list)) or len(background) != 2:
                raise ValueError(f"background is {quoted(background)}; it must be (inputs, labels)")
            try:
                background = checked_examples(descent.network, *background)
            except ValueError as error:
                raise ValueError(f"background: {error}") from None
        self.background = background

    def score(self, target: Float[Array, " 1"], output: Any) -> Float[Array, ""]:
        network, trained = self.descent.network, self.descent.part
        start = jax.tree.map(jnp.asarray, self.descent.start)
        record = self.descent.example(target)

        def here(vector: Array) -> Parameters:
            return network.with_flat(start, vector.astype(jnp.float32), trained)

        def gradients(step: Steps) -> Steps:
            """The target's gradient at the parameters of the step, and the part of the mean gradient that is scored."""
            own, mean = self._mean(here(step.parameters), *record), step.gradients
            return Steps(own, mean if self.part == trained else network.flat(here(mean), self.part))

        seen = jax.lax.map(gradients, output)
        known = self.background
        if known is not None:
            # A training begins at its start, where the background's mean is the known one.
            at_start = self._mean(start, *known)
            moved = jax.lax.map(
                lambda vector: self._mean(here(vector), *known) - at_start, output.parameters[1:]
            )
            seen = Steps(*(leaf.at[1:].add(-moved) for leaf in seen))

        def of_step(step: Steps) -> Array:
            own, mean = step.parameters.astype(float), step.gradients.astype(float)
            return jnp.asarray(self.attack.score(own, mean), float)

        # Step by step, since convolutions with filters that differ are slow together; then scores of some steps at once, so that
        # what an attack knows, a large matrix often, is read once for all of them.
        return jax.lax.map(of_step, seen, batch_size=_TOGETHER).sum()

    def _mean(self, parameters: Parameters, x: Any, y: Any) -> Array:
        """The mean gradient of some records."""
        network = self.descent.network
        vector, x, y = network.flat(parameters, self.part), jnp.asarray(x), jnp.asarray(y)
        if network.kind == "linear" and network.outputs > 1:
            return linear_gradient(vector, x.reshape(len(x), -1), y)
        return mean_gradient(network, parameters, vector, x, y, part=self.part)
