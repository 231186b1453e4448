import json
from typing import Any

import numpy as np
import pytest

import mipsim as mi
from mipsim.engine.checkpoint import write_counts
from mipsim.engine.describe import array_digest
from sims.__main__ import main
from sims.merge import merge
from sims.runner import run, shard_path, store_path
from sims.study import Study

GAMES = 1_000


def build():
    data = mi.Gaussian(np.zeros(2), np.ones(2))
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=5, target=np.ones(2))
    return game, mi.CovarianceScore(data, n=5)


TINY = Study("tiny", "for tests", build, {"quick": 10, "standard": 20, "full": 30}, seed=4)


def shards(folder, count, games=GAMES, seed=4):
    for i in range(count):
        run(TINY, games, seed, folder, shard=(i, count))
    return [shard_path(TINY, seed, folder, range(games), (i, count)) for i in range(count)]


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    return shards(tmp_path_factory.mktemp("three"), 3)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    run(TINY, GAMES, directory=folder)
    return store_path(TINY, 4, folder)


def change(path, target, edges: Any = 0.0, **manifest):
    read = mi.Histogram.load(path)
    if edges:
        manifest["edges"] = {**array_digest(read.edges + edges), "source": "pilot"}
    counts = (0 * read.out, 0 * read.inside) if "games" in manifest else (read.out, read.inside)
    write_counts(target, read.edges + edges, *counts, {**read.manifest, **manifest})
    return target


def test_shards_add_up_to_one_run_byte_for_byte(tmp_path, three, whole):
    """More shards than games, too."""
    merge([three[2], three[0], three[1]], tmp_path / "sum.npz")
    assert (tmp_path / "sum.npz").read_bytes() == whole.read_bytes()
    manifest = mi.Histogram.load(three[1]).manifest
    assert manifest["runs"] == [[4, 333, 666]]
    assert json.loads(json.dumps(manifest))["shard"] == {"index": 1, "count": 3, "games": [0, 1000]}
    merge(shards(tmp_path, 3, games=2), tmp_path / "few.npz")
    run(TINY, 2, directory=tmp_path)
    assert (tmp_path / "few.npz").read_bytes() == store_path(TINY, 4, tmp_path).read_bytes()


WRONG = {
    "games 666 to 999 of 1000 are in no shard": lambda odd, three, whole: three[:2],
    "games 333 to 665 of 1000 are in no shard": lambda odd, three, whole: three[::2],
    "games 0 to 332, 666 to 999 of 1000 are in no shard": lambda odd, three, whole: three[1:2],
    "both hold game 333": lambda odd, three, whole: [*three, three[1]],
    **{
        words: lambda odd, three, whole, manifest=manifest: [three[0], change(three[1], odd, **manifest), three[2]]
        for words, manifest in (
            ("they differ in seed", {"seed": 5}), ("they differ in versions", {"versions": {"mipsim": "9", "jax": "9"}}), ("they differ in draws", {"draws": -1}),
            ("they differ in game", {"game": {"class": "other"}}), ("they differ in edges", {"edges": 1e-12}),
            ("holds 333 of the 334 games", {"shard": {"index": 1, "count": 3, "games": [0, 1001]}}),
            ("holds 0 of the 333 games of shard 1/3; run it again", {"games": 0, "runs": [[4, 333, 333]]}),
        )
    },
    r"1001 games and .* a shard of 1000": lambda odd, three, whole: [three[0], shards(odd.parent, 3, games=1_001)[1], three[2]],
    "is no shard": lambda odd, three, whole: [three[0], whole, three[2]],
    "does not exist": lambda odd, three, whole: [three[0], odd, three[2]],
    "files is empty": lambda odd, three, whole: [],
}  # fmt: skip


@pytest.mark.parametrize("words", WRONG)
def test_shards_that_are_no_whole_run_are_refused(tmp_path, three, whole, words):
    with pytest.raises(ValueError, match=words):
        merge(WRONG[words](tmp_path / "odd.npz", three, whole), tmp_path / "sum.npz")
    assert not (tmp_path / "sum.npz").exists()


def test_nothing_is_overwritten(tmp_path, three, whole):
    out = tmp_path / "sum.npz"
    for content in (b"precious", three[0].read_bytes()):
        out.write_bytes(content)
        with pytest.raises(ValueError, match=r"sum\.npz exists and holds something else"):
            merge(three, out)
        assert out.read_bytes() == content
    merge(three, out, force=True)
    assert out.read_bytes() == whole.read_bytes()
    written = out.stat().st_mtime_ns
    merge(three, out)
    assert out.read_bytes() == whole.read_bytes()
    assert out.stat().st_mtime_ns == written  # the same sum is left as it is


@pytest.mark.evidence
def test_on_the_command_line(tmp_path, capsys, whole):
    name = "azize_counterexample_scalar_product"
    for i in range(2):
        arguments = ["run", name, "--games", "100", "--shard", f"{i}/2", "--out", str(tmp_path)]
        assert main(arguments) == 0
    files = sorted(map(str, tmp_path.glob("*shard*")))
    assert len(files) == 2
    assert main(["merge", *files, "--out", str(tmp_path / "sum.npz")]) == 0
    assert main(["run", name, "--games", "100", "--out", str(tmp_path)]) == 0
    item = (tmp_path / f"{name}-0.npz").read_bytes()
    assert (tmp_path / "sum.npz").read_bytes() == item
    assert "100 games per world, stored in" in capsys.readouterr().out
    assert main(["merge", files[0], "--out", str(tmp_path / "half.npz")]) == 2
    assert "games 50 to 99 of 100 are in no shard" in capsys.readouterr().err


def test_a_merged_file_is_gone_on_from(tmp_path, three):
    merge(three, store_path(TINY, 4, tmp_path))
    longer = run(TINY, GAMES + 500, directory=tmp_path)
    again = run(TINY, GAMES + 500)
    assert np.array_equal(longer.out, again.out)
    assert longer.manifest == again.manifest


def test_shards_of_other_counts_fit_if_their_games_do(tmp_path, three, whole):
    six = shards(tmp_path, 6)
    merge([*three[:2], *six[4:]], tmp_path / "sum.npz")
    assert (tmp_path / "sum.npz").read_bytes() == whole.read_bytes()
    with pytest.raises(ValueError, match="both hold game"):
        merge([*three, six[1]], tmp_path / "other.npz")
