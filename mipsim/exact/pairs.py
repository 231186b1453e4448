"""Phases of a sum of terms with many values: pairs of values in the middle of each law, pooled over coordinates."""

import numpy as np

from mipsim.exact.phases import Phases

_OFFSETS = (*range(1, 17), *range(18, 33, 2), *range(36, 65, 4), 80, 96, 128)
_SAME = 1e-12  # of the largest difference: two that differ by less are one frequency with a blur
_MOST_FREQUENCIES = 2**15


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
    keep = _middle(probabilities)
    values, least = values[:, keep], least[:, keep]
    count = first[:, None] + np.flatnonzero(keep)
    frequencies, strengths, blur = [], [], 0.0
    for offset in _OFFSETS:
        if offset >= values.shape[1]:
            break
        gap = values[:, offset:] - values[:, :-offset]
        strength = copies[:, None] * least[:, offset:] * least[:, :-offset]
        used = strength > 0.0
        size = np.abs(gap)
        pooled = _pooled(
            size[used],
            strength[used],
            np.sign(gap[used]),
            np.broadcast_to(count[:, :-offset], gap.shape)[used],
        )
        frequencies.append(pooled[0])
        strengths.append(pooled[1])
        blur = max(blur, pooled[2])
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


def _middle(probabilities: np.ndarray) -> np.ndarray:
    """Which places hold a tenth of the largest probability in some row: pairs of others have little strength."""
    return (probabilities > 0.1 * probabilities.max(axis=1, keepdims=True)).any(axis=0)


def _pooled(
    size: np.ndarray, strength: np.ndarray, sign: np.ndarray, count: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Frequencies, strengths, and by how much a pooled frequency may be off."""
    if not size.size:
        return size, strength, 0.0
    key = 2 * (count - count.min()).astype(np.int64) + (sign > 0)
    total = np.bincount(key, strength)
    typical = np.zeros(total.size)
    typical[key] = size
    off = np.abs(size - typical[key])
    if off.max() <= _SAME * size.max():
        used = total > 0.0
        return typical[used], total[used], float(off.max())
    return size, strength, 0.0
