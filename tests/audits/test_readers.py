"""Files and frames of other tools: recognised by their names, or refused with the option that settles what is unclear."""

import json
import pickle
import re
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import mipsim as mi
from mipsim._extras import MissingPackageError
from mipsim.audits.claims import RatePromise, read_claim
from mipsim.audits.scores import read_scores
from mipsim.referee.command import main
from tests.audits.test_files import MEMBER, PLAIN, VALUES, rows, same

FRAME = pd.DataFrame({"score": VALUES, "member": MEMBER})
WORLDS = {"in": VALUES[MEMBER == 1].tolist(), "out": VALUES[MEMBER == 0].tolist()}
LIST, LABELS = VALUES.tolist(), MEMBER.tolist()


@pytest.mark.parametrize(
    ("name", "content", "read_as"),
    [
        ("s.json", {"result_name": "lira", "roc_auc": 0.7, "config": {"a": 1}, "signal_values": LIST, "true_labels": LABELS, "tpr": [0, 1]},
         "LeakPro JSON: score from signal_values, member from true_labels"),
        ("s.npz", {"fpr": VALUES, "auc": np.array(0.7), "scores": VALUES, "memberships": MEMBER == 1},
         "ml_privacy_meter NPZ: score from scores, member from memberships"),
        ("s.npz", {"in_canary_scores": WORLDS["in"], "out_canary_scores": WORLDS["out"]},
         "jax_privacy NPZ: members from in_canary_scores, non_members from out_canary_scores"),
        ("s.json", {"scores_train": WORLDS["in"], "scores_test": WORLDS["out"]},
         "PrivacyGuard JSON: members from scores_train, non_members from scores_test"),
    ],
)  # fmt: skip
def test_output_of_tools_is_recognised_by_its_names(tmp_path: Path, name, content, read_as: str) -> None:
    file = tmp_path / name
    if name.endswith("json"):
        file.write_text(json.dumps(content), encoding="utf-8")
    else:
        np.savez(file, **content)
    result = read_scores(file)
    assert same(result)
    assert result.read_as == read_as
    assert result.order == f'higher = "in", as {read_as.split()[0]} documents'
    assert "read as" in str(mi.audit(file, design="independent", runs=VALUES.size))
    assert same(read_scores(file, higher="in"))
    if name.endswith("json"):
        assert same(read_scores(content))  # the same as a dictionary


def _of_tool(name: str) -> None:
    """A small file in the working folder, as the tool, the spreadsheet or the notebook writes it."""
    own = {"score": VALUES, "member": MEMBER}
    both = [VALUES[world == MEMBER] for world in (1, 0)]
    rng = np.random.default_rng(0)
    keep = rng.random((16, 200)) < 0.5
    raw = rng.normal(size=(16, 200, 2)) + keep[..., None]
    match name:
        case "leakpro.csv":
            pd.DataFrame(
                {"rank": MEMBER, "audit_index": MEMBER, "risk_score": VALUES, "is_member": MEMBER}
            ).to_csv(name, index=False)
        case "leakpro.json":
            Path(name).write_text(
                json.dumps(
                    {
                        "id": "lira",
                        "tp": [1],
                        "signal_values": VALUES[:, None].tolist(),
                        "true_labels": LABELS,
                    }
                )
            )
        case "meter.npz":
            np.savez(name, fpr=VALUES, auc=0.7, scores=VALUES, memberships=MEMBER == 1)
        case "tensorflow.npz":  # what the command that is printed for a pickle of its results makes
            np.savez(name, membership_scores_train=both[0], membership_scores_test=both[1])
        case "scores.npy":
            np.save(name, raw)
            np.save("keep.npy", keep)
        case "lira.npz":
            np.savez(name, scores=raw[..., 0], keep=keep)
        case "art.npz":  # what its `infer` returns has shape (n, 1)
            np.savez(name, inferred_train=both[0][:, None], inferred_test=both[1][:, None])
        case "canaries.csv":
            pd.DataFrame({"canary_id": range(120), "inserted": MEMBER == 1, "loss": -VALUES}).to_csv(
                name, index=False
            )
        case "pandas.csv":
            pd.DataFrame(own).to_csv(name)
        case "frame.parquet":
            pd.DataFrame(own).to_parquet(name)
        case "excel.csv":
            cells = (
                f"{str(x).replace('.', ',')};{'WAHR' if world else 'FALSCH'}"
                for x, world in zip(LIST, LABELS, strict=True)
            )
            Path(name).write_text("Score;Member\r\n" + "\r\n".join(cells), encoding="utf-8-sig", newline="")
        case "lines.jsonl":
            pd.DataFrame(own).to_json(name, orient="records", lines=True, double_precision=15)


@pytest.mark.filterwarnings("ignore:80 of 120 canaries are in")
@pytest.mark.parametrize(
    ("name", "read_as"),
    [
        ("leakpro.csv", "LeakPro CSV: score from risk_score, member from is_member"),
        ("leakpro.json", "LeakPro JSON: score from signal_values, member from true_labels"),
        ("meter.npz", "ml_privacy_meter NPZ: score from scores, member from memberships"),
        ("tensorflow.npz", "TensorFlow Privacy NPZ: members from membership_scores_train, non_members from membership_scores_test"),
        ("scores.npy", "NPZ: score from score, member from member; matrices of models x records"),
        ("lira.npz", "LiRA NPZ: score from scores, member from keep; matrices of models x records"),
        ("art.npz", "NPZ: members from inferred_train, non_members from inferred_test"),
        ("canaries.csv", "CSV: score from loss, member from inserted ('true' = member, 'false' = non-member); 'canary_id' ignored"),
        ("pandas.csv", "CSV: score from score, member from member; without the numbers of its rows"),
        ("frame.parquet", "parquet: score from score, member from member"),
        ("excel.csv", "text separated by semicolons: score from Score, member from Member ('wahr' = member, 'falsch' = non-member); decimal commas in Score"),
        ("lines.jsonl", "JSON lines: score from score, member from member"),
    ],
)  # fmt: skip
def test_a_file_of_any_tool_is_read_by_the_whole_command_that_its_only_refusal_prints(
    tmp_path: Path, monkeypatch, capsys, name: str, read_as: str
) -> None:
    """Without a single option the design is missing, which nothing can infer; all else is read, or is in the same command."""
    monkeypatch.chdir(tmp_path)
    _of_tool(name)
    assert main(["audit", name]) == 2
    refusal = capsys.readouterr().err.strip()
    assert len(refusal) <= 400
    command = re.split("; say |together: ", refusal)[-1]
    words = shlex.split(re.split(" if |, or --design", command)[0])
    if words[0] == "python":
        exec(words[2], {})
        words = words[words.index("&&") + 1 :]
    assert main([*words[1:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["read_as"] == read_as


def test_a_pickle_is_refused_with_the_command_that_stores_its_scores(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    """Its command names the attributes of TensorFlow Privacy's results, and reads nothing by itself."""
    monkeypatch.chdir(tmp_path)
    single = SimpleNamespace(membership_scores_train=WORLDS["in"], membership_scores_test=WORLDS["out"])
    Path("0.pickle").write_bytes(pickle.dumps(SimpleNamespace(single_attack_results=[single])))
    assert main(["audit", "0.pickle"]) == 2
    words = shlex.split(capsys.readouterr().err.partition("together: ")[2])
    exec(words[2], {})
    assert words[4:] == ["mipsim", "audit", "0.npz"]
    assert same(read_scores(tmp_path / "0.npz"))


def _saved(frame: pd.DataFrame, file: Path, how: str) -> Path:
    match how:
        case "lines":
            frame.to_json(file.with_suffix(".jsonl"), orient="records", lines=True, double_precision=15)
            return file.with_suffix(".jsonl")
        case "records" | "columns":
            frame.to_json(file.with_suffix(".json"), orient=how, double_precision=15)
            return file.with_suffix(".json")
        case "parquet":
            frame.to_parquet(file.with_suffix(".parquet"))
            return file.with_suffix(".parquet")
    frame.to_csv(file.with_suffix(".txt"), sep=how, index=how != " ")
    return file.with_suffix(".txt")


@pytest.mark.parametrize("how", ["lines", "records", "columns", "parquet", ",", "\t", ";", "|", " "])
def test_frames_of_pandas_in_every_form(tmp_path: Path, how: str) -> None:
    """With the numbers of rows, which are left out, text labels, infinite scores and names of other capitals."""
    assert np.allclose(
        np.sort(read_scores(_saved(FRAME, tmp_path / "s", how)).values), np.sort(VALUES), rtol=1e-12
    )
    other = pd.DataFrame({" Loss": np.sort(-VALUES), "Split": ["train"] * 60 + ["test"] * 60, "epoch": 3})
    file = _saved(other, tmp_path / "t", how)
    result = read_scores(file)
    assert (
        "member from Split ('train' = member, 'test' = non-member); 'epoch' ignored"
        in result.read_as.replace("without the numbers of its rows; ", "")
    )
    assert result.order.startswith('higher = "out", since the scores are named as a loss')
    assert result.values[result.member].min() > result.values[~result.member].max()
    loss = " Loss" if how in ("lines", "records", "columns", "parquet") else "loss"
    stated = read_scores(file, columns={"score": loss, "member": "Split"}, higher="out")
    assert stated.order == 'higher = "out", as stated'
    assert np.array_equal(stated.values, result.values)


def test_another_separator_and_what_is_no_header(tmp_path: Path) -> None:
    file = tmp_path / "s.csv"
    file.write_text(PLAIN.replace(",", ":"), encoding="utf-8")
    assert same(read_scores(file, separator=":"))
    with pytest.raises(ValueError, match="not clear: 'score:member'"):
        read_scores(file)
    with pytest.raises(
        ValueError, match="separator is 'ab'; it must be a single character, or a name: comma, tab"
    ):
        read_scores(file, separator="ab")
    file.write_text("# " + PLAIN, encoding="utf-8")
    assert same(read_scores(file))
    file.write_text(PLAIN.partition("\n")[2], encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"its first line holds numbers and no names: .* columns='score=1,member=2'"
    ):
        read_scores(file)
    assert same(read_scores(file, columns="score=1,member=2"))
    file.write_text(PLAIN.replace("score,member", "score;x,member", 1), encoding="utf-8")
    assert len(read_scores(file, columns={"score": "score;x", "member": "member"}).values) == 120
    file.write_text("a;b,c\n1;2,3\n", encoding="utf-8")
    with pytest.raises(
        ValueError, match="several separators; name that of the cells, as separator='semicolon'"
    ):
        read_scores(file)


def test_quoted_names_of_columns_as_the_page_writes_them(tmp_path: Path, monkeypatch, capsys) -> None:
    (line,) = re.findall(
        r"^    mipsim (audit .*--columns \".*)$",
        (Path(__file__).parents[2] / "docs" / "audit.md").read_text("utf-8"),
        re.M,
    )
    words = shlex.split(line.replace("2000", "120"))
    monkeypatch.chdir(tmp_path)
    header = [name.partition("=")[2] for name in words[words.index("--columns") + 1].split(",")]
    assert all(" " in name for name in header)
    Path("scores.csv").write_text(rows(",".join(header), -VALUES, MEMBER), encoding="utf-8")
    assert main([*words, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["read_as"] == "CSV: score from my loss, member from is member"
    assert shown["mu_lower_bound"] == mi.audit(VALUES, MEMBER, design="independent", runs=120).mu_lower_bound


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("score=score", "must name score and member .* of 'score', 'member', as columns='score=score,member=member'"),
        ("member=member", "columns names member; it must name score and member"),
        ("score=score,member=member,coin=member", "names score, member, coin; it must name score and member"),
        ("score=score,score=score,member=member", "it must be like"),
        ("score=score,member=mem", "it has no column 'mem'; it has 'score', 'member'"),
        ("scor=score,member=member", r"a key of columns is 'scor'; allowed: score, .*did you mean score"),
    ],
)  # fmt: skip
def test_columns_that_are_none(tmp_path: Path, columns: str, words: str) -> None:
    (tmp_path / "s.csv").write_text(PLAIN, encoding="utf-8")
    with pytest.raises(ValueError, match=words) as error:
        read_scores(tmp_path / "s.csv", columns=columns)
    assert len(str(error.value).replace(str(tmp_path), "")) < 200


@pytest.mark.parametrize(
    "text",
    [
        "[[[[" * 100_000, '{"score": [1], "score": [2]}', "[1, 2]", "5", '{"score": [null], "member": [1]}', '{"score": [[1], [2, 3]], "member": [1, 0]}',
        json.dumps({"score": [10**400] * 120, "member": LABELS}), json.dumps({"score": [NAN := float("nan")] * 120, "member": LABELS}),
        '{"score": {"0": 1, "1": 2}, "member": {"1": 1, "0": 0}}',
        json.dumps({"score": [True, *range(119)], "member": LABELS}), json.dumps({"score": ["\u0661", *map(str, range(119))], "member": LABELS}),
    ],
)  # fmt: skip
def test_json_that_holds_no_scores(tmp_path: Path, text: str) -> None:
    (tmp_path / "s.json").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"s\.json: ") as error:
        read_scores(tmp_path / "s.json")
    assert len(str(error.value).replace(str(tmp_path), "")) < 200


def test_a_parquet_file_that_is_none_too_long_or_without_its_package(tmp_path: Path, monkeypatch) -> None:
    file = _saved(FRAME, tmp_path / "s", "parquet")
    content = file.read_bytes()
    for bad in (content[:-5], b"", b"PAR1PAR1"):
        file.write_bytes(bad)
        with pytest.raises(ValueError, match="it is no whole parquet file"):
            read_scores(file)
    pd.DataFrame({"score": np.zeros(10**6), "member": 1}).to_parquet(
        file
    )  # a constant is stored in few bytes
    monkeypatch.setenv("MIPSIM_MAX_FILE_BYTES", "1000000")
    assert file.stat().st_size < 1_000_000
    with pytest.raises(
        ValueError, match=r"it would take about 27\d,\d{3},\d{3} bytes of memory; at most 2,000,000 are taken"
    ):
        read_scores(file)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        (MissingPackageError, ValueError), match=r'need the package pyarrow, .*"mipsim\[parquet\]"'
    ):
        read_scores(file)


def test_frames_and_series_in_memory() -> None:
    frame = FRAME.assign(trial="a").astype({"trial": "category"})
    expected = mi.audit(VALUES, MEMBER, design="independent", runs=VALUES.size).to_dict()
    series = mi.audit(frame["score"], frame["member"], design="independent", runs=VALUES.size).to_dict()
    whole = mi.audit(FRAME, design="independent", runs=VALUES.size).to_dict()
    assert whole.pop("read_as") == "a data frame: score from score, member from member"
    assert expected.pop("read_as") is None
    assert series.pop("read_as") is None
    assert expected == series == whole
    with pytest.raises(
        ValueError, match="member has another index than scores; rows would be paired wrongly"
    ):
        mi.audit(frame["score"], frame["member"].sample(frac=1.0, random_state=0), design="independent")
    whole_frame = mi.audit(frame, design="independent", runs=VALUES.size)
    assert whole_frame.read_as == "a data frame: score from score, member from member; 'trial' ignored"
    assert whole_frame.mu_lower_bound == series["mu_lower_bound"]
    with pytest.raises(
        ValueError,
        match="which of its keys is what is not clear: 'score', 'coin', 'member'; name them, as columns='score=score,member=NAME'",
    ):
        mi.audit({"score": VALUES, "coin": MEMBER, "member": MEMBER}, design="independent")
    for loss in ({"loss": VALUES, "member": MEMBER}, {"val_loss": VALUES, "is_member": MEMBER}):
        columns = ",".join(f"{role}={name}" for role, name in zip(("score", "member"), loss, strict=True))
        turned = mi.audit(loss, design="independent", columns=columns, runs=VALUES.size)
        assert turned.order.startswith('higher = "out", since the scores are named as a loss')
    with pytest.raises(ValueError, match="columns is given beside arrays"):
        mi.audit(VALUES, MEMBER, design="independent", columns="score=a,member=b")
    named = mi.audit(pd.Series(VALUES, name="val_loss"), MEMBER, design="independent", runs=VALUES.size)
    assert named.order == "higher = \"out\", since the scores are named as a loss, 'val_loss'"
    clustered = frame.assign(cluster=np.arange(120).astype(str)).drop(columns="trial")
    assert mi.audit(clustered, design="clustered").clusters == 120


def test_infinite_scores_count_by_rank_alone() -> None:
    values = np.clip(VALUES, -0.5, 4.0)
    infinite = np.where(values == -0.5, -np.inf, np.where(values == 4.0, np.inf, values))
    plain, result = (
        mi.audit(v, MEMBER, design="independent", runs=VALUES.size, claim="mu=0.1")
        for v in (values, infinite)
    )
    assert "taken by rank" in result.order
    assert "rank" not in plain.order
    for name in ("mu_lower_bound", "epsilon_lower_bound", "advantage_lower_bound", "says"):
        assert getattr(result, name) == getattr(plain, name)
    losses = mi.audit(-infinite, MEMBER, design="independent", runs=VALUES.size, higher="out")
    assert losses.mu_lower_bound == plain.mu_lower_bound


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
    claim = read_claim("tpr=0.2,fpr=0.01")
    assert claim == RatePromise(0.2, 0.01)
    assert isinstance(claim, RatePromise)
    a = np.linspace(0.0, 1.0, 10_001)
    for stored in (
        mi.ApproxDPTradeOff(np.log(20.0)),
        mi.PiecewiseLinearTradeOff([0.0, 1.0], [0.8 / 0.99, 0.0]),
    ):  # with TPR .2 at .01
        assert float(stored.tpr_at(0.01)) <= 0.2 * (1.0 + 1e-9)
        assert (stored.beta(a) >= claim.curve.beta(a) - 1e-9).all()
    for text, words in (
        ("tpr=0.005,fpr=0.01", "a coin has the TPR 0.01"),
        ("tpr=0.2,fpr=0", "fpr is 0"),
        ("tpr=2,fpr=0.1", "tpr is 2"),
    ):
        with pytest.raises(ValueError, match=words):
            read_claim(text)
    with pytest.raises(ValueError, match="it must be like"):
        read_claim("tpr=0.2")


def test_a_promised_rate_is_refuted_where_it_is_false_and_not_where_it_holds() -> None:
    rng = np.random.default_rng(5)
    coins = rng.random(4_000) < 0.5
    scores = rng.normal(size=4_000) + 3.0 * coins  # TPR .75 at FPR .01
    false = mi.audit(scores, coins, design="independent", runs=4_000, claim="tpr=0.5,fpr=0.01")
    assert false.verdict == "REFUTED"
    assert "the TPR, equal scores by lot, is at least" in false.says
    assert (
        mi.audit(scores, coins, design="independent", runs=4_000, claim="tpr=0.76,fpr=0.01").verdict
        == "INCONCLUSIVE"
    )
    requested: dict[str, Any]
    for requested in ({"claim": "tpr=0.5,fpr=0.01"}, {"epsilon": 1.0}):
        with pytest.raises(
            ValueError, match='for the design "one-run", which bounds neither delta nor a TPR'
        ):
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
