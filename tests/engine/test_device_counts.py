"""Results are the same bits on any number of devices; XLA splits this machine's CPU into several for that."""

import json
import os
import subprocess
import sys

import pytest

PROGRAM = """
import json

import jax
import numpy as np

import mipsim as mi

p = np.linspace(0.25, 0.75, 60)
bernoulli, normal = mi.Bernoulli(p), mi.Gaussian(np.zeros(4), np.ones(4))
games = {
    "table": (mi.FixedTarget(mi.EmpiricalMean(), bernoulli, n=50, target=bernoulli.easiest_target()), "auto"),
    "literal": (mi.FixedTarget(mi.GaussianNoise(mi.EmpiricalMean(), 0.3), normal, n=8, target=np.ones(4)), "literal"),
    "random target": (mi.RandomTarget(mi.EmpiricalMean(), bernoulli, n=50), "auto"),
}
result = {"devices": len(jax.devices())}
for name, (game, fidelity) in games.items():
    attack = mi.ScalarProduct(game.data.mean)
    runs = {}
    for devices, chunk, workers, seed in ((1, None, None, 0), (2, None, None, 0), (4, 1, 3, 0), (3, 5000, 1, 0), (4, None, None, 1)):
        counts = mi.play(
            game, attack, 70_001, edges=np.sinh(np.linspace(-12.0, 12.0, 4001)) / 1e3, fidelity=fidelity, devices=devices,
            chunk=chunk, workers=workers, seed=seed, progress=False,
        )
        runs[f"{devices} devices, chunk {chunk}, {workers} workers, seed {seed}"] = [counts.out.tolist(), counts.inside.tolist()]
    result[name] = runs
print(json.dumps(result))
"""


@pytest.mark.system
def test_counts_do_not_depend_on_the_number_of_devices():
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=4".strip()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    result = json.loads(done.stdout)
    assert result.pop("devices") == 4
    assert list(result) == ["table", "literal", "random target"]
    for name, runs in result.items():
        *same, other_seed = runs.values()
        assert all(counts == same[0] for counts in same), name
        assert all(sum(count > 0 for count in world) > 20 for world in same[0]), (
            f"{name}: too few cells to compare"
        )
        assert other_seed != same[0], (
            f"{name}: counts of another seed are equal, so that this test sees nothing"
        )
