"""Scores and promises from files and frames of any tool: recognised by their names, or refused in a sentence with the option that settles it."""

import json
import re
import shlex
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr, ndtri

import mipsim as mi
from mipsim.audits.claims import RatePromise, read_claim
from mipsim.audits.scores import Scores, read_scores
from mipsim.audits.tables import LONGEST_ROW
from mipsim.referee.command import main

VALUES, MEMBER = np.linspace(-1.0, 2.0, 120) ** 3, np.tile([0, 1, 1], 40)
LIST, LABELS = VALUES.tolist(), MEMBER.tolist()


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


MANY_MARKS, NAN = PLAIN + '"\n",' * (LONGEST_ROW // 3), float("nan")
BAD: list[tuple[str, Any, str, str]] = [
    *(("s.csv", text, "", re.escape(words)) for text, words in (
        ("", "it is empty"),
        ("score,member\n", "it is empty"),
        ("score,member\n0,53,1\n", "line 2 has 3 cells where the header has 2; numbers need decimal points, and the file may be cut off"),
        ("score;member\n0.5;1\n0,53;1\n", "column 'score' holds '0,53' in data row 2; it must hold numbers, with decimal points and no other marks"),
        ("score;member\n" + "1,234;1\n2,345;0\n" * 60, "column 'score' holds '1,234' in data row 1; it must hold numbers, with decimal points and no other marks"),
        (PLAIN + "0.5", "line 122 has 1 cells where the header has 2"),
        (PLAIN.partition("\n")[2], "0 has a name twice, or numbers alone; name each column"),
        (PLAIN.replace(",", ":"), "not clear: 'score:member'; name them"),
        ("a;b,c\n1;2,3\n", "its header has several separators; name that of the cells, as separator='semicolon'"),
        (PLAIN.replace("\n", "\n0.5,1,7\n", 1), "line 2 has 3 cells"),
        (PLAIN + "nan,1\n", "column 'score' holds NaN in data row 121; NaN is refused"),
        (PLAIN + ",1\n", "column 'score' holds '' in data row 121; it must hold numbers"),
        (PLAIN + "1_0,1\n", "column 'score' holds '1_0' in data row 121; it must hold numbers"),
        (MANY_MARKS, "a row of it has more than 1,048,576 characters"),
        (PLAIN + "0.1,maybe\n", "column 'member' holds 'maybe' in data row 121; it must hold 1/0, True/False, yes/no"),
        (PLAIN + "0.1,2\n", "column 'member' holds '2' in data row 121"),
        (rows("score,member,cluster", VALUES, MEMBER, ["a"] * 7 + [""] + ["b"] * 112), "cluster is empty at index 7"),
        *((rows(header, VALUES, MEMBER, MEMBER), "not clear: 'score', ") for header in ("score,label,coin", "score,scores,member", "score,loss,member", "score,label,member")),
        (rows("score,score", VALUES, MEMBER), "its header score, score has a name twice"),
        (rows("score,member", VALUES[:60], MEMBER[:60]), "scores holds 60 scores; an audit needs 100 at least"),
        (rows("score,member", VALUES, MEMBER * 0), 'member is 0 throughout: all scores are of the world "out"'),
        (rows("score,member", VALUES * 0 + 0.5, MEMBER), "scores all equal 0.5"),
    )),
    *(("s.npz", arrays, "", re.escape(words)) for arrays, words in (
        ({"scores": VALUES}, "not clear: 'scores'; name them, as columns='score=NAME,member=NAME'"),
        ({"members": VALUES, "non_members": VALUES, "score": VALUES}, "name them, as columns='score=NAME,member=NAME'"),
        ({"scores": VALUES, "labels": MEMBER[:5]}, "member has shape (5,); it must have shape (120,)"),
        ({"scores": VALUES.reshape(60, 2), "labels": MEMBER}, "scores has shape (60, 2)"),
        ({"scores": VALUES, "labels": MEMBER + 1}, "column 'labels' holds 2 in data row 2"),
        ({"scores": np.array(["a"] * 120), "labels": MEMBER}, "column 'scores' holds 'a' in data row 1; it must hold numbers"),
        ({"scores": VALUES, "labels": MEMBER, "clusters": np.ones((120, 2))}, "cluster has shape (120, 2)"),
        ({"scores": VALUES, "labels": MEMBER, "clusters": np.full(120, np.nan)}, "cluster holds what is no name"),
    )),
    *(("s.json", text, "", r"s\.json: ") for text in (
        "[[[[" * 100_000, '{"score": [1], "score": [2]}', "[1, 2]", "5", '{"score": [null], "member": [1]}', '{"score": [[1], [2, 3]], "member": [1, 0]}',
        json.dumps({"score": [10**400] * 120, "member": LABELS}), json.dumps({"score": [NAN] * 120, "member": LABELS}),
        '{"score": {"0": 1, "1": 2}, "member": {"0": 1, "1": 0}}', '[{"score": 1, "member": 1}]',
        json.dumps({"score": [True, *range(119)], "member": LABELS}), json.dumps({"score": ["0", *range(119)], "member": LABELS}), json.dumps({"score": ["\u0661", *map(str, range(119))], "member": LABELS}),
    )),
    *(("s.csv", PLAIN, columns, words) for columns, words in (
        ("score=score", "must name score and member .* of 'score', 'member', as columns='score=NAME,member=NAME'"),
        ("member=member", "columns names member; it must name score and member"),
        ("score=score,member=member,coin=member", "names score, member, coin; it must name score and member"),
        ("score=score,score=score,member=member", "it must be like"),
        ("score=score,member=mem", "it has no column 'mem'; it has 'score', 'member'"),
        ("scor=score,member=member", r"a key of columns is 'scor'; allowed: score, .*did you mean score"),
    )),
]  # fmt: skip
"""(File, its text or arrays, columns that are named, words of the refusal)."""


@pytest.mark.parametrize(("name", "content", "columns", "words"), BAD)
def test_what_holds_no_scores_is_refused_in_a_single_sentence(
    tmp_path: Path, name: str, content: Any, columns: str, words: str
) -> None:
    if isinstance(content, dict):
        np.savez(tmp_path / name, **content)
    else:
        (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=words) as error:
        read_scores(tmp_path / name, columns=columns or None)
    text = str(error.value)
    assert columns or f"{name}: " in text
    assert "\n" not in text
    assert len(text.replace(str(tmp_path), "")) < 200


@pytest.mark.parametrize("words", [("yes", "no"), ("YES", "No"), ("In", "out"), ("TRUE", "FALSE")])
def test_words_for_the_two_worlds(tmp_path: Path, words: tuple[str, str]) -> None:
    worlds = np.where(MEMBER == 1, *words)
    (tmp_path / "s.csv").write_text(rows("score,member", VALUES, worlds), encoding="utf-8")
    assert same(read_scores(tmp_path / "s.csv"))
    assert same(Scores.of(VALUES, worlds))
    assert same(Scores.of(VALUES, worlds.astype(object)))


def test_the_command_says_which_options_unclear_columns_need(tmp_path: Path, monkeypatch, capsys) -> None:
    """With the options that were given; names may hold commas and quotes."""
    monkeypatch.chdir(tmp_path)
    Path("s.csv").write_text(rows('"it\'s a ""score"", $HOME",In?', VALUES, MEMBER), encoding="utf-8")
    given = ["audit", "s.csv", "--claim", "mu=1", "--json", "--design", "clustered"]
    assert main(given) == 2
    words = shlex.split(capsys.readouterr().err.strip().partition("; say mipsim ")[2])
    assert sorted(words[:-2]) == sorted(given)
    assert words[-2:] == ["--columns", "score=NAME,member=NAME"]
    assert same(read_scores("s.csv", columns='score=it\'s a "score", $HOME,member=In?'))


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


FRAME = pd.DataFrame({"score": VALUES, "member": MEMBER})
WORLDS = {"in": VALUES[MEMBER == 1].tolist(), "out": VALUES[MEMBER == 0].tolist()}


OWN, BOTH = {"score": VALUES, "member": MEMBER}, [VALUES[world == MEMBER] for world in (1, 0)]
KEEP = np.random.default_rng(0).random((16, 200)) < 0.5
RAW = np.random.default_rng(1).normal(size=(16, 200)) + KEEP
CELLS = "\r\n".join(f"{x};{bool(world)}".upper() for x, world in zip(LIST, LABELS, strict=True))
TOOLS: dict[str, Callable[[str], Any]] = {
    "leakpro.csv": lambda name: pd.DataFrame({"rank": MEMBER, "audit_index": MEMBER, "risk_score": VALUES, "is_member": MEMBER}).to_csv(name, index=False),
    "leakpro.json": lambda name: Path(name).write_text(json.dumps({"id": "lira", "tp": [1], "signal_values": VALUES[:, None].tolist(), "true_labels": LABELS})),
    "meter.npz": lambda name: np.savez(name, fpr=VALUES, auc=0.7, scores=VALUES, memberships=MEMBER == 1),
    "tensorflow.npz": lambda name: np.savez(name, membership_scores_train=BOTH[0], membership_scores_test=BOTH[1]),
    "lira.npz": lambda name: np.savez(name, scores=RAW, keep=KEEP),
    "canaries.npz": lambda name: np.savez(name, in_canary_scores=BOTH[0], out_canary_scores=BOTH[1]),
    "guard.json": lambda name: Path(name).write_text(json.dumps({"scores_train": WORLDS["in"], "scores_test": WORLDS["out"]})),
    "pandas.csv": lambda name: pd.DataFrame(OWN).to_csv(name),
    "excel.csv": lambda name: Path(name).write_text(f"Score;Member\r\n{CELLS}", encoding="utf-8-sig", newline=""),
}  # fmt: skip
"""A small file in the working folder, as the tool, the spreadsheet or the notebook writes it."""


@pytest.mark.filterwarnings("ignore:80 of 120 canaries are in")
@pytest.mark.parametrize(
    ("name", "read_as"),
    [
        ("leakpro.csv", "LeakPro CSV: score from risk_score, member from is_member"),
        ("leakpro.json", "LeakPro JSON: score from signal_values, member from true_labels"),
        ("meter.npz", "ml_privacy_meter NPZ: score from scores, member from memberships"),
        ("tensorflow.npz", "TensorFlow Privacy NPZ: members from membership_scores_train, non_members from membership_scores_test"),
        ("lira.npz", "LiRA NPZ: score from scores, member from keep"),
        ("pandas.csv", "CSV: score from score, member from member; '' ignored"),
        ("excel.csv", "text separated by semicolons: score from Score, member from Member"),
        ("canaries.npz", "jax_privacy NPZ: members from in_canary_scores, non_members from out_canary_scores"),
        ("guard.json", "PrivacyGuard JSON: members from scores_train, non_members from scores_test"),
    ],
)  # fmt: skip
def test_a_file_of_any_tool_is_read_by_the_whole_command_that_its_only_refusal_prints(
    tmp_path: Path, monkeypatch, capsys, name: str, read_as: str
) -> None:
    """Without a single option the design is missing, which nothing can infer; all else is read, or is in the same command."""
    monkeypatch.chdir(tmp_path)
    TOOLS[name](name)
    assert main(["audit", name]) == 2
    refusal = capsys.readouterr().err.strip()
    assert len(refusal) <= 400
    words = shlex.split(re.split(" if |, or --design", refusal.split("; say ")[-1])[0])
    assert main([*words[1:], "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["read_as"] == read_as
    tool = read_as.split()[0]
    if tool in ("LeakPro", "ml_privacy_meter", "jax_privacy", "PrivacyGuard"):
        assert shown["order"] == f'higher = "in", as {tool} documents'


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("s.npy", r"of a single array; store all together: numpy\.savez"),
        ("s.pickle", "a pickle, which may run code and is not read; store all together"),
        ("s.parquet", r"scores are read from \.csv, .* in Python from what pandas reads: mi\.audit\(pandas\.read_parquet"),
    ],
)  # fmt: skip
def test_other_files_are_refused_with_what_to_store(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(ValueError, match=words):
        read_scores(tmp_path / name)


def test_separators_that_are_named_and_losses_that_are_turned(tmp_path: Path) -> None:
    file = tmp_path / "s.txt"
    for mark, name in ((":", ":"), ("|", "bar"), (" ", "space"), (";", None), ("\t", None)):
        file.write_text(PLAIN.replace(",", mark), encoding="utf-8")
        assert same(read_scores(file, separator=name))
    with pytest.raises(
        ValueError, match="separator is 'ab'; it must be a single character, or a name: comma"
    ):
        read_scores(file, separator="ab")
    losses = rows(" Loss,Split,epoch", -VALUES, np.where(MEMBER == 1, "train", "test"), MEMBER)
    file.write_text(losses, encoding="utf-8")
    result = read_scores(file)
    assert result.read_as == "CSV: score from Loss, member from Split; 'epoch' ignored"
    assert result.order.startswith('higher = "out", since the scores are named as a loss')
    assert same(result)
    stated = read_scores(file, columns={"score": "Loss", "member": "Split"}, higher="out")
    assert stated.order == 'higher = "out", as stated'
    assert same(stated)


def test_frames_and_series_in_memory() -> None:
    how: dict[str, Any] = {"design": "independent", "runs": VALUES.size}
    frame = FRAME.assign(trial="a").astype({"trial": "category"})
    results = [
        mi.audit(*given, **how).to_dict() for given in ((VALUES, MEMBER), (frame["score"], frame["member"]), (FRAME,), (frame,))
    ]  # fmt: skip
    read_as = "a data frame: score from score, member from member"
    assert [x.pop("read_as") for x in results] == [None, None, read_as, f"{read_as}; 'trial' ignored"]
    assert all(other == results[0] for other in results)
    for given, more, words in (
        ((frame["score"], frame["member"].sample(frac=1.0, random_state=0)), {}, "member has another index than scores; rows would be paired wrongly"),
        (({"score": VALUES, "coin": MEMBER, "member": MEMBER},), {}, "'score', 'coin', 'member'; name them, as columns='score=NAME,member=NAME'"),
        ((VALUES, MEMBER), {"columns": "score=a,member=b"}, "columns is given beside arrays"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            mi.audit(*given, **how, **more)
    for loss in ({"loss": VALUES, "member": MEMBER}, {"val_loss": VALUES, "is_member": MEMBER}):
        columns = ",".join(f"{role}={name}" for role, name in zip(("score", "member"), loss, strict=True))
        turned = mi.audit(loss, columns=columns, **how)
        assert turned.order.startswith('higher = "out", since the scores are named as a loss')
    named = mi.audit(pd.Series(VALUES, name="val_loss"), MEMBER, **how)
    assert named.order == "higher = \"out\", since the scores are named as a loss, 'val_loss'"
    assert mi.audit(FRAME.assign(cluster=np.arange(120).astype(str)), design="clustered").clusters == 120


def test_one_run_needs_coins_or_what_they_were(tmp_path: Path) -> None:
    file = tmp_path / "s.npz"
    np.savez(file, in_canary_scores=VALUES[:60], out_canary_scores=VALUES[60:])
    with pytest.raises(ValueError, match=r"if a fair coin put each canary in .* --inclusion-probability 0.5"):
        mi.audit(file, design="one-run")
    how: dict[str, Any] = {"design": "one-run", "inclusion_probability": 0.5}
    assert mi.audit(file, **how).used == 120
    (tmp_path / "s.csv").write_text(PLAIN.replace("member", "coin_"), encoding="utf-8")
    assert len(rows("a", [1])) == 4
    with pytest.warns(UserWarning, match="80 of 120 canaries are in"):
        assert mi.audit(tmp_path / "s.csv", columns="score=score,coin=coin_", **how).used == 120


def test_a_promise_of_a_single_rate() -> None:
    """It is refuted where it is false and not where it holds; the curve of all that keep it is below each that does."""
    claim = read_claim("tpr=0.2,fpr=0.01")
    assert claim == RatePromise(0.2, 0.01)
    a = np.linspace(0.0, 1.0, 10_001)
    for stored in (mi.ApproxDPTradeOff(np.log(20.0)), mi.PiecewiseLinearTradeOff([0.0, 1.0], [0.8 / 0.99, 0.0])):  # fmt: skip
        assert float(stored.tpr_at(0.01)) <= 0.2 * (1.0 + 1e-9)
        assert (stored.beta(a) >= claim.curve.beta(a) - 1e-9).all()  # type: ignore[union-attr]
    for text, words in (("tpr=0.005,fpr=0.01", "a coin has the TPR 0.01"), ("tpr=0.2,fpr=0", "fpr is 0"), ("tpr=2,fpr=0.1", "tpr is 2"), ("tpr=0.2", "it must be like")):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            read_claim(text)
    rng = np.random.default_rng(5)
    coins = rng.random(4_000) < 0.5
    scores = rng.normal(size=4_000) + 3.0 * coins  # TPR .75 at FPR .01
    for text, verdict in (("tpr=0.5,fpr=0.01", "REFUTED"), ("tpr=0.76,fpr=0.01", "INCONCLUSIVE")):
        result = mi.audit(scores, coins, design="independent", runs=4_000, claim=text)
        assert result.verdict == verdict
        assert ("the TPR, equal scores by lot, is at least" in result.says) == (verdict == "REFUTED")
    requested: dict[str, Any]
    for requested in ({"claim": "tpr=0.5,fpr=0.01"}, {"epsilon": 1.0}):
        with pytest.raises(ValueError, match='design "one-run", which bounds neither delta nor a TPR'):
            mi.audit(scores, coins, design="one-run", **requested)


def test_delta_at_an_epsilon() -> None:
    rng = np.random.default_rng(6)
    coins = rng.random(4_000) < 0.5
    scores = rng.normal(size=4_000) + 2.0 * coins
    truth = float(mi.GaussianTradeOff(2.0).delta(0.5))
    result = mi.audit(scores, coins, design="independent", runs=4_000, claim="epsilon=0.5")
    assert result.delta_lower_bound is not None
    assert 0.8 * truth < result.delta_lower_bound < truth
    assert result.to_dict()["delta_lower_bound"] == result.delta_lower_bound
    assert "at epsilon = 0.5" in str(result)
    sure: dict[str, Any] = {
        "confidence": 0.99999,
        "epsilon": 0.5,
        "claim": "tpr=0.03,fpr=0.01",
    }  # by the band
    band = mi.audit(scores, coins, design="independent", runs=4_000, **sure)
    assert band.verdict == "REFUTED"
    assert band.delta_lower_bound is not None
    assert 0.7 * truth < band.delta_lower_bound < result.delta_lower_bound
