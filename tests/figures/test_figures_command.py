"""The command: what it lists, what it refuses, and what is left after an interruption."""

from pathlib import Path

import pytest

from figures import __main__ as command
from figures import verdict


def test_every_script_is_listed_and_a_paper_stands_for_its_figures(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command.main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(command.FIGURES)
    assert all(len(line.split()) > 4 for line in lines)
    folder = Path(command.__file__).parent
    scripts = {p.stem for p in folder.glob("*.py") if "\ndef draw(request: Request)" in p.read_text("utf-8")}
    assert scripts == set(command.FIGURES) >= set(command.SECONDS)
    assert all(set(seconds) <= set(command.SCALES) for seconds in command.SECONDS.values())
    assert command._chosen(["izzo", "izzo_fig1"]) == ["izzo_fig1", "izzo_table1"]
    assert command._chosen([]) == command._chosen(["all"]) == list(command.FIGURES)


def test_unknown_figure_names_the_close_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["azize_fig2", "azise_fig5", "--out", str(tmp_path / "new")]) == 2
    text = capsys.readouterr().err
    assert "'azise_fig5'" in text
    assert "azize_fig5" in text.split("did you mean")[1]
    assert not (tmp_path / "new").exists()


def test_the_command_says_how_long_it_takes_and_writes_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["izzo_table1", "leemann_table1", "--out", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("2 figures at quick")
    assert lines[1].startswith("izzo_table1 (1 of 2")
    page = (tmp_path / "index.html").read_text("utf-8")
    assert page.count("<figure ") == 2
    assert "script" not in page
    assert str(tmp_path) not in page


def test_data_are_fetched_only_when_that_is_wanted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[tuple[str, Path]] = []
    monkeypatch.setattr("mipsim.data.fetch", lambda name, folder: fetched.append((name, folder)))
    monkeypatch.delenv("MIPSIM_DATA", raising=False)
    assert command.main(["azize_fig7", "--out", str(tmp_path)]) == 2
    assert "--fetch downloads what can be had" in capsys.readouterr().err
    assert fetched == []
    monkeypatch.setenv("MIPSIM_DATA", str(tmp_path / "there"))
    assert command.main(["azize_fig7", "izzo_table1", "--fetch", "--out", str(tmp_path)]) == 2
    assert fetched == [("fashion-mnist", tmp_path / "there"), ("cifar10", tmp_path / "there")]
    assert (tmp_path / "izzo_table1.txt").exists()


def test_ctrl_c_keeps_what_was_finished(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(request: object) -> tuple[Path, ...]:
        (tmp_path / "finished.png").touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(verdict, "draw", interrupted)
    assert command.main(["verdict", "--out", str(tmp_path)]) == 130
    assert "interrupted" in capsys.readouterr().err
    assert (tmp_path / "finished.png").exists()
