"""Phases of a sum of terms with many values: pairs of values in the middle of each law, pooled over coordinates."""

import numpy as np

from mipsim.exact.phases import Phases

# Every near offset, and ever fewer far ones: short differences reach high frequencies, long ones low ones.
_OFFSETS = (*range(1, 17), *range(18, 33, 2), *range(36, 65, 4), 80, 96, 128)
_ALIGNED = 8  # counts
_SAME = 1e-12  # of the largest difference: two that differ by less are one frequency with a blur
_MOST_FREQUENCIES = 2**15  # the strongest are kept: more cost time and prove little


def pair_phases(
    values: np.ndarray,
    probabilities: np.ndarray,
    copies: np.ndarray,
    first: np.ndarray,
    span: tuple[float, float],
) -> Phases | None:
    """-log |phi(t)| >= (2 / pi^2) sum_j copies_j sum over pairs q_k q_l dist((v_k - v_l) t)^2, for every tilt in `span`.

    1 - |phi_j|^2 = 4 sum_{k < l} q_k q_l sin^2((v_k - v_l) t / 2): any pairs will do. Each log q_k is concave in the tilt, so that a
    product is least at an end. The likelihood ratio's differences log((k + m) / k) are the same in all coordinates: pairs at one
    count and offset are pooled where their differences agree.

    Args:
        values: shape (g, K), of consecutive counts.
        probabilities: shape (g, K).
        copies: shape (g,).
        first: the count of the first value, shape (g,).
        span: tilts.

    Returns:
        The phases, or None where there are no pairs.

    Examples:
        >>> v = np.log(np.arange(1.0, 41.0))[None]
        >>> phases = pair_phases(v, np.full((1, 40), 1 / 40), np.array([500.0]), np.array([1.0]), (0.0, 0.0))
        >>> phases.quiet_until(3.0, 1, 10.0) > 30.0
        True
    """
    least = np.minimum(*(_tilted(values, probabilities, c) for c in span))
    values, least, first = _middle(values, least, probabilities, first)
    order, start, moved = _alike(values, least > 0.0, first)
    values, least = values[order], least[order]
    weighted = copies[order, None] * least
    values, count = values[start], first[order][start, None] + np.arange(values.shape[1])
    frequencies, strengths, blur = [], [], 0.0
    for offset in _OFFSETS:
        if offset >= values.shape[1]:
            break
        gap = values[:, offset:] - values[:, :-offset]
        strength = np.add.reduceat(weighted[:, offset:] * least[:, :-offset], start, axis=0)
        used = strength > 0.0
        pooled = _pooled(np.abs(gap)[used], strength[used], gap[used] > 0.0, count[:, :-offset][used])
        frequencies.append(pooled[0])
        strengths.append(pooled[1])
        blur = max(blur, pooled[2] + 2.0 * moved)
    if not frequencies:
        return None
    v, s = np.concatenate(frequencies), np.concatenate(strengths)
    if v.size > _MOST_FREQUENCIES:
        best = np.argpartition(-s, _MOST_FREQUENCIES)[:_MOST_FREQUENCIES]
        v, s = v[best], s[best]
    return Phases(v, (2.0 / np.pi**2) * (1 - 1e-9) * s, blur=blur) if v.size else None


def _tilted(values: np.ndarray, probabilities: np.ndarray, c: float) -> np.ndarray:
    tilt = c * values
    tilt = np.where(probabilities > 0.0, tilt, -np.inf)
    q = probabilities * np.exp(tilt - tilt.max(axis=1, keepdims=True))
    return q / q.sum(axis=1, keepdims=True)


def _middle(
    values: np.ndarray, least: np.ndarray, probabilities: np.ndarray, first: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each row the places around its largest probability, as far as a tenth of it in any row: others have little strength.

    Each begins at a multiple of `_ALIGNED`, so that many rows begin at one count.
    """
    top = probabilities.max(axis=1, keepdims=True)
    mode = probabilities.argmax(axis=1)
    places = np.arange(values.shape[1])
    width = int(np.abs(places - mode[:, None])[probabilities > 0.1 * top].max())
    start = _ALIGNED * np.floor((first + mode - width) / _ALIGNED)
    place = (start - first).astype(np.int64)[:, None] + np.arange(2 * width + _ALIGNED)
    inner = (place >= 0) & (place < places.size)
    place = np.clip(place, 0, places.size - 1)
    rows = np.arange(values.shape[0])[:, None]
    return values[rows, place], np.where(inner, least[rows, place], 0.0), start


def _alike(values: np.ndarray, used: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Rows of one first count whose used values differ by a constant only: an order of the rows, where groups start, how far off rows are.

    Where some are farther off than rounding makes them, each row is a group.
    """
    middle = values.shape[1] // 2
    rises = values[:, middle] > values[:, middle - 1]
    order = np.lexsort((rises, first))
    new = (np.diff(first[order]) != 0.0) | (rises[order][1:] != rises[order][:-1])
    start = np.append(0, np.flatnonzero(new) + 1)
    shape, used = (values - values[:, middle, None])[order], used[order]
    of = np.repeat(start, np.diff(np.append(start, order.size)))
    off = float(np.abs(shape - shape[of])[used].max(initial=0.0))
    if (used == used[of]).all() and off <= 0.5 * _SAME * float(np.abs(shape[used]).max(initial=0.0)):
        return order, start, off
    return order, np.arange(order.size), 0.0


def _pooled(
    size: np.ndarray, strength: np.ndarray, rises: np.ndarray, count: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Frequencies, strengths, and by how much a pooled frequency may be off."""
    if not size.size:
        return size, strength, 0.0
    key = 2 * (count - count.min()).astype(np.int64) + rises
    total = np.bincount(key, strength)
    typical = np.zeros(total.size)
    typical[key] = size
    off = np.abs(size - typical[key])
    if off.max() <= _SAME * size.max():
        used = total > 0.0
        return typical[used], total[used], float(off.max())
    return size, strength, 0.0
