"""Scores with their worlds, of any tool: which columns of a file hold them, and whether an audit can use them."""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cache
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtri

from mipsim._archives import within_memory
from mipsim._validation import choice, finite_vector, held, score_vector
from mipsim._validation import member as belonging
from mipsim._words import no_such, printable, quoted
from mipsim.audits.tables import (
    Table,
    Unclear,
    content_of,
    frame_table,
    is_frame,
    is_number,
    table_of,
)

LEAST_SCORES = 100
"""Fewer scores show nothing worth the name of an audit."""
WORLDS = ("member", "label", "coin")
"""Names of the column that says which world a score is of: 1 in the training set, 0 not; of a `coin` that a fair coin chose it."""
NAMES = ("cluster", "run", "record")
"""Columns that name what a score is of."""
ROWS = ("records", "models")
"""What a row of a matrix of scores may be of."""
_SYNONYMS = {"model": "run"} | dict.fromkeys(("loss", "losses"), "score")
_SYNONYMS |= dict.fromkeys(("is_member", "membership", "split"), "member")
"""Names that say a role as well, where no column bears the role's own name."""
ROLES = ("score", *WORLDS, *NAMES, "members", "non_members")
"""What a column may be named as: `members` and `non_members` hold the scores of the two worlds."""
_TOOLS: tuple[tuple[str, dict[str, str]], ...] = (
    ("ml_privacy_meter", {"scores": "score", "memberships": "member"}),
    ("LeakPro", {"signal_values": "score", "true_labels": "member"}),
    ("LeakPro", {"risk_score": "score", "is_member": "member"}),
    ("LiRA", {"scores": "score", "keep": "member"}),
    ("TensorFlow Privacy", {"membership_scores_train": "members", "membership_scores_test": "non_members"}),
    ("jax_privacy", {"in_canary_scores": "members", "out_canary_scores": "non_members"}),
    ("PrivacyGuard", {"scores_train": "members", "scores_test": "non_members"}),
)
"""Names by which the output of a tool is recognised, and what they are here; each tool says that higher scores are for members."""
_INDEX = ("", "index", "unnamed: 0", "__index_level_0__")
"""Names that data frames give to the numbers of their rows."""
_LOSSES = re.compile(
    r"(^|[^a-z])(loss(es)?|nlls?|ce|ppl|perplexity|perplexities|entropy|entropies|errors?|distances?)($|[^a-z])"
)
"""Names of scores that are lower for members as a rule."""
_WORDS = {
    # True and False of a spreadsheet in German, French, Italian or Spanish, too
    **dict.fromkeys(("1", "true", "yes", "in", "member", "train", "wahr", "vrai", "vero", "verdadero"), 1.0),
    **dict.fromkeys(("0", "false", "no", "out", "non_member", "non-member", "nonmember", "test"), 0.0),
    **dict.fromkeys(("falsch", "faux", "falso"), 0.0),
}
"""Words for the two worlds, in lower case."""
_LONGEST = 80
"""Characters, with blanks around it, of a cell that says a world."""


def _none() -> np.ndarray:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of an attack, each with the world that it is of; names are whole numbers, and no array where nothing is named."""

    values: np.ndarray  # the scores (higher = "in"), not all equal, shape (n,), n >= 100
    member: np.ndarray  # whether each is of the world "in", shape (n,), bool, both worlds present
    cluster: np.ndarray = field(default_factory=_none)  # equal within a cluster, shape (n,) or (0,)
    run: np.ndarray = field(default_factory=_none)  # equal within a training run, shape (n,) or (0,)
    record: np.ndarray = field(default_factory=_none)  # equal for the same record, shape (n,) or (0,)
    shadow: np.ndarray = field(default_factory=_none)  # whether its run only calibrates, shape (n,) or (0,)
    column: str = ""  # which of `WORLDS`, or "members", says the world; "" for arrays
    source: str = ""  # the file, or "" for arrays
    digest: str = ""  # SHA-256 of the file, or ""
    read_as: str = ""  # what the file or frame was recognised as, and which columns were read; "" for arrays
    order: str = ""  # which scores count as "in", and who says so

    @classmethod
    def of(
        cls,
        # real, not all equal, shape (n,), n >= 100, or an array of records and models; they may be infinite, since an audit
        # uses ranks alone
        scores: object,
        member: object,  # 1 or True for the world "in", 0 or False for "out", of the shape of `scores`, both present
        cluster: object = None,  # names or numbers of clusters, shape (n,), or None
        *,
        run: object = None,  # the same of training runs
        record: object = None,  # the same of records
        shadow: object = None,  # the names of the runs that only calibrate, or None
        rows: str | None = None,  # what a row of such an array is of, an entry of `ROWS`
        # "in" or "out", the world that higher scores indicate; None takes "in" and says that it was assumed. Scores for
        # "out", such as losses, are negated
        higher: str | None = None,
        # what the scores and the worlds are called where cells of a text may hold them; rows are then counted from 1
        called: tuple[str, str] | None = None,
        **where: Any,  # `column`, `source`, `digest`, `read_as` and `order`
    ) -> Scores:
        """Check arrays of the same length; rows are sorted by score, world and names, so that nothing depends on their order.
        >>> Scores.of([1.0, 2.0], [0, 1])
        Traceback (most recent call last):
        ...
        ValueError: scores holds 2 scores; an audit needs 100 at least
        """
        if higher is not None:
            choice("higher", higher, ("in", "out"))
        names: dict[str, object] = {"cluster": cluster, "run": run, "record": record}
        if isinstance(scores, np.ndarray) and scores.ndim > 1:
            if any(x is not None for x in names.values()):
                raise ValueError(
                    "cluster, runs or records is given beside a matrix; its rows and columns are these"
                )
            names |= _places(scores, member, rows)
            run, scores, member = names["run"], scores.ravel(), np.ravel(member)  # type: ignore[arg-type]
        elif rows is not None:
            raise ValueError(
                f"rows is {printable(repr(rows), 20)} beside scores that are no matrix; name the run and the record of each score"
            )
        name, world = called or ("scores", "member")
        counted = ("in data row {}", 1) if called else ("at index {}", 0)
        values = score_vector(name, parsed_numbers(name, scores) if called else scores, *counted)
        if values.size < LEAST_SCORES:
            raise ValueError(f"scores holds {values.size} scores; an audit needs {LEAST_SCORES} at least")
        inside = finite_vector("member", _worlds(world, member, *counted), values.size)
        if (inside == inside[0]).all():
            only = "in" if inside[0] else "out"
            raise ValueError(
                f'member is {inside[0]:g} throughout: all scores are of the world "{only}"; both are needed'
            )
        if (values == values[0]).all():
            raise ValueError(
                f"scores all equal {values[0]:g}; a constant score tells nothing about any world"
            )
        stated = (
            f'higher = "{higher}", as stated'
            if higher
            else 'higher = "in", which was assumed; higher="out" is for losses'
        )
        where = {"order": stated} | where
        if np.isinf(values).any():
            where["order"] += "; some are infinite, so that all are taken by rank"
        where |= {name: _numbered(name, x, values.size) for name, x in names.items() if x is not None}
        if shadow is not None:
            where["shadow"] = _shadow(shadow, run)
        values = (-values if higher == "out" else values) + 0.0  # -0.0 becomes 0.0, which equals it
        keys = [where[name] for name in ("run", "record", "cluster") if name in where]
        order = np.lexsort((*keys, inside, values))
        where |= {name: where[name][order] for name in (*NAMES, "shadow") if name in where}
        return cls(values[order], inside[order] == 1.0, **where)

    def where(self, chosen: np.ndarray) -> Scores:
        """The chosen rows, by a mask or indices; numbers of clusters, runs and records stay."""
        parts = {name: getattr(self, name) for name in ("values", "member", *NAMES, "shadow")}
        return replace(self, **{name: x[chosen] for name, x in parts.items() if x.size})

    def by_rank(self) -> Scores:
        """The same rows, each score as the normal quantile of its rank: all that an audit uses, so that increasing maps of scores change nothing.
        >>> Scores(np.array([-1e308, 7.0, 7.0, np.inf]), np.arange(4) > 1).by_rank().values.round(3).tolist()
        [-0.842, 0.0, 0.0, 0.842]
        """
        _, place, counts = np.unique(self.values, return_inverse=True, return_counts=True)
        middle = np.cumsum(counts) - 0.5 * (counts - 1)  # of the ranks from 1 of equal scores
        return replace(self, values=ndtri(middle / (self.values.size + 1))[place])

    @property
    def higher_is_in(self) -> bool:
        """Whether members' scores are mostly the higher ones."""
        values = self.by_rank().values
        return bool(values[self.member].mean() >= values[~self.member].mean())

    def shown(self) -> dict[str, Any]:
        """What an audit says of the scores themselves, by the names of its results."""
        return {
            "in_scores": int(self.member.sum()),
            "out_scores": int((~self.member).sum()),
            "shadow_runs": np.unique(self.run[self.shadow.nonzero()]).size,
            "source": _relative(self.source),
            "digest": self.digest,
            "histogram": self._histogram(),
            "read_as": self.read_as,
            "order": self.order,
            "higher_is_in": self.higher_is_in,
        }

    def _histogram(self, bins: int = 40) -> tuple[tuple[float, ...], tuple[int, ...], tuple[int, ...]]:
        values, at = self.values, np.linspace(0.0, 1.0, bins + 1)
        if np.isinf(values[[0, -1]]).any():
            values = self.by_rank().values
        # A difference of two scores may overflow, and bins may be narrower than float64 tells apart.
        edges = np.unique((1.0 - at) * values[0] + at * values[-1]).clip(values[0], values[-1])
        out, inside = (np.histogram(values[self.member == world], edges)[0] for world in (False, True))
        return tuple(edges.tolist()), tuple(out.tolist()), tuple(inside.tolist())

    @property
    def clusters(self) -> int:
        """How many clusters there are; of independent rows, each its own."""
        return int(self.cluster.max()) + 1 if self.cluster.size else self.values.size

    @property
    def runs(self) -> int:
        """How many training runs are named."""
        return np.unique(self.run).size

    @property
    def records(self) -> int:
        """How many records are named."""
        return np.unique(self.record).size


def _relative(source: str) -> str:
    """A file's path from the working folder, or its name alone where it lies elsewhere: a report tells nobody's folders."""
    if not source:
        return ""
    path, here = Path(source).absolute(), Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.name


def _places(scores: np.ndarray, member: object, rows: str | None) -> dict[str, np.ndarray]:
    """The number of the run and of the record of each cell of a matrix."""
    if rows is None:
        likely = ROWS[scores.shape[0] < scores.shape[1]]
        what = f"scores has shape {scores.shape}; say what a row is of, {' or '.join(ROWS)}"
        raise Unclear(what, "rows", likely)
    shape = held("member", member).shape
    if scores.ndim != 2 or shape != scores.shape:
        raise ValueError(
            f"scores has shape {scores.shape} and member {shape}; they must be vectors, or matrices of the same shape"
        )
    first, second = (index.ravel() for index in np.indices(scores.shape))
    by_records = choice("rows", rows, ROWS) == "records"
    return {"run": second if by_records else first, "record": first if by_records else second}


def _worlds(name: str, value: Any, place: str = "at index {}", first: int = 0) -> Any:
    """1 for "in" and 0 for "out", where the entries of a vector say so by numbers or words; what is no vector as it is."""
    entries = held(name, value)
    if entries.ndim != 1:  # refused by its shape
        return value
    if entries.dtype.kind in "biuf":
        result = np.where((entries == 0) | (entries == 1), entries, np.nan).astype(np.float64)
    elif entries.dtype.kind == "U":
        words, which = np.unique(entries, return_inverse=True)
        result = np.array([_world(word) for word in words.tolist()])[which]
    elif entries.dtype.kind == "O":
        result = np.array([_world(entry) for entry in entries], np.float64)
    else:  # dates or bytes
        result = np.full(entries.size, np.nan)
    if (unclear := np.isnan(result)).any():
        i = int(np.argmax(unclear))
        wrong = entries[i : i + 1].tolist()[0]
        swapped = "; scores come first" if not first and isinstance(wrong, Real) else ""
        raise ValueError(
            f"{name} holds {quoted(wrong)} {place.format(i + first)}; "
            f"it must hold 1/0, True/False, yes/no, in/out, member/non_member or train/test{swapped}"
        )
    return result


def _world(entry: object) -> float:
    """1 or 0, or NaN where an entry says neither."""
    if isinstance(entry, str) and len(entry) <= _LONGEST:
        word = entry.strip().lower()
        entry = _WORDS.get(word, float(word) if is_number(word) else None)
    return float(entry) if isinstance(entry, (Real, np.bool_)) and entry in (0, 1) else np.nan


def _meanings(cells: Any) -> str:
    """What the words of a column of worlds were taken as; empty for numbers.
    >>> _meanings(["yes", "no", "yes"]), _meanings(["1", "0"])
    (" ('yes' = member, 'no' = non-member)", '')
    """
    if np.asarray(cells[:1]).dtype.kind in "biuf":
        return ""
    words = (cell.strip().lower() for cell in cells if isinstance(cell, str) and len(cell) <= _LONGEST)
    known = sorted(
        {word for word in words if word in _WORDS} - {"0", "1"}, key=lambda word: (-_WORDS[word], word)
    )
    taken = ", ".join(f"{word!r} = {'member' if _WORDS[word] else 'non-member'}" for word in known)
    return f" ({taken})" if taken else ""


def _numbered(name: str, value: object, size: int) -> np.ndarray:
    called = name if name == "cluster" else f"{name}s"
    names = held(called, value)
    if names.shape != (size,):
        raise ValueError(
            f"{called} has shape {names.shape}; it must have shape ({size},), a name for each score"
        )
    text = names.dtype.kind in "US" or all(isinstance(entry, str) for entry in names)
    if not text and (names.dtype.kind not in "iufb" or not np.isfinite(names).all()):
        raise ValueError(
            f"{called} holds what is no name or finite number; it must say of each score which {name} it is of"
        )
    if text and (lacking := names == names.dtype.type()).any():
        raise ValueError(
            f"{name} is empty at index {int(np.argmax(lacking))}; it must say of each score which {name} it is of"
        )
    if names.dtype == object:  # an array of text is as wide as its widest
        order = {word: place for place, word in enumerate(sorted(set(names)))}
        names = np.fromiter(map(order.__getitem__, names), np.int64, size)
    return np.unique(names, return_inverse=True)[1]


def _shadow(shadow: object, run: object) -> np.ndarray:
    names, runs = np.atleast_1d(held("shadow", shadow)), held("runs", run)
    if names.dtype.kind == "U" and runs.dtype.kind in "iuf" and all(map(is_number, names.tolist())):
        names = names.astype(np.float64)  # as the command has names, where a file numbers the runs
    unknown = [name for name in names.tolist() if run is None or name not in runs]
    if unknown:
        raise ValueError(
            f"shadow names runs that only calibrate; {printable(repr(unknown[0]), 40)} is no name of a run"
        )
    return np.isin(runs, names)


def read_scores(
    # the path of a file; a data frame or a dictionary of arrays; or a vector, or a matrix of records and models
    scores: Any,
    member: object = None,  # as `mipsim.audit` takes it; None where `scores` holds it, as the next three
    cluster: object = None,
    *,
    run: object = None,  # the name of the run of each score, or None
    record: object = None,
    # which column is which of `ROLES`, such as {"score": "loss", "member": "is_member"} or "score=loss,member=is_member"
    columns: Mapping[str, str] | str | None = None,
    # "in" or "out", the world that higher scores indicate. None takes "in", and "out" for a score that is named as a loss
    higher: str | None = None,
    # of the cells of a text, a single character or its name; None reads it off the header
    separator: str | None = None,
    shadow: object = None,  # the names of the runs that only calibrate, or None
    rows: str | None = None,  # where the scores are a matrix, what a row is of, an entry of `ROWS`
) -> Scores:
    """Read scores from a file, a frame or arrays.

    The ending of a file says how it is written: text with a header and any separator (.csv, .tsv, .txt), .json, .jsonl, .parquet or .npz.
    The columns, or arrays, are `score` and exactly one of `member`, `label`, `coin` (1 = "in"; plurals too), `cluster` if there are clusters,
    `run` (or `model`) and `record` if there are several runs; or `members` and `non_members`, the scores of each world. Output of ml_privacy_meter, LeakPro, LiRA, TensorFlow Privacy, jax_privacy and PrivacyGuard is
    recognised by its names. Further columns are ignored, as `read_as` tells; other names need `columns`.

    Raises ValueError if the file is missing, cut off, of unknown columns, or of scores that no audit can use. What is unclear is
    refused with the option that says it.
    """
    file = Path(scores) if isinstance(scores, (str, os.PathLike)) else None
    table = bool(file) or is_frame(scores)
    how = dict[str, Any](shadow=shadow, rows=rows, higher=higher)
    others = {"member": member, "cluster": cluster, "runs": run, "records": record}
    if table and any(x is not None for x in others.values()):
        kind = "file" if file else "frame"
        raise ValueError(
            f"member, cluster, runs or records is given beside a {kind} of scores; the {kind} must hold them"
        )
    if file is None and separator is not None:
        raise ValueError("separator is given beside scores that are no file; only text has a separator")
    if columns is not None and not table:
        raise ValueError("columns is given beside arrays; only scores in a file or a frame have columns")
    roles = None if columns is None else _given_roles(columns)
    content = content_of(file) if file else b""
    with _named(file or "scores") if table else nullcontext():
        if file:
            how |= {"source": str(file), "digest": hashlib.sha256(content).hexdigest()}
        if table:
            read = table_of(file, content, separator) if file else frame_table(scores)
            how |= _parts_of(read, roles, higher, rows)
        else:
            _refuse_other_index(scores, others)
            how |= {"scores": scores, "member": member, "cluster": cluster, "run": run, "record": record}
            how |= _turned(str(getattr(scores, "name", None) or ""), higher)
        return Scores.of(**how)


@contextmanager
def _named(what: object) -> Iterator[None]:
    """Errors that begin with the name of what is read."""
    try:
        with within_memory():
            yield
    except Unclear as error:
        raise Unclear(f"{printable(what)}: {error.what}", error.option, error.value) from None
    except ValueError as error:
        raise ValueError(f"{printable(what)}: {error}") from None


def _refuse_other_index(scores: object, others: Mapping[str, object]) -> None:
    """Raise ValueError where a series of pandas would be paired with another by place, and not by its index."""
    ours = getattr(scores, "index", None)
    for name, other in others.items():
        theirs = getattr(other, "index", None)
        if hasattr(ours, "equals") and hasattr(theirs, "equals") and not ours.equals(theirs):  # type: ignore[union-attr]
            raise ValueError(
                f"{name} has another index than scores; rows would be paired wrongly: align them first"
            )


def _given_roles(columns: Mapping[str, str] | str) -> dict[str, str]:
    """The column of each role, as a user has named them."""
    if isinstance(columns, str):
        # A comma before what has no "=" belongs to a name.
        parts = [part.partition("=") for part in re.split(",(?=[^,=]*=)", columns)]
        pairs = [(role.strip(), name.strip()) for role, _, name in parts]
    else:
        belonging("columns", columns, Mapping, "a dictionary or text, such as score=NAME,member=NAME")
        pairs = [(str(role), str(name)) for role, name in columns.items()]
    roles = dict(pairs)
    if unknown := [role for role in roles if role not in ROLES]:
        raise ValueError(
            f"{no_such('a key of columns', printable(unknown[0], 30), ROLES)}; write ROLE=NAME, as score=loss"
        )
    if len(roles) < len(pairs):
        raise ValueError(
            f"columns is {printable(repr(columns), 60)}; it must be like score=NAME,member=NAME (or label, coin; "
            "cluster, run, record), or members=NAME,non_members=NAME"
        )
    return roles


def _parts_of(
    table: Table, given: dict[str, str] | None, higher: str | None, rows: str | None
) -> dict[str, Any]:
    """What `Scores.of` takes, of a file or a frame, by the columns that a user names or a tool is known by."""
    tool, roles = _recognised(table) if given is None else ("", given)
    by_name = {name.strip().lower(): name for name in table.names} | {name: name for name in table.names}
    if lacking := [name for name in roles.values() if not by_name.keys() & {name, name.lower()}]:
        raise ValueError(
            f"it has no {table.noun} {printable(repr(lacking[0]), 40)}; it has {_listed(table.names)}"
        )
    chosen = {role: by_name[name if name in by_name else name.lower()] for role, name in roles.items()}
    if not _settles(chosen):
        what = f"columns names {', '.join(chosen)}; it must name score and member (or label, coin) of {_listed(table.names)}"
        raise Unclear(what, "columns", _suggestion(table))
    how: dict[str, Any] = {} if tool else _turned(chosen.get("score", chosen.get("members", "")), higher)
    cells = {name: _flat(column) for name, column in table.read(tuple(chosen.values())).items()}
    for name, array in cells.items():
        if isinstance(array, np.ndarray) and array.ndim not in (1, 2):
            raise ValueError(
                f"{printable(name, 40)} has shape {printable(array.shape, 40)}; it must be a vector of shape (n,), or a matrix; of several "
                "augmentations of a record, as LiRA has, take the mean"
            )
    how["read_as"] = f"{tool} {table.kind}: ".lstrip() + ", ".join(
        f"{role} from {printable(name, 30)}{_meanings(cells[name]) if role in WORLDS else ''}"
        for role, name in chosen.items()
    )
    others = [name for name in table.names if name not in chosen.values()]
    if any(name.strip().lower() in _INDEX for name in others):
        how["read_as"] += "; without the numbers of its rows"
    if not tool and (ignored := [name for name in others if name.strip().lower() not in _INDEX]):
        how["read_as"] += f"; {_listed(ignored)} ignored"
    values = cells.get(chosen.get("score", ""))
    if isinstance(values, np.ndarray) and values.ndim == 2:
        how["read_as"] += f"; matrices of {' x '.join(ROWS if rows == ROWS[0] else ROWS[::-1])}"
    label = {role: f"{table.noun} {quoted(name)}" for role, name in chosen.items()}
    if tool and higher is None:
        how["order"] = f'higher = "in", as {tool} documents'
    if values is None:
        both = [
            score_vector(label[role], parsed_numbers(label[role], cells[chosen[role]]), "in data row {}", 1)
            for role in ("members", "non_members")
        ]
        inside = np.repeat([1.0, 0.0], [len(world) for world in both])
        how |= {"scores": np.concatenate(both), "member": inside, "column": "members"}
    else:
        (world,) = chosen.keys() & set(WORLDS)
        names = {role: cells[chosen[role]] for role in NAMES if role in chosen}
        how |= {role: x if isinstance(x, np.ndarray) else list(map(_name, x)) for role, x in names.items()}
        how |= {"scores": values, "member": cells[chosen[world]]}
        how |= {"column": world, "called": (label["score"], label[world])}
    return how


def _name(entry: object) -> object:
    """A name as text, where a file has a number for it; what is neither as it is."""
    return str(entry) if isinstance(entry, Real) and math.isfinite(entry) else entry


def _settles(roles: Collection[str]) -> bool:
    """Whether columns of these roles say what each score is, and its world, in a single way."""
    two, worlds = {"members", "non_members"} & set(roles), set(WORLDS) & set(roles)
    return len(roles) == 2 == len(two) or ("score" in roles and len(worlds) == 1 and not two)


def _recognised(table: Table) -> tuple[str, dict[str, str]]:
    """(the tool whose output it is, or "", the column of each role), or a refusal with what would settle it."""
    names = {name.strip().lower(): name for name in table.names}
    if len(names) < len(table.names):
        what = f"its {table.noun}s {_listed(table.names)} hold a name twice, apart from capitals; name them"
        raise Unclear(what, "columns", _suggestion(table))
    tools = [(tool, known) for tool, known in _TOOLS if known.keys() <= names.keys()]
    singulars = {name: name.removesuffix("s") for name in names}
    if "non_members" in names:
        singulars |= {name: name for name in names.keys() & {"members", "non_members"}}
    roles = {role: names[name] for name, role in singulars.items() if role in ROLES}
    once = len(roles) == sum(role in ROLES for role in singulars.values())
    if "member" in roles:
        roles.pop("label", None)  # a class, or the same
    for name, singular in singulars.items():
        role = _SYNONYMS.get(name, _SYNONYMS.get(singular, ""))
        taken = (role in WORLDS and roles.keys() & set(WORLDS)) or "members" in roles
        if role and role not in roles and not taken:
            roles[role] = names[name]
    tool, known = tools[0] if len(tools) == 1 else ("", {})
    ours = {role: name for role, name in roles.items() if name.strip().lower() not in known}
    if not (ours.keys() <= set(NAMES) if tool else not tools and once and _settles(roles)):
        what, columns = table.hint or f"which of its {table.noun}s is what is not clear", _suggestion(table)
        listed = _listed(table.names, max(20, 160 - len(what) - len(columns)))
        raise Unclear(f"{what}: {listed}; name them", "columns", columns)
    return tool, {role: names[name] for name, role in known.items()} | ours


def _suggestion(table: Table) -> str:
    """Which column may be what; NAME where no name suggests itself."""

    def first(pattern: str, place: int) -> str:
        if table.hint:
            return str(place)
        some = [name for name in table.names if re.search(pattern, name.lower())]
        some = [name for name in some if name.lower() in ROLES] or some
        return printable(some[0], 80) if len(some) == 1 else "NAME"

    if {"members", "non_members"} <= {name.lower() for name in table.names}:
        return "members=members,non_members=non_members"
    score = first("score|loss|signal|logit|stat|risk", 1)
    return f"score={score},member={first('member|label|coin|is_in|train|split|insert|includ|keep', 2)}"


def _turned(name: str, higher: str | None) -> dict[str, str]:
    """The direction of scores that are named as a loss, and who says so; nothing for others, and where the user states it."""
    if higher is not None or not _LOSSES.search(name.lower()):
        return {}
    named = printable(repr(name), 40)
    return {"higher": "out", "order": f'higher = "out", since the scores are named as a loss, {named}'}


def _flat(column: Any) -> Any:
    """A column of rows of a single number as these numbers."""
    if isinstance(column, np.ndarray):
        while column.ndim > 1 and column.shape[-1] == 1:
            column = column[..., 0]
    elif len(column) and all(isinstance(row, list) and len(row) == 1 for row in column):
        column = [row[0] for row in column]
    return column


def _listed(names: Sequence[str], most: int = 60) -> str:
    return printable(", ".join(map(repr, names)) or "none", min(most, 60))


_LONG = 64
"""Characters of a cell, beyond which many rows of a small file may share it: what takes as long as the word is done a single time."""


def parsed_numbers(name: str, cells: Any) -> Any:
    """Cells of a text as float64, or the first that is no number; rows count from 1, without the header. Other cells as they are."""
    if isinstance(cells, list) and any(isinstance(cell, bool) for cell in cells):  # of JSON
        i = next(i for i, cell in enumerate(cells) if isinstance(cell, bool))
        raise ValueError(f"{name} holds {cells[i]} in data row {i + 1}; it must hold numbers")
    if not len(cells) or not all(isinstance(cell, str) for cell in cells):
        return cells
    result, read_long = np.empty(len(cells)), cache(_number)
    for i, cell in enumerate(cells):
        try:
            result[i] = _number(cell) if len(cell) <= _LONG else read_long(cell)
        except ValueError:
            comma = re.fullmatch(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*", str(cell))
            text = str(cell).strip()
            allowed = f"numbers with a decimal point, {text.replace(',', '.')}" if comma else "numbers"
            if re.fullmatch(r"[+-]?[1-9]\d{0,2},\d{3}", text):  # a thousand, perhaps
                allowed = f"numbers without commas, {text.replace(',', '')} or {text.replace(',', '.')}"
            raise ValueError(
                f"{name} holds {quoted(str(cell))} in data row {i + 1}; it must hold {printable(allowed, 80)}"
            ) from None
    return result


def _number(cell: str) -> float:
    return float(cell if cell.isascii() and "_" not in cell else "x")  # 1_0 and ١ are numbers to Python alone
