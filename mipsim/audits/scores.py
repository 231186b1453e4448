"""Scores with their worlds, of any tool: which columns of a file hold them, and whether an audit can use them."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import gammaincc, ndtri

from mipsim._validation import choice, finite_vector, held, score_vector
from mipsim._words import no_such, printable, quoted
from mipsim.audits.settings import ROWS
from mipsim.audits.tables import (
    Column,
    Table,
    content_of,
    frame_table,
    is_number,
    parsed_numbers,
    table_of,
)

LEAST_SCORES = 100
"""Fewer scores show nothing worth the name of an audit."""
_REPEATS = 4  # how often equal scores come at most, where scores are hardly rounded
WORLDS = ("member", "label", "coin")
"""Names of the column that says which world a score is of: 1 in the training set, 0 not; of a `coin` that a fair coin chose it."""
NAMES = ("cluster", "run", "record")
"""Columns that name what a score is of."""
_SYNONYMS = {"model": "run"}
ROLES = ("score", *WORLDS, *NAMES, "members", "non_members")
"""What a column may be named as: `members` and `non_members` hold the scores of the two worlds."""
_TOOLS = {
    "ml_privacy_meter": {"scores": "score", "memberships": "member"},
    "LeakPro": {"signal_values": "score", "true_labels": "member"},
    "jax_privacy": {"in_canary_scores": "members", "out_canary_scores": "non_members"},
    "PrivacyGuard": {"scores_train": "members", "scores_test": "non_members"},
}
"""Names by which the output of a tool is recognised, and what they are here; each tool says that higher scores are for members."""
_INDEX = ("", "index", "unnamed: 0", "__index_level_0__")
"""Names that data frames give to the numbers of their rows."""
_LOSSES = re.compile(
    r"(^|[^a-z])(loss(es)?|nlls?|ce|ppl|perplexity|perplexities|entropy|entropies|errors?|distances?)($|[^a-z])"
)
"""Names of scores that are lower for members as a rule."""
_WORDS = {
    **dict.fromkeys(("1", "true", "yes", "in", "member", "train"), 1.0),
    **dict.fromkeys(("0", "false", "no", "out", "non_member", "non-member", "nonmember", "test"), 0.0),
}
"""Words for the two worlds, in lower case."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of an attack, each with the world that it is of."""

    values: np.ndarray  # the scores (higher = "in"), not all equal, shape (n,), n >= 100
    member: np.ndarray  # whether each is of the world "in", shape (n,), bool, both worlds present
    cluster: np.ndarray | None = None  # a whole number for each, equal within a cluster, shape (n,), or None
    run: np.ndarray | None = None  # a whole number for each, equal within a training run, shape (n,), or None
    # a whole number for each, equal for the same record, shape (n,), or None
    record: np.ndarray | None = None
    # whether each is of a run that only calibrates, shape (n,), bool, or None
    shadow: np.ndarray | None = None
    column: str = ""  # which of `WORLDS`, or "members", says the world; "" for arrays
    source: str = ""  # the file, or "" for arrays
    digest: str = ""  # SHA-256 of the file, or ""
    read_as: str = ""  # what the file or frame was recognised as, and which columns were read; "" for arrays
    order: str = ""  # which scores count as "in", and who says so

    @classmethod
    def of(
        cls,
        # real, shape (n,), n >= 100, not all equal; they may be infinite, since an audit uses ranks alone
        scores: object,
        member: object,  # 1 or True for the world "in", 0 or False for "out", shape (n,), both present
        cluster: object = None,  # names or numbers of clusters, shape (n,), or None
        *,
        run: object = None,  # the same of training runs
        record: object = None,  # the same of records
        shadow: object = None,  # the names of the runs that only calibrate, or None
        # "in" or "out", the world that higher scores indicate; None takes "in" and says that it was assumed. Scores for
        # "out", such as losses, are negated
        higher: str | None = None,
        **where: str,  # `column`, `source`, `digest`, `read_as` and `order`
    ) -> Scores:
        """Check arrays of the same length.
        >>> Scores.of([1.0, 2.0], [0, 1])
        Traceback (most recent call last):
        ...
        ValueError: scores holds 2 scores; an audit needs 100 at least
        """
        if higher is not None:
            choice("higher", higher, ("in", "out"))
        values = score_vector("scores", scores)
        infinite = bool(np.isinf(values).any())
        if values.size < LEAST_SCORES:
            raise ValueError(f"scores holds {values.size} scores; an audit needs {LEAST_SCORES} at least")
        inside = finite_vector("member", _worlds("member", member), values.size)
        if (inside == inside[0]).all():
            world = "in" if inside[0] else "out"
            raise ValueError(
                f'member is {inside[0]:g} throughout: all scores are of the world "{world}"; both are needed'
            )
        if (values == values[0]).all():
            raise ValueError(
                f"scores all equal {values[0]:g}; a constant score tells nothing about any world"
            )
        numbered = [
            None if value is None else _numbered(name, value, values.size)
            for name, value in (("cluster", cluster), ("run", run), ("record", record))
        ]
        calibrating = None if shadow is None else _shadow(shadow, run)
        stated = (
            f'higher = "{higher}", as stated'
            if higher
            else 'higher = "in", which was assumed; higher="out" is for losses'
        )
        where = {"order": stated} | where
        if infinite:
            where["order"] += "; some are infinite, so that all are taken by rank"
        values = -values if higher == "out" else values
        # -0.0 becomes 0.0, which equals it
        return cls(values + 0.0, inside == 1.0, *numbered, shadow=calibrating, **where)

    @classmethod
    def of_matrix(
        cls,
        scores: np.ndarray,  # real, shape (records, models) or (models, records)
        member: object,  # 1 where the record was in the training set of the model, 0 elsewhere, of the same shape
        rows: str | None,  # "records" or "models", which cannot be inferred
        *,
        shadow: object = None,  # the numbers of the models, from 0, that only calibrate, or None
        higher: str | None = None,  # as in `of`
        **where: str,  # as in `of`
    ) -> Scores:
        """Check a matrix of a score for each record and each model, its training run.
        >>> Scores.of_matrix(np.arange(200.0).reshape(50, 4), np.tile([0, 1], (50, 2)), "records").records
        50
        """
        if rows is None:
            options = (
                "--rows records or --rows models" if "source" in where else 'rows="records" or rows="models"'
            )
            raise ValueError(f"scores has shape {scores.shape}; say what a row is of: {options}")
        inside = held("member", member)
        if scores.ndim != 2 or inside.shape != scores.shape:
            raise ValueError(
                f"scores has shape {scores.shape} and member {inside.shape}; they must be vectors, or matrices of the same shape"
            )
        first, second = (index.ravel() for index in np.indices(scores.shape))
        record, run = (first, second) if choice("rows", rows, ROWS) == "records" else (second, first)
        names = {"run": run, "record": record, "shadow": shadow}
        return cls.of(scores.ravel(), inside.ravel(), **names, higher=higher, **where)

    def where(self, chosen: np.ndarray) -> Scores:
        """The chosen rows, by a mask or indices; numbers of clusters, runs and records stay."""
        rows = ("values", "member", "cluster", "run", "record", "shadow")
        parts = {name: getattr(self, name) for name in rows}
        return replace(self, **{name: None if x is None else x[chosen] for name, x in parts.items()})

    def in_order(self) -> Scores:
        """The same rows, sorted by score, world and cluster: what is computed from them does not depend on the order of rows.
        >>> Scores(np.array([2.0, 1.0]), np.array([True, False])).in_order().values.tolist()
        [1.0, 2.0]
        """
        names = [x for x in (self.run, self.record, self.cluster) if x is not None]
        return self.where(np.lexsort((*names, self.member, self.values)))

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

    @property
    def clusters(self) -> int:
        """How many clusters there are; of independent rows, each its own."""
        return self.values.size if self.cluster is None else int(self.cluster.max()) + 1

    @property
    def runs(self) -> int | None:
        """How many training runs are named, None if none is."""
        return None if self.run is None else np.unique(self.run).size

    @property
    def records(self) -> int | None:
        """How many records are named, None if none is."""
        return None if self.record is None else np.unique(self.record).size


def refuse_repeated_rows(scores: Scores) -> None:
    """Raise ValueError where scores come twice, three or four times as rounding hardly makes them, and warn where such scores have equal worlds.

    For rows without names alone: names of records, or of a run for each score, say it without an estimate.

    Let V_m scores come m times. Scores that are independent and rounded, from any distribution, fall into cells by Poisson's law, mixed over cells: the
    mean of V_(m+1) is at least m / (m + 1) times (mean of V_m)^2 / mean of V_(m-1), by the inequality of Cauchy and Schwarz. Far fewer are
    refused. How far is a rule of thumb and no theorem: the means of V_m and V_(m-1) are taken as they were counted, less and plus three roots of
    them, and V_(m+1) for a Poisson number, of an estimated probability of 1e-6. Rows pasted twice have V_1 = V_3 = 0.
    Else, where scores are hardly rounded and nothing leaks, equal scores all have equal worlds with probability 2^-repeats: 1e-3 warns.
    """
    values, place, counts = np.unique(scores.values, return_inverse=True, return_counts=True)
    inside = np.bincount(place, weights=scores.member)
    repeats = scores.values.size - values.size
    if counts.max() > _REPEATS:
        return
    line = "frame.drop_duplicates()"
    came = np.bincount(counts, minlength=_REPEATS + 2).astype(float)
    for m in range(2, _REPEATS + 1):
        least = max(came[m] - 3.0 * came[m] ** 0.5, 0.0)
        mean = m / (m + 1.0) * least**2 / (came[m - 1] + 3.0 * came[m - 1] ** 0.5 + 3.0)
        if gammaincc(came[m + 1] + 1.0, mean) < 1e-6:  # the chance of as few for a Poisson number
            raise ValueError(
                f"{repeats:,} rows repeat the score of another, {m} times each as in rows that were pasted twice; drop them: {line}, "
                "or name the record or run of each"
            )
    if repeats >= 10 and ((inside == 0) | (inside == counts)).all():
        warnings.warn(
            f"{repeats:,} rows repeat the score and the world of another; bounds hold if none was pasted twice, else use {line}",
            stacklevel=3,
        )


def _worlds(name: str, value: Any, place: str = "at index {}", first: int = 0) -> Any:
    """1 for "in" and 0 for "out", where the entries of a vector say so by numbers or words; what is no vector as it is."""
    entries = held(name, value)
    if entries.ndim != 1:
        return value
    if entries.dtype.kind in "biuf":
        result = np.where((entries == 0) | (entries == 1), entries, np.nan).astype(np.float64)
    else:
        words = entries.tolist() if entries.dtype.kind in "OU" else [None] * entries.size  # no dates or bytes
        result = np.array([_world(word) for word in words], np.float64)
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
        if word in _WORDS:
            return _WORDS[word]
        try:
            entry = float(word)
        except ValueError:
            return np.nan
    return float(entry) if isinstance(entry, (Real, np.bool_)) and entry in (0, 1) else np.nan


def _meanings(cells: Any) -> str:
    """What the words of a column of worlds were taken as; empty for numbers.
    >>> _meanings(["yes", "no", "yes"]), _meanings(["1", "0"])
    (" ('yes' = member, 'no' = non-member)", '')
    """
    if np.asarray(cells[:1]).dtype.kind in "biuf":
        return ""
    words = {cell.strip().lower() for cell in cells if isinstance(cell, str)} & (_WORDS.keys() - {"0", "1"})
    known = sorted(words, key=lambda word: (-_WORDS[word], word))
    taken = ", ".join(f"{word!r} = {'member' if _WORDS[word] else 'non-member'}" for word in known)
    return f" ({taken})" if taken else ""


def _numbered(name: str, value: object, size: int) -> np.ndarray:
    called = name if name == "cluster" else f"{name}s"
    names = held(called, value)
    if names.dtype == object and all(isinstance(entry, str) for entry in names.flat):  # as pandas holds text
        names = names.astype(str)
    if names.shape != (size,):
        raise ValueError(
            f"{called} has shape {names.shape}; it must have shape ({size},), a name for each score"
        )
    if names.dtype.kind not in "iufUSb" or (names.dtype.kind == "f" and not np.isfinite(names).all()):
        raise ValueError(
            f"{called} holds what is no name or finite number; it must say of each score which {name} it is of"
        )
    if names.dtype.kind in "US" and (lacking := names == names.dtype.type("")).any():
        raise ValueError(
            f"{name} is empty at index {int(np.argmax(lacking))}; it must say of each score which {name} it is of"
        )
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
    path: str | os.PathLike[str],
    *,
    # which column is which of `ROLES`, such as {"score": "loss", "member": "is_member"} or "score=loss,member=is_member"
    columns: Mapping[str, str] | str | None = None,
    # "in" or "out", the world that higher scores indicate. None takes "in", but refuses a score that is named as a loss
    higher: str | None = None,
    # of the cells of a text, a single character or its name; None reads it off the header
    separator: str | None = None,
    shadow: object = None,  # the names of the runs that only calibrate, or None
    # where the arrays of an .npz are matrices of records and models, what a row is of, an entry of
    # `mipsim.audits.settings.ROWS`
    rows: str | None = None,
) -> Scores:
    """Read scores from a file.

    Its ending says how it is written: text with a header and any separator (.csv, .tsv, .txt), .json, .jsonl, .parquet or .npz.
    The columns, or arrays, are `score` and exactly one of `member`, `label`, `coin` (1 = "in"; plurals too), `cluster` if there are clusters,
    `run` (or `model`) and `record` if there are several runs; or `members` and `non_members`, the scores of each world. Output of ml_privacy_meter, LeakPro, jax_privacy and PrivacyGuard is
    recognised by its names. Other names need `columns`.

    Raises ValueError if the file is missing, cut off, of unknown columns, or of scores that no audit can use. What is unclear is
    refused with the option that says it.
    """
    file = Path(path)
    roles = _given_roles(columns)
    content = content_of(file)
    where = {"source": str(file), "digest": hashlib.sha256(content).hexdigest()}
    try:
        return scores_of_table(table_of(file, content, separator), roles, higher, shadow, rows, **where)
    except ValueError as error:
        raise ValueError(f"{printable(file)}: {error}") from None


def scores_of(
    # a vector; or a matrix, where `rows` says what its rows are of; or a frame, whose columns are named and chosen as
    # those of a file, see `read_scores`
    scores: Any,
    member: object,  # as `mipsim.audit` takes it; None for a frame
    cluster: object,
    *,
    run: object = None,  # the name of the run of each score, or None; a matrix has it
    record: object = None,
    rows: str | None = None,  # of a matrix
    shadow: object = None,  # the names of the runs that only calibrate, or None
    columns: Mapping[str, str] | str | None,
    higher: str | None,  # see `read_scores`
) -> Scores:
    """Scores of arrays, of series of pandas, or of a data frame or a dictionary that holds all."""
    if (table := frame_table(scores)) is not None:
        if any(x is not None for x in (member, cluster, run, record)):
            raise ValueError(
                "member, cluster, runs or records is given beside a frame of scores; the frame must hold them"
            )
        try:
            return scores_of_table(table, _given_roles(columns), higher, shadow, rows)
        except ValueError as error:
            raise ValueError(f"scores: {error}") from None
    if columns is not None:
        raise ValueError("columns is given beside arrays; only a file or a frame has columns")
    for name, other in (("member", member), ("cluster", cluster), ("runs", run), ("records", record)):
        ours, theirs = getattr(scores, "index", None), getattr(other, "index", None)
        if hasattr(ours, "equals") and hasattr(theirs, "equals") and not ours.equals(theirs):  # type: ignore[union-attr]
            raise ValueError(
                f"{name} has another index than scores; rows would be paired wrongly: align them first"
            )
    _refuse_loss(str(getattr(scores, "name", None) or ""), higher, in_memory=True)
    if isinstance(scores, np.ndarray) and scores.ndim > 1:
        if any(x is not None for x in (cluster, run, record)):
            raise ValueError(
                "cluster, runs or records is given beside a matrix; its rows and columns are these"
            )
        return Scores.of_matrix(scores, member, rows, shadow=shadow, higher=higher)
    if rows is not None:
        raise ValueError(
            f"rows is {rows!r} beside scores that are no matrix; name runs= and records= of each score"
        )
    return Scores.of(scores, member, cluster, run=run, record=record, shadow=shadow, higher=higher)


def _given_roles(columns: Mapping[str, str] | str | None) -> dict[str, str] | None:
    """The column of each role, as a user has named them."""
    if columns is None:
        return None
    if isinstance(columns, str):
        # A comma before what has no "=" belongs to a name.
        parts = [part.partition("=") for part in re.split(",(?=[^,=]*=)", columns)]
        pairs = [(role.strip(), name.strip()) for role, _, name in parts]
    else:
        pairs = [(str(role), str(name)) for role, name in columns.items()]
    roles = dict(pairs)
    if unknown := [role for role in roles if role not in ROLES]:
        raise ValueError(no_such("a key of columns", printable(unknown[0], 30), ROLES))
    if len(roles) < len(pairs):
        raise ValueError(
            f"columns is {printable(repr(columns), 60)}; it must be like score=NAME,member=NAME (or label, coin; "
            "cluster, run, record), or members=NAME,non_members=NAME"
        )
    return roles


def scores_of_table(
    table: Table,  # of a file or a frame
    roles: Mapping[str, str] | None,  # the column of each of `ROLES`; None where the names must tell
    higher: str | None,  # see `read_scores`
    shadow: object = None,  # the names of the runs that only calibrate, or None
    rows: str | None = None,  # see `read_scores`
    **where: str,  # `source` and `digest`
) -> Scores:
    """The scores of a table, by the columns that a user names or a tool is known by.
    >>> rows = {"signal_values": list(range(100)), "true_labels": [0, 1] * 50, "roc_auc": [0.5]}
    >>> result = scores_of_table(Table.of("JSON", "name", rows), None, None)
    >>> result.read_as, result.order
    ('LeakPro JSON: score from signal_values, member from true_labels', 'higher = "in", as LeakPro documents')
    """
    tool = ""
    if roles is None:
        tool, roles = _recognised(table)
    by_name = {name.strip().lower(): name for name in table.names}
    if lacking := [
        name for name in roles.values() if name not in table.names and name.lower() not in by_name
    ]:
        raise ValueError(
            f"it has no {table.noun} {printable(repr(lacking[0]), 40)}; it has {_listed(table.names)}"
        )
    chosen = {role: name if name in table.names else by_name[name.lower()] for role, name in roles.items()}
    worlds = [role for role in chosen if role in WORLDS]
    two = {"members", "non_members"}
    if set(chosen) != two and ("score" not in chosen or len(worlds) != 1 or two & set(chosen)):
        raise ValueError(
            f"columns names {', '.join(chosen)}; it must name score and member (or label, coin), as "
            f"{_suggestion(table)}; it has {_listed(table.names)}"
        )
    if not tool:
        _refuse_loss(chosen.get("score", chosen.get("members", "")), higher, table.in_memory)
    held = table.read(tuple(chosen.values()))
    values = held[chosen["score"]] if "score" in chosen else None
    shape = values.shape if isinstance(values, np.ndarray) and values.ndim == 2 else None
    if rows is not None and shape is None:
        raise ValueError(
            f"rows is {printable(repr(rows), 20)} and it holds no matrix; columns run and record name the model and the record of each score"
        )
    if shape is not None:
        if any(np.shape(array) != shape for array in held.values()) or chosen.keys() & set(NAMES):
            raise ValueError(
                f"{printable(chosen['score'], 40)} is a matrix of shape {shape}; beside it only the worlds are read, of the same shape"
            )
        held = {name: np.asarray(array).ravel() for name, array in held.items()}
    parts = {role: _column(f"{table.noun} {quoted(name)}", role, held[name]) for role, name in chosen.items()}
    left = [name for name in table.names if name.strip().lower() in _INDEX and name not in chosen.values()]
    where["read_as"] = (
        f"{tool} {table.kind}".strip()
        + ": "
        + ", ".join(
            f"{role} from {printable(name, 30)}{_meanings(held[name]) if role in WORLDS else ''}"
            for role, name in chosen.items()
        )
    ) + ("; without the numbers of its rows" if left else "")
    if shape is not None:
        where["read_as"] += f"; matrices of {' x '.join(ROWS if rows != ROWS[1] else ROWS[::-1])}"
    if tool and higher is None:
        where["order"] = f'higher = "in", as {tool} documents'
    if "members" in parts:
        worlds = [np.asarray(parts[role]) for role in ("members", "non_members")]
        inside = np.repeat([1.0, 0.0], [world.size for world in worlds])
        return Scores.of(np.concatenate(worlds), inside, higher=higher, column="members", **where)
    (world,) = worlds
    if shape is not None:
        cells, worlds = (np.reshape(parts[role], shape) for role in ("score", world))
        return Scores.of_matrix(cells, worlds, rows, shadow=shadow, higher=higher, column=world, **where)
    names: dict[str, Any] = {role: parts.get(role) for role in NAMES}
    return Scores.of(
        parts["score"], parts[world], **names, shadow=shadow, higher=higher, column=world, **where
    )


def _recognised(table: Table) -> tuple[str, dict[str, str]]:
    """(the tool whose output it is, or "", the column of each role), or a refusal with what would settle it."""
    names = {name.strip().lower(): name for name in table.names}
    if len(names) < len(table.names):
        raise ValueError(
            f"its {table.noun}s {_listed(table.names)} hold a name twice, apart from capitals; name them, as {_suggestion(table)}"
        )
    tools = [tool for tool, known in _TOOLS.items() if known.keys() <= names.keys()]
    own = {
        name: name
        if name in ("members", "non_members") and "non_members" in names
        else _SYNONYMS.get(name.removesuffix("s"), name.removesuffix("s"))
        for name in names
    }
    ours = {name: role for name, role in own.items() if role in ROLES}
    if len(tools) == 1 and ours.keys() <= _TOOLS[tools[0]].keys():
        return tools[0], {role: names[name] for name, role in _TOOLS[tools[0]].items()}
    roles = {role: names[name] for name, role in ours.items()}
    worlds = [role for role in roles if role in WORLDS]
    two = set(roles) == {"members", "non_members"}
    single = "score" in roles and len(worlds) == 1 and not {"members", "non_members"} & set(roles)
    rest = names.keys() - ours.keys() - set(_INDEX)
    if tools or rest or not (two or single) or len(roles) < len(ours):
        what, option = (
            table.hint or f"which of its {table.noun}s is what is not clear",
            _suggestion(table),
        )
        listed = _listed(table.names, max(20, 170 - len(what) - len(option)))
        raise ValueError(f"{what}: {listed}; name them, as {option}")
    return "", roles


def _suggestion(table: Table) -> str:
    """The options that would settle which column is what, for a shell or for Python; NAME where no name suggests itself."""

    def first(pattern: str, place: int) -> str:
        if table.hint:
            return str(place)
        some = [name for name in table.names if re.search(pattern, name.lower())]
        some = [name for name in some if name.lower() in ROLES] or some
        return printable(some[0], 80) if len(some) == 1 else "NAME"

    if {"members", "non_members"} <= {name.lower() for name in table.names}:
        text = "members=members,non_members=non_members"
        return f"columns={text!r}" if table.in_memory else f"--columns {text}"
    score, member = (
        first("score|loss|signal|logit|stat", 1),
        first("member|label|coin|is_in|train", 2),
    )
    text = f"score={score},member={member}"
    higher = []
    if _LOSSES.search(score.lower()):  # what `_refuse_loss` would ask for next
        higher = [_higher_out(table.in_memory)]
    if table.in_memory:
        return ", ".join([f"columns={text!r}", *higher])
    return " ".join([f"--columns {shlex.quote(text)}", *higher])


def _higher_out(in_memory: bool) -> str:
    return 'higher="out"' if in_memory else "--higher out"


def _refuse_loss(name: str, higher: str | None, in_memory: bool = False) -> None:
    if higher is None and _LOSSES.search(name.lower()):
        raise ValueError(
            f"the scores are named {printable(repr(name), 40)}, and a loss is lower for members; say for which world higher ones are, as "
            + _higher_out(in_memory)
        )


def _listed(names: Sequence[str], most: int = 60) -> str:
    return printable(", ".join(map(repr, names)) or "none", min(most, 60))


def _column(name: str, role: str, cells: Column) -> Column:
    """What a column holds for its role, where cells of a text are numbers or worlds."""
    if role in NAMES:
        return cells if isinstance(cells, np.ndarray) else np.asarray(cells, dtype=str)
    if role in WORLDS:
        return _worlds(name, cells, "in data row {}", 1)
    if len(cells) and all(isinstance(cell, str) for cell in cells):
        cells = parsed_numbers(name, cells)
    return score_vector(name, cells, "in data row {}", 1)
