"""Chunks of games played on several threads and handed back in order."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

_SECONDS_PER_CHUNK = 0.5
"""Short enough for a lively progress line, long enough that Python's share is below 1%."""

CountRange = Callable[[int, int], tuple[np.ndarray, np.ndarray]]


def play_range(
    count: CountRange, start: int, stop: int, block: int, chunk: int | None, workers: int
) -> Iterator[tuple[int, np.ndarray]]:
    """Play games start, ..., stop - 1 and yield (games done so far, counts of the next chunk) in order.

    The counts of a game do not depend on its chunk, so chunks may grow as the speed becomes known, and threads may
    finish in any order; they are yielded in order, so that what was consumed is always a contiguous prefix.

    Args:
        count: plays a range; it releases the GIL while it works.
        start: the first game.
        stop: the end of the range, in games per world.
        block: games per block; chunks end at multiples of it.
        chunk: games per call, or None to aim at half a second.
        workers: threads.

    Examples:
        >>> def count(a, b): return np.array([[b - a]]), np.zeros(0)
        >>> [(done, int(c.sum())) for done, c in play_range(count, 0, 10, block=4, chunk=4, workers=2)]
        [(4, 4), (8, 4), (10, 2)]
    """
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
                fair = size if chunk is not None else min(size, _share(stop - begin, workers, block))
                end = min(stop, (begin // block) * block + fair)
                running.append((end, pool.submit(timed, begin, end)))
                begin = end
            end, future = running.popleft()
            counts, seconds = future.result()
            if chunk is None:
                wished = block * max(1, round(_SECONDS_PER_CHUNK / max(seconds, 1e-12) / block))
                size = min(wished, 4 * size)
            yield end, counts
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _share(left: int, workers: int, block: int) -> int:
    """A chunk that leaves every thread some of the rest, so that the last ones end together."""
    return block * max(1, left // (2 * workers * block))
