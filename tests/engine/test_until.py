"""Runs that stop when their verdict is known: where they stop, what they are then, and what they refuse."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest

import mipsim as mi
from tests.sampler_laws import same

DATA = mi.Gaussian([0.0], [1.0])
GAME = mi.FixedTarget(mi.EmpiricalMean(), DATA, n=9, target=[3.0])
ATTACK = mi.CovarianceScore(DATA, n=9, target=[3.0])
TRUTH = GAME.exact(ATTACK)
WRONG = mi.FixedTarget(mi.EmpiricalMean(), DATA, n=9, target=[3.15]).exact(
    mi.CovarianceScore(DATA, n=9, target=[3.15])
)
"""Off by 5%: refuted after some 50,000 games."""


def played(games: int | range = 300_000, until: Any = WRONG, **how):
    return mi.play(GAME, ATTACK, games, seed=3, until=until, progress=False, **how)


@pytest.fixture(scope="module")
def stopped():
    return played()


def test_it_stops_at_a_look_with_the_counts_of_a_fixed_run(stopped) -> None:
    looks = mi.Until(WRONG).looks(range(300_000))
    assert stopped.games in looks[1:-1]
    fixed = mi.play(GAME, ATTACK, stopped.games, seed=3, progress=False, edges=stopped)
    assert same(stopped, fixed)
    assert stopped.manifest["runs"] == fixed.manifest["runs"] == [[3, 0, stopped.games]]
    assert mi.Until(WRONG).compare(stopped).verdict == "REFUTED"
    before = mi.play(
        GAME, ATTACK, looks[looks.index(stopped.games) - 1], seed=3, progress=False, edges=stopped
    )
    assert mi.Until(WRONG).compare(before).verdict == "INCONCLUSIVE"


@pytest.mark.parametrize(
    "how", [{"chunk": 1}, {"chunk": 5000, "workers": 3}, {"workers": 1}, {"games": 10**12}], ids=str
)
def test_where_it_stops_depends_on_no_chunk_or_worker(stopped, how) -> None:
    assert same(played(**how), stopped, manifest=True)


@pytest.mark.system
def test_where_it_stops_depends_on_no_executor(stopped) -> None:
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        assert same(played(executor=pool), stopped, manifest=True)


def test_a_claim_as_far_off_as_its_tolerance_ends_inconclusive() -> None:
    """Games that are no multiple of a block, and too few for the true claim: the last look is at their end."""
    until = mi.Until(TRUTH, tolerance=0.02)
    counts = played(20_011, until)
    assert counts.games == 20_011
    assert until.compare(counts).verdict == "INCONCLUSIVE"


@pytest.mark.parametrize("extra", [0, 1])
def test_a_run_that_was_killed_between_two_writes_goes_on_to_the_same_bits(
    tmp_path, stopped, monkeypatch, extra
) -> None:
    """Killed after any write: before the deciding look, and just at it, before it was judged."""
    path, writes = tmp_path / "run.npz", [0]
    from mipsim.engine import run

    write, looks = run.store, mi.Until(WRONG).looks(range(300_000))

    def killed(*args) -> None:
        write(*args)
        writes[0] += 1
        if args[1]["manifest"]["games"] == looks[looks.index(stopped.games) - 1 + extra]:
            raise KeyboardInterrupt

    monkeypatch.setattr(run, "store", killed)
    with pytest.raises(KeyboardInterrupt):
        played(checkpoint=path, chunk=2048)
    monkeypatch.undo()
    assert same(played(checkpoint=path), stopped, manifest=True)
    written = path.stat().st_mtime_ns
    assert same(played(10**12, checkpoint=path), stopped, manifest=True)  # decided: nothing more is played
    assert path.stat().st_mtime_ns == written
    assert stopped.manifest["until"]["claim"]["claim"] == repr(WRONG)
    for other in (None, mi.GaussianTradeOff(1.2), mi.Until(WRONG, kind="ordering")):
        with pytest.raises(ValueError, match="belongs to another run, which differs in until"):
            played(10**6, other, checkpoint=path)


def test_every_interval_of_a_stopped_run_and_of_its_sums_holds_at_all_numbers_of_games(
    tmp_path, stopped
) -> None:
    more = mi.play(GAME, ATTACK, 4000, seed=4, progress=False, edges=stopped)
    stopped.save(tmp_path / "stopped.npz")
    for counts in (stopped, mi.Histogram.load(tmp_path / "stopped.npz"), stopped + more, more + stopped):
        curve = counts.tradeoff()
        assert curve.earlier_counts is not None
        assert curve.earlier_counts.sum(axis=0).tolist() == [8192] * 64  # of the pilot
        assert curve.compare(WRONG).anytime
    assert more.tradeoff().earlier_counts is None
    assert more.tradeoff(anytime=True).compare(WRONG).anytime
    assert (stopped + more).games == stopped.games + 4000


def test_given_edges_need_no_pilot() -> None:
    counts = played(edges=[0.0, 3.0, 6.0])
    earlier = counts.tradeoff().earlier_counts
    assert earlier is not None
    assert earlier.sum() == 0
    assert counts.games < 300_000


def test_a_score_that_is_nan_is_refused_where_the_run_would_reach_it() -> None:
    import jax.numpy as jnp

    def rarely(target, output):
        return jnp.where(output[0] > 1.2, jnp.nan, output[0])

    with pytest.raises(ValueError, match="gave NaN for"):
        mi.play(GAME, rarely, 300_000, until=WRONG, edges=[0.0], progress=False)


def test_scores_with_ties_and_worlds_that_differ() -> None:
    """A yes/no attack: its only threshold decides."""

    def guess(target, output):
        return 1.0 * (output[0] > 0.3)

    result = mi.decide(GAME, guess, mi.GaussianTradeOff(1.5), 300_000, progress=False)
    assert result.verdict == "REFUTED"
    assert result.out_games < 300_000


def test_ranges_are_looked_at_from_their_own_beginning() -> None:
    counts = played(range(1000, 301_000))
    assert counts.manifest["runs"][0][1] == 1000
    assert counts.games in mi.Until(WRONG).looks(range(300_000))


@pytest.mark.evidence
def test_a_claim_that_is_5_per_cent_off_needs_a_third_of_the_fixed_plan() -> None:
    """In the median of 3 runs at mu = 1; the fixed plan is `games_to_confirm` of a pilot run. The true claim is refuted in none of 3."""
    import jax

    game = mi.TwoInputs(lambda key, x: x + jax.random.normal(key, x.shape), [0.0], [1.0])

    def score(target, output):
        return output[0]

    plan = (
        mi.play(game, score, 100_000, progress=False)
        .tradeoff()
        .compare(mi.GaussianTradeOff(1.0))
        .games_to_confirm()
    )
    for mu, kind in ((1.05, "equality"), (0.95, "equality"), (1.05, "equivalence")):
        stopped = []
        for seed in range(3):
            result = mi.decide(
                game, score, mi.GaussianTradeOff(mu), 2_000_000, seed, kind=kind, progress=False
            )
            assert result.verdict == "REFUTED"
            stopped.append(result.out_games)
        print(
            f"mu = {mu} as {kind}: median {np.median(stopped):,.0f}, most {max(stopped):,} of {plan:,} planned games"
        )
        assert np.median(stopped) <= plan / 3
    for seed in range(3):
        assert (
            mi.decide(game, score, mi.GaussianTradeOff(1.0), 100_000, seed, progress=False).verdict
            != "REFUTED"
        )
