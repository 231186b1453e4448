"""`mipsim audit`: exit codes, what is printed and written, what is refused."""

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

import mipsim as mi
from mipsim.referee.command import main

RNG = np.random.default_rng(0)
MEMBER = np.tile([0, 1], 300)
VALUES = RNG.normal(size=600) + 1.5 * MEMBER


def write(path: str, header: str, *columns: object) -> None:
    lines = [",".join(map(str, row)) for row in zip(*(np.asarray(c).tolist() for c in columns), strict=True)]
    Path(path).write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("plain.csv", "score,member", VALUES, MEMBER)
    write("coins.csv", "score,coin", VALUES, MEMBER)
    write("runs.csv", "score,label,cluster", VALUES, MEMBER, [f"run{i // 3}" for i in range(600)])
    np.savez("worlds.npz", members=VALUES[MEMBER == 1], non_members=VALUES[MEMBER == 0])


@pytest.mark.system
@pytest.mark.parametrize(
    ("file", "design"), [("plain.csv", "independent"), ("worlds.npz", "independent"), ("coins.csv", "one-run"), ("runs.csv", "clustered")]
)  # fmt: skip
def test_an_audit_is_printed_and_written(file: str, design: str, capsys) -> None:
    runs = ["--runs", "600"] if design == "independent" else []
    how = ["--design", design, *runs, "--claim", "mu=0.1", "--confidence", "0.95", "--out", "report"]
    assert main(["audit", file, *how]) == 0
    text = capsys.readouterr().out
    assert text.startswith("REFUTED: mu=0.1, by an audit of 600 scores")
    assert "report: report" in text
    data = json.loads(Path("report/results.json").read_text(encoding="utf-8"))
    again = mi.audit(file, design=design, runs=600 if runs else None, claim="mu=0.1", confidence=0.95)
    assert data == again.to_dict()
    page = Path("report/index.html").read_text(encoding="utf-8")
    assert '<span class="badge refuted">REFUTED</span>' in page
    assert "://" not in page.replace("http://www.w3.org", "")
    assert page.count("<img") == (1 if design == "one-run" else 2)  # the curve, the scores
    assert sorted(path.name for path in Path("report").iterdir()) == ["index.html", "results.json"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere.npz", "--design", "independent"], "nowhere.npz is no file"),
        (["scores.pkl", "--design", "independent"], "scores.pkl: it ends in '.pkl', a pickle, which may run code"),
        (["cut.npz", "--design", "independent"], "cut.npz: it is no whole .npz archive"),
        (["plain.csv", "--design", "one-run"], "plain.csv: it has no coin; if a fair coin put each canary in"),
        (["plain.csv", "--design", "clustered"], "plain.csv: it has no cluster"),
        (["plain.csv", "--design", "independent"], "a training run or game for each score: say --runs 600"),
        (["runs.csv", "--design", "independent"], "runs.csv: 600 scores are in 200 clusters"),
        (["plain.csv", "--design", "independent", "--confidence", "2"], "'--confidence': 2.0 is not in the range 0.5<=x<1.0"),
        (["plain.csv", "--design", "independent", "--columns", "score=my", "loss,member=is"], "unexpected extra argument (loss,member=is)"),
        (["plain.csv", "--design", "independent", "--runs", "600", "--out", "scores.pkl"], "--out is 'scores.pkl'"),
        (["plain.csv"], "--design"),
        (["plain.csv", "--design", "guessed"], "--design"),
    ],
)  # fmt: skip
def test_bad_input_is_a_single_sentence_exit_code_2_and_nothing_is_written(
    capsys, arguments, says: str
) -> None:
    Path("scores.pkl").write_bytes(b"")
    Path("cut.npz").write_bytes(Path("worlds.npz").read_bytes()[:-30])
    write("nan.csv", "score,member", np.where(np.arange(600) == 3, np.nan, VALUES), MEMBER)
    assert main(["audit", *arguments, *([] if "--out" in arguments else ["--out", "report"])]) == 2
    text = capsys.readouterr()
    assert says in text.err
    assert text.err.count("\n") == 1
    assert text.out == ""
    assert not Path("report").exists()


def test_a_full_disk_is_exit_code_1_and_ctrl_c_130(monkeypatch, capsys) -> None:
    arguments = ["audit", "coins.csv", "--design", "one-run", "--out", "report"]

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mipsim.referee.reporting.audit_page.replace_file", full)
    assert main(arguments) == 1
    assert "the report cannot be written: No space left on device" in capsys.readouterr().err
    monkeypatch.setattr("mipsim.audits.audit", stopped)
    assert main(arguments) == 130
    assert "interrupted" in capsys.readouterr().err


def test_a_report_tells_a_reader_who_was_not_there(tmp_path: Path) -> None:
    about = {"model": "<b>ResNet-18</b>", "trained by": "Opacus, noise 1.0"}
    made = mi.audit(tmp_path / "plain.csv", design="independent", runs=600, claim=mi.dpsgd(1.0, 0.01, 1000))
    page = made.report("report", about)
    text = page.read_text(encoding="utf-8")
    data = json.loads((page.parent / "results.json").read_text(encoding="utf-8"))
    assert data == made.to_dict() | {"about": about}
    digest = hashlib.sha256(Path("plain.csv").read_bytes()).hexdigest()
    for phrase in (
        "DP-SGD(sigma=1, rate=0.01, steps=1000, add_or_remove)", "&lt;b&gt;ResNet-18&lt;/b&gt;", "Opacus, noise 1.0", digest, f"mipsim {mi.__version__}",
        f"{datetime.now(UTC):%Y-%m-}", "<dd>plain.csv</dd>", "Trade-off curve", "Scores of each world",
        f"FPR {made.decides[0]:.3g}, FNR {made.decides[1]:.3g}",  # type: ignore[index]
    ):  # fmt: skip
        assert phrase in text, phrase
    assert str(tmp_path) not in text
    assert str(tmp_path) not in json.dumps(data)
    with pytest.raises(ValueError, match="about holds 3; it must hold text by names"):
        made.report("other", {"epochs": 3})  # type: ignore[dict-item]
    assert not Path("other").exists()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_threshold_that_decides_is_where_the_leak_is(sign: float) -> None:
    """A twentieth of a world is given away at an end of the scores: the marked rates are there, be it at an FPR near 0 or near 1."""
    rng = np.random.default_rng(0)
    member = np.repeat([0, 1], 2000)
    given = (rng.random(4000) < 0.05) & (member == (sign > 0))
    made = mi.audit(
        rng.random(4000) + 2.0 * sign * given, member, design="independent", runs=4000, claim="epsilon=1"
    )
    assert made.decides is not None
    fpr, fnr = made.decides
    right = (0.0, 0.95) if sign > 0 else (0.95, 0.0)
    assert (fpr, fnr) == pytest.approx(right, abs=0.02)
