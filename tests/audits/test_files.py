"""Scores and promises read from files: of any tool, and refused in a single sentence where they cannot be used."""

import shlex
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

import mipsim as mi
from mipsim.audits.claims import read_claim
from mipsim.audits.scores import Scores, read_scores
from mipsim.audits.tables import LONGEST_ROW
from mipsim.referee.command import main

VALUES, MEMBER = np.linspace(-1.0, 2.0, 120) ** 3, np.tile([0, 1, 1], 40)


def rows(header: str, *columns: object) -> str:
    lines = [",".join(map(str, row)) for row in zip(*(np.asarray(c).tolist() for c in columns), strict=True)]
    return "\n".join([header, *lines]) + "\n"


def same(result: Scores) -> bool:
    order = np.argsort(result.values, kind="stable")
    return bool((result.values[order] == VALUES).all() and (result.member[order] == (MEMBER == 1)).all())


@pytest.mark.parametrize(
    "arrays",
    [
        {"scores": VALUES, "labels": MEMBER},
        {"score": VALUES, "member": MEMBER == 1},
        {"scores": VALUES, "coins": MEMBER.astype(float)},
        {"members": VALUES[MEMBER == 1], "non_members": VALUES[MEMBER == 0]},
        {"scores": VALUES, "members": MEMBER, "clusters": np.arange(120) % 7},
    ],
    ids=",".join,
)
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays(tmp_path: Path, arrays, save) -> None:
    save(tmp_path / "s.npz", **arrays)
    result = read_scores(tmp_path / "s.npz")
    assert same(result)
    assert bool(result.cluster.size) == ("clusters" in arrays)
    assert len(result.digest) == 64


@pytest.mark.parametrize(
    "text",
    [
        rows("score,member", VALUES, MEMBER),
        rows("coin,score", MEMBER == 1, VALUES),
        "\ufeff" + rows(" Score , Label ", VALUES, MEMBER.astype(float)).replace("\n", "\r\n"),
        rows("score,label,cluster", VALUES, MEMBER, [f"run {i % 9}" for i in range(120)]) + "\n",
    ],
    ids=["plain", "coins", "of a spreadsheet", "clusters"],
)
def test_columns(tmp_path: Path, text: str) -> None:
    (tmp_path / "s.CSV").write_text(text, encoding="utf-8", newline="")
    result = read_scores(tmp_path / "s.CSV")
    assert same(result)
    assert result.clusters == (9 if "cluster" in text else 120)


PLAIN = rows("score,member", VALUES, MEMBER)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is empty"),
        ("score,member\n", "it is empty"),
        (
            "score,member\n0,53,1\n",
            "line 2 has 3 cells where the header has 2; if numbers of it have decimal commas, such as '0,53', write decimal points; else",
        ),
        (
            "score;member\n0.5;1\n0,53;1\n",
            "column 'score' holds '0,53' in data row 2; it must hold numbers with a decimal point, 0.53",
        ),
        (
            "score;member\n" + "1,234;1\n2,345;0\n" * 60,
            "column 'score' holds '1,234' in data row 1; it must hold numbers without commas, 1234 or 1.234",
        ),
        (PLAIN + "0.5", "line 122 has 1 cells where the header has 2; the file may be cut off"),
        (PLAIN.replace("\n", "\n0.5,1,7\n", 1), "line 2 has 3 cells"),
        (PLAIN + "nan,1\n", "column 'score' holds NaN in data row 121; NaN is refused"),
        (PLAIN + ",1\n", "column 'score' holds '' in data row 121; it must hold numbers"),
        (PLAIN + "1_0,1\n", "column 'score' holds '1_0' in data row 121; it must hold numbers"),
        (PLAIN + '"\n",' * (LONGEST_ROW // 3), "a row of it has more than 1,048,576 characters"),
        (PLAIN + "0.1,maybe\n", "column 'member' holds 'maybe' in data row 121; it must hold 1/0, True/False, yes/no"),
        (PLAIN + "0.1,2\n", "column 'member' holds '2' in data row 121"),
        (rows("score,member,cluster", VALUES, MEMBER, ["a"] * 7 + [""] + ["b"] * 112), "cluster is empty at index 7"),
        (rows("score,label,coin", VALUES, MEMBER, MEMBER), "'coin'; name them, as columns='score=score,member=NAME'"),
        (rows("score,scores,member", VALUES, VALUES, MEMBER), "'member'; name them, as columns='score=score,member=member'"),
        (rows("score,score", VALUES, MEMBER), "its header score, score names a column twice"),
        (rows("score,member", VALUES[:60], MEMBER[:60]), "scores holds 60 scores; an audit needs 100 at least"),
        (rows("score,member", VALUES, MEMBER * 0), 'member is 0 throughout: all scores are of the world "out"'),
        (rows("score,member", VALUES * 0 + 0.5, MEMBER), "scores all equal 0.5"),
    ],
)  # fmt: skip
def test_bad_columns(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "s.csv").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"s\.csv: ") as error:
        read_scores(tmp_path / "s.csv")
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("words", [("yes", "no"), ("YES", "No"), ("In", "out"), ("TRUE", "FALSE")])
def test_words_for_the_two_worlds(tmp_path: Path, words: tuple[str, str]) -> None:
    worlds = np.where(MEMBER == 1, *words)
    (tmp_path / "s.csv").write_text(rows("score,member", VALUES, worlds), encoding="utf-8")
    read = read_scores(tmp_path / "s.csv")
    assert same(read)
    member, other = (word.lower() for word in words)
    assert read.read_as.endswith(f"member from member ({member!r} = member, {other!r} = non-member)")
    assert same(Scores.of(VALUES, worlds))
    assert same(Scores.of(VALUES, worlds.astype(object)))


@pytest.mark.parametrize(
    ("score", "member"),
    [
        ("Attack Output (Logit)", "Was in Train?"),
        ("it's a \"score\", $HOME", "Member; or not"),
        ("A score whose name takes up many more letters than usual", "A member, whose name is as long as that of the other"),
    ],
)  # fmt: skip
def test_the_command_that_names_unclear_columns_can_be_pasted(
    tmp_path: Path, monkeypatch, capsys, score: str, member: str
) -> None:
    """With the options that were given; in Python the same text is an argument."""
    header = ",".join('"' + name.replace('"', '""') + '"' for name in (score, member, "Other"))
    monkeypatch.chdir(tmp_path)
    Path("s.csv").write_text(rows(header, VALUES, MEMBER, MEMBER), encoding="utf-8")
    given = ["audit", "s.csv", "--claim", "mu=1", "--json", "--design", "clustered"]
    assert main(given) == 2
    refusal = capsys.readouterr().err.strip()
    words = shlex.split(refusal.partition("; say mipsim ")[2])
    assert sorted(words[:-2]) == sorted(given)
    assert words[-2] == "--columns"
    assert same(read_scores("s.csv", columns=words[-1]))
    with pytest.raises(ValueError, match="name them, as columns=") as error:
        read_scores("s.csv")
    assert str(error.value).endswith(repr(words[-1]))


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"scores": VALUES}, "not clear: 'scores'; name them, as columns='score=scores,member=NAME'"),
        ({"members": VALUES, "non_members": VALUES, "score": VALUES}, "name them, as columns='members=members,non_members=non_members'"),
        ({"scores": VALUES, "labels": MEMBER[:5]}, "member has shape (5,); it must have shape (120,)"),
        ({"scores": VALUES.reshape(60, 2), "labels": MEMBER}, "scores has shape (60, 2)"),
        ({"scores": VALUES, "labels": MEMBER + 1}, "array 'labels' holds 2 in data row 2"),
        ({"scores": np.array(["a"] * 120), "labels": MEMBER}, "array 'scores' holds 'a' in data row 1; it must hold numbers"),
        ({"scores": VALUES, "labels": MEMBER, "clusters": np.ones((120, 2))}, "cluster has shape (120, 2)"),
        ({"scores": VALUES, "labels": MEMBER, "clusters": np.full(120, np.nan)}, "cluster holds what is no name"),
    ],
)  # fmt: skip
def test_bad_arrays(tmp_path: Path, arrays, words: str) -> None:
    np.savez(tmp_path / "s.npz", **arrays)
    with pytest.raises(ValueError, match=r"s\.npz: ") as error:
        read_scores(tmp_path / "s.npz")
    assert words in str(error.value)


def test_files_that_are_cut_off_or_no_archives(tmp_path: Path) -> None:
    np.savez_compressed(
        tmp_path / "whole.npz", scores=np.random.default_rng(0).normal(size=120), labels=MEMBER
    )
    content = (tmp_path / "whole.npz").read_bytes()
    altered = bytearray(content)
    altered[len(content) // 3] ^= 0xFF
    objects = tmp_path / "objects.npz"
    np.savez(objects, scores=np.array([object()] * 120, dtype=object), labels=MEMBER)
    for bad in (
        b"",
        b"text",
        content[: len(content) // 2],
        content[:-1],
        bytes(altered),
        objects.read_bytes(),
    ):
        (tmp_path / "bad.npz").write_bytes(bad)
        with pytest.raises(ValueError, match=r"bad\.npz: it is no whole \.npz archive of plain arrays"):
            read_scores(tmp_path / "bad.npz")
    (tmp_path / "bad.csv").write_bytes(content)
    with pytest.raises(ValueError, match=r"bad\.csv: it is no text of cells in UTF-8"):
        read_scores(tmp_path / "bad.csv")


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    for name, words in (
        ("no.csv", "is no file"),
        ("folder.csv", "is no file"),
        ("s.txt", "is no file"),
    ):
        with pytest.raises(ValueError, match=words):
            read_scores(tmp_path / name)


@pytest.mark.parametrize(
    ("begin", "unit"), [(b"", b"\0"), (b"", b","), (b"score,member\n", b"1"), (b"", b'"\n",')]
)
def test_a_file_of_a_single_row_is_not_held_many_times_over(
    tmp_path: Path, begin: bytes, unit: bytes
) -> None:
    """24 MiB of it take no more than twice as much memory."""
    size = 24 * 2**20
    (tmp_path / "s.csv").write_bytes(begin + unit * (size // len(unit)))
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"s\.csv: (a row of it has more than|it is no text)"):
        read_scores(tmp_path / "s.csv")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * size


@pytest.mark.parametrize("points", [5, 401])
def test_a_promised_curve_is_never_above_the_tabulated_curve(tmp_path: Path, points: int) -> None:
    """Printed with six digits, too; with many points it is nearly the curve itself."""
    alpha = ndtr(np.linspace(-6.0, 6.0, points))
    beta = ndtr(-ndtri(alpha) - 1.5)
    (tmp_path / "f.csv").write_text(
        rows("alpha,beta", [f"{a:.6e}" for a in alpha], [f"{b:.6e}" for b in beta])
    )
    claim, fine = read_claim(str(tmp_path / "f.csv")), np.linspace(0.0, 1.0, 5001)
    exact = mi.GaussianTradeOff(1.5).beta(fine)
    assert isinstance(claim, mi.AbstractTradeOff)
    assert (claim.beta(fine) <= exact + 1e-6).all()
    if points == 401:
        assert np.abs(claim.beta(fine) - exact).max() < 1e-3


def test_a_promised_curve_with_a_delta(tmp_path: Path) -> None:
    """f(0) < 1, and points that start at 0 and end at 1."""
    alpha = np.linspace(0.0, 1.0, 2001)
    exact = mi.ApproxDPTradeOff(1.0, 0.1)
    (tmp_path / "f.csv").write_text(rows("alpha,beta", alpha, exact.beta(alpha)))
    claim = read_claim(str(tmp_path / "f.csv"))
    assert isinstance(claim, mi.AbstractTradeOff)
    assert (claim.beta(alpha) <= exact.beta(alpha) + 1e-12).all()
    assert np.abs(claim.beta(alpha[1:]) - exact.beta(alpha[1:])).max() < 2e-3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("alpha,beta\n0,1\n0.5,0.6\n1,0\n", "beta must not increase, and be at most 1 - alpha"),
        ("alpha,beta\n0,0.4\n0.5,0.5\n1,0\n", "beta must not increase"),
        ("alpha,beta\n0.5,0.4\n0.4,0.3\n", "alpha must not decrease"),
        ("alpha,beta\n0,2\n", "beta is 2; it must lie in [0, 1]"),
        ("alpha,beta\n0,nan\n", "beta holds nan"),
        ("alpha,tpr\n0,1\n", "it has the columns 'alpha', 'tpr'; it must have alpha and beta alone"),
        ("alpha,beta\n0,1\n0.5", "line 3 has 1 cells"),
    ],
)
def test_bad_curves(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "f.csv").write_text(text)
    with pytest.raises(ValueError, match=r"claim: .*f\.csv: ") as error:
        read_claim(str(tmp_path / "f.csv"))
    assert words in str(error.value)


def test_an_array_under_the_name_of_an_archive_is_refused_in_a_single_sentence(tmp_path) -> None:
    file = tmp_path / "scores.npz"
    with file.open("wb") as out:
        np.save(out, np.arange(200.0))
    with pytest.raises(ValueError, match="no whole"):
        read_scores(file)


@pytest.mark.evidence
def test_members_and_non_members_are_columns_of_a_csv_too(tmp_path):
    rng = np.random.default_rng(0)
    rows = zip(rng.normal(1.0, 1.0, 200), rng.normal(size=200), strict=True)
    file = tmp_path / "scores.csv"
    file.write_text("members,non_members\n" + "\n".join(f"{a},{b}" for a, b in rows), encoding="utf-8")
    result = mi.audit(file, design="independent", runs=400)
    assert (result.in_scores, result.out_scores) == (200, 200)


@pytest.mark.parametrize(
    ("names", "read_as"),
    [
        ("id,member,score", "CSV: member from member, score from score; 'id' ignored"),
        ("id,split,loss", "CSV: member from split, score from loss; 'id' ignored"),
        ("rank,is_member,risk_score", "LeakPro CSV: score from risk_score, member from is_member"),
        ("label,member,score", "CSV: member from member, score from score; 'label' ignored"),
    ],
)
def test_files_of_usual_names_are_read_at_the_first_attempt(tmp_path: Path, names: str, read_as: str) -> None:
    (tmp_path / "s.csv").write_text(rows(names, MEMBER, MEMBER, VALUES), encoding="utf-8")
    result = read_scores(tmp_path / "s.csv")
    assert set(result.read_as.split(": ", 1)[1].replace("; ", ", ").split(", ")) == set(
        read_as.split(": ", 1)[1].replace("; ", ", ").split(", ")
    )
    sign = -1.0 if "loss" in names else 1.0
    assert same(replace(result, values=sign * result.values))
