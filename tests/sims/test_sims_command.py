import os
import signal
import sys

import pytest

import sims.runner
from sims.__main__ import main
from sims.studies import STUDIES


def test_list(capsys):
    assert main(["list"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in STUDIES)


def test_run_stores_and_resumes(tmp_path, capsys):
    arguments = ["run", "azize_fig2_hard", "--seed", "3", "--out", str(tmp_path)]
    assert main([*arguments, "--games", "100"]) == 0
    assert main([*arguments, "--games", "2e2", "--chunk", "50"]) == 0
    shown = capsys.readouterr().out
    assert "azize_fig2_hard: 200 games per world, seed 3, sufficient fidelity (table)" in shown
    assert "alpha" in shown
    assert [p.name for p in tmp_path.iterdir()] == ["azize_fig2_hard-3.npz"]


def test_run_prints_no_row_twice(capsys):
    assert main(["run", "azize_fig2_easy", "--games", "300"]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if "alpha" in line]
    assert rows
    assert len(set(rows)) == len(rows)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "azize_fig2_esay"], "azize_fig2_easy"),
        (["run", "zzz"], "python -m sims list"),
        (["run", "azize_fig2_easy", "--games", "0"], "not a whole number >= 1"),
        (["run", "azize_fig2_easy", "--games", "1.5"], "not a whole number >= 1"),
        (["run", "azize_fig2_easy", "--seed", "-1"], "not a whole number >= 0"),
        (["run", "azize_fig2_easy", "--chunk", "x"], "not a whole number >= 1"),
        (["run", "azize_fig2_easy", "--out", ""], "names no file or folder"),
        (["fly"], "invalid choice"),
        ([], "required"),
    ],
)
def test_bad_arguments_exit_with_2(arguments, said, capsys):
    try:
        status = main(arguments)
    except SystemExit as stop:
        status = stop.code
    assert status == 2
    assert said in capsys.readouterr().err


def test_an_unwritable_folder_is_one_sentence(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["run", "azize_fig2_easy", "--games", "10", "--out", str(tmp_path / "file")]) == 2
    said = capsys.readouterr().err
    assert "results cannot be stored in" in said
    assert len(said.strip().splitlines()) == 1


def test_ctrl_c_exits_with_130(tmp_path, capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(sims.runner, "run", interrupted)
    assert main(["run", "azize_fig2_easy", "--out", str(tmp_path)]) == 130
    assert "finished chunks are kept" in capsys.readouterr().err


def test_a_signal_says_where_a_share_is_kept(capfd, monkeypatch):
    """A share is stored in the folder where the command was given, where no other is named."""
    monkeypatch.setattr(os, "_exit", sys.exit)
    monkeypatch.setattr(sims.runner, "run", lambda *_, **__: signal.raise_signal(signal.SIGTERM))
    with pytest.raises(SystemExit) as ended:
        main(["run", "azize_fig2_easy", "--shard", "0/2"])
    assert ended.value.code == 143
    assert capfd.readouterr().err == "interrupted; finished chunks are kept in .\n"
