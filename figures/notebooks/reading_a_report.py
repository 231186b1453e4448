# %% [markdown]
# # Reading a report
#
# `python -m verify` judges 168 statements of four papers and beyond, and writes one page with the data beside it. Here is a page with
# two statements: what a theorem says of the mean of half of the records, drawn at random, and what is right.

# %%
import json
from pathlib import Path
from tempfile import mkdtemp

import mipsim as mi
from mipsim import referee as rf

printed = rf.Statement(
    name="half-drawn",
    says="In the limit, the optimal attack on a random half has the curve of a shift by the root of half the leakage.",
    source="a theorem, as printed",
    kind=rf.Equality(tolerance=0.01),
    domain={"m": rf.Real(0.1, 20.0, log=True)},
    claimed=lambda m: mi.GaussianTradeOff((m / 2) ** 0.5),
    truth=lambda m: mi.MixtureTradeOff(mi.GaussianTradeOff((2 * m) ** 0.5), 0.5),
    formula=r"\mathrm{Pow} \to \Phi(\Phi^{-1}(\alpha) + \sqrt{m / 2})",
)
corrected = printed.corrected(
    says="It is a mixture: with probability 1/2 the target is not drawn, and the attacker can only guess.",
    claimed=lambda m: mi.MixtureTradeOff(mi.GaussianTradeOff((2 * m) ** 0.5), 0.5),
    formula=r"\mathrm{Pow} \to \frac{1}{2} \Phi(\Phi^{-1}(\alpha) + \sqrt{2 m}) + \frac{\alpha}{2}",
)

# %%
results = [rf.judge(item, seed=0) for item in (printed, corrected)]
results[0]

# %% [markdown]
# A verdict has three parts. CONFIRMED: at every judged point, which is never a proof. REFUTED: at some point, beyond the proven error or
# with the stated failure probability. INCONCLUSIVE: the evidence decides neither. The gap is the largest distance between the two
# curves in probits: how much stronger (above 0) or weaker the attacker is than claimed.

# %%
for one in results:
    print(one.statement.name, one.verdict, one.point, round(one.gap, 4), one.interval)

# %% [markdown]
# The page has the formula, the counterexample, the command that judges it again, and a map of where the statement holds. The same is in
# the data, for programs.

# %%
page = rf.report(results, Path(mkdtemp()))
data = json.loads((page.parent / "results.json").read_text("utf-8"))
print([(record["statement"]["name"], record["verdict"], record["defect"]) for record in data])

# %% [markdown]
# To try next: open the page in a browser; `python -m verify azize-thm-4.2 --out report` for the theorem itself.
