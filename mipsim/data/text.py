"""SNLI, and sentences as hashed bags of words."""

import itertools
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import blake2b
from typing import Literal

import numpy as np

from mipsim._memory import fits_memory
from mipsim._validation import choice, whole
from mipsim.data.files import DataError, DataSet, archive, member, sampled
from mipsim.data.published import PUBLISHED

_LABELS = ("entailment", "neutral", "contradiction")
_UNDECIDED = "-"
"""The label of a pair on which no three of five annotators agreed."""
_WORD = re.compile(r"[a-z0-9']+")
_PARTS = ("premise", "hypothesis", "product", "difference")
_TOGETHER = 10_000
"""Lines that are stored in a single array."""


def snli(
    split: Literal["train", "dev", "test"] = "train",
    directory: str | os.PathLike[str] | None = None,
    records: int | None = None,
    width: int = 256,
) -> DataSet:
    """SNLI: does a sentence follow from another (entailment), contradict it, or neither? 549,367 pairs to train, 9,842 and 9,824 others.

    Pairs without a gold label, 785 of those to train, 158 and 176 of the others, are left out, as is usual.

    No pre-trained network reads the words: a pair is what `hashed_pairs` makes of it, which depends on that pair alone, so that what is
    private for a row of x is private for its pair.

    Args:
        split: "train", "dev" or "test".
        directory: the data directory; None = that of `MIPSIM_DATA`. Its file is the zip archive as published, with the digest that TensorFlow
            Datasets and ParlAI record.
        records: how many, always the same for the same number; None = all.
        width: of a bag of words; x has four times as many columns.

    Raises:
        DataError: if the file is missing or not the published file.
        ValueError: if there are not so many records.

    Source: Bowman, Angeli, Potts, Manning (2015), "A large annotated corpus for learning natural language inference".

    Examples:
        >>> snli("train", "no/such/folder")
        Traceback (most recent call last):
        ...
        mipsim.data.files.DataError: directory is 'no/such/folder', which is no folder; it must be a folder with
        snli/snli_1.0.zip in it...
    """
    choice("split", split, ("train", "dev", "test"))
    wanted = None if records is None else whole("records", records, 1)
    width = whole("width", width, 1)
    fits_memory(8 * width * (wanted or 1), 4, width=width)
    with (
        archive(PUBLISHED["snli"], "snli_1.0.zip", directory) as held,
        held.open(member(held, f"snli_1.0_{split}.jsonl")) as lines,
    ):
        pairs, labels = sampled(_in_parts(labelled_pairs(lines)), wanted)
    names = tuple(f"{part} {i}" for part in _PARTS for i in range(width))
    return DataSet(hashed_pairs(pairs[:, 0].tolist(), pairs[:, 1].tolist(), width), labels, _LABELS, names)


def labelled_pairs(lines: Iterable[bytes]) -> Iterator[tuple[str, str, int]]:
    """(premise, hypothesis, number of the label) of each line of a JSONL file of SNLI that has a gold label.
    Raises DataError naming the first line that is no such pair.
    """
    place = {label: i for i, label in enumerate(_LABELS)}
    for number, line in enumerate(lines, 1):
        try:
            pair = json.loads(line)
            label, premise, hypothesis = pair["gold_label"], pair["sentence1"], pair["sentence2"]
            if label == _UNDECIDED:
                continue
            result = place[label]
            if not isinstance(premise, str) or not isinstance(hypothesis, str):
                raise TypeError
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"line {number} is {line[:60].decode('utf-8', 'replace')!r}; it must be JSON with sentence1, sentence2, and a gold_label among "
                f"{', '.join(_LABELS)} and {_UNDECIDED}"
            ) from error
        yield premise, hypothesis, result


def _in_parts(pairs: Iterator[tuple[str, str, int]]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    while some := list(itertools.islice(pairs, _TOGETHER)):
        *sentences, labels = zip(*some, strict=True)
        yield np.array(sentences, object).T, np.array(labels, np.int64)


def hashed_pairs(premises: Sequence[str], hypotheses: Sequence[str], width: int) -> np.ndarray:
    """Pairs of sentences as numbers: their `hashed_bags`, the product of the two, and the absolute difference, side by side.
    `premises`: first sentences; `hypotheses`: second sentences, as many; `width`: of a bag. Returns float32, shape (N, 4
    width).

    Source: the product and the difference are those of Conneau et al. (2017), "Supervised learning of universal sentence representations from
        natural language inference data", section 3.1.
    """
    fits_memory(8 * width * len(premises), 4, width=width)
    first, second = hashed_bags(premises, width), hashed_bags(hypotheses, width)
    return np.concatenate([first, second, first * second, np.abs(first - second)], axis=1)


def hashed_bags(sentences: Sequence[str], width: int) -> np.ndarray:
    """Sentences as bags of words: each word adds +1 or -1 in a single place, both from its hash; the sum is then of length 1, or 0.

    Words are runs of letters, digits and apostrophes, in lower case. Nothing is learned from data: no list of words, no frequencies.

    `width`: numbers of a bag. Returns float32, shape (N, width).

    Source: Weinberger et al. (2009), "Feature hashing for large scale multitask learning", equation 2, with BLAKE2b.
    """
    bags = np.zeros((len(sentences), width), np.float32)
    for bag, sentence in zip(bags, sentences, strict=True):
        for word in _WORD.findall(sentence.lower()):
            code = _code(word)
            bag[code // 2 % width] += 1 - 2 * (code % 2)
    lengths = np.linalg.norm(bags, axis=1, keepdims=True)
    return bags / np.where(lengths > 0.0, lengths, np.float32(1.0))


@cache
def _code(word: str) -> int:
    return int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "little")
