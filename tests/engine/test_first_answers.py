"""How soon a first answer comes: nothing is compiled twice, in one process or, with a folder for it, in the next."""

import json
import os
import subprocess
import sys

import jax
import numpy as np
import pytest

import mipsim as mi
from mipsim import _compiled

REFERENCE = """
import json
import jax
from collections import Counter
seen = Counter()
jax.monitoring.register_event_listener(lambda event, **_: seen.update([event.rpartition("/")[2]]))
import mipsim as mi
import numpy as np
data = mi.Bernoulli(np.random.default_rng(0).uniform(0.25, 0.75, 500))
game = mi.FixedTarget(mi.EmpiricalMean(), data, n=1000, target=data.easiest_target())
counts = mi.play(game, mi.CovarianceScore(data, n=1000), 1000, progress=False)
print(json.dumps([seen["cache_misses"], seen["cache_hits"], counts.out.tolist(), counts.inside.tolist()]))
"""


def in_a_process(**environment):
    done = subprocess.run(
        [sys.executable, "-c", REFERENCE],
        # The folder that the tests share would count too.
        env={k: v for k, v in os.environ.items() if k != "JAX_COMPILATION_CACHE_DIR"} | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_second_process_compiles_nothing_new(tmp_path):
    folder = tmp_path / "made" / "anew"
    missed, _, *counts = in_a_process(MIPSIM_COMPILATION_CACHE=str(folder))
    assert missed > 0
    code = {file.name for file in folder.iterdir() if file.name.endswith("-cache")}
    assert any("_count" in name for name in code)
    missed, hit, *again = in_a_process(MIPSIM_COMPILATION_CACHE=str(folder))
    assert (missed, hit > 0) == (0, True)
    assert {file.name for file in folder.iterdir() if file.name.endswith("-cache")} == code
    assert again == counts


def test_without_a_folder_nothing_is_kept():
    missed, hit, *_ = in_a_process(MIPSIM_COMPILATION_CACHE="")
    assert (missed, hit) == (0, 0)


def test_the_argument_switches_it_on_and_off(tmp_path):
    names = [
        "jax_compilation_cache_dir",
        "jax_persistent_cache_min_compile_time_secs",
        "jax_persistent_cache_min_entry_size_bytes",
    ]
    before = {name: getattr(jax.config, name) for name in names}
    try:
        mi.compilation_cache(tmp_path / "code")
        jax.jit(lambda x: 3 * x + 17)(np.ones(3)).block_until_ready()
        kept = len(list((tmp_path / "code").iterdir()))
        assert kept > 0
        mi.compilation_cache(None)
        jax.jit(lambda x: 3 * x + 18)(np.ones(3)).block_until_ready()
        assert len(list((tmp_path / "code").iterdir())) == kept
    finally:
        for name, value in before.items():
            jax.config.update(name, value)
        _compiled.jax_cache.reset_cache()


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        ValueError, match=r"directory is '.*file', which cannot be written \(.*\); it must be a folder"
    ):
        mi.compilation_cache(str(tmp_path / "file"))
    for wrong in (3, "", True):
        with pytest.raises(ValueError, match=f"directory is {wrong!r}; it must be the path of a folder"):
            mi.compilation_cache(wrong)  # pyright: ignore[reportArgumentType]


def test_a_second_game_of_the_same_shapes_is_not_compiled_anew():
    """Another law, target and seed; other numbers of games, and so other chunks."""
    compiled = []

    def count(event: str, duration_secs: float, **about: str | int) -> None:
        if event == "/jax/core/compile/backend_compile_duration":
            compiled.append(about.get("fun_name"))

    def play(seed, games):
        rng = np.random.default_rng(seed)
        data = mi.Bernoulli(rng.uniform(0.25, 0.75, 77))
        game = mi.FixedTarget(mi.EmpiricalMean(), data, n=300, target=(rng.random(77) < 0.5).astype(float))
        mi.play(game, mi.CovarianceScore(data, n=300), games, seed, progress=False)

    jax.monitoring.register_event_duration_secs_listener(count)
    try:
        play(0, 1000)
        assert "jit(_count)" in compiled or "_count" in compiled
        compiled.clear()
        play(1, 20_000)
        assert compiled == []
    finally:
        # The oldest JAX that is allowed keeps a listener for good; this one only fills a list.
        if hasattr(jax.monitoring, "unregister_event_duration_listener"):
            jax.monitoring.unregister_event_duration_listener(count)
