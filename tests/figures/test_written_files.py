"""Files are whole or absent, and hold what was plotted."""

import os
import re
from pathlib import Path

import pytest

from figures import write
from figures.study_counts import Request
from figures.style import blank, caption, journal


def test_a_failed_write_leaves_the_old_file_and_no_scrap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "numbers.csv"
    write.write_bytes(path, b"old")

    def refuse(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        write.write_bytes(path, b"new")
    assert [p.name for p in tmp_path.iterdir()] == ["numbers.csv"]
    assert path.read_bytes() == b"old"


def test_table_is_plain_csv_under_a_caption() -> None:
    text = write.table("two\n  lines", ("curve", "fpr"), [("a, b", 0.1), ("c", 1 / 3)]).decode()
    first, _, rest = text.partition("\n")
    assert re.fullmatch(r"# two lines \[mipsim [\d.]+(, commit [0-9a-f]{12})?\]", first)
    assert rest == 'curve,fpr\n"a, b",0.1\nc,0.3333333333\n'


def test_the_same_figure_is_the_same_file(tmp_path: Path) -> None:
    def saved(folder: str) -> list[bytes]:
        (tmp_path / folder).mkdir()
        with journal():
            figure = blank(2.0, 1.0)
            figure.subplots().plot([0, 1], [0, 1])
            request = Request("quick", 0, tmp_path / folder)
            paths = write.save(figure, request, "line", caption="c", header=("x",), rows=[(1,)])
        assert [p.name for p in paths] == ["line.png", "line.svg", "line.pdf", "line.csv", "line.txt"]
        return [p.read_bytes() for p in paths]

    first = saved("first")
    assert first == saved("two")
    assert first[0][16:24] == (600).to_bytes(4) + (300).to_bytes(4)  # 2 x 1 inches at 300 dpi


def test_the_style_stays_in_its_scope() -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    with journal():
        assert matplotlib.rcParams["savefig.dpi"] == 300
    assert dict(matplotlib.rcParams) == before


def test_camera_ready_pictures_have_no_caption_but_latex_has(tmp_path: Path) -> None:
    with journal():
        figure = blank(2.0, 1.5)
        figure.subplots().plot([0, 1], [0, 1])
        caption(figure, "Half of 50%", bottom_inches=0.5, characters=40)
        request = Request("quick", 0, tmp_path, camera_ready=True)
        paths = write.save(figure, request, "line", caption="Half of 50%", header=("x",), rows=[(1,)])
    assert [p.suffix for p in paths] == [".png", ".svg", ".pdf", ".csv", ".txt", ".tex"]
    size = [int.from_bytes(paths[0].read_bytes()[k : k + 4], "big") for k in (16, 20)]
    assert size == [600, 300]  # 2 x 1 inches: the half inch of the caption is cut off
    assert r"\caption{Half of 50\%}" in paths[-1].read_text("utf-8")
    assert b"/Subtype /Type3" not in paths[2].read_bytes()
