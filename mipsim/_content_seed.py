"""Random choices that depend on the content of data alone: never on the order of rows, nor on sizes alone."""

from __future__ import annotations

import hashlib

import numpy as np


def content_generator(purpose: str, *parts: np.ndarray | bytes) -> np.random.Generator:
    """Return a random generator whose seed is the SHA-256 of the data that it chooses from.

    The caller brings the data into a canonical order first, so that equal data in another order give equal choices.

    A seed made of sizes alone is wrong: rows sorted by their world or score then meet the same positions in every audit,
    and an unlucky choice is unlucky for all of them.

    Theorem. Let a test make independent uniform choices and be wrong with probability at most r. Replace them by choices
    from this generator, with SHA-256 modelled as a random function. Averaged over that function the test is wrong with
    probability at most r. For all functions but a share of 0.001 it is wrong with probability at most r + sqrt(3.46 c),
    where c is the probability that two independent audits have equal data: 0 for continuous scores.
    Proof. Different data have independent uniform seeds. So the choices are uniform and independent given the data, which
    is the first claim. The second is Hoeffding's inequality for the sum over data D of P(D) 1{wrong at D}, whose terms are
    independent over functions: the share beyond r + t is at most exp(-2 t^2 / c), with c the sum of P(D)^2.

    Examples:
        >>> first, again = (content_generator("example", np.arange(3.0)).random() for _ in range(2))
        >>> first == again, first == content_generator("example", np.arange(4.0)).random()
        (True, False)
    """
    digest = hashlib.sha256()
    for part in (purpose.encode(), *parts):
        content = part if isinstance(part, bytes) else np.ascontiguousarray(part).tobytes()
        digest.update(len(content).to_bytes(8, "little") + content)
    return np.random.default_rng(int.from_bytes(digest.digest(), "little"))
