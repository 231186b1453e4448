"""The report's folder: verdicts.json, whole after every statement, and index.html and FINDINGS.md at the end."""

import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from mipsim._files import part_of, replace_file, writable_folder
from mipsim._words import plural, printable
from mipsim.referee import Outcome, Statement
from mipsim.referee.defect import correction_of
from mipsim.referee.gap_words import three_digits
from mipsim.referee.reporting.page import page
from mipsim.referee.reporting.wording import count, duration
from verify.judge import Setting, left_to_full
from verify.register import TITLES, group_of
from verify.report.findings import findings
from verify.report.record import command_of, record_of
from verify.report.versions import versions

TITLE = "Verdicts on privacy theorems"
LEAD = (
    "Each entry is a statement of a paper, a part of such a statement, or a correction. It is judged at listed points and, for most entries, at "
    "points spread over its domain: by exact distributions, or by membership-inference games where none is known. CONFIRMED: at every judged "
    "point the interval of the gap lies inside the tolerance, which was fixed before the run (a bound by an exact distribution has no "
    "tolerance). The row states how many points were judged. REFUTED: at some point the "
    "interval excludes the statement. The defect says what is wrong; sentences of the paper that restrict the statement are part of it. "
    "INCONCLUSIVE: the evidence decides neither. A verdict is statistical: none is a proof."
)


def checked_json(where: str) -> None:
    """Say before any work is done if the data cannot be written there.
    `where`: path of a file, or "-" for standard output. Raises ValueError if the folder of the file cannot be written, or
    the file cannot be in it.
    """
    if where == "-":
        return
    file = Path(where)
    writable_folder("--json", file.parent)
    try:
        part_of(file).exists()  # whose name is longer
        why = "Is a directory" if file.is_dir() else ""
    except OSError as error:
        why = error.strerror or str(error)
    if why:
        raise ValueError(f"--json is {printable(repr(where))} ({why}); it must be a file that can be written")


class Records:
    """The data of a run: an entry for each outcome, in the order of the register.
    `register`: its order is that of the entries; corrections are looked up in it; `scale`: of the run.
    """

    def __init__(self, register: Mapping[str, Statement], scale: str) -> None:
        self._order = {name: place for place, name in enumerate(register)}
        self.known, self._scale = tuple(register.values()), scale
        self.outcomes: list[Outcome] = []
        self._texts: dict[str, str] = {}

    def add(self, outcome: Outcome) -> None:
        """Add what came of a statement; it is encoded once, however often the file is written."""
        name = outcome.statement.name
        record = record_of(outcome, correction_of(outcome.statement, self.known), self._scale)
        self._texts[name] = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
        self.outcomes = sorted([*self.outcomes, outcome], key=lambda each: self._order[each.statement.name])

    @property
    def text(self) -> str:
        """The entries as JSON."""
        return "[\n" + ",\n".join(self._texts[item.statement.name] for item in self.outcomes) + "\n]\n"

    def write(self, where: str) -> None:
        """Write the entries to a file, or to standard output for "-"."""
        if where == "-":
            sys.stdout.write(self.text)
        else:
            replace_file(Path(where), self.text)


class ReportFolder:
    """Where a run's report lies: `add` after each outcome that the records got, then `finish`.
    `folder`: made if need be; `statements`: how many are requested; `points`: of the register at full scale, over which
    the failure probability is shared. Raises ValueError if nothing can be written there.
    """

    def __init__(
        self, folder: Path, records: Records, setting: Setting, statements: int, points: int
    ) -> None:
        self.page = writable_folder("--out", folder) / "index.html"
        self._folder, self._records, self._setting = folder, records, setting
        self._statements, self._points = statements, points
        self._began = datetime.now(UTC)

    def add(self) -> None:
        """Write verdicts.json."""
        replace_file(self._folder / "verdicts.json", self._records.text)

    def finish(self, interrupted: bool = False) -> None:
        """Write all files, saying on the page whether the run was interrupted."""
        self.add()
        outcomes = self._records.outcomes
        note = (
            f"The run was interrupted: {len(outcomes)} of {plural(self._statements, 'statement')} finished."
        )
        html = page(
            outcomes,
            known=self._records.known,
            title=TITLE,
            lead=LEAD,
            facts=self._facts(),
            note=note if interrupted else "",
            data="verdicts.json",
            commands=lambda outcome, point: command_of(outcome, self._setting.scale, point),
            groups=group_of,
            links=TITLES,
        )
        replace_file(self.page, html)
        replace_file(
            self._folder / "FINDINGS.md", findings(outcomes, self._setting.scale, self._records.known)
        )

    def _facts(self) -> dict[str, str]:
        outcomes, setting = self._records.outcomes, self._setting
        games = sum(point.games for item in outcomes for point in item.judged)
        left = left_to_full([item.statement for item in outcomes], setting).partition(": ")[2]
        return {
            "family-wise failure probability": f"{three_digits(1 - setting.confidence)} over all {plural(self._points, 'point')} of the "
            f"register at full scale, each {three_digits(setting.risk)}; exact laws use none of it",
            "judged here": f"{plural(len(outcomes), 'statement')}, {plural(sum(len(single.judged) for single in outcomes), 'point')}, "
            f"{count(games)} games per world",
            "scale and seed": f"{setting.scale}, seed {setting.seed}",
            "time, summed over statements": duration(sum(each.seconds for each in outcomes)),
            "date": self._began.strftime("%Y-%m-%d %H:%M %Z"),
            **({"left to --scale full": left} if left else {}),
            "versions": ", ".join(f"{name} {version}" for name, version in versions().items()),
        }
