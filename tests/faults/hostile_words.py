"""Hostile words, as arguments, names of files and statements: refused in a single sentence, or shown as they are."""

import contextlib
import io
import itertools
import json
import re
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from mipsim import referee as rf
from mipsim._signals import INTERRUPTED
from mipsim._words import printable
from mipsim.referee.command import main as mipsim_command
from tests.faults.campaigns import Figures
from tests.faults.hostile_files import MOST_SECONDS, MOST_TEXT, hidden, save, sound_scores

WORDS = (
    "x" * 5000, "[" * 100_000, "\x1b]0;owned\x07\x1b[2J\x1b[31mREFUTED", "a\nb\rc\x08\x08", "\u202egnp.exe", "\udcff", "%s%n{0}",
    "../" * 2000, "9" * 5000, "1e99999", "nan", "-1", "", " ", "'; touch run #", "<script>", "🙂" * 100, "\x9b31m", "None", "{}",
    "azize-*[", "*" * 3000 + "[", "!", "(", "\\", "0/0", "1/" + "9" * 5000, "--", "{\"x\": 1e999}", "{\"x\": 1, \"x\": 1}",
)  # fmt: skip
"""Given wherever a command takes a word."""

STATEMENT = """
from mipsim import referee as rf
first = rf.Statement(name="first", says="x <= 1", source="nobody", kind=rf.Bound(), domain={"x": rf.Real(0.0, 1.0)},
    claimed=lambda: 1.0, truth=lambda x: x)
"""

PLACES: dict[str, tuple[tuple[str, ...], ...]] = {
    "mipsim": (
        ("{}",), ("judge", "{}"), ("judge", "{}.py"), ("judge", "first.py:{}"), ("judge", "first.py", "--at", "{}"),
        ("judge", "first.py", "--at", '{{"x": {}}}'), ("judge", "first.py", "--at", '{{"{}": 1}}'), ("judge", "first.py", "--seed", "x{}"),
        ("judge", "first.py", "--confidence", "{}"), ("judge", "first.py", "--games", "{}x"), ("judge", "first.py", "{}"),
        ("hunt", "first.py", "--budget", "{}"), ("hunt", "first.py", "--out", "first.py/{}"), ("audit", "{}", "--design", "independent"),
        ("audit", "{}.csv", "--design", "independent"), ("audit", "{}.npz", "--design", "independent"),
        ("audit", "sound.npz", "--design", "{}"), ("audit", "sound.npz", "--design", "independent", "--claim", "{}"),
        ("audit", "sound.npz", "--design", "independent", "--claim", "{}.csv"), ("audit", "sound.npz", "--design", "independent", "--delta", "{}"),
        ("audit", "sound.npz", "--design", "one-run", "--guesses", "{}", "1"), ("audit", "sound.npz", "--design", "independent", "--confidence", "{}"),
    ),
    "python -m sims": (
        ("x{}",), ("run", "{}"), ("run", "azize_fig2_easy", "--games", "x{}"), ("run", "azize_fig2_easy", "--seed", "x{}"),
        ("run", "azize_fig2_easy", "--chunk", "x{}"), ("run", "azize_fig2_easy", "--devices", "x{}"), ("run", "azize_fig2_easy", "--shard", "{}"),
        ("run", "azize_fig2_easy", "--executor", "{}"), ("run", "azize_fig2_easy", "--games", "9", "--out", "first.py/{}"),
        ("merge", "{}", "--out", "sum.npz"), ("merge", "{}.npz", "--out", "sum.npz"), ("bench", "x{}"), ("list", "{}"),
    ),
    "python -m verify": (
        ("x{}",), ("azize-thm-4.2", "x{}"), ("--scale", "{}"), ("--confidence", "{}"), ("--seed", "x{}"),
        ("azize-thm-4.2", "--at", "{}"), ("azize-thm-4.2", "--at", '{{"n": {}}}'), ("azize-thm-4.2", "--at", '{{"{}": 1}}'),
        ("azize-thm-4.2", "--json", "first.py/{}"), ("azize-thm-4.2", "--out", "first.py/{}"), ("--suite", "{}"), ("--hunt", "--budget", "x{}"),
    ),
    "python -m figures": (("x{}",), ("--scale", "{}"), ("--seed", "x{}"), ("azize_fig1", "--out", "first.py/{}"), ("azize_fig1", "x{}")),
}  # fmt: skip
"""Command -> what it is given, {} where the word stands: every place where a word is read."""


@cache
def _commands() -> dict[str, Callable[[list[str]], int]]:
    import figures.__main__
    import sims.__main__
    import verify.command

    return {
        "mipsim": mipsim_command,
        "python -m sims": sims.__main__.main,
        "python -m verify": verify.command.main,
        "python -m figures": figures.__main__.main,
    }


def run_command(command: str, arguments: list[str]) -> tuple[int, str, str]:
    """(status, stdout, stderr) of a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = _commands()[command](arguments)
        except SystemExit as stop:
            status = int(stop.code or 0)
    if status == INTERRUPTED:
        raise KeyboardInterrupt
    return status, out.getvalue(), err.getvalue()


def _refused(command: str, place: tuple[str, ...], word: str) -> str | None:
    """What is wrong with how a word in its place is refused: the sentence names the argument or the word, and nothing else happens."""
    begun = time.process_time()
    try:
        status, out, err = run_command(command, [part.format(word) for part in place])
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:300]}"
    lines = err.splitlines()
    sentence = lines[-1] if lines else ""
    if hidden(out + err):
        return f"it printed {hidden(out + err)[:3]}"
    if status != 2 or len(lines) != 1 or len(sentence) > MOST_TEXT + 100:
        return f"status {status}, {len(lines)} lines: {err[-300:]!r}"
    names = [part.lstrip("-") for part in place if part.startswith("-")]
    names += ["is no file", "Missing", "unexpected extra argument", " allows "]
    if not any(name in sentence for name in names) and _plain(printable(word)[:5]) not in _plain(sentence):
        return f"it speaks of something else: {sentence!r}"
    return "it took too long" if time.process_time() - begun > 3 * MOST_SECONDS else None


def _plain(text: str) -> str:
    """Without what a quotation doubles and the name of a file loses."""
    return re.sub(r"\\+|(?<=/)/+", "", text)


def _place(folder: Path) -> None:
    (folder / "first.py").write_text(STATEMENT)
    sound_scores(folder / "sound.npz")


def _helps(arguments: list[str]) -> bool:
    """Whether a word asks for help or for the list, or ends the options: such are answered."""
    return any(word in ("--", "-h", "--help", "--list", "-V", "--version") for word in arguments)


def arguments(folder: Path, words: tuple[str, ...] = WORDS) -> Figures:
    """Every command, a hostile word in every place."""
    result = Figures("hostile arguments", "status 2 and a single sentence, no escape sequence, nothing run")
    _place(folder)
    with contextlib.chdir(folder):
        for command, places in PLACES.items():
            for place, word in itertools.product(places, words):
                given = [part.format(word) for part in place]
                if _helps(given) or _is_right(place, word):
                    continue
                what = _refused(command, place, word)
                result.check(what is None, f"{command} {' '.join(place)[:60]} with {word[:30]!r}: {what}")
        result.check(not Path("run").exists(), "something ran")
    return result


def _is_right(place: tuple[str, ...], word: str) -> bool:
    """Whether a word is none to refuse in its place."""
    if ("--budget" in place and place[-1] == "{}") or "--shard" in place:
        return False
    if place == ("judge", "first.py:{}") or "--json" in place:  # then the file itself is meant
        return word == ""
    if place[0] in ("x{}", "list") and place[-1] != "--list":
        return place[0] == "list" and word == ""
    return False


def random_arguments(folder: Path, times: int, seed: int = 0) -> Figures:
    """Every command, words of random characters of all kinds in every place."""
    result = Figures("random arguments", "status 2 and a single sentence, no escape sequence")
    _place(folder)
    rng = np.random.default_rng(seed)
    places = [(command, place) for command, all_places in PLACES.items() for place in all_places]
    with contextlib.chdir(folder):
        for i in range(times):
            command, place = places[i % len(places)]
            word = _random_word(rng)
            what = _refused(command, place, word)
            result.check(what is None, f"{command} {' '.join(place)[:60]} with {word[:60]!r}: {what}")
    return result


_ALPHABETS = (
    [chr(i) for i in range(1, 32)] + ["\x7f", "\x9b", "\u202e", "\u2028", "\ufeff", "\udc80"], list("[]{}(),:\"'0123456789.eE+- \\/*?!"),
    [chr(i) for i in range(33, 127)], ["é", "ß", "Ж", "漢", "🙂", "́", "א"],
)  # fmt: skip


def _random_word(rng: np.random.Generator) -> str:
    length = int(rng.choice([1, 2, 5, 20, 300, 6000]))
    alphabet = _ALPHABETS[int(rng.integers(len(_ALPHABETS)))] + ([] if rng.random() < 0.5 else _ALPHABETS[0])
    return "~" + "".join(rng.choice(alphabet, length))  # of which no number, option or name is made


SEQUENCES = (
    "\x1b]0;owned\x07\udcff\nCONFIRMED: all\n", "\udcff", "\x1b[2J\x1b[1;1H", "\r\x1b[K", "\x9b31m", "\u202e", "\x08" * 20, "\nCONFIRMED: all\n",
)  # fmt: skip
"""Written by a terminal, each would hide, recolour, turn or forge what is read."""


STEERING = """
from mipsim import referee as rf
def broken(x):
    raise ValueError(WORD)
first = rf.Statement(name="first", says=WORD, source=WORD, kind=rf.Bound(unit=WORD), claimed=lambda: 1.0, truth=lambda x: x,
    domain={"x": rf.Real(0.0, 2.0, meaning=WORD), "c": rf.Choice(WORD, "b")}, second_route=lambda: rf.Replication(1.0, 1.0, 1.0, WORD, WORD, claim=0.0))
second = rf.Statement(name="second", says=WORD, source=WORD, kind=rf.Bound(), claimed=lambda: 1.0, truth=broken, domain=first.domain)
"""
"""Statements with a word wherever they hold any; the second cannot be judged."""


def sequences(folder: Path, times: int) -> Figures:
    """Names of files and headings of tables that steer a terminal."""
    result = Figures("escape sequences", "never printed as they are; a line is not forged")
    rows = [f"{score},{i % 2}" for i, score in enumerate(np.random.default_rng(0).normal(size=300))]
    for i, word in enumerate(SEQUENCES[:times]):
        place = folder / str(i)
        place.mkdir()
        with contextlib.chdir(place):
            Path(f"a{word}.py").write_text(STEERING.replace("WORD", json.dumps(word)))
            Path(f"b{word}.py").write_text(f"raise ValueError({json.dumps(word)})")
            Path(f"a{word}.csv").write_text("\n".join(["score,member", *rows]))
            for name, lines in (("b", [f'"{word}",member']), ("c", ["score,member", f'"{word}",1'])):
                Path(f"{name}{word}.csv").write_bytes(
                    "\n".join([*lines, *rows]).encode("utf-8", "surrogateescape")
                )
            arrays = {f"score{word}".replace("\udcff", "\xff"): np.zeros(300), "label": np.zeros(300)}
            save(Path(f"a{word}.npz"), **arrays)
            audit = ("--design", "independent", "--runs", "300", "--out", f"out{word}")
            for status, command, given in (
                (1, "mipsim", ["judge", f"a{word}.py", "--out", f"report{word}"]),
                (1, "mipsim", ["hunt", f"a{word}.py", "--budget", "32 probes", "--out", f"report{word}"]),
                (2, "mipsim", ["judge", f"b{word}.py"]),
                (0, "mipsim", ["audit", f"a{word}.csv", *audit]),
                (2, "mipsim", ["audit", f"b{word}.csv", *audit]),
                (2, "mipsim", ["audit", f"c{word}.csv", *audit]),
                (2, "mipsim", ["audit", f"a{word}.npz", *audit]),
                (2, "mipsim", ["audit", f"a{word}.csv", "--claim", f"a{word}.csv", *audit]),
                (0, "python -m sims", ["run", "azize_fig2_easy", "--games", "100", "--out", f"counts{word}"]),
                (
                    2,
                    "python -m sims",
                    ["merge", f"counts{word}/azize_fig2_easy-0.npz", "--out", f"sum{word}"],
                ),
            ):
                try:
                    now, out, err = run_command(command, given)
                except Exception as error:
                    what = f"{type(error).__name__}: {str(error)[:200]}"
                    result.check(False, f"{command} {given[0]} with {word!r}: {what}")
                    continue
                bad = hidden(out + err) or "\nCONFIRMED: all\n" in out + err
                what = f"status {now}, {bad}, {(out + err)[-200:]!r}"
                result.check(now == status and not bad, f"{command} {given[:2]} with {word!r}: {what}")
    return result


def markup(folder: Path, times: int, seed: int = 0) -> Figures:
    """Statements whose every word, formulas too, is put together of pieces of HTML, SVG, CSS and LaTeX, by chance."""
    from tests.referee.test_hostile_pages import PIECES, guarded, worded

    result = Figures("markup in every word", "no element, attribute or script on the page but its own")
    rng = np.random.default_rng(seed)
    for i in range(times):
        words = "".join(rng.choice(PIECES, int(rng.integers(1, 9)))).strip() or "<"
        try:
            outcome = rf.judge(worded(words), samples=2, budget=0)
            guarded(rf.report(outcome, folder).read_text("utf-8"))
            what = ""
        except Exception as error:  # an assertion too
            what = f"{type(error).__name__}: {str(error)[:300]}"
        result.check(not what, f"{i}, {words!r}: {what}")
    return result
