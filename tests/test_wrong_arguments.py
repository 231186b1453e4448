"""What NumPy would read wrongly, in place of every argument that holds numbers: refused, in a sentence that names the argument.

The calls are those of a table; every argument of a call is tried that holds a number or numbers, with every wrong value of its kind.
"""

import decimal
import importlib
import inspect
import math
import random
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
import scipy.sparse

import mipsim as mi
from mipsim import _memory, nn
from tests.faults.hostile_files import MOST_TEXT, hidden
from tests.right_arguments import (
    CALLS,
    COINS,
    LAW,
    MADE,
    MEAN,
    NETWORK,
    OF_FAMILIES,
    OF_NUMBERS,
    ROWS,
    START,
    WORDS_OF_USERS,
)

EVERYWHERE = [
    bytearray(b"1"),
    {1: 2},
    {1.0},
    object(),
    (x for x in [1.0]),
    scipy.sparse.eye_array(2),
    np.ma.masked,
]
NO_NUMBER = [
    True,
    "1",
    b"1",
    1j,
    np.timedelta64(1, "D"),
    2**53 + 1,
    np.longdouble("0.1"),
    np.nan,
    decimal.Decimal("0.1"),
    *EVERYWHERE,
]
MAY_BE_TRUE = (
    "member",
    "replacement",
    "scores",
    "out_scores",
    "in_scores",
    "records",
    "target",
    "y",
    "x",
    "n",
)


def no_numbers(right: Any) -> list[Any]:
    """Arrays of the shape of a right one that NumPy would read as numbers, or that hold numbers of which none is a float64."""
    right = np.asarray(right, float)
    hidden = np.zeros(right.shape, bool)
    hidden.flat[-1] = True
    entries = [
        "1",
        b"1",
        1j,
        np.datetime64("2020-01-01"),
        np.timedelta64(1, "D"),
        2**53 + 1,
        np.longdouble("0.1"),
        np.nan,
        None,
    ]
    return [
        np.ma.masked_array(right, hidden),
        [*right.tolist()[:-1], np.ma.masked_array(right.tolist()[-1], True)],
        right.view(type("WithUnit", (np.ndarray,), {})),
        *(np.full(right.shape, entry) for entry in [*entries, True]),
        np.full(right.shape, decimal.Decimal("0.1"), object),
        [[1.0], [1.0, 2.0]],
        *EVERYWHERE,
    ]


ARGUMENTS = [
    (call, right, name) for call, right in OF_NUMBERS for name in right if not isinstance(right[name], str)
]


@pytest.mark.parametrize(
    ("call", "right", "name"), [(c, r, n) for c, r, n in ARGUMENTS if np.asarray(r[n]).dtype.kind in "biuf"]
)
def test_what_is_no_number_is_refused(call: Callable[..., Any], right: dict[str, Any], name: str) -> None:
    call(**right)
    several = np.ndim(right[name]) > 0
    missed = []
    for wrong in no_numbers(right[name]) if several else NO_NUMBER:
        if type(wrong) is int and type(right[name]) is int:
            continue  # a count is no float64
        entries = np.asarray(wrong, object).ravel()
        if (
            type(wrong) in (np.ndarray, bool)
            and all(entry is True for entry in entries)
            and name in MAY_BE_TRUE
        ):
            continue
        try:
            call(**right | {name: wrong})
        except (ValueError, TypeError) as error:
            if not (isinstance(error, ValueError) and name in str(error) and "\n" not in str(error)):
                missed.append((wrong, repr(error)))
        else:
            missed.append((wrong, "accepted"))
    assert not missed


class Odd:
    def __repr__(self) -> str:
        return "odd\x1b[2J"


class OddNumber(float):
    __repr__ = Odd.__repr__


class OddWord(str):
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return True


Odd.__name__ = Odd.__qualname__ = "Odd\x1b[2J"


KINDS: dict[str, Any] = {
    "nothing": None, "a flag": True, "a word": "no", "words that steer": "\x1b[2J\nx", "bytes": b"x", "a complex number": 1j,
    "NaN": math.nan, "infinity": math.inf, "a number of 401 digits": 10**400, "an array": np.array([1.0, 2.0, 3.0]),
    "an array of flags": np.array([True, False]), "a large array": np.arange(5000.0), "a cube": np.zeros((2, 2, 2)),
    "an array of words": np.array(["a", "b"]), "a ragged list": [[1.0], [1.0, 2.0]], "an empty list": [], "a dictionary": {"a": 1},
    "a set": {1.0}, "an object": Odd(), "a class": float, "an odd class": Odd, "a function": lambda *_: None, "a list with such a number": [10**400, 1],
    "an array of no sides": np.array(1.0), "an odd number": OddNumber(0.5), "an odd word": OddWord("no"), "sixty brackets": eval("[" * 60 + "1" + "]" * 60),
}  # fmt: skip
"""What may stand in the place of any argument."""
VECTORS = {"an array", "a large array"}
PLAIN = {"nothing", "a flag", "a word", "words that steer", "a number of 401 digits"}
BROADCAST = ("alpha", "fpr", "delta", "epsilon", "prior", "log_fpr", "x", "q", "log_q", "d", "noncentrality")  # fmt: skip
OF_ANY_SHAPE = {"a cube", "an empty list", "an array of no sides"}
ALSO: dict[str, set[str]] = {
    "progress": {"a function"}, "limit": {"a function"}, "fixed": PLAIN,
    "values": {*PLAIN, "a ragged list", "a list with such a number"}, "claim": {"NaN", "infinity"},
    "scores": {"a word", "words that steer"},
    **{key: {"infinity"} for key in ("x", "moment", "value", "high", "clip")},
    "shape": {"infinity"},
    "cov": {"an array of no sides"}, "p": {"an odd number"}, "budget": {"an odd number"},
    **{key: {"an empty list"} for key in ("inputs", "widths", "channels", "hidden", "count")},
}  # fmt: skip
"""What is right in the place of some arguments beside what is right where theirs is."""
TAKES_ANYTHING = ("thing", "several")
OF_COORDINATES = {
    name for _, at in OF_FAMILIES for name, right in at.items() if isinstance(right, np.ndarray)
}
"""Arguments whose number without sides is the same for all coordinates."""


def fits(name: str, right: Any, kind: str, parameter: inspect.Parameter | None) -> bool:
    """Whether a value of a kind may be right in the place of a right value; of these a sentence is as good as none."""
    also = kind in ALSO.get(name, ())
    kind = {"an odd number": "an array of no sides", "an odd word": "a word"}.get(kind, kind)
    written = "" if parameter is None else parameter.annotation
    numbers_alone = getattr(written, "__name__", str(written)).removesuffix(" | None") in ("float", "int")
    also = also or kind in ALSO.get(name, ()) or (kind == "an array of no sides" and name in OF_COORDINATES)
    if name in TAKES_ANYTHING or (also and not (numbers_alone and kind in OF_ANY_SHAPE)):
        return True
    if kind == "nothing":
        return parameter is not None and parameter.default is None
    if isinstance(right, bool):
        return kind == "a flag"
    if isinstance(right, str):
        return kind in ("a word", "words that steer") and right in WORDS_OF_USERS
    if callable(right) and not hasattr(right, "beta"):
        return kind in ("a function", "a class", "an odd class")
    if kind == "an array of flags":
        return not numbers_alone and name in (*MAY_BE_TRUE, "aimed", "out", "inside")
    if kind in OF_ANY_SHAPE and not numbers_alone and name in BROADCAST:
        return True
    if isinstance(right, (int, float)):  # that of NumPy without sides is a number
        return kind == "an array of no sides" or (kind in VECTORS and not numbers_alone)
    if isinstance(right, (list, tuple, np.ndarray)):
        return kind in VECTORS
    return kind == "a dictionary" if isinstance(right, dict) else kind == "a function"


def wrong_of(call: Callable[..., Any], right: dict[str, Any], name: str, value: Any, known: bool) -> str:
    """What is wrong with how a value is met; nothing where it is refused as it should be, or is `known` to fit in its place."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call(**right | {name: value})
        except (ValueError, TypeError) as error:
            text, place = str(error), traceback.extract_tb(error.__traceback__)[-1]
            ours = "mipsim" in place.filename and "site-packages" not in place.filename
            # What may be right may be what others do not fit, and an entry of several is named as a single thing.
            if not ours or not (known or name.removesuffix("s") in text):
                return f"a foreign message: {text[:100]}"
            return (
                f"written as {text[:100]!r}" if "\n" in text or hidden(text) or len(text) > MOST_TEXT else ""
            )
        except Exception as error:
            return f"{type(error).__name__}: {str(error)[:100]}"
    return "" if known else "accepted"


def test_every_public_name_has_a_row() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[1] / "docs")
        reference = importlib.import_module("_public_names")
    rows = {inspect.unwrap(getattr(call, "__func__", call)) for call, _ in CALLS}
    public = {
        f"{module}.{name}": getattr(importlib.import_module(module), name)
        for package in reference.PACKAGES
        for module, names in reference.names_of(package).items()
        for name in names
    }
    lacking = [
        name
        for name, value in public.items()
        if callable(value) and not inspect.isabstract(value) and inspect.unwrap(value) not in rows
        if value not in MADE and signature(value).parameters.keys() - {"self"}
    ]
    assert not lacking


def test_every_row_names_what_its_call_takes() -> None:
    """An argument that is gone would be refused in words that are not ours, in few of all runs."""
    for call, right in CALLS:
        taken = inspect.signature(call, follow_wrapped=False).parameters.values()
        if not any(given.kind is given.VAR_KEYWORD for given in taken):
            assert right.keys() <= {given.name for given in taken}, call
    for call, right in OF_FAMILIES:
        call(**right)  # else it keeps not all of them, and needs a row of its own


def signature(call: Callable[..., Any]) -> inspect.Signature:
    """What a call takes; a class takes what its `__init__` does, whatever its own class says."""
    return inspect.signature(call.__init__ if isinstance(call, type) else call)


EVERY = [(call, right, name, kind) for call, right in CALLS for name in right for kind in KINDS]


def missed(
    chosen: list[tuple[Callable[..., Any], dict[str, Any], str, str]],
) -> list[tuple[str, str, str, str]]:
    seen = (
        (
            call,
            name,
            kind,
            wrong_of(call, right, name, KINDS[kind], fits(name, right[name], kind, known.get(name))),
        )
        for call, right, name, kind in chosen
        for known in [signature(call).parameters]
    )
    return [(getattr(call, "__qualname__", ""), name, kind, what) for call, name, kind, what in seen if what]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder in which a word that is right as the name of a file may be written."""
    monkeypatch.chdir(tmp_path)


def test_some_wrong_kinds_are_refused_in_our_words() -> None:
    assert not missed(random.Random(0).sample(EVERY, 400))


@pytest.mark.slow
def test_every_wrong_kind_is_refused_in_our_words() -> None:
    assert len(EVERY) > 12_700
    assert not missed(EVERY)


ANY_BUT = {
    -1.5: (
        "a aimed b log_q Replication.claim p_value.epsilon fixed gaps in_scores Draws.inside largest_refused.least limit log_fpr losses low matrix "
        "mean refuses_gdp.mu Draws.out out_scores outside record Empirical.records RelaxedThreat.records Subset.records reference scores several "
        "target targets thing Ceiling.value Number.value values weights x "
    ),
    0.0: (
        "a aimed alpha b epochs train.noise_multiplier views PiecewiseLinearTradeOff.beta SampledTradeOff.beta long_run_mu.c claim count delta "
        "epsilon error epsilon_from_eta.eta family_lower_bound.false_negatives false_positives fixed AbstractTradeOff.tpr_at.fpr "
        "AbstractTradeOff.tpr_bounds.fpr EmpiricalTradeOff.tpr_interval.fpr account.fpr gaps guesses Uniform.high in_noncentrality in_scores "
        "Draws.inside leakage largest_refused.least mu_bound.least least_rate limit log_fpr losses low matrix mean member largest_refused.most mu "
        "Descent.noise_multiplier SGDStep.noise_multiplier noncentrality offline_a opposite Draws.out out_noncentrality out_only out_scores outside "
        "population prior record record_deviation Empirical.records Subset.records reference regularisation relative right "
        "MixtureTradeOff.sampling_rate account.sampling_rate dpsgd.sampling_rate LaplaceNoise.scale scores seed sensitivities several shadows shape "
        "significance long_run_mu.step susceptibility target targets thing Ceiling.value Number.value Choice.values rows.values weights x y "
    ),
}  # fmt: skip
"""Numbers that every argument refuses but these, or these of a call."""
ONLY = {
    1.0: (
        "accuracy advantage find_noise_multiplier_for_err_rates.alpha beta confidence data_size "
        "find_noise_multiplier_for_epsilon_delta.delta df account.dimension failure_probability EmpiricalTradeOff.false_negatives floor "
        "EmpiricalTradeOff.tpr_lower_bound.fpr find_noise_multiplier_for_tpr_at_fpr.fpr Whole.high in_games in_masses inclusion_probability "
        "least_rate log_fpr Real.low budget.memory n opposite_probabilities Histogram.out out_games out_masses out_only p probabilities step_mu.rows "
        "step_tradeoff.rows audit.runs best_of_runs.runs shift sizes EmpiricalTradeOff.from_scores.thresholds tpr "
    ),
    1.5: (
        "accuracy advantage alpha axes beta account.claim confidence delta df epsilon_accuracy failure_probability floor fpr in_masses "
        "inclusion_probability least_rate log_fpr losses Real.low offline_a opposite_probabilities out_masses out_only p prior probabilities "
        "sampling_rate shift significance sizes tpr "
    ),
}  # fmt: skip
"""Numbers that these refuse."""


def in_place(right: Any, number: float) -> Any:
    """A right value with this number in its place, or in that of its last entry; None where none is there, or a whole number alone."""
    try:
        values = np.array(right)
    except ValueError:  # arrays of several sizes
        return None
    if isinstance(right, bool) or values.dtype.kind not in "if" or not values.size:
        return None
    if values.dtype.kind == "i" and number == 1.5:
        return None
    values.flat[-1] = int(number) if values.dtype.kind == "i" else number
    return values if isinstance(right, np.ndarray) else type(right)(values.tolist())


NUMBERS = [
    (call, right, name, value)
    for call, right in CALLS
    for name in right
    for number in (*ANY_BUT, *ONLY)
    for named in [(ANY_BUT.get(number) or ONLY[number]).split()]
    if (name in named or f"{getattr(call, '__qualname__', '')}.{name}" in named) == (number in ONLY)
    and (value := in_place(right[name], number)) is not None
]


def test_a_number_beyond_what_an_argument_takes_is_refused() -> None:
    met = (
        (call, name, value, wrong_of(call, right, name, value, False)) for call, right, name, value in NUMBERS
    )
    assert not [
        (getattr(call, "__qualname__", ""), name, value, what) for call, name, value, what in met if what
    ]
    assert len(NUMBERS) > 700


def rows_of(word: str) -> list[tuple[Callable[..., Any], dict[str, Any], str]]:
    """The right calls, and their arguments, that a word of a table above speaks of."""
    return [
        (call, right, name)
        for call, right in CALLS
        for name in right
        if word in (name, f"{getattr(call, '__qualname__', '')}.{name}")
    ]


NAMED = [(number, word) for table in (ANY_BUT, ONLY) for number in table for word in table[number].split()]


def test_every_exception_is_that_of_an_argument() -> None:
    """An exception whose argument is gone would excuse the next argument of its name."""
    stale = [
        (number, word)
        for number, word in NAMED
        if all(in_place(right[name], number) is None for _, right, name in rows_of(word))
    ]
    names = {*ALSO, *MAY_BE_TRUE, *BROADCAST, *TAKES_ANYTHING}
    assert not stale + [name for name in names if not rows_of(name)]
    assert not {kind for kinds in ALSO.values() for kind in kinds} - {*KINDS}


@pytest.mark.evidence
def test_every_exception_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    idle: list[Any] = []
    for number, word in (named for named in NAMED if named[0] in ANY_BUT):
        tried = ((*row, in_place(row[1][row[2]], number)) for row in rows_of(word))
        if not any(v is not None and wrong_of(call, right, name, v, False) for call, right, name, v in tried):
            idle.append((number, word))
    for word, kinds in ALSO.items():
        monkeypatch.setitem(ALSO, word, set())
        idle += [(word, kind) for kind in kinds if not missed([(*row, kind) for row in rows_of(word)])]
        monkeypatch.setitem(ALSO, word, kinds)
    assert not idle


HUGE = (2**31, 2**53, 2**63 - 1, 2**64 - 1)
LONG_RUNS = (mi.play, mi.play_many, mi.play_targets, mi.decide, nn.train)
"""What shows how far it is and ends by Ctrl-C, however many games or epochs."""


def huge(right: Any) -> list[tuple[int, Any]]:
    """Huge whole numbers in the place of a right one, or of each entry of several; none in other places."""
    if type(right) is int:
        return [(number, number) for number in HUGE]
    if isinstance(right, tuple) and all(type(entry) is int for entry in right):
        places = range(len(right))
        return [(number, (*right[:i], number, *right[i + 1 :])) for i in places for number in HUGE]
    return []


SIZES = [
    (call, right, name, value)
    for call, right in CALLS
    for name in right
    for number, value in huge(right[name])
    if call not in LONG_RUNS or name not in ("games", "epochs") or number >= 2**62
]


def unmet(
    chosen: list[tuple[Callable[..., Any], dict[str, Any], str, Any]],
) -> list[tuple[str, str, Any, str]]:
    """Whatever ends neither in seconds nor in a sentence of ours, on a machine with 4 GB of memory to be had."""
    result = []
    for call, right, name, value in chosen:
        begun = time.process_time()
        what = wrong_of(call, right, name, value, known=True)
        if time.process_time() - begun > 60.0:
            what = what or "no answer in seconds"
        result += [(getattr(call, "__qualname__", ""), name, value, what)] if what else []
    return result


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_memory, "free_bytes", lambda: 4e9)


@pytest.mark.usefixtures("little")
def test_some_huge_sizes_end_in_seconds_or_in_our_words() -> None:
    assert not unmet(random.Random(0).sample(SIZES, 40))


@pytest.mark.slow
@pytest.mark.usefixtures("little")
def test_every_huge_size_ends_in_seconds_or_in_our_words() -> None:
    assert len(SIZES) > 400
    assert not unmet(SIZES)


def foreign(size: int) -> None:
    np.zeros((size, 2**40))


def test_an_array_that_cannot_be_held_is_seen() -> None:
    assert unmet([(foreign, {"size": 1}, "size", 2**63 - 1)])


def played(n: int) -> Any:
    return mi.FixedTarget(MEAN, LAW, n=n, target=[1.0, 2.0]).play(jax.random.key(0), True)


def taught(n: int) -> Any:
    return mi.trained_attack(mi.FixedTarget(MEAN, LAW, n=n, target=[1.0, 2.0]), games=100, hidden=())


def descended(**given: Any) -> Any:
    descent = nn.Descent(**given, releases="parameters")
    return mi.RandomTarget(descent, descent.records(), n=4 + (given["sampling"] != "fixed")).play(
        jax.random.key(0), True
    )


RELAXED = {
    "query": lambda rows: rows.sum(axis=0),
    "records": [[0.0], [1.0]],
    "record": [2.0],
    "noise": mi.Gaussian(0.0, 1.0, d=1),
}
STEPPED = {"network": NETWORK, "start": START, "x": ROWS, "y": COINS[:12], "batch": 4, "rate": 0.1}
IMAGES = {
    "network": nn.linear((1, 1, 1), 2),
    "x": np.zeros((4, 1, 1, 1)),
    "y": [0, 1, 0, 1],
    "epochs": 1,
    "rate": 0.1,
    "batch": 1,
}
ROOM: list[Any] = [
    (mi.Gaussian, {"mean": 0.0, "cov": 1.0}, "d", 250, 251),
    (nn.layered, {"inputs": (2,), "outputs": 2}, "widths", (499,), (500,)),
    (LAW.sample, {"key": jax.random.key(0)}, "n", 500, 501),
    (played, {}, "n", 500, 501),
    pytest.param(taught, {}, "n", 500, 501, marks=pytest.mark.evidence),
    (mi.RelaxedThreat, RELAXED, "shadows", 999, 1000),
    (nn.Descent, STEPPED | {"releases": "steps"}, "steps", 166, 167),
    pytest.param(
        descended, STEPPED | {"sampling": "shuffled"}, "steps", 500, 501, marks=pytest.mark.evidence
    ),
    pytest.param(
        descended, STEPPED | {"sampling": "poisson"}, "steps", 1000, 1001, marks=pytest.mark.evidence
    ),
    # A linear network, of which each batch is all records.
    pytest.param(descended, STEPPED | {"sampling": "fixed"}, "steps", 166, 167, marks=pytest.mark.evidence),
    (nn.train, IMAGES, "views", 2000, 2001),
]
"""Calls, and the largest size that 8,000 bytes hold, by their own count of what is made, with the next."""


@pytest.mark.parametrize(("call", "rest", "name", "most", "more"), ROOM)
def test_a_size_is_refused_from_where_memory_ends(call, rest, name, most, more, monkeypatch) -> None:
    monkeypatch.setattr(_memory, "free_bytes", lambda: 8e3)
    call(**rest | {name: most})
    with pytest.raises(
        ValueError, match=rf"{name} is .*; that takes [0-9,]+ numbers, and at most [0-9,]+ fit into memory"
    ):
        call(**rest | {name: more})
