"""How a run is counted: the printed statements by what is wrong with them, the corrections apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from verify.claim import Verdict
from verify.claim_result import ClaimResult, Defect

MEANINGS = {
    Defect.FORMULA: "wrong at the paper's own setting, or in most of its domain",
    Defect.CONDITION: "right with a condition that the paper does not state",
    Defect.WORDING: "a slip of the pen that another line of the paper has right",
    Defect.READING: "false under some readings, right under another",
}
UNCLASSIFIED = "no class"
NOT_JUDGED = "not judged"


def standing(result: ClaimResult) -> str:
    """Return the verdict in a word or two, with the defect of what is refuted.

    Examples:
        >>> from verify.claim import Claim, Kind
        >>> claim = Claim("c", "paper", "x = x", Kind.EXACT, 0.0, "relative", {}, (), lambda: None)
        >>> standing(ClaimResult(claim, Verdict.INCONCLUSIVE, (), 0.0, 0.0))
        'INCONCLUSIVE'
    """
    if not result.judged:
        return NOT_JUDGED
    if result.verdict is Verdict.REFUTED and result.claim.corrects is None:
        return f"REFUTED: {result.defect or UNCLASSIFIED}"
    return str(result.verdict)


def tally(results: Sequence[ClaimResult]) -> dict[str, dict[str, int]]:
    """Count "printed statements" and "corrections" by `standing`, the good news first; only what occurs.

    Examples:
        >>> tally([])
        {}
    """
    order = ["CONFIRMED", *(f"REFUTED: {defect}" for defect in Defect), f"REFUTED: {UNCLASSIFIED}", "REFUTED"]
    order += ["INCONCLUSIVE", NOT_JUDGED]
    found: dict[str, dict[str, int]] = {}
    for name, printed in (("printed statements", True), ("corrections", False)):
        counts = Counter(standing(r) for r in results if (r.claim.corrects is None) is printed)
        if counts:
            found[name] = {word: counts[word] for word in order if counts[word]}
    return found


def sentence(results: Sequence[ClaimResult]) -> str:
    """Write the tally on one line.

    Examples:
        >>> sentence([])
        'none'
    """
    groups = []
    for name, counts in tally(results).items():
        amount = sum(counts.values())
        word = name if amount != 1 else name.removesuffix("s")
        groups.append(f"{amount} {word} ({', '.join(f'{count} {word}' for word, count in counts.items())})")
    return "; ".join(groups) or "none"
