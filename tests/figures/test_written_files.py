"""Files are whole or absent, and hold what was plotted."""

import re
from pathlib import Path

from figures import write
from figures.study_counts import Request
from figures.style import blank, caption, journal


def test_table_is_plain_csv_under_a_caption() -> None:
    text = write.table("two\n  lines", ("curve", "fpr"), [("a, b", 0.1), ("c", 1 / 3)]).decode()
    first, _, rest = text.partition("\n")
    assert re.fullmatch(r"# two lines \[mipsim [\d.]+(, commit [0-9a-f]{12})?\]", first)
    assert rest == 'curve,fpr\n"a, b",0.1\nc,0.3333333333\n'


def saved(folder: Path, **how: bool) -> list[Path]:
    import matplotlib

    folder.mkdir()
    before = dict(matplotlib.rcParams)
    with journal():
        figure = blank(2.0, 1.5)
        figure.subplots().plot([0, 1], [0, 1])
        caption(figure, "Half of 50%", bottom_inches=0.5, characters=40)
        request = Request("quick", 0, folder, **how)
        paths = write.save(figure, request, "line", caption="Half of 50%", header=("x",), rows=[(1,)])
    assert dict(matplotlib.rcParams) == before
    return list(paths)


def size(path: Path) -> list[int]:
    return [int.from_bytes(path.read_bytes()[k : k + 4], "big") for k in (16, 20)]


def test_the_same_figure_is_the_same_file_and_only_latex_has_the_caption_of_camera_ready_pictures(
    tmp_path: Path,
) -> None:
    first, two, ready = saved(tmp_path / "a"), saved(tmp_path / "b"), saved(tmp_path / "c", camera_ready=True)
    assert [p.name for p in first] == [f"line.{kind}" for kind in ("png", "svg", "pdf", "csv", "txt")]
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in two]
    assert size(first[0]) == [600, 450]  # 2 x 1.5 inches at 300 dpi
    assert size(ready[0]) == [600, 300]  # the half inch of the caption is cut off
    assert r"\caption{Half of 50\%}" in ready[-1].read_text("utf-8")
    assert b"/Subtype /Type3" not in ready[2].read_bytes()
