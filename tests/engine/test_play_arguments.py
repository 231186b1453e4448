import jax.numpy as jnp
import numpy as np
import pytest

import mipsim as mi

DATA = mi.Bernoulli([0.3, 0.6, 0.4])
GAME = mi.FixedTarget(mi.EmpiricalMean(), DATA, n=10, target=DATA.easiest_target())
ATTACK = mi.CovarianceScore(DATA, n=10)
MEDIAN = mi.FixedTarget(lambda key, records: jnp.median(records, axis=0), DATA, n=10, target=GAME.target)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"games": 0}, "games is 0; it must be a whole number >= 1"),
        ({"games": -5}, "games is -5"),
        ({"games": 2.5}, "games is 2.5"),
        ({"games": "many"}, "games is 'many'"),
        ({"games": float("nan")}, "games is nan"),
        ({"games": True}, "games is True"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 0.5}, "seed is 0.5"),
        ({"seed": 2**64}, "seed is 18446744073709551616"),
        ({"chunk": 0}, "chunk is 0"),
        ({"checkpoint": 5}, "checkpoint is int; it must be the path of a file"),
        ({"workers": 0}, "workers is 0"),
        ({"fidelity": "magic"}, "fidelity is 'magic'; allowed: auto, literal, sufficient, projected, exact"),
        ({"fidelity": "exact"}, r"fidelity is 'exact', which plays no games; .* call game\.exact\(attack\)"),
        ({"game": MEDIAN, "fidelity": "sufficient"}, "FunctionMechanism of Bernoulli data has no exact law"),
        ({"game": "a game"}, "game is str"),
        ({"attack": 3.0}, "attack is float; it must be callable"),
        ({"edges": [0.0, np.nan]}, "edges holds nan at index 1"),
        ({"edges": [0.0, np.inf]}, "edges holds inf"),
        ({"edges": [0.0, 0.0]}, "edges falls or stays at index 1"),
        ({"edges": [1.0, 2.0, 0.0]}, "edges falls or stays at index 2"),
        ({"edges": []}, "edges has shape"),
        ({"edges": [[0.0]]}, "edges has shape"),
        ({"edges": "fine"}, "edges is str"),
        ({"attack": mi.CovarianceScore(mi.Bernoulli([0.5]), n=10)}, "CovarianceScore does not fit the game"),
        ({"attack": mi.CovarianceScore(mi.Bernoulli([0.5] * 4), n=10)}, "CovarianceScore does not fit the game"),
        ({"attack": mi.LikelihoodRatio(mi.EmpiricalMean(), mi.Bernoulli([0.5]), n=10)}, "LikelihoodRatio knows data of dimension 1; the game's is 3"),
        ({"attack": lambda t, o: o}, r"shape \(3,\) and dtype float64; the score must be a real scalar"),
        ({"attack": lambda t, o: o[0] * 1j}, "the score must be a real scalar"),
        ({"attack": lambda t, o: (o[0], o[1])}, "returns several arrays; the score must be a real scalar"),
        ({"attack": lambda t, o: o @ jnp.ones(4)}, "does not fit the game, whose target has shape"),
        ({"attack": lambda t: 0.0}, r"takes \(t\); it is called as attack\(target, output\)"),
        ({"game": mi.FixedTarget(lambda key, r: r @ jnp.ones(5), DATA, n=10, target=GAME.target)}, "mechanism <lambda> cannot be played"),
    ],
)  # fmt: skip
def test_bad_input_is_a_single_clear_sentence(changed, message):
    arguments = {"game": GAME, "attack": ATTACK, "games": 10, "progress": False, **changed}
    with pytest.raises(ValueError, match=message) as caught:
        mi.play(**arguments)
    assert "\n" not in str(caught.value)


def test_good_input_of_unusual_types_is_taken():
    unusual = {"games": np.int64(50), "seed": np.uint8(3), "edges": (0, 1), "chunk": 1e3}
    histogram = mi.play(GAME, ATTACK, progress=False, **unusual)
    assert histogram.games == 50
    assert histogram.manifest["seed"] == 3
