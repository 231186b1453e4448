import json
import os

import numpy as np
import pytest

import mipsim as mi
from mipsim.engine.checkpoint import write_counts
from mipsim.engine.describe import array_digest
from sims.__main__ import main
from sims.merge import merge
from sims.runner import run, shard_path, store_path
from tests.sims.tiny_study import TINY

GAMES = 1_000


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


def change(path, target, **manifest):
    read = mi.Histogram.load(path)
    write_counts(target, read.edges, read.out, read.inside, {**read.manifest, **manifest})
    return target


def test_shards_add_up_to_one_run_byte_for_byte(tmp_path, three, whole):
    merge([three[2], three[0], three[1]], tmp_path / "sum.npz")
    assert (tmp_path / "sum.npz").read_bytes() == whole.read_bytes()


def test_a_merged_file_is_gone_on_from(tmp_path, three):
    merge(three, store_path(TINY, 4, tmp_path))
    longer = run(TINY, GAMES + 500, directory=tmp_path)
    again = run(TINY, GAMES + 500)
    assert np.array_equal(longer.out, again.out)
    assert longer.manifest == again.manifest


def test_more_shards_than_games(tmp_path):
    merge(shards(tmp_path, 3, games=2), tmp_path / "sum.npz")
    run(TINY, 2, directory=tmp_path)
    assert (tmp_path / "sum.npz").read_bytes() == store_path(TINY, 4, tmp_path).read_bytes()


def test_shards_of_other_counts_fit_if_their_games_do(tmp_path, three, whole):
    six = shards(tmp_path, 6)
    merge([*three[:2], *six[4:]], tmp_path / "sum.npz")
    assert (tmp_path / "sum.npz").read_bytes() == whole.read_bytes()
    with pytest.raises(ValueError, match="both hold game"):
        merge([*three, six[1]], tmp_path / "other.npz")


@pytest.mark.parametrize(
    ("pick", "message"),
    [
        ([0, 1], "games 666 to 999 of 1000 are in no shard"),
        ([0, 2], "games 333 to 665 of 1000 are in no shard"),
        ([1], "games 0 to 332, 666 to 999 of 1000 are in no shard"),
        ([0, 1, 2, 1], "both hold game 333"),
    ],
)
def test_missing_and_repeated_shards(tmp_path, three, pick, message):
    with pytest.raises(ValueError, match=message):
        merge([three[i] for i in pick], tmp_path / "sum.npz")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ({"seed": 5}, "they differ in seed"),
        ({"versions": {"mipsim": "9", "jax": "9"}}, "they differ in versions"),
        ({"draws": -1}, "they differ in draws"),
        ({"game": {"class": "other"}}, "they differ in game"),
        ({"shard": {"index": 1, "count": 3, "games": [0, 1001]}}, "holds 333 of the 334 games"),
    ],
)
def test_shards_of_other_runs(tmp_path, three, manifest, message):
    odd = change(three[1], tmp_path / "odd.npz", **manifest)
    with pytest.raises(ValueError, match=message):
        merge([three[0], odd, three[2]], tmp_path / "sum.npz")
    assert not (tmp_path / "sum.npz").exists()


def test_other_edges(tmp_path, three):
    read = mi.Histogram.load(three[1])
    edges = read.edges + 1e-12
    manifest = {**read.manifest, "edges": {**array_digest(edges), "source": "pilot"}}
    write_counts(tmp_path / "odd.npz", edges, read.out, read.inside, manifest)
    with pytest.raises(ValueError, match="they differ in edges"):
        merge([three[0], tmp_path / "odd.npz", three[2]], tmp_path / "sum.npz")


def test_other_totals(tmp_path, three):
    other = shards(tmp_path, 3, games=1_001)
    with pytest.raises(ValueError, match=r"1001 games and .* a shard of 1000"):
        merge([three[0], other[1], three[2]], tmp_path / "sum.npz")


def test_unfinished_shards_and_other_files(tmp_path, three, whole):
    read = mi.Histogram.load(three[1])
    runs = [[4, 333, 333]]
    zero = np.zeros_like(read.out)
    write_counts(tmp_path / "part.npz", read.edges, zero, zero, {**read.manifest, "games": 0, "runs": runs})
    for path, text in (
        (tmp_path / "part.npz", "holds 0 of the 333 games of shard 1/3; run it again"),
        (whole, "is no shard"),
        (tmp_path / "none.npz", "does not exist"),
    ):
        with pytest.raises(ValueError, match=text):
            merge([three[0], path, three[2]], tmp_path / "sum.npz")
    with pytest.raises(ValueError, match="files is empty"):
        merge([], tmp_path / "sum.npz")


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


def test_a_full_disk_leaves_the_old_file(tmp_path, three, monkeypatch, capsys):
    out = tmp_path / "sum.npz"
    out.write_bytes(b"old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert (
        main(["merge", *map(str, three), "--out", str(out), "--force"]) == 1
    )  # as README says of full disks
    text = capsys.readouterr().err
    assert text.startswith("python -m sims: counts cannot be written to ")
    assert "No space left on device" in text
    assert out.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["sum.npz"]


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


def test_the_manifest_of_a_shard_is_plain(three):
    manifest = mi.Histogram.load(three[1]).manifest
    assert manifest["runs"] == [[4, 333, 666]]
    assert json.loads(json.dumps(manifest))["shard"] == {"index": 1, "count": 3, "games": [0, 1000]}
