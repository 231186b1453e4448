"""Which games a run plays: a range of game numbers, and its equal shares among several runs."""

from mipsim._validation import whole


def game_range(games: object) -> range:
    """The numbers of the games to play: 0, ..., games - 1, or a given `range`.

    Raises:
        ValueError: if it is neither a whole number >= 1 nor a range of numbers >= 0 with step 1.

    Examples:
        >>> game_range(1e3), game_range(range(500, 1000))
        (range(0, 1000), range(500, 1000))
    """
    if not isinstance(games, range):
        return range(whole("games", games, 1))
    if games.step != 1 or games.start < 0 or games.stop < games.start:
        raise ValueError(f"games is {games}; a range of games must have step 1 and begin at 0 or later")
    return games


def share(games: range, index: int, count: int) -> range:
    """Share `index` of `count` contiguous shares of a range of games, equal to one game.

    Examples:
        >>> [share(range(10), i, 3) for i in range(3)]
        [range(0, 3), range(3, 6), range(6, 10)]
    """
    cuts = [games.start + len(games) * i // count for i in (index, index + 1)]
    return range(*cuts)


def check_shard(shard: object) -> tuple[int, int]:
    """Return (index, count) if 0 <= index < count.

    Raises:
        ValueError: if it is no such pair.

    Examples:
        >>> check_shard((3, 4))
        (3, 4)
    """
    if not isinstance(shard, (tuple, list)) or len(shard) != 2:
        raise ValueError(f"shard is {shard!r}; it must be a pair (i, k) with 0 <= i < k")
    index, count = whole("i of shard", shard[0], 0), whole("k of shard", shard[1], 1)
    if index >= count:
        raise ValueError(f"shard is {index}/{count}; i must be below k: shards are numbered from 0")
    return index, count
