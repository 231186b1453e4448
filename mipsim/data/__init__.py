"""Data sets that people publish, read from the files as published: nothing is downloaded unless `fetch` is called."""

from mipsim.data.fetching import fetch
from mipsim.data.files import DIRECTORY, DataError, DataSet
from mipsim.data.images import cifar10, fashion_mnist, imagenet
from mipsim.data.tabular import adult, diabetes, digits, location30
from mipsim.data.text import snli

__all__ = [
    "DIRECTORY",
    "DataError",
    "DataSet",
    "adult",
    "cifar10",
    "diabetes",
    "digits",
    "fashion_mnist",
    "fetch",
    "imagenet",
    "location30",
    "snli",
]
