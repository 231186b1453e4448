"""Counts that version 0.1.0 stored are read, resumed and merged, wherever the classes that they name live now."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import mipsim as mi
from mipsim.engine import manifest, play
from sims.every_sampler import EDGES, GAMES, small_games

STORED = Path(__file__).parent / "stored"
HALF = GAMES // 2
INVERTED = {"gaussian-ratio": "precision", "glir": "inverse"}
"""Where LAPACK inverts a full covariance: its last bit, and with it the identity of the run, is the CPU's."""

pytestmark = pytest.mark.filterwarnings("ignore:.*holds no digest of its counts:UserWarning")


@pytest.fixture
def as_stored(monkeypatch):
    """Say that this is the JAX and the mipsim that stored the counts: streams are promised within those versions."""
    written = mi.Histogram.load(STORED / "covariance.npz").manifest["versions"]
    here = manifest.versions()
    monkeypatch.setattr("mipsim.engine.run.versions", lambda: written)
    return written == here


@pytest.mark.parametrize("name", sorted(small_games()))
def test_stored_counts_are_resumed_and_merged(name, tmp_path, as_stored):
    game, attack = small_games()[name]
    path = tmp_path / "run.npz"
    shutil.copy(STORED / f"{name}.npz", path)
    before = mi.Histogram.load(path)
    # Named alike: nothing in the identity of the run has changed with the place of a class.
    assert manifest.describe(game) == before.manifest["game"]
    named, stored = manifest.describe(attack), before.manifest["attack"]
    if name in INVERTED and named != stored:
        field = INVERTED[name]
        assert {**named, field: stored[field]} == stored
        exact = np.array([[1.0, -0.3], [-0.3, 1.0]]) / 0.91
        np.testing.assert_array_max_ulp(getattr(attack, field), exact, 2)
        pytest.skip(
            "LAPACK rounds the inverse of a full covariance otherwise on this CPU: it is another attack"
        )
    assert named == stored
    resumed = play(game, attack, GAMES, seed=7, edges=EDGES, checkpoint=path, progress=False)
    assert resumed.games == GAMES
    rest = play(game, attack, range(HALF, GAMES), seed=7, edges=EDGES, progress=False)
    merged = before + rest
    assert np.array_equal(merged.out, resumed.out)
    assert np.array_equal(merged.inside, resumed.inside)
    if as_stored:  # with the very versions that stored them, the first half is played again to the same bits
        again = play(game, attack, HALF, seed=7, edges=EDGES, progress=False)
        assert np.array_equal(again.out, before.out)
        assert np.array_equal(again.inside, before.inside)


RETIRED = {
    "threefry": "literal",
    "columns": "columns",
    "literal": "every record",
    "whole": "every record",
    "blocks": "every record, by blocks",
    "loops": "every record, in short loops",
    "sums": "law",
}
"""Samplers that play these games no more, by the ends of the files' names."""


@pytest.mark.parametrize(
    "name", [path.stem for end in RETIRED for path in sorted(STORED.glob(f"*-{end}.npz"))]
)
def test_counts_of_a_retired_sampler_are_read_and_never_mixed(name, tmp_path, as_stored):
    run, _, end = name.rpartition("-")
    game, attack = small_games()[run]
    path = tmp_path / "run.npz"
    shutil.copy(STORED / f"{name}.npz", path)
    before = mi.Histogram.load(path)
    assert (before.games, before.manifest["sampler"]) == (HALF, RETIRED[end])
    with pytest.raises(ValueError, match=r"sampler|fidelity"):
        play(game, attack, GAMES, seed=7, edges=EDGES, checkpoint=path, progress=False)
    rest = play(game, attack, range(HALF, GAMES), seed=7, edges=EDGES, progress=False)
    with pytest.raises(ValueError, match=r"sampler|fidelity"):
        _ = before + rest


def test_counts_without_a_digest_are_read_and_said_so():
    with pytest.warns(UserWarning, match=r"covariance\.npz holds no digest of its counts"):
        assert mi.Histogram.load(STORED / "covariance.npz").games == HALF


def test_every_member_has_the_name_it_had_when_counts_were_first_stored():
    """A class that moves keeps its name in manifests: add it to `manifest.STORED_NAMES`."""
    known = (STORED / "names.txt").read_text().split()
    families = (mi.AbstractMechanism, mi.AbstractDistribution, mi.AbstractGame, mi.AbstractAttack)
    public = [getattr(mi, name) for name in mi.__all__ if name != "theory"]
    members = [x for x in public if isinstance(x, type) and issubclass(x, families)]
    names = {manifest.stored_name(member) for member in members}
    assert set(known) <= names, sorted(set(known) - names)
