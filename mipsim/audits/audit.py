"""Audits of a user's scores by the design that made them."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mipsim._validation import number, one_of
from mipsim.audits.claims import read_claim, words
from mipsim.audits.clusters import one_a_cluster
from mipsim.audits.one_run import Guesses, OneRun
from mipsim.audits.scores import Scores, read_scores
from mipsim.bands.comparison_base import NUMERICAL_FLOOR
from mipsim.bands.drawing import inline_png
from mipsim.bands.empirical import EmpiricalTradeOff
from mipsim.bands.printed import Printed
from mipsim.bands.verdict import Verdict
from mipsim.tradeoff import ApproxDPTradeOff, GaussianTradeOff
from mipsim.tradeoff.base import AbstractTradeOff

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DESIGNS = {
    "independent": "every score is of a game of its own, independent of the others and equally distributed in its world",
    "one-run": "all scores are of canaries of one training run, each put in by a fair coin",
    "clustered": "clusters of scores are independent of each other; within a cluster anything goes",
}
"""What each design promises of the scores; nothing in the scores can show that it is so."""
CONFIDENCE = 0.999
DELTA = 1e-5
_NEVER = "not refuted; scores of one attack can refute a promise and never confirm it, since a better attack may leak more"


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Printed):
    """What scores show of a mechanism: lower bounds of what leaks, and whether they refute a promised guarantee.

    Each bound is one-sided and holds with `confidence` by itself; so does the verdict. Choosing among thresholds, or among numbers
    of guesses, is paid for in each.

    Attributes:
        design: "independent", "one-run" or "clustered".
        confidence: in (0, 1).
        delta: at which epsilon is bounded.
        in_scores, out_scores: how many scores there are of each world.
        clusters: how many independent clusters, or None.
        used: how many scores decide: all, or one of each cluster.
        mu_lower_bound: the mechanism is not mu-GDP for any mu below this.
        epsilon_lower_bound: it is not (epsilon, delta)-DP for any epsilon below this.
        advantage_lower_bound: some test has at least this TPR - FPR; None for one run, which cannot tell: a mechanism that gives
            everything away with probability v, and else nothing, has advantage v and in one run all guesses right, or none.
        gap_lower_bound: how far the attack passes below a promised curve, in probits; None without such a promise.
        curve: the trade-off curve with its simultaneous band; None for one run.
        guesses: what was guessed about the canaries of one run; empty for the others.
        claim: the promised guarantee, or None.
        promise: the same in words.
        verdict: REFUTED or INCONCLUSIVE, never CONFIRMED: scores cannot confirm a guarantee; None without a claim.
        says: the verdict in a sentence.
        source, digest: file of the scores and its SHA-256; "" for arrays.
        higher_is_in: whether members' scores are mostly the higher ones, as an audit takes them to be.

    Examples:
        >>> import mipsim as mi, numpy as np
        >>> rng = np.random.default_rng(0)
        >>> member = np.repeat([0, 1], 5000)
        >>> found = mi.audit(rng.normal(size=10_000) + member, member, design="independent", claim="mu=0.5", confidence=0.95)
        >>> found.verdict, round(found.mu_lower_bound, 1)
        (<Verdict.REFUTED: 'REFUTED'>, 0.9)
    """

    design: str
    confidence: float
    delta: float
    in_scores: int
    out_scores: int
    clusters: int | None
    used: int
    mu_lower_bound: float
    epsilon_lower_bound: float
    advantage_lower_bound: float | None
    gap_lower_bound: float | None
    curve: EmpiricalTradeOff | None
    guesses: tuple[Guesses, ...]
    claim: AbstractTradeOff | None
    promise: str
    verdict: Verdict | None
    says: str
    source: str
    digest: str
    higher_is_in: bool

    @property
    def eta_lower_bound(self) -> float | None:
        """Some test guesses the world right with probability at least 1/2 + this: half of the advantage."""
        return None if self.advantage_lower_bound is None else 0.5 * self.advantage_lower_bound

    @property
    def epsilon_if_gdp(self) -> float:
        """The epsilon at `delta` of a Gaussian mechanism with `mu_lower_bound`: a bound only if the mechanism's curve is some G_mu."""
        return float(GaussianTradeOff(self.mu_lower_bound).epsilon(self.delta))

    def plot(self) -> Figure:
        """Draw the curve with its band, and a promised one dashed; returns the new figure.

        Raises:
            ValueError: for one run, whose canaries are not independent: there is no band.
        """
        if self.curve is None:
            raise ValueError(
                'design is "one-run", whose scores are not independent; there is no band to draw'
            )
        return self.curve.plot(self.claim)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the curve as plain data: numbers, text, lists and None."""
        return {
            "design": self.design,
            "assumes": DESIGNS[self.design],
            "confidence": self.confidence,
            "scores": {"in": self.in_scores, "out": self.out_scores, "used": self.used},
            "clusters": self.clusters,
            "mu_lower_bound": self.mu_lower_bound,
            "epsilon_lower_bound": self.epsilon_lower_bound,
            "delta": self.delta,
            "epsilon_if_gdp": self.epsilon_if_gdp,
            "advantage_lower_bound": self.advantage_lower_bound,
            "eta_lower_bound": self.eta_lower_bound,
            "gap_lower_bound": self.gap_lower_bound,
            "guesses": [{"in": one.inside, "out": one.outside, "right": one.right} for one in self.guesses],
            "claim": self.promise or None,
            "verdict": None if self.verdict is None else str(self.verdict),
            "says": self.says or None,
            "higher_is_in": self.higher_is_in,
            "source": self.source or None,
            "sha256": self.digest or None,
        }

    def _title(self) -> str:
        judged = "" if self.verdict is None else f"{self.verdict}: {self.promise}, by an "
        return f"{judged}audit of {self.in_scores + self.out_scores:,} scores, design {self.design}, confidence {self.confidence:.9g}"

    def _lines(self) -> list[tuple[str, str]]:
        lines = [
            ("assumes", DESIGNS[self.design]),
            ("scores", f"{self.in_scores:,} in, {self.out_scores:,} out"),
        ]
        if self.clusters is not None:
            lines.append(("clusters", f"{self.clusters:,}; one score of each is judged"))
        if not self.higher_is_in:
            lines.append(
                ("order", 'scores of the world "in" are mostly lower; higher counts as "in" (negate losses)')
            )
        if self.guesses:
            lines.append(("guesses", self._guessed()))
        lines += [
            ("mu", f"at least {down(self.mu_lower_bound)}"),
            ("epsilon", f"at least {down(self.epsilon_lower_bound)} at delta = {self.delta:g}"),
            ("", f"(if the curve is some G_mu, at least {down(self.epsilon_if_gdp)})"),
        ]
        if self.advantage_lower_bound is not None and self.eta_lower_bound is not None:
            lines.append(("advantage", f"at least {down(self.advantage_lower_bound)}"))
            lines.append(("eta", f"at least {down(self.eta_lower_bound)}"))
        if self.curve is not None:
            low, high = self.curve.auc_interval()
            lines.append(("AUC", f"[{low:.4g}, {high:.4g}], from the simultaneous band of the curve"))
        if self.verdict is not None:
            lines.append(("promised", self.promise))
            lines.append(("verdict", f"{self.verdict}: {self.says}"))
        return lines

    def _guessed(self) -> str:
        best = max(self.guesses, key=lambda one: (one.right - one.number / 2.0) / math.sqrt(one.number))
        tried = (
            "fixed beforehand"
            if len(self.guesses) == 1
            else f"one of {len(self.guesses)} numbers of guesses tried and paid for"
        )
        return (
            f'{best.right:,} of {best.number:,} right ({best.inside:,} "in", {best.outside:,} "out"), {tried}'
        )

    def _html_picture(self) -> str:
        if self.curve is None:
            return ""
        picture = inline_png(self.curve, self.claim)
        return f'<img alt="trade-off curve with its band" src="data:image/png;base64,{picture}">'


def down(bound: float) -> str:
    """A lower bound with four digits, rounded down.

    Examples:
        >>> down(0.99999), down(12.3456), down(0.0), down(1e-7)
        ('0.9999', '12.34', '0', '0')
    """
    if bound == math.inf:
        return "inf"
    digits = 4 if bound < 1.0 else max(0, 3 - int(math.log10(bound)))
    return f"{math.floor(bound * 10**digits) / 10**digits:.10g}"


def audit(
    scores: object,
    member: object = None,
    *,
    design: str,
    cluster: object = None,
    claim: AbstractTradeOff | str | None = None,
    confidence: float = CONFIDENCE,
    delta: float | None = None,
    guesses: tuple[int, int] | None = None,
) -> Audit:
    """Bound from below what scores of any attack show to leak, and hold a promised guarantee against them.

    The design is how the scores came about, which they cannot tell themselves:

    - "independent": each score is of a game of its own. One-sided bounds calibrated over all thresholds for every law of the
      scores, `mipsim.bands.family_lower_bound`, and a simultaneous band.
    - "one-run": the scores are of canaries of one training run, each put in by a fair coin; `member` holds the coins.
      `mipsim.audits.one_run.OneRun`.
    - "clustered": `cluster` says which scores hang together; one of each cluster is judged as independent,
      `mipsim.audits.clusters.one_a_cluster`.

    A claim is refuted where what is promised lies below the bound (mu, epsilon), or the curve of the attack below the promised one.
    No claim is confirmed.

    Args:
        scores: higher = "in", shape (n,), n >= 100; or the path of a .npz or .csv file, see `mipsim.audits.scores.read_scores`.
        member: 1 for the world "in", 0 for "out", shape (n,); None where `scores` is a file.
        design: "independent", "one-run" or "clustered".
        cluster: names of clusters, shape (n,), for the design "clustered".
        claim: a trade-off function that bounds every attack, out against in; or text, "mu=1", "epsilon=2,delta=1e-5" or the path
            of a .csv file with the columns alpha and beta.
        confidence: of each bound and of the verdict, in (0, 1); below 1 - 2e-9 but for one run.
        delta: at which epsilon is bounded, in [0, 1]; by default that of the claim, or 1e-5.
        guesses: for one run, how many of the highest scores are guessed "in" and of the lowest "out", fixed before
            the scores; by default `mipsim.audits.one_run.guess_plan`.

    Raises:
        ValueError: one sentence that names the argument or the file, and what is allowed.

    Source: Steinke, Nasr, Jagielski (2023) and Mahloujifar, Melis, Chaudhuri (2025) for one run.

    Examples:
        >>> import mipsim as mi, numpy as np
        >>> rng = np.random.default_rng(1)
        >>> coins = rng.random(1000) < 0.5
        >>> found = mi.audit(rng.normal(size=1000) + 3.0 * coins, coins, design="one-run", claim="epsilon=1,delta=1e-6")
        >>> found.verdict, found.epsilon_lower_bound > 1.0
        (<Verdict.REFUTED: 'REFUTED'>, True)
        >>> mi.audit([0.1] * 100, [0, 1] * 50, design="independent")
        Traceback (most recent call last):
        ...
        ValueError: scores all equal 0.1; a constant score tells nothing about any world
    """
    one_of("design", design, tuple(DESIGNS))
    level = number("confidence", confidence, 0.0, 1.0, low_open=True, high_open=True)
    if guesses is not None and design != "one-run":
        raise ValueError(f'guesses is given for the design {design!r}; only "one-run" counts guesses')
    promised = read_claim(claim) if isinstance(claim, str) else claim
    if not (promised is None or isinstance(promised, AbstractTradeOff)):
        raise ValueError(
            f"claim is {type(promised).__name__}; it must be a trade-off function or text such as 'mu=1'"
        )
    at = _delta(delta, promised)
    if isinstance(scores, (str, os.PathLike)):
        if member is not None or cluster is not None:
            raise ValueError("member or cluster is given beside a file of scores; the file must hold them")
        known = read_scores(scores)
    else:
        known = Scores.of(scores, member, cluster)
    _agrees(known, design)
    judged = one_a_cluster(known) if design == "clustered" else known
    promise = "" if promised is None else claim if isinstance(claim, str) else words(promised)
    if design == "one-run":
        run = OneRun(known, 1.0 - level, guesses)
        curve, mu, epsilon, advantage = None, run.mu(), run.epsilon(at), None
    else:
        run = None
        curve = EmpiricalTradeOff.from_scores(
            out_scores=judged.values[~judged.member], in_scores=judged.values[judged.member], confidence=level
        )
        mu, epsilon, advantage = (
            curve.mu_lower_bound(),
            curve.epsilon_lower_bound(at),
            curve.advantage_lower_bound(),
        )
    gap, verdict, says = _verdict(promised, mu, epsilon, curve, run)
    return Audit(
        design=design,
        confidence=level,
        delta=at,
        in_scores=int(known.member.sum()),
        out_scores=int((~known.member).sum()),
        clusters=known.clusters if design == "clustered" else None,
        used=judged.values.size,
        mu_lower_bound=mu,
        epsilon_lower_bound=epsilon,
        advantage_lower_bound=advantage,
        gap_lower_bound=gap,
        curve=curve,
        guesses=() if run is None else tuple(run.guesses),
        claim=promised,
        promise=promise,
        verdict=verdict,
        says=says,
        source=known.source,
        digest=known.digest,
        higher_is_in=bool(known.values[known.member].mean() >= known.values[~known.member].mean()),
    )


def _delta(delta: float | None, claim: AbstractTradeOff | None) -> float:
    own = claim.at_delta if isinstance(claim, ApproxDPTradeOff) else None
    if delta is None:
        return DELTA if own is None else own
    at = number("delta", delta, 0.0, 1.0)
    if own is not None and at != own:
        raise ValueError(
            f"delta is {at:g} and the claim's is {own:g}; a claim of epsilon is judged at its own delta"
        )
    return at


def _agrees(scores: Scores, design: str) -> None:
    """Raise ValueError where what is known of the scores contradicts the design."""
    where = f"{scores.source}: " if scores.source else ""
    if design == "clustered":
        if scores.cluster is None:
            raise ValueError(
                f'{where}it has no cluster; design "clustered" needs to know which cluster each score is in'
            )
        return
    if scores.cluster is not None and scores.clusters < scores.values.size:
        raise ValueError(
            f'{where}{scores.values.size:,} scores are in {scores.clusters:,} clusters, which design "{design}" contradicts; '
            'design "clustered" is for them'
        )
    if design == "one-run" and scores.source and scores.column != "coin":
        raise ValueError(
            f'{where}it has no coin; design "one-run" needs the fair coin that put each canary in (1) or left it out (0)'
        )


def _verdict(
    claim: AbstractTradeOff | None,
    mu: float,
    epsilon: float,
    curve: EmpiricalTradeOff | None,
    run: OneRun | None,
) -> tuple[float | None, Verdict | None, str]:
    """(gap to a promised curve, verdict, sentence)."""
    gap = None
    if claim is None:
        return None, None, ""
    if isinstance(claim, GaussianTradeOff):
        refuted, why = mu > claim.mu, f"mu is at least {down(mu)}"
    elif isinstance(claim, ApproxDPTradeOff):
        refuted, why = (
            epsilon > claim.at_epsilon,
            f"epsilon is at least {down(epsilon)} at delta = {claim.at_delta:g}",
        )
    elif run is not None:
        refuted, why = run.refutes(claim), "guesses about the canaries are right more often than it allows"
    else:
        assert curve is not None
        gap = curve.gap_lower_bound(claim)
        refuted, why = gap > NUMERICAL_FLOOR, f"the attack passes below it by at least {down(gap)} probits"
    return gap, Verdict.REFUTED if refuted else Verdict.INCONCLUSIVE, why if refuted else _NEVER
