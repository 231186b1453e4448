"""Nothing is compiled twice, in the same process or, with a folder for it, in the next; and what is compiled does not fill the memory maps."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import mipsim as mi
from mipsim import _compiled
from mipsim._precision import exact_scope
from mipsim.engine.samplers.literal import law_sampler
from mipsim.mechanisms.noise import AbstractNoise
from tests.engine.kinds import kind_of
from tests.sampler_laws import same

REFERENCE = """
import json
import jax
chosen = jax.config.jax_compilation_cache_dir
from collections import Counter
seen = Counter()
jax.monitoring.register_event_listener(lambda event, **_: seen.update([event.rpartition("/")[2]]))
import mipsim as mi
import numpy as np
mi.play
assert jax.config.jax_compilation_cache_dir == chosen
data = mi.Bernoulli(np.random.default_rng(0).uniform(0.25, 0.75, 500))
game = mi.FixedTarget(mi.EmpiricalMean(), data, n=1000, target=data.easiest_target())
counts = mi.play(game, mi.CovarianceScore(data, n=1000), 1000, progress=False)
print(json.dumps([seen["cache_misses"], seen["cache_hits"], counts.out.tolist(), counts.inside.tolist()]))
"""


def in_a_process(**environment):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", REFERENCE],
        # The folder that the tests share would count too.
        env={k: v for k, v in os.environ.items() if k != "JAX_COMPILATION_CACHE_DIR"} | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.system
@pytest.mark.skipif(sys.platform != "linux", reason="other systems name no cache folder by a variable")
def test_by_default_it_is_stored_in_the_user_s_cache_folder(tmp_path):
    missed, hit, *counts = in_a_process(XDG_CACHE_HOME=str(tmp_path))
    assert (missed > 0, hit) == (True, 0)
    (folder,) = (tmp_path / "mipsim" / "compiled").iterdir()
    assert folder.name == _compiled._machine()
    assert any("_count" in file.name for file in folder.iterdir())
    missed, hit, *again = in_a_process(XDG_CACHE_HOME=str(tmp_path))
    assert (missed, hit > 0) == (0, True)
    assert again == counts


@pytest.mark.system
@pytest.mark.skipif(sys.platform != "linux", reason="other systems name no cache folder by a variable")
def test_what_cannot_or_may_not_be_stored_costs_nothing_and_a_folder_of_jax_s_stays(tmp_path):
    missed, hit, *_ = in_a_process(JAX_ENABLE_COMPILATION_CACHE="0", XDG_CACHE_HOME=str(tmp_path))
    assert (missed, hit, list(tmp_path.iterdir())) == (0, 0, [])
    blocked = tmp_path / "file"
    blocked.write_text("")
    missed, hit, *counts = in_a_process(XDG_CACHE_HOME=str(blocked))
    assert (missed, hit) == (0, 0)
    own, home = tmp_path / "own", tmp_path / "home"
    *_, out, inside = in_a_process(XDG_CACHE_HOME=str(home), JAX_COMPILATION_CACHE_DIR=str(own))
    assert [out, inside] == counts
    assert not home.exists()


@pytest.fixture
def compiled():
    """What is compiled meanwhile, by name."""
    names: list[str] = []

    def count(event: str, duration_secs: float, **about: str | int) -> None:
        if event == "/jax/core/compile/backend_compile_duration":
            names.append(str(about.get("fun_name")))

    jax.monitoring.register_event_duration_secs_listener(count)
    yield names
    # The oldest JAX that is allowed keeps a listener for good; this listener only fills a list.
    if hasattr(jax.monitoring, "unregister_event_duration_listener"):
        jax.monitoring.unregister_event_duration_listener(count)


def test_a_second_game_of_the_same_shapes_is_not_compiled_anew(compiled):
    """Another law, target and seed; other numbers of games, and so other chunks."""

    def play(seed, games):
        rng = np.random.default_rng(seed)
        data = mi.Bernoulli(rng.uniform(0.25, 0.75, 77))
        game = mi.FixedTarget(mi.EmpiricalMean(), data, n=300, target=(rng.random(77) < 0.5).astype(float))
        mi.play(game, mi.CovarianceScore(data, n=300), games, seed, progress=False)

    play(0, 1000)
    assert any("_count" in name for name in compiled)
    compiled.clear()
    play(1, 20_000)
    assert compiled == []


COINS, NORMAL = mi.Bernoulli([0.5, 0.4, 0.3]), mi.Gaussian([0.0, 0.0], [[1.0, 0.3], [0.3, 1.0]])
MEAN = mi.EmpiricalMean()
FOR_ANY_N: dict[str, Callable[[int], tuple[mi.AbstractGame, mi.AbstractAttack]]] = {
    "TableSampler": lambda n: (mi.FixedTarget(MEAN, COINS, n, [1.0, 0.0, 1.0]), mi.LikelihoodRatio(MEAN, COINS, n)),
    "LawSampler": lambda n: (mi.RandomTarget(mi.NormNoise(mi.Subsampled(MEAN, 0.5), scale=0.5), NORMAL, n), mi.GLiR(NORMAL, n=n // 2)),
    "QuadraticSampler": lambda n: (mi.FixedTarget(MEAN, NORMAL, n, [1.0, 2.0]), mi.GaussianLikelihoodRatio(NORMAL, n)),
    "LatticeColumns": lambda n: (mi.FixedTarget(mi.LaplaceNoise(MEAN, 0.1), COINS, n, [1.0, 0.0, 1.0]), mi.CovarianceScore(COINS, n)),
    "RecordSumSampler": lambda n: (mi.FixedTarget(MEAN, mi.Empirical([[0.0], [1.0], [3.0]]), n, [2.0]), mi.ScalarProduct([0.0])),
}  # fmt: skip


@pytest.mark.system
@pytest.mark.parametrize("name", FOR_ANY_N)
def test_another_number_of_records_is_not_compiled_anew(compiled, name):
    """Whatever draws no records; see the next test for what does."""
    for n in (300, 290):
        compiled.clear()
        mi.play(*FOR_ANY_N[name](n), 100, edges=[0.0], progress=False)
    assert compiled == []
    assert kind_of(*FOR_ANY_N[name](300)) == name


@pytest.mark.system
def test_records_of_another_shape_are_compiled_anew(compiled):
    """The control: a literal game hands a user's function n rows."""
    for n in (30, 29):
        compiled.clear()
        game, attack = FOR_ANY_N["TableSampler"](n)
        mi.play(game, attack, 100, edges=[0.0], fidelity="literal", progress=False)
    assert len(compiled) == 1
    assert "_count" in compiled[0]


class Rounded(AbstractNoise):
    """A user's own noise, which asks Python how many records there are."""

    base: mi.AbstractMechanism

    def draw(self, key, shape, n, dtype):
        return jax.random.normal(key, shape, dtype) / len(range(n))

    def check_fits(self, shape):
        pass


def test_a_mechanism_that_needs_a_python_number_of_records_has_it():
    game = mi.FixedTarget(Rounded(MEAN), NORMAL, n=10, target=[0.0, 0.0])
    with exact_scope():
        sampler: Any = law_sampler(game, mi.ScalarProduct([0.0, 0.0]))
        assert type(sampler.game.n) is int
    result = mi.play(game, mi.ScalarProduct([0.0, 0.0]), 100, edges=[0.0], progress=False)
    assert (result.manifest["sampler"], result.games) == ("exact draw", 100)


def own_game(n: int) -> tuple[mi.FixedTarget, mi.FunctionAttack]:
    mean = mi.FixedTarget(MEAN, mi.Bernoulli([0.5, 0.5]), n=n, target=[1.0, 1.0])
    return mean, mi.FunctionAttack(lambda target, output: output.sum())  # a kernel of its own for each call


@pytest.mark.evidence
@pytest.mark.skipif(sys.platform != "linux", reason="other systems set no limit to memory maps")
def test_maps_stay_below_a_limit(monkeypatch):
    """Each of these games compiles a kernel; without letting go they would add some 70 maps each."""
    mi.play(*own_game(2), 1000, 0, progress=False)
    least = _compiled._maps()
    monkeypatch.setattr(_compiled, "LOOK_EVERY", 1)
    monkeypatch.setattr(_compiled, "MOST_MAPS", least + 200)
    seen = []
    for n in range(3, 15):
        mi.play(*own_game(n), 1000, 0, progress=False)
        seen.append(_compiled._maps())
    assert max(seen) < least + 1000
    assert (np.diff(seen) < 0).any()  # it was let go at least once


@pytest.mark.evidence
def test_what_was_let_go_is_compiled_again_and_counts_the_same(monkeypatch, tmp_path):
    first = mi.play(*own_game(5), 1000, 3, progress=False)
    monkeypatch.setattr(_compiled, "LOOK_EVERY", 0)
    monkeypatch.setattr(_compiled, "MOST_MAPS", -1)
    _compiled.prepare()
    assert same(first, mi.play(*own_game(5), 1000, 3, progress=False))
    monkeypatch.setattr(_compiled, "MAPS", tmp_path / "maps")
    assert _compiled._maps() == 0
