"""Audits of scores that arrive in sequence, judged as often as they come."""

from __future__ import annotations

from typing import final

import numpy as np
from scipy.special import ndtr

from mipsim._printed import Printed
from mipsim._validation import confidence_level, increasing_vector, real_array, whole
from mipsim._verdict import Verdict
from mipsim.audits.claims import RatePromise, read_claim, words
from mipsim.audits.designs import CONFIDENCE
from mipsim.bands.anytime import mixed_rates, next_look, refutes_bound
from mipsim.bands.compare import check_claim
from mipsim.bands.empirical_tradeoff import EmpiricalTradeOff
from mipsim.tradeoff.base import AbstractTradeOff

_FIRST, _PARTS = 32, 16  # looks: every second score at first, then 3 to 6% apart
_PROBITS = np.linspace(-2.0, 2.0, 8)  # where a pilot places thresholds in each world


@final
class RunningAudit(Printed):
    """Hold scores against a promised guarantee while they arrive, each of a game of its own.

    The verdict holds at every number of scores at once: stop whenever you like, because of it or not. It is wrong with at most the
    failure probability, 1 - confidence. The audit looks at fixed numbers of scores, 6% apart or less, so that the verdict depends on the
    scores and their order only, not on how they are batched. A refutation stays. Scores never confirm a promise.

    Of the designs of `mipsim.audit` only "independent" has such a test. Which world comes next may depend on all scores before. A single score
    of each of several independent clusters will do, chosen without looking at the scores. The canaries of a single run are all scored at its end, so there
    is nothing to stop early.

    Args:
        claim: a trade-off function that bounds every attack, out against in; or text, see `mipsim.audits.claims.read_claim`.
        confidence: of the verdict, in [0.5, 1).
        thresholds: increasing scores, fixed before any score was seen, shape (K,); None places up to 16 by a pilot.
        pilot: how many of the first scores are that pilot, >= 2; they decide nothing else. 0 where thresholds are given.

    Raises:
        ValueError: if an argument is outside its range.

    Source: Robbins (1970); Howard, Ramdas, McAuliffe, Sekhon (2021).

    Examples:
        >>> import mipsim as mi, numpy as np
        >>> rng, audit = np.random.default_rng(0), mi.RunningAudit("mu=0.5")
        >>> while audit.verdict == "INCONCLUSIVE" and audit.scores < 20_000:
        ...     member = rng.random(50) < 0.5
        ...     verdict = audit.update(rng.normal(size=50) + 1.5 * member, member)
        >>> audit.verdict, audit.scores < 1000
        (<Verdict.REFUTED: 'REFUTED'>, True)
    """

    def __init__(
        self,
        claim: AbstractTradeOff | str,
        *,
        confidence: float = CONFIDENCE,
        thresholds: object = None,
        pilot: int | None = None,
    ) -> None:
        promise = read_claim(claim) if isinstance(claim, str) else claim
        # Who keeps a promise of a single rate keeps its curve.
        self._claim = promise.curve if isinstance(promise, RatePromise) else promise
        check_claim("claim", self._claim)
        self._promise = words(promise)
        self._confidence = confidence_level(confidence)
        if thresholds is not None and pilot:
            raise ValueError(f"pilot is {pilot} beside thresholds; it must be 0 or None then")
        self._pilot = 0 if thresholds is not None else whole("pilot", 200 if pilot is None else pilot, 2)
        self._early = np.zeros((2, 0))  # scores of the pilot and their worlds
        self._seen = np.zeros(2, np.int64)  # judged scores, out and in
        self._verdict, self._refuted_at = Verdict.INCONCLUSIVE, None
        self._begin(np.zeros(0) if thresholds is None else increasing_vector("thresholds", thresholds))

    @property
    def verdict(self) -> Verdict:
        """REFUTED or INCONCLUSIVE, by the scores up to now."""
        return self._verdict

    @property
    def refuted_at(self) -> int | None:
        """The number of scores, with the pilot's, at which the promise was refuted; None if it is not."""
        return self._refuted_at

    @property
    def scores(self) -> int:
        """How many scores have come, with the pilot's."""
        return self._early.shape[1] + int(self._seen.sum())

    @property
    def curve(self) -> EmpiricalTradeOff | None:
        """The attack's curve with intervals and lower bounds that hold at every number of scores at once; None before each world has a score beyond the pilot."""
        if not self._seen.all():
            return None
        return EmpiricalTradeOff(
            self._thresholds,
            self._beyond[0],
            int(self._seen[0]),
            self._beyond[1],
            int(self._seen[1]),
            self._confidence,
            earlier_counts=self._earlier,
        )

    def update(self, scores: object, member: object) -> Verdict:
        """Take the next scores and return the verdict so far.

        Args:
            scores: a number or a vector, higher = "in", in the order in which they came, finite.
            member: 1 for the world "in", 0 for "out", of the same shape.

        Raises:
            ValueError: a single sentence that names the argument; nothing of these scores is taken then.

        Examples:
            >>> audit = RunningAudit("mu=1", thresholds=[0.0])
            >>> audit.update(0.3, True), audit.update([0.1, -0.2], [0, 1]), audit.scores
            (<Verdict.INCONCLUSIVE: 'INCONCLUSIVE'>, <Verdict.INCONCLUSIVE: 'INCONCLUSIVE'>, 3)
        """
        values = np.atleast_1d(real_array("scores", scores, coins=True))
        inside = np.atleast_1d(real_array("member", member, coins=True))
        if values.ndim > 1 or inside.shape != values.shape or not np.isin(inside, (0, 1)).all():
            raise ValueError(
                f"member has shape {inside.shape} and scores {values.shape}; they must be vectors of the same length, and member hold 1 and 0 alone"
            )
        new = np.stack([values, inside])
        while new.shape[1]:
            lacking = self._pilot - self._early.shape[1]
            upto = lacking or next_look(int(self._seen.sum()), _FIRST, _PARTS) - int(self._seen.sum())
            now, new = new[:, :upto], new[:, upto:]
            if lacking:
                self._early = np.concatenate([self._early, now], axis=1)
                if now.shape[1] == lacking:
                    pilot = [self._early[0, self._early[1] == world] for world in (0, 1)]
                    self._begin(np.unique([np.quantile(own, ndtr(_PROBITS)) for own in pilot if own.size]))
                continue
            self._seen += [(now[1] == world).sum() for world in (0, 1)]
            self._beyond += _counts(now, self._thresholds)[[0, 2]]
            if now.shape[1] == upto and self._verdict == Verdict.INCONCLUSIVE:
                self._look()
        return self._verdict

    def _begin(self, thresholds: np.ndarray) -> None:
        self._thresholds, self._earlier = thresholds, _counts(self._early, thresholds)
        self._beyond = np.zeros((2, thresholds.size), np.int64)  # false positives, false negatives

    def _look(self) -> None:
        counts = self._beyond[0], int(self._seen[0]), self._beyond[1], int(self._seen[1])
        rates = mixed_rates(*counts, self._earlier) if self._seen.all() else None
        if rates is not None and refutes_bound(*rates, self._claim, 1.0 - self._confidence):
            self._verdict, self._refuted_at = Verdict.REFUTED, self.scores

    def _title(self) -> str:
        return f"{self.verdict} after {self.scores:,} scores: {self._promise}"

    def _lines(self) -> list[tuple[str, str]]:
        at = "" if self.refuted_at is None else f", refuted at {self.refuted_at:,}"
        return [
            (
                "scores",
                f"{self._seen[0]:,} out, {self._seen[1]:,} in, {self._early.shape[1]:,} of the pilot{at}",
            ),
            ("confidence", f"{self._confidence:.9g}, at every number of scores at once"),
        ]


def _counts(scores: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """False positives, true negatives, false negatives and true positives at each threshold, shape (4, K)."""
    out, inside = (np.sort(scores[0, scores[1] == world]) for world in (0, 1))
    negative, missed = (np.searchsorted(own, thresholds, side="right") for own in (out, inside))
    return np.stack([out.size - negative, negative, missed, inside.size - missed])
