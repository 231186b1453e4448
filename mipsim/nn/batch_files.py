"""Arrays that are made in micro-batches, each stored in a file as soon as it is whole, so that a killed process loses at most 1."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

from mipsim._archives import arrays_of, read_bytes
from mipsim._files import replace_file
from mipsim._words import printable
from mipsim.nn.network import Network, Parameters


def identity_of(
    network: Network, x: np.ndarray, y: np.ndarray, parameters: Parameters, rest: list[Any]
) -> str:
    """What decides a computation on examples, as a single digest; `rest` is all else that does, as JSON has it.
    >>> from mipsim.nn import linear
    >>> network, x = linear((2,), 3), np.zeros((1, 2))
    >>> a, b = (identity_of(network, x, np.zeros(1), network.start(seed), []) for seed in (0, 1))
    >>> len(a), a == b
    (64, False)
    """
    digest = hashlib.sha256(json.dumps([repr(network), rest, jax.__version__]).encode())
    for array in (x, y, *map(np.asarray, jax.tree.leaves(parameters))):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


class StoredBatches:
    """A folder with a file for each micro-batch, `00000.npz` and so on.

    What is stored is known by a digest of all that decides it, but for the function that reduces a micro-batch: no digest captures what
    a function does. So the first micro-batch is always made anew, and must come out as it is stored, bit for bit. A function
    that agrees there and differs later is not distinguished.

    `folder`: it must exist; `identity`: a digest of what decides the arrays.
    """

    def __init__(self, folder: Path, identity: str) -> None:
        self.folder, self.identity = folder, identity

    def get(self, index: int, make: Callable[[], np.ndarray]) -> np.ndarray:
        """The micro-batch: as it is stored, or made and stored.
        `index`: its place; that of 0 is requested before the others. Raises ValueError if what is stored is corrupt or of
        another computation; OSError if it cannot be written.
        """
        path = self.folder / f"{index:05d}.npz"
        retained = self._read(path)
        if retained is not None and index > 0:
            return retained
        built = make()
        if retained is None:
            out = io.BytesIO()
            np.savez(out, identity=np.array(self.identity), rows=built)
            replace_file(path, out.getvalue())
        elif (retained.dtype, retained.shape, retained.tobytes()) != (
            built.dtype,
            built.shape,
            built.tobytes(),
        ):
            raise ValueError(
                f"checkpoint {self.folder} keeps other numbers than `reduce` gives now; name another folder"
            )
        return built

    def _read(self, path: Path) -> np.ndarray | None:
        try:
            result = arrays_of(read_bytes(path), ("identity", "rows"), compressed=False)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise ValueError(
                f"checkpoint {printable(path)} is no whole micro-batch of gradients ({error}); remove it or name another folder"
            ) from error
        if str(result["identity"]) != self.identity:
            raise ValueError(
                f"checkpoint {printable(path)} belongs to other gradients: other data, network, parameters or micro-batches; name another folder"
            )
        return result["rows"]
