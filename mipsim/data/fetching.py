"""Downloading data sets from their publishers."""

import io
import lzma
import os
import tarfile
import urllib.request
import zlib
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path

from mipsim._archives import most_bytes
from mipsim._files import replace_file
from mipsim._validation import choice
from mipsim._words import printable
from mipsim.data.files import DataError, DataFile, Published, data_directory, read, wrong
from mipsim.data.published import PUBLISHED

_SECONDS = 60.0
"""What a server may take to answer."""


def fetch(dataset: str, directory: str | os.PathLike[str] | None = None) -> tuple[Path, ...]:
    """Download the files of a data set that are missing from the data directory, from their publisher.

    The only function of mipsim that uses a network. A file is written when it is whole and has the published digest.

    Args:
        dataset: "fashion-mnist", "cifar10", "adult", "location30" or "snli". "imagenet32" is refused where a file of it is missing:
            its publisher asks for consent to terms first.
        directory: the data directory, which must exist; None = that of `MIPSIM_DATA`.

    Returns:
        The paths of all files of the data set that were downloaded.

    Raises:
        DataError: if there is no such folder, no network, or a file is not the published file; for "imagenet32".

    Examples:
        >>> fetch("fashion-mnist", "no/such/folder")
        Traceback (most recent call last):
        ...
        mipsim.data.files.DataError: directory is 'no/such/folder', which is no folder; it must be a folder with
        fashion-mnist/train-images...
    """
    published = PUBLISHED[choice("dataset", dataset, tuple(PUBLISHED))]
    folder = data_directory(published, directory) / published.folders[0]
    missing = [f for f in published.files if not _is_there(published, f.name, directory)]
    if missing and published.terms:
        raise DataError(
            f"{printable(folder / missing[0].name)} is not fetched: {published.terms}; get it from {missing[0].url}"
        )
    written: list[Path] = []
    for url in dict.fromkeys(file.url for file in missing):
        wanted = {file.name: file for file in missing if file.url == url}
        for name, content in _downloaded(url, wanted).items():
            if problem := wrong(wanted[name], io.BytesIO(content)):
                raise DataError(f"{name} from {url} {problem}; nothing of it was stored")
            try:
                folder.mkdir(parents=True, exist_ok=True)
                replace_file(folder / name, content)
            except OSError as error:
                raise DataError(
                    f"{printable(folder / name)} cannot be written ({error.strerror or error})"
                ) from error
            written.append(folder / name)
    return tuple(written)


def _is_there(published: Published, name: str, directory: str | os.PathLike[str] | None) -> bool:
    try:
        read(published, name, directory)
    except DataError:
        return False
    return True


def _downloaded(url: str, wanted: Mapping[str, DataFile]) -> dict[str, bytes]:
    """The wanted files of an address: the file itself, or members of the archive there."""
    try:
        with urllib.request.urlopen(url, timeout=_SECONDS) as answer:
            content = answer.read(most_bytes())
    except (OSError, HTTPException) as error:  # the latter where an answer ends early
        first, why = next(iter(wanted.values())), getattr(error, "reason", None) or error
        if isinstance(error, HTTPException):
            why = f"the server's answer is not whole, {type(error).__name__}: {error}"
        raise DataError(
            f"{first.name} cannot be fetched from {url} ({why}): get it by other means"
        ) from error
    if url.rpartition("/")[2] in wanted:
        return {url.rpartition("/")[2]: content}
    result: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            for member in archive:
                name, held = member.name.rpartition("/")[2], None
                if name in wanted and member.isfile():
                    held = archive.extractfile(member)
                if held is not None:
                    result[name] = held.read(wanted[name].size + 1)  # a byte more shows that it is another
    except (tarfile.TarError, EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise DataError(f"{url} is no whole archive ({error}); nothing of it was stored") from error
    if lacking := [name for name in wanted if name not in result]:
        raise DataError(f"{url} lacks {', '.join(lacking)}; nothing of it was stored")
    return result
