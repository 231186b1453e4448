"""Scores with their worlds, of any tool: which columns of a file hold them, and whether an audit can use them."""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
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
ROLES = ("score", *WORLDS, *NAMES, "members", "non_members")
"""What a column may be named as: `members` and `non_members` hold the scores of the two worlds."""
_OWN = {name: role for role in ROLES[:-2] for name in (role, f"{role}s")}
_OWN |= {"model": "run", "models": "run"} | dict.fromkeys(("loss", "losses"), "score")
_OWN |= dict.fromkeys(("is_member", "membership", "split"), "member")
"""Names of columns, in lower case, and what they are."""
_TOOLS: tuple[tuple[str, dict[str, str]], ...] = (
    ("", {"members": "members", "non_members": "non_members"}),
    ("ml_privacy_meter", {"scores": "score", "memberships": "member"}),
    ("LeakPro", {"signal_values": "score", "true_labels": "member"}),
    ("LeakPro", {"risk_score": "score", "is_member": "member"}),
    ("LiRA", {"scores": "score", "keep": "member"}),
    ("TensorFlow Privacy", {"membership_scores_train": "members", "membership_scores_test": "non_members"}),
    ("jax_privacy", {"in_canary_scores": "members", "out_canary_scores": "non_members"}),
    ("PrivacyGuard", {"scores_train": "members", "scores_test": "non_members"}),
)
"""Names by which the output of a tool is recognised, and what they are here; each tool says that higher scores are for members."""
_LOSSES = re.compile(
    r"(^|[^a-z])(loss(es)?|nlls?|ce|ppl|perplexity|perplexities|entropy|entropies|errors?|distances?)($|[^a-z])"
)
"""Names of scores that are lower for members as a rule."""
_NAMED = ("columns", "score=NAME,member=NAME")
"""The argument that says which column is what, and how."""
_WORDS: dict[str, float] = {
    **dict.fromkeys(("1", "true", "yes", "in", "member", "train"), 1.0),
    **dict.fromkeys(("0", "false", "no", "out", "non_member", "non-member", "nonmember", "test"), 0.0),
}
"""Words for the two worlds, in lower case."""


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
    if isinstance(entry, str):
        word = entry.strip().lower()
        entry = _WORDS.get(word, float(word) if is_number(word) else None)
    return float(entry) if isinstance(entry, (Real, np.bool_)) and entry in (0, 1) else np.nan


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

    The ending of a file says how it is written: text with a header (.csv, .tsv, .txt), an object of lists (.json) or arrays (.npz).
    The columns, or arrays, are `score` (or `loss`) and exactly 1 of `member` (`is_member`, `membership`, `split`), `label`, `coin`
    (1 = "in"; plurals too), `cluster` if there are clusters, `run` (or `model`) and `record` if there are several runs; or `members` and
    `non_members`, the scores of each world. Output of ml_privacy_meter, LeakPro, LiRA, TensorFlow Privacy, jax_privacy and PrivacyGuard is
    recognised by its names. Further columns are ignored, as `read_as` tells; other names, and two for the same, need `columns`.

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
            how |= _parts_of(read, roles, higher)
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


def _parts_of(table: Table, given: dict[str, str] | None, higher: str | None) -> dict[str, Any]:
    """What `Scores.of` takes, of a file or a frame, by the columns that a user names or a tool is known by."""
    tool, roles = _recognised(table) if given is None else ("", given)
    if lacking := [name for name in roles.values() if name not in table.names]:
        raise ValueError(f"it has no column {printable(repr(lacking[0]), 40)}; it has {_listed(table.names)}")
    if not _settles(roles):
        what = f"columns names {', '.join(roles)}; it must name score and member (or label, coin) of {_listed(table.names)}"
        raise Unclear(what, *_NAMED)
    how: dict[str, Any] = {} if tool else _turned(roles.get("score", roles.get("members", "")), higher)
    cells = {name: _flat(column) for name, column in table.read(tuple(roles.values())).items()}
    read = ", ".join(f"{role} from {printable(name, 30)}" for role, name in roles.items())
    how["read_as"] = f"{tool} {table.kind}: {read}".lstrip()
    if not tool and (ignored := [name for name in table.names if name not in roles.values()]):
        how["read_as"] += f"; {_listed(ignored)} ignored"
    label = {role: f"column {quoted(name)}" for role, name in roles.items()}
    if tool and higher is None:
        how["order"] = f'higher = "in", as {tool} documents'
    if "score" not in roles:
        both = [
            score_vector(label[role], parsed_numbers(label[role], cells[roles[role]]), "in data row {}", 1)
            for role in ("members", "non_members")
        ]
        inside = np.repeat([1.0, 0.0], [len(world) for world in both])
        return how | {"scores": np.concatenate(both), "member": inside, "column": "members"}
    (world,) = roles.keys() & set(WORLDS)
    names = {role: cells[roles[role]] for role in NAMES if role in roles}
    how |= {role: x if isinstance(x, np.ndarray) else list(map(_name, x)) for role, x in names.items()}
    how |= {"scores": cells[roles["score"]], "member": cells[roles[world]]}
    return how | {"column": world, "called": (label["score"], label[world])}


def _name(entry: object) -> object:
    """A name as text, where a file has a number for it; what is neither as it is."""
    return str(entry) if isinstance(entry, Real) and math.isfinite(entry) else entry


def _settles(roles: Collection[str]) -> bool:
    """Whether columns of these roles say what each score is, and its world, in a single way."""
    two, worlds = {"members", "non_members"} & set(roles), set(WORLDS) & set(roles)
    return len(roles) == 2 == len(two) or ("score" in roles and len(worlds) == 1 and not two)


def _recognised(table: Table) -> tuple[str, dict[str, str]]:
    """(The tool whose output it is, or "", the column of each role); `Unclear` unless a single name says each role."""
    names = [(name.strip().lower(), name) for name in table.names]
    tools = [(tool, known) for tool, known in _TOOLS if known.keys() <= dict(names).keys()]
    meanings = _OWN.copy()
    for _, known in tools:
        meanings |= known
    found = [(meanings[key], name) for key, name in names if key in meanings]
    roles = dict(found)
    if len(tools) > 1 or len(roles) < len(found) or not _settles(roles):
        what = f"which of its columns is what is not clear: {_listed(table.names)}; name them"
        raise Unclear(what, *_NAMED)
    return tools[0][0] if tools else "", roles


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


def _listed(names: Sequence[str]) -> str:
    return printable(", ".join(map(repr, names)) or "none", 60)


def parsed_numbers(name: str, cells: Any) -> Any:
    """Cells of a text as float64, or the first that is no number; rows count from 1, without the header. Other cells as they are."""
    if isinstance(cells, np.ndarray) and (cells.ndim != 1 or cells.dtype.kind in "biuf"):
        return cells
    if not (any(isinstance(cell, bool) for cell in cells) or all(isinstance(cell, str) for cell in cells)):
        return cells
    result = np.empty(len(cells))
    for i, cell in enumerate(cells):
        try:
            result[i] = _number(cell)
        except (ValueError, TypeError, OverflowError):
            raise ValueError(
                f"{name} holds {quoted(str(cell))} in data row {i + 1}; it must hold numbers, with decimal points and no other marks"
            ) from None
    return result


def _number(cell: Any) -> float:
    wrong = isinstance(cell, str) and (
        "_" in cell or not cell.isascii()
    )  # 1_0 and ١ are numbers to Python alone
    return float("x" if wrong or isinstance(cell, bool) else cell)
