"""Several attacks, or several targets, on the releases of one run of games."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from mipsim._validation import finite_matrix, one_of, whole
from mipsim.attacks.base import AbstractAttack
from mipsim.attacks.function import FunctionAttack
from mipsim.engine.counting import PILOT, on_device
from mipsim.engine.devices import local_devices, threads_for
from mipsim.engine.drive import play_range
from mipsim.engine.fidelity import check_shapes, name_of
from mipsim.engine.histogram import Histogram
from mipsim.engine.manifest import DRAWS, FORMAT, array_digest, describe, versions
from mipsim.engine.many_counting import ManyCounter
from mipsim.engine.many_histogram import ManyHistogram
from mipsim.engine.many_sampler import AbstractManySampler, many_attacks_sampler, many_targets_sampler
from mipsim.engine.pilot import pilot_edges
from mipsim.engine.play import checked_edges, checked_seed
from mipsim.engine.precision import exact_scope
from mipsim.engine.progress import progress_line
from mipsim.engine.resume import counted
from mipsim.games.base import AbstractGame
from mipsim.games.fixed_target import FixedTarget

_PILOT_GAMES = 2048
_FIDELITIES = ("auto", "literal", "sufficient")
Score = AbstractAttack | Callable[..., Any]


def play_many(
    game: AbstractGame,
    attacks: Sequence[Score],
    games: int,
    seed: int = 0,
    *,
    edges: object = None,
    fidelity: str = "auto",
    chunk: int | None = None,
    progress: bool = True,
    workers: int | None = None,
) -> ManyHistogram:
    """Play `games` games in each world and count the scores of several attacks on the same releases.

    Each attack's histogram is what `play` would count: its games are independent. The histograms depend on one another,
    so that a statement about several needs Bonferroni's correction: `ManyHistogram.tradeoffs`. The scores of all linear
    attacks on a fixed target are one matrix product.

    Args:
        game: what is played.
        attacks: at least one; each an `AbstractAttack` or a function `(target, output) -> scalar`.
        games: games in EACH world, >= 1.
        seed: a whole number in [0, 2^64).
        edges: increasing thresholds for all attacks; None fixes them for each by a pilot.
        fidelity: "literal", "sufficient" (the output drawn from its law), or "auto", the cheaper one that there is.
        chunk: as in `play`; like progress and workers it does not change the counts.
        progress: as in `play`.
        workers: as in `play`.

    Returns:
        One histogram for each attack.

    Raises:
        ValueError: on bad arguments or a NaN score.

    Examples:
        >>> import mipsim as mi
        >>> data = mi.Bernoulli([0.3, 0.6])
        >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=10, target=[1.0, 0.0])
        >>> play_many(game, [mi.CovarianceScore(data, n=10), mi.ScalarProduct([0.5, 0.5])], games=1000)
        ManyHistogram(2 histograms of the same 1,000 games per world)
    """
    if not isinstance(game, AbstractGame):
        raise ValueError(f"game is {type(game).__name__}; it must be a game such as FixedTarget")
    if isinstance(attacks, (AbstractAttack, str)) or not isinstance(attacks, Sequence) or not attacks:
        raise ValueError(f"attacks is {type(attacks).__name__}; it must be a sequence of at least one attack")
    known = [_attack(attack) for attack in attacks]
    one_of("fidelity", fidelity, _FIDELITIES)
    with exact_scope():
        for attack in known:
            check_shapes(game, attack, fidelity)
        sampler = on_device(many_attacks_sampler(game, known, fidelity))
    columns = [{"game": describe(game), "attack": describe(attack)} for attack in known]
    names = [name_of(attack) for attack in known]
    return _play(sampler, columns, names, games, seed, edges, chunk, progress, workers)


def play_targets(
    game: FixedTarget,
    attack: Score,
    targets: object,
    games: int,
    seed: int = 0,
    *,
    edges: object = None,
    fidelity: str = "auto",
    chunk: int | None = None,
    progress: bool = True,
    workers: int | None = None,
) -> ManyHistogram:
    """Play the fixed-target games of several targets on the same rows.

    Histogram i is what `play` would count for target i: its games are independent. The rows and the noise of a game are
    the same for all targets: the "out" release is scored once for each, and "in" the target takes the place of one row.
    Between targets the scores are dependent, often strongly; `ManyHistogram` says what that means, and `pooled` is the
    curve of a random target with honest counts.

    From some ten targets on this is faster than playing them one by one, tenfold for hundreds; only where `play` draws the
    score itself (Gaussian data and a linear attack, fidelity "projected") it is not.

    Args:
        game: whose mechanism is `EmpiricalMean`, with `GaussianNoise` and `Subsampled` around it if wished; its own target
            is not played.
        attack: aimed at each target in turn, so that it must not name a target itself.
        targets: shape (m, d), m >= 1.
        games: games in EACH world, >= 1.
        seed: a whole number in [0, 2^64).
        edges: increasing thresholds for all targets; None fixes them for each by a pilot.
        fidelity: as in `play_many`.
        chunk: as in `play`; like progress and workers it does not change the counts.
        progress: as in `play`.
        workers: as in `play`.

    Returns:
        One histogram for each target, and that of a random target in each game.

    Raises:
        ValueError: on bad arguments, another mechanism, or a NaN score.

    Examples:
        >>> import mipsim as mi
        >>> data = mi.Bernoulli([0.3, 0.6])
        >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=10, target=[1.0, 0.0])
        >>> play_targets(game, mi.CovarianceScore(data, n=10), [[1.0, 0.0], [0.0, 0.0]], games=1000)
        ManyHistogram(2 histograms of the same 1,000 games per world, and pooled)
    """
    if not isinstance(game, FixedTarget):
        raise ValueError(f"game is {type(game).__name__}; many targets are played by FixedTarget")
    points = finite_matrix("targets", targets, game.data.dimension)
    known = _attack(attack)
    one_of("fidelity", fidelity, _FIDELITIES)
    with exact_scope():
        check_shapes(game, known, fidelity)
        sampler = on_device(many_targets_sampler(game, known, points, fidelity))
    each = [FixedTarget(game.mechanism, game.data, game.n, z) for z in points]
    columns = [{"game": describe(one), "attack": describe(known)} for one in each]
    columns.append(
        {"game": describe(game), "attack": describe(known), "random target among": array_digest(points)}
    )
    names = [name_of(known)] * len(columns)
    return _play(sampler, columns, names, games, seed, edges, chunk, progress, workers, pooled=True)


def _play(
    sampler: AbstractManySampler,
    columns: list[dict[str, Any]],
    names: list[str],
    games: object,
    seed: object,
    edges: object,
    chunk: int | None,
    progress: bool,
    workers: int | None,
    *,
    pooled: bool = False,
) -> ManyHistogram:
    total, seed = whole("games", games, 1), checked_seed(seed)
    chunk = None if chunk is None else whole("chunk", chunk, 1)
    workers = threads_for(local_devices()) if workers is None else whole("workers", workers, 1)
    given = None if edges is None else [checked_edges(edges)] * sampler.columns
    thresholds = _pilot(sampler, names, seed) if given is None else given
    counter = ManyCounter(sampler, thresholds, seed)
    counts = np.zeros((2, sampler.columns, max(map(len, thresholds)) + 3), np.int64)
    with progress_line(f"{sampler.name} ({sampler.fidelity})", total, 0, progress) as advance:
        for done, part in play_range(counter, 0, total, counter.block, chunk, workers):
            _refuse_nan(part, names)
            counts += part
            advance(done)
    parts = []
    for i, own in enumerate(thresholds):
        manifest = {
            "format": FORMAT,
            **columns[i],
            "seed": seed,
            **counted(seed, range(total), total),
            "fidelity": sampler.fidelity,
            "sampler": sampler.name,
            "edges": {**array_digest(own), "source": "pilot" if given is None else "given"},
            "draws": DRAWS,
            "versions": versions(),
            "device": jax.default_backend(),
        }
        parts.append(Histogram(own, counts[0, i, : own.size + 1], counts[1, i, : own.size + 1], manifest))
    return ManyHistogram(tuple(parts[:-1]), parts[-1]) if pooled else ManyHistogram(tuple(parts))


def _pilot(sampler: AbstractManySampler, names: list[str], seed: int) -> list[np.ndarray]:
    counter = ManyCounter(sampler, [np.zeros(1)] * sampler.columns, seed, PILOT)
    wanted = (
        _PILOT_GAMES if sampler.fidelity == "sufficient" else max(32, min(_PILOT_GAMES, 32 * counter.block))
    )
    drawn = []
    for start in range(0, wanted, counter.block):
        counts, scores = counter(start, start + counter.block)
        _refuse_nan(counts, names)
        drawn.append(scores)
    scores = np.concatenate(drawn, axis=2)[:, :, :wanted]
    return [pilot_edges(scores[:, i]) for i in range(sampler.columns)]


def _refuse_nan(counts: np.ndarray, names: list[str]) -> None:
    bad = counts[:, :, -1].sum(axis=0)
    if bad.any():
        name = names[int(np.argmax(bad > 0))]
        raise ValueError(f"attack {name} gave NaN for {bad.max()} games; a score must be a number or +-inf")


def _attack(attack: Score) -> AbstractAttack:
    return attack if isinstance(attack, AbstractAttack) else FunctionAttack(attack)
