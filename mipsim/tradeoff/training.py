"""The configuration of a training run, from a mapping or a file, as what `mipsim.account` needs; usual spellings are known by a table."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

from mipsim._validation import choice, number, whole
from mipsim._words import no_such, printable, quoted
from mipsim.tradeoff.schemes import NEIGHBOURS, NORMALISE, SCHEMES

ENDINGS = ".toml", ".json", ".yaml", ".yml"
_NAMES = {
    "noise_multiplier": "noise_multiplier sigma dp_sigma noise_mult dp_noise_multiplier std_relative z",
    "sampling_rate": "sampling_rate sample_rate sampling_probability sampling_prob q",
    "batch_size": "batch_size bs logical_batch_size expected_batch_size lot_size train_batch_size per_device_train_batch_size total_batch_size",
    "microbatches": "microbatches num_microbatches",
    "accumulation": "accumulation gradient_accumulation_steps gradient_accumulation grad_accumulation_steps accumulation_steps accumulate_grad_batches",
    "devices": "devices world_size num_devices n_gpu n_gpus num_gpus",
    "data_size": "data_size dataset_size num_examples num_train_examples number_of_examples train_size num_train n_train num_samples ds_size n",
    "epochs": "epochs num_epochs n_epochs num_train_epochs max_epochs dp_epochs",
    "steps": "steps num_steps n_steps max_steps train_steps total_steps max_update max_updates num_train_steps iterations num_iterations num_updates",
    "steps_per_epoch": "steps_per_epoch batches_per_epoch num_batches",
    "sampling": "sampling sampler batch_sampler sampling_method batch_selection poisson_sampling use_poisson poisson shuffle",
    "neighbours": "neighbours neighbors neighboring_relation neighbouring_relation adjacency",
    "group": "group",
    "normalise": "normalise normalize",
    "epsilon": "epsilon target_epsilon dp_epsilon dp_target_epsilon privacy_budget claimed_epsilon stop_training_at_epsilon",
    "delta": "delta target_delta dp_delta dp_target_delta claimed_delta",
}
_SAMPLINGS = {name: f"{name} {scheme.spelt}" for name, scheme in SCHEMES.items()}
_WORDS = {
    "sampling": _SAMPLINGS,
    "neighbours": {name: f"{name} {name}_one" for name in NEIGHBOURS},
    "normalise": {name: name for name in NORMALISE},
}
_FLAGS = {
    "poisson_sampling": "poisson",
    "use_poisson": "poisson",
    "poisson": "poisson",
    "shuffle": "shuffled",
}
_PARTS = re.compile(r"^(optim|adam|sched|model|loss|layer|norm|batch_?norm)")
"""How tables of parts of a training begin: an epsilon in them is that of Adam, steps are those of a rate of learning."""
_RUNS = re.compile(
    r"^(eval|test|val|sampler|adversar|attack|pgd|augment|encrypt|synthetic|generat|metric|result|hist)"
)
"""How tables of other runs begin: a batch in them is that of a test, steps those of a generator or of an attack."""
_OF_NOISE = re.compile(
    r"nois|sigma|priva|laplac|mechanism|micro(?!_(f1|av|prec|rec))|opacus|(^|_)(use|enable|with|no)?[cluz]?dp(sgd|ftrl)?(_|$)"
)
_TABLES = {"run": _RUNS, "part": _PARTS, "noise": _OF_NOISE}
_OF_BATCH = re.compile(
    r"batch(?!_?norm|_first)|(^|_)(bs|ep)(_|$)|accum|(^|_)tpu|gpu(?!_(name|type|id(?!s)|index|mem))|(^|_)sampl|samples|poisson|replacement|devices|nproc|num_proc|processes|node|machine|replica|world|update_freq"
)
_OF_STEPS = re.compile(
    r"step(?!_?size)|(^|_)n?iter|epoch|(^|_)rounds?(_|$)|client|cohort|sensitivit|repeats|_users?(_|$)|^users|user_level|distribution|perturb|^_?base_$|^(defaults|extends|include|inherit)"
)
_OF_DATA = re.compile(
    r"split|(?<!warmup_)(?<!memory_)frac|subset|percent(?!ile)|portion|hold_?out|(^|_)k?folds?(_|$)|resume|d(ev|ry)_run|^limit_|overfit|(^|_)(val|valid|validation|dev)_(size|ratio|pct)|test_ratio|^(mixup|cutmix)(_alpha)?$"
)
"""Of what a name speaks that may change the account: of noise in every table, of batches in all but other runs, of the rest where a training is read."""
_NO_NOISE = re.compile(
    r"(^|_)(seeds?|accountant|accounting|engine|spent|csv|path|file|dir|root|secure)(_|$)|^(lr_|non_?private_epochs$)"
)
_ASIDE = re.compile(
    r"(^|_)(test|eval|evaluation|val|valid|validation|dev|physical|log|logging|save|checkpoint|ckpt|print|display|report|plot|snapshot|warmup|decay|ema|lr|early|patience|use_distributed_sampler|use_seedable_sampler|even_batches|best|time|mem|memory|sec|second|predict|workers?|index|use_gpu)(_|$)"
)
"""Names of files, seeds and reports say nothing of the noise; these say nothing of a training's batches and steps."""
_ON = "dp dpsgd dp_sgd dp_enabled enable_dp use_dp with_dp apply_dp dp_training train_with_dp private is_private opacus use_opacus noise add_noise use_noise"
_ON += " privacy use_privacy enable_privacy differential_privacy enable_differential_privacy use_differential_privacy differentially_private"
_OFF = "disable_dp no_dp nodp nondp non_dp non_private disable_privacy disable_noise deterministic_noise_for_testing"
_TRUE = "true", "yes", "on", "1"
_USUAL = dict[str, str]()
_USUAL |= {word: " ".join(_TRUE) for word in _ON.split()}
_USUAL |= dict.fromkeys(_OFF.split(), "false no off 0")
_USUAL |= dict.fromkeys(("mechanism", "noise_type", "noise_distribution"), "gaussian iid_gaussian normal")
_USUAL |= {"sensitivity": "1 1.0"} | dict.fromkeys(
    ("loss_reduction", "grad_sample_mode", "wrap_model", "n_splits", "rescale_to_unit_norm"), ""
)
"""Name -> the values that are the usual, any if there are none; another changes the noise, and so does none at all."""
_NORM = re.compile(r"grad_norm|norm_clip|clip(ping)?_(norm|bound|threshold)|^clip(ping)?$")
"""Names of the norm to which a record is clipped, without which nothing is private."""
_CLIPPED = "flat", "per_sample", "per_layer", "ghost", "norm", "value", "mixopt", "automatic", *_TRUE
_PLAIN = re.compile(
    r"(dp_?)?(sgd|adamw?)|(central_)?dp|opacus|\w*_?privacy|gaussian|example|record|sample|instance|hooks|functorch|ew|ghost"
)
"""Words that say in a table of the noise what is the usual."""
_OTHERS = re.compile(
    r"non_?(private|dp)|no_?(dp|noise|privacy)|laplace|l_?dp|local_dp|(dp_?)?(ftrl|mf)|band_?mf|pate|tree_.*|.*_perturbation"
)
"""Values, whatever their name, by which a training is another."""
_CLASSES = re.compile(r"(^|_)(class_path|target|class|class_name|type)_*$")
_OF_CLASSES = re.compile("nois|accum|batch_?size")
"""Names that hold the name of a class, and of which it may speak if it changes the noise or the batches of a step."""
_SIZES = {"total", "init_value", "per_device_per_step", "scale_schedule"}
"""What a table of a batch may have; the first two are the records in a step, if no schedule changes them."""
_OVERRULED = {"shuffle": "poisson_sampling", "batch_size": "logical_batch_size"}
"""What is true of a loader or of the memory alone, where the file says the other."""
_IN_PHASES = {"noise": "noise_multiplier", "rate": "sampling_rate"}
_NONE = "", "_", "none", "null", "false", "no", "off", "0", "0.0", "1", "1.0"
"""Values that change no batch and no step: none, and 1 of what they are multiplied by."""
_NEAR = 1.1  # factor up to which two statements of a rate or of the steps may differ, by rounding
_MOST_BYTES, _MOST_NAMES, _MOST_NODES, _DEEPEST = 1 << 18, 10_000, 100_000, 8


def _by_spelling(table: dict[str, str]) -> dict[str, str]:
    return {word: name for name, words in table.items() for word in words.split()}


_SPELT = _by_spelling(_NAMES)


@dataclass(frozen=True, kw_only=True)
class Training:
    """What a configuration says: the fewest and the most that it allows of each phase, and the claim, if it makes any."""

    least: list[tuple[float, float, int]]  # noise multiplier, sampling rate, steps of each phase
    most: list[tuple[float, float, int]]
    neighbours: str
    sampling: str
    group: int
    normalise: str
    data_size: int | None
    delta: float | None
    claim: tuple[float, float] | None  # epsilon, delta
    read: str  # what was read, what follows, and what was left unread


def is_training(value: object) -> bool:
    """Whether a value is a mapping, or the path of a file of a configuration.
    >>> is_training({}), is_training("run.toml"), is_training("run"), is_training(1.0)
    (True, True, False, False)
    """
    named = isinstance(value, (str, PathLike)) and Path(value).suffix.lower() in ENDINGS
    return named or isinstance(value, Mapping)


def read_training(source: Any, **beside: Any) -> Training:
    """Read a mapping, or a file of TOML, JSON or YAML; tables in it may be nested, and a list of tables `phases` has each phase.

    What stands outside of the phases is true of all of them, and so is what stands `beside` the source unless it is None. Where the records are no whole number of batches, libraries differ in the rate and the steps of an epoch (dropped, or a smaller last
    batch): both ends are returned.

    Raises:
        ValueError: if the file cannot be read, or a name is missing, mistyped, given twice or out of range.

    >>> read_training({"sigma": 1.1, "batch-size": 250, "n": 60_000, "epochs": 15, "sampler": "poisson"}).most
    [(1.1, 0.004166666666666667, 3600)]
    """
    held = isinstance(source, Mapping)
    try:
        return _training(source if held else _content(Path(source)), beside)
    except ValueError as error:
        where = "noise_multiplier holds a training" if held else printable(source)
        raise ValueError(f"{where}: {error}") from None


def _content(path: Path) -> Mapping[str, Any]:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ValueError("it has more than 256 KiB; a configuration has less")
        text = path.read_text("utf-8-sig")
        if (ending := path.suffix.lower()) == ".toml":
            import tomllib

            if re.search(
                r"([\w'\"-]+[ \t]*\.[ \t]*){32}", text
            ):  # the parser takes the square of their number
                raise ValueError(f"its tables are nested more than {_DEEPEST} deep")
            held = tomllib.loads(text)
        elif ending == ".json":
            held = json.loads(text, object_pairs_hook=_once)
        else:
            try:
                import yaml  # pyright: ignore[reportMissingImports, reportMissingModuleSource]
            except ImportError:
                raise ValueError(
                    "YAML needs the package PyYAML, which is not installed: write TOML or JSON"
                ) from None
            try:
                _once_in_yaml(yaml.compose(text, yaml.SafeLoader))
                held = yaml.safe_load(text)
            except (yaml.YAMLError, ArithmeticError, AttributeError, LookupError, TypeError) as error:
                raise ValueError(f"it is no YAML: {printable(' '.join(str(error).split()), 80)}") from None
    except OSError as error:
        raise ValueError(f"it cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(printable(error, 120)) from None
    if not isinstance(held, Mapping):
        raise ValueError("it holds no table of names")
    return held


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held = dict[str, Any]()
    for name, value in pairs:
        if name in held:
            raise ValueError(f"{printable(name, 40)} has two values")
        held[name] = value
    return held


def _once_in_yaml(root: Any) -> None:
    """Refuse a name that a table of YAML has twice, of which the package takes the last, and nodes that grow by being referred to."""
    nodes = [root]
    for node in nodes:
        pairs = node.value if isinstance(getattr(node, "value", None), list) else []
        tables = [pair for pair in pairs if isinstance(pair, tuple)]
        _once([(key.value, value) for key, value in tables if isinstance(key.value, str)])
        nodes += [value for _, value in tables] or pairs
        _at_most(_MOST_NODES, len(nodes))


def _at_most(most: int, entries: int) -> None:
    if entries > most:
        raise ValueError(f"it has more than {most} entries")


_Entry = tuple[str, Any, str]
_UNREAD = "part", "run", "list"


def _entries(table: Mapping[Any, Any], depth: int = 0, within: str = "") -> Iterator[_Entry]:
    """Each name with its value, and what the table is of where it stands: "" the training, "noise" its privacy, else what is not read; a table itself has no name."""
    if depth > _DEEPEST:
        raise ValueError(f"its tables are nested more than {_DEEPEST} deep")
    yield "", None, within
    words = {key: _word(key) for key in table}
    with_noise = within == "noise" or "noise_multiplier" in map(_SPELT.get, words.values())
    for key, value in table.items():
        word = words[key]
        if (
            isinstance(value, Mapping)
            and "value" in value
            and value.keys() <= {"value", "desc", "description"}
        ):
            value = value["value"]  # as trackers of runs write a name
        if re.search(r"[./]", word):  # a path of tables, as on a command line
            first, rest = re.split(r"[./]+", word, maxsplit=1)
            yield from _entries({first: {rest: value}}, depth + 1, within)
            continue
        if with_noise and word in ("enabled", "enable", "active", "use", "do", "on"):
            word = "dp_enabled"
        known = word in _SPELT and _SPELT[word] not in ("sampling", "neighbours")
        if isinstance(value, (list, tuple)) and word != "phases":
            for part in value:
                if isinstance(part, (Mapping, list, tuple)):
                    inner = part if isinstance(part, Mapping) else {key: part}
                    yield from _entries(inner, depth + 1, within if within == "run" else "list")
        if within == "part" and word in _SPELT and (_OF_NOISE.search(word) or _OF_BATCH.search(word)):
            yield word, value, ""  # as an optimizer has the noise that it adds
        elif not isinstance(value, Mapping):
            yield word, value, within
        elif word == "batch_size" and value.keys() <= _SIZES and not value.get("scale_schedule"):
            yield word, value.get("total", value.get("init_value")), within
        elif known:  # which is refused
            yield word, value, within
        elif re.search(r"(^|_)seeds?$", word):
            yield f"{word}.*", None, within
        else:
            below = next((name for name, begins in _TABLES.items() if begins.search(word)), "")
            if below in _UNREAD and within not in _UNREAD:
                yield f"{word}.*", None, within
            yield from _entries(value, depth + 1, within if within in _UNREAD else below or within)


def _word(key: Any) -> str:
    """A name as the table has it, from `noise-multiplier`, `Noise Multiplier` or `noiseMultiplier`."""
    text = str(key).strip() if isinstance(key, (str, bool, int, float)) else quoted(key, 200)
    return re.sub(r"[^\w./]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text)).lower()


def _changes(word: str, value: Any, within: str) -> bool:
    """Whether a name that is not read may change the noise, the batches or the steps."""
    text, own = _word(value), within in ("", "noise")
    if within != "run" and _CLASSES.search(word) and _OF_CLASSES.search(text):
        return True
    if word in _USUAL and within != "run":
        version = word == "opacus" and "." in text
        return bool(_USUAL[word]) and text not in _USUAL[word].split() and not version
    if (own or within == "part") and _OTHERS.fullmatch(text):
        return True
    if re.search("clip|grad_norm", word) and not re.search("nois|sigma", word):
        return own and _is_unclipped(word, value, text)
    if value is None or _NO_NOISE.search(word):
        return False
    aside = re.search("physical|actual|alphas|orders|descri|learning|optim|norm|^[cs]$", word)
    if _OF_NOISE.search(word) or word == "phases" or (within == "noise" and not aside):
        return not _PLAIN.fullmatch(text)
    if within == "list" and _SPELT.get(word, "delta") not in ("epsilon", "delta"):
        return True
    single = isinstance(value, (int, str)) and re.fullmatch(r"\w+", str(value))
    indexed = single and word in ("gpu", "cuda_visible_devices")
    if not within and _OF_DATA.search(word):
        return text not in _NONE[:-2] and not ("split" in word and text.isalpha() and text not in _TRUE)
    if within == "run" or text in _NONE or indexed:
        return False
    return not _ASIDE.search(word) and bool(_OF_BATCH.search(word) or (not within and _OF_STEPS.search(word)))


def _is_unclipped(word: str, value: Any, text: str) -> bool:
    """Whether a name says that no fixed norm bounds a record."""
    if re.search("adaptive|disable|no_clip", word):
        return value is not None and text not in _NONE[:-2]
    if value is None:
        return bool(_NORM.search(word))
    if "per_layer" in word or text in _CLIPPED:
        return False
    try:
        return not 0.0 < float(value) < math.inf
    except (OverflowError, TypeError, ValueError):
        return True


def _read(table: Mapping[Any, Any]) -> list[_Entry]:
    entries = [*islice(_entries(table), _MOST_NAMES + 1)]
    _at_most(_MOST_NAMES, len(entries))
    return [entry for entry in entries if entry[0]]


def _training(table: Mapping[str, Any], beside: Mapping[str, Any]) -> Training:
    entries = [*((word, value, "") for word, value in beside.items()), *_read(table)]
    listed = [value for word, value, within in entries if word == "phases" and within not in _UNREAD]
    if not listed:
        return _phase(entries)
    if len(listed) > 1:
        raise ValueError("phases is given twice")
    tables = listed[0] if isinstance(listed[0], (list, tuple)) else [listed[0]]
    if not tables or not all(isinstance(part, Mapping) for part in tables):
        raise ValueError(
            f"phases is {quoted(listed[0])}; it must be a list of tables of noise, rate and steps"
        )
    common = [entry for entry in entries if entry[0] != "phases"]
    _at_most(_MOST_NODES, len(tables) * (1 + len(common)))
    parts = [
        _phase(
            [*common, *((_IN_PHASES.get(word, word), value, within) for word, value, within in _read(part))]
        )
        for part in tables
    ]
    for name in ("neighbours", "sampling", "group", "normalise", "data_size", "delta", "claim"):
        if len(values := dict.fromkeys(getattr(part, name) for part in parts)) > 1:
            raise ValueError(
                f"phases have {' and '.join(map(quoted, values))} as {name}; it must be the same in all"
            )
    totals = [
        word
        for word, _, within in common
        if _SPELT.get(word) in ("steps", "epochs") and within not in _UNREAD
    ]
    if totals and len(tables) > 1:
        raise ValueError(
            f"{totals[0]} stands beside phases, and may be of each or of all; give it in each phase"
        )
    return replace(
        parts[0],
        least=[phase for part in parts for phase in part.least],
        most=[phase for part in parts for phase in part.most],
        read="; then ".join(part.read for part in parts),
    )


def _phase(entries: list[_Entry]) -> Training:
    held = {word: value for word, value, within in entries if within not in _UNREAD}
    given, spelt, unread, denied = dict[str, Any](), dict[str, str](), list[str](), dict[str, str]()
    changes = []
    for word, value, within in entries:
        name = _SPELT.get(word)
        if within in _UNREAD or name is None:
            if _changes(word, value, within):
                changes.append(f"{printable(word, 40)} {quoted(value)}")
            if within not in _UNREAD:
                unread.append(word)
        elif word in _OVERRULED and held.get(_OVERRULED[word]):
            unread.append(word)
        elif value is False and word in _FLAGS:
            denied[_FLAGS[word]] = word
        elif value is None or (word == "max_steps" and value == -1):  # as libraries write that it is not set
            continue
        elif _is_other(name, value):
            unread.append(word)
        elif name in given and (
            given[name] != _plain(word, name, value)
            or (name in ("steps", "epochs") and spelt[name] == word)  # of two parts of the training
        ):
            if spelt[name] == word:
                raise ValueError(
                    f"{printable(word)} is {given[name]} and {_plain(word, name, value)}; give 1 of them"
                )
            raise ValueError(
                f"{printable(spelt[name])} and {printable(word)} are the same and differ; give the {name} alone"
            )
        else:
            given[name], spelt[name] = _plain(word, name, value), word
    _refuse_mistyped([word for word in unread if held[word] is not None], given)
    if (parts := given.pop("microbatches", None)) not in (None, given.get("batch_size")):
        raise ValueError(
            f"{spelt['microbatches']} is {parts}, and batch_size is {given.get('batch_size')}: a record moves a clipped mean of several by up to 2 norms; leave it out if each record is clipped"
        )
    if changes:
        raise ValueError(
            f"not read, and may change the noise, the batches or the steps: {printable('; '.join(changes), 300)}; leave out what does not"
        )
    if (sampling := given.get("sampling")) in denied:
        raise ValueError(
            f"{spelt['sampling']} is {sampling!r} and {denied[sampling]} is false; give 1 of them"
        )
    rates, steps, follows = _steps(given, spelt)
    lacks = [
        *(["noise_multiplier"] if "noise_multiplier" not in given else []),
        *(
            [f"{'' if 'batch_size' in given else 'sampling_rate, or batch_size and '}data_size"]
            if rates is None
            else []
        ),
        *(["steps, or epochs"] if not given.keys() & {"steps", "epochs"} else []),
        *([f"sampling, which is {' or '.join(SCHEMES)}"] if sampling is None else []),
        *(["delta beside epsilon"] if "epsilon" in given and "delta" not in given else []),
    ]
    if lacks or rates is None or steps is None or sampling is None:
        beside = "; sampling, data_size and neighbours may also stand beside it, as --sampling and so on"
        raise ValueError(f"what is missing: {'; '.join(lacks)}{beside}")
    noise = given["noise_multiplier"]
    for name, usual in (("neighbours", "add_or_remove"), ("normalise", NORMALISE[0])):
        if name not in given:
            follows.append(f"{name} not given, so {usual}")
    if unread:
        follows.append(f"not read: {printable(', '.join(unread), 400)}")
    read = ", ".join(
        f"{spelt[name]} {value if isinstance(value, (int, str)) else format(value, 'g')}"
        for name, value in given.items()
    )
    return Training(
        least=[(noise, rates[0], steps[0])],
        most=[(noise, rates[1], steps[1])],
        neighbours=given.get("neighbours", "add_or_remove"),
        sampling=sampling,
        group=given.get("group", 1),
        normalise=given.get("normalise", NORMALISE[0]),
        data_size=given.get("data_size"),
        delta=given.get("delta"),
        claim=(given["epsilon"], given["delta"]) if "epsilon" in given else None,
        read="; ".join([read, *follows]),
    )


def _is_other(name: str, value: Any) -> bool:
    """Whether a value shows that the name is used for something else: a group of runs has a name, the normalisation of images has numbers."""
    if name == "group":
        return isinstance(value, str) and not value.strip().isdigit()
    return name == "normalise" and not isinstance(value, str)


def _plain(word: str, name: str, value: Any) -> Any:
    """A value as a number or a word of ours."""
    if name in _WORDS:
        if value is True and word in _FLAGS:
            return _FLAGS[word]
        text = str(value).strip().lower().replace("-", "_").replace(" ", "_")
        return _by_spelling(_WORDS[name]).get(text) or choice(word, text, list(_WORDS[name]))
    if isinstance(value, str):  # YAML reads 1e-5 as a text
        try:
            value = float(value) if not value.strip().isdigit() else int(value)
        except ValueError:
            raise ValueError(f"{word} is {quoted(value)}; it must be a number") from None
    if name in (
        "batch_size",
        "microbatches",
        "accumulation",
        "devices",
        "data_size",
        "steps",
        "steps_per_epoch",
        "group",
    ):
        return whole(word, int(value) if isinstance(value, float) and value.is_integer() else value, 1)
    low, high = {"sampling_rate": (1e-100, 1.0), "delta": (0.0, 1.0), "epochs": (0.0, 1e9)}.get(
        name, (0.0, math.inf)
    )
    return number(word, value, low, high, low_open=name in ("noise_multiplier", "epochs"))


def _refuse_mistyped(unread: list[str], given: Mapping[str, Any]) -> None:
    """A name that is nearly ours would be left unread, and the account would be of another training."""
    for word in unread:
        close = _close(word)
        if close and _SPELT[close[0]] not in given:
            raise ValueError(no_such("a name", word, close, "a name of the table"))


@lru_cache(maxsize=_MOST_NAMES)
def _close(word: str) -> list[str]:
    """The name of ours that another name nearly is, if any."""
    import difflib

    if word in _SPELT or _ASIDE.search(word) or word in ("device", "groups", "normalized"):
        return []
    return difflib.get_close_matches(word[:100], _SPELT, 1, cutoff=0.85)


def _batch(given: Mapping[str, Any], word: str) -> int:
    """The records that are expected in a step, between two updates; 0 if no batch is given."""
    size = given.get("batch_size", 0)
    if word.startswith(("logical", "expected", "lot", "total")):
        return size
    if word.startswith("per_device") and "devices" not in given:
        raise ValueError(f"{word} is of a device; give the devices, also a single one")
    if given.get("devices", 1) > 1 and not word.startswith("per_device") and size:
        raise ValueError(
            f"{word} beside {given['devices']} devices may be of a device or of all; give the total_batch_size"
        )
    if given.get("accumulation", 1) > 1 and word.startswith("train"):  # of DeepSpeed it is that of all
        raise ValueError(
            f"{word} beside an accumulation of {given['accumulation']} may be of a part or of all; give the total_batch_size"
        )
    return size * given.get("accumulation", 1) * given.get("devices", 1)


def _steps(
    given: Mapping[str, Any], spelt: Mapping[str, str]
) -> tuple[tuple[float, float] | None, tuple[int, int] | None, list[str]]:
    """The rates and the steps, each as (fewest, most), or None where they do not follow; and what does, in words."""
    follows = []
    batch, ratio = _batch(given, spelt.get("batch_size", "")), None
    unclear = [spelt[name] for name in ("sampling_rate", "steps_per_epoch") if name in given]
    if unclear and given.get("accumulation", 1) > 1 and not (batch and "data_size" in given):
        raise ValueError(
            f"{unclear[0]} beside an accumulation of {given['accumulation']} may be of a part or of all; give batch_size and data_size"
        )
    if "steps_per_epoch" in given:
        ratio = float(given["steps_per_epoch"])
    elif "sampling_rate" in given:
        ratio = 1.0 / given["sampling_rate"]
        ratio = round(ratio) if abs(ratio - round(ratio)) < 1e-9 * ratio else ratio
    elif batch and "data_size" in given:
        ratio = given["data_size"] / batch
        if ratio < 1.0:
            raise ValueError(f"a step has {batch} records of {given['data_size']}; it must have at most all")
        follows.append(f"a step has {batch} of {given['data_size']} records")
    taken = given.get("steps")
    if ratio is None:
        return None, None if taken is None else (taken, taken), follows
    few, many = math.floor(ratio), math.ceil(ratio)
    if few < many and "sampling_rate" not in given:
        if given.get("sampling") and SCHEMES[given["sampling"]].epochs is not None:
            raise ValueError(f"an epoch has {ratio:.6g} steps, no whole number; give the steps_per_epoch")
        follows.append(f"an epoch has {few} or {many} steps")
    rates = 1.0 / many, 1.0 / few
    stated = ("the rate by the steps of an epoch", rates) if "steps_per_epoch" in given else None
    if "sampling_rate" in given:
        own = spelt["sampling_rate"], (given["sampling_rate"],) * 2
        _agree(own, stated)
        stated = own
    if batch and "data_size" in given:
        size = given["data_size"] / batch
        ends = 1.0 / math.ceil(size), 1.0 / max(math.floor(size), 1)
        _agree(stated, (f"the rate of {batch} of {given['data_size']} records", ends))
    if "sampling_rate" in given:
        rates = given["sampling_rate"], given["sampling_rate"]
    elif given.get("sampling") == "fixed_size" and "steps_per_epoch" not in given:
        rates = 1.0 / ratio, 1.0 / ratio
    if "epochs" in given:
        ends = max(math.floor(given["epochs"] * few), 1), math.ceil(given["epochs"] * many)
        if taken is None:
            return rates, ends, follows
        _agree((spelt["steps"], (taken, taken)), (f"{given['epochs']:g} epochs", ends), "")
    return rates, None if taken is None else (taken, taken), follows


_Stated = tuple[str, tuple[float, float]]


def _agree(first: _Stated | None, other: _Stated | None, ending: str = "s") -> None:
    """Refuse what two statements contradict: the file does not say which was run."""
    if first is None or other is None:
        return
    (name, own), (contrary, ends) = first, other
    if own[1] * _NEAR < ends[0] or ends[1] * _NEAR < own[0]:
        raise ValueError(
            f"{name} is {own[1]:.6g}, which {contrary} contradict{ending}: {ends[0]:.6g} to {ends[1]:.6g}; give 1 of them"
        )
