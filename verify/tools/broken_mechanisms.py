"""Mechanisms with known, published violations of epsilon-DP, each with the exact law of what it releases.

Every mechanism answers a vector of queries; neighbouring inputs differ by at most 1 in each answer (in a single answer for the
histograms). What is released is read as an outcome out of finitely many, which loses nothing where outputs are discrete; a value is
read as the cell in which it lies, so that what the law says of a cell holds for the event that the value lies in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, PRNGKeyArray

from verify.tools.noisy_laws import Noise, Outcomes, cell, each_above, first_above, integral, value_above

EPSILON = 0.1
"""What every mechanism of the suite claims, except where its entry says otherwise."""


@dataclass(frozen=True)
class Mechanism:
    """A mechanism of the suite."""

    name: str  # as in the literature
    source: str  # where it is described
    release: Callable[[PRNGKeyArray, Array], Array]  # (key, answers) -> output, in JAX
    outcome: Callable[[Array], Int[Array, ""]]  # output -> the number of its outcome, in JAX
    # answers -> probabilities of the outcomes, shape (m,); exact but for float64 rounding of some 1e-14, relative
    law: Callable[[np.ndarray], Outcomes]
    queries: int  # how many answers it takes
    claimed: float = EPSILON  # the epsilon that its authors claim
    single_change: bool = False  # whether neighbouring inputs differ in a single answer


def patterns(queries: int, single_change: bool = False) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The ten pairs of neighbouring inputs that StatDP tries, by name; both orders of a pair are to be judged.
    `queries`: how many answers, >= 1; `single_change`: use the pairs that differ in a single answer.

    Source: Ding, Wang, Wang, Zhang, Kifer (2018), table 1, with the mirror images of "half half" and of the "X shape".

    >>> {name: b.tolist() for name, (a, b) in patterns(3).items()}["one above, rest below"]
    [2.0, 0.0, 0.0]
    """
    item, half = np.ones(queries), queries // 2

    def split(first: float, rest: float, at: int) -> np.ndarray:
        return np.concatenate([np.full(at, first), np.full(queries - at, rest)])

    single = {"one below": (item, split(0.0, 1.0, 1)), "one above": (item, split(2.0, 1.0, 1))}
    if single_change:
        return single
    return single | {
        "one above, rest below": (item, split(2.0, 0.0, 1)),
        "one below, rest above": (item, split(0.0, 2.0, 1)),
        "half above, half below": (item, split(2.0, 0.0, half)),
        "half below, half above": (item, split(0.0, 2.0, half)),
        "all above": (item, 2.0 * item),
        "all below": (item, 0.0 * item),
        "X shape": (split(1.0, 0.0, half), split(0.0, 1.0, half)),
        "X shape, mirrored": (split(0.0, 1.0, half), split(1.0, 0.0, half)),
    }


def sparse_vector(
    name: str,
    algorithm: int,
    at_threshold: Noise,
    at_query: Noise | None,
    threshold: float = 1.0,
    *,
    stops: bool,
) -> Mechanism:
    """A variant of the sparse vector technique that answers whether each of ten queries is above a noisy threshold."""

    def release(key: PRNGKeyArray, answers: Array) -> Array:
        first, second = jax.random.split(key)
        noisy = answers if at_query is None else answers + at_query.draw(second, answers.shape)
        above = noisy >= threshold + at_threshold.draw(first, ())
        if not stops:
            return above.astype(jnp.int32)
        done = jnp.cumsum(above) - above > 0
        return jnp.where(done, -1, above.astype(jnp.int32))

    def outcome(output: Array) -> Array:
        if stops:
            return jnp.sum(output == 0)
        return jnp.sum(output << jnp.arange(output.size - 1, -1, -1))

    if stops:
        assert at_query is not None
        law = first_above(threshold, at_threshold, at_query)
    else:
        law = each_above(threshold, at_threshold, at_query)
    return Mechanism(name, f"Lyu, Su, Li (2017), algorithm {algorithm}", release, outcome, law, queries=10)


def sparse_vector_with_values(queries: int = 10) -> Mechanism:
    """The variant that releases the noisy answer which passed the threshold."""
    noise, threshold, cuts = Noise(2.0 / EPSILON), 1.0, np.arange(-100.0, 61.0, 5.0)

    def release(key: PRNGKeyArray, answers: Array) -> Array:
        first, second = jax.random.split(key)
        noisy = answers + noise.draw(second, answers.shape)
        above = noisy >= threshold + noise.draw(first, ())
        place = jnp.where(above.any(), jnp.argmax(above), queries)
        return jnp.stack([place, jnp.where(above.any(), noisy[jnp.argmax(above)], 0.0)])

    def outcome(output: Array) -> Array:
        cell = jnp.searchsorted(jnp.asarray(cuts), output[1], side="right")
        never = queries * (cuts.size + 1)
        return jnp.where(output[0] == queries, never, output[0] * (cuts.size + 1) + cell).astype(jnp.int32)

    law = value_above(threshold, noise, noise, cuts)
    return Mechanism("SVT3", "Lyu, Su, Li (2017), algorithm 3", release, outcome, law, queries)


# Report noisy max: of five noisy answers, which is the largest, or how large is it?


def noisy_max(name: str, algorithm: int, noise: Noise, *, value: bool) -> Mechanism:
    """The index of the largest noisy answer, or the largest noisy answer itself."""
    cuts = np.arange(-60.0, 121.0)

    def release(key: PRNGKeyArray, answers: Array) -> Array:
        noisy = answers + noise.draw(key, answers.shape)
        return jnp.max(noisy) if value else jnp.argmax(noisy)

    def outcome(output: Array) -> Array:
        return jnp.searchsorted(jnp.asarray(cuts), output, side="right") if value else output

    def value_law(answers: np.ndarray) -> Outcomes:
        below = noise.below(cuts[:, None] - answers).prod(axis=1)
        above = (
            -np.expm1(np.log1p(-noise.above(cuts[:, None] - answers)).sum(axis=1))
            if not noise.one_sided
            else 1.0 - below
        )
        small = np.diff(np.concatenate([[0.0], below]))
        large = -np.diff(np.concatenate([above, [0.0]]))
        return np.concatenate([small[:1], np.where(below[1:] < 0.5, small[1:], large[:-1]), large[-1:]])

    def index_law(answers: np.ndarray) -> Outcomes:
        def pieces(x: np.ndarray) -> np.ndarray:
            below, density = (f(x - answers[:, None]) for f in (noise.below, noise.density))
            others = np.stack([np.delete(below, i, axis=0).prod(axis=0) for i in range(answers.size)])
            return density * others

        return integral(pieces, [0.0, *answers], 1.0 / noise.scale)

    source = f"Ding, Wang, Wang, Zhang, Kifer (2018), algorithm {algorithm}"
    return Mechanism(name, source, release, outcome, value_law if value else index_law, queries=5)


# Noisy vectors.


def noisy_vector(
    name: str, source: str, noise: Noise, queries: int, *, sums: bool, single_change: bool, claimed: float
) -> Mechanism:
    """All answers with independent noise, or their running sums; every answer is read as a cell out of three.

    The cells are cut at 0, 1 and 2, the values that the patterns hold: beyond both answers the ratio of Laplace densities is the
    largest that there is, so that no finer cells would tell more.
    """
    read = 1 if single_change else queries  # the other answers have the same law in both worlds
    cuts = np.array([0.0, 1.0, 2.0]) if read == 1 else np.array([0.0, 2.0])

    def release(key: PRNGKeyArray, answers: Array) -> Array:
        noisy = answers + noise.draw(key, answers.shape)
        return jnp.cumsum(noisy) if sums else noisy

    def outcome(output: Array) -> Array:
        values = (jnp.diff(output, prepend=0.0) if sums else output)[:read]
        cells = jnp.searchsorted(jnp.asarray(cuts), values, side="right")
        return jnp.sum(cells * (cuts.size + 1) ** jnp.arange(read - 1, -1, -1))

    def law(answers: np.ndarray) -> Outcomes:
        result = np.ones(1)
        for answer in answers[:read]:
            edges = np.concatenate([[-1e300], cuts - answer, [np.inf]])[None]
            result = np.multiply.outer(result, cell(noise, edges)[0]).ravel()
        return result

    return Mechanism(name, source, release, outcome, law, queries, claimed, single_change)


# Counts and reports of a single number.


def rappor(name: str, retained: float, sent: tuple[float, float], claimed: float) -> Mechanism:
    """Four bits of a Bloom filter of 20 through coins. The answers 1 and 2 (or 0) set no bit in common.
    `name`: of the variant; `retained`: the probability that a bit is reported as it is; else it is a fair coin; `sent`:
    the probabilities with which a bit 0 and a bit 1 is then sent as 1; `claimed`: the epsilon of its theorem.
    """
    bits, hashes = 20, 4
    odds = np.array([(1.0 - retained) * 0.5, (1.0 - retained) * 0.5 + retained])
    odds = odds * sent[1] + (1.0 - odds) * sent[0]

    def release(key: PRNGKeyArray, answers: Array) -> Array:
        start = hashes * answers[0].astype(jnp.int32)
        place = jnp.arange(bits)
        own = (place >= start) & (place < start + hashes)
        return (jax.random.uniform(key, (bits,)) < jnp.where(own, odds[1], odds[0])).astype(jnp.int32)

    def outcome(output: Array) -> Array:
        counts = jnp.sum(output[: 3 * hashes].reshape(3, hashes), axis=1)
        return jnp.sum(counts * (hashes + 1) ** jnp.arange(2, -1, -1))

    def law(answers: np.ndarray) -> Outcomes:
        from scipy.stats import binom

        result = np.ones(1)
        for value in range(3):  # the bits of the answers 0, 1 and 2; the others are coins of a single law
            ones = binom.pmf(np.arange(hashes + 1), hashes, odds[int(value == int(answers[0]))])
            result = np.multiply.outer(result, ones).ravel()
        return result

    source = "Erlingsson, Pihur, Korolova (2014), section 3"
    return Mechanism(name, source, release, outcome, law, 1, claimed, single_change=True)


def truncated_geometric(most: int = 5) -> Mechanism:
    """A count of 0 to `most` with whole-number noise, from whole random numbers."""
    k = int(np.ceil(np.log(2.0 / EPSILON)))

    def cumulative(count: int) -> list[int]:
        total = (2 ** (k + 1) + 1) * (2**k + 1) ** (most - 1)
        below = [2 ** (k * (count - z)) * (2**k + 1) ** (most - (count - z)) for z in range(count)]
        above = [
            total - 2 ** (k * (z - count + 1)) * (2**k + 1) ** (most - 1 - (z - count))
            for z in range(count, most)
        ]
        return [*below, *above, total]

    def law(answers: np.ndarray) -> Outcomes:
        ends = cumulative(int(answers[0]))
        return np.array([(b - a) / ends[-1] for a, b in zip([0, *ends[:-1]], ends, strict=True)])

    table = np.stack([np.cumsum(law(np.array([float(c)]))) for c in range(most + 1)])

    def release(key: PRNGKeyArray, answers: Array) -> Array:
        ends = jnp.asarray(table)[answers[0].astype(jnp.int32)]
        return jnp.sum(jax.random.uniform(key) >= ends[:-1])

    claimed = float(np.log1p(2.0**-k))
    source = "Balcer, Vadhan (2018), algorithm 4.8 and theorem 4.7"
    return Mechanism(
        "truncated geometric", source, release, lambda output: output, law, 1, claimed, single_change=True
    )


_LYU = EPSILON / 2.0
"""The half of the budget that goes to the threshold in all variants but the fourth."""

SUITE: tuple[Mechanism, ...] = (
    sparse_vector("SVT1", 1, Noise(1 / _LYU), Noise(2 / _LYU), threshold=0.5, stops=True),
    sparse_vector("SVT2", 2, Noise(1 / _LYU), Noise(2 / _LYU), stops=True),
    sparse_vector_with_values(),
    sparse_vector("SVT4", 4, Noise(4 / EPSILON), Noise(4 / (3 * EPSILON)), stops=True),
    sparse_vector("SVT5", 5, Noise(1 / _LYU), None, stops=False),
    sparse_vector("SVT6", 6, Noise(1 / _LYU), Noise(1 / _LYU), stops=False),
    noisy_max("noisy max 1", 5, Noise(2 / EPSILON), value=False),
    noisy_max("noisy max 2", 6, Noise(2 / EPSILON, one_sided=True), value=False),
    noisy_max("noisy max 3", 7, Noise(2 / EPSILON), value=True),
    noisy_max("noisy max 4", 8, Noise(2 / EPSILON, one_sided=True), value=True),
    noisy_vector("histogram 1", "Ding et al. (2018), algorithm 9", Noise(1 / EPSILON), 5, sums=False, single_change=True, claimed=EPSILON),
    noisy_vector("histogram 2", "Ding et al. (2018), algorithm 10", Noise(EPSILON), 5, sums=False, single_change=True, claimed=EPSILON),
    noisy_vector("prefix sum", "Wang, Ding, Wang, Kifer, Zhang (2019)", Noise(1 / EPSILON), 10, sums=True, single_change=False, claimed=1.0),
    rappor("one-time RAPPOR", 0.05, (0.0, 1.0), claimed=8 * float(np.log(1.05 / 0.95))),
    rappor("RAPPOR", 0.25, (0.45, 0.55), claimed=8 * float(np.log(0.5125 / 0.4875))),
    truncated_geometric(),
)  # fmt: skip
"""The mechanisms, in the order of the literature."""
