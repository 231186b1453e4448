"""What an audit has shown, and how it shows itself."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mipsim._printed import Printed, at_least, shown
from mipsim._verdict import Verdict
from mipsim._version import __version__
from mipsim.audits.designs import DESIGNS
from mipsim.audits.one_run import DOUBTFUL_COINS, Exchange, Guesses
from mipsim.bands.drawing import picture, with_claim
from mipsim.bands.empirical_tradeoff import EmpiricalTradeOff
from mipsim.tradeoff import GaussianTradeOff
from mipsim.tradeoff.base import AbstractTradeOff

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FPRS = (1e-4, 1e-3, 0.01, 0.02, 0.05, *(round(0.1 * k, 1) for k in range(1, 10)))
"""At which the band is written as data."""
# share of the failure probability from which what delta costs weakens the bound of epsilon
_NOT_FAR_BELOW = 0.1
_KEYS = (
    *("design", "assumes", "confidence", "holds", "scores", "clusters", "runs", "records", "shadow_runs"),
    *("judged", "mu_lower_bound", "epsilon_lower_bound", "delta", "delta_lower_bound", "epsilon"),
    *("epsilon_if_gdp", "why_no_epsilon_if_gdp", "advantage_lower_bound", "eta_lower_bound"),
    *("gap_lower_bound", "band", "tpr", "guesses", "inclusion_probability", "coin_p_value", "claim"),
    *("verdict", "says", "decides", "version", "higher_is_in", "order", "read_as", "source", "sha256"),
)
"""Of an audit as plain data."""
EACH = "each bound, and the verdict, by itself at this confidence; several together fail with at most the sum of their failure probabilities"
"""What the confidence is of."""
_OTHER_SIGN = (
    'BUT scores of the world "in" mostly speak for "out": does higher= say what is true? A sign chosen after the scores '
    "were seen makes two audits, each at half of the failure probability"
)
_FEWER = (
    "(canaries x delta / (1 + e^epsilon) = {:.2g} is not far below the failure probability {:.2g}: fewer canaries, "
    "or a smaller delta, may show a larger epsilon)"
)


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Printed):
    """What scores show of a mechanism: lower bounds of what leaks, and whether they refute a promised guarantee.

    Each bound is one-sided and holds with `confidence` by itself; so does the verdict. Choosing among thresholds, or among numbers
    of guesses, is paid for in each.

    Attributes:
        design: "independent", "one-run", "runs" or "clustered".
        confidence: in [0.5, 1).
        delta: at which epsilon is bounded.
        in_scores, out_scores: how many scores there are of each world.
        clusters: how many independent clusters, or None.
        runs: how many training runs or games, as stated; None where nothing was stated.
        records: how many records of several runs, or None.
        shadow_runs: how many of the runs only calibrate.
        exchange: what is guessed about; None where thresholds are judged.
        used: how many scores decide: all, a single score of each cluster, or those whose coins are as fair ones; or how many pairs.
        mu_lower_bound: the mechanism is not mu-GDP for any mu below this.
        epsilon_lower_bound: it is not (epsilon, delta)-DP for any epsilon below this.
        epsilon: at which delta is bounded, or None.
        delta_lower_bound: it is not (epsilon, delta)-DP for any delta below this; None without an epsilon, and as for the advantage.
        advantage_lower_bound: some test has at least this TPR - FPR; None where coins are guessed, which cannot tell: a mechanism that gives
            everything away with probability v, and else nothing, has advantage v and in a single run all guesses right, or none.
        gap_lower_bound: how far the attack passes below a promised curve, in probits; None without such a promise.
        curve: the trade-off curve with its simultaneous band, whose thresholds are normal quantiles of ranks; None for the design "one-run".
        guesses: what was guessed about the canaries of a single run; empty for the others.
        deciding_guesses: those behind the bounds of "mu" and "epsilon"; a bound of 0 has none.
        inclusion_probability: with which each canary of a single run was put in; None for the others.
        coin_p_value: the probability that such coins give a number of members as far off; None for the others.
        claim: the promised guarantee, or None.
        promise: the same in words.
        verdict: REFUTED or INCONCLUSIVE, never CONFIRMED: scores cannot confirm a guarantee; None without a claim.
        says: the verdict in a sentence.
        source, digest: file of the scores, from the working folder or by its name alone, and its SHA-256; "" for arrays.
        histogram: (edges of bins, scores "out" in each, scores "in"), in the unit of the scores; by rank where some are infinite.
        decides: (FPR, FNR) at the threshold that speaks most clearly against the claim, or for a leak; None where coins are guessed.
        read_as: what the file or frame was recognised as, and which columns were read; "" for arrays.
        order: which scores count as "in", and who says so.
        higher_is_in: whether members' scores are mostly the higher ones, as an audit takes them to be.

    Examples:
        >>> import mipsim as mi, numpy as np
        >>> rng = np.random.default_rng(0)
        >>> member = np.repeat([0, 1], 5000)
        >>> result = mi.audit(rng.normal(size=10_000) + member, member, design="independent", runs=10_000, claim="mu=0.5", confidence=0.95)
        >>> result.verdict, round(result.mu_lower_bound, 1)
        (<Verdict.REFUTED: 'REFUTED'>, 0.9)
    """

    design: str
    confidence: float
    delta: float
    in_scores: int
    out_scores: int
    used: int
    mu_lower_bound: float
    epsilon_lower_bound: float
    histogram: tuple[tuple[float, ...], tuple[int, ...], tuple[int, ...]]
    higher_is_in: bool
    order: str
    source: str = ""
    digest: str = ""
    read_as: str = ""
    clusters: int | None = None
    runs: int | None = None
    records: int | None = None
    shadow_runs: int = 0
    exchange: Exchange | None = None
    epsilon: float | None = None
    delta_lower_bound: float | None = None
    advantage_lower_bound: float | None = None
    gap_lower_bound: float | None = None
    curve: EmpiricalTradeOff | None = None
    guesses: tuple[Guesses, ...] = ()
    deciding_guesses: dict[str, Guesses] = field(default_factory=dict)
    inclusion_probability: float | None = None
    coin_p_value: float | None = None
    claim: AbstractTradeOff | None = None
    promise: str = ""
    verdict: Verdict | None = None
    says: str = ""
    decides: tuple[float, float] | None = None

    @property
    def judged(self) -> str:
        """What guesses are about, such as "canaries" or "pairs of a run with a record and a run without"; "scores" where none is made."""
        return "scores" if self.exchange is None else self.exchange.words

    @property
    def eta_lower_bound(self) -> float | None:
        """Some test guesses the world right with probability at least 1/2 + this: half of the advantage."""
        return None if self.advantage_lower_bound is None else 0.5 * self.advantage_lower_bound

    @property
    def epsilon_if_gdp(self) -> float | None:
        """The epsilon at `delta` of a Gaussian mechanism with `mu_lower_bound`, rounded down: a bound only if the mechanism's curve is some G_mu.

        None at delta = 0, where no G_mu but G_0 has an epsilon.
        """
        if self.delta == 0.0:
            return None
        return min(float(GaussianTradeOff(self.mu_lower_bound).epsilon_bounds(self.delta)[0]), 700.0)

    def tpr_intervals(self, fprs: Sequence[float] = (1e-3, 0.01, 0.1)) -> list[tuple[float, float, float]]:
        """(FPR, lower, upper end of this attack's TPR there): all intervals of the band hold at once with `confidence`.

        Raises:
            ValueError: for the design "one-run", which has no band.
        """
        low, high = self._independent("it has no TPR at an FPR").band(list(fprs))
        return [(fpr, 1.0 - float(b), 1.0 - float(a)) for fpr, a, b in zip(fprs, low, high, strict=True)]

    def _independent(self, lacks: str) -> EmpiricalTradeOff:
        if self.curve is None:
            raise ValueError(f'design is "{self.design}", whose scores are not independent; {lacks}')
        return self.curve

    def plot(self) -> Figure:
        """Plot the curve with its band, and a promised curve dashed; returns the new figure.

        Raises:
            ValueError: for the design "one-run", whose canaries are not independent: there is no band.
        """
        return self._independent("there is no band to draw").plot(self.claim)

    def report(self, folder: str | os.PathLike[str], about: Mapping[str, str] | None = None) -> Path:
        """Write a page and a JSON file that say all of this to a reader who was not there; returns the path of the page.

        Args:
            folder: made if need be; holds `index.html`, which needs nothing beside it, and `results.json`.
            about: what was trained and how, such as {"model": "ResNet-18", "trained by": "Opacus 1.5, noise 1.0"}.

        Raises:
            ValueError: if the folder cannot be written, or `about` holds what is no text.

        Examples:
            >>> import tempfile, mipsim as mi
            >>> result = mi.audit(list(range(200)), [0] * 100 + [1] * 100, design="independent", runs=200)
            >>> result.report(tempfile.mkdtemp(), {"model": "none"}).name
            'index.html'
        """
        from mipsim.referee.reporting.audit_page import report_audit

        return report_audit(self, folder, about)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, numbers, text, lists and None; of the curve its simultaneous band at `FPRS`."""
        verdict, decides = self.verdict, self.decides
        made: dict[str, Any] = {
            "assumes": DESIGNS[self.design].assumes,
            "holds": EACH,
            "scores": {"in": self.in_scores, "out": self.out_scores, "used": self.used},
            "why_no_epsilon_if_gdp": None if self.delta > 0.0 else "no Gaussian mechanism is (epsilon, 0)-DP",
            "band": None,
            "tpr": None,
            "guesses": [{"in": x.inside, "out": x.outside, "right": x.right} for x in self.guesses],
            "claim": self.promise or None,
            "verdict": None if verdict is None else str(verdict),
            "says": self.says or None,
            "decides": None if decides is None else dict(zip(("fpr", "fnr"), decides, strict=True)),
            "version": __version__,
            "read_as": self.read_as or None,
            "source": self.source or None,
            "sha256": self.digest or None,
        }
        if self.curve is not None:
            low, high = (end.tolist() for end in self.curve.band(FPRS))
            made["band"] = {"fpr": list(FPRS), "fnr_low": low, "fnr_high": high}
            made["tpr"] = [{"fpr": fpr, "low": low, "high": high} for fpr, low, high in self.tpr_intervals()]
        return {key: made[key] if key in made else getattr(self, key) for key in _KEYS}

    def _title(self) -> str:
        judged = "" if self.verdict is None else f"{self.verdict}: {self.promise}, by an "
        return f"{judged}audit of {self.in_scores + self.out_scores:,} scores, design {self.design}, confidence {self.confidence:.9g}"

    def _lines(self) -> list[tuple[str, str]]:
        total = f"{self.in_scores:,} of members (in), {self.out_scores:,} of non-members (out)"
        lines = [("assumes", DESIGNS[self.design].assumes), ("holds", EACH), ("scores", total)]
        if self.read_as:
            lines.append(("read as", self.read_as))
        lines.append(("order", self.order))
        if self.records is not None:
            lines.append(("runs", self._runs(self.records)))
        elif self.runs is not None:
            lines.append(("runs", f"{self.runs:,} training runs or games"))
        if self.clusters is not None:
            lines.append(("clusters", f"{self.clusters:,}; a single score of each is judged"))
        if not self.higher_is_in:
            lines.append(("", _OTHER_SIGN))
        if self.inclusion_probability is not None and self.coin_p_value is not None:
            lines.append(("coins", self._coins(self.inclusion_probability, self.coin_p_value)))
        if self.guesses:
            tried = f"{len(self.guesses)} numbers of guesses were tried and paid for"
            lines.append(("guesses", tried if len(self.guesses) > 1 else "their number was fixed beforehand"))
        epsilon = f"{at_least(self.epsilon_lower_bound)} at delta = {self.delta:g}{self._by('epsilon')}"
        lines += [("mu", f"{at_least(self.mu_lower_bound)}{self._by('mu')}"), ("epsilon", epsilon)]
        if (gaussian := self.epsilon_if_gdp) is not None:
            lines.append(("", f"(only if the mechanism's curve is Gaussian: {at_least(gaussian)})"))
        if self.delta_lower_bound is not None:
            lines.append(("delta", f"{at_least(self.delta_lower_bound, 3)} at epsilon = {self.epsilon:g}"))
        risk = 1.0 - self.confidence
        paid = self.used * self.delta / (1.0 + math.exp(self.epsilon_lower_bound))
        if self.guesses and paid > _NOT_FAR_BELOW * risk:
            lines.append(("", _FEWER.format(paid, risk)))
        advantage, eta = self.advantage_lower_bound, self.eta_lower_bound
        if self.curve is not None and advantage is not None and eta is not None:
            lines.append(("advantage", at_least(advantage)))
            lines.append(("eta", at_least(eta)))
            for fpr, low, high in self.tpr_intervals():
                tpr = f"{shown((low, high))}, equal scores by lot; these intervals hold together"
                lines.append((f"TPR at FPR {fpr:g}", tpr))
            lines.append(("AUC", f"{shown(self.curve.auc_interval())}, by itself at this confidence"))
        if self.verdict is not None:
            lines += [("promised", self.promise), ("verdict", f"{self.verdict}: {self.says}")]
        return lines

    def _runs(self, records: int) -> str:
        shadow = f", {self.shadow_runs:,} of them to calibrate" if self.shadow_runs else ""
        return f"{self.runs:,}{shadow}, of {records:,} records; {self.used:,} {self.judged} are judged"

    def _coins(self, probability: float, p_value: float) -> str:
        total = self.in_scores + self.out_scores
        fewer = "" if self.used == total else f"; {self.used:,} canaries remain, as if by fair coins"
        doubt = ", SO DOUBTFUL" if p_value <= DOUBTFUL_COINS else ""
        nearest = abs(self.in_scores - probability * total) < 1.0
        fixed = "; their number may have been fixed, which is paid for" if nearest else ""
        return f"in with probability {probability:g} (p-value {p_value:.2g}{doubt}){fewer}{fixed}"

    def _by(self, bound: str) -> str:
        """The guesses behind a bound."""
        if (by := self.deciding_guesses.get(bound)) is None:
            return ""
        return f', by {by.right:,} of {by.number:,} guesses right ({by.inside:,} "in", {by.outside:,} "out")'

    def _html_picture(self) -> str:
        if self.curve is None:
            return ""
        return picture(with_claim(self.curve, self.claim), "trade-off curve with its band")
