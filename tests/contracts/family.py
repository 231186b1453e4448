"""What the contracts share: the members of a family, and whether two samples have the same distribution."""

import types
from functools import partial
from typing import Any

import jax
import numpy as np

from tests.law_agreement import SIGMAS, same_law

compiled = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})
"""Of what runs once: the compiler's optimisation takes longer than that."""


def exported(package: types.ModuleType, root: type) -> set[str]:
    """Names of the classes that a package exports of a family, without the abstract ones."""
    members = {name: getattr(package, name) for name in package.__all__}
    return {
        name
        for name, member in members.items()
        if isinstance(member, type) and issubclass(member, root) and not name.startswith("Abstract")
    }


def agree(first: Any, second: Any) -> bool:
    """Whether two samples, each of shape (N, k), agree in every coordinate's distribution, means and products; else < 1e-7 by chance.

    Each of some 50 tests at most is wrong with the failure probability of `law_agreement`, its normal approximation included.
    """
    samples = [np.asarray(sample, float).reshape(len(sample), -1) for sample in (first, second)]
    rounded = [sample.round(9) for sample in samples]
    if not all(same_law(rounded[0][:, j], rounded[1][:, j]) for j in range(samples[0].shape[1])):
        return False
    centre, moments = samples[1].mean(axis=0), []
    for sample in samples:
        away = sample - centre
        values = np.concatenate(
            [away, (away[:, :, None] * away[:, None, :]).reshape(len(sample), -1)], axis=1
        )
        moments.append((values.mean(axis=0), values.var(axis=0) / len(sample)))
    (mean, error), (other, more) = moments
    return bool((np.abs(mean - other) <= SIGMAS * np.sqrt(error + more) + 1e-9).all())
