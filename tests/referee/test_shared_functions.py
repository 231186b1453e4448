"""Games of the same shape are compiled once, whatever numbers their functions close over, and count the same."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mipsim as mi
from mipsim._pure import ImpureFunctionError
from mipsim.referee.judging.games import empirical
from mipsim.referee.judging.shared_functions import with_shared_functions
from mipsim.referee.values import Played, read

COMPILATIONS: list[float] = []
SHIFT = 0.0


@pytest.fixture(scope="module", autouse=True)
def _counted() -> None:
    def count(event: str, duration_secs: float, **_: Any) -> None:
        if event == "/jax/core/compile/backend_compile_duration":
            COMPILATIONS.append(duration_secs)

    jax.monitoring.register_event_duration_secs_listener(count)


def two_inputs(scale: float) -> Played:
    factors = np.full(3, scale)

    def noise(key: Any, shape: Any) -> Any:
        return scale * jax.random.laplace(key, shape)

    game = mi.TwoInputs(
        lambda key, x, shift=0.5 * scale: factors * x + noise(key, x.shape) + shift, [0.0] * 3, [1.0] * 3
    )
    value = read("truth", (game, lambda target, output: jnp.sum(output) / scale))
    assert isinstance(value, Played)
    return value


def of_records(bound: float) -> Played:
    mean = lambda key, x: jnp.clip(x, -1.0, bound).mean(axis=0)  # noqa: E731
    game = mi.FixedTarget(mean, mi.Gaussian(0.0, 1.0, d=2), n=5, target=[2.0, 2.0])
    return Played(game, mi.FunctionAttack(lambda target, output: jnp.dot(target, output)))


@pytest.mark.parametrize("played", [two_inputs, pytest.param(of_records, marks=pytest.mark.evidence)])
def test_points_of_a_shape_are_compiled_once_and_count_the_same(played: Callable[[float], Played]) -> None:
    empirical(played(0.7), 5_000, 1, 0.9)
    before = len(COMPILATIONS)
    shared = empirical(played(2.0), 5_000, 1, 0.9)
    assert len(COMPILATIONS) == before
    value = played(2.0)
    own = mi.play(value.game, value.attack, 5_000, 1, progress=False).tradeoff(confidence=0.9)
    assert len(COMPILATIONS) > before  # what is not shared is compiled: the counter counts
    assert np.array_equal(shared.alpha, own.alpha)
    assert np.array_equal(shared.beta, own.beta)


def branching(scale: float) -> Any:
    def release(key: Any, x: Any) -> Any:
        return x + (jax.random.laplace(key, x.shape) if scale > 1.0 else 0.0)

    return release


def listing(scale: float) -> Any:
    held = [scale]
    return lambda key, x: x + held[0] * jax.random.laplace(key, x.shape)


@pytest.mark.parametrize("function", [branching, listing])
def test_what_cannot_be_shared_is_played_as_it_is(function: Any) -> None:
    """A number that decides a branch must be known, and a list may change in its place."""
    game = mi.TwoInputs(function(2.0), [0.0], [1.0])
    value = with_shared_functions(Played(game, mi.FunctionAttack(lambda target, output: output[0])))
    assert value.game is game


def test_a_global_that_is_bound_anew_makes_another_game(monkeypatch: pytest.MonkeyPatch) -> None:
    def value() -> Played:
        game = mi.TwoInputs(lambda key, x: x * SHIFT + jax.random.laplace(key, x.shape), [0.0], [1.0])
        return Played(game, mi.FunctionAttack(lambda target, output: output[0]))

    first = empirical(value(), 5_000, 1, 0.9)
    monkeypatch.setitem(globals(), "SHIFT", 9.0)
    second = empirical(value(), 5_000, 1, 0.9)
    assert np.abs(first.beta + first.alpha - 1.0).max() < 0.1
    assert np.abs(second.beta + second.alpha - 1.0).max() > 0.9


def test_an_impure_function_is_refused_as_ever() -> None:
    scale = 2.0
    game = mi.TwoInputs(lambda key, x: x + scale * np.random.normal(), [0.0], [1.0])  # noqa: NPY002
    with pytest.raises(ImpureFunctionError, match=r"draws from np\.random"):
        empirical(Played(game, mi.FunctionAttack(lambda target, output: output[0])), 2_000, 1, 0.9)
