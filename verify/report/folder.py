"""The report's folder: verdicts.json and certificates, whole after every statement, and index.html and FINDINGS.md at the end.

JSON has no infinities: they are written as the strings "inf" and "-inf" (so that float(x) reads every number
back), and NaN, a number that does not exist, as null. A statement that could not be judged has the verdict null.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mipsim import referee as rf
from mipsim._files import replace_file, writable_folder
from mipsim._words import plural
from mipsim.referee import Outcome, Verdict
from mipsim.referee.defect import correction_of
from mipsim.referee.gap_words import three_digits
from mipsim.referee.outcome import is_judged, simplest
from mipsim.referee.reporting.page import page, record
from mipsim.referee.reporting.plain import plain
from mipsim.referee.reporting.wording import count, duration
from mipsim.referee.result import PointResult
from verify.certificates.statements import certificate_of
from verify.judge import Setting, left_to_full, points_of
from verify.register import TITLES, group_of, paper_of
from verify.report.findings import command_of, findings
from verify.report.versions import versions
from verify.statement import Statement
from verify.stored import place_for, write

TITLE = "Verdicts on privacy theorems"
LEAD = (
    "Each entry is a statement of a paper, a part of such a statement, or a correction. It is judged at listed points and, for most entries, at "
    "points spread over its domain: by exact distributions, or by membership-inference games where none is known. CONFIRMED: at every judged "
    "point the interval of the gap lies inside the tolerance, which was fixed before the run (a bound by an exact distribution has no "
    "tolerance). The row states how many points were judged. REFUTED: in some reading, at some point "
    "that its words allow, the interval excludes the statement, of which sentences of the paper that restrict it are part. The class says how much of the "
    "statement is left; an entry judges a sentence, not the work that it stands in. "
    "INCONCLUSIVE: the evidence decides neither. A verdict is statistical: none is a proof."
)


class ReportFolder:
    """Where a run's report lies: `add` each outcome, then `finish`. Entries have the order of the register, whatever order they come in."""

    def __init__(
        self,
        folder: Path | None,  # made if need be; None: no report
        data: str | None,  # a further file of the data, or "-" for standard output
        # its order is that of the entries; corrections are looked up in it
        register: Mapping[str, Statement],
        setting: Setting,
        statements: int,  # how many are requested
    ) -> None:
        """Raise ValueError if nothing can be written there."""
        place_for(data)
        self._folder = folder and writable_folder("--out", folder)
        self._data, self._setting, self._statements = data, setting, statements
        self._order, self._known = list(register), tuple(register.values())
        self._began = datetime.now(UTC)
        self.outcomes: list[Outcome] = []
        self._texts: dict[str, str] = {}
        # name of a statement -> the file of its certificate, in the folder
        self._certificates: dict[str, str] = {}

    def add(self, outcome: Outcome) -> None:
        """Add what came of a statement; it is encoded once, however often the file is written."""
        name = outcome.statement.name
        entry = record_of(outcome, correction_of(outcome.statement, self._known), self._setting.scale)
        if self._folder is not None:
            file = f"certificates/{name}.json"
            if certificate := certificate_of(outcome):
                self._certificates[name] = file
                (self._folder / file).parent.mkdir(exist_ok=True)
                replace_file(self._folder / file, certificate)
            else:
                (self._folder / file).unlink(missing_ok=True)  # that of an earlier run
        entry["certificate"] = self._certificates.get(name)
        text = json.dumps(entry, indent=1, ensure_ascii=False, allow_nan=False)
        self._texts[name] = text
        self.outcomes.append(outcome)
        self.outcomes.sort(key=lambda item: self._order.index(item.statement.name))
        if self._folder is not None:
            replace_file(self._folder / "verdicts.json", self._text)

    @property
    def _text(self) -> str:
        return "[\n" + ",\n".join(self._texts[item.statement.name] for item in self.outcomes) + "\n]\n"

    def finish(self, interrupted: bool = False) -> None:
        """Write all files, saying on the page whether the run was interrupted."""
        write(self._data, self._text)
        if self._folder is None:
            return
        scale, of = self._setting.scale, plural(self._statements, "statement")
        note = f"The run was interrupted: {len(self.outcomes)} of {of} finished."
        html = page(
            self.outcomes,
            known=self._known,
            title=TITLE,
            lead=LEAD,
            facts=self._facts(),
            note=note if interrupted else "",
            data="verdicts.json",
            commands=lambda outcome, point: command_of(outcome, scale, point),
            groups=group_of,
            links=TITLES,
            certificates=self._certificates,
        )
        replace_file(self._folder / "verdicts.json", self._text)
        replace_file(self._folder / "index.html", html)
        replace_file(
            self._folder / "FINDINGS.md", findings(self.outcomes, scale, self._known, self._certificates)
        )

    def _facts(self) -> dict[str, str]:
        outcomes, setting = self.outcomes, self._setting
        judged = [point for item in outcomes for point in item.judged]
        names = {item.statement.name for item in outcomes}
        left = left_to_full((item for item in self._known if item.name in names), setting.scale).partition(
            ": "
        )[2]
        return {
            "family-wise failure probability": f"{three_digits(1 - setting.confidence)} over all {plural(points_of(self._known), 'point')} of "
            f"the register at full scale, each {three_digits(setting.risk)}; exact laws use none of it",
            "judged here": f"{plural(len(outcomes), 'statement')}, {plural(len(judged), 'point')}, "
            f"{count(sum(point.games for point in judged))} games per world",
            "certificates": f"of {plural(len(self._certificates), 'statement')}, for mipsim check",
            "scale and seed": f"{setting.scale}, seed {setting.seed}",
            "time, summed over statements": duration(sum(each.seconds for each in outcomes)),
            "date": self._began.strftime("%Y-%m-%d %H:%M %Z"),
            **({"left to --scale full": left} if left else {}),
            "versions": ", ".join(f"{name} {version}" for name, version in versions().items()),
        }


def record_of(outcome: Outcome, correction: rf.Statement | None, scale: str) -> dict[str, Any]:
    """Return a statement's entry, that of the referee's own report and what the register adds; see the module's first lines for what JSON
    cannot hold.
    `outcome`: what came of judging it; `correction`: the corrected statement, if there is a correction; `scale`: of the run.
    """
    statement, judged = outcome.statement, is_judged(outcome)
    refuted = outcome.worst is not None and outcome.verdict is Verdict.REFUTED

    def shown(point: PointResult | None) -> dict[str, Any] | None:
        return point and plain(point.record()) | {"command": command_of(outcome, scale, point)}

    return record(outcome, correction) | {
        "claim": statement.name,
        "paper": paper_of(statement.name),
        "verdict": outcome.verdict if judged else None,
        "extent": outcome.extent if judged else "",
        "corrects": statement.corrects or None,
        "counterexample": shown(outcome.worst) if refuted else None,
        "simple_counterexample": shown(simplest(statement, outcome.judged)) if refuted else None,
        "replay": command_of(outcome, scale, outcome.worst) if outcome.worst else "",
    }
