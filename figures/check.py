"""Compare plotted figures with the papers' own numbers and formulas: `python -m figures --check`.

Each row of `reported.toml` is a panel and how it is compared:

- "formula": a column of the CSV against the paper's formula, evaluated here with SciPy alone, to 1e-6;
- "band": at every point, the theory's column lies inside the simultaneous band of the played curve;
- "number": a single cell, or the mean or the least of a column, against a number that the paper prints or that was read off its figure;
- "distance": the largest distance between two plotted curves, against what a plot shows;
- "order": TPRs at a single FPR, which the paper says rise from curve to curve;
- "loss": the gap of two curves in a panel, which the paper says is larger than in another panel;
- "gain": what curves gain in TPR at a single FPR over those of another figure; the paper says whether a plot shows it;
- "drawing": nothing to compare.

A row with `stand_in` has other data or a smaller size than the paper: its numbers are shown and not judged.
"""

import csv
import gzip
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import chi2, ncx2, norm
from scipy.stats import t as student

Cells = dict[str, str]
EXACT = 1e-6
NUMBER, SENTENCE, OWN = "the authors' number", "the authors' sentence", "our second computation"
AGAINST = {"number": NUMBER, **dict.fromkeys(("distance", "order", "loss", "gain"), SENTENCE)}
REPORTED: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("reported.toml").read_text("utf-8"))[
    "row"
]


@dataclass(frozen=True)
class Checked:
    """A panel beside what the paper has."""

    # figure, panel: which; an empty panel is the whole figure
    figure: str
    panel: str
    what: str  # is compared
    verdict: str  # "AGREES", "DIFFERS", "STAND-IN", "DRAWING" or "NO RESULT"
    says: str  # both numbers, or how far they are apart
    reason: str  # why it differs, or what may explain it ("unsettled"); of a stand-in, in what
    source: str
    compares: bool  # whether there is a number or a curve to compare; a sketch or a table of words has none
    # "the authors' number", "the authors' sentence", or, for a formula or a theory that is computed here, "our second computation"
    against: str

    @property
    def unexplained(self) -> bool:
        """Whether it differs and `reported.toml` says nothing of why."""
        return self.verdict == "DIFFERS" and not self.reason

    def record(self) -> dict[str, str | bool]:
        """The same as plain data."""
        return asdict(self)


def check(folder: Path, names: Sequence[str]) -> list[Checked]:
    """Compare the figures of these names that are plotted in the folder, in the order of `reported.toml`."""
    return [
        _checked(row, folder / f"{row.get('file', row['figure'])}.csv")
        for row in REPORTED
        if row["figure"] in names
    ]


def _checked(row: dict[str, Any], file: Path) -> Checked:
    panel, stand_in = str(row.get("panel", "")), row.get("stand_in", "")
    before = file.with_name(f"{row['over']}.csv") if "over" in row else file
    if not all(table.exists() or _compressed(table).exists() for table in (file, before)):
        verdict, says = "NO RESULT", ""
    elif row["how"] == "drawing":
        verdict, says = "DRAWING", ""
    else:
        cells = _cells(file, panel, row.get("where", {}))
        if "over" in row:
            cells += [cell | {"figure": row["over"]} for cell in _cells(before, panel, row["where"])]
        agrees, says = _WAYS[row["how"]](row, cells) if cells else (False, "the figure lacks these numbers")
        verdict = "NO RESULT" if not cells else "STAND-IN" if stand_in else "AGREES" if agrees else "DIFFERS"
    reason = {"STAND-IN": stand_in, "DIFFERS": row.get("reason", "")}.get(verdict, "")
    return Checked(
        row["figure"],
        panel,
        row["what"],
        verdict,
        says,
        reason,
        row["source"],
        row["how"] != "drawing",
        AGAINST.get(row["how"], OWN),
    )


def opened(file: Path) -> TextIO:
    """A table of plotted numbers as text: the CSV, else its compressed copy NAME.csv.gz."""
    if file.exists():
        return file.open(encoding="utf-8", newline="")
    return gzip.open(_compressed(file), "rt", encoding="utf-8", newline="")


def _compressed(file: Path) -> Path:
    return file.with_name(f"{file.name}.gz")


def _cells(file: Path, panel: str, where: dict[str, Any]) -> list[Cells]:
    """The rows of a CSV under its caption, of a single panel and with these words in these columns."""
    with opened(file) as stream:
        stream.readline()
        rows = list(csv.DictReader(stream))
    some = [row for row in rows if not panel or row.get("panel", panel) == panel]
    return [
        row
        for row in some
        if all(row[name] in (word if isinstance(word, list) else [word]) for name, word in where.items())
    ]


def _formula(row: dict[str, Any], cells: list[Cells]) -> tuple[bool, str]:
    route = FORMULAS[row["formula"]]
    off = [
        abs(float(cell[row["column"]]) - value) / max(1.0, abs(value))
        for cell in cells
        if (value := route(cell)) is not None
    ]
    worst = max(off, default=np.inf)
    return worst <= row.get("accuracy", EXACT), f"off by at most {worst:.1e} at {len(off):,} points"


def _band(row: dict[str, Any], cells: list[Cells]) -> tuple[bool, str]:
    column = row.get("column", "theory")
    outside = [
        max(float(cell["band_low"]) - value, value - float(cell["band_high"]), 0.0)
        for cell in cells
        if cell["band_low"] and cell[column] and (value := float(cell[column])) == value
    ]
    if not outside:
        return False, "no point has a band"
    inside, all_points = sum(gap == 0.0 for gap in outside), len(outside)
    if inside == all_points:
        return True, f"inside the band at all {inside:,} points"
    return (
        False,
        f"inside the band at {inside:,} of {all_points:,} points, at most {max(outside):.2g} outside",
    )


def _number(row: dict[str, Any], cells: list[Cells]) -> tuple[bool, str]:
    value, accuracy = row["value"], row["accuracy"]
    if row.get("of") == "mean":
        ours = low = high = float(np.mean([float(cell[row["column"]]) for cell in cells]))
    elif row.get("of") == "least":
        ours = low = high = min(float(cell[row["column"]]) for cell in cells)
    else:
        (cell,) = cells
        ours = float(cell[row["column"]])
        low, high = (float(cell.get(name) or ours) for name in ("band_low", "band_high"))
    text = f"{ours:.4g}" + (f" [{low:.4g}, {high:.4g}]" if high > low else "")
    return low - accuracy <= value <= high + accuracy, f"here {text}, reported {value:g} ± {accuracy:g}"


def _distance(row: dict[str, Any], cells: list[Cells]) -> tuple[bool, str]:
    first, second = (
        [float(cell[row["column"]]) for cell in cells if cell["curve"] == name] for name in row["curves"]
    )
    gap = float(np.max(np.abs(np.subtract(first, second))))
    return gap <= row["accuracy"], f"at most {gap:.2g} apart, to {row['accuracy']:g}"


def _order(row: dict[str, Any], cells: list[Cells]) -> tuple[bool, str]:
    at = {cell["curve"]: cell for cell in cells if abs(float(cell["fpr"]) / row["fpr"] - 1.0) < 0.02}
    some = [at[name] for name in row["curves"]]
    # A fall is one that bands do not explain.
    falls = any(float(b["band_high"]) < float(a["band_low"]) for a, b in pairwise(some))
    numbers = ", ".join(f"{float(cell['tpr']):.3g}" for cell in some)
    return not falls, f"TPR at FPR {row['fpr']:g}: {numbers}"


def _loss(row: dict[str, Any], cells: list[Cells]) -> tuple[bool, str]:
    def gaps(panel: str) -> dict[str, float]:
        above, below = (
            {cell["x"]: float(cell["y"]) for cell in cells if (cell["panel"], cell["curve"]) == (panel, name)}
            for name in row["curves"]
        )
        return {x: above[x] - below[x] for x in above}

    least, most = (gaps(panel) for panel in row["panels"])
    smaller = [x for x in least if most[x] < least[x]]
    return not smaller, f"larger at {len(least) - len(smaller)} of {len(least)} noises, smaller at the others"


def _gain(row: dict[str, Any], cells: list[Cells]) -> tuple[bool, str]:
    def at(some: list[Cells]) -> np.ndarray:
        def nearest(curve: str) -> Cells:
            own = (cell for cell in some if cell["curve"] == curve)
            return min(own, key=lambda cell: abs(float(cell["fpr"]) - row["fpr"]))

        return np.array([float(nearest(curve)["tpr"]) for curve in row["where"]["curve"]])

    before, after = (at([cell for cell in cells if ("figure" in cell) is first]) for first in (True, False))
    gains = after - before
    half = float(student.isf(0.025, gains.size - 1) * gains.std(ddof=1) / np.sqrt(gains.size))
    gain, line = float(gains.mean()), row["accuracy"]
    says = (
        f"mean TPR at FPR {row['fpr']:g}: {before.mean():.3f}, then {after.mean():.3f}; gain {gain:+.4f} [{gain - half:+.4f}, {gain + half:+.4f}] "
        f"over {gains.size} models, where a plot shows {line:g}"
    )
    return (gain > line) is row["seen"], says


_WAYS: dict[str, Callable[[dict[str, Any], list[Cells]], tuple[bool, str]]] = {
    "formula": _formula,
    "band": _band,
    "number": _number,
    "distance": _distance,
    "order": _order,
    "loss": _loss,
    "gain": _gain,
}


def _folded(a: float, mu: float, d: float) -> float:
    """FNR of the test of |x| in d dimensions that knows the length mu of the shift and not its direction."""
    if a in (0.0, 1.0):
        return 1.0 - a
    return float(ncx2.cdf(chi2.isf(a, d), d, mu * mu))


def _shifted(a: float, mu: float) -> float:
    return float(norm.cdf(norm.isf(a) - mu))


def _laplace_folded(a: float, mu: float) -> float:
    """FNR of |x| > t for Laplace noise: the likelihood ratio of +-mu rises in |x| up to mu and is flat beyond."""
    if a == 0.0:
        return 1.0
    t = -np.log(a)
    near = np.exp(-mu) * np.sinh(t)
    return float(near if t <= mu else 1.0 - np.exp(-t) * np.cosh(mu))


def _laplace_shifted(a: float, mu: float) -> float:
    edge = 0.5 * np.exp(-mu)
    if a < edge:
        return 1.0 - a * np.exp(mu)
    return float(0.5 * edge / a) if a <= 0.5 else float(np.exp(-mu) * (1.0 - a))


def _kaissis_1(cell: Cells) -> float | None:
    noise, curve, mu, a = cell["noise"], cell["curve"], float(cell["mu"]), float(cell["alpha"])
    d = float(cell["d"] or 1) or 1.0
    if curve == "j":
        if noise == "Laplace":
            return _laplace_folded(a, mu)
        return _folded(a, mu, d) if noise == "Gaussian" else 0.3 * _folded(a, mu, d) + 0.7 * (1.0 - a)
    if curve == "f" and noise != "sub-sampled":
        return _laplace_shifted(a, mu) if noise == "Laplace" else _shifted(a, mu)
    return None  # inverses and convex hulls of these


def _kaissis_2(cell: Cells) -> float | None:
    x, curve, a = float(cell["x"]), cell["curve"], 1e-3
    if cell["panel"] == "a":
        mu = np.sqrt(150 * 0.2**2)
        return {"j": lambda: _folded(x, mu, 300.0), "f": lambda: _shifted(x, mu)}.get(curve, lambda: None)()
    rate = 1.0 if cell["panel"] == "b" else 0.3
    threshold = np.linspace(-9.0, x + 9.0, 40_001)
    if curve == "DPTM":
        alpha, beta = norm.sf(threshold), norm.cdf(threshold - x)
    else:
        threshold = np.abs(threshold)
        alpha, beta = 2.0 * norm.sf(threshold), norm.cdf(threshold - x) - norm.cdf(-threshold - x)
    return 1.0 - _symmetrised(a, alpha, rate * beta + (1.0 - rate) * (1.0 - alpha))


def _symmetrised(a: float, alpha: np.ndarray, beta: np.ndarray) -> float:
    """The convex hull of a curve and its inverse at a, as the largest supporting line: max over s of min(beta + s alpha) - s a."""
    x, y = np.concatenate([alpha, beta]), np.concatenate([beta, alpha])

    def below(log_slope: float) -> float:
        slope = np.exp(log_slope)
        return float(slope * a - np.min(y + slope * x))

    least: Any = minimize_scalar(below, bounds=(-20.0, 20.0), method="bounded", options={"xatol": 1e-9})
    return -float(least.fun)


def _izzo_1(cell: Cells) -> float | None:
    eta = float(cell["eta"])
    budget = np.log((1.0 + 2.0 * eta) / (1.0 - 2.0 * eta))
    return {"MIP": (6.16 / eta) ** 2, "sufficient": 2.0 / budget}.get(cell["curve"])


def _theorem_5_1(cell: Cells) -> float:
    d, n, a = float(cell["d"]), float(cell["n"]), float(cell["alpha"])
    if a in (0.0, 1.0):
        return 1.0 - a
    return float(1.0 - ncx2.cdf(n / (n - 1.0) * ncx2.ppf(a, d, n * d), d, (n - 1.0) * d))


def _corollary_5_1(cell: Cells) -> float:
    d, n = float(cell["d"]), float(cell["n"])
    return _shifted(float(cell["alpha"]), (d + (2.0 * n - 1.0) * d) / (n * np.sqrt(2.0 * d + 4.0 * n * d)))


def _table_5(d: float, clip: float, batch: float, records: float, epochs: float) -> Callable[[Cells], float]:
    """The noise tau of equation 9 at K = d, for the step's mu at which equation 10 gives that of the run."""

    def tau(cell: Cells) -> float:
        c = batch * np.sqrt(epochs * records / batch) / records

        # printed to three digits
        mu = min(np.geomspace(0.4, 50.0, 20), key=lambda value: abs(value - float(cell["mu"])))

        def whole(step: float) -> float:
            inner = np.exp(step**2) * norm.cdf(1.5 * step) + 3.0 * norm.cdf(-0.5 * step) - 2.0
            return float(np.sqrt(2.0 * max(inner, 0.0)) * c - mu)

        step: Any = brentq(whole, 1e-6, 12.0)

        def excess(rows: float) -> float:
            return (d + (2.0 * rows - 1.0) * d) / (rows * np.sqrt(2.0 * d + 4.0 * rows * d)) - step

        if excess(batch) <= 0.0:
            return 0.0
        enough: Any = brentq(excess, batch, 1e12)
        return clip / batch * float(np.sqrt(enough - batch))

    return tau


FORMULAS: dict[str, Callable[[Cells], float | None]] = {
    "kaissis figure 1": _kaissis_1,
    "kaissis figure 2": _kaissis_2,
    "izzo figure 1": _izzo_1,
    "theorem 5.1": _theorem_5_1,
    "corollary 5.1": _corollary_5_1,
    "table 5, CIFAR-10": _table_5(650, 500.0, 400, 48_000, 10),
    "table 5, Purchase": _table_5(2580, 2000.0, 795, 54_855, 3),
    "table 5, Adult": _table_5(1026, 800.0, 1000, 43_000, 20),
}
"""The papers' formulas by second routes: a row of the CSV -> its value, or None where the row is of another formula."""
