"""The game of two inputs: the literal mechanism on either, whatever its output's shape."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.stats import binom, laplace

import mipsim as mi


def noisy(key, answers):
    return answers + jax.random.laplace(key, answers.shape)


def test_the_counts_follow_the_law_of_the_output() -> None:
    game = mi.TwoInputs(noisy, [0.0], [1.0])
    edges = np.linspace(-2.0, 3.0, 11)
    counts = mi.play(game, lambda target, output: output[0], games=20_000, edges=edges, progress=False)
    for world, shift in (("out", 0.0), ("inside", 1.0)):
        result = np.cumsum(getattr(counts, world))[:-1]
        expected = laplace.cdf(edges, loc=shift)
        # Eleven thresholds in two worlds, each two-sided: 1e-6 in all.
        low, high = (binom.ppf(q, 20_000, expected) for q in (1e-6 / 44, 1 - 1e-6 / 44))
        assert (result >= low).all()
        assert (result <= high).all()


def test_the_counts_do_not_depend_on_the_chunk() -> None:
    game = mi.TwoInputs(noisy, np.zeros((2, 3)), np.ones((2, 3)))
    played = [
        mi.play(
            game,
            lambda target, output: jnp.sum(output),
            games=5000,
            edges=[0.0, 3.0],
            chunk=c,
            progress=False,
        )
        for c in (512, 4096)
    ]
    assert (played[0].out == played[1].out).all()
    assert (played[0].inside == played[1].inside).all()


def test_the_attacker_knows_the_second_input() -> None:
    game = mi.TwoInputs(lambda key, answers: answers, [0.0, 0.0], [1.0, 2.0])
    counts = mi.play(
        game, lambda target, output: jnp.sum(target * output), games=100, edges=[2.5], progress=False
    )
    assert counts.out.tolist() == [100, 0]
    assert counts.inside.tolist() == [0, 100]
