"""A search plays thousands of different games in a single process: compiled code must not fill its memory maps."""

import sys

import jax
import numpy as np
import pytest

import mipsim as mi
from mipsim import _compiled


def game(n: int) -> tuple[mi.FixedTarget, mi.FunctionAttack]:
    mean = mi.FixedTarget(mi.EmpiricalMean(), mi.Bernoulli([0.5, 0.5]), n=n, target=[1.0, 1.0])
    return mean, mi.FunctionAttack(lambda target, output: output.sum())  # a kernel of its own for each call


@pytest.mark.evidence
@pytest.mark.skipif(sys.platform != "linux", reason="other systems set no limit to memory maps")
def test_maps_stay_below_a_limit(monkeypatch):
    """Each of these games compiles a kernel; without letting go they would add some 70 maps each."""
    mi.play(*game(2), 1000, 0, progress=False)
    least = _compiled._maps()
    monkeypatch.setattr(_compiled, "LOOK_EVERY", 1)
    monkeypatch.setattr(_compiled, "MOST_MAPS", least + 200)
    seen = []
    for n in range(3, 15):
        mi.play(*game(n), 1000, 0, progress=False)
        seen.append(_compiled._maps())
    assert max(seen) < least + 1000
    assert (np.diff(seen) < 0).any()  # it was let go at least once


@pytest.mark.evidence
def test_what_was_let_go_is_compiled_again_and_counts_the_same(monkeypatch):
    first = mi.play(*game(5), 1000, 3, progress=False)
    monkeypatch.setattr(_compiled, "LOOK_EVERY", 0)
    monkeypatch.setattr(_compiled, "MOST_MAPS", -1)
    _compiled.prepare()
    again = mi.play(*game(5), 1000, 3, progress=False)
    assert (first.out == again.out).all()
    assert (first.inside == again.inside).all()


def test_without_such_a_file_nothing_is_counted(monkeypatch, tmp_path):
    monkeypatch.setattr(_compiled, "MAPS", tmp_path / "maps")
    assert _compiled._maps() == 0


def test_compilations_are_counted(monkeypatch):
    monkeypatch.setattr(_compiled, "_seen", 0)
    jax.jit(lambda x: x + np.float32(0.12345))(np.zeros(7, np.float32))
    assert _compiled._seen >= 1
