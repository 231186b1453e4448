"""The jitted kernel, which plays games block by block and counts their scores on fixed edges, and the threads that run it."""

import threading
import time
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from mipsim._compiled import prepare
from mipsim._family import with_traced_sizes
from mipsim._memory import is_too_large
from mipsim._precision import exact_scope, users_precision
from mipsim.attacks.base import AbstractAttack
from mipsim.engine.devices import Device, local_devices
from mipsim.engine.edge_grid import EdgeGrid
from mipsim.engine.memory import BlockTooLargeError
from mipsim.engine.random.counter import GameDraws, run_draws
from mipsim.engine.samplers.base import AbstractSampler

GAMES, PILOT = 0, 1
"""Streams of random numbers: the games of a run, and the pilot that fixes its edges."""
_SECONDS_PER_CHUNK = 0.5
"""Short enough for a lively progress line, long enough that Python's share is below 1%."""

_MOST_GAMES = 2**20
"""At once on an accelerator: a kernel of so many is much longer than its start."""
_MOST_NUMBERS, _BYTES_OF_A_NUMBER = 2**29, 64
"""At once on an accelerator, and what memory each may need: XLA holds a few float64 arrays of them."""


class CountsRanges(Protocol):
    """Counts any range of games, from several threads at once; it releases the GIL while it works."""

    seconds: float  # what a call shall take
    span: int  # games at once; chunks end at multiples of it

    def __call__(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """Counts of games start, ..., stop - 1, and perhaps scores."""
        ...

    def stop(self) -> None:
        """Let no call go on waiting for another machine."""


def _count_games(
    sampler: AbstractSampler,
    blocks: int,
    edges: EdgeGrid,
    run: GameDraws,
    start: Int[Array, ""],
    stop: Int[Array, ""],
) -> tuple[Int[Array, "2 columns cells"], Float[Array, "2 columns G"]]:
    size, columns, nan_cell = blocks * sampler.block, edges.columns, edges.cells
    first, own = start // sampler.block, jnp.arange(columns)[:, None]

    def numbers(i: Array) -> Array:
        return first * sampler.block + (i // 2) * size + jnp.arange(size, dtype=jnp.int64)

    def draw(i: Array) -> Array:
        def of_block(games: Array) -> Array:
            return sampler.scores(run._replace(world=i % 2, games=games))

        games = numbers(i).astype(jnp.uint64)
        return of_block(games) if blocks == 1 else jax.vmap(of_block)(games.reshape(blocks, -1))

    def play_block(i: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        counts, scores = state
        return count_block(i - 1, counts, scores), scores.at[i % 2].set(draw(i).reshape(size, columns).T)

    def count_block(i: Array, counts: Array, scores: Array) -> Array:
        # A block is counted a step after it is sampled: read from the loop's state its scores exist once, whereas
        # XLA would draw them again for each of their uses in the same step.
        world, sample, index = i % 2, scores[i % 2], numbers(i)
        cell = own * (nan_cell + 1) + jnp.where(jnp.isnan(sample), nan_cell, edges.bins(sample))
        played = jnp.broadcast_to((i >= 0) & (index >= start) & (index < stop), cell.shape)
        return counts.at[world, cell].add(played.astype(jnp.int64))

    # The trip count is traced: a bound known to XLA would give every chunk its own executable.
    trips = jnp.where(stop > start, -2 * ((first * sampler.block - stop) // size), 0)
    empty = jnp.zeros((2, columns * (nan_cell + 1)), jnp.int64), jnp.zeros((2, columns, size), jnp.float64)
    counts, scores = jax.lax.fori_loop(0, trips, play_block, empty)
    return count_block(trips - 1, counts, scores).reshape(2, columns, -1), scores


_count = eqx.filter_jit(_count_games)


def on_device(tree: Any) -> Any:
    """Turn the NumPy leaves of a pytree into JAX arrays, and attacks' numbers of records into float64 ones: arguments, not constants.

    An array that several leaves share, such as the data set of a training and of its attack, is placed once.
    Must be called inside `exact_scope`.
    """
    placed: dict[int, Array] = {}

    def place(leaf: Any) -> Any:
        if not isinstance(leaf, np.ndarray):
            return leaf
        if id(leaf) not in placed:
            placed[id(leaf)] = jax.device_put(leaf, may_alias=False)
        return placed[id(leaf)]

    attacks = jax.tree.map(
        lambda leaf: with_traced_sizes(leaf) if isinstance(leaf, AbstractAttack) else leaf,
        tree,
        is_leaf=lambda leaf: isinstance(leaf, AbstractAttack),
    )
    return jax.tree.map(place, attacks)


def blocks_at_once(sampler: AbstractSampler, device: Device) -> int:
    """How many blocks of a sampler a device draws at once: a single block on a CPU, whose caches a block is made for, else what fills it.

    It depends on the sampler and the device only, so that runs of any length share their last bits.
    """
    if device.platform == "cpu":
        return 1
    # all of it: what is free now would change bits
    memory = (device.memory_stats() or {}).get("bytes_limit", np.inf)
    with exact_scope():  # some data know their dimension by float64 arrays
        needed = sampler.numbers
    games = min(_MOST_GAMES, min(_MOST_NUMBERS, memory // _BYTES_OF_A_NUMBER) // needed)
    return max(1, 1 << (int(games // sampler.block) or 1).bit_length() - 1)


class Counter:
    """A sampler with its edges and seed, ready to count any range of games, on any of several devices.
    `sampler`: how scores are sampled; its leaves must be JAX arrays (`on_device`); `edges`: increasing thresholds for
    each of the sampler's columns; `seed`: a whole number in [0, 2^64); `stream`: GAMES or PILOT; `devices`: where to
    play; each gets a copy of the arrays. None = the first of `local_devices`; `blocks`: how many blocks are sampled at
    once, >= 1; None = what suits the device.
    """

    seconds = _SECONDS_PER_CHUNK

    def __init__(
        self,
        sampler: AbstractSampler,
        edges: Sequence[np.ndarray],
        seed: int,
        stream: int = GAMES,
        devices: Sequence[Device] | None = None,
        blocks: int | None = None,
    ) -> None:
        prepare()
        self._precision = users_precision()
        self._devices = devices = local_devices()[:1] if devices is None else devices
        blocks = blocks_at_once(sampler, devices[0]) if blocks is None else blocks
        if sampler.any_block:  # a larger block is then the same as several, and compiles to less
            sampler, blocks = replace(sampler, block=blocks * sampler.block), 1
        self.span = blocks * sampler.block
        self._cells = max(len(own) for own in edges)
        arrays, rest = eqx.partition(sampler, eqx.is_array)
        with exact_scope():
            inputs = arrays, EdgeGrid(edges), run_draws(seed, stream)
            self._places = [
                (eqx.combine(a, rest), blocks, *b) for a, *b in (jax.device_put(inputs, d) for d in devices)
            ]
        self._busy = [0] * len(devices)
        self._lock = threading.Lock()

    def stop(self) -> None:
        """Nothing waits for another machine."""

    def lower(self) -> Any:
        """What a call hands to the compiler, a `jax.stages.Lowered`; calls need not make it again."""
        with exact_scope(self._precision):
            bounds = jax.device_put((np.int64(0), np.int64(0)))
            count: Any = _count
            return count.lower(*self._places[0], *bounds)

    def needs(self) -> int:
        """Bytes that a single call needs beside its arguments, as the compiler says."""
        with exact_scope():
            compiled = self.lower().compile()
        result = getattr(compiled, "compiled", compiled).memory_analysis()
        return 0 if result is None else int(result.temp_size_in_bytes)

    def __call__(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """Count games start, ..., stop - 1 of both worlds, on the device that has least to do.
        Returns (counts, scores): counts int64 (2, columns, K + 2), K the most thresholds of a column, the last cell NaN;
        and the scores of the last sampled blocks, float64 (2, columns, blocks x G). Raises BlockTooLargeError if the
        device has no memory for it.
        """
        with self._lock:
            place = self._busy.index(min(self._busy))
            self._busy[place] += 1
        try:
            with exact_scope(self._precision):  # entered here because the scope is per thread
                bounds = jax.device_put((np.int64(start), np.int64(stop)))
                counts, scores = jax.device_get(_count(*self._places[place], *bounds))
        except jax.errors.JaxRuntimeError as error:
            if not is_too_large(error):
                raise
            raise BlockTooLargeError.of(self.span, self._devices[place]) from error
        finally:
            with self._lock:
                self._busy[place] -= 1
        retained = np.concatenate([counts[:, :, : self._cells + 1], counts[:, :, -1:]], axis=2)
        return retained, scores


def play_range(
    count: CountsRanges,
    start: int,  # the first game
    stop: int,  # the end of the range, in games per world
    chunk: int | None,  # games per call, or None to aim at the counter's seconds
    workers: int,  # threads
    looks: Sequence[int] = (),  # increasing; chunks end at each of these too
) -> Generator[tuple[int, np.ndarray], None, None]:
    """Play games start, ..., stop - 1 and yield (games done so far, counts of the next chunk) in order.

    The counts of a game do not depend on its chunk, so chunks may grow as the speed becomes known, and threads may
    finish in any order; they are yielded in order, so that what was consumed is always a contiguous prefix.
    """
    cuts = [*(look for look in looks if start < look < stop), stop][::-1]
    block = count.span
    size = block if chunk is None else block * -(-chunk // block)
    running: deque[tuple[int, Future[tuple[np.ndarray, float]]]] = deque()
    pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="mipsim")

    def timed(a: int, b: int) -> tuple[np.ndarray, float]:
        begun = time.perf_counter()
        counts, _ = count(a, b)
        return counts, (time.perf_counter() - begun) / (b - a)

    begin = start
    try:
        while begin < stop or running:
            while begin < stop and len(running) < workers + 1:
                # A chunk leaves every thread some of the rest, so that the last ones end together.
                fair = block * max(1, (stop - begin) // (2 * workers * block))
                fair = size if chunk is not None else min(size, fair)
                end = min(cuts[-1], (begin // block) * block + fair)
                if end == cuts[-1]:
                    cuts.pop()
                running.append((end, pool.submit(timed, begin, end)))
                begin = end
            end, future = running.popleft()
            counts, took = future.result()
            if chunk is None:
                wished = block * max(1, round(count.seconds / max(took, 1e-12) / block))
                size = min(wished, 4 * size)
            yield end, counts
    finally:
        count.stop()  # before the threads are waited for
        pool.shutdown(wait=True, cancel_futures=True)
