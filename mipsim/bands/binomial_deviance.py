"""Kullback-Leibler divergence and deviance of binomial counts, and the bounds that a deviance gives."""

import numpy as np
from scipy.special import expit, rel_entr

from mipsim._roots import outer_root

_FARTHEST_LOGIT = 700.0  # expit(-700) is about 1e-304: beyond it float64 underflows


def divergence(observed: object, probability: object) -> np.ndarray:
    """KL(p^ || p) of two Bernoulli laws in nats, elementwise; inf where p^ cannot come from p.

    Args:
        observed: p^, any shape, in [0, 1].
        probability: p, broadcastable, in [0, 1].

    Examples:
        >>> divergence([0.5, 0.0, 0.5], [0.5, 0.5, 0.0]).round(6).tolist()
        [0.0, 0.693147, inf]
    """
    seen, p = np.asarray(observed, dtype=np.float64), np.asarray(probability, dtype=np.float64)
    return np.maximum(rel_entr(seen, p) + rel_entr(1.0 - seen, 1.0 - p), 0.0)


def deviance(count: object, games: object, probability: object, complement: object = None) -> np.ndarray:
    """2 n KL(x/n || p), twice the log-likelihood ratio of p^ against p, elementwise.

    Args:
        count: x, any shape, 0 <= x <= n.
        games: n >= 1.
        probability: p in [0, 1].
        complement: 1 - p, where p is so near 1 that float64 cannot subtract it.

    Examples:
        >>> float(deviance(60, 100, 0.5).round(6))
        4.027103
        >>> deviance([0, 10], 10, [0.0, 0.0]).tolist()
        [0.0, inf]
    """
    x, n, p = (np.asarray(v, dtype=np.float64) for v in (count, games, probability))
    q = 1.0 - p if complement is None else np.asarray(complement, dtype=np.float64)
    return np.maximum(2.0 * (rel_entr(x, n * p) + rel_entr(n - x, n * q)), 0.0)


def deviance_logits(count: object, games: object, critical: object) -> tuple[np.ndarray, np.ndarray]:
    """Log-odds of the least and the largest p with deviance(x, n, p) <= critical, each rounded outwards.

    Log-odds keep both tails: p = expit(l) and 1 - p = expit(-l). They are -inf and inf where p is 0 and 1.

    Examples:
        >>> low, high = deviance_logits(0, 10, 2.0)
        >>> float(low), round(float(expit(high)), 6)  # 1 - exp(-0.1)
        (-inf, 0.095163)
    """
    x, n, c = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (count, games, critical)))
    with np.errstate(divide="ignore"):
        centre = np.clip(np.log(x) - np.log(n - x), -_FARTHEST_LOGIT, _FARTHEST_LOGIT)

    def excess(logit: np.ndarray, index: np.ndarray) -> np.ndarray:
        found = deviance(x.flat[index], n.flat[index], expit(logit), expit(-logit))
        return np.sqrt(found) - np.sqrt(c.flat[index])  # nearly a straight line

    low, high = (
        outer_root(excess, centre, np.full_like(centre, e)) for e in (-_FARTHEST_LOGIT, _FARTHEST_LOGIT)
    )
    return np.where(x == 0, -np.inf, low), np.where(x == n, np.inf, high)


def deviance_bounds(count: object, games: object, critical: object) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest p with 2 n KL(x/n || p) <= critical.

    Args:
        count: x, any shape, 0 <= x <= n.
        games: n >= 1.
        critical: deviance >= 0, e.g. a chi-square quantile.

    Returns:
        (low, high), float64, of the broadcast shape; 0 and 1 are reached at x = 0 and x = n.

    Examples:
        >>> low, high = deviance_bounds([0, 50, 100], 100, 3.84)
        >>> low.round(4).tolist(), high.round(4).tolist()
        ([0.0, 0.403, 0.981], [0.019, 0.597, 1.0])
    """
    low, high = deviance_logits(count, games, critical)
    return expit(low), expit(high)
