"""The report's folder: verdicts.json and index.html, whole after every claim, and FINDINGS.md at the end."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from mipsim.referee.reporting.files import writable_folder, write_atomically
from verify.claim import Claim
from verify.claim_result import ClaimResult
from verify.report.findings import findings
from verify.report.page import Heading, page
from verify.report.record import Setting, claim_record
from verify.report.section import section
from verify.report.versions import versions


@dataclass(frozen=True)
class _Entry:
    result: ClaimResult
    record: str
    section: str


class JsonFile:
    """The data of a run alone, the entries of verdicts.json, in one file or on standard output, once it is finished.

    Args:
        where: path of the file, or "-" for standard output.
        setting: what the run was asked.
        claims: the claims that will be judged, in the order of the entries.

    Raises:
        ValueError: if the folder of the file cannot be written.
    """

    def __init__(self, where: str, setting: Setting, claims: Sequence[Claim]) -> None:
        self._file = None if where == "-" else Path(where)
        if self._file is not None:
            writable_folder("--json", self._file.parent)
        self._setting = setting
        self._order = {claim.id: place for place, claim in enumerate(claims)}
        self._records: dict[str, str] = {}

    def add(self, result: ClaimResult) -> None:
        """Add a finished claim."""
        self._records[result.claim.id] = _record(result, self._setting)

    def finish(self) -> None:
        """Write what was added."""
        text = _list_of([self._records[name] for name in sorted(self._records, key=self._order.__getitem__)])
        if self._file is None:
            sys.stdout.write(text)
        else:
            write_atomically(self._file, text)


class ReportFolder:
    """Where a run's report lies; `add` each result as it is finished, then `finish`.

    Args:
        folder: made if need be.
        setting: what the run was asked.
        regimes: regimes of the whole register that chance enters, over which the failure probability is split.
        claims: the claims that will be judged, in the order of the report.

    Raises:
        ValueError: if nothing can be written there.
    """

    def __init__(self, folder: Path, setting: Setting, regimes: int, claims: Sequence[Claim]) -> None:
        self.page = writable_folder("--out", folder) / "index.html"
        self.verdicts = folder / "verdicts.json"
        self.findings = folder / "FINDINGS.md"
        self._setting = setting
        self._heading = Heading(setting, regimes, len(claims), datetime.now(UTC), versions())
        self._order = {claim.id: place for place, claim in enumerate(claims)}
        self._entries: list[_Entry] = []

    def add(self, result: ClaimResult) -> None:
        """Add a finished claim and write both files; each section is drawn once and kept."""
        record = _record(result, self._setting)
        self._entries.append(_Entry(result, record, section(result, self._setting)))
        self._entries.sort(key=lambda entry: self._order[entry.result.claim.id])
        self._write("running")

    def finish(self, interrupted: bool = False) -> None:
        """Write both files for the last time, saying on the page whether the run was interrupted."""
        self._write("interrupted" if interrupted else "finished")

    def _write(self, state: str) -> None:
        write_atomically(self.verdicts, _list_of([entry.record for entry in self._entries]))
        sections = [entry.section for entry in self._entries]
        results = [entry.result for entry in self._entries]
        write_atomically(self.page, page(self._heading, results, sections, state))
        if state != "running":
            records = [json.loads(entry.record) for entry in self._entries]
            why = {result.claim.id: result.claim.derivation for result in results}
            write_atomically(self.findings, findings(records, why))


def _record(result: ClaimResult, setting: Setting) -> str:
    return json.dumps(claim_record(result, setting), indent=2, ensure_ascii=False, allow_nan=False)


def _list_of(records: Sequence[str]) -> str:
    # Each claim is encoded once, when it is finished, however often the file is written.
    return "[\n" + ",\n".join(records) + "\n]\n"
