"""Fashion-MNIST, CIFAR-10 and ImageNet."""

import gzip
import io
import math
import os
import struct
import zlib
from typing import Literal

import numpy as np

from mipsim._archives import LIMIT, arrays_of, most_bytes
from mipsim._validation import choice, whole
from mipsim.data.files import DataError, DataSet, archive, member, read, sampled
from mipsim.data.published import CIFAR_RECORD, PUBLISHED

Split = Literal["train", "test"]

_FASHION_CLASSES = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
)  # fmt: skip
_CIFAR_CLASSES = (
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck",
)  # fmt: skip
_IMAGENET_CLASSES, _IMAGENET_SIDE = 1000, 32
_UNSIGNED_BYTE, _MOST_AXES = 8, 8  # the type code of an idx file; those of images have three


def fashion_mnist(split: Split = "train", directory: str | os.PathLike[str] | None = None) -> DataSet:
    """Fashion-MNIST: grey images of shape (28, 28, 1) of ten kinds of clothes, 60,000 to train and 10,000 to test.

    Args:
        split: "train" or "test".
        directory: the data directory; None = that of `MIPSIM_DATA`.

    Raises:
        DataError: if a file is missing or not the published file.

    Source: Xiao, Rasul, Vollgraf (2017), "Fashion-MNIST".

    Examples:
        >>> fashion_mnist("train", "no/such/folder")
        Traceback (most recent call last):
        ...
        mipsim.data.files.DataError: directory is 'no/such/folder', which is no folder; it must be a folder with
        fashion-mnist/train-images...
    """
    prefix = "train" if choice("split", split, ("train", "test")) == "train" else "t10k"
    published = PUBLISHED["fashion-mnist"]
    images, labels = (
        idx_array(read(published, f"{prefix}-{kind}-ubyte.gz", directory))
        for kind in ("images-idx3", "labels-idx1")
    )
    return DataSet(scaled(images[..., None]), labels.astype(np.int64), _FASHION_CLASSES)


def cifar10(split: Split = "train", directory: str | os.PathLike[str] | None = None) -> DataSet:
    """CIFAR-10, binary version: colour images of shape (32, 32, 3) of ten kinds of things, 50,000 to train and 10,000 to test.

    Args:
        split: "train" or "test".
        directory: the data directory; None = that of `MIPSIM_DATA`. Batches may be packed by xz, as `data_batch_1.bin.xz`.

    Raises:
        DataError: if a file is missing or not the published file.

    Source: Krizhevsky (2009), "Learning multiple layers of features from tiny images".

    Examples:
        >>> cifar10("validation")
        Traceback (most recent call last):
        ...
        ValueError: split is 'validation'; allowed: train, test
    """
    images, labels = cifar_pixels(split, directory)
    return DataSet(scaled(images), labels, _CIFAR_CLASSES)


def cifar_pixels(
    split: Split = "train", directory: str | os.PathLike[str] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(images, labels) of `cifar10` before they are scaled, a quarter of the memory: uint8 (N, 32, 32, 3) and int64 (N,)."""
    train = choice("split", split, ("train", "test")) == "train"
    names = [f"data_batch_{i}" for i in range(1, 6)] if train else ["test_batch"]
    batches = [cifar_batch(read(PUBLISHED["cifar10"], f"{name}.bin", directory)) for name in names]
    images, labels = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    return images, labels.astype(np.int64)


def scaled(pixels: np.ndarray) -> np.ndarray:
    """Bytes as float32 numbers from 0 to 1."""
    return pixels / np.float32(255)


def imagenet(
    split: Split = "train", directory: str | os.PathLike[str] | None = None, records: int | None = None
) -> DataSet:
    """ImageNet (ILSVRC 2012) at 32 x 32: colour images of shape (32, 32, 3) of 1,000 kinds of things, 1,281,167 to train and 50,000 to test.

    Args:
        split: "train", or "test" for the 50,000 validation images, the only others whose labels are public.
        directory: the data directory; None = that of `MIPSIM_DATA`. Its files are the zip archives of NPZ files as published; their digests are
            those that TensorFlow Datasets records.
        records: how many, always the same for the same number; None = all, which take 15.7 GB to train.

    Returns:
        Classes in the authors' order (their `map_clsloc.txt`), from 0, named "class 1" to "class 1000": the files hold no names.

    Raises:
        DataError: if a file is missing or not the published file.
        ValueError: if there are not so many records.

    Source: Chrabaszcz, Loshchilov, Hutter (2017), "A downsampled variant of ImageNet as an alternative to the CIFAR datasets"; Russakovsky
        et al. (2015), "ImageNet large scale visual recognition challenge".

    Examples:
        >>> imagenet("train", "no/such/folder")
        Traceback (most recent call last):
        ...
        mipsim.data.files.DataError: directory is 'no/such/folder', which is no folder; it must be a folder with
        imagenet32/Imagenet32_train_npz.zip in it...
    """
    train = choice("split", split, ("train", "test")) == "train"
    wanted = None if records is None else whole("records", records, 1)
    names = [f"train_data_batch_{i}.npz" for i in range(1, 11)] if train else ["val_data.npz"]
    which = "train" if train else "val"
    with archive(PUBLISHED["imagenet32"], f"Imagenet{_IMAGENET_SIDE}_{which}_npz.zip", directory) as held:
        images, labels = sampled((imagenet_batch(held.read(member(held, name))) for name in names), wanted)
    return DataSet(scaled(images), labels, tuple(f"class {i + 1}" for i in range(_IMAGENET_CLASSES)))


def imagenet_batch(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """(images, labels) of an NPZ file: uint8 of shape (N, 32, 32, 3), and int64 of shape (N,), from 0.
    Raises DataError if it is no such file. Pickled objects are refused, not run.
    """
    try:
        data, labels = arrays_of(content, ("data", "labels")).values()
    except ValueError as error:
        raise DataError(f"content is no NPZ file with the arrays data and labels ({error})") from error
    size = 3 * _IMAGENET_SIDE**2
    if data.dtype != np.uint8 or data.ndim != 2 or data.shape[1] != size or not len(data):
        raise DataError(f"data is {data.dtype} of shape {data.shape}; it must be uint8 of shape (N, {size})")
    if labels.dtype.kind not in "iu" or labels.shape != data.shape[:1]:
        raise DataError(
            f"labels is {labels.dtype} of shape {labels.shape}; it must be {len(data):,} whole numbers"
        )
    if labels.min() < 1 or labels.max() > _IMAGENET_CLASSES:
        raise DataError(
            f"labels go from {labels.min()} to {labels.max()}; they must be in 1 to {_IMAGENET_CLASSES:,}"
        )
    images = data.reshape(-1, 3, _IMAGENET_SIDE, _IMAGENET_SIDE).transpose(0, 2, 3, 1)
    return images, labels.astype(np.int64) - 1


def idx_array(content: bytes) -> np.ndarray:
    """The array of unsigned bytes in a gzipped idx file, uint8.
    Raises DataError if it is no such file, or not whole.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            head = file.read(4)
            if len(head) < 4 or head[:3] != bytes([0, 0, _UNSIGNED_BYTE]) or head[3] > _MOST_AXES:
                raise DataError("content is no idx file of unsigned bytes: it does not begin with 0, 0, 8")
            sides = file.read(4 * head[3])
            if len(sides) < 4 * head[3]:
                raise DataError("content is an idx file that ends within its head")
            shape = struct.unpack(f">{head[3]}I", sides)
            size, most = math.prod(shape), most_bytes()
            if size > most:
                raise DataError(
                    f"content is an idx file of {size:,} entries; at most {most:,} are read, and {LIMIT} raises the limit"
                )
            entries = file.read(size + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"content is no whole gzip file ({error})") from error
    if len(entries) != size:
        few = f"{len(entries):,}" if len(entries) < size else "more"
        raise DataError(f"content is an idx file of shape {shape} with {few} entries, not {size:,}")
    return np.frombuffer(entries, np.uint8).reshape(shape)


def cifar_batch(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """(images, labels) of a binary batch: uint8 of shapes (N, 32, 32, 3) and (N,).
    Raises DataError if it is no whole number of records.
    """
    if not content or len(content) % CIFAR_RECORD:
        raise DataError(
            f"content has {len(content):,} bytes, no whole number of records of {CIFAR_RECORD:,} bytes"
        )
    rows = np.frombuffer(content, np.uint8).reshape(-1, CIFAR_RECORD)
    return rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), rows[:, 0]
